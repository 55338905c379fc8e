/* event_node.c - events of nodes and reservations */
#include "sched/log/event.h"

#include "resource/bits.h"

#include <inttypes.h>

uint32_t pai__node_named(const pai_sched *s, const char *name, pai_error **err)
{
  uint32_t node =
    name != NULL ? pai__sched_cluster_node(s->cluster, name) : PAI__NONE;

  if (node == PAI__NONE)
    (void)pai__missing_node(s, name != NULL ? name : "", err);
  return node;
}

int pai__on_node(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  uint32_t i = pai__node_named(s, e->node, err), reason;
  pai__free_capacity *n;

  if (i == PAI__NONE)
    return PAI_ENOTFOUND;
  if (e->number < PAI_NODE_UP || e->number > PAI_NODE_SICK)
    return pai__fail(err, PAI_EINVAL, "a node has no state %lld",
                     (long long)e->number);
  if (e->gpu >= 0 &&
      (uint32_t)e->gpu >= pai__sched_sku_of(s->cluster, i)->gpus)
    return pai__fail(err, PAI_ENOTFOUND, "node '%s' has no GPU %d", e->node,
                     (int)e->gpu);
  if (pai__texts_add(&s->names, &s->alloc, e->text, &reason) < 0)
    return pai__oom(err);
  n = pai__free_capacity_touch(s, i);
  if (e->gpu < 0) {
    n->state = (uint32_t)e->number;
    n->reason = e->number != PAI_NODE_UP ? reason : PAI__NONE;
  } else if (e->number != PAI_NODE_UP) {
    n->sick |= UINT64_C(1) << e->gpu;
  } else {
    n->sick &= ~(UINT64_C(1) << e->gpu);
  }
  return PAI_OK;
}

/* --- reservations --------------------------------------------------------- */

static pai__sched_reservation *reservation_at(const pai_sched *s, uint32_t i)
{
  return (pai__sched_reservation *)s->reservations.data + i;
}

static void count_reservation(pai_sched *s, const pai__sched_reservation *k,
                              int more)
{
  const uint64_t *bits =
    k->nodes != PAI__NONE ? pai__pool_at(&s->pool, k->nodes) : NULL;

  for (uint32_t i = 0; i < s->free_capacity.len; i++)
    if (bits == NULL || pai__bits_has(bits, k->words, i))
      pai__free_capacity_touch(s, i)->reservations += (uint32_t)more;
}

static int set_bits(pai_sched *s, const pai_reservation *r,
                    pai__sched_reservation *k, pai_error **err)
{
  uint64_t *bits;

  k->nodes = PAI__NONE;
  if (r->nodes == NULL)
    return PAI_OK;
  k->words = PAI__BITS_WORDS(s->free_capacity.len);
  k->nodes = pai__pool_take(&s->pool, &s->alloc, k->words);
  if (k->nodes == PAI__NONE)
    return pai__oom(err);
  bits = pai__pool_at(&s->pool, k->nodes);
  memset(bits, 0, k->words * sizeof(*bits));
  for (size_t i = 0; i < r->nnodes; i++) {
    uint32_t node = pai__node_named(s, r->nodes[i], err);

    if (node == PAI__NONE) {
      pai__pool_give(&s->pool, k->nodes, k->words);
      return PAI_ENOTFOUND;
    }
    pai__bits_set(bits, node, node);
  }
  return PAI_OK;
}

static uint32_t find_reservation(const pai_sched *s, const char *name)
{
  uint32_t n = pai__texts_find(&s->names, name), i = 0;

  while (i < s->reservations.len &&
         (n == PAI__NONE || reservation_at(s, i)->name != n))
    i++;
  return i < s->reservations.len ? i : PAI__NONE;
}

