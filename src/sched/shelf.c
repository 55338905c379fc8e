/*
 * shelf.c - nodes are put on the shelf where all are like them
 *
 * The nodes of a shelf are a heap by their index, a skew heap that lies in
 * records of the nodes: moving one needs no memory, and on average a few steps.
 */
#include "sched/shelf.h"

#include "resource/bits.h"

/* A node in the heap of its shelf. */
typedef struct spine {
  uint32_t up, left, right;
  uint32_t shelf;
} spine;

static pai__shelf *shelf_at(pai_sched *s, uint32_t i)
{
  return (pai__shelf *)s->shelves.list.data + i;
}

static spine *spine_at(pai_sched *s, uint32_t node)
{
  return (spine *)s->shelves.spines.data + node;
}

/* --- heaps ---------------------------------------------------------------- */

/* Two heaps become one: along their right sides the lower one goes on top, and
 * each changes its sides. */
static uint32_t merge(pai_sched *s, uint32_t a, uint32_t b)
{
  uint32_t root = PAI__NONE, last = PAI__NONE;

  while (a != PAI__NONE || b != PAI__NONE) {
    uint32_t low = a < b ? a : b, other = a < b ? b : a; /* NONE is high */
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

static void leave(pai_sched *s, pai__shelf *shelf, uint32_t node)
{
  const spine *x = spine_at(s, node);
  uint32_t rest = merge(s, x->left, x->right);

  if (rest != PAI__NONE)
    spine_at(s, rest)->up = x->up;
  if (x->up == PAI__NONE)
    shelf->first = rest;
  else if (spine_at(s, x->up)->left == node)
    spine_at(s, x->up)->left = rest;
  else
    spine_at(s, x->up)->right = rest;
  shelf->count--;
}

static void enter(pai_sched *s, pai__shelf *shelf, uint32_t node)
{
  spine *x = spine_at(s, node);

  x->up = x->left = x->right = PAI__NONE;
  shelf->first = merge(s, shelf->first, node);
  shelf->count++;
}

/* --- shelves -------------------------------------------------------------- */

static pai__shelf_key key_of(const pai_sched *s, uint32_t node)
{
  const pai__room *n = pai__room_at(s, node);
  const pai__build *b = pai__build_of(s->park, node);
  uint64_t gpus = n->gpus & ~n->sick;

  /* Then nobody can tell them apart. */
  if (b->nnear == 0 && pai__build_is_plain(s->park, b))
    gpus = pai__bits_ones(gpus);
  return (pai__shelf_key){ .gpus = gpus,
                           .memory = n->memory,
                           .cpus = n->cpus,
                           .ports = n->ports,
                           .build = s->park->spots[node].build,
                           .state = n->state,
                           .alone = n->kept != 0 ? node + 1 : 0,
                           .ones = pai__bits_ones(n->gpus) };
}

static bool is_same(const pai__shelf_key *a, const pai__shelf_key *b)
{
  return a->gpus == b->gpus && a->memory == b->memory && a->cpus == b->cpus &&
         a->ports == b->ports && a->build == b->build &&
         a->state == b->state && a->alone == b->alone && a->ones == b->ones;
}

static uint32_t *bucket_of(pai_sched *s, const pai__shelf_key *k)
{
  uint64_t h = pai__mix(pai__mix(1, k->gpus), (uint64_t)k->memory);

  h = pai__mix(h, (uint64_t)(uint32_t)k->cpus << 32 | (uint32_t)k->ports);
  h = pai__mix(h, (uint64_t)k->build << 32 | k->state);
  h = pai__mix(h, (uint64_t)k->alone << 32 | k->ones);
  return (uint32_t *)s->shelves.buckets.data +
         (h & (s->shelves.buckets.len - 1));
}

static uint32_t new_shelf(pai_sched *s, const pai__shelf_key *key,
                          uint32_t *bucket)
{
  pai__shelves *all = &s->shelves;
  uint32_t i = all->spare;
  pai__shelf *x = shelf_at(s, i);

  all->spare = x->chain;
  *x = (pai__shelf){ .key = *key,
                     .first = PAI__NONE,
                     .next = all->first,
                     .before = PAI__NONE,
                     .chain = *bucket };
  if (all->first != PAI__NONE)
    shelf_at(s, all->first)->before = i;
  all->first = i;
  all->live++;
  *bucket = i;
  return i;
}

static uint32_t shelf_of(pai_sched *s, const pai__shelf_key *key)
{
  uint32_t *bucket = bucket_of(s, key);

  for (uint32_t i = *bucket; i != PAI__NONE; i = shelf_at(s, i)->chain)
    if (is_same(&shelf_at(s, i)->key, key))
      return i;
  return new_shelf(s, key, bucket);
}

/* The last node has left it. */
static void end_shelf(pai_sched *s, uint32_t shelf)
{
  pai__shelves *all = &s->shelves;
  pai__shelf *x = shelf_at(s, shelf);
  uint32_t *link = bucket_of(s, &x->key);

  while (*link != shelf)
    link = &shelf_at(s, *link)->chain;
  *link = x->chain;
  if (x->before != PAI__NONE)
    shelf_at(s, x->before)->next = x->next;
  else
    all->first = x->next;
  if (x->next != PAI__NONE)
    shelf_at(s, x->next)->before = x->before;
  x->chain = all->spare;
  all->spare = shelf;
  all->live--;
}

/* To the shelf where it belongs.  There is always a spare one, for there is one
 * more than nodes. */
static void move(pai_sched *s, uint32_t node)
{
  pai__shelf_key key = key_of(s, node);
  uint32_t old = spine_at(s, node)->shelf, new;

  if (old != PAI__NONE && is_same(&shelf_at(s, old)->key, &key))
    return;
  new = shelf_of(s, &key);
  if (old != PAI__NONE)
    leave(s, shelf_at(s, old), node);
  enter(s, shelf_at(s, new), node);
  spine_at(s, node)->shelf = new;
  if (old != PAI__NONE && shelf_at(s, old)->count == 0)
    end_shelf(s, old);
}

/* --- all of them ---------------------------------------------------------- */

static int resize(pai__flat *f, const pai_alloc *alloc, uint32_t n)
{
  f->len = 0;
  if (pai__flat_reserve(f, alloc, n) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(f, n);
  return PAI_OK;
}

static uint32_t power_of_two(uint32_t n)
{
  uint32_t power = 16;

  while (power < n)
    power *= 2;
  return power;
}

static bool build(pai_sched *s)
{
  pai__shelves *all = &s->shelves;
  uint32_t n = s->rooms.len;

  if (resize(&all->list, &s->alloc, n + 1) < 0 ||
      resize(&all->spines, &s->alloc, n) < 0 ||
      resize(&all->buckets, &s->alloc, power_of_two(n)) < 0 ||
      resize(&all->touched, &s->alloc,
             PAI__BITS_WORDS(n) + PAI__BITS_WORDS(PAI__BITS_WORDS(n))) < 0)
    return false;
  all->words = PAI__BITS_WORDS(n);
  memset(all->buckets.data, 0xff, all->buckets.len * sizeof(uint32_t));
  for (uint32_t i = 0; i <= n; i++)
    shelf_at(s, i)->chain = i < n ? i + 1 : PAI__NONE;
  all->spare = all->live = 0;
  all->first = PAI__NONE;
  for (uint32_t i = 0; i < n; i++) {
    spine_at(s, i)->shelf = PAI__NONE;
    move(s, i);
  }
  all->built = true;
  return true;
}

static uint32_t lowest(uint64_t word)
{
  return pai__bits_ones((word & -word) - 1);
}

bool pai__shelves_ready(pai_sched *s)
{
  uint64_t *touched = s->shelves.touched.data;
  uint32_t words = s->shelves.words;

  if (s->shelves.away != 0)
    return false;
  if (!s->shelves.built)
    return build(s);
  for (uint32_t k = words; k < s->shelves.touched.len; k++)
    for (; touched[k] != 0; touched[k] &= touched[k] - 1) {
      uint32_t i = (k - words) * 64 + lowest(touched[k]);

      for (; touched[i] != 0; touched[i] &= touched[i] - 1)
        move(s, i * 64 + lowest(touched[i]));
    }
  return true;
}

void pai__shelves_dispose(pai_sched *s)
{
  pai__flat_dispose(&s->shelves.list, &s->alloc);
  pai__flat_dispose(&s->shelves.spines, &s->alloc);
  pai__flat_dispose(&s->shelves.buckets, &s->alloc);
  pai__flat_dispose(&s->shelves.touched, &s->alloc);
}

void pai__shelves_init(pai_sched *s)
{
  pai__flat_init(&s->shelves.list, sizeof(pai__shelf));
  pai__flat_init(&s->shelves.spines, sizeof(spine));
  pai__flat_init(&s->shelves.buckets, sizeof(uint32_t));
  pai__flat_init(&s->shelves.touched, sizeof(uint64_t));
}
