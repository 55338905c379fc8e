/*
 * log_stamps.c - a log with a time before each line
 *
 * The time is "2026-05-01T10:30:00Z ", or "-" padded to that width if it is
 * unknown.  Text after a lone carriage return is a line, too: of a progress
 * bar, a reader may show only the last line.
 */
#include "server/streams/logs.h"

#include "base/date.h"

enum { STAMP = 21 };

static void add_stamp(pai__buf *b, pai_time time)
{
  char text[PAI__TIME_TEXT];

  if (time <= 0)
    pai__buf_printf(b, "%-*s", STAMP, "-");
  else
    pai__buf_str(b, pai__time_text(text, time / 1000000, "Z "));
}

/* Returns the bytes up to and including the end of the line, or up to a
 * carriage return. */
static size_t part_of(const char *bytes, size_t len)
{
  size_t n = 0;

  while (n < len && bytes[n] != '\n' && bytes[n] != '\r')
    n++;
  return n < len ? n + 1 : n;
}

void pai__log_stamps_add(pai__log_stamps *s, pai__request *r, pai_time time,
                         const char *bytes, size_t len)
{
  pai__buf b;
  size_t n;

  pai__buf_init(&b, &r->server->alloc);
  for (; len > 0; bytes += n, len -= n) {
    n = part_of(bytes, len);
    if (!s->inside || (s->back && bytes[0] != '\n' && bytes[0] != '\r'))
      add_stamp(&b, time);
    pai__buf_add(&b, bytes, n);
    s->inside = bytes[n - 1] != '\n';
    s->back = bytes[n - 1] == '\r';
  }
  if (pai__buf_ok(&b))
    pai__stream_add(r->stream, pai__buf_text(&b), b.len);
  else
    pai__stream_over(r->stream, true);
  pai__buf_dispose(&b);
}
