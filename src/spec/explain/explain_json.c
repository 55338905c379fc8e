/* explain_json.c - explains a spec as JSON */
#include "spec/explain/explain.h"

#include "spec/format/write.h"

/* Writes a minimum; -1 means never. */
static void put_minimum(pai__json_writer *w, const char *key, int32_t value)
{
  pai__json_put_int(w, key, value >= 1 ? value : -1);
}

static void put_role(pai__json_writer *w, const pai__spec_explained *e,
                     const pai__role *role)
{
  size_t len;
  const char *image = pai__explain_image(e, role, &len);

  pai__json_begin_object(w);
  pai__json_put_text(w, "name", role->name);
  pai__json_put_int(w, "instances", role->instances);
  pai__json_put_milli(w, "cpus", role->cpu_millis);
  pai__json_put_int(w, "memoryMB", role->memory_mb);
  pai__json_put_int(w, "gpus", role->gpus);
  pai__json_put_int(w, "shmMB", role->shm_mb != 0 ? role->shm_mb : 512);
  pai__json_member(w, "image");
  pai__json_text(w, image, len);
  pai__json_put_object(w, "ports");
  for (size_t i = 0; i < role->nports; i++)
    pai__json_put_int(w, role->ports[i].label, role->ports[i].count);
  pai__json_end_object(w);
  put_minimum(w, "minFailedInstances", role->min_failed);
  put_minimum(w, "minSucceededInstances", role->min_succeeded);
  pai__json_end_object(w);
}

static void put_names(pai__json_writer *w, const char *key,
                      const pai__spec_explained *e, const char *list,
                      const char *field)
{
  pai__spec_named names = pai__named_iter(e, list, field);
  const char *name;
  size_t len;

  pai__json_put_array(w, key);
  while ((name = pai__named_next(&names, &len)) != NULL)
    pai__json_text(w, name, len);
  pai__json_end_array(w);
}

static void put_texts(pai__json_writer *w, const char *key,
                      const char *const *texts, size_t n)
{
  pai__json_put_array(w, key);
  for (size_t i = 0; i < n; i++)
    pai__json_string(w, texts[i]);
  pai__json_end_array(w);
}

static void put_job(pai__json_writer *w, const pai__spec_explained *e)
{
  const pai_spec *spec = e->spec;

  pai__json_begin_object(w);
  pai__json_put_text(w, "name", pai__explain_name(e));
  pai__json_put_int(w, "tasks", (int64_t)spec->ntasks);
  pai__json_put_milli(w, "cpus", e->cpu_millis);
  pai__json_put_int(w, "memoryMB", (int64_t)e->memory_mb);
  pai__json_put_int(w, "gpus", (int64_t)e->gpus);
  pai__json_put_array(w, "taskRoles");
  for (size_t i = 0; i < spec->nroles; i++)
    put_role(w, e, &spec->roles[i]);
  pai__json_end_array(w);
  pai__json_put_text(w, "fails", pai__buf_text(&e->fails));
  pai__json_put_text(w, "succeeds", pai__buf_text(&e->succeeds));
  pai__json_put_int(w, "retries", spec->retry_count);
  pai__json_put_bool(w, "gangAllocation", e->gang);
  pai__json_member(w, "virtualCluster");
  if (e->cluster != PAI__NO_NODE)
    pai__value_write(w, &e->secrets, e->cluster);
  else
    pai__json_text(w, "default", 7);
  pai__json_put_text(w, "deployment", e->deployment);
  put_names(w, "storages", e, "storages", "name");
  put_names(w, "plugins", e, PAI__PLUGINS, "plugin");
  put_texts(w, "unresolved", spec->unresolved, spec->nunresolved);
  put_texts(w, "notes", spec->notes, spec->nnotes);
  pai__json_put_text(w, "obstacle", spec->obstacle);
  pai__json_end_object(w);
}

int pai__explain_json(const pai__spec_explained *e, pai_write_cb write,
                      void *user_data)
{
  pai__json_writer w;
  pai__buf out;
  int rc;

  pai__buf_init(&out, &e->spec->alloc);
  pai__json_writer_init(&w, &out, true);
  pai__json_writer_to(&w, write, user_data);
  put_job(&w, e);
  rc = pai__json_finish(&w);
  pai__buf_dispose(&out);
  return rc;
}
