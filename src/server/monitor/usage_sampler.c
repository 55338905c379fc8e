/*
 * usage_sampler.c - samples of what the machine and its tasks use, taken on
 * request
 *
 * Rates are relative to the previous sample, so the first one has none.  A
 * task is sampled by its cgroup, or else by its session.  Tasks unknown to
 * their back end are left out.
 */
#include "server/monitor/observed.h"

#include <stdio.h>

enum { KEY = 600 };

/* A watched session or cgroup. */
typedef struct watched {
  int kind;
  int64_t id;
  char *cgroup;
  size_t at; /* its index in the last sample */
  bool wanted;
} watched;

struct pai__usage_sampler {
  pai_alloc alloc;
  pai_sampler *sampler; /* NULL: this machine cannot be sampled */
  pai__map watched;     /* watched groups, by session or cgroup */
  pai_time last;
  const pai_sample *sample;
};

static size_t key_of(char key[KEY], int kind, int64_t id, const char *cgroup)
{
  int n = kind == PAI_SAMPLE_CGROUP
            ? snprintf(key, KEY, "c%s", cgroup)
            : snprintf(key, KEY, "s%lld", (long long)id);

  return n > 0 && n < KEY ? (size_t)n : 0;
}

static size_t key_of_task(char key[KEY], const pai_task_view *t)
{
  if (t->cgroup != NULL)
    return key_of(key, PAI_SAMPLE_CGROUP, 0, t->cgroup);
  return t->session > 0 ? key_of(key, PAI_SAMPLE_SESSION, t->session, NULL)
                        : 0;
}

/* --- watching tasks ------------------------------------------------------ */

static void free_watched(pai__usage_sampler *u, watched *w)
{
  pai__strfree(&u->alloc, w->cgroup);
  pai__free(&u->alloc, w, sizeof(*w));
}

/* Fails if the group has ended; that is fine. */
static void unwatch(pai__usage_sampler *u, const watched *w)
{
  int rc = pai_sampler_unwatch(u->sampler, w->kind, w->id, w->cgroup);

  (void)rc;
}

/* A task that has just ended cannot be watched; that is fine. */
static int watch(pai__usage_sampler *u, const pai_task_view *t,
                 const char *key, size_t len)
{
  watched *w = pai__zalloc(&u->alloc, sizeof(*w));
  int rc;

  if (w == NULL)
    return PAI_ENOMEM;
  w->kind = t->cgroup != NULL ? PAI_SAMPLE_CGROUP : PAI_SAMPLE_SESSION;
  w->id = t->cgroup != NULL ? 0 : t->session;
  w->wanted = true;
  if (t->cgroup != NULL)
    w->cgroup = pai__strdup(&u->alloc, t->cgroup);
  rc = t->cgroup != NULL && w->cgroup == NULL ? PAI_ENOMEM
       : t->cgroup != NULL
         ? pai_sampler_watch_cgroup(u->sampler, t->cgroup, NULL)
         : pai_sampler_watch(u->sampler, w->kind, w->id, NULL);
  if (rc == PAI_OK) {
    rc = pai__map_set(&u->watched, key, len, w);
    if (rc < 0)
      unwatch(u, w);
  }
  if (rc < 0)
    free_watched(u, w);
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

static void forget_unwanted(pai__usage_sampler *u)
{
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&u->watched, &i)) != NULL;) {
    watched *w = e->value;

    if (w->wanted)
      continue;
    unwatch(u, w);
    (void)pai__map_remove(&u->watched, e->key, e->len);
    free_watched(u, w);
    i = 0; /* removal may have moved the entries */
  }
}

static int watch_all(pai__usage_sampler *u, const pai__observed_tasks *tasks)
{
  const pai__map_entry *e;
  char key[KEY];
  int rc = PAI_OK;

  for (size_t i = 0; (e = pai__map_next(&u->watched, &i)) != NULL;)
    ((watched *)e->value)->wanted = false;
  for (size_t i = 0; rc == PAI_OK && i < tasks->n; i++) {
    size_t len = key_of_task(key, &tasks->at[i]);
    watched *w = len > 0 ? pai__map_get(&u->watched, key, len) : NULL;

    if (w != NULL)
      w->wanted = true;
    else if (len > 0)
      rc = watch(u, &tasks->at[i], key, len);
  }
  forget_unwanted(u);
  return rc;
}

