/* lines.c - the lines of a text that is read piece by piece */
#include "sim/lines.h"

#include "base/tree.h"

#include <inttypes.h>

enum { PIECE = 65536 }; /* bytes that are read at once, at least */

void pai__lines_init(pai__lines *l, const pai_alloc *alloc,
                     pai_read_at_cb read, void *user_data, uint64_t size)
{
  *l = (pai__lines){ .read = read, .user_data = user_data, .size = size };
  pai__buf_init(&l->here, alloc);
}

void pai__lines_dispose(pai__lines *l)
{
  pai__buf_dispose(&l->here);
}

/* --- reading -------------------------------------------------------------- */

/* As many bytes more as are wanted, or up to the end. */
static int add(pai__lines *l, size_t more, pai_error **err)
{
  uint64_t left = l->size - (l->from + l->here.len);

  if (more > left)
    more = (size_t)left;
  if (!pai__buf_reserve(&l->here, more)) {
    pai__buf_cut(&l->here, l->here.len);
    return pai__oom(err);
  }
  while (more != 0) {
    ptrdiff_t n = l->read(l->user_data, l->from + l->here.len,
                          l->here.data + l->here.len, more);

    if (n <= 0 || (size_t)n > more)
      return pai__fail(err, n < 0 ? (int)n : PAI_EIO,
                       "the log cannot be read at byte %" PRIu64,
                       l->from + (uint64_t)l->here.len);
    l->here.len += (size_t)n;
    more -= (size_t)n;
  }
  return PAI_OK;
}

/* What is here begins at `at` or before it, and has that byte if there is
 * one. */
static int reach(pai__lines *l, uint64_t at, pai_error **err)
{
  if (at >= l->from && at < l->from + l->here.len)
    return PAI_OK;
  pai__buf_clear(&l->here);
  l->from = at;
  return add(l, PIECE, err);
}

/* More of what is here from `at` on; what is before it may go.  Twice as much
 * each time, so that long lines are not moved often. */
static int extend(pai__lines *l, uint64_t at, pai_error **err)
{
  size_t gone = (size_t)(at - l->from), left = l->here.len - gone;

  if (left > PAI__TREE_MAX_TEXT)
    return pai__fail(err, PAI_ELIMIT, "a line is longer than %llu bytes",
                     (unsigned long long)PAI__TREE_MAX_TEXT);
  if (gone != 0) {
    memmove(l->here.data, l->here.data + gone, left);
    pai__buf_cut(&l->here, left);
    l->from = at;
  }
  return add(l, left > PIECE ? left : PIECE, err);
}

static bool is_all(const pai__lines *l)
{
  return l->from + l->here.len == l->size;
}

/* --- lines ---------------------------------------------------------------- */

int pai__lines_next(pai__lines *l, uint64_t at, pai__line_text *line,
                    pai_error **err)
{
  size_t seen = 0;
  int rc;

  if (at >= l->size)
    return 0;
  rc = reach(l, at, err);
  while (rc == PAI_OK) {
    const char *text = l->here.data + (at - l->from), *newline;
    size_t len = l->here.len - (size_t)(at - l->from);

    newline = memchr(text + seen, '\n', len - seen);
    if (newline != NULL)
      len = (size_t)(newline - text);
    if (newline != NULL || is_all(l)) {
      *line = (pai__line_text){ .text = text,
                                .len = len,
                                .at = at,
                                .next = at + len + (newline != NULL),
                                .whole = newline != NULL };
      return 1;
    }
    seen = len;
    rc = extend(l, at, err);
  }
  return rc;
}

int pai__lines_get(pai__lines *l, uint64_t at, pai__line_text *line,
                   pai_error **err)
{
  int rc = pai__lines_next(l, at, line, err);

  while (rc == 1 && line->len == 0)
    rc = pai__lines_next(l, line->next, line, err);
  return rc;
}

/* The bytes from `at` on that are here, which may be read before. */
static int next_piece(pai__lines *l, uint64_t at, const char **text,
                      size_t *len, pai_error **err)
{
  int rc = reach(l, at, err);

  *text = "";
  *len = 0;
  if (rc == PAI_OK && l->here.len != 0) {
    *text = l->here.data + (at - l->from);
    *len = l->here.len - (size_t)(at - l->from);
  }
  return rc;
}

int pai__lines_behind(pai__lines *l, uint64_t at, uint64_t *begin,
                      pai_error **err)
{
  *begin = l->size;
  while (at < l->size) {
    const char *text, *newline;
    size_t len;
    int rc = next_piece(l, at, &text, &len, err);

    if (rc < 0)
      return rc;
    newline = memchr(text, '\n', len);
    if (newline != NULL) {
      *begin = at + (uint64_t)(newline - text) + 1;
      return PAI_OK;
    }
    at += len;
  }
  return PAI_OK;
}

/* The last line in a text that begins with the word, behind its newline. */
static const char *find_last(const char *text, size_t len, const char *word)
{
  size_t n = strlen(word);

  for (size_t at = len >= n ? len - n : 0; at > 0; at--)
    if (text[at - 1] == '\n' && memcmp(text + at, word, n) == 0)
      return text + at;
  return NULL;
}

int pai__lines_last(pai__lines *l, uint64_t before, const char *word,
                    uint64_t *begin, pai_error **err)
{
  size_t n = strlen(word);

  *begin = 0;
  while (before > 1) {
    uint64_t from = before > PIECE ? before - PIECE : 0;
    const char *found;
    int rc;

    /* A line that begins before `before` may end behind it. */
    pai__buf_clear(&l->here);
    l->from = from;
    rc = add(l, (size_t)(before - from) + n - 1, err);
    if (rc < 0)
      return rc;
    found = find_last(l->here.data, l->here.len, word);
    if (found != NULL) {
      *begin = from + (uint64_t)(found - l->here.data);
      return PAI_OK;
    }
    before = from != 0 ? from + 1 : 0;
  }
  return PAI_OK;
}

int pai__lines_count(pai__lines *l, uint64_t at, uint64_t *count,
                     pai_error **err)
{
  *count = 0;
  for (uint64_t from = 0; from < at;) {
    const char *text, *end;
    size_t len;
    int rc = next_piece(l, from, &text, &len, err);

    if (rc < 0)
      return rc;
    if (len > at - from)
      len = (size_t)(at - from);
    end = text + len;
    from += len;
    while ((text = memchr(text, '\n', (size_t)(end - text))) != NULL) {
      ++*count;
      text++;
    }
  }
  return PAI_OK;
}
