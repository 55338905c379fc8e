/*
 * policy_backfill.c - what waits is planned ahead, and who does not delay it
 * may start before it
 *
 * All is planned anew each time, in the same order: who is important first,
 * then who came first.  What a plan has promised is kept as long as what runs
 * ends when it was expected to: nothing that comes later in the order takes
 * what is promised, and who finds the same time again gets the same place.
 */
#include "sched/easy.h"
#include "sched/guarantee.h"
#include "sched/walk.h"

#define SECOND INT64_C(1000000) /* of pai_time */

enum { EASY, CONSERVATIVE };

/* So many instances of one request are promised a place at a time. */
enum { INSTANCES = 1024 };

enum {
  PLANNED = 8
}; /* a plan is so much more work than a look at what is free */

typedef struct backfill {
  pai_alloc alloc;
  /* Options. */
  int mode, place;
  bool reclaim;
  int64_t depth;  /* how many of a virtual cluster are planned; 0: all */
  int64_t assume; /* seconds that what does not say it takes; 0: for ever */

  pai__promises old, new;
  pai__easy easy;
  /* For the time of one decision. */
  pai__plan plan;
  pai__flat queue;    /* of pai__entry */
  pai__flat first_of; /* of old promises */
  pai__flat promised; /* requests of each tenant */
  pai__lookup roomy;  /* shapes that would fit now */
  uint32_t npromised; /* requests in all */
  uint64_t head;      /* the first of them */
} backfill;

static const char *const modes[] = { "easy", "conservative", NULL };

static const pai__option options[] = {
  { .key = "mode",
    .kind = PAI__OPTION_CHOICE,
    .offset = offsetof(backfill, mode),
    .choices = modes },
  { .key = "depth",
    .kind = PAI__OPTION_NUMBER,
    .offset = offsetof(backfill, depth),
    .low = 0,
    .high = UINT32_MAX },
  { .key = "assume",
    .kind = PAI__OPTION_NUMBER,
    .offset = offsetof(backfill, assume),
    .low = 0,
    .high = INT64_C(1) << 32 },
  { .key = "reclaim",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(backfill, reclaim) },
  { .key = "place",
    .kind = PAI__OPTION_PLACE,
    .offset = offsetof(backfill, place) },
};

static const pai__plain_type type = { .options = options,
                                      .noptions = PAI__LEN(options) };

/* --- the state ------------------------------------------------------------ */

static backfill *new_state(const pai_sched *s)
{
  backfill *b = pai__zalloc(&s->alloc, sizeof(*b));

  if (b == NULL)
    return NULL;
  b->alloc = s->alloc;
  b->mode = EASY;
  b->place = PAI_PLACE_TOPO;
  b->reclaim = true;
  pai__plan_init(&b->plan, &s->alloc);
  pai__easy_init(&b->easy);
  pai__promises_init(&b->old);
  pai__promises_init(&b->new);
  pai__flat_init(&b->queue, sizeof(pai__entry));
  pai__flat_init(&b->first_of, sizeof(uint32_t));
  pai__flat_init(&b->promised, sizeof(uint32_t));
  pai__lookup_init(&b->roomy);
  return b;
}

static void close_state(void *state)
{
  backfill *b = state;
  pai_alloc alloc;

  if (b == NULL)
    return;
  alloc = b->alloc;
  pai__plan_dispose(&b->plan);
  pai__easy_dispose(&b->easy, &alloc);
  pai__promises_dispose(&b->old, &alloc);
  pai__promises_dispose(&b->new, &alloc);
  pai__flat_dispose(&b->queue, &alloc);
  pai__flat_dispose(&b->first_of, &alloc);
  pai__flat_dispose(&b->promised, &alloc);
  pai__flat_dispose(&b->roomy.slots, &alloc);
  pai__free(&alloc, b, sizeof(*b));
}

