/* policy.c - the policy of a scheduler, and the one beside it */
#include "sched/policy.h"

#include "sched/event.h"
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

  while (i < PAI__LEN(builtins) && builtins[i] != s->policy)
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

/* Of the caller's the last one of that name. */
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

/* There is room for it. */
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
  return policy_said(s, s->policy, code, err);
}

int pai__policy_admit(pai_sched *s, uint64_t id, pai_error **err)
{
  const pai_policy *p = s->policy;
  int rc = PAI_OK;

  if (p != NULL && PAI__POLICY_HAS(p, admit))
    rc = p->admit(s->policy_state, p->data, &s->host, id);
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

static int open_one(pai_sched *s, const pai_policy *p,
                    const pai_cluster *cluster, const char *options,
                    void **state)
{
  *state = NULL;
  s->terms = (pai__terms){ .lends = p->lends != 0 };
  return PAI__POLICY_HAS(p, open)
           ? p->open(state, p->data, &s->host, cluster, options)
           : PAI_OK;
}

static void close_one(pai_sched *s, const pai_policy *p, void *state,
                      char *options)
{
  if (p != NULL && PAI__POLICY_HAS(p, close))
    p->close(state);
  pai__strfree(&s->alloc, options);
}

int pai__policy_open(pai_sched *s, const pai_cluster *cluster,
                     const pai_sched_options *o, pai_error **err)
{
  const pai_policy *p = o->table;
  int rc;

  if (p == NULL)
    p = find(s, o->policy != NULL ? o->policy : "fifo", err);
  if (p == NULL)
    return PAI_ENOTFOUND;
  s->policy_options = pai__strdup(
    &s->alloc, o->policy_options != NULL ? o->policy_options : "{}");
  if (s->policy_options == NULL)
    return pai__oom(err);
  rc = open_one(s, p, cluster, s->policy_options, &s->policy_state);
  if (rc == PAI_OK)
    s->policy = p;
  else
    (void)policy_said(s, p, rc, err);
  return rc;
}

void pai__policy_close(pai_sched *s)
{
  pai__shadow_forget(s);
  close_one(s, s->policy, s->policy_state, s->policy_options);
  close_one(s, s->shadow, s->shadow_state, s->shadow_options);
  pai__strfree(&s->alloc, s->failure);
}

int pai__policy_copy(pai_sched *fork, const pai_sched *s, pai_error **err)
{
  const pai_policy *p = s->policy;
  int rc = PAI_OK;

  fork->terms = s->terms;
  if (PAI__POLICY_HAS(p, open) && !PAI__POLICY_HAS(p, clone))
    return pai__fail(err, PAI_ENOTSUP,
                     "policy '%s' cannot be copied: it has no clone()",
                     p->name);
  fork->policy_options = pai__strdup(&fork->alloc, s->policy_options);
  if (fork->policy_options == NULL)
    return pai__oom(err);
  if (PAI__POLICY_HAS(p, clone))
    rc = p->clone(&fork->policy_state, s->policy_state, p->data, &fork->host);
  if (rc == PAI_OK)
    fork->policy = p;
  else
    (void)policy_said(fork, p, rc, err);
  return rc;
}

/* --- another policy ------------------------------------------------------- */

/* The cluster as it was given, for a policy that has to see it. */
static int read_cluster(const pai_sched *s, pai_cluster **cluster,
                        pai_error **err)
{
  pai_cluster_options o = PAI_CLUSTER_OPTIONS_INIT;

  o.alloc = &s->alloc;
  o.form = "openpai";
  return pai_cluster_parse(cluster, s->park->text, s->park->text_len, &o, err);
}

/* Opens the policy that an event names. */
static int open_named(pai_sched *s, const pai_sched_event *e,
                      const pai_policy **policy, void **state, char **options,
                      pai_error **err)
{
  pai_cluster *cluster;
  int rc;

  *policy = e->table != NULL ? e->table : find(s, e->text, err);
  if (*policy == NULL)
    return PAI_ENOTFOUND;
  rc = check_table(*policy, err);
  if (rc < 0)
    return rc;
  if (pai__flat_reserve(&s->tables, &s->alloc, 1) < 0)
    return pai__oom(err);
  rc = read_cluster(s, &cluster, err);
  if (rc < 0)
    return rc;
  *options = pai__strdup(&s->alloc, e->options != NULL ? e->options : "{}");
  rc = *options == NULL ? PAI_ENOMEM
                        : open_one(s, *policy, cluster, *options, state);
  pai_cluster_free(cluster);
  if (rc == PAI_OK)
    return PAI_OK;
  pai__strfree(&s->alloc, *options);
  return pai__policy_failed(s, rc, err);
}

int pai__on_policy(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  const pai_policy *policy;
  void *state;
  char *options;
  pai__terms terms = s->terms;
  int rc;

  if (e->text == NULL && e->table == NULL)
    return pai__fail(err, PAI_EINVAL, "it names no policy");
  rc = open_named(s, e, &policy, &state, &options, err);
  if (rc < 0) {
    s->terms = terms;
    return rc;
  }
  close_one(s, s->policy, s->policy_state, s->policy_options);
  if (e->table != NULL)
    keep_table(s, policy);
  s->policy = policy;
  s->policy_state = state;
  s->policy_options = options;
  pai__lookup_clear(&s->possible);
  return PAI_OK;
}

int pai__on_shadow(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  const pai_policy *policy = NULL;
  void *state = NULL;
  char *options = NULL;
  pai__terms terms = s->terms, shadow_terms;
  int rc = e->text != NULL || e->table != NULL
             ? open_named(s, e, &policy, &state, &options, err)
             : PAI_OK;

  shadow_terms = s->terms;
  s->terms = terms;
  if (rc == PAI_OK && policy != NULL && PAI__POLICY_HAS(policy, open) &&
      !PAI__POLICY_HAS(policy, clone)) {
    close_one(s, policy, state, options);
    rc = pai__fail(err, PAI_ENOTSUP,
                   "policy '%s' cannot decide beside another: it has no "
                   "clone()",
                   policy->name);
  }
  if (rc < 0)
    return rc;
  close_one(s, s->shadow, s->shadow_state, s->shadow_options);
  if (e->table != NULL)
    keep_table(s, policy);
  s->shadow = policy;
  s->shadow_terms = shadow_terms;
  s->shadow_state = state;
  s->shadow_options = options;
  s->shadow_live = s->shadow_decisions = 0;
  s->shadow_agreed = s->shadow_failed = 0;
  return PAI_OK;
}

int pai__event_taken(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  int rc = PAI_OK;

  pai__shadow_forget(s);
  s->m.events++;
  s->m.now = e->time;
  if (s->policy != NULL && PAI__POLICY_HAS(s->policy, event)) {
    rc = s->policy->event(s->policy_state, s->policy->data, &s->host, e);
    if (rc < 0)
      (void)pai__policy_failed(s, rc, err);
  }
  if (rc == PAI_OK && s->shadow != NULL && PAI__POLICY_HAS(s->shadow, event)) {
    int failed =
      s->shadow->event(s->shadow_state, s->shadow->data, &s->host, e);

    /* What is without effect fails nobody. */
    s->shadow_failed += failed < 0;
    pai__strfree(&s->alloc, s->failure);
    s->failure = NULL;
  }
  return pai__log_taken(s, rc, err);
}

/* --- snapshots ------------------------------------------------------------ */

static int collect(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return pai__buf_ok(user_data) ? PAI_OK : PAI_ENOMEM;
}

int pai__policy_save(const pai_sched *s, bool shadow, pai__buf *out,
                     pai_error **err)
{
  const pai_policy *p = shadow ? s->shadow : s->policy;
  void *state = shadow ? s->shadow_state : s->policy_state;
  int rc;

  if (!PAI__POLICY_HAS(p, open))
    return PAI_OK;
  if (!PAI__POLICY_HAS(p, save) || !PAI__POLICY_HAS(p, load))
    return pai__fail(err, PAI_ENOTSUP,
                     "policy '%s' cannot be saved: it has no save() and "
                     "load()",
                     p->name);
  rc = p->save(state, p->data, collect, out);
  if (rc == PAI_ENOMEM || !pai__buf_ok(out))
    return pai__oom(err);
  return rc < 0 ? pai__fail(err, rc, "policy '%s' could not be saved", p->name)
                : PAI_OK;
}

/* The one that was saved by that name. */
static const pai_policy *find_saved(const pai_sched *s,
                                    const pai__saved_policy *saved,
                                    pai_error **err)
{
  const pai_policy *p = find(s, saved->name, err);

  if (p == NULL)
    pai__error_help(err, "a policy that is not built in is loaded with its "
                         "table in the options");
  return p;
}

int pai__policy_restore(pai_sched *s, bool shadow, const pai_cluster *cluster,
                        const pai__saved_policy *saved, pai_error **err)
{
  const pai_policy *p = find_saved(s, saved, err);
  void *state = NULL;
  char *options;
  pai__terms terms;
  int rc = PAI_OK;

  if (p == NULL)
    return PAI_ENOTFOUND;
  if (PAI__POLICY_HAS(p, open) && !PAI__POLICY_HAS(p, load))
    return pai__fail(err, PAI_ENOTSUP,
                     "policy '%s' cannot be loaded: it has no load()",
                     p->name);
  if (PAI__POLICY_HAS(p, open) && saved->state == NULL)
    return pai__fail(err, PAI_EINVAL, "policy '%s' needs its \"state\"",
                     p->name);
  options = pai__strdup(&s->alloc, saved->options);
  if (options == NULL)
    return pai__oom(err);
  terms = s->terms;
  s->terms = (pai__terms){ .lends = p->lends != 0 };
  if (PAI__POLICY_HAS(p, open))
    rc = p->load(&state, p->data, &s->host, cluster, options, saved->state,
                 saved->len);
  if (rc < 0) {
    pai__strfree(&s->alloc, options);
    return policy_said(s, p, rc, err);
  }
  if (shadow) {
    s->shadow_terms = s->terms;
    s->terms = terms;
  }
  *(shadow ? &s->shadow : &s->policy) = p;
  *(shadow ? &s->shadow_state : &s->policy_state) = state;
  *(shadow ? &s->shadow_options : &s->policy_options) = options;
  return PAI_OK;
}
