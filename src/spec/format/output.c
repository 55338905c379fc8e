/* output.c - writes a spec as text */
#include "base/report.h"
#include "spec/mask.h"
#include "spec/edit/place.h"
#include "spec/read.h"
#include "spec/secrets.h"
#include "spec/spec.h"
#include "spec/format/write.h"

#include <math.h>

/* Finds numbers that JSON lacks; they become null. */
static void find_no_json(pai__findings *f, const pai__tree *shown)
{
  for (pai__node n = 1; n < shown->count; n++) {
    const pai__tree_node *node = &shown->nodes[n];
    char value[PAI__VALUE_TEXT];

    if (node->type != PAI__FLOAT || isfinite(node->u.f) ||
        ((node[-1].flags & PAI__IS_KEY) != 0 && node[-1].skip > n))
      continue; /* keys are texts */
    pai__find(f, PAI_SEVERITY_WARNING, "no-json", n,
              "JSON has no %s: it becomes null", pai__value_text(value, f, n));
    pai__find_help(f, "put it in quotes to keep it as text");
  }
}

/* Reports what JSON cannot express.  `shown` is the spec's tree or its masked
 * copy, which has the same nodes. */
static int report_no_json(pai_report **out, const pai_spec *spec,
                          const pai__tree *shown)
{
  pai_report *r;
  pai__findings f;
  int rc = pai__report_new(&r, &shown->alloc);

  if (rc < 0)
    return rc;
  r->version = 2;
  pai__findings_init(&f, &r->arena, spec->tree);
  f.find_secrets = pai__secrets_suspect;
  find_no_json(&f, shown);
  rc = pai__findings_end(&f);
  if (rc == PAI_OK)
    rc = pai__report_take(r, &f);
  pai__findings_dispose(&f);
  if (rc == PAI_OK)
    *out = r;
  else
    pai_report_free(r);
  return rc;
}

static int put_json(pai__buf *out, const pai__tree *tree)
{
  pai__json_writer w;

  pai__json_writer_init(&w, out, true);
  pai__write_json(&w, tree, 0);
  return pai__json_finish(&w);
}

static int put(pai__buf *out, const pai_spec *spec, const pai__tree *tree,
               const pai_spec_write_options *o)
{
  int rc;

  if (o->format != PAI_FORMAT_JSON)
    return pai__write_yaml(out, tree, 0);
  rc = put_json(out, tree);
  return rc == PAI_OK && o->report != NULL
           ? report_no_json(o->report, spec, tree)
           : rc;
}

static int get_options(pai_spec_write_options *o,
                       const pai_spec_write_options *opts, pai_error **err)
{
  int rc = PAI__OPTIONS_IN(o, opts, pai_spec_write_options, report);

  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_spec_write_options");
  if (o->report != NULL)
    *o->report = NULL;
  if (o->format < 0 || o->format > PAI_FORMAT_JSON)
    return pai__fail(err, PAI_EINVAL, "there is no format %d", o->format);
  return PAI_OK;
}

int pai_spec_write(const pai_spec *spec, const pai_spec_write_options *opts,
                   pai_write_cb write, void *user_data, pai_error **err)
{
  pai_spec_write_options o;
  pai__tree *masked = NULL;
  pai__buf out;
  int rc;

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
                         "the spec is nested too deeply to be written"));
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
  PAI__CHECK_ARG_ERR(spec != NULL && path != NULL && write != NULL, err);
  return pai__write_place(spec->tree, &spec->secrets, path, write, user_data,
                          err);
}
