/* submit.c - submitting a job file to the platform */
#include "draft.h"
#include "environment.h"
#include "job_options.h"
#include "job_source.h"
#include "jobs.h"
#include "secrets.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 100000 };

/* Returns the next free number: one above the largest N of this user's jobs
 * that are called `name`_N. */
static long find_number(cli_remote *r, const char *name)
{
  size_t len = strlen(name);
  long most = 1;
  pai_json *list;

  if (!cli_call_read(
        r, &list, "jobs.list",
        cli_json_make("{\"limit\":50000,\"username\":%s,\"keyword\":%s}",
                      cli_user(), name)))
    return 0;
  for (cli_each i = cli_each_of(list, 0); cli_next(&i);) {
    const char *other = cli_json_text(list, i.at, "name");
    char *end;
    long n;
    if (strncmp(other, name, len) != 0 || other[len] != '_')
      continue;
    n = strtol(other + len + 1, &end, 10);
    if (*end == '\0' && n > most && n < MOST_NAMES)
      most = n;
  }
  pai_json_free(list);
  return most + 1;
}

/* Returns "USER~NAME" escaped for a query, for free(). */
static char *name_in_query(const char *job)
{
  char *whole = cli_whole_name(job);
  char *name = whole != NULL ? cli_escape(whole) : NULL;

  free(whole);
  return name;
}

/* Returns the query of the submission, for free().  A job like another one
 * runs in that job's folder; folders of this machine mean nothing to another
 * one. */
static char *make_query(const cli_remote *r, const cli_submission *s,
                        const char *code)
{
  const char *key = s->like != NULL   ? "like"
                    : r->root != NULL ? "workDir"
                                      : NULL;
  char *here = r->root != NULL ? cli_here() : NULL, *folder, *copy,
       *query = NULL;
  size_t size = 0;
  FILE *out;

  folder = s->like != NULL ? name_in_query(s->like)
                           : cli_escape(here != NULL ? here : "/");
  copy = cli_escape(code != NULL ? code : "");
  out = folder != NULL && copy != NULL ? open_memstream(&query, &size) : NULL;
  if (out != NULL) {
    if (s->refuse)
      (void)fprintf(out, "&refuseImpossible=true");
    if (key != NULL)
      (void)fprintf(out, "&%s=%s", key, folder);
    if (code != NULL)
      (void)fprintf(out, "&codeDir=%s", copy);
    if (s->item != NULL)
      (void)fprintf(out, "&template=%s", s->item);
    if (fclose(out) != 0) {
      free(query);
      query = NULL;
    } else if (size > 0) {
      memmove(query, query + 1, size); /* without the first & */
    }
  }
  free(copy);
  free(folder);
  free(here);
  return query;
}

/* Submits under one name.  The original OpenPAI takes the name from the file
 * only. */
static void post(cli_remote *r, cli_answer *a, const cli_submission *s,
                 const char *name, const char *code)
{
  bool original = cli_remote_is_original(r);
  char *query = original ? NULL : make_query(r, s, code);
  pai_client_job_file job = PAI_CLIENT_JOB_FILE_INIT;

  job.text = s->text;
  job.len = s->len;
  job.name = name;
  job.query = query;
  job.name_in_query = !original && name != NULL;
  if (original || query != NULL)
    cli_remote_submit(r, a, &job);
  else {
    *a = (cli_answer){ .status = PAI_EUSER };
    cli_fail("out of memory");
  }
  free(query);
}

static void make_name(char *out, size_t size, const char *name, long n)
{
  (void)snprintf(out, size, "%s_%ld", name, n);
}

/* Copies the code of the job `like` into *code, for free(); leaves it if that
 * job has no code.  Returns false after printing an error. */
static bool copy_like(cli_remote *r, const cli_submission *s, char **code)
{
  char *from = cli_whole_name(s->like);
  cli_answer a;
  pai_json *j;
  bool good;

  cli_call(r, &a, "jobs.send_code",
           cli_json_make("{\"job\":\"new\",\"from\":%s}", from));
  good = strcmp(a.code, "NoCodeError") == 0;
  if (a.status == PAI_OK && cli_json_read(&j, a.body, a.len)) {
    *code = strdup(cli_json_text(j, 0, "codeDir"));
    cli_json_free(&j);
    good = *code != NULL;
  } else if (!good) {
    cli_answer_tell(&a);
  }
  cli_answer_free(&a);
  free(from);
  return good;
}

