/* attach.c - follows the output of a task and sends typed input to it */
#include "requests.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  TRIES = 300,
  PAUSE_MS = 10,
  FAR_TRIES = 30, /* for a server elsewhere, which limits requests */
  FAR_PAUSE_MS = 100
};

/* One of the two followed logs. */
typedef struct followed {
  FILE *out;
  bool json;
  pai_op *op; /* NULL: over */
  bool over;
  int status;
  char text[512];
} followed;

static int on_out(void *user_data, const char *bytes, size_t len)
{
  const followed *f = user_data;
  FILE *out = f->json ? stdout : f->out;

  if (f->json)
    cli_json_output(f->out == stdout ? 1 : 2, bytes, len);
  else
    (void)fwrite(bytes, 1, len, out);
  return fflush(out) == 0 ? PAI_OK : PAI_EUSER;
}

static void on_over(void *user_data, int status, const pai_client_answer *a)
{
  followed *f = user_data;

  f->over = true;
  f->op = NULL;
  f->status = status;
  if (status < 0)
    (void)snprintf(f->text, sizeof(f->text), "%s", pai_error_message(a->err));
}

/* Begins to follow a log.  Returns false after printing an error. */
static bool follow(cli_remote *r, const cli_task *t, const char *log,
                   const char *offset, followed *f)
{
  pai_client_request what = PAI_CLIENT_REQUEST_INIT;
  char *role = cli_escape(t->role), *path = NULL, rest[1024];
  pai_error *err = NULL;
  bool asked;

  if (role != NULL && strlen(role) < 512) {
    (void)snprintf(rest, sizeof(rest),
                   "/attempts/latest/taskRoles/%s/taskIndex/%u/attempts/"
                   "latest/logs/%s?follow=true&offset=%s",
                   role, t->index, log, offset);
    path = cli_job_path(t->job, rest);
  }
  free(role);
  what.path = path;
  what.on_body = on_out;
  asked = path != NULL &&
          pai_client_ask(&f->op, r->client, &what, on_over, f, &err) == PAI_OK;
  if (!asked)
    (void)cli_fail_with(NULL, err);
  free(path);
  return asked;
}

/* Messages already printed about the session. */
typedef struct notes {
  bool begun, none;
} notes;

/* Prints the state of the session.  Without a session the output is still
 * followed. */
static void look_at_session(cli_session *s, const cli_task *t, bool quiet,
                            notes *told)
{
  if (s->started && s->over)
    /* No keys are read any more, so Ctrl-C must be a signal again. */
    cli_terminal_cooked();
  if (s->started && s->over && s->status < 0) { /* the task's input is lost */
    cli_session_tell(s);
    s->status = PAI_OK;
  }
  if (quiet && s->status == PAI_OK)
    return;
  if (s->started && !told->begun) {
    told->begun = true;
    if (!cli_is_terminal(stderr))
      return;
    (void)fprintf(stderr,
                  s->terminal ? "attached to the terminal of %s/%u; Ctrl-P "
                                "Ctrl-Q detaches\r\n"
                              : "attached to the standard input of %s/%u; "
                                "Ctrl-D closes it, Ctrl-C detaches\n",
                  t->role, t->index);
  } else if (s->over && !s->started && !told->none) {
    told->none = true;
    cli_say(PAI_LOG_INFO, s->text);
    if (s->how == PAI_SESSION_FAILED)
      (void)fprintf(
        stderr,
        "showing its output only; openpai run -i, or extras.openpai.stdin in "
        "the job file, keeps the input of a task open\n");
  }
}

/* Returns the exit code of the task, which is recorded a moment after its
 * output ends; INT64_MIN: not recorded. */
static int64_t recorded_code(cli_remote *r, const cli_task *t)
{
  bool far = r->root == NULL;
  const struct timespec pause = { 0,
                                  (far ? FAR_PAUSE_MS : PAUSE_MS) * 1000000L };
  int64_t code = INT64_MIN;
  char word[512];

  (void)snprintf(word, sizeof(word), "%s/%u", t->role, t->index);
  for (int i = 0; i < (far ? FAR_TRIES : TRIES) && code == INT64_MIN; i++) {
    cli_task now;

    if (!cli_task_find(&now, r, t->job, word))
      return INT64_MIN;
    code = now.exit_code;
    cli_task_free(&now);
    if (code == INT64_MIN)
      (void)nanosleep(&pause, NULL);
  }
  return code;
}

