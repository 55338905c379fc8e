/*
 * policy_capacity.c - queues with guaranteed and greatest shares, which lend
 * what they leave idle
 *
 * Each queue is guaranteed a number of GPUs and has at most another.  Whoever
 * keeps within what is guaranteed to its queue, or to one above it, is entitled:
 * it goes first, and may have those stopped that hold more than is guaranteed
 * to theirs.  All else is lent, and may be asked back.
 */
#include "sched/capacity.h"

#include "sched/walk.h"
#include "resource/bits.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct capacity {
  pai_alloc alloc;
  char *options;
  pai__queues q;
  bool stale; /* the cluster is another one than the queues were made for */
} capacity;

/* One that runs, and might be stopped. */
typedef struct runner {
  uint64_t order, gpus;
  int32_t priority;
  uint32_t leaf, run;
} runner;

typedef struct deciding {
  capacity *c;
  pai_sched *s;
  pai__flat waiting; /* pai__entry, of which group is the leaf */
  pai__flat runners; /* by leaf, who is stopped first first */
  pai__flat victims; /* runs */
} deciding;

/* --- what queues have ----------------------------------------------------- */

static uint64_t tally_of(const pai_sched *s, const pai__flat *sums,
                         uint32_t tenant)
{
  uint32_t nkinds = s->park->nkinds;
  const uint64_t *of = (uint64_t *)sums->data + (size_t)tenant * nkinds;
  uint64_t n = 0;

  for (uint32_t k = 0; k < nkinds; k++)
    n += of[k];
  return n;
}

static void count_leaf(deciding *d, uint32_t leaf)
{
  pai__queue *list = d->c->q.list;
  uint64_t own = tally_of(d->s, &d->s->gpus_used, list[leaf].tenant);
  uint64_t lent = tally_of(d->s, &d->s->gpus_lent, list[leaf].tenant);
  uint64_t more_own = own - list[leaf].own;
  uint64_t more = own + lent - list[leaf].used;

  for (uint32_t i = leaf; i != PAI__NONE; i = list[i].parent) {
    list[i].own += more_own;
    list[i].used += more;
  }
}

static void count_all(deciding *d)
{
  pai__queues *q = &d->c->q;

  for (uint32_t i = 0; i < q->n; i++)
    q->list[i].own = q->list[i].used = 0;
  for (uint32_t i = 1; i <= d->s->park->ntenants; i++)
    count_leaf(d, i);
}

/* Is a used of b a smaller part than c used of d?  What is guaranteed nothing
 * comes last. */
static bool is_less_used(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
  if (b == 0 || d == 0)
    return b == d ? a < c : b != 0;
  return a * d < c * b;
}

/* --- who is next ---------------------------------------------------------- */

static const pai__entry *head_of(const deciding *d, const pai__queue *leaf)
{
  return pai__entry_at(&d->waiting, leaf->at);
}

static bool keeps_to_guaranteed(const deciding *d, const pai__queue *x,
                                uint32_t req)
{
  return pai__req_at(d->s, req)->priority >= 0 &&
         x->own + pai__gpus_wanted(d->s, req) <= x->guaranteed;
}

/* The leaf whose first is next of those below: of each level the queue that is
 * entitled to what it asks for, and then the one that uses least of what it is
 * guaranteed. */
static uint32_t next_leaf(const deciding *d, uint32_t i)
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
    entitled = keeps_to_guaranteed(d, x, head_of(d, &list[leaf])->req);
    if (of_best != NULL &&
        (entitled != best_entitled
           ? best_entitled
           : !is_less_used(x->used, x->guaranteed, of_best->used,
                           of_best->guaranteed)))
      continue;
    best = leaf;
    of_best = x;
    best_entitled = entitled;
  }
  return best;
}

/* So many of a leaf's are not waiting for their turn any more. */
static void pass(deciding *d, uint32_t leaf, uint32_t n)
{
  pai__queue *list = d->c->q.list;

  list[leaf].at += n;
  for (uint32_t i = leaf; i != PAI__NONE; i = list[i].parent)
    list[i].pending -= n;
}

static int list_waiting(deciding *d)
{
  pai__queue *list = d->c->q.list;
  int rc = pai__list_waiting(d->s, &d->waiting);

  for (uint32_t i = 0; i < d->c->q.n; i++)
    list[i].at = list[i].end = list[i].pending = 0;
  for (uint32_t i = 0; i < d->waiting.len; i++) {
    pai__entry *e = pai__entry_at(&d->waiting, i);

    e->group = 1 + pai__req_at(d->s, e->req)->tenant;
    for (uint32_t q = e->group; q != PAI__NONE; q = list[q].parent)
      list[q].pending++;
  }
  pai__sort_waiting(&d->waiting);
  for (uint32_t i = d->waiting.len; i-- > 0;) {
    pai__queue *leaf = &list[pai__entry_at(&d->waiting, i)->group];

    leaf->end = leaf->end != 0 ? leaf->end : i + 1;
    leaf->at = i;
  }
  return rc;
}

