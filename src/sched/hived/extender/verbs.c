/* verbs.c - HiveD extender: the verbs filter, bind and preempt of Kubernetes'
 * scheduler */
#include "json/json.h"
#include "sched/hived/extender/extender.h"

#include <stdlib.h>

enum { MOST_SENT = 64 << 10 }; /* longest field that an error repeats */

/* A verb about a pod and nodes: HiveD's names of its fields. */
typedef struct verb {
  const char *routine, *args;
  const char *other; /* field that is ignored */
  const char *list;  /* field with the nodes */
  int type;
  const char *none; /* JSON for `list` if it is not sent */
  int phase;
} verb;

static const verb verbs[] = {
  { "filter", "ExtenderArgs", "Nodes", "NodeNames", PAI__SEQUENCE, "[]",
    PAI__HIVED_FILTERING },
  { "preempt", "ExtenderPreemptionArgs", "NodeNameToVictims",
    "NodeNameToMetaVictims", PAI__MAPPING, "{}", PAI__HIVED_PREEMPTING },
};
enum { FILTER, PREEMPT };

/* A call of a verb, and its result. */
typedef struct question {
  const verb *verb;
  pai__ext_view pod;
  const char **nodes;
  size_t nnodes;
  pai__ext_pod *p;
  pai__hived_ask ask;
  pai__hived_result result;     /* its kind says what to do */
  const char *node;             /* chosen node, or node of the victims */
  const pai__ext_pod **victims; /* sorted by UID */
  uint32_t nvictims;
} question;

/* --- reading the call ----------------------------------------------------- */

static int refuse(pai_hived_extender *e, const char *what, const char *node)
{
  pai__buf_printf(&e->why, "%s%s", what, node);
  return PAI_EINVAL;
}

/* Error for an invalid body. */
static int misread(pai_hived_extender *e, const char *args, const char *why)
{
  pai__buf_printf(&e->why, "Failed to unmarshal web request body to %s: %s",
                  args, why);
  return PAI_EINVAL;
}

/* Go's words for an error, if known. */
static const char *words_of(const pai_error *err, size_t len)
{
  const char *message = pai_error_message(err);

  if (len == 0)
    return "EOF";
  if (strstr(message, "not the end of the text") != NULL ||
      strstr(message, "has no end") != NULL)
    return "unexpected EOF";
  return message;
}

static int read_args(pai_hived_extender *e, const char *args, const char *body,
                     size_t len, pai__ext_read *r)
{
  pai__json_options opts = { .flags = PAI__JSON_DUPLICATES };
  pai_error *err;
  int rc;

  opts.alloc = &e->alloc;
  rc = pai__json_parse(&e->tree, body, len, &opts, &err);
  if (rc < 0) {
    rc = rc != PAI_ENOMEM ? misread(e, args, words_of(err, len)) : rc;
    pai_error_free(err);
    return rc;
  }
  *r = (pai__ext_read){ .t = e->tree };
  if (pai__tree_type(e->tree, 0) != PAI__MAPPING &&
      pai__tree_type(e->tree, 0) != PAI__NULL)
    return misread(e, args, "it is no object");
  return PAI_OK;
}

/* Reports a field that was read with an error. */
static int check_args(pai_hived_extender *e, const char *args,
                      const pai__ext_read *r)
{
  return r->wrong == NULL
           ? PAI_OK
           : misread(e, args,
                     pai__ext_printf(e, "field %s %s", r->wrong,
                                     r->too_long ? "is too long"
                                                 : "is of another type"));
}

