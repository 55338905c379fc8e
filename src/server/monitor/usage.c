/*
 * usage.c - GPU, CPU and memory hours that jobs held and used
 */
#include "server/monitor/time_series.h"

#include <stdio.h>
#include <stdlib.h>

#define MILLISECONDS INT64_C(1000)
#define DAY (86400 * MILLISECONDS)
#define HOUR_MS UINT64_C(3600000)

enum { USUAL_DAYS = 7 };

/* --- amounts as JSON ------------------------------------------------------ */

/* Writes milliseconds as hours. */
static void put_hours(pai__json_writer *w, const char *key, uint64_t ms)
{
  pai__json_put_milli(w, key, ms * 1000 / HOUR_MS);
}

static void put_percent(pai__json_writer *w, const char *key,
                        const pai__series_use_amount *a)
{
  if (a->known > 0)
    pai__json_put_milli(w, key, a->used * 1000 / a->known * 100);
}

void pai__use_write(pai__json_writer *w, const pai__series_use_amounts *a)
{
  put_hours(w, "gpuHours", a->gpus.held);
  put_hours(w, "gpuHoursUsed", a->gpus.used);
  put_percent(w, "gpuUse", &a->gpus);
  put_hours(w, "cpuHours", a->cpus.held);
  put_hours(w, "cpuHoursUsed", a->cpus.used);
  put_percent(w, "cpuUse", &a->cpus);
  put_percent(w, "memoryUse", &a->memory);
}

void pai__use_write_last(pai__json_writer *w, const pai__series_use_amounts *a)
{
  if (a->last_gpu >= 0)
    pai__json_put_milli(w, "gpuLast", (uint64_t)a->last_gpu * 100);
  if (a->last_cpu >= 0)
    pai__json_put_milli(w, "cpuLast", (uint64_t)a->last_cpu);
  if (a->last_memory >= 0)
    pai__json_put_int(w, "memoryLast", a->last_memory << 20);
  if (a->most_memory > 0)
    pai__json_put_int(w, "memoryMost", a->most_memory << 20);
}

static const pai__series_use_record nothing = { .sum = { .last_gpu = -1,
                                                         .last_cpu = -1,
                                                         .last_memory = -1,
                                                         .most_memory = -1 } };

typedef struct of_job {
  pai__series_use_record *sum;
  pai_job_id job;
} of_job;

static int on_record_of_job(void *user_data, const pai__series_use_record *r)
{
  const of_job *x = user_data;

  if (r->job == x->job)
    pai__series_use_merge(x->sum, r);
  return PAI_OK;
}

int pai__use_of_job(pai__series_use_record *sum, const pai__sampling *u,
                    pai_job_id job, int64_t from, int64_t to)
{
  *sum = nothing;
  return pai__series_use_read(u->usage, from, to, on_record_of_job,
                              &(of_job){ sum, job });
}

/* --- sums ----------------------------------------------------------------- */

/* A sum of records: of a job, a user or a virtual cluster. */
typedef struct part {
  pai__series_use_record sum;
  uint64_t jobs;
} part;

typedef struct parts {
  pai__map by_name; /* index + 1 */
  part *list;
  size_t n, cap;
} parts;

typedef struct adding_up {
  const pai__request *request;
  const char *users, *vcs; /* that are wanted, with commas; NULL: all */
  parts jobs, by_user, by_vc;
  part total;
} adding_up;

static bool is_listed(const char *list, const char *word)
{
  size_t len = strlen(word);

  for (; list != NULL; list = strchr(list, ',')) {
    list += *list == ',';
    if (strncmp(list, word, len) == 0 &&
        (list[len] == '\0' || list[len] == ','))
      return true;
  }
  return false;
}

/* Returns whether the caller may see what a job of this user held.  The job may
 * be of an earlier user of that name. */
