/* policy.c - policies of scripts: their callbacks, and the actions of hosts */
#include "facade_fields.h"
#include "sched_shared.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>

/* --- the host -------------------------------------------------------------- */

/* Makes a host, which this thread owns until the call is over. */
static Scheduler *make_host(const pai_policy_host *host, bool deciding)
{
  failure f = { 0 };
  Scheduler *h = sched_make(&f);

  if (h == NULL)
    return NULL;
  h->sched = host->sched;
  h->host = host;
  h->inside = true;
  h->deciding = deciding;
  (void)pthread_mutex_lock(&h->owner);
  return h;
}

void facade_host_end(Scheduler *host)
{
  host->sched = NULL;
  (void)pthread_mutex_unlock(&host->owner);
}

/* --- callbacks ----------------------------------------------------------- */

static int ask(void *state, const char *method, const pai_policy_host *host,
               const char *text)
{
  Scheduler *h = make_host(host, text == NULL);

  if (h == NULL)
    return PAI_ENOMEM;
  return script_ask(state, method, h, text, text != NULL ? strlen(text) : 0,
                    NULL);
}

static int on_decide(void *state, void *data, const pai_policy_host *host)
{
  (void)data;
  return ask(state, "decide", host, NULL);
}

static int begin(void **state, const script *p, const char *method,
                 const pai_policy_host *host, const char *text)
{
  int rc;

  *state = script_hold(p->object);
  rc = ask(*state, method, host, text);
  if (rc < 0) {
    script_drop(*state);
    *state = NULL;
  }
  return rc;
}

static int on_open(void **state, void *data, const pai_policy_host *host,
                   const pai_cluster *cluster, const char *options)
{
  (void)cluster; /* the host shows its nodes */
  return begin(state, data, "open", host, options);
}

/* Gives the script both texts as a JSON list. */
static int on_load(void **state, void *data, const pai_policy_host *host,
                   const pai_cluster *cluster, const char *options,
                   const char *saved, size_t len)
{
  job_text both = { NULL, 0 };
  int rc = facade_collect(&both, "[", 1);

  (void)cluster;
  if (rc == PAI_OK)
    rc = facade_collect(&both, options, strlen(options));
  if (rc == PAI_OK)
    rc = facade_collect(&both, ",", 1);
  if (rc == PAI_OK)
    rc = facade_collect(&both, saved, len);
  if (rc == PAI_OK)
    rc = facade_collect(&both, "]", 1);
  if (rc == PAI_OK)
    rc = begin(state, data, "load", host, both.bytes);
  free(both.bytes);
  return rc;
}

static void on_close(void *state)
{
  script_drop(state);
}

static int on_clone(void **copy, const void *state, void *data,
                    const pai_policy_host *host)
{
  (void)data;
  (void)host;
  *copy = script_clone((void *)state);
  return *copy != NULL ? PAI_OK : PAI_EUSER;
}

static int on_save(const void *state, void *data, pai_write_cb write,
                   void *user_data)
{
  job_text t = { NULL, 0 };
  int rc = script_ask((void *)state, "save", NULL, NULL, 0, &t);

  (void)data;
  if (rc == PAI_OK)
    rc = write(user_data, t.bytes != NULL ? t.bytes : "null",
               t.bytes != NULL ? t.len : 4);
  free(t.bytes);
  return rc;
}

/* --- events -------------------------------------------------------------- */

static const char *kind_name(int kind)
{
  static const char *const names[] = {
    [PAI_SCHED_SUBMIT] = "submit",
    [PAI_SCHED_CHANGE] = "change",
    [PAI_SCHED_CANCEL] = "cancel",
    [PAI_SCHED_STARTED] = "started",
    [PAI_SCHED_FINISHED] = "finished",
    [PAI_SCHED_RETURNED] = "returned",
    [PAI_SCHED_RESIZED] = "resized",
    [PAI_SCHED_NODE] = "node",
    [PAI_SCHED_CLUSTER] = "cluster",
    [PAI_SCHED_RESERVE] = "reserve",
    [PAI_SCHED_UNRESERVE] = "unreserve",
    [PAI_SCHED_LOSE_PORT] = "lose_port",
    [PAI_SCHED_REGAIN_PORTS] = "regain_ports",
    [PAI_SCHED_POLICY] = "policy",
    [PAI_SCHED_SHADOW] = "shadow",
    [PAI_SCHED_TIME] = "time",
  };

  return kind > 0 && (size_t)kind < sizeof(names) / sizeof(*names)
           ? names[kind]
           : "?"; /* of a newer library */
}

