/*
 * syntax.c - a text that is no document at all: why, and what may be shown
 *
 * libyaml tells where it was lost, which may be far behind the cause.  A
 * suspect is proved guilty by a text without it, which can be read further.
 */
#include "spec/syntax.h"

#include "base/findings.h"
#include "base/utf8.h"
#include "spec/rules.h"

/* A line of the text, without its end. */
typedef struct line {
  const char *start, *end, *next;
  uint32_t number; /* from 1 */
} line;

static line line_at(const char *p, const char *end, uint32_t number)
{
  line l = { p, p, p, number };

  while (l.end < end && *l.end != '\n' && *l.end != '\r')
    l.end++;
  l.next = l.end;
  if (l.next < end)
    l.next += *l.next == '\r' && l.next + 1 < end && l.next[1] == '\n' ? 2 : 1;
  return l;
}

static const char *skip_blank(const line *l)
{
  const char *p = l->start;

  while (p < l->end && (*p == ' ' || *p == '\t'))
    p++;
  return p;
}

/* --- suspects -------------------------------------------------------------- */

typedef struct suspect {
  const char *text, *end;
  const pai_spec_options *o;
  pai__reread reread;
  uint32_t line; /* where the reader was lost */
  bool failed;   /* memory */
  pai__buf changed;
} suspect;

/* Whether the changed text is read further than the line. */
static bool is_read_further(suspect *s)
{
  pai_error *err = NULL;
  pai__tree *tree = NULL;
  bool further;
  int rc;

  if (!pai__buf_ok(&s->changed)) {
    s->failed = true;
    return false;
  }
  rc =
    s->reread(&tree, pai__buf_text(&s->changed), s->changed.len, s->o, &err);
  further =
    rc == PAI_OK || (rc == PAI_EINVAL && pai_error_line(err) > s->line);
  s->failed |= rc == PAI_ENOMEM;
  pai__tree_free(tree);
  pai_error_free(err);
  return further;
}

/* Columns are of characters: what stands before is blank. */
static pai__pos place(const line *l, const char *p)
{
  uint32_t column = 1;

  for (const char *c = l->start; c < p; c++)
    column += (*c & 0xc0) != 0x80;
  return (pai__pos){ l->number, column };
}

/* Is a line indented with tabs, and more than a comment? */
static const char *indenting_tab(const line *l)
{
  const char *p = skip_blank(l),
             *tab = memchr(l->start, '\t', (size_t)(p - l->start));

  return p < l->end && *p != '#' ? tab : NULL;
}

static size_t indent_of(const line *l)
{
  return (size_t)(skip_blank(l) - l->start);
}

/* The text with other indentation where tabs indent: `wide` spaces for each in
 * all lines, or for all of one line what stands before another. */
static void replace_tabs(suspect *s, size_t wide, const line *one,
                         const line *like)
{
  pai__buf_cut(&s->changed, 0);
  for (line l = line_at(s->text, s->end, 1); l.start < s->end;
       l = line_at(l.next, s->end, l.number + 1)) {
    const char *p = skip_blank(&l);
    size_t spaces = 0;

    if (indenting_tab(&l) == NULL || (one != NULL && one->number != l.number))
      p = l.start;
    else if (one != NULL)
      spaces = indent_of(like);
    else
      for (const char *c = l.start; c < p; c++)
        spaces += *c == '\t' ? wide : 1;
    while (spaces-- > 0)
      pai__buf_char(&s->changed, ' ');
    pai__buf_add(&s->changed, p, (size_t)(l.next - p));
  }
}

static bool is_tab(suspect *s, pai__pos *at)
{
  line before = { s->text, s->text, s->text, 0 }, previous = before;
  line first = before, last = before, after;

  for (line l = line_at(s->text, s->end, 1);
       l.start < s->end && l.number <= s->line;
       l = line_at(l.next, s->end, l.number + 1)) {
    if (indenting_tab(&l) != NULL) {
      before = previous;
      last = l;
      if (first.number == 0)
        first = l;
    }
    previous = l;
  }
  if (last.number == 0)
    return false;
  *at = place(&last, indenting_tab(&last));
  after = line_at(last.next, s->end, last.number + 1);
  replace_tabs(s, 0, &last, &after);
  if (is_read_further(s))
    return true;
  replace_tabs(s, 0, &last, &before);
  if (is_read_further(s))
    return true;
  *at = place(&first, indenting_tab(&first));
  for (size_t wide = 2; wide <= 8; wide *= 2) {
    replace_tabs(s, wide, NULL, NULL);
    if (is_read_further(s))
      return true;
  }
  return false;
}

