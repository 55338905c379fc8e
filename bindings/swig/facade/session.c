/* session.c - input and output of commands in tasks that run */
#include "exec_shared.h"

#include <stdlib.h>

/* MOST_HELD: bytes of output not yet taken, or of input not yet sent, above
 * which the command or the writer waits. */
enum { MOST_HELD = 256 << 10, PIECE = 64 << 10 };

/* --- output -------------------------------------------------------------- */

/* Returns the last piece if there is space for more of the stream; else a new
 * one. NULL without memory. */
static piece *room(Exec *e, int stream)
{
  piece *p = e->said != NULL ? e->newest : NULL;

  if (p != NULL && p->stream == stream && p->text.len < PIECE)
    return p;
  p = calloc(1, sizeof(*p));
  if (p == NULL)
    return NULL;
  p->stream = stream;
  if (e->said != NULL)
    e->newest->next = p;
  else
    e->said = p;
  e->newest = p;
  return p;
}

void exec_output(void *user_data, int stream, const char *bytes, size_t len)
{
  Exec *e = user_data;
  piece *p;

  if (len == 0)
    return; /* an empty piece would look like the end of the output */
  p = e->broken ? NULL : room(e, stream);
  e->broken = p == NULL || facade_collect(&p->text, bytes, len) < 0;
  if (e->broken)
    return;
  e->held += len;
  atomic_store(&e->stream, e->said->stream);
  if (e->held > MOST_HELD && atomic_load(&e->live)) {
    atomic_store(&e->full, true);
    pai_session_pause(e->session, 1);
  }
}

log_bytes exec_pop(Exec *e)
{
  piece *first = e->said;
  log_bytes text = { NULL, 0 };

  if (first == NULL)
    return text;
  text = (log_bytes){ first->text.bytes, first->text.len };
  e->held -= text.len;
  e->said = first->next;
  atomic_store(&e->stream, e->said != NULL ? e->said->stream : 0);
  free(first);
  return text;
}

/* --- while it runs ------------------------------------------------------- */

static void leave(Exec *e)
{
  if (e->client != NULL)
    client_give(e->client);
  else
    platform_give(e->platform);
}

/* Locks the client or platform. Returns false if the command is over, or after
 * a failure. */
static bool enter(Exec *e, failure *f)
{
  if (atomic_load(&e->over) ||
      !(e->client != NULL ? client_enter(e->client, f)
                          : platform_take(e->platform, f)))
    return false;
  if (!atomic_load(&e->over))
    return true;
  leave(e);
  return false;
}

void exec_live(Exec *e, failure *f)
{
  bool is_late = true;

  if (enter(e, f)) {
    is_late = atomic_load(&e->begun);
    atomic_store(&e->live, !is_late);
    leave(e);
  }
  if (is_late && f->code == PAI_OK)
    facade_fail(f, PAI_EBUSY,
                "the command runs already: enter it where it is begun");
}

bool exec_write(Exec *e, const char *text, size_t len, failure *f)
{
  bool taken = false;

  if (e->ended) {
    facade_fail(f, PAI_EINVAL, "its input was closed");
  } else if (enter(e, f)) {
    taken = pai_session_pending(e->session) <= MOST_HELD;
    if (taken && pai_session_write(e->session, text, len) < 0)
      facade_fail(f, PAI_ENOMEM, "out of memory");
    leave(e);
  } else if (f->code == PAI_OK) {
    facade_fail(f, PAI_EIO, "the command is over, and reads nothing any more");
  }
  return taken;
}

bool exec_pending(Exec *e, failure *f)
{
  bool pending = false;

  if (enter(e, f)) {
    pending = pai_session_pending(e->session) > 0;
    leave(e);
  }
  return pending;
}

void exec_end_input(Exec *e, failure *f)
{
  if (!e->ended && enter(e, f)) {
    if (pai_session_end_input(e->session) < 0)
      facade_fail(f, PAI_ENOMEM, "out of memory");
    e->ended = f->code == PAI_OK;
    leave(e);
  }
}

/* Resizing or signalling a command that is over is no failure, because a
 * command may end at any moment. */
void exec_resize(Exec *e, uint32_t columns, uint32_t rows, failure *f)
{
  if (enter(e, f)) {
    f->code = pai_session_resize(e->session, columns, rows);
    if (f->code == PAI_EINVAL)
      facade_fail(f, PAI_EINVAL, "no terminal is as large as that");
    leave(e);
  }
}

void exec_signal(Exec *e, int number, failure *f)
{
  if (enter(e, f)) {
    f->code = pai_session_signal(e->session, number);
    if (f->code == PAI_EINVAL)
      facade_fail(f, PAI_EINVAL, "a signal has a number from 1 to 64");
    leave(e);
  }
}

log_bytes exec_take(Exec *e, failure *f)
{
  log_bytes taken = { NULL, 0 };

  if (atomic_load(&e->over))
    return exec_pop(e);
  if (!enter(e, f))
    return f->code == PAI_OK ? exec_pop(e) : taken; /* it ended just now */
  taken = exec_pop(e);
  if (atomic_load(&e->full) && e->held <= MOST_HELD) {
    atomic_store(&e->full, false);
    pai_session_pause(e->session, 0);
  }
  leave(e);
  return taken;
}

int exec_state(const Exec *e)
{
  bool over = atomic_load(&e->over); /* first: then no more comes */
  int stream = atomic_load(&e->stream);

  if (stream != 0 && (over || atomic_load(&e->live)))
    return stream;
  return over ? -1 : 0;
}

bool exec_has_begun(const Exec *e)
{
  return atomic_load(&e->begun) || atomic_load(&e->over);
}

bool exec_is_full(const Exec *e)
{
  return atomic_load(&e->full) && !atomic_load(&e->over);
}

bool exec_is_over(const Exec *e)
{
  return atomic_load(&e->over);
}
