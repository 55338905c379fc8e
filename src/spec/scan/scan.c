/* scan.c - finds the place of a byte in YAML by indentation */
#include "spec/scan/scan_parts.h"

static bool is_end(char c) /* of a line */
{
  return c == '\n' || c == '\r' || c == '\0';
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

bool pai__scan_is_comment(const pai__scanner *s, size_t at)
{
  const char *p = s->text + at;

  if (s->t->syntax == PAI__SYNTAX_JSON)
    return *p == '/' && (p[1] == '/' || p[1] == '*');
  return *p == '#' && (at == 0 || is_blank(p[-1]) || is_end(p[-1]));
}

size_t pai__scan_quoted(const pai__scanner *s, size_t at)
{
  size_t end = at + 1;

  for (; end < s->len; end++)
    if (s->text[at] == '"' && s->text[end] == '\\')
      end++;
    else if (s->text[at] == '\'' && s->text[end] == '\'' &&
             s->text[end + 1] == '\'')
      end++;
    else if (s->text[end] == s->text[at])
      return end + 1;
  return pai__gap_eol(s->t, at); /* it has no end */
}

/* --- what is open ------------------------------------------------------- */

void pai__scan_push(pai__scanner *s, bool list, bool flow, size_t indent)
{
  pai__scan_frame *top = pai__scan_top(s);

  if (top != NULL)
    top->state = PAI__HAVE_VALUE;
  if (s->depth == PAI__SCAN_DEEPEST ||
      PAI__VEC_ROOM(&s->t->alloc, s->frames, s->depth, s->cap) < 0 ||
      s->frames == NULL) {
    s->failed |= s->depth < PAI__SCAN_DEEPEST;
    s->depth = 0;
    pai__scan_in_space(s, false, 0);
    return;
  }
  s->frames[s->depth++] =
    (pai__scan_frame){ .list = list,
                       .flow = flow,
                       .state = list ? PAI__WANT_VALUE : PAI__WANT_KEY,
                       .indent = indent };
}

/* Closes collections that are indented further. */
static void pop_to(pai__scanner *s, size_t column)
{
  while (s->depth > 0 && pai__scan_top(s)->indent > column)
    s->depth--;
}

/* Closes collections that are indented further.  Returns whether the innermost
 * one is then a list with its dashes in the column of its key. */
static bool pop_to_dashes(pai__scanner *s, size_t column)
{
  pop_to(s, column);
  return s->depth > 1 && pai__scan_top(s)->list &&
         pai__scan_top(s)->indent == column && !s->frames[s->depth - 2].list &&
         s->frames[s->depth - 2].indent == column;
}

/* Closes collections that are indented further, and such a list too. */
static void pop_to_keys(pai__scanner *s, size_t column)
{
  if (pop_to_dashes(s, column))
    s->depth--;
}

/* --- lines -------------------------------------------------------------- */

/* Checks the next line with more than a comment.  Returns 1 if it continues a
 * list with dashes at that column, 0 if it does not, -1 if there is no such
 * line. */
static int find_dash(const pai__scanner *s, size_t column)
{
  size_t line = pai__gap_line(s->t, s->goal), at;

  for (; line < s->len; line = pai__gap_next(s->t, line)) {
    at = pai__gap_blanks(s->t, line);
    if (!is_end(s->text[at]) && !pai__scan_is_comment(s, at))
      return at - line == column && s->text[at] == '-' &&
             (is_blank(s->text[at + 1]) || is_end(s->text[at + 1]));
  }
  return -1;
}

/* Ends the scan in blank space, at a column of its line.  If both an item and
 * a key are possible, only an item may be between items, both at the end of
 * the text, and else only a key. */
static void in_column(pai__scanner *s, size_t column)
{
  const pai__scan_frame *f;
  int dash = pop_to_dashes(s, column) ? find_dash(s, column) : 1;

  s->depth -= dash < 1;
  f = pai__scan_top(s);
  if (f == NULL)
    pai__scan_in_space(s, false, PAI_MAY_KEY | PAI_MAY_ITEM | PAI_MAY_VALUE);
  else if (f->indent == column)
    pai__scan_in_space(s, false,
                       f->list    ? PAI_MAY_ITEM
                       : dash < 0 ? PAI_MAY_KEY | PAI_MAY_ITEM
                                  : PAI_MAY_KEY);
  else if (f->state == PAI__WANT_VALUE)
    pai__scan_in_space(s, true, PAI_MAY_KEY | PAI_MAY_ITEM | PAI_MAY_VALUE);
  else
    pai__scan_in_space(s, true, 0);
}

/* Returns the end of a plain text on its line. */
static size_t plain_end(const pai__scanner *s, size_t at)
{
  size_t end = at;

  for (; !is_end(s->text[at]) && !pai__scan_is_comment(s, at); at++)
    if (!is_blank(s->text[at]))
      end = at + 1;
  return end;
}

/* Returns whether a key begins here, where it ends, and where its colon is. */
static bool find_key(const pai__scanner *s, size_t at, size_t *end,
                     size_t *colon)
{
  size_t eol = pai__gap_eol(s->t, at), i = at;

  if (pai__scan_one_of(s->text[at], "[{|>#"))
    return false;
  if (s->text[at] == '"' || s->text[at] == '\'') {
    *end = pai__scan_quoted(s, at);
    if (*end > eol)
      return false;
    *colon = pai__gap_blanks(s->t, *end);
  } else {
    while (
      i < eol &&
      !(s->text[i] == ':' && (i + 1 == eol || is_blank(s->text[i + 1]))) &&
      !pai__scan_is_comment(s, i))
      i++;
    *colon = i;
    *end = pai__gap_back(s->t, i);
  }
  return *colon < eol && s->text[*colon] == ':' &&
         (*colon + 1 == eol || is_blank(s->text[*colon + 1]));
}

/* Skips the lines below | or >.  Returns the line after them. */
static size_t skip_block(pai__scanner *s, size_t at)
{
  const pai__scan_frame *f = pai__scan_top(s);
  size_t line = pai__gap_next(s->t, at), end = pai__gap_eol(s->t, at);

  while (line < s->len) {
    size_t first = pai__gap_blanks(s->t, line);
    size_t eol = pai__gap_eol(s->t, line);

    if (first == eol && s->goal >= line && s->goal <= eol && f != NULL &&
        s->goal - line <= f->indent)
      return line; /* another entry may begin there */
    if (first < eol && f != NULL && first - line <= f->indent)
      break;
    end = eol;
    if (s->goal <= eol)
      break;
    line = pai__gap_next(s->t, line);
  }
  if (s->goal <= end)
    pai__scan_on_value(s, at, end, PAI_MAY_VALUE);
  return line;
}

/* Scans a value.  Returns the start of the line after it. */
static size_t take_value(pai__scanner *s, size_t at, unsigned may)
{
  pai__scan_frame *f = pai__scan_top(s);
  size_t end;

  if (f != NULL)
    f->state = PAI__HAVE_VALUE;
  if (s->text[at] == '|' || s->text[at] == '>')
    return skip_block(s, at);
  if (s->goal == at && pai__scan_one_of(s->text[at], "[{"))
    pai__scan_in_space(s, true, 0);
  if (s->done)
    return s->len;
  if (s->text[at] == '[' || s->text[at] == '{') {
    end = pai__scan_flow(s, at);
  } else {
    end = s->text[at] == '"' || s->text[at] == '\'' ? pai__scan_quoted(s, at)
                                                    : plain_end(s, at);
    if (s->goal <= end)
      pai__scan_on_value(s, at, end, may);
  }
  if (!s->done && s->goal <= pai__gap_eol(s->t, end))
    pai__scan_in_space(s, true, 0);
  return pai__gap_next(s->t, end);
}

/* Skips an anchor and a tag, and the blanks after them. */
static size_t skip_props(const pai__scanner *s, size_t at)
{
  at = pai__gap_blanks(s->t, at);
  while (s->text[at] == '&' || s->text[at] == '!')
    at = pai__gap_blanks(s->t, pai__gap_prop_end(s->t, at));
  return at;
}

/* Scans the rest of a line after a dash or colon; the line ends at eol.
 * Returns whether there is a value, at *at. */
static bool goes_on(pai__scanner *s, size_t *at, size_t eol, unsigned may)
{
  *at = skip_props(s, *at);
  if (s->goal < *at || (s->goal == *at && *at == eol))
    pai__scan_in_space(s, true, may);
  else if ((*at == eol || pai__scan_is_comment(s, *at)) && s->goal <= eol)
    pai__scan_in_space(s, true, 0);
  if (!s->done && *at < eol && !pai__scan_is_comment(s, *at))
    return true;
  *at = pai__gap_next(s->t, *at);
  return false;
}

/* Scans `- `, the next item of a list.  Returns whether a value follows on the
 * line. */
static bool take_dash(pai__scanner *s, size_t *at, size_t eol, size_t column)
{
  pai__scan_frame *f;

  pop_to(s, column);
  f = pai__scan_top(s);
  if (f != NULL && f->list && f->indent == column) {
    f->index++;
    f->state = PAI__WANT_VALUE;
  } else {
    pai__scan_push(s, true, false, column);
  }
  if (!s->done && s->goal == *at)
    pai__scan_in_space(s, false, PAI_MAY_ITEM);
  ++*at;
  return !s->done &&
         goes_on(s, at, eol, PAI_MAY_KEY | PAI_MAY_ITEM | PAI_MAY_VALUE);
}

/* Scans a key and its value. */
static size_t take_entry(pai__scanner *s, size_t at, size_t column, size_t end,
                         size_t colon)
{
  pai__scan_frame *f;

  pop_to_keys(s, column);
  f = pai__scan_top(s);
  if (f == NULL || f->list || f->indent != column)
    pai__scan_push(s, false, false, column);
  if (s->done)
    return s->len;
  f = pai__scan_top(s);
  f->key = at;
  f->key_end = end;
  f->state = PAI__WANT_VALUE;
  if (s->goal <= colon)
    pai__scan_on_key(s);
  at = colon + 1;
  return !s->done && goes_on(s, &at, pai__gap_eol(s->t, at), PAI_MAY_VALUE)
           ? take_value(s, at, PAI_MAY_VALUE)
           : at;
}

/* Scans a text that is no key.  In the column of keys it is an unfinished
 * key. */
static size_t take_word(pai__scanner *s, size_t at, size_t column)
{
  pai__scan_frame *f;
  bool wanted;

  pop_to_keys(s, column);
  f = pai__scan_top(s);
  wanted = f == NULL || f->state == PAI__WANT_VALUE;
  if (f != NULL && !f->list && f->indent == column &&
      !pai__scan_one_of(s->text[at], "[{|>")) {
    f->key = at;
    f->key_end = plain_end(s, at);
    f->state = PAI__WANT_VALUE;
    if (s->goal <= f->key_end)
      pai__scan_on_key(s);
    else if (s->goal <= pai__gap_eol(s->t, at))
      pai__scan_in_space(s, false, 0);
    return pai__gap_next(s->t, at);
  }
  return take_value(s, at,
                    wanted ? PAI_MAY_KEY | PAI_MAY_VALUE : PAI_MAY_VALUE);
}

/* Scans the line at a byte.  Returns the line after everything that begins on
 * it. */
static size_t take_line(pai__scanner *s, size_t line)
{
  size_t at = pai__gap_blanks(s->t, line), eol = pai__gap_eol(s->t, line);
  size_t end, colon;

  if (at == eol || pai__scan_is_comment(s, at) || s->goal < at) {
    if (s->goal <= eol && (s->goal <= at || at == eol))
      in_column(s, s->goal - line);
    else if (s->goal <= eol)
      pai__scan_in_space(s, false, 0);
    return pai__gap_next(s->t, line);
  }
  if (at == line &&
      (strncmp(s->text + at, "---", 3) == 0 ||
       strncmp(s->text + at, "...", 3) == 0 || s->text[at] == '%')) {
    s->depth = 0;
    if (s->goal <= eol)
      pai__scan_in_space(s, false, 0);
    return pai__gap_next(s->t, line);
  }
  while ((s->text[at] == '-' || s->text[at] == '?') &&
         (is_blank(s->text[at + 1]) || is_end(s->text[at + 1]))) {
    if (s->text[at] == '-' ? !take_dash(s, &at, eol, at - line)
                           : (at++, !goes_on(s, &at, eol, PAI_MAY_KEY)))
      return at;
  }
  at = skip_props(s, at);
  if (find_key(s, at, &end, &colon))
    return take_entry(s, at, at - line, end, colon);
  return take_word(s, at, at - line);
}

int pai__scan_at(pai__spec_scan *out, const pai__tree *t, size_t at)
{
  pai__scanner s = {
    .t = t, .text = t->text, .len = t->len, .goal = at, .out = out
  };
  size_t line = pai__gap_text(t), next;

  *out = (pai__spec_scan){ .on = PAI_ON_SPACE };
  pai__buf_init(&out->pointer, &t->alloc);
  if (t->syntax == PAI__SYNTAX_JSON) {
    while (line < t->len && !pai__scan_one_of(t->text[line], "{["))
      line = pai__scan_is_comment(&s, line) ? pai__gap_comment_end(t, line)
                                            : line + 1;
    if (at > line && line < t->len)
      (void)pai__scan_flow(&s, line);
  }
  while (t->syntax == PAI__SYNTAX_YAML && !s.done && line < t->len) {
    next = take_line(&s, line);
    line = next > line ? next : t->len;
  }
  if (!s.done && t->syntax == PAI__SYNTAX_YAML) /* after the last line */
    in_column(&s, at - pai__gap_line(t, at));
  else if (!s.done)
    pai__scan_in_space(&s, false, 0);
  s.failed |= !pai__buf_ok(&out->pointer);
  pai__free(&t->alloc, s.frames, s.cap * sizeof(*s.frames));
  return s.failed ? PAI_ENOMEM : PAI_OK;
}
