/*
 * policy_capacity.c - capacity policy: queues with guaranteed and maximum
 * shares, which lend what they leave idle
 *
 * A queue has a guaranteed number of GPUs and a maximum.  A request is
 * entitled if it keeps its queue, or one above it, within the guaranteed
 * number: it goes first, and runs of queues that hold more than is guaranteed
 * to them may be stopped for it.  All else is lent, and may be reclaimed.
 */
#include "sched/policy/capacity.h"
#include "sched/policy/guarantee.h"

#include <stdio.h>

/* --- what queues hold ----------------------------------------------------- */

static uint64_t tally_of(const pai_sched *s, const pai__flat *sums,
                         uint32_t vc_index)
{
  const uint64_t *of = pai__shares_of(s, sums, vc_index);
  uint64_t n = 0;

  for (uint32_t k = 0; k < s->cluster->nkinds; k++)
    n += of[k];
  return n;
}

/* True if opportunistic runs are counted in the shares: so it is with
 * parts. */
static bool counts_lazy(const pai_sched *s)
{
  return s->m.lazy && s->cluster->vcs[0].parted;
}

static void count_leaf(pai__deciding *d, uint32_t leaf)
{
  pai__queue *list = d->c->q.list;
  uint32_t vc_index = list[leaf].vc_index;
  uint64_t used = tally_of(d->s, &d->s->shares_used, vc_index);
  uint64_t lent = tally_of(d->s, &d->s->shares_lent, vc_index);
  uint64_t lazy =
    counts_lazy(d->s) ? tally_of(d->s, &d->s->lazily, vc_index) : 0;
  uint64_t more_own = used - lazy - list[leaf].own;
  uint64_t more = used + lent - list[leaf].used;

  for (uint32_t i = leaf; i != PAI__NONE; i = list[i].parent) {
    list[i].own += more_own;
    list[i].used += more;
  }
}

static int count_all(pai__deciding *d)
{
  pai__queues *q = &d->c->q;

  if (counts_lazy(d->s) && pai__count_lazy(d->s) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < q->n; i++)
    q->list[i].own = q->list[i].used = 0;
  for (uint32_t i = 1; i <= d->s->cluster->nvcs; i++)
    count_leaf(d, i);
  return PAI_OK;
}

/* --- which request is next ------------------------------------------------ */

/* Returns the leaf whose first request is next.  On each level, a queue that
 * is entitled to what it asks for goes first, then the queue that uses the
 * smallest fraction of what is guaranteed to it. */
static uint32_t next_leaf(const pai__deciding *d, uint32_t i)
{
  const pai__queue *list = d->c->q.list;
  uint32_t best = PAI__NONE;
  const pai__queue *of_best = NULL;
  bool best_entitled = false;

  if (list[i].child == PAI__NONE)
    return i;
  for (uint32_t c = list[i].child; c != PAI__NONE; c = list[c].sibling) {
    const pai__queue *x = &list[c];
    uint32_t leaf;
    bool entitled;

    if (x->pending == 0)
      continue;
    leaf = next_leaf(d, c);
    entitled = pai__keeps_to_guaranteed(d, x, pai__head_of(d, leaf));
    if (of_best != NULL &&
        (entitled != best_entitled
           ? best_entitled
           : !pai__is_less_used(x->used, x->guaranteed, of_best->used,
                                of_best->guaranteed)))
      continue;
    best = leaf;
    of_best = x;
    best_entitled = entitled;
  }
  return best;
}

static void add_pending(pai__deciding *d, uint32_t leaf, uint32_t n)
{
  pai__queue *list = d->c->q.list;

  for (uint32_t i = leaf; i != PAI__NONE; i = list[i].parent)
    list[i].pending += n;
}

/* Updates `pending` after the lines of a leaf have changed from `before`. */
static void recount(pai__deciding *d, uint32_t leaf, uint32_t before)
{
  add_pending(d, leaf, pai__pending_count(&d->c->q.list[leaf].waits) - before);
}

