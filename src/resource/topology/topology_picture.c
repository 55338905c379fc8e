/* topology_picture.c - picture of a machine as JSON; parts shared by all
 * forms */
#include "base/text/utf8.h"
#include "json/writer.h"
#include "resource/topology/topology_picture.h"

/* --- as JSON, for programs ----------------------------------------------- */

/* Unknown values are left out: 0, "" and PAI_NONE. */
static void put_number(pai__json_writer *w, const char *key, uint64_t n)
{
  pai__json_put_int(w, key, n <= INT64_MAX ? (int64_t)n : INT64_MAX);
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
  pai__json_put_array(w, "backends");
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
  pai__json_put_word(w, "vendor", g.vendor);
  pai__json_put_word(w, "model", g.model);
  pai__json_put_word(w, "uuid", g.uuid);
  pai__json_put_word(w, "serial", g.serial);
  put_known(w, "memory", g.bytes);
  pai__json_put_word(w, "pci", g.pci);
  put_known(w, "linkMBps", g.link_mbps);
  put_index(w, "index", g.index);
  put_index(w, "numaNode", g.numa_node);
  put_backends(w, g.backends);
  pai__json_put_word(w, "state", pai__topo_state(mark.state));
  pai__json_put_word(w, "note", mark.text);
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
  pai__json_put_word(w, "closeness", near[link.closeness]);
  pai__json_put_word(w, "kind", pai_link_name(link.kind));
  pai__json_put_bool(w, "direct", link.direct != 0);
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
  pai__json_put_word(w, "kind", kinds[o->kind]);
  if (o->kind == PAI_OBJECT_CACHE)
    put_number(w, "level", o->level);
  put_index(w, "index", o->os_index);
  put_index(w, "gpu", o->gpu);
  pai__json_put_word(w, "name", pai__topo_text(t, o->name));
  put_known(w, "bytes", o->bytes);
  pai__json_put_word(w, "pci", pai__topo_text(t, o->pci));
  put_known(w, "linkMBps", o->link_mbps);
  if (o->skip > i + 1) {
    pai__json_put_array(w, "in");
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
  pai__json_put_word(w, "name", s.name);
  put_number(w, "packages", s.packages);
  put_number(w, "numaNodes", s.numa_nodes);
  put_number(w, "cores", s.cores);
  put_number(w, "threads", s.pus);
  put_number(w, "memory", s.bytes);
}

static int topo_write_json(pai__buf *out, const pai__topo_picture *p)
{
  uint32_t n = (uint32_t)p->t->ngpus;
  pai__json_writer w;

  pai__json_writer_init(&w, out, true);
  pai__json_begin_object(&w);
  put_summary(&w, p->t);
  pai__json_put_array(&w, "gpus");
  for (uint32_t i = 0; i < n; i++)
    put_gpu(&w, p, i);
  pai__json_end_array(&w);
  pai__json_put_array(&w, "links");
  for (uint32_t a = 0; a < n; a++)
    for (uint32_t b = a + 1; b < n; b++)
      put_link(&w, p->t, a, b);
  pai__json_end_array(&w);
  pai__json_member(&w, "machine");
  put_object(&w, p->t, 0);
  pai__json_end_object(&w);
  return pai__json_finish(&w);
}

pai_gpu_mark pai__topo_mark(const pai__topo_picture *p, uint32_t gpu)
{
  pai_gpu_mark mark = { PAI_MARK_NONE, "" };

  if (p->marks != NULL && gpu < p->mark_count)
    mark = p->marks[gpu];
  if (mark.text == NULL)
    mark.text = "";
  return mark;
}

const char *pai__topo_state(int state)
{
  static const char *const names[] = { "", "free", "used", "sick" };

  return state > 0 && state < (int)PAI__LEN(names) ? names[state] : "";
}

const char *pai__topo_link_sign(int kind)
{
  static const char *const signs[] = { "", "", "NV", "SW", "XG", "XE" };

  return kind > 0 && kind < (int)PAI__LEN(signs) ? signs[kind] : "";
}

/* --- what is shown -------------------------------------------------------- */

static int add(pai__topo_list *l, uint32_t object)
{
  if (PAI__VEC_ROOM(l->alloc, l->at, l->len, l->cap) < 0)
    return PAI_ENOMEM;
  l->at[l->len++] = object;
  return PAI_OK;
}

void pai__topo_list_dispose(pai__topo_list *l)
{
  pai__free(l->alloc, l->at, l->cap * sizeof(*l->at));
}

/* Returns the number of PCI slots below a bridge: functions of a device count
 * once. */
static size_t count_slots(const pai_topology *t, uint32_t bridge)
{
  const char *last = "";
  size_t n = 0;

  for (uint32_t i = bridge + 1; i < t->objects[bridge].skip; i++) {
    const pai__topo_object *o = &t->objects[i];
    const char *pci = pai__topo_text(t, o->pci);
    if (o->pci == 0 || o->kind == PAI_OBJECT_BRIDGE)
      continue;
    n += strncmp(last, pci, strcspn(pci, ".")) != 0;
    last = pci;
  }
  return n;
}

/* Whether the PCI tree branches at a bridge. */
static bool is_switch(const pai_topology *t, uint32_t bridge)
{
  const pai__topo_object *o = &t->objects[bridge];
  size_t all;

  if (o->level != PAI__BRIDGE_PCI)
    return false;
  all = count_slots(t, bridge);
  for (uint32_t i = bridge + 1; i < o->skip; i = t->objects[i].skip)
    if (t->objects[i].kind == PAI_OBJECT_BRIDGE && count_slots(t, i) == all)
      return false; /* everything is behind one port */
  return all > 1;
}

/* Some objects are replaced by their content: a host bridge, a bridge to one
 * device, and a PCI device that has OS devices. */
int pai__topo_shown(pai__topo_list *out, const pai_topology *t,
                    uint32_t object)
{
  const pai__topo_object *o = &t->objects[object];
  int rc = PAI_OK;

  for (uint32_t i = object + 1; rc == PAI_OK && i < o->skip;
       i = t->objects[i].skip) {
    const pai__topo_object *in = &t->objects[i];
    bool stands = in->kind == PAI_OBJECT_BRIDGE ? !is_switch(t, i)
                  : in->kind == PAI_OBJECT_PCI  ? in->skip > i + 1
                                                : false;
    rc = stands ? pai__topo_shown(out, t, i) : add(out, i);
  }
  return rc;
}

/* Whether two objects look the same, contents included. */
static bool are_alike(const pai_topology *t, uint32_t a, uint32_t b)
{
  uint32_t n = t->objects[a].skip - a;

  if (t->objects[b].skip - b != n)
    return false;
  for (uint32_t i = 0; i < n; i++) {
    const pai__topo_object *x = &t->objects[a + i], *y = &t->objects[b + i];
    if (x->kind != y->kind || x->level != y->level || x->bytes != y->bytes ||
        x->cache != y->cache || x->kind == PAI_OBJECT_GPU ||
        (i > 0 && x->parent - a != y->parent - b) ||
        strcmp(pai__topo_text(t, x->name), pai__topo_text(t, y->name)) != 0)
      return false;
  }
  return true;
}

size_t pai__topo_run(const pai_topology *t, const pai__topo_list *l, size_t i)
{
  size_t n = 1;

  while (i + n < l->len && are_alike(t, l->at[i], l->at[i + n]))
    n++;
  return n;
}

/* --- words --------------------------------------------------------------- */

/* Writes an amount with up to three digits: 755 GB, 5.3 TB, 1 MB. */
static void add_amount(pai__buf *out, uint64_t n, uint64_t step)
{
  static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB" };
  uint64_t unit = 1, tenths, whole;
  size_t i = 0;

  while (i + 1 < PAI__LEN(units) && n / unit >= step) {
    unit *= step;
    i++;
  }
  tenths = n / unit * 10 + n % unit * 10 / unit;
  whole = n / unit + (tenths % 10 >= 5 ? 1 : 0);
  if (n / unit < 10 && tenths % 10 != 0)
    pai__buf_printf(out, "%u.%u %s", (unsigned)(tenths / 10),
                    (unsigned)(tenths % 10), units[i]);
  else
    pai__buf_printf(out, "%llu %s", (unsigned long long)whole, units[i]);
}

void pai__topo_add_bytes(pai__buf *out, uint64_t bytes)
{
  add_amount(out, bytes, 1024);
}

void pai__topo_add_disk(pai__buf *out, uint64_t bytes)
{
  add_amount(out, bytes, 1000);
}

void pai__topo_add_count(pai__buf *out, uint64_t n, const char *noun)
{
  pai__buf_printf(out, "%llu %s%s", (unsigned long long)n, noun,
                  n == 1 ? "" : "s");
}

void pai__topo_add_summary(pai__buf *out, const pai_topology *t)
{
  pai_topology_summary s = { .struct_size = sizeof(s) };

  (void)pai_topology_summarize(t, &s);
  if (s.packages > 0) {
    pai__topo_add_count(out, s.packages, "package");
    pai__buf_str(out, ", ");
  }
  if (s.cores > 0) {
    pai__topo_add_count(out, s.cores, "core");
    pai__buf_str(out, ", ");
  }
  pai__topo_add_count(out, s.pus, "thread");
  if (s.bytes > 0) {
    pai__buf_str(out, ", ");
    pai__topo_add_bytes(out, s.bytes);
  }
  if (s.gpus > 0) {
    pai__buf_str(out, ", ");
    pai__topo_add_count(out, s.gpus, "GPU");
  }
}

/* --- the call ------------------------------------------------------------ */

static int get_options(pai_topology_write_options *o,
                       const pai_topology_write_options *opts, pai_error **err)
{
  int rc = PAI__OPTIONS_IN(o, opts, pai_topology_write_options, mark_count);

  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_topology_write_options");
  if (o->format == 0)
    o->format = PAI_FORMAT_TEXT;
  if (o->format < PAI_FORMAT_JSON || o->format > PAI_FORMAT_SVG)
    return pai__fail(err, PAI_EINVAL,
                     "a machine cannot be written in format %d", o->format);
  if (o->marks == NULL && o->mark_count > 0)
    return pai__fail(err, PAI_EINVAL, "%zu marks, but no array of them",
                     o->mark_count);
  return PAI_OK;
}

int pai_topology_write(const pai_topology *t,
                       const pai_topology_write_options *opts,
                       pai_write_cb write, void *user_data, pai_error **err)
{
  pai_topology_write_options o;
  pai__topo_picture p;
  pai__buf out;
  int rc;

  PAI__CHECK_ARG_ERR(t != NULL && write != NULL, err);
  rc = get_options(&o, opts, err);
  if (rc < 0)
    return rc;
  p = (pai__topo_picture){ t, o.marks, o.mark_count };
  pai__buf_init(&out, &t->alloc);
  rc = o.format == PAI_FORMAT_JSON  ? topo_write_json(&out, &p)
       : o.format == PAI_FORMAT_SVG ? pai__topo_write_svg(&out, &p)
                                    : pai__topo_write_text(&out, &p);
  if (rc == PAI_OK && !pai__buf_ok(&out))
    rc = PAI_ENOMEM;
  if (rc == PAI_ENOMEM)
    (void)pai__oom(err);
  else if (rc < 0)
    (void)pai__fail(err, rc, "the machine is nested too deep to be written");
  else
    rc = write(user_data, pai__buf_text(&out), out.len);
  pai__buf_dispose(&out);
  return rc < 0 ? rc : PAI_OK;
}