/* --- who may be stopped --------------------------------------------------- */

static uint64_t gpus_of_run(const pai_sched *s, const pai__run *run)
{
  const pai__slot *slots = pai__slots_of(s, run);
  uint64_t n = 0;

  for (uint32_t i = 0; i < run->tasks; i++)
    n += pai__bits_ones(slots[i].gpus);
  return n;
}

/* Of a leaf, the least important first, and of these the youngest. */
static int by_leaf(const void *a, const void *b)
{
  const runner *x = a, *y = b;

  if (x->leaf != y->leaf)
    return x->leaf < y->leaf ? -1 : 1;
  if (x->priority != y->priority)
    return x->priority < y->priority ? -1 : 1;
  return x->order > y->order ? -1 : x->order < y->order;
}

static runner *runner_at(const deciding *d, uint32_t i)
{
  return (runner *)d->runners.data + i;
}

/* Those that are asked to stop are not there any more, for what is staying. */
static int list_runners(deciding *d)
{
  pai__queue *list = d->c->q.list;
  const pai_sched *s = d->s;

  d->runners.len = 0;
  for (uint32_t i = 0; i < d->c->q.n; i++) {
    list[i].staying = list[i].used;
    list[i].next_run = list[i].last_run = 0;
  }
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    runner r = { .order = run->order, .run = i };

    if (run->req == PAI__NONE || run->state < PAI__RUN_PLACED)
      continue;
    r.gpus = gpus_of_run(s, run);
    r.leaf = 1 + pai__req_at(s, run->req)->tenant;
    r.priority = run->borrowed ? -1 : pai__req_at(s, run->req)->priority;
    if (run->state == PAI__RUN_STOPPING) {
      for (uint32_t q = r.leaf; q != PAI__NONE; q = list[q].parent)
        list[q].staying -= r.gpus;
      continue;
    }
    if (pai__flat_reserve(&d->runners, &d->s->alloc, 1) < 0)
      return PAI_ENOMEM;
    ((runner *)d->runners.data)[pai__flat_push(&d->runners, 1)] = r;
  }
  if (d->runners.len != 0)
    qsort(d->runners.data, d->runners.len, sizeof(runner), by_leaf);
  for (uint32_t i = d->runners.len; i-- > 0;) {
    pai__queue *leaf = &list[runner_at(d, i)->leaf];

    leaf->last_run = leaf->last_run != 0 ? leaf->last_run : i + 1;
    leaf->next_run = i;
  }
  return PAI_OK;
}

/* The queues of two different leaves that are side by side. */
static void find_sides(const pai__queue *list, uint32_t a, uint32_t b,
                       uint32_t *of_a, uint32_t *of_b)
{
  while (list[a].depth > list[b].depth)
    a = list[a].parent;
  while (list[b].depth > list[a].depth)
    b = list[b].parent;
  while (list[a].parent != list[b].parent) {
    a = list[a].parent;
    b = list[b].parent;
  }
  *of_a = a;
  *of_b = b;
}

static bool is_below(const pai__queue *list, uint32_t i, uint32_t above)
{
  while (i != PAI__NONE && i != above)
    i = list[i].parent;
  return i == above;
}

/* May the next of a leaf's runs be stopped for the first of another one?  Then
 * *side is the queue that holds too much. */
static bool may_stop(const deciding *d, uint32_t leaf, uint32_t victim,
                     uint32_t *side)
{
  const pai__queue *list = d->c->q.list;
  uint32_t req = head_of(d, &list[leaf])->req, mine;
  const runner *r;

  *side = victim;
  if (list[victim].next_run == list[victim].last_run)
    return false;
  r = runner_at(d, list[victim].next_run);
  if (leaf == victim)
    return r->priority < 0 && pai__req_at(d->s, req)->priority >= 0;
  find_sides(list, leaf, victim, &mine, side);
  return keeps_to_guaranteed(d, &list[mine], req) &&
         (r->priority < 0 || list[*side].staying > list[*side].guaranteed);
}

/* Of two queues from which something may be taken, is it rather the first one?
 * What is opportunistic goes first, then who is most over what is guaranteed,
 * in the level where it is asked back, and then in its own. */
