/* cmd_what_if.c - what changes would do */
#include "future.h"
#include "ranges.h"
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 256 };

/* A change as it was given, in the order in which they were. */
typedef struct given {
  const char *option, *value;
} given;

/* What events point at. */
typedef struct asked {
  pai_request request;
  pai_want want;
  char *words; /* for free() */
} asked;

typedef struct changes {
  given given[MOST];
  size_t n;
  pai_sched_event *events;
  char **nodes; /* that events point at */
  asked asked[MOST];
  size_t nevents, events_cap, nnodes, nodes_cap, nasked;
  pai_cluster *cluster; /* as it is to be, or NULL */
  pai_cluster_change cluster_changes[MOST];
  char *vcs[MOST]; /* that they point at, for free() */
  size_t ncluster_changes;
  uint64_t next_id;
} changes;

static const char *const names[] = { "submit", "kill",   "drain", "add",
                                     "vc",     "policy", "config" };

static int misused(const char *what, const char *word)
{
  cli_misused(&cli_what_if, what, word);
  return CLI_USAGE;
}

/* --- which changes -------------------------------------------------------- */

static const char *name_of(const char *word, const char **value)
{
  *value = NULL;
  if (strncmp(word, "--", 2) != 0)
    return NULL;
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
    size_t len = strlen(names[i]);

    if (strncmp(word + 2, names[i], len) != 0)
      continue;
    if (word[2 + len] == '=')
      *value = word + 2 + len + 1;
    if (word[2 + len] == '=' || word[2 + len] == '\0')
      return names[i];
  }
  return NULL;
}

/* Takes them out of argv; what is left is for cli_options(). */
static int take_changes(changes *c, int *argc, char **argv)
{
  int kept = 1;

  for (int i = 1; i < *argc; i++) {
    const char *value, *option = name_of(argv[i], &value);

    if (strcmp(argv[i], "--") == 0) {
      while (i < *argc)
        argv[kept++] = argv[i++];
      break;
    }
    if (option == NULL) {
      argv[kept++] = argv[i];
      continue;
    }
    if (value == NULL && i + 1 == *argc)
      return misused("this option needs a value", argv[i]);
    if (c->n == MOST)
      return misused("there are more than 256 changes", argv[i]);
    c->given[c->n++] = (given){ option, value != NULL ? value : argv[++i] };
  }
  *argc = kept;
  argv[kept] = NULL;
  return CLI_OK;
}

/* --- a request in words ---------------------------------------------------- */

static bool take_count(const char *value, uint64_t most, uint64_t *out)
{
  char *end;

  errno = 0;
  *out = strtoull(value, &end, 10);
  return value[0] >= '0' && value[0] <= '9' && *end == '\0' && errno == 0 &&
         *out <= most;
}

/* "90", "5m", "2h", "3d" in microseconds. */
static bool take_time(const char *value, pai_time *out)
{
  static const char units[] = "smhdw";
  static const int64_t seconds[] = { 1, 60, 3600, 86400, 604800 };
  char *end;
  long long n;
  const char *unit;

  errno = 0;
  n = strtoll(value, &end, 10);
  unit = *end != '\0' ? strchr(units, *end) : units;
  if (value[0] < '0' || value[0] > '9' || errno != 0 || unit == NULL ||
      (*end != '\0' && end[1] != '\0') || n > 100000000)
    return false;
  *out = n * seconds[unit - units] * 1000000;
  return true;
}

/* "16G" in bytes. */
static bool take_bytes(const char *value, uint64_t *out)
{
  static const char units[] = "KMGT";
  char *end;
  const char *unit;

  errno = 0;
  *out = strtoull(value, &end, 10);
  unit = *end != '\0' ? strchr(units, *end) : NULL;
  if (value[0] < '0' || value[0] > '9' || errno != 0 || *out > 1 << 20 ||
      (*end != '\0' && (unit == NULL || end[1] != '\0')))
    return false;
  if (unit != NULL)
    *out <<= 10 * (unit - units + 1);
  return true;
}

static bool take_text(asked *a, const char *key, const char *value)
{
  const struct {
    const char *key;
    const char **to;
  } texts[] = {
    { "name", &a->request.name },     { "user", &a->request.user },
    { "vc", &a->request.vc },         { "pin", &a->request.pin },
    { "within", &a->request.within }, { "type", &a->want.type },
  };

  for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
    if (strcmp(key, texts[i].key) == 0) {
      *texts[i].to = value;
      return true;
    }
  return false;
}

