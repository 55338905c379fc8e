/* read_slurm.c - `scontrol show nodes --json`, and slurmrestd's answer
 *
 * Of 22.05, whose scontrol has no --json yet, `sinfo --json` gives the same. */
#include "resource/slurm.h"

#include "base/utf8.h"

enum { LONGEST_NAME = 200 }; /* of what becomes a part of a label */

/* Slurm says so in `meta`; a list that was cut out of its answer is known by
 * fields that no other form has. */
static bool is_slurm(const pai__tree *t)
{
  pai__node meta = pai__tree_get(t, 0, "meta");
  pai__node nodes = pai__tree_get(t, 0, "nodes");
  pai__tree_walk walk;
  pai__node first;

  if (meta != PAI__NO_NODE &&
      (pai__tree_get(t, meta, "slurm") != PAI__NO_NODE ||
       pai__tree_get(t, meta, "Slurm") != PAI__NO_NODE))
    return true;
  if (nodes == PAI__NO_NODE || pai__tree_type(t, nodes) != PAI__SEQUENCE)
    return false;
  walk = pai__tree_iter(t, nodes);
  first = pai__tree_next(&walk);
  return first != PAI__NO_NODE &&
         pai__tree_get(t, first, "sku") == PAI__NO_NODE &&
         pai__tree_get(t, first, "state") != PAI__NO_NODE &&
         (pai__tree_get(t, first, "real_memory") != PAI__NO_NODE ||
          pai__tree_get(t, first, "gres") != PAI__NO_NODE);
}

/* --- what it has ---------------------------------------------------------- */

static uint32_t number(pai__reader *r, pai__node node, const char *key,
                       uint32_t most)
{
  uint64_t value;

  return pai__slurm_number(r, pai__import_get(r, node, key), key, most, &value)
           ? (uint32_t)value
           : 0;
}

/* CPUs that jobs do not get: newer versions say how many are left for them,
 * older ones only as a counted resource. */
static void read_cpus(pai__reader *r, pai__node node, pai__shape *shape)
{
  uint64_t left = number(r, node, "effective_cpus", PAI__IMPORT_CPUS);

  shape->sku.cpus = number(r, node, "cpus", PAI__IMPORT_CPUS);
  if (left == 0 &&
      !pai__slurm_tres(r, pai__import_get(r, node, "tres"), "cpu", &left))
    return;
  if (left > 0 && left < shape->sku.cpus)
    shape->sku.used_cpus = shape->sku.cpus - (uint32_t)left;
}

static void read_memory(pai__reader *r, pai__node node, pai__shape *shape)
{
  uint64_t most = PAI__MOST_MEMORY >> 20, size;

  if (pai__slurm_number(r, pai__import_get(r, node, "real_memory"),
                        "real_memory", most, &size))
    shape->sku.memory = size << 20;
  if (pai__slurm_number(r, pai__import_get(r, node, "specialized_memory"),
                        "specialized_memory", most, &size) &&
      size << 20 <= shape->sku.memory)
    shape->sku.used_memory = size << 20;
}

static void read_shape(pai__reader *r, pai__node node, pai__shape *shape)
{
  pai__shape_init(shape);
  shape->name = pai__import_text(r, pai__import_get(r, node, "instance_type"));
  if (!pai__piece_is_line(shape->name))
    shape->name = (pai__piece){ NULL, 0 };
  read_cpus(r, node, shape);
  read_memory(r, node, shape);
  shape->sku.numa = number(r, node, "sockets", 1024);
  pai__slurm_gpus(r, pai__import_get(r, node, "gres"),
                  pai__import_get(r, node, "tres"), shape);
}

/* --- where it is, and what it is called ----------------------------------- */

/* "tree:spine1:leaf3" of the first topology, of which the leaf is ours. */
static pai__piece leaf_of(pai__piece s)
{
  const char *comma = s.s != NULL ? memchr(s.s, ',', s.len) : NULL;
  size_t from;

  if (s.s == NULL)
    return s;
  if (comma != NULL)
    s.len = (size_t)(comma - s.s);
  for (from = s.len; from > 0 && s.s[from - 1] != ':'; from--)
    ;
  s.s += from;
  s.len -= from;
  return s;
}

/* "rack=r7" or "switch=s3" as a word of a comment. */
static pai__piece word_of(pai__piece s)
{
  static const char *const words[] = { "rack=", "switch=" };
  pai__piece found = { NULL, 0 };

  for (size_t i = 0; i < s.len && found.s == NULL; i++) {
    if (i > 0 && memchr(" ,;", s.s[i - 1], 3) == NULL)
      continue;
    for (size_t k = 0; k < PAI__LEN(words); k++) {
      size_t len = strlen(words[k]);

      if (s.len - i > len && memcmp(s.s + i, words[k], len) == 0)
        found = (pai__piece){ s.s + i + len, s.len - i - len };
    }
  }
  for (size_t i = 0; i < found.len; i++)
    if (memchr(" ,;", found.s[i], 3) != NULL)
      found.len = i;
  return found;
}

