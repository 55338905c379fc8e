/*
 * cmd_retry.c - a job once more, from the file that the platform keeps
 *
 * That file has no secrets: those of a job that is not over the platform has
 * still, all others have to be given again.
 */
#include "edit.h"
#include "folders.h"
#include "job_options.h"
#include "job_select.h"
#include "secrets.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

typedef struct again {
  const char *job;
  const char *name; /* that the new one shall have, or NULL */
  const char *code, *secrets;
  bool json, retry;
  bool edit; /* in the user's editor, before it is submitted */
} again;

/* The file of the first one. */
typedef struct found {
  cli_job_file file;
  cli_edited edited;
  char *named; /* what the file said before it was edited, for free() */
} found;

/* Whether a job is over, in *over.  False, and told: there is none, or it is a
 * retry of one that is not. */
static bool look(cli_remote *r, const again *a, bool *over)
{
  char *path = cli_job_path(a->job, "");
  const char *state;
  bool good;
  cli_json j;

  good = cli_remote_get(r, &j, path);
  free(path);
  if (!good)
    return false;
  state = cli_json_text(&j, cli_json_get(&j, 0, "jobStatus"), "state");
  *over = strcmp(state, "WAITING") != 0 && strcmp(state, "RUNNING") != 0 &&
          strcmp(state, "STOPPING") != 0;
  if (a->retry && !*over) {
    cli_fail("job %s is not over: it is %s", a->job, state);
    cli_help(stderr, "openpai clone submits it beside itself");
    good = false;
  }
  cli_json_free(&j);
  return good;
}

static bool wants_more(void)
{
  char *answer = NULL;
  bool more;

  if (!cli_terminal_is_input() || !cli_is_terminal(stderr))
    return false;
  answer = cli_prompt_shown("edit it again? [Y/n]");
  more = answer != NULL && answer[0] != 'n' && answer[0] != 'N';
  free(answer);
  return more;
}

/* Takes what was written in the editor. */
static int take_edited(found *f)
{
  char *text = NULL;
  size_t len = 0;
  int code = cli_read(&text, &len, f->edited.path);

  if (code == CLI_OK && strspn(text, " \t\r\n") == len) {
    cli_fail("the edited file is empty: no job was submitted");
    cli_edit_end(&f->edited, false);
    code = CLI_NO;
  } else if (code == CLI_OK) {
    cli_job_file_take(&f->file, f->edited.path, text, len, NULL, true);
    code = cli_job_file_judge(&f->file, f->edited.path);
  }
  free(text);
  return code;
}

/* Edits it until it is right, or its user has enough. */
static int edit(found *f, const char *job, const char *text, size_t len)
{
  cli_job_file first;
  int code;

  cli_job_file_take(&first, job, text, len, NULL, true);
  if (first.spec != NULL)
    f->named = strdup(pai_spec_name(first.spec));
  cli_job_file_close(&first);
  if (!cli_edit_begin(&f->edited, job, text, len))
    return CLI_NO;
  if (!cli_edit_open(&f->edited)) {
    cli_edit_end(&f->edited, false);
    return CLI_NO;
  }
  while ((code = take_edited(f)) != CLI_OK && f->edited.path != NULL &&
         wants_more()) {
    cli_job_file_close(&f->file);
    f->file = (cli_job_file){ .file = { .name = job } };
    if (!cli_edit_open(&f->edited))
      return CLI_NO;
  }
  return code;
}

/* The file that a job was submitted with, with parameters and secrets of the
 * command line. */
static int get_file(cli_remote *r, const again *a, bool kept, found *f)
{
  char *path = cli_job_path(a->job, "/config?format=yaml");
  cli_answer answer;
  int code = CLI_NO;

  cli_remote_ask(r, &answer, "GET", path, NULL, NULL, 0);
  free(path);
  if (answer.status != PAI_OK) {
    cli_answer_tell(&answer);
  } else if (a->edit) {
    code = edit(f, a->job, answer.body, answer.len);
  } else {
    cli_job_file_take(&f->file, a->job, answer.body, answer.len, NULL, true);
    code = cli_job_file_judge(&f->file, a->job);
  }
  if (code == CLI_OK)
    code = cli_secrets_fill(&f->file, a->secrets, kept);
  cli_answer_free(&answer);
  return code;
}

