/* possible.c - which requests are alike; whether one could start at all */
#include "sched/fit.h"
#include "sched/shelf.h"
#include "sched/missing.h"
#include "sched/policy.h"
#include "sched/queue.h"

#include <inttypes.h>

/* --- alike ---------------------------------------------------------------- */

/* By what it says: the number of a name is another one in a scheduler that was
 * loaded, and policies keep shapes. */
static uint64_t mix_name(const pai_sched *s, uint64_t h, uint32_t name)
{
  const char *text = pai__texts_text(&s->names, name);

  for (h = pai__mix(h, text != NULL); text != NULL && *text != '\0'; text++)
    h = pai__mix(h, (unsigned char)*text);
  return h;
}

void pai__req_set_shape(pai_sched *s, uint32_t req)
{
  pai__req *r = pai__req_at(s, req);
  const pai__want *w = pai__wants_of(s, r);
  uint64_t h = pai__mix(pai__mix(1, r->tenant), r->priority < 0);

  h = mix_name(s, mix_name(s, h, r->pin), r->within);
  for (uint32_t i = 0; i < r->nwants; i++) {
    h = pai__mix(pai__mix(h, w[i].tasks), w[i].gpus);
    h = pai__mix(pai__mix(h, w[i].cpus), w[i].ports);
    h = pai__mix(pai__mix(h, w[i].memory), w[i].type);
    h = pai__mix(h, w[i].min_tasks);
  }
  r->shape = h | 1;
  s->m.lazy = s->m.lazy || r->priority < 0;
}

static bool wants_alike(const pai__want *a, const pai__want *b, uint32_t n)
{
  uint32_t i = 0;

  while (i < n && a[i].tasks == b[i].tasks && a[i].gpus == b[i].gpus &&
         a[i].cpus == b[i].cpus && a[i].ports == b[i].ports &&
         a[i].memory == b[i].memory && a[i].type == b[i].type &&
         a[i].min_tasks == b[i].min_tasks)
    i++;
  return i == n;
}

bool pai__req_fits_alike(const pai_sched *s, const pai__req *a,
                         const pai__req *b)
{
  return a->tenant == b->tenant && (a->priority < 0) == (b->priority < 0) &&
         a->pin == b->pin && a->within == b->within &&
         a->nwants == b->nwants &&
         (a->wants == b->wants ||
          wants_alike(pai__wants_of(s, a), pai__wants_of(s, b), a->nwants));
}

bool pai__req_is_alike(const pai_sched *s, enum pai__alike alike,
                       const pai__req *a, const pai__req *b)
{
  switch (alike) {
  case PAI__ALIKE_RANK:
    return a->priority == b->priority && a->lazy == b->lazy &&
           pai__req_fits_alike(s, a, b);
  case PAI__ALIKE_USER:
    return a->tenant == b->tenant && a->user == b->user &&
           (a->priority < 0) == (b->priority < 0);
  case PAI__ALIKE_TENANT:
    return a->tenant == b->tenant && (a->priority < 0) == (b->priority < 0);
  default: return pai__req_fits_alike(s, a, b);
  }
}

/* A task that no node has room for, by itself or beside those before it. */
static int tell_too_much(const pai__why *why, uint32_t nodes, pai_error **err)
{
  const char *things = pai__lack_things(why->of);
  const char *none = why->failed[why->of] < nodes
                       ? "of the machines that suit otherwise none"
                       : "no machine";
  uint64_t wanted = pai__lack_amount(why->of, why->wanted);
  uint64_t found = pai__lack_amount(why->of, why->found);

  if (why->placed == 0) {
    (void)pai__fail(err, PAI_ENOROOM,
                    "it does not fit the cluster: a task asks for %" PRIu64
                    " %s, and %s has more than %" PRIu64,
                    wanted, things, none, found);
    pai__error_help(err, "ask for less per task");
    return PAI_ENOROOM;
  }
  (void)pai__fail(err, PAI_ENOROOM,
                  "it does not fit the cluster: a task asks for %" PRIu64
                  " %s, and beside %u other%s of it %s has more than %" PRIu64,
                  wanted, things, why->placed, why->placed == 1 ? "" : "s",
                  none, found);
  pai__error_help(err, "ask for less per task, or for fewer tasks");
  return PAI_ENOROOM;
}

