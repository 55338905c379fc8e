/* request_class.c - which requests are alike: what decides where a request
 * fits is stored once, in a class */

#include "sched/queue.h"

static pai__req_class *class_at(const pai_sched *s, uint32_t i)
{
  return (pai__req_class *)s->classes.data + i;
}

static const pai__want *list_of(const pai_sched *s, const pai__req_class *c)
{
  return pai__pool_at(&s->pool, c->wants);
}

/* Mixes in the text of a name.  Its number would differ in a loaded scheduler,
 * and policies save shapes. */
static uint64_t mix_name(const pai_sched *s, uint64_t h, uint32_t name)
{
  const char *text = pai__texts_text(&s->names, name);

  for (h = pai__mix(h, text != NULL); text != NULL && *text != '\0'; text++)
    h = pai__mix(h, (unsigned char)*text);
  return h;
}

static uint64_t shape_of(const pai_sched *s, const pai__req_class *c)
{
  const pai__want *w = list_of(s, c);
  uint64_t h = pai__mix(pai__mix(1, c->vc_index), c->opportunistic);

  h = mix_name(s, mix_name(s, h, c->pin), c->within);
  for (uint32_t i = 0; i < c->nwants; i++) {
    h = pai__mix(pai__mix(h, w[i].tasks), w[i].gpus);
    h = pai__mix(pai__mix(h, w[i].cpu_millis), w[i].ports);
    h = pai__mix(pai__mix(h, w[i].memory), w[i].type);
    h = pai__mix(h, w[i].min_tasks);
  }
  return h | 1;
}

/* Types are compared by name: two that a cluster does not have may be two in
 * the next one. */
static bool are_wants_equal(const pai__want *a, const pai__want *b, uint32_t n)
{
  uint32_t i = 0;

  while (i < n && a[i].tasks == b[i].tasks && a[i].gpus == b[i].gpus &&
         a[i].cpu_millis == b[i].cpu_millis && a[i].ports == b[i].ports &&
         a[i].memory == b[i].memory && a[i].type_name == b[i].type_name &&
         a[i].min_tasks == b[i].min_tasks)
    i++;
  return i == n;
}

static bool is_equal(const pai_sched *s, const pai__req_class *a,
                     const pai__req_class *b)
{
  return a->vc_index == b->vc_index && a->opportunistic == b->opportunistic &&
         a->pin == b->pin && a->within == b->within &&
         a->nwants == b->nwants &&
         are_wants_equal(list_of(s, a), list_of(s, b), a->nwants);
}

/* Returns the class equal to `c`, or PAI__NONE.  Sets c->key to a key that no
 * other class has: classes of one shape, which is a hash that anybody may
 * forge, have different keys. */
static uint32_t find(const pai_sched *s, pai__req_class *c)
{
  uint64_t n = 0;
  uint32_t i;

  c->key = c->shape = shape_of(s, c);
  while ((i = pai__lookup_get(&s->class_by_key, c->key)) != PAI__NONE &&
         !is_equal(s, class_at(s, i), c))
    c->key = pai__mix(c->shape, ++n) | 1;
  return i;
}

/* Gives the classes in use their keys. */
static void set_keys(pai_sched *s)
{
  pai__lookup_clear(&s->class_by_key);
  s->m.other_keys = false;
  for (uint32_t i = 0; i < s->classes.len; i++) {
    pai__req_class *c = class_at(s, i);

    if (c->uses == 0)
      continue;
    (void)find(s, c);
    s->m.other_keys = s->m.other_keys || c->key != c->shape;
    pai__lookup_add(&s->class_by_key, c->key, i);
  }
}

