/*
 * restore.c - what was written of HiveD is read
 *
 * Whoever wrote it may have changed it by hand: each index is looked at before
 * it is believed, and what refers to each other must do so both ways.
 */
#include "sched/hived/engine.h"
#include "sched/hived/save.h"

typedef struct restoring {
  pai__hived *h;
  const pai__tree *t;
  const char *wrong;
} restoring;

static int fail(restoring *r, const char *wrong)
{
  r->wrong = wrong;
  return PAI_EINVAL;
}

/* --- reading -------------------------------------------------------------- */

/* An array of n items, or of any number for PAI__NOTHING. */
static int find_array(restoring *r, pai__node in, const char *key, size_t n,
                      pai__tree_walk *walk)
{
  pai__node list = pai__tree_get(r->t, in, key);

  if (list == PAI__NO_NODE || pai__tree_type(r->t, list) != PAI__SEQUENCE ||
      (n != PAI__NOTHING && pai__tree_count(r->t, list) != n))
    return fail(r, key);
  *walk = pai__tree_iter(r->t, list);
  return PAI_OK;
}

static int read_number(restoring *r, const char *key, pai__node item,
                       int64_t low, int64_t high, int64_t *out)
{
  *out = 0;
  if (item == PAI__NO_NODE || pai__tree_type(r->t, item) != PAI__INT)
    return fail(r, key);
  *out = pai__tree_int(r->t, item);
  return *out < low || *out > high ? fail(r, key) : PAI_OK;
}

static int get_number(restoring *r, pai__node in, const char *key, int64_t low,
                      int64_t high, int64_t *out)
{
  return read_number(r, key, pai__tree_get(r->t, in, key), low, high, out);
}

/* Words of a block, each from -1, which is PAI__NOTHING, to below `limit`. */
static int read_words(restoring *r, pai__node in, const char *key,
                      uint32_t *words, size_t n, int64_t limit)
{
  pai__tree_walk walk;
  int rc = find_array(r, in, key, n, &walk);

  for (size_t i = 0; i < n && rc == PAI_OK; i++) {
    int64_t v = 0;

    rc = read_number(r, key, pai__tree_next(&walk), -1, limit - 1, &v);
    words[i] = (uint32_t)v;
  }
  return rc;
}

/* --- columns -------------------------------------------------------------- */

static void limits(const pai__hived *h, const pai__column *c, int64_t *low,
                   int64_t *high)
{
  *low = -1;
  switch (c->kind) {
  case PAI__COLUMN_CELL: *high = (int64_t)h->npcells - 1; break;
  case PAI__COLUMN_VCELL: *high = (int64_t)h->nvcells - 1; break;
  case PAI__COLUMN_GROUP: *high = (int64_t)h->ngroups - 1; break;
  default:
    *low = c->low;
    *high = c->high;
    break;
  }
}

static void set_number(const pai__column *c, size_t i, int64_t v)
{
  char *p = (char *)c->first + i * c->stride;
  uint8_t byte = (uint8_t)v;
  int16_t half = (int16_t)v;
  int32_t word = (int32_t)v;

  switch (c->size) {
  case 1: memcpy(p, &byte, sizeof(byte)); break;
  case 2: memcpy(p, &half, sizeof(half)); break;
  default: memcpy(p, &word, sizeof(word)); break;
  }
}

static int read_column(restoring *r, pai__node in, const pai__column *c)
{
  pai__tree_walk walk;
  int64_t low, high, v;
  int rc = find_array(r, in, c->key, c->n, &walk);

  limits(r->h, c, &low, &high);
  for (size_t i = 0; i < c->n && rc == PAI_OK; i++) {
    rc = read_number(r, c->key, pai__tree_next(&walk), low, high, &v);
    if (rc == PAI_OK)
      set_number(c, i, v);
  }
  return rc;
}

/* --- lists ---------------------------------------------------------------- */

/* Which place of a cell a list tells. */
enum place { AT_FREE, AT_SICK, AT_DOOMED };

