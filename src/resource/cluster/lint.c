/*
 * lint.c - warnings about a valid cluster that is probably a mistake
 *
 * Works on a cluster that was read without errors; check_shares.c checks the
 * shares of virtual clusters.
 */
#include "resource/cluster/derive.h"
#include "resource/cluster/read.h"

#include <stdio.h>

/* --- duplicate addresses and UUIDs --------------------------------------- */

/* Names, addresses and UUIDs must be unique.  If several objects share one,
 * the second object is reported, with the number of others. */

/* Objects sorted by the value that should be unique. */
typedef struct list {
  pai__named *of;
  size_t n, cap;
} list;

static int init(list *l, const pai__reader *r, size_t cap)
{
  *l = (list){ .cap = cap + 1 };
  l->of = pai__realloc(&r->c->alloc, NULL, 0, l->cap, sizeof(*l->of));
  return l->of != NULL ? PAI_OK : PAI_ENOMEM;
}

static void dispose(list *l, const pai__reader *r)
{
  pai__free(&r->c->alloc, l->of, l->cap * sizeof(*l->of));
}

/* Returns the number of entries from `first` on with the same value. */
static size_t run(const list *l, size_t first)
{
  size_t n = 1;

  while (first + n < l->n &&
         strcmp(l->of[first].name, l->of[first + n].name) == 0)
    n++;
  return n;
}

static unsigned line_of(const pai__reader *r, uint32_t node)
{
  return (unsigned)pai__tree_where(r->t, r->places[node]).line;
}

/* --- names ---------------------------------------------------------------- */

int pai__read_same_names(pai__reader *r)
{
  const pai_cluster *c = r->c;
  list l;

  if (init(&l, r, c->nnodes) < 0)
    return PAI_ENOMEM;
  for (; l.n < c->nnodes; l.n++)
    l.of[l.n] = (pai__named){ c->nodes[l.n].name, (uint32_t)l.n };
  pai__sort_names(l.of, l.n);
  for (size_t i = 0, same; i < l.n; i += same) {
    same = run(&l, i);
    for (size_t k = i + 1; k < i + same; k++)
      if (pai__find(r->f, PAI_SEVERITY_ERROR, "duplicate",
                    r->places[l.of[k].index],
                    "node '%.80s' is already defined at line %u", l.of[k].name,
                    line_of(r, l.of[i].index)))
        pai__find_help(r->f, "rename one of them, or remove it");
  }
  dispose(&l, r);
  return PAI_OK;
}

/* --- addresses ------------------------------------------------------------ */

/* Not an error: nodes may be simulated, and Slurm may run several nodes on one
 * machine. */
static void same_address(pai__reader *r, const list *l, size_t i, size_t same)
{
  const pai__named *first = &l->of[i], *second = first + 1;
  char more[48] = "";

  if (same > 2)
    (void)snprintf(more, sizeof(more), ", and %zu more", same - 2);
  if (pai__find(
        r->f, PAI_SEVERITY_WARNING, "same-address", r->places[second->index],
        "node '%.80s' has the address '%.80s' of '%.80s', at line "
        "%u%s",
        r->c->nodes[second->index].name, first->name,
        r->c->nodes[first->index].name, line_of(r, first->index), more))
    pai__find_help(
      r->f,
      "each machine has an address of its own; is one machine listed twice?");
}

static int look_at_addresses(pai__reader *r)
{
  const pai_cluster *c = r->c;
  bool any = false;
  list l;

  for (size_t i = 0; i < c->nnodes && !any; i++)
    any = c->nodes[i].address != NULL;
  if (!any)
    return PAI_OK;
  if (init(&l, r, c->nnodes) < 0)
    return PAI_ENOMEM;
  for (; l.n < c->nnodes; l.n++) {
    const pai__member *m = &c->nodes[l.n];

    l.of[l.n] =
      (pai__named){ m->address != NULL ? m->address : m->name, (uint32_t)l.n };
  }
  pai__sort_names(l.of, l.n);
  for (size_t i = 0, same; i < l.n; i += same) {
    same = run(&l, i);
    if (same > 1)
      same_address(r, &l, i, same);
  }
  dispose(&l, r);
  return PAI_OK;
}

/* --- UUIDs ---------------------------------------------------------------- */

static uint32_t node_of(const pai_cluster *c, uint32_t gpu)
{
  size_t from = 0, to = c->nnodes;

  /* the last node whose first GPU is at or before `gpu` */
  while (to - from > 1) {
    size_t middle = from + (to - from) / 2;

    if (c->nodes[middle].first_gpu <= gpu)
      from = middle;
    else
      to = middle;
  }
  return (uint32_t)from;
}

