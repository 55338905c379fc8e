/*
 * load.c - a scheduler is made of a snapshot
 *
 * Whoever wrote it may have changed it by hand: nothing is believed that could
 * make a device belong to two.
 */
#include "sched/event.h"
#include "sched/loading.h"
#include "sched/policy.h"
#include "sched/sched.h"

#include "json/json.h"
#include "resource/bits.h"

#include <inttypes.h>

int pai__load_mask(pai__loading *l, pai__node list, const char *key,
                   uint32_t limit, uint64_t *mask)
{
  pai__tree_walk walk;
  pai__node item;
  uint32_t count;
  int64_t n;
  int rc = pai__form_list(&l->f, list, key, &count);

  *mask = 0;
  if (rc < 0 || list == PAI__NO_NODE)
    return rc;
  walk = pai__tree_iter(l->f.tree, list);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    rc = pai__form_number(&l->f, item, key, 0, (int64_t)limit - 1, &n);
    if (rc == PAI_OK && (*mask >> n & 1) != 0)
      rc = pai__form_fail(&l->f, item, "\"%s\" has %" PRId64 " twice", key, n);
    if (rc == PAI_OK)
      *mask |= UINT64_C(1) << n;
  }
  return rc;
}

/* --- nodes ---------------------------------------------------------------- */

static int find_node(pai__loading *l, pai__node at, const char *name,
                     uint32_t *node)
{
  *node = pai__park_node(l->s->park, name);
  return *node != PAI__NONE
           ? PAI_OK
           : pai__form_fail(&l->f, at, "there is no node '%s'", name);
}

static int load_lost(pai__loading *l, pai__node list, uint32_t node)
{
  pai_sched *s = l->s;
  pai__tree_walk walk;
  pai__node item;
  uint32_t count;
  int64_t port;
  int rc = pai__form_list(&l->f, list, "lost", &count);

  if (rc < 0 || list == PAI__NO_NODE)
    return rc;
  walk = pai__tree_iter(l->f.tree, list);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    rc = pai__form_number(&l->f, item, "lost", s->m.first_port, s->m.last_port,
                          &port);
    if (rc == PAI_OK && pai__port_lose(s, node, (uint32_t)port) < 0)
      rc = pai__oom(l->f.err);
  }
  return rc;
}

static int load_room(pai__loading *l, pai__node item)
{
  pai_sched *s = l->s;
  pai__room_form form;
  pai__room *room;
  uint32_t node, next;
  int rc = pai__load_form(l, item, "a node", &pai__room_table, &form);

  if (rc == PAI_OK)
    rc = find_node(l, item, form.name, &node);
  if (rc < 0)
    return rc;
  room = pai__room_at(s, node);
  next = form.next_port != 0 ? form.next_port : s->m.next_port;
  if (next < s->m.first_port || next > s->m.last_port)
    return pai__form_fail(&l->f, item,
                          "\"next_port\" %u is none of ports %u to %u", next,
                          s->m.first_port, s->m.last_port);
  room->next_port = next;
  room->state = form.state;
  if (pai__texts_add(&s->names, &s->alloc, form.why, &room->why) < 0)
    return pai__oom(l->f.err);
  rc = pai__load_mask(l, form.sick, "sick", pai__build_of(s->park, node)->gpus,
                      &room->sick);
  return rc == PAI_OK ? load_lost(l, form.lost, node) : rc;
}

static int load_kept(pai__loading *l, pai__node item)
{
  pai_reservation r;
  pai_error *cause = NULL;
  int rc = pai__reservation_read(&l->f, &l->arena, item, &r);

  if (rc < 0)
    return rc;
  if (r.to != 0 && r.to <= r.from)
    return pai__form_fail(&l->f, item,
                          "reservation '%s' ends before it begins", r.name);
  rc = pai__kept_add(l->s, &r, &cause);
  return rc < 0 ? pai__form_blame(&l->f, item, PAI_EINVAL, cause) : PAI_OK;
}

