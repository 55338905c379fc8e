/*
 * sequence.c - operations that send several requests, one after the other
 *
 * A sequence has at most one request running, or waits for a time.  Its caller
 * sees one operation.
 */
#include "client/inside.h"

static void free_sequence(pai__client_sequence *c)
{
  pai_client *client = c->op.client;

  if (c->dispose != NULL)
    c->dispose(c);
  pai__timer_close(c->timer);
  pai__free(&client->alloc, c, c->size);
}

void pai__client_sequence_end(pai__client_sequence *c, int status,
                              const pai_client_answer *a)
{
  pai_client *client = c->op.client;
  pai_client_answer out = *a;

  if (c->canceled && status != PAI_ECANCELED) { /* a callback canceled it just
                                                   now */
    pai__client_sequence_fail(c, PAI_ECANCELED, NULL);
    return;
  }
  if (status == PAI_OK) /* the caller treats some refusals as an answer */
    out.err = NULL;
  pai__op_gone(&c->op);
  c->cb(c->user_data, status, &out);
  free_sequence(c);
  pai__client_rest(client);
}

void pai__client_sequence_fail(pai__client_sequence *c, int status,
                               const pai_error *err)
{
  pai_client_answer a = pai__answer_none();
  pai_error *own = NULL;

  if (err == NULL && status == PAI_ECANCELED)
    (void)pai__fail(&own, status, "the request was cancelled");
  else if (err == NULL)
    (void)pai__fail(&own, status, "the reader of the answer cancelled it");
  a.err = err != NULL ? err : own;
  pai__client_sequence_end(c, status, &a);
  pai_error_free(own);
}

static void end_canceled(pai__client_op *op)
{
  pai__client_sequence_fail((pai__client_sequence *)op, PAI_ECANCELED, NULL);
}

static void cancel(pai_op *op)
{
  pai__client_sequence *c = (pai__client_sequence *)op;

  c->canceled = true;
  if (c->child != NULL)
    pai_op_cancel(c->child);
  else
    pai__op_end_soon(&c->op);
}

static void hold(pai_op *op, bool held)
{
  pai__client_sequence *c = (pai__client_sequence *)op;

  if (c->child != NULL && held)
    pai_op_pause(c->child);
  else if (c->child != NULL)
    pai_op_resume(c->child);
  if (held || (!c->late && c->anew == 0))
    return;
  c->late = false;
  pai__timer_start(c->timer, c->anew);
}

static void drop(pai__client_sequence *c)
{
  pai__op_gone(&c->op);
  free_sequence(c);
}

int pai__client_sequence_new(pai__client_sequence **out, pai_client *client,
                             size_t size,
                             void (*dispose)(pai__client_sequence *c),
                             pai_client_cb cb, void *user_data,
                             pai_error **err)
{
  pai__client_sequence *c;

  *out = NULL;
  if (client->closing)
    return pai__fail(err, PAI_EBUSY, "the client is being closed");
  c = pai__zalloc(&client->alloc, size);
  if (c == NULL)
    return pai__oom(err);
  c->size = size;
  c->dispose = dispose;
  c->cb = cb;
  c->user_data = user_data;
  c->op.head.cancel = cancel;
  c->op.head.hold = hold;
  c->op.end = end_canceled;
  pai__op_begin(&c->op, client);
  *out = c;
  return PAI_OK;
}

/* --- steps --------------------------------------------------------------- */

void pai__client_sequence_answer(void *user_data, int status,
                                 const pai_client_answer *a)
{
  pai__client_sequence *c = user_data;

  c->child = NULL;
  if (c->canceled)
    pai__client_sequence_fail(c, PAI_ECANCELED, NULL);
  else
    c->next(c, status, a);
}

int pai__client_sequence_ask(pai__client_sequence *c, const pai__call *call,
                             pai__client_sequence_cb next, pai_error **err)
{
  pai__client_ask *ask;
  int rc;

  if (c->op.head.ending) /* it is ending, so nothing new begins */
    return PAI_OK;
  rc = pai__ask_new(&ask, c->op.client, call, pai__client_sequence_answer, c,
                    err);
  if (rc == PAI_OK)
    c->child = pai__ask_op(ask);
  return pai__client_sequence_child(c, rc, next);
}

int pai__client_sequence_child(pai__client_sequence *c, int rc,
                               pai__client_sequence_cb next)
{
  c->next = next;
  if (rc == PAI_OK && c->op.head.held)
    pai_op_pause(c->child);
  return rc;
}

int pai__client_sequence_at(pai__client_sequence *c, pai__call call,
                            pai__buf *path, pai__client_sequence_cb next,
                            pai_error **err)
{
  int rc;

  call.path = pai__buf_text(path);
  rc = pai__buf_ok(path) ? pai__client_sequence_ask(c, &call, next, err)
                         : pai__oom(err);
  pai__buf_dispose(path);
  return rc;
}

int pai__client_sequence_job(pai__client_sequence *c, const char *job,
                             pai__client_sequence_cb next, pai_error **err)
{
  pai__buf path;
  int rc;

  pai__buf_init(&path, &c->op.client->alloc);
  rc = pai__job_path(&path, job, "", err);
  return rc < 0
           ? rc
           : pai__client_sequence_at(
               c, pai__call_of(c->op.client, "GET", NULL), &path, next, err);
}

int pai__client_sequence_started(pai__client_sequence *c, int rc, pai_op **op)
{
  if (rc < 0)
    drop(c);
  else if (op != NULL)
    *op = &c->op.head;
  return rc;
}

void pai__client_sequence_check(pai__client_sequence *c, int rc,
                                pai_error *err)
{
  if (rc < 0)
    pai__client_sequence_fail(c, c->op.client->closing ? PAI_ECANCELED : rc,
                              err);
  pai_error_free(err);
}

static void on_time(void *user_data)
{
  pai__client_sequence *c = user_data;

  if (c->op.head.ending)
    return;
  c->late = c->op.head.held; /* paused: the step runs when it is resumed */
  if (!c->late)
    c->step(c);
}

int pai__client_sequence_ready(pai__client_sequence *c, pai_error **err)
{
  pai_client *client = c->op.client;

  if (c->timer == NULL &&
      pai__timer_new(&c->timer, &client->alloc, client->loop, on_time, c) < 0)
    return pai__oom(err);
  return PAI_OK;
}

void pai__client_sequence_wait(pai__client_sequence *c, pai_time delay,
                               void (*step)(pai__client_sequence *c))
{
  pai_error *err = NULL;
  int rc;

  if (c->op.head.ending)
    return;
  c->step = step;
  c->late = false;
  c->anew = 0;
  rc = pai__client_sequence_ready(c, &err);
  if (rc < 0)
    pai__client_sequence_check(c, rc, err);
  else
    pai__timer_start(c->timer, delay);
}

void pai__client_sequence_pause(pai__client_sequence *c, pai_time *pause,
                                void (*step)(pai__client_sequence *c))
{
  const pai_client *client = c->op.client;

  *pause = *pause > 0 ? *pause * 3 / 2 : client->first_wait * 4;
  if (*pause > client->most_wait)
    *pause = client->most_wait;
  pai__client_sequence_wait(c, *pause, step);
}

bool pai__client_sequence_stopped(pai__client_sequence *c)
{
  if (c->stopped >= 0)
    return false;
  pai__client_sequence_fail(c, c->stopped, NULL);
  return true;
}
