/*
 * load.c - making a scheduler from a snapshot
 *
 * A snapshot may have been edited by hand, so all is checked that could give a
 * device to two tasks.
 */
#include "sched/log/event.h"
#include "sched/log/snapshot_form.h"
#include "sched/policy/policy.h"
#include "sched/sched.h"

#include "json/json.h"
#include "resource/bits.h"

#include <inttypes.h>

int pai__load_mask(pai__loading *l, pai__node list, const char *key,
                   uint32_t limit, uint64_t *mask)
{
  pai__items x = pai__form_items(&l->f, list, key);
  pai__node item;
  int64_t n;

  *mask = 0;
  while ((item = pai__items_next(&x)) != PAI__NO_NODE) {
    x.rc = pai__form_number(&l->f, item, key, 0, (int64_t)limit - 1, &n);
    if (x.rc == PAI_OK && (*mask >> n & 1) != 0)
      x.rc =
        pai__form_fail(&l->f, item, "\"%s\" has %" PRId64 " twice", key, n);
    if (x.rc == PAI_OK)
      *mask |= UINT64_C(1) << n;
  }
  return x.rc;
}

/* --- nodes ---------------------------------------------------------------- */

int pai__load_node(const pai__loading *l, pai__node at, const char *name,
                   uint32_t *node)
{
  *node = pai__sched_cluster_node(l->s->cluster, name);
  return *node != PAI__NONE
           ? PAI_OK
           : pai__form_fail(&l->f, at, "there is no node '%s'", name);
}

static int load_lost(pai__loading *l, pai__node list, uint32_t node)
{
  pai_sched *s = l->s;
  pai__items x = pai__form_items(&l->f, list, "lost");
  pai__node item;
  int64_t port;

  while ((item = pai__items_next(&x)) != PAI__NO_NODE) {
    x.rc = pai__form_number(&l->f, item, "lost", s->m.first_port,
                            s->m.last_port, &port);
    if (x.rc == PAI_OK && pai__port_lose(s, node, (uint32_t)port) < 0)
      x.rc = pai__oom(l->f.err);
  }
  return x.rc;
}

static int load_capacity(pai__loading *l, pai__node item)
{
  pai_sched *s = l->s;
  pai__free_capacity_form form;
  pai__free_capacity *capacity;
  uint32_t node, next;
  int rc = pai__table_read(&l->f, item, &pai__free_capacity_table, &form);

  if (rc == PAI_OK)
    rc = pai__load_node(l, item, form.name, &node);
  if (rc < 0)
    return rc;
  capacity = pai__free_capacity_at(s, node);
  next = form.next_port != 0 ? form.next_port : s->m.next_port;
  if (next < s->m.first_port || next > s->m.last_port)
    return pai__form_fail(&l->f, item,
                          "\"next_port\" %u is none of ports %u to %u", next,
                          s->m.first_port, s->m.last_port);
  capacity->next_port = next;
  capacity->state = form.state;
  if (pai__texts_add(&s->names, &s->alloc, form.reason, &capacity->reason) < 0)
    return pai__oom(l->f.err);
  rc =
    pai__load_mask(l, form.sick, "sick",
                   pai__sched_sku_of(s->cluster, node)->gpus, &capacity->sick);
  return rc == PAI_OK ? load_lost(l, form.lost, node) : rc;
}

static int load_reservation(pai__loading *l, pai__node item)
{
  pai_reservation r;
  pai_error *cause = NULL;
  int rc = pai__reservation_read(&l->f, &l->arena, item, &r);

  if (rc < 0)
    return rc;
  if (r.to != 0 && r.to <= r.from)
    return pai__form_fail(&l->f, item,
                          "reservation '%s' ends before it begins", r.name);
  rc = pai__sched_reservation_add(l->s, &r, &cause);
  return rc < 0 ? pai__form_blame(&l->f, item, PAI_EINVAL, cause) : PAI_OK;
}

static int load_vc_reason(pai__loading *l, pai__node item)
{
  pai_sched *s = l->s;
  pai__vc_reason_form form;
  int rc = pai__table_read(&l->f, item, &pai__vc_reason_table, &form);
  uint32_t vc_index;

  if (rc < 0)
    return rc;
  vc_index = pai__sched_cluster_vc(s->cluster, form.vc);
  if (vc_index == PAI__NONE)
    return pai__form_fail(&l->f, item, "there is no virtual cluster '%s'",
                          form.vc);
  form.vc_reason.made = s->m.decided;
  rc = pai__vc_reason_keep(s, vc_index, &form.vc_reason);
  return rc < 0 ? pai__oom(l->f.err) : PAI_OK;
}