static int pass(pai__deciding *d, uint32_t leaf, bool all)
{
  pai__pending *p = &d->c->q.list[leaf].waits;
  uint32_t before = pai__pending_count(p);
  int rc = PAI_OK;

  if (all)
    rc = pai__backlog_pass_all(&d->waits, p);
  else
    pai__backlog_pass(&d->waits, p);
  recount(d, leaf, before);
  return rc;
}

static uint32_t leaf_of(void *ctx, const pai__req *r)
{
  (void)ctx;
  return 1 + r->vc_index;
}

static pai__pending *pending_of(void *ctx, uint32_t leaf)
{
  return &((pai__deciding *)ctx)->c->q.list[leaf].waits;
}

static int line_up(pai__deciding *d)
{
  pai__queues *q = &d->c->q;
  int rc =
    pai__backlog_begin(&d->waits, d->s, &d->c->plain.waiters, d->c->greedy);

  for (uint32_t i = 0; i < q->n; i++) {
    q->list[i].waits = PAI__NOTHING_PENDING;
    q->list[i].pending = 0;
  }
  if (rc == PAI_OK)
    rc = pai__backlog_fill(&d->waits, d, leaf_of, pending_of);
  for (uint32_t i = 0; i < q->n && rc == PAI_OK; i++)
    if (q->list[i].vc_index != PAI__NONE)
      recount(d, i, 0);
  return rc;
}

/* --- reasons -------------------------------------------------------------- */

/* Sets the reason: queue `over` would exceed its maximum. */
static int refuse_quota(pai__deciding *d, uint32_t req, uint32_t over,
                        uint64_t used)
{
  pai__queue *x = &d->c->q.list[over];
  char text[200];
  pai__sched_reason *reason;

  if (x->text == PAI__NONE) {
    (void)snprintf(text, sizeof(text), "queue \"%s\" has at most %llu GPUs",
                   x->name, (unsigned long long)x->max);
    if (pai__texts_add(&d->s->names, &d->s->alloc, text, &x->text) < 0)
      return PAI_ENOMEM;
  }
  reason = pai__sched_reason_say(d->s, req, PAI_LACK_QUOTA);
  reason->wanted = pai__gpus_wanted(d->s, req);
  reason->found = x->max > used ? x->max - used : 0;
  reason->text = x->text;
  return 0;
}

/* Sets the reason: the request is entitled to room held by runs that may not
 * be stopped. */
static int refuse_preemption(pai__deciding *d, uint32_t req)
{
  pai__sched_reason *reason = pai__sched_reason_make(d->s, req);

  if (reason->lack < PAI_LACK_GPU || reason->lack > PAI_LACK_GANG)
    return 0;
  if (pai__texts_add(&d->s->names, &d->s->alloc,
                     "what holds the room that is guaranteed to its queue may "
                     "not be stopped",
                     &reason->text) < 0)
    return PAI_ENOMEM;
  reason->of = reason->of != 0 ? reason->of : reason->lack;
  reason->lack = PAI_LACK_PREEMPTION;
  return 0;
}

/* --- trying --------------------------------------------------------------- */

/* Returns the lowest queue that would exceed its maximum, or PAI__NONE.  With
 * `ever`, even if all else in it was gone.  Queues that may use the whole
 * cluster are not counted: their requests lack room, not quota. */
static uint32_t find_over(const pai__deciding *d, uint32_t leaf, uint32_t req,
                          bool ever)
{
  const pai__queue *list = d->c->q.list;
  uint64_t wanted = pai__gpus_wanted(d->s, req);
  uint32_t i = leaf;

  while (i != PAI__NONE &&
         (list[i].max >= list[0].max ||
          (ever ? wanted : list[i].used + wanted) <= list[i].max))
    i = list[i].parent;
  return wanted != 0 ? i : PAI__NONE;
}

static bool is_entitled(const pai__deciding *d, uint32_t leaf, uint32_t req)
{
  const pai__queue *list = d->c->q.list;

  for (uint32_t i = leaf; i != 0; i = list[i].parent)
    if (pai__keeps_to_guaranteed(d, &list[i], req))
      return true;
  return false;
}

/* Returns 1 if the request would have room without all runs that may be
 * stopped for it; 0 or a code. */
