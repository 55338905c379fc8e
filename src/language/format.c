/* format.c - formats a document, or some of its lines, as edits */
#include "language/language.h"
#include "language/line_diff.h"

#include <openpai/draft.h>

/* Formats a text.  *out is NULL without memory, and for a text that has no
 * layout: it is not valid, or a rare one. */
static int format_text(pai_language *l, pai_draft **out, const char *text,
                       size_t len, pai_error **err)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_error *why = NULL;
  int rc;

  o.alloc = &l->alloc;
  o.max_bytes = (size_t)64 << 20;
  rc = pai_draft_new(out, text, len, &o, &why);
  if (rc == PAI_OK)
    rc = pai_draft_format(*out, &why);
  pai_error_free(why);
  if (rc == PAI_OK)
    return PAI_OK;
  pai_draft_free(*out);
  *out = NULL;
  return rc == PAI_ENOMEM ? pai__oom(err) : PAI_OK;
}

/* The text with some of the edits. */
static int apply(pai__buf *out, const char *text, size_t len,
                 const pai__line_diff *d)
{
  size_t at = 0;

  for (size_t i = 0; i < d->count; i++) {
    const pai__line_edit *e = &d->edits[i];

    pai__buf_add(out, text + at, e->span.start - at);
    pai__buf_add(out, e->text, e->len);
    at = e->span.end;
  }
  pai__buf_add(out, text + at, len - at);
  return pai__buf_ok(out) ? PAI_OK : PAI_ENOMEM;
}

static void keep_in(pai__line_diff *d, pai__span lines)
{
  size_t kept = 0;

  for (size_t i = 0; i < d->count; i++)
    if (d->edits[i].span.start >= lines.start &&
        d->edits[i].span.end <= lines.end)
      d->edits[kept++] = d->edits[i];
  d->count = kept;
}

/* Some edits alone may move a line into another mapping.  So the text with
 * them must be formatted to the same text as before. */
static int keep_safe(pai_language *l, pai__language_doc *doc,
                     pai__line_diff *d, const char *whole, size_t whole_len,
                     pai_error **err)
{
  pai_draft *again = NULL;
  pai__buf text;
  size_t len;
  int rc;

  pai__buf_init(&text, &l->alloc);
  rc = apply(&text, pai__buf_text(&doc->text), doc->text.len, d);
  rc = rc < 0 ? pai__oom(err)
              : format_text(l, &again, pai__buf_text(&text), text.len, err);
  if (rc == PAI_OK) {
    const char *result = again != NULL ? pai_draft_text(again, &len) : NULL;

    if (result == NULL || len != whole_len || memcmp(result, whole, len) != 0)
      d->count = 0;
  }
  pai_draft_free(again);
  pai__buf_dispose(&text);
  return rc;
}

/* Writes the edits that format the lines of a span. */
static int format_lines(pai_language *l, pai__language_request *r,
                        pai__span lines)
{
  pai__language_doc *doc = r->doc;
  bool is_whole = lines.start == 0 && lines.end == doc->text.len;
  pai__bytes before = { pai__buf_text(&doc->text), doc->text.len }, after;
  pai__line_diff d;
  pai_draft *draft;
  int rc = PAI_OK;

  if (doc->lost || doc->kind == PAI__LANGUAGE_OTHER)
    draft = NULL;
  else
    rc = format_text(l, &draft, before.data, before.len, r->err);
  if (rc < 0)
    return rc;
  if (draft == NULL) {
    pai__json_null(&r->w);
    return PAI_OK;
  }
  after.data = pai_draft_text(draft, &after.len);
  rc = pai__line_diff_read(&d, &l->alloc, before, after);
  if (rc < 0)
    rc = pai__oom(r->err);
  if (rc == PAI_OK && !is_whole) {
    keep_in(&d, lines);
    if (d.count > 0)
      rc = keep_safe(l, doc, &d, after.data, after.len, r->err);
  }
  pai__json_begin_array(&r->w);
  for (size_t i = 0; rc == PAI_OK && i < d.count; i++)
    pai__put_edit(l, doc, &r->w, d.edits[i].span, d.edits[i].text,
                  d.edits[i].len);
  pai__json_end_array(&r->w);
  pai__line_diff_dispose(&d);
  pai_draft_free(draft);
  return rc;
}

PAI__LANGUAGE_HANDLER(format)
{
  return format_lines(l, r, (pai__span){ 0, r->doc->text.len });
}

/* Returns lines `first` to `last`, with their line ends. */
static pai__span lines_of(const pai__language_doc *doc, size_t first,
                          size_t last)
{
  const pai__language_lines *lines = &doc->lines;

  return (pai__span){ lines->starts[first], last + 1 < lines->count
                                              ? lines->starts[last + 1]
                                              : doc->text.len };
}

PAI__LANGUAGE_HANDLER(format_range)
{
  size_t last = r->range.end;

  /* A selection of whole lines ends at the beginning of the next one. */
  if (last > r->range.start &&
      r->doc->lines.starts[pai__language_lines_find(&r->doc->lines, last)] ==
        last)
    last--;
  return format_lines(
    l, r,
    lines_of(r->doc, pai__language_lines_find(&r->doc->lines, r->range.start),
             pai__language_lines_find(&r->doc->lines, last)));
}

/* After a newline: the line before it. */
PAI__LANGUAGE_HANDLER(format_typed)
{
  size_t line = pai__language_lines_find(&r->doc->lines, r->at);

  if (line == 0) {
    pai__json_null(&r->w);
    return PAI_OK;
  }
  return format_lines(l, r, lines_of(r->doc, line - 1, line - 1));
}