static int tell_type(const pai__park *park, pai_error **err)
{
  bool any = false;
  int rc;

  for (uint32_t b = 0; b < park->nbuilds; b++)
    any |= park->builds[b].gpus > 0;
  rc = pai__fail(err, PAI_ENOROOM, "it does not fit the cluster: %s",
                 any ? "no node has such GPUs"
                     : "it asks for GPUs, and none are here");
  if (!any)
    pai__error_help(err, "ask for none, or let openpai doctor say which GPUs "
                         "are found");
  return rc;
}

static int tell_impossible(const pai_sched *s, uint32_t req,
                           const pai__why *why, pai_error **err)
{
  const pai__req *r = pai__req_at(s, req);
  int rc;

  if (r->within != PAI__NONE) {
    rc = pai__missing_group(s, pai__texts_text(&s->names, r->within), err);
    if (rc < 0)
      return rc;
  }
  switch (why->lack) {
  case PAI_LACK_QUOTA:
    return pai__fail(err, PAI_ENOROOM,
                     "it does not fit the cluster: it asks for %" PRIu64
                     " %s, and virtual cluster '%s' has %" PRIu64,
                     pai__lack_amount(why->of, why->wanted),
                     why->of != 0 ? pai__lack_things(why->of) : "GPUs",
                     s->park->tenants[r->tenant].name,
                     pai__lack_amount(why->of, why->found));
  case PAI_LACK_PIN:
    return pai__missing_pin(s, pai__texts_text(&s->names, r->pin), err);
  case PAI_LACK_TYPE: return tell_type(s->park, err);
  case PAI_LACK_TOPOLOGY:
    if (why->text != PAI__NONE)
      return pai__fail(err, PAI_ENOROOM, "it does not fit within one %s",
                       pai__texts_text(&s->names, why->text));
    break;
  default: break;
  }
  return tell_too_much(why, s->park->nspots, err);
}

/* Is a request there that fits alike, and was checked?  It is checked again when
 * it changes.  In its own slot there may have been another one. */
static bool is_known(const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);
  uint32_t other = pai__lookup_get(&s->possible, r->shape);

  return other != PAI__NONE && other != req &&
         pai__req_at(s, other)->id != 0 &&
         pai__req_fits_alike(s, r, pai__req_at(s, other));
}

static void set_known(pai_sched *s, uint32_t req)
{
  uint64_t shape = pai__req_at(s, req)->shape;

  pai__lookup_remove(&s->possible, shape);
  if (pai__lookup_reserve(&s->possible, &s->alloc) == PAI_OK)
    pai__lookup_add(&s->possible, shape, req);
}

/* If all nodes were empty, and up. */
static int check_room(pai_sched *s, uint32_t req, pai_error **err)
{
  pai__ask ask = { .req = req,
                   .strategy = PAI_PLACE_PACK,
                   .beyond_share = s->terms.lends,
                   .ideal = true };
  pai__flat real = s->rooms;
  uint32_t n;
  pai__why why;
  int rc;

  if (is_known(s, req))
    return PAI_OK;
  pai__shelves_leave(s);
  pai__flat_init(&s->rooms, real.size);
  rc = pai__flat_reserve(&s->rooms, &s->alloc, real.len);
  if (rc == PAI_OK) {
    (void)pai__flat_push(&s->rooms, real.len);
    pai__rooms_init(s, s->park, s->rooms.data);
    rc = pai__fit(s, &ask, &n, &why);
  }
  pai__flat_dispose(&s->rooms, &s->alloc);
  s->rooms = real;
  pai__shelves_return(s);
  if (rc < 0)
    return pai__oom(err);
  if (rc == 0)
    return tell_impossible(s, req, &why, err);
  set_known(s, req);
  return PAI_OK;
}

int pai__req_check_possible(pai_sched *s, uint32_t req, pai_error **err)
{
  int rc;

  if (s->loading)
    return PAI_OK;
  rc = check_room(s, req, err);
  return rc < 0 ? rc : pai__policy_admit(s, pai__req_at(s, req)->id, err);
}
