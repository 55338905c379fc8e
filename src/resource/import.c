/* import.c - what the readers of others' lists of nodes share */
#include "resource/import.h"

#include "base/utf8.h"

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

bool pai__piece_is(pai__piece p, const char *s)
{
  return p.s != NULL && strlen(s) == p.len && memcmp(p.s, s, p.len) == 0;
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
  l->list = pai__arena_zalloc(&c->arena, room + 1, sizeof(*l->list));
  r->f->failed |= l->list == NULL;
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

void pai__shape_init(pai__shape *shape)
{
  *shape = (pai__shape){ .name = { NULL, 0 } };
  shape->sku.groups = shape->groups;
}

void pai__shape_add(pai__reader *r, pai__node at, pai__shape *shape,
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
                             const char *name, const pai__shape *shape)
{
  uint32_t sku = pai__shapes_sku(shapes, shape->name, &shape->sku);

  r->f->failed |= sku == PAI__NOTHING;
  return r->f->failed ? NULL : pai__read_add_node(r, at, name, sku);
}

/* --- why a node is out of use --------------------------------------------- */

void pai__reason_add(pai__buf *why, const char *fmt, ...)
{
  va_list ap;

  if (why->len >= PAI__REASON_TEXT)
    return; /* it will be cut there anyway */
  if (why->len > 0)
    pai__buf_str(why, "; ");
  va_start(ap, fmt);
  pai__buf_vprintf(why, fmt, ap);
  va_end(ap);
}

/* One line, cut between two characters. */
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
