/*
 * plans JOBFILE FOLDER FIRST_PORT ATTEMPT [NAME=PATH[,ro][,own][,usual] | KEY]...
 *
 * Prints the launch plans of all tasks of a job, a line of JSON each, for
 * plans.py, which carries them out.  FOLDER is the job's; ports are counted up;
 * the rest are storages, and public keys of the user.
 */
#include "job/plan/plan.h"

#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64 };

static pai__storage storages[MOST];
static const char *keys[MOST];
static uint32_t *all_ports; /* of context.places */

static pai__plan_context context = {
  .user = "ada", .vc = "vision", .storages = storages, .user_keys = keys
};

static void take(char *arg)
{
  char *path = strchr(arg, '='), *flags;
  pai__storage *s;

  if (path == NULL || strchr(arg, ' ') != NULL) {
    keys[context.nuser_keys++] = arg;
    return;
  }
  *path++ = '\0';
  s = &storages[context.nstorages++];
  *s = (pai__storage){ .name = arg, .path = path, .shared = true };
  flags = strchr(path, ',');
  if (flags == NULL)
    return;
  *flags++ = '\0';
  s->readonly = strstr(flags, "ro") != NULL;
  s->shared = strstr(flags, "own") == NULL;
  s->usual = strstr(flags, "usual") != NULL;
}

static void text(pai__json_writer *w, const char *key, const char *value)
{
  pai__json_member(w, key);
  if (value == NULL)
    pai__json_null(w);
  else
    pai__json_string(w, value);
}

static void number(pai__json_writer *w, const char *key, uint64_t value)
{
  pai__json_put_int(w, key, (int64_t)value);
}

static void print(const pai_launch_plan *plan)
{
  pai__json_writer w;
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  pai__json_writer_init(&w, &b, false);
  pai__json_begin_object(&w);
  text(&w, "dir", plan->dir);
  text(&w, "workdir", plan->workdir);
  text(&w, "script", plan->script);
  text(&w, "image", plan->image);
  number(&w, "cpus", plan->cpus);
  number(&w, "memory", plan->memory);
  number(&w, "shm", plan->shm);
  number(&w, "flags", plan->flags);
  pai__json_put_array(&w, "env");
  for (size_t i = 0; plan->env[i] != NULL; i++)
    pai__json_string(&w, plan->env[i]);
  pai__json_end_array(&w);
  pai__json_put_array(&w, "mounts");
  for (size_t i = 0; i < plan->nmounts; i++) {
    pai__json_begin_object(&w);
    text(&w, "source", plan->mounts[i].source);
    text(&w, "target", plan->mounts[i].target);
    number(&w, "readonly", plan->mounts[i].readonly != 0);
    pai__json_end_object(&w);
  }
  pai__json_end_array(&w);
  pai__json_end_object(&w);
  (void)pai__json_finish(&w);
  puts(pai__buf_text(&b));
  pai__buf_dispose(&b);
}

/* Tasks, role by role, each on this machine with ports of its own. */
static void fill(uint32_t port)
{
  const pai_spec *spec = context.spec;
  pai__task *tasks = calloc(spec->ntasks, sizeof(*tasks));
  pai__task_place *places = calloc(spec->ntasks, sizeof(*places));
  uint32_t *ports = calloc(spec->ntasks * MOST, sizeof(*ports)), t = 0;

  all_ports = ports;
  if (tasks == NULL || places == NULL || ports == NULL)
    abort();
  for (uint32_t i = 0; i < spec->ntasks * MOST; i++)
    ports[i] = port + i / MOST * 4 + i % MOST;
  for (uint32_t r = 0; r < spec->nroles; r++)
    for (uint32_t i = 0; i < spec->roles[r].instances; i++, t++) {
      tasks[t] = (pai__task){ .role = r, .index = i };
      places[t] =
        (pai__task_place){ .ip = "127.0.0.1", .ports = &ports[t * MOST] };
    }
  context.tasks = tasks;
  context.places = places;
}

int main(int argc, char **argv)
{
  pai__plan_shared shared;
  pai_error *err = NULL;
  pai__arena arena;
  pai_spec *spec;

  if (argc < 5 || argc > MOST)
    return 2;
  for (int i = 5; i < argc; i++)
    take(argv[i]);
  if (pai_spec_load(&spec, argv[1], NULL, &err) < 0 ||
      pai__storages_check(spec, storages, context.nstorages, &err) < 0) {
    (void)fprintf(stderr, "%s\n", pai_error_message(err));
    return 1;
  }
  context.spec = spec;
  context.job_dir = argv[2];
  context.attempt = (uint32_t)strtoul(argv[4], NULL, 10);
  fill((uint32_t)strtoul(argv[3], NULL, 10));
  pai__arena_init(&arena, &pai__libc_alloc);
  if (pai__plan_share(&shared, &arena, &context) < 0)
    return 1;
  for (uint32_t t = 0; t < spec->ntasks; t++) {
    pai_launch_plan plan;

    if (pai__plan_make(&plan, &arena, &context, &shared, t) < 0)
      return 1;
    print(&plan);
  }
  pai__arena_dispose(&arena);
  free((void *)(uintptr_t)context.tasks);
  free(all_ports);
  free((void *)(uintptr_t)context.places);
  pai_spec_unref(spec);
  return 0;
}
