/* replay_events.c - what happens to pods and nodes */
#include "hived/replaying.h"

/* --- scheduling ----------------------------------------------------------- */

/* The nodes that Kubernetes suggests: NULL for all. */
static int read_suggested(hived_replay *r, uint64_t **out)
{
  const pai_cluster *c = r->cluster;
  pai__node n = pai__tree_get(r->row, 0, "suggested"), list;
  size_t words = c->nnodes / 64 + 1, node;
  pai__tree_walk walk;
  pai__node item;
  bool only;

  *out = NULL;
  if (n == PAI__NO_NODE || pai__tree_type(r->row, n) != PAI__MAPPING)
    return PAI_OK;
  *out = pai__arena_zalloc(&r->arena, words, sizeof(**out));
  if (*out == NULL)
    return PAI_ENOMEM;
  list = pai__tree_get(r->row, n, "only");
  only = list != PAI__NO_NODE;
  if (!only) {
    memset(*out, 0xff, words * sizeof(**out));
    list = pai__tree_get(r->row, n, "except");
  }
  if (list == PAI__NO_NODE)
    return PAI_OK;
  walk = pai__tree_iter(r->row, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    if (pai__tree_type(r->row, item) != PAI__STRING ||
        pai_cluster_find_node(c, pai__tree_str(r->row, item, NULL), &node) < 0)
      continue;
    if (only)
      (*out)[node / 64] |= (uint64_t)1 << node % 64;
    else
      (*out)[node / 64] &= ~((uint64_t)1 << node % 64);
  }
  return PAI_OK;
}

/* The texts of YAML's errors are another library's. */
static bool is_yaml_error(const pai__buf *text)
{
  static const char start[] = "{\"kind\":\"user_error\"";

  return strncmp(pai__buf_text(text), start, sizeof(start) - 1) == 0 &&
         strstr(pai__buf_text(text), "Failed to unmarshal YAML") != NULL;
}

