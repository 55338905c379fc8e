/*
 * cmd_retry.c - `retry` and `clone`: submit a job again, from the file that
 * the platform keeps
 *
 * The kept file has no secrets.  The platform still has the secrets of a job
 * that is not over; the user must give all others again.
 */
#define _XOPEN_SOURCE 700 /* mkdtemp() */
#include "file.h"
#include "folders.h"
#include "job_options.h"
#include "job_select.h"
#include "remote.h"
#include "secrets.h"
#include "session.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct cli_edited {
  char *folder, *path; /* with access for this user only; NULL: none */
} cli_edited;

extern char **environ;

static const char *editor(void)
{
  static const char *const names[] = { "VISUAL", "EDITOR" };

  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    const char *value = getenv(names[i]);

    if (value != NULL && value[0] != '\0')
      return value;
  }
  return "vi";
}

/* Deletes the file; with `keep` leaves it and prints its path. */
static void cli_edit_end(cli_edited *e, bool keep)
{
  if (keep && e->path != NULL)
    (void)fprintf(stderr, "  the edited file is kept: %s\n", e->path);
  if (!keep && e->path != NULL)
    (void)unlink(e->path);
  if (!keep && e->folder != NULL)
    (void)rmdir(e->folder); /* fails if the editor left other files there */
  free(e->path);
  free(e->folder);
  *e = (cli_edited){ 0 };
}

/* Writes a text to an editable file NAME.yaml in a new folder.  Returns false
 * after printing an error. */
static bool cli_edit_begin(cli_edited *e, const char *name, const char *text,
                           size_t len)
{
  const char *tmp = getenv("TMPDIR");
  char file[300];

  (void)snprintf(file, sizeof(file), "%.280s.yaml", name);
  *e = (cli_edited){ .folder =
                       cli_join(tmp != NULL && tmp[0] == '/' ? tmp : "/tmp",
                                "openpai-edit.XXXXXX") };
  if (e->folder != NULL && mkdtemp(e->folder) == NULL) {
    cli_fail("cannot make a folder %s: %s", e->folder, strerror(errno));
    free(e->folder);
    e->folder = NULL;
    return false;
  }
  if (e->folder != NULL)
    e->path = cli_join(e->folder, file);
  if (e->path == NULL)
    cli_fail("out of memory");
  else if (cli_save(e->path, text, len) == CLI_OK)
    return true;
  cli_edit_end(e, false);
  return false;
}

/* Waits for the editor, ignoring signals of the terminal meanwhile. */
static int wait_for(pid_t pid)
{
  struct sigaction before[2], ignored = { .sa_handler = SIG_IGN };
  int status = 0;

  (void)sigaction(SIGINT, &ignored, &before[0]);
  (void)sigaction(SIGQUIT, &ignored, &before[1]);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    continue;
  (void)sigaction(SIGINT, &before[0], NULL);
  (void)sigaction(SIGQUIT, &before[1], NULL);
  return status;
}

/* Opens the file in $VISUAL, $EDITOR or vi and waits for the editor to end.
 * Returns false, after printing an error, if the editor failed; that cancels
 * the submission. */
