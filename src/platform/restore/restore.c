/*
 * restore.c - restoring a platform from its database, after an end or a crash
 *
 * The database is consistent: jobs and tasks as recorded last, and the
 * scheduler's snapshot with the log lines after it.
 */
#include "platform/place/after.h"
#include "platform/restore/restore.h"

#include "platform/place/placing.h"
#include "platform/records/record.h"
#include "platform/place/single.h"
#include "platform/place/shares.h"
#include "platform/place/vcs.h"

#include <stdio.h>
#include <stdlib.h>

/* --- the scheduler -------------------------------------------------------- */

static int add_piece(void *user_data, const void *data, size_t len)
{
  pai__buf_add(user_data, data, len);
  return PAI_OK;
}

/* Reads one line of the scheduler's log, which may be a snapshot. */
static int read_line(pai_platform *p, const char *line, size_t len,
                     pai_error **err)
{
  static const char snapshot[] = "{\"snapshot\"";
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_sched *sched;
  int rc;

  if (p->sched != NULL && (len < sizeof(snapshot) - 1 ||
                           memcmp(line, snapshot, sizeof(snapshot) - 1) != 0))
    return pai_sched_send_json(p->sched, line, len, err);
  o.alloc = &p->alloc;
  rc = pai_sched_load(&sched, line, len, &o, err);
  if (rc == PAI_OK) {
    pai_sched_free(p->sched);
    p->sched = sched;
  }
  return rc;
}

static int read_log(pai_platform *p, const pai__buf *text, pai_error **err)
{
  const char *at = text->data, *end = at + text->len;
  int rc = PAI_OK;

  while (rc >= 0 && at != end) {
    const char *line = at;
    const char *newline = memchr(at, '\n', (size_t)(end - at));

    at = newline != NULL ? newline + 1 : end;
    rc = read_line(p, line, (size_t)(at - line) - (newline != NULL), err);
  }
  return rc < 0 ? rc : PAI_OK;
}

/* Goes on without a damaged log, which no check of the database finds.  Only
 * the order of the queue and the places are lost: jobs are in the database, and
 * wait again. */
static int begin_anew(pai_platform *p, int rc, pai_error **err)
{
  const pai_error *why = err != NULL ? *err : NULL;

  pai__log_line(&p->log, PAI_LOG_ERROR,
                "the scheduler's log in %s cannot be read (%s: %s); a new log "
                "is started, and jobs wait in the order of their submission",
                p->root, pai_code_name(rc),
                why != NULL ? pai_error_message(why) : "");
  pai_sched_free(p->sched);
  p->sched = NULL;
  if (err != NULL) {
    pai_error_free(*err);
    *err = NULL;
  }
  return PAI_OK;
}

static int load_sched(pai_platform *p, pai_error **err)
{
  pai__buf text;
  int rc;

  pai__buf_init(&text, &p->alloc);
  rc = pai__store_snapshot(p->store, add_piece, &text, err);
  if (rc == PAI_OK)
    rc = pai__store_log(p->store, add_piece, &text, err);
  if (rc == PAI_OK && !pai__buf_ok(&text))
    rc = pai__oom(err);
  if (rc == PAI_OK && text.len != 0)
    rc = read_log(p, &text, err);
  pai__buf_dispose(&text);
  return rc < 0 && rc != PAI_ENOMEM ? begin_anew(p, rc, err) : rc;
}

/* Places in the scheduler refer to the node's name, so a root keeps the first
 * name of its machine, even if the machine is renamed. */
static void keep_name(pai_platform *p)
{
  pai_sched_node_view node = { .struct_size = sizeof(node) };

  if (pai_sched_view_node(p->sched, 0, &node) < 0 ||
      strcmp(node.name, p->here.name) == 0)
    return;
  pai__log_line(
    &p->log, PAI_LOG_INFO,
    "this machine, %s, keeps its former name %s for the jobs of %s",
    p->here.name, node.name, p->root);
  (void)snprintf(p->here.name, sizeof(p->here.name), "%s", node.name);
}

