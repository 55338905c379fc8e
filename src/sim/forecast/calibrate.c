/* calibrate.c - calibrates bands by forecasts that came true */
#include "sim/forecast/history.h"

#include <stdlib.h>

enum {
  FARTHEST = 1000000, /* largest score: a thousand times the longest wait */
  BELIEVED = 50,      /* added scores of a perfect forecast */
  ONE = 100000,       /* unit of levels */
  STEP = 1000         /* change of a level ONE after a late start */
};

/* Least wait that is divided by. */
#define LEAST INT64_C(1000000)

static int64_t part(int64_t a, int64_t times, int64_t of)
{
  while (a > INT64_MAX / 1000000) {
    a >>= 1;
    of >>= 1;
  }
  return a * times / (of > 0 ? of : 1);
}

int32_t pai__score_of(const pai_time *waits, uint32_t n, pai_time wait)
{
  uint32_t before = 0, with = 0;
  int64_t last, score;

  if (n == 0)
    return 0;
  while (before < n && waits[before] < wait)
    before++;
  while (before + with < n && waits[before + with] == wait)
    with++;
  if (before == 0 && with == 0) /* before all waits */
    return (int32_t)(part(wait > 0 ? wait : 0, 1000, waits[0]) - 1000);
  if (n == 1)
    n++;
  if (with != 0) /* in the middle of equal waits */
    return (int32_t)((2 * (int64_t)before + with - 1) * 500 / (n - 1));
  if (before == n || waits[before] == INT64_MAX) {
    last = waits[before - 1] > LEAST ? waits[before - 1] : LEAST;
    score = part(wait, 1000, last);
    score = before < n     ? (int64_t)(before - 1) * 1000 / (n - 1)
            : score > 1000 ? score
                           : 1000;
    return (int32_t)(score < FARTHEST ? score : FARTHEST);
  }
  score =
    (int64_t)(before - 1) * 1000 +
    part(wait - waits[before - 1], 1000, waits[before] - waits[before - 1]);
  return (int32_t)(score / (n - 1));
}

pai_time pai__score_wait(const pai_time *waits, uint32_t n, int32_t score)
{
  int64_t at, span;
  uint32_t i;
  pai_time last;

  if (n == 0)
    return INT64_MAX;
  if (score < 0)
    return waits[0] == INT64_MAX ? INT64_MAX
                                 : part(waits[0], 1000 + score, 1000);
  last = waits[n - 1];
  if (score >= 1000) {
    if (last == INT64_MAX || score == 1000)
      return last;
    if (last < LEAST)
      last = LEAST;
    return last > INT64_MAX / FARTHEST ? INT64_MAX : part(last, score, 1000);
  }
  at = (int64_t)score * (n - 1);
  i = (uint32_t)(at / 1000);
  if (at % 1000 == 0)
    return waits[i];
  if (waits[i + 1] == INT64_MAX)
    return INT64_MAX;
  span = waits[i + 1] - waits[i];
  return waits[i] + part(span, at % 1000, 1000);
}

/* --- forecasts that came true -------------------------------------------- */

void pai__history_score(pai_history *h, int32_t score)
{
  if (h->nscores < PAI__SCORES) {
    h->scores[h->nscores++] = score;
    return;
  }
  h->scores[h->next_score] = score;
  h->next_score = (h->next_score + 1) % PAI__SCORES;
}

static int by_value(const void *a, const void *b)
{
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

  return (x > y) - (x < y);
}

static const int32_t usual[PAI__LEVELS] = { ONE / 10, ONE / 2, ONE / 10 * 9 };

/* Sorts the scores together with BELIEVED scores of a perfect forecast, spread
 * evenly. */
static uint32_t sort_all(const pai_history *h, int32_t *sorted)
{
  uint32_t n = 0;

  for (; n < h->nscores; n++)
    sorted[n] = h->scores[n];
  for (uint32_t i = 0; i < BELIEVED; i++)
    sorted[n++] = (int32_t)(2 * i + 1) * 500 / BELIEVED;
  qsort(sorted, n, sizeof(*sorted), by_value);
  return n;
}

/* Another score is equally likely in each of the n + 1 intervals between n
 * scores, so a part of k / (n + 1) lies up to the k-th score.  The level is
 * corrected by the starts that came too early or too late, so it becomes right
 * in the end even if conditions change. */
int32_t pai__score_for(const pai_history *h, enum pai__level which)
{
  int32_t sorted[PAI__SCORES + BELIEVED], score;
  int64_t level = usual[which], k;
  uint32_t n;

  if (h == NULL)
    return usual[which] / (ONE / 1000);
  level += h->levels[which];
  n = sort_all(h, sorted);
  k = ((n + 1) * (level < ONE ? level : ONE) + ONE / 2) / ONE;
  k = k < 1 ? 1 : k > n ? n : k;
  score = sorted[k - 1];
  return level > ONE
           ? score + (int32_t)((int64_t)abs(score) * 5 * (level - ONE) / ONE)
           : score;
}

/* Moves the level up if the start was later, and a little down if not.  Both
 * moves balance if the level holds as often as it should. */
void pai__history_level(pai_history *h, enum pai__level which, bool later)
{
  int32_t *level = &h->levels[which];

  *level +=
    later ? usual[which] / (ONE / STEP) : -(ONE - usual[which]) / (ONE / STEP);
  if (*level > ONE)
    *level = ONE;
  if (*level < -usual[which])
    *level = -usual[which];
}
