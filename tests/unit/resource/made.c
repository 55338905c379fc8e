/* made.c - machines for tests */
#include "made.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct maker {
  pai_topology *t;
  const char *at;
  uint32_t pus, numa, nvidia, amd, slot; /* numbers of the next */
} maker;

static int kind_of(char c)
{
  switch (c) {
  case 'p': return PAI_OBJECT_PACKAGE;
  case 'r': return PAI_OBJECT_GROUP;
  case 'n': return PAI_OBJECT_NUMA;
  case 'c': return PAI_OBJECT_CORE;
  case 'h':
  case 'b': return PAI_OBJECT_BRIDGE;
  default: return PAI_OBJECT_PCI;
  }
}

static int add_pus(maker *m, uint32_t core)
{
  int rc = PAI_OK;

  for (int i = 0; rc == PAI_OK && i < 2; i++) {
    uint32_t pu;
    rc = pai__topo_begin(m->t, &pu, core, PAI_OBJECT_PU);
    if (rc == PAI_OK)
      rc = pai__topo_add_pu(m->t, pu, m->pus++);
    if (rc == PAI_OK)
      rc = pai__topo_end(m->t, &pu);
  }
  return rc;
}

static int add_gpu(maker *m, uint32_t object, bool amd)
{
  pai__topo_object *o = &m->t->objects[object];
  uint32_t i = amd ? m->amd++ : m->nvidia++, same;
  char name[16], uuid[24], serial[16];
  pai__topo_device d = { .kind = PAI_OBJECT_GPU,
                         .name = name,
                         .backend = amd ? "RSMI" : "NVML",
                         .model = amd ? "MI50" : "V100",
                         .uuid = uuid,
                         .serial = serial,
                         .bytes = (uint64_t)32 << 30 };

  (void)snprintf(name, sizeof(name), "%s%u", amd ? "rsmi" : "nvml", i);
  (void)snprintf(uuid, sizeof(uuid), "GPU-%u%c", i, amd ? 'a' : 'n');
  (void)snprintf(serial, sizeof(serial), "S%u", i);
  o->vendor_id = amd ? 0x1002 : 0x10de;
  o->pci_class = 0x0302;
  return pai__topo_add_device(m->t, &same, object, &d);
}

static int add_network(maker *m, uint32_t object)
{
  char name[16];
  pai__topo_device d = { .kind = PAI_OBJECT_NETWORK, .name = name };
  uint32_t made;
  int rc;

  (void)snprintf(name, sizeof(name), "eth%u", m->slot);
  rc = pai__topo_add_device(m->t, &made, object, &d);
  return rc == PAI_OK ? pai__topo_end(m->t, &made) : rc;
}

static int add_pci(maker *m, uint32_t object, char c)
{
  char pci[32];
  int rc;

  (void)snprintf(pci, sizeof(pci), "0000:%02x:00.0", ++m->slot);
  rc = pai__topo_string(m->t, &m->t->objects[object].pci, pci);
  m->t->objects[object].link_mbps = 16000 - m->slot;
  if (rc < 0)
    return rc;
  if (c == 'd') {
    m->t->objects[object].is_switch = true;
    return pai__topo_string(m->t, &m->t->objects[object].name, "NVSwitch");
  }
  return c == 'e' ? add_network(m, object) : add_gpu(m, object, c == 'a');
}

static int add_all(maker *m, uint32_t parent);

static int add_one(maker *m, uint32_t parent)
{
  char c = *m->at++;
  uint32_t object;
  int rc = pai__topo_begin(m->t, &object, parent, kind_of(c));

  if (rc < 0)
    return rc;
  if (c == 'n') {
    m->t->objects[object].bytes = (uint64_t)64 << 30;
    m->t->objects[object].os_index = m->numa++;
  } else if (c == 'c') {
    rc = add_pus(m, object);
  } else if (c == 'h' || c == 'b') {
    m->t->objects[object].level =
      c == 'h' ? PAI__BRIDGE_HOST : PAI__BRIDGE_PCI;
  } else if (kind_of(c) == PAI_OBJECT_PCI) {
    rc = add_pci(m, object, c);
  }
  if (rc == PAI_OK && *m->at == '(') {
    m->at++;
    rc = add_all(m, object);
  }
  return rc == PAI_OK ? pai__topo_end(m->t, &object) : rc;
}

static int add_all(maker *m, uint32_t parent)
{
  int rc = PAI_OK;

  while (rc == PAI_OK && *m->at != '\0' && *m->at != ')') {
    if (*m->at == ' ')
      m->at++;
    else
      rc = add_one(m, parent);
  }
  m->at += rc == PAI_OK && *m->at == ')';
  return rc;
}

