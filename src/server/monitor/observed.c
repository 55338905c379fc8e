/* observed.c - reads the platform's status of its machine and tasks */
#include "server/monitor/observed.h"

#include "base/text/milli.h"

/* --- the machine ------------------------------------------------------------------ */

int pai__observed_machine_read(pai__observed_machine *out, pai_server *s,
                               pai_error **err)
{
  pai__json_options options = { .alloc = &s->alloc };
  const pai__tree *t;
  pai__node m;
  int rc;

  *out = (pai__observed_machine){ .name = "" };
  pai__buf_init(&out->json, &s->alloc);
  rc = pai_platform_status(s->platform, pai__answer_write, &out->json, err);
  if (rc == PAI_OK)
    rc = pai__json_parse(&out->tree, pai__buf_text(&out->json), out->json.len,
                         &options, err);
  if (rc < 0)
    return rc;
  t = out->tree;
  m = pai__tree_get(t, 0, "machine");
  out->name = pai__tree_look_text(t, m, "name", "");
  out->ip = pai__tree_look_text(t, m, "ip", "");
  out->trouble = pai__tree_look_text(t, 0, "trouble", NULL);
  out->cpus = pai__tree_look_int(t, m, "cpus");
  if (pai__tree_get(t, m, "freeCpus") != PAI__NO_NODE)
    (void)pai__milli_of(&out->free_cpu_millis, t,
                        pai__tree_get(t, m, "freeCpus"));
  out->gpus = pai__tree_look_int(t, m, "gpus");
  out->free_gpus = pai__tree_look_int(t, m, "freeGpus");
  out->sick_gpus = pai__tree_look_int(t, m, "sickGpus");
  out->memory = pai__tree_look_int(t, m, "memory");
  out->free_memory = pai__tree_look_int(t, m, "freeMemory");
  return PAI_OK;
}

void pai__observed_machine_dispose(pai__observed_machine *m)
{
  pai__tree_free(m->tree);
  pai__buf_dispose(&m->json);
}

/* --- tasks ------------------------------------------------------------------------ */

static int keep(pai__arena *arena, const char **text)
{
  if (*text == NULL)
    return PAI_OK;
  *text = pai__arena_strndup(arena, *text, strlen(*text));
  return *text != NULL ? PAI_OK : PAI_ENOMEM;
}

void pai__observed_tasks_init(pai__observed_tasks *out, const pai_server *s)
{
  *out = (pai__observed_tasks){ .n = 0 };
  pai__arena_init(&out->arena, &s->alloc);
}

int pai__observed_tasks_add(pai__observed_tasks *t, const pai_task_view *task)
{
  pai_task_view v = *task;
  const char **texts[] = { &v.user,       &v.name,  &v.framework,
                           &v.role,       &v.id,    &v.virtual_cluster,
                           &v.attempt_id, &v.node,  &v.ip,
                           &v.image,      &v.cgroup };

  for (size_t i = 0; i < PAI__LEN(texts); i++)
    if (keep(&t->arena, texts[i]) < 0)
      return PAI_ENOMEM;
  if (PAI__VEC_ROOM(t->arena.alloc, t->at, t->n, t->cap) < 0)
    return PAI_ENOMEM;
  t->at[t->n++] = v;
  return PAI_OK;
}

static int on_task(void *user_data, const pai_task_view *task)
{
  return pai__observed_tasks_add(user_data, task);
}

int pai__observed_tasks_read(pai__observed_tasks *out, pai_server *s,
                             pai_error **err)
{
  pai__observed_tasks_init(out, s);
  return pai_platform_tasks(s->platform, on_task, out, err);
}

void pai__observed_tasks_dispose(pai__observed_tasks *t)
{
  pai__free(t->arena.alloc, t->at, t->cap * sizeof(*t->at));
  pai__arena_dispose(&t->arena);
}
