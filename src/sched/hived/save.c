/* save.c - all that HiveD knows is written */
#include "sched/hived/save.h"

#include "sched/hived/engine.h"

static void put_key(pai__json_writer *w, const char *key)
{
  pai__json_key(w, key, strlen(key));
}

static void put_index(pai__json_writer *w, uint32_t i)
{
  pai__json_int(w, i == PAI__NOTHING ? -1 : (int64_t)i);
}

/* --- columns -------------------------------------------------------------- */

static int64_t number_at(const pai__column *c, size_t i)
{
  const char *p = (const char *)c->first + i * c->stride;
  uint8_t byte;
  int16_t half;
  int32_t word;

  switch (c->size) {
  case 1: memcpy(&byte, p, sizeof(byte)); return byte;
  case 2: memcpy(&half, p, sizeof(half)); return half;
  default: memcpy(&word, p, sizeof(word)); return word; /* nothing is -1 */
  }
}

/* Groups are counted as they are written. */
static void put_column(const pai__column *c, const uint32_t *group_number,
                       pai__json_writer *w)
{
  put_key(w, c->key);
  pai__json_begin_array(w);
  for (size_t i = 0; i < c->n; i++) {
    int64_t v = number_at(c, i);

    if (c->kind == PAI__COLUMN_GROUP && v >= 0)
      v = group_number[v];
    pai__json_int(w, v);
  }
  pai__json_end_array(w);
}

/* --- lists ---------------------------------------------------------------- */

static void put_list(const uint32_t *list, uint32_t n, pai__json_writer *w)
{
  pai__json_begin_array(w);
  for (uint32_t i = 0; i < n; i++)
    put_index(w, list[i]);
  pai__json_end_array(w);
}

static void put_lists(const pai__hived *h, pai__json_writer *w)
{
  put_key(w, "free");
  pai__json_begin_array(w);
  for (size_t i = 0; i < h->nlevels; i++)
    put_list(h->lists + h->levels[i].free, h->levels[i].nfree, w);
  pai__json_end_array(w);
  put_key(w, "sick_free");
  pai__json_begin_array(w);
  for (size_t i = 0; i < h->nlevels; i++)
    put_list(h->lists + h->levels[i].sick_free, h->levels[i].nsick, w);
  pai__json_end_array(w);
  put_key(w, "doomed");
  pai__json_begin_array(w);
  for (size_t i = 0; i < h->npair_levels; i++)
    put_list(h->lists + h->pair_levels[i].doomed, h->pair_levels[i].ndoomed,
             w);
  pai__json_end_array(w);
}

static bool put_views(const pai__hived *h, pai__json_writer *w)
{
  size_t n = h->nvnodes + 1;
  uint32_t *list = pai__realloc(&h->alloc, NULL, 0, n, sizeof(*list));

  if (list == NULL)
    return false;
  put_key(w, "views");
  pai__json_begin_array(w);
  for (size_t i = 0; i < h->nviews; i++) {
    pai__view_list(h, &h->views[i], list);
    put_list(list, h->views[i].count, w);
  }
  pai__json_end_array(w);
  pai__free(&h->alloc, list, n * sizeof(*list));
  return true;
}

/* --- groups --------------------------------------------------------------- */

static void put_number(pai__json_writer *w, const char *key, int64_t n)
{
  put_key(w, key);
  pai__json_int(w, n);
}

static void put_words(pai__json_writer *w, const char *key,
                      const uint32_t *list, uint32_t n)
{
  put_key(w, key);
  put_list(list, n, w);
}

static void put_name(const pai__hived *h, pai__json_writer *w, const char *key,
                     uint32_t name)
{
  put_key(w, key);
  pai__json_text(w, pai__name_text(h, name), h->names[name].len);
}

/* Bits of "was". */
enum { LAZY = 1, WAS_LAZY = 2, WAS_PREEMPTED = 4 };

static void put_group(const pai__hived *h, const pai__hived_group *g,
                      pai__json_writer *w)
{
  pai__json_begin_object(w);
  put_name(h, w, "name", g->name);
  put_number(w, "vc", g->vc);
  put_number(w, "priority", g->priority);
  put_number(w, "state", g->state);
  put_number(w, "was",
             (g->lazy ? LAZY : 0) | (g->was_lazy ? WAS_LAZY : 0) |
               (g->was_preempted ? WAS_PREEMPTED : 0));
  if (g->by != PAI__NOTHING)
    put_name(h, w, "by", g->by);
  put_words(w, "sizes", pai__words(h, g->sizes), 2 * g->nsizes);
  put_words(w, "leaves", pai__words(h, g->physical), g->nleaves);
  if (g->vcell != PAI__NOTHING)
    put_words(w, "virtual", pai__words(h, g->vcell), g->nleaves);
  put_words(w, "pods", pai__words(h, g->slots), g->npods * PAI__SLOT_WORDS);
  if (g->npreempting != 0)
    put_words(w, "preempting", pai__words(h, g->preempting),
              2 * g->npreempting);
  pai__json_end_object(w);
}

/* --- the whole ------------------------------------------------------------ */

/* In the order of their names, for their indices are reused. */
static bool put_groups(const pai__hived *h, uint32_t *number,
                       pai__json_writer *w)
{
  size_t most = h->live_groups + 1, n = 0;
  pai__named *list = pai__realloc(&h->alloc, NULL, 0, most, sizeof(*list));

  if (list == NULL)
    return false;
  for (uint32_t i = 0; i < h->ngroups; i++)
    if (h->groups[i].state != PAI__GROUP_GONE)
      list[n++] = (pai__named){ pai__hived_group_name(h, i), i };
  pai__sort_names(list, n);
  put_key(w, "groups");
  pai__json_begin_array(w);
  for (uint32_t i = 0; i < n; i++) {
    number[list[i].index] = i;
    put_group(h, &h->groups[list[i].index], w);
  }
  pai__json_end_array(w);
  pai__free(&h->alloc, list, most * sizeof(*list));
  return true;
}

bool pai__hived_save(const pai__hived *h, pai__json_writer *w)
{
  size_t n = h->ngroups + 1, ncolumns;
  uint32_t *number = pai__realloc(&h->alloc, NULL, 0, n, sizeof(*number));
  pai__column columns[PAI__COLUMNS];
  bool ok;

  if (number == NULL)
    return false;
  pai__json_begin_object(w);
  ok = put_groups(h, number, w);
  ncolumns = pai__hived_columns(h, columns);
  for (size_t i = 0; i < ncolumns; i++)
    put_column(&columns[i], number, w);
  put_lists(h, w);
  ok = put_views(h, w) && ok;
  put_number(w, "mended", h->mended);
  pai__json_end_object(w);
  pai__free(&h->alloc, number, n * sizeof(*number));
  return ok;
}