/* Whether one of the other results that were seen is ours. */
static int is_alternative(hived_replay *r, const char *group,
                          const pai__buf *got)
{
  pai__node list = pai__tree_get(r->row, 0, "alternatives"), item, result;
  pai__tree_walk walk;
  pai__buf want;
  int rc = 0;

  if (list == PAI__NO_NODE)
    return 0;
  pai__buf_init(&want, &r->alloc);
  walk = pai__tree_iter(r->row, list);
  while (rc == 0 && (item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    result = pai__tree_get(r->row, item, "result");
    if (result == PAI__NO_NODE)
      continue;
    hived_replay_put_expected(r, result, group, &want);
    rc = pai__buf_ok(&want)
           ? hived_replay_same(r, pai__buf_text(&want), want.len,
                               pai__buf_text(got), got->len)
           : PAI_ENOMEM;
  }
  pai__buf_dispose(&want);
  return rc;
}

static int judge_result(hived_replay *r, const char *group,
                        const pai__buf *got)
{
  pai__node expect = pai__tree_get(r->row, 0, "expect");
  pai__buf want;
  int rc;

  if (expect == PAI__NO_NODE)
    return PAI_OK;
  pai__buf_init(&want, &r->alloc);
  hived_replay_put_expected(r, expect, group, &want);
  if (!pai__buf_ok(&want)) {
    rc = PAI_ENOMEM;
  } else if (is_yaml_error(&want) && is_yaml_error(got)) {
    r->verdict.kind = HIVED_AGREES;
    rc = PAI_OK;
  } else {
    rc = hived_replay_judge(r, pai__buf_text(&want), want.len, got);
  }
  if (rc == PAI_OK && r->verdict.kind >= HIVED_FIXED) {
    int other = is_alternative(r, group, got);

    if (other < 0)
      rc = other;
    else if (other > 0)
      r->verdict.kind = HIVED_ALTERNATIVE;
    else /* what differs is told of the first */
      rc = hived_replay_judge(r, pai__buf_text(&want), want.len, got);
  }
  pai__buf_dispose(&want);
  return rc;
}

static int decide(hived_replay *r, const hived_replay_pod *p,
                  const pai__hived_ask *ask, pai__buf *got)
{
  bool preempting = strcmp(hived_replay_text(r, "phase"), "Preempting") == 0;
  pai__hived_result result;
  uint64_t *suggested;
  int rc = read_suggested(r, &suggested);

  if (rc == PAI_OK)
    rc = pai__hived_schedule(
      r->engine, &ask->r, p->number, suggested,
      preempting ? PAI__HIVED_PREEMPTING : PAI__HIVED_FILTERING, &result);
  return rc == PAI_OK ? hived_replay_put_result(r, p, ask, &result, got) : rc;
}

int hived_replay_schedule(hived_replay *r)
{
  hived_replay_pod *p = hived_replay_pod_of(r);
  pai__hived_ask ask;
  pai__buf got, why;
  int rc = p != NULL ? hived_replay_keep_spec(r, p) : PAI_ENOMEM;

  pai__buf_init(&got, &r->alloc);
  pai__buf_init(&why, &r->alloc);
  if (rc == PAI_OK)
    rc = hived_replay_read_ask(r, p, &ask, &why);
  if (rc == PAI_OK)
    rc = decide(r, p, &ask, &got);
  else if (rc == PAI_EINVAL)
    rc = hived_replay_put_refused(&why, &got);
  if (rc == PAI_OK)
    rc = judge_result(r, why.len == 0 ? ask.words.group : "", &got);
  if (rc == PAI_OK && why.len == 0 &&
      hived_replay_is_kind(r, pai__tree_get(r->row, 0, "expect"), "bind"))
    rc = hived_replay_keep_bound(r, p, ask.words.group);
  pai__buf_dispose(&got);
  pai__buf_dispose(&why);
  return rc;
}

/* --- pods come and go ----------------------------------------------------- */

/* Both annotations of the step's pod.  PAI_ENOTFOUND: it has none; PAI_EINVAL:
 * they are wrong. */
static int read_pod(hived_replay *r, hived_replay_pod **p, pai__hived_ask *ask,
                    pai__hived_bound *bound)
{
  pai__buf why;
  int rc;

  *p = hived_replay_pod_of(r);
  rc = *p != NULL ? hived_replay_keep_spec(r, *p) : PAI_ENOMEM;
  if (rc == PAI_OK &&
      ((*p)->spec == NULL || (bound != NULL && (*p)->bound == NULL)))
    rc = PAI_ENOTFOUND;
  pai__buf_init(&why, &r->alloc);
  if (rc == PAI_OK)
    rc = hived_replay_read_ask(r, *p, ask, &why);
  pai__buf_dispose(&why);
  if (rc == PAI_OK && bound != NULL)
    rc = pai__hived_read_bound(r->engine, (*p)->bound, strlen((*p)->bound),
                               &r->arena, ask, bound);
  return rc;
}

/* A bind info that the step brings along. */
static int take_bound(hived_replay *r)
{
  pai__node n = pai__tree_get(r->row, 0, "bindAnnotation");
  hived_replay_pod *p = hived_replay_pod_of(r);
  const char *s;
  char *text;
  size_t len;

  if (p == NULL)
    return PAI_ENOMEM;
  if (n == PAI__NO_NODE || pai__tree_type(r->row, n) != PAI__STRING)
    return PAI_OK;
  s = pai__tree_str(r->row, n, &len);
  text = pai__strndup(&r->alloc, s, len);
  if (text == NULL)
    return PAI_ENOMEM;
  pai__strfree(&r->alloc, p->bound);
  p->bound = text;
  return PAI_OK;
}

int hived_replay_add(hived_replay *r)
{
  hived_replay_pod *p;
  pai__hived_ask ask;
  pai__hived_bound bound = { .index = PAI__NOTHING };
  int rc = take_bound(r);

  if (rc == PAI_OK)
    rc = read_pod(r, &p, &ask, &bound);
  if (rc < 0)
    return rc == PAI_EINVAL ? PAI_OK : rc;
  if (bound.index == PAI__NOTHING &&
      pai__hived_find_group(r->engine, ask.r.group, ask.r.group_len) ==
        PAI__NOTHING)
    bound.index = 0;
  rc = pai__hived_add(r->engine, &ask.r, p->number, bound.node, bound.index,
                      &bound.info);
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

int hived_replay_delete(hived_replay *r)
{
  hived_replay_pod *p;
  pai__hived_ask ask;
  pai__hived_bound bound = { .index = PAI__NOTHING };
  int rc = read_pod(r, &p, &ask, &bound);

  if (rc == PAI_OK)
    (void)pai__hived_delete(r->engine, ask.r.group, ask.r.group_len,
                            ask.r.leaves, bound.index);
  return rc == PAI_EINVAL ? PAI_OK : rc;
}

int hived_replay_delete_unallocated(hived_replay *r)
{
  hived_replay_pod *p;
  pai__hived_ask ask;
  int rc = read_pod(r, &p, &ask, NULL);

  if (rc == PAI_OK)
    (void)pai__hived_delete_unallocated(r->engine, ask.r.group,
                                        ask.r.group_len, p->number);
  return rc == PAI_EINVAL ? PAI_OK : rc;
}

/* --- nodes ---------------------------------------------------------------- */

int hived_replay_set_node(hived_replay *r, const char *name, bool good)
{
  size_t node, len = strlen(name);

  if (pai_cluster_find_node(r->cluster, name, &node) == PAI_OK) {
    pai__hived_set_node(r->engine, (uint32_t)node, good);
    return PAI_OK;
  }
  if (good) {
    (void)pai__map_remove(&r->sick, name, len);
    return PAI_OK;
  }
  return pai__map_set(&r->sick, name, len, r);
}