/* In one node, a job would see both GPUs as the same device.  Nodes may be
 * copies of one machine's description: then one finding for each is enough. */
static void same_uuid(pai__reader *r, const pai__named *first,
                      const pai__named *second, bool *told)
{
  const pai_cluster *c = r->c;
  uint32_t a = node_of(c, first->index), b = node_of(c, second->index);
  const pai__member *m = &c->nodes[a], *n = &c->nodes[b];

  if (a == b) {
    if (pai__find(r->f, PAI_SEVERITY_ERROR, "duplicate", r->places[b],
                  "GPUs %u and %u of '%.80s' have the same UUID '%.80s'",
                  first->index - m->first_gpu, second->index - m->first_gpu,
                  m->name, first->name))
      pai__find_help(r->f,
                     "two jobs would get the same GPU; remove the wrong UUID");
    return;
  }
  if (told[b])
    return;
  told[b] = true;
  if (pai__find(r->f, PAI_SEVERITY_WARNING, "same-uuid", r->places[b],
                "GPU %u of '%.80s' has the UUID '%.80s' of GPU %u of '%.80s', "
                "at line %u",
                second->index - n->first_gpu, n->name, first->name,
                first->index - m->first_gpu, m->name, line_of(r, a)))
    pai__find_help(r->f, "is one machine listed twice?");
}

static void find_uuids(pai__reader *r, list *l, bool *told)
{
  const pai_cluster *c = r->c;

  for (size_t i = 0; i < c->ngpus; i++)
    if (c->gpus[i].uuid != NULL)
      l->of[l->n++] = (pai__named){ c->gpus[i].uuid, (uint32_t)i };
  pai__sort_names(l->of, l->n);
  for (size_t i = 1; i < l->n; i++)
    if (strcmp(l->of[i - 1].name, l->of[i].name) == 0)
      same_uuid(r, &l->of[i - 1], &l->of[i], told);
}

static int look_at_uuids(pai__reader *r)
{
  const pai_cluster *c = r->c;
  size_t n = 0;
  bool *told;
  list l;
  int rc;

  for (size_t i = 0; i < c->ngpus; i++)
    n += c->gpus[i].uuid != NULL;
  if (n < 2)
    return PAI_OK;
  told = pai__zalloc(&c->alloc, c->nnodes);
  rc = told != NULL ? init(&l, r, n) : PAI_ENOMEM;
  if (rc == PAI_OK) {
    find_uuids(r, &l, told);
    dispose(&l, r);
  }
  pai__free(&c->alloc, told, c->nnodes);
  return rc;
}

/* -------------------------------------------------------------------------- */

int pai__read_same(pai__reader *r)
{
  int rc = look_at_addresses(r);

  return rc == PAI_OK ? look_at_uuids(r) : rc;
}

enum { MOST_NAMED = 3 };

/* --- machines ------------------------------------------------------------- */

static void find_unused(pai__reader *r, const pai__sku *s)
{
  if (pai__find(r->f, PAI_SEVERITY_WARNING, "unused-sku", s->at,
                "no node is of SKU '%s'", s->name))
    pai__find_help(r->f, "is a node missing, or the name of its SKU wrong?");
}

/* CPUs and memory of system services must not be given to jobs. */
static void find_forgotten(pai__reader *r, const pai__sku *s)
{
  if (pai__find(r->f, PAI_SEVERITY_WARNING, "no-reserve", s->at,
                "SKU '%s' reserves nothing for the system", s->name))
    pai__find_help(r->f, "give what the system and its daemons use, as used: "
                         "{cpus: 2, memory: 8G}");
}

static void find_flat(pai__reader *r, const pai__sku *s)
{
  if (pai__find(r->f, PAI_SEVERITY_WARNING, "flat-node", s->at,
                "all %u GPUs of SKU '%s' seem equally near to each other",
                s->gpus, s->name))
    pai__find_help(r->f, "say what they share, as numa: 2 or near: {switch: "
                         "2}, so that jobs get GPUs that are near");
}

