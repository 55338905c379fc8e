/* alert_states.c - alerts with their begin and end */
#include "server/monitor/alert_states.h"

#include "base/hash.h"

#include <stdio.h>

void pai__alert_states_init(pai__alert_states *a, const pai_alloc *alloc)
{
  *a = (pai__alert_states){ .alloc = *alloc };
  pai__map_init(&a->live, &a->alloc);
  pai__map_init(&a->users, &a->alloc);
}

static void free_alert_state(const pai__alert_states *a, pai__alert_state *x)
{
  pai__strfree(&a->alloc, (char *)x->alert.user);
  pai__strfree(&a->alloc, (char *)x->alert.job);
  pai__free(&a->alloc, x, sizeof(*x));
}

void pai__alert_states_dispose(pai__alert_states *a)
{
  for (size_t i = 0; i < a->n; i++)
    free_alert_state(a, a->list[i]);
  pai__free(&a->alloc, a->list, a->cap * sizeof(*a->list));
  pai__map_dispose(&a->live);
  pai__map_dispose(&a->users);
  a->list = NULL;
  a->n = a->cap = a->over = 0;
}

void pai__alert_states_begin(pai__alert_states *a)
{
  a->look++;
}

static uint64_t mix(uint64_t hash, const char *text)
{
  return pai__hash(pai__hash_text(hash, text != NULL ? text : ""), "\xff", 1);
}

static uint64_t print_of(const pai__alert *a)
{
  return mix(mix(mix(PAI__HASH_SEED, a->name), a->user), a->job);
}

/* Identifies an alert; names have no newlines. */
typedef struct alert_state_key {
  char text[600];
  size_t len;
} alert_state_key;

static alert_state_key key_of(const pai__alert *a)
{
  alert_state_key key;
  int n =
    snprintf(key.text, sizeof(key.text), "%s\n%s\n%s", a->name,
             a->user != NULL ? a->user : "", a->job != NULL ? a->job : "");

  key.len = (size_t)n < sizeof(key.text) ? (size_t)n : sizeof(key.text) - 1;
  return key;
}

/* Finds the live alert of that condition, or returns NULL. */
static pai__alert_state *find(const pai__alert_states *a,
                              const pai__alert *alert)
{
  alert_state_key key = key_of(alert);

  return pai__map_get(&a->live, key.text, key.len);
}

/* Returns the number of live alerts of a user. */
static size_t count_of(const pai__alert_states *a, const char *user)
{
  return (uintptr_t)pai__map_get(&a->users, user, strlen(user));
}

static size_t find_most(const pai__alert_states *a)
{
  const pai__map_entry *e;
  size_t most = 0;

  for (size_t i = 0; (e = pai__map_next(&a->users, &i)) != NULL;)
    if ((uintptr_t)e->value > most)
      most = (uintptr_t)e->value;
  return most;
}

/* Fails only when a user's first alert is counted.  Alerts of the machine are
 * not counted. */
static int count(pai__alert_states *a, const char *user, bool more)
{
  uintptr_t had, n;
  int rc = PAI_OK;

  if (user == NULL)
    return PAI_OK;
  had = count_of(a, user);
  n = more ? had + 1 : had - 1;
  if (n > 0)
    rc = pai__map_set(&a->users, user, strlen(user), (void *)n);
  else
    (void)pai__map_remove(&a->users, user, strlen(user));
  if (rc == PAI_OK && n > a->most)
    a->most = n;
  else if (!more && had == a->most)
    a->most = find_most(a);
  return rc;
}

static bool is_full(const pai__alert_states *a)
{
  return a->n >= PAI__ALERT_STATES && a->over == 0;
}

/* Limits each user's alerts, so that users with many do not take all space.
 * Alerts of the machine are few and always kept. */
bool pai__alert_states_have_room(const pai__alert_states *a,
                                 const pai__alert *alert)
{
  size_t n;

  if (alert->user == NULL || find(a, alert) != NULL)
    return true;
  n = count_of(a, alert->user);
  return n < PAI__ALERT_STATES_OF_USER && (!is_full(a) || n + 1 < a->most);
}

static bool copy(const pai__alert_states *a, const char **text)
{
  if (*text == NULL)
    return true;
  *text = pai__strdup(&a->alloc, *text);
  return *text != NULL;
}

