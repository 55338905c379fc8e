/* policy.c - HiveD as a policy of the scheduler */
#include "sched/hived/bridge.h"

#include "sched/event.h"
#include "sched/refusal.h"
#include "sched/walk.h"

/* --- life ----------------------------------------------------------------- */

typedef struct hived_options {
  int64_t reserve_after;
} hived_options;

static const pai__option options_of_it[] = {
  PAI__RESERVE_OPTION(hived_options),
};

static const pai__plain_type type = { .options = options_of_it,
                                      .noptions = PAI__LEN(options_of_it) };

/* Nodes that are kept for somebody are no decision of HiveD's: only where it is
 * asked for. */
static int read_options(const pai_policy_host *host, const char *text)
{
  hived_options o = { 0 };
  pai__tree *tree;
  int rc = pai__options_read(host, text, &type, &o, &tree);

  if (rc < 0)
    return rc;
  pai__tree_free(tree);
  pai__policy_reserves(host->sched, o.reserve_after, PAI_PLACE_PACK, true);
  return PAI_OK;
}

static int open_hived(void **state, void *data, const pai_policy_host *host,
                      const pai_cluster *cluster, const char *options)
{
  pai__bridge *g;
  int rc;

  (void)data;
  (void)cluster;
  rc = read_options(host, options);
  if (rc < 0)
    return rc;
  rc = pai__bridge_new(&g, host, NULL);
  host->sched->terms.own_shares = true;
  *state = g;
  return rc;
}

static void close_hived(void *state)
{
  pai__bridge_free(state);
}

static int clone_hived(void **copy, const void *state, void *data,
                       const pai_policy_host *host)
{
  pai__bridge *g;
  int rc = pai__bridge_clone(&g, state, &host->sched->alloc);

  (void)data;
  host->sched->terms.own_shares = true;
  *copy = g;
  return rc;
}

static int save_hived(const void *state, void *data, pai_write_cb write,
                      void *user_data)
{
  const pai__bridge *g = state;
  pai__buf out;
  int rc;

  (void)data;
  pai__buf_init(&out, &g->alloc);
  rc = pai__bridge_save(g, &out);
  if (rc == PAI_OK)
    rc = write(user_data, out.data, out.len);
  pai__buf_dispose(&out);
  return rc;
}

static int load_hived(void **state, void *data, const pai_policy_host *host,
                      const pai_cluster *cluster, const char *options,
                      const char *saved, size_t len)
{
  pai__bridge *g;
  int rc = read_options(host, options);

  (void)data;
  (void)cluster;
  if (rc < 0)
    return rc;
  rc = pai__bridge_load(&g, host, saved, len);
  host->sched->terms.own_shares = true;
  *state = g;
  return rc;
}

/* --- events --------------------------------------------------------------- */

/* All of it anew: what runs keeps its cells as far as they are there. */
static int on_cluster(pai__bridge *g, const pai_policy_host *host)
{
  pai__bridge *fresh, old;
  int rc = pai__bridge_new(&fresh, host, g);

  if (rc < 0)
    return rc;
  old = *g;
  *g = *fresh;
  *fresh = old;
  pai__bridge_free(fresh);
  return PAI_OK;
}

/* It has fewer tasks than it had, in the same cells. */
static int on_resized(pai__bridge *g, const pai_sched *s,
                      const pai_sched_event *e)
{
  uint32_t req = pai__req_find(s, e->id), run = PAI__NONE;

  pai__bridge_drop(g, e->id, e->instance);
  if (req != PAI__NONE)
    run = pai__run_find(s, req, e->instance);
  return run != PAI__NONE && pai__run_at(s, run)->state >= PAI__RUN_PLACED
           ? pai__bridge_bind(g, s, run, NULL, NULL)
           : PAI_OK;
}

static int on_event(void *state, void *data, const pai_policy_host *host,
                    const pai_sched_event *e)
{
  pai__bridge *g = state;

  (void)data;
  pai__waiters_event(&g->waiters, host->sched, e);
  switch (e->kind) {
  case PAI_SCHED_FINISHED:
  case PAI_SCHED_RETURNED: pai__bridge_drop(g, e->id, e->instance); break;
  case PAI_SCHED_CANCEL:
  case PAI_SCHED_CHANGE: pai__bridge_forget(g, e->id); break;
  case PAI_SCHED_NODE:
    pai__bridge_see_node(g, host->sched,
                         pai__park_node(host->sched->park, e->node));
    break;
  case PAI_SCHED_RESIZED: return on_resized(g, host->sched, e);
  case PAI_SCHED_CLUSTER: return on_cluster(g, host);
  default: break;
  }
  return PAI_OK;
}

