/*
 * platform.c - opening and closing a pai_platform
 *
 * One rule keeps callbacks simple: all of them come from a step, from the end
 * of a commit or from the back end, which are called by the loop.  Calls of
 * the public API change state and ask for a step.
 */
#include "platform/accounts.h"
#include "platform/apart.h"
#include "platform/files/code.h"
#include "platform/files/files.h"
#include "platform/place/cores.h"
#include "platform/records/estimate.h"
#include "platform/records/why.h"
#include "platform/files/folders.h"
#include "platform/follow.h"
#include "platform/place/gpus.h"
#include "platform/records/items.h"
#include "platform/restore/keep.h"
#include "platform/listen.h"
#include "platform/files/logs.h"
#include "platform/records/record.h"
#include "platform/restore/restore.h"
#include "platform/shortage.h"
#include "platform/place/vcs.h"

#include "base/os/posix_fs.h"

#include <stdio.h>

void pai__platform_free(pai_platform *p)
{
  pai_alloc alloc = p->alloc;
  const pai__map_entry *e;
  pai__pjob *j;

  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;)
    pai__platform_put(e->value, PAI__GONE);
  while ((j = pai__platform_pop(p, PAI__GONE)) != NULL)
    pai__platform_free_job(j);
  pai__map_dispose(&p->jobs);
  pai__map_dispose(&p->names);
  pai__map_dispose(&p->dropped);
  pai__market_close(p->market);
  pai__accounts_close(p->accounts);
  if (p->store != NULL)
    pai__commit_close(p);
  pai__keep_close(p);
  pai__estimates_close(p);
  pai__answers_close(p);
  pai__folders_close(p);
  pai__root_watch_close(p);
  pai__code_close(p);
  pai__listings_close(p);
  if (p->vcs != NULL)
    pai__vcs_dispose(p->vcs, &p->alloc);
  pai__free(&p->alloc, p->vcs, sizeof(*p->vcs));
  pai__gpus_close(p);
  pai__cores_close(p);
  pai__loop_step_close(p->gather);
  pai__items_free(p);
  pai__store_close(p->store);
  pai__listeners_free(p);
  pai__followers_leave(p);
  pai__logs_free(p);
  pai__loop_step_close(p->kick);
  pai__timer_close(p->ports);
  pai__timer_close(p->limits);
  pai__shortage_close(p);
  pai_sched_free(p->sched);
  pai__buf_dispose(&p->path_buf);
  pai__failures_free(p->failures);
  pai__strfree(&alloc, p->jobs_dir);
  pai__strfree(&alloc, p->root);
  pai__strfree(&alloc, p->user);
  pai__fork_keep(&p->lock_fork);
  pai__platform_unlock(p->lock);
  pai__free(&alloc, p, sizeof(*p));
}

int pai__no_records(pai_error **err)
{
  (void)pai__fail(err, PAI_ENOTSUP, "the platform keeps no records");
  pai__error_help(err, "create the platform with durable = 1");
  return PAI_ENOTSUP;
}

int pai__check_open(const pai_platform *p, pai_error **err)
{
  if (p->store == NULL)
    return pai__no_records(err);
  return p->closing ? pai__fail(err, PAI_EBUSY, "the platform is closing")
                    : PAI_OK;
}

static void on_schedule_due(void *user_data)
{
  pai_platform *p = user_data;

  p->schedule_due = true;
  pai__platform_hurry(p);
}

/* --- making one --------------------------------------------------------- */

/* Makes the root's path absolute: the host may change its working folder, and
 * "-x" may be a folder's name. */
static int make_root(pai_platform *p, const char *root, pai_error **err)
{
  char *own = NULL;
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
    rc = pai__fs_absolute(&p->root, root, &p->alloc, err);
  pai__strfree(&p->alloc, own);
  if (rc < 0)
    return rc;
  p->jobs_dir = pai__fs_join(p->root, "jobs", &p->alloc);
  return p->jobs_dir != NULL ? pai__fs_make_dirs(p->jobs_dir, &p->alloc, err)
                             : pai__oom(err);
}

/* Replaces the error of a refused event by one for the user, with its cause. */
static int bad_policy(int rc, const char *policy, pai_error **err)
{
  pai_error *event = err != NULL ? *err : NULL;
  const pai_error *why = event != NULL ? pai_error_cause(event) : NULL;
  const char *help = pai_error_help(why != NULL ? why : event);

  if (event == NULL)
    return rc;
  *err = NULL;
  (void)pai__fail(err, rc, "the policy \"%.64s\" cannot decide here: %s",
                  policy, pai_error_message(why != NULL ? why : event));
  if (help != NULL)
    pai__error_help(err, "%s", help);
  pai_error_free(event);
  return rc;
}

