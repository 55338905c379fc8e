/* sched.c - schedulers: creation, events, decisions */
#include "sched_shared.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>

/* --- one thread at a time -------------------------------------------------- */

bool sched_take(Scheduler *s, failure *f)
{
  if (pthread_mutex_trylock(&s->owner) != 0) {
    facade_fail(f, PAI_EBUSY, "the scheduler is in use by another thread");
    return false;
  }
  if (s->sched != NULL)
    return true;
  facade_fail(f, PAI_EINVAL,
              s->view
                ? "there is no scheduler yet, or it is at work"
                : "the policy's call is over, and so is what it was handed");
  sched_give(s);
  return false;
}

void sched_give(Scheduler *s)
{
  (void)pthread_mutex_unlock(&s->owner);
}

bool sched_enter(Scheduler *s, failure *f)
{
  if (!sched_take(s, f))
    return false;
  if (s->inside) {
    facade_fail(f, PAI_EBUSY, "a policy cannot do that to its own scheduler");
    sched_give(s);
    return false;
  }
  s->inside = true;
  return true;
}

/* Locks a scheduler to change it, which a view does not allow. */
static bool enter(Scheduler *s, failure *f)
{
  if (!sched_enter(s, f))
    return false;
  if (!s->view)
    return true;
  facade_fail(f, PAI_ENOTSUP, "it can be looked at only: change a fork of it");
  s->inside = false;
  sched_give(s);
  return false;
}

void sched_settle(failure *f)
{
  if (script_settle(f->code < 0))
    f->code = PAI_EUSER;
  else if (f->code == PAI_EUSER)
    f->code = PAI_EINTERNAL;
}

static void settle(const Scheduler *s, failure *f)
{
  if (s != NULL && (s->nscripts > 0 || s->log != NULL))
    sched_settle(f); /* else no script was called */
}

void sched_leave(Scheduler *s, failure *f)
{
  settle(s, f);
  s->inside = false;
  sched_give(s);
}

/* --- views ----------------------------------------------------------------- */

Scheduler *view_make(failure *f)
{
  Scheduler *view = sched_make(f);

  if (view != NULL)
    view->view = true;
  return view;
}

bool view_begin(Scheduler *view, failure *f)
{
  if (pthread_mutex_trylock(&view->owner) != 0) {
    facade_fail(f, PAI_EBUSY, "it is in use by another thread");
    return false;
  }
  if (view->inside) {
    facade_fail(f, PAI_EBUSY, "a callback cannot do that");
    sched_give(view);
    return false;
  }
  view->inside = true;
  view->sched = NULL;
  return true;
}

void view_end(Scheduler *view, const pai_sched *seen, bool others, failure *f)
{
  if (others)
    sched_settle(f);
  else
    settle(view, f);
  view->sched = (pai_sched *)seen;
  view->inside = false;
  sched_give(view);
}

/* --- life ------------------------------------------------------------------ */

Scheduler *sched_make(failure *f)
{
  Scheduler *s = calloc(1, sizeof(*s));
  pthread_mutexattr_t recursive;

  if (s == NULL || pthread_mutexattr_init(&recursive) != 0) {
    free(s);
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return NULL;
  }
  (void)pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  (void)pthread_mutex_init(&s->owner, &recursive);
  (void)pthread_mutexattr_destroy(&recursive);
  return s;
}

void facade_sched_free(Scheduler *s)
{
  if (s->host == NULL && !s->view)
    pai_sched_free(s->sched);
  for (size_t i = 0; i < s->nscripts; i++)
    script_release(s->scripts[i]);
  free(s->scripts);
  script_drop(s->log);
  (void)pthread_mutex_destroy(&s->owner);
  free(s);
}

/* Makes space for one more script. Returns false without memory. */
static bool reserve(Scheduler *s, failure *f)
{
  script **more = realloc(s->scripts, (s->nscripts + 1) * sizeof(*more));

  if (more != NULL)
    s->scripts = more;
  else
    facade_fail(f, PAI_ENOMEM, "out of memory");
  return more != NULL;
}

const pai_policy *sched_keep(Scheduler *s, policy_ref policy, failure *f)
{
  script *made;

  if (policy.object == NULL)
    return NULL;
  if (s == NULL || !reserve(s, f)) {
    script_drop(policy.object);
    return NULL;
  }
  made = script_make(policy, f);
  if (made == NULL)
    return NULL;
  s->scripts[s->nscripts++] = made;
  return &made->table;
}

/* Makes a Scheduler that has the policy, but no pai_sched yet. */
static Scheduler *make_with(policy_ref policy, pai_sched_options *o,
                            failure *f)
{
  Scheduler *s = sched_make(f);

  o->policy = policy.object == NULL ? policy.name : NULL;
  o->table = sched_keep(s, policy, f);
  return s;
}

