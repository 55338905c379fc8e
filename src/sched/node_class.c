/*
 * node_class.c - assigning nodes to classes of nodes that are alike
 *
 * The nodes of a class form a skew heap by their index.  Its links lie in a
 * record of each node, so moving a node needs no memory, and a few steps on
 * average.
 */
#include "sched/node_class.h"

#include "resource/bits.h"

/* A node in the heap of its class. */
typedef struct spine {
  uint32_t up, left, right;
  uint32_t class;
} spine;

_Static_assert(sizeof(spine) == 16, "as sched.c makes them");

static pai__node_class *class_at(pai_sched *s, uint32_t i)
{
  return (pai__node_class *)s->node_classes.list.data + i;
}

static spine *spine_at(pai_sched *s, uint32_t node)
{
  return (spine *)s->node_classes.spines.data + node;
}

/* --- heaps ---------------------------------------------------------------- */

/* Merges two skew heaps: along the right sides the lower node goes on top, and
 * swaps its children. */
static uint32_t merge(pai_sched *s, uint32_t a, uint32_t b)
{
  uint32_t root = PAI__NONE, last = PAI__NONE;

  while (a != PAI__NONE || b != PAI__NONE) {
    uint32_t low = a < b ? a : b, other = a < b ? b : a; /* PAI__NONE is above
                                                            all */
    spine *x = spine_at(s, low);

    x->up = last;
    if (last == PAI__NONE)
      root = low;
    else
      spine_at(s, last)->left = low;
    if (other == PAI__NONE)
      break;
    a = x->right;
    b = other;
    x->right = x->left;
    last = low;
  }
  return root;
}

static void leave(pai_sched *s, pai__node_class *class, uint32_t node)
{
  const spine *x = spine_at(s, node);
  uint32_t rest = merge(s, x->left, x->right);

  if (rest != PAI__NONE)
    spine_at(s, rest)->up = x->up;
  if (x->up == PAI__NONE)
    class->first = rest;
  else if (spine_at(s, x->up)->left == node)
    spine_at(s, x->up)->left = rest;
  else
    spine_at(s, x->up)->right = rest;
  class->count--;
}

static void enter(pai_sched *s, pai__node_class *class, uint32_t node)
{
  spine *x = spine_at(s, node);

  x->up = x->left = x->right = PAI__NONE;
  class->first = merge(s, class->first, node);
  class->count++;
}

/* --- node classes -------------------------------------------------------- */

static pai__node_class_key key_of(const pai_sched *s, uint32_t node)
{
  const pai__free_capacity *n = pai__free_capacity_at(s, node);
  const pai__sched_sku *b = pai__sched_sku_of(s->cluster, node);
  uint64_t gpus = n->gpus & ~n->sick;

  /* Then only their number matters. */
  if (b->nlocalities == 0 && pai__sched_sku_is_plain(s->cluster, b))
    gpus = pai__bits_ones(gpus);
  return (pai__node_class_key){ .gpus = gpus,
                                .memory = n->memory,
                                .cpu_millis = n->cpu_millis,
                                .ports = n->ports,
                                .sku = s->cluster->nodes[node].sku,
                                .state = n->state,
                                .alone = n->reservations != 0 ? node + 1 : 0,
                                .ones = pai__bits_ones(n->gpus) };
}

static bool is_same(const pai__node_class_key *a, const pai__node_class_key *b)
{
  return a->gpus == b->gpus && a->memory == b->memory &&
         a->cpu_millis == b->cpu_millis && a->ports == b->ports &&
         a->sku == b->sku && a->state == b->state && a->alone == b->alone &&
         a->ones == b->ones;
}

static uint32_t *bucket_of(pai_sched *s, const pai__node_class_key *k)
{
  uint64_t h = pai__mix(pai__mix(1, k->gpus), (uint64_t)k->memory);

  h = pai__mix(h, (uint64_t)k->cpu_millis << 20 ^ (uint32_t)k->ports);
  h = pai__mix(h, (uint64_t)k->sku << 32 | k->state);
  h = pai__mix(h, (uint64_t)k->alone << 32 | k->ones);
  return (uint32_t *)s->node_classes.buckets.data +
         (h & (s->node_classes.buckets.len - 1));
}