static void forget(pai__alert_states *a, size_t i)
{
  free_alert_state(a, a->list[i]);
  a->n--;
  memmove(a->list + i, a->list + i + 1, (a->n - i) * sizeof(*a->list));
}

/* Uncounts an alert that has ended or that is forgotten. */
static void discount(pai__alert_states *a, const pai__alert_state *x)
{
  alert_state_key key = key_of(&x->alert);

  (void)pai__map_remove(&a->live, key.text, key.len);
  (void)count(a, x->alert.user, false);
}

/* Forgets the latest alert of a user who has the most. */
static void take_share(pai__alert_states *a)
{
  size_t i = a->n;

  while (i > 0) {
    const pai__alert *alert = &a->list[--i]->alert;

    if (a->list[i]->ended == 0 && alert->user != NULL &&
        count_of(a, alert->user) == a->most) {
      discount(a, a->list[i]);
      forget(a, i);
      return;
    }
  }
}

/* Forgets the oldest ended alert to make space.  If there is none, a user's
 * new alert replaces one of a user with more. */
static void make_room(pai__alert_states *a, const pai__alert *alert)
{
  size_t i = 0;

  if (is_full(a) && alert->user != NULL)
    take_share(a);
  if (a->n < PAI__ALERT_STATES || a->over == 0)
    return;
  while (a->list[i]->ended == 0)
    i++;
  forget(a, i);
  a->over--;
}

static pai__alert_state *add(pai__alert_states *a, const pai__alert *alert,
                             pai_time now)
{
  alert_state_key key = key_of(alert);
  pai__alert_state *x;
  bool ok;

  make_room(a, alert);
  if (PAI__VEC_ROOM(&a->alloc, a->list, a->n, a->cap) < 0)
    return NULL;
  x = pai__zalloc(&a->alloc, sizeof(*x));
  if (x == NULL)
    return NULL;
  x->alert = *alert;
  x->print = print_of(alert);
  ok = copy(a, &x->alert.user);
  ok = copy(a, &x->alert.job) && ok;
  if (!ok || count(a, alert->user, true) < 0) {
    free_alert_state(a, x);
    return NULL;
  }
  if (pai__map_set(&a->live, key.text, key.len, x) < 0) {
    (void)count(a, alert->user, false);
    free_alert_state(a, x);
    return NULL;
  }
  x->alert.since = (alert->since != 0 ? alert->since : now) + alert->wait;
  a->list[a->n++] = x;
  return x;
}

int pai__alert_states_see(pai__alert_states *a, const pai__alert *alert,
                          pai_time now)
{
  pai__alert_state *x = find(a, alert);

  if (!pai__alert_states_have_room(a, alert))
    return PAI_OK;
  if (x == NULL)
    x = add(a, alert, now);
  if (x == NULL)
    return PAI_ENOMEM;
  x->look = a->look;
  memcpy(x->alert.text, alert->text, sizeof(x->alert.text));
  return PAI_OK;
}

void pai__alert_states_stay(pai__alert_states *a, const pai__alert *alert)
{
  pai__alert_state *x = find(a, alert);

  if (x != NULL)
    x->look = a->look;
}

/* Ends an alert whose condition no longer holds; returns false if it never
 * fired or is too old to keep. */
static bool is_kept(pai__alert_state *x, uint64_t look, pai_time now,
                    size_t over)
{
  if (x->ended == 0 && x->look != look) {
    if (x->alert.since > now)
      return false;
    x->ended = now;
  }
  return x->ended == 0 || (over <= PAI__ALERT_STATES_OVER &&
                           now - x->ended < PAI__ALERT_STATE_KEPT);
}

void pai__alert_states_end(pai__alert_states *a, pai_time now)
{
  size_t n = 0, over = 0;

  a->over = 0;
  for (size_t i = 0; i < a->n; i++)
    over += a->list[i]->ended != 0 || a->list[i]->look != a->look;
  for (size_t i = 0; i < a->n; i++) {
    pai__alert_state *x = a->list[i];
    bool was_over = x->ended != 0 || x->look != a->look;

    if (x->ended == 0 && was_over)
      discount(a, x);
    if (is_kept(x, a->look, now, over)) {
      a->list[n++] = x;
      a->over += was_over;
      continue;
    }
    over -= was_over;
    free_alert_state(a, x);
  }
  a->n = n;
}
