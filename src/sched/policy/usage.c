/* usage.c - decayed GPU usage of users, for the fair-share policy */

#include "sched/policy/fair.h"
#include "json/form.h"

#include "json/json.h"
#include "json/writer.h"

#include <stdlib.h>

/* Number of decay steps (64 half-lives) after which nothing is left. */
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
  pai__flat_init(&u->accounts, sizeof(pai__fair_account));
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

static pai__fair_account *at(const pai__usage *u, uint32_t i)
{
  return (pai__fair_account *)u->accounts.data + i;
}

static uint64_t key_of(uint32_t vc, uint32_t user)
{
  return ((uint64_t)vc + 1) << 32 | user;
}

static bool usage_has(const pai__usage *u, uint32_t vc, uint32_t user)
{
  return pai__lookup_get(&u->index, key_of(vc, user)) != PAI__NONE;
}

int pai__usage_add(pai__usage *u, const pai_alloc *alloc,
                   const pai__fair_account *a)
{
  uint32_t i =
    pai__lookup_push(&u->index, &u->accounts, alloc, key_of(a->vc, a->user));

  if (i != PAI__NONE)
    *at(u, i) = *a;
  return i != PAI__NONE ? PAI_OK : PAI_ENOMEM;
}

static uint32_t vc_of(const pai__usage *u, uint32_t vc_index)
{
  return ((uint32_t *)u->vcs.data)[vc_index];
}

uint64_t pai__usage_of(const pai__usage *u, uint32_t vc_index, uint32_t user)
{
  uint32_t i = vc_index < u->vcs.len
                 ? pai__lookup_get(&u->index, key_of(vc_of(u, vc_index), user))
                 : PAI__NONE;

  return i != PAI__NONE ? at(u, i)->usage : 0;
}

/* --- time ----------------------------------------------------------------- */

static int64_t steps_before(const pai__usage *u, pai_time time)
{
  return time / u->step - (time % u->step < 0);
}

static void advance(const pai__usage *u, pai__fair_account *a, int64_t steps,
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

/* --- GPUs in use ---------------------------------------------------------- */

static int name_vcs(pai__usage *u, pai_sched *s)
{
  if (!u->stale)
    return PAI_OK;
  u->vcs.len = 0;
  if (pai__flat_reserve(&u->vcs, &s->alloc, s->cluster->nvcs) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < s->cluster->nvcs; i++) {
    uint32_t name;

    if (pai__texts_add(&s->names, &s->alloc, s->cluster->vcs[i].name, &name) <
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
    pai__fair_account a = { 0 };

    if (!is_in_use(run))
      continue;
    a.vc = vc_of(u, pai__req_at(s, run->req)->vc_index);
    a.user = pai__req_at(s, run->req)->user;
    if (pai__lookup_get(&u->index, key_of(a.vc, a.user)) == PAI__NONE &&
        pai__usage_add(u, &s->alloc, &a) < 0)
      return PAI_ENOMEM;
  }
  return PAI_OK;
}

/* Drops accounts without usage; the others keep their order. */
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
  if (name_vcs(u, s) < 0 || find_accounts(u, s) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < u->accounts.len; i++)
    at(u, i)->rate = 0;
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    const pai__req *r;
    pai__fair_account *a;

    if (!is_in_use(run))
      continue;
    r = pai__req_at(s, run->req);
    a = at(u,
           pai__lookup_get(&u->index, key_of(vc_of(u, r->vc_index), r->user)));
    a->rate += pai__run_gpus(s, run);
  }
  drop_empty(u);
  return PAI_OK;
}

/* --- saving and loading --------------------------------------------------- */

/* An account in a saved state; `user` is a text, or null for none. */
typedef struct account_form {
  const char *vc;
  pai__node user;
  int64_t usage, gpus;
} account_form;

static const pai__field account_fields[] = {
  PAI__TEXT(account_form, vc, "vc", .needed = true),
  PAI__NODE(account_form, user, "user", .needed = true),
  PAI__NUMBER(account_form, usage, 0, INT64_MAX, "usage", .needed = true),
  PAI__NUMBER(account_form, gpus, 0, INT64_MAX, "gpus", .needed = true),
};

typedef struct usage_form {
  int64_t last;
  pai__node users;
} usage_form;

static const pai__field usage_fields[] = {
  PAI__NUMBER(usage_form, last, INT64_MIN, INT64_MAX, "last", .needed = true),
  PAI__NODE(usage_form, users, "users", .needed = true),
};

/* An account with the names of its owner. */
typedef struct owned {
  const pai__fair_account *account;
  const char *vc, *user; /* user is NULL for requests without a user */
} owned;

