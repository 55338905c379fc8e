/* open.c - reads a text for the questions of an editor */
#include "language/facts/parts.h"
#include "spec/read.h"
#include "spec/secrets.h"

static int read_tree(pai__facts *f, const pai__language_text *t, size_t at)
{
  pai_spec_options o;
  pai_spec_options opts = PAI_SPEC_OPTIONS_INIT;
  bool whole;
  int rc;

  opts.alloc = t->alloc;
  rc = pai__spec_options(&o, &opts, NULL);
  if (rc < 0)
    return rc;
  if (t->len > o.max_bytes)
    return PAI_ELIMIT;
  rc = pai__spec_tree_broken(&f->tree, &f->version, &whole, t->text, t->len,
                             at, &o);
  if (rc == PAI_ENOMEM || whole)
    return rc;
  rc = pai__tree_new(&f->scan, t->alloc, t->text, t->len, NULL);
  if (rc == PAI_OK && f->tree == NULL)
    rc = pai__tree_new(&f->tree, t->alloc, t->text, t->len, NULL);
  if (rc < 0)
    return rc;
  f->scan->syntax =
    pai__spec_is_json(t->text, t->len) ? PAI__SYNTAX_JSON : PAI__SYNTAX_YAML;
  if (f->tree->count == 0)
    f->tree->syntax = f->scan->syntax;
  return PAI_OK;
}

int pai__facts_open(pai__facts *f, const pai__language_text *t, size_t at)
{
  int rc;

  *f = (pai__facts){ .alloc = t->alloc, .len = t->len };
  pai__arena_init(&f->arena, f->alloc);
  pai__map_init(&f->index.named, f->alloc);
  if (t->kind == PAI__LANGUAGE_OTHER)
    return PAI_ELIMIT;
  rc = read_tree(f, t, at);
  if (rc < 0)
    return rc;
  f->text = f->scan != NULL ? f->scan->text : f->tree->text;
  f->job = t->kind == PAI__LANGUAGE_JOB;
  f->rules = f->version == 1 ? &pai__rules_v1 : &pai__rules_v2;
  if (!f->job)
    rc = pai__facts_cluster_rules(f, t->kind);
  if (rc < 0)
    return rc;
  f->version = f->job ? f->version : 0;
  if (f->tree->count == 0)
    return PAI_OK;
  rc = pai__index_init(&f->index, f->tree, f->alloc, NULL, NULL);
  if (rc == PAI_OK)
    rc = pai__secrets_suspect(&f->secrets, f->tree, 0, (uint32_t)f->len);
  if (rc == PAI_OK && f->job)
    rc = pai__facts_read_roles(f);
  return rc;
}

void pai__facts_close(pai__facts *f)
{
  pai__free(f->alloc, f->roles, f->role_cap * sizeof(*f->roles));
  pai__secrets_dispose(&f->secrets);
  pai__index_dispose(&f->index);
  pai__tree_free(f->tree);
  pai__tree_free(f->scan);
  pai__arena_dispose(&f->arena);
}

int pai__facts_end(pai__facts *f, int rc)
{
  pai__facts_close(f);
  return rc == PAI_ELIMIT ? PAI_OK : rc;
}

/* Returns whether the tree has a line as it is. */
static bool has_line(const pai__facts *f, size_t start, size_t end)
{
  return f->tree->count > 0 &&
         memcmp(f->tree->text + start, f->text + start, end - start) == 0;
}

/* A wrong line must not hide what is around the cursor: the text is scanned as
 * the tree has it, but for the cursor's line. */
int pai__facts_place(pai__spec_scan *out, const pai__facts *f, size_t at)
{
  size_t start = pai__facts_line(f, at), end = pai__facts_eol(f, at);
  pai__tree *mixed;
  int rc;

  pai__buf_init(&out->pointer, f->alloc);
  if (f->scan == NULL || has_line(f, start, end))
    return pai__place_at(out, f->tree, at);
  if (f->tree->count == 0)
    return pai__place_at(out, f->scan, at);
  rc = pai__tree_new(&mixed, f->alloc, f->tree->text, f->len, NULL);
  if (rc < 0)
    return rc;
  memcpy((char *)mixed->text + start, f->text + start, end - start);
  mixed->syntax = f->scan->syntax;
  rc = pai__place_at(out, mixed, at);
  out->pointer.alloc = f->alloc; /* the same, but it stays */
  pai__tree_free(mixed);
  return rc;
}

pai__node pai__facts_node(const pai__facts *f, const char *pointer)
{
  return f->tree->count > 0 ? pai__tree_resolve(f->tree, pointer)
                            : PAI__NO_NODE;
}

bool pai__facts_is_json(const pai__facts *f)
{
  return f->tree->syntax == PAI__SYNTAX_JSON;
}

static bool is_break(char c)
{
  return c == '\n' || c == '\r';
}

size_t pai__facts_line(const pai__facts *f, size_t at)
{
  while (at > 0 && !is_break(f->text[at - 1]))
    at--;
  return at;
}

size_t pai__facts_eol(const pai__facts *f, size_t at)
{
  while (at < f->len && !is_break(f->text[at]))
    at++;
  return at;
}

bool pai__facts_one_line(const pai__facts *f, pai__span span)
{
  while (span.start < span.end && !is_break(f->text[span.start]))
    span.start++;
  return span.start == span.end;
}

const char *pai__facts_format(pai__facts *f, const char *fmt, ...)
{
  const char *text = NULL;
  pai__buf b;
  va_list ap;

  pai__buf_init(&b, f->alloc);
  va_start(ap, fmt);
  pai__buf_vprintf(&b, fmt, ap);
  va_end(ap);
  if (pai__buf_ok(&b))
    text = pai__arena_strndup(&f->arena, pai__buf_text(&b), b.len);
  pai__buf_dispose(&b);
  return text;
}

bool pai__facts_inner(const pai__facts *f, pai__node n, pai__span *span)
{
  const pai__tree_node *x = &f->tree->nodes[n];
  int style = x->flags & PAI__STYLE;
  size_t len;
  const char *s;

  if (x->type != PAI__STRING)
    return false;
  *span = (pai__span){ x->start, x->end };
  if ((style == PAI__SINGLE || style == PAI__DOUBLE) && x->end > x->start + 1)
    *span = (pai__span){ x->start + 1, x->end - 1 };
  s = pai__tree_str(f->tree, n, &len);
  return len > 0 && span->end - span->start == len &&
         memcmp(f->text + span->start, s, len) == 0;
}
