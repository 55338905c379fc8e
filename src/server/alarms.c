/* alarms.c - alerts, since when they are there, and when they were over */
#include "server/alarms.h"

#include <stdio.h>

void pai__alarms_init(pai__alarms *a, const pai_alloc *alloc)
{
  *a = (pai__alarms){ .alloc = *alloc };
  pai__map_init(&a->live, &a->alloc);
  pai__map_init(&a->users, &a->alloc);
}

static void free_alarm(const pai__alarms *a, pai__alarm *x)
{
  pai__strfree(&a->alloc, (char *)x->alert.user);
  pai__strfree(&a->alloc, (char *)x->alert.job);
  pai__free(&a->alloc, x, sizeof(*x));
}

void pai__alarms_dispose(pai__alarms *a)
{
  for (size_t i = 0; i < a->n; i++)
    free_alarm(a, a->list[i]);
  pai__free(&a->alloc, a->list, a->cap * sizeof(*a->list));
  pai__map_dispose(&a->live);
  pai__map_dispose(&a->users);
  a->list = NULL;
  a->n = a->cap = a->over = 0;
}

void pai__alarms_begin(pai__alarms *a)
{
  a->look++;
}

static uint64_t mix(uint64_t hash, const char *text)
{
  for (; text != NULL && *text != '\0'; text++)
    hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
  return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint64_t print_of(const pai__alert *a)
{
  return mix(mix(mix(UINT64_C(0xcbf29ce484222325), a->name), a->user), a->job);
}

/* No name has a newline. */
typedef struct alarm_key {
  char text[600];
  size_t len;
} alarm_key;

static alarm_key key_of(const pai__alert *a)
{
  alarm_key key;
  int n =
    snprintf(key.text, sizeof(key.text), "%s\n%s\n%s", a->name,
             a->user != NULL ? a->user : "", a->job != NULL ? a->job : "");

  key.len = (size_t)n < sizeof(key.text) ? (size_t)n : sizeof(key.text) - 1;
  return key;
}

/* The one that is still there, or NULL. */
static pai__alarm *find(const pai__alarms *a, const pai__alert *alert)
{
  alarm_key key = key_of(alert);

  return pai__map_get(&a->live, key.text, key.len);
}

/* How many of a user's are not over. */
static size_t count_of(const pai__alarms *a, const char *user)
{
  return (uintptr_t)pai__map_get(&a->users, user, strlen(user));
}

static size_t find_most(const pai__alarms *a)
{
  const pai__map_entry *e;
  size_t most = 0;

  for (size_t i = 0; (e = pai__map_next(&a->users, &i)) != NULL;)
    if ((uintptr_t)e->value > most)
      most = (uintptr_t)e->value;
  return most;
}

/* Fails only where a user's first is counted.  The machine's are not. */
static int count(pai__alarms *a, const char *user, bool more)
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

static bool is_full(const pai__alarms *a)
{
  return a->n >= PAI__ALARMS && a->over == 0;
}

/* One user's many leave room for others', and those of many users for one who
 * has fewer; there is always room for the machine's, which are few. */
bool pai__alarms_have_room(const pai__alarms *a, const pai__alert *alert)
{
  size_t n;

  if (alert->user == NULL || find(a, alert) != NULL)
    return true;
  n = count_of(a, alert->user);
  return n < PAI__ALARMS_OF_USER && (!is_full(a) || n + 1 < a->most);
}

static bool copy(const pai__alarms *a, const char **text)
{
  if (*text == NULL)
    return true;
  *text = pai__strdup(&a->alloc, *text);
  return *text != NULL;
}

static void forget(pai__alarms *a, size_t i)
{
  free_alarm(a, a->list[i]);
  a->n--;
  memmove(a->list + i, a->list + i + 1, (a->n - i) * sizeof(*a->list));
}

/* It is not the case any more, or has no room. */
static void discount(pai__alarms *a, const pai__alarm *x)
{
  alarm_key key = key_of(&x->alert);

  (void)pai__map_remove(&a->live, key.text, key.len);
  (void)count(a, x->alert.user, false);
}

/* The latest of a user who has the most is forgotten. */
static void take_share(pai__alarms *a)
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

/* The oldest that is over is forgotten for one that is there; if none is, a
 * user's has a share of the others'. */
static void make_room(pai__alarms *a, const pai__alert *alert)
{
  size_t i = 0;

  if (is_full(a) && alert->user != NULL)
    take_share(a);
  if (a->n < PAI__ALARMS || a->over == 0)
    return;
  while (a->list[i]->ended == 0)
    i++;
  forget(a, i);
  a->over--;
}

static pai__alarm *add(pai__alarms *a, const pai__alert *alert, pai_time now)
{
  alarm_key key = key_of(alert);
  pai__alarm *x;
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
    free_alarm(a, x);
    return NULL;
  }
  if (pai__map_set(&a->live, key.text, key.len, x) < 0) {
    (void)count(a, alert->user, false);
    free_alarm(a, x);
    return NULL;
  }
  x->alert.since = (alert->since != 0 ? alert->since : now) + alert->wait;
  a->list[a->n++] = x;
  return x;
}

int pai__alarms_see(pai__alarms *a, const pai__alert *alert, pai_time now)
{
  pai__alarm *x = find(a, alert);

  if (!pai__alarms_have_room(a, alert))
    return PAI_OK;
  if (x == NULL)
    x = add(a, alert, now);
  if (x == NULL)
    return PAI_ENOMEM;
  x->look = a->look;
  memcpy(x->alert.text, alert->text, sizeof(x->alert.text));
  return PAI_OK;
}

void pai__alarms_stay(pai__alarms *a, const pai__alert *alert)
{
  pai__alarm *x = find(a, alert);

  if (x != NULL)
    x->look = a->look;
}

/* It is not the case any more; what never was an alert is forgotten. */
static bool is_kept(pai__alarm *x, uint64_t look, pai_time now, size_t over)
{
  if (x->ended == 0 && x->look != look) {
    if (x->alert.since > now)
      return false;
    x->ended = now;
  }
  return x->ended == 0 ||
         (over <= PAI__ALARMS_OVER && now - x->ended < PAI__ALARM_KEPT);
}

void pai__alarms_end(pai__alarms *a, pai_time now)
{
  size_t n = 0, over = 0;

  a->over = 0;
  for (size_t i = 0; i < a->n; i++)
    over += a->list[i]->ended != 0 || a->list[i]->look != a->look;
  for (size_t i = 0; i < a->n; i++) {
    pai__alarm *x = a->list[i];
    bool was_over = x->ended != 0 || x->look != a->look;

    if (x->ended == 0 && was_over)
      discount(a, x);
    if (is_kept(x, a->look, now, over)) {
      a->list[n++] = x;
      a->over += was_over;
      continue;
    }
    over -= was_over;
    free_alarm(a, x);
  }
  a->n = n;
}
