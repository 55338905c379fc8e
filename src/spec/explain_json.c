/* explain_json.c - what a spec will do, for programs */
#include "spec/explain.h"
#include "spec/values.h"

static void put_key(pai__json_writer *w, const char *key)
{
  pai__json_key(w, key, strlen(key));
}

static void put_text(pai__json_writer *w, const char *key, const char *text)
{
  put_key(w, key);
  if (text != NULL)
    pai__json_text(w, text, strlen(text));
  else
    pai__json_null(w);
}

static void put_number(pai__json_writer *w, const char *key, uint64_t value)
{
  put_key(w, key);
  pai__json_int(w, (int64_t)value); /* 100,000 tasks x 32 bits fit */
}

/* -1 for never. */
static void put_minimum(pai__json_writer *w, const char *key, int32_t value)
{
  put_key(w, key);
  pai__json_int(w, value >= 1 ? value : -1);
}

static void put_role(pai__json_writer *w, const pai__explained *e,
                     const pai__role *role)
{
  size_t len;
  const char *image = pai__explain_image(e, role, &len);

  pai__json_begin_object(w);
  put_text(w, "name", role->name);
  put_number(w, "instances", role->instances);
  put_number(w, "cpus", role->cpus);
  put_number(w, "memoryMB", role->memory_mb);
  put_number(w, "gpus", role->gpus);
  put_number(w, "shmMB", role->shm_mb != 0 ? role->shm_mb : 512);
  put_key(w, "image");
  pai__json_text(w, image, len);
  put_key(w, "ports");
  pai__json_begin_object(w);
  for (size_t i = 0; i < role->nports; i++)
    put_number(w, role->ports[i].label, role->ports[i].count);
  pai__json_end_object(w);
  put_minimum(w, "minFailedInstances", role->min_failed);
  put_minimum(w, "minSucceededInstances", role->min_succeeded);
  pai__json_end_object(w);
}

static void put_names(pai__json_writer *w, const char *key,
                      const pai__explained *e, const char *list,
                      const char *field)
{
  pai__named names = pai__named_iter(e, list, field);
  const char *name;
  size_t len;

  put_key(w, key);
  pai__json_begin_array(w);
  while ((name = pai__named_next(&names, &len)) != NULL)
    pai__json_text(w, name, len);
  pai__json_end_array(w);
}

static void put_texts(pai__json_writer *w, const char *key,
                      const char *const *texts, size_t n)
{
  put_key(w, key);
  pai__json_begin_array(w);
  for (size_t i = 0; i < n; i++)
    pai__json_text(w, texts[i], strlen(texts[i]));
  pai__json_end_array(w);
}

static void put_job(pai__json_writer *w, const pai__explained *e)
{
  const pai_spec *spec = e->spec;

  pai__json_begin_object(w);
  put_text(w, "name", pai__explain_name(e));
  put_number(w, "tasks", spec->ntasks);
  put_number(w, "cpus", e->cpus);
  put_number(w, "memoryMB", e->memory_mb);
  put_number(w, "gpus", e->gpus);
  put_key(w, "taskRoles");
  pai__json_begin_array(w);
  for (size_t i = 0; i < spec->nroles; i++)
    put_role(w, e, &spec->roles[i]);
  pai__json_end_array(w);
  put_text(w, "fails", pai__buf_text(&e->fails));
  put_text(w, "succeeds", pai__buf_text(&e->succeeds));
  put_number(w, "retries", spec->retry_count);
  put_key(w, "gangAllocation");
  pai__json_bool(w, e->gang);
  put_key(w, "virtualCluster");
  if (e->cluster != PAI__NO_NODE)
    pai__value_write(w, &e->secrets, e->cluster);
  else
    pai__json_text(w, "default", 7);
  put_text(w, "deployment", e->deployment);
  put_names(w, "storages", e, "storages", "name");
  put_names(w, "plugins", e, PAI__PLUGINS, "plugin");
  put_texts(w, "unresolved", spec->unresolved, spec->nunresolved);
  put_texts(w, "notes", spec->notes, spec->nnotes);
  put_text(w, "obstacle", spec->obstacle);
  pai__json_end_object(w);
}

int pai__explain_json(const pai__explained *e, pai_write_cb write,
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