/* Gives the scheduler the present machine, which may have changed. */
static void renew_cluster(pai_platform *p)
{
  pai_sched_event e = { .struct_size = sizeof(e), .kind = PAI_SCHED_CLUSTER };
  pai_cluster *cluster = NULL;
  pai_error *err = NULL;
  int rc = pai__vcs_cluster(&cluster, p, p->vcs);

  e.time = pai__platform_now(p);
  e.cluster = cluster;
  if (rc == PAI_OK)
    rc = pai_sched_send(p->sched, &e, &err);
  if (rc < 0)
    pai__log_line(&p->log, PAI_LOG_WARNING,
                  "the description of this machine is not updated: %s",
                  pai_error_message(err));
  e.kind = PAI_SCHED_REGAIN_PORTS;
  (void)!pai_sched_send(p->sched, &e, NULL);
  pai_error_free(err);
  pai_cluster_free(cluster);
}

/* --- clock and ids -------------------------------------------------------- */

/* Sets the clock to wall-clock time, unless that went back. */
static void set_clock(pai_platform *p)
{
  pai_sched_view sums = { .struct_size = sizeof(sums) };
  pai_time now = pai__loop_wall_time();

  if (p->sched != NULL)
    (void)pai_sched_view_sums(p->sched, &sums);
  if (now <= sums.now)
    now = sums.now + 1;
  p->clock = now - pai__loop_time();
}

static int find_ids(pai_platform *p, pai_error **err)
{
  char *seed = NULL;
  int rc = pai__store_last_id(p->store, &p->last_id, err);

  if (rc == PAI_OK)
    rc = pai__store_meta(p->store, &seed, "uid", err);
  if (rc < 0)
    return rc;
  p->uid_seed = seed != NULL ? strtoull(seed, NULL, 16) : 0;
  pai__strfree(&p->alloc, seed);
  rc = pai__store_meta(p->store, &seed, "boot", err);
  pai__platform_boot_id(p->boot);
  p->rebooted = rc == PAI_OK && seed != NULL && strcmp(seed, p->boot) != 0;
  pai__strfree(&p->alloc, seed);
  return rc;
}

int pai__restore_begin(pai_platform *p, pai_error **err)
{
  int rc = find_ids(p, err);

  if (rc == PAI_OK)
    rc = pai__vcs_load(p, err);
  if (rc == PAI_OK)
    rc = load_sched(p, err);
  if (rc < 0)
    return rc;
  set_clock(p);
  if (p->sched != NULL) {
    keep_name(p);
    renew_cluster(p);
  }
  return PAI_OK;
}

/* --- jobs ----------------------------------------------------------------- */

static int add_id(void *user_data, const pai__job_row *row)
{
  pai__buf_add(user_data, &row->id, sizeof(row->id));
  return PAI_OK;
}

static bool is_known(pai_platform *p, uint64_t id)
{
  uint32_t task;
  const pai__pjob *j = pai__single_find(p, id, &task);

  return j != NULL &&
         (task == PAI__NO_TASK ? j->job.asked
                               : j->tasks[task].single != PAI__SINGLE_NONE);
}

void pai__platform_drop_strays(pai_platform *p)
{
  uint64_t id = pai_sched_next(p->sched, 0);

  p->strays = false;
  while (id != 0) {
    uint64_t next = pai_sched_next(p->sched, id);

    if ((id & PAI__SHARE_ID) == 0 && !is_known(p, id))
      pai__placing_remove(p, id, 1);
    id = next;
  }
}

void pai__restore_jobs(pai_platform *p)
{
  pai_error *err = NULL;
  pai__buf ids;

  pai__buf_init(&ids, &p->alloc);
  if (pai__store_live(p->store, add_id, &ids, &err) < 0 || !pai__buf_ok(&ids))
    pai__log_line(&p->log, PAI_LOG_ERROR, "cannot restore jobs: %s",
                  pai_error_message(err));
  pai__shares_restore(p);
  for (size_t at = 0; at + sizeof(pai_job_id) <= ids.len;
       at += sizeof(pai_job_id)) {
    pai_job_id id;

    memcpy(&id, ids.data + at, sizeof(id));
    pai__restore_job(p, id);
  }
  pai__shares_restored(p);
  pai__platform_drop_strays(p);
  pai__after_restored(p);
  p->schedule_due = true;
  pai__platform_hurry(p);
  pai__buf_dispose(&ids);
  pai_error_free(err);
}