static uint32_t *place_of(pai__pcell *c, enum place which)
{
  return which == AT_FREE   ? &c->at_free
         : which == AT_SICK ? &c->at_sick
                            : &c->at_doomed;
}

/* Cells of one level of a chain, each once. */
static int read_list(restoring *r, const char *key, pai__node list,
                     uint32_t level, uint32_t at, uint32_t cap, uint32_t *n,
                     enum place which)
{
  pai__hived *h = r->h;
  pai__tree_walk walk;

  if (list == PAI__NO_NODE || pai__tree_type(r->t, list) != PAI__SEQUENCE ||
      pai__tree_count(r->t, list) > cap)
    return fail(r, key);
  walk = pai__tree_iter(r->t, list);
  *n = pai__tree_count(r->t, list);
  for (uint32_t i = 0; i < *n; i++) {
    int64_t cell;
    pai__pcell *c;
    int rc = read_number(r, key, pai__tree_next(&walk), 0,
                         (int64_t)h->npcells - 1, &cell);

    if (rc < 0)
      return rc;
    c = &h->pcells[cell];
    if (h->chains[c->chain].level + c->level - 1 != level ||
        *place_of(c, which) != PAI__NOTHING)
      return fail(r, key);
    h->lists[at + i] = (uint32_t)cell;
    *place_of(c, which) = i;
  }
  return PAI_OK;
}

static int read_level_lists(restoring *r, pai__node in, bool sick)
{
  pai__hived *h = r->h;
  const char *key = sick ? "sick_free" : "free";
  pai__tree_walk walk;
  int rc = find_array(r, in, key, h->nlevels, &walk);

  for (uint32_t i = 0; i < h->nlevels && rc == PAI_OK; i++) {
    pai__hived_level *l = &h->levels[i];

    rc = sick ? read_list(r, key, pai__tree_next(&walk), i, l->sick_free,
                          l->cap, &l->nsick, AT_SICK)
              : read_list(r, key, pai__tree_next(&walk), i, l->free, l->cap,
                          &l->nfree, AT_FREE);
  }
  return rc;
}

static int read_doomed(restoring *r, pai__node in)
{
  pai__hived *h = r->h;
  pai__tree_walk walk;
  int rc = find_array(r, in, "doomed", h->npair_levels, &walk);

  for (uint32_t p = 0; p < h->npairs && rc == PAI_OK; p++) {
    const pai__hived_pair *pair = &h->pairs[p];
    const pai__hived_chain *chain = &h->chains[pair->chain];

    for (uint32_t k = 0; k < chain->levels && rc == PAI_OK; k++) {
      pai__pair_level *l = &h->pair_levels[pair->level + k];

      rc = read_list(r, "doomed", pai__tree_next(&walk), chain->level + k,
                     l->doomed, l->nroots, &l->ndoomed, AT_DOOMED);
    }
  }
  return rc;
}

static int read_lists(restoring *r, pai__node in)
{
  pai__hived *h = r->h;
  int rc;

  for (size_t i = 0; i < h->npcells; i++)
    h->pcells[i].at_free = h->pcells[i].at_sick = h->pcells[i].at_doomed =
      PAI__NOTHING;
  rc = read_level_lists(r, in, false);
  if (rc == PAI_OK)
    rc = read_level_lists(r, in, true);
  return rc == PAI_OK ? read_doomed(r, in) : rc;
}

/* Each node of a view once; ranks are made when it is sorted next. */
static int read_view(restoring *r, pai__node list, pai__hived_view *v)
{
  pai__hived *h = r->h;
  pai__tree_walk walk;

  if (list == PAI__NO_NODE || pai__tree_type(r->t, list) != PAI__SEQUENCE ||
      pai__tree_count(r->t, list) != v->count)
    return fail(r, "views");
  walk = pai__tree_iter(r->t, list);
  for (uint32_t i = 0; i < v->count; i++)
    h->vnodes[v->first + i].dirty = false;
  for (uint32_t i = 0; i < v->count; i++) {
    int64_t vnode;

    if (read_number(r, "views", pai__tree_next(&walk), v->first,
                    (int64_t)v->first + v->count - 1, &vnode) < 0 ||
        h->vnodes[vnode].dirty)
      return fail(r, "views");
    h->vnodes[vnode].dirty = true;
    h->order[v->first + i] = (uint32_t)vnode;
  }
  for (uint32_t i = 0; i < v->count; i++)
    h->vnodes[v->first + i].dirty = false;
  v->ndirty = 0;
  v->linked = false;
  return PAI_OK;
}

