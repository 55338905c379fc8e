/* cmd_cp.c - copies files between a job and this machine */
#include "cells.h"
#include "job_files.h"
#include "jobs.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

/* A path of which all there is is asked for is in place of the folder. */
static bool is_whole(const char *path)
{
  const char *last = cli_last_part(path);

  return last[0] == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
}

static bool copy_one(cli_remote *r, const char *from_word, const cli_place *to,
                     bool into, cli_copied *c)
{
  cli_place from;
  bool good = false;

  if (!cli_place_read(&from, from_word))
    return false;
  if (from.job != NULL)
    good = cli_download(r, &from, to->path, into && from.path[0] != '\0', c);
  else
    good = cli_upload(r, from.path, to, into && !is_whole(from.path), c);
  cli_place_free(&from);
  return good;
}

/* Sources and target lie on different sides.  False, and told. */
static bool check_sides(char **argv, int words, const cli_place *to)
{
  for (int i = 0; i + 1 < words; i++) {
    cli_place from;
    bool is_job;

    if (!cli_place_read(&from, argv[i]))
      return false;
    is_job = from.job != NULL;
    cli_place_free(&from);
    if (is_job == (to->job != NULL)) {
      cli_misused(
        &cli_cp,
        is_job
          ? "cp copies between a job and this machine, not from job to job"
          : "neither the source nor the target is JOB:PATH",
        argv[i]);
      return false;
    }
  }
  return true;
}

/* Whether the target is a folder, in which what is copied keeps its name. */
static bool keeps_name(cli_remote *r, const cli_place *to, int sources)
{
  size_t len = strlen(to->path);
  cli_listing l = { .job = to->job, .path = to->path, .one = true };
  bool is_folder;
  cli_answer a;
  cli_json j;
  size_t first;

  if (sources > 1 || len == 0 || to->path[len - 1] == '/')
    return true;
  if (to->job == NULL)
    return cli_is_folder(to->path);
  l.on_entry = NULL;
  is_folder = cli_ask_files(r, &l, &a) && cli_json_read(&j, a.body, a.len);
  if (is_folder) { /* the list of a file is that file */
    size_t list = cli_json_get(&j, 0, "entries");
    first = list != 0 ? cli_json_first(&j, list) : 0;
    is_folder =
      first == 0 || strcmp(cli_json_text(&j, first, "path"), to->path) != 0;
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  return is_folder;
}

static void tell(const cli_copied *c, bool json)
{
  char size[32];

  if (json)
    (void)printf("{\"files\":%ld,\"bytes\":%lld}\n", c->files,
                 (long long)c->bytes);
  else if (cli_is_terminal(stderr))
    (void)fprintf(stderr, "copied %ld file%s, %s\n", c->files,
                  c->files == 1 ? "" : "s",
                  cli_bytes(size, sizeof(size), c->bytes));
}

static int copy(char **argv, int words, const cli_place *to, bool json)
{
  cli_copied c = { .began = cli_now() };
  int code = CLI_OK;
  cli_remote r;
  bool into;

  if (!cli_remote_open(&r, true))
    return CLI_NO;
  into = keeps_name(&r, to, words - 1);
  for (int i = 0; i + 1 < words; i++)
    if (!copy_one(&r, argv[i], to, into, &c))
      code = CLI_NO;
  cli_progress_over();
  cli_remote_close(&r);
  if (code == CLI_OK || c.files > 0)
    tell(&c, json);
  return code;
}

static int run_cp(int argc, char **argv)
{
  bool json = false;
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_cp, options, 2, argc, argv), code = CLI_USAGE;
  cli_place to;

  if (words == -2)
    return CLI_OK;
  if (words >= 0 && words < 2)
    cli_misused(&cli_cp, "cp requires a source and a target", NULL);
  if (words < 2)
    return CLI_USAGE;
  if (cli_place_read(&to, argv[words - 1]) && check_sides(argv, words, &to))
    code = copy(argv, words, &to, json);
  cli_place_free(&to);
  return code;
}

const cli_verb cli_cp = {
  .name = "cp",
  .brief = "Copy files between a job and this machine",
  .usage = "[--json] [--root DIR] SOURCE... TARGET",
  .help =
    "One side is JOB:PATH, the other a path on this machine:\n"
    "\n"
    "  openpai cp train:out/model.pt .      a file of the job\n"
    "  openpai cp train:out results         a folder with everything below "
    "it\n"
    "  openpai cp train: results            all files of the job\n"
    "  openpai cp train:log.txt -           to standard output\n"
    "  openpai cp data.bin train:data/      into the job's folder\n"
    "\n"
    "PATH is relative to the folder in which the job's commands start.  To\n"
    "resume an interrupted copy, run the same command again.  Files that "
    "were\n"
    "copied before and have not changed are skipped.  A path of this machine\n"
    "that contains a colon needs a slash before the colon: ./a:b\n"
    "\n"
    "  --json           print {\"files\", \"bytes\"}\n" JOBS_ROOT_HELP "\n"
    "Exit status: 0 success, 1 something was not copied, 2 usage error\n",
  .run = run_cp,
};
