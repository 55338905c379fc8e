/* policy.c - the policy `hived`: the HiveD engine as a policy of the
 * scheduler */
#include "sched/hived/bridge.h"

#include "sched/log/event.h"
#include "sched/queue.h"
#include "sched/policy/waiters.h"

/* --- life ----------------------------------------------------------------- */

typedef struct hived_options {
  int64_t reserve_after;
} hived_options;

static const pai__field options_of_it[] = {
  PAI__RESERVE_OPTION(hived_options),
};

static const pai__plain_type type = { .options = options_of_it,
                                      .noptions = PAI__LEN(options_of_it) };

/* HiveD itself makes no reservations, so they are off by default. */
static int read_options(const pai_policy_host *host, const char *text)
{
  hived_options o = { 0 };
  int rc = pai__options_read(host, text, &type, &o);

  if (rc < 0)
    return rc;
  pai__policy_reserves(host->sched, o.reserve_after, PAI_PLACE_PACK, true);
  return PAI_OK;
}

/* Opens the policy from the current runs, or from a saved state. */
static int begin(void **state, const pai_policy_host *host,
                 const char *options, const char *saved, size_t len)
{
  pai__bridge *g;
  int rc = read_options(host, options);

  if (rc < 0)
    return rc;
  rc = pai__bridge_new(&g, host, NULL, saved, len);
  host->sched->terms.own_shares = true;
  *state = g;
  return rc;
}

static int open_hived(void **state, void *data, const pai_policy_host *host,
                      const pai_cluster *cluster, const char *options)
{
  (void)data;
  (void)cluster;
  return begin(state, host, options, NULL, 0);
}

static int load_hived(void **state, void *data, const pai_policy_host *host,
                      const pai_cluster *cluster, const char *options,
                      const char *saved, size_t len)
{
  (void)data;
  (void)cluster;
  return begin(state, host, options, saved, len);
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

/* --- events --------------------------------------------------------------- */

/* Rebuilds the state; runs keep their cells as far as these exist. */
static int on_cluster(pai__bridge *g, const pai_policy_host *host)
{
  pai__bridge *fresh, old;
  int rc = pai__bridge_new(&fresh, host, g, NULL, 0);

  if (rc < 0)
    return rc;
  old = *g;
  *g = *fresh;
  *fresh = old;
  pai__bridge_free(fresh);
  return PAI_OK;
}

/* Binds the run again, with the remaining tasks in the same cells. */
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
    pai__bridge_see_node(
      g, host->sched, pai__sched_cluster_node(host->sched->cluster, e->node));
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

/* --- deciding ------------------------------------------------------------- */

static int place_one(pai__bridge *g, pai_sched *s, uint32_t req)
{
  return pai__set_aside(s, req, pai__bridge_place(g, s, req));
}

/* As pai__bridge_place(), but skips a request like one that had no room in
 * this decision, and no victims.  Reservations treat lengths differently, so
 * they turn this off. */
static int place(pai__bridge *g, pai_sched *s, uint32_t req)
{
  const pai__refusal how = { .like = { PAI__REFUSAL_CELLS,
                                       pai__alike_key(PAI__ALIKE_RANK,
                                                      pai__req_at(s, req)) },
                             .req = req };
  uint32_t other =
    s->reservations.len == 0 ? pai__refusal_find(s, &how) : PAI__NONE;
  int rc;

  if (other != PAI__NONE && pai__req_at(s, other)->reason != PAI__NONE) {
    if (other != req)
      *pai__sched_reason_make(s, req) = *pai__sched_reason_of(s, other);
    return 0;
  }
  rc = place_one(g, s, req);
  if (rc == 0 && pai__sched_reason_of(s, req)->lack != PAI_LACK_VICTIMS &&
      other == PAI__NONE)
    pai__refusal_keep(s, &how);
  return rc;
}

/* Visits a request whose refusal holds for its line.  One that waits for its
 * victims does not refuse the others. */
static int visit_line(void *state, pai_sched *s, uint32_t req)
{
  int rc = place_one(state, s, req);

  return rc == 0 && pai__sched_reason_of(s, req)->lack == PAI_LACK_VICTIMS
           ? 1
           : rc;
}

static int visit_each(void *state, pai_sched *s, uint32_t req)
{
  int rc;

  do
    rc = place(state, s, req);
  while (rc == 1 && pai__may_begin(s, req));
  return rc;
}

/* Tries requests by priority and then by turn, as pods reach HiveD from
 * Kubernetes, whose priorities should match HiveD's.  Reservations treat
 * requests that are alike differently, so then each is tried. */
static int decide(void *state, void *data, const pai_policy_host *host)
{
  pai__bridge *g = state;
  pai_sched *s = host->sched;
  pai__waiters *w = &g->waiters;
  int rc = pai__bridge_catch_up(g, s);
  bool alike;

  (void)data;
  if (rc == PAI_OK)
    rc = pai__waiters_ready(w, s);
  alike = rc > 0 && s->reservations.len == 0;
  if (rc >= 0)
    rc = pai__waiters_line_up(w, s);
  return rc < 0 ? rc
                : pai__waiters_walk(w, s, alike,
                                    alike ? visit_line : visit_each, g);
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
