/* cmd_prune.c - removes old finished jobs */
#include "cells.h"
#include "json.h"
#include "jobs.h"
#include "keep.h"
#include "removal.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

/* Jobs that ended before `since`, and those beyond the newest `most`. */
typedef struct pruning {
  int64_t since; /* ms since 1970; 0: none for their age */
  uint64_t most; /* 0: none for their number */
} pruning;

enum { PAGE = 5000 };

#define LIST                                                               \
  "/api/v2/jobs?state=SUCCEEDED,FAILED,STOPPED&order=completionTime,DESC&" \
  "limit=%d&offset=%llu&username=%s"

/* A page of those of this user, those that ended last first.  How many there are
 * in it; -1, and told. */
static long find_page(cli_job_names *out, cli_remote *r, const pruning *p,
                      uint64_t *n, unsigned long long offset)
{
  char *user = cli_escape(cli_user()), path[600];
  long rows = 0;
  cli_json j;

  (void)snprintf(path, sizeof(path), LIST, PAGE, offset,
                 user != NULL ? user : "");
  free(user);
  if (!cli_remote_get(r, &j, path))
    return -1;
  for (size_t i = cli_json_first(&j, 0); i != 0;
       i = cli_json_next(&j, 0, i), rows++) {
    bool ours = strcmp(cli_json_text(&j, i, "username"), cli_user()) == 0,
         old = cli_json_number(&j, i, "completedTime", 0) < p->since,
         surplus = ours && p->most > 0 && ++*n > p->most;

    if (ours && (old || surplus) &&
        !cli_job_names_put(out, cli_json_text(&j, i, "name")))
      break;
  }
  cli_json_free(&j);
  return rows;
}

/* The names of all of them, before anything is removed. */
static bool find(cli_job_names *out, cli_remote *r, const pruning *p)
{
  unsigned long long offset = 0;
  uint64_t n = 0;
  long rows;

  do {
    rows = find_page(out, r, p, &n, offset);
    offset += PAGE;
  } while (rows == PAGE);
  return rows >= 0;
}

static int prune(cli_remote *r, const pruning *p, cli_removal *m, bool yes)
{
  cli_job_names jobs = { 0 };
  int code = CLI_NO;

  if (find(&jobs, r, p)) {
    code = jobs.count == 0 || m->dry
             ? CLI_OK
             : cli_jobs_confirm(&jobs, &cli_prune, "remove", "prune", yes);
    if (jobs.count == 0 && !m->json)
      (void)fprintf(stderr, "nothing to remove\n");
    if (code == CLI_OK)
      code = cli_remove_jobs(r, &jobs, m);
  }
  cli_job_names_free(&jobs);
  return code;
}

static int run(int argc, char **argv)
{
  bool yes = false;
  cli_removal m = { .comma = "" };
  pruning p = { 0 };
  cli_keep k = { 0 };
  const cli_option options[] = {
    { "keep", 0, NULL, &k.time },       { "keep-jobs", 0, NULL, &k.jobs },
    { "keep-files", 0, &m.keep, NULL }, { "dry-run", 'n', &m.dry, NULL },
    { "yes", 'y', &yes, NULL },         { "json", 0, &m.json, NULL },
    { "root", 0, NULL, &cli_root }
  };
  int words = cli_options(&cli_prune, options, 7, argc, argv), code = CLI_NO;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words > 0)
    cli_misused(&cli_prune, "prune takes no jobs; rm does", argv[0]);
  else if (words == 0 && k.time == NULL && k.jobs == NULL)
    cli_misused(&cli_prune, "which jobs are kept must be said",
                "--keep or --keep-jobs");
  if (words != 0 || (k.time == NULL && k.jobs == NULL) ||
      !cli_keep_time(&p.since, &cli_prune, k.time) ||
      !cli_keep_jobs(&p.most, &cli_prune, k.jobs))
    return CLI_USAGE;
  if (p.since > 0)
    p.since = cli_now() - p.since;
  if (cli_remote_open(&r, true)) {
    code = prune(&r, &p, &m, yes);
    cli_remote_close(&r);
  }
  return code;
}

const cli_verb cli_prune = {
  .name = "prune",
  .brief = "Remove old finished jobs with their logs and files",
  .usage = "[--keep TIME] [--keep-jobs N] [--keep-files] [-n] [-y] [--json]\n"
           "              [--root DIR]",
  .help =
    "Remove your jobs that ended before TIME, and those beyond the newest N,\n"
    "as 'openpai rm' does.  For a platform that does so by itself, see\n"
    "'openpai help up'.\n"
    "\n"
    "  --keep TIME      remove jobs that ended longer ago, as 12h or 30d\n"
    "  --keep-jobs N    remove jobs but for the N that ended last\n"
    "  --keep-files     move the jobs' folders to 'kept' in the platform's\n"
    "                   root instead of deleting them\n"
    "  -n, --dry-run    print what would be deleted\n"
    "  -y, --yes        do not ask\n"
    "  --json           print a JSON array\n" JOBS_ROOT_HELP "\n"
    "Exit status: 0 success, also with nothing to remove; 1 a job was not\n"
    "removed, 2 usage error\n",
  .run = run,
};
