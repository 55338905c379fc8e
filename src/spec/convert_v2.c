/*
 * convert_v2.c - protocol v2 into job config v1, as far as v1 goes
 *
 * What v1 cannot say is noted where it stands, once for each field.
 */
#include "spec/convert_v2.h"

#include "base/utf8.h"
#include "yaml/scalar.h"

static void put_node(v2_job *j, pai__node n);

static void put_entry(v2_job *j, pai__node key)
{
  text name = pai__conv_text(&j->c, key);

  pai__json_key(&j->w, name.s, name.len);
  put_node(j, pai__tree_value(j->c.tree, key));
}

/* As JSON.stringify() has it, but for bytes, which become text. */
static void put_scalar(v2_job *j, pai__node n)
{
  const pai__tree *t = j->c.tree;
  pai__buf date;
  const char *s;
  size_t len;

  switch (pai__tree_type(t, n)) {
  case PAI__NULL: pai__json_null(&j->w); break;
  case PAI__BOOL: pai__json_bool(&j->w, pai__tree_bool(t, n)); break;
  case PAI__INT: pai__json_int(&j->w, pai__tree_int(t, n)); break;
  case PAI__FLOAT: pai__json_double(&j->w, pai__tree_float(t, n)); break;
  case PAI__TIMESTAMP:
    pai__buf_init(&date, j->c.alloc);
    pai__date_iso(&date, pai__tree_int(t, n));
    pai__json_text(&j->w, pai__buf_text(&date), date.len);
    if (!pai__buf_ok(&date) && j->c.rc == PAI_OK)
      j->c.rc = PAI_ENOMEM;
    pai__buf_dispose(&date);
    break;
  default:
    s = pai__tree_str(t, n, &len);
    pai__json_text(&j->w, s, len);
    break;
  }
}

static void put_node(v2_job *j, pai__node n)
{
  pai__tree_walk w = pai__conv_walk(&j->c, n);
  bool mapping = pai__conv_is(&j->c, n, PAI__MAPPING);
  pai__node item;

  if (!mapping && !pai__conv_is(&j->c, n, PAI__SEQUENCE)) {
    put_scalar(j, n);
    return;
  }
  if (mapping)
    pai__json_begin_object(&j->w);
  else
    pai__json_begin_array(&j->w);
  while ((item = pai__tree_next(&w)) != PAI__NO_NODE) {
    if (mapping)
      put_entry(j, item);
    else
      put_node(j, item);
  }
  if (mapping)
    pai__json_end_object(&j->w);
  else
    pai__json_end_array(&j->w);
}

/* --- notes -------------------------------------------------------------- */

void pai__v2_note_others(v2_job *j, pai__node mapping, const char *code,
                         const char *what, const char *const *known)
{
  pai__tree_walk w = pai__conv_walk(&j->c, mapping);
  char part[PAI__EXCERPT];
  pai__node key;

  if (!pai__conv_is(&j->c, mapping, PAI__MAPPING))
    return;
  while ((key = pai__tree_next(&w)) != PAI__NO_NODE) {
    text name = pai__conv_text(&j->c, key);
    size_t i = 0;

    while (known[i] != NULL && !pai__conv_equals(name, known[i]))
      i++;
    if (known[i] == NULL)
      pai__conv_note(&j->c, pai__tree_value(j->c.tree, key),
                     PAI__CONVERT_ERROR, code, NULL,
                     "v1 has no place for %s %s", what,
                     pai__excerpt(part, name.s, name.len));
  }
}

static void note_deployments(v2_job *j)
{
  static const char *const known[] = { "name", "taskRoles", "protocolVersion",
                                       NULL };
  pai__tree_walk w = pai__conv_walk(&j->c, pai__v2_get(j, "deployments"));
  pai__node n;

  while ((n = pai__tree_next(&w)) != PAI__NO_NODE)
    if (n != j->selected)
      pai__conv_note(&j->c, n, PAI__CONVERT_ERROR, "deployment", NULL,
                     "v1 has no deployments, and the job does not use this "
                     "one");
  pai__v2_note_others(j, j->selected, "deployment-field", "a deployment's",
                      known);
}

/* Parameters serve templates and, by way of the deployment, variables. */
static void note_parameters(v2_job *j)
{
  pai__tree_walk w = pai__conv_walk(&j->c, j->parameters);
  pai__node key;

  if (!pai__conv_is(&j->c, j->parameters, PAI__MAPPING))
    return;
  while ((key = pai__tree_next(&w)) != PAI__NO_NODE) {
    text name = pai__conv_text(&j->c, key);
    pai__node value = pai__tree_value(j->c.tree, key);

    if (pai__map_get(&j->envs, name.s, name.len) != NULL ||
        pai__conv_equals(pai__conv_text(&j->c, value), "<%"))
      continue;
    pai__conv_note(&j->c, j->parameters, PAI__CONVERT_ERROR, "parameters",
                   NULL, "v1 has no parameters");
    return;
  }
}

