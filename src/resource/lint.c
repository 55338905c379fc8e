/*
 * lint.c - what is legal in a cluster and surely not meant
 *
 * Looks at a cluster that was read without errors; what virtual clusters are
 * given is looked at in check_shares.c.
 */
#include "resource/derive.h"
#include "resource/read.h"

enum { MOST_NAMED = 3 };

/* --- machines ------------------------------------------------------------- */

static void find_unused(pai__reader *r, const pai__sku *s)
{
  if (pai__find(r->f, PAI_SEVERITY_WARNING, "unused-sku", s->at,
                "no node is of SKU '%s'", s->name))
    pai__find_help(r->f, "is a node missing, or the name of its SKU wrong?");
}

/* What a node runs anyway must not be given to jobs. */
static void find_forgotten(pai__reader *r, const pai__sku *s)
{
  if (pai__find(r->f, PAI_SEVERITY_WARNING, "no-reserve", s->at,
                "SKU '%s' leaves nothing for what runs on each node anyway",
                s->name))
    pai__find_help(r->f, "say what the system and its daemons use, as used: "
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
      continue; /* the text does not tell of SKUs */
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

/* Nodes without a GPU that no virtual cluster can use. */
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

/* A pin is a cell, and cells are of one kind. */
static void look_at_pin(pai__reader *r, const pai__member *m, pai__node at)
{
  const pai__sku *s = pai__sku_of(r->c, m);
  pai__node pin = pai__tree_get(r->t, at, "pin");

  at = pin != PAI__NO_NODE ? pin : at;
  if (s->gpus == 0) {
    if (pai__find(r->f, PAI_SEVERITY_WARNING, "no-effect", at,
                  "the pin of node '%.80s' has no effect: it has no GPU",
                  m->name))
      pai__find_help(r->f, "only cells can be pinned, and they are made of "
                           "GPUs; take it out");
    return;
  }
  if (s->ngroups > 1 &&
      pai__find(r->f, PAI_SEVERITY_WARNING, "pin-of-part", at,
                "the pin of node '%.80s' is of its %u '%.80s' only", m->name,
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
  if (pai__cluster_has_parts(r->c)) { /* no shares that could be wrong */
    r->f->failed |= r->c->ntypes > 0 && pai__derive_shares(r->c) < 0;
    return;
  }
  if (r->c->nvcs > 0 || r->c->ncells > 0 || has_pins(r->c)) {
    look_at_cpu_nodes(r);
    if (r->c->ncells == 0) /* else pins have no effect at all */
      look_at_pins(r);
    rc = pai__cells_derive(r->c);
    r->f->failed |= rc == PAI_ENOMEM;
    if (rc == PAI_ELIMIT &&
        pai__find(r->f, PAI_SEVERITY_ERROR, "limit", r->places[0],
                  PAI__CELLS_LIMIT, PAI__CLUSTER_MAX_GPUS,
                  PAI__CELLS_MAX_TEXT >> 20))
      pai__find_help(r->f, "part it into several clusters");
    if (rc == PAI_OK)
      pai__read_check_shares(r);
  }
}