static int read_views(restoring *r, pai__node in)
{
  pai__tree_walk walk;
  int rc = find_array(r, in, "views", r->h->nviews, &walk);

  for (size_t i = 0; i < r->h->nviews && rc == PAI_OK; i++)
    rc = read_view(r, pai__tree_next(&walk), &r->h->views[i]);
  return rc;
}

/* --- groups --------------------------------------------------------------- */

enum { MOST_SIZES = 64, LAZY = 1, WAS_LAZY = 2, WAS_PREEMPTED = 4 };

static int read_name(restoring *r, pai__node in, const char *key,
                     const char **text, size_t *len)
{
  pai__node n = pai__tree_get(r->t, in, key);

  if (n == PAI__NO_NODE || pai__tree_type(r->t, n) != PAI__STRING)
    return fail(r, key);
  *text = pai__tree_str(r->t, n, len);
  return PAI_OK;
}

/* What the group asked for, into `members`. */
static int read_request(restoring *r, pai__node n, pai__hived_request *q,
                        pai__hived_member *members)
{
  pai__tree_walk walk;
  int64_t vc = 0, priority = 0, was = 0, v[2];
  uint64_t leaves = 0;
  pai__node sizes = pai__tree_get(r->t, n, "sizes");
  int rc = read_name(r, n, "name", &q->group, &q->group_len);

  if (rc == PAI_OK)
    rc = get_number(r, n, "vc", 0, (int64_t)r->h->nvcs - 1, &vc);
  if (rc == PAI_OK)
    rc = get_number(r, n, "priority", -1, 1000, &priority);
  if (rc == PAI_OK)
    rc = get_number(r, n, "was", 0, 7, &was);
  if (rc == PAI_OK)
    rc = find_array(r, n, "sizes", PAI__NOTHING, &walk);
  if (rc < 0)
    return rc;
  q->vc = (uint32_t)vc;
  q->priority = (int32_t)priority;
  q->lazy = (was & LAZY) != 0;
  q->nmembers = pai__tree_count(r->t, sizes) / 2;
  q->members = members;
  if (q->nmembers == 0 || q->nmembers > MOST_SIZES ||
      pai__tree_count(r->t, sizes) % 2 != 0)
    return fail(r, "sizes");
  for (uint32_t i = 0; i < q->nmembers; i++) {
    for (int k = 0; k < 2; k++)
      if (read_number(r, "sizes", pai__tree_next(&walk), 1,
                      PAI__HIVED_MAX_LEAVES, &v[k]) < 0)
        return PAI_EINVAL;
    members[i] = (pai__hived_member){ (uint32_t)v[0], (uint32_t)v[1] };
    leaves += (uint64_t)v[0] * (uint64_t)v[1];
    if (leaves > PAI__HIVED_MAX_LEAVES ||
        (i > 0 && members[i].leaves <= members[i - 1].leaves))
      return fail(r, "sizes");
  }
  return PAI_OK;
}

static int read_preempting(restoring *r, pai__node n, uint32_t group)
{
  pai__tree_walk walk;
  pai__node list = pai__tree_get(r->t, n, "preempting");
  int rc = PAI_OK;

  if (list == PAI__NO_NODE)
    return PAI_OK;
  rc = find_array(r, n, "preempting", PAI__NOTHING, &walk);
  for (uint32_t i = 0; rc == PAI_OK && i < pai__tree_count(r->t, list) / 2;
       i++) {
    int64_t low, high;

    rc = read_number(r, "preempting", pai__tree_next(&walk), -1, UINT32_MAX,
                     &low);
    if (rc == PAI_OK)
      rc = read_number(r, "preempting", pai__tree_next(&walk), -1, UINT32_MAX,
                       &high);
    if (rc == PAI_OK)
      rc = pai__gang_add_preempting(
        r->h, group, (uint64_t)(uint32_t)high << 32 | (uint32_t)low);
  }
  return rc;
}