static int open_state(void **state, void *data, const pai_policy_host *host,
                      const pai_cluster *cluster, const char *text)
{
  backfill *b = new_state(host->sched);
  pai__tree *tree;
  int rc;

  (void)data;
  (void)cluster;
  if (b == NULL)
    return PAI_ENOMEM;
  rc = pai__options_read(host, text, &type, b, &tree);
  if (rc < 0) {
    close_state(b);
    return rc;
  }
  pai__tree_free(tree);
  pai__policy_reclaims(host->sched, b->reclaim, b->place);
  *state = b;
  return PAI_OK;
}

static int clone_state(void **copy, const void *state, void *data,
                       const pai_policy_host *host)
{
  const backfill *from = state;
  backfill *b = new_state(host->sched);

  (void)data;
  if (b == NULL)
    return PAI_ENOMEM;
  b->mode = from->mode;
  b->place = from->place;
  b->reclaim = from->reclaim;
  b->depth = from->depth;
  b->assume = from->assume;
  if (pai__promises_copy(&b->old, &from->old, &b->alloc) < 0) {
    close_state(b);
    return PAI_ENOMEM;
  }
  *copy = b;
  return PAI_OK;
}

static int save_state(const void *state, void *data, pai_write_cb write,
                      void *user_data)
{
  const backfill *b = state;

  (void)data;
  return pai__promises_write(&b->old, &b->alloc, write, user_data);
}

static int load_state(void **state, void *data, const pai_policy_host *host,
                      const pai_cluster *cluster, const char *text,
                      const char *saved, size_t len)
{
  int rc = open_state(state, data, host, cluster, text);

  if (rc < 0)
    return rc;
  rc = pai__promises_read(&((backfill *)*state)->old, host->sched, saved, len);
  if (rc == PAI_OK)
    return PAI_OK;
  close_state(*state);
  *state = NULL;
  return rc == PAI_ENOMEM
           ? rc
           : host->give_up(host, PAI_EINVAL,
                           "what backfill has planned cannot be read");
}

/* In another cluster nodes have other numbers. */
static int on_event(void *state, void *data, const pai_policy_host *host,
                    const pai_sched_event *event)
{
  backfill *b = state;

  (void)data;
  if (event->kind == PAI_SCHED_CLUSTER)
    pai__promises_clear(&b->old);
  pai__easy_event(&b->easy, host->sched, &b->old, event);
  return PAI_OK;
}

/* --- reasons -------------------------------------------------------------- */

/* It waits though there is room, or for room: until when, if that is known. */
static int tell(backfill *b, pai_sched *s, uint32_t req, pai_time until)
{
  uint64_t shape = pai__req_at(s, req)->shape;
  pai__why *why = pai__why_make(s, req);
  bool roomy = pai__lookup_get(&b->roomy, shape) != PAI__NONE;
  int rc = roomy ? 1 : pai__has_room(s, req, b->place, false);

  if (rc < 0)
    return rc;
  if (rc == 1) {
    *why = (pai__why){ .lack = PAI_LACK_LATER,
                       .behind = b->npromised == 1 ? b->head : 0,
                       .node = PAI__NONE,
                       .text = PAI__NONE };
    if (why->behind == pai__req_at(s, req)->id)
      why->behind = 0;
    /* Reservations tell requests of a shape apart. */
    if (!roomy && s->kept.len == 0 &&
        pai__lookup_reserve(&b->roomy, &b->alloc) == PAI_OK)
      pai__lookup_add(&b->roomy, shape, 1);
  }
  why->until = until != PAI__NEVER ? until : 0;
  return PAI_OK;
}

/* --- deciding ------------------------------------------------------------- */

static uint32_t *promised_to(const backfill *b, uint32_t tenant)
{
  return (uint32_t *)b->promised.data + tenant;
}

static bool may_promise(const backfill *b, uint32_t tenant)
{
  uint32_t n = *promised_to(b, tenant);

  return b->mode == EASY ? n == 0 : b->depth == 0 || n < (uint64_t)b->depth;
}