static bool may_see(const pai__request *request,
                    const pai__series_use_record *r, const char *user)
{
  const pai__caller *caller = &request->caller;
  const char *owner = user;

  if (!request->server->system || caller->admin)
    return true;
  if (caller->token)
    owner = pai_accounts_owner(request->server->accounts, user, r->job);
  return caller->owns && owner != NULL && strcmp(caller->name, owner) == 0;
}

static bool is_wanted(const adding_up *x, const pai__series_use_record *r)
{
  const char *user = pai__series_use_user(r);

  return user[0] != '\0' && may_see(x->request, r, user) &&
         (x->users == NULL || is_listed(x->users, user)) &&
         (x->vcs == NULL || is_listed(x->vcs, pai__series_use_vc(r)));
}

static part *part_of(parts *p, const char *key, size_t len)
{
  uintptr_t at = (uintptr_t)pai__map_get(&p->by_name, key, len);

  if (at != 0)
    return &p->list[at - 1];
  if (PAI__VEC_ROOM(p->by_name.alloc, p->list, p->n, p->cap) < 0 ||
      pai__map_set(&p->by_name, key, len, (void *)(uintptr_t)(p->n + 1)) < 0)
    return NULL;
  p->list[p->n] = (part){ .sum = nothing };
  return &p->list[p->n++];
}

static int add_to(parts *p, const char *key, size_t len,
                  const pai__series_use_record *r, bool new_job)
{
  part *x = part_of(p, key, len);

  if (x == NULL)
    return PAI_ENOMEM;
  if (x->sum.to == 0) {
    x->sum.job = r->job;
    memcpy(x->sum.texts, r->texts, sizeof(r->texts));
  }
  pai__series_use_merge(&x->sum, r);
  x->jobs += new_job;
  return PAI_OK;
}

static int on_record(void *user_data, const pai__series_use_record *r)
{
  adding_up *x = user_data;
  const char *user = pai__series_use_user(r), *vc = pai__series_use_vc(r);
  char key[256];
  size_t before = x->jobs.n;
  bool is_new;
  int n = r->job != 0
            ? snprintf(key, sizeof(key), "%llu", (unsigned long long)r->job)
            : snprintf(key, sizeof(key), "%s/%s", user, vc);
  int rc;

  if (!is_wanted(x, r))
    return PAI_OK;
  rc = add_to(&x->jobs, key, (size_t)n, r, true);
  is_new = x->jobs.n > before;
  if (rc == PAI_OK)
    rc = add_to(&x->by_user, user, strlen(user), r, is_new);
  if (rc == PAI_OK)
    rc = add_to(&x->by_vc, vc, strlen(vc), r, is_new);
  pai__series_use_merge(&x->total.sum, r);
  x->total.jobs += is_new;
  return rc;
}

/* --- the answer ----------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b)
{
  return a > b ? -1 : a < b;
}

/* Most GPU hours first, then most CPU hours; then by time. */
static int by_hours(const void *a, const void *b)
{
  const part *x = a, *y = b;
  int rc = compare(x->sum.sum.gpus.held, y->sum.sum.gpus.held);

  if (rc == 0)
    rc = compare(x->sum.sum.cpus.held, y->sum.sum.cpus.held);
  return rc != 0 ? rc : compare(x->sum.job, y->sum.job);
}

static void sort(parts *p)
{
  if (p->n > 1)
    qsort(p->list, p->n, sizeof(*p->list), by_hours);
}

static void put_groups(pai__json_writer *w, const char *key, const parts *p,
                       const char *(*name)(const pai__series_use_record *r))
{
  pai__json_put_array(w, key);
  for (size_t i = 0; i < p->n; i++) {
    pai__json_begin_object(w);
    pai__json_put_text(w, "name", name(&p->list[i].sum));
    pai__json_put_id(w, "jobs", p->list[i].jobs);
    pai__use_write(w, &p->list[i].sum.sum);
    pai__json_end_object(w);
  }
  pai__json_end_array(w);
}

