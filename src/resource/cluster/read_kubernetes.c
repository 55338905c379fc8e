/* read_kubernetes.c - read `kubectl get nodes -o json` or yaml, or one node */
#include "base/text/utf8.h"
#include "resource/cluster/kubernetes.h"

/* A Kubernetes node: the places of its parts, or PAI__NO_NODE. */
typedef struct kube_node {
  pai__node at;
  const char *name; /* in the arena */
  pai__node labels, capacity, allocatable, conditions, taints, addresses;
  bool is_unschedulable;
  bool is_leaving; /* it is being deleted */
} kube_node;

/* Returns the value of a label, or NULL. */
static pai__piece label(const pai__reader *r, const kube_node *k,
                        const char *key)
{
  return pai__import_text(r, pai__import_get(r, k->labels, key));
}

/* --- which GPUs a node has ----------------------------------------------- */

/* The number of GPUs comes from device plugins, as resources; the kind comes
 * from labels of feature discovery.  Without labels, the kind is named after
 * the vendor. */

static const char mig[] = "nvidia.com/mig-",
                  shared[] = "nvidia.com/gpu.shared";

/* Whether a resource is a GPU offered in parts, as "amd.com/cpx_nps4". */
static bool is_amd_part(pai__piece s)
{
  return s.len == strlen("amd.com/cpx_nps4") &&
         pai__piece_begins(s, "amd.com/") && memcmp(s.s + 9, "px_nps", 6) == 0;
}

bool pai__kube_is_gpu(pai__piece s)
{
  return pai__piece_ends(s, "/gpu") || pai__piece_begins(s, mig) ||
         pai__piece_is(s, shared) || is_amd_part(s) ||
         pai__piece_is(s, "gpu.intel.com/i915") ||
         pai__piece_is(s, "gpu.intel.com/xe") ||
         pai__piece_is(s, "enflame.com/dtu");
}

/* --- kinds of GPUs ------------------------------------------------------- */

static pai__piece label_of(const pai__reader *r, const kube_node *k,
                           const char *const *keys, size_t n)
{
  pai__piece value = { NULL, 0 };

  for (size_t i = 0; i < n && value.s == NULL; i++)
    value = label(r, k, keys[i]);
  return value;
}

/* Writes "nvidia-gpu" for nvidia.com/gpu, "intel-gpu" for
 * gpu.intel.com/i915. */
static void put_vendor(pai__buf *b, pai__piece s)
{
  size_t from = pai__piece_begins(s, "gpu.") ? 4 : 0, to = from;

  while (to < s.len && s.s[to] != '.' && s.s[to] != '/')
    to++;
  if (to > from) {
    pai__buf_add(b, s.s + from, to - from);
    pai__buf_char(b, '-');
  }
  pai__buf_str(b, "gpu");
}

static void put_product(pai__buf *b, const pai__reader *r, const kube_node *k,
                        pai__piece resource)
{
  static const char *const nvidia[] = { "nvidia.com/gpu.product",
                                        "cloud.google.com/gke-accelerator" };
  static const char *const amd[] = { "amd.com/gpu.product-name",
                                     "beta.amd.com/gpu.product-name" };
  pai__piece product = { NULL, 0 };

  if (pai__piece_begins(resource, "nvidia.com/"))
    product = label_of(r, k, nvidia, PAI__LEN(nvidia));
  else if (pai__piece_begins(resource, "amd.com/"))
    product = label_of(r, k, amd, PAI__LEN(amd));
  if (product.s != NULL)
    pai__buf_add(b, product.s, product.len);
  else
    put_vendor(b, resource);
}

/* Writes the name of a kind.  A part of a GPU has its own product name, or a
 * suffix. */