/* --- requests ------------------------------------------------------------- */

static int admit(void *state, void *data, const pai_policy_host *host,
                 uint64_t id)
{
  const pai_sched *s = host->sched;
  const char *never;
  int rc = pai__bridge_never(state, s, pai__req_find(s, id), &never);

  (void)data;
  return rc < 0 || never == NULL ? rc
                                 : host->give_up(host, PAI_ENOROOM, never);
}

/* --- all ------------------------------------------------------------------ */

static int place_one(pai__bridge *g, pai_sched *s, uint32_t req)
{
  return pai__set_aside(s, req, pai__bridge_place(g, s, req));
}

/* As pai__bridge_place(); who is like one that had no room this time, and for
 * whom nobody stops, has none either.  Reservations tell lengths apart. */
static int place(pai__bridge *g, pai_sched *s, uint32_t req)
{
  uint64_t key = pai__alike_key(PAI__ALIKE_RANK, pai__req_at(s, req));
  const pai__refusal how = { .kind = PAI__REFUSAL_CELLS, .req = req };
  uint32_t other =
    s->kept.len == 0 ? pai__refusal_find(s, key, &how) : PAI__NONE;
  int rc;

  if (other != PAI__NONE && pai__req_at(s, other)->why != PAI__NONE &&
      pai__req_is_alike(s, PAI__ALIKE_RANK, pai__req_at(s, req),
                        pai__req_at(s, other))) {
    if (other != req)
      *pai__why_make(s, req) = *pai__why_of(s, other);
    return 0;
  }
  rc = place_one(g, s, req);
  if (rc == 0 && pai__why_of(s, req)->lack != PAI_LACK_VICTIMS &&
      other == PAI__NONE)
    pai__refusal_keep(s, key, &how);
  return rc;
}

/* Whoever has no room sends away all that are like it. */
static int decide_in_lines(pai__bridge *g, pai_sched *s)
{
  pai__waiters *w = &g->waiters;
  int rc = pai__waiters_line_up(w, s);
  uint32_t head;

  pai__alike_begin(s, PAI__ALIKE_RANK);
  s->effort -= s->m.nqueued;
  while (rc >= 0 && (head = pai__waiters_head(w)) != PAI__NONE) {
    uint32_t req = pai__waiter_at(w, head)->req;

    s->effort++;
    rc = place_one(g, s, req);
    if (rc != 0 || pai__why_of(s, req)->lack == PAI_LACK_VICTIMS) {
      pai__waiters_pass(w, s);
    } else {
      rc = pai__shape_refuse(s, req);
      pai__waiters_send_away(w);
    }
  }
  return rc < 0 ? rc : PAI_OK;
}

static int decide_each(pai__bridge *g, pai_sched *s)
{
  pai__flat list;
  int rc;

  pai__flat_init(&list, sizeof(pai__entry));
  rc = pai__list_waiting(s, &list);
  if (rc == PAI_OK)
    pai__sort_waiting(&list);
  for (uint32_t i = 0; i < list.len && rc >= 0; i++) {
    uint32_t req = pai__entry_at(&list, i)->req;

    do
      rc = place(g, s, req);
    while (rc == 1 && pai__req_at(s, req)->queued &&
           pai__req_lack(s, pai__req_at(s, req)) == PAI_LACK_NOTHING);
  }
  pai__flat_dispose(&list, &s->alloc);
  return rc < 0 ? rc : PAI_OK;
}

/* The most important first, and then by turn: as pods come to HiveD from
 * Kubernetes, whose priorities are to follow HiveD's.  Reservations tell those
 * apart that are alike. */
static int decide(void *state, void *data, const pai_policy_host *host)
{
  pai__bridge *g = state;
  pai_sched *s = host->sched;
  int rc = pai__bridge_catch_up(g, s);

  (void)data;
  if (rc == PAI_OK && s->kept.len == 0)
    rc = pai__waiters_ready(&g->waiters, s);
  if (rc < 0)
    return rc;
  return rc > 0 ? decide_in_lines(g, s) : decide_each(g, s);
}

const pai_policy pai__policy_hived = {
  .struct_size = sizeof(pai_policy),
  .version = PAI_POLICY_VERSION,
  .name = "hived",
  .about = "cells of virtual clusters, as Microsoft's HiveD",
  .open = open_hived,
  .close = close_hived,
  .decide = decide,
  .event = on_event,
  .clone = clone_hived,
  .save = save_hived,
  .load = load_hived,
  .admit = admit,
};