static bool is_rather(const deciding *d, uint32_t a, uint32_t side_a,
                      uint32_t b, uint32_t side_b)
{
  const pai__queue *list = d->c->q.list;
  bool lent_a = runner_at(d, list[a].next_run)->priority < 0;
  bool lent_b = runner_at(d, list[b].next_run)->priority < 0;

  if (lent_a != lent_b)
    return lent_a;
  if (side_a != side_b)
    return is_less_used(list[side_b].staying, list[side_b].guaranteed,
                        list[side_a].staying, list[side_a].guaranteed);
  return is_less_used(list[b].staying, list[b].guaranteed, list[a].staying,
                      list[a].guaranteed);
}

/* The leaf below `within` from which the next run is taken, or PAI__NONE. */
static uint32_t next_victim(const deciding *d, uint32_t leaf, uint32_t within)
{
  uint32_t best = PAI__NONE, best_side = PAI__NONE, side;

  for (uint32_t v = 1; v <= d->s->park->ntenants; v++)
    if (is_below(d->c->q.list, v, within) && may_stop(d, leaf, v, &side) &&
        (best == PAI__NONE || is_rather(d, v, side, best, best_side))) {
      best = v;
      best_side = side;
    }
  return best;
}

/* As many as may be stopped, until `enough` GPUs below `within` are free of
 * them, are the victims. */
static int find_victims(deciding *d, uint32_t leaf, uint32_t within,
                        uint64_t enough)
{
  pai__queue *list = d->c->q.list;
  uint32_t v;
  int rc = list_runners(d);

  d->victims.len = 0;
  if (rc == PAI_OK)
    rc = pai__flat_reserve(&d->victims, &d->s->alloc, d->runners.len);
  while (rc == PAI_OK && list[within].staying > enough &&
         (v = next_victim(d, leaf, within)) != PAI__NONE) {
    const runner *r = runner_at(d, list[v].next_run++);

    ((uint32_t *)d->victims.data)[pai__flat_push(&d->victims, 1)] = r->run;
    for (uint32_t q = v; q != PAI__NONE; q = list[q].parent)
      list[q].staying -= r->gpus;
  }
  return rc;
}

/* --- reasons -------------------------------------------------------------- */

/* More than `over` may have, of which it uses some. */
static int refuse_quota(deciding *d, uint32_t req, uint32_t over,
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
  *pai__why_of(d->s, req) =
    (pai__why){ .lack = PAI_LACK_QUOTA,
                .wanted = pai__gpus_wanted(d->s, req),
                .found = x->max > used ? x->max - used : 0,
                .node = PAI__NONE,
                .text = x->text };
  return 0;
}

static void refuse_victims(deciding *d, uint32_t req)
{
  *pai__why_of(d->s, req) = (pai__why){ .lack = PAI_LACK_VICTIMS,
                                        .found = d->victims.len,
                                        .node = PAI__NONE,
                                        .text = PAI__NONE };
}

