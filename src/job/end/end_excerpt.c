/*
 * end_excerpt.c - excerpt of the logs for a report of a failure
 *
 * A container can leave a report of 4 KiB (job-spec 4.3).  To fit, the
 * platform's log is cut first, then the user's, then the matched texts.
 */
#include "base/text/utf8.h"
#include "job/end/end.h"
#include "yaml/writer.h"

enum {
  MOST_YAML = 4096 - (int)(sizeof(PAI__ERROR_START) - 1) -
              (int)(sizeof(PAI__ERROR_END) - 1),
  AROUND = MOST_YAML,  /* bytes searched before and after a match */
  MOST_MATCHED = 2048, /* bytes of a matched text */
  BEFORE = 3,          /* lines up to and including the match's line */
  USER_LINES = 15,
  PLATFORM_LINES = 10
};

typedef struct excerpt {
  pai__buf user, platform;                 /* of the logs */
  size_t user_at, platform_at;             /* positions of the matches in
                                              them */
  bool user_has, platform_has;             /* whether there are matches */
  pai__buf matched_user, matched_platform; /* matched texts */
} excerpt;

/* --- cutting out lines --------------------------------------------------- */

/* Returns the start of the last `n` lines before `at`, not before `from`; *n
 * is set to the number found. */
static size_t go_back(const char *text, size_t from, size_t at, unsigned *n)
{
  unsigned most = *n;

  *n = 0;
  if (most == 0)
    return at;
  for (*n = 1; at > from; at--)
    if (text[at - 1] == '\n' && ++*n > most) {
      *n = most;
      return at;
    }
  return from;
}

/* Returns the end of `n` lines that begin at `at`, without the last line
 * end. */
static size_t go_on(const char *text, size_t at, size_t to, unsigned *n)
{
  unsigned most = *n;

  *n = 0;
  if (most == 0)
    return at;
  for (*n = 1; at < to; at++)
    if (text[at] == '\n' && ++*n > most) {
      *n = most;
      return at;
    }
  return to;
}

static void put_lines(pai__buf *out, const char *text, size_t from, size_t to)
{
  for (size_t i = from; i < to; i++)
    if (text[i] != '\r' || i + 1 == to || text[i + 1] != '\n')
      pai__buf_char(out, text[i]);
}

static void put_tail(pai__buf *out, pai__log_tail log, unsigned lines)
{
  size_t to = log.len, from = to > AROUND ? to - AROUND : 0;

  while (to > from && (log.text[to - 1] == '\n' || log.text[to - 1] == '\r'))
    to--;
  put_lines(out, log.text, go_back(log.text, from, to, &lines), to);
}

/* Adds the match with a few lines before it, and the text after it; *at is its
 * position in the excerpt. */
static void put_around(pai__buf *out, pai__log_tail log, pai__log_match m,
                       unsigned lines, size_t *at)
{
  size_t from = m.start > AROUND ? m.start - AROUND : 0;
  size_t to = log.len - m.end > AROUND ? m.end + AROUND : log.len, begin, end;
  unsigned own = UINT32_MAX, before = BEFORE, behind;

  (void)go_on(log.text, m.start, m.end, &own);
  if (own >= lines) { /* of a long match the last lines */
    put_lines(out, log.text, go_back(log.text, m.start, m.end, &lines), m.end);
    return;
  }
  while (to > m.end && (log.text[to - 1] == '\n' || log.text[to - 1] == '\r'))
    to--;
  before = before > lines - own ? lines - own : before;
  (void)go_back(log.text, from, m.start, &before);
  behind = lines - own - before;
  end = go_on(log.text, m.end, to, &behind);
  before = lines - own - behind;
  begin = go_back(log.text, from, m.start, &before);
  put_lines(out, log.text, begin, m.start);
  *at = out->len;
  put_lines(out, log.text, m.start, end);
}

static void put_matched(pai__buf *out, pai__log_tail log, pai__log_match m)
{
  size_t len = m.end - m.start;

  if (len > MOST_MATCHED)
    for (len = MOST_MATCHED; len > 0; len--)
      if (pai__utf8_first(log.text[m.start + len]))
        break;
  put_lines(out, log.text, m.start, m.start + len);
}

static void fill(excerpt *x, const pai__error_facts *f)
{
  x->user_has = f->in_user.found;
  x->platform_has = f->in_platform.found;
  if (x->user_has) {
    put_around(&x->user, f->user, f->in_user, USER_LINES, &x->user_at);
    put_matched(&x->matched_user, f->user, f->in_user);
  } else if (f->user.text != NULL) {
    put_tail(&x->user, f->user, USER_LINES);
  }
  if (x->platform_has) {
    put_around(&x->platform, f->platform, f->in_platform, PLATFORM_LINES,
               &x->platform_at);
    put_matched(&x->matched_platform, f->platform, f->in_platform);
  } else if (f->platform.text != NULL) {
    put_tail(&x->platform, f->platform, PLATFORM_LINES);
  }
}

