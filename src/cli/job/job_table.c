/* job_table.c - a list of jobs as a table */
#include "cells.h"
#include "job_table.h"
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

/* The completion code when the platform does not know the cause; the task's
 * own exit code says more. */
enum { UNKNOWN_END = 255 };

/* The details that columns need. */
enum { COMMAND = 1, NODE = 2, CODE = 4 };

struct cli_job_detail {
  char command[300]; /* of all task roles, on one line; "": unknown */
  char node[300];    /* names of nodes, separated by commas, or "" */
  int64_t code;      /* as cli_result_code() */
};

/* --- commands ------------------------------------------------------------ */

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

void cli_each_command(const pai_json *config,
                      void (*visit)(void *user_data, const char *role,
                                    const char *line),
                      void *user_data)
{
  size_t roles = cli_json_get(config, 0, "taskRoles");
  bool several = pai_json_count(config, roles) > 1;

  for (cli_each r = cli_each_of(config, roles); cli_next(&r);) {
    int64_t skip = cli_json_number(config, 0, "extras/openpai/environment", 0);

    for (cli_each i =
           cli_each_of(config, cli_json_get(config, r.at, "commands"));
         cli_next(&i);)
      if (skip-- <= 0 &&
          !visit_lines(several ? r.key : "", cli_json_text(config, i.at, ""),
                       visit, user_data))
        return;
  }
}

/* Joins commands of several roles or lines with "; ".  Omits the leading
 * "exec" that `run` and `submit` add. */
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

/* --- one job ------------------------------------------------------------- */

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

static void take_job(cli_job_detail *d, const pai_json *job)
{
  d->code = cli_result_code(job);
  for (cli_each_task t = cli_tasks_of(job); cli_next_task(&t);)
    add_node(d, cli_json_text(job, t.task.at, "containerNodeName"));
}

static void take_config(cli_job_detail *d, const pai_json *config)
{
  cli_each_command(config, add_command, d);
}

/* Details that this user may not read stay unknown. */
static void ask(cli_remote *r, cli_job_detail *d, const char *name,
                const char *call,
                void (*take)(cli_job_detail *, const pai_json *))
{
  pai_json *j;

  if (cli_call_quietly(r, &j, call, cli_job_arguments(name, "")))
    take(d, j);
  pai_json_free(j);
}

static unsigned need_of(const cli_column *column)
{
  return strncmp(column->form, "{shownCode", 10) == 0      ? CODE
         : strncmp(column->form, "{shownNode", 10) == 0    ? NODE
         : strncmp(column->form, "{shownCommand", 13) == 0 ? COMMAND
                                                           : 0;
}

unsigned cli_job_columns_need(const cli_column *columns)
{
  unsigned needs = 0;

  for (; columns->head != NULL; columns++)
    needs |= need_of(columns);
  return needs;
}

cli_job_detail *cli_job_detail_ask(cli_remote *r, const cli_each *item,
                                   unsigned needs)
{
  int64_t code =
    cli_json_number(item->json, item->at, "appExitCode", CLI_NULL);
  bool vague = (needs & CODE) != 0 && code == UNKNOWN_END;
  char *name = cli_json_name(item->json, item->at);
  cli_job_detail *d = calloc(1, sizeof(*d));

  if (d != NULL)
    d->code = code;
  if (name != NULL && d != NULL) {
    if ((needs & NODE) != 0 || vague)
      ask(r, d, name, "jobs.show", take_job);
    if ((needs & COMMAND) != 0)
      ask(r, d, name, "jobs.config", take_config);
    if (code == CLI_NULL)
      d->code = code;
  }
  free(name);
  return d;
}

/* --- the table ----------------------------------------------------------- */

const char cli_job_columns_usual[] =
  "name,user,state,age,ran,gpus,tasks,retries";
const char cli_job_columns_wide[] =
  "name,user,state,code,vc,priority,age,ran,gpus,tasks,retries,tags,node,"
  "command";

static char *detail_text(unsigned need, const cli_job_detail *d)
{
  char code[32] = "";
  const char *text = need == NODE ? d->node : need == CODE ? code : d->command;

  if (d->code != CLI_NULL)
    (void)snprintf(code, sizeof(code), "%lld", (long long)d->code);
  return cli_form_text(text[0] != '\0' ? text : "-", NULL);
}

char *cli_job_cell(const cli_column *column, const cli_each *item,
                   const cli_job_detail *detail)
{
  unsigned need = need_of(column);

  return need != 0 && detail != NULL ? detail_text(need, detail)
                                     : cli_form_text(column->form, item);
}

void cli_job_table_add(cli_table *t, const cli_each *item,
                       const cli_job_detail *detail)
{
  for (size_t i = 0; i < t->size; i++)
    cli_table_take(t, cli_job_cell(&t->columns[i], item, detail));
}
