/* cmd_rm.c - forgets jobs that are over, and tells what that deletes */
#include "cells.h"
#include "job_files.h"
#include "removal.h"

#include <stdlib.h>
#include <string.h>

/* --- what is told -------------------------------------------------------------------- */

static void print_json(cli_removal *m, const char *name, const cli_total *t,
                       const char *kept)
{
  (void)printf("%s\n  {\"name\":", m->comma);
  m->comma = ",";
  cli_json_string(stdout, name, strlen(name));
  (void)printf(",\"files\":%lld,\"bytes\":%lld,\"kept\":", (long long)t->files,
               (long long)t->bytes);
  if (kept[0] != '\0')
    cli_json_string(stdout, kept, strlen(kept));
  else
    (void)printf("null");
  (void)printf("}");
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

/* --- removing ------------------------------------------------------------------------- */

static bool ask_removal(cli_remote *r, const char *name, bool keep, char *kept,
                        size_t size)
{
  char *path = cli_job_path(name, keep ? "?keepFiles=true" : "");
  cli_answer a;
  cli_json j;
  bool good;

  kept[0] = '\0';
  cli_remote_ask(r, &a, "DELETE", path, NULL, NULL, 0);
  good = a.status == PAI_OK;
  if (!good) {
    cli_answer_tell(&a);
  } else if (keep && cli_json_read(&j, a.body, a.len)) {
    (void)snprintf(kept, size, "%s", cli_json_text(&j, 0, "kept"));
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  free(path);
  return good;
}

/* Whether a job can be removed is looked at only by removing it. */
static bool is_there(cli_remote *r, const char *name)
{
  char *path = cli_job_path(name, "");
  cli_json j;
  bool good = cli_remote_get(r, &j, path);

  if (good)
    cli_json_free(&j);
  free(path);
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

int cli_remove_jobs(cli_remote *r, const cli_job_names *jobs, cli_removal *m)
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

static int run_rm(int argc, char **argv)
{
  cli_removal m = { .comma = "" };
  cli_selection s = { 0 };
  const cli_option options[] = { { "keep-files", 0, &m.keep, NULL },
                                 { "dry-run", 'n', &m.dry, NULL },
                                 { "json", 0, &m.json, NULL },
                                 SELECTION_OPTIONS(s),
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_rm, options, 8, argc, argv), code;
  cli_job_names jobs;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words < 0)
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  code = cli_jobs_select(&jobs, &r, &cli_rm, &s, "SUCCEEDED,FAILED,STOPPED",
                         m.dry ? NULL : "remove", words, argv);
  if (code == CLI_OK)
    code = cli_remove_jobs(&r, &jobs, &m);
  cli_job_names_free(&jobs);
  cli_remote_close(&r);
  return code;
}

const cli_verb cli_rm = {
  .name = "rm",
  .brief = "Remove finished jobs with their logs and files",
  .usage = "[--keep-files] [-n] [--json] [--root DIR] JOB...\n"
           "       openpai rm " SELECTION_USAGE " [JOB...]",
  .help =
    "Delete the job's logs and its folder (its copy of the code) with all\n"
    "files in it.  To keep files, copy them before with 'openpai cp', or use\n"
    "--keep-files.  A job that is not over is refused: stop it "
    "first.\n" SELECTION_HELP
    "  --keep-files     move the job's folder to 'kept' in the platform's\n"
    "                   root instead of deleting it, and print its path\n"
    "  -n, --dry-run    print what would be deleted\n"
    "  --json           print a JSON array\n" JOBS_ROOT_HELP "\n"
    "Exit status: 0 success, 1 a job was not removed, 2 usage error\n",
  .run = run_rm,
};
