/*
 * vcs.c - creating, changing, stopping and removing virtual clusters
 *
 * A change gives the scheduler a new cluster, by an event in its log; so the
 * log alone shows the quotas at each decision.  The list here is the source of
 * the next cluster; list and event are in the same commit.
 */
#include "platform/place/vcs.h"

#include "base/text/utf8.h"
#include "platform/place/impossible.h"
#include "platform/place/placing.h"
#include "platform/place/shares.h"
#include "resource/cluster.h"

#include <openpai/account.h>
#include <openpai/vc.h>

enum { LONGEST_NAME = 64, LONGEST_TEXT = 1024, NAMED_JOBS = 3 };

static const char rest[] = "default";

/* --- the list ------------------------------------------------------------- */

static void dispose_entry(pai__vc_entry *e, const pai_alloc *alloc)
{
  pai__strfree(alloc, e->name);
  pai__strfree(alloc, e->description);
  pai__strfree(alloc, e->external);
}

void pai__vcs_dispose(pai__vcs *vcs, const pai_alloc *alloc)
{
  for (size_t i = 0; i < vcs->n; i++)
    dispose_entry(&vcs->list[i], alloc);
  pai__free(alloc, vcs->list, vcs->n * sizeof(*vcs->list));
  *vcs = (pai__vcs){ 0 };
}

pai__vc_entry *pai__vcs_find(const pai__vcs *vcs, const char *name)
{
  for (size_t i = 0; i < vcs->n; i++)
    if (strcmp(vcs->list[i].name, name) == 0)
      return &vcs->list[i];
  return NULL;
}

size_t pai__vcs_index(const pai__vcs *vcs, const char *name)
{
  const pai__vc_entry *e =
    vcs != NULL && name != NULL ? pai__vcs_find(vcs, name) : NULL;

  return e != NULL ? (size_t)(e - vcs->list) + 1 : 0;
}

pai__vc_entry *pai__vcs_add(pai__vcs *vcs, const pai_alloc *alloc,
                            const pai__vc_entry *entry)
{
  pai__vc_entry new = *entry, *list;
  size_t at = 0;

  new.name = pai__strdup(alloc, entry->name);
  new.description = pai__strdup(alloc, entry->description);
  new.external = pai__strdup(alloc, entry->external);
  list = new.name == NULL || new.description == NULL || new.external == NULL
           ? NULL
           : pai__realloc(alloc, vcs->list, vcs->n, vcs->n + 1, sizeof(*list));
  if (list == NULL) {
    dispose_entry(&new, alloc);
    return NULL;
  }
  vcs->list = list;
  while (at < vcs->n && strcmp(list[at].name, new.name) < 0)
    at++;
  memmove(list + at + 1, list + at, (vcs->n - at) * sizeof(*list));
  list[at] = new;
  vcs->n++;
  return &list[at];
}

/* Copies all but the one named `but`; NULL: all. */
static int copy(pai__vcs *to, const pai__vcs *from, const char *but,
                const pai_alloc *alloc)
{
  *to = (pai__vcs){ .changed = true };
  for (size_t i = 0; i < from->n; i++) {
    if (but != NULL && strcmp(from->list[i].name, but) == 0)
      continue;
    if (pai__vcs_add(to, alloc, &from->list[i]) == NULL) {
      pai__vcs_dispose(to, alloc);
      return PAI_ENOMEM;
    }
  }
  return PAI_OK;
}

/* --- as a cluster --------------------------------------------------------- */

static int add_vc(pai_cluster *c, const pai__vc_entry *e)
{
  pai__vc vc = { .name = pai__cluster_text(c, e->name, strlen(e->name)),
                 .part = e->part,
                 .most = e->most,
                 .parted = true,
                 .stopped = e->stopped };

  return vc.name != NULL ? pai__cluster_add_vc(c, &vc) : PAI_ENOMEM;
}

int pai__vcs_cluster(pai_cluster **out, const pai_platform *p,
                     const pai__vcs *vcs)
{
  pai__vc left = { .name = rest, .parted = true, .rest = true };
  int rc = pai__machine_cluster(out, &p->here, &p->alloc);

  if (rc < 0 || vcs->n == 0)
    return rc;
  rc = pai__cluster_add_vc(*out, &left);
  for (size_t i = 0; i < vcs->n && rc == PAI_OK; i++)
    rc = add_vc(*out, &vcs->list[i]);
  if (rc < 0) {
    pai_cluster_free(*out);
    *out = NULL;
  }
  return rc;
}