static void put_event(json *j, const pai_sched_event *e)
{
  json_begin(j, NULL, '{');
  json_text(j, "event", kind_name(e->kind));
  json_fields(j, fields_SchedEvent, e);
  json_amount(j, "id", e->request != NULL ? e->request->id : e->id);
  if (e->kind >= PAI_SCHED_CANCEL && e->kind <= PAI_SCHED_RESIZED &&
      e->instance != PAI_SCHED_ALL)
    json_number(j, "instance", e->instance);
  if (e->kind == PAI_SCHED_NODE)
    json_known(j, "gpu", e->gpu);
  json_end(j, '}');
}

static int on_event(void *state, void *data, const pai_policy_host *host,
                    const pai_sched_event *event)
{
  failure f = { 0 };
  listing made;
  json j;

  (void)data;
  json_start(&j);
  put_event(&j, event);
  made = json_finish(&j, &f);
  if (f.code == PAI_OK)
    f.code = ask(state, "event", host, made.json.bytes);
  free(made.json.bytes);
  return f.code;
}

/* --- life ------------------------------------------------------------------ */

script *script_make(policy_ref policy, failure *f)
{
  script *p = calloc(1, sizeof(*p));
  char *name = strdup(policy.name);

  if (p == NULL || name == NULL) {
    free(p);
    free(name);
    script_drop(policy.object);
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return NULL;
  }
  p->table = (pai_policy){ .struct_size = sizeof(p->table),
                           .version = PAI_POLICY_VERSION,
                           .name = name,
                           .data = p,
                           .lends = policy.lends,
                           .open = on_open,
                           .close = on_close,
                           .decide = on_decide,
                           .event = policy.hears ? on_event : NULL,
                           .clone = on_clone,
                           .save = on_save,
                           .load = on_load };
  p->object = policy.object;
  atomic_init(&p->refs, 1);
  return p;
}

void script_release(script *p)
{
  if (p == NULL || atomic_fetch_sub(&p->refs, 1) > 1)
    return;
  script_drop(p->object);
  free((char *)p->table.name);
  free(p);
}

/* --- acting ---------------------------------------------------------------- */

static const pai_policy_host *host_of(Scheduler *s, failure *f)
{
  if (!sched_take(s, f))
    return NULL;
  if (s->host == NULL)
    facade_fail(f, PAI_EINVAL, "only a policy can do that, with its host");
  sched_give(s); /* its thread holds the recursive lock once more */
  return s->host;
}

static const pai_policy_host *decider(Scheduler *s, failure *f)
{
  const pai_policy_host *host = host_of(s, f);

  if (host == NULL || s->deciding)
    return host;
  facade_fail(f, PAI_EBUSY, "only decide() can do that");
  return NULL;
}

/* Sets the failure for a negative result. Returns true for 1. */
static bool answered(int rc, failure *f)
{
  f->code = rc < 0 ? rc : PAI_OK;
  if (rc == PAI_ENOTFOUND)
    f->text = "there is no such request, or nothing of it runs";
  else if (rc == PAI_EBUSY)
    f->text = "it does not wait, or what it is to have is not free";
  else if (rc == PAI_EINVAL)
    f->text = "that is not what the request wants";
  return rc > 0;
}

uint64_t facade_host_next(Scheduler *s, uint64_t id, failure *f)
{
  const pai_policy_host *host = host_of(s, f);

  return host != NULL ? host->next_waiting(host, id) : 0;
}

listing facade_host_placed(Scheduler *s, failure *f)
{
  const pai_policy_host *host = host_of(s, f);
  uint32_t instance = 0;
  uint64_t id = 0;
  json j;

  if (host == NULL)
    return (listing){ { NULL, 0 } };
  json_start(&j);
  json_begin(&j, NULL, '[');
  while (host->next_placed(host, &id, &instance) == 1) {
    json_begin(&j, NULL, '[');
    json_number(&j, NULL, (int64_t)id);
    json_number(&j, NULL, instance);
    json_end(&j, ']');
  }
  json_end(&j, ']');
  return json_finish(&j, f);
}

static int find_strategy(const char *name)
{
  static const char *const names[] = { [PAI_PLACE_PACK] = "pack",
                                       [PAI_PLACE_SPREAD] = "spread",
                                       [PAI_PLACE_TOPO] = "topo",
                                       [PAI_PLACE_FIRST] = "first",
                                       [PAI_PLACE_SCORE] = "score" };
  int i = PAI_PLACE_SCORE;

  while (i >= PAI_PLACE_PACK && strcmp(names[i], name) != 0)
    i--;
  return i;
}