static void put_kind(pai__buf *b, const pai__reader *r, const kube_node *k,
                     pai__piece resource)
{
  pai__piece product = { NULL, 0 };

  pai__buf_clear(b);
  if (pai__piece_begins(resource, mig)) {
    pai__buf_printf(b, "%.*s.product", (int)resource.len, resource.s);
    product = label(r, k, pai__buf_text(b));
    pai__buf_clear(b);
  }
  if (product.s != NULL) {
    pai__buf_add(b, product.s, product.len);
    return;
  }
  put_product(b, r, k, resource);
  if (pai__piece_begins(resource, mig))
    pai__buf_printf(b, "-%.*s", (int)(resource.len - 11), resource.s + 11);
  else if (is_amd_part(resource))
    pai__buf_printf(b, "-%.*s", (int)(resource.len - 8), resource.s + 8);
  else if (pai__piece_is(resource, shared) &&
           !pai__piece_ends((pai__piece){ pai__buf_text(b), b->len },
                            "-SHARED"))
    pai__buf_str(b, "-shared");
}

/* Returns the bytes of each GPU, or 0.  NVIDIA's labels are in MiB, AMD's have
 * a unit. */
static uint64_t memory_of(pai__buf *b, const pai__reader *r,
                          const kube_node *k, pai__piece resource)
{
  static const char *const amd[] = { "amd.com/gpu.vram",
                                     "beta.amd.com/gpu.vram" };
  pai__piece s;
  uint64_t size = 0;

  if (pai__piece_is(resource, "amd.com/gpu")) {
    s = label_of(r, k, amd, PAI__LEN(amd));
    return s.s != NULL && pai__size_parse(&size, s.s, s.len) ? size : 0;
  }
  if (!pai__piece_begins(resource, "nvidia.com/"))
    return 0;
  pai__buf_clear(b);
  if (pai__piece_begins(resource, mig))
    pai__buf_printf(b, "%.*s.memory", (int)resource.len, resource.s);
  else
    pai__buf_str(b, "nvidia.com/gpu.memory");
  s = label(r, k, pai__buf_text(b));
  if (s.s == NULL || !pai__quantity_parse(&size, s.s, s.len, false) ||
      size > PAI__MOST_MEMORY >> 20)
    return 0;
  return size << 20;
}

static uint32_t find_kind(pai__reader *r, const kube_node *k, pai__node at,
                          pai__piece resource)
{
  pai__gpu_kind *kind;
  uint32_t index = PAI__NOTHING;
  pai__buf b;

  pai__buf_init(&b, &r->c->alloc);
  put_kind(&b, r, k, resource);
  if (pai__buf_ok(&b))
    index = pai__import_kind(r, at, (pai__piece){ b.data, b.len });
  if (index != PAI__NOTHING) {
    kind = &r->c->kinds[index];
    if (kind->resource == NULL && pai__piece_is_line(resource)) {
      kind->resource = pai__cluster_text(r->c, resource.s, resource.len);
      r->f->failed |= kind->resource == NULL;
    }
    if (kind->memory == 0)
      kind->memory = memory_of(&b, r, k, resource);
  }
  r->f->failed |= !pai__buf_ok(&b);
  pai__buf_dispose(&b);
  return index;
}

/* --- how many ------------------------------------------------------------- */

/* Reports a node with GPUs in its labels but not in its resources. */
static void look_at_count(pai__reader *r, const kube_node *k)
{
  pai__piece s = label(r, k, "nvidia.com/gpu.count");
  uint64_t count;

  if (s.s != NULL && pai__quantity_parse(&count, s.s, s.len, false) &&
      count > 0 && count <= PAI__NODE_MAX_GPUS &&
      pai__find(r->f, PAI_SEVERITY_WARNING, "no-gpus", k->at,
                "node '%s' has %u GPUs by its label, but offers none", k->name,
                (unsigned)count))
    pai__find_help(r->f, "does the device plugin run there?");
}

typedef struct counting {
  const kube_node *k;
  pai__import_shape *shape;
} counting;