/* The name is used once more, also where it is the group's own. */
static int read_by(restoring *r, pai__node n, pai__hived_group *g)
{
  const char *text;
  size_t len;

  if (pai__tree_get(r->t, n, "by") == PAI__NO_NODE)
    return PAI_OK;
  if (read_name(r, n, "by", &text, &len) < 0)
    return PAI_EINVAL;
  if (pai__names_reserve(r->h, 1) < 0 ||
      pai__hived_pool_reserve(r->h, len / sizeof(uint32_t) + 1, 1) < 0)
    return PAI_ENOMEM;
  g->by = pai__name_use(r->h, text, len);
  return PAI_OK;
}

static int read_places(restoring *r, pai__node n, uint32_t group)
{
  pai__hived *h = r->h;
  pai__hived_group *g = &h->groups[group];
  int rc = read_words(r, n, "leaves", pai__words(h, g->physical), g->nleaves,
                      (int64_t)h->npleaves);

  if (rc == PAI_OK)
    rc =
      read_words(r, n, "pods", pai__words(h, g->slots),
                 (size_t)g->npods * PAI__SLOT_WORDS, (int64_t)UINT32_MAX + 1);
  for (uint32_t i = 0; i < g->npods && rc == PAI_OK; i++) {
    const pai__hived_slot *s = &pai__gang_slots(h, group)[i];

    if (s->node != PAI__NOTHING && s->node >= h->nnodes)
      return fail(r, "pods");
    g->allocated += s->low != 0 || s->high != 0;
  }
  if (rc < 0 || pai__tree_get(r->t, n, "virtual") == PAI__NO_NODE)
    return rc;
  if (pai__hived_pool_reserve(h, g->nleaves, 1) < 0)
    return PAI_ENOMEM;
  g->vcell = pai__hived_pool_take(&h->pool, g->nleaves);
  return read_words(r, n, "virtual", pai__words(h, g->vcell), g->nleaves,
                    (int64_t)h->nvcells);
}

static int read_group(restoring *r, pai__node n)
{
  pai__hived *h = r->h;
  pai__hived_member members[MOST_SIZES];
  pai__hived_request q = { .pin = PAI__NOTHING };
  pai__hived_group *g;
  int64_t state = 0, was = 0;
  uint32_t group;
  int rc = read_request(r, n, &q, members);

  if (rc == PAI_OK)
    rc = get_number(r, n, "state", PAI__GROUP_ALLOCATED, PAI__GROUP_PREEMPTED,
                    &state);
  if (rc == PAI_OK && pai__gang_find(h, q.group, q.group_len) != PAI__NOTHING)
    rc = fail(r, "name");
  if (rc < 0)
    return rc;
  if (pai__gang_reserve(h, &q) < 0)
    return PAI_ENOMEM;
  group = pai__gang_add(h, &q);
  g = &h->groups[group];
  g->state = (uint8_t)state;
  (void)get_number(r, n, "was", 0, 7, &was);
  g->was_lazy = (was & WAS_LAZY) != 0;
  g->was_preempted = (was & WAS_PREEMPTED) != 0;
  rc = read_places(r, n, group);
  if (rc == PAI_OK)
    rc = read_preempting(r, n, group);
  return rc == PAI_OK ? read_by(r, n, &h->groups[group]) : rc;
}

static int read_groups(restoring *r, pai__node in)
{
  pai__tree_walk walk;
  pai__node item;
  int rc = find_array(r, in, "groups", PAI__NOTHING, &walk);

  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = read_group(r, item);
  return rc;
}

/* --- what must agree ------------------------------------------------------ */

/* Does a group that has a leaf, or will, have it as virtual cell v, if it has it
 * as any? */
static bool is_held_as(const pai__hived *h, uint32_t leaf, uint32_t group,
                       uint32_t v)
{
  const pai__pleaf *l = &h->pleaves[leaf];
  uint32_t holder = l->state >= PAI__LEAF_RESERVING ? l->reserving : l->user;

  return holder != group || !l->guaranteed || v == h->pcells[l->cell].bound;
}

