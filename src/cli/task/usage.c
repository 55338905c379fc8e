/*
 * usage.c - CPU, memory and GPU usage of the tasks of a job
 *
 * The source is the server's Prometheus metrics, which also say which GPUs a
 * task has.  The memory of the GPUs is sampled on this machine, if the job
 * runs here.
 */
#include "usage.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- a line of metrics --------------------------------------------------- */

typedef struct figure {
  const char *job, *role, *index, *gpu; /* labels, or "" */
  double value;
} figure;

/* Unescapes a label's value in place and moves *at behind its closing quote.
 * Returns false if there is none. */
static bool unquote(char **at)
{
  char *from = *at, *to = *at;

  while (*from != '"') {
    bool escaped = *from == '\\';

    from += escaped;
    if (*from == '\0')
      return false;
    *to++ = escaped && *from == 'n' ? '\n' : *from;
    from++;
  }
  *at = from + 1;
  *to = '\0';
  return true;
}

/* Parses the part after a metric's name: {name="value",...} number.  Returns
 * false if it is something else. */
static bool read_figure(figure *f, char *at)
{
  const struct {
    const char *name, **to;
  } labels[] = { { "job_name", &f->job },
                 { "role_name", &f->role },
                 { "task_index", &f->index },
                 { "minor_number", &f->gpu } };
  char *end;

  *f = (figure){ .job = "", .role = "", .index = "", .gpu = "" };
  while (*at == '{' || *at == ',') {
    char *name = ++at, *value;

    at = strstr(name, "=\"");
    if (at == NULL)
      return false;
    *at = '\0';
    value = at += 2;
    if (!unquote(&at))
      return false;
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
      if (strcmp(labels[i].name, name) == 0)
        *labels[i].to = value;
  }
  if (at[0] != '}' || at[1] != ' ')
    return false;
  f->value = strtod(at + 2, &end);
  return end != at + 2 && f->value >= 0 && f->value < 1e18;
}

static bool keep(cli_usage *u, const cli_used *row)
{
  cli_used *more = u->rows;

  if ((u->count & (u->count - 1)) == 0) /* full: double it */
    more = realloc(u->rows, (u->count > 0 ? u->count * 2 : 1) * sizeof(*more));
  if (more == NULL)
    return false;
  u->rows = more;
  u->rows[u->count++] = *row;
  return true;
}

static void read_line(cli_usage *u, const char *job, char *line)
{
  static const struct {
    const char *name;
    int what;
  } wanted[] = { { "task_cpu_percent{", CLI_USED_CPU },
                 { "task_mem_usage_byte{", CLI_USED_MEMORY },
                 { "task_gpu_percent{", 0 } };
  figure f;

  for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
    size_t len = strlen(wanted[i].name);
    cli_used row = { .what = wanted[i].what };

    if (strncmp(line, wanted[i].name, len) != 0)
      continue;
    if (!read_figure(&f, line + len - 1) || strcmp(f.job, job) != 0)
      return;
    row.role = f.role;
    row.index = (uint32_t)strtoul(f.index, NULL, 10);
    row.value = (int64_t)(f.value + 0.5);
    if (row.what == 0)
      row.what = (int)strtoul(f.gpu, NULL, 10);
    (void)keep(u, &row);
    return;
  }
}

static void read_figures(cli_usage *u)
{
  char *job = cli_whole_name(u->job);

  u->count = 0;
  for (char *line = u->text, *next; job != NULL && line != NULL; line = next) {
    next = strchr(line, '\n');
    if (next != NULL)
      *next++ = '\0';
    read_line(u, job, line);
  }
  free(job);
}

/* --- queries ------------------------------------------------------------- */

/* Returns how many GPUs the job requests, from the list of jobs; -1: not
 * known. */
static int64_t ask_gpus(const cli_usage *u)
{
  char *user = cli_whole_name(u->job);
  char *name = user != NULL ? strchr(user, '~') : NULL;
  int64_t gpus = -1;
  pai_json *list = NULL;

  if (name == NULL) {
    free(user);
    return -1;
  }
  *name++ = '\0';
  (void)cli_call_quietly(
    u->r, &list, "jobs.list",
    cli_json_make("{\"limit\":1000,\"keyword\":%s,\"username\":%s}", name,
                  user));
  for (cli_each i = cli_each_of(list, 0); gpus < 0 && cli_next(&i);)
    if (strcmp(cli_json_text(list, i.at, "name"), name) == 0)
      gpus = cli_json_number(list, i.at, "totalGpuNumber", -1);
  pai_json_free(list);
  free(user);
  return gpus;
}

/* Samples this machine's GPUs, if the job runs here and has some. */
static void sample_gpus(cli_usage *u)
{
  struct timespec now;

  u->sample = NULL;
  if (u->sampler == NULL)
    return;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  if (pai_sampler_take(&u->sample, u->sampler,
                       (pai_time)now.tv_sec * 1000000 + now.tv_nsec / 1000,
                       NULL) < 0)
    u->sample = NULL;
}

void cli_usage_ask(cli_usage *u)
{
  cli_answer a;

  if (cli_remote_is_original(u->r)) {
    u->gpus = -1;
    return;
  }
  if (!u->asked) {
    u->asked = true;
    u->gpus = ask_gpus(u);
    if (u->gpus != 0 && u->r->root != NULL)
      (void)!pai_sampler_new(&u->sampler, NULL, NULL);
  }
  cli_call(u->r, &a, "server.metrics", cli_no_arguments());
  free(u->text);
  u->text = a.status == PAI_OK ? a.body : NULL;
  if (a.status == PAI_OK)
    a.body = NULL;
  cli_answer_free(&a);
  read_figures(u);
  sample_gpus(u);
}

void cli_usage_free(cli_usage *u)
{
  pai_sampler_free(u->sampler);
  free(u->rows);
  free(u->text);
  u->sampler = NULL;
  u->rows = NULL;
  u->text = NULL;
  u->count = 0;
}

/* --- values of a task ---------------------------------------------------- */

/* Adds the GPU's memory.  The sampler numbers GPUs as the server does, by
 * their device files. */
static void add_memory(cli_gpu_use *out, const cli_usage *u)
{
  const pai_gpus *gpus = pai_sampler_gpus(u->sampler);
  pai_gpu_view g = { .struct_size = sizeof(g) };
  pai_sample_gpu v = { .struct_size = sizeof(v) };

  for (size_t i = 0; pai_gpus_get(gpus, i, &g) == PAI_OK; i++) {
    if (g.parent != PAI_NO_GPU || g.vendor != PAI_GPU_NVIDIA ||
        (g.device >= 0 ? g.device : (int)g.number) != out->number ||
        pai_sample_get_gpu(u->sample, i, &v) < 0 || v.lost)
      continue;
    out->memory = v.memory_used;
    out->memory_total = v.memory_total;
  }
}

void cli_usage_of(cli_task_use *out, const cli_usage *u, const char *role,
                  uint32_t index)
{
  for (size_t i = 0; i < u->count; i++) {
    const cli_used *row = &u->rows[i];

    if (row->index != index || strcmp(row->role, role) != 0)
      continue;
    if (row->what == CLI_USED_CPU) {
      out->cpu = row->value;
    } else if (row->what == CLI_USED_MEMORY) {
      out->memory = row->value;
    } else if (out->count < CLI_TASK_GPUS) {
      cli_gpu_use *g = &out->gpus[out->count++];

      *g = (cli_gpu_use){ row->what, row->value, -1, -1 };
      if (u->sample != NULL)
        add_memory(g, u);
    }
  }
}
