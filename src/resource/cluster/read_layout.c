/* read_layout.c - read OpenPAI's layout.yaml
 *
 * What OpenPAI's own check refuses is refused here too, with all errors at
 * once: first of each machine, then of all together.  Only workers become
 * nodes, because no job runs on the other machines. */
#include "resource/cluster/import.h"

#include "base/text/utf8.h"

#include <stdlib.h>

/* An entry of `machine-sku`; added to the cluster once a worker has it. */
typedef struct machine_type {
  pai__sku sku;
  uint32_t index;
  bool is_used;
} machine_type;

typedef struct machine {
  pai__node at;
  pai__node name_at, address_at;
  pai__piece name, address;
  uint32_t type; /* or PAI__NOTHING */
  bool is_worker, is_master, is_storage;
  bool is_twice; /* has a name or an address of an earlier machine */
} machine;

typedef struct layout {
  pai__reader *r;
  machine_type *types;
  machine *machines;
  size_t ntypes, nmachines, type_room, machine_room;
  pai__map by_name; /* 1 + index in types */
  bool is_old;      /* layout of OpenPAI before 1.0 */
} layout;

static bool is_layout(const pai__tree *t)
{
  return pai__tree_get(t, 0, "machine-list") != PAI__NO_NODE ||
         pai__tree_get(t, 0, "machine-sku") != PAI__NO_NODE;
}

/* --- types of machines ---------------------------------------------------- */

/* Reads memory as Kubernetes writes it.  Layouts before OpenPAI 1.5 write
 * 60GB, and before 1.0 also 60. */
static uint64_t read_memory(const layout *l, pai__node n)
{
  pai__reader *r = l->r;
  pai__piece s = pai__import_text(r, n);
  char text[PAI__VALUE_TEXT];
  uint64_t size = 0;

  if (n == PAI__NO_NODE)
    return 0;
  if (l->is_old && pai__tree_type(r->t, n) == PAI__INT)
    return (uint64_t)pai__read_uint32(r, n, "mem", 1, PAI__MOST_MEMORY >> 30,
                                      0)
           << 30;
  if (s.s != NULL && s.len > 1 && s.s[s.len - 1] == 'B' &&
      pai__quantity_parse(&size, s.s, s.len - 1, false) &&
      size <= PAI__MOST_MEMORY) {
    if (pai__find(r->f, PAI_SEVERITY_WARNING, "old-unit", n,
                  "'%.*s' has a unit of old layouts", (int)s.len, s.s))
      pai__find_help(r->f, "write '%.*s', as it is read here, or '%.*si'",
                     (int)s.len - 1, s.s, (int)s.len - 1, s.s);
    return size;
  }
  if (pai__tree_type(r->t, n) == PAI__STRING)
    return pai__read_quantity(r, n, "mem", false, PAI__MOST_MEMORY, &size)
             ? size
             : 0;
  if (pai__find(r->f, PAI_SEVERITY_ERROR, "wrong-type", n,
                "mem must be a text with a unit, not %s",
                pai__value_text(text, r->f, n)))
    pai__find_help(r->f, "write 512Gi, say");
  return 0;
}

/* Reads `computing-device`, or `gpu` of layouts before OpenPAI 1.0, which knew
 * no other vendor than NVIDIA. */
static void read_gpus(pai__reader *r, pai__node n, bool is_old, pai__sku *sku)
{
  static const pai__read_field device[] = { PAI__NEEDED("type"),
                                            PAI__NEEDED("model"),
                                            PAI__NEEDED("count") };
  static const pai__read_field old[] = { PAI__KNOWN("type"),
                                         PAI__KNOWN("count") };
  const char *resource = "nvidia.com/gpu";
  pai__node v[PAI__LEN(device)], *of = v;
  pai__gpu_group *group;
  pai__piece model;

  if (!pai__read_fields(r, n, is_old ? "gpu" : "computing-device",
                        is_old ? old : device,
                        is_old ? PAI__LEN(old) : PAI__LEN(device), v))
    return;
  if (!is_old)
    resource = pai__read_copy(r, *of++, "type");
  model = pai__read_text(r, of[0], is_old ? "type" : "model");
  group = pai__read_room(r, 0, sizeof(*group));
  if (group == NULL || model.s == NULL)
    return;
  group->count =
    pai__read_uint32(r, of[1], "count", !is_old, PAI__NODE_MAX_GPUS, 0);
  if (is_old && group->count == 0)
    return;
  group->kind = pai__import_kind(r, of[0], model);
  if (group->count == 0 || group->kind == PAI__NOTHING)
    return;
  if (is_old || r->c->kinds[group->kind].resource == NULL)
    r->c->kinds[group->kind].resource = resource;
  sku->groups = group;
  sku->ngroups = 1;
}

