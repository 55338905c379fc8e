/* free_capacity.c - what tasks take of nodes, and give back */
#include "sched/free_capacity.h"

#include "resource/bits.h"

/* Amounts for resources that are not known: always enough. */
#define UNCOUNTED_MEMORY ((int64_t)1 << 60)
#define UNCOUNTED_CPU_MILLIS (((int64_t)1 << 30) * PAI__CPU)

void pai__free_capacity_init(const pai_sched *s,
                             const pai__sched_cluster *cluster,
                             pai__free_capacity *nodes)
{
  int32_t ports = (int32_t)(s->m.last_port - s->m.first_port + 1);

  for (uint32_t i = 0; i < cluster->nnodes; i++) {
    const pai__sched_sku *b = pai__sched_sku_of(cluster, i);

    nodes[i] = (pai__free_capacity){
      .gpus = b->all,
      .memory = b->memory != 0 ? (int64_t)b->memory : UNCOUNTED_MEMORY,
      .cpu_millis =
        b->cpus != 0 ? pai__sched_sku_cpu_millis(b) : UNCOUNTED_CPU_MILLIS,
      .ports = ports,
      .next_port = s->m.next_port,
      .reason = PAI__NONE
    };
  }
}

void pai__cpus_init(const pai__sched_cluster *cluster, uint64_t *words)
{
  for (uint32_t i = 0; i < cluster->nnodes; i++) {
    const pai__sched_sku *b = pai__sched_sku_of(cluster, i);

    if (b->cpus != 0)
      pai__bits_set(words + cluster->nodes[i].first_cpu_word, b->first_cpu,
                    b->cpus - 1);
  }
}

/* --- amounts -------------------------------------------------------------- */

pai__amounts pai__free_capacity_amounts(const pai__free_capacity *n)
{
  return (pai__amounts){ pai__bits_ones(n->gpus & ~n->sick), n->cpu_millis,
                         n->ports, n->memory };
}

void pai__amounts_add(pai__amounts *a, const pai__want *w, int64_t tasks,
                      int64_t gpus)
{
  a->gpus += gpus;
  a->cpu_millis += tasks * w->cpu_millis;
  a->ports += tasks * w->ports;
  a->memory += tasks * (int64_t)w->memory;
}

static uint64_t least(uint64_t most, int64_t free, uint64_t each)
{
  uint64_t n = each == 0 ? most : free > 0 ? (uint64_t)free / each : 0;

  return n < most ? n : most;
}

uint32_t pai__amounts_tasks(const pai__amounts *a, const pai__want *w,
                            uint32_t most)
{
  uint64_t n = least(most, a->gpus, w->gpus);

  n = least(n, a->cpu_millis, w->cpu_millis);
  n = least(n, a->ports, w->ports);
  return (uint32_t)least(n, a->memory, w->memory);
}

/* --- CPUs ----------------------------------------------------------------- */

/* Takes n free CPUs, from `from` on and then from the beginning. */
static void take_cpus(const pai__sched_sku *b, uint64_t *free, uint64_t *taken,
                      uint32_t from, uint32_t n)
{
  for (uint32_t i = from, seen = 0; n > 0 && seen < b->cpus; seen++) {
    uint64_t bit = UINT64_C(1) << (i & 63);

    if (free[i >> 6] & bit) {
      free[i >> 6] &= ~bit;
      taken[i >> 6] |= bit;
      n--;
    }
    i = i + 1 == b->cpus ? 0 : i + 1;
  }
}

/* Returns the first CPU of the NUMA node of the task's first GPU. */
static uint32_t nearest_cpu(const pai__sched_sku *b, uint64_t gpus)
{
  uint32_t first = 0, numa;

  if (gpus == 0 || b->gpus == 0)
    return 0;
  while ((gpus >> first & 1) == 0)
    first++;
  numa = first * b->numa / b->gpus;
  return (uint32_t)((uint64_t)b->cpus * numa / b->numa);
}

/* --- ports ---------------------------------------------------------------- */

static uint32_t *list_of(const pai_sched *s, const pai__port_list *l)
{
  return pai__pool_at(&s->pool, l->at);
}

