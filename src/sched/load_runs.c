/* load_runs.c - what runs in a snapshot, and what it holds */
#include "sched/check.h"
#include "sched/loading.h"
#include "sched/sched.h"
#include "sched/start.h"

#include "resource/bits.h"

#include <inttypes.h>
#include <stdlib.h>

/* When a run was placed, and where it is told. */
typedef struct placed {
  uint64_t order;
  uint32_t run;
  pai__node at;
} placed;

/* --- tasks ---------------------------------------------------------------- */

static int read_form(const pai__loading *l, pai__node item,
                     pai__slot_form *form)
{
  return pai__load_is_row(l, item)
           ? pai__load_row_task(l, item, form)
           : pai__load_form(l, item, "a task", &pai__slot_table, form);
}

/* A list of numbers, or in a row a text of them. */
static int read_gpus(pai__loading *l, pai__node at, uint32_t limit,
                     uint64_t *mask)
{
  pai__bits_fault fault = { 0, NULL };
  const char *text = "";
  size_t used;
  int rc;

  if (at == PAI__NO_NODE || pai__tree_type(l->f.tree, at) != PAI__STRING)
    return pai__load_mask(l, at, "gpus", limit, mask);
  *mask = 0;
  rc = pai__form_text(&l->f, at, "gpus", &text);
  if (rc < 0)
    return rc;
  return pai__bits_read_list(mask, &used, 64, text, strlen(text), &fault) ==
               PAI_OK &&
             (limit == 64 || *mask >> limit == 0)
           ? PAI_OK
           : pai__form_fail(&l->f, at, "these are no GPUs of the node");
}

static int read_slot(pai__loading *l, pai__node item, const pai__req *r,
                     pai__slot *slot)
{
  pai_sched *s = l->s;
  pai__slot_form form;
  const pai__build *b;
  int rc = read_form(l, item, &form);

  if (rc < 0)
    return rc;
  slot->want = form.want;
  slot->node =
    form.node != NULL ? pai__park_node(s->park, form.node) : form.at;
  if (slot->want >= r->nwants)
    return pai__form_fail(&l->f, item, "the request has no want %u",
                          slot->want);
  if (slot->node == PAI__NONE)
    return pai__form_fail(&l->f, item, "there is no node '%s'", form.node);
  b = pai__build_of(s->park, slot->node);
  rc = read_gpus(l, form.gpus, b->gpus, &slot->gpus);
  if (rc == PAI_OK &&
      pai__bits_ones(slot->gpus) != pai__wants_of(s, r)[slot->want].gpus)
    rc =
      pai__form_fail(&l->f, item, "the task has not as many GPUs as it wants");
  return rc;
}

/* As many of each want as may be, the wants in their order. */
static int check_counts(pai__loading *l, pai__node list, const pai__req *r)
{
  const pai__want *wants = pai__wants_of(l->s, r);
  const pai__slot *slots = l->s->slots.data;
  uint32_t i = 0;

  for (uint32_t w = 0; w < r->nwants; w++) {
    uint32_t n = 0;

    for (; i < l->s->slots.len && slots[i].want == w; i++)
      n++;
    if (n < wants[w].min_tasks || n > wants[w].tasks)
      return pai__form_fail(&l->f, list,
                            "want %u has %u tasks, and is of %u to %u", w, n,
                            wants[w].min_tasks, wants[w].tasks);
  }
  return i == l->s->slots.len
           ? PAI_OK
           : pai__form_fail(&l->f, list,
                            "tasks are in the order of their wants");
}

static int read_slots(pai__loading *l, pai__node list, const pai__req *r)
{
  pai_sched *s = l->s;
  pai__tree_walk walk = pai__tree_iter(l->f.tree, list);
  pai__node item;
  uint32_t count;
  int rc = pai__form_list(&l->f, list, "tasks", &count);

  if (rc < 0)
    return rc;
  s->slots.len = 0;
  if (pai__flat_reserve(&s->slots, &s->alloc, count) < 0)
    return pai__oom(l->f.err);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    uint32_t i = pai__flat_push(&s->slots, 1);

    rc = read_slot(l, item, r, (pai__slot *)s->slots.data + i);
  }
  return rc == PAI_OK ? check_counts(l, list, r) : rc;
}

/* --- their numbers -------------------------------------------------------- */

static int read_cpus(pai__loading *l, pai__node item, const char *text,
                     const pai__want *w, uint64_t *words, uint32_t n)
{
  pai__bits_fault fault = { 0, NULL };
  size_t used;

  if (text == NULL && (w->cpus == 0 || n == 0))
    return PAI_OK;
  if (text == NULL || w->cpus == 0 || n == 0 ||
      pai__bits_read_list(words, &used, n * 64, text, strlen(text), &fault) <
        0 ||
      pai__bits_count(words, n) != w->cpus)
    return pai__form_fail(&l->f, item,
                          "\"cpus\" is the list of as many CPUs as the task "
                          "wants, as \"0-3,8\"%s%s",
                          fault.what != NULL ? ": " : "",
                          fault.what != NULL ? fault.what : "");
  return PAI_OK;
}

