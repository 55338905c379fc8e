/* fix.c - fixes that quote texts, make lists and rename */
#include "spec/fix/fix_parts.h"

#include "base/text/utf8.h"

enum { MOST_QUOTES = 20, LONGEST_NAME = 255 };

/* Returns whether a node begins and ends on one line. */
static bool is_one_line(const pai__tree *t, pai__node n)
{
  return pai__gap_eol(t, t->nodes[n].start) >= t->nodes[n].end;
}

static bool is_block_scalar(const pai__tree *t, pai__node n)
{
  int style = t->nodes[n].flags & PAI__STYLE;

  return t->nodes[n].type < PAI__SEQUENCE &&
         (style == PAI__LITERAL || style == PAI__FOLDED);
}

/* --- texts -------------------------------------------------------------- */

/* Puts single quotes around bytes [start, end), in YAML. */
static void quote_part(pai__findings *f, pai__fix *fix, size_t start,
                       size_t end, const char *before, const char *behind)
{
  const char *text = f->tree->text;
  size_t quotes = 0;

  pai__fix_change(f, fix, start, start, before, strlen(before));
  for (size_t i = start; i < end; i++)
    if (text[i] == '\'') {
      quotes++;
      pai__fix_change(f, fix, i, i, "'", 1);
    }
  pai__fix_change(f, fix, end, end, behind, strlen(behind));
  if (quotes > MOST_QUOTES)
    pai__fix_drop(f, fix);
}

bool pai__mend_is_line(const pai__tree *t, pai__node n)
{
  size_t start = t->nodes[n].start, back = pai__gap_back(t, start);

  return t->nodes[n].type == PAI__MAPPING && pai__mend_is_block(t, n) &&
         pai__tree_count(t, n) == 1 && is_one_line(t, n) && back > 0 &&
         back < start && t->text[back - 1] == '-';
}

void pai__mend_quote(pai__findings *f, pai__node n)
{
  const pai__tree *t = f->tree;
  const pai__tree_node *x = &t->nodes[n];
  bool mapping = x->type == PAI__MAPPING, sure = true;
  pai__fix *fix;

  if (x->start == x->end || !is_one_line(t, n) || is_block_scalar(t, n) ||
      x->type == PAI__ALIAS || (x->flags & PAI__HAS_PROPS) != 0 ||
      (x->type >= PAI__SEQUENCE && !pai__mend_is_line(t, n)) ||
      (mapping && strchr("\"'&!*?", t->text[x->start]) != NULL))
    return;
  if (mapping) /* `echo a: b` is a command, but `name: b` may be a mapping */
    sure = memchr(t->text + t->nodes[n + 1].start, ' ',
                  t->nodes[n + 1].end - t->nodes[n + 1].start) != NULL;
  fix = pai__fix_add(f, sure, n, "put it in quotes");
  if (mapping) {
    quote_part(f, fix, x->start, x->end, "'", "'");
    return;
  }
  pai__fix_change(f, fix, x->start, x->start, "\"", 1);
  pai__fix_change(f, fix, x->end, x->end, "\"", 1);
}

/* --- lists -------------------------------------------------------------- */

/* Makes `key: |` the item of a list below the key. */
static void list_block(pai__findings *f, pai__node n)
{
  const pai__tree *t = f->tree;
  size_t start = t->nodes[n].start, back = pai__gap_back(t, start);
  size_t line = pai__gap_line(t, start), key = pai__gap_blanks(t, line);
  pai__fix *fix;

  if (back == 0 || t->text[back - 1] != ':' || t->text[key] == '-' ||
      t->text[key] == '?' || pai__mend_column(t, key) == SIZE_MAX)
    return;
  fix = pai__fix_add(f, true, n, "write a list");
  pai__mend_change_to_line(f, fix, back, start, key - line, "- ", 2);
}

void pai__mend_list(pai__findings *f, pai__node n)
{
  const pai__tree *t = f->tree;
  const pai__tree_node *x = &t->nodes[n];
  bool quoted = strchr("\"'", t->text[x->start]) != NULL;
  pai__fix *fix;

  if (x->start == x->end || x->type != PAI__STRING ||
      (x->flags & PAI__HAS_PROPS) != 0)
    return;
  if (is_block_scalar(t, n)) {
    list_block(f, n);
    return;
  }
  if (!is_one_line(t, n))
    return;
  fix = pai__fix_add(f, true, n, "write a list");
  if (!quoted) {
    quote_part(f, fix, x->start, x->end, "['", "']");
    return;
  }
  pai__fix_change(f, fix, x->start, x->start, "[", 1);
  pai__fix_change(f, fix, x->end, x->end, "]", 1);
}

