/* cmd_what_if.c - `what-if`: forecast the effect of changes */
#include "cli.h"
#include "future.h"
#include "quantity.h"
#include "source.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 512, MOST_NAMES = 1000000, DIGITS = 9 };

typedef struct expansion {
  const char *word;
  int (*each)(void *user_data, const char *name);
  void *user_data;
  char name[LONGEST];
  long names; /* produced so far */
} expansion;

static int wrong(const expansion *x, const char *what)
{
  cli_fail("%s: %s", what, x->word);
  cli_help(stderr, "write node7, or node[1-8,10] for several nodes");
  return CLI_USAGE;
}

static int expand(expansion *x, size_t len, const char *rest);

/* Appends a number with at least `digits` digits and expands the rest of the
 * word. */
static int put_number(expansion *x, size_t len, long n, int digits,
                      const char *behind)
{
  int more = snprintf(x->name + len, LONGEST - len, "%0*ld", digits, n);

  return len + (size_t)more < LONGEST ? expand(x, len + (size_t)more, behind)
                                      : wrong(x, "this name is too long");
}

static bool read_number(const char **at, long *n, int *digits)
{
  size_t len = strspn(*at, "0123456789");

  *n = len > 0 && len <= DIGITS ? strtol(*at, NULL, 10) : 0;
  *digits = (int)len;
  *at += len;
  return len > 0 && len <= DIGITS;
}

/* Expands the list after an opening bracket, as in "1-8,10]". */
static int expand_list(expansion *x, size_t len, const char *list)
{
  const char *end = strchr(list, ']'), *at = list;
  int code = CLI_OK;

  if (end == NULL)
    return wrong(x, "a bracket is not closed");
  while (code == CLI_OK) {
    long from, to;
    int digits, more;
    if (!read_number(&at, &from, &digits))
      return wrong(x, "only numbers are allowed in brackets");
    to = from;
    if (*at == '-' && (at++, !read_number(&at, &to, &more)))
      return wrong(x, "only numbers are allowed in brackets");
    if (to < from)
      return wrong(x, "this range ends before it begins");
    for (long n = from; code == CLI_OK && n <= to; n++)
      code = put_number(x, len, n, digits, end + 1);
    if (*at != ',')
      break;
    at++;
  }
  return code == CLI_OK && at != end
           ? wrong(x, "only numbers are allowed in brackets")
           : code;
}

/* Expands the rest of a name of which `len` bytes are ready. */
static int expand(expansion *x, size_t len, const char *rest)
{
  for (; *rest != '\0' && *rest != ','; rest++) {
    if (*rest == '[')
      return expand_list(x, len, rest + 1);
    if (*rest == ']')
      return wrong(x, "a bracket is not opened");
    if (len + 1 >= LONGEST)
      return wrong(x, "this name is too long");
    x->name[len++] = *rest;
  }
  x->name[len] = '\0';
  if (len == 0)
    return wrong(x, "there is no name");
  if (++x->names > MOST_NAMES)
    return wrong(x, "more than a million names");
  return x->each(x->user_data, x->name);
}

/* Calls back with each name, in order; a word without brackets and commas is a
 * single name.  Returns CLI_OK; CLI_USAGE, after printing an error, if the
 * word is invalid or stands for more than a million names; or the callback's
 * result if that is not CLI_OK. */
static int cli_ranges(const char *word,
                      int (*each)(void *user_data, const char *name),
                      void *user_data)
{
  expansion x = { .word = word, .each = each, .user_data = user_data };
  const char *at = word;
  int code = CLI_OK;

  while (code == CLI_OK) {
    code = expand(&x, 0, at);
    /* Find the next comma outside brackets. */
    for (int depth = 0; *at != '\0' && (depth > 0 || *at != ','); at++)
      depth += *at == '[' ? 1 : *at == ']' && depth > 0 ? -1 : 0;
    if (*at == '\0')
      break;
    at++;
  }
  return code;
}

enum { MOST = 256 };

typedef struct cli_change given;

typedef struct changes {
  const cli_changes *given;
  pai_sched_event *events;
  char **nodes;         /* names that events point to */
  char *requests[MOST]; /* JSON that events point to */
  size_t nevents, events_cap, nnodes, nodes_cap, nrequests;
  pai_cluster *cluster; /* the new cluster, or NULL */
  pai_cluster_change cluster_changes[MOST];
  char *vcs[MOST]; /* names that the changes point to, for free() */
  size_t ncluster_changes;
  uint64_t next_id;
} changes;

