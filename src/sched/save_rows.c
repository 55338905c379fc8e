/*
 * save_rows.c - what requests have in common, and each of them as a row
 *
 * A row is a list of numbers, most of them steps from the row before.  What
 * cannot be said so stays an object.
 */
#include "sched/saving.h"

#include "sched/queue.h"

#include "resource/bits.h"

#include <stdlib.h>

/* --- what is alike -------------------------------------------------------- */

static uint64_t alike_key(const pai_sched *s, const pai__req *r)
{
  const pai__want *w = pai__wants_of(s, r);
  uint64_t key = pai__mix(r->shape, r->vc);

  key = pai__mix(key, (uint64_t)r->user << 32 | r->pin);
  key = pai__mix(key, r->within);
  key = pai__mix(key, (uint64_t)(int64_t)r->priority);
  key = pai__mix(key, (uint64_t)r->instances << 32);
  key = pai__mix(key, r->at_once);
  key = pai__mix(key, (r->held ? 2U : 0U) | (r->lazy ? 1U : 0U));
  for (uint32_t i = 0; i < r->nwants; i++)
    key = pai__mix(key, w[i].name);
  return key | 1;
}

static bool is_alike(const pai_sched *s, const pai__req *a, const pai__req *b)
{
  return a->vc == b->vc && a->user == b->user && a->pin == b->pin &&
         a->within == b->within && a->priority == b->priority &&
         a->instances == b->instances && a->at_once == b->at_once &&
         a->held == b->held && a->lazy == b->lazy && a->nwants == b->nwants &&
         memcmp(pai__wants_of(s, a), pai__wants_of(s, b),
                a->nwants * sizeof(pai__want)) == 0;
}

static uint64_t why_key(const pai__why *w)
{
  uint64_t key = pai__mix((uint64_t)w->lack << 32 | w->of, w->behind);

  key = pai__mix(key, w->wanted);
  key = pai__mix(key, w->found);
  key = pai__mix(key, (uint64_t)w->until);
  key = pai__mix(key, (uint64_t)w->node << 32 | w->text);
  key = pai__mix(key, (uint64_t)w->placed << 32 | w->want);
  for (int i = 0; i < PAI_LACKS; i++)
    key = w->failed[i] != 0 ? pai__mix(key + (uint64_t)i, w->failed[i]) : key;
  return key | 1;
}

bool pai__why_is_equal(const pai__why *a, const pai__why *b)
{
  return a->wanted == b->wanted && a->found == b->found &&
         a->behind == b->behind && a->until == b->until &&
         a->lack == b->lack && a->of == b->of && a->want == b->want &&
         a->placed == b->placed && a->tasks == b->tasks &&
         a->node == b->node && a->text == b->text &&
         memcmp(a->failed, b->failed, sizeof(a->failed)) == 0;
}

/* --- what can be a row ---------------------------------------------------- */

static bool is_plain(const pai_sched *s, const pai__req *r)
{
  if (r->nafter != 0 || r->finished != 0 || r->cancelled)
    return false;
  for (uint32_t i = r->runs; i != PAI__NONE; i = pai__run_at(s, i)->next) {
    const pai__run *run = pai__run_at(s, i);

    if (run->state != PAI__RUN_STARTED || run->cause != 0 || run->by != 0 ||
        run->borrowed || run->leaving != 0)
      return false;
  }
  return true;
}

/* The number of a thing in a list; it is added if nothing else has its key.
 * PAI_ENOMEM. */
static int keep(const pai_sched *s, pai__flat *list, pai__lookup *index,
                uint64_t key, const void *thing, uint32_t *number)
{
  *number = pai__lookup_get(index, key);
  if (*number != PAI__NONE)
    return PAI_OK;
  if (pai__flat_reserve(list, &s->alloc, 1) < 0 ||
      pai__lookup_reserve(index, &s->alloc) < 0)
    return PAI_ENOMEM;
  *number = pai__flat_push(list, 1);
  memcpy((char *)list->data + (size_t)*number * list->size, thing, list->size);
  pai__lookup_add(index, key, *number);
  return PAI_OK;
}

