/* findings.c - collects the errors and warnings of a file */
#include "base/findings.h"

#include "base/text/number.h"
#include "base/text/utf8.h"

#include <stdio.h>
#include <stdlib.h>

/* Limits of a report.  A file written by hand does not reach them. */
enum { MOST_FOUND = 1000, MOST_BYTES = 1 << 20 };

void pai__findings_init(pai__findings *f, pai__arena *arena,
                        const pai__tree *tree)
{
  *f = (pai__findings){ .arena = arena, .tree = tree };
  f->secrets.tree = tree;
}

static const pai__secrets *find_secrets(pai__findings *f, uint32_t from,
                                        uint32_t to)
{
  if (!f->secrets_found && f->find_secrets != NULL)
    f->failed |= f->find_secrets(&f->secrets, f->tree, from, to) < 0;
  f->secrets_found = true;
  return &f->secrets;
}

const pai__secrets *pai__findings_secrets(pai__findings *f)
{
  return find_secrets(f, 0, (uint32_t)f->tree->len);
}

const pai__secrets *pai__findings_shown(pai__findings *f)
{
  const char *text = f->tree->text; /* followed by NULs */
  uint32_t from, to;

  if (f->len == 0 || f->secrets_found)
    return &f->secrets;
  from = f->list[0].start;
  to = f->list[f->len - 1].start;
  while (from > 0 && text[from - 1] != '\n' && text[from - 1] != '\r')
    from--;
  while (to < f->tree->len && text[to] != '\n' && text[to] != '\r')
    to++;
  return find_secrets(f, from, to);
}

const char *pai__key_shown(pai__findings *f, pai__node key, size_t *len)
{
  const pai__tree_node *n = &f->tree->nodes[key];

  const char *text = pai__tree_str(f->tree, key, len);

  if (pai__hides_colon(text, *len)) {
    *len = strlen(PAI__MASK);
    return PAI__MASK;
  }
  if (f->tree->text[n->start] != '*' || pai__findings_secrets(f)->len == 0)
    return text;
  *len = n->end - n->start;
  return f->tree->text + n->start;
}

void pai__findings_dispose(pai__findings *f)
{
  pai__secrets_dispose(&f->secrets);
  pai__free(f->arena->alloc, f->list, f->cap * sizeof(*f->list));
}

/* Copies the text to the arena; NULL and sticky failure when out of memory. */
static const char *keep(pai__findings *f, pai__buf *b)
{
  const char *copy = NULL;

  if (pai__buf_ok(b))
    copy = pai__arena_strndup(f->arena, pai__buf_text(b), b->len);
  if (copy == NULL)
    f->failed = true;
  f->bytes += b->len;
  pai__buf_dispose(b);
  return copy;
}

static const char *format(pai__findings *f, const char *fmt, va_list ap)
{
  pai__buf b;

  pai__buf_init(&b, f->arena->alloc);
  pai__buf_vprintf(&b, fmt, ap);
  if (pai__buf_ok(&b) && b.len > 0)
    pai__defuse(b.data);
  return keep(f, &b);
}

static void add_place(pai__buf *out, pai__findings *f, const pai__place *place)
{
  size_t len;
  const char *s;

  if (place->up == NULL)
    return;
  add_place(out, f, place->up);
  if (place->key == PAI__NO_NODE) {
    pai__buf_printf(out, "/%u", place->index);
    return;
  }
  s = pai__key_shown(f, place->key, &len);
  pai__pointer_add(out, s, len);
}

bool pai__findings_full(pai__findings *f, int severity)
{
  if (f->len < MOST_FOUND && f->bytes <= MOST_BYTES)
    return false;
  f->errors += severity == PAI_SEVERITY_ERROR;
  f->left_out++;
  return true;
}

/* Ensures space for one more. */
static bool make_room(pai__findings *f, int severity)
{
  if (pai__findings_full(f, severity))
    return false;
  f->errors += severity == PAI_SEVERITY_ERROR;
  f->failed |= PAI__VEC_ROOM(f->arena->alloc, f->list, f->len, f->cap) < 0;
  return !f->failed;
}

static const char *show_key(void *user_data, pai__node key, size_t *len)
{
  return pai__key_shown(user_data, key, len);
}

void pai__findings_pointer(pai__findings *f, pai__node at, pai__buf *out)
{
  f->trail.show_key = show_key;
  f->trail.user_data = f;
  pai__tree_pointer_along(f->tree, at, out, &f->trail);
}

static void add(pai__findings *f, pai__finding finding, pai__node at)
{
  pai__buf pointer;

  pai__buf_init(&pointer, f->arena->alloc);
  if (f->place != NULL)
    add_place(&pointer, f, f->place);
  else
    pai__findings_pointer(f, at, &pointer);
  finding.pointer = keep(f, &pointer);
  finding.at = at;
  f->list[f->len++] = finding;
}

