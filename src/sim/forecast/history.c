/* history.c - history of durations: rings, keys, guesses and draws */
#include "sim/forecast/forecast.h"

#include <stdio.h>

int pai_history_new(pai_history **out, const pai_alloc *alloc, pai_error **err)
{
  pai_history *h;

  PAI__CLEAR_OUT(out, err);
  alloc = pai__alloc_or_libc(alloc);
  h = pai__zalloc(alloc, sizeof(*h));
  if (h == NULL)
    return pai__oom(err);
  h->alloc = *alloc;
  pai__map_init(&h->rings, &h->alloc);
  *out = h;
  return PAI_OK;
}

static void free_ring(const pai_alloc *alloc, pai__ring *r)
{
  pai__free(alloc, r->took, 3 * (size_t)r->cap * sizeof(*r->took));
  pai__free(alloc, r, sizeof(*r));
}

void pai_history_free(pai_history *history)
{
  const pai__map_entry *e;
  pai_alloc alloc;
  size_t i = 0;

  if (history == NULL)
    return;
  alloc = history->alloc;
  while ((e = pai__map_next(&history->rings, &i)) != NULL)
    free_ring(&alloc, e->value);
  pai__map_dispose(&history->rings);
  for (uint32_t k = 0; k < history->narrivals; k++)
    pai__recorded_arrival_free(&alloc, history->arrivals[k]);
  pai__free(&alloc, history, sizeof(*history));
}

/* --- rings --------------------------------------------------------------- */

pai__ring *pai__history_ring(pai_history *h, const char *key, size_t len)
{
  pai__ring *r = pai__map_get(&h->rings, key, len);

  if (r != NULL)
    return r;
  r = pai__zalloc(&h->alloc, sizeof(*r));
  for (size_t i = 0; r != NULL && i < len; i++)
    r->mark = (r->mark ^ (uint8_t)key[i]) * UINT64_C(0x100000001b3);
  if (r != NULL && pai__map_set(&h->rings, key, len, r) < 0) {
    pai__free(&h->alloc, r, sizeof(*r));
    return NULL;
  }
  return r;
}

int pai__ring_room(pai__ring *r, const pai_alloc *alloc)
{
  uint32_t cap = r->cap != 0 ? 2 * r->cap : PAI__ENOUGH;
  pai_time *block;

  if (r->count < r->cap || r->cap == PAI__RING)
    return PAI_OK;
  block = pai__realloc(alloc, r->took, 3 * (size_t)r->cap, 3 * (size_t)cap,
                       sizeof(*block));
  if (block == NULL)
    return PAI_ENOMEM;
  /* The second and third list move, as the first one gets longer. */
  memmove(block + 2 * cap, block + 2 * r->cap, r->count * sizeof(*block));
  memmove(block + cap, block + r->cap, r->count * sizeof(*block));
  r->took = block;
  r->sorted = block + cap;
  r->ended = block + 2 * cap;
  r->cap = cap;
  return PAI_OK;
}

/* Returns the index of the first duration longer than `t`. */
static uint32_t beyond(const pai_time *sorted, uint32_t count, pai_time t)
{
  uint32_t low = 0, high = count;

  while (low < high) {
    uint32_t mid = low + (high - low) / 2;

    if (sorted[mid] > t)
      high = mid;
    else
      low = mid + 1;
  }
  return low;
}

uint32_t pai__ring_beyond(const pai__ring *r, pai_time t)
{
  return beyond(r->sorted, r->count, t);
}

void pai__ring_push(pai__ring *r, pai_time took, pai_time ended)
{
  uint32_t at;

  if (r->count == r->cap) {
    at = beyond(r->sorted, r->count, r->took[r->next]);
    r->count--;
    memmove(r->sorted + at - 1, r->sorted + at,
            (r->count + 1 - at) * sizeof(*r->sorted));
    r->took[r->next] = took;
    r->ended[r->next] = ended;
    r->next = (r->next + 1) % r->cap;
  } else {
    r->took[r->count] = took;
    r->ended[r->count] = ended;
  }
  at = beyond(r->sorted, r->count, took);
  memmove(r->sorted + at + 1, r->sorted + at,
          (r->count - at) * sizeof(*r->sorted));
  r->sorted[at] = took;
  r->count++;
}

