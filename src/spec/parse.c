/* parse.c - checks a job file: makes a report, a spec, or the first error */
#include "base/fixes.h"
#include "spec/check.h"
#include "spec/convert/convert.h"
#include "spec/scan/index.h"
#include "spec/lint/lint.h"
#include "spec/read.h"
#include "spec/secrets.h"
#include "spec/scan/syntax.h"
#include "yaml/yaml.h"

/* Without hints the first error is enough, so templates are only checked if
 * there is none. */
static void find_v2(pai__findings *f, const pai_spec_options *o, bool hints)
{
  pai__index index = { .tree = NULL };

  pai__check_refs(f, &index);
  if (o->hived)
    pai__check_hived(f);
  pai__check_limits(f, 2, o);
  if ((hints || f->errors == 0) && !f->failed)
    pai__check_templates(f, &index);
  if (hints && !f->failed)
    pai__lint(f, &index);
  pai__index_dispose(&index);
}

/* `hints`: also finds legal mistakes. */
static void find_all(pai__findings *f, int version, const pai_spec_options *o,
                     bool hints)
{
  pai__check(f, version == 1 ? &pai__rules_v1 : &pai__rules_v2, 0, 0);
  if (pai__tree_type(f->tree, 0) != PAI__MAPPING)
    return;
  if (hints) /* else an obstacle: pai__spec_extras() */
    pai__check_openpai(f);
  pai__check_duplicates(f, version == 1 && f->tree->syntax == PAI__SYNTAX_JSON
                             ? PAI_SEVERITY_WARNING
                             : PAI_SEVERITY_ERROR);
  if (version != 1) {
    find_v2(f, o, hints);
    return;
  }
  pai__check_v1(f);
  pai__check_limits(f, version, o);
}

/* Finds errors that only show in v2: commands that become too long. */
static void check_import(pai__findings *f, const pai__tree *tree)
{
  pai__findings g;
  pai__index index;

  if (pai__index_init(&index, tree, f->arena->alloc, NULL, NULL) < 0) {
    f->failed = true;
    return;
  }
  pai__findings_init(&g, f->arena, tree);
  g.find_secrets = pai__secrets_suspect;
  pai__check_templates(&g, &index);
  pai__index_dispose(&index);
  f->failed |= g.failed;
  if (!g.failed && g.len > 0)
    pai__find(f, PAI_SEVERITY_ERROR, g.list[0].code, 0,
              "protocol v2 cannot express this: %s", g.list[0].message);
  pai__findings_dispose(&g);
}

/* Replaces the tree of a valid v1 file by its conversion to v2. */
static int import(pai__findings *f, pai__tree **tree,
                  const pai_spec_options *o)
{
  /* The v1 fields that are kept lie deeper, and the text is longer. */
  pai__yaml_options options = { .mode = PAI__YAML_JS,
                                .max_depth = o->max_depth + 8,
                                .alloc = o->alloc };
  pai_error *err = NULL;
  pai__buf text;
  int rc;

  pai__buf_init(&text, o->alloc);
  rc = pai__convert_v1_to_v2(&text, f);
  if (rc == PAI_OK)
    rc = pai__yaml_parse(tree, pai__buf_text(&text), text.len, &options, &err);
  if (rc < 0 && rc != PAI_ENOMEM) {
    pai__find(f, PAI_SEVERITY_ERROR, "limit", 0,
              "protocol v2 cannot express this: %s",
              err != NULL ? pai_error_message(err) : "it becomes too long");
    rc = PAI_OK;
  } else if (rc == PAI_OK) {
    check_import(f, *tree);
  }
  pai_error_free(err);
  pai__buf_dispose(&text);
  return rc;
}

/* Explains an unknown key by the tab that indents its line. */
static void blame_tabs(pai__findings *f, const char *text, size_t len)
{
  for (size_t i = 0; i < f->len; i++)
    if (strcmp(f->list[i].code, "unknown-key") == 0 &&
        pai__syntax_is_tabbed(text, len, f->list[i].start)) {
      f->list[i].help =
        "this line is indented with a tab: indent with spaces only";
      f->list[i].fixes = NULL; /* the key may be right */
    }
}

