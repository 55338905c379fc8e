/* sched.c - a scheduler is made, copied and freed */
#include "sched/sched.h"
#include "sched/explained.h"

#include "sched/check.h"
#include "sched/ends.h"
#include "sched/fit.h"
#include "sched/policy.h"
#include "sched/refusal.h"
#include "sched/shelf.h"

static void init_flats(pai_sched *s)
{
  pai__flat_init(&s->reqs, sizeof(pai__req));
  pai__flat_init(&s->links, sizeof(pai__link));
  pai__flat_init(&s->runs, sizeof(pai__run));
  pai__flat_init(&s->rooms, sizeof(pai__room));
  pai__flat_init(&s->cpus, sizeof(uint64_t));
  pai__flat_init(&s->kept, sizeof(pai__kept));
  pai__flat_init(&s->whys, sizeof(pai__why));
  pai__flat_init(&s->claims, sizeof(uint32_t));
  pai__flat_init(&s->shares_used, sizeof(uint64_t));
  pai__flat_init(&s->shares_lent, sizeof(uint64_t));
  pai__flat_init(&s->queued, sizeof(uint32_t));
  pai__flat_init(&s->rules, sizeof(pai__rule));
  pai__flat_init(&s->lazily, sizeof(uint64_t));
  pai__flat_init(&s->needs, sizeof(uint64_t));
  pai__flat_init(&s->shape_whys, sizeof(pai__shape_why));
  pai__lookup_init(&s->shape_why_at);
  pai__flat_init(&s->held, sizeof(uint64_t));
  pai__flat_init(&s->tables, sizeof(pai_policy *));
  pai__flat_init(&s->decisions, sizeof(pai__decision));
  pai__flat_init(&s->slots, sizeof(pai__slot));
  pai__flat_init(&s->ends, sizeof(pai__end));
  pai__shelves_init(s);
  pai__fit_init(s);
  pai__flat_init(&s->by_id, sizeof(uint32_t));
  pai__lookup_init(&s->wanted);
  pai__lookup_init(&s->by_instance);
  pai__lookup_init(&s->followed);
  pai__lookup_init(&s->possible);
  pai__flat_init(&s->refusals, sizeof(pai__refusal));
  pai__lookup_init(&s->refused);
  pai__texts_init(&s->names);
  pai__pool_init(&s->pool);
}

/* --- a cluster ------------------------------------------------------------ */

int pai__rooms_of_cluster(pai_sched *s, const pai__park *park,
                          const pai_cluster *c, pai__room *nodes,
                          pai_error **err)
{
  pai__rooms_init(s, park, nodes);
  for (size_t i = 0; i < c->nnodes; i++) {
    const pai__member *m = &c->nodes[i];

    if (m->sick != NULL)
      nodes[i].state = PAI_NODE_SICK;
    if (pai__texts_add(&s->names, &s->alloc, m->sick, &nodes[i].why) < 0)
      return pai__oom(err);
    for (uint32_t g = 0; g < c->skus[m->sku].gpus; g++)
      if (c->gpus[m->first_gpu + g].sick != NULL)
        nodes[i].sick |= UINT64_C(1) << g;
  }
  return PAI_OK;
}

static int fill(pai_sched *s, const pai_cluster *cluster, pai_error **err)
{
  uint32_t sums = s->park->ntenants * pai__park_shares(s->park);
  int rc;

  if (pai__flat_reserve(&s->rooms, &s->alloc, s->park->nspots) < 0 ||
      pai__flat_reserve(&s->held, &s->alloc, pai__check_words(s->park)) < 0 ||
      pai__flat_reserve(&s->cpus, &s->alloc, s->park->cpu_words) < 0 ||
      pai__flat_reserve(&s->shares_used, &s->alloc, sums) < 0 ||
      pai__flat_reserve(&s->shares_lent, &s->alloc, sums) < 0 ||
      pai__flat_reserve(&s->queued, &s->alloc, s->park->ntenants) < 0)
    return pai__oom(err);
  (void)pai__flat_push(&s->rooms, s->park->nspots);
  (void)pai__flat_push(&s->held, pai__check_words(s->park));
  (void)pai__flat_push(&s->cpus, s->park->cpu_words);
  (void)pai__flat_push(&s->shares_used, sums);
  (void)pai__flat_push(&s->shares_lent, sums);
  (void)pai__flat_push(&s->queued, s->park->ntenants);
  rc = pai__rooms_of_cluster(s, s->park, cluster, s->rooms.data, err);
  if (rc == PAI_OK)
    pai__cpus_init(s->park, s->cpus.data);
  return rc;
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
  s->m.free_req = s->m.free_run = s->m.free_why = PAI__NONE;
  s->m.next_limit = INT64_MAX;
  init_flats(s);
  pai__host_init(s);
  return s;
}

