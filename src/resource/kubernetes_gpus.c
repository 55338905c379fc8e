/* kubernetes_gpus.c - which GPUs a Kubernetes node has
 *
 * How many is told by device plugins, as resources; which is told by labels of
 * feature discovery.  Where there are no labels, the kind is named after the
 * vendor. */
#include "resource/kubernetes.h"

static bool ends(pai__piece s, const char *end)
{
  size_t len = strlen(end);

  return s.len >= len && memcmp(s.s + s.len - len, end, len) == 0;
}

static bool begins(pai__piece s, const char *begin)
{
  size_t len = strlen(begin);

  return s.len >= len && memcmp(s.s, begin, len) == 0;
}

static const char mig[] = "nvidia.com/mig-",
                  shared[] = "nvidia.com/gpu.shared";

/* "amd.com/cpx_nps4": a GPU that is offered in parts. */
static bool is_amd_part(pai__piece s)
{
  return s.len == strlen("amd.com/cpx_nps4") && begins(s, "amd.com/") &&
         memcmp(s.s + 9, "px_nps", 6) == 0;
}

bool pai__kube_is_gpu(pai__piece s)
{
  return ends(s, "/gpu") || begins(s, mig) || pai__piece_is(s, shared) ||
         is_amd_part(s) || pai__piece_is(s, "gpu.intel.com/i915") ||
         pai__piece_is(s, "gpu.intel.com/xe") ||
         pai__piece_is(s, "enflame.com/dtu");
}

/* --- their kinds ---------------------------------------------------------- */

static pai__piece label_of(const pai__reader *r, const pai__kube_node *k,
                           const char *const *keys, size_t n)
{
  pai__piece value = { NULL, 0 };

  for (size_t i = 0; i < n && value.s == NULL; i++)
    value = pai__kube_label(r, k, keys[i]);
  return value;
}

/* "nvidia-gpu" of nvidia.com/gpu, "intel-gpu" of gpu.intel.com/i915. */
static void put_vendor(pai__buf *b, pai__piece s)
{
  size_t from = begins(s, "gpu.") ? 4 : 0, to = from;

  while (to < s.len && s.s[to] != '.' && s.s[to] != '/')
    to++;
  if (to > from) {
    pai__buf_add(b, s.s + from, to - from);
    pai__buf_char(b, '-');
  }
  pai__buf_str(b, "gpu");
}

static void put_product(pai__buf *b, const pai__reader *r,
                        const pai__kube_node *k, pai__piece resource)
{
  static const char *const nvidia[] = { "nvidia.com/gpu.product",
                                        "cloud.google.com/gke-accelerator" };
  static const char *const amd[] = { "amd.com/gpu.product-name",
                                     "beta.amd.com/gpu.product-name" };
  pai__piece product = { NULL, 0 };

  if (begins(resource, "nvidia.com/"))
    product = label_of(r, k, nvidia, PAI__LEN(nvidia));
  else if (begins(resource, "amd.com/"))
    product = label_of(r, k, amd, PAI__LEN(amd));
  if (product.s != NULL)
    pai__buf_add(b, product.s, product.len);
  else
    put_vendor(b, resource);
}

/* A part of a GPU has a product of its own, or is named as part of it. */
static void put_kind(pai__buf *b, const pai__reader *r,
                     const pai__kube_node *k, pai__piece resource)
{
  pai__piece product = { NULL, 0 };

  pai__buf_clear(b);
  if (begins(resource, mig)) {
    pai__buf_printf(b, "%.*s.product", (int)resource.len, resource.s);
    product = pai__kube_label(r, k, pai__buf_text(b));
    pai__buf_clear(b);
  }
  if (product.s != NULL) {
    pai__buf_add(b, product.s, product.len);
    return;
  }
  put_product(b, r, k, resource);
  if (begins(resource, mig))
    pai__buf_printf(b, "-%.*s", (int)(resource.len - 11), resource.s + 11);
  else if (is_amd_part(resource))
    pai__buf_printf(b, "-%.*s", (int)(resource.len - 8), resource.s + 8);
  else if (pai__piece_is(resource, shared) &&
           !ends((pai__piece){ pai__buf_text(b), b->len }, "-SHARED"))
    pai__buf_str(b, "-shared");
}

