/*
 * policy_fifo.c - FIFO policy: first come, first served in each virtual
 * cluster
 *
 * No request overtakes an older one of the same virtual cluster.  With
 * `greedy`, any request that has room starts.
 */
#include "sched/policy/waiters.h"

typedef struct fifo {
  pai__plain plain;
  bool greedy;
} fifo;

/* True for an opportunistic request where virtual clusters own something:
 * guaranteed requests do not wait for it. */
static bool is_lazy(const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);

  return r->priority < 0 && pai__sched_vc_at(s, r->vc_index)->nshares != 0;
}

static int decide(void *state, pai_sched *s)
{
  const fifo *f = state;
  pai__how how = { .strategy = f->plain.place };
  uint32_t vcs = pai__queue_vcs(s), next;
  int rc = PAI_OK;

  for (uint32_t req = pai__next_waiting(s, PAI__NONE);
       rc >= 0 && req != PAI__NONE && vcs > 0; req = next) {
    next = pai__next_waiting(s, req);
    if (pai__is_refused(s, req))
      continue;
    rc = pai__start_all(s, req, &how);
    if (rc == 0 && !f->greedy) {
      rc = pai__refuse_rest(s, req, is_lazy(s, req));
      vcs -= !is_lazy(s, req);
    }
  }
  return rc < 0 ? rc : PAI_OK;
}

static const fifo defaults = { .plain = { PAI__PLAIN_DEFAULTS } };

static const pai__field options[] = {
  PAI__FLAG_OPTION(fifo, greedy),
  PAI__PLAIN_OPTIONS,
};

static const pai__plain_type type = { .defaults = &defaults,
                                      .size = sizeof(defaults),
                                      .options = options,
                                      .noptions = PAI__LEN(options),
                                      .decide = decide };

const pai_policy pai__policy_fifo = {
  PAI__PLAIN_POLICY,
  .name = "fifo",
  .about = "first come, first served, in each virtual cluster",
  .data = (void *)&type,
};
