/*
 * tabs.c - changes tabs that js-yaml accepts and libyaml refuses
 *
 * js-yaml counts only spaces as indentation and skips tabs after them.
 * libyaml stops at such a tab if it is between two tokens.  One pass over the
 * tokens finds them all: at each tab a new parser continues after it.  The new
 * parser first gets a prefix that restores the state of the old one: a key for
 * each open block collection, and spaces up to the tab's column.  A parser
 * cannot continue inside a block scalar; the text is then read again.
 */
#include "yaml/source.h"

enum {
  DEEPEST = 1000, /* deeper than any accepted text; libyaml scans all open
                     brackets at every token */
  MOST_PREFIX = 16 << 20, /* bytes of all prefixes together */
  CHUNK = 128 /* bytes that a parser gets at once; small, as most parsers stop
                 soon */
};

typedef struct finder {
  pai__yaml_source *s;
  yaml_parser_t parser;
  pai__buf prefix;
  size_t read;             /* bytes of the prefix that the parser has taken */
  size_t first;            /* character of fed that follows the prefix */
  size_t written;          /* bytes of all prefixes so far */
  size_t indents[DEEPEST]; /* columns of open block collections */
  size_t depth, brackets;
  pai__yaml_change *changes;
  size_t len, cap;
} finder;

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

/* Returns whether only blanks precede this byte on its line. */
static bool is_leading(const finder *f, size_t at)
{
  while (at > 0 && is_blank(f->s->fed[at - 1]))
    at--;
  return at == 0 || f->s->fed[at - 1] == '\n' || f->s->fed[at - 1] == '\r';
}

static int add_change(finder *f, size_t at, size_t n,
                      pai__yaml_change_kind kind)
{
  if (PAI__VEC_ROOM(f->s->alloc, f->changes, f->len, f->cap) < 0)
    return PAI_ENOMEM;
  f->changes[f->len++] = (pai__yaml_change){ at, n, kind };
  return PAI_OK;
}

/* Counts the blanks from here on. */
static size_t count_blanks(const finder *f, size_t at)
{
  size_t n = 0;

  while (at + n < f->s->len && is_blank(f->s->fed[at + n]))
    n++;
  return n;
}

/* --- parsers ------------------------------------------------------------ */

/* Gives the prefix, then the text: yaml_read_handler_t. */
static int read_prefixed(void *data, unsigned char *buffer, size_t size,
                         size_t *size_read)
{
  finder *f = data;
  size_t n = f->prefix.len - f->read;

  if (n == 0)
    return pai__yaml_give(f->s, buffer, size < CHUNK ? size : CHUNK,
                          size_read);
  if (n > size)
    n = size;
  memcpy(buffer, f->prefix.data + f->read, n);
  f->read += n;
  *size_read = n;
  return 1;
}

static void add_spaces(pai__buf *b, size_t n)
{
  if (!pai__buf_reserve(b, n))
    return;
  memset(b->data + b->len, ' ', n);
  b->len += n;
}

