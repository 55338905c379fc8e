/* request.c - reads HiveD's pod annotations: scheduling spec and bind info */
#include "sched/hived/request.h"

#include "yaml/yaml.h"

#define ANNOTATION \
  "Pod annotation hivedscheduler.microsoft.com/pod-scheduling-spec: "

/* Replaces names of older versions anywhere in the text, as HiveD does. */
static void rename_old(pai__buf *out, const char *text, size_t len)
{
  static const char *const names[][2] = {
    { "gpuType", "leafCellType" },
    { "gpuNumber", "leafCellNumber" },
    { "gpuIsolation", "leafCellIsolation" },
    { "physicalGpuIndices", "physicalLeafCellIndices" },
  };

  for (size_t i = 0; i < len;) {
    size_t k = 0, n = 0;

    for (; k < PAI__LEN(names); k++) {
      n = strlen(names[k][0]);
      if (n <= len - i && memcmp(text + i, names[k][0], n) == 0)
        break;
    }
    if (k < PAI__LEN(names)) {
      pai__buf_str(out, names[k][1]);
      i += n;
    } else {
      pai__buf_char(out, text[i++]);
    }
  }
}

static int parse(pai__tree **t, const pai_alloc *alloc, const char *text,
                 size_t len)
{
  pai__yaml_options opts = { .mode = PAI__YAML_CORE,
                             .duplicates = PAI__LAST_DUPLICATE,
                             .alloc = alloc };
  pai__buf b;
  int rc;

  *t = NULL;
  pai__buf_init(&b, alloc);
  rename_old(&b, text, len);
  rc = pai__buf_ok(&b)
         ? pai__yaml_parse(t, pai__buf_text(&b), b.len, &opts, NULL)
         : PAI_ENOMEM;
  pai__buf_dispose(&b);
  return rc == PAI_OK || rc == PAI_ENOMEM ? rc : PAI_EINVAL;
}

/* --- fields --------------------------------------------------------------- */

typedef struct reading {
  const pai__tree *t;
  pai__arena *a;
  bool wrong;  /* a field has a wrong type */
  bool failed; /* out of memory */
} reading;

static pai__node field(const reading *r, pai__node n, const char *key)
{
  pai__node v = n != PAI__NO_NODE ? pai__tree_get(r->t, n, key) : n;

  return v != PAI__NO_NODE && pai__tree_type(r->t, v) != PAI__NULL
           ? v
           : PAI__NO_NODE;
}

static pai__node collection(reading *r, pai__node n, const char *key, int type)
{
  pai__node v = field(r, n, key);

  if (v != PAI__NO_NODE && pai__tree_type(r->t, v) != type) {
    r->wrong = true;
    return PAI__NO_NODE;
  }
  return v;
}

/* HiveD's reader truncates fractions. */
static int64_t read_number(reading *r, pai__node v, int64_t otherwise)
{
  if (v == PAI__NO_NODE)
    return otherwise;
  if (pai__tree_type(r->t, v) == PAI__INT) {
    int64_t n = pai__tree_int(r->t, v);

    if (n >= INT32_MIN && n <= INT32_MAX)
      return n;
  } else if (pai__tree_type(r->t, v) == PAI__FLOAT) {
    double x = pai__tree_at(r->t, v)->u.f;

    if (x > INT32_MIN - 1.0 && x < INT32_MAX + 1.0)
      return (int64_t)x;
  }
  r->wrong = true;
  return otherwise;
}

/* True if an unquoted value is one of the words of YAML 1.1. */
static bool is_word(const reading *r, pai__node v, const char *const *words)
{
  const pai__tree_node *n = pai__tree_at(r->t, v);
  const char *s = r->t->text + n->start;
  size_t len = n->end - n->start;

  for (; *words != NULL; words++)
    if (strlen(*words) == len && memcmp(s, *words, len) == 0)
      return true;
  return false;
}