static uint32_t add(pai_sched *s, const pai__req_class *c)
{
  uint32_t i = s->m.free_class;

  if (pai__lookup_reserve(&s->class_by_key, &s->alloc) < 0)
    return PAI__NONE;
  if (i != PAI__NONE) {
    s->m.free_class = class_at(s, i)->next;
  } else {
    if (pai__flat_reserve(&s->classes, &s->alloc, 1) < 0)
      return PAI__NONE;
    i = pai__flat_push(&s->classes, 1);
  }
  *class_at(s, i) = *c;
  s->m.other_keys = s->m.other_keys || c->key != c->shape;
  pai__lookup_add(&s->class_by_key, c->key, i);
  return i;
}

int pai__class_join(pai_sched *s, pai__req *r)
{
  pai__req_class c = { .vc_index = r->vc_index,
                       .pin = r->pin,
                       .within = r->within,
                       .wants = r->wants,
                       .nwants = r->nwants,
                       .opportunistic = r->priority < 0 };
  uint32_t i = find(s, &c);

  if (i != PAI__NONE)
    pai__pool_give(&s->pool, r->wants, pai__wants_words(r->nwants));
  else
    i = add(s, &c);
  if (i == PAI__NONE)
    return PAI_ENOMEM;
  class_at(s, i)->uses++;
  r->class = i;
  r->wants = class_at(s, i)->wants;
  s->m.lazy = s->m.lazy || r->priority < 0;
  return PAI_OK;
}

void pai__class_leave(pai_sched *s, uint32_t class)
{
  pai__req_class *c = class_at(s, class);

  if (--c->uses != 0)
    return;
  pai__lookup_remove(&s->class_by_key, c->key);
  pai__pool_give(&s->pool, c->wants, pai__wants_words(c->nwants));
  c->next = s->m.free_class;
  s->m.free_class = class;
  if (s->m.other_keys) /* one of them may be found only past this key */
    set_keys(s);
}

void pai__classes_doubt(pai_sched *s)
{
  for (uint32_t i = 0; i < s->classes.len; i++)
    class_at(s, i)->possible = false;
}

/* Classes that differ stay different, as names of virtual clusters and types
 * do not change. */
void pai__classes_move(pai_sched *s, const pai__sched_cluster *cluster)
{
  for (uint32_t i = 0; i < s->classes.len; i++) {
    pai__req_class *c = class_at(s, i);
    pai__want *w = pai__pool_at(&s->pool, c->wants);

    if (c->uses == 0)
      continue;
    c->possible = false;
    for (uint32_t k = 0; k < c->nwants; k++)
      if (w[k].type_name != PAI__NONE) {
        w[k].type = pai__sched_cluster_type(
          cluster, pai__texts_text(&s->names, w[k].type_name));
        if (w[k].type == PAI__NONE)
          w[k].type = PAI__NO_TYPE;
      }
  }
  set_keys(s);
}

/* --- keys ----------------------------------------------------------------- */

uint64_t pai__alike_key(enum pai__alike alike, const pai__req *r)
{
  uint64_t opportunistic = r->priority < 0 ? 1 : 0;

  switch (alike) {
  case PAI__ALIKE_RANK:
    return (uint64_t)(r->class + 1) << 17 |
           (uint64_t)(uint16_t)r->priority << 1 | r->lazy;
  case PAI__ALIKE_USER:
    return (uint64_t)(r->vc_index + 1) << 33 | (uint64_t)r->user << 1 |
           opportunistic;
  case PAI__ALIKE_VC: return (uint64_t)(r->vc_index + 1) << 1 | opportunistic;
  default: return (uint64_t)r->class + 1;
  }
}

static uint64_t class_key(const pai_sched *s, uint32_t req)
{
  return pai__alike_key(PAI__ALIKE_CLASS, pai__req_at(s, req));
}

uint32_t pai__found_alike(const pai_sched *s, const pai__lookup *found,
                          uint32_t req)
{
  return pai__lookup_get(found, class_key(s, req));
}

void pai__found_keep(pai_sched *s, pai__lookup *found, uint32_t req)
{
  if (pai__found_alike(s, found, req) == PAI__NONE &&
      pai__lookup_reserve(found, &s->alloc) == PAI_OK)
    pai__lookup_add(found, class_key(s, req), req);
}
