/*
 * policy_capacity.c - queues with guaranteed and greatest shares, which lend
 * what they leave idle
 *
 * Each queue is guaranteed a number of GPUs and has at most another.  Whoever
 * keeps within what is guaranteed to its queue, or to one above it, is entitled:
 * it goes first, and may have those stopped that hold more than is guaranteed
 * to theirs.  All else is lent, and may be asked back.
 */
#include "sched/capacity_decide.h"
#include "sched/guarantee.h"

#include <stdio.h>

/* --- what queues have ----------------------------------------------------- */

static uint64_t tally_of(const pai_sched *s, const pai__flat *sums,
                         uint32_t tenant)
{
  const uint64_t *of = pai__shares_of(s, sums, tenant);
  uint64_t n = 0;

  for (uint32_t k = 0; k < s->park->nkinds; k++)
    n += of[k];
  return n;
}

/* Of a part opportunistic runs are counted with all others. */
static bool counts_lazy(const pai_sched *s)
{
  return s->m.lazy && s->park->tenants[0].parted;
}

static void count_leaf(pai__deciding *d, uint32_t leaf)
{
  pai__queue *list = d->c->q.list;
  uint32_t tenant = list[leaf].tenant;
  uint64_t used = tally_of(d->s, &d->s->shares_used, tenant);
  uint64_t lent = tally_of(d->s, &d->s->shares_lent, tenant);
  uint64_t lazy =
    counts_lazy(d->s) ? tally_of(d->s, &d->s->lazily, tenant) : 0;
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
  for (uint32_t i = 1; i <= d->s->park->ntenants; i++)
    count_leaf(d, i);
  return PAI_OK;
}

/* --- who is next ---------------------------------------------------------- */

/* The leaf whose first is next of those below: of each level the queue that is
 * entitled to what it asks for, and then the one that uses least of what it is
 * guaranteed. */
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

static void leave_line(pai__deciding *d, uint32_t leaf, uint32_t next)
{
  *pai__line_of(&d->c->q.list[leaf]) = next;
  if (next == PAI__NONE)
    add_pending(d, leaf, (uint32_t)-1);
}

/* A leaf's head does not wait for its turn any more. */
static void pass(pai__deciding *d, uint32_t leaf)
{
  pai__queue *x = &d->c->q.list[leaf];

  if (d->lines != NULL) {
    leave_line(
      d, leaf,
      pai__waiters_first(d->lines, d->s,
                         pai__waiter_at(d->lines, *pai__line_of(x))->next));
    return;
  }
  x->at++;
  add_pending(d, leaf, (uint32_t)-1);
}

/* Its head could not start, and those behind it do not overtake it, but
 * opportunistic ones. */
static int pass_all(pai__deciding *d, uint32_t leaf)
{
  pai__queue *x = &d->c->q.list[leaf];
  uint32_t req = pai__head_of(d, leaf), at = x->at;
  const pai__why why = { .lack = PAI_LACK_TURN,
                         .behind = pai__req_at(d->s, req)->id,
                         .node = PAI__NONE,
                         .text = PAI__NONE };

  if (d->lines != NULL) {
    leave_line(d, leaf, PAI__NONE);
    return pai__alike_refuse(d->s, req, &why);
  }
  x->at = pai__refuse_behind(d->s, &d->waiting, at, x->end);
  add_pending(d, leaf, at - x->at);
  return PAI_OK;
}

static int list_waiting(pai__deciding *d)
{
  pai__queue *list = d->c->q.list;
  int rc = pai__list_waiting(d->s, &d->waiting);

  for (uint32_t i = 0; i < d->c->q.n; i++)
    list[i].at = list[i].end = list[i].pending = 0;
  for (uint32_t i = 0; i < d->waiting.len; i++) {
    pai__entry *e = pai__entry_at(&d->waiting, i);

    e->group = 1 + pai__req_at(d->s, e->req)->tenant;
    add_pending(d, e->group, 1);
  }
  pai__sort_waiting(&d->waiting);
  for (uint32_t i = d->waiting.len; i-- > 0;) {
    pai__queue *leaf = &list[pai__entry_at(&d->waiting, i)->group];

    leaf->end = leaf->end != 0 ? leaf->end : i + 1;
    leaf->at = i;
  }
  return rc;
}

/* Each leaf has two lines. */
static void find_lines(pai__deciding *d)
{
  const pai__waiters *w = d->lines;
  const uint32_t *heads = w->heads.data;
  pai__queue *list = d->c->q.list;

  for (uint32_t i = 0; i < d->c->q.n; i++) {
    list[i].at = list[i].end = PAI__NONE;
    list[i].pending = 0;
  }
  for (uint32_t i = 0; i < w->heads.len; i++) {
    const pai__req *r = pai__req_at(d->s, pai__waiter_at(w, heads[i])->req);
    uint32_t leaf = 1 + r->tenant;

    *(r->priority < 0 ? &list[leaf].end : &list[leaf].at) = heads[i];
    add_pending(d, leaf, 1);
  }
}