/* A null value is false. */
static bool read_bool(reading *r, pai__node n, const char *key, bool otherwise)
{
  static const char *const yes[] = { "y",  "Y",  "yes", "Yes", "YES",
                                     "on", "On", "ON",  NULL };
  static const char *const no[] = { "n",   "N",   "no",  "No", "NO",
                                    "off", "Off", "OFF", NULL };
  pai__node v = pai__tree_get(r->t, n, key);

  if (v == PAI__NO_NODE)
    return otherwise;
  if (pai__tree_type(r->t, v) == PAI__BOOL)
    return pai__tree_bool(r->t, v);
  if (is_word(r, v, yes))
    return true;
  if (pai__tree_type(r->t, v) != PAI__NULL && !is_word(r, v, no))
    r->wrong = true;
  return false;
}

/* Returns a string, or any other scalar as written. */
static const char *read_text(reading *r, pai__node v)
{
  const pai__tree_node *n;
  const char *s = "";
  size_t len = 0;

  if (v == PAI__NO_NODE)
    return "";
  n = pai__tree_at(r->t, v);
  if (n->type == PAI__STRING) {
    s = pai__tree_str(r->t, v, &len);
  } else if (n->type < PAI__SEQUENCE) {
    s = r->t->text + n->start;
    len = n->end - n->start;
  } else {
    r->wrong = true;
  }
  s = pai__arena_strndup(r->a, s, len);
  r->failed = r->failed || s == NULL;
  return s != NULL ? s : "";
}

/* --- requests ------------------------------------------------------------- */

/* Adds pods to the member of their size, or a new member; ascending by
 * leaves. */
static void add_member(pai__hived_member *list, uint32_t *n, int64_t pods,
                       int64_t leaves)
{
  pai__hived_member m = { (uint32_t)leaves, (uint32_t)pods };
  uint32_t i = *n;

  for (uint32_t k = 0; k < *n; k++)
    if (list[k].leaves == m.leaves) {
      list[k].pods += m.pods;
      return;
    }
  for (; i > 0 && list[i - 1].leaves > m.leaves; i--)
    list[i] = list[i - 1];
  list[i] = m;
  ++*n;
}

typedef struct counts {
  int64_t pods, leaves;
} counts;

static const char *check_members(const counts *given, uint32_t n,
                                 int64_t leaves)
{
  bool mine = false;
  int64_t all = 0;

  for (uint32_t i = 0; i < n; i++) {
    if (given[i].pods <= 0)
      return "AffinityGroup.Members has non-positive PodNumber";
    if (given[i].leaves <= 0)
      return "AffinityGroup.Members has non-positive LeafCellNumber";
    mine = mine || given[i].leaves == leaves;
    all += given[i].leaves * given[i].pods;
    if (all > PAI__HIVED_MAX_LEAVES)
      return "AffinityGroup.Members has more leaf cells than any cluster";
  }
  return mine ? NULL : "AffinityGroup.Members does not contains current Pod";
}

/* Reads the members as given; without a group the pod is the only one. */
static uint32_t read_members(reading *r, pai__node group, int64_t leaves,
                             counts **out)
{
  pai__tree_walk walk =
    pai__hived_items(r->t, collection(r, group, "members", PAI__SEQUENCE));
  pai__node item;
  uint32_t n = 0;

  *out = pai__arena_zalloc(r->a, walk.left + 1u, sizeof(**out));
  if (*out == NULL) {
    r->failed = true;
    return 0;
  }
  if (group == PAI__NO_NODE) {
    **out = (counts){ 1, leaves };
    return 1;
  }
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    if (pai__tree_type(r->t, item) != PAI__MAPPING)
      r->wrong = r->wrong || pai__tree_type(r->t, item) != PAI__NULL;
    (*out)[n].pods = read_number(r, field(r, item, "podNumber"), 0);
    (*out)[n++].leaves = read_number(r, field(r, item, "leafCellNumber"), 0);
  }
  return n;
}

