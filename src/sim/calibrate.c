/* calibrate.c - bands that hold as many as they say */
#include "sim/calibrate.h"

#include <stdlib.h>

enum {
  FARTHEST = 1000000, /* a score; a thousand times as long as all */
  BELIEVED = 40       /* fewer scores teach nothing */
};

/* What nobody had to wait for is not divided by. */
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
  if (before == 0 && with == 0) /* before all */
    return (int32_t)(part(wait > 0 ? wait : 0, 1000, waits[0]) - 1000);
  if (n == 1)
    n++;
  if (with != 0) /* in the middle of those */
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

/* --- what has come true --------------------------------------------------- */

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

uint32_t pai__score_count(const pai_history *h)
{
  return h != NULL && h->nscores >= BELIEVED ? h->nscores : 0;
}

/* Of n things that came true one more is as likely between any two: so up to
 * the k-th of them there are k of n + 1. */
int32_t pai__score_for(const pai_history *h, uint32_t thousandths)
{
  int32_t sorted[PAI__SCORES];
  uint32_t k;

  if (pai__score_count(h) == 0)
    return (int32_t)thousandths;
  memcpy(sorted, h->scores, h->nscores * sizeof(*sorted));
  qsort(sorted, h->nscores, sizeof(*sorted), by_value);
  k = ((h->nscores + 1) * thousandths + 500) / 1000;
  k = k < 1 ? 1 : k > h->nscores ? h->nscores : k;
  return sorted[k - 1];
}
