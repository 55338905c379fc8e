/* action.c - code actions: the fixes of diagnostics, all sure fixes of a file,
 * and what else can be changed */
#include "language/language.h"
#include "language/line_diff.h"

/* A code action that is being written. */
typedef struct pai__language_actions {
  pai_language *l;
  pai__language_request *r;
  pai__node only; /* the kinds that the client asks for, or PAI__NO_NODE */
} pai__language_actions;

/* Whether the client asks for a kind; "source" stands for "source.fixAll". */
static bool wants(const pai__language_actions *a, const char *kind)
{
  const pai__tree *t = a->r->tree;
  pai__tree_walk walk;
  pai__node n;

  if (!pai__tree_is(t, a->only, PAI__SEQUENCE))
    return true;
  walk = pai__tree_iter(t, a->only);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = pai__tree_text(t, n, "-");
    size_t len = strlen(name);

    if (len == 0 || (strncmp(kind, name, len) == 0 &&
                     (kind[len] == '\0' || kind[len] == '.')))
      return true;
  }
  return false;
}

static void begin_action(pai__language_actions *a, const char *title,
                         const char *kind)
{
  pai__json_write(&a->r->w, "{title:s,kind:s", title, kind);
}

static void put_fix_edits(pai__language_actions *a, const pai_fix *fix)
{
  for (size_t i = 0; i < fix->edit_count; i++) {
    const pai_text_edit *e = fix->edits[i];

    pai__put_edit(a->l, a->r->doc, &a->r->w,
                  pai__language_span(a->r->doc, e->line, e->column,
                                     e->end_line, e->end_column),
                  e->text, strlen(e->text));
  }
}

static void put_fix(pai__language_actions *a, const pai_diagnostic *d,
                    const pai_fix *fix, bool preferred)
{
  pai__json_writer *w = &a->r->w;

  begin_action(a, fix->title, "quickfix");
  if (preferred)
    pai__json_put_bool(w, "isPreferred", true);
  pai__json_put_array(w, "diagnostics");
  pai__put_diagnostic(a->l, a->r->doc, w, d);
  pai__json_end_array(w);
  pai__json_member(w, "edit");
  pai__put_workspace_edit(a->r->doc, w);
  put_fix_edits(a, fix);
  pai__end_workspace_edit(w);
  pai__json_end_object(w);
}

static bool touches(pai__span a, pai__span b)
{
  return a.start <= b.end && b.start <= a.end;
}

static void put_fixes(pai__language_actions *a, const pai_report *report)
{
  for (size_t i = 0; i < pai_report_count(report); i++) {
    const pai_diagnostic *d = pai_report_get(report, i);
    pai__span span;

    if (d->fix_count == 0)
      continue;
    span = pai__language_span(a->r->doc, d->line, d->column, d->end_line,
                              d->end_column);
    for (size_t k = 0; touches(span, a->r->range) && k < d->fix_count; k++)
      put_fix(a, d, d->fixes[k], k == 0 && d->fixes[k]->sure);
  }
}

/* --- all fixes of a file ------------------------------------------------------ */

static bool has_sure_fix(const pai_report *report)
{
  for (size_t i = 0; i < pai_report_count(report); i++) {
    const pai_diagnostic *d = pai_report_get(report, i);

    for (size_t k = 0; k < d->fix_count; k++)
      if (d->fixes[k]->sure)
        return true;
  }
  return false;
}

/* Writes the edits that make the text what pai_report_fix() writes. */
static int put_all_edits(pai__language_actions *a, pai__bytes fixed)
{
  pai__language_doc *doc = a->r->doc;
  pai__bytes text = { pai__buf_text(&doc->text), doc->text.len };
  pai__json_writer *w = &a->r->w;
  pai__line_diff d;
  int rc = pai__line_diff_read(&d, &a->l->alloc, text, fixed);

  begin_action(a, "Apply all sure corrections", "source.fixAll.openpai");
  pai__json_member(w, "edit");
  pai__put_workspace_edit(doc, w);
  for (size_t i = 0; rc == PAI_OK && i < d.count; i++)
    pai__put_edit(a->l, doc, w, d.edits[i].span, d.edits[i].text,
                  d.edits[i].len);
  pai__end_workspace_edit(w);
  pai__json_end_object(w);
  pai__line_diff_dispose(&d);
  return rc;
}

static int put_all_fixes(pai__language_actions *a, const pai_report *report)
{
  const pai__language_doc *doc = a->r->doc;
  pai__buf fixed;
  int rc;

  pai__buf_init(&fixed, &a->l->alloc);
  rc = pai_report_fix(report, pai__buf_text(&doc->text), doc->text.len, NULL,
                      pai__buf_write, &fixed, a->r->err);
  if (rc > 0)
    rc = pai__buf_ok(&fixed)
           ? put_all_edits(a, (pai__bytes){ fixed.data, fixed.len })
           : PAI_ENOMEM;
  pai__buf_dispose(&fixed);
  return rc < 0 ? rc : PAI_OK;
}

/* --- others ------------------------------------------------------------------------ */

static const char *const kinds[] = {
  [PAI__ACTION_QUICK] = "quickfix",
  [PAI__ACTION_REFACTOR] = "refactor.rewrite",
};

static int put_other(void *user_data, const pai__language_action *action)
{
  pai__language_actions *a = user_data;
  pai__json_writer *w = &a->r->w;

  if (!wants(a, kinds[action->kind]))
    return PAI_OK;
  begin_action(a, action->title, kinds[action->kind]);
  pai__json_member(w, "edit");
  pai__put_workspace_edit(a->r->doc, w);
  for (size_t i = 0; i < action->nedits; i++)
    pai__put_edit(a->l, a->r->doc, w, action->edits[i].span,
                  action->edits[i].text, strlen(action->edits[i].text));
  pai__end_workspace_edit(w);
  pai__json_end_object(w);
  return PAI_OK;
}

PAI__LANGUAGE_HANDLER(code_action)
{
  pai__language_text text = pai__doc_text(&l->docs, r->doc);
  pai__language_actions a = {
    l, r,
    pai__tree_get(r->tree, pai__tree_get(r->tree, r->params, "context"),
                  "only")
  };
  const pai_report *report;
  int rc = pai__language_check(l, r->doc, &report, r->err);

  pai__json_begin_array(&r->w);
  if (rc == PAI_OK && wants(&a, "quickfix"))
    put_fixes(&a, report);
  if (rc == PAI_OK && wants(&a, "source.fixAll.openpai") &&
      has_sure_fix(report))
    rc = put_all_fixes(&a, report);
  if (rc == PAI_OK && (wants(&a, "quickfix") || wants(&a, "refactor.rewrite")))
    rc = pai__more_actions(&text, r->range, put_other, &a);
  pai__json_end_array(&r->w);
  return rc;
}
