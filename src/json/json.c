/* json.c - JSON parser: one pass, no recursion, no allocation per value */
#include "json/reader.h"
#include "base/text/number.h"
#include "base/text/utf8.h"

enum { DEFAULT_DEPTH = 64, DEFAULT_BYTES = 64 << 20 };

/* --- errors ------------------------------------------------------------- */

static bool is_comment(const char *p)
{
  return p[0] == '/' && (p[1] == '/' || p[1] == '*');
}

/* Fails with "WANTED, not WHAT_IS_THERE". */
static int fail_at(pai__json_reader *r, const char *wanted)
{
  pai__pos at = pai__json_place(r, r->p);
  unsigned char c = (unsigned char)*r->p;
  size_t n;

  if (r->p == r->end)
    return pai__fail_at(r->err, PAI_EINVAL, at, "%s, not the end of the text",
                        wanted);
  n = pai__utf8_len(r->p, (size_t)(r->end - r->p));
  if (n == 0)
    return pai__fail_at(r->err, PAI_EINVAL, at, "byte 0x%02x is not UTF-8", c);
  if (c < ' ' || c == 0x7f)
    return pai__fail_at(r->err, PAI_EINVAL, at,
                        "%s, not the control character U+%04X", wanted, c);
  return pai__fail_at(r->err, PAI_EINVAL, at, "%s, not '%.*s'", wanted, (int)n,
                      r->p);
}

/* Likewise, with help if a comment is the reason. */
static int fail_wanted(pai__json_reader *r, const char *wanted)
{
  int rc = fail_at(r, wanted);

  if (is_comment(r->p))
    pai__error_help(r->err, "remove the comment");
  return rc;
}

static int fail_value(pai__json_reader *r)
{
  int rc = fail_wanted(r, "expected a value");

  if (*r->p == ']' || *r->p == '}' || *r->p == ',')
    pai__error_help(r->err, "remove the comma before it, or add a value");
  else if (*r->p == '\'')
    pai__error_help(r->err, "strings stand in double quotes");
  return rc;
}

static int fail_key(pai__json_reader *r)
{
  int rc = fail_wanted(r, "expected a key in double quotes");

  if (*r->p == '}')
    pai__error_help(r->err, "remove the comma before it");
  return rc;
}

static int fail_after(pai__json_reader *r)
{
  if (r->t->nodes[r->open].type == PAI__MAPPING)
    return fail_wanted(r, "expected ',' or '}' after the value");
  return fail_wanted(r, "expected ',' or ']' after the value");
}

/* --- space and comments ------------------------------------------------- */

static inline void skip_space(pai__json_reader *r)
{
  const char *p = r->p;

  while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t') {
    p++;
    while (pai__load8(p) == PAI__EVERY_BYTE(' ')) /* indentation */
      p += 8;
  }
  r->p = p;
}

/* NULs are refused because searches for the end of a comment stop at them. */
static int fail_nul(pai__json_reader *r)
{
  return pai__fail_at(r->err, PAI_EINVAL, pai__json_place(r, r->p),
                      "a NUL byte is in a comment");
}

/* Skips one comment.  *found says whether there was one. */
static int skip_comment(pai__json_reader *r, bool *found)
{
  const char *start = r->p;

  *found = is_comment(start);
  if (!*found)
    return PAI_OK;
  r->p += 2;
  if (start[1] == '/') {
    while (r->p < r->end && *r->p != '\n' && *r->p != '\r' && *r->p != '\0')
      r->p++;
    return r->p < r->end && *r->p == '\0' ? fail_nul(r) : PAI_OK;
  }
  for (; r->p < r->end && *r->p != '\0'; r->p++) {
    if (r->p[0] == '*' && r->p[1] == '/') {
      r->p += 2;
      return PAI_OK;
    }
  }
  if (r->p < r->end)
    return fail_nul(r);
  return pai__fail_at(r->err, PAI_EINVAL, pai__json_place(r, start),
                      "the comment has no end");
}

/* Skips space, and comments where flags allow them. */
static int skip_between(pai__json_reader *r)
{
  bool found = true;
  int rc = PAI_OK;

  skip_space(r);
  if (*r->p != '/' || (r->flags & PAI__JSON_COMMENTS) == 0)
    return PAI_OK;
  while (rc == PAI_OK && found) {
    rc = skip_comment(r, &found);
    skip_space(r);
  }
  return rc;
}

/* --- other values ------------------------------------------------------- */

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* Skips digits.  Returns false if there is none. */
static bool skip_digits(const char **p)
{
  const char *start = *p;

  while (is_digit(**p))
    ++*p;
  return *p > start;
}