/* A restored scheduler has the policy of its snapshot; changes it to the
 * present one. */
static int choose_policy(pai_platform *p, const char *policy, pai_error **err)
{
  pai_sched_view sums = { .struct_size = sizeof(sums) };
  pai_sched_event e = { .struct_size = sizeof(e),
                        .kind = PAI_SCHED_POLICY,
                        .time = pai__platform_now(p),
                        .text = policy != NULL ? policy : "fifo" };

  int rc = PAI_OK;

  (void)pai_sched_view_sums(p->sched, &sums);
  p->ranks = strcmp(e.text, "fifo") != 0;
  if (strcmp(sums.policy, e.text) != 0)
    rc = pai_sched_send(p->sched, &e, err);
  return rc < 0 ? bad_policy(rc, e.text, err) : PAI_OK;
}

/* Makes a scheduler for this machine.  Ports begin at a random one, because two
 * platforms do not see each other's ports that are not open yet. */
static int make_sched(pai_platform *p, pai_error **err)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  uint32_t seed = (uint32_t)(p->seed >> 32 ^ p->seed);
  pai_cluster *cluster;
  int rc;

  if ((p->vcs != NULL
         ? pai__vcs_cluster(&cluster, p, p->vcs)
         : pai__machine_cluster(&cluster, &p->here, &p->alloc)) < 0)
    return pai__oom(err);
  o.alloc = &p->alloc;
  o.first_port = p->here.port_first;
  o.last_port = p->here.port_last;
  o.next_port = o.first_port + seed % (o.last_port - o.first_port + 1);
  rc = pai_sched_new(&p->sched, cluster, &o, err);
  pai_cluster_free(cluster);
  return rc;
}

static void on_backend_log(void *user_data, int level, const char *line)
{
  pai__log_line(&((pai_platform *)user_data)->log, level, "%s", line);
}

static int open_backend(pai_platform *p, const pai_platform_options *o,
                        pai_error **err)
{
  pai_backend_host host = { .struct_size = sizeof(host),
                            .user_data = p,
                            .alloc = &p->alloc,
                            .loop = p->loop,
                            .root = p->root,
                            .program = o->task_program,
                            .output = pai__platform_output,
                            .ended = pai__platform_task_ended,
                            .log = on_backend_log,
                            .owner = p->system ? pai__system_owner : NULL,
                            .pass_env = o->pass_env,
                            .ready = pai__platform_ready };

  p->ops = &pai__backend_local;
  return p->ops->open(&p->backend, NULL, &host, err);
}

/* Finds a runtime by its name; NULL: auto. */
static int find_runtime(pai_platform *p, const char *name, pai_error **err)
{
  p->runtime = name != NULL ? pai__plan_runtime_named(name) : PAI_RUNTIME_AUTO;
  if (p->runtime >= 0)
    return PAI_OK;
  (void)pai__fail(err, PAI_EINVAL, "there is no runtime \"%.64s\"", name);
  pai__error_help(err, "auto, process, bwrap, podman or docker");
  return PAI_EINVAL;
}

/* Locks the root of a durable platform, and opens its database. */
static int open_records(pai_platform *p, pai_error **err)
{
  int rc = pai__platform_lock(&p->lock, p->root, &p->alloc, err);

  if (rc == PAI_OK)
    pai__fork_close(&p->lock_fork, p->lock);
  if (rc == PAI_OK)
    rc = pai__system_open(p, err);
  if (rc == PAI_OK)
    rc = pai__failures_open(p, err);
  if (rc == PAI_OK)
    rc = pai__platform_check_database(p->root, &p->alloc, err);
  if (rc == PAI_OK)
    rc = pai__store_open(&p->store, &p->alloc, p->root, NULL, err);
  if (rc == PAI_OK)
    rc = pai__restore_begin(p, err);
  return rc;
}