static void read_type(pai__reader *r, pai__node key, void *record)
{
  enum { DEVICE, MEM, CPU, GPU, FIELDS };
  static const pai__read_field fields[FIELDS] = {
    PAI__KNOWN("computing-device"), PAI__NEEDED("mem"), PAI__NEEDED("cpu"),
    PAI__KNOWN("gpu")
  };
  static const pai__read_field cpu_fields[] = { PAI__FIELD(
    "vcore", NUMBER, .needed = true, .place = offsetof(pai__sku, cpus),
    .least = 1, .most = PAI__IMPORT_CPUS) };
  layout *l = record;
  machine_type *type = &l->types[l->ntypes];
  pai__node v[FIELDS];
  pai__piece name = pai__read_text(r, key, "the name of a machine type");

  if (name.s == NULL)
    return;
  *type = (machine_type){ .index = PAI__NOTHING };
  type->sku.name = pai__cluster_text(r->c, name.s, name.len);
  if (type->sku.name == NULL ||
      pai__map_set(&l->by_name, name.s, name.len,
                   (void *)(uintptr_t)(l->ntypes + 1)) < 0)
    r->f->failed = true;
  l->ntypes++;
  if (!pai__read_fields(r, pai__tree_value(r->t, key), "a machine type",
                        fields, FIELDS, v))
    return;
  if (v[DEVICE] != PAI__NO_NODE || v[GPU] != PAI__NO_NODE)
    read_gpus(r, v[DEVICE] != PAI__NO_NODE ? v[DEVICE] : v[GPU],
              v[DEVICE] == PAI__NO_NODE, &type->sku);
  type->sku.memory = read_memory(l, v[MEM]);
  if (v[CPU] != PAI__NO_NODE)
    (void)PAI__READ(r, v[CPU], "cpu", cpu_fields, &type->sku);
}

/* Detects layouts before OpenPAI 1.0, which have other keys for GPUs, and more
 * of them. */
static void find_age(layout *l, pai__node types)
{
  static const char *const keys[] = { "gpu", "os" };
  pai__reader *r = l->r;
  pai__tree_walk walk = pai__tree_iter(r->t, types);
  pai__node key, old = PAI__NO_NODE;

  while (old == PAI__NO_NODE && (key = pai__tree_next(&walk)) != PAI__NO_NODE)
    for (size_t i = 0; i < PAI__LEN(keys) && old == PAI__NO_NODE; i++)
      old = pai__import_get(r, pai__tree_value(r->t, key), keys[i]);
  if (old == PAI__NO_NODE)
    return;
  l->is_old = r->lenient = true;
  if (pai__find(
        r->f, PAI_SEVERITY_WARNING, "old-layout", old,
        "this layout is from OpenPAI before 1.0; later versions refuse it"))
    pai__find_help(
      r->f, "it is read anyway; later versions need computing-device: {type: "
            "nvidia.com/gpu, model: K80, count: 4}, and no accounts");
}

static void read_types(layout *l, pai__node n)
{
  pai__reader *r = l->r;

  if (!pai__read_is_mapping(r, n, "machine-sku"))
    return;
  find_age(l, n);
  l->type_room = pai__tree_count(r->t, n);
  l->types =
    pai__realloc(&r->c->alloc, NULL, 0, l->type_room + 1, sizeof(*l->types));
  r->f->failed |= l->types == NULL;
  pai__read_keys(r, n, "machine-sku", read_type, l);
}

/* --- machines ------------------------------------------------------------- */

