/*
 * cluster_parse.c - parse a cluster: detect the form of a text, read it, check
 * it
 *
 * This is the only place that decides which form a text has.
 */
#include "base/report.h"
#include "json/json.h"
#include "resource/cluster/read.h"
#include "yaml/yaml.h"

/* Forms in the order in which they are tried. */
static const pai__cluster_form *const forms[] = {
  /* Slurm's form has 'nodes' too, so it is before openpai's. */
  &pai__form_kubernetes, &pai__form_slurm, &pai__form_layout,
  &pai__form_openpai,    &pai__form_hived, &pai__form_alibaba
};

int pai__cluster_options(pai_cluster_options *out,
                         const pai_cluster_options *opts, pai_error **err)
{
  int rc = PAI__OPTIONS_IN(out, opts, pai_cluster_options, max_nodes);

  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_cluster_options");
  out->alloc = pai__alloc_or_libc(out->alloc);
  if (out->max_bytes == 0)
    out->max_bytes = PAI__CLUSTER_MAX_BYTES;
  if (out->max_nodes == 0)
    out->max_nodes = PAI__CLUSTER_MAX_NODES;
  for (size_t i = 0; out->form != NULL; i++) {
    if (i == PAI__LEN(forms)) {
      (void)pai__fail(err, PAI_EINVAL, "unknown format of clusters '%.80s'",
                      out->form);
      pai__error_help(err, "openpai, hived, layout, kubernetes, slurm or "
                           "alibaba");
      return PAI_EINVAL;
    }
    if (strcmp(forms[i]->name, out->form) == 0)
      break;
  }
  return PAI_OK;
}

/* Parses rows of nodes, a text that starts with { as JSON if it is valid JSON,
 * and all other texts as YAML. */
static int parse(pai__tree **out, const char *text, size_t len,
                 const pai_cluster_options *o, pai_error **err)
{
  pai__json_options json = { .flags = PAI__JSON_COMMENTS,
                             .max_bytes = o->max_bytes,
                             .alloc = o->alloc };
  pai__yaml_options yaml = { .mode = PAI__YAML_JS,
                             .max_bytes = o->max_bytes,
                             .alloc = o->alloc };
  size_t at = 0;
  int rc;

  while (at < len && strchr(" \t\r\n", text[at]) != NULL && text[at] != '\0')
    at++;
  if (pai__is_node_rows(text, len))
    return pai__node_rows_parse(out, text, len, o, err);
  if (at == len || text[at] != '{')
    return pai__yaml_parse(out, text, len, &yaml, err);
  rc = pai__json_parse(out, text, len, &json, err);
  if (rc != PAI_EINVAL)
    return rc;
  if (pai__yaml_parse(out, text, len, &yaml, NULL) < 0)
    return rc; /* with JSON's error, which is more precise */
  if (err != NULL) {
    pai_error_free(*err);
    *err = NULL;
  }
  return PAI_OK;
}

static const pai__cluster_form *find_form(const pai__tree *t, const char *name)
{
  for (size_t i = 0; i < PAI__LEN(forms); i++)
    if (name != NULL ? strcmp(forms[i]->name, name) == 0 : forms[i]->is(t))
      return forms[i];
  return NULL;
}

static void read(pai__reader *r, const char *form_name)
{
  const pai__cluster_form *form = find_form(r->t, form_name);
  uint32_t same[2]; /* pai__read_same_names() reports them */
  int rc;

  if (form == NULL) {
    if (pai__find(r->f, PAI_SEVERITY_ERROR, "unknown-form", 0,
                  pai__tree_type(r->t, 0) == PAI__NULL
                    ? "the text is empty"
                    : "this is not a cluster in a known format"))
      pai__find_help(r->f, "a cluster has 'nodes', 'physicalCluster', "
                           "'machine-list', or Kubernetes' 'items'");
    return;
  }
  r->c->form = form->name;
  form->read(r);
  if (r->f->failed)
    return;
  if (r->c->nnodes == 0 && r->f->errors == 0)
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "no-nodes", 0,
                    "the cluster has no nodes");
  rc = pai__cluster_end(r->c, same);
  if (rc == PAI_EEXISTS)
    rc = pai__read_same_names(r);
  else if (rc == PAI_OK)
    rc = pai__read_same(r);
  r->f->failed |= rc == PAI_ENOMEM;
  if (rc == PAI_OK && r->f->errors == 0 && form->finish != NULL)
    form->finish(r);
  if (!r->f->failed && r->f->errors == 0)
    pai__cluster_lint(r);
}

static int look(pai_report *report, pai_cluster *c, const pai__tree *t,
                const pai_cluster_options *o)
{
  pai__findings f;
  pai__reader r = { .c = c, .t = t, .f = &f, .max_nodes = o->max_nodes };
  int rc;

  pai__findings_init(&f, &report->arena, t);
  read(&r, o->form);
  rc = pai__findings_end(&f);
  if (rc == PAI_OK)
    rc = pai__report_take(report, &f);
  pai__free(&c->alloc, r.places, r.place_cap * sizeof(*r.places));
  pai__free(&c->alloc, r.cell_at, r.cell_at_cap * sizeof(*r.cell_at));
  pai__free(&c->alloc, r.shares, r.share_cap * sizeof(*r.shares));
  pai__findings_dispose(&f);
  return rc;
}

static int check(pai_report *report, pai_cluster **out, const char *text,
                 size_t len, const pai_cluster_options *o)
{
  pai_error *why = NULL;
  pai__tree *tree = NULL;
  int rc = parse(&tree, text, len, o, &why);

  if (rc < 0 && rc != PAI_ENOMEM)
    rc = pai__report_fail(report, rc == PAI_ELIMIT ? "limit" : "syntax", why);
  else if (rc == PAI_OK)
    rc = pai__cluster_new(out, o->alloc);
  if (rc == PAI_OK && *out != NULL)
    rc = look(report, *out, tree, o);
  pai_error_free(why);
  pai__tree_free(tree);
  if (rc == PAI_OK && report->errors == 0)
    return PAI_OK;
  pai_cluster_free(*out);
  *out = NULL;
  return rc;
}

int pai_cluster_check(pai_report **out, pai_cluster **cluster,
                      const char *text, size_t len,
                      const pai_cluster_options *opts, pai_error **err)
{
  pai_cluster_options o;
  pai_cluster *c = NULL;
  pai_report *r;
  int rc;

  if (cluster != NULL)
    *cluster = NULL;
  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(text != NULL, err);
  rc = pai__cluster_options(&o, opts, err);
  if (rc < 0)
    return rc;
  rc = pai__report_new(&r, o.alloc);
  if (rc == PAI_OK)
    rc = check(r, &c, text, len, &o);
  if (rc < 0) {
    pai_report_free(r);
    return pai__oom(err);
  }
  if (cluster != NULL)
    *cluster = c;
  else
    pai_cluster_free(c);
  *out = r;
  return PAI_OK;
}

int pai_cluster_parse(pai_cluster **out, const char *text, size_t len,
                      const pai_cluster_options *opts, pai_error **err)
{
  pai_report *r;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(text != NULL, err);
  rc = pai_cluster_check(&r, out, text, len, opts, err);
  if (r != NULL && r->errors > 0)
    rc = pai__report_raise(r, err);
  pai_report_free(r);
  return rc;
}