/* Replaces the error of a refused event by its cause, for the user. */
static int refused(int rc, pai_error **err)
{
  const pai_error *why = err != NULL ? pai_error_cause(*err) : NULL;
  pai_error *event;

  if (why == NULL)
    return rc;
  event = *err;
  *err = NULL;
  (void)pai__fail(err, rc, "%s", pai_error_message(why));
  if (pai_error_help(why) != NULL)
    pai__error_help(err, "%s", pai_error_help(why));
  pai_error_free(event);
  return rc;
}

/* Makes these the platform's virtual clusters.  Takes `vcs` in any case. */
static int apply(pai_platform *p, pai__vcs *vcs, pai_error **err)
{
  pai_sched_event e = { .kind = PAI_SCHED_CLUSTER };
  pai_cluster *cluster;
  int rc = pai__vcs_cluster(&cluster, p, vcs);

  if (rc < 0) {
    pai__vcs_dispose(vcs, &p->alloc);
    return pai__oom(err);
  }
  e.cluster = cluster;
  rc = pai__placing_tell(p, &e, err);
  pai_cluster_free(cluster);
  if (rc < 0) {
    pai__vcs_dispose(vcs, &p->alloc);
    return refused(rc, err);
  }
  pai__vcs_dispose(p->vcs, &p->alloc);
  *p->vcs = *vcs;
  pai__impossible_try_all(p);
  p->schedule_due = true;
  pai__platform_hurry(p);
  return PAI_OK;
}

/* --- calls ---------------------------------------------------------------- */

static int begin(pai_platform *p, const char *name, pai_error **err)
{
  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(name != NULL, err);
  if (p->vcs == NULL)
    return pai__no_records(err);
  if (strcmp(name, rest) == 0) {
    (void)pai__fail(
      err, PAI_EPERM,
      "virtual cluster '%s' has the remaining capacity and cannot be changed",
      rest);
    pai__error_help(err, "change the others");
    return PAI_EPERM;
  }
  if (p->closing)
    return pai__fail(err, PAI_EBUSY, "the platform is closing");
  if (!p->failing)
    return PAI_OK;
  (void)pai__fail(err, PAI_EIO,
                  "nothing is changed while the database cannot be written: "
                  "%s",
                  pai_error_message(p->trouble));
  pai__error_retriable(err);
  return PAI_EIO;
}

static void name_all(const pai_platform *p, pai_error **err)
{
  enum { MOST = 16 };
  pai__buf names;

  pai__buf_init(&names, &p->alloc);
  for (size_t i = 0; i < MOST && pai_platform_vc_name(p, i) != NULL; i++)
    pai__buf_printf(&names, "%s%s", i > 0 ? ", " : "",
                    pai_platform_vc_name(p, i));
  if (pai__buf_ok(&names))
    pai__error_help(err, "there %s %s%s; openpai vc add makes one",
                    p->vcs->n > 0 ? "are" : "is", pai__buf_text(&names),
                    p->vcs->n >= MOST ? ", ..." : "");
  pai__buf_dispose(&names);
}

static int find(const pai_platform *p, const char *name, pai_error **err)
{
  if (pai__vcs_find(p->vcs, name) != NULL)
    return PAI_OK;
  (void)pai__fail(err, PAI_ENOTFOUND, "there is no virtual cluster '%.64s'",
                  name);
  name_all(p, err);
  return PAI_ENOTFOUND;
}

static int check_name(const char *name, pai_error **err)
{
  size_t n = 0;

  while ((name[n] >= 'a' && name[n] <= 'z') ||
         (name[n] >= 'A' && name[n] <= 'Z') ||
         (name[n] >= '0' && name[n] <= '9') || name[n] == '_')
    n++;
  if (n > 0 && n <= LONGEST_NAME && name[n] == '\0')
    return PAI_OK;
  (void)pai__fail(err, PAI_EINVAL,
                  "'%.64s' cannot be the name of a virtual cluster", name);
  pai__error_help(err, "names have 1 to %d letters, digits and _",
                  LONGEST_NAME);
  return PAI_EINVAL;
}

