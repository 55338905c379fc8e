/*
 * lint.c - what is legal in a cluster and surely not meant, and shares that do
 * not add up
 *
 * Looks at a cluster that was read without errors; where it has virtual
 * clusters, its cells are there.
 */
#include "resource/derive.h"
#include "resource/read.h"

enum { MOST_NAMED = 3, FLAT = 4 /* GPUs */ };

/* --- machines ------------------------------------------------------------- */

static size_t nodes_of(const pai_cluster *c, uint32_t sku)
{
  size_t n = 0;

  for (size_t i = 0; i < c->nnodes; i++)
    n += c->nodes[i].sku == sku;
  return n;
}

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

  for (uint32_t i = 0; i < c->nskus; i++) {
    const pai__sku *s = &c->skus[i];

    if (s->at == 0)
      continue; /* the text does not tell of SKUs */
    if (nodes_of(c, i) == 0) {
      find_unused(r, s);
      continue;
    }
    if ((s->cpus != 0 && s->used_cpus == 0) ||
        (s->memory != 0 && s->used_memory == 0))
      find_forgotten(r, s);
    if (c->nvcs > 0 && s->gpus >= FLAT && s->numa < 2 && s->nnear == 0)
      find_flat(r, s);
  }
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

/* --- shares --------------------------------------------------------------- */

/* The last word of "chain.type", as a type; PAI__NOTHING: there is none. */
static uint32_t type_of(const pai_cluster *c, const char *path)
{
  const char *dot = strrchr(path, '.'), *name = dot != NULL ? dot + 1 : path;

  for (size_t i = 0; i < c->ntypes; i++)
    if (strcmp(c->types[i].name, name) == 0)
      return (uint32_t)i;
  return PAI__NOTHING;
}

static bool is_in_chain(const pai_cluster *c, const char *path, uint32_t chain)
{
  const char *name = c->types[chain].name;
  size_t len = strcspn(path, ".");

  return strlen(name) == len && memcmp(name, path, len) == 0;
}

static bool is_part(const pai_cluster *c, uint32_t chain, uint32_t type)
{
  while (chain != PAI__NOTHING && chain != type)
    chain = c->types[chain].child;
  return chain == type;
}

/* Whether some chain has the share's cells; says what is wrong otherwise. */
static void look_at_share(pai__reader *r, const pai__vc *vc,
                          const pai__share *s)
{
  const pai_cluster *c = r->c;
  uint32_t type = type_of(c, s->path);
  pai__names names;

  for (uint32_t i = 0; i < c->ncells; i = c->cells[i].skip)
    if (is_in_chain(c, s->path, c->cells[i].type) && type != PAI__NOTHING &&
        is_part(c, c->cells[i].type, type))
      return;
  if (type != PAI__NOTHING && strchr(s->path, '.') == NULL) {
    if (pai__find(r->f, PAI_SEVERITY_ERROR, "unclear-cell", s->at,
                  "several chains have cells '%s' for '%s'", s->path,
                  vc->name))
      pai__find_help(r->f, "say which, as CHAIN.%s", s->path);
    return;
  }
  if (!pai__find(r->f, PAI_SEVERITY_ERROR, "unknown-cell", s->at,
                 "there are no cells '%s' for '%s'", s->path, vc->name))
    return;
  pai__names_init(&names, &c->alloc, s->path, strlen(s->path));
  for (size_t i = 0; i < c->ntypes; i++)
    pai__names_add(&names, c->types[i].name, strlen(c->types[i].name));
  pai__names_help(&names, r->f, "types of cells");
}

static bool has_pin(const pai_cluster *c, const char *pin)
{
  for (size_t i = 0; i < c->ncells; i++)
    if (c->cells[i].pin != NULL && strcmp(c->cells[i].pin, pin) == 0)
      return true;
  return false;
}

static void look_at_pin(pai__reader *r, const pai__vc *vc, const pai__share *s)
{
  const pai_cluster *c = r->c;
  pai__names names;

  if (has_pin(c, s->pin) ||
      !pai__find(r->f, PAI_SEVERITY_ERROR, "unknown-pin", s->at,
                 "no cell is pinned as '%s' for '%s'", s->pin, vc->name))
    return;
  pai__names_init(&names, &c->alloc, s->pin, strlen(s->pin));
  for (size_t i = 0; i < c->ncells; i++)
    if (c->cells[i].pin != NULL)
      pai__names_add(&names, c->cells[i].pin, strlen(c->cells[i].pin));
  pai__names_help(&names, r->f, "pins of this file");
}

