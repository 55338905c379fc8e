/* cmd_tag.c - adds tags to jobs, and removes them */
#include "job_options.h"
#include "job_select.h"

#include <stdlib.h>
#include <string.h>

static bool change(cli_remote *r, const char *method, const char *job,
                   const char *tag)
{
  char *path = cli_job_path(job, "/tag"), *body = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&body, &len);
  bool good = false;
  cli_answer a;

  if (out != NULL) {
    (void)fputs("{\"value\":", out);
    cli_json_string(out, tag, strlen(tag));
    (void)fputc('}', out);
    if (fclose(out) == 0) {
      cli_remote_ask(r, &a, method, path, NULL, body, len);
      good = a.status == PAI_OK;
      if (!good)
        cli_answer_tell(&a);
      cli_answer_free(&a);
    }
  }
  free(body);
  free(path);
  return good;
}

bool cli_job_tag(cli_remote *r, const char *job)
{
  bool good = true;

  for (size_t i = 0; i < cli_tags.count; i++)
    good &= change(r, "PUT", job, cli_tags.words[i]);
  return good;
}

static int run(const cli_verb *verb, const char *method, int argc, char **argv)
{
  cli_selection s = { 0 };
  const cli_option options[] = { SELECTION_OPTIONS(s),
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(verb, options, 5, argc, argv), code;
  cli_job_names jobs;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words == 0)
    cli_misused(verb, "which tag, of which jobs?", "missing argument");
  if (words <= 0)
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  code = cli_jobs_select(&jobs, &r, verb, &s, NULL, "change the tags of",
                         words - 1, argv + 1);
  for (size_t i = 0; i < jobs.count; i++)
    if (!change(&r, method, jobs.list[i], argv[0]))
      code = CLI_NO;
  cli_job_names_free(&jobs);
  cli_remote_close(&r);
  return code;
}

static int run_add(int argc, char **argv)
{
  return run(&cli_tag_add, "PUT", argc, argv);
}

static int run_remove(int argc, char **argv)
{
  return run(&cli_tag_remove, "DELETE", argc, argv);
}

#define STATUS                                                             \
  "\nExit status: 0 success, 1 no such job or the job has no such tag, 2 " \
  "usage\nerror\n"

const cli_verb cli_tag_add = {
  .name = "tag add",
  .brief = "Add a tag to jobs",
  .usage = SELECTION_USAGE " [--root DIR] TAG [JOB...]",
  .help = SELECTION_HELP JOBS_ROOT_HELP STATUS,
  .run = run_add,
};

const cli_verb cli_tag_remove = {
  .name = "tag remove",
  .brief = "Remove a tag from jobs",
  .usage = SELECTION_USAGE " [--root DIR] TAG [JOB...]",
  .help = SELECTION_HELP JOBS_ROOT_HELP STATUS,
  .run = run_remove,
};
