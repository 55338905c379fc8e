/* jsonl_scan.c - fast parser of usual lines of JSON traces, without a tree */
#include "sim/trace/documents.h"
#include "sim/trace/jsonl.h"

typedef struct pai__scan {
  const char *p; /* position; the text ends with a NUL */
  pai_trace *t;
} pai__scan;

static inline bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static inline void skip_space(pai__scan *s)
{
  while (*s->p == ' ' || *s->p == '\t')
    s->p++;
}

/* Takes one character, with spaces before and after it. */
static inline bool take(pai__scan *s, char c)
{
  skip_space(s);
  if (*s->p != c)
    return false;
  s->p++;
  skip_space(s);
  return true;
}

/* --- values -------------------------------------------------------------- */

/* Reads a string of printable ASCII without escapes; other strings are left to
 * the tree parser. */
static bool scan_text(pai__scan *s, pai__slice *out)
{
  const char *p = s->p;

  if (*p++ != '"')
    return false;
  out->s = p;
  while (*p >= ' ' && *p <= '~' && *p != '"' && *p != '\\')
    p++;
  out->len = (size_t)(p - out->s);
  s->p = p + 1;
  return *p == '"';
}

/* Reads 1 to 18 digits without leading zeros. */
static bool scan_digits(pai__scan *s, uint64_t *out)
{
  const char *from = s->p;
  uint64_t value = 0;

  while (is_digit(*s->p))
    value = value * 10 + (uint64_t)(*s->p++ - '0');
  *out = value;
  return s->p > from && s->p - from <= 18 &&
         (*from != '0' || s->p - from == 1);
}

static bool scan_seconds(pai__scan *s, pai_time *out)
{
  static const uint32_t worth[] = { 1000000, 100000, 10000, 1000, 100, 10, 1 };
  bool negative = *s->p == '-';
  uint64_t whole, part = 0;

  s->p += negative;
  if (!scan_digits(s, &whole) || whole >= (uint64_t)PAI__MOST_TIME / 1000000)
    return false;
  if (*s->p == '.') {
    const char *from = ++s->p;

    while (is_digit(*s->p) && s->p - from < 7)
      part = part * 10 + (uint64_t)(*s->p++ - '0');
    if (s->p == from || s->p - from > 6)
      return false;
    part *= worth[s->p - from];
  }
  if (*s->p == 'e' || *s->p == 'E')
    return false;
  whole = whole * 1000000 + part;
  *out = negative ? -(pai_time)whole : (pai_time)whole;
  return true;
}

static bool scan_whole(pai__scan *s, const pai__key *key, void *to)
{
  bool negative = *s->p == '-';
  uint64_t digits;
  int64_t value;
  uint32_t narrow;

  s->p += negative;
  if (!scan_digits(s, &digits) || *s->p == '.' || *s->p == 'e' || *s->p == 'E')
    return false;
  value = negative ? -(int64_t)digits : (int64_t)digits;
  if (value < key->low || value > key->high)
    return false;
  narrow = (uint32_t)value;
  memcpy(to, &narrow, sizeof(narrow));
  return true;
}

static bool scan_bytes(pai__scan *s, uint64_t *out)
{
  return scan_digits(s, out) && *s->p != '.' && *s->p != 'e' && *s->p != 'E';
}

static bool scan_id(pai__scan *s, pai__slice *out)
{
  uint64_t digits;

  if (*s->p == '"')
    return scan_text(s, out);
  out->s = s->p;
  if (!scan_bytes(s, &digits))
    return false;
  out->len = (size_t)(s->p - out->s);
  return true;
}

/* --- objects and lists --------------------------------------------------- */

static bool scan_object(pai__scan *s, const pai__keys *keys, unsigned which,
                        void *const in[PAI__INS], uint32_t *seen);

