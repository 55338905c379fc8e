/* replay_result.c - a decision, in the words of the records */
#include "hived/replaying.h"

#include <stdlib.h>

static void put_pod(const pai__hived *h, const pai__hived_gang *g,
                    uint32_t first, uint32_t n, pai__json_writer *w)
{
  pai__hived_spot s = pai__hived_gang_spot(h, g, first, n, first);
  uint32_t type = s.type;
  bool same = true;

  pai__json_begin_object(w);
  hived_replay_put_key(w, "node");
  hived_replay_put_text(w, pai__hived_node_name(h, s.node));
  hived_replay_put_key(w, "idx");
  pai__json_begin_array(w);
  for (uint32_t i = first; i < first + n; i++) {
    s = pai__hived_gang_spot(h, g, first, n, i);
    same = same && s.type == type;
    pai__json_int(w, s.index);
  }
  pai__json_end_array(w);
  if (same) {
    hived_replay_put_key(w, "type");
    hived_replay_put_text(w, pai__hived_type_name(h, type));
  } else {
    hived_replay_put_key(w, "types");
    pai__json_begin_array(w);
    for (uint32_t i = first; i < first + n; i++)
      hived_replay_put_text(
        w,
        pai__hived_type_name(h, pai__hived_gang_spot(h, g, first, n, i).type));
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
}

static void put_gang(const pai__hived *h, const pai__hived_gang *g,
                     pai__json_writer *w)
{
  uint32_t at = 0;

  pai__json_begin_array(w);
  for (uint32_t i = 0; i < g->nmembers; i++) {
    pai__json_begin_array(w);
    for (uint32_t k = 0; k < g->members[i].pods; k++) {
      put_pod(h, g, at, g->members[i].leaves, w);
      at += g->members[i].leaves;
    }
    pai__json_end_array(w);
  }
  pai__json_end_array(w);
}

static void put_bind(const pai__hived *h, const pai__hived_result *result,
                     uint32_t n, pai__json_writer *w)
{
  const pai__hived_gang *g = &result->gang;
  pai__hived_spot s =
    pai__hived_gang_spot(h, g, result->first, n, result->first);

  hived_replay_put_key(w, "node");
  hived_replay_put_text(w, pai__hived_node_name(h, s.node));
  hived_replay_put_key(w, "leafCells");
  pai__json_begin_array(w);
  for (uint32_t i = 0; i < n; i++)
    pai__json_int(
      w,
      pai__hived_gang_spot(h, g, result->first, n, result->first + i).index);
  pai__json_end_array(w);
  hived_replay_put_key(w, "chain");
  hived_replay_put_text(w, pai__hived_type_name(h, s.chain));
  hived_replay_put_key(w, "group");
  put_gang(h, g, w);
}

typedef struct victim {
  const char *node, *pod;
} victim;

static int by_victim(const void *a, const void *b)
{
  const victim *x = a, *y = b;
  int order = strcmp(x->node, y->node);

  return order != 0 ? order : strcmp(x->pod, y->pod);
}

static int put_victims(const hived_replay *r, const pai__hived_result *result,
                       pai__json_writer *w)
{
  const pai__hived *h = r->engine;
  uint32_t n = 0, k, node;
  uint64_t pod;
  victim *list;

  for (uint32_t i = 0; i < result->ngroups; i++)
    n += h->groups[result->groups[i]].npods;
  list = pai__realloc(&r->alloc, NULL, 0, n + 1u, sizeof(*list));
  if (list == NULL)
    return PAI_ENOMEM;
  k = n + 1u;
  n = 0;
  for (uint32_t i = 0; i < result->ngroups; i++)
    for (uint32_t at = 0;
         pai__hived_next_pod(h, result->groups[i], &at, &pod, &node);)
      list[n++] =
        (victim){ pai__hived_node_name(h, node), r->by_number[pod - 1]->name };
  if (n > 1)
    qsort(list, n, sizeof(*list), by_victim);
  hived_replay_put_key(w, "victims");
  pai__json_begin_object(w);
  for (uint32_t i = 0; i < n; i++) {
    if (i == 0 || strcmp(list[i].node, list[i - 1].node) != 0) {
      hived_replay_put_key(w, list[i].node);
      pai__json_begin_array(w);
    }
    hived_replay_put_text(w, list[i].pod);
    if (i + 1 == n || strcmp(list[i].node, list[i + 1].node) != 0)
      pai__json_end_array(w);
  }
  pai__json_end_object(w);
  pai__free(&r->alloc, list, k * sizeof(*list));
  return PAI_OK;
}

static void put_error(pai__json_writer *w, const pai__buf *why)
{
  pai__json_begin_object(w);
  hived_replay_put_key(w, "kind");
  hived_replay_put_text(w, "user_error");
  hived_replay_put_key(w, "code");
  pai__json_int(w, 400);
  hived_replay_put_key(w, "message");
  pai__json_text(w, pai__buf_text(why), why->len);
  pai__json_end_object(w);
}

int hived_replay_put_refused(pai__buf *why, pai__buf *out)
{
  pai__json_writer w;

  pai__json_writer_init(&w, out, false);
  put_error(&w, why);
  return pai__json_finish(&w);
}

int hived_replay_put_result(const hived_replay *r, const hived_replay_pod *p,
                            const pai__hived_ask *ask,
                            const pai__hived_result *result, pai__buf *out)
{
  static const char *const kinds[] = { "bind", "preempt", "wait",
                                       "user_error" };
  pai__hived_words words = ask->words;
  pai__json_writer w;
  pai__buf why, pod;
  int rc = PAI_OK;

  pai__buf_init(&why, &r->alloc);
  pai__buf_init(&pod, &r->alloc);
  pai__buf_printf(&pod, "%s(test/%s)", p->name, p->name);
  words.pod = pai__buf_text(&pod);
  pai__json_writer_init(&w, out, false);
  if (result->kind == PAI__HIVED_WAIT || result->kind == PAI__HIVED_REFUSE)
    pai__hived_tell(r->engine, &result->why, &words, &why);
  if (result->kind == PAI__HIVED_REFUSE) {
    put_error(&w, &why);
  } else {
    pai__json_begin_object(&w);
    hived_replay_put_key(&w, "kind");
    hived_replay_put_text(&w, kinds[result->kind]);
    if (result->kind == PAI__HIVED_BIND)
      put_bind(r->engine, result, ask->r.leaves, &w);
    else if (result->kind == PAI__HIVED_PREEMPT)
      rc = put_victims(r, result, &w);
    if (why.len > 0) {
      hived_replay_put_key(&w, "reason");
      pai__json_text(&w, pai__buf_text(&why), why.len);
    }
    pai__json_end_object(&w);
  }
  if (rc == PAI_OK && (!pai__buf_ok(&why) || !pai__buf_ok(&pod)))
    rc = PAI_ENOMEM;
  pai__buf_dispose(&why);
  pai__buf_dispose(&pod);
  return rc == PAI_OK ? pai__json_finish(&w) : rc;
}