void pai__mend_item(pai__findings *f, pai__node n)
{
  const pai__tree *t = f->tree;
  const pai__tree_node *x = &t->nodes[n];
  pai__fix *fix;

  if (x->type != PAI__MAPPING || (x->flags & PAI__HAS_PROPS) != 0 ||
      !pai__mend_is_block(t, n) || !pai__gap_leads(t, x->start) ||
      pai__mend_column(t, x->start) == SIZE_MAX)
    return;
  fix = pai__fix_add(f, true, n, "begin it with a dash");
  pai__fix_change(f, fix, x->start, x->start, "- ", 2);
  for (size_t at = pai__gap_next(t, x->start); at < x->end;
       at = pai__gap_next(t, at))
    if (pai__gap_blanks(t, at) < pai__gap_eol(t, at))
      pai__fix_change(f, fix, at, at, "  ", 2);
}

/* --- names -------------------------------------------------------------- */

/* Returns whether another text of the file is the same; it may refer to this
 * one. */
static bool is_said_again(const pai__tree *t, pai__node n)
{
  size_t len, its;
  const char *s = pai__tree_str(t, n, &len), *other;

  for (pai__node i = 0; i < t->count; i++) {
    if (t->nodes[i].type != PAI__STRING || i == n)
      continue;
    other = pai__tree_str(t, i, &its);
    if (its == len && memcmp(s, other, len) == 0)
      return true;
  }
  return false;
}

static bool is_taken(const pai__tree *t, const char *name, size_t len)
{
  for (pai__node i = 0; i < t->count; i++)
    if (t->nodes[i].type == PAI__STRING && t->nodes[i].u.s.len == len &&
        memcmp(t->strings + t->nodes[i].u.s.off, name, len) == 0)
      return true;
  return false;
}

/* Replaces each character that does not fit by an underscore.  Returns the
 * length of the name, or 0 if there is none. */
static size_t fit_name(char out[LONGEST_NAME], const char *s, size_t len,
                       enum pai__spec_form form)
{
  size_t n = 0;
  bool kept = false;

  if (form != PAI__FORM_JOB && form != PAI__FORM_IDENT &&
      form != PAI__FORM_SKU && form != PAI__FORM_V1_JOB)
    return 0;
  if (form == PAI__FORM_IDENT && len > 0 && *s >= '0' && *s <= '9')
    out[n++] = '_';
  for (size_t i = 0; i < len; i++) {
    char c = s[i];

    if (!pai__utf8_first(c))
      continue;
    if (n == LONGEST_NAME)
      return 0;
    out[n] = c;
    if (pai__form_fits(form == PAI__FORM_IDENT ? PAI__FORM_JOB : form, &c,
                       1) &&
        (form != PAI__FORM_IDENT || c != '-'))
      kept |= c != '_';
    else
      out[n] = '_';
    n++;
  }
  return kept && pai__form_fits(form, out, n) ? n : 0;
}

void pai__mend_name(pai__findings *f, pai__node n, enum pai__spec_form form)
{
  const pai__tree *t = f->tree;
  char name[LONGEST_NAME];
  size_t len;
  const char *s;

  if (t->nodes[n].type != PAI__STRING || f->len > PAI__MOST_MENDED ||
      pai__secrets_hide(pai__findings_secrets(f), n))
    return;
  s = pai__tree_str(t, n, &len);
  len = fit_name(name, s, len, form);
  if (len > 0 && !is_said_again(t, n) && !is_taken(t, name, len))
    pai__fix_word(f, false, n, name, len);
}

void pai__mend_key(pai__findings *f, pai__node key, const char *name)
{
  if (f->len <= PAI__MOST_MENDED && !is_said_again(f->tree, key) &&
      !is_taken(f->tree, name, strlen(name)))
    pai__fix_word(f, false, key, name, strlen(name));
}
