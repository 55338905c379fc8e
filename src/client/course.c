/*
 * course.c - calls that ask for several things, one after the other
 *
 * Each has at most one request under way, or waits for a time; its caller sees
 * but one operation.
 */
#include "client/inside.h"

static void free_course(pai__course *c)
{
  pai_client *client = c->op.client;

  if (c->dispose != NULL)
    c->dispose(c);
  pai__timer_close(c->timer);
  pai__free(&client->alloc, c, c->size);
}

void pai__course_end(pai__course *c, int status, const pai_client_answer *a)
{
  pai_client *client = c->op.client;
  pai_client_answer out = *a;

  if (c->canceled && status != PAI_ECANCELED) { /* in a callback just now */
    pai__course_fail(c, PAI_ECANCELED, NULL);
    return;
  }
  if (status == PAI_OK) /* some refusals are as good as an answer */
    out.err = NULL;
  pai__op_gone(&c->op);
  c->cb(c->user_data, status, &out);
  free_course(c);
  pai__client_rest(client);
}

void pai__course_fail(pai__course *c, int status, const pai_error *err)
{
  pai_client_answer a = pai__answer_none();
  pai_error *own = NULL;

  if (err == NULL && status == PAI_ECANCELED)
    (void)pai__fail(&own, status, "the request was cancelled");
  else if (err == NULL)
    (void)pai__fail(&own, status, "whoever reads the answer ended it");
  a.err = err != NULL ? err : own;
  pai__course_end(c, status, &a);
  pai_error_free(own);
}

static void end_canceled(pai_op *op)
{
  pai__course_fail((pai__course *)op, PAI_ECANCELED, NULL);
}

static void cancel(pai_op *op)
{
  pai__course *c = (pai__course *)op;

  c->canceled = true;
  if (c->child != NULL)
    pai_op_cancel(c->child);
  else
    pai__op_end_soon(op);
}

static void hold(pai_op *op, bool held)
{
  pai__course *c = (pai__course *)op;

  if (c->child != NULL && held)
    pai_op_pause(c->child);
  else if (c->child != NULL)
    pai_op_resume(c->child);
  if (held || (!c->late && c->anew == 0))
    return;
  c->late = false;
  pai__timer_start(c->timer, c->anew);
}

void pai__course_drop(pai__course *c)
{
  pai__op_gone(&c->op);
  free_course(c);
}

int pai__course_new(pai__course **out, pai_client *client, size_t size,
                    void (*dispose)(pai__course *c), pai_client_cb cb,
                    void *user_data, pai_error **err)
{
  pai__course *c;

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
  c->op.cancel = cancel;
  c->op.hold = hold;
  c->op.end = end_canceled;
  pai__op_begin(&c->op, client);
  *out = c;
  return PAI_OK;
}

/* --- its parts ------------------------------------------------------------------ */

static void on_answer(void *user_data, int status, const pai_client_answer *a)
{
  pai__course *c = user_data;

  c->child = NULL;
  if (c->canceled)
    pai__course_fail(c, PAI_ECANCELED, NULL);
  else
    c->next(c, status, a);
}

int pai__course_ask(pai__course *c, const pai__call *call, pai__course_cb next,
                    pai_error **err)
{
  pai__ask *ask;
  int rc;

  if (c->op.ending) /* its end is near, and nothing more begins */
    return PAI_OK;
  rc = pai__ask_new(&ask, c->op.client, call, on_answer, c, err);
  c->next = next;
  if (rc < 0)
    return rc;
  c->child = pai__ask_op(ask);
  if (c->op.held)
    pai_op_pause(c->child);
  return PAI_OK;
}

void pai__course_go(pai__course *c, const pai__call *call, pai__course_cb next)
{
  pai_error *err = NULL;
  int rc = pai__course_ask(c, call, next, &err);

  if (rc < 0)
    pai__course_fail(c, c->op.client->closing ? PAI_ECANCELED : rc, err);
  pai_error_free(err);
}

static void on_time(void *user_data)
{
  pai__course *c = user_data;

  if (c->op.ending)
    return;
  c->late = c->op.held; /* then nothing is asked for before it goes on */
  if (!c->late)
    c->step(c);
}

int pai__course_ready(pai__course *c, pai_error **err)
{
  pai_client *client = c->op.client;

  if (c->timer == NULL &&
      pai__timer_new(&c->timer, &client->alloc, client->loop, on_time, c) < 0)
    return pai__oom(err);
  return PAI_OK;
}

void pai__course_wait(pai__course *c, pai_time delay,
                      void (*step)(pai__course *c))
{
  pai_error *err = NULL;
  int rc;

  if (c->op.ending)
    return;
  c->step = step;
  c->late = false;
  c->anew = 0;
  rc = pai__course_ready(c, &err);
  if (rc < 0) {
    pai__course_fail(c, rc, err);
    pai_error_free(err);
    return;
  }
  pai__timer_start(c->timer, delay);
}
