/*
 * cmd_retry.c - a job once more, from the file that the platform keeps
 *
 * That file has no secrets: those of a job that is not over the platform has
 * still, all others have to be given again.
 */
#include "edit.h"
#include "jobs.h"
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
    cli_fail("the file is empty: nothing is submitted");
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

/* JOB, and of a clone NEW; as an option it is --name. */
static bool read_words(const cli_verb *verb, again *a, int words, char **argv)
{
  if (!cli_want_jobs(verb, words, argv, a->retry ? 1 : 2))
    return false;
  a->job = argv[0];
  if (words == 2 && a->name != NULL) {
    cli_misused(verb, "two names are too many", argv[1]);
    return false;
  }
  if (words == 2)
    a->name = argv[1];
  if (a->name == NULL || !cli_job_name(a->name))
    return a->name == NULL;
  if (strchr(a->name, '~') == NULL)
    return true;
  cli_misused(verb, "the new job is yours: its name has no user", a->name);
  return false;
}

static int run(const cli_verb *verb, int argc, char **argv, bool retry)
{
  again a = { .retry = retry };
  const cli_option options[] = {
    { "json", 0, &a.json, NULL },   { "name", 0, NULL, &a.name },
    { "code", 0, NULL, &a.code },   { "param", 'p', NULL, NULL },
    { "root", 0, NULL, &cli_root }, SECRETS_OPTIONS(a.secrets),
    { "edit", 'e', &a.edit, NULL } /* of a clone */
  };
  int words = cli_options(verb, options, retry ? 7 : 8, argc, argv);
  int code = CLI_NO;
  bool over;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words < 0 || !read_words(verb, &a, words, argv))
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  if (look(&r, &a, &over))
    code = submit_again(&r, &a, !over);
  cli_remote_close(&r);
  return code;
}

static int run_retry(int argc, char **argv)
{
  return run(&cli_retry, argc, argv, true);
}

static int run_clone(int argc, char **argv)
{
  return run(&cli_clone, argc, argv, false);
}

#define OPTIONS(more)                                                        \
  "Its commands begin where those of the first one did; of a copy of code\n" \
  "it gets a copy, as that is now, with all that the job has written "       \
  "there.\n\n"                                                               \
  "  --json           print {\"name\": NAME}\n"                              \
  "  --name NAME      call it so; without it, it gets _2, _3, ... behind\n"  \
  "                   its name\n"                                            \
  "  --code DIR       give it a copy of this folder instead\n"               \
  "  -p, --param NAME=VALUE\n"                                               \
  "                   a parameter in the place of the job's, as of "         \
  "run\n" SECRETS_HELP more JOBS_ROOT_HELP                                   \
  "\nExit status: 0 the job was accepted, 1 the job was refused, 2 usage "   \
  "error\n"

const cli_verb cli_retry = {
  .name = "retry",
  .brief = "Submit a job that is over once more",
  .usage = "[--json] [--name NAME] [--code DIR] [-p NAME=VALUE]...\n"
           "              [--secrets FILE] [--secret-file NAME=FILE]... "
           "[--root DIR] JOB",
  .help =
    "From the file that it was submitted with, under a new name: what\n"
    "is known of the first one stays.  Its secrets were erased when it\n"
    "ended: they are given anew, and asked for on a terminal.\n" OPTIONS(""),
  .run = run_retry,
};

const cli_verb cli_clone = {
  .name = "clone",
  .brief = "Submit a job once more, beside itself",
  .usage = "[--edit] [--json] [--name NAME] [--code DIR]\n"
           "              [-p NAME=VALUE]... [--secrets FILE]\n"
           "              [--secret-file NAME=FILE]... [--root DIR] JOB "
           "[NEW]",
  .help = "As 'openpai retry', also while it runs or waits: then it has the\n"
          "same secrets, unless others are given.  NEW is its name, as "
          "--name.\n" OPTIONS(
            "  -e, --edit       open its file in $VISUAL, $EDITOR or vi "
            "first;\n"
            "                   an empty one, or an editor that fails, "
            "submits\n"
            "                   nothing.  What is refused is kept\n"),
  .run = run_clone,
};
