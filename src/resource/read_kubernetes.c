/* read_kubernetes.c - `kubectl get nodes -o json`, or yaml, or one node */
#include "resource/kubernetes.h"

#include "base/utf8.h"

static pai__piece kind_of(const pai__tree *t, pai__node n)
{
  pai__node kind = pai__tree_get(t, n, "kind");
  pai__piece p = { NULL, 0 };

  if (kind != PAI__NO_NODE && pai__tree_type(t, kind) == PAI__STRING)
    p.s = pai__tree_str(t, kind, &p.len);
  return p;
}

/* All of Kubernetes' answers have a version and a kind. */
static bool is_kubernetes(const pai__tree *t)
{
  pai__piece kind = kind_of(t, 0);

  return pai__tree_get(t, 0, "apiVersion") != PAI__NO_NODE && kind.s != NULL &&
         (pai__piece_is(kind, "Node") || pai__piece_is(kind, "Status") ||
          pai__tree_get(t, 0, "items") != PAI__NO_NODE);
}

pai__piece pai__kube_label(const pai__reader *r, const pai__kube_node *k,
                           const char *key)
{
  return pai__import_text(r, pai__import_get(r, k->labels, key));
}

/* --- where a node stands, and how to reach it ----------------------------- */

/* The nearest that is known: a rack, a switch, at last a zone. */
static void find_rack(pai__reader *r, const pai__kube_node *k, pai__member *m)
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
    pai__piece s = pai__kube_label(r, k, keys[i]);

    if (s.s == NULL)
      continue;
    if (pai__cluster_rack(r->c, s.s, s.len, &m->rack) < 0)
      r->f->failed = true;
    return;
  }
}

static void find_address(pai__reader *r, const pai__kube_node *k,
                         pai__member *m)
{
  pai__tree_walk walk;
  pai__node item, n = PAI__NO_NODE;

  if (!pai__read_is_list(r, k->addresses, "addresses"))
    return;
  walk = pai__tree_iter(r->t, k->addresses);
  while (n == PAI__NO_NODE && (item = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (pai__piece_is(pai__import_text(r, pai__import_get(r, item, "type")),
                      "InternalIP"))
      n = pai__import_get(r, item, "address");
  if (n != PAI__NO_NODE)
    m->address = pai__read_copy(r, n, "address");
}

/* All of them; in YAML a value may lack its quotes, and is kept as written. */
static void read_labels(pai__reader *r, const pai__kube_node *k,
                        pai__labels *l)
{
  pai__tree_walk walk;
  pai__node key;

  if (!pai__read_is_mapping(r, k->labels, "labels") ||
      !pai__labels_begin(r, l, pai__tree_count(r->t, k->labels)))
    return;
  walk = pai__tree_iter(r->t, k->labels);
  while (!r->f->failed && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node n = pai__tree_value(r->t, key);
    pai__piece name = { NULL, 0 }, value = { NULL, 0 };

    name.s = pai__tree_str(r->t, key, &name.len);
    if (pai__tree_type(r->t, n) != PAI__STRING)
      value = pai__read_text(r, n, "a label");
    else
      value.s = pai__tree_str(r->t, n, &value.len);
    if (value.s == NULL)
      continue;
    if (pai__piece_is_line(name) &&
        (value.len == 0 || pai__piece_is_line(value)))
      pai__labels_add(r, l, "", name, value);
    else
      (void)pai__find(r->f, PAI_SEVERITY_ERROR, "bad-name", n,
                      "a label must be one line of up to %d characters",
                      PAI__REASON_TEXT);
  }
}

/* --- what it has ---------------------------------------------------------- */

/* All of it, and what is left of it for jobs. */
static void read_amount(pai__reader *r, const pai__kube_node *k,
                        const char *key, bool milli, uint64_t most,
                        uint64_t out[2])
{
  pai__node all = pai__import_get(r, k->capacity, key);
  pai__node left = pai__import_get(r, k->allocatable, key);

  if (!pai__read_quantity(r, all, key, milli, most, &out[0]))
    out[0] = 0;
  if (!pai__read_quantity(r, left, key, milli, most, &out[1]) ||
      out[1] > out[0])
    out[1] = out[0];
}

static void read_shape(pai__reader *r, const pai__kube_node *k,
                       pai__shape *shape)
{
  static const char *const types[] = { "node.kubernetes.io/instance-type",
                                       "beta.kubernetes.io/instance-type" };
  uint64_t cpus[2], memory[2];

  pai__shape_init(shape);
  for (size_t i = 0; i < PAI__LEN(types) && shape->name.s == NULL; i++)
    shape->name = pai__kube_label(r, k, types[i]);
  read_amount(r, k, "cpu", true, PAI__IMPORT_CPUS * UINT64_C(1000), cpus);
  read_amount(r, k, "memory", false, PAI__MOST_MEMORY, memory);
  shape->sku.cpus = (uint32_t)(cpus[0] / 1000);
  shape->sku.used_cpus = shape->sku.cpus - (uint32_t)(cpus[1] / 1000);
  shape->sku.memory = memory[0];
  shape->sku.used_memory = memory[0] - memory[1];
  pai__kube_gpus(r, k, shape);
}

/* --- a node --------------------------------------------------------------- */

static bool is_true(const pai__reader *r, pai__node n)
{
  return n != PAI__NO_NODE && pai__tree_type(r->t, n) == PAI__BOOL &&
         pai__tree_bool(r->t, n);
}

/* A part that must be a mapping if it is there. */
static pai__node part(pai__reader *r, pai__node n, const char *key)
{
  pai__node value = pai__import_get(r, n, key);

  return pai__read_is_mapping(r, value, key) ? value : PAI__NO_NODE;
}

static bool take_apart(pai__reader *r, pai__node n, pai__kube_node *k)
{
  pai__node meta, spec, status, name;

  *k = (pai__kube_node){ .at = n };
  if (!pai__read_is_mapping(r, n, "a node"))
    return false;
  meta = part(r, n, "metadata");
  spec = part(r, n, "spec");
  status = part(r, n, "status");
  name = pai__import_get(r, meta, "name");
  k->labels = part(r, meta, "labels");
  k->is_leaving =
    pai__import_get(r, meta, "deletionTimestamp") != PAI__NO_NODE;
  k->is_unschedulable = is_true(r, pai__import_get(r, spec, "unschedulable"));
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
                "node '%s' does not say what it has", k->name))
    pai__find_help(r->f, "its status.capacity is missing: is the list whole?");
  return k->name != NULL;
}

