/* save.c - saves the state of the HiveD engine as JSON */
#include "sched/hived/save.h"

/* --- columns -------------------------------------------------------------- */

#define COLUMN(key, array, count, member, group, low, high)                   \
  {                                                                           \
    (key), h->array != NULL ? (void *)&h->array[0].member : NULL, h->count,   \
      sizeof(h->array[0]), sizeof(h->array[0].member), (group), (low), (high) \
  }
#define NUMBERS(key, array, count, member, low, high) \
  COLUMN(key, array, count, member, false, low, high)
#define GROUPS(key, member) \
  COLUMN(key, pleaves, npleaves, member, true, -1, (int64_t)h->ngroups - 1)
#define WHOLE(key, array, count, low, high)                                 \
  {                                                                         \
    (key), h->array, h->count, sizeof(*h->array), sizeof(*h->array), false, \
      (low), (high)                                                         \
  }

size_t pai__hived_columns(const pai__hived *h, pai__hived_column *out)
{
  int64_t leaves = (int64_t)h->npleaves, most = INT32_MAX;
  int64_t cell = (int64_t)h->npcells - 1, vcell = (int64_t)h->nvcells - 1;
  pai__hived_column list[] = {
    NUMBERS("bound", pcells, npcells, bound, -1, vcell),
    NUMBERS("opportunistic", pcells, npcells, opp, 0, leaves),
    NUMBERS("sick_children", pcells, npcells, sick, 0, leaves),
    NUMBERS("priority", pcells, npcells, priority, -2, 1000),
    NUMBERS("flags", pcells, npcells, flags, 0, 7),
    GROUPS("user", user),
    GROUPS("reserving", reserving),
    NUMBERS("state", pleaves, npleaves, state, 0, PAI__LEAF_RESERVED),
    NUMBERS("guaranteed", pleaves, npleaves, guaranteed, 0, 1),
    NUMBERS("virtual_bound", vcells, nvcells, bound, -1, cell),
    NUMBERS("virtual_priority", vcells, nvcells, priority, -2, 1000),
    NUMBERS("virtual_state", vleaves, nvleaves, state, 0, PAI__LEAF_RESERVED),
    NUMBERS("left", levels, nlevels, left, -most, most),
    NUMBERS("wanted", levels, nlevels, wanted, -most, most),
    NUMBERS("owned", pair_levels, npair_levels, free, -most, most),
    NUMBERS("view_used", vnodes, nvnodes, used, 0, leaves),
    NUMBERS("view_opportunistic", vnodes, nvnodes, opp, 0, leaves),
    WHOLE("virtual_leaf_priority", vpriority, nvleaves, -2, 1000),
    WHOLE("sick_nodes", node_sick, nnodes, 0, 1),
  };

  memcpy(out, list, sizeof(list));
  return PAI__LEN(list);
}

static int64_t number_at(const pai__hived_column *c, size_t i)
{
  const char *p = (const char *)c->first + i * c->stride;
  uint8_t byte;
  int16_t half;
  int32_t word;

  switch (c->size) {
  case 1: memcpy(&byte, p, sizeof(byte)); return byte;
  case 2: memcpy(&half, p, sizeof(half)); return half;
  default: memcpy(&word, p, sizeof(word)); return word; /* -1 for none */
  }
}

/* Groups are written as their index in "groups". */
static void put_column(const pai__hived_column *c,
                       const uint32_t *group_number, pai__json_writer *w)
{
  pai__json_put_array(w, c->key);
  for (size_t i = 0; i < c->n; i++) {
    int64_t v = number_at(c, i);

    if (c->group && v >= 0)
      v = group_number[v];
    pai__json_int(w, v);
  }
  pai__json_end_array(w);
}

/* --- lists ---------------------------------------------------------------- */

const char *const pai__list_keys[PAI__LISTS] = { "free", "sick_free",
                                                 "doomed" };

size_t pai__hived_list_count(const pai__hived *h, int kind)
{
  return kind == PAI__LIST_DOOMED ? h->npair_levels : h->nlevels;
}

pai__cell_list pai__hived_list(pai__hived *h, int kind, size_t i)
{
  pai__hived_level *l = &h->levels[i];
  pai__pair_level *own = &h->pair_levels[i];
  const pai__hived_pair *pair = h->pairs;

  if (kind == PAI__LIST_FREE)
    return (pai__cell_list){ l->free, l->cap, &l->nfree, (uint32_t)i };
  if (kind == PAI__LIST_SICK)
    return (pai__cell_list){ l->sick_free, l->cap, &l->nsick, (uint32_t)i };
  while (i >= pair->level + h->chains[pair->chain].levels)
    pair++;
  return (pai__cell_list){ own->doomed, own->nroots, &own->ndoomed,
                           h->chains[pair->chain].level + (uint32_t)i -
                             pair->level };
}