/* Reads "true" or "false" as texts, because OpenPAI compares them as texts. */
static bool read_role(pai__reader *r, pai__node n, const char *what)
{
  char text[PAI__VALUE_TEXT];
  bool is_bool;
  pai__piece s;

  if (n == PAI__NO_NODE)
    return false;
  s = pai__import_text(r, n);
  if (pai__piece_is(s, "true") || pai__piece_is(s, "false"))
    return s.len == 4;
  is_bool = pai__tree_type(r->t, n) == PAI__BOOL;
  if (pai__find(r->f, PAI_SEVERITY_ERROR, is_bool ? "unquoted" : "bad-role", n,
                is_bool ? "%s must be a text, not %s without quotes"
                        : "%s cannot be %s",
                what, pai__value_text(text, r->f, n)))
    pai__find_help(r->f, "write %s: \"%s\"", what,
                   is_bool && !pai__tree_bool(r->t, n) ? "false" : "true");
  return is_bool && pai__tree_bool(r->t, n);
}

static uint32_t find_type(layout *l, pai__node n)
{
  pai__reader *r = l->r;
  pai__piece name = pai__read_text(r, n, "machine-type");
  pai__names names;
  void *known;

  if (name.s == NULL)
    return PAI__NOTHING;
  known = pai__map_get(&l->by_name, name.s, name.len);
  if (known != NULL)
    return (uint32_t)(uintptr_t)known - 1;
  if (!pai__find(r->f, PAI_SEVERITY_ERROR, "unknown-sku", n,
                 "there is no machine type '%.*s'", (int)name.len, name.s))
    return PAI__NOTHING;
  pai__names_init(&names, &r->c->alloc, name.s, name.len);
  names.made_up = true;
  for (size_t i = 0; i < l->ntypes; i++)
    pai__names_add(&names, l->types[i].sku.name, strlen(l->types[i].sku.name));
  pai__names_help(&names, r->f, "machine-sku has");
  return PAI__NOTHING;
}

/* Whether a name is small letters, digits and -, in parts separated by
 * points. */
static bool is_hostname(pai__piece s)
{
  char last = '.';

  for (size_t i = 0; i < s.len; i++) {
    char c = s.s[i];
    bool is_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

    if (!is_word && (c != '-' || last == '.') && (c != '.' || last == '.'))
      return false;
    if (c == '.' && last == '-')
      return false;
    last = c;
  }
  return last != '.' && last != '-';
}

static bool is_ipv4(pai__piece s)
{
  unsigned parts = 0, value = 0, digits = 0;

  for (size_t i = 0; i <= s.len; i++) {
    if (i < s.len && s.s[i] >= '0' && s.s[i] <= '9' && digits < 3) {
      value = value * 10 + (unsigned)(s.s[i] - '0');
      digits++;
    } else if ((i == s.len || s.s[i] == '.') && digits > 0 && value < 256) {
      parts++;
      value = digits = 0;
    } else {
      return false;
    }
  }
  return parts == 4;
}

static void read_names(pai__reader *r, machine *m)
{
  char piece[PAI__EXCERPT];

  m->name = pai__read_text(r, m->name_at, "hostname");
  m->address = pai__read_text(r, m->address_at, "hostip");
  if (m->name.s != NULL && !is_hostname(m->name) &&
      pai__find(r->f, PAI_SEVERITY_ERROR, "bad-hostname", m->name_at,
                "'%s' cannot be the name of a machine",
                pai__excerpt(piece, m->name.s, m->name.len)))
    pai__find_help(r->f, "small letters, digits, - and . between them, as "
                         "pai-worker1");
  if (m->address.s != NULL && !is_ipv4(m->address) &&
      pai__find(r->f, PAI_SEVERITY_ERROR, "bad-address", m->address_at,
                "'%s' is not an IPv4 address",
                pai__excerpt(piece, m->address.s, m->address.len)))
    pai__find_help(r->f, "four numbers from 0 to 255, as 10.0.0.1");
}

