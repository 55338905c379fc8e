/* slurm_gres.c - GPUs in Slurm's lists of resources
 *
 *   gres  gpu:h100:4(S:0),gpu:h100:4(S:1),shard:16    what there is, and where
 *   tres  cpu=28,mem=515000M,billing=28,gres/gpu=8    what is counted
 */
#include "resource/bits.h"
#include "resource/cluster/slurm.h"

/* An item of gres in its parts: "gpu:h100:4(S:0-1)". */
typedef struct gres {
  pai__piece name, type, count, sockets;
} gres;

/* --- taking it apart ------------------------------------------------------ */

/* Takes the next item, up to a comma that is not in parentheses. */
static bool next_item(pai__piece *left, pai__piece *item)
{
  size_t depth = 0;

  while (left->len > 0 && (*left->s == ',' || *left->s == ' ')) {
    left->s++;
    left->len--;
  }
  *item = (pai__piece){ left->s, 0 };
  while (left->len > 0 && (depth > 0 || *left->s != ',')) {
    depth += *left->s == '(';
    depth -= *left->s == ')' && depth > 0;
    left->s++;
    left->len--;
    item->len++;
  }
  return item->len > 0;
}

/* Takes the text before a character, and the character. */
static pai__piece take(pai__piece *s, char end)
{
  const char *at = s->len > 0 ? memchr(s->s, end, s->len) : NULL;
  pai__piece got = { s->s, at != NULL ? (size_t)(at - s->s) : s->len };
  size_t len = got.len + (at != NULL);

  s->s += len;
  s->len -= len;
  return got;
}

static bool is_number(pai__piece s)
{
  for (size_t i = 0; i < s.len; i++)
    if (s.s[i] < '0' || s.s[i] > '9')
      return false;
  return s.len > 0;
}

/* Splits gpu, gpu:8, gpu:h100:8 or gpu:h100:no_consume:8. */
static gres split(pai__piece item)
{
  pai__piece head = take(&item, '('), places = take(&item, ')');
  gres g = { .name = take(&head, ':') };

  while (head.len > 0) {
    pai__piece part = take(&head, ':');

    if (head.len == 0 && is_number(part))
      g.count = part;
    else if (g.type.len == 0 && !pai__piece_is(part, "no_consume"))
      g.type = part;
  }
  if (places.len > 2 && memcmp(places.s, "S:", 2) == 0)
    g.sockets = (pai__piece){ places.s + 2, places.len - 2 };
  return g;
}

/* Returns a bit for each socket of "0-1,3". */
static uint64_t read_sockets(pai__piece s)
{
  uint64_t all = 0;

  while (s.len > 0) {
    pai__piece last = take(&s, ','), first = take(&last, '-');
    uint64_t from, to;

    if (!is_number(first) || first.len > 2 || last.len > 2 ||
        (last.len > 0 && !is_number(last)))
      return 0;
    (void)pai__quantity_parse(&from, first.s, first.len, false);
    to = from;
    if (last.len > 0)
      (void)pai__quantity_parse(&to, last.s, last.len, false);
    if (to > 63)
      return 0;
    for (; from <= to; from++)
      all |= UINT64_C(1) << from;
  }
  return all;
}

/* --- tres ----------------------------------------------------------------- */

/* Takes the next "name=value". */
static bool next_tres(pai__piece *left, pai__piece *name, pai__piece *value)
{
  if (!next_item(left, value))
    return false;
  *name = take(value, '=');
  return true;
}

bool pai__slurm_tres(const pai__reader *r, pai__node tres, const char *name,
                     uint64_t *out)
{
  pai__piece left = pai__import_text(r, tres), key, value;

  while (next_tres(&left, &key, &value))
    if (pai__piece_is(key, name))
      return pai__quantity_parse(out, value.s, value.len, false);
  return false;
}

/* --- GPUs ----------------------------------------------------------------- */

/* Sets the resource by which jobs ask Slurm for the kind, in Slurm's spelling
 * of the type. */
static void put_resource(pai__reader *r, uint32_t kind, pai__piece type)
{
  pai__gpu_kind *k = &r->c->kinds[kind];
  pai__buf b;

  if (k->resource != NULL || (type.len > 0 && !pai__piece_is_line(type)))
    return;
  pai__buf_init(&b, &r->c->alloc);
  pai__buf_str(&b, type.len > 0 ? "gres/gpu:" : "gres/gpu");
  pai__buf_add(&b, type.s, type.len);
  if (pai__buf_ok(&b))
    k->resource = pai__cluster_text(r->c, b.data, b.len);
  r->f->failed |= k->resource == NULL;
  pai__buf_dispose(&b);
}

static void add_gpus(pai__reader *r, pai__node at, pai__piece type,
                     pai__piece count, pai__import_shape *shape)
{
  pai__piece name = type.len > 0 ? type : (pai__piece){ "gpu", 3 };
  uint64_t n = 1;
  uint32_t kind;

  if (count.len > 0 && (!pai__quantity_parse(&n, count.s, count.len, false) ||
                        n > PAI__NODE_MAX_GPUS)) {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "too-large", at,
                    "a node cannot have more than %d GPUs",
                    PAI__NODE_MAX_GPUS);
    return;
  }
  kind = n > 0 ? pai__import_kind(r, at, name) : PAI__NOTHING;
  if (kind == PAI__NOTHING)
    return;
  put_resource(r, kind, type);
  pai__shape_add(r, at, shape, kind, (uint32_t)n, 0);
}

/* gres/gpu:h100=8 has the kind, gres/gpu=8 is the sum, which is used only if
 * there is nothing else. */
static void read_tres(pai__reader *r, pai__node tres, pai__import_shape *shape)
{
  static const char typed[] = "gres/gpu:";
  pai__piece left = pai__import_text(r, tres), key, value;
  pai__piece sum = { NULL, 0 };

  while (next_tres(&left, &key, &value)) {
    if (pai__piece_is(key, "gres/gpu")) {
      sum = value;
    } else if (pai__piece_begins(key, typed) && key.len > strlen(typed)) {
      key.s += strlen(typed);
      key.len -= strlen(typed);
      add_gpus(r, tres, key, value, shape);
    }
  }
  if (shape->sku.ngroups == 0 && sum.len > 0)
    add_gpus(r, tres, (pai__piece){ NULL, 0 }, sum, shape);
}

void pai__slurm_gpus(pai__reader *r, pai__node gres_at, pai__node tres,
                     pai__import_shape *shape)
{
  pai__piece left = pai__import_text(r, gres_at), item;
  uint64_t sockets = 0;

  while (next_item(&left, &item)) {
    gres g = split(item);

    if (!pai__piece_is(g.name, "gpu"))
      continue;
    add_gpus(r, gres_at, g.type, g.count, shape);
    sockets |= read_sockets(g.sockets);
  }
  if (shape->sku.ngroups == 0)
    read_tres(r, tres, shape);
  /* The NUMA nodes are the sockets of the GPUs; without sockets, one NUMA
   * node. */
  if (shape->sku.ngroups > 0)
    shape->sku.numa = pai__bits_ones(sockets);
}
