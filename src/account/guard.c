/*
 * guard.c - delays after wrong passwords
 *
 * Wrong passwords are counted for an account from one address, for an address
 * over all accounts, and for an account from all addresses.  For a user who
 * has logged in from an address before, only the first count matters there, so
 * attackers elsewhere cannot lock the user out.  Counts are kept by a hash of
 * the names, in tables of fixed size, whether or not the user exists.
 */
#include "account/inside.h"

#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)

enum kind { PAIR, ADDRESS, ACCOUNT, KINDS };

/* From the `most_free`-th wrong password on, each one causes a wait that is
 * twice as long as the last. */
static const struct rule {
  uint32_t most_free;
  pai_time first, longest;
  pai_time window; /* after that long a count is forgotten */
  bool resets;     /* a wait restarts the count */
} rules[KINDS] = {
  [PAIR] = { 3, SECOND, 15 * MINUTE, 60 * MINUTE, false },
  [ADDRESS] = { 20, 30 * SECOND, 15 * MINUTE, 60 * MINUTE, false },
  [ACCOUNT] = { 100, MINUTE, MINUTE, 15 * MINUTE, true },
};

enum { SETS = 512, WAYS = 4 };

typedef struct slot {
  uint64_t key; /* 0: free */
  uint32_t wrong;
  pai_time last, until;
} slot;

struct pai__guard {
  slot slots[KINDS][SETS * WAYS];
  uint64_t
    /* user and address pairs that have logged in, latest first */
    known[SETS * WAYS];
  unsigned char seed[crypto_shorthash_KEYBYTES];
  pai_time latest; /* latest wrong password of any user */
};

/* --- the tables ---------------------------------------------------------- */

/* If out of memory, nothing is counted. */
static pai__guard *guard_of(pai_accounts *a)
{
  if (a->guard == NULL) {
    a->guard = pai__zalloc(&a->alloc, sizeof(*a->guard));
    if (a->guard != NULL)
      randombytes_buf(a->guard->seed, sizeof(a->guard->seed));
  }
  return a->guard;
}

void pai__guard_free(pai_accounts *a)
{
  if (a->guard != NULL)
    pai__free(&a->alloc, a->guard, sizeof(*a->guard));
  a->guard = NULL;
}

static uint64_t add_hash(const pai__guard *g, uint64_t h, const char *text)
{
  unsigned char out[crypto_shorthash_BYTES];
  uint64_t more;

  (void)crypto_shorthash(out, (const unsigned char *)text, strlen(text),
                         g->seed);
  memcpy(&more, out, sizeof(more));
  return (h ^ more) * 0x9e3779b97f4a7c15u;
}

/* Never 0. */
static uint64_t key_of(const pai__guard *g, enum kind kind, const char *user,
                       const char *from)
{
  uint64_t h = (uint64_t)kind + 1;

  if (kind != ADDRESS)
    h = add_hash(g, h, user);
  h ^= h >> 31;
  if (kind != ACCOUNT)
    h = add_hash(g, h, from);
  return (h ^ (h >> 29)) | 1;
}

static size_t set_of(uint64_t key)
{
  return (size_t)(key >> 20) % SETS * WAYS;
}

/* A slot from the future is over, too: the clock was set back. */
static bool is_over(const slot *s, const struct rule *rule, pai_time now)
{
  return s->key == 0 || now - s->last > rule->window ||
         s->last - now > rule->window;
}

static slot *find(pai__guard *g, enum kind kind, uint64_t key)
{
  slot *set = &g->slots[kind][set_of(key)];

  for (size_t i = 0; i < WAYS; i++)
    if (set[i].key == key)
      return &set[i];
  return NULL;
}

/* A new key replaces an expired slot, or the one with the fewest wrong
 * passwords. */
static slot *take(pai__guard *g, enum kind kind, uint64_t key, pai_time now)
{
  slot *s = find(g, kind, key), *set = &g->slots[kind][set_of(key)];

  if (s != NULL && !is_over(s, &rules[kind], now))
    return s;
  for (size_t i = 0; s == NULL && i < WAYS; i++)
    if (is_over(&set[i], &rules[kind], now))
      s = &set[i];
  for (size_t i = 0; s == NULL || i < WAYS; i++)
    if (s == NULL || (s->key != key && !is_over(s, &rules[kind], now) &&
                      set[i].wrong < s->wrong))
      s = &set[i];
  *s = (slot){ .key = key };
  return s;
}

static bool is_known(const pai__guard *g, uint64_t pair)
{
  const uint64_t *set = &g->known[set_of(pair)];

  for (size_t i = 0; i < WAYS; i++)
    if (set[i] == pair)
      return true;
  return false;
}

static void make_known(pai__guard *g, uint64_t pair)
{
  uint64_t *set = &g->known[set_of(pair)];
  size_t i = 0;

  while (i < WAYS - 1 && set[i] != pair)
    i++;
  memmove(set + 1, set, i * sizeof(*set));
  set[0] = pair;
}

/* --- the rules ----------------------------------------------------------- */

/* Returns whether counts of this kind delay logins of this pair. */
static bool counts(const pai__guard *g, enum kind kind, uint64_t pair,
                   const char *from)
{
  return kind == PAIR ||
         (!is_known(g, pair) && (kind != ADDRESS || from[0] != '\0'));
}