static bool cli_edit_open(const cli_edited *e)
{
  const char *what = editor();
  size_t size = strlen(what) + 8;
  char *command = malloc(size), name[] = "sh", option[] = "-c";
  char *words[] = { name, option, command, name, e->path, NULL };
  pid_t pid;
  int rc = command != NULL ? 0 : ENOMEM, status;

  /* The variable may contain options, as in "code --wait". */
  if (command != NULL)
    (void)snprintf(command, size, "%s \"$@\"", what);
  if (rc == 0)
    rc = posix_spawnp(&pid, words[0], NULL, NULL, words, environ);
  free(command);
  if (rc != 0) {
    cli_fail("cannot start the editor: %s", strerror(rc));
    return false;
  }
  status = wait_for(pid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return true;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    cli_fail("there is no editor %s", what);
  else
    cli_fail("the editor %s failed", what);
  cli_help(stderr, "set $VISUAL or $EDITOR to another editor");
  return false;
}

typedef struct again {
  const char *job;
  const char *name; /* name of the new job, or NULL */
  const char *code, *secrets;
  bool json, retry;
  bool edit; /* edit the file before it is submitted */
} again;

/* The file of the original job. */
typedef struct found {
  cli_job_file file;
  cli_edited edited;
  char *named; /* name in the file before the edit, for free() */
} found;

/* Sets *over to whether the job is over.  Returns false, after printing an
 * error, if there is no such job or if it is to be retried and is not over. */
static bool look(cli_remote *r, const again *a, bool *over)
{
  const char *state;
  bool good = true;
  pai_json *j;

  if (!cli_job_read(r, &j, a->job))
    return false;
  state = cli_json_text(j, 0, "jobStatus/state");
  *over = strcmp(state, "WAITING") != 0 && strcmp(state, "RUNNING") != 0 &&
          strcmp(state, "STOPPING") != 0;
  if (a->retry && !*over) {
    cli_fail("job %s is not over: it is %s", a->job, state);
    cli_help(stderr, "use 'openpai clone' to submit a copy of it");
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

/* Reads and checks the edited file. */
static int take_edited(found *f)
{
  char *text = NULL;
  size_t len = 0;
  int code = cli_read(&text, &len, f->edited.path, CLI_JOB_FILE);

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

/* Opens the editor until the file is valid or the user gives up. */
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

/* Reads the file of the original job and applies the parameters and secrets of
 * the command line. */
static int get_file(cli_remote *r, const again *a, bool kept, found *f)
{
  cli_answer answer;
  int code = CLI_NO;

  cli_call(r, &answer, "jobs.config",
           cli_job_arguments(a->job, ",\"format\":\"yaml\""));
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

/* Returns the job's name without its user, and without the number that
 * cli_submit() may have appended to the name in the file. */
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

/* A name that the user changed in the editor is used as it is. */
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
  cli_print_name(given, a->json);
  free(given);
  return code;
}

static bool new_name_is_good(const char *name)
{
  if (name == NULL || !cli_job_name(name))
    return name == NULL;
  if (strchr(name, '~') == NULL)
    return true;
  return cli_wrong(
    "the new name must not contain a user: the new job is yours", name);
}

static int one_again(cli_remote *r, const again *a)
{
  bool over;

  return look(r, a, &over) ? submit_again(r, a, !over) : CLI_NO;
}

int cli_do_clone(const cli_clone_args *a)
{
  again one = { .job = a->words[0],
                .name = a->count == 2 ? a->words[1] : a->name,
                .code = a->code,
                .secrets = a->secrets,
                .json = a->json,
                .edit = a->edit };
  cli_remote r;
  int code;

  if (!cli_job_name(one.job))
    return CLI_USAGE;
  if (a->count == 2 && a->name != NULL)
    return cli_misused("the new name is given twice", one.name);
  if (!new_name_is_good(one.name) || !cli_job_options_good())
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  code = one_again(&r, &one);
  cli_remote_close(&r);
  return code;
}

int cli_do_retry(const cli_retry_args *a)
{
  again one = { .name = a->name,
                .code = a->code,
                .secrets = a->secrets,
                .json = a->json,
                .retry = true };
  cli_job_names jobs;
  cli_remote r;
  int code;

  if (!new_name_is_good(a->name))
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  code = cli_jobs_select(&jobs, &r, &a->selection, "FAILED", "retry", a->count,
                         a->words);
  if (jobs.count > 1 && a->name != NULL) {
    code = cli_misused("--name is for one job", a->name);
  } else {
    for (size_t i = 0; i < jobs.count; i++) {
      int of_job;

      one.job = jobs.list[i];
      of_job = one_again(&r, &one);
      code = of_job != CLI_OK ? of_job : code;
    }
  }
  cli_job_names_free(&jobs);
  cli_remote_close(&r);
  return code;
}