static void find_rack(pai__reader *r, pai__node node, pai__member *m)
{
  static const char *const keys[] = { "comment", "extra" };
  pai__piece s =
    leaf_of(pai__import_text(r, pai__import_get(r, node, "topology")));

  for (size_t i = 0; i < PAI__LEN(keys) && s.len == 0; i++)
    s = word_of(pai__import_text(r, pai__import_get(r, node, keys[i])));
  if (pai__piece_is_line(s) &&
      pai__cluster_rack(r->c, s.s, s.len, &m->rack) < 0)
    r->f->failed = true;
}

/* Partitions overlap and features come in any number: both are labels. */
static void read_labels(pai__reader *r, pai__node node, pai__labels *l)
{
  static const struct {
    const char *key, *label;
  } lists[] = { { "partitions", "partition/" },
                { "active_features", "feature/" } };
  static const pai__piece yes = { "true", 4 };
  pai__slurm_names names;
  pai__piece s;
  size_t room = 0;

  for (size_t i = 0; i < PAI__LEN(lists); i++) {
    pai__slurm_names_begin(&names, r, pai__import_get(r, node, lists[i].key));
    while (pai__slurm_names_next(&names, &s))
      room++;
  }
  if (!pai__labels_begin(r, l, room))
    return;
  for (size_t i = 0; i < PAI__LEN(lists); i++) {
    pai__slurm_names_begin(&names, r, pai__import_get(r, node, lists[i].key));
    while (!r->f->failed && pai__slurm_names_next(&names, &s))
      if (pai__piece_is_line(s) && s.len <= LONGEST_NAME)
        pai__labels_add(r, l, lists[i].label, s, yes);
  }
}

/* --- a node --------------------------------------------------------------- */

static void fill_node(pai__reader *r, pai__node n, pai__member *m)
{
  pai__piece address = pai__import_text(r, pai__import_get(r, n, "address"));
  pai__buf why;

  if (pai__piece_is_line(address) && !pai__piece_is(address, m->name)) {
    m->address = pai__cluster_text(r->c, address.s, address.len);
    r->f->failed |= m->address == NULL;
  }
  find_rack(r, n, m);
  pai__buf_init(&why, &r->c->alloc);
  pai__slurm_health(r, n, &why);
  pai__reason_end(r, &why, &m->sick);
  pai__buf_dispose(&why);
}

static void read_node(pai__reader *r, pai__shapes *shapes, pai__node n)
{
  pai__node name_at;
  pai__labels labels;
  pai__shape shape;
  pai__member *m;
  const char *name;

  if (!pai__read_is_mapping(r, n, "a node"))
    return;
  name_at = pai__import_get(r, n, "name");
  if (name_at == PAI__NO_NODE) {
    pai__read_missing(r, n, "a node", "name");
    return;
  }
  name = pai__import_name(r, name_at);
  read_shape(r, n, &shape);
  read_labels(r, n, &labels);
  if (name == NULL || r->f->failed || r->full)
    return;
  m = pai__shape_node(r, shapes, n, name, &shape);
  if (m == NULL)
    return;
  pai__labels_end(&labels, m);
  fill_node(r, n, m);
}

/* --- the whole ------------------------------------------------------------ */

/* With nodes an error is told and they count; without, there is no more to
 * tell. */
static void tell_errors(pai__reader *r, bool is_empty)
{
  pai__node errors = pai__import_get(r, 0, "errors");
  pai__tree_walk walk;
  pai__node item;

  if (!pai__read_is_list(r, errors, "errors"))
    return;
  walk = pai__tree_iter(r->t, errors);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__piece says = pai__import_text(r, pai__import_get(r, item, "error"));
    char piece[PAI__EXCERPT];

    if (says.s == NULL)
      says = pai__import_text(r, pai__import_get(r, item, "description"));
    (void)pai__find(r->f, is_empty ? PAI_SEVERITY_ERROR : PAI_SEVERITY_WARNING,
                    "refused", item, "Slurm says: %s",
                    says.s != NULL ? pai__excerpt(piece, says.s, says.len)
                                   : "an error");
  }
}

static void read_nodes(pai__reader *r, pai__node nodes)
{
  pai__shapes shapes;
  pai__tree_walk walk = pai__tree_iter(r->t, nodes);
  size_t n = pai__tree_count(r->t, nodes);
  pai__node item;

  pai__shapes_init(&shapes, r->c);
  if (pai__cluster_reserve(r->c, n < r->max_nodes ? n : r->max_nodes, 0) < 0)
    r->f->failed = true;
  while (!r->f->failed && !r->full &&
         (item = pai__tree_next(&walk)) != PAI__NO_NODE)
    read_node(r, &shapes, item);
  pai__shapes_dispose(&shapes);
}

static void read_slurm(pai__reader *r)
{
  pai__node nodes = pai__import_get(r, 0, "nodes");
  bool is_list = pai__read_is_list(r, nodes, "nodes");

  tell_errors(r, !is_list || pai__tree_count(r->t, nodes) == 0);
  if (is_list) {
    read_nodes(r, nodes);
    return;
  }
  if (r->f->errors == 0 && pai__find(r->f, PAI_SEVERITY_ERROR, "missing-key",
                                     0, "Slurm's answer has no 'nodes'"))
    pai__find_help(r->f, "scontrol show nodes --json");
}

const pai__cluster_form pai__form_slurm = { "slurm", is_slurm, read_slurm,
                                            NULL };