static void read_machine(pai__reader *r, pai__node n, void *record)
{
  enum { NAME, ADDRESS, TYPE, MASTER, WORKER, STORAGE, FIELDS, OLD = 8 };
  static const pai__read_field fields[OLD] = {
    PAI__NEEDED("hostname"),
    PAI__NEEDED("hostip"),
    PAI__NEEDED("machine-type"),
    PAI__KNOWN("pai-master"),
    PAI__KNOWN("pai-worker"),
    PAI__KNOWN("pai-storage"),
    /* of old layouts, as those above */
    PAI__KNOWN("nodename"),
    PAI__KNOWN("dashboard"),
  };
  layout *l = record;
  machine *m = &l->machines[l->nmachines];
  pai__node v[OLD];

  if (!pai__read_fields(r, n, "a machine", fields, l->is_old ? OLD : FIELDS,
                        v))
    return;
  *m = (machine){ .at = n, .name_at = v[NAME], .address_at = v[ADDRESS] };
  read_names(r, m);
  m->type = find_type(l, v[TYPE]);
  m->is_master = read_role(r, v[MASTER], "pai-master");
  m->is_worker = read_role(r, v[WORKER], "pai-worker");
  m->is_storage = read_role(r, v[STORAGE], "pai-storage");
  if (m->is_master && m->is_worker &&
      pai__find(r->f, PAI_SEVERITY_ERROR, "two-roles", v[WORKER],
                "a machine cannot be both pai-master and pai-worker"))
    pai__find_help(r->f, "remove one of them");
  l->nmachines++;
}

static void read_machines(layout *l, pai__node n)
{
  pai__reader *r = l->r;

  if (!pai__read_is_list(r, n, "machine-list"))
    return;
  l->machine_room = pai__tree_count(r->t, n);
  l->machines = pai__realloc(&r->c->alloc, NULL, 0, l->machine_room + 1,
                             sizeof(*l->machines));
  r->f->failed |= l->machines == NULL;
  pai__read_items(r, n, "machine-list", read_machine, l);
}

/* --- all of them together ------------------------------------------------- */

typedef struct named {
  pai__piece name;
  machine *m;
} named;

static int by_name(const void *a, const void *b)
{
  const named *x = a, *y = b;
  size_t len = x->name.len < y->name.len ? x->name.len : y->name.len;
  int order = memcmp(x->name.s, y->name.s, len);

  if (order != 0)
    return order;
  if (x->name.len != y->name.len)
    return x->name.len < y->name.len ? -1 : 1;
  return x->m < y->m ? -1 : x->m > y->m;
}

static void tell_same(layout *l, const named *list, size_t n, bool addresses)
{
  size_t first = 0;

  for (size_t i = 1; i < n; i++) {
    machine *m = list[i].m;
    pai__pos pos;

    if (list[i].name.len != list[first].name.len ||
        memcmp(list[i].name.s, list[first].name.s, list[i].name.len) != 0) {
      first = i;
      continue;
    }
    m->is_twice = true;
    pos = pai__tree_where(l->r->t, list[first].m->at);
    if (pai__find(l->r->f, PAI_SEVERITY_ERROR, "duplicate",
                  addresses ? m->address_at : m->name_at,
                  "the machine at line %u already has %s '%.*s'",
                  (unsigned)pos.line, addresses ? "hostip" : "hostname",
                  (int)list[i].name.len, list[i].name.s))
      pai__find_help(l->r->f, "each machine needs its own");
  }
}

static void find_same(layout *l, bool addresses)
{
  const pai_alloc *alloc = &l->r->c->alloc;
  size_t n = 0;
  named *list = pai__realloc(alloc, NULL, 0, l->nmachines + 1, sizeof(*list));

  if (list == NULL) {
    l->r->f->failed = true;
    return;
  }
  for (size_t i = 0; i < l->nmachines; i++) {
    machine *m = &l->machines[i];
    pai__piece name = addresses ? m->address : m->name;

    if (name.s != NULL)
      list[n++] = (named){ name, m };
  }
  qsort(list, n, sizeof(*list), by_name);
  tell_same(l, list, n, addresses);
  pai__free(alloc, list, (l->nmachines + 1) * sizeof(*list));
}

