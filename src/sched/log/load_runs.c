/* load_runs.c - loading the runs of a snapshot and their places */
#include "sched/log/snapshot_form.h"
#include "sched/sched.h"
#include "sched/start.h"

#include "resource/bits.h"

#include <stdlib.h>

/* When a run was placed, and where it is in the text. */
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
           : pai__table_read(&l->f, item, &pai__slot_table, form);
}

/* Reads GPUs: a list of numbers, or in a row a text such as "0-3". */
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
  const pai__sched_sku *b;
  int rc = read_form(l, item, &form);

  if (rc < 0)
    return rc;
  slot->want = form.want;
  slot->node = form.node != NULL
                 ? pai__sched_cluster_node(s->cluster, form.node)
                 : form.at;
  if (slot->want >= r->nwants)
    return pai__form_fail(&l->f, item, "the request has no want %u",
                          slot->want);
  if (slot->node == PAI__NONE)
    return pai__form_fail(&l->f, item, "there is no node '%s'", form.node);
  b = pai__sched_sku_of(s->cluster, slot->node);
  rc = read_gpus(l, form.gpus, b->gpus, &slot->gpus);
  if (rc == PAI_OK &&
      pai__bits_ones(slot->gpus) != pai__wants_of(s, r)[slot->want].gpus)
    rc =
      pai__form_fail(&l->f, item, "the task has not as many GPUs as it wants");
  return rc;
}

/* Checks that each want has an allowed number of tasks, in the order of
 * wants. */
static int check_counts(pai__loading *l, pai__node list, const pai__req *r)
{
  uint32_t want,
    n = pai__slots_whole(l->s, r, l->s->slots.data, l->s->slots.len, &want);
  const pai__want *w = &pai__wants_of(l->s, r)[want];

  if (want == r->nwants)
    return n == 0 ? PAI_OK
                  : pai__form_fail(&l->f, list,
                                   "tasks are in the order of their wants");
  return pai__form_fail(&l->f, list,
                        "want %u has %u tasks, and is of %u to %u", want, n,
                        w->min_tasks, w->tasks);
}

static int read_slots(pai__loading *l, pai__node list, const pai__req *r)
{
  pai_sched *s = l->s;
  pai__items x = pai__form_items(&l->f, list, "tasks");
  pai__node item;

  s->slots.len = 0;
  if (x.rc == PAI_OK && pai__flat_reserve(&s->slots, &s->alloc, x.count) < 0)
    x.rc = pai__oom(l->f.err);
  while ((item = pai__items_next(&x)) != PAI__NO_NODE) {
    uint32_t i = pai__flat_push(&s->slots, 1);

    x.rc = read_slot(l, item, r, (pai__slot *)s->slots.data + i);
  }
  return x.rc == PAI_OK ? check_counts(l, list, r) : x.rc;
}

/* --- CPUs and ports ------------------------------------------------------- */

static int read_cpus(pai__loading *l, pai__node item, const char *text,
                     const pai__want *w, uint64_t *words, uint32_t n)
{
  pai__bits_fault fault = { 0, NULL };
  size_t used;

  if (text == NULL && (pai__own_cpus(w) == 0 || n == 0))
    return PAI_OK;
  if (text == NULL || pai__own_cpus(w) == 0 || n == 0 ||
      pai__bits_read_list(words, &used, n * 64, text, strlen(text), &fault) <
        0 ||
      pai__bits_count(words, n) != pai__own_cpus(w))
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
  pai__items x = pai__form_items(&l->f, list, "ports");
  pai__node port;
  int64_t n;

  if (x.rc == PAI_OK && x.count != w->ports)
    x.rc = pai__form_fail(&l->f, item,
                          "the task has not as many ports as it wants");
  while ((port = pai__items_next(&x)) != PAI__NO_NODE) {
    x.rc = pai__form_number(&l->f, port, "ports", 1, UINT16_MAX, &n);
    *ports++ = (uint32_t)n;
  }
  return x.rc;
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
    uint32_t words = pai__sched_sku_of(s->cluster, first[i].node)->cpu_words;
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
  bool holds = form->run.state != PAI__RUN_RETURNED;

  if (form->run.state == 0 || (form->tasks != PAI__NO_NODE) != holds)
    return pai__form_fail(&l->f, item,
                          "a run has \"tasks\" unless it was returned");
  if (holds && (form->run.order < 1 || form->run.order > l->s->m.orders))
    return pai__form_fail(&l->f, item,
                          "\"order\" is from 1 to the \"orders\" of all");
  return PAI_OK;
}