/* It is entitled to room, and those that hold it are not to be stopped. */
static int refuse_preemption(deciding *d, uint32_t req)
{
  pai__why *why = pai__why_of(d->s, req);

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
static uint32_t find_over(const deciding *d, uint32_t leaf, uint32_t req,
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

static bool is_entitled(const deciding *d, uint32_t leaf, uint32_t req)
{
  const pai__queue *list = d->c->q.list;

  for (uint32_t i = leaf; i != 0; i = list[i].parent)
    if (keeps_to_guaranteed(d, &list[i], req))
      return true;
  return false;
}

/* Would it have room if all that may be stopped for it was gone? */
static int is_hopeful(deciding *d, uint32_t leaf, uint32_t req)
{
  pai__ask ask = { .req = req,
                   .strategy = d->c->q.place,
                   .beyond_share = true };
  int rc = find_victims(d, leaf, 0, 0);

  return rc < 0
           ? rc
           : pai__fits_without(d->s, &ask, d->victims.data, d->victims.len);
}

/* Room below a queue that has as much as it may: it is asked back from those
 * below it that hold too much. */
static int make_quota(deciding *d, uint32_t leaf, uint32_t req, uint32_t over)
{
  const pai__queue *x = &d->c->q.list[over];
  uint64_t wanted = pai__gpus_wanted(d->s, req);
  uint64_t enough = x->max >= wanted ? x->max - wanted : 0;
  uint64_t by = pai__req_at(d->s, req)->id;
  int rc = d->c->q.reclaim ? is_hopeful(d, leaf, req) : 0;

  if (rc == 1) {
    rc = find_victims(d, leaf, over, enough);
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
static int reclaim(deciding *d, uint32_t leaf, uint32_t req)
{
  pai__ask ask = { .req = req,
                   .strategy = d->c->q.place,
                   .beyond_share = true };
  const pai__queue *list = d->c->q.list;
  bool entitled = is_entitled(d, leaf, req);
  int rc = 0;

  if (d->c->q.reclaim && (entitled || list[leaf].used != list[leaf].own)) {
    rc = find_victims(d, leaf, 0, 0);
    if (rc == PAI_OK)
      rc = pai__try_without(d->s, &ask, d->victims.data, d->victims.len);
  }
  return rc == 0 && entitled ? refuse_preemption(d, req) : rc;
}

/* One instance more of a leaf's first.  1: it was started; 0: the reason is
 * kept; or a code. */
static int try_one(deciding *d, uint32_t leaf, uint32_t req)
{
  uint32_t over = find_over(d, leaf, req, false);
  int rc;

  if (over != PAI__NONE)
    return make_quota(d, leaf, req, over);
  rc = pai__try(d->s, req, d->c->q.place, true);
  if (rc == 0)
    rc = reclaim(d, leaf, req);
  count_all(d);
  return rc;
}

static int serve(deciding *d)
{
  pai__queues *q = &d->c->q;
  int rc = PAI_OK;

  while (rc >= 0 && q->list[0].pending != 0) {
    uint32_t leaf = next_leaf(d, 0);
    uint32_t req = head_of(d, &q->list[leaf])->req;
    uint32_t never = find_over(d, leaf, req, true);

    if (never != PAI__NONE) {
      rc = refuse_quota(d, req, never, 0);
      pass(d, leaf, 1);
      continue;
    }
    rc = try_one(d, leaf, req);
    if (rc == 0 && !q->greedy)
      pass(d, leaf,
           pai__refuse_behind(d->s, &d->waiting, q->list[leaf].at,
                              q->list[leaf].end) -
             q->list[leaf].at);
    else if (rc == 0 || (rc == 1 && !pai__may_begin(d->s, req)))
      pass(d, leaf, 1);
  }
  return rc < 0 ? rc : PAI_OK;
}

/* --- the policy ----------------------------------------------------------- */

static int renew(capacity *c, const pai_policy_host *host)
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
  deciding d = { .c = state, .s = host->sched };
  int rc = renew(state, host);

  (void)data;
  if (rc < 0)
    return rc;
  pai__flat_init(&d.waiting, sizeof(pai__entry));
  pai__flat_init(&d.runners, sizeof(runner));
  pai__flat_init(&d.victims, sizeof(uint32_t));
  rc = list_waiting(&d);
  if (rc == PAI_OK) {
    count_all(&d);
    rc = serve(&d);
  }
  pai__flat_dispose(&d.waiting, &d.s->alloc);
  pai__flat_dispose(&d.runners, &d.s->alloc);
  pai__flat_dispose(&d.victims, &d.s->alloc);
  return rc;
}

static int event(void *state, void *data, const pai_policy_host *host,
                 const pai_sched_event *e)
{
  capacity *c = state;

  (void)data;
  (void)host;
  if (e->kind == PAI_SCHED_CLUSTER)
    c->stale = true;
  return PAI_OK;
}

static void close_it(void *state)
{
  capacity *c = state;
  pai_alloc alloc;

  if (c == NULL)
    return;
  alloc = c->alloc;
  if (c->q.list != NULL)
    pai__queues_dispose(&c->q);
  pai__strfree(&alloc, c->options);
  pai__free(&alloc, c, sizeof(*c));
}

static int open_as(void **state, const pai_policy_host *host,
                   const char *options, bool strict)
{
  capacity *c = pai__zalloc(&host->sched->alloc, sizeof(*c));
  int rc = PAI_ENOMEM;

  if (c == NULL)
    return PAI_ENOMEM;
  c->alloc = host->sched->alloc;
  c->options = pai__strdup(&c->alloc, options);
  if (c->options != NULL)
    rc = pai__queues_make(&c->q, host, options, strict);
  if (rc < 0)
    close_it(c);
  else
    *state = c;
  return rc;
}

static int open_it(void **state, void *data, const pai_policy_host *host,
                   const pai_cluster *cluster, const char *options)
{
  (void)data;
  (void)cluster;
  return open_as(state, host, options, true);
}

/* All of it follows from the options and the cluster. */
static int clone(void **copy, const void *state, void *data,
                 const pai_policy_host *host)
{
  (void)data;
  return open_as(copy, host, ((const capacity *)state)->options, false);
}

static int load(void **state, void *data, const pai_policy_host *host,
                const pai_cluster *cluster, const char *options,
                const char *saved, size_t len)
{
  (void)data;
  (void)cluster;
  (void)saved;
  (void)len;
  return open_as(state, host, options, false);
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
};
