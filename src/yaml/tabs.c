/*
 * tabs.c - tabs where js-yaml allows them and libyaml does not
 *
 * js-yaml counts only spaces as indentation and skips tabs behind them;
 * libyaml stops at such a tab, in between two tokens and with its state
 * whole.  So one pass over the tokens finds them all: it steps over a tab,
 * clears the error, and asks for the next token.  (Inside a block scalar it
 * cannot, and the text is read anew.)  That writes to fields of yaml_parser_t
 * which yaml.h shows but does not promise: the buffer's pointer and count, the
 * mark, the error, and whether a key may come.
 */
#include "yaml/source.h"

/* Deeper than anything that will be accepted; libyaml looks through all open
 * brackets at every token. */
enum { DEEPEST_FLOW = 1000 };

typedef struct finder {
  pai__yaml_source *s;
  yaml_parser_t parser;
  pai__yaml_change *changes;
  size_t len, cap;
  size_t dropped; /* characters, all ASCII */
} finder;

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

/* Whether only blanks stand before this byte on its line. */
static bool is_leading(const finder *f, size_t at)
{
  const pai__yaml_change *last = f->changes;

  if (f->len != 0) {
    last += f->len - 1;
    if (last->kind == PAI__CHANGE_DROP && last->at + last->n == at)
      return true;
  }
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
  if (kind == PAI__CHANGE_DROP)
    f->dropped += n;
  return PAI_OK;
}

/* The blanks from here on, up to a number. */
static size_t count_blanks(const finder *f, size_t at, size_t max)
{
  size_t n = 0;

  while (n < max && at + n < f->s->len && is_blank(f->s->fed[at + n]))
    n++;
  return n;
}

/* Whether the parser can go on behind the tab at which it stopped. */
static bool is_between(yaml_parser_t *p)
{
  if (p->unread == 0 || *p->buffer.pointer != '\t')
    return false;
  if (strcmp(p->problem, "found character that cannot start any token") == 0)
    return true;
  if (strcmp(p->problem, "found a tab character that violates indentation") !=
      0)
    return false;
  p->simple_key_allowed = 1; /* the plain scalar before it has ended */
  return true;
}

/* Whether a tab at which a block scalar failed belongs to its text: it is the
 * first thing there and indented enough, so it tells the indentation. */
static bool begins_block(finder *f, size_t at)
{
  const yaml_parser_t *p = &f->parser;
  size_t header = pai__yaml_fed_byte(f->s, p->context_mark.index + f->dropped);
  const char *text = f->s->fed;

  if ((long)p->problem_mark.column < (long)p->indent + 1 ||
      p->problem_mark.column == 0)
    return false;
  header++; /* behind the | or > */
  header += text[header] == '+' || text[header] == '-';
  if (text[header] >= '1' && text[header] <= '9')
    return false; /* the header tells it */
  while (header < at && text[header] != '\n' && text[header] != '\r')
    header++;
  while (header < at &&
         (text[header] == ' ' || text[header] == '\n' || text[header] == '\r'))
    header++;
  return header == at;
}

/* Notes a tab inside a block scalar, of which the parser has nothing left.
 * Where it does not belong to the text it ends it. */
static int note_in_block(finder *f, size_t at)
{
  size_t n = count_blanks(f, at, f->s->len);
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

/* After the parser failed: notes the tab at which it did, if it is one.
 * *resume says that the parser can go on behind it. */
static int note_tab(finder *f, bool *resume)
{
  yaml_parser_t *p = &f->parser;
  size_t at = pai__yaml_fed_byte(f->s, p->problem_mark.index + f->dropped);
  bool leading;
  size_t n;

  *resume = false;
  if (p->error != YAML_SCANNER_ERROR || at >= f->s->len ||
      f->s->fed[at] != '\t')
    return PAI_OK;
  *resume = is_between(p);
  if (!*resume)
    return note_in_block(f, at);
  leading = is_leading(f, at);
  n = leading ? count_blanks(f, at, p->unread) : 1;
  p->buffer.pointer += n;
  p->unread -= n;
  p->error = YAML_NO_ERROR;
  if (leading)
    return add_change(f, at, n, PAI__CHANGE_DROP);
  p->mark.index++;
  p->mark.column++;
  return add_change(f, at, 1, PAI__CHANGE_SPACE);
}

/* Goes through the tokens as far as it can. */
static int find_tabs(finder *f)
{
  bool more = true;
  int rc = PAI_OK;

  while (more && rc == PAI_OK) {
    yaml_token_t token;

    if (!yaml_parser_scan(&f->parser, &token)) {
      rc =
        f->parser.error == YAML_MEMORY_ERROR ? PAI_ENOMEM : note_tab(f, &more);
      continue;
    }
    more = token.type != YAML_STREAM_END_TOKEN &&
           f->parser.flow_level < DEEPEST_FLOW;
    yaml_token_delete(&token);
  }
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
  if (!yaml_parser_initialize(&f.parser))
    return PAI_ENOMEM;
  pai__yaml_feed(s, &f.parser);
  rc = find_tabs(&f);
  yaml_parser_delete(&f.parser);
  if (rc == PAI_OK && f.len != 0) {
    rc = pai__yaml_rewrite(s, f.changes, f.len);
    *changed = rc == PAI_OK;
  }
  pai__free(s->alloc, f.changes, f.cap * sizeof(*f.changes));
  return rc;
}
