/*
 * policy_fair.c - whoever has least goes first: virtual clusters, and in each
 * its users
 *
 * "drf": who has the smallest dominant share, of GPUs, CPUs or memory.  "decay":
 * who used the fewest GPUs for the shortest time, of which half is forgotten in
 * each half-life; what is in use counts as if it went on for a 64th of one.
 * Virtual clusters are weighed by the GPUs they own.
 */
#include "sched/fair.h"

#include <stdio.h>

/* --- deciding ------------------------------------------------------------- */

static int decide(void *state, void *data, const pai_policy_host *host)
{
  pai__fair *f = state;
  pai_sched *s = host->sched;
  int rc = PAI_OK, counted = PAI_OK;

  (void)data;
  if (f->mode == PAI__FAIR_DECAY) {
    pai__usage_advance(&f->usage, s->m.now);
    rc = pai__usage_count(&f->usage, s);
  }
  if (rc == PAI_OK)
    rc = pai__fair_decide(f, s);
  if (f->mode == PAI__FAIR_DECAY)
    counted = pai__usage_count(&f->usage, s);
  return rc < 0 ? rc : counted;
}

/* More than a user may ever have is refused at once. */
static int admit(void *state, void *data, const pai_policy_host *host,
                 uint64_t id)
{
  const pai__fair *f = state;
  const pai_sched *s = host->sched;
  uint32_t req = pai__req_find(s, id);
  char text[120];

  (void)data;
  if (!pai__fair_is_beyond(f, s, req))
    return PAI_OK;
  (void)snprintf(text, sizeof(text),
                 "it asks for %llu GPUs, and a user has at most %llu",
                 (unsigned long long)pai__gpus_wanted(s, req),
                 (unsigned long long)f->user_max_gpus);
  return host->give_up(host, PAI_ENOROOM, text);
}

static int event(void *state, void *data, const pai_policy_host *host,
                 const pai_sched_event *e)
{
  pai__fair *f = state;

  (void)data;
  pai__waiters_event(&f->waiters, host->sched, e);
  if (f->mode != PAI__FAIR_DECAY)
    return PAI_OK;
  pai__usage_advance(&f->usage, e->time);
  switch (e->kind) {
  case PAI_SCHED_CLUSTER: f->usage.stale = true; break;
  case PAI_SCHED_FINISHED:
  case PAI_SCHED_RETURNED:
  case PAI_SCHED_RESIZED:
  case PAI_SCHED_CANCEL: break;
  default: return PAI_OK;
  }
  return pai__usage_count(&f->usage, host->sched);
}

/* --- the state ------------------------------------------------------------ */

static const pai__fair defaults = { .place = PAI_PLACE_TOPO,
                                    .shares = true,
                                    .reclaim = true,
                                    .reserve_after = PAI__RESERVE_AFTER,
                                    .half_life = 7 * 24 * 3600 };

static const char *const modes[] = { "drf", "decay", NULL };

#define NUMBER(member, least, most)                                       \
  {                                                                       \
    .key = #member, .kind = PAI__OPTION_NUMBER,                           \
    .offset = offsetof(pai__fair, member), .low = (least), .high = (most) \
  }

static const pai__option options_of_it[] = {
  { .key = "mode",
    .kind = PAI__OPTION_CHOICE,
    .offset = offsetof(pai__fair, mode),
    .choices = modes },
  { .key = "shares",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(pai__fair, shares) },
  { .key = "greedy",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(pai__fair, greedy) },
  { .key = "reclaim",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(pai__fair, reclaim) },
  { .key = "place",
    .kind = PAI__OPTION_PLACE,
    .offset = offsetof(pai__fair, place) },
  PAI__RESERVE_OPTION(pai__fair),
  NUMBER(half_life, 1, 1000000000),
  NUMBER(user_max_gpus, 0, INT32_MAX),
  NUMBER(user_max_jobs, 0, INT32_MAX),
};

static const pai__plain_type type = { .options = options_of_it,
                                      .noptions = PAI__LEN(options_of_it) };

static void close_it(void *state)
{
  pai__fair *f = state;
  pai_alloc alloc;

  if (f == NULL)
    return;
  alloc = f->alloc;
  pai__usage_dispose(&f->usage, &alloc);
  pai__waiters_dispose(&f->waiters, &alloc);
  pai__free(&alloc, f, sizeof(*f));
}

static int open_it(void **state, void *data, const pai_policy_host *host,
                   const pai_cluster *cluster, const char *options)
{
  pai_sched *s = host->sched;
  pai__fair *f = pai__zalloc(&s->alloc, sizeof(*f));
  pai__tree *tree;
  int rc;

  (void)data;
  (void)cluster;
  if (f == NULL)
    return PAI_ENOMEM;
  *f = defaults;
  f->alloc = s->alloc;
  rc = pai__options_read(host, options, &type, f, &tree);
  if (rc < 0) {
    pai__free(&s->alloc, f, sizeof(*f));
    return rc;
  }
  pai__tree_free(tree);
  f->s = s;
  s->terms.lends = !f->shares;
  pai__policy_reclaims(s, f->reclaim, f->place);
  pai__policy_reserves(s, f->reserve_after, f->place, false);
  pai__usage_init(&f->usage, s->m.now, f->half_life);
  pai__waiters_init(&f->waiters, PAI__ALIKE_USER);
  if (f->mode == PAI__FAIR_DECAY)
    rc = pai__usage_count(&f->usage, s);
  if (rc < 0)
    close_it(f);
  else
    *state = f;
  return rc;
}

static int clone(void **copy, const void *state, void *data,
                 const pai_policy_host *host)
{
  const pai__fair *from = state;
  pai__fair *f = pai__zalloc(&host->sched->alloc, sizeof(*f));

  (void)data;
  if (f == NULL)
    return PAI_ENOMEM;
  *f = *from;
  f->alloc = host->sched->alloc;
  f->s = host->sched;
  pai__usage_init(&f->usage, 0, 1);
  pai__waiters_init(&f->waiters, PAI__ALIKE_USER);
  if (pai__usage_copy(&f->usage, &from->usage, &f->alloc) < 0) {
    close_it(f);
    return PAI_ENOMEM;
  }
  *copy = f;
  return PAI_OK;
}

static int save(const void *state, void *data, pai_write_cb write,
                void *user_data)
{
  const pai__fair *f = state;

  (void)data;
  return pai__usage_write(&f->usage, f->s, write, user_data);
}

static int load(void **state, void *data, const pai_policy_host *host,
                const pai_cluster *cluster, const char *options,
                const char *saved, size_t len)
{
  int rc = open_it(state, data, host, cluster, options);

  if (rc < 0)
    return rc;
  rc = pai__usage_read(&((pai__fair *)*state)->usage, host->sched, saved, len);
  if (rc < 0) {
    close_it(*state);
    *state = NULL;
  }
  return rc == PAI_EINVAL
           ? host->give_up(host, rc, "this is not what policy 'fair' saves")
           : rc;
}

const pai_policy pai__policy_fair = {
  .struct_size = sizeof(pai_policy),
  .version = PAI_POLICY_VERSION,
  .name = "fair",
  .about = "whoever has, or lately had, least goes first: virtual clusters, "
           "and users in them",
  .lends = 1,
  .open = open_it,
  .close = close_it,
  .decide = decide,
  .event = event,
  .clone = clone,
  .save = save,
  .load = load,
  .admit = admit,
};