/* --- YAML ---------------------------------------------------------------- */

static void put_key(pai__yaml_writer *w, const char *key)
{
  pai__yaml_key(w, key, strlen(key));
}

static void put_text(pai__yaml_writer *w, const char *key, const pai__buf *b)
{
  if (b->len == 0)
    return;
  put_key(w, key);
  pai__yaml_text(w, pai__buf_text(b), b->len);
}

/* PAI_OK or PAI_ENOMEM. */
static int put_yaml(pai__buf *out, const excerpt *x, const pai__error_facts *f)
{
  pai__yaml_writer w;

  pai__yaml_writer_init(&w, out);
  pai__yaml_begin_mapping(&w);
  put_key(&w, "exitCode");
  pai__yaml_int(&w, f->code);
  put_key(&w, "originUserExitCode");
  pai__yaml_int(&w, f->user_code);
  put_text(&w, "matchedUserLogString", &x->matched_user);
  put_text(&w, "matchedPlatformLogString", &x->matched_platform);
  if (f->ecc) {
    put_key(&w, "matchedGpuInfo");
    pai__yaml_begin_mapping(&w);
    put_key(&w, "nvidiaDoubleEccError");
    pai__yaml_boolean(&w, true);
    pai__yaml_end_mapping(&w);
  }
  if (x->user.len > 0 || x->platform.len > 0) {
    put_key(&w, "errorLogs");
    pai__yaml_begin_mapping(&w);
    put_text(&w, "user", &x->user);
    put_text(&w, "platform", &x->platform);
    pai__yaml_end_mapping(&w);
  }
  pai__yaml_end_mapping(&w);
  return pai__yaml_finish(&w) < 0 || !pai__buf_ok(out) ? PAI_ENOMEM : PAI_OK;
}

/* --- cutting to the size ------------------------------------------------- */

/* Removes n bytes at the front, and the rest of a split character. */
static size_t cut_front(pai__buf *b, size_t n)
{
  while (n < b->len && !pai__utf8_first(b->data[n]))
    n++;
  memmove(b->data, b->data + n, b->len - n);
  pai__buf_cut(b, b->len - n);
  return n;
}

static void cut_end(pai__buf *b, size_t n)
{
  size_t len = b->len - n;

  while (len > 0 && !pai__utf8_first(b->data[len]))
    len--;
  pai__buf_cut(b, len);
}

/* Shortens a log by n bytes: at the front; or, if it contains a match, at the
 * side with more text. */
static void cut_log(pai__buf *b, size_t n, bool has, size_t *at)
{
  if (n >= b->len) {
    pai__buf_cut(b, 0);
  } else if (!has) {
    (void)cut_front(b, n);
  } else if (b->len - *at > *at) {
    cut_end(b, n);
  } else {
    n = cut_front(b, n);
    *at -= n > *at ? *at : n;
  }
}

/* Shortens something by at most n bytes; false: nothing is left. */
static bool cut(excerpt *x, size_t n)
{
  pai__buf *matched =
    x->matched_platform.len > 0 ? &x->matched_platform : &x->matched_user;

  if (x->platform.len > 0)
    cut_log(&x->platform, n, x->platform_has, &x->platform_at);
  else if (x->user.len > 0)
    cut_log(&x->user, n, x->user_has, &x->user_at);
  else if (matched->len > 0)
    cut_end(matched, n < matched->len ? n : matched->len);
  else
    return false;
  return true;
}

static int put_what_fits(pai__buf *out, excerpt *x, const pai__error_facts *f)
{
  size_t from = out->len;
  int rc = put_yaml(out, x, f);

  while (rc == PAI_OK && out->len - from > MOST_YAML &&
         cut(x, out->len - from - MOST_YAML)) {
    pai__buf_cut(out, from);
    rc = put_yaml(out, x, f);
  }
  return rc;
}

int pai__end_excerpt(pai__buf *out, const pai__error_facts *facts)
{
  excerpt x = { .user_at = 0 };
  pai__buf *const parts[] = { &x.user, &x.platform, &x.matched_user,
                              &x.matched_platform };
  int rc = PAI_OK;

  for (size_t i = 0; i < PAI__LEN(parts); i++)
    pai__buf_init(parts[i], out->alloc);
  fill(&x, facts);
  for (size_t i = 0; i < PAI__LEN(parts); i++)
    if (!pai__buf_ok(parts[i]))
      rc = PAI_ENOMEM;
  pai__buf_str(out, PAI__ERROR_START "\n");
  if (rc == PAI_OK)
    rc = put_what_fits(out, &x, facts);
  pai__buf_str(out, "\n" PAI__ERROR_END);
  for (size_t i = 0; i < PAI__LEN(parts); i++)
    pai__buf_dispose(parts[i]);
  return rc == PAI_OK && pai__buf_ok(out) ? PAI_OK : PAI_ENOMEM;
}