static void add_gpus(pai__reader *r, pai__node key, void *record)
{
  static const char what[] = "a number of GPUs";
  const counting *c = record;
  pai__node n = pai__tree_value(r->t, key);
  pai__piece name = { NULL, 0 };
  uint64_t count, left;
  uint32_t kind;

  name.s = pai__tree_str(r->t, key, &name.len);
  if (!pai__kube_is_gpu(name) ||
      !pai__read_quantity(r, n, what, false, PAI__NODE_MAX_GPUS, &count) ||
      count == 0)
    return;
  if (!pai__read_quantity(r, pai__import_get(r, c->k->allocatable, name.s),
                          what, false, PAI__NODE_MAX_GPUS, &left) ||
      left > count)
    left = count;
  kind = find_kind(r, c->k, n, name);
  if (kind != PAI__NOTHING)
    pai__shape_add(r, n, c->shape, kind, (uint32_t)count,
                   (uint32_t)(count - left));
}

/* Adds the GPUs of a node to its shape. */
static void read_gpus(pai__reader *r, const kube_node *k,
                      pai__import_shape *shape)
{
  counting c = { k, shape };

  if (k->capacity == PAI__NO_NODE)
    return;
  pai__read_keys(r, k->capacity, "capacity", add_gpus, &c);
  if (shape->sku.ngroups == 0)
    look_at_count(r, k);
}

/* --- sick GPUs ----------------------------------------------------------- */

/* Kubernetes does not say which GPUs are not offered: the last ones are marked
 * sick. */
static void set_sick_gpus(pai__reader *r, const pai__member *m,
                          const pai__import_shape *shape)
{
  uint32_t end = m->first_gpu;

  for (uint32_t i = 0; i < shape->sku.ngroups; i++) {
    end += shape->groups[i].count;
    for (uint32_t k = 1; k <= shape->sick[i]; k++)
      if (pai__cluster_set_sick(r->c, &r->c->gpus[end - k].sick,
                                "not offered by its device plugin") < 0)
        r->f->failed = true;
  }
}

/* --- why a node is sick -------------------------------------------------- */

/* --- conditions ----------------------------------------------------------- */

/* Whether a condition is a problem when it is True. */
static bool is_trouble(pai__piece type)
{
  static const char *const others[] = { "OutOfDisk", "KernelDeadlock",
                                        "ReadonlyFilesystem" };

  for (size_t i = 0; i < PAI__LEN(others); i++)
    if (pai__piece_is(type, others[i]))
      return true;
  return pai__piece_ends(type, "Pressure") ||
         pai__piece_ends(type, "Unavailable");
}

/* Adds "not ready: Kubelet stopped posting node status". */
static void add_condition(const pai__reader *r, pai__node n, pai__piece type,
                          pai__buf *why)
{
  pai__piece says = pai__import_text(r, pai__import_get(r, n, "message"));
  char piece[PAI__EXCERPT];

  if (says.s == NULL)
    says = pai__import_text(r, pai__import_get(r, n, "reason"));
  if (pai__piece_is(type, "Ready"))
    pai__reason_add(why, "not ready");
  else if (pai__piece_ends(type, "Ready"))
    pai__reason_add(why, "not %s", pai__excerpt(piece, type.s, type.len));
  else
    pai__reason_add(why, "%s", pai__excerpt(piece, type.s, type.len));
  if (says.s != NULL)
    pai__buf_printf(why, ": %.*s", (int)(says.len < 500 ? says.len : 500),
                    says.s);
}

static void read_condition(pai__reader *r, pai__node item, void *why)
{
  pai__piece type = pai__import_text(r, pai__import_get(r, item, "type"));
  bool is_true = pai__piece_is(
    pai__import_text(r, pai__import_get(r, item, "status")), "True");

  if (type.s != NULL &&
      (pai__piece_ends(type, "Ready") ? !is_true
                                      : is_true && is_trouble(type)))
    add_condition(r, item, type, why);
}

/* --- taints --------------------------------------------------------------- */