int test_make(pai_topology **out, const char *line, const pai_alloc *alloc)
{
  maker m = { .at = line };
  uint32_t root;
  int rc = pai__topo_new(&m.t, alloc);

  if (rc == PAI_OK)
    rc = pai__topo_begin(m.t, &root, PAI_NONE, PAI_OBJECT_MACHINE);
  if (rc == PAI_OK)
    rc = pai__topo_string(m.t, &m.t->objects[root].name, "made");
  if (rc == PAI_OK)
    rc = add_all(&m, root);
  if (rc == PAI_OK)
    rc = pai__topo_end(m.t, &root);
  if (rc == PAI_OK)
    rc = pai__topo_finish(m.t);
  if (rc < 0) {
    pai_topology_unref(m.t);
    m.t = NULL;
  }
  *out = m.t;
  return rc;
}

pai_topology *test_machine(const char *line)
{
  pai_topology *t;

  assert_ok(test_make(&t, line, &pai__libc_alloc));
  return t;
}

int test_matrix(pai_topology *t, const char *name, uint32_t n,
                const uint64_t *values)
{
  uint32_t objects[16];
  pai__topo_matrix m = { name, n, objects, values };
  int rc;

  assert_true(n <= PAI__LEN(objects) && n <= t->ngpus);
  for (uint32_t i = 0; i < n; i++)
    objects[i] = t->gpus[i].object;
  rc = pai__topo_add_matrix(t, &m);
  pai__topo_end_matrices(t);
  return rc;
}

pai_topology *test_real(const char *name)
{
  const char *shared = getenv("OPENPAI_SHARED");
  pai_error *err = NULL;
  pai_topology *t;
  char path[1024];
  FILE *f;

  (void)snprintf(path, sizeof(path), "%s/data/topologies/%s",
                 shared != NULL ? shared : SOURCE_DIR "/../shared", name);
  f = fopen(path, "rb");
  if (f == NULL) {
    printf("skipped: cannot open %s\n", path);
    return NULL;
  }
  (void)fclose(f);
  if (pai_topology_load(&t, path, NULL, &err) < 0)
    fail_msg("%s: %s", path, pai_error_message(err));
  assert_null(err);
  return t;
}

/* --- looking ---------------------------------------------------------------- */

pai_topology *test_xml(const char *text)
{
  pai_error *err = NULL;
  pai_topology *t;

  if (pai_topology_parse_xml(&t, text, strlen(text), NULL, &err) < 0)
    fail_msg("%u:%u: %s", pai_error_line(err), pai_error_column(err),
             pai_error_message(err));
  assert_null(err);
  return t;
}

pai_topology_summary test_sum(const pai_topology *t)
{
  pai_topology_summary s = { .struct_size = sizeof(s) };

  assert_ok(pai_topology_summarize(t, &s));
  return s;
}

pai_topology_gpu test_gpu(const pai_topology *t, uint32_t i)
{
  pai_topology_gpu g = { .struct_size = sizeof(g) };

  assert_ok(pai_topology_view_gpu(t, i, &g));
  return g;
}

pai_topology_object test_object(const pai_topology *t, uint32_t i)
{
  pai_topology_object o = { .struct_size = sizeof(o) };

  assert_ok(pai_topology_view_object(t, i, &o));
  return o;
}

char *test_gpu_line(const pai_topology *t, uint32_t i)
{
  pai_topology_gpu g = test_gpu(t, i);
  pai__buf b = test_buf();

  pai__buf_printf(&b, "%d '%s' %s '%s' '%s' '%s' '%s' %llu numa %d %u MB/s",
                  (int)g.index, g.pci, g.vendor, g.model, g.uuid, g.serial,
                  g.backends, (unsigned long long)g.bytes, (int)g.numa_node,
                  g.link_mbps);
  return pai__buf_take(&b);
}

void test_tree_holds(const pai_topology *t)
{
  pai_topology_summary s = test_sum(t);

  for (uint32_t i = 0; i < s.objects; i++) {
    pai_topology_object o = test_object(t, i), in;
    assert_true(o.kind >= PAI_OBJECT_MACHINE && o.kind <= PAI_OBJECT_OTHER);
    assert_true(o.end > i && o.end <= s.objects);
    assert_true((o.parent == PAI_NONE) == (i == 0));
    assert_true((o.kind == PAI_OBJECT_GPU) == (o.gpu != PAI_NONE));
    assert_true(o.pus <= s.pus);
    if (i == 0)
      continue;
    in = test_object(t, o.parent);
    assert_true(o.parent < i && o.end <= in.end && o.pus <= in.pus);
  }
  for (uint32_t i = 0; i < s.gpus; i++)
    assert_int_equal(test_object(t, test_gpu(t, i).object).gpu, i);
}
