/* fixes.c - creates corrections of findings */
#include "base/fixes.h"

#include "base/text/utf8.h"

static pai__finding *last_found(pai__findings *f)
{
  return f->failed || f->left_out > 0 || f->len == 0 ? NULL
                                                     : &f->list[f->len - 1];
}

/* --- adding ------------------------------------------------------------- */

/* Returns whether a node is at the finding's place or below it. */
static bool is_written_there(pai__findings *f, const pai__finding *x,
                             pai__node at)
{
  pai__buf pointer;
  bool there;

  if (f->place == NULL)
    return true;
  pai__buf_init(&pointer, f->arena->alloc);
  pai__findings_pointer(f, at, &pointer);
  f->failed |= !pai__buf_ok(&pointer);
  there = !f->failed && strncmp(pai__buf_text(&pointer), x->pointer,
                                strlen(x->pointer)) == 0;
  pai__buf_dispose(&pointer);
  return there;
}

pai__fix *pai__fix_add(pai__findings *f, bool sure, pai__node at,
                       const char *title, ...)
{
  pai__finding *x = last_found(f);
  pai__fix *fix, **end;
  pai__buf b;
  va_list ap;

  if (x == NULL || at == PAI__NO_NODE || !is_written_there(f, x, at))
    return NULL;
  fix = pai__arena_zalloc(f->arena, 1, sizeof(*fix));
  pai__buf_init(&b, f->arena->alloc);
  va_start(ap, title);
  pai__buf_vprintf(&b, title, ap);
  va_end(ap);
  if (fix != NULL && pai__buf_ok(&b)) {
    pai__defuse(b.data);
    fix->title = pai__arena_strndup(f->arena, b.data, b.len);
  }
  pai__buf_dispose(&b);
  f->failed |= fix == NULL || fix->title == NULL;
  if (f->failed)
    return NULL;
  fix->sure = sure;
  for (end = &x->fixes; *end != NULL; end = &(*end)->next)
    continue;
  *end = fix;
  return fix;
}

void pai__fix_change(pai__findings *f, pai__fix *fix, size_t start, size_t end,
                     const char *text, size_t len)
{
  pai__change *c;

  if (fix == NULL || fix->count > PAI__MOST_CHANGES)
    return;
  c = pai__arena_zalloc(f->arena, 1, sizeof(*c));
  if (c != NULL)
    *c = (pai__change){ .start = (uint32_t)start,
                        .end = (uint32_t)end,
                        .text = pai__arena_strndup(f->arena, text, len) };
  f->failed |= c == NULL || c->text == NULL;
  if (f->failed)
    return;
  if (fix->last != NULL)
    fix->last->next = c;
  else
    fix->changes = c;
  fix->last = c;
  fix->count++;
}

void pai__fix_drop(pai__findings *f, const pai__fix *fix)
{
  pai__finding *x = last_found(f);
  pai__fix **at;

  for (at = x != NULL ? &x->fixes : NULL; fix != NULL && at != NULL;
       at = &(*at)->next)
    if (*at == fix || *at == NULL) {
      *at = NULL;
      break;
    }
}

/* --- words -------------------------------------------------------------- */

/* Returns whether a YAML plain scalar would have exactly this text, in flow
 * style, too. */
static bool is_plain(const char *s, size_t len)
{
  static const char *const taken[] = { "true", "false", "null", "yes", "no",
                                       "on",   "off",   "y",    "n" };
  pai__word word = pai__word_of(s, len), other;

  if (len == 0 || strchr("0123456789+-.", *s) != NULL)
    return false;
  for (size_t i = 0; i < len; i++)
    if (!(s[i] >= 'a' && s[i] <= 'z') && !(s[i] >= 'A' && s[i] <= 'Z') &&
        !(s[i] >= '0' && s[i] <= '9') &&
        (s[i] == '\0' || strchr("_-./", s[i]) == NULL))
      return false;
  for (size_t i = 0; i < PAI__LEN(taken); i++) {
    other = pai__word_of(taken[i], strlen(taken[i]));
    if (pai__word_within(&word, &other, 0))
      return false;
  }
  return true;
}