static int open_parts(pai_platform *p, const pai_platform_options *o,
                      pai_error **err)
{
  int rc = find_runtime(p, o->runtime, err);

  if (rc == PAI_OK)
    rc = make_root(p, o->root, err);
  pai__machine_discover(&p->here);
  if (rc == PAI_OK && o->durable != 0)
    rc = open_records(p, err);
  if (rc == PAI_OK && p->sched == NULL)
    rc = make_sched(p, err);
  if (rc == PAI_OK)
    rc = choose_policy(p, o->policy, err);
  if (rc == PAI_OK &&
      (pai__loop_step_new(&p->kick, &p->alloc, p->loop, pai__platform_step,
                          p) < 0 ||
       pai__timer_new(&p->ports, &p->alloc, p->loop, on_schedule_due, p) < 0 ||
       pai__timer_new(&p->limits, &p->alloc, p->loop, on_schedule_due, p) < 0))
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = pai__shortage_open(p, err);
  if (rc == PAI_OK && p->store != NULL)
    rc = pai__commit_open(p, err);
  if (rc == PAI_OK && p->store != NULL)
    rc = pai__platform_open_accounts(p, err);
  if (rc == PAI_OK)
    rc = pai__gpus_open(p, err);
  if (rc == PAI_OK)
    rc = pai__cores_open(p, err);
  p->keep_time = o->keep_time;
  p->keep_bytes = o->keep_bytes;
  p->keep_jobs = o->keep_jobs;
  if (rc == PAI_OK && p->store != NULL)
    rc = pai__keep_open(p, err);
  if (rc == PAI_OK && p->store != NULL)
    rc = pai__code_open(p, err);
  if (rc == PAI_OK && p->store != NULL)
    rc = pai__listings_open(p, err);
  if (rc == PAI_OK)
    rc = pai__root_watch_open(p, err);
  /* The last step that can fail: a back end closes asynchronously. */
  if (rc == PAI_OK)
    rc = open_backend(p, o, err);
  if (rc == PAI_OK && p->store != NULL)
    pai__restore_jobs(p);
  if (rc == PAI_OK) {
    pai__gpus_begin(p);
    pai__cores_begin(p);
  }
  if (rc == PAI_OK)
    pai__apart_tell(p);
  return rc;
}

int pai_platform_new(pai_platform **out, pai_loop *loop,
                     const pai_platform_options *opts, pai_error **err)
{
  pai_platform_options o;
  pai_platform *p;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(loop != NULL, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_platform_options, seed);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_platform_options");
  if (o.system != 0 && o.durable == 0)
    return pai__fail(err, PAI_EINVAL,
                     "pai_platform_options: system goes with durable");
  rc = pai__loop_check(loop, err);
  if (rc < 0)
    return rc;
  o.alloc = pai__alloc_or_libc(o.alloc);
  p = pai__zalloc(o.alloc, sizeof(*p));
  if (p == NULL)
    return pai__oom(err);
  p->alloc = *o.alloc;
  p->forks = pai__forks();
  p->loop = loop;
  p->lock = p->sched_file_fd = -1;
  p->system = o.system != 0;
  p->wait_impossible = o.wait_impossible != 0;
  if (o.address != NULL)
    (void)snprintf(p->address, sizeof(p->address), "%s", o.address);
  p->on_gone = o.on_gone;
  p->log = (pai__log){ o.on_log, o.user_data, PAI_LOG_INFO };
  p->on_event = o.on_event;
  p->user_data = o.user_data;
  p->seed = o.seed != 0 ? o.seed : pai__loop_seed();
  pai__map_init(&p->jobs, &p->alloc);
  pai__map_init(&p->names, &p->alloc);
  pai__map_init(&p->dropped, &p->alloc);
  pai__buf_init(&p->lines, &p->alloc);
  pai__buf_init(&p->path_buf, &p->alloc);
  p->path = &p->path_buf;
  if (o.user == NULL)
    rc = pai__platform_user_name(&p->user, &p->alloc, err);
  else if ((p->user = pai__strdup(&p->alloc, o.user)) == NULL)
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = open_parts(p, &o, err);
  if (rc < 0) {
    pai__platform_free(p);
    return rc;
  }
  *out = p;
  return PAI_OK;
}

static void close_once(pai_platform *p, bool leave, pai_closed_cb closed,
                       void *user_data)
{
  if (p->closed == NULL) {
    p->closed = closed;
    p->closed_data = user_data;
  }
  if (p->closing)
    return;
  p->closing = true;
  pai__code_stop(p);
  p->leaving = leave;
  pai__listings_stop(p);
  pai__platform_hurry(p);
}

void pai_platform_close(pai_platform *p, pai_closed_cb closed, void *user_data)
{
  if (p != NULL && !PAI__IS_FORKED(p))
    close_once(p, false, closed, user_data);
}

void pai_platform_leave(pai_platform *p, pai_closed_cb closed, void *user_data)
{
  if (p != NULL && !PAI__IS_FORKED(p))
    close_once(p, p->store != NULL, closed, user_data);
}
