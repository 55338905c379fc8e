/* topology_json.c - a machine for programs */
#include "json/writer.h"
#include "resource/topology_picture.h"

static void put_key(pai__json_writer *w, const char *key)
{
  pai__json_key(w, key, strlen(key));
}

/* What is not known is left out, as are 0, "" and PAI_NONE below. */
static void put_text(pai__json_writer *w, const char *key, const char *text)
{
  if (*text == '\0')
    return;
  put_key(w, key);
  pai__json_text(w, text, strlen(text));
}

static void put_number(pai__json_writer *w, const char *key, uint64_t n)
{
  put_key(w, key);
  pai__json_int(w, n <= INT64_MAX ? (int64_t)n : INT64_MAX);
}

static void put_known(pai__json_writer *w, const char *key, uint64_t n)
{
  if (n != 0)
    put_number(w, key, n);
}

static void put_index(pai__json_writer *w, const char *key, uint32_t n)
{
  if (n != PAI_NONE)
    put_number(w, key, n);
}

static void put_backends(pai__json_writer *w, const char *names)
{
  put_key(w, "backends");
  pai__json_begin_array(w);
  while (*names != '\0') {
    size_t len = strcspn(names, " ");
    pai__json_text(w, names, len);
    names += len + (names[len] == ' ');
  }
  pai__json_end_array(w);
}

static void put_gpu(pai__json_writer *w, const pai__topo_picture *p,
                    uint32_t i)
{
  pai_topology_gpu g = { .struct_size = sizeof(g) };
  pai_gpu_mark mark = pai__topo_mark(p, i);

  (void)pai_topology_view_gpu(p->t, i, &g);
  pai__json_begin_object(w);
  put_number(w, "gpu", i);
  put_text(w, "vendor", g.vendor);
  put_text(w, "model", g.model);
  put_text(w, "uuid", g.uuid);
  put_text(w, "serial", g.serial);
  put_known(w, "memory", g.bytes);
  put_text(w, "pci", g.pci);
  put_known(w, "linkMBps", g.link_mbps);
  put_index(w, "index", g.index);
  put_index(w, "numaNode", g.numa_node);
  put_backends(w, g.backends);
  put_text(w, "state", pai__topo_state(mark.state));
  put_text(w, "note", mark.text);
  pai__json_end_object(w);
}

static void put_link(pai__json_writer *w, const pai_topology *t, uint32_t a,
                     uint32_t b)
{
  static const char *const near[] = { "",       "machine", "package", "numa",
                                      "switch", "board",   "same" };
  pai_topology_link link = { .struct_size = sizeof(link) };

  (void)pai_topology_between(t, a, b, &link);
  pai__json_begin_object(w);
  put_number(w, "a", a);
  put_number(w, "b", b);
  put_text(w, "closeness", near[link.closeness]);
  put_text(w, "kind", pai_link_name(link.kind));
  put_key(w, "direct");
  pai__json_bool(w, link.direct != 0);
  put_known(w, "hops", link.hops);
  put_known(w, "MBps", link.mbps);
  pai__json_end_object(w);
}

static void put_object(pai__json_writer *w, const pai_topology *t, uint32_t i)
{
  static const char *const kinds[] = { "",           "machine", "package",
                                       "group",      "numa",    "cache",
                                       "core",       "thread",  "bridge",
                                       "pci",        "gpu",     "network",
                                       "infiniband", "storage", "other" };
  const pai__topo_object *o = &t->objects[i];

  pai__json_begin_object(w);
  put_text(w, "kind", kinds[o->kind]);
  if (o->kind == PAI_OBJECT_CACHE)
    put_number(w, "level", o->level);
  put_index(w, "index", o->os_index);
  put_index(w, "gpu", o->gpu);
  put_text(w, "name", pai__topo_text(t, o->name));
  put_known(w, "bytes", o->bytes);
  put_text(w, "pci", pai__topo_text(t, o->pci));
  put_known(w, "linkMBps", o->link_mbps);
  if (o->skip > i + 1) {
    put_key(w, "in");
    pai__json_begin_array(w);
    for (uint32_t k = i + 1; k < o->skip; k = t->objects[k].skip)
      put_object(w, t, k);
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
}

static void put_summary(pai__json_writer *w, const pai_topology *t)
{
  pai_topology_summary s = { .struct_size = sizeof(s) };

  (void)pai_topology_summarize(t, &s);
  put_text(w, "name", s.name);
  put_number(w, "packages", s.packages);
  put_number(w, "numaNodes", s.numa_nodes);
  put_number(w, "cores", s.cores);
  put_number(w, "threads", s.pus);
  put_number(w, "memory", s.bytes);
}

int pai__topo_write_json(pai__buf *out, const pai__topo_picture *p)
{
  uint32_t n = (uint32_t)p->t->ngpus;
  pai__json_writer w;

  pai__json_writer_init(&w, out, true);
  pai__json_begin_object(&w);
  put_summary(&w, p->t);
  put_key(&w, "gpus");
  pai__json_begin_array(&w);
  for (uint32_t i = 0; i < n; i++)
    put_gpu(&w, p, i);
  pai__json_end_array(&w);
  put_key(&w, "links");
  pai__json_begin_array(&w);
  for (uint32_t a = 0; a < n; a++)
    for (uint32_t b = a + 1; b < n; b++)
      put_link(&w, p->t, a, b);
  pai__json_end_array(&w);
  put_key(&w, "machine");
  put_object(&w, p->t, 0);
  pai__json_end_object(&w);
  return pai__json_finish(&w);
}
