/* policy.c - the live policy of a scheduler and its shadow: open, replace,
 * save and restore */
#include "sched/policy/policy.h"

#include "sched/log/event.h"
#include "sched/sched.h"

#include "base/findings.h"

static const pai_policy *const builtins[] = {
  &pai__policy_fifo,     &pai__policy_backfill, &pai__policy_priority,
  &pai__policy_capacity, &pai__policy_fair,     &pai__policy_k8s,
  &pai__policy_hived,
};

const pai_policy *pai_policy_builtin(size_t i)
{
  return i < PAI__LEN(builtins) ? builtins[i] : NULL;
}

bool pai__policy_is_builtin(const pai_sched *s)
{
  size_t i = 0;

  while (i < PAI__LEN(builtins) && builtins[i] != s->live.policy)
    i++;
  return i < PAI__LEN(builtins);
}

static const pai_policy *table_at(const pai_sched *s, uint32_t i)
{
  return ((const pai_policy *const *)s->tables.data)[i];
}

static int no_policy(const pai_sched *s, const char *name, pai_error **err)
{
  pai__names names;

  pai__names_init(&names, &s->alloc, name, strlen(name));
  for (size_t i = 0; i < PAI__LEN(builtins); i++)
    pai__names_add(&names, builtins[i]->name, strlen(builtins[i]->name));
  for (uint32_t i = 0; i < s->tables.len; i++)
    pai__names_add(&names, table_at(s, i)->name, strlen(table_at(s, i)->name));
  (void)pai__fail(err, PAI_ENOTFOUND, "there is no policy '%s'", name);
  pai__names_tell(&names, err, "one of");
  return PAI_ENOTFOUND;
}

/* The caller's tables come first, the last one added before the others. */
static const pai_policy *find(const pai_sched *s, const char *name,
                              pai_error **err)
{
  for (uint32_t i = s->tables.len; i-- > 0;)
    if (strcmp(table_at(s, i)->name, name) == 0)
      return table_at(s, i);
  for (size_t i = 0; i < PAI__LEN(builtins); i++)
    if (strcmp(builtins[i]->name, name) == 0)
      return builtins[i];
  (void)no_policy(s, name, err);
  return NULL;
}

static int check_table(const pai_policy *p, pai_error **err)
{
  size_t least = offsetof(pai_policy, decide) + sizeof(p->decide);

  if (p->struct_size < least || p->name == NULL || p->decide == NULL)
    return pai__fail(err, PAI_EINVAL,
                     "a policy needs a struct_size, a name and decide()");
  if (p->version != PAI_POLICY_VERSION)
    return pai__fail(err, PAI_ENOTSUP,
                     "policy '%s' is made for version %u of policies, and "
                     "this is %d",
                     p->name, p->version, (int)PAI_POLICY_VERSION);
  return PAI_OK;
}

/* Needs memory for one more table. */
static void keep_table(pai_sched *s, const pai_policy *p)
{
  uint32_t i = 0;

  while (i < s->tables.len && table_at(s, i) != p)
    i++;
  if (i == s->tables.len)
    ((const pai_policy **)s->tables.data)[pai__flat_push(&s->tables, 1)] = p;
}

static int add_table(pai_sched *s, const pai_policy *p, pai_error **err)
{
  int rc = check_table(p, err);

  if (rc < 0)
    return rc;
  if (pai__flat_reserve(&s->tables, &s->alloc, 1) < 0)
    return pai__oom(err);
  keep_table(s, p);
  return PAI_OK;
}

int pai__policy_tables(pai_sched *s, const pai_sched_options *o,
                       pai_error **err)
{
  int rc = PAI_OK;

  if (o->ntables != 0 && o->tables == NULL)
    return pai__fail(err, PAI_EINVAL,
                     "the options have no tables, but say "
                     "how many there are");
  for (size_t i = 0; i < o->ntables && rc == PAI_OK; i++)
    rc = add_table(s, o->tables[i], err);
  if (rc == PAI_OK && o->table != NULL)
    rc = add_table(s, o->table, err);
  return rc;
}

static int policy_said(pai_sched *s, const pai_policy *p, int code,
                       pai_error **err)
{
  if (s->failure != NULL)
    (void)pai__fail(err, code, "%s", s->failure);
  else if (code == PAI_ENOMEM)
    (void)pai__oom(err);
  else
    (void)pai__fail(err, code, "policy '%s' failed with %s", p->name,
                    pai_code_name(code));
  pai__strfree(&s->alloc, s->failure);
  s->failure = NULL;
  return code;
}

int pai__policy_failed(pai_sched *s, int code, pai_error **err)
{
  return policy_said(s, s->live.policy, code, err);
}