static Scheduler *finish(Scheduler *s, failure *f)
{
  settle(s, f);
  if (f->code == PAI_OK)
    return s;
  if (s != NULL)
    facade_sched_free(s);
  return NULL;
}

Scheduler *facade_sched_make(Cluster *cluster, const char *options,
                             uint32_t first_port, uint32_t last_port,
                             bool unchecked, policy_ref policy, failure *f)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  Scheduler *s = make_with(policy, &o, f);

  o.policy_options = options;
  o.first_port = first_port;
  o.last_port = last_port;
  o.unchecked = unchecked;
  if (f->code == PAI_OK)
    f->code = pai_sched_new(&s->sched, cluster, &o, &f->err);
  return finish(s, f);
}

Scheduler *facade_sched_load(const char *text, size_t len, policy_ref policy,
                             policy_ref shadow, failure *f)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  Scheduler *s = make_with(policy, &o, f);
  const pai_policy *beside = sched_keep(s, shadow, f);

  o.tables = &beside;
  o.ntables = beside != NULL;
  if (f->code == PAI_OK)
    f->code = pai_sched_load(&s->sched, text, len, &o, &f->err);
  return finish(s, f);
}

/* A fork may use all policies of its original. */
static void share_scripts(Scheduler *fork, const Scheduler *s, failure *f)
{
  for (size_t i = 0; i < s->nscripts && reserve(fork, f); i++) {
    (void)atomic_fetch_add(&s->scripts[i]->refs, 1);
    fork->scripts[fork->nscripts++] = s->scripts[i];
  }
}

Scheduler *facade_sched_fork(Scheduler *s, failure *f)
{
  Scheduler *fork = sched_make(f);

  if (fork != NULL && sched_enter(s, f)) {
    share_scripts(fork, s, f);
    if (f->code == PAI_OK)
      f->code = pai_sched_fork(&fork->sched, s->sched, &f->err);
    sched_leave(s, f);
  }
  if (f->code < 0 && fork != NULL) {
    facade_sched_free(fork);
    fork = NULL;
  }
  return fork;
}

/* --- events ---------------------------------------------------------------- */

/* Returns whether a line of a log is a snapshot, which replaces the
 * scheduler. */
static bool is_snapshot(draft_value line)
{
  static const char key[] = "\"snapshot\"";
  size_t i = 0;

  while (i < line.len && strchr("{ \t", line.text[i]) != NULL)
    i++;
  return line.len - i > strlen(key) &&
         memcmp(line.text + i, key, strlen(key)) == 0;
}

static void begin_anew(Scheduler *s, draft_value line, failure *f)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  const pai_policy **tables = calloc(s->nscripts + 1, sizeof(*tables));
  pai_sched *sched;

  if (tables == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return;
  }
  for (size_t i = 0; i < s->nscripts; i++)
    tables[i] = &s->scripts[i]->table;
  o.tables = tables;
  o.ntables = s->nscripts;
  f->code = pai_sched_load(&sched, line.text, line.len, &o, &f->err);
  free(tables);
  if (f->code < 0)
    return;
  pai_sched_free(s->sched);
  s->sched = sched;
}

int facade_sched_send(Scheduler *s, draft_value line, failure *f)
{
  int count = 0;

  if (!enter(s, f))
    return 0;
  if (is_snapshot(line)) {
    begin_anew(s, line, f);
  } else {
    count = pai_sched_send_json(s->sched, line.text, line.len, &f->err);
    f->code = count < 0 ? count : PAI_OK;
  }
  sched_leave(s, f);
  return count;
}

void facade_sched_cluster(Scheduler *s, Cluster *cluster, int64_t time,
                          failure *f)
{
  pai_sched_event event = { .struct_size = sizeof(event),
                            .kind = PAI_SCHED_CLUSTER,
                            .time = time,
                            .cluster = cluster };

  if (!enter(s, f))
    return;
  f->code = pai_sched_send(s->sched, &event, &f->err);
  sched_leave(s, f);
}

void facade_sched_policy(Scheduler *s, int64_t time, bool beside,
                         const char *options, policy_ref policy, failure *f)
{
  pai_sched_event event = { .struct_size = sizeof(event),
                            .kind =
                              beside ? PAI_SCHED_SHADOW : PAI_SCHED_POLICY,
                            .time = time,
                            .text = policy.name,
                            .options = options };

  if (!enter(s, f)) {
    script_drop(policy.object);
    return;
  }
  event.table = sched_keep(s, policy, f);
  /* The table is kept also if the event fails, which may have taken it. */
  if (f->code == PAI_OK)
    f->code = pai_sched_send(s->sched, &event, &f->err);
  sched_leave(s, f);
}

