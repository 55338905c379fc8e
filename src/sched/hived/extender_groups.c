/* extender_groups.c - affinity groups, as HiveD shows them */
#include "sched/hived/extender.h"

#include <stdlib.h>

/* --- placements ----------------------------------------------------------- */

/* A leaf of a placement, by what it is shown under. */
typedef struct under {
  uint32_t key, i;
} under;

static int by_key(const void *a, const void *b)
{
  const under *x = a, *y = b;

  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return x->i < y->i ? -1 : x->i > y->i;
}

/* Leaves that there are, by node, or by preassigned cell. */
static under *arrange(pai_hived_extender *e, const pai__hived_group *g,
                      bool physical, uint32_t *n)
{
  const pai__hived *h = e->engine;
  const uint32_t *list = pai__words(h, physical ? g->physical : g->vcell);
  under *out = pai__arena_zalloc(&e->arena, g->nleaves + 1u, sizeof(*out));

  *n = 0;
  for (uint32_t i = 0; out != NULL && i < g->nleaves; i++)
    if (list[i] != PAI__NOTHING)
      out[(*n)++] = (under){ physical ? pai__hived_leaf_node(h, list[i])
                                      : h->vcells[list[i]].root,
                             i };
  if (out != NULL && *n > 1)
    qsort(out, *n, sizeof(*out), by_key);
  return out;
}

static void put_virtual(pai_hived_extender *e, uint32_t vcell, bool key,
                        pai__json_writer *w)
{
  pai__buf b;

  pai__buf_init(&b, &e->alloc);
  pai__hived_virtual_address(e->engine, vcell, &b);
  if (key)
    pai__json_key(w, pai__buf_text(&b), b.len);
  else
    pai__json_text(w, pai__buf_text(&b), b.len);
  if (!pai__buf_ok(&b))
    w->out->failed = true;
  pai__buf_dispose(&b);
}

static void put_leaf(pai_hived_extender *e, uint32_t leaf, bool physical,
                     pai__json_writer *w)
{
  if (physical)
    pai__json_int(w, pai__hived_leaf_index(e->engine, leaf));
  else
    put_virtual(e, leaf, false, w);
}

static void put_placement(pai_hived_extender *e, const pai__hived_group *g,
                          bool physical, pai__json_writer *w)
{
  const pai__hived *h = e->engine;
  uint32_t at = physical ? g->physical : g->vcell, n;
  const under *list;

  if (at == PAI__NOTHING)
    return;
  list = arrange(e, g, physical, &n);
  if (list == NULL)
    w->out->failed = true;
  if (list == NULL || n == 0)
    return;
  pai__ext_key(w, physical ? "physicalPlacement" : "virtualPlacement");
  pai__json_begin_object(w);
  for (uint32_t i = 0; i < n; i++) {
    if (i == 0 || list[i].key != list[i - 1].key) {
      if (physical)
        pai__ext_key(w, pai__hived_node_name(h, list[i].key));
      else
        put_virtual(e, list[i].key, true, w);
      pai__json_begin_array(w);
    }
    put_leaf(e, pai__words(h, at)[list[i].i], physical, w);
    if (i + 1 == n || list[i + 1].key != list[i].key)
      pai__json_end_array(w);
  }
  pai__json_end_object(w);
}

/* --- pods ----------------------------------------------------------------- */

static void put_uid(const pai_hived_extender *e, const char *key,
                    uint64_t number, bool first, pai__json_writer *w)
{
  const pai__ext_pod *p = pai__ext_numbered(e, number);

  if (first) {
    pai__ext_key(w, key);
    pai__json_begin_array(w);
  }
  if (p != NULL)
    pai__ext_put(w, p->uid);
}

static void put_pods(const pai_hived_extender *e, uint32_t group,
                     pai__json_writer *w)
{
  const pai__hived_group *g = &e->engine->groups[group];
  uint32_t i, node;
  uint64_t number;
  bool any = false;

  for (i = 0; pai__hived_next_pod(e->engine, group, &i, &number, &node);
       any = true)
    put_uid(e, "allocatedPods", number, !any, w);
  if (any)
    pai__json_end_array(w);
  for (i = 0; i < g->npreempting; i++) {
    const uint32_t *pod = pai__words(e->engine, g->preempting) + 2u * i;

    put_uid(e, "preemptingPods", pod[0] | (uint64_t)pod[1] << 32, i == 0, w);
  }
  if (g->npreempting > 0)
    pai__json_end_array(w);
}

/* --- times ---------------------------------------------------------------- */