#define NO_BREAK "\xc2\xa0"

static bool is_no_break_space(suspect *s, pai__pos *at)
{
  const char *first = NULL;

  pai__buf_cut(&s->changed, 0);
  for (line l = line_at(s->text, s->end, 1);
       l.start < s->end && l.number <= s->line;
       l = line_at(l.next, s->end, l.number + 1))
    for (const char *p = l.start; first == NULL && p + 1 < l.end; p++)
      if (memcmp(p, NO_BREAK, 2) == 0) {
        first = p;
        *at = place(&l, p);
      }
  if (first == NULL)
    return false;
  for (const char *p = s->text; p < s->end; p++)
    if (p + 1 < s->end && memcmp(p, NO_BREAK, 2) == 0) {
      pai__buf_char(&s->changed, ' ');
      p++;
    } else {
      pai__buf_char(&s->changed, *p);
    }
  return is_read_further(s);
}

/* The quote that begins a value and does not end on its line, or NULL. */
static const char *open_quote(const line *l)
{
  char quote = '\0';
  const char *start = NULL;

  for (const char *p = l->start; p < l->end; p++) {
    if (quote == '"' && *p == '\\')
      p++;
    else if (quote != '\0' && *p == quote)
      quote = '\0';
    else if (quote == '\0' && (*p == '"' || *p == '\'') &&
             (p == l->start || strchr(" \t[{,", p[-1]) != NULL)) {
      quote = *p;
      start = p;
    } else if (quote == '\0' && *p == '#' && p > l->start && p[-1] == ' ') {
      break;
    }
  }
  return quote != '\0' ? start : NULL;
}

static bool is_open_quote(suspect *s, pai__pos *at)
{
  unsigned tries = 3;

  for (line l = line_at(s->text, s->end, 1);
       l.start < s->end && l.number <= s->line && tries > 0;
       l = line_at(l.next, s->end, l.number + 1)) {
    const char *quote = open_quote(&l);

    if (quote == NULL)
      continue;
    tries--;
    pai__buf_cut(&s->changed, 0);
    pai__buf_add(&s->changed, s->text, (size_t)(l.end - s->text));
    pai__buf_char(&s->changed, *quote);
    pai__buf_add(&s->changed, l.end, (size_t)(s->end - l.end));
    *at = place(&l, quote);
    if (is_read_further(s))
      return true;
  }
  return false;
}

static const struct {
  bool (*is_it)(suspect *s, pai__pos *at);
  const char *what, *help, *title;
  bool sure;
} suspects[] = {
  { is_tab, "a tab indents this line", "indent with spaces only",
    "indent with spaces", true },
  { is_no_break_space, "a no-break space (U+00A0) is no space to YAML",
    "put a space in its place", "put a space in its place", true },
  { is_open_quote, "this quote has no end", "put one where the text ends",
    "put a quote at the end of the line", false },
};

int pai__syntax_cause(pai_error **err, pai__mended *mended, const char *text,
                      size_t len, const pai_spec_options *o,
                      pai__reread reread)
{
  suspect s = { .text = text, .end = text + len, .o = o, .reread = reread };
  pai__pos at = { 0, 0 };
  size_t i = 0;

  if (err == NULL || pai_error_line(*err) == 0)
    return PAI_EINVAL;
  s.line = pai_error_line(*err);
  pai__buf_init(&s.changed, o->alloc);
  while (i < PAI__LEN(suspects) && !s.failed && !suspects[i].is_it(&s, &at))
    i++;
  if (mended != NULL && i < PAI__LEN(suspects) && !s.failed)
    *mended = (pai__mended){ suspects[i].title, suspects[i].sure, s.changed };
  else
    pai__buf_dispose(&s.changed);
  if (i == PAI__LEN(suspects) && !s.failed)
    return PAI_EINVAL;
  pai_error_free(*err);
  *err = NULL;
  if (s.failed)
    return PAI_ENOMEM;
  (void)pai__fail_at(err, PAI_EINVAL, at, "%s", suspects[i].what);
  pai__error_help(err, "%s", suspects[i].help);
  return PAI_EINVAL;
}