static void put_items(const uint32_t *list, uint32_t n, pai__json_writer *w)
{
  for (uint32_t i = 0; i < n; i++)
    pai__json_int(w, list[i] == PAI__NOTHING ? -1 : (int64_t)list[i]);
  pai__json_end_array(w);
}

static void put_lists(const pai__hived *h, int kind, pai__json_writer *w)
{
  pai__json_put_array(w, pai__list_keys[kind]);
  for (size_t i = 0; i < pai__hived_list_count(h, kind); i++) {
    pai__cell_list list = pai__hived_list((pai__hived *)h, kind, i);

    pai__json_begin_array(w);
    put_items(h->lists + list.at, *list.n, w);
  }
  pai__json_end_array(w);
}

static bool put_views(const pai__hived *h, pai__json_writer *w)
{
  size_t n = h->nvnodes + 1;
  uint32_t *list = pai__realloc(&h->alloc, NULL, 0, n, sizeof(*list));

  if (list == NULL)
    return false;
  pai__json_put_array(w, "views");
  for (size_t i = 0; i < h->nviews; i++) {
    pai__view_list(h, &h->views[i], list);
    pai__json_begin_array(w);
    put_items(list, h->views[i].count, w);
  }
  pai__json_end_array(w);
  pai__free(&h->alloc, list, n * sizeof(*list));
  return true;
}

/* --- groups --------------------------------------------------------------- */

/* Writes a block of the pool, if there is one. */
static void put_words(const pai__hived *h, pai__json_writer *w,
                      const char *key, uint32_t at, uint32_t n)
{
  if (at == PAI__NOTHING)
    return;
  pai__json_put_array(w, key);
  put_items(pai__words(h, at), n, w);
}

static void put_name(const pai__hived *h, pai__json_writer *w, const char *key,
                     uint32_t name)
{
  if (name == PAI__NOTHING)
    return;
  pai__json_member(w, key);
  pai__json_text(w, pai__name_text(h, name), h->names[name].len);
}

static void put_group(const pai__hived *h, const pai__hived_group *g,
                      pai__json_writer *w)
{
  pai__json_begin_object(w);
  put_name(h, w, "name", g->name);
  pai__json_put_int(w, "vc", g->vc);
  pai__json_put_int(w, "priority", g->priority);
  pai__json_put_int(w, "state", g->state);
  pai__json_put_int(w, "was",
                    (g->lazy ? PAI__WAS_OPEN_TO_LAZY : 0) |
                      (g->was_lazy ? PAI__WAS_LAZY : 0) |
                      (g->was_preempted ? PAI__WAS_PREEMPTED : 0));
  put_name(h, w, "by", g->by);
  put_words(h, w, "sizes", g->sizes, 2 * g->nsizes);
  put_words(h, w, "leaves", g->physical, g->nleaves);
  put_words(h, w, "virtual", g->vcell, g->nleaves);
  put_words(h, w, "pods", g->slots, g->npods * PAI__SLOT_WORDS);
  if (g->npreempting != 0)
    put_words(h, w, "preempting", g->preempting, 2 * g->npreempting);
  pai__json_end_object(w);
}

/* Sorted by name, because indices of groups are reused. */
static bool put_groups(const pai__hived *h, uint32_t *number,
                       pai__json_writer *w)
{
  size_t most = h->live_groups + 1, n;
  pai__named *list = pai__realloc(&h->alloc, NULL, 0, most, sizeof(*list));

  if (list == NULL)
    return false;
  n = pai__groups_named(h, list);
  pai__json_put_array(w, "groups");
  for (uint32_t i = 0; i < n; i++) {
    number[list[i].index] = i;
    put_group(h, &h->groups[list[i].index], w);
  }
  pai__json_end_array(w);
  pai__free(&h->alloc, list, most * sizeof(*list));
  return true;
}

/* --- the whole ------------------------------------------------------------ */

bool pai__hived_save(const pai__hived *h, pai__json_writer *w)
{
  size_t n = h->ngroups + 1, ncolumns;
  uint32_t *number = pai__realloc(&h->alloc, NULL, 0, n, sizeof(*number));
  pai__hived_column columns[PAI__COLUMNS];
  bool ok;

  if (number == NULL)
    return false;
  pai__json_begin_object(w);
  ok = put_groups(h, number, w);
  ncolumns = pai__hived_columns(h, columns);
  for (size_t i = 0; i < ncolumns; i++)
    put_column(&columns[i], number, w);
  for (int kind = 0; kind < PAI__LISTS; kind++)
    put_lists(h, kind, w);
  ok = put_views(h, w) && ok;
  pai__json_put_int(w, "mended", h->mended);
  pai__json_end_object(w);
  pai__free(&h->alloc, number, n * sizeof(*number));
  return ok;
}