pai_time pai__ring_at(const pai__ring *r, uint32_t i)
{
  return r->took[r->count == r->cap ? (r->next + i) % r->cap : i];
}

pai_time pai__ring_ended(const pai__ring *r, uint32_t i)
{
  return r->ended[r->count == r->cap ? (r->next + i) % r->cap : i];
}

/* --- keys ---------------------------------------------------------------- */

typedef struct key {
  char text[PAI__KEY_BYTES]; /* parts, each with a NUL behind it */
  size_t len;
} key;

/* Appends a part, cut to `most` bytes of whole characters. */
static void put_part(key *k, const char *s, size_t most)
{
  size_t len = strlen(s);

  if (len > most)
    for (len = most; len > 0 && ((unsigned char)s[len] & 0xc0) == 0x80;)
      len--;
  memcpy(k->text + k->len, s, len);
  k->len += len;
  k->text[k->len++] = '\0';
}

static void put_number(key *k, uint64_t n)
{
  char digits[24];

  (void)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
  put_part(k, digits, sizeof(digits));
}

/* Appends a name with each number as '#': "train-17" and "train-9" are
 * alike. */
static void put_pattern(key *k, const char *name)
{
  char pattern[208];
  size_t n = 0;
  bool digit = false;

  for (; *name != '\0' && n < sizeof(pattern) - 1; name++) {
    bool was = digit;

    digit = *name >= '0' && *name <= '9';
    if (!digit || !was)
      pattern[n++] = digit ? '#' : *name;
  }
  pattern[n] = '\0';
  put_part(k, pattern, 200);
}

static uint64_t size_class(uint64_t gpus)
{
  static const uint8_t least[] = { 1, 2, 4, 8, 9, 17, 33, 65 };
  size_t i = PAI__LEN(least);

  while (i > 0 && gpus < least[i - 1])
    i--;
  return i != 0 ? least[i - 1] : 0;
}

/* Returns the class of an estimate, by powers of two of seconds, from 1; 0: no
 * estimate. */
static uint64_t estimate_class(pai_time estimate)
{
  uint64_t class = 0;

  for (pai_time s = estimate > 0 ? estimate / 1000000 + 1 : 0; s != 0; s >>= 1)
    class ++;
  return class;
}

/* Makes the key of a level.  Returns false if the job lacks a part of it. */
static bool make_key(key *k, int alike, const pai_past *p)
{
  const char *vc = p->vc != NULL ? p->vc : "default";

  k->len = 0;
  if (alike >= PAI_ALIKE_USER && p->user == NULL)
    return false;
  if (alike == PAI_ALIKE_NAME && p->name == NULL)
    return false;
  put_number(k, (uint64_t)alike);
  if (alike >= PAI_ALIKE_USER)
    put_part(k, p->user, 120);
  if (alike == PAI_ALIKE_VC_SIZE)
    put_part(k, vc, 120);
  if (alike == PAI_ALIKE_NAME)
    put_pattern(k, p->name);
  if (alike == PAI_ALIKE_USER_SIZE || alike == PAI_ALIKE_VC_SIZE ||
      alike == PAI_ALIKE_SIZE)
    put_number(k, size_class(p->gpus));
  if (alike != PAI_ALIKE_ANY)
    put_number(k, estimate_class(p->estimate));
  else if (p->estimate > 0)
    put_part(k, "parts", 8);
  return true;
}

/* In units of 2^-16 of the estimate. */
pai_time pai__part_of(pai_time t, pai_time estimate)
{
  while (t > PAI__LONGEST >> 16) {
    t >>= 1;
    estimate >>= 1;
  }
  return estimate > 0 ? (t << 16) / estimate : PAI__LONGEST;
}

