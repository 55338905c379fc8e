/* cmd_list.c - the platform's jobs */
#include "job_select.h"
#include "job_table.h"
#include "jobs.h"
#include "since.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST "50000" /* jobs that a server tells of at a time */

typedef struct list_options {
  const char *state, *user, *keyword, *tag, *limit, *sort, *since, *columns;
  const char *const *globs; /* names; none: all */
  int nglobs;
  int64_t from; /* of --since, in ms since the epoch */
  bool json, live, wide;
} list_options;

/* Adds "&key=value" of a wish that there is. */
static bool add(char **path, const char *key, const char *value)
{
  char *escaped, *longer;
  size_t size;

  if (value == NULL || *path == NULL)
    return true;
  escaped = cli_escape(value);
  size =
    strlen(*path) + strlen(key) + (escaped != NULL ? strlen(escaped) : 0) + 3;
  longer = escaped != NULL ? malloc(size) : NULL;
  if (longer != NULL)
    (void)snprintf(longer, size, "%s&%s=%s", *path, key, escaped);
  free(escaped);
  free(*path);
  *path = longer;
  return longer != NULL;
}

static bool is_filtered(const list_options *o)
{
  return o->live || o->state != NULL || o->user != NULL ||
         o->keyword != NULL || o->tag != NULL || o->since != NULL ||
         o->nglobs > 0;
}

/* What keeps this machine's platform from starting jobs, where it is short of
 * something.  Of a server elsewhere that is its operator's to know. */
static void warn_of_trouble(cli_remote *r)
{
  cli_answer a;
  cli_json s;

  if (r->root == NULL)
    return;
  cli_remote_ask(r, &a, "GET", "/api/v2/status", NULL, NULL, 0);
  if (a.status == PAI_OK && cli_json_read(&s, a.body, a.len)) {
    if (cli_json_text(&s, 0, "trouble")[0] != '\0')
      cli_say(PAI_LOG_WARNING, cli_json_text(&s, 0, "trouble"));
    cli_json_free(&s);
  }
  cli_answer_free(&a);
}

/* The server knows neither names nor --since: it tells of all jobs then. */
static bool chooses(const list_options *o)
{
  return o->nglobs > 0 || o->since != NULL;
}

static bool is_wanted(const cli_json *j, size_t i, const list_options *o)
{
  const char *name = cli_json_text(j, i, "name");
  const char *user = cli_json_text(j, i, "username");
  bool found = o->nglobs == 0;
  char whole[600];

  if (o->since != NULL && cli_json_number(j, i, "submissionTime", 0) < o->from)
    return false;
  (void)snprintf(whole, sizeof(whole), "%s~%s", user, name);
  for (int k = 0; k < o->nglobs && !found; k++)
    found = fnmatch(o->globs[k],
                    strchr(o->globs[k], '~') != NULL ? whole : name, 0) == 0;
  return found;
}

/* The items of the list that are wanted, for free(), in their order. */
static size_t *find_wanted(const cli_json *j, const list_options *o,
                           size_t *count)
{
  size_t n = 0, *items;

  for (size_t i = cli_json_first(j, 0); i != 0; i = cli_json_next(j, 0, i))
    n++;
  items = malloc((n + 1) * sizeof(*items));
  *count = 0;
  n = o->limit != NULL && chooses(o) ? strtoul(o->limit, NULL, 10) : n;
  for (size_t i = cli_json_first(j, 0); i != 0 && items != NULL && *count < n;
       i = cli_json_next(j, 0, i))
    if (is_wanted(j, i, o))
      items[(*count)++] = i;
  return items;
}

/* Length of the JSON object at the beginning of a text. */
static size_t object_len(const char *text)
{
  size_t len = 0;
  int depth = 0;
  bool quoted = false;

  do {
    char c = text[len++];

    if (quoted && c == '\\' && text[len] != '\0')
      len++;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted)
      depth += (c == '{' || c == '[') - (c == '}' || c == ']');
  } while (depth > 0 && text[len] != '\0');
  return len;
}

