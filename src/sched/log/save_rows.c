/*
 * save_rows.c - the lean form of requests: common parts, and rows
 *
 * A row is a list of numbers, most of them differences to the row before.  A
 * request that does not fit a row is written as an object.
 */
#include "sched/log/snapshot_form.h"

#include "sched/queue.h"

#include "resource/bits.h"

#include <stdlib.h>

/* --- alike requests and reasons ------------------------------------------- */

/* What requests of a row have in common, and the first of them. */
typedef struct alike {
  uint64_t like[3];
  uint64_t req;
} alike;

/* A reason of rows, without its tasks, and the tasks of the first.  A request
 * whose reason has other tasks is written as an object. */
typedef struct told {
  pai__sched_reason reason;
  uint64_t tasks;
} told;

_Static_assert(sizeof(pai__sched_reason) ==
                 4 * sizeof(uint64_t) + (7 + PAI_LACKS) * sizeof(uint32_t),
               "reasons have no gaps, and are compared as bytes");

bool pai__sched_reason_is_equal(const pai__sched_reason *a,
                                const pai__sched_reason *b)
{
  return memcmp(a, b, sizeof(*a)) == 0;
}

/* --- requests that fit a row ---------------------------------------------- */

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

static const pai__req *alike_at(const pai__saving *x, uint32_t i)
{
  return pai__req_at(x->s, (uint32_t)((alike *)x->alike.data)[i].req);
}

static told *told_at(const pai__saving *x, uint32_t i)
{
  return (told *)x->reasons.data + i;
}

static int find_alike(pai__saving *x, pai__sched_turn *t)
{
  const pai_sched *s = x->s;
  const pai__req *r = pai__req_at(s, t->req);
  const alike a = { .like = { (uint64_t)r->class << 32 | r->user,
                              (uint64_t)r->want_names << 32 | r->at_once,
                              (uint64_t)r->instances << 32 |
                                (uint64_t)(uint16_t)r->priority << 2 |
                                (r->held ? 2U : 0U) | (r->lazy ? 1U : 0U) },
                    .req = t->req };
  told why = { .reason = pai__req_said(s, t->req) };
  uint32_t i;

  if (!is_plain(s, r))
    return PAI_OK;
  if (!pai__sched_reason_is_equal(&why.reason, &pai__no_reason)) {
    why.tasks = why.reason.tasks;
    why.reason.tasks = 0;
    i = pai__lookup_intern(&x->reasons_at, &x->reasons, &s->alloc, &why,
                           sizeof(why.reason) / sizeof(uint64_t));
    if (i == PAI__NONE)
      return PAI_ENOMEM;
    if (told_at(x, i)->tasks != why.tasks)
      return PAI_OK;
    t->reason = i + 1;
  }
  t->alike = pai__lookup_intern(&x->alike_at, &x->alike, &s->alloc, &a,
                                PAI__LEN(a.like));
  return t->alike != PAI__NONE ? PAI_OK : PAI_ENOMEM;
}

/* --- all requests --------------------------------------------------------- */

static int by_turn(const void *a, const void *b)
{
  const pai__sched_turn *x = a, *y = b;

  return x->turn < y->turn ? -1 : x->turn > y->turn;
}

int pai__saving_list(pai__saving *x, bool lean)
{
  const pai_sched *s = x->s;
  int rc = PAI_OK;

  x->lean = lean;
  pai__flat_init(&x->alike, sizeof(alike));
  pai__flat_init(&x->reasons, sizeof(told));
  pai__lookup_init(&x->alike_at);
  pai__lookup_init(&x->reasons_at);
  if (s->m.nreqs == 0)
    return PAI_OK;
  x->turns = pai__realloc(&s->alloc, NULL, 0, s->m.nreqs, sizeof(*x->turns));
  if (x->turns == NULL)
    return pai__oom(x->err);
  for (uint32_t i = 0; i < s->reqs.len; i++)
    if (pai__req_at(s, i)->id != 0)
      x->turns[x->nturns++] = (pai__sched_turn){
        .turn = pai__req_at(s, i)->turn, .req = i, .alike = PAI__NONE
      };
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
  pai__flat_dispose(&x->reasons, alloc);
  pai__flat_dispose(&x->alike_at.slots, alloc);
  pai__flat_dispose(&x->reasons_at.slots, alloc);
}

/* --- writing -------------------------------------------------------------- */

void pai__save_tables(pai__saving *x)
{
  pai__json_put_object(x->w, "alike");
  pai__json_put_array(x->w, "requests");
  for (uint32_t i = 0; i < x->alike.len; i++)
    pai__save_alike(x, alike_at(x, i));
  pai__json_end_array(x->w);
  pai__json_put_array(x->w, "whys");
  for (uint32_t i = 0; i < x->reasons.len; i++) {
    told why = *told_at(x, i);

    why.reason.tasks = (uint32_t)why.tasks;
    pai__save_reason(x, &why.reason);
  }
  pai__json_end_array(x->w);
  pai__json_end_object(x->w);
}

/* Writes the difference of two numbers, modulo 2^64. */
static void put_step(pai__saving *x, uint64_t from, uint64_t to)
{
  uint64_t step = to - from;
  int64_t number;

  memcpy(&number, &step, sizeof(number));
  pai__json_int(x->w, number);
}

static void put_list(pai__saving *x, const uint64_t *words, uint32_t n)
{
  if (pai__buf_ok(&x->list)) /* if not, the error is found at the end */
    pai__buf_cut(&x->list, 0);
  pai__bits_write_list(&x->list, words, n);
  pai__json_string(x->w, pai__buf_text(&x->list));
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
           pai__own_cpus(w) != 0
             ? pai__sched_sku_of(x->s->cluster, slot->node)->cpu_words
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

/* Writes the name: null for none, 0 for the name of the row before. */
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
    pai__json_string(x->w, name);
}

void pai__save_row(pai__saving *x, const pai__sched_turn *turn)
{
  const pai__req *r = pai__req_at(x->s, turn->req);
  bool runs = r->runs != PAI__NONE, reason = turn->reason != 0 || runs;
  bool limit = r->limit != 0 || reason, duration = r->duration != 0 || limit;

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
  if (reason)
    pai__json_int(x->w, turn->reason);
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