static bool take_counts(asked *a, const char *key, const char *value)
{
  const struct {
    const char *key;
    uint32_t *to;
  } counts[] = {
    { "tasks", &a->want.tasks },        { "min_tasks", &a->want.min_tasks },
    { "gpus", &a->want.gpus },          { "cpus", &a->want.cpus },
    { "ports", &a->want.ports },        { "instances", &a->request.instances },
    { "at_once", &a->request.at_once },
  };
  uint64_t n;

  for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
    if (strcmp(key, counts[i].key) == 0 && take_count(value, UINT32_MAX, &n)) {
      *counts[i].to = (uint32_t)n;
      return true;
    }
  return false;
}

static bool take_member(asked *a, const char *key, const char *value)
{
  uint64_t n;

  if (take_text(a, key, value) || take_counts(a, key, value))
    return true;
  if (strcmp(key, "duration") == 0)
    return take_time(value, &a->request.duration);
  if (strcmp(key, "limit") == 0)
    return take_time(value, &a->request.limit);
  if (strcmp(key, "memory") == 0)
    return take_bytes(value, &a->want.memory);
  if (strcmp(key, "priority") == 0 && strcmp(value, "-1") == 0)
    a->request.priority = PAI_SCHED_OPPORTUNISTIC;
  else if (strcmp(key, "priority") == 0 &&
           take_count(value, PAI_SCHED_MAX_PRIORITY, &n))
    a->request.priority = (int)n;
  else
    return false;
  return true;
}

/* A file with a request as the log has it. */
static int take_file(changes *c, const char *name, pai_sched_event *e)
{
  asked *a = &c->asked[c->nasked];
  char why[1024], *text;
  size_t len = 0;
  int error = cli_read_file(&a->words, &len, name, (size_t)1 << 24);

  if (error != 0) {
    cli_read_why(why, sizeof(why), name, error);
    cli_fail("%s", why);
    return CLI_USAGE;
  }
  c->nasked++;
  text = realloc(a->words, len + 1);
  if (text == NULL) {
    cli_fail("out of memory");
    return CLI_NO;
  }
  text[len] = '\0';
  a->words = text;
  e->kind = PAI_SCHED_SUBMIT;
  e->text = text;
  return CLI_OK;
}

/* "gpus=8 tasks=2 user=ann". */
static int take_request(changes *c, const char *text, pai_sched_event *e)
{
  asked *a = &c->asked[c->nasked++];
  char *next;

  a->words = strdup(text);
  if (a->words == NULL) {
    cli_fail("out of memory");
    return CLI_NO;
  }
  a->want = (pai_want){ .struct_size = sizeof(a->want), .tasks = 1 };
  a->request = (pai_request){ .struct_size = sizeof(a->request),
                              .id = c->next_id++,
                              .wants = &a->want,
                              .nwants = 1 };
  for (char *word = strtok_r(a->words, " ,", &next); word != NULL;
       word = strtok_r(NULL, " ,", &next)) {
    char *equals = strchr(word, '=');

    if (equals != NULL)
      *equals = '\0';
    if (equals == NULL || !take_member(a, word, equals + 1)) {
      if (equals != NULL)
        *equals = '=';
      (void)misused("unknown property of a request", word);
      cli_help(stderr, "as \"gpus=8 tasks=2 user=ann duration=2h\"; also "
                       "name, vc, type, pin, within, priority, limit, cpus, "
                       "memory, ports, min_tasks, instances, at_once");
      return CLI_USAGE;
    }
  }
  e->kind = PAI_SCHED_SUBMIT;
  e->request = &a->request;
  return CLI_OK;
}

/* --- events --------------------------------------------------------------- */

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

