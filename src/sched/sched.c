/* sched.c - making, forking and freeing a scheduler */
#include "sched/sched.h"
#include "sched/explain/explain.h"

#include "sched/start.h"
#include "sched/fit.h"
#include "sched/policy/policy.h"
#include "sched/queue.h"
#include "sched/node_class.h"

/* The vectors in a pai_sched: those that a fork copies, and those that it does
 * not. */
typedef struct part {
  size_t at;   /* offset of a pai__flat */
  size_t live; /* offset of the number of words or keys in use, or 0 */
  size_t size; /* bytes of an element */
} part;

/* NOLINTBEGIN(bugprone-macro-parentheses): members */
#define FLAT(m, type)                       \
  {                                         \
    offsetof(pai_sched, m), 0, sizeof(type) \
  }
#define LOOKUP(m)                                              \
  {                                                            \
    offsetof(pai_sched, m.slots), offsetof(pai_sched, m.live), \
      2 * sizeof(uint64_t)                                     \
  }
/* NOLINTEND(bugprone-macro-parentheses) */

static const part copied[] = {
  FLAT(reqs, pai__req),
  FLAT(links, pai__link),
  FLAT(classes, pai__req_class),
  LOOKUP(class_by_key),
  FLAT(runs, pai__run),
  FLAT(free_capacity, pai__free_capacity),
  FLAT(cpus, uint64_t),
  FLAT(reservations, pai__sched_reservation),
  FLAT(reasons, pai__sched_reason),
  FLAT(claims, uint32_t),
  FLAT(shares_used, uint64_t),
  FLAT(shares_lent, uint64_t),
  FLAT(queued, uint32_t),
  FLAT(vc_reasons, pai__vc_reason),
  FLAT(alike_reasons, pai__alike_reason),
  LOOKUP(alike_reason_at),
  FLAT(held, uint64_t),
  FLAT(tables, pai_policy *),
  FLAT(by_id, uint32_t),
  LOOKUP(by_instance),
  LOOKUP(followed),
  FLAT(names.list, uint32_t[2]),
  FLAT(names.chars, char),
  LOOKUP(names.index),
  FLAT(name_lists, uint64_t),
  LOOKUP(name_list_at),
  { offsetof(pai_sched, pool.words), offsetof(pai_sched, pool.live),
    sizeof(uint64_t) },
};

/* Not copied by a fork. */
static const part fresh[] = {
  FLAT(lazily, uint64_t),
  FLAT(needs, uint64_t),
  FLAT(decisions, pai__decision),
  FLAT(slots, pai__slot),
  FLAT(candidates, uint64_t[2]),
  FLAT(ends, pai__end),
  FLAT(refusals, pai__refusal),
  LOOKUP(refused),
  FLAT(node_classes.list, pai__node_class),
  FLAT(node_classes.spines, uint32_t[4]),
  FLAT(node_classes.buckets, uint32_t),
  FLAT(node_classes.touched, uint64_t),
};

enum { PARTS = PAI__LEN(copied) + PAI__LEN(fresh) };

static const part *part_at(size_t i)
{
  return i < PAI__LEN(copied) ? &copied[i] : &fresh[i - PAI__LEN(copied)];
}

static pai__flat *flat_at(const pai_sched *s, size_t i)
{
  return (pai__flat *)(void *)((char *)(uintptr_t)s + part_at(i)->at);
}

/* --- a cluster ------------------------------------------------------------ */

/* Initializes the nodes of a cluster: free, and sick ones marked. */
static int capacity_of_cluster(pai_sched *s, const pai__sched_cluster *cluster,
                               const pai_cluster *c, pai__free_capacity *nodes,
                               pai_error **err)
{
  pai__free_capacity_init(s, cluster, nodes);
  for (size_t i = 0; i < c->nnodes; i++) {
    const pai__member *m = &c->nodes[i];

    if (m->sick != NULL)
      nodes[i].state = PAI_NODE_SICK;
    if (pai__texts_add(&s->names, &s->alloc, m->sick, &nodes[i].reason) < 0)
      return pai__oom(err);
    for (uint32_t g = 0; g < c->skus[m->sku].gpus; g++)
      if (c->gpus[m->first_gpu + g].sick != NULL)
        nodes[i].sick |= UINT64_C(1) << g;
  }
  return PAI_OK;
}