static void look_at_skus(pai__reader *r)
{
  const pai_cluster *c = r->c;
  bool *is_used = pai__zalloc(&c->alloc, c->nskus + 1);

  r->f->failed |= is_used == NULL;
  for (size_t i = 0; i < c->nnodes && is_used != NULL; i++)
    is_used[c->nodes[i].sku] = true;
  for (uint32_t i = 0; i < c->nskus && is_used != NULL; i++) {
    const pai__sku *s = &c->skus[i];

    if (s->at == 0)
      continue; /* the SKU is not from the text */
    if (!is_used[i]) {
      find_unused(r, s);
      continue;
    }
    if ((s->cpus != 0 && s->used_cpus == 0) ||
        (s->memory != 0 && s->used_memory == 0))
      find_forgotten(r, s);
    if (c->nvcs > 0 && s->ngroups == 1 && s->gpus >= PAI__FLAT &&
        s->numa < 2 && s->nnear == 0 &&
        !pai__is_cpu_kind(c, c->kinds[s->groups[0].kind].name))
      find_flat(r, s);
  }
  pai__free(&c->alloc, is_used, c->nskus + 1);
}

/* Reports nodes without a GPU, which no virtual cluster can use. */
static void look_at_cpu_nodes(pai__reader *r)
{
  const pai_cluster *c = r->c;
  pai__node at = PAI__NO_NODE;
  size_t count = 0;
  pai__buf names;

  pai__buf_init(&names, &c->alloc);
  for (size_t i = 0; i < c->nnodes && c->nvcs > 0; i++) {
    if (pai__sku_of(c, &c->nodes[i])->gpus > 0)
      continue;
    if (count == 0)
      at = r->places[i];
    if (count++ < MOST_NAMED)
      pai__buf_printf(&names, "%s'%s'", count > 1 ? ", " : "",
                      c->nodes[i].name);
  }
  if (count > 0 &&
      pai__find(r->f, PAI_SEVERITY_WARNING, "cpu-only", at,
                count == 1 ? "node %s%s has no GPU: no virtual cluster can "
                             "use it"
                           : "nodes %s%s have no GPU: no virtual cluster can "
                             "use them",
                pai__buf_text(&names), count > MOST_NAMED ? ", …" : ""))
    pai__find_help(r->f, "cells are made of GPUs; give CPUs a cluster of "
                         "their own, or count each CPU as a GPU of kind cpu");
  pai__buf_dispose(&names);
}

/* --- pins ----------------------------------------------------------------- */

/* A pin is a cell, and a cell has GPUs of one kind. */
static void look_at_pin(pai__reader *r, const pai__member *m, pai__node at)
{
  const pai__sku *s = pai__sku_of(r->c, m);
  pai__node pin = pai__tree_get(r->t, at, "pin");

  at = pin != PAI__NO_NODE ? pin : at;
  if (s->gpus == 0) {
    if (pai__find(r->f, PAI_SEVERITY_WARNING, "no-effect", at,
                  "the pin of node '%.80s' has no effect: it has no GPU",
                  m->name))
      pai__find_help(r->f, "only cells can be pinned, and cells are made of "
                           "GPUs; remove the pin");
    return;
  }
  if (s->ngroups > 1 &&
      pai__find(r->f, PAI_SEVERITY_WARNING, "pin-of-part", at,
                "the pin of node '%.80s' covers only its %u '%.80s'", m->name,
                s->groups[0].count, r->c->kinds[s->groups[0].kind].name))
    pai__find_help(r->f, "a cell is of one kind; with cells that are given, "
                         "as physicalCluster, each can have a pinnedCellId");
}

static void look_at_pins(pai__reader *r)
{
  for (size_t i = 0; i < r->c->nnodes; i++)
    if (r->c->nodes[i].pin != NULL)
      look_at_pin(r, &r->c->nodes[i], r->places[i]);
}

/* --- all ------------------------------------------------------------------ */

static bool has_pins(const pai_cluster *c)
{
  for (size_t i = 0; i < c->nnodes; i++)
    if (c->nodes[i].pin != NULL)
      return true;
  return false;
}

void pai__cluster_lint(pai__reader *r)
{
  int rc;

  look_at_skus(r);
  if (pai__cluster_has_parts(r->c)) { /* there are no shares to check */
    r->f->failed |= r->c->ntypes > 0 && pai__derive_shares(r->c) < 0;
    return;
  }
  if (r->c->nvcs > 0 || r->c->ncells > 0 || has_pins(r->c)) {
    look_at_cpu_nodes(r);
    if (r->c->ncells == 0) /* with cells given, pins have no effect */
      look_at_pins(r);
    rc = pai__cells_derive(r->c);
    r->f->failed |= rc == PAI_ENOMEM;
    if (rc == PAI_ELIMIT &&
        pai__find(r->f, PAI_SEVERITY_ERROR, "limit", r->places[0],
                  PAI__CELLS_LIMIT, PAI__CLUSTER_MAX_GPUS,
                  PAI__CELLS_MAX_TEXT >> 20))
      pai__find_help(r->f, "split it into several clusters");
    if (rc == PAI_OK)
      pai__read_check_shares(r);
  }
}
