/* read_slurm.c - read `scontrol show nodes --json`, and slurmrestd's answer
 *
 * In 22.05, whose scontrol has no --json, `sinfo --json` gives the same. */
#include "base/text/utf8.h"
#include "resource/cluster/slurm.h"

/* --- numbers -------------------------------------------------------------- */

/* Reads a number as Slurm writes it since 22.05: 8, or {"set": true,
 * "infinite": false, "number": 8}.  Returns false if it is absent, not set, or
 * wrong, which is reported. */
static bool read_number(pai__reader *r, pai__node n, const char *what,
                        uint64_t most, uint64_t *out)
{
  char text[PAI__VALUE_TEXT];
  int64_t value;

  if (n == PAI__NO_NODE || pai__tree_type(r->t, n) == PAI__NULL)
    return false;
  if (pai__tree_type(r->t, n) == PAI__MAPPING) {
    if (!pai__import_is_true(r, pai__import_get(r, n, "set")) ||
        pai__import_is_true(r, pai__import_get(r, n, "infinite")))
      return false;
    n = pai__import_get(r, n, "number");
  }
  if (n == PAI__NO_NODE)
    return false;
  if (!pai__tree_whole(r->t, n, &value)) {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "wrong-type", n,
                    "%s must be a whole number, not %s", what,
                    pai__value_text(text, r->f, n));
    return false;
  }
  if (value < 0 || (uint64_t)value > most) {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR,
                    value < 0 ? "too-small" : "too-large", n,
                    "%s cannot be %s", what, pai__value_text(text, r->f, n));
    return false;
  }
  *out = (uint64_t)value;
  return true;
}

/* --- names ---------------------------------------------------------------- */

/* Iterates over names: a list, or one text separated by commas (states: also
 * by +). */
typedef struct names {
  const pai__reader *r;
  pai__tree_walk walk;
  pai__piece left; /* rest of the text */
} names;

static void names_begin(names *s, const pai__reader *r, pai__node n)
{
  *s = (names){ .r = r };
  if (n == PAI__NO_NODE)
    return;
  if (pai__tree_type(r->t, n) == PAI__SEQUENCE)
    s->walk = pai__tree_iter(r->t, n);
  else
    s->left = pai__import_text(r, n);
}

static bool names_next(names *s, pai__piece *name)
{
  for (;;) {
    pai__node item;

    while (s->left.len > 0 && strchr(",+ ", *s->left.s) != NULL &&
           *s->left.s != '\0') {
      s->left.s++;
      s->left.len--;
    }
    if (s->left.s != NULL && s->left.len > 0) {
      name->s = s->left.s;
      name->len = 0;
      while (name->len < s->left.len &&
             memchr(",+ ", name->s[name->len], 3) == NULL)
        name->len++;
      s->left.s += name->len;
      s->left.len -= name->len;
      return true;
    }
    if (s->walk.left == 0)
      return false;
    item = pai__tree_next(&s->walk);
    s->left = pai__import_text(s->r, item);
  }
}

/* --- states --------------------------------------------------------------- */

/* States in which a node is sick, and their text; of several, the first in
 * this list is used. */
static const struct sick_state {
  const char *name, *says;
} sick_states[] = {
  { "DOWN", "down" },
  { "ERROR", "in error" },
  { "FAIL", "failed" },
  { "FAILING", "failed" },
  { "DRAIN", "drained" },
  { "DRAINED", "drained" },
  { "DRAINING", "drained" },
  { "NOT_RESPONDING", "not responding" },
  { "NO_RESPOND", "not responding" },
  { "INVALID_REG", "registered with less than is configured" },
  { "MAINTENANCE", "in maintenance" },
  { "MAINT", "in maintenance" },
  { "REBOOT_ISSUED", "rebooting" },
  { "POWERED_DOWN", "powered down" },
  { "POWERING_DOWN", "powering down" },
  { "POWER_DOWN", "powering down" },
  { "POWER_DRAIN", "powering down" },
  { "POWERING_UP", "powering up" },
  { "POWER_UP", "powering up" },
  { "FUTURE", "not there yet" },
  { "DYNAMIC_FUTURE", "not there yet" },
  { "UNKNOWN", "in an unknown state" },
  { "INVALID", "in an unknown state" },
};

/* Compares a state.  Older versions write small letters, and scontrol's text
 * has marks such as * after the state. */
static bool is_state(pai__piece s, const char *name)
{
  size_t i = 0;

  for (; i < s.len && name[i] != '\0'; i++) {
    char c = s.s[i];

    if (c >= 'a' && c <= 'z')
      c = (char)(c - 'a' + 'A');
    if (c != name[i])
      return false;
  }
  if (name[i] != '\0')
    return false;
  while (i < s.len && memchr("*~#!%$@^-", s.s[i], 9) != NULL)
    i++;
  return i == s.len;
}

static size_t find_state(pai__piece s)
{
  size_t i = 0;

  while (i < PAI__LEN(sick_states) && !is_state(s, sick_states[i].name))
    i++;
  return i;
}

/* Finds the mark after a state, which means what newer versions write as a
 * flag. */
static size_t find_mark(pai__piece s)
{
  static const struct {
    char mark;
    const char *state;
  } marks[] = { { '*', "NOT_RESPONDING" }, { '$', "MAINT" },
                { '~', "POWERED_DOWN" },   { '%', "POWERING_DOWN" },
                { '!', "POWER_DOWN" },     { '#', "POWERING_UP" } };

  for (size_t i = 0; i < PAI__LEN(marks); i++)
    if (memchr(s.s, marks[i].mark, s.len) != NULL)
      return find_state(
        (pai__piece){ marks[i].state, strlen(marks[i].state) });
  return PAI__LEN(sick_states);
}

