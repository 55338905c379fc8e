/* cmd_files.c - lists files of a job */
#include "cells.h"
#include "job_files.h"
#include "jobs.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- as a table ------------------------------------------------------------------- */

static void write_time(char *out, size_t size, int64_t ms)
{
  time_t seconds = (time_t)(ms / 1000);
  struct tm when;

  if (localtime_r(&seconds, &when) == NULL ||
      strftime(out, size, "%Y-%m-%d %H:%M", &when) == 0)
    (void)snprintf(out, size, "-");
}

static bool add_row(void *table, const cli_entry *e)
{
  bool is_folder = strcmp(e->type, "folder") == 0;
  char text[32], name[8200];

  cli_table_add(table,
                is_folder ? "-" : cli_bytes(text, sizeof(text), e->size));
  write_time(text, sizeof(text), e->modified);
  cli_table_add(table, text);
  (void)snprintf(name, sizeof(name), "%s%s%s", e->path,
                 is_folder              ? "/"
                 : e->target[0] != '\0' ? " -> "
                 : e->executable        ? "*"
                                        : "",
                 e->target);
  cli_table_add(table, name);
  return true;
}

/* --- as JSON ---------------------------------------------------------------------- */

static bool print_entry(void *comma, const cli_entry *e)
{
  const char **before = comma;

  (void)printf("%s\n  {\"path\":", *before);
  *before = ",";
  cli_json_string(stdout, e->path, strlen(e->path));
  (void)printf(",\"type\":\"%s\",\"size\":%lld,\"modified\":%lld,"
               "\"executable\":%s,\"target\":",
               e->type, (long long)e->size, (long long)e->modified,
               e->executable ? "true" : "false");
  if (e->target[0] != '\0')
    cli_json_string(stdout, e->target, strlen(e->target));
  else
    (void)printf("null");
  (void)printf("}");
  return cli_written();
}

/* --- the verb ----------------------------------------------------------------------- */

static int list(const cli_place *from, bool recursive, bool json)
{
  static const char *const heads[] = { "SIZE", "MODIFIED", "PATH" };
  const char *comma = "";
  cli_table t;
  cli_listing l = { .job = from->job,
                    .path = from->path,
                    .recursive = recursive,
                    .on_entry = json ? print_entry : add_row,
                    .user_data = json ? (void *)&comma : (void *)&t };
  cli_answer a;
  cli_remote r;
  bool good;

  if (!cli_remote_open(&r, true))
    return CLI_NO;
  cli_table_begin(&t, sizeof(heads) / sizeof(heads[0]), heads);
  if (json)
    (void)printf("[");
  good = cli_list_files(&r, &l, &a);
  if (json)
    (void)printf("%s]\n", comma[0] != '\0' ? "\n" : "");
  if (!good)
    cli_answer_tell(&a);
  if (!json && good)
    cli_table_end(&t, stdout);
  else
    cli_table_free(&t);
  cli_answer_free(&a);
  cli_remote_close(&r);
  return good ? CLI_OK : CLI_NO;
}

static int run_files(int argc, char **argv)
{
  bool recursive = false, json = false;
  const cli_option options[] = { { "recursive", 'R', &recursive, NULL },
                                 { "json", 0, &json, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_files, options, 3, argc, argv), code;
  cli_place from;

  if (words == -2)
    return CLI_OK;
  if (words != 1) {
    if (words >= 0)
      cli_misused(&cli_files, "files requires one JOB or JOB:PATH", NULL);
    return CLI_USAGE;
  }
  from = (cli_place){ .job = NULL };
  if (strchr(argv[0], ':') == NULL) {
    if (!cli_job_name(argv[0]))
      return CLI_USAGE;
    from.job = strdup(argv[0]);
    from.path = "";
  } else if (!cli_place_read(&from, argv[0]) || from.job == NULL) {
    cli_place_free(&from);
    cli_misused(&cli_files, "not JOB:PATH", argv[0]);
    return CLI_USAGE;
  }
  code = from.job != NULL ? list(&from, recursive, json) : CLI_NO;
  cli_place_free(&from);
  return code;
}

const cli_verb cli_files = {
  .name = "files",
  .brief = "List files of a job",
  .usage = "[-R] [--json] [--root DIR] JOB[:PATH]",
  .help =
    "PATH is relative to the folder in which the job's commands start: its\n"
    "copy of the code, if it was submitted with --code.  To copy files, use\n"
    "'openpai cp'.\n"
    "\n"
    "  -R, --recursive  list folders with everything below them\n"
    "  --json           print a JSON array\n" JOBS_ROOT_HELP "\n"
    "Exit status: 0 success, 1 no such job or path, 2 usage error\n",
  .run = run_files,
};
