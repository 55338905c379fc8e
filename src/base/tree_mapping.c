/*
 * tree_mapping.c - entries of a mapping: duplicates, merge keys, look-up
 *
 * Hashes are only used for small mappings, because an attacker may choose the
 * keys: large mappings are sorted, with n log n comparisons for any content.
 */
#include "base/tree.h"
#include "base/text/utf8.h"

/* Up to this many entries are searched one by one. */
enum { SMALL = 32 };

static int compare(const pai__tree *t, pai__node a, pai__node b)
{
  const pai__tree_node *p = &t->nodes[a], *q = &t->nodes[b];
  uint32_t less = p->u.s.len < q->u.s.len ? p->u.s.len : q->u.s.len;
  int c = memcmp(t->strings + p->u.s.off, t->strings + q->u.s.off, less);

  return c != 0 ? c : (p->u.s.len > q->u.s.len) - (p->u.s.len < q->u.s.len);
}

/* One key that may become an entry. */
typedef struct candidate {
  pai__node key;
  bool own; /* written in this mapping, not merged into it */
} candidate;

/* Merges two sorted runs of indices; equal keys stay in order. */
static void merge_runs(const pai__tree *t, const candidate *cand,
                       const uint32_t *from, size_t mid, size_t end,
                       uint32_t *to)
{
  size_t a = 0, b = mid;

  while (a < mid || b < end) {
    if (b == end ||
        (a < mid && compare(t, cand[from[a]].key, cand[from[b]].key) <= 0))
      *to++ = from[a++];
    else
      *to++ = from[b++];
  }
}

/* Fills order[0..n) with the indices of cand, sorted by key; spare is as
 * long. */
static void sort(const pai__tree *t, const candidate *cand, size_t n,
                 uint32_t *order, uint32_t *spare)
{
  for (size_t i = 0; i < n; i++)
    order[i] = (uint32_t)i;
  for (size_t run = 1; run < n; run *= 2) {
    for (size_t i = 0; i < n; i += 2 * run) {
      size_t mid = run < n - i ? run : n - i;
      size_t end = 2 * run < n - i ? 2 * run : n - i;
      merge_runs(t, cand, order + i, mid, end, spare + i);
    }
    memcpy(order, spare, n * sizeof(*order));
  }
}

static int fail_duplicate(const pai__tree *t, pai__node key, pai__node first,
                          pai_error **err)
{
  const pai__tree_node *p = &t->nodes[key];
  pai__pos at = pai__tree_where(t, first);
  char name[PAI__EXCERPT];

  (void)pai__fail_at(err, PAI_EINVAL, pai__tree_where(t, key),
                     "key \"%s\" already exists at line %u, column %u",
                     pai__excerpt(name, t->strings + p->u.s.off, p->u.s.len),
                     at.line, at.column);
  pai__error_help(err, "remove one of the two");
  return PAI_EINVAL;
}

/* --- small mappings ----------------------------------------------------- */

/* A quick hash; colliding keys cost at most SMALL comparisons a key. */
static unsigned quick_hash(const char *s, uint32_t len)
{
  unsigned h = len;

  if (len != 0)
    h = h * 5 + (unsigned char)s[0] + (unsigned char)s[len - 1] * 9u +
        (unsigned char)s[len / 2] * 3u;
  return h;
}

/* Looks for two equal keys in a small mapping; returns the later one of the
 * first such pair, or PAI__NO_NODE. */
static pai__node small_duplicate(const pai__tree *t, pai__node n,
                                 uint32_t count, pai__node *first)
{
  pai__node keys[SMALL], key = n + 1;
  uint64_t seen[2] = { 0, 0 };

  for (uint32_t i = 0; i < count; i++) {
    const pai__tree_node *p = &t->nodes[key];
    unsigned h = quick_hash(t->strings + p->u.s.off, p->u.s.len);
    uint64_t *word = &seen[(h >> 6) & 1];
    uint64_t bit = UINT64_C(1) << (h & 63);

    for (uint32_t j = 0; (*word & bit) != 0 && j < i; j++) {
      const pai__tree_node *q = &t->nodes[keys[j]];
      if (q->u.s.len == p->u.s.len && compare(t, keys[j], key) == 0) {
        *first = keys[j];
        return key;
      }
    }
    *word |= bit;
    keys[i] = key;
    key = t->nodes[p->skip].skip;
  }
  return PAI__NO_NODE;
}

/* --- large and merged ones ---------------------------------------------- */

typedef struct gather {
  const pai_alloc *alloc;
  candidate *cand;
  size_t len, cap;
} gather;

static int gather_key(gather *g, pai__node key, bool own)
{
  if (PAI__VEC_ROOM(g->alloc, g->cand, g->len, g->cap) < 0)
    return PAI_ENOMEM;
  g->cand[g->len++] = (candidate){ key, own };
  return PAI_OK;
}

