/*
 * template.c - renders a template in one pass
 *
 * Mustache first makes a list of tokens, one for each character, and removes
 * white space from it if a line has only sections, comments and the like.
 * Here text is written at once, and such a line is undone by cutting the
 * result off where the line began: the line can only have added white space.
 */
#include "spec/template/template.h"

#include "spec/template/template_value.h"

/* Limits the length of delimiters, as the search for them is naive. */
enum { MOST_DELIMITER = 256 };

typedef struct piece {
  const char *s;
  size_t len;
} piece;

/* An open section. */
typedef struct section {
  piece name;
  const char *tag; /* where it begins */
} section;

typedef struct renderer {
  const pai__template *t;
  pai__template_fault *fault;
  pai__buf *out;
  size_t max_len;                   /* limit of out's length */
  size_t line;                      /* length of out where the line began */
  const char *text, *p, *end;       /* the template; p is the next byte */
  piece open;                       /* the opening delimiter */
  char closing[1 + MOST_DELIMITER]; /* after a }, for <%{ x }%> */
  size_t closing_len;
  section *sections; /* open sections, the innermost last */
  size_t depth, cap;
  pai__buf name;         /* name of the current tag, if it had to be changed */
  uint64_t work;         /* see template_value.h */
  bool has_tag, has_ink; /* the line has a tag; it has more than white space */
} renderer;

static int fail(renderer *r, int code, const char *at, const char *what)
{
  if (r->fault != NULL)
    *r->fault = (pai__template_fault){ (size_t)(at - r->text), what };
  return code;
}

/* --- white space -------------------------------------------------------- */

/* Returns the length of the character at s if JavaScript's \s matches it, else
 * 0. */
static size_t space_len(const char *s, size_t left)
{
  static const char wide[][4] = { "\u1680", "\u2028", "\u2029", "\u202f",
                                  "\u205f", "\u3000", "\ufeff" };

  if (left >= 1 && (*s == ' ' || (*s >= '\t' && *s <= '\r')))
    return 1;
  if (left < 2 || (unsigned char)*s < 0x80)
    return 0;
  if (memcmp(s, "\u00a0", 2) == 0)
    return 2;
  if (left < 3)
    return 0;
  if (memcmp(s, "\u2000", 2) == 0 && s[2] >= "\u2000"[2] &&
      s[2] <= "\u200a"[2])
    return 3;
  for (size_t i = 0; i < PAI__LEN(wide); i++)
    if (memcmp(s, wide[i], 3) == 0)
      return 3;
  return 0;
}

static const char *skip_space(const char *p, const char *end)
{
  for (size_t n; (n = space_len(p, (size_t)(end - p))) != 0;)
    p += n;
  return p;
}

/* Returns where the white space before `end` begins. */
static const char *back_space(const char *start, const char *end)
{
  size_t n = 1; /* bytes of its last character */

  while (n <= 3 && n <= (size_t)(end - start)) {
    if (space_len(end - n, n) == n) {
      end -= n;
      n = 0;
    }
    n++;
  }
  return end;
}

void pai__template_trim(const char **text, size_t *len)
{
  const char *end = *text + *len, *start = skip_space(*text, end);

  *len = (size_t)(back_space(start, end) - start);
  *text = start;
}

/* --- the result --------------------------------------------------------- */

/* Checks the memory and length of out after an addition, made for byte
 * `at`. */
static int check_room(renderer *r, const char *at)
{
  if (!pai__buf_ok(r->out))
    return PAI_ENOMEM;
  if (r->out->len > r->max_len)
    return fail(r, PAI_ELIMIT, at, "the text becomes too long here");
  return PAI_OK;
}

static void cut_off(pai__buf *out, size_t len)
{
  if (out->len == len)
    return;
  out->len = len;
  out->data[len] = '\0';
}

static void put(renderer *r, const char *s, const char *end)
{
  if (r->depth == 0)
    pai__buf_add(r->out, s, (size_t)(end - s));
}

