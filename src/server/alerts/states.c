/* states.c - alerts with their begin and end */
#include "server/alerts/states.h"

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
  pai__strfree(&a->alloc, x->acknowledged);
  pai__free(&a->alloc, x->texts, x->texts_size);
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

static uint64_t print_of(const pai__alert *a, uint64_t seed)
{
  uint64_t hash = mix(mix(mix(seed, a->name), a->user), a->job);

  for (size_t i = 0; i < a->labels.n; i++)
    hash = mix(mix(hash, a->labels.at[i].name), a->labels.at[i].value);
  return a->outside ? mix(hash, "outside") : hash;
}

/* Identifies an alert: two hashes are as good as its labels. */
typedef struct alert_state_key {
  uint64_t hashes[2];
} alert_state_key;

static alert_state_key key_of(const pai__alert *a)
{
  return (alert_state_key){ { print_of(a, PAI__HASH_SEED),
                              print_of(a, ~PAI__HASH_SEED) } };
}

/* Returns whose share of the list an alert takes; NULL: nobody's, as of the
 * machine's.  No user has a name of a blank. */
static const char *holder_of(const pai__alert *a)
{
  return a->outside ? " " : a->user;
}

/* Finds the live alert of that condition, or returns NULL. */
static pai__alert_state *find(const pai__alert_states *a,
                              const pai__alert *alert)
{
  alert_state_key key = key_of(alert);

  return pai__map_get(&a->live, &key, sizeof(key));
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

  if (holder_of(alert) == NULL || find(a, alert) != NULL)
    return true;
  n = count_of(a, holder_of(alert));
  return n < PAI__ALERT_STATES_OF_USER && (!is_full(a) || n + 1 < a->most);
}

/* Copies a text to *at, or only adds up its size if there is no memory yet. */
static size_t put(const char **text, char **at)
{
  size_t len = *text != NULL ? strlen(*text) + 1 : 0;

  if (*at == NULL || len == 0)
    return len;
  memcpy(*at, *text, len);
  *text = *at;
  *at += len;
  return len;
}

static size_t put_all(pai__alert *a, pai__alert_label *labels, char *at)
{
  size_t size = put(&a->name, &at) + put(&a->severity, &at) +
                put(&a->user, &at) + put(&a->job, &at);

  for (size_t i = 0; i < a->labels.n; i++) {
    pai__alert_label l = a->labels.at[i];

    size += put(&l.name, &at) + put(&l.value, &at);
    if (labels != NULL)
      labels[i] = l;
  }
  return size;
}

/* Copies the texts of an alert into one block. */
static bool copy(const pai__alert_states *a, pai__alert_state *x)
{
  size_t labels = x->alert.labels.n * sizeof(pai__alert_label);

  x->texts_size = labels + put_all(&x->alert, NULL, NULL);
  x->texts = pai__zalloc(&a->alloc, x->texts_size);
  if (x->texts == NULL)
    return false;
  (void)put_all(&x->alert, x->texts, (char *)x->texts + labels);
  x->alert.labels.at = x->texts;
  return true;
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

  (void)pai__map_remove(&a->live, &key, sizeof(key));
  (void)count(a, holder_of(&x->alert), false);
}