static int read_ports(pai__loading *l, pai__node item, pai__node list,
                      const pai__want *w, uint32_t *ports)
{
  pai__tree_walk walk;
  pai__node port;
  uint32_t count;
  int64_t n;
  int rc = pai__form_list(&l->f, list, "ports", &count);

  if (rc == PAI_OK && count != w->ports)
    rc = pai__form_fail(&l->f, item,
                        "the task has not as many ports as it wants");
  if (rc < 0 || list == PAI__NO_NODE)
    return rc;
  walk = pai__tree_iter(l->f.tree, list);
  while (rc == PAI_OK && (port = pai__tree_next(&walk)) != PAI__NO_NODE) {
    rc = pai__form_number(&l->f, port, "ports", 1, UINT16_MAX, &n);
    *ports++ = (uint32_t)n;
  }
  return rc;
}

static int read_numbers(pai__loading *l, pai__node list, const pai__req *r,
                        const pai__run *run)
{
  pai_sched *s = l->s;
  pai__slot *first = pai__slots_of(s, run);
  pai__tree_walk walk = pai__tree_iter(l->f.tree, list);
  pai__node item;
  int rc = PAI_OK;

  for (uint32_t i = 0;
       rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE; i++) {
    const pai__want *w = &pai__wants_of(s, r)[first[i].want];
    uint32_t words = pai__build_of(s->park, first[i].node)->cpu_words;
    pai__slot_form form;

    rc = read_form(l, item, &form);
    if (rc == PAI_OK)
      rc = read_cpus(l, item, form.cpus, w, (uint64_t *)first + first[i].cpus,
                     words);
    if (rc == PAI_OK)
      rc = read_ports(l, item, form.ports, w,
                      (uint32_t *)((uint64_t *)first + first[i].ports));
  }
  return rc;
}

/* --- runs ----------------------------------------------------------------- */

static int check_run(pai__loading *l, pai__node item,
                     const pai__run_form *form)
{
  bool holds = form->state != PAI__RUN_RETURNED;

  if (form->state == 0 || (form->tasks != PAI__NO_NODE) != holds)
    return pai__form_fail(&l->f, item,
                          "a run has \"tasks\" unless it was returned");
  if (holds && (form->order < 1 || (uint64_t)form->order > l->s->m.orders))
    return pai__form_fail(&l->f, item,
                          "\"order\" is from 1 to the \"orders\" of all");
  return PAI_OK;
}

/* A run that holds places, which are not counted yet. */
static int hold(pai__loading *l, pai__node item, const pai__run_form *form,
                uint32_t req, uint32_t i)
{
  pai_sched *s = l->s;
  const pai__req *r = pai__req_at(s, req);
  pai__run *run = pai__run_at(s, i);
  uint32_t in_want = 0;
  int rc = read_slots(l, form->tasks, r);

  if (rc < 0)
    return rc;
  for (uint32_t k = 0; k < s->slots.len; k++)
    in_want += ((pai__slot *)s->slots.data)[k].want == form->leaving_want;
  if (form->leaving != 0 && form->leaving >= in_want)
    return pai__form_fail(&l->f, item,
                          "\"leaving\" is less than the tasks there are");
  if (pai__slots_keep(s, r, run, s->slots.len) < 0 ||
      pai__flat_reserve(&l->orders, &s->alloc, 1) < 0)
    return pai__oom(l->f.err);
  run->order = (uint64_t)form->order;
  run->since = form->since;
  run->by = form->by;
  run->cause = (uint8_t)form->cause;
  run->borrowed = form->borrowed != 0;
  run->leaving = form->leaving;
  run->leaving_want = form->leaving_want;
  ((placed *)l->orders.data)[pai__flat_push(&l->orders, 1)] =
    (placed){ run->order, i, item };
  return form->state != PAI__RUN_CLAIMED ? read_numbers(l, form->tasks, r, run)
                                         : PAI_OK;
}

static int load_run(pai__loading *l, pai__node item, uint32_t req,
                    uint32_t *returned)
{
  pai_sched *s = l->s;
  pai__req *r = pai__req_at(s, req);
  pai__run_form form;
  uint32_t i;
  int rc = pai__load_is_row(l, item)
             ? pai__load_row_run(l, item, &form)
             : pai__load_form(l, item, "a run", &pai__run_table, &form);

  if (rc == PAI_OK)
    rc = check_run(l, item, &form);
  if (rc < 0)
    return rc;
  if (form.instance < r->next || form.instance >= r->instances)
    return pai__form_fail(
      &l->f, item, "instances of runs ascend, and there are %u", r->instances);
  r->next = form.instance & PAI__INSTANCES;
  r->returned = 0; /* so that this one is taken */
  i = pai__run_next(s, req);
  if (i == PAI__NONE)
    return pai__oom(l->f.err);
  if (form.state == PAI__RUN_RETURNED) {
    ++*returned;
    return PAI_OK;
  }
  rc = hold(l, item, &form, req, i);
  pai__run_at(s, i)->state = (uint8_t)form.state;
  r->active++;
  return rc;
}

