/*
 * explain.c - explains what a spec will do: sums, defaults, when the job ends
 *
 * The end follows job-spec 5.5.  A role may fail the job, or end it
 * successfully, once so many of its tasks have failed or succeeded.  If no
 * role does, the job succeeds with its last task, however the tasks ended.
 */
#include "spec/explain/explain.h"

/* --- in words ----------------------------------------------------------- */

enum { MAX_CLAUSES = 6 };

/* Appends "the task of ps", "all 4 tasks of worker", "2 tasks of worker". */
static void add_tasks(pai__buf *out, const pai__role *role, int64_t n)
{
  uint32_t all = role->instances;

  if (all == 1)
    pai__buf_printf(out, "the task of %s", role->name);
  else if (n == all && n == 2)
    pai__buf_printf(out, "both tasks of %s", role->name);
  else if (n == all)
    pai__buf_printf(out, "all %u tasks of %s", all, role->name);
  else if (n == 1)
    pai__buf_printf(out, "a task of %s", role->name);
  else
    pai__buf_printf(out, "%lld tasks of %s", (long long)n, role->name);
}

/* Returns whether a role has n tasks or more. */
static bool is_reachable(const pai__role *role, int32_t n)
{
  return n >= 1 && (uint32_t)n <= role->instances;
}

static int32_t minimum(const pai__role *role, bool failed)
{
  return failed ? role->min_failed : role->min_succeeded;
}

/* Appends "when a task of ps fails or 2 tasks of worker fail". */
static void add_clauses(pai__buf *out, const pai_spec *spec, bool failed)
{
  size_t said = 0, left = 0;

  for (size_t i = 0; i < spec->nroles; i++) {
    const pai__role *role = &spec->roles[i];
    int32_t n = minimum(role, failed);

    if (!is_reachable(role, n))
      continue;
    if (said == MAX_CLAUSES) {
      left++;
      continue;
    }
    pai__buf_str(out, said++ == 0 ? "when " : " or ");
    add_tasks(out, role, n);
    pai__buf_printf(out, " %s%s", failed ? "fail" : "succeed",
                    n == 1 ? "s" : "");
  }
  if (left > 0)
    pai__buf_printf(out, " or enough of %zu other role%s", left,
                    left == 1 ? "" : "s");
}

static void tell_end(pai__spec_explained *e)
{
  const pai_spec *spec = e->spec;
  bool fails = false, any_fails = true, succeeds = false, early = false;
  const char *all = spec->ntasks == 1   ? "its task"
                    : spec->ntasks == 2 ? "both tasks"
                                        : "all tasks";

  for (size_t i = 0; i < spec->nroles; i++) {
    const pai__role *role = &spec->roles[i];
    fails |= is_reachable(role, role->min_failed);
    any_fails &= role->min_failed == 1;
    if (is_reachable(role, role->min_succeeded)) {
      succeeds = true;
      early |= (uint32_t)role->min_succeeded < spec->ntasks;
    }
  }
  if (!fails)
    pai__buf_str(&e->fails, "never");
  else if (any_fails && spec->ntasks > 1)
    pai__buf_str(&e->fails, "when any task fails");
  else if (any_fails)
    pai__buf_str(&e->fails, "when its task fails");
  else
    add_clauses(&e->fails, spec, true);
  if (succeeds && spec->ntasks == 1)
    pai__buf_str(&e->succeeds, "when its task succeeds");
  else if (succeeds)
    add_clauses(&e->succeeds, spec, false);
  if (early)
    pai__buf_str(&e->succeeds, " (running tasks are then stopped)");
  if (any_fails && !succeeds)
    pai__buf_printf(&e->succeeds, "when %s succeed%s", all,
                    spec->ntasks == 1 ? "s" : "");
  else if (!any_fails)
    pai__buf_printf(&e->succeeds, "%swhen %s %s over%s",
                    succeeds ? ", or " : "", all,
                    spec->ntasks == 1 ? "is" : "are",
                    fails ? " before the job fails" : ", successfully or not");
}

/* --- facts -------------------------------------------------------------- */

static pai__node below(const pai__spec_explained *e, const char *mapping,
                       const char *field)
{
  const pai__tree *t = e->spec->tree;
  pai__node n = pai__tree_get(t, 0, mapping);

  return pai__tree_get(t, n, field);
}

/* Returns a text of the file, masked if it is secret, or NULL. */
static const char *text_at(const pai__spec_explained *e, pai__node n,
                           size_t *len)
{
  const char *s = pai__text_at(e->spec->tree, n, len);

  if (s == NULL || !pai__secrets_hide(&e->secrets, n))
    return s;
  *len = sizeof(PAI__MASK) - 1;
  return PAI__MASK;
}