/* The same items as JSON, as they came. */
static void print_wanted(const cli_json *j, const char *body,
                         const size_t *items, size_t count)
{
  const char *comma = "";
  size_t k = 0;

  (void)putchar('[');
  for (size_t i = cli_json_first(j, 0); i != 0; i = cli_json_next(j, 0, i)) {
    size_t len;

    body += strcspn(body, "{");
    len = object_len(body);
    if (k < count && items[k] == i) {
      (void)printf("%s%.*s", comma, (int)len, body);
      comma = ",";
      k++;
    }
    body += len;
  }
  (void)printf("]\n");
}

static void print_table(cli_remote *r, const cli_json *j, const size_t *items,
                        size_t count, const list_options *o)
{
  const char *columns = o->wide ? cli_job_columns_wide : o->columns;
  cli_job_detail *details = NULL;

  if (columns != NULL)
    details =
      cli_job_details_ask(r, j, items, count, cli_job_columns_need(columns));
  cli_print_jobs(stdout, j, items, count, details, columns, SIZE_MAX);
  free(details);
}

static void print_list(cli_remote *r, const cli_json *j, const char *body,
                       const list_options *o)
{
  size_t count, *items = find_wanted(j, o, &count);

  if (items == NULL)
    cli_fail("out of memory");
  else if (o->json && !chooses(o))
    (void)printf("%s\n", body);
  else if (o->json)
    print_wanted(j, body, items, count);
  else if (count > 0)
    print_table(r, j, items, count, o);
  else
    (void)fprintf(stderr, is_filtered(o) ? "no such jobs\n" : "no jobs\n");
  free(items);
}

static int list(cli_remote *r, const list_options *o)
{
  char *path = strdup("/api/v2/jobs?x");
  cli_answer a;
  cli_json j;
  int code = CLI_NO;

  (void)add(&path, "state", o->live ? "WAITING,RUNNING,STOPPING" : o->state);
  (void)add(&path, "username", o->user);
  (void)add(&path, "keyword", o->keyword);
  (void)add(&path, "tagsContain", o->tag);
  (void)add(&path, "limit", chooses(o) ? MOST : o->limit);
  (void)add(&path, "order", o->sort);
  cli_remote_ask(r, &a, "GET", path, NULL, NULL, 0);
  if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (cli_json_read(&j, a.body, a.len)) {
    print_list(r, &j, a.body, o);
    cli_json_free(&j);
    warn_of_trouble(r);
    code = CLI_OK;
  }
  cli_answer_free(&a);
  free(path);
  return code;
}

/* The order of the API for a column, or for one with a direction: for free();
 * NULL, and told. */
static char *sort_order(const char *sort)
{
  static const struct {
    const char *column, *field, *usual;
  } orders[] = { { "name", "jobName", "ASC" },
                 { "user", "username", "ASC" },
                 { "submitted", "submissionTime", "DESC" },
                 { "age", "submissionTime", "DESC" },
                 { "completed", "completionTime", "DESC" },
                 { "vc", "vc", "ASC" },
                 { "state", "state", "ASC" },
                 { "retries", "retries", "DESC" },
                 { "tasks", "totalTaskNumber", "DESC" },
                 { "gpus", "totalGpuNumber", "DESC" },
                 { "priority", "jobPriority", "ASC" } };
  const char *comma = strchr(sort, ',');
  size_t len = comma != NULL ? (size_t)(comma - sort) : strlen(sort);
  char *out = malloc(64);

  for (size_t i = 0; out != NULL && i < sizeof(orders) / sizeof(orders[0]);
       i++)
    if (strlen(orders[i].column) == len &&
        strncasecmp(orders[i].column, sort, len) == 0 &&
        (comma == NULL || strcasecmp(comma, ",asc") == 0 ||
         strcasecmp(comma, ",desc") == 0)) {
      (void)snprintf(out, 64, "%s,%s", orders[i].field,
                     comma == NULL                    ? orders[i].usual
                     : strcasecmp(comma, ",asc") == 0 ? "ASC"
                                                      : "DESC");
      return out;
    }
  free(out);
  cli_fail("--sort: not a column, or not COLUMN,asc or COLUMN,desc: %s", sort);
  cli_help(stderr, "sort by name, user, submitted, completed, vc, state, "
                   "retries, tasks, gpus or priority");
  return NULL;
}