static int load_rule(pai__loading *l, pai__node item)
{
  pai_sched *s = l->s;
  pai__rule_form form;
  int rc = pai__load_form(l, item, "what is refused", &pai__rule_table, &form);
  uint32_t tenant;

  if (rc < 0)
    return rc;
  tenant = pai__park_tenant(s->park, form.vc);
  if (tenant == PAI__NONE)
    return pai__form_fail(&l->f, item, "there is no virtual cluster '%s'",
                          form.vc);
  rc = pai__rule_keep(s, tenant,
                      &(pai__rule){ s->m.decided, form.behind,
                                    (uint64_t)form.first, (uint64_t)form.last,
                                    form.lazy != 0 });
  return rc < 0 ? pai__oom(l->f.err) : PAI_OK;
}

/* --- decisions ------------------------------------------------------------ */

static int load_pending(pai__loading *l, pai__node item)
{
  pai_sched *s = l->s;
  pai__pending_form form;
  int rc = pai__load_form(l, item, "a decision", &pai__pending_table, &form);

  if (rc < 0)
    return rc;
  if (pai__flat_reserve(&s->decisions, &s->alloc, 1) < 0)
    return pai__oom(l->f.err);
  ((pai__decision *)s->decisions.data)[pai__flat_push(&s->decisions, 1)] =
    (pai__decision){ .id = form.id,
                     .by = form.by,
                     .instance = form.instance,
                     .want = form.want,
                     .tasks = form.tasks,
                     .kind = (uint8_t)form.kind,
                     .cause = (uint8_t)form.cause };
  return PAI_OK;
}

/* --- lists ---------------------------------------------------------------- */

static int load_each(pai__loading *l, pai__node list, const char *key,
                     int (*load)(pai__loading *l, pai__node item))
{
  pai__tree_walk walk;
  pai__node item;
  uint32_t count;
  int rc = pai__form_list(&l->f, list, key, &count);

  if (rc < 0 || list == PAI__NO_NODE)
    return rc;
  walk = pai__tree_iter(l->f.tree, list);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = load(l, item);
  return rc;
}

/* --- policies ------------------------------------------------------------- */

static int load_policy(pai__loading *l, pai__node at, bool shadow,
                       const pai_cluster *cluster)
{
  pai__policy_form form;
  pai__saved_policy saved = { 0 };
  pai_error *cause = NULL;
  size_t len;
  int rc = pai__load_form(l, at, "a policy", &pai__policy_table, &form);

  if (rc < 0)
    return rc;
  if (pai__tree_type(l->f.tree, form.options) != PAI__MAPPING)
    return pai__form_fail(&l->f, form.options, "\"options\" is an object");
  saved.name = form.name;
  saved.options = pai__form_slice(&l->f, &l->arena, form.options, &len);
  if (form.state != PAI__NO_NODE)
    saved.state = pai__form_slice(&l->f, &l->arena, form.state, &saved.len);
  if (saved.options == NULL ||
      (form.state != PAI__NO_NODE && saved.state == NULL))
    return pai__oom(l->f.err);
  rc = pai__policy_restore(l->s, shadow, cluster, &saved, &cause);
  if (rc < 0)
    return pai__form_blame(&l->f, at, rc, cause);
  if (shadow) {
    l->s->shadow_live = (uint64_t)form.live;
    l->s->shadow_decisions = (uint64_t)form.decisions;
    l->s->shadow_agreed = (uint64_t)form.agreed;
    l->s->shadow_failed = (uint64_t)form.failed;
  }
  return PAI_OK;
}

/* --- the whole ------------------------------------------------------------ */

/* Nothing but the cluster, in the beginning: all nodes are well and free. */
static int make(pai__loading *l, const pai__state_form *form,
                const pai_cluster *cluster, const pai_alloc *alloc)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_error *cause = NULL;
  int rc;

  o.alloc = alloc;
  o.first_port = form->first_port;
  o.last_port = form->last_port;
  o.next_port = form->next_port;
  o.unchecked = form->unchecked;
  rc = pai__sched_make(&l->s, cluster, &o, &cause);
  if (rc < 0)
    return pai__form_blame(&l->f, 0, PAI_EINVAL, cause);
  pai__rooms_init(l->s, l->s->park, l->s->rooms.data);
  l->s->loading = true;
  return PAI_OK;
}