/* --- requests on the command line ---------------------------------------- */

/* Members of a request in a log, and of its resource request. */
static const struct member {
  const char *key;
  enum { TEXT, COUNT, TIME, BYTES, CPUS, PRIORITY } kind;
  bool of_want;
} members[] = {
  { "name", TEXT, false },      { "user", TEXT, false },
  { "vc", TEXT, false },        { "pin", TEXT, false },
  { "within", TEXT, false },    { "instances", COUNT, false },
  { "at_once", COUNT, false },  { "duration", TIME, false },
  { "limit", TIME, false },     { "priority", PRIORITY, false },
  { "type", TEXT, true },       { "tasks", COUNT, true },
  { "min_tasks", COUNT, true }, { "gpus", COUNT, true },
  { "ports", COUNT, true },     { "cpus", CPUS, true },
  { "memory", BYTES, true },
};

static const struct member *find_member(const char *word)
{
  size_t len = strcspn(word, "=");

  for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
    if (word[len] == '=' && strlen(members[i].key) == len &&
        strncmp(members[i].key, word, len) == 0)
      return &members[i];
  return NULL;
}

static bool read_count(const char *value, int64_t most, int64_t *out)
{
  const char *rest = cli_read_decimal(value, 0, out);

  return rest != NULL && *rest == '\0' && *out <= most;
}

/* Prints the value as JSON; returns false if it is invalid. */
static bool put_value(FILE *out, const struct member *m, const char *value)
{
  char cpus[PAI_CPUS_TEXT];
  uint64_t milli = 0;
  int64_t n = 0;
  bool good = true;

  if (m->kind == TEXT)
    cli_json_string(out, value, strlen(value));
  else if (m->kind == CPUS)
    good = pai_cpus_parse(&milli, value, NULL) == PAI_OK;
  else if (m->kind == TIME)
    good = cli_read_span(value, &n);
  else if (m->kind == BYTES)
    good = cli_read_bytes(value, strlen(value), &n);
  else if (m->kind == PRIORITY && strcmp(value, "-1") == 0)
    n = -1;
  else
    good = read_count(
      value, m->kind == COUNT ? UINT32_MAX : PAI_SCHED_MAX_PRIORITY, &n);
  if (m->kind == CPUS)
    (void)fputs(pai_cpus_text(cpus, milli), out);
  else if (m->kind != TEXT)
    (void)fprintf(out, "%lld", (long long)n);
  return good;
}

/* Prints the words that are members of the request, or of its resource
 * request, with a comma before each but the first if `first`. */
static int put_words(FILE *out, const char *text, bool of_want, bool first)
{
  const char *what = "unknown property of a request";

  for (size_t len; *text != '\0'; text += len) {
    const struct member *m;
    char word[LONGEST];
    bool good;

    text += strspn(text, " ,");
    len = strcspn(text, " ,");
    if (len == 0)
      break;
    (void)snprintf(word, sizeof(word), "%.*s", (int)len, text);
    m = find_member(word);
    good = m != NULL && len < sizeof(word);
    if (good && m->of_want == of_want) {
      (void)fprintf(out, "%s\"%s\":", first ? "" : ",", m->key);
      first = false;
      good = put_value(out, m, strchr(word, '=') + 1);
    }
    if (!good) {
      (void)cli_misused(what, word);
      cli_help(stderr, "as \"gpus=8 tasks=2 user=ann duration=2h\"; also "
                       "name, vc, type, pin, within, priority, limit, cpus, "
                       "memory, ports, min_tasks, instances, at_once");
      return CLI_USAGE;
    }
  }
  return CLI_OK;
}

/* Makes JSON of "gpus=8 tasks=2 user=ann". */
static int make_request(char **out, const char *words, uint64_t id)
{
  size_t len = 0;
  FILE *to = open_memstream(out, &len);
  int code;

  if (to == NULL)
    return CLI_NO;
  (void)fprintf(to, "{\"id\":%llu", (unsigned long long)id);
  code = put_words(to, words, false, false);
  (void)fputs(",\"wants\":[{", to);
  if (code == CLI_OK)
    code = put_words(to, words, true, true);
  (void)fputs("}]}", to);
  return fclose(to) == 0 ? code : CLI_NO;
}