int pai__sched_make(pai_sched **out, const pai_cluster *cluster,
                    const pai_sched_options *o, pai_error **err)
{
  pai_sched *s = new_state(pai__alloc_or_libc(o->alloc));
  int rc;

  *out = NULL;
  if (s == NULL)
    return pai__oom(err);
  s->m.unchecked = o->unchecked != 0;
  rc = set_ports(s, o, err);
  if (rc == PAI_OK)
    rc = pai__park_new(&s->park, cluster, &s->alloc, err);
  if (rc == PAI_OK)
    rc = fill(s, cluster, err);
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

static void dispose_flats(pai_sched *s)
{
  pai__flat *list[] = { &s->reqs,
                        &s->links,
                        &s->runs,
                        &s->rooms,
                        &s->cpus,
                        &s->kept,
                        &s->whys,
                        &s->claims,
                        &s->shares_used,
                        &s->shares_lent,
                        &s->queued,
                        &s->rules,
                        &s->lazily,
                        &s->needs,
                        &s->shape_whys,
                        &s->shape_why_at.slots,
                        &s->held,
                        &s->tables,
                        &s->decisions,
                        &s->slots,
                        &s->candidates,
                        &s->pool.words,
                        &s->by_id,
                        &s->wanted.slots,
                        &s->by_instance.slots,
                        &s->followed.slots,
                        &s->possible.slots,
                        &s->refusals,
                        &s->refused.slots,
                        &s->ends };

  for (size_t i = 0; i < PAI__LEN(list); i++)
    pai__flat_dispose(list[i], &s->alloc);
  pai__shelves_dispose(s);
  pai__texts_dispose(&s->names, &s->alloc);
  pai__free(&s->alloc, s->block, s->block_size);
  pai__buf_dispose(&s->line);
}

void pai_sched_free(pai_sched *s)
{
  pai_alloc alloc;

  if (s == NULL)
    return;
  pai__policy_close(s);
  pai__explained_free(s);
  dispose_flats(s);
  pai__park_unref(s->park);
  alloc = s->alloc;
  pai__free(&alloc, s, sizeof(*s));
}

/* --- forks ---------------------------------------------------------------- */

/* All that a fork takes over. */
static const size_t copied[] = {
  offsetof(pai_sched, reqs),
  offsetof(pai_sched, links),
  offsetof(pai_sched, runs),
  offsetof(pai_sched, rooms),
  offsetof(pai_sched, cpus),
  offsetof(pai_sched, kept),
  offsetof(pai_sched, whys),
  offsetof(pai_sched, claims),
  offsetof(pai_sched, shares_used),
  offsetof(pai_sched, shares_lent),
  offsetof(pai_sched, queued),
  offsetof(pai_sched, rules),
  offsetof(pai_sched, shape_whys),
  offsetof(pai_sched, shape_why_at.slots),
  offsetof(pai_sched, held),
  offsetof(pai_sched, tables),
  offsetof(pai_sched, by_id),
  offsetof(pai_sched, wanted.slots),
  offsetof(pai_sched, by_instance.slots),
  offsetof(pai_sched, followed.slots),
  offsetof(pai_sched, possible.slots),
  offsetof(pai_sched, names.list),
  offsetof(pai_sched, names.chars),
  offsetof(pai_sched, names.index.slots),
  offsetof(pai_sched, pool.words),
};

static const pai__flat *flat_at(const pai_sched *s, size_t i)
{
  return (const pai__flat *)((const char *)s + copied[i]);
}

/* Into one block: for a large state most of the time goes into memory that was
 * never touched before, and one block is more often had again. */
static int copy_flats(pai_sched *to, const pai_sched *s)
{
  size_t at = 0;

  for (size_t i = 0; i < PAI__LEN(copied); i++)
    to->block_size += pai__flat_bytes(flat_at(s, i));
  to->block = pai__realloc(&to->alloc, NULL, 0, to->block_size, 1);
  if (to->block == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < PAI__LEN(copied); i++)
    pai__flat_copy_in((pai__flat *)((char *)to + copied[i]), flat_at(s, i),
                      to->block, &at);
  if (pai__flat_reserve(&to->whys, &to->alloc, s->reqs.len - s->whys.len) < 0)
    return PAI_ENOMEM;
  to->wanted.live = s->wanted.live;
  to->by_instance.live = s->by_instance.live;
  to->followed.live = s->followed.live;
  to->possible.live = s->possible.live;
  to->shape_why_at.live = s->shape_why_at.live;
  to->names.index.live = s->names.index.live;
  to->pool.live = s->pool.live;
  memcpy(to->pool.free, s->pool.free, sizeof(to->pool.free));
  return PAI_OK;
}

/* Those that events have made, which nobody has been told. */
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
  fork->park = pai__park_ref(s->park);
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
  rc = rc < 0 ? pai__oom(err) : pai__policy_copy(fork, s, err);
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