int pai__load_runs(pai__loading *l, uint32_t req, pai__node list)
{
  pai__req *r = pai__req_at(l->s, req);
  pai__tree_walk walk;
  pai__node item;
  uint32_t count, returned = 0;
  int rc = pai__form_list(&l->f, list, "runs", &count);

  if (rc == PAI_OK && list != PAI__NO_NODE) {
    walk = pai__tree_iter(l->f.tree, list);
    while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE)
      rc = load_run(l, item, req, &returned);
  }
  if (rc < 0)
    return rc;
  /* All others that have begun have ended. */
  if (count + r->finished > r->instances ||
      (count != 0 && r->next > r->finished + count))
    return pai__form_fail(&l->f, list != PAI__NO_NODE ? list : 0,
                          "more instances have begun than run, wait again or "
                          "have finished");
  r->next = (r->finished + count) & PAI__INSTANCES;
  r->returned = returned & PAI__INSTANCES;
  return PAI_OK;
}

/* --- what they hold ------------------------------------------------------- */

static int by_order(const void *a, const void *b)
{
  const placed *x = a, *y = b;

  return x->order < y->order ? -1 : x->order > y->order;
}

/* No GPU twice; what others have claimed is not counted yet. */
static int take_place(pai__loading *l, const placed *p)
{
  pai_sched *s = l->s;
  pai__run *run = pai__run_at(s, p->run);
  const pai__req *r = pai__req_at(s, run->req);
  const pai__want *wants = pai__wants_of(s, r);
  const pai__slot *slots = pai__slots_of(s, run);
  uint32_t node = 0;
  int rc;

  for (uint32_t i = 0; i < run->tasks; i++) {
    pai__room *room = pai__room_at(s, slots[i].node);

    pai__room_count(room, &wants[slots[i].want], slots[i].gpus);
    if (room->promised != 0)
      return pai__form_fail(&l->f, p->at, "two tasks have a GPU of node '%s'",
                            s->park->spots[slots[i].node].name);
    if (room->memory < 0 || room->cpus < 0 || room->ports < 0)
      return pai__form_fail(&l->f, p->at,
                            "tasks on node '%s' have more than it has",
                            s->park->spots[slots[i].node].name);
  }
  rc = pai__slots_renumber(s, r, run, &node);
  if (rc == PAI_ENOMEM)
    return pai__oom(l->f.err);
  if (rc < 0)
    return pai__form_fail(&l->f, p->at,
                          "two tasks have a CPU or a port of node '%s', or "
                          "there is no such one",
                          s->park->spots[node].name);
  s->m.nrunning++;
  pai__limit_set(s, run);
  return PAI_OK;
}

static int take_claim(pai__loading *l, const placed *p)
{
  enum { MOST = 1 << 30 };
  pai_sched *s = l->s;
  const pai__run *run = pai__run_at(s, p->run);
  const pai__want *wants = pai__wants_of(s, pai__req_at(s, run->req));
  const pai__slot *slots = pai__slots_of(s, run);

  for (uint32_t i = 0; i < run->tasks; i++) {
    pai__room *room = pai__room_at(s, slots[i].node);
    const pai__want *w = &wants[slots[i].want];

    if (w->cpus > MOST || room->cpus < -MOST || room->ports < -MOST)
      return pai__form_fail(&l->f, p->at, "nobody can claim so much");
    pai__room_count(room, w, slots[i].gpus);
  }
  if (pai__flat_reserve(&s->claims, &s->alloc, 1) < 0)
    return pai__oom(l->f.err);
  ((uint32_t *)s->claims.data)[pai__flat_push(&s->claims, 1)] = p->run;
  return PAI_OK;
}

static int take_all(pai__loading *l, bool claims)
{
  const placed *list = l->orders.data;
  int rc = PAI_OK;

  for (uint32_t i = 0; i < l->orders.len && rc == PAI_OK; i++)
    if ((pai__run_at(l->s, list[i].run)->state == PAI__RUN_CLAIMED) == claims)
      rc = claims ? take_claim(l, &list[i]) : take_place(l, &list[i]);
  return rc;
}

int pai__load_places(pai__loading *l)
{
  const placed *list = l->orders.data;
  int rc;

  if (l->orders.len != 0)
    qsort(l->orders.data, l->orders.len, sizeof(placed), by_order);
  for (uint32_t i = 1; i < l->orders.len; i++)
    if (list[i].order == list[i - 1].order)
      return pai__form_fail(&l->f, list[i].at,
                            "two runs have the same \"order\"");
  rc = take_all(l, false);
  if (rc == PAI_OK)
    rc = take_all(l, true);
  if (rc == PAI_OK) {
    pai__tally_again(l->s);
    pai__check_again(l->s);
  }
  return rc;
}