static const pai__req *alike_at(const pai__saving *x, uint32_t i)
{
  return pai__req_at(x->s, ((uint32_t *)x->alike.data)[i]);
}

static const pai__why *why_at(const pai__saving *x, uint32_t i)
{
  return (const pai__why *)x->whys.data + i;
}

/* Two keys that only look alike make an object. */
static int find_alike(pai__saving *x, pai__turn *t)
{
  const pai_sched *s = x->s;
  const pai__req *r = pai__req_at(s, t->req);
  pai__why why;
  int rc;

  if (!is_plain(s, r))
    return PAI_OK;
  why = pai__req_said(s, t->req);
  if (!pai__why_is_equal(&why, &pai__no_why)) {
    rc = keep(s, &x->whys, &x->whys_at, why_key(&why), &why, &t->why);
    if (rc < 0 || !pai__why_is_equal(&why, why_at(x, t->why)))
      return rc;
    t->why++;
  }
  rc = keep(s, &x->alike, &x->alike_at, alike_key(s, r), &t->req, &t->alike);
  if (rc == PAI_OK && !is_alike(s, r, alike_at(x, t->alike)))
    t->alike = PAI__NONE;
  return rc;
}

/* --- all requests --------------------------------------------------------- */

static int by_turn(const void *a, const void *b)
{
  const pai__turn *x = a, *y = b;

  return x->turn < y->turn ? -1 : x->turn > y->turn;
}

int pai__saving_list(pai__saving *x, bool lean)
{
  const pai_sched *s = x->s;
  int rc = PAI_OK;

  x->lean = lean;
  pai__flat_init(&x->alike, sizeof(uint32_t));
  pai__flat_init(&x->whys, sizeof(pai__why));
  pai__lookup_init(&x->alike_at);
  pai__lookup_init(&x->whys_at);
  if (s->m.nreqs == 0)
    return PAI_OK;
  x->turns = pai__realloc(&s->alloc, NULL, 0, s->m.nreqs, sizeof(*x->turns));
  if (x->turns == NULL)
    return pai__oom(x->err);
  for (uint32_t i = 0; i < s->reqs.len; i++)
    if (pai__req_at(s, i)->id != 0)
      x->turns[x->nturns++] = (pai__turn){ .turn = pai__req_at(s, i)->turn,
                                           .req = i,
                                           .alike = PAI__NONE };
  qsort(x->turns, x->nturns, sizeof(*x->turns), by_turn);
  for (uint32_t i = 0; i < x->nturns && lean && rc == PAI_OK; i++)
    rc = find_alike(x, &x->turns[i]);
  return rc < 0 ? pai__oom(x->err) : PAI_OK;
}

void pai__saving_end(pai__saving *x)
{
  const pai_alloc *alloc = &x->s->alloc;

  if (x->turns != NULL)
    pai__free(alloc, x->turns, x->s->m.nreqs * sizeof(*x->turns));
  pai__flat_dispose(&x->alike, alloc);
  pai__flat_dispose(&x->whys, alloc);
  pai__flat_dispose(&x->alike_at.slots, alloc);
  pai__flat_dispose(&x->whys_at.slots, alloc);
}

/* --- writing -------------------------------------------------------------- */

void pai__save_tables(pai__saving *x)
{
  pai__form_put_key(x->w, "alike");
  pai__json_begin_object(x->w);
  pai__form_put_key(x->w, "requests");
  pai__json_begin_array(x->w);
  for (uint32_t i = 0; i < x->alike.len; i++)
    pai__save_alike(x, alike_at(x, i));
  pai__json_end_array(x->w);
  pai__form_put_key(x->w, "whys");
  pai__json_begin_array(x->w);
  for (uint32_t i = 0; i < x->whys.len; i++)
    pai__save_why(x, why_at(x, i));
  pai__json_end_array(x->w);
  pai__json_end_object(x->w);
}