/* Starts a parser at a byte of fed, at that column. */
static int begin(finder *f, size_t at, size_t column)
{
  pai__buf_clear(&f->prefix);
  for (size_t i = 0; i < f->depth; i++) {
    add_spaces(&f->prefix, f->indents[i]);
    pai__buf_str(&f->prefix, "a:\n");
  }
  add_spaces(&f->prefix, column);
  if (!pai__buf_ok(&f->prefix) || !yaml_parser_initialize(&f->parser))
    return PAI_ENOMEM;
  f->read = 0;
  f->written += f->prefix.len;
  f->s->read = at;
  yaml_parser_set_encoding(&f->parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input(&f->parser, read_prefixed, f);
  return PAI_OK;
}

/* Returns the character of fed at a mark of the parser. */
static size_t char_at(const finder *f, const yaml_mark_t *mark)
{
  return f->first + mark->index - f->prefix.len;
}

/* Tracks the open collections.  Returns false at the end, or if they are
 * nested too deep. */
static bool take_token(finder *f, const yaml_token_t *token)
{
  switch (token->type) {
  case YAML_STREAM_END_TOKEN: return false;
  case YAML_BLOCK_SEQUENCE_START_TOKEN:
  case YAML_BLOCK_MAPPING_START_TOKEN:
    if (token->start_mark.index < f->prefix.len)
      break;
    if (f->depth == DEEPEST)
      return false;
    f->indents[f->depth++] = token->start_mark.column;
    break;
  case YAML_BLOCK_END_TOKEN: f->depth -= f->depth > 0; break;
  case YAML_FLOW_SEQUENCE_START_TOKEN:
  case YAML_FLOW_MAPPING_START_TOKEN: f->brackets++; break;
  case YAML_FLOW_SEQUENCE_END_TOKEN:
  case YAML_FLOW_MAPPING_END_TOKEN: f->brackets -= f->brackets > 0; break;
  default: break;
  }
  return f->brackets < DEEPEST;
}

/* --- tabs --------------------------------------------------------------- */

/* Returns whether the parser stopped between two tokens.  For the second
 * problem, the plain scalar before the tab has ended. */
static bool is_between(const yaml_parser_t *p)
{
  return strcmp(p->problem, "found character that cannot start any token") ==
           0 ||
         strcmp(p->problem,
                "found a tab character that violates indentation") == 0;
}

/* Returns whether a tab at which a block scalar failed is part of its text.
 * It is if it is the first character and is indented enough, as it then
 * defines the indentation. */
static bool begins_block(finder *f, size_t at)
{
  const yaml_parser_t *p = &f->parser;
  size_t header = pai__yaml_fed_byte(f->s, char_at(f, &p->context_mark));
  size_t column = p->problem_mark.column;
  const char *text = f->s->fed;

  if (column == 0 || (f->depth > 0 && column <= f->indents[f->depth - 1]))
    return false;
  header++; /* after | or > */
  header += text[header] == '+' || text[header] == '-';
  if (text[header] >= '1' && text[header] <= '9')
    return false; /* the header gives the indentation */
  while (header < at && text[header] != '\n' && text[header] != '\r')
    header++;
  while (header < at &&
         (text[header] == ' ' || text[header] == '\n' || text[header] == '\r'))
    header++;
  return header == at;
}

/* Records a change of a tab inside a block scalar.  If the tab is not part of
 * the scalar's text, the scalar ends there. */
static int note_in_block(finder *f, size_t at)
{
  size_t n = count_blanks(f, at);
  char next = at + n < f->s->len ? f->s->fed[at + n] : '\n';

  if (!is_leading(f, at))
    return PAI_OK;
  if (!begins_block(f, at))
    return next == '\n' || next == '\r'
             ? add_change(f, at, 1, PAI__CHANGE_COMMENT)
             : add_change(f, at, n, PAI__CHANGE_DROP);
  if (!pai__yaml_choose_stand_in(f->s))
    return PAI_OK;
  return add_change(f, at, 1, PAI__CHANGE_STAND_IN);
}

/* Records changes of the tabs from here to the next token.  *column becomes
 * the token's column. */
static int note_between(finder *f, size_t at, size_t n, size_t *column)
{
  int rc = PAI_OK;

  if (is_leading(f, at))
    return add_change(f, at, n, PAI__CHANGE_DROP);
  for (size_t i = 0; i < n && rc == PAI_OK; i++)
    if (f->s->fed[at + i] == '\t')
      rc = add_change(f, at + i, 1, PAI__CHANGE_SPACE);
  *column += n;
  return rc;
}

/* Records changes of the tab at which the parser failed, if it did at one.
 * *resume says that a new parser continues after it. */
static int note_tab(finder *f, bool *resume)
{
  const yaml_parser_t *p = &f->parser;
  size_t column = p->problem_mark.column, index, at, n;
  int rc;

  *resume = false;
  if (p->error != YAML_SCANNER_ERROR || p->problem_mark.index < f->prefix.len)
    return PAI_OK;
  index = char_at(f, &p->problem_mark);
  at = pai__yaml_fed_byte(f->s, index);
  if (at >= f->s->len || f->s->fed[at] != '\t')
    return PAI_OK;
  if (!is_between(p))
    return note_in_block(f, at);
  while (f->depth > 0 && f->indents[f->depth - 1] > column)
    f->depth--; /* libyaml has closed them too */
  n = count_blanks(f, at);
  rc = note_between(f, at, n, &column);
  *resume = rc == PAI_OK && f->written < MOST_PREFIX;
  if (!*resume)
    return rc;
  yaml_parser_delete(&f->parser);
  f->brackets = 0; /* inside brackets libyaml skips tabs */
  f->first = index + n;
  return begin(f, at + n, column);
}

/* Scans the tokens as far as possible. */
static int find_tabs(finder *f)
{
  bool more = true;
  int rc = begin(f, 0, 0);

  while (more && rc == PAI_OK) {
    yaml_token_t token;

    if (!yaml_parser_scan(&f->parser, &token)) {
      rc =
        f->parser.error == YAML_MEMORY_ERROR ? PAI_ENOMEM : note_tab(f, &more);
      continue;
    }
    more = take_token(f, &token);
    yaml_token_delete(&token);
  }
  yaml_parser_delete(&f->parser);
  return rc;
}

int pai__yaml_take_tabs(pai__yaml_source *s, size_t index, bool *changed)
{
  finder f = { .s = s };
  size_t at = pai__yaml_fed_byte(s, index);
  int rc;

  *changed = false;
  if (at >= s->len || s->fed[at] != '\t')
    return PAI_OK;
  pai__buf_init(&f.prefix, s->alloc);
  rc = find_tabs(&f);
  pai__buf_dispose(&f.prefix);
  if (rc == PAI_OK && f.len != 0) {
    rc = pai__yaml_rewrite(s, f.changes, f.len);
    *changed = rc == PAI_OK;
  }
  pai__free(s->alloc, f.changes, f.cap * sizeof(*f.changes));
  return rc;
}