int pai__policy_admit(pai_sched *s, uint64_t id, pai_error **err)
{
  const pai_policy *p = s->live.policy;
  int rc = PAI_OK;

  if (p != NULL && PAI__POLICY_HAS(p, admit))
    rc = p->admit(s->live.state, p->data, &s->host, id);
  if (rc >= 0)
    return PAI_OK;
  (void)policy_said(s, p, rc, err);
  if (rc == PAI_ENOROOM && err != NULL) {
    pai_error *cause = *err;

    *err = NULL;
    (void)pai__fail(err, rc, "it does not fit the cluster: %s",
                    pai_error_message(cause));
    pai_error_free(cause);
  }
  return rc;
}

/* --- opening -------------------------------------------------------------- */

/* Opens a policy, or loads it if `saved` is not NULL.  The terms that it sets
 * meanwhile go into `out`; those of the scheduler do not change. */
static int begin(pai_sched *s, const pai_policy *p, const pai_cluster *cluster,
                 const char *options, const pai__saved_policy *saved,
                 pai__acting *out, pai_error **err)
{
  pai__terms terms = s->terms;
  int rc = PAI_OK;

  *out = (pai__acting){ .policy = p };
  out->options = pai__strdup(&s->alloc, options != NULL ? options : "{}");
  if (out->options == NULL)
    return pai__oom(err);
  s->terms = (pai__terms){ .lends = p->lends != 0 };
  if (PAI__POLICY_HAS(p, open))
    rc = saved != NULL
           ? p->load(&out->state, p->data, &s->host, cluster, out->options,
                     saved->state, saved->len)
           : p->open(&out->state, p->data, &s->host, cluster, out->options);
  out->terms = s->terms;
  s->terms = terms;
  if (rc == PAI_OK)
    return PAI_OK;
  pai__strfree(&s->alloc, out->options);
  return policy_said(s, p, rc, err);
}

static void end(pai_sched *s, pai__acting *a)
{
  if (a->policy != NULL && PAI__POLICY_HAS(a->policy, close))
    a->policy->close(a->state);
  pai__strfree(&s->alloc, a->options);
  *a = (pai__acting){ .policy = NULL };
}

/* Replaces the live policy or the shadow. */
static void use(pai_sched *s, pai__acting *place, const pai__acting *a)
{
  end(s, place);
  *place = *a;
  if (place == &s->live)
    s->terms = a->terms;
}

int pai__policy_open(pai_sched *s, const pai_cluster *cluster,
                     const pai_sched_options *o, pai_error **err)
{
  const pai_policy *p = o->table;
  pai__acting a;
  int rc;

  if (p == NULL)
    p = find(s, o->policy != NULL ? o->policy : "fifo", err);
  if (p == NULL)
    return PAI_ENOTFOUND;
  rc = begin(s, p, cluster, o->policy_options, NULL, &a, err);
  if (rc == PAI_OK)
    use(s, &s->live, &a);
  return rc;
}

void pai__policy_close(pai_sched *s)
{
  pai__shadow_forget(s);
  end(s, &s->live);
  end(s, &s->shadow);
  pai__strfree(&s->alloc, s->failure);
}

int pai__policy_copy(pai_sched *fork, const pai__acting *from, pai_error **err)
{
  const pai_policy *p = from->policy;
  pai__acting a = { .policy = p, .terms = from->terms };
  int rc = PAI_OK;

  if (PAI__POLICY_HAS(p, open) && !PAI__POLICY_HAS(p, clone))
    return pai__fail(err, PAI_ENOTSUP,
                     "policy '%s' cannot be copied: it has no clone()",
                     p->name);
  a.options = pai__strdup(&fork->alloc, from->options);
  if (a.options == NULL)
    return pai__oom(err);
  fork->terms = from->terms;
  if (PAI__POLICY_HAS(p, clone))
    rc = p->clone(&a.state, from->state, p->data, &fork->host);
  if (rc == PAI_OK) {
    use(fork, &fork->live, &a);
    return PAI_OK;
  }
  pai__strfree(&fork->alloc, a.options);
  return policy_said(fork, p, rc, err);
}

/* --- changing the policy -------------------------------------------------- */

/* Parses the cluster again, for a policy that reads it in open(). */
static int read_cluster(const pai_sched *s, pai_cluster **cluster,
                        pai_error **err)
{
  pai_cluster_options o = PAI_CLUSTER_OPTIONS_INIT;

  o.alloc = &s->alloc;
  o.form = "openpai";
  return pai_cluster_parse(cluster, s->cluster->text, s->cluster->text_len, &o,
                           err);
}