bool pai__syntax_is_tabbed(const char *text, size_t len, size_t at)
{
  line l;

  if (at >= len)
    return false;
  while (at > 0 && text[at - 1] != '\n' && text[at - 1] != '\r')
    at--;
  l = line_at(text + at, text + len, 1);
  if (indenting_tab(&l) == NULL)
    return false;
  /* Within brackets, as in JSON, nothing is indented. */
  while (at > 0 && strchr(" \t\r\n", text[at - 1]) != NULL)
    at--;
  return at == 0 || strchr(",{[", text[at - 1]) == NULL;
}

/* --- what may be shown ------------------------------------------------------ */

/* Case does not count; `part` is in lower case. */
static bool contains(const char *s, size_t len, const char *part)
{
  size_t n = strlen(part), same;

  for (; len >= n; s++, len--) {
    for (same = 0; same < n; same++)
      if (s[same] != part[same] && (s[same] | 0x20) != part[same])
        break;
    if (same == n)
      return true;
  }
  return false;
}

/* Whether a key may be that of a secret, misspelt as it may be. */
static bool is_suspect_key(const char *s, size_t len)
{
  static const char *const names[] = { "secrets", "password", "auth",
                                       "token" };
  static const char *const parts[] = { "secret", "passw", "auth",
                                       "token",  "cred",  "username" };
  pai__word word = pai__word_of(s, len), name;

  for (size_t i = 0; i < PAI__LEN(names); i++) {
    name = pai__word_of(names[i], strlen(names[i]));
    if (pai__word_like(&word, &name))
      return true;
  }
  for (size_t i = 0; i < PAI__LEN(parts); i++)
    if (contains(s, len, parts[i]))
      return true;
  return false;
}

static bool is_word(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '\\';
}

/* Whether a key in a line may be that of a secret: a word with a colon behind
 * it, or any after a question mark. */
static bool has_suspect_key(const line *l)
{
  const char *p = skip_blank(l), *end;
  bool all = p < l->end && *p == '?';

  for (; p < l->end; p = end) {
    const char *colon;

    end = p + 1;
    if (!is_word(*p))
      continue;
    while (end < l->end && is_word(*end))
      end++;
    colon = end;
    while (colon < l->end && strchr("\"' \t", *colon) != NULL)
      colon++;
    if ((all || (colon < l->end && *colon == ':')) &&
        (memchr(p, '\\', (size_t)(end - p)) != NULL ||
         is_suspect_key(p, (size_t)(end - p))))
      return true;
  }
  return false;
}

/* Whether a line begins a part of the file that holds no secrets. */
static bool begins_part(const line *l)
{
  const pai__field *f = pai__rules_v2.fields;

  for (; f->name != NULL; f++) {
    size_t n = strlen(f->name);
    if ((size_t)(l->end - l->start) > n && l->start[n] == ':' &&
        memcmp(l->start, f->name, n) == 0)
      return strcmp(f->name, "secrets") != 0;
  }
  return false;
}

static bool is_text(const line *l)
{
  size_t n = 1;

  for (const char *p = l->start; p < l->end && n > 0; p += n)
    n = *p != '\0' ? pai__utf8_len(p, (size_t)(l->end - p)) : 0;
  return n > 0;
}

bool pai__syntax_may_show(const char *text, size_t len, uint32_t number)
{
  const char *end = text + len;
  bool braces = true, show = true;

  for (line l = line_at(text, end, 1); l.start < end && l.number <= number;
       l = line_at(l.next, end, l.number + 1)) {
    if (l.number == 1)
      braces =
        skip_blank(&l) < l.end && strchr("{[/", *skip_blank(&l)) != NULL;
    if (!braces && begins_part(&l))
      show = true;
    else if (!braces && l.start < l.end && strchr(" \t#-}]", *l.start) == NULL)
      show = false; /* a part that nobody knows */
    if (has_suspect_key(&l))
      show = false;
    if (l.number == number)
      return show && is_text(&l);
  }
  return false;
}