/* --- decisions ------------------------------------------------------------- */

/* Appends a decision as the library writes it, and, if there is a shadow,
 * whether both agree. */
static int put_decision(job_text *t, const pai_sched *sched, size_t i,
                        const int *agreed, failure *f)
{
  int rc = pai_sched_write_decision(sched, i, facade_collect, t, &f->err);

  if (rc < 0)
    return rc;
  t->len -= 2; /* removes "}\n" */
  if (agreed != NULL)
    rc = *agreed ? facade_collect(t, ",\"agreed\":true", 14)
                 : facade_collect(t, ",\"agreed\":false", 15);
  return rc == PAI_OK ? facade_collect(t, "}", 1) : rc;
}

/* Returns a list with an object for each decision. */
static listing put_decisions(const pai_sched *sched, bool all, bool beside,
                             failure *f)
{
  job_text t = { NULL, 0 };
  pai_decision d = { .struct_size = sizeof(d) };

  f->code = facade_collect(&t, "[", 1);
  for (size_t i = 0;
       all && f->code == PAI_OK && pai_sched_decision(sched, i, &d) == PAI_OK;
       i++) {
    if (i > 0)
      f->code = facade_collect(&t, ",", 1);
    if (f->code == PAI_OK)
      f->code = put_decision(&t, sched, i, beside ? &d.agreed : NULL, f);
  }
  if (f->code == PAI_OK)
    f->code = facade_collect(&t, "]", 1);
  return (listing){ facade_finished(t, f) };
}

listing sched_put_decisions(const pai_sched *sched, bool all, failure *f)
{
  return put_decisions(sched, all, pai_sched_shadow(sched) != NULL, f);
}

listing facade_sched_decide(Scheduler *s, int64_t now, failure *f)
{
  listing made = { { NULL, 0 } };
  int count;

  if (!enter(s, f))
    return made;
  count = pai_sched_decide(s->sched, now, &f->err);
  f->code = count < 0 ? count : PAI_OK;
  settle(s, f);
  if (f->code == PAI_OK)
    made = sched_put_decisions(s->sched, true, f);
  s->inside = false;
  sched_give(s);
  return made;
}

listing facade_sched_decisions(Scheduler *s, failure *f)
{
  listing made = { { NULL, 0 } };

  if (sched_take(s, f)) {
    made = sched_put_decisions(s->sched, true, f);
    sched_give(s);
  }
  return made;
}

listing facade_sched_beside(Scheduler *s, failure *f)
{
  const pai_sched *shadow;
  listing made = { { NULL, 0 } };

  if (!sched_take(s, f))
    return made;
  shadow = pai_sched_shadow(s->sched);
  if (shadow != NULL)
    made = put_decisions(shadow, true, true, f);
  else
    f->code = facade_collect(&made.json, "null", 4);
  sched_give(s);
  return made;
}

/* --- texts ----------------------------------------------------------------- */

static int write_line(void *user_data, const char *bytes, size_t len)
{
  return script_ask(user_data, "write", NULL, bytes, len, NULL);
}

void facade_sched_log(Scheduler *s, log_ref log, failure *f)
{
  void *before;

  if (!enter(s, f)) {
    script_drop(log.object);
    return;
  }
  before = s->log;
  s->log = log.object;
  f->code = pai_sched_set_log(s->sched, log.object != NULL ? write_line : NULL,
                              log.object, &f->err);
  script_drop(before);
  sched_leave(s, f);
}

void facade_sched_log_options(Scheduler *s, bool snapshots, uint64_t every,
                              failure *f)
{
  pai_sched_log_options o = { sizeof(o), snapshots, every };

  if (!enter(s, f))
    return;
  f->code = pai_sched_set_log_options(s->sched, &o, &f->err);
  sched_leave(s, f);
}

/* --- places, times and built-in policies --------------------------------- */

int64_t facade_sched_now(Scheduler *s, failure *f)
{
  pai_sched_view view = { .struct_size = sizeof(view) };

  if (!sched_take(s, f))
    return 0;
  f->code = pai_sched_view_sums(s->sched, &view);
  sched_give(s);
  return view.now;
}

listing facade_policies(failure *f)
{
  const pai_policy *p;
  json j;

  json_start(&j);
  json_begin(&j, NULL, '[');
  for (size_t i = 0; (p = pai_policy_builtin(i)) != NULL; i++) {
    json_begin(&j, NULL, '{');
    json_text(&j, "name", p->name);
    json_text(&j, "about", p->about);
    json_bool(&j, "lends", p->lends != 0);
    json_end(&j, '}');
  }
  json_end(&j, ']');
  return json_finish(&j, f);
}
