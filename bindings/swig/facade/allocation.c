/* allocation.c - allocation sets */
#include "shared.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = { "", "gpu", "cpu", "port" };

/* Returns PAI_ALLOCATION_GPU, ...; 0 after a failure. */
static int kind_of(const char *name, failure *f)
{
  for (int kind = PAI_ALLOCATION_GPU; kind <= PAI_ALLOCATION_PORT; kind++)
    if (strcmp(name, names[kind]) == 0)
      return kind;
  facade_fail(f, PAI_EINVAL, "what is allocated is a gpu, a cpu or a port");
  return 0;
}

void facade_allocation_add(Allocation *set, uint32_t node, const char *kind,
                           uint32_t first, uint32_t last, failure *f)
{
  int k = kind_of(kind, f);

  if (k > 0)
    f->code = pai_allocation_add(set, node, k, first,
                                 last != PAI_NONE ? last : first, &f->err);
}

void facade_allocation_remove(Allocation *set, uint32_t node, const char *kind,
                              uint32_t first, uint32_t last, failure *f)
{
  int k = kind_of(kind, f);

  if (k > 0)
    f->code = pai_allocation_remove(set, node, k, first,
                                    last != PAI_NONE ? last : first, &f->err);
}

bool facade_allocation_has(const Allocation *set, uint32_t node,
                           const char *kind, uint32_t number, failure *f)
{
  int k = kind_of(kind, f);

  return k > 0 && pai_allocation_has(set, node, k, number) != 0;
}

int64_t facade_allocation_count(const Allocation *set, const char *kind,
                                uint32_t node, failure *f)
{
  int k = kind_of(kind, f);

  if (k == 0)
    return 0;
  return node == PAI_NONE ? (int64_t)pai_allocation_total(set, k)
                          : pai_allocation_count(set, node, k);
}

int64_t facade_allocation_memory(const Allocation *set, uint32_t node)
{
  return (int64_t)(node == PAI_NONE ? pai_allocation_total_memory(set)
                                    : pai_allocation_memory(set, node));
}

static void put_ranges(json *j, const Allocation *set, pai_allocation_iter *it,
                       int kind)
{
  json_begin(j, names[kind], '[');
  while (pai_allocation_next_range(set, it, kind)) {
    json_begin(j, NULL, '[');
    json_number(j, NULL, it->first);
    json_number(j, NULL, it->last);
    json_end(j, ']');
  }
  json_end(j, ']');
}

listing facade_allocation_nodes(const Allocation *set, failure *f)
{
  pai_allocation_iter it = PAI_ALLOCATION_ITER_INIT;
  json j;

  json_start(&j);
  json_begin(&j, NULL, '[');
  while (pai_allocation_next_node(set, &it)) {
    json_begin(&j, NULL, '{');
    json_number(&j, "node", it.node);
    for (int kind = PAI_ALLOCATION_GPU; kind <= PAI_ALLOCATION_PORT; kind++)
      put_ranges(&j, set, &it, kind);
    json_number(&j, "memory", (int64_t)pai_allocation_memory(set, it.node));
    json_end(&j, '}');
  }
  json_end(&j, ']');
  return json_finish(&j, f);
}

job_text facade_allocation_write(const Allocation *set, bool as_json,
                                 failure *f)
{
  job_text t = { NULL, 0 };

  if (facade_collect(&t, "", 0) < 0) /* an empty set writes nothing */
    facade_fail(f, PAI_ENOMEM, "out of memory");
  else if (as_json)
    f->code = pai_allocation_write_json(set, facade_collect, &t, &f->err);
  else
    f->code = pai_allocation_write(set, facade_collect, &t, &f->err);
  return facade_finished(t, f);
}