/* Writes text without tags. */
static int put_text(renderer *r, const char *s, const char *end)
{
  const char *at = s, *next;

  while ((next = memchr(s, '\n', (size_t)(end - s))) != NULL) {
    next++;
    if (r->has_tag && !r->has_ink && skip_space(s, next) == next)
      cut_off(r->out, r->line);
    else
      put(r, s, next);
    r->line = r->out->len;
    r->has_tag = r->has_ink = false;
    s = next;
  }
  put(r, s, end);
  r->has_ink = r->has_ink || skip_space(s, end) != end;
  return check_room(r, at);
}

/* --- tags --------------------------------------------------------------- */

static const char *find(const char *p, const char *end, const char *word,
                        size_t len)
{
  for (; (size_t)(end - p) >= len; p++) {
    p = memchr(p, word[0], (size_t)(end - p) - len + 1);
    if (p == NULL)
      break;
    if (memcmp(p, word, len) == 0)
      return p;
  }
  return NULL;
}

/* Takes the text before a word, and moves p after the word.  White space
 * before the word belongs to neither.  Returns false if there is no such
 * word. */
static bool take_until(renderer *r, const char *word, size_t len,
                       piece *before)
{
  const char *at = find(r->p, r->end, word, len);

  if (at == NULL)
    return false;
  before->s = r->p;
  before->len = (size_t)(back_space(r->p, at) - r->p);
  r->p = at + len;
  return true;
}

/* Takes the content of a tag, and moves p after the tag.  Returns false if the
 * tag is not closed. */
static bool take_value(renderer *r, char kind, piece *value)
{
  const char *closing = r->closing + 1;
  piece more;

  if (kind == '{')
    return take_until(r, r->closing, 1 + r->closing_len, value);
  if (kind != '=')
    return take_until(r, closing, r->closing_len, value);
  return take_until(r, "=", 1, value) &&
         take_until(r, closing, r->closing_len, &more);
}

/* Removes the first word of a text, and returns it. */
static piece take_word(piece *s)
{
  const char *end = s->s + s->len, *p = s->s;
  piece word = { p, 0 };

  while (p < end && space_len(p, (size_t)(end - p)) == 0)
    p++;
  word.len = (size_t)(p - word.s);
  s->s = skip_space(p, end);
  s->len = (size_t)(end - s->s);
  return word;
}

/* Sets the delimiters to the first two words; other words are ignored. */
static int set_delimiters(renderer *r, piece words, const char *tag)
{
  piece open = take_word(&words), close = take_word(&words);

  if (open.len == 0 || close.len == 0)
    return fail(r, PAI_EINVAL, tag, "the tag must name two delimiters");
  if (open.len > MOST_DELIMITER || close.len > MOST_DELIMITER)
    return fail(r, PAI_ELIMIT, tag, "the delimiter is too long");
  r->open = open;
  memcpy(r->closing + 1, close.s, close.len);
  r->closing_len = close.len;
  return PAI_OK;
}

static int open_section(renderer *r, piece name, const char *tag)
{
  if (PAI__VEC_ROOM(r->out->alloc, r->sections, r->depth, r->cap) < 0)
    return PAI_ENOMEM;
  r->sections[r->depth++] = (section){ name, tag };
  return PAI_OK;
}

static int close_section(renderer *r, piece name, const char *tag)
{
  const section *s;

  if (r->depth == 0)
    return fail(r, PAI_EINVAL, tag, "no section is open here");
  s = &r->sections[--r->depth];
  if (s->name.len != name.len || memcmp(s->name.s, name.s, name.len) != 0)
    return fail(r, PAI_EINVAL, tag, "another section is open here");
  return PAI_OK;
}

/* Changes each [digits] in a name to .digits. */
static int plain_name(renderer *r, piece *name)
{
  const char *p = name->s, *end = p + name->len, *done = p;

  if (memchr(p, '[', name->len) == NULL)
    return PAI_OK;
  pai__buf_clear(&r->name);
  while (p < end) {
    const char *digits = ++p, *q = p;

    if (digits[-1] != '[')
      continue;
    while (q < end && *q >= '0' && *q <= '9')
      q++;
    if (q == digits || q == end || *q != ']')
      continue;
    pai__buf_add(&r->name, done, (size_t)(digits - 1 - done));
    pai__buf_char(&r->name, '.');
    pai__buf_add(&r->name, digits, (size_t)(q - digits));
    p = done = q + 1;
  }
  pai__buf_add(&r->name, done, (size_t)(end - done));
  *name = (piece){ pai__buf_text(&r->name), r->name.len };
  return pai__buf_ok(&r->name) ? PAI_OK : PAI_ENOMEM;
}

