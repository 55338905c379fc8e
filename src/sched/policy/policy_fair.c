/*
 * policy_fair.c - fair-share policy: virtual clusters, and users within them,
 * with the least go first
 *
 * Mode "drf": smallest dominant share of GPUs, CPUs or memory.  Mode "decay":
 * lowest GPU usage, which halves in each half-life; GPUs in use count as if
 * used for another 64th of a half-life.  Virtual clusters are weighted by the
 * GPUs they own.
 */
#include "sched/policy/fair.h"

#include <stdio.h>

/* --- deciding ------------------------------------------------------------- */

static int decide(void *state, pai_sched *s)
{
  pai__fair *f = state;
  int rc = PAI_OK, counted = PAI_OK;

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

/* Refuses a request that exceeds the limit of a user by itself. */
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

static int event(void *state, pai_sched *s, const pai_sched_event *e)
{
  pai__fair *f = state;

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
  return pai__usage_count(&f->usage, s);
}

/* --- the state ------------------------------------------------------------ */

static int begin(void *state, const pai_policy_host *host, const char *options,
                 bool loaded)
{
  pai__fair *f = state;

  (void)options;
  (void)loaded;
  f->s = host->sched;
  pai__usage_init(&f->usage, f->s->m.now, f->half_life);
  return f->mode == PAI__FAIR_DECAY ? pai__usage_count(&f->usage, host->sched)
                                    : PAI_OK;
}

static int copy(void *state, const void *from, const pai_policy_host *host)
{
  pai__fair *f = state;

  f->s = host->sched;
  pai__usage_init(&f->usage, 0, 1);
  return pai__usage_copy(&f->usage, &((const pai__fair *)from)->usage,
                         &f->plain.alloc);
}

static void end(void *state)
{
  pai__fair *f = state;

  pai__usage_dispose(&f->usage, &f->plain.alloc);
}

static int save(const void *state, pai_write_cb write, void *user_data)
{
  const pai__fair *f = state;

  return pai__usage_write(&f->usage, f->s, write, user_data);
}

static int load(void *state, const pai_policy_host *host, const char *saved,
                size_t len)
{
  pai__fair *f = state;
  int rc = pai__usage_read(&f->usage, host->sched, saved, len);

  return rc == PAI_EINVAL
           ? host->give_up(host, rc, "this is not what policy 'fair' saves")
           : rc;
}

static const pai__fair defaults = { .plain = { PAI__PLAIN_DEFAULTS },
                                    .half_life = 7 * 24 * 3600 };

static const char *const modes[] = { "drf", "decay", NULL };

static const pai__field options_of_it[] = {
  PAI__WORD(pai__fair, mode, modes, "mode"),
  PAI__FLAG_OPTION(pai__plain, shares),
  PAI__FLAG_OPTION(pai__fair, greedy),
  PAI__PLAIN_OPTIONS,
  PAI__NUMBER_OPTION(pai__fair, half_life, 1, 1000000000),
  PAI__NUMBER_OPTION(pai__fair, user_max_gpus, 0, INT32_MAX),
  PAI__NUMBER_OPTION(pai__fair, user_max_jobs, 0, INT32_MAX),
};

static const pai__plain_type type = { .defaults = &defaults,
                                      .size = sizeof(defaults),
                                      .options = options_of_it,
                                      .noptions = PAI__LEN(options_of_it),
                                      .alike = PAI__ALIKE_USER,
                                      .begin = begin,
                                      .copy = copy,
                                      .end = end,
                                      .decide = decide,
                                      .event = event,
                                      .save = save,
                                      .load = load };

const pai_policy pai__policy_fair = {
  PAI__PLAIN_POLICY,
  .event = pai__plain_event,
  .name = "fair",
  .about = "whoever has, or lately had, least goes first: virtual clusters, "
           "and users in them",
  .data = (void *)&type,
  .lends = 1,
  .admit = admit,
};