/* Skips a fraction and an exponent.  Returns false if one is incomplete. */
static bool skip_fraction(const char **p)
{
  if (**p == '.') {
    ++*p;
    if (!skip_digits(p))
      return false;
  }
  if ((**p | 0x20) == 'e') {
    ++*p;
    if (**p == '+' || **p == '-')
      ++*p;
    return skip_digits(p);
  }
  return true;
}

/* Skips a number.  An error leaves r->p at the wrong byte. */
static int skip_number(pai__json_reader *r, const char *digits, bool *whole)
{
  const char *p = digits;

  if (*p == '0' && is_digit(p[1])) {
    r->p = p + 1;
    return fail_wanted(r, "no digit may follow a leading 0");
  }
  *whole = skip_digits(&p) && *p != '.' && (*p | 0x20) != 'e';
  if (!*whole && (p == digits || !skip_fraction(&p))) {
    r->p = p;
    return fail_wanted(r, "expected a digit");
  }
  r->p = p;
  return PAI_OK;
}

/* Reads digits as a 64-bit number.  Returns false if it exceeds `limit`. */
static bool small_whole(const char *p, const char *end, uint64_t limit,
                        uint64_t *m)
{
  *m = 0;
  for (; p < end; p++) {
    if (*m > (UINT64_MAX - 9) / 10)
      return false;
    *m = *m * 10 + (uint64_t)(*p - '0');
  }
  return *m <= limit;
}

static int read_number(pai__json_reader *r)
{
  const char *start = r->p, *digits = start + (*start == '-');
  bool minus = digits > start, whole = false;
  pai__tree_node *n;
  uint64_t m = 0;
  double v;
  int rc = skip_number(r, digits, &whole);

  if (rc < 0)
    return rc;
  whole = whole && small_whole(digits, r->p, (uint64_t)INT64_MAX + minus, &m);
  n = pai__tree_push(r->t, whole ? PAI__INT : PAI__FLOAT,
                     pai__json_offset(r, start), pai__json_offset(r, r->p));
  if (n == NULL)
    return pai__oom(r->err);
  if (whole) {
    n->u.i = minus ? (int64_t)(0 - m) : (int64_t)m;
    return PAI_OK;
  }
  if (pai__parse_double(&v, digits, (size_t)(r->p - digits)) < 0)
    return pai__oom(r->err);
  n->u.f = minus ? -v : v;
  return PAI_OK;
}

static int read_word(pai__json_reader *r)
{
  static const struct {
    const char *word;
    uint8_t len, type;
    bool value;
  } words[] = { { "true", 4, PAI__BOOL, true },
                { "false", 5, PAI__BOOL, false },
                { "null", 4, PAI__NULL, false } };
  pai__tree_node *n;

  for (size_t i = 0; i < PAI__LEN(words); i++) {
    if (memcmp(r->p, words[i].word, words[i].len) != 0)
      continue;
    n = pai__tree_push(r->t, words[i].type, pai__json_offset(r, r->p),
                       pai__json_offset(r, r->p) + words[i].len);
    if (n == NULL)
      return pai__oom(r->err);
    n->u.b = words[i].value;
    r->p += words[i].len;
    return PAI_OK;
  }
  return fail_value(r);
}

/* --- collections -------------------------------------------------------- */

static int open_collection(pai__json_reader *r, uint8_t type)
{
  pai__tree_node *n;

  if (r->depth == r->max_depth)
    return pai__fail_at(r->err, PAI_ELIMIT, pai__json_place(r, r->p),
                        "values are nested more than %u deep",
                        (unsigned)r->max_depth);
  n = pai__tree_push(r->t, type, pai__json_offset(r, r->p), 0);
  if (n == NULL)
    return pai__oom(r->err);
  n->flags = PAI__FLOW;
  n->skip = r->open;
  n->u.c.count = 0;
  n->u.c.side = 0;
  r->open = (pai__node)r->t->count - 1;
  r->depth++;
  r->p++;
  return PAI_OK;
}

static int close_collection(pai__json_reader *r)
{
  pai__node n = r->open;
  int how = (r->flags & PAI__JSON_DUPLICATES) != 0 ? PAI__LAST_DUPLICATE
                                                   : PAI__REFUSE_DUPLICATES;

  r->open = r->t->nodes[n].skip;
  r->depth--;
  r->p++;
  return pai__tree_close(r->t, n, pai__json_offset(r, r->p), how, r->err);
}