/* Checks capacities: the shares of all must fit into the machine. */
static int check_part(const pai_platform *p, const char *name,
                      const pai_vc_options *o, pai_error **err)
{
  uint32_t left = PAI_VC_WHOLE;
  char text[PAI__PART_TEXT];

  for (size_t i = 0; i < p->vcs->n; i++)
    if (strcmp(p->vcs->list[i].name, name) != 0)
      left -= p->vcs->list[i].part;
  pai__part_text(text, left);
  if (o->capacity > left) {
    (void)pai__fail(err, PAI_ENOROOM,
                    "the other virtual clusters leave %s of the machine",
                    text);
    pai__error_help(err, "reduce others first, or give this one up to %s",
                    text);
    return PAI_ENOROOM;
  }
  if (o->max_capacity == 0 ||
      (o->max_capacity >= o->capacity && o->max_capacity <= PAI_VC_WHOLE))
    return PAI_OK;
  return pai__fail(err, PAI_EINVAL,
                   "the most that a virtual cluster may use is at least its "
                   "capacity, and at most 100%%");
}

static bool is_idle_time(int32_t minutes)
{
  return minutes >= PAI_VC_NEVER && minutes <= PAI__VC_MOST_IDLE;
}

static int check_idle(const pai_vc_options *o, pai_error **err)
{
  if (is_idle_time(o->idle_warn_minutes) && is_idle_time(o->idle_stop_minutes))
    return PAI_OK;
  return pai__fail(err, PAI_EINVAL,
                   "times after which idle GPUs matter are up to %d minutes",
                   (int)PAI__VC_MOST_IDLE);
}

/* 0 leaves a time as it is. */
static void set_idle(uint32_t *to, int32_t minutes)
{
  if (minutes != 0)
    *to = minutes > 0 ? (uint32_t)minutes : 0;
}

static bool is_text(const char *s)
{
  size_t len = s != NULL ? strlen(s) : 0, n = 0;

  if (len > LONGEST_TEXT)
    return false;
  for (size_t i = 0; i < len; i += n) {
    n = pai__utf8_len(s + i, len - i);
    if (n == 0)
      return false;
  }
  return true;
}

static int check_texts(const pai_vc_options *o, pai_error **err)
{
  if (is_text(o->description) && is_text(o->external_name))
    return PAI_OK;
  return pai__fail(err, PAI_EINVAL,
                   "a virtual cluster's description and external name are "
                   "UTF-8 of up to %d bytes each",
                   LONGEST_TEXT);
}

/* Adds its group as well, which must not be that of something else. */
static int apply_with_group(pai_platform *p, pai__vcs *vcs, const char *name,
                            const pai_vc_options *o, pai_error **err)
{
  bool new = pai__vcs_find(p->vcs, name) == NULL;
  int rc = pai_accounts_add_vc(p->accounts, name, o->description,
                               o->external_name, err);

  if (rc < 0) {
    pai__vcs_dispose(vcs, &p->alloc);
    return rc;
  }
  rc = apply(p, vcs, err);
  if (rc < 0 && new)
    (void)!pai_accounts_remove_vc(p->accounts, name, NULL);
  return rc;
}

int pai_platform_put_vc(pai_platform *p, const char *name,
                        const pai_vc_options *opts, pai_error **err)
{
  pai__vc_entry e = { .description = "",
                      .external = "",
                      .idle_warn = PAI__VC_IDLE_WARN };
  const pai__vc_entry *old;
  pai_vc_options o = { 0 };
  pai__vcs vcs;
  int rc = begin(p, name, err);

  if (rc == PAI_OK)
    rc = PAI__OPTIONS_IN(&o, opts, pai_vc_options, external_name);
  if (rc < 0)
    return err != NULL && *err != NULL
             ? rc
             : pai__fail_struct(err, rc, opts, "pai_vc_options");
  rc = check_name(name, err);
  if (rc == PAI_OK)
    rc = check_part(p, name, &o, err);
  if (rc == PAI_OK)
    rc = check_texts(&o, err);
  if (rc == PAI_OK)
    rc = check_idle(&o, err);
  if (rc < 0)
    return rc;
  old = pai__vcs_find(p->vcs, name);
  if (old == NULL && p->vcs->n + 1 >= PAI_VC_MOST)
    return pai__fail(err, PAI_ELIMIT, "there are %d virtual clusters already",
                     (int)PAI_VC_MOST);
  if (old != NULL)
    e = *old;
  e.name = (char *)name;
  e.part = o.capacity;
  e.most = o.max_capacity != 0 ? o.max_capacity : o.capacity;
  if (o.description != NULL)
    e.description = (char *)o.description;
  if (o.external_name != NULL)
    e.external = (char *)o.external_name;
  set_idle(&e.idle_warn, o.idle_warn_minutes);
  set_idle(&e.idle_stop, o.idle_stop_minutes);
  if (copy(&vcs, p->vcs, name, &p->alloc) < 0)
    return pai__oom(err);
  if (pai__vcs_add(&vcs, &p->alloc, &e) == NULL) {
    pai__vcs_dispose(&vcs, &p->alloc);
    return pai__oom(err);
  }
  return apply_with_group(p, &vcs, name, &o, err);
}