/* Whether a taint only keeps jobs without GPUs away from a node with GPUs:
 * jobs that request the resource of that name tolerate it. */
static bool is_for_gpus(const pai__reader *r, const kube_node *k,
                        pai__piece key)
{
  return pai__kube_is_gpu(key) &&
         pai__import_get(r, k->capacity, key.s) != PAI__NO_NODE;
}

typedef struct health {
  const kube_node *k;
  pai__buf *why;
} health;

static void read_taint(pai__reader *r, pai__node n, void *record)
{
  const health *h = record;
  pai__piece key = pai__import_text(r, pai__import_get(r, n, "key"));
  pai__piece value = pai__import_text(r, pai__import_get(r, n, "value"));
  pai__piece effect = pai__import_text(r, pai__import_get(r, n, "effect"));
  char piece[PAI__EXCERPT], other[PAI__EXCERPT];
  bool is_masters;

  if (key.s == NULL || is_for_gpus(r, h->k, key) ||
      (!pai__piece_is(effect, "NoSchedule") &&
       !pai__piece_is(effect, "NoExecute")) ||
      /* Kubernetes' own taint; its condition was added already */
      (pai__piece_begins(key, "node.kubernetes.io/") && h->why->len > 0))
    return;
  is_masters = pai__piece_is(key, "node-role.kubernetes.io/control-plane") ||
               pai__piece_is(key, "node-role.kubernetes.io/master");
  pai__reason_add(
    h->why, "%staint %s%s%s:%.10s%s",
    is_masters ? "kept for the control plane (" : "",
    pai__excerpt(piece, key.s, key.len), value.s != NULL ? "=" : "",
    value.s != NULL ? pai__excerpt(other, value.s, value.len) : "", effect.s,
    is_masters ? ")" : "");
}

/* Sets why no job can run on the node. */
static void find_sick(pai__reader *r, const kube_node *k, pai__member *m)
{
  pai__buf why;
  health h = { k, &why };

  pai__buf_init(&why, &r->c->alloc);
  pai__read_items(r, k->conditions, "conditions", read_condition, &why);
  if (k->is_leaving)
    pai__reason_add(&why, "being deleted");
  if (k->is_unschedulable)
    pai__reason_add(&why, "cordoned");
  pai__read_items(r, k->taints, "taints", read_taint, &h);
  pai__reason_end(r, &why, &m->sick);
  pai__buf_dispose(&why);
}

static pai__piece kind_of(const pai__tree *t, pai__node n)
{
  pai__node kind = pai__tree_get(t, n, "kind");
  pai__piece p = { NULL, 0 };

  if (kind != PAI__NO_NODE && pai__tree_type(t, kind) == PAI__STRING)
    p.s = pai__tree_str(t, kind, &p.len);
  return p;
}

/* All of Kubernetes' objects have a version and a kind. */
static bool is_kubernetes(const pai__tree *t)
{
  pai__piece kind = kind_of(t, 0);

  return pai__tree_get(t, 0, "apiVersion") != PAI__NO_NODE && kind.s != NULL &&
         (pai__piece_is(kind, "Node") || pai__piece_is(kind, "Status") ||
          pai__tree_get(t, 0, "items") != PAI__NO_NODE);
}

/* --- rack and address of a node ------------------------------------------ */

/* Sets the rack from the nearest known label: a rack, a switch, or at last a
 * zone. */
static void find_rack(pai__reader *r, const kube_node *k, pai__member *m)
{
  static const char *const keys[] = {
    "topology.kubernetes.io/rack",
    "network.topology.nvidia.com/leaf",
    "topology.rook.io/rack",
    "cloud.google.com/gce-topology-subblock",
    "topology.k8s.aws/network-node-layer-3",
    "rack",
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone",
  };

  for (size_t i = 0; i < PAI__LEN(keys); i++) {
    pai__piece s = label(r, k, keys[i]);

    if (s.s == NULL)
      continue;
    if (pai__cluster_rack(r->c, s.s, s.len, &m->rack) < 0)
      r->f->failed = true;
    return;
  }
}