static void note_job(v2_job *j)
{
  static const char *const defaults[] = { "deployment", "virtualCluster",
                                          NULL };
  static const char *const fields[] = { "version", "contributor",
                                        "description", "secrets" };

  for (size_t i = 0; i < PAI__LEN(fields); i++) {
    pai__node n = pai__v2_get(j, fields[i]);

    if (n != PAI__NO_NODE)
      pai__conv_note(&j->c, n, PAI__CONVERT_ERROR, fields[i], NULL,
                     "v1 has no %s", fields[i]);
  }
  note_parameters(j);
  note_deployments(j);
  pai__v2_note_others(j, pai__v2_get(j, "defaults"), "defaults", "defaults'",
                      defaults);
  for (size_t i = 0; pai__conv_meanings[i] != NULL; i++) {
    pai__node n = pai__conv_get(&j->c, j->extras, pai__conv_meanings[i]);

    if (n != PAI__NO_NODE)
      pai__conv_note(&j->c, n, PAI__CONVERT_WARNING, "extras", NULL,
                     "v1 does not act on %s; it stays in extras",
                     pai__conv_meanings[i]);
  }
}

/* --- the job ------------------------------------------------------------ */

static text kept_text(const v2_job *j, const char *field)
{
  return pai__conv_text(&j->c, pai__conv_get(&j->c, j->kept, field));
}

/* Writes a text unless it is empty. */
static void put_given(v2_job *j, const char *field, text value)
{
  if (value.len != 0)
    pai__v2_text(j, field, value);
}

static void put_head(v2_job *j)
{
  text name = pai__conv_text(&j->c, pai__v2_get(j, "name"));
  text was = kept_text(j, "jobName");

  if (was.len != 0 && pai__conv_same(pai__conv_job_name(&j->c, was), name))
    name = was;
  pai__v2_text(j, "jobName", name);
  pai__v2_text(j, "image", j->image);
  put_given(j, "authFile", kept_text(j, "authFile"));
  for (size_t i = 0; i < PAI__CONV_DIRS; i++)
    put_given(j, pai__conv_dirs[i].field, j->dirs[i]);
}

static void put_cluster(v2_job *j)
{
  pai__node n =
    pai__conv_get(&j->c, pai__v2_get(j, "defaults"), "virtualCluster");
  pai__node kept = pai__conv_get(&j->c, j->kept, "virtualCluster");
  text name = { "default", 7 };

  if (n != PAI__NO_NODE && !pai__conv_is(&j->c, n, PAI__NULL))
    name = pai__conv_string(&j->c, n);
  if (!pai__conv_equals(name, "default"))
    pai__v2_text(j, "virtualCluster", name);
  else if (pai__conv_is(&j->c, kept, PAI__STRING) &&
           pai__conv_text(&j->c, kept).len == 0)
    pai__v2_text(j, "virtualCluster", (text){ "", 0 });
}

static void put_numbers(v2_job *j)
{
  pai__node kill =
    pai__conv_get(&j->c, j->kept, "killAllOnCompletedTaskNumber");
  pai__node kept = pai__conv_get(&j->c, j->kept, "retryCount");
  int64_t retries = pai__conv_int(&j->c, pai__v2_get(j, "jobRetryCount"), 0);
  int64_t was = pai__conv_int(&j->c, kept, 0);

  put_given(j, "gpuType", kept_text(j, "gpuType"));
  if (kill != PAI__NO_NODE)
    pai__v2_int(j, "killAllOnCompletedTaskNumber",
                pai__conv_int(&j->c, kill, 0));
  if (was < 0 && was >= -2 && pai__conv_retries(was) == retries)
    retries = was;
  if (retries != 0)
    pai__v2_int(j, "retryCount", retries);
}

/* A variable has the type of the parameter of its name, as long as the text
 * that is exported is that parameter's. */
static void put_variable(v2_job *j, const pai__map_entry *e)
{
  const text *value = e->value;
  pai__node key = j->parameters != PAI__NO_NODE
                    ? pai__tree_find(j->c.tree, j->parameters, e->key, e->len)
                    : PAI__NO_NODE;

  if (key != PAI__NO_NODE &&
      pai__conv_same(
        *value, pai__conv_string(&j->c, pai__tree_value(j->c.tree, key)))) {
    put_entry(j, key);
    return;
  }
  pai__json_key(&j->w, e->key, e->len);
  pai__json_text(&j->w, value->s, value->len);
}

