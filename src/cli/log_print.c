/*
 * log_print.c - prints the logs of tasks
 *
 * One task without a name before its lines: its bytes, as they are.  Several are
 * printed one after the other, or, followed, as it comes: in whole lines then,
 * under the rule of lines.h.
 */
#include "jobs.h"
#include "lines.h"
#include "live.h"
#include "log_tasks.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

enum { QUIET_MS = 60 * 1000, KEPT_LEAST = 1 << 20 };

typedef struct printing {
  cli_remote *remote;
  const cli_log_options *o;
  struct source *sources;
  size_t count, running;
  int width;
  bool lines; /* else bytes */
  bool original;
  bool unread; /* nobody reads what is printed */
  cli_live live;
} printing;

/* A task's log, while it is printed. */
typedef struct source {
  printing *p;
  const cli_log_task *task;
  size_t number;
  cli_line line;
  size_t kept; /* bytes, when the last lines were looked for */
  bool cut;    /* the last byte printed is within a line */
  pai_op *op;  /* NULL: it has not begun, or is over */
  cli_answer answer;
} source;

/* --- what comes ---------------------------------------------------------------- */

static cli_label label_of(const source *s, FILE *to)
{
  return (cli_label){ .name = s->p->o->no_prefix ? NULL : s->task->label,
                      .width = s->p->width,
                      .number = s->number,
                      .to = to };
}

static unsigned paint(void *data, FILE *to, unsigned width, unsigned rows)
{
  const printing *p = data;
  unsigned printed = 0;

  for (size_t i = 0; i < p->count && printed < rows; i++) {
    cli_label label = label_of(&p->sources[i], to);

    printed += cli_line_paint(to, &p->sources[i].line, &label, width);
  }
  return printed;
}

/* Nothing is held back before somebody draws a line again. */
static void show_redrawn(printing *p, const source *s)
{
  if (!s->line.redrawn || p->live.open || !p->o->follow)
    return;
  if (cli_live_open(&p->live, p->remote->loop, NULL)) {
    p->live.paint = paint;
    p->live.data = p;
  }
}

/* Where the last lines of a text begin. */
static size_t find_tail(const char *text, size_t len, uint64_t lines)
{
  size_t at = len > 0 && text[len - 1] == '\n' ? len - 1 : len;

  if (lines == 0)
    return len;
  for (; at > 0; at--)
    if (text[at - 1] == '\n' && --lines == 0)
      break;
  return at;
}

/* An original server has all of a log or none: the last lines are kept here. */
static int keep_tail(source *s, const char *bytes, size_t len)
{
  cli_line *line = &s->line;
  size_t from;

  if (!cli_line_keep(line, bytes, len))
    return PAI_ENOMEM;
  if (line->len < KEPT_LEAST || line->len < s->kept * 2)
    return PAI_OK;
  from = find_tail(line->text, line->len, strtoull(s->p->o->tail, NULL, 10));
  memmove(line->text, line->text + from, line->len - from);
  line->len -= from;
  s->kept = line->len;
  return PAI_OK;
}

static void print_tail(source *s, const cli_label *label)
{
  cli_line kept = s->line;
  size_t from =
    find_tail(kept.text, kept.len, strtoull(s->p->o->tail, NULL, 10));

  s->line = (cli_line){ 0 };
  if (s->p->lines && kept.len > 0)
    cli_line_add(&s->line, label, kept.text + from, kept.len - from);
  else if (kept.len > 0)
    (void)fwrite(kept.text + from, 1, kept.len - from, stdout);
  cli_line_free(&kept);
}

static int on_bytes(void *user_data, const char *bytes, size_t len)
{
  source *s = user_data;
  printing *p = s->p;
  cli_label label;

  if (p->original && p->o->tail != NULL)
    return keep_tail(s, bytes, len);
  if (p->lines) {
    label = label_of(s, cli_live_output(&p->live));
    cli_line_add(&s->line, &label, bytes, len);
    show_redrawn(p, s);
  } else {
    (void)fwrite(bytes, 1, len, stdout);
    s->cut = bytes[len - 1] != '\n';
  }
  p->unread = !p->live.open && !cli_written();
  return p->unread ? PAI_EUSER : PAI_OK;
}

static void keep(char *to, size_t size, const char *text)
{
  (void)snprintf(to, size, "%s", text != NULL ? text : "");
}

static void on_end(void *user_data, int status, const pai_client_answer *a)
{
  source *s = user_data;
  cli_label label = label_of(s, cli_live_output(&s->p->live));

  if (s->p->original && s->p->o->tail != NULL)
    print_tail(s, &label);
  if (s->p->lines)
    cli_line_end(&s->line, &label);
  else if (s->cut && s->p->count > 1)
    (void)fputc('\n', stdout);
  s->op = NULL;
  s->p->running--;
  s->answer.status = status;
  s->answer.http = a->http_status;
  keep(s->answer.code, sizeof(s->answer.code), a->code);
  keep(s->answer.message, sizeof(s->answer.message),
       pai_error_message(a->err));
  keep(s->answer.help, sizeof(s->answer.help), pai_error_help(a->err));
}

/* --- asking --------------------------------------------------------------------- */