/* How far it is from one number to the next, whatever they are. */
static void put_step(pai__saving *x, uint64_t from, uint64_t to)
{
  uint64_t step = to - from;
  int64_t number;

  memcpy(&number, &step, sizeof(number));
  pai__json_int(x->w, number);
}

static void put_list(pai__saving *x, const uint64_t *words, uint32_t n)
{
  if (pai__buf_ok(&x->list)) /* else it is to be seen in the end */
    pai__buf_cut(&x->list, 0);
  pai__bits_write_list(&x->list, words, n);
  pai__form_put_text(x->w, pai__buf_text(&x->list));
}

static void put_task(pai__saving *x, const pai__req *r, const pai__run *run,
                     const pai__slot *slot)
{
  const pai__want *w = &pai__wants_of(x->s, r)[slot->want];
  const uint64_t *words = (const uint64_t *)pai__slots_of(x->s, run);
  const uint32_t *ports = (const uint32_t *)(words + slot->ports);

  pai__json_begin_array(x->w);
  pai__json_int(x->w, slot->want);
  pai__json_int(x->w, slot->node);
  put_list(x, &slot->gpus, 1);
  put_list(x, words + slot->cpus,
           w->cpus != 0 ? pai__build_of(x->s->park, slot->node)->cpu_words
                        : 0);
  if (w->ports != 0) {
    pai__json_begin_array(x->w);
    for (uint32_t i = 0; i < w->ports; i++)
      pai__json_int(x->w, ports[i]);
    pai__json_end_array(x->w);
  }
  pai__json_end_array(x->w);
}

static void put_run(pai__saving *x, const pai__req *r, const pai__run *run)
{
  const pai__slot *slots = pai__slots_of(x->s, run);

  pai__json_begin_array(x->w);
  pai__json_int(x->w, run->instance);
  put_step(x, x->last_order, run->order);
  put_step(x, (uint64_t)r->submitted, (uint64_t)run->since);
  pai__json_begin_array(x->w);
  for (uint32_t i = 0; i < run->tasks; i++)
    put_task(x, r, run, &slots[i]);
  pai__json_end_array(x->w);
  pai__json_end_array(x->w);
  x->last_order = run->order;
}

/* The name: null for none, 0 for that of the row before. */
static void put_name(pai__saving *x, const pai__req *r)
{
  const char *name = pai__name_of(x->s, r);
  const char *before = x->last.turn != 0
                         ? pai__name_of(x->s, pai__req_at(x->s, x->last.req))
                         : NULL;

  if (name == NULL)
    pai__json_null(x->w);
  else if (before != NULL && strcmp(name, before) == 0)
    pai__json_int(x->w, 0);
  else
    pai__form_put_text(x->w, name);
}

void pai__save_row(pai__saving *x, const pai__turn *turn)
{
  const pai__req *r = pai__req_at(x->s, turn->req);
  bool runs = r->runs != PAI__NONE, why = turn->why != 0 || runs;
  bool limit = r->limit != 0 || why, duration = r->duration != 0 || limit;

  pai__json_begin_array(x->w);
  put_step(x, x->last.turn, r->turn);
  put_step(x, (uint64_t)x->last_submitted, (uint64_t)r->submitted);
  put_step(x, x->last_id, r->id);
  put_name(x, r);
  pai__json_int(x->w, turn->alike);
  if (duration)
    pai__json_int(x->w, r->duration);
  if (limit)
    pai__json_int(x->w, r->limit);
  if (why)
    pai__json_int(x->w, turn->why);
  if (runs) {
    pai__json_begin_array(x->w);
    for (uint32_t i = r->runs; i != PAI__NONE; i = pai__run_at(x->s, i)->next)
      put_run(x, r, pai__run_at(x->s, i));
    pai__json_end_array(x->w);
  }
  pai__json_end_array(x->w);
  x->last = *turn;
  x->last_id = r->id;
  x->last_submitted = r->submitted;
}