static int begin_named(pai_sched *s, const pai_sched_event *e, pai__acting *a,
                       pai_error **err)
{
  const pai_policy *p = e->table != NULL ? e->table : find(s, e->text, err);
  pai_cluster *cluster;
  int rc;

  if (p == NULL)
    return PAI_ENOTFOUND;
  rc = check_table(p, err);
  if (rc < 0)
    return rc;
  if (pai__flat_reserve(&s->tables, &s->alloc, 1) < 0)
    return pai__oom(err);
  rc = read_cluster(s, &cluster, err);
  if (rc < 0)
    return rc;
  rc = begin(s, p, cluster, e->options, NULL, a, err);
  pai_cluster_free(cluster);
  return rc;
}

int pai__on_policy(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  pai__acting a;
  int rc;

  if (e->text == NULL && e->table == NULL)
    return pai__fail(err, PAI_EINVAL, "it names no policy");
  rc = begin_named(s, e, &a, err);
  if (rc < 0)
    return rc;
  use(s, &s->live, &a);
  if (e->table != NULL)
    keep_table(s, e->table);
  pai__classes_doubt(s);
  return PAI_OK;
}

int pai__on_shadow(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  pai__acting a = { .policy = NULL };
  int rc =
    e->text != NULL || e->table != NULL ? begin_named(s, e, &a, err) : PAI_OK;

  if (rc == PAI_OK && a.policy != NULL && PAI__POLICY_HAS(a.policy, open) &&
      !PAI__POLICY_HAS(a.policy, clone)) {
    rc = pai__fail(err, PAI_ENOTSUP,
                   "policy '%s' cannot decide beside another: it has no "
                   "clone()",
                   a.policy->name);
    end(s, &a);
  }
  if (rc < 0)
    return rc;
  use(s, &s->shadow, &a);
  if (e->table != NULL)
    keep_table(s, e->table);
  s->agreement = (pai__agreement){ 0 };
  return PAI_OK;
}

/* Passes an event to a policy.  Returns its code. */
static int tell(pai_sched *s, const pai__acting *a, const pai_sched_event *e)
{
  return a->policy != NULL && PAI__POLICY_HAS(a->policy, event)
           ? a->policy->event(a->state, a->policy->data, &s->host, e)
           : PAI_OK;
}

int pai__event_taken(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  int rc;

  pai__shadow_forget(s);
  s->m.events++;
  s->m.now = e->time;
  rc = tell(s, &s->live, e);
  if (rc < 0) {
    (void)pai__policy_failed(s, rc, err);
  } else {
    /* A failure of the shadow is only counted. */
    s->agreement.failed += tell(s, &s->shadow, e) < 0;
    pai__strfree(&s->alloc, s->failure);
    s->failure = NULL;
  }
  return pai__log_taken(s, rc, err);
}

/* --- snapshots ------------------------------------------------------------ */

int pai__policy_save(const pai__acting *a, pai__buf *out, pai_error **err)
{
  const pai_policy *p = a->policy;
  int rc;

  if (!PAI__POLICY_HAS(p, open))
    return PAI_OK;
  if (!PAI__POLICY_HAS(p, save) || !PAI__POLICY_HAS(p, load))
    return pai__fail(err, PAI_ENOTSUP,
                     "policy '%s' cannot be saved: it has no save() and "
                     "load()",
                     p->name);
  rc = p->save(a->state, p->data, pai__collect, out);
  if (rc == PAI_ENOMEM || !pai__buf_ok(out))
    return pai__oom(err);
  return rc < 0 ? pai__fail(err, rc, "policy '%s' could not be saved", p->name)
                : PAI_OK;
}

int pai__policy_restore(pai_sched *s, pai__acting *to,
                        const pai_cluster *cluster,
                        const pai__saved_policy *saved, pai_error **err)
{
  const pai_policy *p = find(s, saved->name, err);
  pai__acting a;
  int rc;

  if (p == NULL) {
    pai__error_help(err, "a policy that is not built in is loaded with its "
                         "table in the options");
    return PAI_ENOTFOUND;
  }
  if (PAI__POLICY_HAS(p, open) && !PAI__POLICY_HAS(p, load))
    return pai__fail(err, PAI_ENOTSUP,
                     "policy '%s' cannot be loaded: it has no load()",
                     p->name);
  if (PAI__POLICY_HAS(p, open) && saved->state == NULL)
    return pai__fail(err, PAI_EINVAL, "policy '%s' needs its \"state\"",
                     p->name);
  rc = begin(s, p, cluster, saved->options, saved, &a, err);
  if (rc == PAI_OK)
    use(s, to, &a);
  return rc;
}