/* Collects the entries of a merge key's value. */
static int gather_merged(gather *g, const pai__tree *t, pai__node value,
                         pai_error **err)
{
  pai__tree_walk w;
  pai__node n;

  if (pai__tree_type(t, value) == PAI__TIMESTAMP)
    return PAI_OK; /* a JavaScript object without keys */
  if (pai__tree_type(t, value) != PAI__MAPPING) {
    (void)pai__fail_at(
      err, PAI_EINVAL, pai__tree_where(t, value),
      "cannot merge this into the mapping: it is not a mapping");
    pai__error_help(err,
                    "write a mapping or a list of mappings after <<; quote "
                    "the key, \"<<\", for a plain key of that name");
    return PAI_EINVAL;
  }
  w = pai__tree_iter(t, value);
  while ((n = pai__tree_next(&w)) != PAI__NO_NODE)
    if (gather_key(g, n, false) < 0)
      return pai__oom(err);
  return PAI_OK;
}

static int gather_all(gather *g, const pai__tree *t, pai__node n,
                      pai_error **err)
{
  pai__node key = n + 1, end = t->nodes[n].skip, item;
  int rc = PAI_OK;

  for (; key < end && rc == PAI_OK; key = t->nodes[t->nodes[key].skip].skip) {
    pai__node value = t->nodes[key].skip;
    pai__tree_walk w = pai__tree_iter(t, value);

    if ((t->nodes[key].flags & PAI__IS_MERGE) == 0) {
      rc = gather_key(g, key, true) < 0 ? pai__oom(err) : PAI_OK;
    } else if (pai__tree_type(t, value) != PAI__SEQUENCE) {
      rc = gather_merged(g, t, value, err);
    } else {
      while (rc == PAI_OK && (item = pai__tree_next(&w)) != PAI__NO_NODE)
        rc = gather_merged(g, t, item, err);
    }
  }
  return rc;
}

/* Removes duplicates.  `order` becomes the sorted keys, and `met` the keys in
 * the order in which they were first met, PAI__NO_NODE in between.  Returns
 * their number; *twice is the later of two equal own keys, for the first such
 * pair in the document. */
static size_t settle(const pai__tree *t, const gather *g, uint32_t *order,
                     uint32_t *met, pai__node *twice, pai__node *first)
{
  size_t kept = 0;

  *twice = PAI__NO_NODE;
  memset(met, 0xff, g->len * sizeof(*met));
  for (size_t i = 0; i < g->len;) {
    uint32_t place = order[i];
    candidate best = g->cand[place];

    for (i++; i < g->len && compare(t, best.key, g->cand[order[i]].key) == 0;
         i++) {
      candidate c = g->cand[order[i]];
      if (!c.own)
        continue;
      if (best.own && c.key < *twice) {
        *twice = c.key;
        *first = best.key;
      }
      best = c;
    }
    met[place] = best.key;
    order[kept++] = best.key;
  }
  return kept;
}

/* Stores the lists of a mapping in t->side: keys as met, if they differ from
 * those written, then keys sorted. */
static int keep_lists(pai__tree *t, pai__node n, const gather *g, size_t kept,
                      const uint32_t *order, const uint32_t *met, bool differ)
{
  size_t want = t->side_len + kept * (differ ? 2 : 1), cap;
  uint32_t *grown;

  if (want > t->side_cap) {
    cap = t->side_cap + t->side_cap / 2;
    cap = cap < want ? want : cap;
    grown = want < UINT32_MAX ? pai__realloc(&t->alloc, t->side, t->side_cap,
                                             cap, sizeof(*t->side))
                              : NULL;
    if (grown == NULL)
      return PAI_ENOMEM;
    t->side = grown;
    t->side_cap = cap;
  }
  t->nodes[n].u.c.side = (uint32_t)t->side_len + 1;
  t->nodes[n].u.c.count = (uint32_t)kept;
  if (differ) {
    t->nodes[n].flags |= PAI__HAS_LIST;
    for (size_t i = 0; i < g->len; i++)
      if (met[i] != PAI__NO_NODE)
        t->side[t->side_len++] = met[i];
  }
  memcpy(t->side + t->side_len, order, kept * sizeof(*order));
  t->side_len += kept;
  return PAI_OK;
}

static int close_with_lists(pai__tree *t, pai__node n, uint32_t keys,
                            int duplicates, bool differ, pai_error **err)
{
  gather g = { .alloc = &t->alloc };
  uint32_t *order = NULL;
  pai__node twice, first = n;
  size_t n_order, kept;
  int rc;

  rc = gather_all(&g, t, n, err);
  n_order = 2 * g.len;
  if (rc < 0)
    goto done;
  if (g.len == 0) { /* only empty mappings were merged */
    t->nodes[n].u.c.count = 0;
    goto done;
  }
  rc = PAI_ENOMEM;
  order = pai__realloc(&t->alloc, NULL, 0, n_order, sizeof(*order));
  if (order == NULL)
    goto done;
  sort(t, g.cand, g.len, order, order + g.len);
  kept = settle(t, &g, order, order + g.len, &twice, &first);
  if (twice != PAI__NO_NODE && duplicates == PAI__REFUSE_DUPLICATES)
    rc = fail_duplicate(t, twice, first, err);
  else
    rc =
      keep_lists(t, n, &g, kept, order, order + g.len, differ || kept != keys);
  t->repeats |= twice != PAI__NO_NODE;
done:
  pai__free(&t->alloc, order, n_order * sizeof(*order));
  pai__free(&t->alloc, g.cand, g.cap * sizeof(*g.cand));
  return rc == PAI_ENOMEM ? pai__oom(err) : rc;
}

