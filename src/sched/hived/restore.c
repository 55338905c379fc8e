/*
 * restore.c - restores the state of the HiveD engine from JSON
 *
 * The state may have been edited by hand: each index is checked, and cross
 * references must agree.  The first error is kept, and nothing is read after
 * it.
 */
#include "sched/hived/save.h"

typedef struct restoring {
  pai__hived *h;
  const pai__tree *t;
  const char *wrong;
  int rc;
} restoring;

static void fail(restoring *r, const char *wrong)
{
  if (r->rc == PAI_OK)
    r->wrong = wrong;
  if (r->rc == PAI_OK)
    r->rc = PAI_EINVAL;
}

/* Returns false after an error; records an error of an allocation. */
static bool has(restoring *r, int rc)
{
  if (rc < 0 && r->rc == PAI_OK)
    r->rc = rc;
  return r->rc == PAI_OK;
}

/* --- reading -------------------------------------------------------------- */

/* Reads a number in a range; returns `low` after an error. */
static int64_t number_of(restoring *r, const char *key, pai__node item,
                         int64_t low, int64_t high)
{
  int64_t v = low;

  if (r->rc == PAI_OK && item != PAI__NO_NODE &&
      pai__tree_type(r->t, item) == PAI__INT)
    v = pai__tree_int(r->t, item);
  else
    fail(r, key);
  if (v >= low && v <= high)
    return v;
  fail(r, key);
  return low;
}

static int64_t get_number(restoring *r, pai__node in, const char *key,
                          int64_t low, int64_t high)
{
  return number_of(r, key, pai__tree_get(r->t, in, key), low, high);
}

/* Iterates over a list of so many items; empty after an error. */
static pai__tree_walk walk(restoring *r, const char *key, pai__node list,
                           size_t least, size_t most)
{
  pai__tree_walk none = { r->t, NULL, 0, 0, false };

  if (r->rc == PAI_OK && list != PAI__NO_NODE &&
      pai__tree_type(r->t, list) == PAI__SEQUENCE &&
      pai__tree_count(r->t, list) >= least &&
      pai__tree_count(r->t, list) <= most)
    return pai__tree_iter(r->t, list);
  fail(r, key);
  return none;
}

static pai__tree_walk get_list(restoring *r, pai__node in, const char *key,
                               size_t least, size_t most)
{
  return walk(r, key, pai__tree_get(r->t, in, key), least, most);
}

/* Reads the words of a block: from -1, for PAI__NOTHING, to `limit` - 1. */
static void read_words(restoring *r, pai__node in, const char *key,
                       uint32_t *words, size_t n, int64_t limit)
{
  pai__tree_walk items = get_list(r, in, key, n, n);

  for (size_t i = 0; i < n && r->rc == PAI_OK; i++)
    words[i] =
      (uint32_t)number_of(r, key, pai__tree_next(&items), -1, limit - 1);
}

/* --- cells ---------------------------------------------------------------- */

static void set_number(const pai__hived_column *c, size_t i, int64_t v)
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

static void read_columns(restoring *r, pai__node in)
{
  pai__hived_column columns[PAI__COLUMNS];
  size_t ncolumns = pai__hived_columns(r->h, columns);

  for (const pai__hived_column *c = columns; c < columns + ncolumns; c++) {
    pai__tree_walk items = get_list(r, in, c->key, c->n, c->n);

    for (size_t i = 0; i < c->n && r->rc == PAI_OK; i++)
      set_number(
        c, i, number_of(r, c->key, pai__tree_next(&items), c->low, c->high));
  }
}

/* Reads a list of cells of one level, without duplicates. */
static void read_list(restoring *r, int kind, size_t index, pai__node node)
{
  pai__hived *h = r->h;
  const char *key = pai__list_keys[kind];
  pai__cell_list list = pai__hived_list(h, kind, index);
  pai__tree_walk items = walk(r, key, node, 0, list.cap);

  *list.n = items.left;
  for (uint32_t i = 0; i < *list.n && r->rc == PAI_OK; i++) {
    uint32_t cell = (uint32_t)number_of(r, key, pai__tree_next(&items), 0,
                                        (int64_t)h->npcells - 1);
    pai__pcell *c = &h->pcells[cell];

    if (h->chains[c->chain].level + c->level - 1 != list.level ||
        *pai__list_place(c, kind) != PAI__NOTHING)
      fail(r, key);
    h->lists[list.at + i] = cell;
    *pai__list_place(c, kind) = i;
  }
}

static void read_lists(restoring *r, pai__node in)
{
  for (int kind = 0; kind < PAI__LISTS; kind++) {
    size_t n = pai__hived_list_count(r->h, kind);
    pai__tree_walk items = get_list(r, in, pai__list_keys[kind], n, n);

    for (size_t i = 0; i < r->h->npcells; i++)
      *pai__list_place(&r->h->pcells[i], kind) = PAI__NOTHING;
    for (size_t i = 0; i < n && r->rc == PAI_OK; i++)
      read_list(r, kind, i, pai__tree_next(&items));
  }
}