/* Reads the texts of a list, or the keys of a map. */
static int read_nodes(pai_hived_extender *e, pai__ext_read *r, question *q)
{
  pai__node list = pai__ext_get(r, 0, q->verb->list, q->verb->type), item;
  size_t most = list != PAI__NO_NODE ? pai__tree_count(r->t, list) : 0;
  pai__tree_walk walk;

  q->nodes = pai__arena_zalloc(&e->arena, most + 1, sizeof(*q->nodes));
  if (q->nodes == NULL)
    return PAI_ENOMEM;
  if (list == PAI__NO_NODE)
    return PAI_OK;
  walk = pai__tree_iter(r->t, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (pai__tree_type(r->t, item) == PAI__STRING)
      q->nodes[q->nnodes++] = pai__tree_str(r->t, item, NULL);
    else if (r->wrong == NULL)
      r->wrong = "NodeNames";
  return PAI_OK;
}

/* Writes a field as it was sent, for an error that repeats it; not if it is
 * long. */
static void put_sent(const pai__ext_read *r, const char *key,
                     const char *otherwise, pai__json_writer *w)
{
  pai__node v = pai__ext_field(r, 0, key);
  const pai__tree_node *n = v != PAI__NO_NODE ? pai__tree_at(r->t, v) : NULL;

  pai__json_write(w, "*:", key);
  if (n == NULL || n->end - n->start > MOST_SENT)
    pai__json_ready(w, otherwise, strlen(otherwise));
  else
    pai__json_ready(w, r->t->text + n->start, n->end - n->start);
}

static int read_question(pai_hived_extender *e, const char *body, size_t len,
                         question *q)
{
  const char *args = q->verb->args;
  pai__json_writer w;
  pai__ext_read r;
  pai__node pod;
  int rc = read_args(e, args, body, len, &r);

  if (rc < 0)
    return rc;
  pod = pai__ext_get(&r, 0, "Pod", PAI__MAPPING);
  rc = read_nodes(e, &r, q);
  if (pod != PAI__NO_NODE)
    pai__ext_read_pod(&r, pod, &q->pod);
  if (rc == PAI_OK)
    rc = check_args(e, args, &r);
  if (rc < 0 || pod != PAI__NO_NODE)
    return rc;
  pai__buf_printf(&e->why, "%s: Pod field should not be nil: ", args);
  pai__json_writer_init(&w, &e->why, false);
  pai__json_write(&w, "{Pod:null");
  put_sent(&r, q->verb->other, "null", &w);
  put_sent(&r, q->verb->list, q->verb->none, &w);
  pai__json_write(&w, "}");
  e->why.failed |= pai__json_finish(&w) < 0;
  return PAI_EINVAL;
}

/* --- decisions ------------------------------------------------------------ */

/* Finds the pod of a call: known, and not yet bound. */
static int find_pod(pai_hived_extender *e, const char *uid, pai__ext_pod **p)
{
  *p = pai__ext_find(e, uid);
  if (*p == NULL)
    return refuse(e,
                  "Pod does not exist, completed or has not been informed to "
                  "the scheduler",
                  "");
  return (*p)->state == PAI__POD_BOUND
           ? refuse(e, "Pod has already been bound to node ", (*p)->node)
           : PAI_OK;
}

/* Makes a set with a bit for each suggested node; NULL for all. */
static int suggest(pai_hived_extender *e, const question *q, uint64_t **out)
{
  const pai_cluster *c = e->engine->cluster;
  size_t node, found = 0;
  uint64_t *set =
    pai__arena_zalloc(&e->arena, c->nnodes / 64 + 1, sizeof(*set));

  if (set == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < q->nnodes; i++) {
    uint64_t bit;

    if (pai_cluster_find_node(c, q->nodes[i], &node) < 0)
      continue;
    bit = (uint64_t)1 << node % 64;
    found += (set[node / 64] & bit) == 0;
    set[node / 64] |= bit;
  }
  *out = found == c->nnodes ? NULL : set;
  return PAI_OK;
}

/* Decides with the engine.  Returns PAI_OK with the decision in the result,
 * which is never REFUSE; or a code. */
static int decide(pai_hived_extender *e, question *q)
{
  pai__hived_words words;
  uint64_t *set;
  int rc = pai__ext_read_ask(e, &q->pod, &q->ask);

  if (rc == PAI_OK)
    rc = suggest(e, q, &set);
  if (rc == PAI_OK)
    rc = pai__ext_join(e, q->p, q->ask.words.group);
  if (rc == PAI_OK)
    rc = pai__hived_schedule(e->engine, &q->ask.r, q->p->number, set,
                             q->verb->phase, &q->result);
  if (rc < 0)
    return rc;
  if (q->result.kind != PAI__HIVED_WAIT && q->result.kind != PAI__HIVED_REFUSE)
    return PAI_OK;
  words = q->ask.words;
  words.pod =
    pai__ext_printf(e, "%s(%s/%s)", q->pod.uid, q->pod.ns, q->pod.name);
  pai__hived_tell(e->engine, &q->result.why, &words, &e->why);
  if (!pai__buf_ok(&e->why))
    return PAI_ENOMEM;
  return q->result.kind == PAI__HIVED_REFUSE ? PAI_EINVAL : PAI_OK;
}

static int by_uid(const void *a, const void *b)
{
  const pai__ext_pod *const *x = a, *const *y = b;

  return strcmp((*x)->uid, (*y)->uid);
}

/* Lists the victims on one node: the node with the smallest name. */
static int list_victims(pai_hived_extender *e, question *q)
{
  const pai__hived_result *result = &q->result;
  uint32_t most = 0, i, on;
  uint64_t number;

  for (uint32_t k = 0; k < result->ngroups; k++)
    for (i = 0;
         pai__hived_next_pod(e->engine, result->groups[k], &i, &number, &on);
         most++) {
      const char *name = pai__hived_node_name(e->engine, on);

      if (q->node == NULL || strcmp(name, q->node) < 0)
        q->node = name;
    }
  if (q->node == NULL) {
    pai__buf_str(&e->why, "Who has to go has no pods");
    return PAI_EINTERNAL;
  }
  q->victims = pai__arena_zalloc(&e->arena, most + 1u, sizeof(*q->victims));
  if (q->victims == NULL)
    return PAI_ENOMEM;
  for (uint32_t k = 0; k < result->ngroups; k++)
    for (i = 0; pai__hived_next_pod(e->engine, result->groups[k], &i, &number,
                                    &on);) {
      const pai__ext_pod *p = pai__ext_numbered(e, number);

      if (p != NULL &&
          strcmp(pai__hived_node_name(e->engine, on), q->node) == 0)
        q->victims[q->nvictims++] = p;
    }
  if (q->nvictims > 1)
    qsort(q->victims, q->nvictims, sizeof(*q->victims), by_uid);
  return PAI_OK;
}

static int give_cells(pai_hived_extender *e, question *q)
{
  pai__ext_pod *p = q->p;
  uint32_t node;
  int rc = pai__ext_keep_binding(e, p, &q->result, &node);

  if (rc < 0)
    return rc;
  if (node == PAI__NOTHING) {
    pai__buf_str(&e->why, "Nothing is known of the cells that it had");
    return PAI_EINTERNAL;
  }
  rc = pai__hived_add(e->engine, &q->ask.r, p->number, node, q->result.index,
                      &q->result.info);
  if (rc == PAI_ENOMEM)
    return rc;
  if (rc < 0) {
    pai__buf_str(&e->why, "The placement is not free any more");
    return PAI_EINTERNAL;
  }
  p->leaves = q->ask.r.leaves;
  p->index = q->result.index;
  p->state = PAI__POD_BINDING;
  p->tries = 0;
  return PAI_OK;
}

/* Applies the decision: filter gives the pod its cells, preempt makes it wait
 * for victims. */
static int carry_out(pai_hived_extender *e, question *q)
{
  bool filtering = q->verb->phase == PAI__HIVED_FILTERING;

  switch (q->result.kind) {
  case PAI__HIVED_WAIT: q->p->state = PAI__POD_WAITING; return PAI_OK;
  case PAI__HIVED_PREEMPT:
    if (!filtering)
      q->p->state = PAI__POD_PREEMPTING;
    return list_victims(e, q);
  default: return filtering ? give_cells(e, q) : PAI_OK;
  }
}

/* Binds the pod itself if the Kubernetes scheduler may never do it: the pod's
 * node is not known to it, or it keeps calling filter. */
static int bind_if_needed(pai_hived_extender *e, const question *q)
{
  const pai__ext_pod *p = q->p;
  size_t i = 0;

  while (i < q->nnodes && strcmp(q->nodes[i], p->node) != 0)
    i++;
  if (p->tries < e->force_after && i < q->nnodes &&
      pai__map_get(&e->nodes, p->node, strlen(p->node)) != NULL)
    return PAI_OK;
  return pai__ext_put_binding(e, p, PAI_HIVED_BIND_ALSO);
}

static int answer_pod(pai_hived_extender *e, question *q)
{
  int rc = find_pod(e, q->pod.uid, &q->p);

  if (rc == PAI_OK && q->p->state != PAI__POD_BINDING) {
    rc = decide(e, q);
    if (rc == PAI_OK)
      rc = carry_out(e, q);
  } else if (rc == PAI_OK && q->verb->phase == PAI__HIVED_PREEMPTING) {
    return refuse(e, "Pod has already been binding to node ", q->p->node);
  } else if (rc == PAI_OK) {
    q->p->tries++;
    q->result.kind = PAI__HIVED_BIND;
  }
  if (rc < 0 || q->result.kind != PAI__HIVED_BIND ||
      q->verb->phase == PAI__HIVED_PREEMPTING)
    return rc;
  q->node = q->p->node;
  return bind_if_needed(e, q);
}

/* --- answers -------------------------------------------------------------- */

static bool is_told(int rc)
{
  return rc == PAI_EINVAL || rc == PAI_EINTERNAL;
}

/* Prepends the routine and the pod to an error. */
static int name_error(pai_hived_extender *e, const char *routine,
                      const pai__ext_view *pod, int rc)
{
  char *text;

  if (!is_told(rc))
    return rc;
  text = pai__buf_take(&e->why);
  if (text == NULL)
    return PAI_ENOMEM;
  pai__buf_printf(&e->why, "[%s(%s/%s)]: %sRoutine: Failed: %s", pod->uid,
                  pod->ns, pod->name, routine, text);
  pai__strfree(&e->alloc, text);
  return pai__buf_ok(&e->why) ? rc : PAI_ENOMEM;
}

static int ask_pod(pai_hived_extender *e, const char *body, size_t len,
                   question *q)
{
  int rc = read_question(e, body, len, q);

  return rc == PAI_OK
           ? name_error(e, q->verb->routine, &q->pod, answer_pod(e, q))
           : rc;
}

/* Text of an error in an answer with status 200. */
static const char *error_text(pai_hived_extender *e, int rc)
{
  return rc == PAI_OK
           ? ""
           : pai__ext_printf(
               e, "Code: %d, Message: hivedscheduler: %s Error: %s",
               rc == PAI_EINVAL ? 400 : 500,
               rc == PAI_EINVAL ? "User" : "Platform", pai__buf_text(&e->why));
}

static void put_failed(pai_hived_extender *e, const question *q,
                       pai__json_writer *w)
{
  pai__buf text;

  if (q->result.kind == PAI__HIVED_WAIT) {
    pai__json_write(w, "{hivedscheduler:s}",
                    pai__ext_printf(e,
                                    "Pod is waiting for preemptible or free "
                                    "resource to appear: %s",
                                    pai__buf_text(&e->why)));
    return;
  }
  pai__buf_init(&text, &e->alloc);
  pai__buf_printf(&text, "node(%s) has preemptible Pods: ", q->node);
  for (uint32_t i = 0; i < q->nvictims; i++)
    pai__buf_printf(&text, "%s%s(%s/%s)", i > 0 ? ", " : "",
                    q->victims[i]->uid, q->victims[i]->ns,
                    q->victims[i]->name);
  pai__json_write(w, "{*:s}", q->node, pai__buf_text(&text));
  e->body.failed |= !pai__buf_ok(&text);
  pai__buf_dispose(&text);
}

int pai__ext_on_filter(pai_hived_extender *e, const char *body, size_t len)
{
  question q = { .verb = &verbs[FILTER] };
  int rc = ask_pod(e, body, len, &q), kind = q.result.kind;
  pai__json_writer w;

  if (rc < 0 && !is_told(rc))
    return rc;
  if (rc < 0)
    kind = PAI__HIVED_REFUSE;
  if (kind == PAI__HIVED_WAIT)
    e->answer.hold_ms = e->hold_ms;
  pai__json_writer_init(&w, &e->body, false);
  pai__json_write(&w, "{Nodes:null,NodeNames:");
  if (kind == PAI__HIVED_BIND)
    pai__json_write(&w, "[s]", q.node);
  else
    pai__json_null(&w);
  pai__json_write(&w, "FailedNodes:");
  if (kind == PAI__HIVED_WAIT || kind == PAI__HIVED_PREEMPT)
    put_failed(e, &q, &w);
  else
    pai__json_null(&w);
  pai__json_write(&w, "Error:s}", error_text(e, rc));
  return pai__json_finish(&w);
}

int pai__ext_on_preempt(pai_hived_extender *e, const char *body, size_t len)
{
  question q = { .verb = &verbs[PREEMPT] };
  int rc = ask_pod(e, body, len, &q);
  pai__json_writer w;

  if (rc < 0)
    return rc;
  pai__json_writer_init(&w, &e->body, false);
  if (q.result.kind != PAI__HIVED_PREEMPT) {
    pai__json_write(&w, "{NodeNameToMetaVictims:null}");
    return pai__json_finish(&w);
  }
  pai__json_write(&w, "{NodeNameToMetaVictims:{*:{Pods:[", q.node);
  for (uint32_t i = 0; i < q.nvictims; i++)
    pai__json_write(&w, "{UID:s}", q.victims[i]->uid);
  pai__json_write(&w, "],NumPDBViolations:i}}}", 0);
  return pai__json_finish(&w);
}

/* --- bind ----------------------------------------------------------------- */

static int bind_pod(pai_hived_extender *e, const pai__ext_view *v)
{
  static const char *const states[] = { "Waiting", "Preempting" };
  pai__ext_pod *p;
  int rc = find_pod(e, v->uid, &p);

  if (rc < 0)
    return rc;
  if (p->state != PAI__POD_BINDING) {
    pai__buf_printf(&e->why,
                    "Pod cannot be bound without a scheduling placement: Pod "
                    "current scheduling state %s, received node %s",
                    states[p->state], v->node);
    return PAI_EINVAL;
  }
  if (strcmp(p->node, v->node) != 0) {
    pai__buf_printf(&e->why,
                    "Pod binding node mismatch: expected %s, received %s",
                    p->node, v->node);
    return PAI_EINVAL;
  }
  return pai__ext_put_binding(e, p, PAI_HIVED_BIND_FIRST);
}

static int bind(pai_hived_extender *e, const char *body, size_t len)
{
  static const char args[] = "ExtenderBindingArgs";
  pai__json_writer w;
  pai__ext_read r;
  pai__ext_view v;
  int rc = read_args(e, args, body, len, &r);

  if (rc < 0)
    return rc;
  v.name = pai__ext_text(&r, 0, "PodName");
  v.ns = pai__ext_text(&r, 0, "PodNamespace");
  v.uid = pai__ext_text(&r, 0, "PodUID");
  v.node = pai__ext_text(&r, 0, "Node");
  rc = check_args(e, args, &r);
  if (rc < 0)
    return rc;
  if (*v.name != '\0' && *v.ns != '\0' && *v.uid != '\0' && *v.node != '\0')
    return name_error(e, "bind", &v, bind_pod(e, &v));
  pai__buf_printf(&e->why, "%s: All fields should not be empty: ", args);
  pai__json_writer_init(&w, &e->why, false);
  pai__json_write(&w, "{PodName:s,PodNamespace:s,PodUID:s,Node:s}", v.name,
                  v.ns, v.uid, v.node);
  e->why.failed |= pai__json_finish(&w) < 0;
  return PAI_EINVAL;
}

static int put_bind(pai_hived_extender *e, int rc)
{
  pai__json_writer w;

  pai__json_writer_init(&w, &e->body, false);
  pai__json_write(&w, "{Error:s}", error_text(e, rc));
  return pai__json_finish(&w);
}

int pai__ext_on_bind(pai_hived_extender *e, const char *body, size_t len)
{
  int rc = bind(e, body, len);

  return rc < 0 && !is_told(rc) ? rc : put_bind(e, rc);
}

int pai__ext_put_unbound(pai_hived_extender *e, const char *uid,
                         const char *why)
{
  const pai__ext_pod *p = pai__ext_find(e, uid);
  pai__ext_view v = { .uid = uid,
                      .ns = p != NULL ? p->ns : "",
                      .name = p != NULL ? p->name : "" };
  int rc;

  pai__buf_printf(&e->why, "Failed to bind Pod: %s", why);
  rc = name_error(e, "bind", &v, PAI_EINTERNAL);
  return rc == PAI_ENOMEM ? rc : put_bind(e, rc);
}