/* Takes words, or the name of a file with a request as in a log. */
static int take_request(changes *c, const char *value, pai_sched_event *e)
{
  char **text = &c->requests[c->nrequests++];
  size_t len = 0;
  int code = strchr(value, '=') != NULL
               ? make_request(text, value, c->next_id++)
               : cli_read(text, &len, value, (size_t)1 << 24);

  e->kind = PAI_SCHED_SUBMIT;
  e->text = *text;
  return code;
}

/* --- events -------------------------------------------------------------- */

static int take_policy(char *word, pai_sched_event *e)
{
  char *colon = strchr(word, ':');

  if (colon != NULL)
    *colon = '\0';
  e->kind = PAI_SCHED_POLICY;
  e->text = word;
  e->options = colon != NULL ? colon + 1 : NULL;
  return CLI_OK;
}

/* Parses "research=dgx:12". */
static int take_share(changes *c, const char *value,
                      pai_cluster_change *change)
{
  const char *equals = strchr(value, '=');
  char *name;

  if (equals == NULL)
    return cli_misused("--vc needs NAME=SHARE, as research=dgx:12", value);
  name = strndup(value, (size_t)(equals - value));
  if (name == NULL) {
    cli_fail("out of memory");
    return CLI_NO;
  }
  c->vcs[c->ncluster_changes] = name;
  change->vc = name;
  change->share = equals + 1;
  return CLI_OK;
}

static void forget_cluster_changes(changes *c)
{
  for (size_t i = 0; i < c->ncluster_changes; i++) {
    free(c->vcs[i]);
    c->vcs[i] = NULL;
  }
  c->ncluster_changes = 0;
}

/* A new configuration discards earlier changes of the cluster. */
static int take_config(changes *c, const char *name)
{
  cli_source source;
  int code = cli_source_cluster(&source, name);

  if (code == CLI_OK) {
    forget_cluster_changes(c);
    pai_cluster_free(c->cluster);
    c->cluster = source.cluster;
    source.cluster = NULL;
  }
  cli_source_close(&source);
  return code;
}

static int take_cluster(changes *c, const given *g)
{
  pai_cluster_change *change = &c->cluster_changes[c->ncluster_changes];
  int code = CLI_OK;

  if (strcmp(g->option, "config") == 0)
    return take_config(c, g->value);
  *change = (pai_cluster_change){ .struct_size = sizeof(*change) };
  if (strcmp(g->option, "vc") == 0)
    code = take_share(c, g->value, change);
  else
    change->nodes = g->value;
  c->ncluster_changes += code == CLI_OK;
  return code;
}

/* Applies all changes together, because a share may come from another virtual
 * cluster. */
static int change_cluster(changes *c, const future *f)
{
  pai_cluster *changed;
  pai_error *err = NULL;

  if (c->ncluster_changes == 0)
    return CLI_OK;
  if (pai_what_if_cluster_changes(&changed, f->sched, c->cluster,
                                  c->cluster_changes, c->ncluster_changes,
                                  &err) < 0)
    return cli_fail_with(NULL, err);
  pai_cluster_free(c->cluster);
  c->cluster = changed;
  return CLI_OK;
}

/* Grows a list for one more element. */
static bool make_room(void **list, size_t len, size_t *cap, size_t size)
{
  void *more;

  if (len < *cap)
    return true;
  more = realloc(*list, (*cap * 2 + 16) * size);
  if (more == NULL) {
    cli_fail("out of memory");
    return false;
  }
  *list = more;
  *cap = *cap * 2 + 16;
  return true;
}

static int add_event(changes *c, const pai_sched_event *e)
{
  void *list = c->events;

  if (!make_room(&list, c->nevents, &c->events_cap, sizeof(*c->events)))
    return CLI_NO;
  c->events = list;
  c->events[c->nevents++] = *e;
  return CLI_OK;
}

static int drain_one(void *user_data, const char *name)
{
  changes *c = user_data;
  void *list = c->nodes;
  pai_sched_event e = { .struct_size = sizeof(e),
                        .kind = PAI_SCHED_NODE,
                        .gpu = -1,
                        .number = PAI_NODE_DRAIN,
                        .text = "what if" };

  if (!make_room(&list, c->nnodes, &c->nodes_cap, sizeof(*c->nodes)))
    return CLI_NO;
  c->nodes = list;
  e.node = c->nodes[c->nnodes] = strdup(name);
  if (e.node == NULL) {
    cli_fail("out of memory");
    return CLI_NO;
  }
  c->nnodes++;
  return add_event(c, &e);
}