/* Bytes of each, or 0: NVIDIA's labels are MiB, AMD's have a unit. */
static uint64_t memory_of(pai__buf *b, const pai__reader *r,
                          const pai__kube_node *k, pai__piece resource)
{
  static const char *const amd[] = { "amd.com/gpu.vram",
                                     "beta.amd.com/gpu.vram" };
  pai__piece s;
  uint64_t size = 0;

  if (pai__piece_is(resource, "amd.com/gpu")) {
    s = label_of(r, k, amd, PAI__LEN(amd));
    return s.s != NULL && pai__size_parse(&size, s.s, s.len) ? size : 0;
  }
  if (!begins(resource, "nvidia.com/"))
    return 0;
  pai__buf_clear(b);
  if (begins(resource, mig))
    pai__buf_printf(b, "%.*s.memory", (int)resource.len, resource.s);
  else
    pai__buf_str(b, "nvidia.com/gpu.memory");
  s = pai__kube_label(r, k, pai__buf_text(b));
  if (s.s == NULL || !pai__quantity_parse(&size, s.s, s.len, false) ||
      size > PAI__MOST_MEMORY >> 20)
    return 0;
  return size << 20;
}

static uint32_t find_kind(pai__reader *r, const pai__kube_node *k,
                          pai__node at, pai__piece resource)
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

/* Told of a node whose labels know of GPUs that it does not offer. */
static void look_at_count(pai__reader *r, const pai__kube_node *k)
{
  pai__piece s = pai__kube_label(r, k, "nvidia.com/gpu.count");
  uint64_t count;

  if (s.s != NULL && pai__quantity_parse(&count, s.s, s.len, false) &&
      count > 0 && count <= PAI__NODE_MAX_GPUS &&
      pai__find(r->f, PAI_SEVERITY_WARNING, "no-gpus", k->at,
                "node '%s' has %u GPUs by its label, and offers none", k->name,
                (unsigned)count))
    pai__find_help(r->f, "does the device plugin run there?");
}

static void add_gpus(pai__reader *r, const pai__kube_node *k, pai__piece name,
                     pai__node n, pai__shape *shape)
{
  static const char what[] = "a number of GPUs";
  pai__node offered = pai__import_get(r, k->allocatable, name.s);
  uint64_t count, left;
  uint32_t kind;

  if (!pai__read_quantity(r, n, what, false, PAI__NODE_MAX_GPUS, &count) ||
      count == 0)
    return;
  if (!pai__read_quantity(r, offered, what, false, PAI__NODE_MAX_GPUS,
                          &left) ||
      left > count)
    left = count;
  kind = find_kind(r, k, n, name);
  if (kind != PAI__NOTHING)
    pai__shape_add(r, n, shape, kind, (uint32_t)count,
                   (uint32_t)(count - left));
}

void pai__kube_gpus(pai__reader *r, const pai__kube_node *k, pai__shape *shape)
{
  pai__tree_walk walk;
  pai__node key;

  if (k->capacity == PAI__NO_NODE)
    return;
  walk = pai__tree_iter(r->t, k->capacity);
  while (!r->f->failed && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__piece name = { NULL, 0 };

    name.s = pai__tree_str(r->t, key, &name.len);
    if (pai__kube_is_gpu(name))
      add_gpus(r, k, name, pai__tree_value(r->t, key), shape);
  }
  if (shape->sku.ngroups == 0)
    look_at_count(r, k);
}

/* --- which of them are sick ----------------------------------------------- */

void pai__kube_sick_gpus(pai__reader *r, const pai__member *m,
                         const pai__shape *shape)
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