static pai_time of_part(pai_time part, pai_time estimate)
{
  if (part > PAI__LONGEST >> 4)
    return PAI__LONGEST;
  return part / 65536 < PAI__LONGEST / estimate
           ? (part >> 16) * estimate + ((part & 0xffff) * (estimate >> 16)) +
               ((part & 0xffff) * (estimate & 0xffff) >> 16)
           : PAI__LONGEST;
}

int pai_history_add(pai_history *history, const pai_past *past,
                    pai_error **err)
{
  pai__ring *rings[PAI__ALIKES] = { NULL };
  pai_past p = { 0 };
  pai_time took;
  key k;

  PAI__CHECK_ARG_ERR(history != NULL, err);
  if (PAI__COPY_IN(&p, past, pai_past, duration) < 0)
    return pai__fail_struct(err, PAI_EINVAL, past, "pai_past");
  if (p.ended == 0)
    p.ended = PAI__UNKNOWN;
  took = p.duration < 0              ? 0
         : p.duration > PAI__LONGEST ? PAI__LONGEST
                                     : p.duration;
  for (int i = PAI_ALIKE_ANY; i <= PAI_ALIKE_NAME; i++) {
    if (!make_key(&k, i, &p))
      continue;
    rings[i] = pai__history_ring(history, k.text, k.len);
    if (rings[i] == NULL || pai__ring_room(rings[i], &history->alloc) < 0)
      return pai__oom(err);
  }
  for (int i = PAI_ALIKE_ANY; i <= PAI_ALIKE_NAME; i++)
    if (rings[i] != NULL)
      pai__ring_push(rings[i],
                     i == PAI_ALIKE_ANY && p.estimate > 0
                       ? pai__part_of(took, p.estimate)
                       : took,
                     p.ended);
  return PAI_OK;
}

/* --- guesses ------------------------------------------------------------- */

void pai__history_levels(const pai_history *h, const pai_past *like,
                         pai__levels *out)
{
  key k;

  *out = (pai__levels){ .estimate = like->estimate, .limit = like->limit };
  for (int i = PAI_ALIKE_ANY; h != NULL && i <= PAI_ALIKE_NAME; i++)
    if (make_key(&k, i, like))
      out->rings[i] = pai__map_get(&h->rings, k.text, k.len);
}

/* Takes the durations of a ring that are longer than the job has run; all of
 * them if it has not begun.  Returns false if there are too few. */
static bool take_ring(pai__draw_source *s, const pai__levels *levels,
                      int alike, pai_time unit, uint32_t enough)
{
  const pai__ring *r = levels->rings[alike];
  pai_time ran = s->ran > 0 && unit != 0 ? pai__part_of(s->ran, unit) : s->ran;
  uint32_t from;

  if (r == NULL || r->count < enough)
    return false;
  from = ran > 0 ? beyond(r->sorted, r->count, ran) : 0;
  /* half as many suffice for a job that has run for long */
  if (r->count - from < (enough + 1) / 2)
    return false;
  s->list = r->sorted + from;
  s->count = r->count - from;
  s->curve = levels->curves[alike];
  s->samples = r->count;
  s->mark = r->mark;
  s->alike = alike;
  s->unit = unit;
  s->guessed = true;
  return true;
}

static void take_told(pai__draw_source *s, const pai__levels *levels)
{
  pai_time told = levels->estimate > s->ran ? levels->estimate : levels->limit;

  if (told > s->ran)
    s->told = told < PAI__LONGEST ? told : PAI__LONGEST;
}

void pai__history_source(const pai__levels *levels, pai_time ran,
                         pai__draw_source *out)
{
  pai__draw_source s = { .ran = ran > 0 ? ran : 0, .limit = levels->limit };
  pai_time unit;

  if (s.ran > PAI__LONGEST)
    s.ran = PAI__LONGEST;
  *out = s;
  unit = levels->estimate > 0 ? levels->estimate : 0;
  for (int i = PAI_ALIKE_NAME; i >= PAI_ALIKE_ANY; i--)
    if (take_ring(out, levels, i, i == PAI_ALIKE_ANY ? unit : 0, PAI__ENOUGH))
      return;
  take_told(out, levels);
  if (out->told != 0 || take_ring(out, levels, PAI_ALIKE_ANY, unit, 1))
    return;
  out->guessed = true;
  out->blind = levels->rings[PAI_ALIKE_ANY] == NULL;
  if (out->ran == 0)
    out->told = INT64_C(3600) * 1000000;
}