static void read_node(pai__reader *r, pai__shapes *shapes, pai__node n)
{
  pai__kube_node k;
  pai__labels labels = { NULL, 0, NULL };
  pai__shape shape;
  pai__member *m;
  pai__buf why;

  if (!take_apart(r, n, &k))
    return;
  read_shape(r, &k, &shape);
  if (k.labels != PAI__NO_NODE)
    read_labels(r, &k, &labels);
  if (r->f->failed || r->full)
    return;
  m = pai__shape_node(r, shapes, n, k.name, &shape);
  if (m == NULL)
    return;
  pai__labels_end(&labels, m);
  find_address(r, &k, m);
  find_rack(r, &k, m);
  pai__kube_sick_gpus(r, m, &shape);
  pai__buf_init(&why, &r->c->alloc);
  pai__kube_health(r, &k, &why);
  pai__reason_end(r, &why, &m->sick);
  pai__buf_dispose(&why);
}

/* --- the whole ------------------------------------------------------------ */

/* What Kubernetes answers when it refuses. */
static void tell_status(pai__reader *r)
{
  pai__node at = pai__import_get(r, 0, "message");
  pai__piece says = pai__import_text(r, at);
  char piece[PAI__EXCERPT];

  if (pai__find(r->f, PAI_SEVERITY_ERROR, "refused",
                at != PAI__NO_NODE ? at : 0, "Kubernetes gave no nodes: %s",
                says.s != NULL ? pai__excerpt(piece, says.s, says.len)
                               : "it does not say why"))
    pai__find_help(r->f, "may this account list nodes?");
}

/* An item that says it is something else; in a NodeList they say nothing. */
static bool is_node(pai__reader *r, pai__node n)
{
  pai__piece kind = kind_of(r->t, n);
  char piece[PAI__EXCERPT];

  if (kind.s == NULL || pai__piece_is(kind, "Node"))
    return true;
  if (pai__find(r->f, PAI_SEVERITY_ERROR, "wrong-kind", n,
                "this is no node but a %s",
                pai__excerpt(piece, kind.s, kind.len)))
    pai__find_help(r->f, "kubectl get nodes -o json");
  return false;
}

static void read_items(pai__reader *r, pai__shapes *shapes, pai__node items)
{
  pai__tree_walk walk;
  pai__node item;
  size_t nodes;

  if (!pai__read_is_list(r, items, "items"))
    return;
  nodes = pai__tree_count(r->t, items);
  if (pai__cluster_reserve(r->c, nodes < r->max_nodes ? nodes : r->max_nodes,
                           0) < 0)
    r->f->failed = true;
  walk = pai__tree_iter(r->t, items);
  while (!r->f->failed && !r->full &&
         (item = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (is_node(r, item))
      read_node(r, shapes, item);
}

static void read_kubernetes(pai__reader *r)
{
  pai__node items = pai__import_get(r, 0, "items");
  pai__piece kind = kind_of(r->t, 0);
  pai__shapes shapes;

  if (pai__piece_is(kind, "Status")) {
    tell_status(r);
    return;
  }
  pai__shapes_init(&shapes, r->c);
  if (items != PAI__NO_NODE)
    read_items(r, &shapes, items);
  else if (is_node(r, 0))
    read_node(r, &shapes, 0);
  pai__shapes_dispose(&shapes);
}

const pai__cluster_form pai__form_kubernetes = { "kubernetes", is_kubernetes,
                                                 read_kubernetes, NULL };