/* The job's name, without its user and, if its file says another one, without a
 * number that was put behind that. */
static const char *bare_name(const char *job, const char *in_file)
{
  const char *tilde = strchr(job, '~');
  const char *name = tilde != NULL ? tilde + 1 : job;
  size_t len = strlen(in_file);

  if (strncmp(name, in_file, len) == 0 && name[len] == '_' &&
      name[len + 1] != '\0' &&
      strspn(name + len + 1, "0123456789") == strlen(name + len + 1))
    return in_file;
  return name;
}

/* A name that was edited is meant. */
static const char *wanted_name(const again *a, const found *f)
{
  const char *in_file = pai_spec_name(f->file.spec);

  if (f->named != NULL && strcmp(f->named, in_file) != 0)
    return in_file;
  return bare_name(a->job, in_file);
}

static int submit_again(cli_remote *r, const again *a, bool kept)
{
  cli_submission s = { .name = a->name, .code = a->code, .like = a->job };
  found f = { .file = { .file = { .name = a->job } } };
  char *given = NULL;
  int code = get_file(r, a, kept, &f);

  s.quiet = true;
  if (code == CLI_OK) {
    s.text = f.file.text;
    s.len = f.file.len;
    s.wanted = wanted_name(a, &f);
    code = cli_submit(r, &s, &given);
    if (code == CLI_OK && !cli_job_tag(r, given))
      code = CLI_NO;
  }
  cli_edit_end(&f.edited, code != CLI_OK);
  cli_job_file_close(&f.file);
  free(f.named);
  if (given == NULL)
    return code;
  if (a->json)
    (void)printf("{\"name\":");
  if (a->json)
    cli_json_string(stdout, given, strlen(given));
  (void)printf(a->json ? "}\n" : "%s\n", given);
  free(given);
  return code;
}

static bool new_name_is_good(const cli_verb *verb, const again *a)
{
  if (a->name == NULL || !cli_job_name(a->name))
    return a->name == NULL;
  if (strchr(a->name, '~') == NULL)
    return true;
  cli_misused(verb,
              "the new name must not contain a user: the new job is yours",
              a->name);
  return false;
}

/* JOB and NEW of a clone; as an option NEW is --name. */
static bool read_words(again *a, int words, char **argv)
{
  const cli_verb *verb = &cli_clone;

  if (!cli_want_jobs(verb, words, argv, 2))
    return false;
  a->job = argv[0];
  if (words == 2 && a->name != NULL) {
    cli_misused(verb, "the new name is given twice", argv[1]);
    return false;
  }
  if (words == 2)
    a->name = argv[1];
  return new_name_is_good(verb, a);
}

static int one_again(cli_remote *r, const again *a)
{
  bool over;

  return look(r, a, &over) ? submit_again(r, a, !over) : CLI_NO;
}

static int run_clone(int argc, char **argv)
{
  again a = { 0 };
  const cli_option options[] = { { "json", 0, &a.json, NULL },
                                 { "name", 0, NULL, &a.name },
                                 { "code", 0, NULL, &a.code },
                                 { "param", 'p', NULL, cli_parameters.words },
                                 { "root", 0, NULL, &cli_root },
                                 SECRETS_OPTIONS(a.secrets),
                                 JOB_OPTIONS,
                                 { "edit", 'e', &a.edit, NULL } };
  int words = cli_options(&cli_clone, options,
                          sizeof(options) / sizeof(options[0]), argc, argv),
      code;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words < 0 || !read_words(&a, words, argv) ||
      !cli_job_options_good(&cli_clone))
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  code = one_again(&r, &a);
  cli_remote_close(&r);
  return code;
}

