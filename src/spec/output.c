/* output.c - a spec as text again */
#include "base/report.h"
#include "spec/convert.h"
#include "spec/mask.h"
#include "spec/place.h"
#include "spec/read.h"
#include "spec/secrets.h"
#include "spec/spec.h"
#include "spec/write.h"

#include <math.h>

static int on_note(void *user_data, const pai__convert_note *note)
{
  pai__findings *f = user_data;
  int severity = note->severity == PAI__CONVERT_ERROR ? PAI_SEVERITY_ERROR
                                                      : PAI_SEVERITY_WARNING;

  if (note->severity == PAI__CONVERT_INFO)
    return PAI_OK;
  pai__find(f, severity, note->code, note->node, "%s", note->message);
  if (note->help != NULL)
    pai__find_help(f, "%s", note->help);
  return PAI_OK;
}

/* What JSON has no number for becomes null there. */
static void find_no_json(pai__findings *f, const pai__tree *shown)
{
  for (pai__node n = 1; n < shown->count; n++) {
    const pai__tree_node *node = &shown->nodes[n];
    char value[PAI__VALUE_TEXT];

    if (node->type != PAI__FLOAT || isfinite(node->u.f) ||
        ((node[-1].flags & PAI__IS_KEY) != 0 && node[-1].skip > n))
      continue; /* in a key it is text */
    pai__find(f, PAI_SEVERITY_WARNING, "no-json", n,
              "JSON has no %s: it becomes null", pai__value_text(value, f, n));
    pai__find_help(f, "put it in quotes to keep it as text");
  }
}

/* Makes of findings a report, for whom it may concern. */
static int put_report(pai_report **out, pai_report *r, pai__findings *f,
                      int rc)
{
  if (rc == PAI_OK)
    rc = pai__findings_end(f);
  if (rc == PAI_OK)
    rc = pai__report_take(r, f);
  pai__findings_dispose(f);
  if (rc == PAI_OK && out != NULL)
    *out = r;
  else
    pai_report_free(r);
  return rc;
}

/* As JSON, of either version, with a report of what that cannot say; `tree` is
 * spec's or that without its secrets, node by node the same. */
static int put_json(pai__buf *out, const pai_spec *spec, const pai__tree *tree,
                    const pai_spec_write_options *o)
{
  pai__json_writer w;
  pai_report *r;
  pai__findings f;
  int rc = pai__report_new(&r, &tree->alloc);

  if (rc < 0)
    return rc;
  r->version = o->version == 1 ? 1 : 2;
  pai__findings_init(&f, &r->arena, spec->tree);
  f.find_secrets = pai__secrets_suspect;
  find_no_json(&f, tree);
  if (o->version == 1) {
    rc = pai__convert_v2_to_v1(out, tree, on_note, &f);
  } else {
    pai__json_writer_init(&w, out, true);
    pai__write_json(&w, tree, 0);
    rc = pai__json_finish(&w);
  }
  return put_report(o->report, r, &f, rc);
}

static int put(pai__buf *out, const pai_spec *spec, const pai__tree *tree,
               const pai_spec_write_options *o)
{
  return o->version == 1 || o->format == PAI_FORMAT_JSON
           ? put_json(out, spec, tree, o)
           : pai__write_yaml(out, tree, 0);
}

static int get_options(pai_spec_write_options *o,
                       const pai_spec_write_options *opts, pai_error **err)
{
  int rc = PAI__OPTIONS_IN(o, opts, pai_spec_write_options, report);

  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_spec_write_options");
  if (o->report != NULL)
    *o->report = NULL;
  if (o->version < 0 || o->version > 2 || o->format < 0 ||
      o->format > PAI_FORMAT_JSON)
    return pai__fail(err, PAI_EINVAL, "there is no such version or format");
  if (o->version == 1 && o->format == PAI_FORMAT_YAML)
    return pai__fail(err, PAI_ENOTSUP, "job config v1 is written as JSON");
  return PAI_OK;
}

int pai_spec_write(const pai_spec *spec, const pai_spec_write_options *opts,
                   pai_write_cb write, void *user_data, pai_error **err)
{
  pai_spec_write_options o;
  pai__tree *masked = NULL;
  pai__buf out;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(spec != NULL && write != NULL, err);
  rc = get_options(&o, opts, err);
  if (rc < 0)
    return rc;
  pai__buf_init(&out, &spec->alloc);
  if (!o.secrets)
    rc = pai__mask(&masked, spec->tree);
  if (rc == PAI_OK)
    rc = put(&out, spec, masked != NULL ? masked : spec->tree, &o);
  pai__tree_free(masked);
  if (rc < 0)
    (void)(rc == PAI_ENOMEM
             ? pai__oom(err)
             : pai__fail(err, rc,
                         "the spec is nested too deep to be written"));
  else
    rc = write(user_data, pai__buf_text(&out), out.len);
  pai__buf_dispose(&out);
  return rc < 0 ? rc : PAI_OK;
}

int pai_spec_masked(pai_spec **out, const pai_spec *spec, pai_error **err)
{
  pai__tree *masked;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(spec != NULL, err);
  rc = pai__mask(&masked, spec->tree);
  if (rc == PAI_OK)
    rc = pai__spec_make(out, masked, spec->was_v1, &spec->alloc);
  return rc < 0 ? pai__oom(err) : PAI_OK;
}

int pai_spec_get(const pai_spec *spec, const char *path, pai_write_cb write,
                 void *user_data, pai_error **err)
{
  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(spec != NULL && path != NULL && write != NULL, err);
  return pai__write_place(spec->tree, &spec->secrets, path, write, user_data,
                          err);
}