static int put_value(renderer *r, piece name, const char *tag)
{
  const pai__template *t = r->t;
  size_t at = (size_t)(tag - r->text);
  pai__template_value v;
  int rc;

  if (r->depth != 0)
    return PAI_OK;
  if (plain_name(r, &name) < 0)
    return PAI_ENOMEM;
  if (!pai__template_find(&v, t, name.s, name.len, &r->work))
    return fail(r, PAI_ELIMIT, tag, "indices are too expensive here");
  if (v.kind != PAI__TEMPLATE_NOTHING) {
    pai__template_put(r->out, &v, r->max_len);
    return check_room(r, tag);
  }
  pai__buf_str(r->out, "<% ");
  pai__buf_add(r->out, name.s, name.len);
  pai__buf_str(r->out, " %>");
  rc = check_room(r, tag);
  if (rc == PAI_OK && t->unresolved != NULL)
    rc = t->unresolved(t->user_data, name.s, name.len, at);
  return rc;
}

static int act(renderer *r, char kind, piece value, const char *tag)
{
  switch (kind) {
  case '#':
  case '^': return open_section(r, value, tag);
  case '/': return close_section(r, value, tag);
  case '=': return set_delimiters(r, value, tag);
  case '!':
  case '>': return PAI_OK;
  case '&':
  case '{': r->has_ink = true; return PAI_OK;
  default: r->has_ink = true; return put_value(r, value, tag);
  }
}

/* Handles the tag at p. */
static int take_tag(renderer *r)
{
  const char *tag = r->p;
  char kind = '\0';
  piece value;

  r->has_tag = true;
  r->p = skip_space(tag + r->open.len, r->end);
  if (r->p < r->end && memchr("#^/>{&=!", *r->p, 8) != NULL)
    kind = *r->p++;
  r->p = skip_space(r->p, r->end);
  if (!take_value(r, kind, &value))
    return fail(r, PAI_EINVAL, tag, "the tag is never closed");
  return act(r, kind, value, tag);
}

static int render(renderer *r)
{
  int rc = PAI_OK;

  while (r->p < r->end && rc == PAI_OK) {
    const char *text = r->p;
    const char *tag = find(text, r->end, r->open.s, r->open.len);

    r->p = tag != NULL ? tag : r->end;
    if (r->p != text)
      rc = put_text(r, text, r->p);
    if (rc == PAI_OK && tag != NULL)
      rc = take_tag(r);
  }
  if (rc == PAI_OK && r->depth != 0)
    rc = fail(r, PAI_EINVAL, r->sections[r->depth - 1].tag,
              "the section is never closed");
  return rc;
}

int pai__template_render(pai__buf *out, const char *text, size_t len,
                         const pai__template *t, pai__template_fault *fault)
{
  const char *from = text != NULL ? text : "";
  size_t before = out->len;
  size_t most = t->max_bytes != 0 ? t->max_bytes : PAI__TEMPLATE_MAX_BYTES;
  renderer r = {
    .t = t,
    .fault = fault,
    .out = out,
    .max_len = most < SIZE_MAX - before ? before + most : SIZE_MAX,
    .line = before,
    .text = from,
    .p = from,
    .end = from + len,
    .open = { "<%", 2 },
    .closing = "}%>",
    .closing_len = 2,
  };
  int rc;

  pai__buf_init(&r.name, out->alloc);
  (void)pai__buf_reserve(out, len < r.max_len ? len : 0); /* an estimate */
  rc = render(&r);
  if (rc != PAI_OK)
    cut_off(out, before);
  pai__buf_dispose(&r.name);
  pai__free(out->alloc, r.sections, r.cap * sizeof(*r.sections));
  return rc;
}
