/*
 * pods.c - HiveD extender: known pods, updated from the API server
 *
 * A pod is found by its UID, its number, and its name, which a later pod may
 * reuse.
 */
#include "sched/hived/extender/extender.h"

/* --- known pods ----------------------------------------------------------- */

pai__ext_pod *pai__ext_find(const pai_hived_extender *e, const char *uid)
{
  return pai__map_get(&e->pods, uid, strlen(uid));
}

const pai__ext_pod *pai__ext_numbered(const pai_hived_extender *e,
                                      uint64_t number)
{
  return pai__map_get(&e->numbers, &number, sizeof(number));
}

int pai__ext_set(const pai_hived_extender *e, char **to, const char *text)
{
  char *copy = pai__strdup(&e->alloc, text);

  if (copy == NULL)
    return PAI_ENOMEM;
  pai__strfree(&e->alloc, *to);
  *to = copy;
  return PAI_OK;
}

void pai__ext_free_pod(const pai_hived_extender *e, pai__ext_pod *p)
{
  pai__strfree(&e->alloc, p->uid);
  pai__strfree(&e->alloc, p->ns);
  pai__strfree(&e->alloc, p->name);
  pai__strfree(&e->alloc, p->full);
  pai__strfree(&e->alloc, p->group);
  pai__strfree(&e->alloc, p->node);
  pai__strfree(&e->alloc, p->isolation);
  pai__strfree(&e->alloc, p->info);
  pai__free(&e->alloc, p, sizeof(*p));
}

static const char *full_name(pai_hived_extender *e, const pai__ext_view *v)
{
  size_t n = strlen(v->ns), m = strlen(v->name);
  char *s = pai__arena_zalloc(&e->arena, n + m + 2, 1);

  if (s == NULL)
    return NULL;
  memcpy(s, v->ns, n);
  s[n] = '/';
  memcpy(s + n + 1, v->name, m);
  return s;
}

/* Removes a pod from all maps and frees it. */
static void drop(pai_hived_extender *e, pai__ext_pod *p)
{
  if (pai__map_get(&e->pods, p->uid, strlen(p->uid)) == p)
    (void)pai__map_remove(&e->pods, p->uid, strlen(p->uid));
  if (pai__map_get(&e->names, p->full, strlen(p->full)) == p)
    (void)pai__map_remove(&e->names, p->full, strlen(p->full));
  (void)pai__map_remove(&e->numbers, &p->number, sizeof(p->number));
  pai__ext_free_pod(e, p);
}

static pai__ext_pod *make(pai_hived_extender *e, const pai__ext_view *v,
                          const char *full)
{
  pai__ext_pod *p = pai__zalloc(&e->alloc, sizeof(*p));

  if (p == NULL)
    return NULL;
  p->number = ++e->last;
  p->index = PAI__NOTHING;
  p->state = PAI__POD_WAITING;
  if (pai__ext_set(e, &p->uid, v->uid) < 0 ||
      pai__ext_set(e, &p->ns, v->ns) < 0 ||
      pai__ext_set(e, &p->name, v->name) < 0 ||
      pai__ext_set(e, &p->full, full) < 0) {
    pai__ext_free_pod(e, p);
    return NULL;
  }
  if (pai__map_set(&e->pods, p->uid, strlen(p->uid), p) < 0 ||
      pai__map_set(&e->names, full, strlen(full), p) < 0 ||
      pai__map_set(&e->numbers, &p->number, sizeof(p->number), p) < 0) {
    drop(e, p);
    return NULL;
  }
  return p;
}

/* --- groups of pods ------------------------------------------------------- */

int pai__ext_read_ask(pai_hived_extender *e, const pai__ext_view *v,
                      pai__hived_ask *ask)
{
  const char *own = full_name(e, v);

  if (own == NULL)
    return PAI_ENOMEM;
  return pai__hived_read_ask(e->engine, v->spec, strlen(v->spec), own,
                             &e->arena, ask, &e->why);
}

/* Stops waiting for victims. */
static void leave(pai_hived_extender *e, const pai__ext_pod *p)
{
  if (p->group != NULL)
    (void)pai__hived_delete_unallocated(e->engine, p->group, strlen(p->group),
                                        p->number);
}

