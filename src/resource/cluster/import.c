/* import.c - helpers for reading node lists of Kubernetes, Slurm and others:
 * texts, kinds, labels, shapes, reasons, Kubernetes' quantities */
#include "base/text/utf8.h"
#include "resource/cluster/import.h"

enum { LONGEST_KIND = 200, MOST_LABELS = 1000 /* of a node */ };

/* --- looking -------------------------------------------------------------- */

pai__node pai__import_get(const pai__reader *r, pai__node n, const char *key)
{
  return n == PAI__NO_NODE ? n : pai__tree_get(r->t, n, key);
}

pai__piece pai__import_text(const pai__reader *r, pai__node n)
{
  pai__piece p = { NULL, 0 };

  if (n == PAI__NO_NODE || pai__tree_type(r->t, n) != PAI__STRING)
    return p;
  p.s = pai__tree_str(r->t, n, &p.len);
  if (p.len == 0)
    p.s = NULL;
  return p;
}

bool pai__import_is_true(const pai__reader *r, pai__node n)
{
  return n != PAI__NO_NODE && pai__tree_type(r->t, n) == PAI__BOOL &&
         pai__tree_bool(r->t, n);
}

bool pai__piece_is(pai__piece p, const char *s)
{
  return p.s != NULL && strlen(s) == p.len && memcmp(p.s, s, p.len) == 0;
}

bool pai__piece_begins(pai__piece p, const char *s)
{
  size_t len = strlen(s);

  return p.len >= len && memcmp(p.s, s, len) == 0;
}

bool pai__piece_ends(pai__piece p, const char *s)
{
  size_t len = strlen(s);

  return p.len >= len && memcmp(p.s + p.len - len, s, len) == 0;
}

bool pai__piece_is_line(pai__piece p)
{
  for (size_t i = 0; i < p.len; i++)
    if ((unsigned char)p.s[i] < ' ' || p.s[i] == 0x7f)
      return false;
  return p.len > 0 && p.len <= PAI__REASON_TEXT;
}

const char *pai__import_name(pai__reader *r, pai__node n)
{
  const char *name = pai__read_copy(r, n, "the name of a node");

  if (name == NULL || strpbrk(name, "[]") == NULL)
    return name;
  (void)pai__find(r->f, PAI_SEVERITY_ERROR, "bad-name", n,
                  "the name of a node cannot have brackets");
  return NULL;
}

/* --- kinds of GPUs -------------------------------------------------------- */

uint32_t pai__import_kind(pai__reader *r, pai__node at, pai__piece name)
{
  char small[LONGEST_KIND + 1] = "";

  if (name.len <= LONGEST_KIND)
    name.len = pai__kind_text(small, sizeof(small), name.s, name.len);
  if (*small == '\0') {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "bad-name", at,
                    "the name of a kind of GPU must have 1 to %d letters and "
                    "digits",
                    LONGEST_KIND);
    return PAI__NOTHING;
  }
  return pai__read_kind(r, at, small, name.len);
}

/* --- labels --------------------------------------------------------------- */

bool pai__labels_begin(pai__reader *r, pai__labels *l, size_t room)
{
  pai_cluster *c = r->c;

  *l = (pai__labels){ NULL, 0, NULL };
  if (c->nnodes > 0)
    l->last = &c->nodes[c->nnodes - 1];
  l->list = pai__read_room(r, room, sizeof(*l->list));
  return l->list != NULL;
}

static bool is_joined(const char *s, const char *before, pai__piece rest)
{
  size_t len = strlen(before);

  return strncmp(s, before, len) == 0 && strlen(s + len) == rest.len &&
         memcmp(s + len, rest.s, rest.len) == 0;
}

static const char *join(pai__reader *r, const char *before, pai__piece rest)
{
  size_t len = strlen(before);
  char *text = pai__arena_zalloc(&r->c->arena, len + rest.len + 1, 1);

  r->f->failed |= text == NULL;
  if (text == NULL)
    return NULL;
  memcpy(text, before, len);
  memcpy(text + len, rest.s, rest.len);
  return text;
}

/* Slurm may name a feature twice. */
static bool is_there(const pai__labels *l, const char *before, pai__piece key)
{
  for (uint32_t i = 0; i < l->n; i++)
    if (is_joined(l->list[i].key, before, key))
      return true;
  return false;
}