static void put_names(pai__json_writer *w, const pai__series_use_record *r)
{
  pai__json_put_text(w, "name", pai__series_use_name(r));
  pai__json_put_text(w, "username", pai__series_use_user(r));
  pai__json_put_text(w, "virtualCluster", pai__series_use_vc(r));
}

static void put_jobs(pai__json_writer *w, const parts *p, size_t most)
{
  pai__json_put_array(w, "jobs");
  for (size_t i = 0; i < p->n && i < most; i++) {
    pai__json_begin_object(w);
    put_names(w, &p->list[i].sum);
    pai__use_write(w, &p->list[i].sum.sum);
    pai__use_write_last(w, &p->list[i].sum.sum);
    pai__json_end_object(w);
  }
  pai__json_end_array(w);
}

static void put_idle(pai__json_writer *w, const adding_up *x)
{
  const pai__sampling *u = x->request->server->sampling;

  pai__json_put_array(w, "idle");
  for (size_t i = 0; i < x->jobs.n; i++) {
    const pai__series_use_record *r = &x->jobs.list[i].sum;
    const pai__idle_job *idle =
      r->job != 0 ? pai__idle_find(&u->idle, r->job) : NULL;

    if (idle == NULL)
      continue;
    pai__json_begin_object(w);
    put_names(w, r);
    pai__json_put_int(w, "gpus", idle->gpus);
    pai__json_put_int(w, "idleSince", idle->since / 1000);
    pai__json_end_object(w);
  }
  pai__json_end_array(w);
}

static void write_all(pai__request *r, adding_up *x, int64_t from, int64_t to)
{
  pai__json_writer *w = &r->json;

  sort(&x->jobs);
  sort(&x->by_user);
  sort(&x->by_vc);
  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  pai__json_put_int(w, "from", from);
  pai__json_put_int(w, "to", to);
  pai__json_put_object(w, "total");
  pai__json_put_id(w, "jobs", x->total.jobs);
  pai__use_write(w, &x->total.sum.sum);
  pai__json_end_object(w);
  put_groups(w, "users", &x->by_user, pai__series_use_user);
  put_groups(w, "virtualClusters", &x->by_vc, pai__series_use_vc);
  put_jobs(w, &x->jobs, (size_t)pai__request_number(r, "limit"));
  put_idle(w, x);
  pai__json_end_object(w);
  pai__answer_json(r, 200);
}

static void free_parts(parts *p)
{
  pai__free(p->by_name.alloc, p->list, p->cap * sizeof(*p->list));
  pai__map_dispose(&p->by_name);
}

void pai__do_usage_show(pai__request *r)
{
  const pai_alloc *alloc = &r->server->alloc;
  int64_t now = pai__loop_wall_time() / MILLISECONDS;
  const char *since = pai__request_query(r, "since");
  const char *until = pai__request_query(r, "until");
  int64_t from =
    since != NULL ? pai__request_number(r, "since") : now - USUAL_DAYS * DAY;
  int64_t to = until != NULL ? pai__request_number(r, "until") : now;
  adding_up x = { .request = r,
                  .users = pai__request_query(r, "username"),
                  .vcs = pai__request_query(r, "vc"),
                  .total.sum = nothing };
  int rc = PAI_OK;

  to = to < now ? to : now;
  from = from < to ? from - from % DAY : to;
  pai__map_init(&x.jobs.by_name, alloc);
  pai__map_init(&x.by_user.by_name, alloc);
  pai__map_init(&x.by_vc.by_name, alloc);
  if (from < to)
    rc = pai__series_use_read(r->server->sampling->usage, from, to, on_record,
                              &x);
  if (rc == PAI_OK)
    write_all(r, &x, from, to);
  else
    pai__answer_failure(r, rc);
  free_parts(&x.jobs);
  free_parts(&x.by_user);
  free_parts(&x.by_vc);
}
