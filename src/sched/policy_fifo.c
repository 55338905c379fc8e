/*
 * policy_fifo.c - first come, first served, in each virtual cluster
 *
 * Strictly, nobody overtakes an older request of the same virtual cluster.
 * Greedily, whoever fits goes.
 */
#include "sched/walk.h"

typedef struct fifo {
  pai__plain plain;
  int place;
  bool greedy, reclaim;
  int64_t reserve_after;
} fifo;

static const fifo defaults = { .place = PAI_PLACE_TOPO,
                               .reclaim = true,
                               .reserve_after = PAI__RESERVE_AFTER };

static const pai__option options[] = {
  { .key = "greedy",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(fifo, greedy) },
  { .key = "reclaim",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(fifo, reclaim) },
  { .key = "place",
    .kind = PAI__OPTION_PLACE,
    .offset = offsetof(fifo, place) },
  PAI__RESERVE_OPTION(fifo),
};

static const pai__plain_type type = { &defaults, sizeof(defaults), options,
                                      PAI__LEN(options) };

/* Where virtual clusters own something, who is guaranteed it does not wait for
 * those who have what others leave. */
static bool is_lazy(const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);

  return r->priority < 0 && pai__tenant_at(s, r->tenant)->nshares != 0;
}

static int decide(void *state, void *data, const pai_policy_host *host)
{
  const fifo *f = state;
  pai_sched *s = host->sched;
  pai__how how = { .strategy = f->place };
  uint32_t tenants = pai__queue_tenants(s), next;
  int rc = PAI_OK;

  (void)data;
  for (uint32_t req = pai__next_waiting(s, PAI__NONE);
       rc >= 0 && req != PAI__NONE && tenants > 0; req = next) {
    next = pai__next_waiting(s, req);
    if (pai__is_refused(s, req))
      continue;
    rc = pai__start_all(s, req, &how);
    if (rc == 0 && !f->greedy) {
      rc = pai__refuse_rest(s, req, is_lazy(s, req));
      tenants -= !is_lazy(s, req);
    }
  }
  return rc < 0 ? rc : PAI_OK;
}

static int open_it(void **state, void *data, const pai_policy_host *host,
                   const pai_cluster *cluster, const char *text)
{
  int rc = pai__plain_open(state, data, host, cluster, text);

  const fifo *f = *state;

  if (rc < 0)
    return rc;
  pai__policy_reclaims(host->sched, f->reclaim, f->place);
  pai__policy_reserves(host->sched, f->reserve_after, f->place, false);
  return PAI_OK;
}

static int load_it(void **state, void *data, const pai_policy_host *host,
                   const pai_cluster *cluster, const char *text,
                   const char *saved, size_t len)
{
  (void)saved;
  (void)len;
  return open_it(state, data, host, cluster, text);
}

const pai_policy pai__policy_fifo = {
  .struct_size = sizeof(pai_policy),
  .version = PAI_POLICY_VERSION,
  .name = "fifo",
  .about = "first come, first served, in each virtual cluster",
  .data = (void *)&type,
  .open = open_it,
  .close = pai__plain_close,
  .decide = decide,
  .clone = pai__plain_clone,
  .save = pai__plain_save,
  .load = load_it,
};
