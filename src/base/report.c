/* report.c - pai_report: the findings as the caller sees them */
#include "base/fixes.h"
#include "base/text/utf8.h"

/* In characters: context before a finding, width of the line shown, mask. */
enum { BEFORE = 60, WIDEST = 160, MASK = sizeof(PAI__MASK) - 1 };

int pai__report_new(pai_report **out, const pai_alloc *alloc)
{
  pai_report *r = pai__zalloc(alloc, sizeof(*r));

  *out = r;
  if (r == NULL)
    return PAI_ENOMEM;
  r->alloc = *alloc;
  pai__arena_init(&r->arena, &r->alloc);
  return PAI_OK;
}

void pai_report_free(pai_report *r)
{
  pai_alloc alloc;

  if (r == NULL)
    return;
  alloc = r->alloc;
  pai__arena_dispose(&r->arena);
  pai__free(&alloc, r, sizeof(*r));
}

static bool ends_line(char c)
{
  return c == '\n' || c == '\r';
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

/* Returns a byte of the text, which ends in NULs; control characters other
 * than tabs become question marks. */
static void add_byte(pai__buf *b, const char *c)
{
  if (*c != '\t' && pai__is_control(c, 1))
    pai__buf_char(b, '?');
  else if (pai__is_control(c, 2))
    pai__buf_char(b, '?');
  else if (pai__utf8_first(*c) || !pai__is_control(c - 1, 2))
    pai__buf_char(b, *c);
}

/* Appends the line from a byte on, with a mask for each secret, and sets which
 * characters of it the finding covers. */
static void add_line(pai__buf *b, const pai__secrets *secrets, size_t from,
                     const pai__finding *x, pai_diagnostic *d)
{
  const pai__tree *t = secrets->tree;
  uint32_t shown = b->len > 0 ? 3 : 0; /* in characters, after leading dots */
  bool blank = true, masked = false;
  size_t i = from;

  for (; shown < WIDEST && i < t->len && !ends_line(t->text[i]); i++) {
    bool first = pai__utf8_first(t->text[i]), secret;

    blank &= is_blank(t->text[i]);
    secret = !blank && pai__secrets_has(secrets, (uint32_t)i);
    if (i == x->start)
      d->source_column = shown + 1 - (secret && masked ? MASK : 0);
    if (i == x->end && !(secret && masked))
      d->source_end_column = shown + 1;
    if (secret && !masked)
      pai__buf_str(b, PAI__MASK);
    else if (!secret)
      add_byte(b, t->text + i);
    shown += secret ? (masked ? 0 : MASK) : first;
    masked = secret;
    if (i < x->end && d->source_column > 0)
      d->source_end_column = shown + 1;
  }
  if (d->source_column == 0) /* at the end of the line */
    d->source_column = shown + 1;
  if (d->source_end_column <= d->source_column ||
      (x->end > i && shown < WIDEST)) /* it ends on a later line */
    d->source_end_column = d->source_column + 1;
}

/* Shows the line in which a finding begins, or a part of it, without
 * secrets. */
static int show_line(pai_report *r, pai__findings *f, const pai__finding *x,
                     pai_diagnostic *d)
{
  const char *text = f->tree->text;
  size_t start = x->start;
  uint32_t before = 0;
  pai__buf b;

  while (start > 0 && !ends_line(text[start - 1]) && before < BEFORE) {
    start--;
    before += pai__utf8_first(text[start]);
  }
  pai__buf_init(&b, &r->alloc);
  if (start > 0 && !ends_line(text[start - 1]))
    pai__buf_str(&b, "...");
  add_line(&b, pai__findings_shown(f), start, x, d);
  d->source = pai__buf_ok(&b)
                ? pai__arena_strndup(&r->arena, pai__buf_text(&b), b.len)
                : NULL;
  pai__buf_dispose(&b);
  return d->source != NULL && !f->failed ? PAI_OK : PAI_ENOMEM;
}

int pai__report_take(pai_report *r, pai__findings *f)
{
  pai_diagnostic *list =
    pai__arena_zalloc(&r->arena, f->len, sizeof(*r->list));

  if (list == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < f->len; i++) {
    const pai__finding *x = &f->list[i];
    pai__pos start = pai__tree_pos(f->tree, x->start);
    pai__pos end = pai__tree_pos(f->tree, x->end);

    list[i] = (pai_diagnostic){ .struct_size = sizeof(*list),
                                .severity = x->severity,
                                .code = x->code,
                                .pointer = x->pointer,
                                .line = start.line,
                                .column = start.column,
                                .end_line = end.line,
                                .end_column = end.column,
                                .message = x->message,
                                .help = x->help,
                                .missing = x->wanted.missing,
                                .types = x->wanted.types,
                                .limit = x->wanted.limit,
                                .pattern = x->wanted.pattern,
                                .allowed = x->wanted.allowed };
    if (show_line(r, f, x, &list[i]) < 0 ||
        pai__report_fixes(r, f->tree, x, &list[i]) < 0)
      return PAI_ENOMEM;
  }
  r->list = list;
  r->count = f->len;
  r->errors = f->errors;
  return PAI_OK;
}

static const char *copy(pai_report *r, const char *s)
{
  return s != NULL ? pai__arena_strndup(&r->arena, s, strlen(s)) : NULL;
}

int pai__report_fail(pai_report *r, const char *code, const pai_error *err)
{
  const char *pointer = pai_error_pointer(err), *help = pai_error_help(err);
  pai_diagnostic *d = pai__arena_zalloc(&r->arena, 1, sizeof(*d));
  uint32_t line = pai_error_line(err), column = pai_error_column(err);

  if (d == NULL)
    return PAI_ENOMEM;
  *d = (pai_diagnostic){ .struct_size = sizeof(*d),
                         .severity = PAI_SEVERITY_ERROR,
                         .code = code,
                         .pointer = copy(r, pointer != NULL ? pointer : ""),
                         .line = line > 0 ? line : 1,
                         .column = column > 0 ? column : 1,
                         .message = copy(r, pai_error_message(err)),
                         .help = copy(r, help) };
  d->end_line = d->line;
  d->end_column = d->column;
  r->list = d;
  r->count = r->errors = 1;
  return d->pointer != NULL && d->message != NULL &&
             (help == NULL || d->help != NULL)
           ? PAI_OK
           : PAI_ENOMEM;
}

int pai__report_show(pai_report *r, const char *text, size_t len)
{
  pai_diagnostic *d = pai__arena_zalloc(&r->arena, 1, sizeof(*d));
  pai__finding x = { 0 };
  pai__findings f;
  pai__tree *t;
  int rc;

  if (d == NULL || pai__tree_new(&t, &r->alloc, text, len, NULL) < 0)
    return PAI_ENOMEM;
  *d = r->list[0];
  x.start = x.end =
    (uint32_t)pai__tree_offset(t, (pai__pos){ d->line, d->column });
  pai__findings_init(&f, &r->arena, t);
  rc = show_line(r, &f, &x, d);
  pai__findings_dispose(&f);
  pai__tree_free(t);
  r->list = d;
  return rc;
}

/* Returns the most helpful error: the first one, but a missing key is mostly a
 * misspelt one, and a heading says nothing. */
static const pai_diagnostic *telling_error(const pai_report *r)
{
  const pai_diagnostic *first = NULL;

  for (size_t i = 0; i < r->count; i++) {
    const pai_diagnostic *d = &r->list[i];

    if (d->severity != PAI_SEVERITY_ERROR)
      continue;
    if (strcmp(d->code, "missing-key") != 0 &&
        strcmp(d->code, "bad-item") != 0)
      return d;
    if (first == NULL)
      first = d;
  }
  return first;
}

int pai__report_raise(const pai_report *r, pai_error **err)
{
  const pai_diagnostic *d = telling_error(r);
  pai_error *local = NULL;
  int code;

  code = strcmp(d->code, "limit") == 0 ? PAI_ELIMIT : PAI_EINVAL;
  if (err == NULL)
    err = &local; /* additions need an error */
  (void)pai__fail_at(err, code, (pai__pos){ d->line, d->column }, "%s",
                     d->message);
  pai__error_pointer(err, d->pointer);
  if (d->help != NULL)
    pai__error_help(err, "%s", d->help);
  pai_error_free(local);
  return code;
}

int pai_report_valid(const pai_report *r)
{
  return r != NULL && r->errors == 0;
}

int pai_report_version(const pai_report *r)
{
  return r != NULL ? r->version : 0;
}

size_t pai_report_count(const pai_report *r)
{
  return r != NULL ? r->count : 0;
}

const pai_diagnostic *pai_report_get(const pai_report *r, size_t i)
{
  return r != NULL && i < r->count ? &r->list[i] : NULL;
}