/* In lines, unless each has to be looked at.  PAI_OK or PAI_ENOMEM. */
static int line_up(pai__deciding *d)
{
  pai__waiters *w = &d->c->waiters;
  int rc = d->c->q.greedy ? 0 : pai__waiters_ready(w, d->s);

  if (rc < 0)
    return rc;
  if (rc == 0)
    return list_waiting(d);
  d->lines = w;
  pai__alike_begin(d->s, PAI__ALIKE_TENANT);
  d->s->effort -= d->s->m.nqueued;
  rc = pai__waiters_line_up(w, d->s);
  d->s->effort += w->heads.len;
  if (rc == PAI_OK)
    find_lines(d);
  return rc;
}

/* --- reasons -------------------------------------------------------------- */

/* More than `over` may have, of which it uses some. */
static int refuse_quota(pai__deciding *d, uint32_t req, uint32_t over,
                        uint64_t used)
{
  pai__queue *x = &d->c->q.list[over];
  char text[200];

  if (x->text == PAI__NONE) {
    (void)snprintf(text, sizeof(text), "queue \"%s\" has at most %llu GPUs",
                   x->name, (unsigned long long)x->max);
    if (pai__texts_add(&d->s->names, &d->s->alloc, text, &x->text) < 0)
      return PAI_ENOMEM;
  }
  *pai__why_make(d->s, req) =
    (pai__why){ .lack = PAI_LACK_QUOTA,
                .wanted = pai__gpus_wanted(d->s, req),
                .found = x->max > used ? x->max - used : 0,
                .node = PAI__NONE,
                .text = x->text };
  return 0;
}

static void refuse_victims(pai__deciding *d, uint32_t req)
{
  *pai__why_make(d->s, req) = (pai__why){ .lack = PAI_LACK_VICTIMS,
                                          .found = d->victims.len,
                                          .node = PAI__NONE,
                                          .text = PAI__NONE };
}

/* It is entitled to room, and those that hold it are not to be stopped. */
static int refuse_preemption(pai__deciding *d, uint32_t req)
{
  pai__why *why = pai__why_make(d->s, req);

  if (why->lack < PAI_LACK_GPU || why->lack > PAI_LACK_GANG)
    return 0;
  if (pai__texts_add(&d->s->names, &d->s->alloc,
                     "what holds the room that is guaranteed to its queue may "
                     "not be stopped",
                     &why->text) < 0)
    return PAI_ENOMEM;
  why->of = why->of != 0 ? why->of : why->lack;
  why->lack = PAI_LACK_PREEMPTION;
  return 0;
}

/* --- trying --------------------------------------------------------------- */

/* The lowest queue that would have more than it may, or PAI__NONE; `ever`: also
 * if all else of it was gone.  Who may have all of the cluster lacks room, and
 * no quota. */
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

/* Would it have room if all that may be stopped for it was gone? */
static int is_hopeful(pai__deciding *d, uint32_t leaf, uint32_t req)
{
  pai__ask ask = { .req = req,
                   .strategy = d->c->q.place,
                   .beyond_share = true };
  int rc = pai__capacity_victims(d, leaf, 0, 0);

  return rc < 0
           ? rc
           : pai__fits_without(d->s, &ask, d->victims.data, d->victims.len);
}

/* Room below a queue that has as much as it may: it is asked back from those
 * below it that hold too much. */
static int make_quota(pai__deciding *d, uint32_t leaf, uint32_t req,
                      uint32_t over)
{
  const pai__queue *x = &d->c->q.list[over];
  uint64_t wanted = pai__gpus_wanted(d->s, req);
  uint64_t enough = x->max >= wanted ? x->max - wanted : 0;
  uint64_t by = pai__req_at(d->s, req)->id;
  int rc = d->c->q.reclaim ? is_hopeful(d, leaf, req) : 0;

  if (rc == 1) {
    rc = pai__capacity_victims(d, leaf, over, enough);
    if (rc == PAI_OK && x->staying <= enough) {
      for (uint32_t i = 0; i < d->victims.len && rc == PAI_OK; i++)
        rc = pai__stop(d->s, ((uint32_t *)d->victims.data)[i],
                       PAI_STOP_PREEMPTED, by);
      refuse_victims(d, req);
      return rc;
    }
  }
  return rc < 0 ? rc : refuse_quota(d, req, over, x->used);
}

/* Room in the cluster is asked back. */
static int reclaim(pai__deciding *d, uint32_t leaf, uint32_t req)
{
  pai__ask ask = { .req = req,
                   .strategy = d->c->q.place,
                   .beyond_share = true };
  const pai__queue *list = d->c->q.list;
  bool entitled = is_entitled(d, leaf, req);
  int rc = 0;

  if (d->c->q.reclaim && (entitled || list[leaf].used != list[leaf].own)) {
    rc = pai__capacity_victims(d, leaf, 0, 0);
    if (rc == PAI_OK)
      rc = pai__try_without(d->s, &ask, d->victims.data, d->victims.len);
  }
  return rc == 0 && entitled ? refuse_preemption(d, req) : rc;
}

/* One instance more of a leaf's first.  1: it was started; 0: the reason is
 * kept; or a code. */