int pai__parts_make(pai_sched *s, const pai__sched_cluster *cluster,
                    const pai_cluster *c, pai__cluster_parts *p,
                    pai_error **err)
{
  uint32_t sums = cluster->nvcs * pai__sched_cluster_shares(cluster);
  pai__flat *all[] = { &p->free_capacity, &p->cpus, &p->used, &p->lent };
  const size_t sizes[] = { sizeof(pai__free_capacity), sizeof(uint64_t),
                           sizeof(uint64_t), sizeof(uint64_t) };
  const uint32_t counts[] = { cluster->nnodes, cluster->cpu_words, sums,
                              sums };
  int rc = PAI_OK;

  for (size_t i = 0; i < PAI__LEN(all); i++) {
    pai__flat_init(all[i], sizes[i]);
    if (rc == PAI_OK)
      rc = pai__flat_reset(all[i], &s->alloc, counts[i]);
  }
  if (rc < 0 ||
      pai__flat_reserve(&s->held, &s->alloc, pai__check_words(cluster)) < 0 ||
      pai__flat_reserve(&s->queued, &s->alloc, cluster->nvcs) < 0)
    rc = pai__oom(err);
  if (rc == PAI_OK) {
    pai__cpus_init(cluster, p->cpus.data);
    rc = capacity_of_cluster(s, cluster, c, p->free_capacity.data, err);
  }
  for (size_t i = 0; i < PAI__LEN(all) && rc < 0; i++)
    pai__flat_dispose(all[i], &s->alloc);
  return rc;
}

void pai__parts_use(pai_sched *s, pai__cluster_parts *p)
{
  pai__flat *from[] = { &p->free_capacity, &p->cpus, &p->used, &p->lent };
  pai__flat *to[] = { &s->free_capacity, &s->cpus, &s->shares_used,
                      &s->shares_lent };

  for (size_t i = 0; i < PAI__LEN(to); i++) {
    pai__flat_dispose(to[i], &s->alloc);
    *to[i] = *from[i];
  }
  (void)pai__flat_reset(&s->held, &s->alloc, pai__check_words(s->cluster));
  (void)pai__flat_reset(&s->queued, &s->alloc, s->cluster->nvcs);
}

/* --- making --------------------------------------------------------------- */

static int set_ports(pai_sched *s, const pai_sched_options *o, pai_error **err)
{
  s->m.first_port = o->first_port != 0 ? o->first_port : 15000;
  s->m.last_port = o->last_port != 0 ? o->last_port : 39999;
  s->m.next_port = o->next_port != 0 ? o->next_port : s->m.first_port;
  if (s->m.first_port > s->m.last_port || s->m.last_port > UINT16_MAX ||
      s->m.next_port < s->m.first_port || s->m.next_port > s->m.last_port)
    return pai__fail(err, PAI_EINVAL, "ports %u to %u are no range",
                     s->m.first_port, s->m.last_port);
  return PAI_OK;
}

static pai_sched *new_state(const pai_alloc *alloc)
{
  pai_sched *s = pai__zalloc(alloc, sizeof(*s));

  if (s == NULL)
    return NULL;
  s->alloc = *alloc;
  pai__buf_init(&s->line, &s->alloc);
  s->m.first = s->m.last = PAI__NONE;
  s->m.oldest = s->m.newest = PAI__NONE;
  s->m.free_req = s->m.free_run = PAI__NONE;
  s->m.free_reason = s->m.free_class = PAI__NONE;
  s->m.next_limit = INT64_MAX;
  for (size_t i = 0; i < PARTS; i++)
    pai__flat_init(flat_at(s, i), part_at(i)->size);
  pai__pool_init(&s->pool);
  pai__host_init(s);
  return s;
}

int pai__sched_make(pai_sched **out, const pai_cluster *cluster,
                    const pai_sched_options *o, pai_error **err)
{
  pai_sched *s = new_state(pai__alloc_or_libc(o->alloc));
  pai__cluster_parts parts_of_it = { .lent = { 0 } };
  int rc;

  *out = NULL;
  if (s == NULL)
    return pai__oom(err);
  s->m.unchecked = o->unchecked != 0;
  rc = set_ports(s, o, err);
  if (rc == PAI_OK)
    rc = pai__sched_cluster_new(&s->cluster, cluster, &s->alloc, err);
  if (rc == PAI_OK)
    rc = pai__parts_make(s, s->cluster, cluster, &parts_of_it, err);
  if (rc == PAI_OK)
    pai__parts_use(s, &parts_of_it);
  if (rc == PAI_OK && pai__explained_new(s) < 0)
    rc = pai__oom(err);
  if (rc < 0)
    pai_sched_free(s);
  else
    *out = s;
  return rc;
}

