/* topology.c - machines: objects, GPUs, links, affinity, pictures */
#include "facade_fields.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>

/* --- reading ------------------------------------------------------------- */

Topology *facade_topology_discover(bool drivers, failure *f)
{
  pai_topology_options options = PAI_TOPOLOGY_OPTIONS_INIT;
  Topology *t;

  options.drivers = drivers;
  f->code = pai_topology_discover(&t, &options, &f->err);
  return t;
}

/* --- objects and GPUs ---------------------------------------------------- */

listing facade_topology_summary(const Topology *t, failure *f)
{
  pai_topology_summary s = { .struct_size = sizeof(s) };

  (void)pai_topology_summarize(t, &s);
  return json_object(fields_Summary, &s, f);
}

static const char *kind_name(int kind)
{
  static const char *const names[] = { "?",          "machine", "package",
                                       "group",      "numa",    "cache",
                                       "core",       "pu",      "bridge",
                                       "pci",        "gpu",     "network",
                                       "infiniband", "storage", "other" };

  return kind > 0 && (size_t)kind < sizeof(names) / sizeof(names[0])
           ? names[kind]
           : names[0]; /* of a newer library */
}

static void put_object(json *j, uint32_t number, const pai_topology_object *o)
{
  json_begin(j, NULL, '{');
  json_number(j, "number", number);
  json_text(j, "kind", kind_name(o->kind));
  json_fields(j, fields_TopologyObject, o);
  json_end(j, '}');
}

listing facade_topology_objects(const Topology *t, failure *f)
{
  pai_topology_object o = { .struct_size = sizeof(o) };
  uint32_t i = 0;
  json j;

  json_start(&j);
  json_begin(&j, NULL, '[');
  for (; pai_topology_view_object(t, i, &o) == PAI_OK; i++)
    put_object(&j, i, &o);
  json_end(&j, ']');
  return json_finish(&j, f);
}

static void put_gpu(json *j, uint32_t number, const pai_topology_gpu *g)
{
  json_begin(j, NULL, '{');
  json_number(j, "number", number);
  json_fields(j, fields_TopologyGpu, g);
  json_end(j, '}');
}

listing facade_topology_gpus(const Topology *t, failure *f)
{
  pai_topology_gpu g = { .struct_size = sizeof(g) };
  uint32_t i = 0;
  json j;

  json_start(&j);
  json_begin(&j, NULL, '[');
  for (; pai_topology_view_gpu(t, i, &g) == PAI_OK; i++)
    put_gpu(&j, i, &g);
  json_end(&j, ']');
  return json_finish(&j, f);
}

/* --- links and affinity -------------------------------------------------- */

static const char *near_name(int closeness)
{
  switch (closeness) {
  case PAI_NEAR_PACKAGE: return "package";
  case PAI_NEAR_NUMA: return "numa";
  case PAI_NEAR_SWITCH: return "switch";
  case PAI_NEAR_BOARD: return "board";
  case PAI_NEAR_SAME: return "same";
  default: return "machine";
  }
}

listing facade_topology_between(const Topology *t, uint32_t a, uint32_t b,
                                failure *f)
{
  pai_topology_link link = { .struct_size = sizeof(link) };
  json j;

  if (pai_topology_between(t, a, b, &link) < 0) {
    facade_fail(f, PAI_ENOTFOUND, "the machine has fewer GPUs");
    return (listing){ { NULL, 0 } };
  }
  json_start(&j);
  json_begin(&j, NULL, '{');
  json_text(&j, "near", near_name(link.closeness));
  json_fields(&j, fields_Link, &link);
  json_text(&j, "link", pai_link_name(link.kind));
  json_end(&j, '}');
  return json_finish(&j, f);
}

/* Writes the variables with their values, and leaves out those without one. */
static void put_variables(json *j, const pai_affinity *a, bool by_uuid)
{
  const pai_affinity_variable_view *v;

  json_begin(j, by_uuid ? "env_by_uuid" : "env", '{');
  for (size_t i = 0; (v = pai_affinity_variable(a, i)) != NULL; i++)
    json_some(j, v->name, by_uuid ? v->by_uuid : v->by_index);
  json_end(j, '}');
}

static listing put_affinity(const pai_affinity *a, failure *f)
{
  const pai_affinity_view *view = pai_affinity_get(a);
  json j;

  json_start(&j);
  json_begin(&j, NULL, '{');
  json_fields(&j, fields_Affinity, view);
  put_variables(&j, a, false);
  put_variables(&j, a, true);
  json_end(&j, '}');
  return json_finish(&j, f);
}

listing facade_topology_affinity(const Topology *t, words gpus, uint32_t cores,
                                 failure *f)
{
  uint32_t *list = calloc(gpus.len + 1, sizeof(*list)); /* at most */
  listing found = { { NULL, 0 } };
  pai_affinity *a = NULL;
  size_t count;

  if (list == NULL)
    facade_fail(f, PAI_ENOMEM, "out of memory");
  else if (facade_numbers(list, &count, &gpus, f))
    f->code = pai_topology_affinity(&a, t, list, count, cores, &f->err);
  if (a != NULL)
    found = put_affinity(a, f);
  pai_affinity_free(a);
  free(list);
  return found;
}

/* --- pictures -------------------------------------------------------------- */

static size_t place(const void *of, const char *node, size_t gpu, failure *f)
{
  pai_topology_summary s = { .struct_size = sizeof(s) };

  (void)pai_topology_summarize(of, &s);
  if (*node == '\0' && gpu < s.gpus)
    return gpu;
  facade_fail(f, PAI_ENOTFOUND, "a mark is of a GPU that there is not");
  return SIZE_MAX;
}

job_text facade_topology_write(const Topology *t, int format, words marks,
                               failure *f)
{
  pai_topology_write_options options = PAI_TOPOLOGY_WRITE_OPTIONS_INIT;
  pai_topology_summary s = { .struct_size = sizeof(s) };
  job_text text = { NULL, 0 };
  pai_gpu_mark *list;

  (void)pai_topology_summarize(t, &s);
  list = facade_marks(&marks, place, t, s.gpus, f);
  options.format = format;
  options.marks = list;
  options.mark_count = list != NULL ? s.gpus : 0;
  if (f->code == PAI_OK)
    f->code = pai_topology_write(t, &options, facade_collect, &text, &f->err);
  free(list);
  return facade_finished(text, f);
}