static int try_one(pai__deciding *d, uint32_t leaf, uint32_t req)
{
  uint32_t over = find_over(d, leaf, req, false), claims = d->s->claims.len;
  uint64_t orders = d->s->m.orders;
  int rc;

  if (over != PAI__NONE)
    return make_quota(d, leaf, req, over);
  rc = pai__try(d->s, req, d->c->q.place, true);
  /* What its own virtual cluster lacks, only opportunistic ones of it give. */
  if (rc == 0 && (pai__why_of(d->s, req)->lack != PAI_LACK_QUOTA ||
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
      pass(d, leaf);
      continue;
    }
    rc = try_one(d, leaf, req);
    if (rc == 0 && !q->greedy)
      rc = pass_all(d, leaf);
    else if (rc == 0 || (rc == 1 && !pai__may_begin(d->s, req)))
      pass(d, leaf);
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

static int decide(void *state, void *data, const pai_policy_host *host)
{
  pai__deciding d = { .c = state, .s = host->sched };
  int rc = renew(state, host);

  (void)data;
  if (rc < 0)
    return rc;
  pai__flat_init(&d.waiting, sizeof(pai__entry));
  pai__flat_init(&d.runners, sizeof(pai__runner));
  pai__flat_init(&d.victims, sizeof(uint32_t));
  rc = line_up(&d);
  if (rc == PAI_OK)
    rc = count_all(&d);
  if (rc == PAI_OK)
    rc = serve(&d);
  pai__flat_dispose(&d.waiting, &d.s->alloc);
  pai__flat_dispose(&d.runners, &d.s->alloc);
  pai__flat_dispose(&d.victims, &d.s->alloc);
  return rc;
}

/* More than a queue above it may ever have is refused at once. */
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
  never = find_over(&d, 1 + pai__req_at(d.s, req)->tenant, req, true);
  if (never == PAI__NONE)
    return PAI_OK;
  (void)snprintf(text, sizeof(text),
                 "it asks for %llu GPUs, and queue \"%s\" has at most %llu",
                 (unsigned long long)pai__gpus_wanted(d.s, req),
                 d.c->q.list[never].name,
                 (unsigned long long)d.c->q.list[never].max);
  return host->give_up(host, PAI_ENOROOM, text);
}

static int event(void *state, void *data, const pai_policy_host *host,
                 const pai_sched_event *e)
{
  pai__capacity *c = state;

  (void)data;
  if (e->kind == PAI_SCHED_CLUSTER)
    c->stale = true;
  pai__waiters_event(&c->waiters, host->sched, e);
  return PAI_OK;
}

static void close_it(void *state)
{
  pai__capacity *c = state;
  pai_alloc alloc;

  if (c == NULL)
    return;
  alloc = c->alloc;
  if (c->q.list != NULL)
    pai__queues_dispose(&c->q);
  pai__waiters_dispose(&c->waiters, &alloc);
  pai__strfree(&alloc, c->options);
  pai__free(&alloc, c, sizeof(*c));
}

static int open_as(void **state, const pai_policy_host *host,
                   const char *options, bool strict)
{
  pai__capacity *c = pai__zalloc(&host->sched->alloc, sizeof(*c));
  int rc = PAI_ENOMEM;

  if (c == NULL)
    return PAI_ENOMEM;
  c->alloc = host->sched->alloc;
  pai__waiters_init(&c->waiters, PAI__ALIKE_TENANT);
  c->options = pai__strdup(&c->alloc, options);
  if (c->options != NULL)
    rc = pai__queues_make(&c->q, host, options, strict);
  if (rc < 0)
    close_it(c);
  else
    *state = c;
  return rc;
}

/* And the scheduler's terms, which a fork has already. */
static int open_new(void **state, const pai_policy_host *host,
                    const char *options, bool strict)
{
  int rc = open_as(state, host, options, strict);
  const pai__queues *q;

  if (rc < 0)
    return rc;
  q = &((const pai__capacity *)*state)->q;
  pai__policy_reserves(host->sched, q->reserve_after, q->place, false);
  return PAI_OK;
}

static int open_it(void **state, void *data, const pai_policy_host *host,
                   const pai_cluster *cluster, const char *options)
{
  (void)data;
  (void)cluster;
  return open_new(state, host, options, true);
}

/* All of it follows from the options and the cluster. */
static int clone(void **copy, const void *state, void *data,
                 const pai_policy_host *host)
{
  (void)data;
  return open_as(copy, host, ((const pai__capacity *)state)->options, false);
}

static int load(void **state, void *data, const pai_policy_host *host,
                const pai_cluster *cluster, const char *options,
                const char *saved, size_t len)
{
  (void)data;
  (void)cluster;
  (void)saved;
  (void)len;
  return open_new(state, host, options, false);
}

const pai_policy pai__policy_capacity = {
  .struct_size = sizeof(pai_policy),
  .version = PAI_POLICY_VERSION,
  .name = "capacity",
  .about = "queues with guaranteed and greatest shares, which lend what they "
           "leave idle and ask it back",
  .lends = 1,
  .open = open_it,
  .close = close_it,
  .decide = decide,
  .event = event,
  .clone = clone,
  .save = pai__plain_save,
  .load = load,
  .admit = admit,
};