bool pai__find(pai__findings *f, int severity, const char *code, pai__node at,
               const char *fmt, ...)
{
  const pai__tree_node *n = &f->tree->nodes[at];
  va_list ap;

  if (!make_room(f, severity))
    return false;
  va_start(ap, fmt);
  add(f,
      (pai__finding){ .severity = severity,
                      .code = code,
                      .start = n->start,
                      .end = n->end,
                      .message = format(f, fmt, ap) },
      at);
  va_end(ap);
  return true;
}

void pai__find_part(pai__findings *f, int severity, const char *code,
                    pai__node at, size_t start, size_t end, const char *fmt,
                    ...)
{
  va_list ap;

  if (!make_room(f, severity))
    return;
  va_start(ap, fmt);
  add(f,
      (pai__finding){ .severity = severity,
                      .code = code,
                      .start = (uint32_t)start,
                      .end = (uint32_t)end,
                      .message = format(f, fmt, ap) },
      at);
  va_end(ap);
}

void pai__find_wanted(pai__findings *f, const pai__demand *wanted)
{
  if (!f->failed && f->left_out == 0)
    f->list[f->len - 1].wanted = *wanted;
}

void pai__find_help(pai__findings *f, const char *fmt, ...)
{
  va_list ap;

  if (f->failed || f->left_out > 0)
    return;
  va_start(ap, fmt);
  f->list[f->len - 1].help = format(f, fmt, ap);
  va_end(ap);
}

static int by_place(const void *a, const void *b)
{
  const pai__finding *x = a, *y = b;
  int order;

  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  if (x->severity != y->severity)
    return x->severity > y->severity ? -1 : 1;
  if (x->end != y->end)
    return x->end < y->end ? -1 : 1;
  order = strcmp(x->message, y->message);
  return order != 0 ? order : strcmp(x->pointer, y->pointer);
}

/* Drops a finding that was met before through another alias: it has the same
 * place and pointer. */
static void drop_repeated(pai__findings *f)
{
  size_t kept = 1;

  for (size_t i = 1; i < f->len; i++) {
    if (by_place(&f->list[kept - 1], &f->list[i]) != 0)
      f->list[kept++] = f->list[i];
    else
      f->errors -= f->list[i].severity == PAI_SEVERITY_ERROR;
  }
  f->len = kept;
}

/* Adds how many were left out, as the last finding. */
static void tell_left_out(pai__findings *f)
{
  pai__finding more = f->list[f->len - 1];
  pai__buf b;

  if (PAI__VEC_ROOM(f->arena->alloc, f->list, f->len, f->cap) < 0) {
    f->failed = true;
    return;
  }
  pai__buf_init(&b, f->arena->alloc);
  pai__buf_printf(&b, "and %zu more", f->left_out);
  more.severity = f->errors > 0 ? PAI_SEVERITY_ERROR : PAI_SEVERITY_WARNING;
  more.code = "more";
  more.pointer = "";
  more.wanted = (pai__demand){ .limit = 0 };
  more.fixes = NULL;
  more.message = keep(f, &b);
  more.help = "correct the listed problems first";
  f->list[f->len++] = more;
}

int pai__findings_end(pai__findings *f)
{
  if (f->failed)
    return PAI_ENOMEM;
  if (f->len > 1) {
    qsort(f->list, f->len, sizeof(*f->list), by_place);
    drop_repeated(f);
  }
  if (f->left_out > 0)
    tell_left_out(f);
  return f->failed ? PAI_ENOMEM : PAI_OK;
}

const char *pai__value_text(char out[PAI__VALUE_TEXT], pai__findings *f,
                            pai__node n)
{
  const pai__tree *tree = f->tree;
  const pai__tree_node *node = pai__tree_at(tree, n);
  char piece[PAI__EXCERPT];

  if (pai__secrets_hide(pai__findings_secrets(f), n))
    return "what is there";

  switch (node->type) {
  case PAI__NULL: return "null";
  case PAI__BOOL: return node->u.b ? "true" : "false";
  case PAI__SEQUENCE: return node->u.c.count == 0 ? "an empty list" : "a list";
  case PAI__MAPPING:
    return node->u.c.count == 0 ? "an empty mapping" : "a mapping";
  case PAI__STRING:
    (void)pai__excerpt(piece, tree->strings + node->u.s.off, node->u.s.len);
    (void)snprintf(out, PAI__VALUE_TEXT, "'%s'", piece);
    return out;
  case PAI__TIMESTAMP: return "a date";
  case PAI__BINARY: return "binary data";
  default: /* a number, as it was written */
    (void)pai__excerpt(piece, tree->text + node->start,
                       node->end - node->start);
    (void)snprintf(out, PAI__VALUE_TEXT, "%s", piece);
    return out;
  }
}
