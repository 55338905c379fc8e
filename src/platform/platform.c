/*
 * platform.c - pai_platform: its life, its jobs, and the kick
 *
 * One rule keeps callbacks simple: all of them come from on_kick() or from
 * the back end, which are called by the loop.  Calls of the public API change
 * state and ask for a kick.
 */
#include "platform/platform.h"

#include "base/posix_fs.h"

static void free_platform(pai_platform *p)
{
  pai_alloc alloc = p->alloc;
  const pai__map_entry *e;
  pai__pjob *next;

  for (pai__pjob *j = p->changed.first; j != NULL; j = next) {
    next = j->next_changed;
    if (j->forgotten)
      pai__platform_free_job(j);
  }
  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;)
    pai__platform_free_job(e->value);
  pai__map_dispose(&p->jobs);
  pai__turn_close(p->kick);
  pai__timer_close(p->ports);
  pai_sched_free(p->sched);
  pai__strfree(&alloc, p->jobs_dir);
  pai__strfree(&alloc, p->user);
  pai__free(&alloc, p, sizeof(*p));
}

/* Tells of each job that changed, and starts the next task of those that come
 * up.  A callback may change jobs again, also those that had their turn: they
 * are in the next list. */
static void look_at_changed(pai_platform *p)
{
  pai__pjob *j = p->changed.first, *next;

  p->changed = (pai__pjob_list){ NULL, NULL };
  for (; j != NULL; j = next) {
    next = j->next_changed;
    j->changed = false;
    if (j->forgotten) {
      pai__platform_free_job(j);
      continue;
    }
    pai__platform_tell(j);
    if (pai__job_has_next(&j->job))
      pai__platform_drive(j);
  }
}

static void on_backend_closed(void *user_data)
{
  pai_platform *p = user_data;
  pai_closed_cb closed = p->closed;
  void *closed_data = p->closed_data;

  look_at_changed(p);
  free_platform(p);
  if (closed != NULL)
    closed(closed_data);
}

static void close_backend(pai_platform *p)
{
  const pai__map_entry *e;

  p->backend_closing = true;
  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;)
    if (((pai__pjob *)e->value)->job.state != PAI__JOB_DONE)
      pai__platform_event(e->value, PAI__EV_STOP, 0, 0);
  p->ops->close(p->backend, on_backend_closed);
}

static void on_kick(void *user_data)
{
  pai_platform *p = user_data;

  /* Once before, so that what ended is told before its retry starts; a new
   * job is told of when it is known whether it starts at once. */
  for (pai__pjob *j = p->changed.first; j != NULL; j = j->next_changed)
    if (j->told[0] != 0)
      pai__platform_tell(j);
  if (!p->closing)
    pai__platform_schedule(p);
  look_at_changed(p);
  if (p->closing && !p->backend_closing)
    close_backend(p);
}

static void on_ports_due(void *user_data)
{
  pai_platform *p = user_data;

  p->schedule_due = true;
  pai__turn_ask(p->kick);
}

/* --- making one --------------------------------------------------------- */

/* Absolute, for the host may change its folder, and "-x" be a folder's name. */
static int make_root(pai_platform *p, const char *root, pai_error **err)
{
  char *made = NULL, *own = NULL;
  int rc = PAI_OK;

  if (root != NULL && root[0] == '\0') {
    rc = pai__fail(err, PAI_EINVAL, "the root's name is empty");
    pai__error_help(err, "name a folder, or none for this user's own");
    return rc;
  }
  if (root == NULL)
    rc = pai__platform_default_root(&own, &p->alloc, err);
  if (rc < 0)
    return rc;
  root = root != NULL ? root : own;
  rc = pai__fs_make_dirs(root, &p->alloc, err);
  if (rc == PAI_OK)
    rc = pai__fs_absolute(&made, root, &p->alloc, err);
  pai__strfree(&p->alloc, own);
  if (rc < 0)
    return rc;
  p->jobs_dir = pai__fs_join(made, "jobs", &p->alloc);
  pai__strfree(&p->alloc, made);
  return p->jobs_dir != NULL ? pai__fs_make_dirs(p->jobs_dir, &p->alloc, err)
                             : pai__oom(err);
}

/* For this machine alone.  Ports begin anywhere, for none of two platforms
 * sees what the other has not opened yet. */
static int make_sched(pai_platform *p, pai_error **err)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  uint32_t seed = (uint32_t)(p->seed >> 32 ^ p->seed);
  pai_cluster *cluster;
  int rc;

  pai__machine_discover(&p->here);
  if (pai__machine_cluster(&cluster, &p->here, &p->alloc) < 0)
    return pai__oom(err);
  o.alloc = &p->alloc;
  o.first_port = p->here.port_first;
  o.last_port = p->here.port_last;
  o.next_port = o.first_port + seed % (o.last_port - o.first_port + 1);
  rc = pai_sched_new(&p->sched, cluster, &o, err);
  pai_cluster_free(cluster);
  return rc;
}

static int open_backend(pai_platform *p, pai_error **err)
{
  pai__backend_host host = { .user_data = p,
                             .alloc = &p->alloc,
                             .log = &p->log,
                             .loop = p->loop,
                             .output = pai__platform_output,
                             .ended = pai__platform_task_ended };

  p->ops = &pai__backend_local;
  return p->ops->open(&p->backend, &host, err);
}

int pai_platform_new(pai_platform **out, pai_loop *loop,
                     const pai_platform_options *opts, pai_error **err)
{
  pai_platform_options o;
  pai_platform *p;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(loop != NULL, err);
  rc = PAI__COPY_IN(&o, opts, pai_platform_options, seed);
  if (rc < 0)
    return pai__fail(err, rc,
                     "pai_platform_options: bad or newer struct_size");
  o.alloc = pai__alloc_or_libc(o.alloc);
  p = pai__zalloc(o.alloc, sizeof(*p));
  if (p == NULL)
    return pai__oom(err);
  p->alloc = *o.alloc;
  p->loop = loop;
  p->log = (pai__log){ o.on_log, o.user_data, PAI_LOG_INFO };
  p->on_event = o.on_event;
  p->user_data = o.user_data;
  p->seed = o.seed != 0 ? o.seed : pai__loop_seed();
  pai__map_init(&p->jobs, &p->alloc);
  p->user = pai__platform_user_name(&p->alloc);
  rc = p->user != NULL ? make_root(p, o.root, err) : pai__oom(err);
  if (rc == PAI_OK)
    rc = make_sched(p, err);
  if (rc == PAI_OK &&
      (pai__turn_new(&p->kick, &p->alloc, loop, on_kick, p) < 0 ||
       pai__timer_new(&p->ports, &p->alloc, loop, on_ports_due, p) < 0))
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = open_backend(p, err);
  if (rc < 0) {
    free_platform(p);
    return rc;
  }
  *out = p;
  return PAI_OK;
}

void pai_platform_close(pai_platform *p, pai_closed_cb closed, void *user_data)
{
  if (p == NULL)
    return;
  if (p->closed == NULL) {
    p->closed = closed;
    p->closed_data = user_data;
  }
  if (p->closing)
    return;
  p->closing = true;
  pai__turn_ask(p->kick);
}