/* Adds up what is wanted of a chain. */
static void add_demand(const pai_cluster *c, uint32_t chain, uint64_t *of)
{
  memset(of, 0, c->ntypes * sizeof(*of));
  for (size_t v = 0; v < c->nvcs; v++)
    for (uint32_t i = 0; i < c->vcs[v].nshares; i++) {
      const pai__share *s = &c->vcs[v].shares[i];
      uint32_t type;

      if (s->path == NULL || !is_in_chain(c, s->path, chain))
        continue;
      type = type_of(c, s->path);
      if (type != PAI__NOTHING)
        of[type] += s->count;
    }
  for (size_t i = 0; i < c->ncells; i++)
    if (c->cells[i].pin != NULL && is_part(c, chain, c->cells[i].type))
      of[c->cells[i].type] += 1; /* whoever has the pin */
}

/* A chain's cells against what is wanted: from the top, what is left of a
 * level is split into the next. */
static void look_at_chain(pai__reader *r, uint32_t chain, uint64_t tops,
                          const uint64_t *of)
{
  const pai_cluster *c = r->c;
  pai__node at = c->vcs[0].at;
  uint64_t left = tops;

  for (uint32_t t = chain; t != PAI__NOTHING; t = c->types[t].child) {
    if (of[t] > left) {
      if (pai__find(r->f, PAI_SEVERITY_ERROR, "too-many-shares", at,
                    "virtual clusters share out %llu cells '%s' of chain "
                    "'%s', and there are %llu",
                    (unsigned long long)of[t], c->types[t].name,
                    c->types[chain].name, (unsigned long long)left))
        pai__find_help(r->f, "give some of them fewer; what is given away as "
                             "larger cells is gone");
      return;
    }
    left =
      (left - of[t]) * (c->types[t].children != 0 ? c->types[t].children : 1);
  }
  if (left > 0 &&
      pai__find(r->f, PAI_SEVERITY_WARNING, "unshared", at,
                "%llu GPUs of chain '%s' belong to no virtual cluster",
                (unsigned long long)left, c->types[chain].name))
    pai__find_help(r->f, "only jobs of low priority can use them");
}

static void look_at_chains(pai__reader *r)
{
  const pai_cluster *c = r->c;
  uint64_t *of = pai__realloc(&c->alloc, NULL, 0, c->ntypes + 1, sizeof(*of));
  uint32_t next;

  if (of == NULL) {
    r->f->failed = true;
    return;
  }
  for (uint32_t i = 0; i < c->ncells; i = next) {
    uint64_t tops = 0;

    for (next = i; next < c->ncells && c->cells[next].type == c->cells[i].type;
         next = c->cells[next].skip)
      tops++;
    add_demand(c, c->cells[i].type, of);
    look_at_chain(r, c->cells[i].type, tops, of);
  }
  pai__free(&c->alloc, of, (c->ntypes + 1) * sizeof(*of));
}

static void look_at_shares(pai__reader *r)
{
  const pai_cluster *c = r->c;

  for (size_t v = 0; v < c->nvcs; v++)
    for (uint32_t i = 0; i < c->vcs[v].nshares; i++) {
      const pai__share *s = &c->vcs[v].shares[i];

      if (s->path != NULL)
        look_at_share(r, &c->vcs[v], s);
      else
        look_at_pin(r, &c->vcs[v], s);
    }
  if (r->f->errors == 0)
    look_at_chains(r);
}

/* --- all ------------------------------------------------------------------ */

void pai__cluster_lint(pai__reader *r)
{
  int rc;

  look_at_skus(r);
  if (r->c->nvcs == 0)
    return;
  look_at_cpu_nodes(r);
  rc = pai__cells_derive(r->c);
  r->f->failed |= rc == PAI_ENOMEM;
  if (rc == PAI_OK)
    look_at_shares(r);
}