/* Finds the index of each group in the sample. */
static void find_groups(pai__usage_sampler *u)
{
  pai_sample_group g = { .struct_size = sizeof(g) };
  char key[KEY];

  for (size_t i = 0; pai_sample_get_group(u->sample, i, &g) == PAI_OK; i++) {
    size_t len = key_of(key, g.kind, g.id, g.name);
    watched *w = g.watched ? pai__map_get(&u->watched, key, len) : NULL;

    if (w != NULL)
      w->at = i;
  }
}

/* --- samples ------------------------------------------------------------- */

static int make(pai__usage_sampler **at, const pai_server *s, pai_error **err)
{
  pai_sampler_options o = PAI_SAMPLER_OPTIONS_INIT;
  pai__usage_sampler *u = pai__zalloc(&s->alloc, sizeof(*u));
  char *root = pai__strndup(&s->alloc, s->uploads,
                            (size_t)(strrchr(s->uploads, '/') - s->uploads));
  int rc;

  if (u == NULL || root == NULL) {
    pai__free(&s->alloc, u, sizeof(*u));
    pai__strfree(&s->alloc, root);
    return pai__oom(err);
  }
  u->alloc = s->alloc;
  pai__map_init(&u->watched, &u->alloc);
  o.alloc = &u->alloc;
  o.paths = (const char *const[]){ root };
  o.path_count = 1;
  rc = pai_sampler_new(&u->sampler, &o, NULL);
  pai__strfree(&s->alloc, root);
  if (rc == PAI_ENOMEM) {
    pai__map_dispose(&u->watched);
    pai__free(&s->alloc, u, sizeof(*u));
    return pai__oom(err);
  }
  *at = u;
  return PAI_OK;
}

int pai__usage_sampler_take(const pai_sample **sample, pai__usage_sampler **at,
                            const pai_server *s,
                            const pai__observed_tasks *tasks, pai_error **err)
{
  int rc = *at == NULL ? make(at, s, err) : PAI_OK;
  pai__usage_sampler *u = *at;

  *sample = NULL;
  if (rc < 0 || u == NULL || u->sampler == NULL)
    return rc;
  if (watch_all(u, tasks) < 0)
    return pai__oom(err);
  u->last = pai__loop_time() > u->last ? pai__loop_time() : u->last + 1;
  rc = pai_sampler_take(&u->sample, u->sampler, u->last, NULL);
  if (rc == PAI_ENOMEM)
    return pai__oom(err);
  if (rc == PAI_OK)
    find_groups(u);
  *sample = rc == PAI_OK ? u->sample : NULL;
  return PAI_OK;
}

bool pai__usage_sampler_of(const pai__usage_sampler *u,
                           const pai_sample *sample, const pai_task_view *task,
                           pai_sample_group *out)
{
  char key[KEY];
  size_t len = key_of_task(key, task);
  const watched *w = len > 0 ? pai__map_get(&u->watched, key, len) : NULL;

  *out = (pai_sample_group){ .struct_size = sizeof(*out) };
  return w != NULL && pai_sample_get_group(sample, w->at, out) == PAI_OK &&
         out->kind == w->kind && out->id == w->id;
}

int pai__usage_sampler_gpu(const pai__usage_sampler *u, size_t i)
{
  pai_gpu_view v = { .struct_size = sizeof(v) };

  if (pai_gpus_get(pai_sampler_gpus(u->sampler), i, &v) < 0 ||
      v.parent != PAI_NO_GPU || v.vendor != PAI_GPU_NVIDIA)
    return -1;
  return v.device >= 0 ? v.device : (int)v.number;
}

void pai__usage_sampler_free(pai__usage_sampler *u)
{
  const pai__map_entry *e;
  pai_alloc alloc;

  if (u == NULL)
    return;
  for (size_t i = 0; (e = pai__map_next(&u->watched, &i)) != NULL;)
    free_watched(u, e->value);
  pai__map_dispose(&u->watched);
  pai_sampler_free(u->sampler);
  alloc = u->alloc;
  pai__free(&alloc, u, sizeof(*u));
}