/* Of what pai__hived_check() looks at, what it needs itself; and what a group
 * would be released as. */
static int check_groups(restoring *r)
{
  pai__hived *h = r->h;

  for (uint32_t g = 0; g < h->ngroups; g++)
    for (uint32_t i = 0; i < h->groups[g].nleaves; i++) {
      uint32_t leaf = pai__words(h, h->groups[g].physical)[i];
      uint32_t own = h->groups[g].vcell, v = PAI__NOTHING;

      if (own != PAI__NOTHING)
        v = pai__words(h, own)[i];
      if (v != PAI__NOTHING && h->vcells[v].level != 1)
        return fail(r, "virtual");
      if (leaf != PAI__NOTHING && h->pleaves[leaf].user != g &&
          h->pleaves[leaf].reserving != g)
        return fail(r, "leaves");
      if (leaf != PAI__NOTHING && !is_held_as(h, leaf, g, v))
        return fail(r, "virtual");
    }
  return PAI_OK;
}

static int count_reserved(restoring *r)
{
  pai__hived *h = r->h;

  for (uint32_t i = 0; i < h->npleaves; i++) {
    const pai__pleaf *leaf = &h->pleaves[i];

    if (leaf->state != PAI__LEAF_RESERVING)
      continue;
    if (leaf->user == PAI__NOTHING)
      return fail(r, "user");
    h->groups[leaf->user].reserved_of++;
  }
  return PAI_OK;
}

static int check_users(restoring *r)
{
  const pai__hived *h = r->h;

  for (uint32_t i = 0; i < h->npleaves; i++) {
    const pai__pleaf *l = &h->pleaves[i];

    if (l->state >= PAI__LEAF_RESERVING && l->reserving == PAI__NOTHING)
      return fail(r, "reserving");
    if (l->state == PAI__LEAF_USED && l->user == PAI__NOTHING)
      return fail(r, "user");
  }
  return PAI_OK;
}

static void find_unbound(pai__hived *h)
{
  memset(h->unbound, 0, h->nunbound * sizeof(*h->unbound));
  memset(h->unbound_sums, 0, h->nunbound_sums * sizeof(*h->unbound_sums));
  for (size_t i = 0; i < h->nroots; i++)
    if (h->vcells[h->roots[i]].bound == PAI__NOTHING) {
      h->unbound[i / 64] |= (uint64_t)1 << i % 64;
      h->unbound_sums[i / 4096] |= (uint64_t)1 << i / 64 % 64;
    }
}

static int check(restoring *r)
{
  int rc = check_users(r);

  if (rc == PAI_OK)
    rc = count_reserved(r);
  find_unbound(r->h);
  if (rc == PAI_OK)
    rc = pai__hived_check(r->h, &r->wrong);
  return rc == PAI_OK ? check_groups(r) : rc;
}

int pai__hived_restore(pai__hived *h, const pai__tree *t, pai__node n,
                       const char **wrong)
{
  restoring r = { h, t, NULL };
  pai__column columns[PAI__COLUMNS];
  size_t ncolumns;
  int64_t mended;
  int rc = pai__tree_type(t, n) == PAI__MAPPING ? PAI_OK : fail(&r, "{}");

  if (rc == PAI_OK)
    rc = read_groups(&r, n);
  ncolumns = pai__hived_columns(h, columns);
  for (size_t i = 0; i < ncolumns && rc == PAI_OK; i++)
    rc = read_column(&r, n, &columns[i]);
  if (rc == PAI_OK)
    rc = read_lists(&r, n);
  if (rc == PAI_OK)
    rc = read_views(&r, n);
  if (rc == PAI_OK)
    rc = get_number(&r, n, "mended", 0, UINT32_MAX, &mended);
  if (rc == PAI_OK)
    rc = check(&r);
  if (rc == PAI_OK)
    h->mended = (uint32_t)mended;
  *wrong = r.wrong;
  return rc;
}