/* Seconds since the epoch, as "2026-11-21T06:49:39Z". */
static void put_time(int64_t now, pai__buf *out)
{
  enum { DAY = 86400, CYCLE = 146097 }; /* days of 400 years */
  int64_t days = now / DAY - (now % DAY < 0), rest = now - days * DAY;
  int64_t cycle, day, year, month;

  days += 719468; /* from 1 March of the year 0 */
  cycle = days / CYCLE - (days % CYCLE < 0);
  day = days - cycle * CYCLE;
  year = (day - day / 1460 + day / 36524 - day / (CYCLE - 1)) / 365;
  day -= 365 * year + year / 4 - year / 100;
  month = (5 * day + 2) / 153;
  day -= (153 * month + 2) / 5;
  month += month < 10 ? 3 : -9;
  year += cycle * 400 + (month <= 2);
  pai__buf_printf(out, "%04lld-%02lld-%02lldT%02lld:%02lld:%02lldZ",
                  (long long)year, (long long)month, (long long)day + 1,
                  (long long)(rest / 3600), (long long)(rest / 60 % 60),
                  (long long)(rest % 60));
}

static void put_lazy(const pai_hived_extender *e, const pai__hived_group *g,
                     pai__json_writer *w)
{
  pai__buf b;

  if (!g->was_lazy)
    return;
  pai__buf_init(&b, &e->alloc);
  put_time(g->lazy_at, &b);
  pai__ext_key(w, "lazyPreemptionStatus");
  pai__json_begin_object(w);
  pai__ext_pair(w, "preemptor", pai__name_text(e->engine, g->by));
  pai__ext_pair(w, "preemptionTime", pai__buf_text(&b));
  pai__json_end_object(w);
  if (!pai__buf_ok(&b))
    w->out->failed = true;
  pai__buf_dispose(&b);
}

/* --- groups --------------------------------------------------------------- */

static void put_group(pai_hived_extender *e, uint32_t group,
                      pai__json_writer *w)
{
  static const char *const states[] = { "", "Allocated", "Preempting",
                                        "BeingPreempted" };
  const pai__hived *h = e->engine;
  const pai__hived_group *g = &h->groups[group];

  pai__json_begin_object(w);
  pai__ext_key(w, "metadata");
  pai__json_begin_object(w);
  pai__ext_pair(w, "name", pai__hived_group_name(h, group));
  pai__json_end_object(w);
  pai__ext_key(w, "status");
  pai__json_begin_object(w);
  pai__ext_pair(w, "vc",
                g->vc < h->nvcs ? h->vcs[g->vc].name
                                : pai__hived_name_text(h, g->vc));
  pai__ext_key(w, "priority");
  pai__json_int(w, g->priority);
  pai__ext_pair(w, "state", states[g->state]);
  put_placement(e, g, true, w);
  put_placement(e, g, false, w);
  put_pods(e, group, w);
  put_lazy(e, g, w);
  pai__json_end_object(w);
  pai__json_end_object(w);
}

static int show_group(pai_hived_extender *e, const char *name)
{
  uint32_t group = pai__hived_find_group(e->engine, name, strlen(name));
  pai__json_writer w;

  if (group == PAI__NOTHING) {
    pai__buf_printf(&e->why,
                    "Affinity group %s does not exist since it is not "
                    "allocated or preempting",
                    name);
    return PAI_EINVAL;
  }
  pai__json_writer_init(&w, &e->body, false);
  put_group(e, group, &w);
  return pai__json_finish(&w);
}

/* By their names; null when there is none. */
int pai__ext_show_groups(pai_hived_extender *e, const char *rest)
{
  const pai__hived *h = e->engine;
  pai__json_writer w;
  pai__named *list;
  size_t n = 0;

  if (rest[0] != '\0')
    return show_group(e, rest);
  list = pai__arena_zalloc(&e->arena, h->ngroups + 1, sizeof(*list));
  if (list == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < h->ngroups; i++)
    if (h->groups[i].state != PAI__GROUP_GONE)
      list[n++] = (pai__named){ pai__hived_group_name(h, i), i };
  pai__sort_names(list, n);
  pai__json_writer_init(&w, &e->body, false);
  pai__json_begin_object(&w);
  pai__ext_key(&w, "items");
  if (n == 0) {
    pai__json_null(&w);
  } else {
    pai__json_begin_array(&w);
    for (size_t i = 0; i < n; i++)
      put_group(e, list[i].index, &w);
    pai__json_end_array(&w);
  }
  pai__json_end_object(&w);
  return pai__json_finish(&w);
}