/* May another instance begin, besides those that are planned? */
static bool has_more(const pai_sched *s, const pai__req *r, uint32_t planned)
{
  return pai__req_waiting(r) > planned &&
         pai__req_lack(s, r) == PAI_LACK_NOTHING &&
         (r->at_once == 0 || r->active + planned < r->at_once);
}

/* Where it was promised to be, if nothing is sooner. */
static int find(backfill *b, pai_sched *s, uint32_t req, pai_time latest,
                uint32_t *old)
{
  const pai__promise *a =
    pai__promise_for(&b->old, *old, &b->plan, pai__req_at(s, req));
  pai__hint hint;

  if (a == NULL)
    return pai__plan_find(&b->plan, s, req, b->place, latest, NULL);
  ++*old;
  hint = (pai__hint){ (pai__site *)b->old.sites.data + a->first, a->count,
                      a->start };
  return pai__plan_find(&b->plan, s, req, b->place, latest, &hint);
}

/* What was found for now. */
static int start(backfill *b, pai_sched *s, uint32_t req)
{
  int rc = pai__plan_start(&b->plan, s, req);

  if (rc <= 0)
    return rc;
  pai__lookup_clear(&b->roomy);
  return pai__plan_take(&b->plan, s, req) < 0 ? PAI_ENOMEM : 1;
}

static int promise(backfill *b, const pai_sched *s, uint32_t req)
{
  return pai__promises_add(&b->new, &b->plan, pai__req_at(s, req)) < 0
           ? PAI_ENOMEM
           : pai__plan_take(&b->plan, s, req);
}

/* Its instances start, or are promised a place. */
static int try_all(backfill *b, pai_sched *s, uint32_t req)
{
  uint32_t tenant = pai__req_at(s, req)->tenant, planned = 0;
  uint32_t old = ((uint32_t *)b->first_of.data)[req];
  uint32_t most = !may_promise(b, tenant) ? 0
                  : b->mode == EASY       ? 1
                                          : INSTANCES;
  pai_time until = PAI__NEVER;
  int rc = 1;

  while (rc > 0 && has_more(s, pai__req_at(s, req), planned)) {
    pai_time latest = planned < most ? PAI__NEVER : s->m.now;

    rc = find(b, s, req, latest, &old);
    if (rc <= 0)
      break;
    if (b->plan.start <= s->m.now) {
      rc = start(b, s, req);
      continue;
    }
    until = planned++ == 0 ? b->plan.start : until;
    rc = promise(b, s, req) < 0 ? PAI_ENOMEM : planned < most;
  }
  if (rc < 0)
    return rc;
  if (planned != 0) {
    ++*promised_to(b, tenant);
    b->head = b->npromised++ == 0 ? pai__req_at(s, req)->id : b->head;
  }
  return has_more(s, pai__req_at(s, req), 0) ? tell(b, s, req, until) : PAI_OK;
}

/* While only what is guaranteed starts: would it go beyond its part now, so that
 * it cannot? */
static bool goes_beyond(const pai_sched *s, uint32_t req)
{
  return s->keeping && !pai__keeps_to_part(s, pai__req_at(s, req));
}

/* All that may be promised comes before those that only may start. */
static int consider(backfill *b, pai_sched *s, pai__entry *e, bool promises)
{
  if (promises && !may_promise(b, pai__req_at(s, e->req)->tenant)) {
    e->group = 1;
    return PAI_OK;
  }
  if (!promises && e->group == 1 && goes_beyond(s, e->req))
    return tell(b, s, e->req, PAI__NEVER);
  return promises || e->group == 1 ? try_all(b, s, e->req) : PAI_OK;
}

/* Where all are promised a place, what is planned behind the last one that may
 * start keeps nobody from it. */
static uint32_t find_last(const backfill *b, const pai_sched *s)
{
  uint32_t n = b->queue.len;

  if (b->mode == EASY || b->depth != 0)
    return n;
  for (; n != 0; n--) {
    uint32_t req = pai__entry_at(&b->queue, n - 1)->req;

    /* Of an array a reason is kept for later. */
    if (!goes_beyond(s, req) || pai__req_at(s, req)->instances != 1)
      break;
  }
  return n;
}