static void put_variables(v2_job *j)
{
  pai__node kept = pai__conv_get(&j->c, j->kept, "jobEnvs"), key;
  pai__tree_walk w;
  const pai__map_entry *e;

  if (j->envs.live == 0 && !pai__conv_is(&j->c, kept, PAI__MAPPING))
    return;
  pai__v2_key(j, "jobEnvs");
  pai__json_begin_object(&j->w);
  for (size_t i = 0; (e = pai__map_next(&j->envs, &i)) != NULL;)
    put_variable(j, e);
  w = pai__conv_walk(&j->c, kept);
  while (w.keys && (key = pai__tree_next(&w)) != PAI__NO_NODE) {
    text name = pai__conv_text(&j->c, key);

    if (pai__map_get(&j->envs, name.s, name.len) == NULL)
      put_entry(j, key);
  }
  pai__json_end_object(&j->w);
}

/* --- extras ------------------------------------------------------------- */

/* extras.openpai without our own entry. */
static void put_rest(v2_job *j, pai__node own)
{
  pai__tree_walk w = pai__conv_walk(&j->c, own);
  pai__node key;

  pai__v2_key(j, "openpai");
  if (j->kept == PAI__NO_NODE) {
    put_node(j, own);
    return;
  }
  pai__json_begin_object(&j->w);
  while ((key = pai__tree_next(&w)) != PAI__NO_NODE)
    if (!pai__conv_equals(pai__conv_text(&j->c, key), "v1"))
      put_entry(j, key);
  pai__json_end_object(&j->w);
}

static void put_extras(v2_job *j)
{
  pai__node own = pai__conv_get(&j->c, j->extras, "openpai"), key;
  pai__node kept = pai__conv_get(&j->c, j->kept, "extras");
  pai__node instead = pai__conv_get(&j->c, kept, "openpai");
  bool rest = own != PAI__NO_NODE &&
              (j->kept == PAI__NO_NODE || pai__conv_count(&j->c, own) > 1);
  size_t others = pai__conv_count(&j->c, j->extras) - (own != PAI__NO_NODE);
  pai__tree_walk w = pai__conv_walk(&j->c, j->extras);

  if (!pai__conv_is(&j->c, j->extras, PAI__MAPPING) ||
      (others == 0 && !rest && j->kept != PAI__NO_NODE &&
       !pai__conv_is(&j->c, kept, PAI__MAPPING)))
    return;
  pai__v2_key(j, "extras");
  pai__json_begin_object(&j->w);
  while ((key = pai__tree_next(&w)) != PAI__NO_NODE)
    if (!pai__conv_equals(pai__conv_text(&j->c, key), "openpai"))
      put_entry(j, key);
  if (rest) {
    put_rest(j, own);
  } else if (instead != PAI__NO_NODE) {
    pai__v2_key(j, "openpai");
    put_node(j, instead);
  }
  pai__json_end_object(&j->w);
}

/* --- all of it ---------------------------------------------------------- */

static void look(v2_job *j)
{
  pai__node list = pai__v2_get(j, "deployments"), n;
  pai__tree_walk w = pai__conv_walk(&j->c, list);
  pai__node name =
    pai__conv_get(&j->c, pai__v2_get(j, "defaults"), "deployment");

  j->roles = pai__conv_only(&j->c, pai__v2_get(j, "taskRoles"), PAI__MAPPING);
  j->parameters =
    pai__conv_only(&j->c, pai__v2_get(j, "parameters"), PAI__MAPPING);
  j->extras = pai__conv_only(&j->c, pai__v2_get(j, "extras"), PAI__MAPPING);
  n = pai__conv_get(&j->c, j->extras, "openpai");
  j->kept = pai__conv_only(&j->c, pai__conv_get(&j->c, n, "v1"), PAI__MAPPING);
  j->selected = PAI__NO_NODE;
  while (name != PAI__NO_NODE && (n = pai__tree_next(&w)) != PAI__NO_NODE)
    if (pai__conv_same(pai__conv_text(&j->c, pai__conv_get(&j->c, n, "name")),
                       pai__conv_text(&j->c, name)))
      j->selected = n;
}

static void put_job(v2_job *j)
{
  look(j);
  pai__v2_uses(j);
  pai__v2_exports(j);
  if (j->c.rc < 0)
    return;
  pai__json_begin_object(&j->w);
  put_head(j);
  put_cluster(j);
  pai__v2_put_roles(j);
  put_numbers(j);
  put_variables(j);
  put_extras(j);
  pai__json_end_object(&j->w);
  note_job(j);
}

int pai__convert_v2_to_v1(pai__buf *out, const pai__tree *v2,
                          pai__convert_note_cb note, void *user_data)
{
  v2_job j = { .same_exports = false };
  int rc;

  pai__conv_init(&j.c, v2, out->alloc, note, user_data);
  pai__map_init(&j.resources, out->alloc);
  pai__map_init(&j.envs, out->alloc);
  pai__json_writer_init(&j.w, out, true);
  put_job(&j);
  rc = j.c.rc < 0 ? j.c.rc : pai__json_finish(&j.w);
  pai__map_dispose(&j.resources);
  pai__map_dispose(&j.envs);
  pai__conv_dispose(&j.c);
  return rc;
}
