/* exec.c - commands in tasks that run, of a client and of a platform */
#include "exec_shared.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

typedef struct exec_wish {
  const char *job, *role, *terminal;
  uint32_t index, columns, rows;
  int tty;
} exec_wish;

static const option wishes[] = {
  OPTION(exec_wish, job),      OPTION(exec_wish, role),
  OPTION(exec_wish, terminal), OPTION(exec_wish, index),
  OPTION(exec_wish, columns),  OPTION(exec_wish, rows),
  OPTION(exec_wish, tty),      OPTION_END
};

/* --- creating and closing ------------------------------------------------ */

static void dispose(Exec *e)
{
  if (e->client != NULL)
    client_leave(e->client);
  while (e->said != NULL)
    free(exec_pop(e).bytes);
  free(e->input.bytes);
  free(e->text);
  facade_failure_dispose(&e->failed);
  free(e);
}

static void list(Exec *e, Exec **list)
{
  e->list = list;
  e->next = *list;
  *list = e;
}

/* Must set `over` last, because another thread may free the command then. */
static void unlist(Exec *e)
{
  Exec **at = e->list;

  while (*at != e)
    at = &(*at)->next;
  *at = e->next;
  atomic_store(&e->over, true);
}

static void hang_up(Exec *e, int status, const char *why)
{
  pai_session_close(e->session);
  e->session = NULL;
  e->failed.code = status;
  e->failed.text = why;
  unlist(e);
}

static const char early[] = "it was ended before the command was over";

void execs_close(Exec **list)
{
  while (*list != NULL)
    hang_up(*list, PAI_ECANCELED, early);
}

/* Returns the lock of the client or platform. A script may free a command in
 * any thread. */
static pthread_mutex_t *owner_of(const Exec *e)
{
  return e->client != NULL ? &e->client->owner : &e->platform->owner;
}

void exec_cancel(Exec *e)
{
  if (atomic_load(&e->over))
    return; /* the client or platform may be freed */
  (void)pthread_mutex_lock(owner_of(e));
  if (!atomic_load(&e->over))
    hang_up(e, PAI_ECANCELED, early);
  (void)pthread_mutex_unlock(owner_of(e));
}

void exec_free(Exec *e)
{
  exec_cancel(e);
  dispose(e);
}

/* --- events of the session ----------------------------------------------- */

/* The first input is sent only now, because the command may become live until
 * it has begun. */
static void on_started(void *user_data, int terminal)
{
  Exec *e = user_data;
  int rc = PAI_OK;

  (void)terminal;
  if (e->input.len > 0)
    rc = pai_session_write(e->session, e->input.bytes, e->input.len);
  if (rc == PAI_OK && !atomic_load(&e->live))
    rc = pai_session_end_input(e->session);
  free(e->input.bytes);
  e->input = (job_text){ NULL, 0 };
  atomic_store(&e->begun, true);
  if (rc < 0)
    hang_up(e, rc, "out of memory");
}

static void replace(char **text, const char *by)
{
  if (by == NULL || *by == '\0')
    return;
  free(*text);
  *text = strdup(by);
}

static void on_end(void *user_data, int status, const pai_session_end *end)
{
  Exec *e = user_data;

  e->session = NULL;
  if (status < 0) {
    facade_keep(&e->failed, status, end->err);
    replace(&e->failed.made, end->text);
    replace(&e->failed.api_code, end->api_code);
    e->failed.http_status = end->http_status;
  }
  if (e->broken)
    e->failed.code = PAI_ENOMEM;
  e->how = end->how;
  e->code = end->code;
  e->signal = end->signal;
  e->text = facade_copy(end->text);
  unlist(e);
}

/* --- beginning ----------------------------------------------------------- */

static void fill(pai_session_options *o, Exec *e, const exec_wish *w,
                 const char *const *command)
{
  o->command = command[0] != NULL ? command : NULL;
  o->terminal = w->terminal;
  o->columns = w->columns;
  o->rows = w->rows;
  o->tty = w->tty;
  o->user_data = e;
  o->on_started = on_started;
  o->on_output = exec_output;
  o->on_end = on_end;
}

static int open_session(Exec *e, pai_job_id job, const exec_wish *w,
                        const pai_session_options *o, failure *f)
{
  int rc, fd;

  if (e->client != NULL)
    return pai_client_enter(&e->session, e->client->client, w->job, w->role,
                            w->index, o, &f->err);
  rc = pai_platform_enter(&fd, e->platform->platform, job, w->role, w->index,
                          &f->err);
  if (rc < 0)
    return rc;
  return pai_session_new(&e->session, e->platform->loop, NULL, fd, o, &f->err);
}

static Exec *begin(Client *c, Platform *p, pai_job_id job, const exec_wish *w,
                   const words *names, const char *text, size_t len,
                   failure *f)
{
  pai_session_options o = PAI_SESSION_OPTIONS_INIT;
  const char **command = facade_word_list(names, NULL, f);
  Exec *e = calloc(1, sizeof(*e));

  if (e == NULL || command == NULL ||
      facade_collect(&e->input, text, len) < 0) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
  } else {
    e->client = c;
    e->platform = p;
    if (c != NULL)
      atomic_fetch_add(&c->users, 1);
    fill(&o, e, w, command);
    f->code = open_session(e, job, w, &o, f);
  }
  free(command);
  if (f->code == PAI_OK && e != NULL) {
    list(e, c != NULL ? &c->execs : &p->execs);
    return e;
  }
  if (e != NULL)
    dispose(e);
  return NULL;
}

static bool read_wish(exec_wish *w, const words *fields, failure *f)
{
  *w = (exec_wish){ 0 };
  return options_read(w, wishes, fields, f);
}

Exec *client_exec(Client *c, words fields, words names, const char *text,
                  size_t len, failure *f)
{
  exec_wish w;
  Exec *e;

  if (!read_wish(&w, &fields, f) || !client_enter(c, f))
    return NULL;
  e = begin(c, NULL, 0, &w, &names, text, len, f);
  client_give(c);
  return e;
}

Exec *platform_exec(Platform *p, pai_job_id job, words fields, words names,
                    const char *text, size_t len, failure *f)
{
  exec_wish w;
  Exec *e;

  if (!read_wish(&w, &fields, f) || !platform_take(p, f))
    return NULL;
  e = begin(NULL, p, job, &w, &names, text, len, f);
  platform_give(p);
  return e;
}

/* --- result -------------------------------------------------------------- */

listing exec_answer(const Exec *e, failure *f)
{
  static const char *const hows[] = { "none", "exit", "signal", "failed",
                                      "lost" };
  listing none = { { NULL, 0 } };
  json j;

  if (!atomic_load(&e->over)) {
    facade_fail(f, PAI_EBUSY, "it is not over");
    return none;
  }
  if (e->failed.code < 0) {
    facade_fail_as(f, &e->failed);
    return none;
  }
  json_start(&j);
  json_begin(&j, NULL, '{');
  json_text(&j, "how", hows[e->how >= 0 && e->how < 5 ? e->how : 0]);
  json_number(&j, "code", e->code);
  json_number(&j, "signal", e->signal);
  json_text(&j, "text", e->text);
  json_end(&j, '}');
  return json_finish(&j, f);
}