/* "research=dgx:12" */
static int take_share(changes *c, const char *value,
                      pai_cluster_change *change)
{
  const char *equals = strchr(value, '=');
  char *name;

  if (equals == NULL)
    return misused("--vc needs NAME=SHARE, as research=dgx:12", value);
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

/* What was changed before it counts no more. */
static int take_config(changes *c, const char *name)
{
  cli_source source;
  int code = cli_source_open(&source, &name, 1, NULL, false);

  if (code == CLI_OK && source.cluster == NULL)
    code = cli_source_to_cluster(&source, NULL);
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

/* All at once: a share may come from another virtual cluster's. */
static int change_cluster(changes *c, const future *f)
{
  pai_cluster *changed;
  pai_error *err = NULL;

  if (c->ncluster_changes == 0)
    return CLI_OK;
  if (pai_what_if_cluster_changes(&changed, f->sched, c->cluster,
                                  c->cluster_changes, c->ncluster_changes,
                                  &err) < 0)
    return future_fail(err);
  pai_cluster_free(c->cluster);
  c->cluster = changed;
  return CLI_OK;
}

/* Room for one more. */
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
    code = strchr(g->value, '=') != NULL ? take_request(c, g->value, &e)
                                         : take_file(c, g->value, &e);
  } else if (strcmp(g->option, "policy") == 0) {
    code = take_policy((char *)g->value, &e); /* of argv */
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

/* The cluster comes first, for what is submitted may need it. */
static int make_events(changes *c, const future *f)
{
  int code = CLI_OK;

  for (uint64_t id = 0; (id = pai_sched_next(f->sched, id)) != 0;)
    if (id >= c->next_id)
      c->next_id = id + 1;
  for (size_t i = 0; i < c->n && code == CLI_OK; i++)
    if (is_of_cluster(&c->given[i]))
      code = take_cluster(c, &c->given[i]);
  if (code == CLI_OK)
    code = change_cluster(c, f);
  if (code == CLI_OK && c->cluster != NULL)
    code =
      add_event(c, &(pai_sched_event){ .struct_size = sizeof(c->events[0]),
                                       .kind = PAI_SCHED_CLUSTER,
                                       .cluster = c->cluster });
  for (size_t i = 0; i < c->n && code == CLI_OK; i++)
    if (!is_of_cluster(&c->given[i]))
      code = take_one(c, f, &c->given[i]);
  return code;
}

/* --- the answer ----------------------------------------------------------- */

static int tell(const future *f, const changes *c, bool force)
{
  pai_what_if_view view = { .struct_size = sizeof(view) };
  pai_what_if *w;
  pai_error *err = NULL;
  int rc = pai_what_if_new(&w, f->sched, f->learned, c->events, c->nevents,
                           &f->options, &err);

  if (rc < 0)
    return future_fail(err);
  (void)pai_what_if_look(w, &view);
  rc = pai_what_if_write(w, f->json ? PAI_FORMAT_JSON : PAI_FORMAT_TEXT,
                         cli_write, stdout, &err);
  pai_what_if_free(w);
  if (rc < 0)
    return future_fail(err);
  if (!view.unsafe || force)
    return CLI_OK;
  (void)fflush(stdout); /* what was told comes first */
  cli_fail("not safe: %u running requests would be stopped, and %u would "
           "restart elsewhere",
           view.stop_now, view.move);
  cli_help(stderr, "--force if that is meant");
  return CLI_NO;
}

static int answer(changes *c, future *f, bool force)
{
  int code = future_open(&cli_what_if, f);

  if (code == CLI_OK)
    code = make_events(c, f);
  if (code == CLI_OK)
    code = tell(f, c, force);
  for (size_t i = 0; i < c->nasked; i++)
    free(c->asked[i].words);
  for (size_t i = 0; i < c->nnodes; i++)
    free(c->nodes[i]);
  free(c->nodes);
  free(c->events);
  forget_cluster_changes(c);
  pai_cluster_free(c->cluster);
  future_close(f);
  return code;
}

static int what_if(int argc, char **argv)
{
  static changes c = { .next_id = 1 };
  future f = { .log = NULL };
  bool force = false;
  const char *job;
  const cli_option options[] = { { "force", 0, &force, NULL },
                                 FUTURE_OPTIONS(f) };
  int words, code = take_changes(&c, &argc, argv);

  if (code != CLI_OK)
    return code;
  words = cli_options(&cli_what_if, options,
                      sizeof(options) / sizeof(*options), argc, argv);
  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  code = future_words(&cli_what_if, &f, words, argv, FUTURE_NO_JOB, &job);
  if (code != CLI_OK)
    return code;
  if (c.n == 0)
    return misused("no change is given for",
                   f.log != NULL ? f.log : "the platform");
  return answer(&c, &f, force);
}

const cli_verb cli_what_if = {
  .name = "what-if",
  .brief = "Forecast the effect of changes on running and waiting jobs",
  .usage = "CHANGE... [--force] [OPTION]... [LOG]",
  .help =
    "Compare two forecasts: without and with the changes.  Each job takes\n"
    "equally long in both.  Print which requests start, stop or move at "
    "once,\n"
    "and which waiting requests start sooner or later.  LOG is as for when.\n"
    "Changes, each repeatable:\n"
    "\n"
    "  --submit WORDS   submit a request, as\n"
    "                   \"gpus=8 tasks=2 user=ann duration=2h\", or that of "
    "a\n"
    "                   file, in the format of the log\n"
    "  --kill JOB       cancel a request, by its number or name\n"
    "  --drain NODES    place nothing new on these nodes, as n3 or n[1-8,10]\n"
    "  --add NODES      add nodes, as \"2x gpu:8:h100\" or \"2x SKU\"\n"
    "  --vc NAME=SHARE  set the cells of a virtual cluster, as dgx:12\n"
    "  --policy P       change the policy, as P or P:OPTIONS with a JSON "
    "object\n"
    "  --config FILE    replace the cluster with that of a file\n"
    "\n"
    "  --force          exit with 0 even if running work would be "
    "lost\n" FUTURE_HELP "\n"
    "Exit status: 0 success, 1 running work would be lost, a change is\n"
    "impossible, or no platform answers, 2 the log cannot be read or usage\n"
    "error\n",
  .run = what_if,
};