int pai_sched_new(pai_sched **out, const pai_cluster *cluster,
                  const pai_sched_options *opts, pai_error **err)
{
  pai_sched_options o = { 0 };
  pai_sched *s;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(cluster != NULL, err);
  if (opts != NULL &&
      PAI__OPTIONS_IN(&o, opts, pai_sched_options, ntables) < 0)
    return pai__fail_struct(err, PAI_EINVAL, opts, "pai_sched_options");
  rc = pai__sched_make(&s, cluster, &o, err);
  if (rc < 0)
    return rc;
  rc = pai__policy_tables(s, &o, err);
  if (rc == PAI_OK)
    rc = pai__policy_open(s, cluster, &o, err);
  if (rc < 0)
    pai_sched_free(s);
  else
    *out = s;
  return rc;
}

void pai_sched_free(pai_sched *s)
{
  pai_alloc alloc;

  if (s == NULL)
    return;
  pai__policy_close(s);
  pai__explained_free(s);
  for (size_t i = 0; i < PARTS; i++)
    pai__flat_dispose(flat_at(s, i), &s->alloc);
  pai__free(&s->alloc, s->block, s->block_size);
  pai__buf_dispose(&s->line);
  pai__sched_cluster_unref(s->cluster);
  alloc = s->alloc;
  pai__free(&alloc, s, sizeof(*s));
}

/* --- forks ---------------------------------------------------------------- */

/* Copies all vectors into one block.  For a large state, most of the time goes
 * into touching new memory, and a single block is more likely to be reused. */
static int copy_flats(pai_sched *to, const pai_sched *s)
{
  size_t at = 0;

  for (size_t i = 0; i < PAI__LEN(copied); i++)
    to->block_size += pai__flat_bytes(flat_at(s, i));
  to->block = pai__realloc(&to->alloc, NULL, 0, to->block_size, 1);
  if (to->block == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < PAI__LEN(copied); i++) {
    pai__flat_copy_in(flat_at(to, i), flat_at(s, i), to->block, &at);
    if (copied[i].live != 0)
      memcpy((char *)to + copied[i].live, (const char *)s + copied[i].live,
             sizeof(s->pool.live));
  }
  memcpy(to->pool.free, s->pool.free, sizeof(to->pool.free));
  return pai__flat_reserve(&to->reasons, &to->alloc,
                           s->reqs.len - s->reasons.len);
}

/* Copies the decisions that events have made since the last decision. */
static int copy_pending(pai_sched *to, const pai_sched *s)
{
  const pai__decision *from = s->decisions.data;
  uint32_t n = s->decisions.len - s->told;

  if (n == 0)
    return PAI_OK;
  if (pai__flat_reserve(&to->decisions, &to->alloc, n) < 0)
    return PAI_ENOMEM;
  memcpy(to->decisions.data, from + s->told, n * sizeof(*from));
  to->decisions.len = n;
  return PAI_OK;
}

int pai__fork_without_policy(pai_sched **out, const pai_sched *s,
                             const pai_alloc *alloc)
{
  pai_sched *fork = new_state(alloc);

  *out = NULL;
  if (fork == NULL)
    return PAI_ENOMEM;
  fork->cluster = pai__sched_cluster_ref(s->cluster);
  fork->m = s->m;
  if (copy_flats(fork, s) < 0) {
    pai_sched_free(fork);
    return PAI_ENOMEM;
  }
  *out = fork;
  return PAI_OK;
}

int pai__fork_in(pai_sched **out, const pai_sched *s, const pai_alloc *alloc,
                 pai_error **err)
{
  pai_sched *fork;
  int rc;

  *out = NULL;
  if (pai__fork_without_policy(&fork, s, alloc) < 0)
    return pai__oom(err);
  rc = copy_pending(fork, s);
  rc = rc < 0 ? pai__oom(err) : pai__policy_copy(fork, &s->live, err);
  if (rc < 0)
    pai_sched_free(fork);
  else
    *out = fork;
  return rc;
}

int pai_sched_fork(pai_sched **out, const pai_sched *s, pai_error **err)
{
  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(s != NULL, err);
  return pai__fork_in(out, s, &s->alloc, err);
}