static int reserve(pai_sched *s, pai__port_list *l, uint32_t n)
{
  uint32_t words, at;

  if (n <= l->cap)
    return PAI_OK;
  if (n < l->cap * 2)
    n = l->cap * 2;
  words = n < 8 ? 4 : pai__words_of(n * sizeof(uint32_t));
  at = pai__pool_take(&s->pool, &s->alloc, words);
  if (at == PAI__NONE)
    return PAI_ENOMEM;
  if (l->cap != 0) {
    memcpy(pai__pool_at(&s->pool, at), list_of(s, l),
           l->len * sizeof(uint32_t));
    pai__pool_give(&s->pool, l->at, l->cap / 2);
  }
  l->at = at;
  l->cap = words * 2;
  return PAI_OK;
}

static uint32_t place_of(const pai_sched *s, const pai__port_list *l,
                         uint32_t port)
{
  const uint32_t *list = list_of(s, l);
  uint32_t low = 0, high = l->len;

  while (low < high) {
    uint32_t middle = low + (high - low) / 2;

    if (list[middle] < port)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool is_in(const pai_sched *s, const pai__port_list *l, uint32_t port)
{
  uint32_t i = place_of(s, l, port);

  return i < l->len && list_of(s, l)[i] == port;
}

bool pai__port_is_single(const pai_sched *s, uint32_t node, uint32_t port)
{
  const pai__port_list *l = &pai__free_capacity_at(s, node)->used;
  uint32_t i = place_of(s, l, port);

  return i < l->len && list_of(s, l)[i] == port &&
         (i + 1 == l->len || list_of(s, l)[i + 1] != port);
}

static void insert(pai_sched *s, pai__port_list *l, uint32_t port)
{
  uint32_t i = place_of(s, l, port), *list = list_of(s, l);

  memmove(list + i + 1, list + i, (l->len - i) * sizeof(*list));
  list[i] = port;
  l->len++;
}

static void erase(pai_sched *s, pai__port_list *l, uint32_t port)
{
  uint32_t i = place_of(s, l, port), *list = list_of(s, l);

  l->len--;
  memmove(list + i, list + i + 1, (l->len - i) * sizeof(*list));
}

/* Assigns ports.  There must be enough free ones, and memory for them. */
static void number_ports(pai_sched *s, pai__free_capacity *n, uint32_t *ports,
                         uint32_t count)
{
  uint32_t port = n->next_port;

  while (count > 0) {
    if (!is_in(s, &n->used, port) && !is_in(s, &n->lost, port)) {
      insert(s, &n->used, port);
      *ports++ = port;
      count--;
    }
    port = port == s->m.last_port ? s->m.first_port : port + 1;
  }
  n->next_port = port;
}

/* A port that is in use is subtracted from the free ports when it is given
 * back. */
int pai__port_lose(pai_sched *s, uint32_t node, uint32_t port)
{
  pai__free_capacity *n = pai__free_capacity_touch(s, node);

  if (port < s->m.first_port || port > s->m.last_port ||
      is_in(s, &n->lost, port))
    return PAI_OK;
  if (reserve(s, &n->lost, n->lost.len + 1) < 0)
    return PAI_ENOMEM;
  insert(s, &n->lost, port);
  n->ports -= !is_in(s, &n->used, port);
  return PAI_OK;
}

void pai__ports_regain(pai_sched *s)
{
  for (uint32_t i = 0; i < s->free_capacity.len; i++) {
    pai__free_capacity *n = pai__free_capacity_touch(s, i);

    for (uint32_t k = 0; k < n->lost.len; k++)
      n->ports += !is_in(s, &n->used, list_of(s, &n->lost)[k]);
    n->lost.len = 0;
  }
}

/* --- slots ---------------------------------------------------------------- */

/* Returns the mask of a node's free CPUs; NULL if no node has any. */
static uint64_t *free_cpus(const pai_sched *s, uint32_t node)
{
  uint64_t *all = s->cpus.data;

  return all != NULL ? all + s->cluster->nodes[node].first_cpu_word : NULL;
}

static uint32_t words_for_cpus(const pai_sched *s, const pai__slot *slot,
                               const pai__want *w)
{
  return pai__own_cpus(w) != 0
           ? pai__sched_sku_of(s->cluster, slot->node)->cpu_words
           : 0;
}

uint32_t pai__slots_whole(const pai_sched *s, const pai__req *r,
                          const pai__slot *slots, uint32_t n, uint32_t *want)
{
  const pai__want *wants = pai__wants_of(s, r);
  uint32_t i = 0;

  for (*want = 0; *want < r->nwants; ++*want) {
    uint32_t first = i;

    while (i < n && slots[i].want == *want)
      i++;
    if (i - first < wants[*want].min_tasks || i - first > wants[*want].tasks)
      return i - first;
  }
  return n - i;
}

int pai__slots_keep(pai_sched *s, const pai__req *r, pai__run *run, uint32_t n)
{
  const pai__want *wants = pai__wants_of(s, r);
  pai__slot *slots = s->slots.data;
  uint32_t words = pai__words_of(n * sizeof(*slots)), at;

  for (uint32_t i = 0; i < n; i++) {
    const pai__want *w = &wants[slots[i].want];

    slots[i].cpus = words;
    words += words_for_cpus(s, &slots[i], w);
    slots[i].ports = words;
    words += (w->ports + 1) / 2;
  }
  at = pai__pool_take(&s->pool, &s->alloc, words);
  if (at == PAI__NONE)
    return PAI_ENOMEM;
  memset(pai__pool_at(&s->pool, at), 0, (size_t)words * sizeof(uint64_t));
  memcpy(pai__pool_at(&s->pool, at), slots, n * sizeof(*slots));
  run->slots = at;
  run->slot_words = words;
  run->tasks = n;
  return PAI_OK;
}

static uint32_t *ports_of(const pai__slot *first, const pai__slot *slot)
{
  return (uint32_t *)((uint64_t *)(uintptr_t)first + slot->ports);
}

/* Reserves memory for the ports of a run.  Adds them up in `coming`, which is
 * 0 again afterwards. */
static int reserve_ports(pai_sched *s, const pai__req *r, const pai__run *run)
{
  uint32_t done = 0;
  int rc = PAI_OK;

  for (; done < run->tasks && rc == PAI_OK; done++) {
    pai__slot slot = pai__slots_of(s, run)[done];
    pai__free_capacity *n = pai__free_capacity_at(s, slot.node);

    n->coming += pai__wants_of(s, r)[slot.want].ports;
    rc = reserve(s, &n->used, n->used.len + n->coming);
  }
  while (done-- > 0)
    pai__free_capacity_at(s, pai__slots_of(s, run)[done].node)->coming = 0;
  return rc;
}

int pai__slots_number(pai_sched *s, const pai__req *r, const pai__run *run)
{
  const pai__want *wants;
  pai__slot *first;

  if (reserve_ports(s, r, run) < 0)
    return PAI_ENOMEM;
  wants = pai__wants_of(s, r);
  first = pai__slots_of(s, run);
  for (uint32_t i = 0; i < run->tasks; i++) {
    const pai__slot *slot = first + i;
    const pai__want *w = &wants[slot->want];
    const pai__sched_sku *b = pai__sched_sku_of(s->cluster, slot->node);

    if (words_for_cpus(s, slot, w) != 0)
      take_cpus(b, free_cpus(s, slot->node), (uint64_t *)first + slot->cpus,
                nearest_cpu(b, slot->gpus), pai__own_cpus(w));
    number_ports(s, pai__free_capacity_at(s, slot->node),
                 ports_of(first, slot), w->ports);
  }
  return PAI_OK;
}

/* Marks the CPUs and ports of a slot as used.  All must be free. */
static int renumber(pai_sched *s, const pai__slot *first,
                    const pai__slot *slot, const pai__want *w)
{
  uint64_t *free = free_cpus(s, slot->node);
  const uint64_t *taken = (const uint64_t *)first + slot->cpus;
  pai__free_capacity *n = pai__free_capacity_at(s, slot->node);

  for (uint32_t k = 0; k < words_for_cpus(s, slot, w); k++) {
    if ((taken[k] & ~free[k]) != 0)
      return PAI_EEXISTS;
    free[k] &= ~taken[k];
  }
  for (uint32_t k = 0; k < w->ports; k++) {
    uint32_t port = ports_of(first, slot)[k];

    if (port < s->m.first_port || port > s->m.last_port ||
        is_in(s, &n->used, port))
      return PAI_EEXISTS;
    insert(s, &n->used, port);
  }
  return PAI_OK;
}

int pai__slots_renumber(pai_sched *s, const pai__req *r, const pai__run *run,
                        uint32_t *node)
{
  const pai__want *wants;
  const pai__slot *first;
  int rc = reserve_ports(s, r, run);

  wants = pai__wants_of(s, r);
  first = pai__slots_of(s, run);
  for (uint32_t i = 0; i < run->tasks && rc == PAI_OK; i++) {
    *node = first[i].node;
    rc = renumber(s, first, &first[i], &wants[first[i].want]);
  }
  return rc;
}

static void give_numbers(pai_sched *s, const pai__slot *first,
                         const pai__slot *slot, const pai__want *w)
{
  uint64_t *free = free_cpus(s, slot->node);
  const uint64_t *taken = (const uint64_t *)first + slot->cpus;
  pai__free_capacity *n = pai__free_capacity_touch(s, slot->node);

  for (uint32_t k = 0; k < words_for_cpus(s, slot, w); k++)
    free[k] |= taken[k];
  for (uint32_t k = 0; k < w->ports; k++) {
    uint32_t port = ports_of(first, slot)[k];

    erase(s, &n->used, port);
    n->ports -= is_in(s, &n->lost, port);
  }
}

void pai__slots_unnumber(pai_sched *s, const pai__req *r, const pai__run *run)
{
  const pai__want *wants = pai__wants_of(s, r);
  const pai__slot *first = pai__slots_of(s, run);

  for (uint32_t i = 0; i < run->tasks; i++)
    give_numbers(s, first, &first[i], &wants[first[i].want]);
}

void pai__slot_give(pai_sched *s, const pai__req *r, const pai__slot *first,
                    const pai__slot *slot)
{
  const pai__want *w = &pai__wants_of(s, r)[slot->want];

  give_numbers(s, first, slot, w);
  pai__free_capacity_return(pai__free_capacity_touch(s, slot->node), w,
                            slot->gpus);
}

void pai__slots_give(pai_sched *s, const pai__req *r, pai__run *run,
                     bool numbered)
{
  const pai__want *wants = pai__wants_of(s, r);
  const pai__slot *first = pai__slots_of(s, run);

  for (uint32_t i = 0; i < run->tasks; i++) {
    if (numbered)
      pai__slot_give(s, r, first, &first[i]);
    else
      pai__free_capacity_uncount(pai__free_capacity_touch(s, first[i].node),
                                 &wants[first[i].want], first[i].gpus);
  }
  pai__pool_give(&s->pool, run->slots, run->slot_words);
  run->slots = run->slot_words = run->tasks = 0;
}

/* Returns how many words of CPUs and ports follow the slots of a run. */
static uint32_t words_behind(const pai_sched *s, const pai__run *run)
{
  const pai__req *r = pai__req_at(s, run->req);
  const pai__slot *slots = pai__slots_of(s, run);
  uint32_t words = 0;

  for (uint32_t i = 0; i < run->tasks; i++) {
    const pai__want *w = &pai__wants_of(s, r)[slots[i].want];

    words += words_for_cpus(s, &slots[i], w) + (w->ports + 1) / 2;
  }
  return words;
}

uint32_t pai__slots_joined(const pai_sched *s, const pai__run *a,
                           const pai__run *b)
{
  return pai__words_of((a->tasks + b->tasks) * sizeof(pai__slot)) +
         words_behind(s, a) + words_behind(s, b);
}

void pai__slots_join(pai_sched *s, const pai__req *r, const pai__run *all,
                     const pai__run *old, const pai__run *more, uint32_t at)
{
  pai__slot *to = pai__slots_of(s, all);
  uint64_t *words = (uint64_t *)to;
  uint32_t end = pai__words_of(all->tasks * sizeof(*to));

  for (uint32_t i = 0; i < all->tasks; i++) {
    bool is_new = i >= at && i < at + more->tasks;
    const pai__slot *first = pai__slots_of(s, is_new ? more : old);
    const pai__slot *from = first + (is_new   ? i - at
                                     : i < at ? i
                                              : i - more->tasks);
    const uint64_t *old_words = (const uint64_t *)first;
    const pai__want *w = &pai__wants_of(s, r)[from->want];
    uint32_t cpus = words_for_cpus(s, from, w), ports = (w->ports + 1) / 2;

    to[i] = *from;
    to[i].cpus = end;
    memcpy(words + end, old_words + from->cpus, cpus * sizeof(*words));
    end += cpus;
    to[i].ports = end;
    memcpy(words + end, old_words + from->ports, ports * sizeof(*words));
    end += ports;
  }
}
