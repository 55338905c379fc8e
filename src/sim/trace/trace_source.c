/* trace_source.c - buffered reader of a trace's bytes and lines */
#include "sim/trace/trace.h"

enum { FIRST_ROOM = 256 << 10 };

void pai__source_init(pai__source *s, const pai_alloc *alloc, pai_read_cb read,
                      void *user_data)
{
  memset(s, 0, sizeof(*s));
  s->alloc = alloc;
  s->read = read;
  s->user_data = user_data;
}

void pai__source_dispose(pai__source *s)
{
  if (s->buf != NULL)
    pai__free(s->alloc, s->buf, s->cap + PAI__SOURCE_PAD);
  s->buf = NULL;
}

static int make_room(pai__source *s, pai_error **err)
{
  size_t cap = s->cap == 0 ? FIRST_ROOM : s->cap * 2;
  char *buf;

  if (s->at > 0) {
    memmove(s->buf, s->buf + s->at, s->end - s->at);
    s->end -= s->at;
    s->at = 0;
  }
  if (s->buf != NULL && s->end <= s->cap / 2)
    return PAI_OK;
  if (s->end >= PAI__LINE_MAX)
    return pai__fail(err, PAI_ELIMIT, "line %llu has more than 16 MiB",
                     (unsigned long long)s->line + 1);
  buf = pai__realloc(s->alloc, s->buf, s->buf == NULL ? 0 : s->cap + 16,
                     cap + PAI__SOURCE_PAD, 1);
  if (buf == NULL)
    return pai__oom(err);
  s->buf = buf;
  s->cap = cap;
  return PAI_OK;
}

int pai__source_more(pai__source *s, pai_error **err)
{
  ptrdiff_t got;
  int rc;

  if (s->ended)
    return 0;
  if (s->end == s->cap && (rc = make_room(s, err)) < 0)
    return rc;
  if (s->stop != NULL && s->stop(s->stop_data) != 0)
    return pai__fail(err, PAI_ECANCELED,
                     "reading the trace was stopped after line %llu",
                     (unsigned long long)s->line);
  got = s->read(s->user_data, s->buf + s->end, s->cap - s->end);
  if (got < 0)
    return pai__fail(err, (int)got, "cannot read the trace after line %llu",
                     (unsigned long long)s->line);
  if ((size_t)got > s->cap - s->end)
    return pai__fail(
      err, PAI_EINVAL,
      "the read callback returned more bytes than it was asked for");
  s->end += (size_t)got;
  s->ended = got == 0;
  memset(s->buf + s->end, 0, PAI__SOURCE_PAD);
  return got > 0;
}

/* Takes the bytes before `end` and the newline; a CR before it is dropped. */
static int take_line(pai__source *s, char *end, char **line, size_t *len)
{
  *line = s->buf + s->at;
  *len = (size_t)(end - *line);
  s->at += *len + (end < s->buf + s->end);
  s->line++;
  if (*len > 0 && end[-1] == '\r')
    --*len;
  return 1;
}

int pai__source_line(pai__source *s, char **line, size_t *len, pai_error **err)
{
  size_t seen = 0;
  char *end = NULL;
  int rc = 1;

  while (rc > 0) {
    if (s->end - s->at > seen)
      end = memchr(s->buf + s->at + seen, '\n', s->end - s->at - seen);
    if (end != NULL)
      break;
    seen = s->end - s->at;
    rc = pai__source_more(s, err);
  }
  if (rc < 0 || (end == NULL && s->at == s->end))
    return rc;
  return take_line(s, end != NULL ? end : s->buf + s->end, line, len);
}

enum { LONGEST_QUOTED = 64 << 10 }; /* a longer quote is taken as text */

int pai__source_quoted(pai__source *s, char **line, size_t *len,
                       pai_error **err)
{
  size_t pos = 0, newlines = 0;
  bool quoted = false;
  int rc = 1;

  for (;; pos++) {
    char c;

    if (s->at + pos == s->end && (rc = pai__source_more(s, err)) <= 0)
      break;
    c = s->buf[s->at + pos];
    quoted ^= c == '"';
    if (c == '\n' && !quoted)
      break;
    newlines += c == '\n';
    if (pos == LONGEST_QUOTED && quoted)
      return pai__source_line(s, line, len, err);
  }
  if (rc < 0)
    return rc;
  if (quoted || pos == 0)
    return pai__source_line(s, line, len, err);
  s->line += newlines;
  return take_line(s, s->buf + s->at + pos, line, len);
}