int pai__sched_reservation_add(pai_sched *s, const pai_reservation *r,
                               pai_error **err)
{
  pai__sched_reservation k = { 0 };
  int rc;

  if (find_reservation(s, r->name) != PAI__NONE)
    return pai__fail(err, PAI_EEXISTS, "there is a reservation '%s' already",
                     r->name);
  if (!pai__is_time(r->from) || !pai__is_time(r->to))
    return pai__fail(err, PAI_EINVAL,
                     "a reservation's times are from %" PRId64 " to %" PRId64,
                     -PAI__LAST_TIME, PAI__LAST_TIME);
  k.from = r->from;
  k.to = r->to != 0 ? r->to : INT64_MAX;
  if (pai__texts_add(&s->names, &s->alloc, r->name, &k.name) < 0 ||
      pai__texts_add(&s->names, &s->alloc, r->vc, &k.vc) < 0 ||
      pai__texts_add(&s->names, &s->alloc, r->user, &k.user) < 0)
    return pai__oom(err);
  rc = set_bits(s, r, &k, err);
  if (rc == PAI_OK && pai__sched_reservation_push(s, &k) < 0) {
    if (k.nodes != PAI__NONE)
      pai__pool_give(&s->pool, k.nodes, k.words);
    rc = pai__oom(err);
  }
  return rc;
}

/* Later reservations move up, so that their order stays. */
static void drop_reservation(pai_sched *s, uint32_t i)
{
  pai__sched_reservation *k = reservation_at(s, i);

  count_reservation(s, k, -1);
  if (k->nodes != PAI__NONE)
    pai__pool_give(&s->pool, k->nodes, k->words);
  s->reservations.len--;
  memmove(k, k + 1, (s->reservations.len - i) * sizeof(*k));
}

int pai__sched_reservation_push(pai_sched *s, const pai__sched_reservation *k)
{
  if (pai__flat_add(&s->reservations, &s->alloc, k) < 0)
    return PAI_ENOMEM;
  count_reservation(s, k, 1);
  return PAI_OK;
}

void pai__sched_reservation_pop(pai_sched *s)
{
  drop_reservation(s, s->reservations.len - 1);
}

void pai__sched_reservation_expire(pai_sched *s, pai_time now)
{
  for (uint32_t i = s->reservations.len; i-- > 0;)
    if (reservation_at(s, i)->to <= now)
      drop_reservation(s, i);
}

/* Removes expired reservations first, as their names may be used again. */
int pai__on_reserve(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  pai_reservation r = { 0 };

  PAI__CHECK_ARG_ERR(e->reservation != NULL, err);
  if (PAI__COPY_IN(&r, e->reservation, pai_reservation, nnodes) < 0 ||
      r.name == NULL)
    return pai__fail(err, PAI_EINVAL,
                     "the reservation has no struct_size, or no name");
  if (r.to != 0 && (r.to <= r.from || r.to <= e->time))
    return pai__fail(err, PAI_EINVAL,
                     "reservation '%s' ends before it begins, or is over",
                     r.name);
  if (r.vc != NULL && pai__sched_cluster_vc(s->cluster, r.vc) == PAI__NONE)
    return pai__missing_vc(s, r.vc, err);
  pai__sched_reservation_expire(s, e->time);
  return pai__sched_reservation_add(s, &r, err);
}

int pai__on_unreserve(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  uint32_t i;

  PAI__CHECK_ARG_ERR(e->text != NULL, err);
  i = find_reservation(s, e->text);
  if (i == PAI__NONE)
    return pai__fail(err, PAI_ENOTFOUND, "there is no reservation '%s'",
                     e->text);
  drop_reservation(s, i);
  return PAI_OK;
}

void pai__sched_reservation_recount(pai_sched *s)
{
  for (uint32_t i = 0; i < s->free_capacity.len; i++)
    pai__free_capacity_touch(s, i)->reservations = 0;
  for (uint32_t i = 0; i < s->reservations.len; i++)
    count_reservation(s, reservation_at(s, i), 1);
}

pai_time pai__sched_reservation_next(const pai_sched *s)
{
  pai_time next = INT64_MAX;

  for (uint32_t i = 0; i < s->reservations.len; i++) {
    const pai__sched_reservation *k = reservation_at(s, i);
    pai_time t = k->from > s->m.now ? k->from : k->to;

    if (t > s->m.now && t < next)
      next = t;
  }
  return next;
}