bool facade_host_start(Scheduler *s, uint64_t id, const char *strategy,
                       bool beyond_share, bool over, failure *f)
{
  const pai_policy_host *host = decider(s, f);
  pai_place how = { .struct_size = sizeof(how),
                    .strategy = find_strategy(strategy),
                    .beyond_share = beyond_share };
  int rc;

  if (host != NULL && how.strategy == 0)
    facade_fail(f, PAI_EINVAL,
                "a place is pack, spread, topo, first or score");
  if (f->code < 0)
    return false;
  rc = (over ? host->start_over : host->start)(host, id, &how);
  /* No failure, so that a loop may start instances until nothing is free. */
  return answered(rc == PAI_EBUSY ? 0 : rc, f);
}

static bool find_node(const pai_sched *sched, const char *name, uint32_t *node)
{
  pai_sched_node_view view = { .struct_size = sizeof(view) };

  for (*node = 0; pai_sched_view_node(sched, *node, &view) == PAI_OK;)
    if (strcmp(view.name, name) == 0)
      return true;
    else
      ++*node;
  return false;
}

/* Reads "0,1,5". */
static bool read_mask(const char *list, uint64_t *mask)
{
  char *end;

  for (*mask = 0; *list != '\0'; list = *end == ',' ? end + 1 : end) {
    unsigned long gpu = strtoul(list, &end, 10);

    if (end == list || (*end != '\0' && *end != ',') || gpu >= PAI_SCHED_GPUS)
      return false;
    *mask |= UINT64_C(1) << gpu;
  }
  return true;
}

/* Reads the next three words as a place. */
static bool read_place(const pai_sched *sched, const words *w, size_t *at,
                       pai_task_place *place)
{
  const char *name = facade_word(w, at);
  const char *number = facade_word(w, at);
  const char *gpus = facade_word(w, at);
  int64_t node = 0;

  *place = (pai_task_place){ .struct_size = sizeof(*place) };
  if (gpus == NULL || !facade_number(number, UINT32_MAX, &node))
    return false;
  place->node = (uint32_t)node;
  return (*name == '\0' || find_node(sched, name, &place->node)) &&
         read_mask(gpus, &place->gpus);
}

bool facade_host_start_at(Scheduler *s, uint64_t id, words places, bool over,
                          failure *f)
{
  const pai_policy_host *host = decider(s, f);
  pai_task_place *list;
  size_t n = 0;
  int rc = 0;

  if (host == NULL)
    return false;
  list = calloc(places.len / 3 + 1, sizeof(*list)); /* at most */
  if (list == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return false;
  }
  for (size_t at = 0; f->code == PAI_OK && at < places.len; n++)
    if (!read_place(host->sched, &places, &at, &list[n]))
      facade_fail(f, PAI_ENOTFOUND,
                  "a place is of a node or GPU that there "
                  "is not");
  if (f->code == PAI_OK && over)
    rc = host->claim_at(host, id, list, n);
  else if (f->code == PAI_OK)
    rc = host->start_at(host, id, list, n);
  free(list);
  return f->code == PAI_OK && answered(rc, f);
}

void facade_host_preempt(Scheduler *s, uint64_t id, uint32_t instance,
                         uint64_t by, failure *f)
{
  const pai_policy_host *host = decider(s, f);

  if (host != NULL)
    (void)answered(host->preempt(host, id, instance, by), f);
}

bool facade_host_resize(Scheduler *s, uint64_t id, uint32_t instance,
                        uint32_t want, uint32_t tasks, failure *f)
{
  const pai_policy_host *host = decider(s, f);

  return host != NULL &&
         answered(host->resize(host, id, instance, want, tasks), f);
}

void facade_host_refuse(Scheduler *s, uint64_t id, const char *lack,
                        const char *why, const char *node, uint64_t behind,
                        int64_t until, failure *f)
{
  const pai_policy_host *host = decider(s, f);
  pai_reason reason = { .struct_size = sizeof(reason),
                        .lack = PAI_LACKS - 1,
                        .node = node,
                        .behind = behind,
                        .until = until,
                        .text = why };

  if (host == NULL)
    return;
  while (reason.lack > 0 && strcmp(pai_lack_name(reason.lack), lack) != 0)
    reason.lack--;
  reason.of = reason.lack;
  if (reason.lack == 0)
    facade_fail(f, PAI_EINVAL, "there is no such lack, as \"gpu\" is one");
  else
    (void)answered(host->refuse(host, id, &reason), f);
}