int pai__tree_close_mapping(pai__tree *t, pai__node n, uint32_t keys,
                            int duplicates, pai_error **err)
{
  bool merges = (t->nodes[n].flags & PAI__HAS_LIST) != 0;
  pai__node twice, first = n;

  t->nodes[n].flags &= (uint8_t)~PAI__HAS_LIST;
  t->nodes[n].u.c.count = keys;
  if (merges || keys > SMALL)
    return close_with_lists(t, n, keys, duplicates, merges, err);
  twice = small_duplicate(t, n, keys, &first);
  if (twice == PAI__NO_NODE)
    return PAI_OK;
  if (duplicates == PAI__REFUSE_DUPLICATES)
    return fail_duplicate(t, twice, first, err);
  return close_with_lists(t, n, keys, duplicates, true, err);
}

/* --- lookup ------------------------------------------------------------- */

static int compare_text(const pai__tree *t, pai__node n, const char *key,
                        size_t len)
{
  const pai__tree_node *p = &t->nodes[n];
  size_t less = p->u.s.len < len ? p->u.s.len : len;
  int c = less == 0 ? 0 : memcmp(t->strings + p->u.s.off, key, less);

  return c != 0 ? c : (p->u.s.len > len) - (p->u.s.len < len);
}

/* Finds the key in a small mapping. */
static pai__node find_written(const pai__tree *t,
                              const pai__tree_node *mapping, const char *key,
                              size_t len)
{
  pai__node k = (pai__node)(mapping - t->nodes) + 1;

  for (uint32_t left = mapping->u.c.count; left > 0; left--) {
    const pai__tree_node *p = &t->nodes[k];
    if (p->u.s.len == len && compare_text(t, k, key, len) == 0)
      return k;
    k = t->nodes[p->skip].skip;
  }
  return PAI__NO_NODE;
}

pai__node pai__tree_find(const pai__tree *t, pai__node n, const char *key,
                         size_t len)
{
  const pai__tree_node *p;
  const uint32_t *sorted;
  size_t low = 0, high;

  if (t == NULL || n == PAI__NO_NODE)
    return PAI__NO_NODE;
  p = pai__tree_at(t, n);
  high = p->u.c.count;
  if (p->type != PAI__MAPPING)
    return PAI__NO_NODE;
  if (p->u.c.side == 0)
    return find_written(t, p, key, len);
  sorted = t->side + p->u.c.side - 1;
  if ((p->flags & PAI__HAS_LIST) != 0)
    sorted += p->u.c.count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    int c = compare_text(t, sorted[mid], key, len);
    if (c == 0)
      return sorted[mid];
    if (c < 0)
      low = mid + 1;
    else
      high = mid;
  }
  return PAI__NO_NODE;
}

pai__node pai__tree_get(const pai__tree *t, pai__node n, const char *key)
{
  pai__node k = pai__tree_find(t, n, key, strlen(key));

  return k == PAI__NO_NODE ? k : pai__tree_value(t, k);
}

bool pai__tree_is(const pai__tree *t, pai__node n, int type)
{
  return n != PAI__NO_NODE && pai__tree_type(t, n) == type;
}

bool pai__tree_is_true(const pai__tree *t, pai__node n)
{
  return pai__tree_is(t, n, PAI__BOOL) && pai__tree_bool(t, n);
}

uint32_t pai__tree_size(const pai__tree *t, pai__node n)
{
  return n != PAI__NO_NODE && pai__tree_type(t, n) >= PAI__SEQUENCE
           ? pai__tree_count(t, n)
           : 0;
}

const char *pai__tree_text(const pai__tree *t, pai__node n,
                           const char *missing)
{
  return pai__tree_is(t, n, PAI__STRING) ? pai__tree_str(t, n, NULL) : missing;
}

pai__node pai__tree_look(const pai__tree *t, pai__node n, const char *key)
{
  n = pai__tree_get(t, n, key);
  return pai__tree_is(t, n, PAI__NULL) ? PAI__NO_NODE : n;
}

const char *pai__tree_look_text(const pai__tree *t, pai__node n,
                                const char *key, const char *missing)
{
  return pai__tree_text(t, pai__tree_look(t, n, key), missing);
}

int64_t pai__tree_look_int(const pai__tree *t, pai__node n, const char *key)
{
  int64_t value = 0;

  n = pai__tree_look(t, n, key);
  return n != PAI__NO_NODE && pai__tree_whole(t, n, &value) ? value : 0;
}