/* Collects why no job can run on the node, from its state and its reason. */
static void read_health(const pai__reader *r, pai__node node, pai__buf *why)
{
  static const char *const keys[] = { "state", "state_flags" };
  pai__piece reason = pai__import_text(r, pai__import_get(r, node, "reason"));
  size_t worst = PAI__LEN(sick_states);

  for (size_t i = 0; i < PAI__LEN(keys); i++) {
    names list;
    pai__piece s;

    names_begin(&list, r, pai__import_get(r, node, keys[i]));
    while (names_next(&list, &s)) {
      size_t state = find_state(s), mark = find_mark(s);

      if (state < worst)
        worst = state;
      if (mark < worst)
        worst = mark;
    }
  }
  if (worst == PAI__LEN(sick_states))
    return;
  pai__reason_add(why, "%s", sick_states[worst].says);
  if (reason.s != NULL && !pai__piece_is(reason, "(null)") &&
      !pai__piece_is(reason, "none"))
    pai__buf_printf(why, ": %.*s", (int)(reason.len < 500 ? reason.len : 500),
                    reason.s);
}

enum { LONGEST_NAME = 200 }; /* of names that become part of a label */

/* Whether the text is Slurm's: `meta` says so.  A list of nodes without `meta`
 * is recognised by fields that no other form has. */
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

  return read_number(r, pai__import_get(r, node, key), key, most, &value)
           ? (uint32_t)value
           : 0;
}

/* Reads the CPUs that jobs do not get: newer versions have the number left for
 * jobs, older ones only the counted resource. */
static void read_cpus(pai__reader *r, pai__node node, pai__import_shape *shape)
{
  uint64_t left = number(r, node, "effective_cpus", PAI__IMPORT_CPUS);

  shape->sku.cpus = number(r, node, "cpus", PAI__IMPORT_CPUS);
  if (left == 0 &&
      !pai__slurm_tres(r, pai__import_get(r, node, "tres"), "cpu", &left))
    return;
  if (left > 0 && left < shape->sku.cpus)
    shape->sku.used_cpus = shape->sku.cpus - (uint32_t)left;
}

static void read_memory(pai__reader *r, pai__node node,
                        pai__import_shape *shape)
{
  uint64_t most = PAI__MOST_MEMORY >> 20, size;

  if (read_number(r, pai__import_get(r, node, "real_memory"), "real_memory",
                  most, &size))
    shape->sku.memory = size << 20;
  if (read_number(r, pai__import_get(r, node, "specialized_memory"),
                  "specialized_memory", most, &size) &&
      size << 20 <= shape->sku.memory)
    shape->sku.used_memory = size << 20;
}

static void read_shape(pai__reader *r, pai__node node,
                       pai__import_shape *shape)
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

/* --- place and name ------------------------------------------------------ */

/* Returns the leaf of the first topology in "tree:spine1:leaf3", which becomes
 * the rack. */
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

/* Finds "rack=r7" or "switch=s3" as a word of a comment. */
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

/* Partitions overlap, and a node may have any number of features: both become
 * labels. */
static void read_labels(pai__reader *r, pai__node node, pai__labels *l)
{
  static const struct {
    const char *key, *label;
  } lists[] = { { "partitions", "partition/" },
                { "active_features", "feature/" } };
  static const pai__piece yes = { "true", 4 };
  names list;
  pai__piece s;
  size_t room = 0;

  for (size_t i = 0; i < PAI__LEN(lists); i++) {
    names_begin(&list, r, pai__import_get(r, node, lists[i].key));
    while (names_next(&list, &s))
      room++;
  }
  if (!pai__labels_begin(r, l, room))
    return;
  for (size_t i = 0; i < PAI__LEN(lists); i++) {
    names_begin(&list, r, pai__import_get(r, node, lists[i].key));
    while (!r->f->failed && names_next(&list, &s))
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
  read_health(r, n, &why);
  pai__reason_end(r, &why, &m->sick);
  pai__buf_dispose(&why);
}

static void read_node(pai__reader *r, pai__node n, void *shapes)
{
  pai__node name_at;
  pai__labels labels;
  pai__import_shape shape;
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

/* Reports an error of Slurm: a warning if there are nodes, else an error. */
static void tell_error(pai__reader *r, pai__node item, void *is_empty)
{
  pai__piece says = pai__import_text(r, pai__import_get(r, item, "error"));
  char piece[PAI__EXCERPT];

  if (says.s == NULL)
    says = pai__import_text(r, pai__import_get(r, item, "description"));
  (void)pai__find(
    r->f, *(bool *)is_empty ? PAI_SEVERITY_ERROR : PAI_SEVERITY_WARNING,
    "refused", item, "Slurm says: %s",
    says.s != NULL ? pai__excerpt(piece, says.s, says.len) : "an error");
}

static void read_slurm(pai__reader *r)
{
  pai__node nodes = pai__import_get(r, 0, "nodes");
  bool is_list =
    nodes != PAI__NO_NODE && pai__tree_type(r->t, nodes) == PAI__SEQUENCE;
  bool is_empty = !is_list || pai__tree_count(r->t, nodes) == 0;

  pai__read_items(r, pai__import_get(r, 0, "errors"), "errors", tell_error,
                  &is_empty);
  pai__import_nodes(r, nodes, "nodes", read_node);
  if (!is_list && r->f->errors == 0 &&
      pai__find(r->f, PAI_SEVERITY_ERROR, "missing-key", 0,
                "Slurm's answer has no 'nodes'"))
    pai__find_help(r->f, "scontrol show nodes --json");
}

const pai__cluster_form pai__form_slurm = { "slurm", is_slurm, read_slurm,
                                            NULL };