static int take_one(changes *c, const future *f, const given *g)
{
  pai_sched_event e = { .struct_size = sizeof(e), .gpu = -1 };
  int code = CLI_OK;

  if (strcmp(g->option, "drain") == 0)
    return cli_ranges(g->value, drain_one, c);
  if (strcmp(g->option, "submit") == 0) {
    code = take_request(c, g->value, &e);
  } else if (strcmp(g->option, "policy") == 0) {
    code = take_policy((char *)g->value, &e); /* points into argv */
  } else {
    e.kind = PAI_SCHED_CANCEL;
    e.instance = PAI_SCHED_ALL;
    code = future_find(f, g->value, &e.id);
  }
  return code == CLI_OK ? add_event(c, &e) : code;
}

static bool is_of_cluster(const given *g)
{
  return strcmp(g->option, "config") == 0 || strcmp(g->option, "add") == 0 ||
         strcmp(g->option, "vc") == 0;
}

/* The cluster's event comes first, because submitted requests may need it. */
static int make_events(changes *c, const future *f)
{
  pai_sched_event event = { .struct_size = sizeof(event),
                            .kind = PAI_SCHED_CLUSTER };
  int code = CLI_OK;

  for (uint64_t id = 0; (id = pai_sched_next(f->sched, id)) != 0;)
    if (id >= c->next_id)
      c->next_id = id + 1;
  for (size_t i = 0; i < c->given->count && code == CLI_OK; i++)
    if (is_of_cluster(&c->given->list[i]))
      code = take_cluster(c, &c->given->list[i]);
  if (code == CLI_OK)
    code = change_cluster(c, f);
  if (code == CLI_OK && c->cluster != NULL) {
    event.cluster = c->cluster;
    code = add_event(c, &event);
  }
  for (size_t i = 0; i < c->given->count && code == CLI_OK; i++)
    if (!is_of_cluster(&c->given->list[i]))
      code = take_one(c, f, &c->given->list[i]);
  return code;
}

/* --- results ------------------------------------------------------------- */

static int tell(const future *f, const changes *c, bool force)
{
  pai_what_if_view view = { .struct_size = sizeof(view) };
  pai_what_if *w;
  pai_error *err = NULL;
  int rc = pai_what_if_new(&w, f->sched, f->learned, c->events, c->nevents,
                           &f->options, &err);

  if (rc < 0)
    return cli_fail_with(NULL, err);
  (void)pai_what_if_look(w, &view);
  rc = pai_what_if_write(w, f->json ? PAI_FORMAT_JSON : PAI_FORMAT_TEXT,
                         cli_write, stdout, &err);
  pai_what_if_free(w);
  if (rc < 0)
    return cli_fail_with(NULL, err);
  if (!view.unsafe || force)
    return CLI_OK;
  (void)fflush(stdout); /* print the results before the error */
  cli_fail("not safe: %u running requests would be stopped, and %u would "
           "restart elsewhere",
           view.stop_now, view.move);
  cli_help(stderr, "use --force to ignore this");
  return CLI_NO;
}

static int answer(changes *c, future *f, bool force)
{
  int code = future_open(f);

  if (code == CLI_OK)
    code = make_events(c, f);
  if (code == CLI_OK)
    code = tell(f, c, force);
  for (size_t i = 0; i < c->nrequests; i++)
    free(c->requests[i]);
  for (size_t i = 0; i < c->nnodes; i++)
    free(c->nodes[i]);
  free(c->nodes);
  free(c->events);
  forget_cluster_changes(c);
  pai_cluster_free(c->cluster);
  future_close(f);
  return code;
}

int cli_do_what_if(const cli_what_if_args *a)
{
  static changes c = { .next_id = 1 };
  future f = { .said = &a->future, .json = a->log.json };
  const char *job;
  int code = sched_log_words(&f.log, a->count, a->words, a->log.log,
                             SCHED_NO_JOB, &job);

  if (code != CLI_OK)
    return code;
  c.given = &a->changes;
  if (a->changes.count == 0)
    return cli_misused("missing argument", "a change, such as --kill JOB");
  return answer(&c, &f, a->force);
}