static uint32_t new_class(pai_sched *s, const pai__node_class_key *key,
                          uint32_t *bucket)
{
  pai__node_classes *all = &s->node_classes;
  uint32_t i = all->spare;
  pai__node_class *x = class_at(s, i);

  all->spare = x->chain;
  *x = (pai__node_class){ .key = *key,
                          .first = PAI__NONE,
                          .next = all->first,
                          .before = PAI__NONE,
                          .chain = *bucket };
  if (all->first != PAI__NONE)
    class_at(s, all->first)->before = i;
  all->first = i;
  all->live++;
  *bucket = i;
  return i;
}

static uint32_t class_of(pai_sched *s, const pai__node_class_key *key)
{
  uint32_t *bucket = bucket_of(s, key);

  for (uint32_t i = *bucket; i != PAI__NONE; i = class_at(s, i)->chain)
    if (is_same(&class_at(s, i)->key, key))
      return i;
  return new_class(s, key, bucket);
}

static void end_class(pai_sched *s, uint32_t class)
{
  pai__node_classes *all = &s->node_classes;
  pai__node_class *x = class_at(s, class);
  uint32_t *link = bucket_of(s, &x->key);

  while (*link != class)
    link = &class_at(s, *link)->chain;
  *link = x->chain;
  if (x->before != PAI__NONE)
    class_at(s, x->before)->next = x->next;
  else
    all->first = x->next;
  if (x->next != PAI__NONE)
    class_at(s, x->next)->before = x->before;
  x->chain = all->spare;
  all->spare = class;
  all->live--;
}

/* Moves a node to the class of its key.  There is always a spare class, as
 * there is one class more than nodes. */
static void move(pai_sched *s, uint32_t node)
{
  pai__node_class_key key = key_of(s, node);
  uint32_t old = spine_at(s, node)->class, new;

  if (old != PAI__NONE && is_same(&class_at(s, old)->key, &key))
    return;
  new = class_of(s, &key);
  if (old != PAI__NONE)
    leave(s, class_at(s, old), node);
  enter(s, class_at(s, new), node);
  spine_at(s, node)->class = new;
  if (old != PAI__NONE && class_at(s, old)->count == 0)
    end_class(s, old);
}

/* --- all of them ---------------------------------------------------------- */

static uint32_t power_of_two(uint32_t n)
{
  uint32_t power = 16;

  while (power < n)
    power *= 2;
  return power;
}

static bool sku(pai_sched *s)
{
  pai__node_classes *all = &s->node_classes;
  uint32_t n = s->free_capacity.len;

  if (pai__flat_reset(&all->list, &s->alloc, n + 1) < 0 ||
      pai__flat_reset(&all->spines, &s->alloc, n) < 0 ||
      pai__flat_reset(&all->buckets, &s->alloc, power_of_two(n)) < 0 ||
      pai__flat_reset(&all->touched, &s->alloc,
                      PAI__BITS_WORDS(n) +
                        PAI__BITS_WORDS(PAI__BITS_WORDS(n))) < 0)
    return false;
  all->words = PAI__BITS_WORDS(n);
  memset(all->buckets.data, 0xff, all->buckets.len * sizeof(uint32_t));
  for (uint32_t i = 0; i <= n; i++)
    class_at(s, i)->chain = i < n ? i + 1 : PAI__NONE;
  all->spare = all->live = 0;
  all->first = PAI__NONE;
  for (uint32_t i = 0; i < n; i++) {
    spine_at(s, i)->class = PAI__NONE;
    move(s, i);
  }
  all->built = true;
  return true;
}

static uint32_t lowest(uint64_t word)
{
  return pai__bits_ones((word & -word) - 1);
}

bool pai__node_classes_ready(pai_sched *s)
{
  uint64_t *touched = s->node_classes.touched.data;
  uint32_t words = s->node_classes.words;

  if (s->node_classes.away != 0)
    return false;
  if (!s->node_classes.built)
    return sku(s);
  for (uint32_t k = words; k < s->node_classes.touched.len; k++)
    for (; touched[k] != 0; touched[k] &= touched[k] - 1) {
      uint32_t i = (k - words) * 64 + lowest(touched[k]);

      for (; touched[i] != 0; touched[i] &= touched[i] - 1)
        move(s, i * 64 + lowest(touched[i]));
    }
  return true;
}