static int consider_all(backfill *b, pai_sched *s)
{
  uint32_t n = find_last(b, s);
  int rc = PAI_OK;

  for (int promises = 1; promises >= 0; promises--)
    for (uint32_t i = 0; i < n && rc == PAI_OK; i++)
      rc = consider(b, s, pai__entry_at(&b->queue, i), promises != 0);
  for (uint32_t i = n; i < b->queue.len && rc == PAI_OK; i++)
    rc = tell(b, s, pai__entry_at(&b->queue, i)->req, PAI__NEVER);
  return rc;
}

static bool is_sorted(const pai__flat *queue)
{
  for (uint32_t i = 1; i < queue->len; i++)
    if (pai__entry_at(queue, i - 1)->priority <
        pai__entry_at(queue, i)->priority)
      return false;
  return true;
}

/* Does a request ask for GPUs that share something? */
static bool asks_for_nearness(const pai_sched *s, const pai__flat *queue)
{
  for (uint32_t i = 0; i < queue->len; i++) {
    const pai__req *r = pai__req_at(s, pai__entry_at(queue, i)->req);
    const char *within = pai__texts_text(&s->names, r->within);

    if (within != NULL && strcmp(within, "node") != 0 &&
        strcmp(within, "rack") != 0)
      return true;
  }
  return false;
}

static int list_queue(backfill *b, const pai_sched *s)
{
  b->queue.len = 0;
  if (pai__list_waiting(s, &b->queue) < 0)
    return PAI_ENOMEM;
  if (!is_sorted(&b->queue))
    pai__sort_waiting(&b->queue);
  return PAI_OK;
}

static int begin(backfill *b, const pai_sched *s)
{
  pai_time assumed = b->assume * SECOND;
  uint32_t n = s->park->ntenants;

  pai__promises_clear(&b->new);
  pai__lookup_clear(&b->roomy);
  b->promised.len = b->npromised = 0;
  if (pai__flat_reserve(&b->promised, &b->alloc, n) < 0 ||
      pai__promises_index(&b->old, s, &b->first_of) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&b->promised, n);
  b->new.fine = b->old.fine || asks_for_nearness(s, &b->queue);
  return b->queue.len != 0 ? pai__plan_begin(&b->plan, s, assumed, b->new.fine)
                           : PAI_OK;
}

static int decide(void *state, void *data, const pai_policy_host *host)
{
  backfill *b = state;
  pai_sched *s = host->sched;
  pai__promises done;
  bool easy = b->mode == EASY && b->assume == 0 && pai__easy_is_enough(s);
  int rc = easy ? pai__easy_decide_quickly(&b->easy, s, b->place, &b->old) : 0;

  (void)data;
  if (rc != 0)
    return rc < 0 ? rc : PAI_OK;
  rc = list_queue(b, s);
  if (rc < 0)
    return rc;
  if (easy)
    return pai__easy_decide(&b->easy, s, &b->queue, b->place, &b->old);
  s->effort += PLANNED * (uint64_t)b->queue.len;
  rc = begin(b, s);
  if (rc == PAI_OK)
    rc = consider_all(b, s);
  if (rc < 0)
    return rc;
  /* What is planned for the guaranteed alone is planned anew with the rest. */
  if (s->keeping)
    return PAI_OK;
  b->new.layout = b->plan.layout;
  done = b->old;
  b->old = b->new;
  b->new = done;
  return PAI_OK;
}

const pai_policy pai__policy_backfill = {
  .struct_size = sizeof(pai_policy),
  .version = PAI_POLICY_VERSION,
  .name = "backfill",
  .about = "as soon as it does not delay what is planned before it",
  .open = open_state,
  .close = close_state,
  .decide = decide,
  .event = on_event,
  .clone = clone_state,
  .save = save_state,
  .load = load_state,
};
