/* cmd_cp.c - `cp`: copy files between a job and this machine */
#include "cells.h"
#include "job_files.h"
#include "jobs.h"
#include "progress.h"

#include <string.h>

/* Whether a path has no name of its own ("", "." or ".."): then the content
 * of the folder is copied, and not the folder itself. */
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

/* Checks that the sources are on one side and the target on the other.
 * Returns false after printing an error. */
static bool check_sides(char **argv, int words, const cli_place *to)
{
  for (int i = 0; i + 1 < words; i++) {
    cli_place from;
    bool is_job;

    if (!cli_place_read(&from, argv[i]))
      return false;
    is_job = from.job != NULL;
    cli_place_free(&from);
    if (is_job == (to->job != NULL))
      return cli_wrong(
        is_job
          ? "cp copies between a job and this machine, not from job to job"
          : "neither the source nor the target is JOB:PATH",
        argv[i]);
  }
  return true;
}

/* Whether the target is a folder, in which copies keep their names. */
static bool keeps_name(cli_remote *r, const cli_place *to, int sources)
{
  size_t len = strlen(to->path);
  cli_listing l = { .job = to->job, .path = to->path, .one = true };
  bool is_folder;
  cli_answer a;
  pai_json *j;

  if (sources > 1 || len == 0 || to->path[len - 1] == '/')
    return true;
  if (to->job == NULL)
    return cli_is_folder(to->path);
  l.on_entry = NULL;
  is_folder = cli_ask_files(r, &l, &a) && cli_json_read(&j, a.body, a.len);
  if (is_folder) { /* a list of a file has that file as its entry */
    cli_each e = cli_each_of(j, cli_json_get(j, 0, "entries"));

    is_folder =
      !cli_next(&e) || strcmp(cli_json_text(j, e.at, "path"), to->path) != 0;
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  return is_folder;
}

static void tell(const cli_copied *c, bool json)
{
  char size[32];

  if (json)
    cli_json_print(stdout, "{\"files\":%lld,\"bytes\":%lld}\n",
                   (long long)c->files, (long long)c->bytes);
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

int cli_do_cp(const cli_cp_args *a)
{
  int code = CLI_USAGE;
  cli_place to;

  if (cli_place_read(&to, a->words[a->count - 1]) &&
      check_sides(a->words, a->count, &to))
    code = copy(a->words, a->count, &to, a->json);
  cli_place_free(&to);
  return code;
}