static void dispose(pai__spec_explained *e)
{
  pai__index_dispose(&e->index);
  pai__secrets_dispose(&e->secrets);
  pai__buf_dispose(&e->fails);
  pai__buf_dispose(&e->succeeds);
}

static int gather(pai__spec_explained *e, const pai_spec *spec)
{
  const pai__tree *t = spec->tree;
  size_t len;

  *e = (pai__spec_explained){ .spec = spec, .gang = pai__spec_gang(t) };
  pai__buf_init(&e->fails, &spec->alloc);
  pai__buf_init(&e->succeeds, &spec->alloc);
  for (size_t i = 0; i < spec->nroles; i++) {
    const pai__role *role = &spec->roles[i];
    e->cpu_millis += role->instances * role->cpu_millis;
    e->memory_mb += (uint64_t)role->instances * role->memory_mb;
    e->gpus += (uint64_t)role->instances * role->gpus;
  }
  e->cluster = below(e, "defaults", "virtualCluster");
  if (pai__tree_is(t, e->cluster, PAI__NULL))
    e->cluster = PAI__NO_NODE;
  tell_end(e);
  if (pai__index_init(&e->index, t, &spec->alloc, NULL, NULL) < 0 ||
      pai__secrets_find(&e->secrets, t) < 0 || !pai__buf_ok(&e->fails) ||
      !pai__buf_ok(&e->succeeds)) {
    dispose(e);
    return PAI_ENOMEM;
  }
  e->deployment = text_at(e, below(e, "defaults", "deployment"), &len);
  return PAI_OK;
}

const char *pai__explain_name(const pai__spec_explained *e)
{
  size_t len;

  return text_at(e, pai__tree_get(e->spec->tree, 0, "name"), &len);
}

const char *pai__explain_image(const pai__spec_explained *e,
                               const pai__role *role, size_t *len)
{
  const pai__tree *t = e->spec->tree;
  const char *name =
    pai__text_at(t, pai__tree_get(t, role->node, "dockerImage"), len);
  pai__node image = name != NULL
                      ? pai__index_find(&e->index, "dockerimage", name, *len)
                      : PAI__NO_NODE;
  const char *uri = NULL;

  if (image != PAI__NO_NODE)
    uri = text_at(e, pai__tree_get(t, image, "uri"), len);
  if (uri == NULL)
    *len = 0;
  return uri != NULL ? uri : "";
}

pai__spec_named pai__named_iter(const pai__spec_explained *e, const char *list,
                                const char *field)
{
  const pai__tree *t = e->spec->tree;
  pai__spec_named n = { .of = e, .field = field };
  pai__node extras = pai__tree_get(t, 0, "extras"), found = PAI__NO_NODE;

  if (extras != PAI__NO_NODE)
    found = pai__tree_find(t, extras, list, strlen(list));
  if (found != PAI__NO_NODE)
    found = pai__tree_value(t, found);
  if (pai__tree_is(t, found, PAI__SEQUENCE))
    n.walk = pai__tree_iter(t, found);
  return n;
}

const char *pai__named_next(pai__spec_named *n, size_t *len)
{
  const char *name = NULL;

  while (name == NULL && (n->item = pai__tree_next(&n->walk)) != PAI__NO_NODE)
    name =
      text_at(n->of, pai__tree_get(n->of->spec->tree, n->item, n->field), len);
  return name;
}

/* --- the call ----------------------------------------------------------- */

int pai_spec_explain(const pai_spec *spec, int format, pai_write_cb write,
                     void *user_data, pai_error **err)
{
  pai__spec_explained e;
  int rc;

  PAI__CHECK_ARG_ERR(spec != NULL, err);
  PAI__CHECK_ARG_ERR(write != NULL, err);
  if (format != 0 && format != PAI_FORMAT_TEXT && format != PAI_FORMAT_JSON)
    return pai__fail(err, PAI_EINVAL, "nothing is explained in format %d",
                     format);
  rc = gather(&e, spec);
  if (rc < 0)
    return pai__oom(err);
  rc = format == PAI_FORMAT_JSON ? pai__explain_json(&e, write, user_data)
                                 : pai__explain_text(&e, write, user_data);
  dispose(&e);
  if (rc == PAI_ENOMEM)
    return pai__oom(err);
  return rc < 0 ? pai__fail(err, rc, "the explanation could not be written")
                : PAI_OK;
}
