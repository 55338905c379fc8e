/* submit.c - a job's file goes to the platform */
#include "draft.h"
#include "environment.h"
#include "job_options.h"
#include "jobs.h"
#include "secrets.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 100000 };

/* The names of this user's jobs that begin with one, and the largest number
 * behind it: the next one is free. */
static long find_number(cli_remote *r, const char *name)
{
  char *keyword = cli_escape(name), *user = cli_escape(cli_user());
  size_t len = strlen(name), size = 0;
  long most = 1;
  char *path = NULL;
  cli_json list;

  if (keyword != NULL && user != NULL)
    size = strlen(keyword) + strlen(user) + 64;
  if (size > 0 && (path = malloc(size)) != NULL)
    (void)snprintf(path, size,
                   "/api/v2/jobs?limit=50000&username=%s&keyword=%s", user,
                   keyword);
  free(keyword);
  free(user);
  if (path == NULL || !cli_remote_get(r, &list, path)) {
    free(path);
    return 0;
  }
  for (size_t i = cli_json_first(&list, 0); i != 0;
       i = cli_json_next(&list, 0, i)) {
    const char *other = cli_json_text(&list, i, "name");
    char *end;
    long n;
    if (strncmp(other, name, len) != 0 || other[len] != '_')
      continue;
    n = strtol(other + len + 1, &end, 10);
    if (*end == '\0' && n > most && n < MOST_NAMES)
      most = n;
  }
  cli_json_free(&list);
  free(path);
  return most + 1;
}

/* "USER~NAME" as a part of a query, for free(). */
static char *name_in_query(const char *job)
{
  char *whole = cli_whole_name(job);
  char *name = whole != NULL ? cli_escape(whole) : NULL;

  free(whole);
  return name;
}

/* What is told beside the file, for free().  Of a job that is like another one,
 * the folder is that one's; this machine's folders are none of another's. */
static char *make_query(const cli_remote *r, const cli_submission *s,
                        const char *code)
{
  const char *key = s->like != NULL   ? "like="
                    : r->root != NULL ? "workDir="
                                      : "";
  char *here = r->root != NULL ? cli_here() : NULL, *folder, *copy,
       *query = NULL;
  size_t size;

  folder = s->like != NULL ? name_in_query(s->like)
                           : cli_escape(here != NULL ? here : "/");
  copy = cli_escape(code != NULL ? code : "");
  if (folder != NULL && copy != NULL) {
    size = strlen(folder) + strlen(copy) + 64;
    query = malloc(size);
    if (query != NULL)
      (void)snprintf(
        query, size, "%s%s%s%s%s%s", s->refuse ? "refuseImpossible=true" : "",
        s->refuse && *key != '\0' ? "&" : "", key, *key != '\0' ? folder : "",
        code == NULL                ? ""
        : s->refuse || *key != '\0' ? "&codeDir="
                                    : "codeDir=",
        copy);
  }
  free(copy);
  free(folder);
  free(here);
  return query;
}

/* By one name.  The original knows a job by the name in its file only. */
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

/* A copy of the code of the job that it is like, in *code, for free(), unless
 * that has none.  False, and told. */
static bool copy_like(cli_remote *r, const cli_submission *s, char **code)
{
  char *from = name_in_query(s->like), *path = NULL;
  size_t size = from != NULL ? strlen(from) + 64 : 0;
  cli_answer a;
  cli_json j;
  bool good;

  if (size > 0 && (path = malloc(size)) != NULL)
    (void)snprintf(path, size, "/api/v2/jobs/new/code?from=%s", from);
  cli_remote_ask(r, &a, "PUT", path, NULL, NULL, 0);
  good = strcmp(a.code, "NoCodeError") == 0;
  if (a.status == PAI_OK && cli_json_read(&j, a.body, a.len)) {
    *code = strdup(cli_json_text(&j, 0, "codeDir"));
    cli_json_free(&j);
    good = *code != NULL;
  } else if (!good) {
    cli_answer_tell(&a);
  }
  cli_answer_free(&a);
  free(path);
  free(from);
  return good;
}

/* Whether its folders are not this user's. */
static bool is_foreign(const cli_remote *r)
{
  return r->root == NULL || cli_is_foreign(r->root);
}

/* What the original has no way to be told is not passed over. */
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
    { cli_after.count > 0, "jobs to wait for",
      "submit this one when openpai wait has ended" },
  };

  for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
    if (ours[i].asked && cli_remote_is_original(r)) {
      cli_fail("this server is an original OpenPAI: it takes no %s",
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
  /* The platform of all users copies nobody's code: it says so if there is
   * some. */
  if (s->code == NULL && s->like != NULL && !is_foreign(r) &&
      !copy_like(r, s, &code))
    return CLI_NO;
  (void)snprintf(other, sizeof(other), "%s",
                 s->name != NULL ? s->name : s->wanted);
  /* The file of one that is like another may say another name. */
  post(r, &a, s, s->name != NULL || s->like != NULL ? other : NULL, code);
  /* Others may take the next one, too, and are listed only when theirs is
   * written down. */
  for (int i = 0; a.status == PAI_EEXISTS && s->name == NULL && i < 100; i++) {
    n = find_number(r, s->wanted);
    if (n == 0)
      break;
    n = n > last ? n : last + 1;
    last = n;
    make_name(other, sizeof(other), s->wanted, n);
    cli_answer_free(&a);
    post(r, &a, s, other, code);
    if (a.status == PAI_OK && s->like == NULL)
      (void)fprintf(stderr, "note: there is a job %s: this one is %s\n",
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
  /* Without an answer nobody knows whether it was taken. */
  if (code != NULL && a.status < 0 && a.http != 0 && r->root != NULL)
    cli_remove_code(code);
  free(code);
  cli_answer_free(&a);
  return *name != NULL ? CLI_OK : CLI_NO;
}

/* What a submission needs beside the file. */
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

/* The file with what it lacks, as that server understands it, for free(); NULL,
 * and told. */
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
  static const char body[] = "{\"value\":\"STOP\"}";
  char *path =
    cli_job_path(name, now ? "/executionType?now=true" : "/executionType");

  cli_remote_ask(r, a, "PUT", path, NULL, body, sizeof(body) - 1);
  free(path);
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