/* Whether this user cannot write in the platform's root. */
static bool is_foreign(const cli_remote *r)
{
  return r->root == NULL || cli_is_foreign(r->root);
}

/* Refuses options that the original OpenPAI does not support, instead of
 * ignoring them. */
static bool can_all(cli_remote *r, const cli_submission *s)
{
  const struct {
    bool asked;
    const char *what, *help;
  } ours[] = {
    { s->code != NULL, "code",
      "put the code on a storage that the job mounts" },
    { s->like != NULL, "job that is like another one",
      "take its file from openpai show, and submit that" },
    { cli_job.time != NULL, "time limit", "begin the command with timeout" },
    { cli_job.after.count > 0, "jobs to wait for",
      "submit this one when openpai wait has ended" },
  };

  for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
    if (ours[i].asked && cli_remote_is_original(r)) {
      cli_fail("this server is an original OpenPAI: it does not support %s",
               ours[i].what);
      cli_help(stderr, ours[i].help);
      return false;
    }
  return true;
}

static int submit(cli_remote *r, const cli_submission *s, char **name)
{
  char *code = NULL, other[512];
  cli_answer a;
  long n, last = 0;

  *name = NULL;
  if (!can_all(r, s))
    return CLI_NO;
  if (s->code != NULL) {
    code = is_foreign(r) ? cli_send_code(r, s->wanted, s->code, s->quiet)
                         : cli_copy_code(r->root, s->code, s->quiet);
    if (code == NULL)
      return CLI_NO;
  }
  /* The system platform does not copy a user's code; it refuses the job if
   * there is some. */
  if (s->code == NULL && s->like != NULL && !is_foreign(r) &&
      !copy_like(r, s, &code))
    return CLI_NO;
  (void)snprintf(other, sizeof(other), "%s",
                 s->name != NULL ? s->name : s->wanted);
  /* The file of a job like another one may have a different name. */
  post(r, &a, s, s->name != NULL || s->like != NULL ? other : NULL, code);
  /* Other programs may take the next name too, and their jobs are listed only
   * once they are stored. */
  for (int i = 0; a.status == PAI_EEXISTS && s->name == NULL && i < 100; i++) {
    n = find_number(r, s->wanted);
    if (n == 0)
      break;
    n = n > last ? n : last + 1;
    last = n;
    make_name(other, sizeof(other), s->wanted, n);
    cli_answer_free(&a);
    post(r, &a, s, other, code);
    if (a.status == PAI_OK && s->like == NULL && !s->no_notes)
      (void)fprintf(stderr,
                    "note: job %s exists already: this job is named %s\n",
                    s->wanted, other);
  }
  if (a.status == PAI_OK)
    *name = strdup(other);
  else
    cli_answer_tell(&a);
  if (a.status == PAI_OK && s->answer != NULL) {
    *s->answer = a.body;
    a.body = NULL;
  }
  /* Without an answer the job may have been accepted, so the copy stays. */
  if (code != NULL && a.status < 0 && a.http != 0 && r->root != NULL)
    cli_remove_code(code);
  free(code);
  cli_answer_free(&a);
  return *name != NULL ? CLI_OK : CLI_NO;
}

/* What a file needs before it can be submitted. */
typedef struct completion {
  cli_remote *r;
  const cli_submission *s;
} completion;

static int change(pai_draft *draft, void *data, pai_error **err)
{
  const completion *c = data;
  const cli_submission *s = c->s;
  int rc = PAI_OK;

  if (s->input)
    rc = pai_draft_set(draft, "/extras/openpai/stdin", "true", err);
  if (rc == PAI_OK && s->tty)
    rc = pai_draft_set(draft, "/extras/openpai/tty", "true", err);
  if (rc == PAI_OK && cli_remote_is_original(c->r))
    rc = cli_environment_lines(draft, err);
  return rc;
}

/* Returns the file completed for that server, for free(); NULL after printing
 * an error. */