static int run_retry(int argc, char **argv)
{
  again a = { .retry = true };
  cli_selection s = { 0 };
  const cli_option options[] = {
    { "json", 0, &a.json, NULL },
    { "name", 0, NULL, &a.name },
    { "code", 0, NULL, &a.code },
    { "param", 'p', NULL, cli_parameters.words },
    { "root", 0, NULL, &cli_root },
    SECRETS_OPTIONS(a.secrets),
    SELECTION_OPTIONS(s),
  };
  int words = cli_options(&cli_retry, options,
                          sizeof(options) / sizeof(options[0]), argc, argv);
  bool refused = false;
  cli_job_names jobs;
  cli_remote r;
  int code;

  if (words == -2)
    return CLI_OK;
  if (words < 0 || !new_name_is_good(&cli_retry, &a))
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  code =
    cli_jobs_select(&jobs, &r, &cli_retry, &s, "FAILED", "retry", words, argv);
  if (jobs.count > 1 && a.name != NULL) {
    cli_misused(&cli_retry, "--name is for one job", a.name);
    code = CLI_USAGE;
    refused = true;
  }
  for (size_t i = 0; i < jobs.count && !refused; i++) {
    int of_job;

    a.job = jobs.list[i];
    of_job = one_again(&r, &a);
    if (of_job != CLI_OK)
      code = of_job;
  }
  cli_job_names_free(&jobs);
  cli_remote_close(&r);
  return code;
}

#define STATUS                                                           \
  "Exit status: 0 the job was accepted, 1 the job was refused, 2 usage " \
  "error\n"

#define OPTIONS(more, last)                                                   \
  "Commands start in the same folder as those of the first job.  If that is " \
  "a\n"                                                                       \
  "copy of code, the new job gets a copy of it as it is now, with the "       \
  "files\n"                                                                   \
  "that the first job wrote there.\n"                                         \
  "\n"                                                                        \
  "  --json           print {\"name\": NAME}\n"                               \
  "  --name NAME      name of the new job (default: the job's name with "     \
  "_2,\n"                                                                     \
  "                   _3, ...)\n"                                             \
  "  --code DIR       folder that is copied instead\n"                        \
  "  -p, --param NAME=VALUE\n"                                                \
  "                   parameter in place of the job's, as of "                \
  "run\n" SECRETS_HELP more JOBS_ROOT_HELP last

#define EDIT                                                              \
  "  -e, --edit       edit the job's file first, in $VISUAL, $EDITOR or " \
  "vi;\n"                                                                 \
  "                   an empty file, or an editor that fails, submits\n"  \
  "                   nothing; a refused file is kept\n"

const cli_verb cli_retry = {
  .name = "retry",
  .brief = "Submit finished jobs again",
  .usage = "[--json] [--name NAME] [--code DIR] [-p NAME=VALUE]...\n"
           "              [--secrets FILE] [--secret-file NAME=FILE]... "
           "[--root DIR] JOB...\n"
           "       openpai retry " SELECTION_USAGE " [JOB...]",
  .help =
    "Submit the job's file again, under a new name; the finished job stays "
    "as\n"
    "it is.  Its secrets were erased when it ended: give them with --secrets\n"
    "or --secret-file, or type them when asked on a terminal.\n" OPTIONS(
      "", "\n" STATUS),
  .more = "\n" SELECTION_HELP,
  .run = run_retry,
};

const cli_verb cli_clone = {
  .name = "clone",
  .brief = "Submit a copy of a job",
  .usage = "[OPTIONS] JOB [NEW]",
  .help =
    "Like 'openpai retry', but the job may still run or wait.  The copy then\n"
    "has the same secrets, unless others are given.  NEW is the name of the\n"
    "copy, as with --name.\n" OPTIONS(EDIT, ""),
  .more = "\n" JOB_OPTIONS_HELP "\n" STATUS,
  .run = run_clone,
};