/* Reads the order of a view, each node once; ranks are made at the next
 * sort. */
static void read_view(restoring *r, pai__node list, pai__hived_view *v)
{
  pai__hived *h = r->h;
  pai__tree_walk items = walk(r, "views", list, v->count, v->count);

  for (uint32_t i = 0; i < v->count; i++)
    h->vnodes[v->first + i].dirty = false;
  for (uint32_t i = 0; i < v->count && r->rc == PAI_OK; i++) {
    uint32_t vnode =
      (uint32_t)number_of(r, "views", pai__tree_next(&items), v->first,
                          (int64_t)v->first + v->count - 1);

    if (h->vnodes[vnode].dirty)
      fail(r, "views");
    h->vnodes[vnode].dirty = true;
    h->order[v->first + i] = vnode;
  }
  for (uint32_t i = 0; i < v->count; i++)
    h->vnodes[v->first + i].dirty = false;
  v->ndirty = 0;
  v->linked = false;
}

static void read_views(restoring *r, pai__node in)
{
  size_t n = r->h->nviews;
  pai__tree_walk items = get_list(r, in, "views", n, n);

  for (size_t i = 0; i < n && r->rc == PAI_OK; i++)
    read_view(r, pai__tree_next(&items), &r->h->views[i]);
}

/* --- groups --------------------------------------------------------------- */

enum { MOST_SIZES = 64 };

static const char *get_text(restoring *r, pai__node in, const char *key,
                            size_t *len)
{
  pai__node n = pai__tree_get(r->t, in, key);

  *len = 0;
  if (n != PAI__NO_NODE && pai__tree_type(r->t, n) == PAI__STRING)
    return pai__tree_str(r->t, n, len);
  fail(r, key);
  return "";
}

/* Reads the request of a group into `q` and `members`.  Returns its "was". */
static int64_t read_request(restoring *r, pai__node n, pai__hived_request *q,
                            pai__hived_member *members)
{
  pai__tree_walk sizes;
  uint64_t leaves = 0;
  int64_t was;

  q->group = get_text(r, n, "name", &q->group_len);
  q->vc = (uint32_t)get_number(r, n, "vc", 0, (int64_t)r->h->nvcs - 1);
  q->priority = (int32_t)get_number(r, n, "priority", -1, 1000);
  was = get_number(r, n, "was", 0, 7);
  q->lazy = (was & PAI__WAS_OPEN_TO_LAZY) != 0;
  sizes = get_list(r, n, "sizes", 2, 2 * MOST_SIZES + 1);
  q->nmembers = sizes.left / 2;
  q->members = members;
  if (sizes.left % 2 != 0)
    fail(r, "sizes");
  for (uint32_t i = 0; i < q->nmembers && r->rc == PAI_OK; i++) {
    pai__hived_member *m = &members[i];

    m->leaves = (uint32_t)number_of(r, "sizes", pai__tree_next(&sizes), 1,
                                    PAI__HIVED_MAX_LEAVES);
    m->pods = (uint32_t)number_of(r, "sizes", pai__tree_next(&sizes), 1,
                                  PAI__HIVED_MAX_LEAVES);
    leaves += (uint64_t)m->leaves * m->pods;
    if (leaves > PAI__HIVED_MAX_LEAVES ||
        (i > 0 && m->leaves <= members[i - 1].leaves))
      fail(r, "sizes");
  }
  return was;
}

static void read_places(restoring *r, pai__node n, uint32_t group)
{
  pai__hived *h = r->h;
  pai__hived_group *g = &h->groups[group];

  read_words(r, n, "leaves", pai__words(h, g->physical), g->nleaves,
             (int64_t)h->npleaves);
  read_words(r, n, "pods", pai__words(h, g->slots),
             (size_t)g->npods * PAI__SLOT_WORDS, (int64_t)UINT32_MAX + 1);
  for (uint32_t i = 0; i < g->npods && r->rc == PAI_OK; i++) {
    const pai__hived_slot *s = &pai__gang_slots(h, group)[i];

    if (s->node != PAI__NOTHING && s->node >= h->nnodes)
      fail(r, "pods");
    g->allocated += s->low != 0 || s->high != 0;
  }
  if (pai__tree_get(r->t, n, "virtual") == PAI__NO_NODE ||
      !has(r, pai__hived_pool_reserve(h, g->nleaves, 1)))
    return;
  g->vcell = pai__hived_pool_take(h, g->nleaves);
  read_words(r, n, "virtual", pai__words(h, g->vcell), g->nleaves,
             (int64_t)h->nvcells);
}

static void read_preempting(restoring *r, pai__node n, uint32_t group)
{
  static const char key[] = "preempting";
  pai__tree_walk items;
  uint64_t low, high;

  if (pai__tree_get(r->t, n, key) == PAI__NO_NODE)
    return;
  items = get_list(r, n, key, 0, SIZE_MAX);
  for (uint32_t left = items.left / 2; left > 0 && r->rc == PAI_OK; left--) {
    low = (uint32_t)number_of(r, key, pai__tree_next(&items), -1, UINT32_MAX);
    high = (uint32_t)number_of(r, key, pai__tree_next(&items), -1, UINT32_MAX);
    if (r->rc == PAI_OK)
      (void)has(r, pai__gang_add_preempting(r->h, group, high << 32 | low));
  }
}

