/*
 * log_events.c - a log as server-sent events that can be resumed
 *
 * Each event is a piece of the log, {"offset", "text"}. Its id is the offset
 * after the piece, from which a reader resumes; browsers send it as
 * Last-Event-ID.  The last event is called "end".  Characters are not split,
 * and invalid UTF-8 becomes U+FFFD.
 */
#include "server/streams/logs.h"

#include <stdio.h>

/* Returns the number of bytes at the end that begin an incomplete
 * character. */
static size_t unfinished(const char *bytes, size_t len)
{
  size_t back = 1;

  for (; back <= 3 && back <= len; back++) {
    unsigned char c = (unsigned char)bytes[len - back];
    size_t want = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

    if ((c & 0xc0) == 0x80)
      continue;
    return want > back ? back : 0;
  }
  return 0;
}

static void add_event(pai__log_events *e, uint64_t offset, const char *bytes,
                      size_t len)
{
  pai__json_writer w;
  pai__buf b;

  pai__buf_init(&b, &e->request->server->alloc);
  pai__buf_printf(&b, "id: %llu\ndata: ", (unsigned long long)offset + len);
  pai__json_writer_init(&w, &b, false);
  pai__json_begin_object(&w);
  pai__json_put_int(&w, "offset", (int64_t)offset);
  pai__json_member(&w, "text");
  pai__json_text(&w, bytes, len);
  pai__json_end_object(&w);
  pai__buf_str(&b, "\n\n");
  if (pai__json_finish(&w) == PAI_OK && pai__buf_ok(&b))
    pai__stream_add(e->request->stream, pai__buf_text(&b), b.len);
  else
    pai__stream_over(e->request->stream, true);
  pai__buf_dispose(&b);
}

void pai__log_events_add(pai__log_events *e, uint64_t offset,
                         const char *bytes, size_t len)
{
  pai__buf piece;
  size_t kept = e->nrest;

  pai__buf_init(&piece, &e->request->server->alloc);
  pai__buf_add(&piece, e->rest, kept);
  pai__buf_add(&piece, bytes, len);
  if (!pai__buf_ok(&piece)) {
    pai__buf_dispose(&piece);
    pai__stream_over(e->request->stream, true);
    return;
  }
  e->nrest = unfinished(piece.data, piece.len);
  memcpy(e->rest, piece.data + piece.len - e->nrest, e->nrest);
  e->offset = offset + len;
  if (piece.len > e->nrest)
    add_event(e, offset - kept, piece.data, piece.len - e->nrest);
  pai__buf_dispose(&piece);
}

void pai__log_events_end(pai__log_events *e, int status)
{
  char text[96];

  if (e->nrest > 0)
    add_event(e, e->offset - e->nrest, e->rest, e->nrest);
  e->nrest = 0;
  if (status == PAI_OK) {
    int n = snprintf(
      text, sizeof(text), "event: end\nid: %llu\ndata: {\"offset\":%llu}\n\n",
      (unsigned long long)e->offset, (unsigned long long)e->offset);
    pai__stream_add(e->request->stream, text, (size_t)n);
  }
  pai__stream_over(e->request->stream, status < 0);
}

bool pai__log_events_wanted(const pai__request *r)
{
  const char *accept = pai__conn_field(r->conn, "Accept");

  return accept != NULL && strstr(accept, "text/event-stream") != NULL;
}

bool pai__log_events_resume(const pai__request *r, int64_t *offset)
{
  const char *id = pai__request_last_event(r);

  return id != NULL && pai__param_number(id, offset) == PAI_OK;
}