static void end_following(cli_remote *r, followed *f)
{
  pai_op_cancel(f->op);
  while (f->op != NULL)
    (void)!pai_loop_run_once(r->loop);
}

/* Waits until both logs are being read: the server answers this later call
 * only after that.  So no output that typed bytes cause is missed.  Returns
 * false after printing an error. */
static bool await_both(cli_remote *r, int *killed)
{
  followed asked = { 0 };
  pai_error *err = NULL;

  if (pai_client_info(&asked.op, r->client, on_over, &asked, &err) < 0)
    on_over(&asked, PAI_ENOMEM, &(pai_client_answer){ .err = err });
  while (!asked.over && *killed == 0) {
    cli_happened happened;

    cli_terminal_wait(r->loop, -1, false, &happened);
    *killed = happened.signal;
  }
  if (asked.over && asked.status < 0)
    cli_say(PAI_LOG_ERROR, asked.text);
  end_following(r, &asked);
  pai_error_free(err);
  return *killed != 0 || asked.status == PAI_OK;
}

/* Returns whether one of the logs could not be read to its end; prints the
 * error. */
static bool is_lost(const followed logs[2], bool json)
{
  for (int i = 0; i < 2; i++)
    if (logs[i].status < 0) {
      cli_say(PAI_LOG_ERROR, logs[i].text);
      if (json)
        cli_json_end("lost", CLI_BROKEN, logs[i].text);
      return true;
    }
  return false;
}

/* Prints the last line and returns the exit code. */
static int finish(const cli_attached *a, cli_remote *r, const cli_task *t,
                  int how)
{
  int64_t told = a->killed != 0 ? 128 + a->killed
                 : a->detached  ? CLI_OK
                                : recorded_code(r, t);
  int code = told >= 0 && told < 256 ? (int)told : CLI_BROKEN;

  if (how == CLI_ATTACH_JSON)
    cli_json_end(a->killed != 0       ? "killed"
                 : a->detached        ? "detached"
                 : told == INT64_MIN  ? "unknown"
                 : code == CLI_BROKEN ? "stopped"
                                      : "exit",
                 code, "");
  return code;
}

int cli_attach_to(cli_attached *a, cli_remote *r, const cli_task *t,
                  const char *offset, int how)
{
  bool begun, quiet = how != CLI_ATTACH_TOLD, json = how == CLI_ATTACH_JSON;
  followed logs[2] = { { .out = stdout, .json = json },
                       { .out = stderr, .json = json } };
  cli_session s = {
    .remote = r, .task = t, .attach = true, .detachable = true
  };
  notes told = { 0 };
  int left;

  *a = (cli_attached){ .requests = a->requests };
  begun = cli_terminal_open();
  /* The request came before cli_terminal_open(). */
  if (cli_requests() != a->requests)
    a->killed = cli_request_last();
  begun = begun && follow(r, t, "stdout", offset, &logs[0]) &&
          follow(r, t, "stderr", offset, &logs[1]) &&
          await_both(r, &a->killed);
  if (begun && a->killed == 0) {
    cli_session_begin(&s);
    a->killed = s.killed;
  }
  while (begun && !(logs[0].over && logs[1].over) && a->killed == 0 &&
         !s.detached) {
    cli_happened happened;

    cli_session_step(&s, &happened);
    look_at_session(&s, t, quiet, &told);
    a->killed = happened.signal;
  }
  left = cli_terminal_close();
  if (a->killed == 0)
    a->killed = left;
  pai_session_close(s.session);
  for (int i = 0; i < 2; i++)
    end_following(r, &logs[i]);
  if (!begun)
    return CLI_BROKEN;
  a->detached = s.detached;
  if (s.detached && !quiet)
    (void)fprintf(stderr, "detached; task %s/%u continues\n", t->role,
                  t->index);
  if (a->killed == 0 && !s.detached && is_lost(logs, json))
    return CLI_BROKEN;
  return finish(a, r, t, how);
}
