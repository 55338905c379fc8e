/* cmd_list.c - the platform's jobs */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct list_options {
  const char *state, *user, *keyword, *tag, *limit, *order;
  bool json, live;
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
         o->keyword != NULL || o->tag != NULL;
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
  (void)add(&path, "limit", o->limit);
  (void)add(&path, "order", o->order);
  cli_remote_ask(r, &a, "GET", path, NULL, NULL, 0);
  if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (o->json) {
    (void)printf("%s\n", a.body);
    code = CLI_OK;
  } else if (cli_json_read(&j, a.body, a.len)) {
    if (cli_json_first(&j, 0) != 0)
      cli_print_jobs(stdout, &j, 0, SIZE_MAX);
    else
      (void)fprintf(stderr, is_filtered(o) ? "no such jobs\n" : "no jobs\n");
    cli_json_free(&j);
    warn_of_trouble(r);
    code = CLI_OK;
  }
  cli_answer_free(&a);
  free(path);
  return code;
}

/* Whether each of a list's parts is one of these words, with which it is
 * replaced, whatever its case: for free().  NULL, and told. */
static char *check_words(const char *option, const char *list,
                         const char *const *words, const char *more)
{
  size_t room = strlen(list) * 4 + 64;
  char *out = calloc(1, room), *copy = strdup(list), *next = NULL, *part;

  for (part = copy != NULL ? strtok_r(copy, ",", &next) : NULL;
       out != NULL && part != NULL; part = strtok_r(NULL, ",", &next)) {
    const char *const *w = words;
    while (*w != NULL && strcasecmp(*w, part) != 0)
      w++;
    if (*w == NULL) {
      cli_fail("--%s: there is no %s", option, part);
      cli_help(stderr, more);
      free(out);
      out = NULL;
    } else {
      (void)snprintf(out + strlen(out), room - strlen(out), "%s%s",
                     out[0] != '\0' ? "," : "", *w);
    }
  }
  free(copy);
  return out;
}

/* The API passes over what it does not know; a user's slip is told. */
static bool check(list_options *o, char **states, char **order)
{
  static const char *const known[] = { "WAITING",   "RUNNING", "STOPPING",
                                       "SUCCEEDED", "FAILED",  "STOPPED",
                                       NULL };
  static const char *const fields[] = { "jobName",
                                        "username",
                                        "submissionTime",
                                        "completionTime",
                                        "vc",
                                        "retries",
                                        "totalTaskNumber",
                                        "totalGpuNumber",
                                        "state",
                                        "jobPriority",
                                        "ASC",
                                        "DESC",
                                        NULL };

  if (o->limit != NULL && (o->limit[0] == '\0' ||
                           o->limit[strspn(o->limit, "0123456789")] != '\0')) {
    cli_misused(&cli_list, "this is no number of jobs", o->limit);
    return false;
  }
  if (o->state != NULL) {
    *states = check_words("state", o->state, known,
                          "WAITING, RUNNING, STOPPING, SUCCEEDED, FAILED or "
                          "STOPPED, with commas between them");
    o->state = *states;
    if (*states == NULL)
      return false;
  }
  if (o->order == NULL)
    return true;
  *order = check_words("order", o->order, fields,
                       "jobName, username, vc, submissionTime, "
                       "completionTime, state, retries, jobPriority, "
                       "totalGpuNumber or totalTaskNumber; then ,ASC or "
                       ",DESC");
  o->order = *order;
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
    { "limit", 'n', NULL, &o.limit },   { "order", 0, NULL, &o.order },
    { "root", 0, NULL, &cli_root },
  };
  int words = cli_options(&cli_list, options, 9, argc, argv), code = CLI_NO;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words != 0) {
    if (words > 0)
      cli_misused(&cli_list, "list takes no argument", argv[0]);
    return CLI_USAGE;
  }
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
           "             [--user USERS] [--limit N] [--order FIELD,ASC|DESC] "
           "[--root DIR]",
  .help =
    "The newest come first.  The platform is started if it does not run.\n\n"
    "  --json           the items of GET /api/v2/jobs, as one array\n"
    "  -l, --live       only jobs that are not over\n"
    "  --state STATES   only jobs in one of these states, as\n"
    "                   RUNNING,WAITING\n"
    "  --keyword TEXT   only jobs with TEXT in name or user\n"
    "  --tag TAGS       only jobs with one of these tags\n"
    "  --user USERS     only jobs of one of these users\n"
    "  -n, --limit N    most jobs to list (default: 5000)\n"
    "  --order FIELD,ASC|DESC\n"
    "                   by jobName, submissionTime, completionTime, state,\n"
    "                   retries, totalGpuNumber or "
    "totalTaskNumber\n" JOBS_ROOT_HELP
    "\nExit status: 0 success, 1 the platform cannot be asked, 2 usage "
    "error\n",
  .run = run,
};