static const char *check(const pai__hived_ask *ask, const counts *members,
                         uint32_t n, int64_t leaves)
{
  if (ask->words.vc[0] == '\0')
    return "VirtualCluster is empty";
  if (ask->r.priority < -1)
    return "Priority is less than -1";
  if (ask->r.priority > PAI__HIVED_MAX_PRIORITY)
    return "Priority is greater than 1000";
  if (leaves <= 0)
    return "LeafCellNumber is non-positive";
  if (ask->r.group_len == 0)
    return "AffinityGroup.Name is empty";
  return check_members(members, n, leaves);
}

static void resolve(const pai__hived *h, pai__hived_ask *ask)
{
  const pai__hived_words *w = &ask->words;

  ask->r.vc = pai__hived_find_vc(h, w->vc, strlen(w->vc));
  ask->r.pin = PAI__NOTHING;
  if (w->pin[0] != '\0')
    ask->r.pin = pai__hived_find_pin(h, ask->r.vc, w->pin, strlen(w->pin));
  ask->r.leaf_type = PAI__NOTHING;
  if (w->leaf_type[0] != '\0')
    ask->r.leaf_type =
      pai__hived_find_leaf_type(h, w->leaf_type, strlen(w->leaf_type));
}

static int read_ask(const pai__hived *h, reading *r, const char *own_group,
                    pai__hived_ask *ask, pai__buf *why)
{
  pai__node group = collection(r, 0, "affinityGroup", PAI__MAPPING);
  int64_t leaves = read_number(r, field(r, 0, "leafCellNumber"), 0);
  pai__hived_member *list;
  const char *wrong;
  counts *members;
  uint32_t n;

  ask->words.vc = read_text(r, field(r, 0, "virtualCluster"));
  ask->words.pin = read_text(r, field(r, 0, "pinnedCellId"));
  ask->words.leaf_type = read_text(r, field(r, 0, "leafCellType"));
  ask->words.group = own_group;
  if (group != PAI__NO_NODE)
    ask->words.group = read_text(r, field(r, group, "name"));
  ask->r.priority = (int32_t)read_number(r, field(r, 0, "priority"), 0);
  ask->r.lazy = read_bool(r, 0, "lazyPreemptionEnable", false);
  ask->r.ignores_suggested = read_bool(r, 0, "ignoreK8sSuggestedNodes", true);
  n = read_members(r, group, leaves, &members);
  list = pai__arena_zalloc(r->a, n + 1u, sizeof(*list));
  if (r->failed || list == NULL)
    return PAI_ENOMEM;
  if (r->wrong) {
    pai__buf_str(why, "Failed to unmarshal YAML: a field is of another type");
    return PAI_EINVAL;
  }
  ask->r.group = ask->words.group;
  ask->r.group_len = strlen(ask->words.group);
  wrong = check(ask, members, n, leaves);
  if (wrong != NULL) {
    pai__buf_printf(why, ANNOTATION "%s", wrong);
    return PAI_EINVAL;
  }
  ask->r.leaves = (uint32_t)leaves;
  ask->r.members = list;
  for (uint32_t i = 0; i < n; i++)
    add_member(list, &ask->r.nmembers, members[i].pods, members[i].leaves);
  resolve(h, ask);
  return PAI_OK;
}

int pai__hived_read_ask(const pai__hived *h, const char *text, size_t len,
                        const char *own_group, pai__arena *a,
                        pai__hived_ask *ask, pai__buf *why)
{
  reading r = { .a = a };
  pai__tree *t;
  int rc;

  memset(ask, 0, sizeof(*ask));
  if (len == 0) {
    pai__buf_str(why, ANNOTATION "Annotation does not exist or is empty");
    return pai__buf_ok(why) ? PAI_EINVAL : PAI_ENOMEM;
  }
  rc = parse(&t, a->alloc, text, len);
  if (rc == PAI_OK && pai__tree_type(t, 0) != PAI__MAPPING &&
      pai__tree_type(t, 0) != PAI__NULL)
    rc = PAI_EINVAL;
  if (rc == PAI_EINVAL)
    pai__buf_str(why, "Failed to unmarshal YAML: it is no mapping");
  r.t = t;
  if (rc == PAI_OK)
    rc = read_ask(h, &r, own_group, ask, why);
  pai__tree_free(t);
  return pai__buf_ok(why) ? rc : PAI_ENOMEM;
}

