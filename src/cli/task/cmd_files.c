/* cmd_files.c - `files`: list the files of a job */
#include "cells.h"
#include "job_files.h"
#include "jobs.h"
#include "table.h"

#include <string.h>

/* --- as a table ---------------------------------------------------------- */

static bool add_row(void *table, const cli_entry *e)
{
  bool is_folder = strcmp(e->type, "folder") == 0;
  char text[32], name[8200];

  cli_table_add(table,
                is_folder ? "-" : cli_bytes(text, sizeof(text), e->size));
  cli_table_add(table, cli_date(text, e->modified));
  (void)snprintf(name, sizeof(name), "%s%s%s", e->path,
                 is_folder              ? "/"
                 : e->target[0] != '\0' ? " -> "
                 : e->executable        ? "*"
                                        : "",
                 e->target);
  cli_table_add(table, name);
  return true;
}

/* --- as JSON ------------------------------------------------------------- */

static bool print_entry(void *comma, const cli_entry *e)
{
  const char **before = comma;

  (void)printf("%s\n  ", *before);
  *before = ",";
  cli_json_print(stdout,
                 "{\"path\":%s,\"type\":%s,\"size\":%lld,\"modified\":%lld,"
                 "\"executable\":%c,\"target\":%s}",
                 e->path, e->type, (long long)e->size, (long long)e->modified,
                 cli_truth(e->executable),
                 e->target[0] != '\0' ? e->target : NULL);
  return cli_written();
}

/* --- the verb ------------------------------------------------------------ */

static int list(const cli_place *from, bool recursive, bool json)
{
  static const cli_column columns[] = { { .head = "SIZE" },
                                        { .head = "MODIFIED" },
                                        { .head = "PATH" },
                                        { .head = NULL } };
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
  cli_table_begin(&t, columns);
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

int cli_do_files(const cli_files_args *a)
{
  cli_place from = { .job = NULL };
  int code;

  if (strchr(a->words[0], ':') == NULL) {
    if (!cli_job_name(a->words[0]))
      return CLI_USAGE;
    from.job = strdup(a->words[0]);
    from.path = "";
  } else if (!cli_place_read(&from, a->words[0]) || from.job == NULL) {
    cli_place_free(&from);
    return cli_misused("not JOB:PATH", a->words[0]);
  }
  code = from.job != NULL ? list(&from, a->recursive, a->json) : CLI_NO;
  cli_place_free(&from);
  return code;
}