static int fill(pai__loading *l, const pai__state_form *form)
{
  pai_sched *s = l->s;
  int rc;

  s->m.now = form->time;
  s->m.orders = (uint64_t)form->orders;
  s->m.decided = (uint64_t)form->events;
  rc = load_each(l, form->reservations, "reservations", load_kept);
  if (rc == PAI_OK)
    rc = pai__load_alike(l, form->alike);
  if (rc == PAI_OK)
    rc = pai__load_requests(l, form->requests);
  if (rc == PAI_OK && s->m.turns > (uint64_t)form->turns)
    rc = pai__form_fail(&l->f, 0, "a request has a turn above \"turns\"");
  if (rc == PAI_OK)
    rc = pai__load_places(l);
  /* Ports that are in use are known now. */
  if (rc == PAI_OK)
    rc = load_each(l, form->nodes, "nodes", load_room);
  if (rc == PAI_OK)
    rc = load_each(l, form->refused, "refused", load_rule);
  if (rc == PAI_OK)
    rc = load_each(l, form->decisions, "decisions", load_pending);
  s->m.turns = (uint64_t)form->turns;
  s->m.events = (uint64_t)form->events;
  /* It may be earlier than any limit, and then the next look is in vain. */
  if (form->next_limit < s->m.next_limit)
    s->m.next_limit = form->next_limit;
  s->loading = false;
  return rc;
}

static int load_state(pai__loading *l, const pai_sched_options *o)
{
  pai_sched_options other = *o;
  pai__state_form form;
  pai_cluster *cluster = NULL;
  pai__node version = pai__tree_get(l->f.tree, 0, "snapshot");
  int rc;

  other.table = NULL; /* it is known by its name */
  if (version == PAI__NO_NODE) {
    (void)pai__form_fail(&l->f, 0, "this is no snapshot");
    pai__error_help(l->f.err, "a log begins with one, as openpai sched show "
                              "--json and pai_sched_save() write it");
    return PAI_EINVAL;
  }
  if (pai__tree_type(l->f.tree, version) != PAI__INT ||
      pai__tree_int(l->f.tree, version) != PAI__SNAPSHOT_VERSION)
    return pai__form_fail(&l->f, version,
                          "snapshots are of version %d, and not of this one",
                          (int)PAI__SNAPSHOT_VERSION);
  rc = pai__load_form(l, 0, "a snapshot", &pai__state_table, &form);
  if (rc == PAI_OK)
    rc = pai__cluster_read(&l->f, o->alloc, form.cluster, &cluster);
  if (rc == PAI_OK)
    rc = make(l, &form, cluster, pai__alloc_or_libc(o->alloc));
  if (rc == PAI_OK)
    rc = fill(l, &form);
  if (rc == PAI_OK)
    rc = pai__policy_tables(l->s, o, l->f.err);
  if (rc == PAI_OK)
    rc = o->policy != NULL ? pai__policy_open(l->s, cluster, &other, l->f.err)
                           : load_policy(l, form.policy, false, cluster);
  if (rc == PAI_OK && form.shadow != PAI__NO_NODE)
    rc = load_policy(l, form.shadow, true, cluster);
  pai_cluster_free(cluster);
  return rc;
}

int pai_sched_load(pai_sched **out, const char *text, size_t len,
                   const pai_sched_options *opts, pai_error **err)
{
  pai_sched_options o = { 0 };
  pai__json_options how = { .max_bytes = PAI__TREE_MAX_TEXT };
  pai__loading l = { .s = NULL };
  pai__tree *tree;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(text != NULL, err);
  if (opts != NULL &&
      PAI__OPTIONS_IN(&o, opts, pai_sched_options, ntables) < 0)
    return pai__fail_struct(err, PAI_EINVAL, opts, "pai_sched_options");
  how.alloc = o.alloc;
  rc = pai__json_parse(&tree, text, len, &how, err);
  if (rc < 0)
    return rc;
  l.f = (pai__form){ tree, err };
  pai__arena_init(&l.arena, pai__alloc_or_libc(o.alloc));
  pai__flat_init(&l.orders, sizeof(uint64_t[2]));
  rc = load_state(&l, &o);
  pai__flat_dispose(&l.orders, pai__alloc_or_libc(o.alloc));
  pai__arena_dispose(&l.arena);
  pai__tree_free(tree);
  if (rc < 0)
    pai_sched_free(l.s);
  else
    *out = l.s;
  return rc;
}
