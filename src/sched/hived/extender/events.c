/* events.c - HiveD extender: nodes and pods from the API server */
#include "json/json.h"
#include "sched/hived/extender/extender.h"

/* Enough for a list of all nodes of a large cluster, with their images. */
enum { MOST_BYTES = 1 << 30 };

typedef struct telling {
  pai_hived_extender *e;
  pai__ext_read r;
  pai_error **err;
  int rc;    /* error of the first invalid pod */
  bool look; /* only check whether it can be read */
} telling;

/* Discards an error of a pod. */
static int fail_memory(const telling *t)
{
  if (t->err != NULL)
    pai_error_free(*t->err);
  return pai__oom(t->err);
}

static int misread(const telling *t, pai__node n, const char *what)
{
  return pai__fail_at(t->err, PAI_EINVAL, pai__tree_where(t->r.t, n), "%s",
                      what);
}

/* Checks that the needed fields were read. */
static int check(const telling *t, pai__node n, const char *name)
{
  if (t->r.wrong != NULL)
    return pai__fail_at(t->err, PAI_EINVAL, pai__tree_where(t->r.t, n),
                        "field %s %s than Kubernetes' is", t->r.wrong,
                        t->r.too_long ? "is longer" : "is of another type");
  if (name[0] == '\0')
    return misread(t, n, "it has no name, or no UID");
  return PAI_OK;
}

static bool is_kind(telling *t, pai__node n, const char *kind)
{
  return strcmp(pai__ext_text(&t->r, n, "kind"), kind) == 0;
}

/* --- nodes ---------------------------------------------------------------- */

static void set_node(pai_hived_extender *e, const char *name, bool good)
{
  size_t node;

  if (pai_cluster_find_node(pai__hived_cluster(e->engine), name, &node) ==
      PAI_OK)
    pai__hived_set_node(e->engine, (uint32_t)node, good);
}

static int see_node(telling *t, pai__node n, bool there)
{
  pai_hived_extender *e = t->e;
  bool good;
  const char *name = pai__ext_read_node(&t->r, n, &good);
  int rc = check(t, n, name);

  if (rc < 0 || t->look)
    return rc;
  if (!there)
    (void)pai__map_remove(&e->nodes, name, strlen(name));
  else if (pai__map_set(&e->nodes, name, strlen(name), e) < 0)
    return fail_memory(t);
  set_node(e, name, good && there);
  return PAI_OK;
}

/* Replaces all nodes; nodes that are not listed are gone. */
static int list_nodes(telling *t, pai__node items)
{
  pai_hived_extender *e = t->e;
  pai__tree_walk walk = pai__tree_iter(t->r.t, items);
  const pai__map_entry *entry;
  pai__map fresh;
  pai__node n;
  size_t i = 0;
  int rc = PAI_OK;

  pai__map_init(&fresh, &e->alloc);
  while (rc == PAI_OK && (n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    bool good;
    const char *name = pai__ext_read_node(&t->r, n, &good);

    rc = check(t, n, name);
    if (rc == PAI_OK && pai__map_set(&fresh, name, strlen(name), e) < 0)
      rc = pai__oom(t->err);
  }
  if (rc < 0) {
    pai__map_dispose(&fresh);
    return rc;
  }
  while ((entry = pai__map_next(&e->nodes, &i)) != NULL)
    if (pai__map_get(&fresh, entry->key, entry->len) == NULL)
      set_node(e, entry->key, false);
  pai__map_dispose(&e->nodes);
  e->nodes = fresh;
  walk = pai__tree_iter(t->r.t, items);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    bool good;
    const char *name = pai__ext_read_node(&t->r, n, &good);

    set_node(e, name, good);
  }
  return PAI_OK;
}

/* --- pods ----------------------------------------------------------------- */

static int read_pod(telling *t, pai__node n, pai__ext_view *v)
{
  pai__ext_read_pod(&t->r, n, v);
  return check(t, n, v->uid[0] != '\0' ? v->name : "");
}

/* Reports the error of the first invalid pod, and goes on. */
static int tell_pod(telling *t, const pai__ext_view *v, int rc)
{
  bool first = t->rc == PAI_OK;

  if (rc == PAI_OK)
    return rc;
  if (rc == PAI_ENOMEM || !pai__buf_ok(&t->e->why))
    return fail_memory(t);
  t->rc = first ? rc : t->rc;
  if (first && rc == PAI_EEXISTS)
    (void)pai__fail(t->err, rc,
                    "pod %s(%s/%s) on node %s has cells of another pod",
                    v->uid, v->ns, v->name, v->node);
  else if (first)
    (void)pai__fail(t->err, rc, "pod %s(%s/%s): %s", v->uid, v->ns, v->name,
                    pai__buf_text(&t->e->why));
  return PAI_OK;
}

static int see_pod(telling *t, const pai__ext_view *v, bool there)
{
  pai_hived_extender *e = t->e;
  pai__ext_pod *p;

  if (there) {
    pai__buf_clear(&e->why);
    return tell_pod(t, v, pai__ext_see(e, v));
  }
  p = pai__ext_find(e, v->uid);
  if (p != NULL)
    pai__ext_forget(e, p);
  return PAI_OK;
}