/* Forgets the latest alert of a user who has the most. */
static void take_share(pai__alert_states *a)
{
  size_t i = a->n;

  while (i > 0) {
    const pai__alert *alert = &a->list[--i]->alert;

    if (a->list[i]->ended == 0 && holder_of(alert) != NULL &&
        count_of(a, holder_of(alert)) == a->most) {
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

  if (is_full(a) && holder_of(alert) != NULL)
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

  make_room(a, alert);
  if (PAI__VEC_ROOM(&a->alloc, a->list, a->n, a->cap) < 0)
    return NULL;
  x = pai__zalloc(&a->alloc, sizeof(*x));
  if (x == NULL)
    return NULL;
  x->alert = *alert;
  x->print = key.hashes[0];
  if (!copy(a, x) || count(a, holder_of(alert), true) < 0) {
    free_alert_state(a, x);
    return NULL;
  }
  if (pai__map_set(&a->live, &key, sizeof(key), x) < 0) {
    (void)count(a, holder_of(alert), false);
    free_alert_state(a, x);
    return NULL;
  }
  x->alert.since = (alert->since != 0 ? alert->since : now) + alert->wait;
  a->list[a->n++] = x;
  a->changed = true;
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

void pai__alert_states_stay(pai__alert_states *a, pai__alert_state *x)
{
  x->look = a->look;
}

/* --- from elsewhere ------------------------------------------------------ */

int pai__alert_states_restore(pai__alert_states *a, const pai__alert *alert,
                              const pai__alert_state *like)
{
  pai__alert_state *x = find(a, alert);
  int rc;

  if (x != NULL || a->n > PAI__ALERT_STATES)
    return PAI_OK;
  x = add(a, alert, alert->since);
  if (x == NULL)
    return PAI_ENOMEM;
  x->alert.since = alert->since;
  x->ended = like->ended;
  x->until = like->until;
  x->look = a->look;
  memcpy(x->sent, like->sent, sizeof(x->sent));
  rc = pai__alert_states_acknowledge(a, x, like->acknowledged,
                                     like->acknowledged_at);
  if (x->ended == 0)
    return rc;
  discount(a, x);
  a->over++;
  return rc;
}

int pai__alert_states_receive(pai__alert_states *a, const pai__alert *alert,
                              pai_time until, pai_time now)
{
  pai__alert_state *x = find(a, alert);

  if (x == NULL && (until <= now || !pai__alert_states_have_room(a, alert)))
    return PAI_OK;
  if (x == NULL)
    x = add(a, alert, now);
  if (x == NULL)
    return PAI_ENOMEM;
  memcpy(x->alert.text, alert->text, sizeof(x->alert.text));
  x->until = until;
  x->look = a->look;
  a->changed = true;
  return PAI_OK;
}

void pai__alert_print(char out[PAI__ALERT_PRINT], const pai__alert_state *x)
{
  (void)snprintf(out, PAI__ALERT_PRINT, "%016llx",
                 (unsigned long long)x->print);
}

pai__alert_state *pai__alert_states_find(const pai__alert_states *a,
                                         const char *print)
{
  char text[PAI__ALERT_PRINT];

  for (size_t i = a->n; i-- > 0;) {
    pai__alert_print(text, a->list[i]);
    if (strcmp(text, print) == 0)
      return a->list[i];
  }
  return NULL;
}

int pai__alert_states_acknowledge(pai__alert_states *a, pai__alert_state *x,
                                  const char *user, pai_time now)
{
  char *copy = user != NULL ? pai__strdup(&a->alloc, user) : NULL;

  if (user != NULL && copy == NULL)
    return PAI_ENOMEM;
  pai__strfree(&a->alloc, x->acknowledged);
  x->acknowledged = copy;
  x->acknowledged_at = user != NULL ? now : 0;
  a->changed = true;
  return PAI_OK;
}

/* --- the end of a look --------------------------------------------------- */

/* Ends an alert whose condition no longer holds; returns false if it never
 * fired or is too old to keep. */
static bool is_kept(pai__alert_state *x, uint64_t look, pai_time now,
                    size_t over)
{
  if (x->ended == 0 && x->look != look) {
    if (x->alert.since > now)
      return false;
    /* until 0: its sender has said that it is over */
    x->ended = x->until > 0 && x->until < now ? x->until : now;
  }
  return x->ended == 0 || (over <= PAI__ALERT_STATES_OVER &&
                           now - x->ended < PAI__ALERT_STATE_KEPT);
}

void pai__alert_states_end(pai__alert_states *a, pai_time now)
{
  size_t n = 0, over = 0;

  a->over = 0;
  for (size_t i = 0; i < a->n; i++)
    if (a->list[i]->alert.outside && a->list[i]->until > now)
      a->list[i]->look = a->look;
  for (size_t i = 0; i < a->n; i++)
    over += a->list[i]->ended != 0 || a->list[i]->look != a->look;
  for (size_t i = 0; i < a->n; i++) {
    pai__alert_state *x = a->list[i];
    bool was_over = x->ended != 0 || x->look != a->look;

    if (x->ended == 0 && was_over) {
      discount(a, x);
      a->changed = true;
    }
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