/* Returns a time longer than `t`, by a factor that exceeds n with a
 * probability of 1/n; at most 16. */
pai_time pai__far_beyond(pai_time t, uint32_t fraction)
{
  uint32_t left = (UINT32_MAX - fraction) >> 16; /* in units of 2^-16 */

  if (left < 4096)
    left = 4096;
  return t / left * 65536 + 1;
}

/* Each of the n values of the list is drawn with a probability of 1 / (n + 1),
 * a time below all of them and a time above all of them with half of it. */
static pai_time pick(const pai__draw_source *s, pai_time ran, uint32_t random)
{
  uint64_t at = (uint64_t)random * (s->count + 1);
  uint32_t i = (uint32_t)(at >> 32), fraction = (uint32_t)at;
  bool low = fraction < UINT32_C(0x80000000);

  if (s->curve != NULL)
    return pai__curve_pick(s->curve, s->list, s->count, ran, random);
  if (i == 0 && low) {
    pai_time span = s->list[0] - ran, half = fraction >> 15;

    return ran + (span >> 16) * half + ((span & 0xffff) * half >> 16);
  }
  if (i == 0 || (low && i <= s->count))
    return s->list[i == 0 ? 0 : i - 1];
  if (i < s->count)
    return s->list[i];
  return pai__far_beyond(s->list[s->count - 1],
                         (fraction - UINT32_C(0x80000000)) * 2);
}

static pai_time pick_part(const pai__draw_source *s, uint32_t random)
{
  pai_time ran = s->ran > 0 ? pai__part_of(s->ran, s->unit) : 0;

  return of_part(pick(s, ran, random), s->unit);
}

pai_time pai__source_draw(const pai__draw_source *source, uint64_t random)
{
  uint32_t bits = (uint32_t)(random >> 32);
  pai_time t = source->told != 0      ? source->told
               : source->list == NULL ? pai__far_beyond(source->ran, bits)
               : source->unit != 0    ? pick_part(source, bits)
                                      : pick(source, source->ran, bits);

  if (source->limit != 0 && t > source->limit)
    t = source->limit;
  if (t > PAI__LONGEST)
    t = PAI__LONGEST;
  return t > source->ran ? t : source->ran + 1;
}

int pai_history_guess(const pai_history *history, const pai_past *like,
                      pai_time ran, pai_guess *guess)
{
  pai_guess g = { .struct_size = sizeof(g) };
  pai__levels levels;
  pai__draw_source source;
  pai_past p = { 0 };

  PAI__CHECK_ARG(history != NULL && guess != NULL);
  if (PAI__COPY_IN(&p, like, pai_past, duration) < 0)
    return PAI_EINVAL;
  pai__history_levels(history, &p, &levels);
  pai__history_source(&levels, ran, &source);
  g.alike = source.alike;
  g.samples = source.samples;
  g.unknown = source.blind;
  g.p10 = pai__source_draw(&source, UINT64_MAX / 10);
  g.p50 = pai__source_draw(&source, UINT64_MAX / 2);
  g.p90 = pai__source_draw(&source, UINT64_MAX / 10 * 9);
  return PAI__FILL_VIEW(guess, g, pai_guess, p90);
}

uint64_t pai__draw_random(uint64_t seed, uint64_t run, uint64_t id,
                          uint64_t instance)
{
  const uint64_t of[] = { seed, run, id, instance };
  uint64_t z = 0;

  for (size_t i = 0; i < PAI__LEN(of); i++) {
    z += of[i] + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
  }
  return z;
}
