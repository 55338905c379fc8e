/* cmd_rm.c - `rm` and `prune`: delete jobs that are over */
#include "cells.h"
#include "job_files.h"
#include "job_select.h"
#include "jobs.h"
#include "json.h"
#include "keep.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

typedef struct cli_removal {
  bool keep, dry, json;
  const char *comma; /* separator before the next object of the JSON list */
} cli_removal;

/* --- output -------------------------------------------------------------- */

static void print_json(cli_removal *m, const char *name, const cli_total *t,
                       const char *kept)
{
  (void)printf("%s\n  ", m->comma);
  m->comma = ",";
  cli_json_print(
    stdout, "{\"name\":%s,\"files\":%lld,\"bytes\":%lld,\"kept\":%s}", name,
    (long long)t->files, (long long)t->bytes, kept[0] != '\0' ? kept : NULL);
}

static void print_line(const cli_removal *m, const char *name,
                       const cli_total *t, const char *kept)
{
  char size[32];

  (void)printf("%s ", m->dry ? "would remove" : "removed");
  cli_print(stdout, name);
  (void)printf(", its logs");
  if (t->own && t->files > 0 && kept[0] == '\0')
    (void)printf(", and its folder of %lld file%s (%s)", (long long)t->files,
                 t->files == 1 ? "" : "s",
                 cli_bytes(size, sizeof(size), t->bytes));
  if (m->dry && m->keep && t->own)
    (void)printf("; its files would be kept");
  if (kept[0] != '\0') {
    (void)printf("; its files are in ");
    cli_print(stdout, kept);
  }
  (void)printf("\n");
}

/* --- removing ------------------------------------------------------------ */