/* Removes pods that are not in the last list.  This comes first, because
 * others may have their cells by now. */
static void sweep(pai_hived_extender *e)
{
  const pai__map_entry *entry;
  size_t i = 0;

  while ((entry = pai__map_next(&e->pods, &i)) != NULL) {
    pai__ext_pod *p = entry->value;

    if (p->round != e->round)
      pai__ext_forget(e, p);
  }
}

static int list_pods(telling *t, pai__node items)
{
  pai_hived_extender *e = t->e;
  pai__tree_walk walk = pai__tree_iter(t->r.t, items);
  size_t n = walk.left, k = 0;
  pai__ext_view *views = pai__arena_zalloc(&e->arena, n + 1, sizeof(*views));
  pai__node item;
  int rc = PAI_OK;

  if (views == NULL)
    return pai__oom(t->err);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = read_pod(t, item, &views[k++]);
  if (rc < 0)
    return rc;
  e->round++;
  for (k = 0; k < n; k++) {
    pai__ext_pod *p = pai__ext_find(e, views[k].uid);

    if (p != NULL && views[k].live)
      p->round = e->round;
  }
  sweep(e);
  for (k = 0; rc == PAI_OK && k < n; k++)
    rc = see_pod(t, &views[k], true);
  return rc;
}

/* --- events --------------------------------------------------------------- */

static int see_object(telling *t, pai__node n, bool there)
{
  pai__ext_view v;
  int rc;

  if (is_kind(t, n, "Node"))
    return see_node(t, n, there);
  if (!is_kind(t, n, "Pod"))
    return misread(t, n, "it is neither a Node nor a Pod");
  rc = read_pod(t, n, &v);
  return rc < 0 || t->look ? rc : see_pod(t, &v, there);
}

static int see_each(telling *t, pai__node items)
{
  pai__tree_walk walk = pai__tree_iter(t->r.t, items);
  pai__node n;
  int rc = PAI_OK;

  while (rc == PAI_OK && (n = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = see_object(t, n, true);
  return rc;
}

static int see_list(telling *t, pai__node items)
{
  pai__node meta = pai__ext_get(&t->r, 0, "metadata", PAI__MAPPING);
  int rc;

  if (items == PAI__NO_NODE)
    return misread(t, 0, "the list has no items");
  if (pai__ext_text(&t->r, meta, "continue")[0] != '\0') {
    rc = misread(t, 0, "this is only a part of a list");
    pai__error_help(t->err, "ask the API server without `limit`");
    return rc;
  }
  if (is_kind(t, 0, "NodeList"))
    return list_nodes(t, items);
  if (is_kind(t, 0, "PodList"))
    return list_pods(t, items);
  t->look = true;
  rc = see_each(t, items);
  t->look = false;
  return rc < 0 ? rc : see_each(t, items);
}

static int see(telling *t)
{
  pai__node object = pai__ext_get(&t->r, 0, "object", PAI__MAPPING);
  pai__node items;
  const char *type;

  if (is_kind(t, 0, "NodeList") || is_kind(t, 0, "PodList") ||
      is_kind(t, 0, "List")) {
    items = pai__ext_field(&t->r, 0, "items");
    if (items != PAI__NO_NODE &&
        pai__tree_type(t->r.t, items) != PAI__SEQUENCE)
      items = PAI__NO_NODE;
    return see_list(t, items);
  }
  if (object == PAI__NO_NODE)
    return see_object(t, 0, true);
  type = pai__ext_text(&t->r, 0, "type");
  if (strcmp(type, "ADDED") == 0 || strcmp(type, "MODIFIED") == 0)
    return see_object(t, object, true);
  if (strcmp(type, "DELETED") == 0)
    return see_object(t, object, false);
  if (strcmp(type, "BOOKMARK") == 0)
    return PAI_OK;
  if (strcmp(type, "ERROR") == 0)
    return pai__fail(t->err, PAI_ECANCELED, "the watch has ended: %s",
                     pai__ext_text(&t->r, object, "message"));
  return pai__fail_at(t->err, PAI_EINVAL, pai__tree_where(t->r.t, 0),
                      "there is no event '%.80s'", type);
}

int pai_hived_extender_event(pai_hived_extender *e, const char *json,
                             size_t len, pai_time now, pai_error **err)
{
  pai__json_options opts = { .flags = PAI__JSON_DUPLICATES,
                             .max_bytes = MOST_BYTES };
  telling t = { .e = e, .err = err };
  int rc;

  PAI__CHECK_ARG_ERR(e != NULL && json != NULL, err);
  opts.alloc = &e->alloc;
  pai__ext_begin(e, now);
  rc = pai__json_parse(&e->tree, json, len, &opts, err);
  if (rc < 0)
    return rc;
  t.r.t = e->tree;
  if (pai__tree_type(e->tree, 0) != PAI__MAPPING)
    return misread(&t, 0, "an event is an object");
  rc = see(&t);
  return rc < 0 ? rc : t.rc;
}