void pai__labels_add(pai__reader *r, pai__labels *l, const char *before,
                     pai__piece key, pai__piece value)
{
  const pai__label *known = NULL;
  pai__label *added = &l->list[l->n];

  if (l->n == MOST_LABELS || is_there(l, before, key))
    return;
  if (l->last != NULL && l->n < l->last->nlabels)
    known = &l->last->labels[l->n];
  if (known != NULL && is_joined(known->key, before, key))
    added->key = known->key;
  else
    added->key = join(r, before, key);
  if (known != NULL && is_joined(known->value, "", value))
    added->value = known->value;
  else
    added->value = join(r, "", value);
  l->n += added->key != NULL && added->value != NULL;
}

/* --- what a node has ------------------------------------------------------ */

void pai__shape_init(pai__import_shape *shape)
{
  *shape = (pai__import_shape){ .name = { NULL, 0 } };
  shape->sku.groups = shape->groups;
}

void pai__shape_add(pai__reader *r, pai__node at, pai__import_shape *shape,
                    uint32_t kind, uint32_t count, uint32_t sick)
{
  uint32_t i = 0, *ngroups = &shape->sku.ngroups;
  uint64_t all = count;

  for (uint32_t k = 0; k < *ngroups; k++)
    all += shape->groups[k].count;
  while (i < *ngroups && shape->groups[i].kind != kind)
    i++;
  if (all > PAI__NODE_MAX_GPUS || i == PAI__SHAPE_KINDS) {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "too-large", at,
                    "a node cannot have more than %d GPUs of %d kinds",
                    PAI__NODE_MAX_GPUS, PAI__SHAPE_KINDS);
    return;
  }
  if (count == 0)
    return;
  if (i == *ngroups)
    shape->groups[(*ngroups)++] = (pai__gpu_group){ kind, 0 };
  shape->groups[i].count += count;
  shape->sick[i] += sick;
}

pai__member *pai__shape_node(pai__reader *r, pai__shapes *shapes, pai__node at,
                             const char *name, const pai__import_shape *shape)
{
  uint32_t sku = pai__shapes_sku(shapes, shape->name, &shape->sku);

  r->f->failed |= sku == PAI__NOTHING;
  return r->f->failed ? NULL : pai__read_add_node(r, at, name, sku);
}

void pai__import_nodes(pai__reader *r, pai__node list, const char *what,
                       pai__read_fn *read)
{
  uint32_t nodes;
  pai__shapes shapes;

  if (!pai__read_is_list(r, list, what))
    return;
  nodes = pai__tree_count(r->t, list);
  if (pai__cluster_reserve(r->c, nodes < r->max_nodes ? nodes : r->max_nodes,
                           0) < 0)
    r->f->failed = true;
  pai__shapes_init(&shapes, r->c);
  pai__read_items(r, list, what, read, &shapes);
  pai__shapes_dispose(&shapes);
}

/* --- why a node is sick -------------------------------------------------- */

void pai__reason_add(pai__buf *why, const char *fmt, ...)
{
  va_list ap;

  if (why->len >= PAI__REASON_TEXT)
    return; /* pai__reason_end() would cut it anyway */
  if (why->len > 0)
    pai__buf_str(why, "; ");
  va_start(ap, fmt);
  pai__buf_vprintf(why, fmt, ap);
  va_end(ap);
}

/* Makes it one line, cut between two characters. */
void pai__reason_end(pai__reader *r, pai__buf *why, char **sick)
{
  size_t len = why->len;

  if (pai__buf_ok(why) && len > 0) {
    for (size_t i = 0; i < len; i++)
      if ((unsigned char)why->data[i] < ' ' || why->data[i] == 0x7f)
        why->data[i] = ' ';
    if (len > PAI__REASON_TEXT) {
      len = PAI__REASON_TEXT;
      while (len > 0 && ((unsigned char)why->data[len] & 0xc0) == 0x80)
        len--;
    }
    while (len > 0 && (why->data[len - 1] == ' ' || why->data[len - 1] == '.'))
      len--;
    pai__buf_cut(why, len);
  }
  if (!pai__buf_ok(why) ||
      pai__cluster_set_sick(r->c, sick, pai__buf_text(why)) < 0)
    r->f->failed = true;
}

/* --- amounts as Kubernetes writes them ----------------------------------- */

enum { BILLION = 1000000000, MOST_EXPONENT = 24 };

