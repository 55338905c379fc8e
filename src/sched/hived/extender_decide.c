/* extender_decide.c - where a pod goes that Kubernetes' scheduler asks for */
#include "sched/hived/extender.h"

#include <stdlib.h>

static int refuse(pai_hived_extender *e, const char *what, const char *node)
{
  pai__buf_printf(&e->why, "%s%s", what, node);
  return PAI_EINVAL;
}

static int refuse_unknown(pai_hived_extender *e)
{
  return refuse(e,
                "Pod does not exist, completed or has not been informed to "
                "the scheduler",
                "");
}

/* --- one decision --------------------------------------------------------- */

static bool is_among(const char *const *names, size_t n, const char *node)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(names[i], node) == 0)
      return true;
  return false;
}

/* A bit of each node that is suggested; NULL for all. */
static int suggest(pai_hived_extender *e, const char *const *names, size_t n,
                   uint64_t **out)
{
  const pai_cluster *c = pai__hived_cluster(e->engine);
  size_t node, found = 0;
  uint64_t *set =
    pai__arena_zalloc(&e->arena, c->nnodes / 64 + 1, sizeof(*set));

  if (set == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < n; i++) {
    uint64_t bit;

    if (pai_cluster_find_node(c, names[i], &node) < 0)
      continue;
    bit = (uint64_t)1 << node % 64;
    found += (set[node / 64] & bit) == 0;
    set[node / 64] |= bit;
  }
  *out = found == c->nnodes ? NULL : set;
  return PAI_OK;
}

static void tell(pai_hived_extender *e, const pai__ext_view *v,
                 const pai__hived_ask *ask, const pai__hived_result *result)
{
  pai__hived_words words = ask->words;
  pai__buf pod;

  pai__buf_init(&pod, &e->alloc);
  pai__ext_put_key(&pod, v->uid, v->ns, v->name);
  words.pod = pai__buf_text(&pod);
  pai__hived_tell(e->engine, &result->why, &words, &e->why);
  if (!pai__buf_ok(&pod))
    e->why.failed = true;
  pai__buf_dispose(&pod);
}

typedef struct deciding {
  pai__ext_pod *p;
  const pai__ext_view *v;
  int phase;
  pai__hived_ask ask;
  pai__hived_result result;
} deciding;

/* PAI_OK, and what is to be done is in the result; it is never to refuse. */
static int decide(pai_hived_extender *e, deciding *d, const char *const *names,
                  size_t n)
{
  uint64_t *set;
  int rc = pai__ext_read_ask(e, d->v, &d->ask);

  if (rc == PAI_OK)
    rc = suggest(e, names, n, &set);
  if (rc == PAI_OK)
    rc = pai__ext_join(e, d->p, d->ask.words.group);
  if (rc == PAI_OK)
    rc = pai__hived_schedule(e->engine, &d->ask.r, d->p->number, set, d->phase,
                             &d->result);
  if (rc < 0)
    return rc;
  if (d->result.kind == PAI__HIVED_WAIT || d->result.kind == PAI__HIVED_REFUSE)
    tell(e, d->v, &d->ask, &d->result);
  if (!pai__buf_ok(&e->why))
    return PAI_ENOMEM;
  return d->result.kind == PAI__HIVED_REFUSE ? PAI_EINVAL : PAI_OK;
}

/* --- victims -------------------------------------------------------------- */

static int by_uid(const void *a, const void *b)
{
  const pai__ext_pod *const *x = a, *const *y = b;

  return strcmp((*x)->uid, (*y)->uid);
}

/* Those on one node: the one whose name is the smallest. */
static int list_victims(pai_hived_extender *e, const pai__hived_result *result,
                        pai__ext_choice *out)
{
  uint32_t most = 0, i, on;
  uint64_t number;

  out->node = NULL;
  for (uint32_t k = 0; k < result->ngroups; k++)
    for (i = 0;
         pai__hived_next_pod(e->engine, result->groups[k], &i, &number, &on);
         most++) {
      const char *name = pai__hived_node_name(e->engine, on);

      if (out->node == NULL || strcmp(name, out->node) < 0)
        out->node = name;
    }
  if (out->node == NULL) {
    pai__buf_str(&e->why, "Who has to go has no pods");
    return PAI_EINTERNAL;
  }
  out->victims =
    pai__arena_zalloc(&e->arena, most + 1u, sizeof(*out->victims));
  if (out->victims == NULL)
    return PAI_ENOMEM;
  out->nvictims = 0;
  for (uint32_t k = 0; k < result->ngroups; k++)
    for (i = 0; pai__hived_next_pod(e->engine, result->groups[k], &i, &number,
                                    &on);) {
      const pai__ext_pod *p = pai__ext_numbered(e, number);

      if (p != NULL &&
          strcmp(pai__hived_node_name(e->engine, on), out->node) == 0)
        out->victims[out->nvictims++] = p;
    }
  if (out->nvictims > 1)
    qsort(out->victims, out->nvictims, sizeof(*out->victims), by_uid);
  return PAI_OK;
}

