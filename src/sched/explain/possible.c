/* possible.c - whether a request could ever start */

#include "sched/fit.h"
#include "sched/log/event.h"
#include "sched/policy/policy.h"
#include "sched/queue.h"
#include "sched/node_class.h"

/* Reports a task for which no node has room, alone or beside the tasks placed
 * before it. */
static int tell_too_much(const pai__sched_reason *reason, uint32_t nodes,
                         pai_error **err)
{
  const char *things = pai__lack_things(reason->of);
  const char *none = reason->failed[reason->of] < nodes
                       ? "of the machines that suit otherwise none"
                       : "no machine";
  char wanted_text[PAI__MILLI_TEXT], found_text[PAI__MILLI_TEXT];
  const char *wanted =
    pai__lack_amount(wanted_text, reason->of, reason->wanted);
  const char *found = pai__lack_amount(found_text, reason->of, reason->found);

  if (reason->placed == 0) {
    (void)pai__fail(err, PAI_ENOROOM,
                    "it does not fit the cluster: a task asks for %s %s, and "
                    "%s has more than %s",
                    wanted, things, none, found);
    pai__error_help(err, "ask for less per task");
    return PAI_ENOROOM;
  }
  (void)pai__fail(err, PAI_ENOROOM,
                  "it does not fit the cluster: a task asks for %s %s, and "
                  "beside %u other%s of it %s has more than %s",
                  wanted, things, reason->placed,
                  reason->placed == 1 ? "" : "s", none, found);
  pai__error_help(err, "ask for less per task, or for fewer tasks");
  return PAI_ENOROOM;
}

static int tell_type(const pai__sched_cluster *cluster, pai_error **err)
{
  bool any = false;
  int rc;

  for (uint32_t b = 0; b < cluster->nskus; b++)
    any |= cluster->skus[b].gpus > 0;
  rc = pai__fail(err, PAI_ENOROOM, "it does not fit the cluster: %s",
                 any ? "no node has such GPUs"
                     : "it asks for GPUs, and none are here");
  if (!any)
    pai__error_help(err, "ask for none, or let openpai doctor say which GPUs "
                         "are found");
  return rc;
}

static int tell_impossible(const pai_sched *s, uint32_t req,
                           const pai__sched_reason *reason, pai_error **err)
{
  const pai__req *r = pai__req_at(s, req);
  char wanted[PAI__MILLI_TEXT], found[PAI__MILLI_TEXT];
  int rc;

  if (r->within != PAI__NONE) {
    rc = pai__missing_group(s, pai__texts_text(&s->names, r->within), err);
    if (rc < 0)
      return rc;
  }
  switch (reason->lack) {
  case PAI_LACK_QUOTA:
    return pai__fail(err, PAI_ENOROOM,
                     "it does not fit the cluster: it asks for %s %s, and "
                     "virtual cluster '%s' has %s",
                     pai__lack_amount(wanted, reason->of, reason->wanted),
                     reason->of != 0 ? pai__lack_things(reason->of) : "GPUs",
                     s->cluster->vcs[r->vc_index].name,
                     pai__lack_amount(found, reason->of, reason->found));
  case PAI_LACK_PIN:
    return pai__missing_pin(s, pai__texts_text(&s->names, r->pin), err);
  case PAI_LACK_TYPE: return tell_type(s->cluster, err);
  case PAI_LACK_TOPOLOGY:
    if (reason->text != PAI__NONE)
      return pai__fail(err, PAI_ENOROOM, "it does not fit within one %s",
                       pai__texts_text(&s->names, reason->text));
    break;
  default: break;
  }
  return tell_too_much(reason, s->cluster->nnodes, err);
}

static int check_room(pai_sched *s, uint32_t req, pai_error **err)
{
  pai__ask ask = { .req = req,
                   .strategy = PAI_PLACE_PACK,
                   .beyond_share = s->terms.lends,
                   .ideal = true };
  pai__flat real = s->free_capacity;
  uint32_t n;
  pai__sched_reason reason;
  int rc;

  if (pai__class_of(s, pai__req_at(s, req))->possible)
    return PAI_OK;
  pai__node_classes_leave(s);
  pai__flat_init(&s->free_capacity, real.size);
  rc = pai__flat_reset(&s->free_capacity, &s->alloc, real.len);
  if (rc == PAI_OK) {
    pai__free_capacity_init(s, s->cluster, s->free_capacity.data);
    rc = pai__fit_elastic(s, &ask, &n, &reason);
  }
  pai__flat_dispose(&s->free_capacity, &s->alloc);
  s->free_capacity = real;
  pai__node_classes_return(s);
  if (rc < 0)
    return pai__oom(err);
  if (rc == 0)
    return tell_impossible(s, req, &reason, err);
  pai__class_of(s, pai__req_at(s, req))->possible = true;
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

/* --- refusals of this decision -------------------------------------------- */

static pai__refusal *refusal_at(const pai_sched *s, uint32_t i)
{
  return (pai__refusal *)s->refusals.data + i;
}

/* The products do not wait for each other, as this is asked for each request
 * that is looked at. */
static uint64_t key_of(const pai__refusal *how)
{
  uint64_t sum = 0, odd = UINT64_C(0x9e3779b97f4a7c15);

  for (size_t i = 0; i < PAI__LEN(how->like); i++) {
    sum += how->like[i] * odd;
    odd += UINT64_C(0xd6e8feb86659fd94);
  }
  return pai__mix(sum, 0) | 1;
}

static bool are_alike(const pai__refusal *a, const pai__refusal *b)
{
  uint64_t differs = 0;

  for (size_t i = 0; i < PAI__LEN(a->like); i++)
    differs |= a->like[i] ^ b->like[i];
  return differs == 0;
}

uint32_t pai__refusal_find(const pai_sched *s, const pai__refusal *how)
{
  uint32_t i = pai__lookup_get(&s->refused, key_of(how));

  return i != PAI__NONE && are_alike(refusal_at(s, i), how)
           ? refusal_at(s, i)->req
           : PAI__NONE;
}

void pai__refusal_keep(pai_sched *s, const pai__refusal *how)
{
  uint64_t key = key_of(how);
  uint32_t i = pai__lookup_get(&s->refused, key);

  if (i == PAI__NONE)
    i = pai__lookup_push(&s->refused, &s->refusals, &s->alloc, key);
  if (i != PAI__NONE)
    *refusal_at(s, i) = *how;
}

void pai__refusals_forget(pai_sched *s)
{
  s->refusals.len = 0;
  pai__lookup_clear(&s->refused);
}