static char *complete(cli_remote *r, const cli_submission *s, size_t *len)
{
  completion c = { r, s };
  pai_draft *draft = NULL;
  pai_error *err = NULL;
  char *text = NULL;
  int rc = cli_draft_change(&draft, s->text, s->len, NULL, change, &c, &err);

  if (rc == PAI_OK)
    text = strdup(pai_draft_text(draft, len));
  if (err != NULL)
    cli_error(NULL, err);
  else if (text == NULL)
    cli_fail("out of memory");
  pai_error_free(err);
  pai_draft_free(draft);
  return text;
}

int cli_submit(cli_remote *r, const cli_submission *s, char **name)
{
  cli_submission changed = *s;
  char *text;
  int code;

  *name = NULL;
  if (!s->input && !s->tty && !cli_remote_is_original(r))
    return submit(r, s, name);
  text = complete(r, s, &changed.len);
  changed.text = text;
  code = text != NULL ? submit(r, &changed, name) : CLI_NO;
  free(text);
  return code;
}

bool cli_own_job_name(const char *name)
{
  if (name == NULL)
    return true;
  if (!cli_job_name(name))
    return false;
  if (strchr(name, '~') != NULL)
    cli_fail("--name: the job is yours, so its name has no user: %s", name);
  return strchr(name, '~') == NULL;
}

void cli_ask_to_stop(cli_remote *r, cli_answer *a, const char *name, bool now)
{
  cli_call(r, a, "jobs.stop",
           cli_job_arguments(name, now ? ",\"value\":\"STOP\",\"now\":true"
                                       : ",\"value\":\"STOP\""));
}

bool cli_job_tag(cli_remote *r, const char *job)
{
  bool good = true;

  for (size_t i = 0; i < cli_job.tag.count; i++) {
    char *whole = cli_whole_name(job);

    good &= cli_call_do(
      r, "jobs.tag",
      cli_json_make("{\"job\":%s,\"value\":%s}", whole, cli_job.tag.words[i]));
    free(whole);
  }
  return good;
}

bool cli_stop_job(cli_remote *r, const char *name, bool now)
{
  cli_answer a;
  bool good;

  cli_ask_to_stop(r, &a, name, now);
  good = a.status == PAI_OK;
  if (!good)
    cli_answer_tell(&a);
  cli_answer_free(&a);
  return good;
}

static void print_notes(const pai_spec *spec)
{
  const char *note;

  for (size_t i = 0; (note = pai_spec_note(spec, i)) != NULL; i++)
    cli_say(PAI_LOG_INFO, note);
}

static int submit_file(cli_job_file *file, cli_submission *s, char **name)
{
  cli_remote r;
  int code = CLI_NO;

  s->text = file->text;
  s->len = file->len;
  s->wanted = pai_spec_name(file->spec);
  if (!s->quiet)
    print_notes(file->spec);
  if (cli_remote_open(&r, true)) {
    code = cli_submit(&r, s, name);
    if (code == CLI_OK && !cli_job_tag(&r, *name))
      cli_say(PAI_LOG_WARNING, "the job was accepted without all of its tags");
    cli_remote_close(&r);
  }
  return code;
}

void cli_print_name(const char *name, bool json)
{
  if (json)
    cli_json_print(stdout, "{\"name\":%s}\n", name);
  else
    (void)printf("%s\n", name);
}

int cli_submit_source(const cli_job_source *source, cli_submission *s,
                      bool json)
{
  cli_job_file file;
  char *name = NULL;
  int code = cli_job_source_open(&file, source, s->quiet);

  if (code == CLI_OK)
    code = submit_file(&file, s, &name);
  cli_job_file_close(&file);
  if (name == NULL)
    return code;
  cli_print_name(name, json);
  free(name);
  return code;
}

int cli_do_submit(const cli_submit_args *a)
{
  cli_job_source source = { .command = a->command,
                            .words = a->ncommand,
                            .secrets = a->secrets,
                            .copied = a->code != NULL,
                            .env = &a->environment };
  cli_submission s = { .name = a->name,
                       .code = a->code,
                       .input = a->stdin_,
                       .tty = a->tty,
                       .refuse = a->refuse_impossible,
                       .quiet = a->quiet || !cli_is_terminal(stderr),
                       .no_notes = a->quiet };

  if (!cli_job_source_check(&source, a->count, a->words) ||
      !cli_own_job_name(s.name))
    return CLI_USAGE;
  return cli_submit_source(&source, &s, a->json);
}