/* Reads the places of a run, without counting them yet. */
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
    in_want += ((pai__slot *)s->slots.data)[k].want == form->run.leaving_want;
  if (form->run.leaving != 0 && form->run.leaving >= in_want)
    return pai__form_fail(&l->f, item,
                          "\"leaving\" is less than the tasks there are");
  if (pai__slots_keep(s, r, run, s->slots.len) < 0 ||
      pai__flat_reserve(&l->orders, &s->alloc, 1) < 0)
    return pai__oom(l->f.err);
  run->order = form->run.order;
  run->since = form->run.since;
  run->by = form->run.by;
  run->cause = form->run.cause;
  run->borrowed = form->run.borrowed;
  run->leaving = form->run.leaving;
  run->leaving_want = form->run.leaving_want;
  ((placed *)l->orders.data)[pai__flat_push(&l->orders, 1)] =
    (placed){ run->order, i, item };
  return form->run.state != PAI__RUN_CLAIMED
           ? read_numbers(l, form->tasks, r, run)
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
             : pai__table_read(&l->f, item, &pai__run_table, &form);

  if (rc == PAI_OK)
    rc = check_run(l, item, &form);
  if (rc < 0)
    return rc;
  if (form.run.instance < r->next || form.run.instance >= r->instances)
    return pai__form_fail(
      &l->f, item, "instances of runs ascend, and there are %u", r->instances);
  r->next = form.run.instance & PAI__INSTANCES;
  r->returned = 0; /* so that pai__run_next() makes a new run */
  i = pai__run_next(s, req);
  if (i == PAI__NONE)
    return pai__oom(l->f.err);
  if (form.run.state == PAI__RUN_RETURNED) {
    ++*returned;
    return PAI_OK;
  }
  rc = hold(l, item, &form, req, i);
  pai__run_at(s, i)->state = (uint8_t)form.run.state;
  r->active++;
  return rc;
}

int pai__load_runs(pai__loading *l, uint32_t req, pai__node list)
{
  pai__req *r = pai__req_at(l->s, req);
  pai__items x = pai__form_items(&l->f, list, "runs");
  pai__node item;
  uint32_t count = x.count, returned = 0;

  while ((item = pai__items_next(&x)) != PAI__NO_NODE)
    x.rc = load_run(l, item, req, &returned);
  if (x.rc < 0)
    return x.rc;
  /* The other instances that have begun must have ended. */
  if (count + r->finished > r->instances ||
      (count != 0 && r->next > r->finished + count))
    return pai__form_fail(&l->f, list != PAI__NO_NODE ? list : 0,
                          "more instances have begun than run, wait again or "
                          "have finished");
  r->next = (r->finished + count) & PAI__INSTANCES;
  r->returned = returned & PAI__INSTANCES;
  return PAI_OK;
}

/* --- taking places -------------------------------------------------------- */

static int by_order(const void *a, const void *b)
{
  const placed *x = a, *y = b;

  return x->order < y->order ? -1 : x->order > y->order;
}

/* Takes the places of a run.  Fails if a GPU is taken twice; claims are
 * counted later. */
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
    pai__free_capacity *capacity = pai__free_capacity_at(s, slots[i].node);

    pai__free_capacity_count(capacity, &wants[slots[i].want], slots[i].gpus);
    if (capacity->promised != 0)
      return pai__form_fail(&l->f, p->at, "two tasks have a GPU of node '%s'",
                            s->cluster->nodes[slots[i].node].name);
    if (capacity->memory < 0 || capacity->cpu_millis < 0 ||
        capacity->ports < 0)
      return pai__form_fail(&l->f, p->at,
                            "tasks on node '%s' have more than it has",
                            s->cluster->nodes[slots[i].node].name);
  }
  rc = pai__slots_renumber(s, r, run, &node);
  if (rc == PAI_ENOMEM)
    return pai__oom(l->f.err);
  if (rc < 0)
    return pai__form_fail(&l->f, p->at,
                          "two tasks have a CPU or a port of node '%s', or "
                          "there is no such one",
                          s->cluster->nodes[node].name);
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
    pai__free_capacity *capacity = pai__free_capacity_at(s, slots[i].node);
    const pai__want *w = &wants[slots[i].want];

    if (capacity->cpu_millis < -(int64_t)MOST * PAI__CPU ||
        capacity->ports < -MOST)
      return pai__form_fail(&l->f, p->at, "nobody can claim so much");
    pai__free_capacity_count(capacity, w, slots[i].gpus);
  }
  if (pai__flat_add(&s->claims, &s->alloc, &p->run) < 0)
    return pai__oom(l->f.err);
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
    pai__shares_recount(l->s);
    pai__check_again(l->s);
  }
  return rc;
}