static void read_address(pai__reader *r, pai__node item, void *record)
{
  pai__member *m = record;
  pai__node n = pai__import_get(r, item, "address");

  if (m->address == NULL && n != PAI__NO_NODE &&
      pai__piece_is(pai__import_text(r, pai__import_get(r, item, "type")),
                    "InternalIP"))
    m->address = pai__read_copy(r, n, "address");
}

/* Adds any label; an unquoted value in YAML is kept as written. */
static void read_label(pai__reader *r, pai__node key, void *labels)
{
  pai__node n = pai__tree_value(r->t, key);
  pai__piece name, value;

  name.s = pai__tree_str(r->t, key, &name.len);
  if (pai__tree_type(r->t, n) != PAI__STRING)
    value = pai__read_text(r, n, "a label");
  else
    value.s = pai__tree_str(r->t, n, &value.len);
  if (value.s == NULL)
    return;
  if (pai__piece_is_line(name) &&
      (value.len == 0 || pai__piece_is_line(value)))
    pai__labels_add(r, labels, "", name, value);
  else
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "bad-name", n,
                    "a label must be one line of up to %d characters",
                    PAI__REASON_TEXT);
}

/* --- what it has ---------------------------------------------------------- */

/* Reads the capacity of a resource, and what is allocatable to jobs. */
static void read_amount(pai__reader *r, const kube_node *k, const char *key,
                        bool milli, uint64_t most, uint64_t out[2])
{
  pai__node all = pai__import_get(r, k->capacity, key);
  pai__node left = pai__import_get(r, k->allocatable, key);

  if (!pai__read_quantity(r, all, key, milli, most, &out[0]))
    out[0] = 0;
  if (!pai__read_quantity(r, left, key, milli, most, &out[1]) ||
      out[1] > out[0])
    out[1] = out[0];
}

static void read_shape(pai__reader *r, const kube_node *k,
                       pai__import_shape *shape)
{
  static const char *const types[] = { "node.kubernetes.io/instance-type",
                                       "beta.kubernetes.io/instance-type" };
  uint64_t cpus[2], memory[2];

  pai__shape_init(shape);
  for (size_t i = 0; i < PAI__LEN(types) && shape->name.s == NULL; i++)
    shape->name = label(r, k, types[i]);
  read_amount(r, k, "cpu", true, PAI__IMPORT_CPUS * UINT64_C(1000), cpus);
  read_amount(r, k, "memory", false, PAI__MOST_MEMORY, memory);
  shape->sku.cpus = (uint32_t)(cpus[0] / 1000);
  shape->sku.used_cpus = shape->sku.cpus - (uint32_t)(cpus[1] / 1000);
  shape->sku.memory = memory[0];
  shape->sku.used_memory = memory[0] - memory[1];
  read_gpus(r, k, shape);
}

/* --- a node --------------------------------------------------------------- */

/* Returns a part that must be a mapping if present. */
static pai__node part(pai__reader *r, pai__node n, const char *key)
{
  pai__node value = pai__import_get(r, n, key);

  return pai__read_is_mapping(r, value, key) ? value : PAI__NO_NODE;
}