static int load_pending(pai__loading *l, pai__node item)
{
  pai__decision d = { 0 };
  int rc = pai__table_read(&l->f, item, &pai__pending_table, &d);

  if (rc == PAI_OK && pai__flat_add(&l->s->decisions, &l->s->alloc, &d) < 0)
    rc = pai__oom(l->f.err);
  return rc;
}

/* --- lists ---------------------------------------------------------------- */

static int load_each(pai__loading *l, pai__node list, const char *key,
                     int (*load)(pai__loading *l, pai__node item))
{
  pai__items x = pai__form_items(&l->f, list, key);
  pai__node item;

  while ((item = pai__items_next(&x)) != PAI__NO_NODE)
    x.rc = load(l, item);
  return x.rc;
}

/* --- policies ------------------------------------------------------------- */

static int load_policy(pai__loading *l, pai__node at, pai__acting *to,
                       const pai_cluster *cluster)
{
  pai__policy_form form;
  pai__saved_policy saved = { 0 };
  pai_error *cause = NULL;
  size_t len;
  int rc = pai__table_read(&l->f, at, &pai__policy_table, &form);

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
  rc = pai__policy_restore(l->s, to, cluster, &saved, &cause);
  if (rc < 0)
    return pai__form_blame(&l->f, at, rc, cause);
  if (to == &l->s->shadow)
    l->s->agreement = form.agreement;
  return PAI_OK;
}

/* --- the whole ------------------------------------------------------------ */

/* Makes a scheduler of the cluster alone, with all nodes healthy and free. */
static int make(pai__loading *l, const pai__state_form *form,
                const pai_cluster *cluster, const pai_alloc *alloc)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_error *cause = NULL;
  int rc;

  o.alloc = alloc;
  o.first_port = form->m.first_port;
  o.last_port = form->m.last_port;
  o.next_port = form->m.next_port;
  o.unchecked = form->m.unchecked;
  rc = pai__sched_make(&l->s, cluster, &o, &cause);
  if (rc < 0)
    return pai__form_blame(&l->f, 0, PAI_EINVAL, cause);
  pai__free_capacity_init(l->s, l->s->cluster, l->s->free_capacity.data);
  l->s->loading = true;
  return PAI_OK;
}

static int fill(pai__loading *l, const pai__state_form *form)
{
  pai_sched *s = l->s;
  int rc;

  s->m.now = form->m.now;
  s->m.orders = form->m.orders;
  s->m.decided = form->m.events;
  rc = load_each(l, form->reservations, "reservations", load_reservation);
  if (rc == PAI_OK)
    rc = pai__load_alike(l, form->alike);
  if (rc == PAI_OK)
    rc = load_each(l, form->requests, "requests", pai__load_request);
  if (rc == PAI_OK && s->m.turns > form->m.turns)
    rc = pai__form_fail(&l->f, 0, "a request has a turn above \"turns\"");
  if (rc == PAI_OK)
    rc = pai__load_places(l);
  /* Now the ports in use are known. */
  if (rc == PAI_OK)
    rc = load_each(l, form->nodes, "nodes", load_capacity);
  if (rc == PAI_OK)
    rc = load_each(l, form->refused, "refused", load_vc_reason);
  if (rc == PAI_OK)
    rc = load_each(l, form->decisions, "decisions", load_pending);
  s->m.turns = form->m.turns;
  s->m.events = form->m.events;
  /* It may be before any limit; then the next check finds nothing. */
  if (form->m.next_limit < s->m.next_limit)
    s->m.next_limit = form->m.next_limit;
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

  other.table = NULL; /* it is found by its name */
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
  rc = pai__table_read(&l->f, 0, &pai__state_table, &form);
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
                           : load_policy(l, form.policy, &l->s->live, cluster);
  if (rc == PAI_OK && form.shadow != PAI__NO_NODE)
    rc = load_policy(l, form.shadow, &l->s->shadow, cluster);
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
  l.f = (pai__form){ .tree = tree, .err = err };
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
