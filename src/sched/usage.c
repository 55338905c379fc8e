/* usage.c - who used how much lately */
#include "sched/usage.h"

#include "resource/bits.h"

/* After so many steps, 64 half-lives, nothing is left. */
enum { FORGOTTEN = 64 * 64 };

/* 2^32 times 2^(-k/64). */
static const uint32_t left[64] = {
  0,          0xfd3e0c0c, 0xfa83b2db, 0xf7d0df73, 0xf5257d15, 0xf281773c,
  0xefe4b99b, 0xed4f301e, 0xeac0c6e7, 0xe8396a50, 0xe5b906e7, 0xe33f8972,
  0xe0ccdeec, 0xde60f482, 0xdbfbb797, 0xd99d15c2, 0xd744fcca, 0xd4f35aab,
  0xd2a81d91, 0xd06333da, 0xce248c15, 0xcbec14fe, 0xc9b9bd86, 0xc78d74c8,
  0xc5672a11, 0xc346ccda, 0xc12c4cca, 0xbf1799b6, 0xbd08a39f, 0xbaff5ab2,
  0xb8fbaf47, 0xb6fd91e3, 0xb504f333, 0xb311c412, 0xb123f581, 0xaf3b78ad,
  0xad583eea, 0xab7a39b5, 0xa9a15ab4, 0xa7cd93b4, 0xa5fed6a9, 0xa43515ae,
  0xa2704303, 0xa0b0510f, 0x9ef53260, 0x9d3ed9a7, 0x9b8d39b9, 0x99e04593,
  0x9837f051, 0x96942d37, 0x94f4efa8, 0x935a2b2f, 0x91c3d373, 0x9031dc43,
  0x8ea4398b, 0x8d1adf5b, 0x8b95c1e3, 0x8a14d575, 0x88980e80, 0x871f6196,
  0x85aac367, 0x843a28c3, 0x82cd8698, 0x8164d1f3,
};

uint64_t pai__usage_decay(uint64_t usage, uint32_t n)
{
  uint64_t part = left[n & 63];

  usage = n < FORGOTTEN ? usage >> (n >> 6) : 0;
  return part == 0
           ? usage
           : (usage >> 32) * part + ((usage & UINT32_MAX) * part >> 32);
}

uint64_t pai__usage_more(uint64_t usage, uint64_t rate, pai_time time)
{
  uint64_t most = (uint64_t)INT64_MAX;

  if (rate == 0 || time <= 0)
    return usage;
  return (uint64_t)time > (most - usage) / rate
           ? most
           : usage + rate * (uint64_t)time;
}

/* --- the accounts --------------------------------------------------------- */

void pai__usage_init(pai__usage *u, pai_time now, int64_t half_life)
{
  *u = (pai__usage){ .last = now,
                     .step = half_life * (INT64_C(1000000) / 64),
                     .stale = true };
  pai__flat_init(&u->accounts, sizeof(pai__account));
  pai__flat_init(&u->vcs, sizeof(uint32_t));
  pai__lookup_init(&u->index);
}

void pai__usage_dispose(pai__usage *u, const pai_alloc *alloc)
{
  pai__flat_dispose(&u->accounts, alloc);
  pai__flat_dispose(&u->vcs, alloc);
  pai__flat_dispose(&u->index.slots, alloc);
}

int pai__usage_copy(pai__usage *u, const pai__usage *from,
                    const pai_alloc *alloc)
{
  int rc = pai__flat_copy(&u->accounts, &from->accounts, alloc);

  if (rc == PAI_OK)
    rc = pai__flat_copy(&u->vcs, &from->vcs, alloc);
  if (rc == PAI_OK)
    rc = pai__lookup_copy(&u->index, &from->index, alloc);
  u->last = from->last;
  u->step = from->step;
  u->stale = from->stale;
  return rc;
}

static pai__account *at(const pai__usage *u, uint32_t i)
{
  return (pai__account *)u->accounts.data + i;
}

static uint64_t key_of(uint32_t vc, uint32_t user)
{
  return ((uint64_t)vc + 1) << 32 | user;
}

bool pai__usage_has(const pai__usage *u, uint32_t vc, uint32_t user)
{
  return pai__lookup_get(&u->index, key_of(vc, user)) != PAI__NONE;
}

int pai__usage_add(pai__usage *u, const pai_alloc *alloc,
                   const pai__account *a)
{
  uint32_t i;

  if (pai__flat_reserve(&u->accounts, alloc, 1) < 0 ||
      pai__lookup_reserve(&u->index, alloc) < 0)
    return PAI_ENOMEM;
  i = pai__flat_push(&u->accounts, 1);
  *at(u, i) = *a;
  pai__lookup_add(&u->index, key_of(a->vc, a->user), i);
  return PAI_OK;
}