static pai_time left(const slot *s, const struct rule *rule, pai_time now)
{
  pai_time wait = s != NULL && !is_over(s, rule, now) ? s->until - now : 0;

  return wait > 0 && wait <= rule->longest ? wait : 0;
}

pai_time pai__guard_wait(const pai_accounts *a, const char *user,
                         const char *from)
{
  pai__guard *g = a->guard;
  pai_time now = a->host.now(a->host.ctx), longest = 0;
  uint64_t pair;

  if (g == NULL)
    return 0;
  pair = key_of(g, PAIR, user, from);
  for (int kind = 0; kind < KINDS; kind++) {
    pai_time wait =
      left(find(g, (enum kind)kind, key_of(g, (enum kind)kind, user, from)),
           &rules[kind], now);
    if (wait > longest && counts(g, (enum kind)kind, pair, from))
      longest = wait;
  }
  return longest;
}

/* Returns the slot of the key, or NULL if it has expired. */
static const slot *find_recent(pai__guard *g, enum kind kind, const char *user,
                               const char *from, pai_time now)
{
  const slot *s = find(g, kind, key_of(g, kind, user, from));

  return s != NULL && !is_over(s, &rules[kind], now) ? s : NULL;
}

/* The account had many wrong passwords.  `until` is tested as a wait restarts
 * the count. */
static bool is_guessed_at(const slot *account)
{
  return account != NULL &&
         (account->until != 0 || account->wrong >= rules[PAIR].most_free);
}

uint32_t pai__guard_rank(const pai_accounts *a, const char *user,
                         const char *from)
{
  pai__guard *g = a->guard;
  pai_time now = a->host.now(a->host.ctx);
  enum kind kind = from[0] != '\0' ? ADDRESS : PAIR;
  const slot *s;
  uint32_t wrong;

  if (g == NULL)
    return 1;
  if (is_known(g, key_of(g, PAIR, user, from)))
    return 0;
  s = find_recent(g, kind, user, from, now);
  wrong = s != NULL ? s->wrong : 0;
  if (is_guessed_at(find_recent(g, ACCOUNT, user, from, now)))
    wrong++;
  return wrong < PAI__RANKS - 2 ? 1 + wrong : PAI__RANKS - 1;
}

bool pai__guard_is_attacked(const pai_accounts *a)
{
  pai_time now = a->host.now(a->host.ctx);

  return a->guard != NULL && a->guard->latest != 0 &&
         now >= a->guard->latest && now - a->guard->latest < 10 * SECOND;
}

/* Counts a wrong password; returns the wait that it causes. */
static pai_time count(pai__guard *g, enum kind kind, uint64_t key,
                      pai_time now)
{
  const struct rule *rule = &rules[kind];
  slot *s = take(g, kind, key, now);
  uint32_t over;
  pai_time wait;

  s->last = now;
  if (++s->wrong < rule->most_free)
    return 0;
  over = s->wrong - rule->most_free;
  wait = over < 20 ? rule->first << over : rule->longest;
  if (wait > rule->longest)
    wait = rule->longest;
  s->until = now + wait;
  if (rule->resets)
    s->wrong = 0;
  return wait;
}

pai_time pai__guard_wrong(pai_accounts *a, const char *user, const char *from)
{
  pai__guard *g = guard_of(a);
  pai_time now = a->host.now(a->host.ctx), longest = 0;
  uint64_t pair;

  a->logins.wrong++;
  if (g == NULL)
    return 0;
  g->latest = now;
  pair = key_of(g, PAIR, user, from);
  for (int kind = 0; kind < KINDS; kind++) {
    pai_time wait;
    if (!counts(g, (enum kind)kind, pair, from))
      continue;
    wait =
      count(g, (enum kind)kind, key_of(g, (enum kind)kind, user, from), now);
    if (wait > longest)
      longest = wait;
  }
  a->logins.lockouts += longest >= 30 * SECOND;
  return longest;
}

void pai__guard_right(pai_accounts *a, const char *user, const char *from)
{
  pai__guard *g = guard_of(a);
  uint64_t pair;
  slot *s;

  a->logins.good++;
  if (g == NULL)
    return;
  pair = key_of(g, PAIR, user, from);
  make_known(g, pair);
  s = find(g, PAIR, pair);
  if (s != NULL)
    *s = (slot){ 0 };
}

/* --- errors -------------------------------------------------------------- */

int pai__guard_refuse(pai_accounts *a, const char *user, pai_time wait,
                      pai_error **err)
{
  long long seconds = (wait + SECOND - 1) / SECOND;

  a->logins.refused++;
  (void)pai__fail(err, PAI_EBUSY,
                  "Too many wrong passwords for %.64s: try again in %lld s.",
                  user, seconds);
  pai__error_retriable(err);
  pai__error_wait(err, wait);
  return pai__as(err, PAI_EBUSY, 429, "UnknownError");
}

int pai_accounts_count_logins(const pai_accounts *a, pai_login_counts *out)
{
  pai_login_counts full;
  pai_time now;

  PAI__CHECK_ARG(a != NULL && out != NULL);
  PAI__CHECK_PROCESS(a, NULL);
  full = a->logins;
  now = a->host.now(a->host.ctx);
  for (int kind = 0; a->guard != NULL && kind < KINDS; kind++)
    for (size_t i = 0; i < SETS * WAYS; i++)
      full.waiting += left(&a->guard->slots[kind][i], &rules[kind], now) > 0;
  return PAI__FILL_VIEW(out, full, pai_login_counts, waiting);
}