/* Reads a key and its colon. */
static int read_key(pai__json_reader *r)
{
  int rc;

  if (*r->p != '"')
    return fail_key(r);
  rc = pai__json_read_string(r, PAI__DOUBLE | PAI__IS_KEY);
  if (rc < 0)
    return rc;
  if (*r->p != ':' && (rc = skip_between(r)) < 0)
    return rc;
  if (*r->p != ':')
    return fail_wanted(r, "expected ':' after the key");
  r->p++;
  r->t->nodes[r->open].u.c.count++;
  return skip_between(r);
}

static int read_scalar(pai__json_reader *r)
{
  if (*r->p == '"')
    return pai__json_read_string(r, PAI__DOUBLE);
  if (*r->p == '-' || is_digit(*r->p))
    return read_number(r);
  return read_word(r);
}

/* Starts a value: reads a scalar, or a collection up to its first value.
 * *more says that this value is still to come. */
static int start_value(pai__json_reader *r, bool *more)
{
  bool mapping = *r->p == '{';
  int rc;

  if (r->open != PAI__NO_NODE)
    r->t->nodes[r->open].u.c.count++;
  *more = mapping || *r->p == '[';
  if (!*more)
    return read_scalar(r);
  rc = open_collection(r, mapping ? PAI__MAPPING : PAI__SEQUENCE);
  if (rc == PAI_OK)
    rc = skip_between(r);
  if (rc < 0)
    return rc;
  if (*r->p == (mapping ? '}' : ']')) {
    *more = false;
    return close_collection(r);
  }
  return mapping ? read_key(r) : PAI_OK;
}

/* Returns whether the collection may end here, after a comma. */
static bool ends_early(const pai__json_reader *r, bool mapping)
{
  return (r->flags & PAI__JSON_COMMAS) != 0 && *r->p == (mapping ? '}' : ']');
}

/* Closes the collections that end after a value.  *more says that another
 * value follows in the innermost open one. */
static int end_value(pai__json_reader *r, bool *more)
{
  int rc = skip_between(r);

  *more = false;
  while (rc == PAI_OK && r->open != PAI__NO_NODE) {
    bool mapping = r->t->nodes[r->open].type == PAI__MAPPING;

    if (*r->p == ',') {
      r->p++;
      rc = skip_between(r);
      *more = rc == PAI_OK && !ends_early(r, mapping);
      if (*more)
        return mapping ? read_key(r) : PAI_OK;
      if (rc < 0)
        return rc;
    }
    if (*r->p != (mapping ? '}' : ']'))
      return fail_after(r);
    rc = close_collection(r);
    if (rc == PAI_OK)
      rc = skip_between(r);
  }
  return rc;
}

static int read_document(pai__json_reader *r)
{
  bool more = true;
  int rc;

  rc = skip_between(r);
  while (rc == PAI_OK && more) {
    rc = start_value(r, &more);
    if (rc == PAI_OK && !more)
      rc = end_value(r, &more);
  }
  if (rc == PAI_OK && r->p != r->end)
    rc = fail_wanted(r, "expected nothing more after the value");
  return rc;
}

int pai__json_parse(pai__tree **out, const char *text, size_t len,
                    const pai__json_options *opts, pai_error **err)
{
  static const pai__json_options defaults = { 0 };
  const pai__json_options *o = opts != NULL ? opts : &defaults;
  size_t max = o->max_bytes != 0 ? o->max_bytes : DEFAULT_BYTES;
  pai__json_reader r = { .open = PAI__NO_NODE, .flags = o->flags, .err = err };
  pai__tree *t;
  int rc;

  PAI__CLEAR_OUT(out, err);
  if (max > PAI__TREE_MAX_TEXT)
    max = PAI__TREE_MAX_TEXT;
  if (len > max)
    return pai__fail(err, PAI_ELIMIT, "the text has more than %zu bytes", max);
  rc = pai__tree_new(&t, pai__alloc_or_libc(o->alloc), text, len, err);
  if (rc < 0)
    return rc;
  if (pai__tree_reserve(t, len + PAI__TREE_PAD) < 0) {
    rc = pai__oom(err);
    goto fail;
  }
  t->syntax = PAI__SYNTAX_JSON;
  t->how = (uint8_t)o->flags;
  r.t = t;
  r.p = t->text + (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
  r.end = t->text + len;
  r.to = t->strings;
  r.max_depth = o->max_depth != 0 ? o->max_depth : DEFAULT_DEPTH;
  rc = read_document(&r);
  if (rc < 0)
    goto fail;
  t->strings_len = (size_t)(r.to - t->strings);
  pai__tree_trim(t);
  *out = t;
  return PAI_OK;

fail:
  pai__tree_free(t);
  return rc;
}