int pai__ext_join(pai_hived_extender *e, pai__ext_pod *p, const char *group)
{
  char *old = p->group;

  if (old != NULL && strcmp(old, group) == 0)
    return PAI_OK;
  p->group = NULL;
  if (pai__ext_set(e, &p->group, group) < 0) {
    p->group = old;
    return PAI_ENOMEM;
  }
  if (old != NULL)
    (void)pai__hived_delete_unallocated(e->engine, old, strlen(old),
                                        p->number);
  pai__strfree(&e->alloc, old);
  return PAI_OK;
}

/* Frees the cells of a pod, unless another pod has been given them. */
static void free_cells(pai_hived_extender *e, const pai__ext_pod *p)
{
  size_t len = strlen(p->group);
  uint32_t group = pai__hived_find_group(e->engine, p->group, len), at;
  const pai__hived_slot *slot;

  if (group == PAI__NOTHING)
    return;
  at = pai__gang_slot(e->engine, group, p->leaves, p->index);
  if (at == PAI__NOTHING)
    return;
  slot = &pai__gang_slots(e->engine, group)[at];
  if ((slot->low | (uint64_t)slot->high << 32) == p->number)
    (void)pai__hived_delete(e->engine, p->group, len, p->leaves, p->index);
}

void pai__ext_forget(pai_hived_extender *e, pai__ext_pod *p)
{
  if (p->state < PAI__POD_BINDING)
    leave(e, p);
  else if (p->index != PAI__NOTHING)
    free_cells(e, p);
  drop(e, p);
}

/* --- updates -------------------------------------------------------------- */

/* Takes the cells that a bound pod is on, by its bind info. */
static int take_cells(pai_hived_extender *e, pai__ext_pod *p,
                      const pai__ext_view *v)
{
  pai__hived_bound bound;
  pai__hived_ask ask;
  int rc = pai__ext_read_ask(e, v, &ask);

  if (rc < 0)
    return rc;
  rc = v->bound[0] == '\0'
         ? PAI_EINVAL
         : pai__hived_read_bound(e->engine, v->bound, strlen(v->bound),
                                 &e->arena, &ask, &bound);
  if (rc == PAI_EINVAL)
    pai__buf_str(&e->why,
                 "Pod annotation hivedscheduler.microsoft.com/pod-bind-info: "
                 "Annotation does not exist or is no bind info");
  if (rc < 0 || (rc = pai__ext_join(e, p, ask.words.group)) < 0)
    return rc;
  if (bound.index == PAI__NOTHING &&
      pai__hived_find_group(e->engine, ask.r.group, ask.r.group_len) ==
        PAI__NOTHING)
    bound.index = 0;
  rc = pai__hived_add(e->engine, &ask.r, p->number, bound.node, bound.index,
                      &bound.info);
  p->leaves = ask.r.leaves;
  p->index = rc == PAI_OK ? bound.index : PAI__NOTHING;
  /* A pod that its group does not list runs without cells. */
  return rc == PAI_ENOTFOUND ? PAI_OK : rc;
}

static int see_bound(pai_hived_extender *e, pai__ext_pod *p,
                     const pai__ext_view *v)
{
  int rc = pai__ext_set(e, &p->node, v->node);

  if (rc == PAI_OK && p->state < PAI__POD_BINDING)
    rc = take_cells(e, p, v);
  if (rc < 0)
    return rc;
  p->state = PAI__POD_BOUND;
  pai__strfree(&e->alloc, p->isolation);
  pai__strfree(&e->alloc, p->info);
  p->isolation = p->info = NULL;
  return PAI_OK;
}

int pai__ext_see(pai_hived_extender *e, const pai__ext_view *v)
{
  const char *full = full_name(e, v);
  pai__ext_pod *p = pai__ext_find(e, v->uid), *other;
  bool fresh = p == NULL;
  int rc;

  if (full == NULL)
    return PAI_ENOMEM;
  other = pai__map_get(&e->names, full, strlen(full));
  if (other != NULL && other != p)
    pai__ext_forget(e, other);
  if (!v->live) {
    if (p != NULL)
      pai__ext_forget(e, p);
    return PAI_OK;
  }
  if (fresh)
    p = make(e, v, full);
  if (p == NULL)
    return PAI_ENOMEM;
  p->round = e->round;
  if (v->node[0] == '\0')
    return PAI_OK;
  rc = see_bound(e, p, v);
  if (rc < 0 && fresh)
    pai__ext_forget(e, p);
  return rc;
}