/* --- bind info ------------------------------------------------------------ */

typedef struct binding {
  reading r;
  pai__hived *h;
  pai__hived_ask *ask;
  uint32_t chain; /* or PAI__NOTHING */
  uint32_t chain_name;
  uint32_t *leaves, *types;
  pai__hived_spot *spots;
  bool lost;
} binding;

/* Returns a number for a name that the cluster may lack. */
static uint32_t name_of(binding *b, const char *s)
{
  uint32_t name = PAI__NOTHING;

  if (pai__hived_name(b->h, s, strlen(s), &name) < 0)
    b->r.failed = true;
  return name;
}

static uint32_t node_of(binding *b, pai__node v)
{
  const char *s = read_text(&b->r, v);
  size_t node;

  if (pai_cluster_find_node(pai__hived_cluster(b->h), s, &node) == PAI_OK)
    return (uint32_t)node;
  return name_of(b, s);
}

static uint32_t type_of(binding *b, pai__node types, uint32_t i,
                        uint32_t *name)
{
  pai__tree_walk walk = pai__hived_items(b->r.t, types);
  pai__node item;
  const char *s;
  uint32_t type;

  *name = PAI__NOTHING;
  if (types == PAI__NO_NODE)
    return PAI__HIVED_NO_TYPE;
  do
    item = pai__tree_next(&walk);
  while (item != PAI__NO_NODE && i-- > 0);
  s = item != PAI__NO_NODE ? read_text(&b->r, item) : "";
  if (s[0] == '\0')
    return PAI__NOTHING;
  type = pai__cluster_find_type(pai__hived_cluster(b->h), s, strlen(s));
  *name = type != PAI__NOTHING ? type : name_of(b, s);
  return type != PAI__NOTHING ? type : PAI__HIVED_UNKNOWN;
}

static pai__tree_walk devices_of(binding *b, pai__node pod)
{
  return pai__hived_items(
    b->r.t, collection(&b->r, pod, "physicalLeafCellIndices", PAI__SEQUENCE));
}

/* Reads one pod of a size; its leaves begin at `at`. */
static void read_placement(binding *b, pai__node pod, uint32_t size,
                           uint32_t at)
{
  reading *r = &b->r;
  pai__tree_walk walk = devices_of(b, pod);
  pai__node types = collection(r, pod, "preassignedCellTypes", PAI__SEQUENCE);
  uint32_t node = node_of(b, field(r, pod, "physicalNode"));
  pai__node item;

  for (uint32_t i = 0;
       i < size && (item = pai__tree_next(&walk)) != PAI__NO_NODE; i++) {
    uint32_t index = (uint32_t)read_number(r, item, -1);
    pai__hived_spot *spot = &b->spots[at + i];

    b->types[at + i] = type_of(b, types, i, &spot->type);
    b->leaves[at + i] = pai__hived_find_leaf(b->h, node, index, b->chain);
    spot->node = node;
    spot->index = index;
    spot->chain = b->chain_name;
  }
}

/* An entry's size is that of its first pod. */
static void read_entry(binding *b, pai__node entry)
{
  const pai__hived_request *r = &b->ask->r;
  pai__tree_walk walk = pai__hived_items(
    b->r.t, collection(&b->r, entry, "podPlacements", PAI__SEQUENCE));
  pai__node pod = pai__tree_next(&walk);
  pai__hived_sums at;
  uint32_t size;

  if (pod == PAI__NO_NODE)
    return;
  size = devices_of(b, pod).left;
  at = pai__hived_before(r->members, r->nmembers, size);
  for (uint32_t k = 0; at.members < r->nmembers && pod != PAI__NO_NODE &&
                       k < r->members[at.members].pods;
       k++) {
    read_placement(b, pod, size, at.leaves + k * size);
    pod = pai__tree_next(&walk);
  }
}