static void put_double(pai__buf *b, const char *s, size_t len)
{
  pai__buf_char(b, '"');
  for (size_t i = 0; i < len; i++)
    if (s[i] == '"' || s[i] == '\\')
      pai__buf_printf(b, "\\%c", s[i]);
    else if ((unsigned char)s[i] < ' ')
      pai__buf_printf(b, "\\u%04x", (unsigned)(unsigned char)s[i]);
    else
      pai__buf_char(b, s[i]);
  pai__buf_char(b, '"');
}

static bool is_printable(const char *s, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if ((unsigned char)s[i] < ' ')
      return false;
  return true;
}

static void put_single(pai__buf *b, const char *s, size_t len)
{
  pai__buf_char(b, '\'');
  for (size_t i = 0; i < len; i++)
    pai__buf_str(b, s[i] == '\'' ? "''" : (char[]){ s[i], '\0' });
  pai__buf_char(b, '\'');
}

static bool is_one_line(const pai__tree *t, pai__node at)
{
  const pai__tree_node *n = &t->nodes[at];
  int style = n->flags & PAI__STYLE;

  return n->start < n->end &&
         (n->type < PAI__SEQUENCE || n->type == PAI__ALIAS) &&
         !(n->type != PAI__ALIAS &&
           (style == PAI__LITERAL || style == PAI__FOLDED)) &&
         memchr(t->text + n->start, '\n', n->end - n->start) == NULL &&
         memchr(t->text + n->start, '\r', n->end - n->start) == NULL;
}

void pai__fix_word(pai__findings *f, bool sure, pai__node at, const char *word,
                   size_t len)
{
  const pai__tree *t = f->tree;
  const pai__tree_node *n = &t->nodes[at];
  char piece[PAI__EXCERPT];
  pai__fix *fix;
  pai__buf b;

  if (!is_one_line(t, at))
    return;
  fix =
    pai__fix_add(f, sure, at, "write '%s'", pai__excerpt(piece, word, len));
  if (fix == NULL)
    return;
  pai__buf_init(&b, f->arena->alloc);
  if (t->syntax == PAI__SYNTAX_YAML && t->text[n->start] == '\'' &&
      is_printable(word, len))
    put_single(&b, word, len);
  else if (t->syntax == PAI__SYNTAX_YAML && t->text[n->start] != '"' &&
           is_plain(word, len))
    pai__buf_add(&b, word, len);
  else
    put_double(&b, word, len);
  f->failed |= !pai__buf_ok(&b);
  if (!f->failed)
    pai__fix_change(f, fix, n->start, n->end, pai__buf_text(&b), b.len);
  pai__buf_dispose(&b);
}

void pai__fix_plain(pai__findings *f, bool sure, pai__node at,
                    const char *text)
{
  const pai__tree_node *n = &f->tree->nodes[at];
  pai__fix *fix = is_one_line(f->tree, at)
                    ? pai__fix_add(f, sure, at, "write %s", text)
                    : NULL;

  pai__fix_change(f, fix, n->start, n->end, text, strlen(text));
}

/* --- queries ------------------------------------------------------------- */

/* Returns whether the text of a change is a key, or a list of entries
 * beginning with it. */
static bool gives_key(const char *text, const char *key, size_t len)
{
  if (*text == '"' || *text == '\'')
    text++;
  return strncmp(text, key, len) == 0 &&
         (text[len] == '\0' || strchr("\"':", text[len]) != NULL);
}

bool pai__fix_offered(const pai__findings *f, const char *pointer,
                      size_t pointer_len, const char *key, size_t len)
{
  for (size_t i = 0; i < f->len; i++) {
    const pai__finding *x = &f->list[i];
    const char *slash = strrchr(x->pointer, '/');

    if (x->fixes != NULL && x->fixes->changes != NULL && slash != NULL &&
        (size_t)(slash - x->pointer) == pointer_len &&
        memcmp(x->pointer, pointer, pointer_len) == 0 &&
        gives_key(x->fixes->changes->text, key, len))
      return true;
  }
  return false;
}