static int by_owner(const void *a, const void *b)
{
  const owned *x = a, *y = b;
  int order = strcmp(x->vc, y->vc);

  if (order != 0 || x->user == y->user)
    return order;
  if (x->user == NULL || y->user == NULL)
    return x->user == NULL ? -1 : 1;
  return strcmp(x->user, y->user);
}

/* Sorts accounts by name: their own order depends on the place of runs in
 * memory, which differs in a fork.  Returns NULL if memory is short. */
static owned *list_owned(const pai__usage *u, const pai_sched *s)
{
  owned *list = pai__zalloc(&s->alloc, (u->accounts.len + 1) * sizeof(*list));

  for (uint32_t i = 0; list != NULL && i < u->accounts.len; i++) {
    const pai__fair_account *a = (pai__fair_account *)u->accounts.data + i;

    list[i] = (owned){ a, pai__texts_text(&s->names, a->vc),
                       pai__texts_text(&s->names, a->user) };
  }
  if (list != NULL && u->accounts.len > 1)
    qsort(list, u->accounts.len, sizeof(*list), by_owner);
  return list;
}

int pai__usage_write(const pai__usage *u, const pai_sched *s,
                     pai_write_cb write, void *user_data)
{
  pai__buf buf;
  pai__json_writer w;
  owned *list = list_owned(u, s);
  int rc;

  if (list == NULL)
    return PAI_ENOMEM;
  pai__buf_init(&buf, &s->alloc);
  pai__json_writer_init(&w, &buf, false);
  pai__json_writer_to(&w, write, user_data);
  pai__json_begin_object(&w);
  pai__json_put_int(&w, "last", u->last);
  pai__json_put_array(&w, "users");
  for (uint32_t i = 0; i < u->accounts.len; i++) {
    const pai__fair_account *a = list[i].account;

    pai__json_begin_object(&w);
    pai__json_put_text(&w, "vc", list[i].vc);
    pai__json_put_text(&w, "user", list[i].user);
    pai__json_put_int(&w, "usage", (int64_t)a->usage);
    pai__json_put_int(&w, "gpus", (int64_t)a->rate);
    pai__json_end_object(&w);
  }
  pai__json_end_array(&w);
  pai__json_end_object(&w);
  rc = pai__json_finish(&w);
  pai__buf_dispose(&buf);
  pai__free(&s->alloc, list, (u->accounts.len + 1) * sizeof(*list));
  return rc;
}

static int read_account(pai__usage *u, pai_sched *s, const pai__form *f,
                        pai__node of)
{
  account_form form;
  pai__fair_account a = { .vc = PAI__NONE };
  const char *user = NULL;
  int rc = pai__form_read(f, of, "an account", account_fields,
                          PAI__LEN(account_fields), &form);

  if (rc == PAI_OK && pai__tree_type(f->tree, form.user) != PAI__NULL)
    rc = pai__form_text(f, form.user, "user", &user);
  if (rc == PAI_OK)
    rc = pai__texts_add(&s->names, &s->alloc, form.vc, &a.vc);
  if (rc == PAI_OK)
    rc = pai__texts_add(&s->names, &s->alloc, user, &a.user);
  if (rc < 0)
    return rc;
  if (usage_has(u, a.vc, a.user))
    return PAI_EINVAL;
  a.usage = (uint64_t)form.usage;
  a.rate = (uint64_t)form.gpus;
  return pai__usage_add(u, &s->alloc, &a);
}

static int read_saved(pai__usage *u, pai_sched *s, const pai__form *f)
{
  usage_form form;
  pai__items x = { .rc = PAI_OK };
  pai__node of;

  if (pai__tree_type(f->tree, 0) == PAI__NULL)
    return PAI_OK; /* written by hand: no usage */
  x.rc = pai__form_read(f, 0, "the usage", usage_fields,
                        PAI__LEN(usage_fields), &form);
  if (x.rc == PAI_OK)
    x = pai__form_items(f, form.users, "users");
  if (x.rc < 0)
    return x.rc;
  u->last = form.last;
  u->accounts.len = 0;
  pai__lookup_clear(&u->index);
  while ((of = pai__items_next(&x)) != PAI__NO_NODE)
    x.rc = read_account(u, s, f, of);
  return x.rc;
}

int pai__usage_read(pai__usage *u, pai_sched *s, const char *saved, size_t len)
{
  pai__json_options how = { .alloc = &s->alloc };
  pai__tree *tree;
  int rc = pai__json_parse(&tree, saved, len, &how, NULL);

  if (rc < 0)
    return rc;
  rc = read_saved(u, s, &(pai__form){ .tree = tree });
  pai__tree_free(tree);
  return rc;
}