/* For free(), or NULL. */
static char *make_path(const source *s)
{
  const cli_log_options *o = s->p->o;
  char *role = cli_escape(s->task->role), *path = NULL;
  char rest[1024];
  int n;

  if (role == NULL || strlen(role) >= 512) {
    free(role);
    return NULL;
  }
  n = snprintf(
    rest, sizeof(rest),
    "/attempts/%s/taskRoles/%s/taskIndex/%u/attempts/%s/logs/"
    "%s?%s%s%s%s%s%s%s",
    o->attempt != NULL ? o->attempt : "latest", role, s->task->index,
    o->retry != NULL ? o->retry : "latest", o->log != NULL ? o->log : "all",
    o->follow ? "follow=true&" : "", o->timestamps ? "timestamps=true&" : "",
    o->tail != NULL ? "tail=" : "", o->tail != NULL ? o->tail : "",
    o->tail != NULL ? "&" : "", o->since[0] != '\0' ? "since=" : "", o->since);
  if (n > 0 && (size_t)n < sizeof(rest))
    path = cli_job_path(s->task->job, rest);
  free(role);
  return path;
}

/* The original's logs are files that grow: the client knows where they are. */
static int ask_original(source *s, pai_error **err)
{
  pai_client_log_options o = PAI_CLIENT_LOG_OPTIONS_INIT;
  char *job = cli_whole_name(s->task->job);
  int rc = PAI_ENOMEM;

  o.job = job;
  o.role = s->task->role;
  o.index = s->task->index;
  o.name = s->p->o->log;
  o.follow = s->p->o->follow;
  o.on_data = on_bytes;
  if (job != NULL)
    rc = pai_client_logs(&s->op, s->p->remote->client, &o, on_end, s, err);
  free(job);
  return rc;
}

static int ask_ours(source *s, pai_error **err)
{
  pai_client_request what = PAI_CLIENT_REQUEST_INIT;
  char *path = make_path(s);
  int rc = PAI_ENOMEM;

  what.path = path;
  what.on_body = on_bytes;
  if (path != NULL)
    rc = pai_client_ask(&s->op, s->p->remote->client, &what, on_end, s, err);
  free(path);
  return rc;
}

static void start(source *s)
{
  pai_error *err = NULL;
  int rc = s->p->original ? ask_original(s, &err) : ask_ours(s, &err);

  if (rc == PAI_OK) {
    s->p->running++;
    return;
  }
  s->answer.status = rc;
  keep(s->answer.message, sizeof(s->answer.message),
       err != NULL ? pai_error_message(err) : "out of memory");
  pai_error_free(err);
}

static void cancel_all(printing *p)
{
  for (size_t i = 0; i < p->count; i++) {
    pai_op *op = p->sources[i].op;

    p->sources[i].op = NULL;
    if (op != NULL)
      pai_op_cancel(op);
  }
}

static void wait_for_all(printing *p)
{
  while (p->running > 0) {
    if (p->unread)
      cancel_all(p);
    cli_live_turn(&p->live, false);
    cli_loop_turn(p->remote->loop, p->live.open ? p->live.every_ms : QUIET_MS);
  }
}

/* --- how it ended ------------------------------------------------------------------ */

/* Of several tasks some may not have begun: that is no failure. */
static bool has_none(const source *s)
{
  return s->answer.status == PAI_ENOTFOUND && s->p->count > 1 &&
         strcmp(s->answer.code, "NoTaskLogError") == 0;
}

static void tell(const source *s)
{
  const cli_answer *a = &s->answer;

  if (has_none(s)) {
    (void)fprintf(stderr, "note: %s has no such log\n", s->task->label);
    return;
  }
  cli_answer_tell(a);
  if (a->status == PAI_EIO && s->p->o->follow)
    cli_help(stderr, "a job goes on without its platform: openpai up starts "
                     "that again");
  if (a->status == PAI_EBUSY && s->p->count > 1)
    cli_help(stderr, "--task ROLE/INDEX follows one task");
  if (a->status == PAI_ENOTFOUND && a->http != 0)
    cli_log_tasks_tell(s->p->remote, s->task->job);
}

/* What went wrong with several is told once.  The exit code. */
static int finish(const printing *p)
{
  const char *told = "";
  size_t none = 0;
  int code = p->unread ? CLI_NO : CLI_OK;

  for (size_t i = 0; i < p->count && !p->unread; i++) {
    const source *s = &p->sources[i];

    none += s->answer.status == PAI_ENOTFOUND;
    if (s->answer.status == PAI_OK)
      continue;
    if (!has_none(s))
      code = CLI_NO;
    if (has_none(s) || strcmp(told, s->answer.message) != 0)
      tell(s);
    told = s->answer.message;
  }
  return none == p->count ? CLI_NO : code;
}

static int print_all(printing *p)
{
  for (size_t i = 0; i < p->count; i++) {
    start(&p->sources[i]);
    if (!p->o->follow)
      wait_for_all(p);
    if (p->unread)
      break;
  }
  wait_for_all(p);
  cli_live_close(&p->live);
  return finish(p);
}

int cli_logs_print(cli_remote *r, const cli_log_tasks *tasks,
                   const cli_log_options *o)
{
  printing p = { .remote = r,
                 .o = o,
                 .count = tasks->count,
                 .width = tasks->width,
                 .lines = tasks->count > 1 && !(o->no_prefix && !o->follow),
                 .original = cli_remote_is_original(r) };
  int code;

  p.sources = calloc(p.count + 1, sizeof(*p.sources));
  if (p.sources == NULL) {
    cli_fail("out of memory");
    return CLI_NO;
  }
  for (size_t i = 0; i < p.count; i++)
    p.sources[i] = (source){ .p = &p, .task = &tasks->list[i], .number = i };
  code = print_all(&p);
  for (size_t i = 0; i < p.count; i++)
    cli_line_free(&p.sources[i].line);
  free(p.sources);
  return code;
}