static bool take_apart(pai__reader *r, pai__node n, kube_node *k)
{
  pai__node meta, spec, status, name;

  *k = (kube_node){ .at = n };
  if (!pai__read_is_mapping(r, n, "a node"))
    return false;
  meta = part(r, n, "metadata");
  spec = part(r, n, "spec");
  status = part(r, n, "status");
  name = pai__import_get(r, meta, "name");
  k->labels = part(r, meta, "labels");
  k->is_leaving =
    pai__import_get(r, meta, "deletionTimestamp") != PAI__NO_NODE;
  k->is_unschedulable =
    pai__import_is_true(r, pai__import_get(r, spec, "unschedulable"));
  k->taints = pai__import_get(r, spec, "taints");
  k->capacity = part(r, status, "capacity");
  k->allocatable = part(r, status, "allocatable");
  if (k->capacity == PAI__NO_NODE)
    k->capacity = k->allocatable;
  k->conditions = pai__import_get(r, status, "conditions");
  k->addresses = pai__import_get(r, status, "addresses");
  if (name == PAI__NO_NODE) {
    pai__read_missing(r, meta != PAI__NO_NODE ? meta : n, "a node",
                      meta != PAI__NO_NODE ? "name" : "metadata.name");
    return false;
  }
  k->name = pai__import_name(r, name);
  if (k->name != NULL && k->capacity == PAI__NO_NODE &&
      pai__find(r->f, PAI_SEVERITY_WARNING, "no-capacity", n,
                "node '%s' has no status.capacity", k->name))
    pai__find_help(r->f, "is the list complete?");
  return k->name != NULL;
}

static void read_node(pai__reader *r, pai__node n, void *shapes)
{
  kube_node k;
  pai__labels labels = { NULL, 0, NULL };
  pai__import_shape shape;
  pai__member *m;

  if (!take_apart(r, n, &k))
    return;
  read_shape(r, &k, &shape);
  if (k.labels != PAI__NO_NODE &&
      pai__labels_begin(r, &labels, pai__tree_count(r->t, k.labels)))
    pai__read_keys(r, k.labels, "labels", read_label, &labels);
  if (r->f->failed || r->full)
    return;
  m = pai__shape_node(r, shapes, n, k.name, &shape);
  if (m == NULL)
    return;
  pai__labels_end(&labels, m);
  pai__read_items(r, k.addresses, "addresses", read_address, m);
  find_rack(r, &k, m);
  set_sick_gpus(r, m, &shape);
  find_sick(r, &k, m);
}

/* --- the whole ------------------------------------------------------------ */

/* Reports a Status, Kubernetes' answer when it refuses. */
static void tell_status(pai__reader *r)
{
  pai__node at = pai__import_get(r, 0, "message");
  pai__piece says = pai__import_text(r, at);
  char piece[PAI__EXCERPT];

  if (pai__find(r->f, PAI_SEVERITY_ERROR, "refused",
                at != PAI__NO_NODE ? at : 0, "Kubernetes sent no nodes: %s",
                says.s != NULL ? pai__excerpt(piece, says.s, says.len)
                               : "without a reason"))
    pai__find_help(r->f, "may this account list nodes?");
}

/* Whether an item is a node.  Items of a NodeList have no kind; any other kind
 * is reported. */
static bool is_node(pai__reader *r, pai__node n)
{
  pai__piece kind = kind_of(r->t, n);
  char piece[PAI__EXCERPT];

  if (kind.s == NULL || pai__piece_is(kind, "Node"))
    return true;
  if (pai__find(r->f, PAI_SEVERITY_ERROR, "wrong-kind", n,
                "this is not a node but a %s",
                pai__excerpt(piece, kind.s, kind.len)))
    pai__find_help(r->f, "kubectl get nodes -o json");
  return false;
}

static void read_item(pai__reader *r, pai__node n, void *shapes)
{
  if (is_node(r, n))
    read_node(r, n, shapes);
}

static void read_kubernetes(pai__reader *r)
{
  pai__node items = pai__import_get(r, 0, "items");
  pai__shapes shapes;

  if (pai__piece_is(kind_of(r->t, 0), "Status")) {
    tell_status(r);
    return;
  }
  if (items != PAI__NO_NODE) {
    pai__import_nodes(r, items, "items", read_item);
    return;
  }
  pai__shapes_init(&shapes, r->c);
  read_item(r, 0, &shapes);
  pai__shapes_dispose(&shapes);
}

const pai__cluster_form pai__form_kubernetes = { "kubernetes", is_kubernetes,
                                                 read_kubernetes, NULL };
