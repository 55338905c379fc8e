/* backfill_state.c - options of policy backfill, and what it keeps from one
 * decision to the next */
#include "sched/backfill.h"

static const char *const modes[] = { "easy", "conservative", NULL };

static const pai__option options[] = {
  { .key = "mode",
    .kind = PAI__OPTION_CHOICE,
    .offset = offsetof(pai__backfill, mode),
    .choices = modes },
  { .key = "depth",
    .kind = PAI__OPTION_NUMBER,
    .offset = offsetof(pai__backfill, depth),
    .low = 0,
    .high = UINT32_MAX },
  { .key = "assume",
    .kind = PAI__OPTION_NUMBER,
    .offset = offsetof(pai__backfill, assume),
    .low = 0,
    .high = INT64_C(1) << 32 },
  { .key = "reclaim",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(pai__backfill, reclaim) },
  { .key = "place",
    .kind = PAI__OPTION_PLACE,
    .offset = offsetof(pai__backfill, place) },
  PAI__RESERVE_OPTION(pai__backfill),
};

static const pai__plain_type type = { .options = options,
                                      .noptions = PAI__LEN(options) };

/* --- the state ------------------------------------------------------------ */

static pai__backfill *new_state(const pai_sched *s)
{
  pai__backfill *b = pai__zalloc(&s->alloc, sizeof(*b));

  if (b == NULL)
    return NULL;
  b->alloc = s->alloc;
  b->mode = PAI__BACKFILL_EASY;
  b->place = PAI_PLACE_TOPO;
  b->reclaim = true;
  b->reserve_after = PAI__RESERVE_AFTER;
  pai__plan_init(&b->plan, &s->alloc);
  pai__easy_init(&b->easy);
  pai__promises_init(&b->old);
  pai__promises_init(&b->new);
  pai__flat_init(&b->queue, sizeof(pai__entry));
  pai__flat_init(&b->first_of, sizeof(uint32_t));
  pai__flat_init(&b->promised, sizeof(uint32_t));
  pai__flat_init(&b->marks, sizeof(uint8_t));
  pai__lookup_init(&b->roomy);
  pai__lookup_init(&b->unmoved);
  pai__promises_init(&b->moved);
  return b;
}

void pai__backfill_close(void *state)
{
  pai__backfill *b = state;
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
  pai__flat_dispose(&b->marks, &alloc);
  pai__flat_dispose(&b->roomy.slots, &alloc);
  pai__flat_dispose(&b->unmoved.slots, &alloc);
  pai__promises_dispose(&b->moved, &alloc);
  pai__free(&alloc, b, sizeof(*b));
}

int pai__backfill_open(void **state, void *data, const pai_policy_host *host,
                       const pai_cluster *cluster, const char *text)
{
  pai__backfill *b = new_state(host->sched);
  pai__tree *tree;
  int rc;

  (void)data;
  (void)cluster;
  if (b == NULL)
    return PAI_ENOMEM;
  rc = pai__options_read(host, text, &type, b, &tree);
  if (rc < 0) {
    pai__backfill_close(b);
    return rc;
  }
  pai__tree_free(tree);
  pai__policy_reclaims(host->sched, b->reclaim, b->place);
  pai__policy_reserves(host->sched, b->reserve_after, b->place, true);
  host->sched->terms.promises = true;
  *state = b;
  return PAI_OK;
}

int pai__backfill_clone(void **copy, const void *state, void *data,
                        const pai_policy_host *host)
{
  const pai__backfill *from = state;
  pai__backfill *b = new_state(host->sched);

  (void)data;
  if (b == NULL)
    return PAI_ENOMEM;
  b->mode = from->mode;
  b->place = from->place;
  b->reclaim = from->reclaim;
  b->depth = from->depth;
  b->assume = from->assume;
  b->reserve_after = from->reserve_after;
  if (pai__promises_copy(&b->old, &from->old, &b->alloc) < 0) {
    pai__backfill_close(b);
    return PAI_ENOMEM;
  }
  *copy = b;
  return PAI_OK;
}

int pai__backfill_save(const void *state, void *data, pai_write_cb write,
                       void *user_data)
{
  const pai__backfill *b = state;

  (void)data;
  return pai__promises_write(&b->old, &b->alloc, write, user_data);
}

int pai__backfill_load(void **state, void *data, const pai_policy_host *host,
                       const pai_cluster *cluster, const char *text,
                       const char *saved, size_t len)
{
  int rc = pai__backfill_open(state, data, host, cluster, text);

  if (rc < 0)
    return rc;
  rc = pai__promises_read(&((pai__backfill *)*state)->old, host->sched, saved,
                          len);
  if (rc == PAI_OK)
    return PAI_OK;
  pai__backfill_close(*state);
  *state = NULL;
  return rc == PAI_ENOMEM
           ? rc
           : host->give_up(host, PAI_EINVAL,
                           "what backfill has planned cannot be read");
}

int pai__backfill_event(void *state, void *data, const pai_policy_host *host,
                        const pai_sched_event *event)
{
  pai__backfill *b = state;

  (void)data;
  pai__promises_event(&b->old, &b->alloc, event);
  pai__easy_event(&b->easy, host->sched, &b->old, event);
  return PAI_OK;
}