/* Counts one more use of the name, also if it is the group's own. */
static void read_by(restoring *r, pai__node n, pai__hived_group *g)
{
  const char *text;
  size_t len;

  if (pai__tree_get(r->t, n, "by") == PAI__NO_NODE)
    return;
  text = get_text(r, n, "by", &len);
  if (has(r, pai__names_reserve(r->h, len)))
    g->by = pai__name_use(r->h, text, len);
}

static void read_group(restoring *r, pai__node n)
{
  pai__hived *h = r->h;
  pai__hived_member members[MOST_SIZES];
  pai__hived_request q = { .pin = PAI__NOTHING };
  int64_t was = read_request(r, n, &q, members), state;
  uint32_t group;

  state =
    get_number(r, n, "state", PAI__GROUP_ALLOCATED, PAI__GROUP_PREEMPTED);
  if (pai__hived_find_group(h, q.group, q.group_len) != PAI__NOTHING)
    fail(r, "name");
  if (r->rc < 0 || !has(r, pai__gang_reserve(h, &q)))
    return;
  group = pai__gang_add(h, &q);
  h->groups[group].state = (uint8_t)state;
  h->groups[group].was_lazy = (was & PAI__WAS_LAZY) != 0;
  h->groups[group].was_preempted = (was & PAI__WAS_PREEMPTED) != 0;
  read_places(r, n, group);
  read_preempting(r, n, group);
  read_by(r, n, &h->groups[group]);
}

static void read_groups(restoring *r, pai__node in)
{
  pai__tree_walk items = get_list(r, in, "groups", 0, SIZE_MAX);
  pai__node item;

  while (r->rc == PAI_OK && (item = pai__tree_next(&items)) != PAI__NO_NODE)
    read_group(r, item);
}

/* --- consistency ---------------------------------------------------------- */

/* True unless the group holds the leaf guaranteed as a virtual cell other than
 * v. */
static bool is_held_as(const pai__hived *h, uint32_t leaf, uint32_t group,
                       uint32_t v)
{
  const pai__pleaf *l = &h->pleaves[leaf];
  uint32_t holder = l->state >= PAI__LEAF_RESERVING ? l->reserving : l->user;

  return holder != group || !l->guaranteed || v == h->pcells[l->cell].bound;
}

/* Checks what pai__hived_check() relies on, and the virtual cells by which
 * groups are released. */
static void check_groups(restoring *r)
{
  pai__hived *h = r->h;

  for (uint32_t g = 0; g < h->ngroups; g++)
    for (uint32_t i = 0; i < h->groups[g].nleaves && r->rc == PAI_OK; i++) {
      uint32_t leaf = pai__words(h, h->groups[g].physical)[i];
      uint32_t own = h->groups[g].vcell, v = PAI__NOTHING;

      if (own != PAI__NOTHING)
        v = pai__words(h, own)[i];
      if (v != PAI__NOTHING && h->vcells[v].level != 1)
        fail(r, "virtual");
      if (leaf == PAI__NOTHING)
        continue;
      if (h->pleaves[leaf].user != g && h->pleaves[leaf].reserving != g)
        fail(r, "leaves");
      if (!is_held_as(h, leaf, g, v))
        fail(r, "virtual");
    }
}

static void check_users(restoring *r)
{
  pai__hived *h = r->h;

  for (uint32_t i = 0; i < h->npleaves; i++) {
    const pai__pleaf *l = &h->pleaves[i];

    if (l->state >= PAI__LEAF_RESERVING && l->reserving == PAI__NOTHING)
      fail(r, "reserving");
    if (l->user != PAI__NOTHING)
      h->groups[l->user].reserved_of += l->state == PAI__LEAF_RESERVING;
    else if (l->state == PAI__LEAF_USED || l->state == PAI__LEAF_RESERVING)
      fail(r, "user");
  }
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

int pai__hived_restore(pai__hived *h, const pai__tree *t, pai__node n,
                       const char **wrong)
{
  restoring r = { h, t, NULL, PAI_OK };

  if (pai__tree_type(t, n) != PAI__MAPPING)
    fail(&r, "{}");
  else
    read_groups(&r, n);
  if (r.rc == PAI_OK)
    read_columns(&r, n);
  if (r.rc == PAI_OK) {
    read_lists(&r, n);
    read_views(&r, n);
    h->mended = (uint32_t)get_number(&r, n, "mended", 0, UINT32_MAX);
  }
  if (r.rc == PAI_OK)
    check_users(&r);
  if (r.rc == PAI_OK) {
    find_unbound(h);
    r.rc = pai__hived_check(h, &r.wrong);
  }
  if (r.rc == PAI_OK)
    check_groups(&r);
  *wrong = r.wrong;
  return r.rc;
}