static bool scan_want(pai__scan *s)
{
  pai__draft_want want = pai__usual_want;
  void *in[PAI__INS] = { NULL, &want, NULL };
  uint32_t seen = 0;

  if (!scan_object(s, &pai__want_keys, 1, in, &seen))
    return false;
  pai__draft_add_want(s->t, &want);
  return true;
}

static bool scan_attempt(pai__scan *s)
{
  pai_trace_attempt a = { 0, 0 };
  void *in[PAI__INS] = { NULL, NULL, &a };
  uint32_t seen = 0;

  if (!scan_object(s, &pai__attempt_keys, 2, in, &seen))
    return false;
  pai__draft_add_attempt(s->t, a.duration, a.code);
  return true;
}

static bool scan_after(pai__scan *s)
{
  pai__slice id;

  if (!scan_id(s, &id))
    return false;
  pai__draft_add_after(s->t, id);
  return true;
}

static bool scan_list(pai__scan *s, bool (*scan_one)(pai__scan *))
{
  if (!take(s, '['))
    return false;
  if (take(s, ']'))
    return true;
  do
    if (!scan_one(s))
      return false;
  while (take(s, ','));
  return take(s, ']');
}

static bool scan_state(pai__scan *s, int *out)
{
  pai__slice text;

  if (!scan_text(s, &text))
    return false;
  for (size_t i = 0; i <= PAI_NODE_SICK; i++)
    if (pai__text_is(text, pai__node_words[i])) {
      *out = (int)i;
      return true;
    }
  return false;
}

static bool scan_value(pai__scan *s, const pai__key *key, void *to)
{
  switch (key->kind) {
  case PAI__KEY_SECONDS: return scan_seconds(s, to);
  case PAI__KEY_TEXT: return scan_text(s, to);
  case PAI__KEY_ID: return scan_id(s, to);
  case PAI__KEY_WHOLE: return scan_whole(s, key, to);
  case PAI__KEY_BYTES: return scan_bytes(s, to);
  case PAI__KEY_STATE: return scan_state(s, to);
  case PAI__KEY_WANTS: return scan_list(s, scan_want);
  case PAI__KEY_ATTEMPTS: return scan_list(s, scan_attempt);
  default: return scan_list(s, scan_after);
  }
}

static inline bool key_is(const pai__key *key, const char *p)
{
  return memcmp(p, key->key, key->len) == 0 && p[key->len] == '"';
}

/* Finds the key at p, behind its quote; tries first the key that followed the
 * same key last time.  The pad of the source allows comparing whole keys. */
static uint32_t find_key(const pai__keys *keys, const char *p, uint8_t *habit)
{
  uint32_t i = *habit;

  if (i < keys->count && key_is(&keys->list[i], p))
    return i;
  for (i = 0; i < keys->count; i++)
    if (key_is(&keys->list[i], p))
      break;
  *habit = (uint8_t)i;
  return i;
}

static bool scan_object(pai__scan *s, const pai__keys *keys, unsigned which,
                        void *const in[PAI__INS], uint32_t *seen)
{
  uint8_t *habits = ((pai__habits *)s->t->state)->after[which];
  uint32_t i = keys->count;

  if (!take(s, '{'))
    return false;
  if (take(s, '}'))
    return true;
  do {
    const pai__key *key;

    if (*s->p++ != '"')
      return false;
    i = find_key(keys, s->p, &habits[i]);
    if (i == keys->count || (*seen & 1u << i) != 0)
      return false;
    key = &keys->list[i];
    *seen |= 1u << i;
    s->p += key->len + 1;
    if (!take(s, ':') ||
        !scan_value(s, key, (char *)in[key->in] + key->offset))
      return false;
  } while (take(s, ','));
  return take(s, '}');
}

bool pai__jsonl_scan(pai__jsonl_line *line, const char *text, size_t len,
                     pai_trace *t)
{
  pai__scan s = { text, t };
  void *in[PAI__INS] = { &t->draft, &line->want, &line->attempt };

  return scan_object(&s, &pai__line_keys, 0, in, &line->seen) &&
         s.p == text + len;
}
