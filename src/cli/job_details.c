/* job_details.c - what a list of jobs lacks: GET /jobs/NAME and its file */
#include "job_details.h"

#include "jobs.h"

#include <stdlib.h>
#include <string.h>

/* The platform could make nothing of the job's end: the task's own code says
 * more. */
enum { UNKNOWN_END = 255 };

/* --- commands ------------------------------------------------------------------- */

static bool visit_lines(const char *role, const char *text,
                        void (*visit)(void *, const char *, const char *),
                        void *user_data)
{
  while (*text != '\0') {
    size_t len = strcspn(text, "\n");
    char *line = strndup(text, len);

    if (line == NULL)
      return false;
    visit(user_data, role, line);
    free(line);
    text += len + (text[len] == '\n' ? 1 : 0);
  }
  return true;
}

void cli_each_command(const cli_json *config,
                      void (*visit)(void *user_data, const char *role,
                                    const char *line),
                      void *user_data)
{
  size_t roles = cli_json_get(config, 0, "taskRoles"), list,
         extras = cli_json_get(config, 0, "extras"),
         own = extras != 0 ? cli_json_get(config, extras, "openpai") : 0,
         first = roles != 0 ? cli_json_first(config, roles) : 0;
  bool several = first != 0 && cli_json_next(config, roles, first) != 0;

  for (size_t r = first; r != 0; r = cli_json_next(config, roles, r)) {
    int64_t skip =
      own != 0 ? cli_json_number(config, own, "environment", 0) : 0;

    list = cli_json_get(config, r, "commands");
    for (size_t i = list != 0 ? cli_json_first(config, list) : 0; i != 0;
         i = cli_json_next(config, list, i))
      if (skip-- <= 0 && config->values[i].type == '"' &&
          !visit_lines(several ? config->values[r].key : "",
                       config->values[i].text, visit, user_data))
        return;
  }
}

/* Commands of several roles or lines are told apart by "; ".  A command of `run`
 * and `submit` begins with "exec", which nobody has typed. */
static void add_command(void *user_data, const char *role, const char *line)
{
  cli_job_detail *d = user_data;
  static const char exec[] = "exec ";
  size_t len = strlen(d->command);

  (void)role;
  if (len == 0 && strncmp(line, exec, strlen(exec)) == 0)
    line += strlen(exec);
  (void)snprintf(d->command + len, sizeof(d->command) - len, "%s%s",
                 len > 0 ? "; " : "", line);
}

/* --- one job ---------------------------------------------------------------------- */

static bool has_name(const char *list, const char *name)
{
  size_t len = strlen(name);

  while (*list != '\0') {
    if (strncmp(list, name, len) == 0 &&
        (list[len] == ',' || list[len] == '\0'))
      return true;
    list += strcspn(list, ",");
    list += *list == ',';
  }
  return false;
}

static void add_node(cli_job_detail *d, const char *name)
{
  size_t len = strlen(d->node);

  if (name[0] != '\0' && !has_name(d->node, name))
    (void)snprintf(d->node + len, sizeof(d->node) - len, "%s%s",
                   len > 0 ? "," : "", name);
}

static void take_job(cli_job_detail *d, const cli_json *job)
{
  size_t roles = cli_json_get(job, 0, "taskRoles");

  d->code = cli_told_code(job);
  for (size_t r = roles != 0 ? cli_json_first(job, roles) : 0; r != 0;
       r = cli_json_next(job, roles, r)) {
    size_t list = cli_json_get(job, r, "taskStatuses");

    for (size_t t = list != 0 ? cli_json_first(job, list) : 0; t != 0;
         t = cli_json_next(job, list, t))
      add_node(d, cli_json_text(job, t, "containerNodeName"));
  }
}

static void take_config(cli_job_detail *d, const cli_json *config)
{
  cli_each_command(config, add_command, d);
}

/* What may not be seen, as of another user, stays unknown. */
static void ask(cli_remote *r, cli_job_detail *d, const char *name,
                const char *rest,
                void (*take)(cli_job_detail *, const cli_json *))
{
  char *path = cli_job_path(name, rest);
  cli_answer a;
  cli_json j;

  cli_remote_ask(r, &a, "GET", path, NULL, NULL, 0);
  if (a.status == PAI_OK && cli_json_read(&j, a.body, a.len)) {
    take(d, &j);
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  free(path);
}

cli_job_detail *cli_job_details_ask(cli_remote *r, const cli_json *list,
                                    const size_t *items, size_t count,
                                    unsigned needs)
{
  cli_job_detail *all = needs != 0 ? calloc(count + 1, sizeof(*all)) : NULL;

  for (size_t i = 0; i < count && all != NULL; i++) {
    bool odd =
      cli_json_number(list, items[i], "appExitCode", 0) == UNKNOWN_END;
    char name[600];

    (void)snprintf(name, sizeof(name), "%s~%s",
                   cli_json_text(list, items[i], "username"),
                   cli_json_text(list, items[i], "name"));
    all[i].code = INT64_MIN;
    if ((needs & CLI_DETAIL_NODE) != 0 ||
        ((needs & CLI_DETAIL_CODE) != 0 && odd))
      ask(r, &all[i], name, "", take_job);
    if ((needs & CLI_DETAIL_COMMAND) != 0)
      ask(r, &all[i], name, "/config", take_config);
  }
  return all;
}