/* Checks that there is one master, and at least one worker. */
static void count_roles(layout *l, pai__node at)
{
  const machine *master = NULL;
  pai__findings *f = l->r->f;
  size_t workers = 0;

  for (size_t i = 0; i < l->nmachines; i++) {
    const machine *m = &l->machines[i];

    workers += m->is_worker;
    if (m->is_master && master != NULL &&
        pai__find(f, PAI_SEVERITY_ERROR, "two-masters", m->at,
                  "the machine at line %u is already pai-master",
                  (unsigned)pai__tree_where(l->r->t, master->at).line))
      pai__find_help(f, "OpenPAI has exactly one");
    if (m->is_master && master == NULL)
      master = m;
  }
  if (master == NULL && pai__find(f, PAI_SEVERITY_ERROR, "no-master", at,
                                  "no machine is pai-master"))
    pai__find_help(f, "write pai-master: \"true\" for one of them");
  if (workers == 0 && pai__find(f, PAI_SEVERITY_ERROR, "no-worker", at,
                                "no machine is pai-worker"))
    pai__find_help(f, "write pai-worker: \"true\" for those that run jobs");
}

/* Checks `machine-list`: each machine, then all of them together. */
static void check_machines(layout *l, pai__node n)
{
  read_machines(l, n);
  if (l->r->f->failed || l->machines == NULL)
    return;
  find_same(l, false);
  find_same(l, true);
  count_roles(l, n);
}

/* --- into the cluster ----------------------------------------------------- */

/* Adds the SKUs that a worker has, in the order of the text. */
static void add_skus(layout *l)
{
  for (size_t i = 0; i < l->nmachines; i++)
    if (l->machines[i].is_worker && l->machines[i].type != PAI__NOTHING)
      l->types[l->machines[i].type].is_used = true;
  for (size_t i = 0; i < l->ntypes; i++)
    if (l->types[i].is_used && pai__cluster_add_sku(l->r->c, &l->types[i].sku,
                                                    &l->types[i].index) < 0)
      l->r->f->failed = true;
}

static void add_worker(layout *l, const machine *m)
{
  static const pai__piece storage = { "pai-storage", 11 }, yes = { "true", 4 };
  pai_cluster *c = l->r->c;
  const char *name = pai__cluster_text(c, m->name.s, m->name.len);
  pai__member *node;
  pai__labels labels;

  l->r->f->failed |= name == NULL;
  if (name == NULL)
    return;
  node = pai__read_add_node(l->r, m->at, name, l->types[m->type].index);
  if (node == NULL)
    return;
  if (m->address.s != NULL) {
    node->address = pai__cluster_text(c, m->address.s, m->address.len);
    l->r->f->failed |= node->address == NULL;
  }
  if (m->is_storage && pai__labels_begin(l->r, &labels, 1)) {
    pai__labels_add(l->r, &labels, "", storage, yes);
    pai__labels_end(&labels, node);
  }
}

static void add_workers(layout *l)
{
  const machine *m = l->machines;

  for (size_t i = 0; i < l->nmachines && !l->r->f->failed && !l->r->full;
       i++, m++)
    if (m->is_worker && !m->is_twice && m->name.s != NULL &&
        m->type != PAI__NOTHING)
      add_worker(l, m);
}

static void read_layout(pai__reader *r)
{
  static const pai__read_field fields[] = { PAI__NEEDED("machine-sku"),
                                            PAI__NEEDED("machine-list"),
                                            PAI__KNOWN("kubernetes") };
  layout l = { .r = r };
  pai__node v[PAI__LEN(fields)];

  if (!pai__read_fields(r, 0, "a layout", fields, PAI__LEN(fields), v))
    return;
  pai__map_init(&l.by_name, &r->c->alloc);
  read_types(&l, v[0]);
  if (!r->f->failed)
    check_machines(&l, v[1]);
  if (!r->f->failed)
    add_skus(&l);
  if (!r->f->failed)
    add_workers(&l);
  pai__free(&r->c->alloc, l.types, (l.type_room + 1) * sizeof(*l.types));
  pai__free(&r->c->alloc, l.machines,
            (l.machine_room + 1) * sizeof(*l.machines));
  pai__map_dispose(&l.by_name);
}

const pai__cluster_form pai__form_layout = { "layout", is_layout, read_layout,
                                             NULL };
