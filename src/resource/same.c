/*
 * same.c - what two machines, or two GPUs, cannot both have: a name, an
 * address, a UUID
 *
 * Of what many share, the second that has it is told of, and how many more.
 */
#include "resource/read.h"

#include <stdio.h>

/* Things by what they should have for themselves. */
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

/* How many from `first` on have the same. */
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
                    "node '%.80s' is there already, at line %u", l.of[k].name,
                    line_of(r, l.of[i].index)))
        pai__find_help(r->f, "rename one of them, or take it out");
  }
  dispose(&l, r);
  return PAI_OK;
}

/* --- addresses ------------------------------------------------------------ */

/* Some simulate machines, and Slurm may run several nodes on one: so it is no
 * error. */
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
    pai__find_help(r->f, "each machine has its own; is one here twice?");
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

  while (to - from > 1) { /* the last one that begins at it or before */
    size_t middle = from + (to - from) / 2;

    if (c->nodes[middle].first_gpu <= gpu)
      from = middle;
    else
      to = middle;
  }
  return (uint32_t)from;
}

/* In one node, both would be shown to a job as the same device.  Nodes may be
 * copies of a machine's description: then one finding each is enough. */
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
      pai__find_help(r->f, "two jobs would be given one GPU; take out what "
                           "is wrong");
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
    pai__find_help(r->f, "is one machine here twice?");
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