/* A number with nine decimals; `more`: further digits are not all 0. */
typedef struct fixed {
  uint64_t whole;
  uint64_t part; /* billionths */
  bool more;
  bool too_large;
} fixed;

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static void multiply(fixed *f, uint32_t by)
{
  uint64_t carry = f->part * by / BILLION;

  if (f->whole > ((uint64_t)INT64_MAX - carry) / by) {
    f->too_large = true;
    return;
  }
  f->whole = f->whole * by + carry;
  f->part = f->part * by % BILLION;
}

static void divide(fixed *f, uint32_t by)
{
  uint64_t part = f->whole % by * BILLION + f->part;

  f->whole /= by;
  f->more |= part % by != 0;
  f->part = part / by;
}

static const char *read_digits(const char *s, const char *end, fixed *f)
{
  uint64_t worth = BILLION / 10;

  for (; s < end && is_digit(*s); s++) {
    multiply(f, 10);
    f->whole += (uint64_t)(*s - '0');
  }
  if (s == end || *s != '.')
    return s;
  for (s++; s < end && is_digit(*s); s++) {
    f->part += (uint64_t)(*s - '0') * worth;
    f->more |= worth == 0 && *s != '0';
    worth /= 10;
  }
  return s;
}

/* Reads "e3" or "E-3"; an E alone is a unit. */
static bool read_exponent(const char *s, const char *end, int *exponent)
{
  bool minus;

  s++;
  minus = s < end && *s == '-';
  if (s < end && (*s == '-' || *s == '+'))
    s++;
  if (s == end)
    return false;
  for (*exponent = 0; s < end && is_digit(*s); s++)
    if (*exponent <= MOST_EXPONENT)
      *exponent = *exponent * 10 + (*s - '0');
  if (*exponent > MOST_EXPONENT)
    *exponent = MOST_EXPONENT;
  if (minus)
    *exponent = -*exponent;
  return s == end;
}

static void scale(fixed *f, uint32_t by, int times)
{
  for (; times > 0 && !f->too_large; times--)
    multiply(f, by);
  for (; times < 0; times++)
    divide(f, by);
}

static bool read_unit(const char *s, const char *end, fixed *f)
{
  static const char decimal[] = "num kMGTPE", binary[] = "KMGTPE";
  const char *unit;
  int exponent;

  if (s == end)
    return true;
  if ((*s == 'e' || *s == 'E') && s + 1 < end) {
    if (s[1] != 'i') {
      if (!read_exponent(s, end, &exponent))
        return false;
      scale(f, 10, exponent);
      return true;
    }
  }
  if (end - s == 2 && s[1] == 'i') {
    unit = memchr(binary, *s, sizeof(binary) - 1);
    if (unit != NULL)
      scale(f, 1024, (int)(unit - binary) + 1);
    return unit != NULL;
  }
  unit = *s == ' ' ? NULL : memchr(decimal, *s, sizeof(decimal) - 1);
  if (end - s != 1 || unit == NULL)
    return false;
  scale(f, 1000, (int)(unit - decimal) - 3);
  return true;
}

bool pai__quantity_parse(uint64_t *out, const char *s, size_t len, bool milli)
{
  const char *end = s + len;
  fixed f = { 0, 0, false, false };

  if (len > 0 && *s == '+')
    s++;
  if (s == end ||
      (!is_digit(*s) && (*s != '.' || end - s < 2 || !is_digit(s[1]))))
    return false;
  s = read_digits(s, end, &f);
  if (!read_unit(s, end, &f))
    return false;
  scale(&f, 1000, milli ? 1 : 0);
  *out = f.whole + (f.part > 0 || f.more);
  return !f.too_large && *out <= (uint64_t)INT64_MAX;
}

bool pai__read_quantity(pai__reader *r, pai__node n, const char *what,
                        bool milli, uint64_t most, uint64_t *out)
{
  char text[PAI__VALUE_TEXT];
  pai__piece s;

  if (n == PAI__NO_NODE)
    return false;
  s = pai__read_text(r, n, what);
  if (s.s == NULL)
    return false;
  if (!pai__quantity_parse(out, s.s, s.len, milli)) {
    if (pai__find(r->f, PAI_SEVERITY_ERROR, "bad-quantity", n,
                  "%s cannot be %s", what, pai__value_text(text, r->f, n)))
      pai__find_help(r->f,
                     "give a number, with or without a unit of Kubernetes: m, "
                     "k, M, G, T, Ki, Mi, Gi or Ti, as 512Gi");
    return false;
  }
  if (*out <= most)
    return true;
  (void)pai__find(r->f, PAI_SEVERITY_ERROR, "too-large", n, "%s cannot be %s",
                  what, pai__value_text(text, r->f, n));
  return false;
}