static int is_hopeful(pai__deciding *d, uint32_t leaf, uint32_t req)
{
  pai__ask ask = { .req = req,
                   .strategy = d->c->plain.place,
                   .beyond_share = true };
  int rc = pai__capacity_victims(d, leaf, 0, 0);

  return rc < 0
           ? rc
           : pai__fits_without(d->s, &ask, d->victims.data, d->victims.len);
}

/* Makes room in a queue at its maximum: stops runs of queues below it that
 * hold too much. */
static int make_quota(pai__deciding *d, uint32_t leaf, uint32_t req,
                      uint32_t over)
{
  const pai__queue *x = &d->c->q.list[over];
  uint64_t wanted = pai__gpus_wanted(d->s, req);
  uint64_t enough = x->max >= wanted ? x->max - wanted : 0;
  uint64_t by = pai__req_at(d->s, req)->id;
  int rc = d->c->asks_back ? is_hopeful(d, leaf, req) : 0;

  if (rc == 1) {
    rc = pai__capacity_victims(d, leaf, over, enough);
    if (rc == PAI_OK && x->staying <= enough) {
      for (uint32_t i = 0; i < d->victims.len && rc == PAI_OK; i++)
        rc = pai__stop(d->s, ((uint32_t *)d->victims.data)[i],
                       PAI_STOP_PREEMPTED, by);
      pai__sched_reason_say(d->s, req, PAI_LACK_VICTIMS)->found =
        d->victims.len;
      return rc;
    }
  }
  return rc < 0 ? rc : refuse_quota(d, req, over, x->used);
}

static int reclaim(pai__deciding *d, uint32_t leaf, uint32_t req)
{
  pai__ask ask = { .req = req,
                   .strategy = d->c->plain.place,
                   .beyond_share = true };
  const pai__queue *list = d->c->q.list;
  bool entitled = is_entitled(d, leaf, req);
  int rc = 0;

  if (d->c->asks_back && (entitled || list[leaf].used != list[leaf].own)) {
    rc = pai__capacity_victims(d, leaf, 0, 0);
    if (rc == PAI_OK)
      rc = pai__try_without(d->s, &ask, d->victims.data, d->victims.len);
  }
  return rc == 0 && entitled ? refuse_preemption(d, req) : rc;
}

/* Tries to start one instance of a leaf's first request.  Returns 1 if it
 * started; 0 with the reason set; or a code. */
static int try_one(pai__deciding *d, uint32_t leaf, uint32_t req)
{
  uint32_t over = find_over(d, leaf, req, false), claims = d->s->claims.len;
  uint64_t orders = d->s->m.orders;
  int rc;

  if (over != PAI__NONE)
    return make_quota(d, leaf, req, over);
  rc = pai__try(d->s, req, d->c->plain.place, true);
  /* For a lack of quota in the virtual cluster, only its own opportunistic
   * runs can help. */
  if (rc == 0 && (pai__sched_reason_of(d->s, req)->lack != PAI_LACK_QUOTA ||
                  (d->s->m.lazy && pai__req_at(d->s, req)->priority >= 0)))
    rc = reclaim(d, leaf, req);
  if ((d->s->m.orders != orders || d->s->claims.len != claims) &&
      count_all(d) < 0)
    return PAI_ENOMEM;
  return rc;
}

static int serve(pai__deciding *d)
{
  pai__queues *q = &d->c->q;
  int rc = PAI_OK;

  while (rc >= 0 && q->list[0].pending != 0) {
    uint32_t leaf = next_leaf(d, 0), req = pai__head_of(d, leaf);
    uint32_t never = find_over(d, leaf, req, true);

    if (never != PAI__NONE) {
      rc = refuse_quota(d, req, never, 0);
      (void)pass(d, leaf, false);
      continue;
    }
    rc = try_one(d, leaf, req);
    if (rc == 0 && !d->c->greedy)
      rc = pass(d, leaf, true);
    else if (rc == 0 || (rc == 1 && !pai__may_begin(d->s, req)))
      (void)pass(d, leaf, false);
  }
  return rc < 0 ? rc : PAI_OK;
}

/* --- the policy ----------------------------------------------------------- */