static uint32_t vc_of(const pai__usage *u, uint32_t tenant)
{
  return ((uint32_t *)u->vcs.data)[tenant];
}

uint64_t pai__usage_of(const pai__usage *u, uint32_t tenant, uint32_t user)
{
  uint32_t i = tenant < u->vcs.len
                 ? pai__lookup_get(&u->index, key_of(vc_of(u, tenant), user))
                 : PAI__NONE;

  return i != PAI__NONE ? at(u, i)->usage : 0;
}

/* --- time ----------------------------------------------------------------- */

/* Full steps before a time. */
static int64_t steps_before(const pai__usage *u, pai_time time)
{
  return time / u->step - (time % u->step < 0);
}

static void advance(const pai__usage *u, pai__account *a, int64_t steps,
                    pai_time now)
{
  pai_time from = u->last;

  for (; steps > 0 && (a->rate != 0 || a->usage != 0); steps--) {
    pai_time end = (steps_before(u, from) + 1) * u->step;

    a->usage = pai__usage_more(a->usage, a->rate, end - from);
    a->usage = pai__usage_decay(a->usage, 1);
    from = end;
  }
  a->usage = pai__usage_more(a->usage, a->rate, now - from);
}

void pai__usage_advance(pai__usage *u, pai_time now)
{
  int64_t steps;

  if (now <= u->last)
    return;
  steps = steps_before(u, now) - steps_before(u, u->last);
  if (steps > FORGOTTEN) {
    steps = FORGOTTEN;
    u->last = (steps_before(u, now) - steps) * u->step;
  }
  for (uint32_t i = 0; i < u->accounts.len; i++)
    advance(u, at(u, i), steps, now);
  u->last = now;
}

/* --- what is in use ------------------------------------------------------- */

static int name_tenants(pai__usage *u, pai_sched *s)
{
  if (!u->stale)
    return PAI_OK;
  u->vcs.len = 0;
  if (pai__flat_reserve(&u->vcs, &s->alloc, s->park->ntenants) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < s->park->ntenants; i++) {
    uint32_t name;

    if (pai__texts_add(&s->names, &s->alloc, s->park->tenants[i].name, &name) <
        0)
      return PAI_ENOMEM;
    ((uint32_t *)u->vcs.data)[pai__flat_push(&u->vcs, 1)] = name;
  }
  u->stale = false;
  return PAI_OK;
}

static bool is_in_use(const pai__run *run)
{
  return run->req != PAI__NONE && run->state >= PAI__RUN_PLACED;
}

static int find_accounts(pai__usage *u, pai_sched *s)
{
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    pai__account a = { 0 };

    if (!is_in_use(run))
      continue;
    a.vc = vc_of(u, pai__req_at(s, run->req)->tenant);
    a.user = pai__req_at(s, run->req)->user;
    if (pai__lookup_get(&u->index, key_of(a.vc, a.user)) == PAI__NONE &&
        pai__usage_add(u, &s->alloc, &a) < 0)
      return PAI_ENOMEM;
  }
  return PAI_OK;
}

/* Accounts that have nothing any more go; the others keep their order. */
static void drop_empty(pai__usage *u)
{
  uint32_t kept = 0;

  for (uint32_t i = 0; i < u->accounts.len; i++)
    if (at(u, i)->usage != 0 || at(u, i)->rate != 0)
      *at(u, kept++) = *at(u, i);
  if (kept == u->accounts.len)
    return;
  u->accounts.len = kept;
  pai__lookup_clear(&u->index);
  for (uint32_t i = 0; i < kept; i++)
    pai__lookup_add(&u->index, key_of(at(u, i)->vc, at(u, i)->user), i);
}

int pai__usage_count(pai__usage *u, pai_sched *s)
{
  if (name_tenants(u, s) < 0 || find_accounts(u, s) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < u->accounts.len; i++)
    at(u, i)->rate = 0;
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    const pai__req *r;
    pai__account *a;

    if (!is_in_use(run))
      continue;
    r = pai__req_at(s, run->req);
    a =
      at(u, pai__lookup_get(&u->index, key_of(vc_of(u, r->tenant), r->user)));
    for (uint32_t k = 0; k < run->tasks; k++)
      a->rate += pai__bits_ones(pai__slots_of(s, run)[k].gpus);
  }
  drop_empty(u);
  return PAI_OK;
}