/* --- filter --------------------------------------------------------------- */

/* Others who should bind a pod may never do it: its node is not there for
 * them, or they ask again and again. */
static int bind_if_needed(pai_hived_extender *e, const pai__ext_pod *p,
                          const char *const *names, size_t n)
{
  if (p->tries < e->force_after && is_among(names, n, p->node) &&
      pai__map_get(&e->nodes, p->node, strlen(p->node)) != NULL)
    return PAI_OK;
  return pai__ext_put_binding(e, p, PAI_HIVED_BIND_ALSO);
}

static int give_cells(pai_hived_extender *e, deciding *d)
{
  pai__ext_pod *p = d->p;
  uint32_t node;
  int rc = pai__ext_keep_binding(e, p, &d->result, &node);

  if (rc < 0)
    return rc;
  if (node == PAI__NOTHING) {
    pai__buf_str(&e->why, "Nothing is known of the cells that it had");
    return PAI_EINTERNAL;
  }
  rc = pai__hived_add(e->engine, &d->ask.r, p->number, node, d->result.index,
                      &d->result.info);
  if (rc == PAI_ENOMEM)
    return rc;
  if (rc < 0) {
    pai__buf_str(&e->why, "The placement is not free any more");
    return PAI_EINTERNAL;
  }
  p->leaves = d->ask.r.leaves;
  p->index = d->result.index;
  p->state = PAI__POD_BINDING;
  p->tries = 0;
  return PAI_OK;
}

int pai__ext_filter(pai_hived_extender *e, const pai__ext_view *v,
                    const char *const *names, size_t n, pai__ext_choice *out)
{
  deciding d = { .p = pai__ext_find(e, v->uid),
                 .v = v,
                 .phase = PAI__HIVED_FILTERING };
  int rc = PAI_OK;

  if (d.p == NULL)
    return refuse_unknown(e);
  if (d.p->state == PAI__POD_BOUND)
    return refuse(e, "Pod has already been bound to node ", d.p->node);
  out->kind = PAI__HIVED_BIND;
  if (d.p->state == PAI__POD_BINDING) {
    d.p->tries++;
  } else {
    rc = decide(e, &d, names, n);
    if (rc == PAI_OK)
      out->kind = d.result.kind;
    if (rc == PAI_OK && out->kind == PAI__HIVED_BIND)
      rc = give_cells(e, &d);
    if (rc == PAI_OK && out->kind == PAI__HIVED_PREEMPT)
      rc = list_victims(e, &d.result, out);
    if (rc == PAI_OK && out->kind == PAI__HIVED_WAIT)
      d.p->state = PAI__POD_WAITING;
  }
  if (rc < 0 || out->kind != PAI__HIVED_BIND)
    return rc;
  out->node = d.p->node;
  return bind_if_needed(e, d.p, names, n);
}

/* --- preempt -------------------------------------------------------------- */

int pai__ext_preempt(pai_hived_extender *e, const pai__ext_view *v,
                     const char *const *names, size_t n, pai__ext_choice *out)
{
  deciding d = { .p = pai__ext_find(e, v->uid),
                 .v = v,
                 .phase = PAI__HIVED_PREEMPTING };
  int rc;

  if (d.p == NULL)
    return refuse_unknown(e);
  if (d.p->state == PAI__POD_BOUND)
    return refuse(e, "Pod has already been bound to node ", d.p->node);
  if (d.p->state == PAI__POD_BINDING)
    return refuse(e, "Pod has already been binding to node ", d.p->node);
  rc = decide(e, &d, names, n);
  if (rc < 0)
    return rc;
  out->kind = d.result.kind;
  if (out->kind == PAI__HIVED_PREEMPT)
    d.p->state = PAI__POD_PREEMPTING;
  if (out->kind == PAI__HIVED_WAIT)
    d.p->state = PAI__POD_WAITING;
  return out->kind == PAI__HIVED_PREEMPT ? list_victims(e, &d.result, out)
                                         : PAI_OK;
}

/* --- bind ----------------------------------------------------------------- */

int pai__ext_bind(pai_hived_extender *e, const char *uid, const char *node)
{
  static const char *const states[] = { "Waiting", "Preempting" };
  const pai__ext_pod *p = pai__ext_find(e, uid);

  if (p == NULL)
    return refuse_unknown(e);
  if (p->state == PAI__POD_BOUND)
    return refuse(e, "Pod has already been bound to node ", p->node);
  if (p->state != PAI__POD_BINDING) {
    pai__buf_printf(&e->why,
                    "Pod cannot be bound without a scheduling placement: Pod "
                    "current scheduling state %s, received node %s",
                    states[p->state], node);
    return PAI_EINVAL;
  }
  if (strcmp(p->node, node) != 0) {
    pai__buf_printf(&e->why,
                    "Pod binding node mismatch: expected %s, received %s",
                    p->node, node);
    return PAI_EINVAL;
  }
  return pai__ext_put_binding(e, p, PAI_HIVED_BIND_FIRST);
}