static int renew(pai__capacity *c, const pai_policy_host *host)
{
  pai__queues q;
  int rc;

  if (!c->stale)
    return PAI_OK;
  rc = pai__queues_make(&q, host, c->options, false);
  if (rc < 0)
    return rc;
  pai__queues_dispose(&c->q);
  c->q = q;
  c->stale = false;
  return PAI_OK;
}

static int decide(void *state, pai_sched *s)
{
  pai__deciding d = { .c = state, .s = s };
  int rc = renew(state, &s->host);

  if (rc < 0)
    return rc;
  pai__flat_init(&d.runners, sizeof(pai__runner));
  pai__flat_init(&d.victims, sizeof(uint32_t));
  rc = line_up(&d);
  if (rc == PAI_OK)
    rc = count_all(&d);
  if (rc == PAI_OK)
    rc = serve(&d);
  pai__flat_dispose(&d.runners, &d.s->alloc);
  pai__flat_dispose(&d.victims, &d.s->alloc);
  return rc;
}

/* Refuses a request that exceeds the maximum of a queue by itself. */
static int admit(void *state, void *data, const pai_policy_host *host,
                 uint64_t id)
{
  pai__deciding d = { .c = state, .s = host->sched };
  uint32_t req = pai__req_find(d.s, id), never;
  int rc = renew(state, host);
  char text[200];

  (void)data;
  if (rc < 0)
    return rc;
  never = find_over(&d, 1 + pai__req_at(d.s, req)->vc_index, req, true);
  if (never == PAI__NONE)
    return PAI_OK;
  (void)snprintf(text, sizeof(text),
                 "it asks for %llu GPUs, and queue \"%s\" has at most %llu",
                 (unsigned long long)pai__gpus_wanted(d.s, req),
                 d.c->q.list[never].name,
                 (unsigned long long)d.c->q.list[never].max);
  return host->give_up(host, PAI_ENOROOM, text);
}

static int event(void *state, pai_sched *s, const pai_sched_event *e)
{
  pai__capacity *c = state;

  (void)s;
  c->stale = c->stale || e->kind == PAI_SCHED_CLUSTER;
  return PAI_OK;
}

static int begin(void *state, const pai_policy_host *host, const char *options,
                 bool loaded)
{
  pai__capacity *c = state;

  c->options = pai__strdup(&c->plain.alloc, options);
  return c->options != NULL
           ? pai__queues_make(&c->q, host, c->options, !loaded)
           : PAI_ENOMEM;
}

/* The queues follow from the options and the cluster. */
static int copy(void *state, const void *from, const pai_policy_host *host)
{
  pai__capacity *c = state;

  c->q = (pai__queues){ .n = 0 };
  c->stale = false;
  return begin(c, host, ((const pai__capacity *)from)->options, true);
}

static void end(void *state)
{
  pai__capacity *c = state;

  if (c->q.list != NULL)
    pai__queues_dispose(&c->q);
  pai__strfree(&c->plain.alloc, c->options);
}

static const pai__capacity defaults = {
  .plain = { .place = PAI_PLACE_TOPO, .reserve_after = PAI__RESERVE_AFTER },
  .asks_back = true
};

static const pai__field options_of_it[] = {
  PAI__NODE(pai__capacity, queues, "queues"),
  PAI__FLAG(pai__capacity, asks_back, "reclaim"),
  PAI__FLAG_OPTION(pai__capacity, greedy),
  PAI__PLAIN_PLACE,
};

static const pai__plain_type type = { .defaults = &defaults,
                                      .size = sizeof(defaults),
                                      .options = options_of_it,
                                      .noptions = PAI__LEN(options_of_it),
                                      .alike = PAI__ALIKE_VC,
                                      .begin = begin,
                                      .copy = copy,
                                      .end = end,
                                      .decide = decide,
                                      .event = event };

const pai_policy pai__policy_capacity = {
  PAI__PLAIN_POLICY,
  .event = pai__plain_event,
  .name = "capacity",
  .about = "queues with guaranteed and greatest shares, which lend what they "
           "leave idle and ask it back",
  .data = (void *)&type,
  .lends = 1,
  .admit = admit,
};