/* The API passes over what it does not know; a user's slip is told. */
static bool check(list_options *o, char **states, char **order)
{
  if (o->limit != NULL && (o->limit[0] == '\0' ||
                           o->limit[strspn(o->limit, "0123456789")] != '\0' ||
                           strtoul(o->limit, NULL, 10) == 0)) {
    cli_misused(&cli_list, "not a number of jobs", o->limit);
    return false;
  }
  if (o->columns != NULL && cli_job_columns_wrong(o->columns) != NULL) {
    cli_misused(&cli_list, "--columns: there is no column",
                cli_job_columns_wrong(o->columns));
    cli_help(stderr,
             "the columns are name, user, state, code, vc, priority, "
             "tags, submitted, age, ran, gpus, tasks, retries, node and "
             "command");
    return false;
  }
  if (o->since != NULL && !cli_read_since(&o->from, o->since)) {
    cli_misused(&cli_list, "--since: this is no time", o->since);
    cli_help(stderr, "give " CLI_SINCE_FORMS);
    return false;
  }
  if (o->from <= 0)
    o->from += cli_now();
  if (o->columns != NULL && (o->wide || o->columns[0] == '\0')) {
    cli_misused(&cli_list,
                "--columns and --wide exclude each other, and a "
                "list of columns is not empty",
                o->columns);
    return false;
  }
  if (o->state != NULL) {
    *states = cli_job_states(o->state);
    o->state = *states;
    if (*states == NULL)
      return false;
  }
  if (o->sort == NULL)
    return true;
  *order = sort_order(o->sort);
  o->sort = *order;
  return *order != NULL;
}

static int run(int argc, char **argv)
{
  char *states = NULL, *order = NULL;
  list_options o = { 0 };
  const cli_option options[] = {
    { "json", 0, &o.json, NULL },       { "live", 'l', &o.live, NULL },
    { "state", 0, NULL, &o.state },     { "user", 0, NULL, &o.user },
    { "keyword", 0, NULL, &o.keyword }, { "tag", 0, NULL, &o.tag },
    { "limit", 'n', NULL, &o.limit },   { "sort", 0, NULL, &o.sort },
    { "since", 0, NULL, &o.since },     { "columns", 'o', NULL, &o.columns },
    { "wide", 'w', &o.wide, NULL },     { "root", 0, NULL, &cli_root },
  };
  int words = cli_options(&cli_list, options, 12, argc, argv), code = CLI_NO;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words < 0)
    return CLI_USAGE;
  o.globs = (const char *const *)argv;
  o.nglobs = words;
  if (!check(&o, &states, &order)) {
    code = CLI_USAGE;
  } else if (cli_remote_open(&r, true)) {
    code = list(&r, &o);
    cli_remote_close(&r);
  }
  free(order);
  free(states);
  return code;
}

const cli_verb cli_list = {
  .name = "list",
  .brief = "List the platform's jobs",
  .usage = "[--json] [--live] [--state STATES] [--keyword TEXT] [--tag TAGS]\n"
           "             [--user USERS] [--since TIME] [--limit N] [--sort "
           "COLUMN[,asc|desc]]\n"
           "             [-o COLUMNS|-w] [--root DIR] [JOB...]",
  .help =
    "The newest come first.  JOB is a name or a glob such as 'train_*'.  The\n"
    "platform is started if it does not run.\n\n"
    "  --json           the items of GET /api/v2/jobs, as one array\n"
    "  -l, --live       only jobs that are not over\n"
    "  --state STATES   only jobs in one of these states, as\n"
    "                   running,waiting\n"
    "  --keyword TEXT   only jobs with TEXT in name or user\n"
    "  --tag TAGS       only jobs with one of these tags\n"
    "  --user USERS     only jobs of one of these users\n"
    "  --since TIME     only jobs submitted in that time, as 30m, 2h or 3d\n"
    "  -n, --limit N    most jobs to list (default: 5000)\n"
    "  --sort COLUMN[,asc|desc]\n"
    "                   by name, user, submitted, completed, vc, state,\n"
    "                   retries, tasks, gpus or priority (default: "
    "submitted)\n"
    "  -o, --columns COLUMNS\n"
    "                   of " CLI_JOB_COLUMNS "\n"
    "  -w, --wide       more columns, also node and command\n" JOBS_ROOT_HELP
    "\nExit status: 0 success, 1 the platform cannot be asked, 2 usage "
    "error\n",
  .run = run,
};