/* Returns the index of the pod of its size: the first one on that node with
 * that device. */
static uint32_t find_index(const binding *b, uint32_t node, uint32_t device)
{
  const pai__hived_request *r = &b->ask->r;
  pai__hived_sums at = pai__hived_before(r->members, r->nmembers, r->leaves);

  for (uint32_t k = 0;
       at.members < r->nmembers && k < r->members[at.members].pods; k++)
    for (uint32_t i = 0; i < r->leaves; i++) {
      const pai__hived_spot *s = &b->spots[at.leaves + k * r->leaves + i];

      if (s->node == node && s->index == device)
        return k;
    }
  return PAI__NOTHING;
}

static int make_room(binding *b, uint32_t *nleaves)
{
  const pai__hived_request *r = &b->ask->r;
  uint32_t n = pai__hived_before(r->members, r->nmembers, 0).leaves;

  b->leaves = pai__arena_zalloc(b->r.a, n, sizeof(*b->leaves));
  b->types = pai__arena_zalloc(b->r.a, n, sizeof(*b->types));
  b->spots = pai__arena_zalloc(b->r.a, n, sizeof(*b->spots));
  if (b->leaves == NULL || b->types == NULL || b->spots == NULL)
    return PAI_ENOMEM;
  memset(b->leaves, 0xff, n * sizeof(*b->leaves));
  memset(b->types, 0xff, n * sizeof(*b->types));
  memset(b->spots, 0xff, n * sizeof(*b->spots));
  *nleaves = n;
  return PAI_OK;
}

static int read_bound(binding *b, pai__hived_bound *bound)
{
  reading *r = &b->r;
  const char *chain = read_text(r, field(r, 0, "cellChain"));
  pai__tree_walk walk;
  pai__node item;
  uint32_t n, device = PAI__NOTHING;

  if (make_room(b, &n) < 0)
    return PAI_ENOMEM;
  if (b->ask->r.vc == PAI__HIVED_UNKNOWN)
    b->ask->r.vc = name_of(b, b->ask->words.vc);
  b->chain = pai__hived_find_chain(b->h, chain, strlen(chain));
  b->chain_name = name_of(b, chain);
  walk = pai__hived_items(
    r->t, collection(r, 0, "affinityGroupBindInfo", PAI__SEQUENCE));
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE)
    read_entry(b, item);
  walk = pai__hived_items(
    r->t, collection(r, 0, "leafCellIsolation", PAI__SEQUENCE));
  item = pai__tree_next(&walk);
  if (item != PAI__NO_NODE)
    device = (uint32_t)read_number(r, item, -1);
  bound->node = node_of(b, field(r, 0, "node"));
  bound->index = find_index(b, bound->node, device);
  for (uint32_t i = 0; i < n; i++)
    b->lost = b->lost || b->leaves[i] == PAI__NOTHING;
  bound->info =
    (pai__hived_info){ b->leaves, b->types, b->lost ? b->spots : NULL };
  if (r->failed)
    return PAI_ENOMEM;
  return r->wrong ? PAI_EINVAL : PAI_OK;
}

int pai__hived_read_bound(pai__hived *h, const char *text, size_t len,
                          pai__arena *a, pai__hived_ask *ask,
                          pai__hived_bound *bound)
{
  binding b = { .r = { .a = a }, .h = h, .ask = ask };
  pai__tree *t;
  int rc = parse(&t, a->alloc, text, len);

  if (rc == PAI_OK && pai__tree_type(t, 0) != PAI__MAPPING)
    rc = PAI_EINVAL;
  b.r.t = t;
  if (rc == PAI_OK)
    rc = read_bound(&b, bound);
  pai__tree_free(t);
  return rc;
}