/* Fills the report of a tree.  Converts a v1 tree to v2. */
static int look(pai_report *r, pai__tree **tree, const pai_spec_options *o,
                bool hints, const char *text, size_t len)
{
  pai__tree *read = *tree;
  pai__findings f;
  int rc = PAI_OK;

  pai__findings_init(&f, &r->arena, read);
  f.find_secrets = pai__secrets_suspect;
  find_all(&f, r->version, o, hints);
  blame_tabs(&f, text, len);
  if (r->version == 1 && f.errors == 0)
    rc = import(&f, tree, o);
  if (rc == PAI_OK)
    rc = pai__findings_end(&f);
  if (rc == PAI_OK)
    rc = pai__report_take(r, &f);
  pai__findings_dispose(&f);
  if (*tree != read)
    pai__tree_free(read);
  return rc;
}

/* Fills the report of a text that could not be parsed; `code` is the error. */
static int tell_failure(pai_report *r, int code, const pai_error *why,
                        const pai__mended *mended, const char *text,
                        size_t len)
{
  bool show =
    code == PAI_EINVAL && pai__syntax_may_show(text, len, pai_error_line(why));
  int rc = pai__report_fail(r, code == PAI_ELIMIT ? "limit" : "syntax", why);

  if (rc == PAI_OK && show)
    rc = pai__report_show(r, text, len);
  if (rc == PAI_OK && code == PAI_EINVAL && mended->title != NULL)
    rc = pai__report_mend(r, mended->title, mended->sure, text, len,
                          &mended->text);
  return rc;
}

static int check(pai_report *r, pai_spec **spec, const char *text, size_t len,
                 const pai_spec_options *o, bool hints, pai_error **err)
{
  pai__mended mended = { .title = NULL };
  pai__tree *tree;
  pai_error *why = NULL;
  int rc = pai__spec_tree(&tree, &r->version, &mended, text, len, o, &why);

  if (rc == PAI_EINVAL)
    rc = pai__spec_tree_again(&tree, &r->version, text, len, o);
  if (rc < 0 && rc != PAI_ENOMEM)
    rc = tell_failure(r, rc, why, &mended, text, len);
  else if (rc == PAI_OK)
    rc = look(r, &tree, o, hints, text, len);
  if (mended.title != NULL)
    pai__buf_dispose(&mended.text);
  pai_error_free(why);
  if (rc == PAI_OK && spec != NULL && r->errors == 0) {
    rc = pai__spec_make(spec, tree, r->version == 1, o->alloc);
    tree = NULL;
    if (rc == PAI_OK)
      (*spec)->usual = !(*spec)->was_v1 && pai__spec_is_usual(o);
  }
  pai__tree_free(tree);
  return rc == PAI_ENOMEM ? pai__oom(err) : rc;
}

static int check_text(pai_report **out, pai_spec **spec, const char *text,
                      size_t len, const pai_spec_options *opts, bool hints,
                      pai_error **err)
{
  pai_spec_options o;
  pai_report *r;
  int rc;

  if (spec != NULL)
    *spec = NULL;
  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(text != NULL, err);
  rc = pai__spec_options(&o, opts, err);
  if (rc < 0)
    return rc;
  rc = pai__report_new(&r, o.alloc);
  if (rc < 0)
    return pai__oom(err);
  rc = check(r, spec, text, len, &o, hints, err);
  if (rc < 0) {
    pai_report_free(r);
    return rc;
  }
  *out = r;
  return PAI_OK;
}

int pai_spec_check(pai_report **out, pai_spec **spec, const char *text,
                   size_t len, const pai_spec_options *opts, pai_error **err)
{
  return check_text(out, spec, text, len, opts, true, err);
}

int pai_spec_parse(pai_spec **out, const char *text, size_t len,
                   const pai_spec_options *opts, pai_error **err)
{
  pai_report *r;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(text != NULL, err);
  rc = check_text(&r, out, text, len, opts, false, err);
  if (r != NULL && r->errors > 0)
    rc = pai__report_raise(r, err);
  pai_report_free(r);
  return rc;
}