int pai_platform_stop_vc(pai_platform *p, const char *name, int stopped,
                         pai_error **err)
{
  pai__vcs vcs;
  int rc = begin(p, name, err);

  if (rc == PAI_OK)
    rc = find(p, name, err);
  if (rc < 0)
    return rc;
  if (pai__vcs_find(p->vcs, name)->stopped == (stopped != 0))
    return PAI_OK;
  if (copy(&vcs, p->vcs, NULL, &p->alloc) < 0)
    return pai__oom(err);
  pai__vcs_find(&vcs, name)->stopped = stopped != 0;
  return apply(p, &vcs, err);
}

/* Counts its live jobs, and writes the names of the first ones. */
static size_t list_jobs(const pai_platform *p, const char *name, pai__buf *out)
{
  const pai__map_entry *e;
  size_t n = 0;

  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    const pai__pjob *j = e->value;

    if (strcmp(j->vc, name) != 0 ||
        pai__job_public_state(&j->job) > PAI_STATE_STOPPING)
      continue;
    if (n++ < NAMED_JOBS)
      pai__buf_printf(out, "%s%s~%s", n > 1 ? ", " : "", j->user, j->name);
  }
  if (n > NAMED_JOBS)
    pai__buf_printf(out, " and %zu more", n - NAMED_JOBS);
  return n;
}

int pai_platform_remove_vc(pai_platform *p, const char *name, pai_error **err)
{
  int rc = begin(p, name, err);
  pai__vcs vcs;
  pai__buf jobs;

  if (rc == PAI_OK)
    rc = find(p, name, err);
  if (rc < 0)
    return rc;
  pai__buf_init(&jobs, &p->alloc);
  if (list_jobs(p, name, &jobs) != 0) {
    rc = pai__fail(err, PAI_EBUSY, "jobs belong to virtual cluster '%s': %s",
                   name, pai__buf_text(&jobs));
    pai__error_help(err, "stop them, or wait for them; stopping the virtual "
                         "cluster keeps others from starting");
  }
  pai__buf_dispose(&jobs);
  if (rc < 0)
    return rc;
  pai__shares_settle(p); /* gives back shared GPUs without jobs */
  if (copy(&vcs, p->vcs, name, &p->alloc) < 0)
    return pai__oom(err);
  rc = apply(p, &vcs, err);
  if (rc == PAI_OK && pai_accounts_remove_vc(p->accounts, name, NULL) < 0)
    pai__log_line(&p->log, PAI_LOG_WARNING,
                  "the group of virtual cluster %s, which was removed, stays",
                  name);
  return rc;
}

const char *pai_platform_vc_name(const pai_platform *p, size_t i)
{
  if (p == NULL || p->vcs == NULL || i > p->vcs->n)
    return NULL;
  return i == 0 ? rest : p->vcs->list[i - 1].name;
}

/* --- of jobs -------------------------------------------------------------- */

int pai__vcs_check(const pai__pjob *j, pai_error **err)
{
  const pai_platform *p = j->platform;

  if (p->vcs == NULL || strcmp(j->vc, rest) == 0 ||
      pai__vcs_find(p->vcs, j->vc) != NULL)
    return PAI_OK;
  (void)pai__fail(err, PAI_EPERM, "there is no virtual cluster '%.64s'",
                  j->vc);
  name_all(p, err);
  return PAI_EPERM;
}

/* NULL also if it did not exist when the job was accepted. */
const char *pai__vcs_of(const pai__pjob *j)
{
  const pai__vcs *vcs = j->platform->vcs;

  return vcs != NULL && pai__vcs_find(vcs, j->vc) != NULL ? j->vc : NULL;
}