static bool ask_removal(cli_remote *r, const char *name, bool keep, char *kept,
                        size_t size)
{
  cli_answer a;
  pai_json *j;
  bool good;

  kept[0] = '\0';
  cli_call(r, &a, "jobs.remove",
           cli_job_arguments(name, keep ? ",\"keepFiles\":true" : ""));
  good = a.status == PAI_OK;
  if (!good) {
    cli_answer_tell(&a);
  } else if (keep && cli_json_read(&j, a.body, a.len)) {
    (void)snprintf(kept, size, "%s", cli_json_text(j, 0, "kept"));
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  return good;
}

/* The server refuses a removal that is not allowed; a dry run only checks that
 * the job exists. */
static bool is_there(cli_remote *r, const char *name)
{
  pai_json *j;
  bool good = cli_job_read(r, &j, name);

  pai_json_free(j);
  return good;
}

static bool remove_job(cli_remote *r, const char *name, cli_removal *m)
{
  char kept[4096] = "";
  cli_total t;

  if (!cli_total_files(r, name, &t) || !t.own)
    t.files = t.bytes = 0;
  if (m->dry ? !is_there(r, name)
             : !ask_removal(r, name, m->keep, kept, sizeof(kept)))
    return false;
  if (m->json)
    print_json(m, name, &t, kept);
  else
    print_line(m, name, &t, kept);
  return true;
}

/* Removes jobs, or with `dry` prints what would be deleted.  Returns an exit
 * code. */
static int cli_remove_jobs(cli_remote *r, const cli_job_names *jobs,
                           cli_removal *m)
{
  int code = CLI_OK;

  if (m->json)
    (void)printf("[");
  for (size_t i = 0; i < jobs->count; i++)
    if (!remove_job(r, jobs->list[i], m))
      code = CLI_NO;
  if (m->json)
    (void)printf("%s]\n", m->comma[0] != '\0' ? "\n" : "");
  return code;
}

int cli_do_rm(const cli_rm_args *a)
{
  cli_removal m = {
    .keep = a->keep_files, .dry = a->dry_run, .json = a->json, .comma = ""
  };
  cli_job_names jobs;
  cli_remote r;
  int code;

  if (!cli_remote_open(&r, true))
    return CLI_NO;
  code = cli_jobs_select(&jobs, &r, &a->selection, "SUCCEEDED,FAILED,STOPPED",
                         m.dry ? NULL : "remove", a->count, a->words);
  if (code == CLI_OK)
    code = cli_remove_jobs(&r, &jobs, &m);
  cli_job_names_free(&jobs);
  cli_remote_close(&r);
  return code;
}

/* Selects jobs that ended before `since`, and all but the newest `most`. */
typedef struct pruning {
  int64_t since; /* ms since 1970; 0: no limit of age */
  uint64_t most; /* 0: no limit of number */
} pruning;

enum { PAGE = 5000 };

/* Position in the list of jobs, latest end first. */
typedef struct reading {
  unsigned long long offset;
  uint64_t count; /* of this user's jobs */
  int64_t ended;  /* end time of the last job read */
  char *name;     /* name of the last job read; NULL: none */
} reading;

/* Returns the position behind the jobs already read: jobs that ended meanwhile
 * have shifted jobs of the previous page into this one. */
static cli_each find_new(const pai_json *j, const reading *at)
{
  cli_each e = cli_each_of(j, 0), first = e;

  while (at->name != NULL && cli_next(&e)) {
    int64_t ended = cli_json_number(j, e.at, "completedTime", 0);

    if (ended > at->ended)
      first = e;
    else if (ended < at->ended)
      break;
    else if (strcmp(cli_json_text(j, e.at, "name"), at->name) == 0)
      return e;
  }
  return first;
}

static bool take(cli_job_names *out, const pai_json *j, const pruning *p,
                 reading *at)
{
  for (cli_each e = find_new(j, at); cli_next(&e);) {
    bool ours = strcmp(cli_json_text(j, e.at, "username"), cli_user()) == 0,
         old = cli_json_number(j, e.at, "completedTime", 0) < p->since,
         surplus = ours && p->most > 0 && ++at->count > p->most;

    if (ours && (old || surplus) &&
        !cli_job_names_put(out, cli_json_text(j, e.at, "name")))
      return false;
    at->ended = cli_json_number(j, e.at, "completedTime", 0);
    free(at->name);
    at->name = strdup(cli_json_text(j, e.at, "name"));
  }
  return true;
}

/* Reads a page of this user's jobs.  Returns the number of jobs in it; -1
 * after printing an error. */
static long find_page(cli_job_names *out, cli_remote *r, const pruning *p,
                      reading *at)
{
  long rows;
  pai_json *j;

  if (!cli_call_read(
        r, &j, "jobs.list",
        cli_json_make("{\"state\":\"SUCCEEDED,FAILED,STOPPED\","
                      "\"order\":\"completionTime,DESC\",\"limit\":%d,"
                      "\"offset\":%llu,\"username\":%s}",
                      PAGE, at->offset, cli_user())))
    return -1;
  rows = (long)pai_json_count(j, 0);
  if (!take(out, j, p, at))
    rows = -1;
  cli_json_free(&j);
  return rows;
}

/* Collects all names before any job is removed. */
static bool find(cli_job_names *out, cli_remote *r, const pruning *p)
{
  reading at = { 0 };
  long rows;

  do {
    rows = find_page(out, r, p, &at);
    at.offset += PAGE;
  } while (rows == PAGE);
  free(at.name);
  return rows >= 0;
}

static int prune(cli_remote *r, const pruning *p, cli_removal *m, bool yes)
{
  cli_job_names jobs = { 0 };
  int code = CLI_NO;

  if (find(&jobs, r, p)) {
    code = jobs.count == 0 || m->dry
             ? CLI_OK
             : cli_jobs_confirm(&jobs, "remove", "prune", yes);
    if (jobs.count == 0 && !m->json)
      (void)fprintf(stderr, "nothing to remove\n");
    if (code == CLI_OK)
      code = cli_remove_jobs(r, &jobs, m);
  }
  cli_job_names_free(&jobs);
  return code;
}

int cli_do_prune(const cli_prune_args *a)
{
  cli_removal m = {
    .keep = a->keep_files, .dry = a->dry_run, .json = a->json, .comma = ""
  };
  pruning p = { .most = cli_number(a->keep_jobs, 0) };
  int code = CLI_NO;
  cli_remote r;

  if (a->keep == NULL && a->keep_jobs == NULL)
    return cli_misused("a required option is missing",
                       "--keep or --keep-jobs");
  if (!cli_keep_time(&p.since, a->keep))
    return CLI_USAGE;
  if (p.since > 0)
    p.since = cli_now() - p.since;
  if (cli_remote_open(&r, true)) {
    code = prune(&r, &p, &m, a->yes);
    cli_remote_close(&r);
  }
  return code;
}
