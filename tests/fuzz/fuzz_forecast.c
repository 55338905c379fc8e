/*
 * fuzz_forecast.c - forecasts from logs of which some lines were changed
 *
 * The input is a log.  Lines of it are changed as a whole: a number becomes an
 * extreme one, a line is left out, repeated or moved, and all times behind a line
 * are shifted.  What results is mostly a log that is taken; a line that is
 * refused is left out.  At its end all that looks ahead is asked.  Which changes
 * are made follows from the bytes of the input alone.
 */
#include "check.h"

#include <openpai/forecast.h>

#include "base/buf.h"
#include "base/prng.h"

#include <inttypes.h>

/* Two days: each future takes up to 2,000 jobs that might come. */
#define SOON (INT64_C(2) * 86400 * 1000000)

enum { MOST_LINES = 512, CHANGES = 4 };

typedef struct line {
  const char *text;
  size_t len;
  int64_t shift; /* of its time */
  int64_t extreme;
  uint32_t which; /* of its numbers, from 1, is the extreme one; 0: none */
} line;

typedef struct lines {
  line list[MOST_LINES];
  size_t n;
} lines;

/* --- changing ------------------------------------------------------------- */

static const int64_t extremes[] = { 0,
                                    1,
                                    -1,
                                    INT32_MAX,
                                    UINT32_MAX,
                                    INT64_C(1) << 53,
                                    INT64_MAX / 4 - 1,
                                    INT64_MAX / 4,
                                    INT64_MAX / 4 + 1,
                                    -(INT64_MAX / 4),
                                    INT64_MAX / 2,
                                    INT64_MAX - 1,
                                    INT64_MAX,
                                    INT64_MIN };

static void split(lines *l, const char *text, size_t size)
{
  const char *end = text + size;

  while (text < end && l->n < MOST_LINES / 2) {
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    size_t len = (size_t)((newline != NULL ? newline : end) - text);

    l->list[l->n++] = (line){ .text = text, .len = len };
    text += len + 1;
  }
}

/* The first line is a snapshot, and stays where it is. */
static void change(lines *l, pai__prng *r)
{
  size_t i = 1 + pai__prng_below(r, l->n - 1);
  line *at = &l->list[i];
  int64_t extreme = extremes[pai__prng_below(r, PAI__LEN(extremes))];

  switch (pai__prng_below(r, 6)) {
  case 0: /* left out */
    memmove(at, at + 1, (l->n - i - 1) * sizeof(*at));
    l->n--;
    break;
  case 1: /* twice */
    memmove(at + 1, at, (l->n - i) * sizeof(*at));
    l->n++;
    break;
  case 2: { /* moved */
    line x = l->list[l->n - 1];

    l->list[l->n - 1] = *at;
    *at = x;
    break;
  }
  case 3: /* later, all of them */
    for (; i < l->n; i++)
      l->list[i].shift = extreme;
    break;
  case 4: /* its own time is of more interest than its other numbers */
    at->which = 1;
    at->extreme = extreme;
    break;
  default:
    at->which = 1 + (uint32_t)pai__prng_below(r, 12);
    at->extreme = extreme;
  }
}

/* A number that stands there, of up to 18 digits. */
static const char *read_number(const char *at, const char *end, int64_t *n)
{
  int digits = 0;

  for (*n = 0; at < end && *at >= '0' && *at <= '9'; at++, digits++)
    *n = digits < 18 ? *n * 10 + (*at - '0') : *n;
  return at;
}

/* As far as numbers go. */
static int64_t shifted(int64_t n, int64_t by)
{
  if (by > 0)
    return n > INT64_MAX - by ? INT64_MAX : n + by;
  return n < INT64_MIN - by ? INT64_MIN : n + by;
}

static void put_line(pai__buf *out, const line *l)
{
  const char *at = l->text, *end = at + l->len;
  bool name = false; /* numbers in texts stay */
  uint32_t count = 0;

  while (at < end) {
    int64_t n;

    if (*at == '"' && (at == l->text || at[-1] != '\\'))
      name = !name;
    if (name || *at < '0' || *at > '9') {
      pai__buf_char(out, *at++);
      continue;
    }
    at = read_number(at, end, &n);
    count++;
    if (count == 1)
      n = shifted(n, l->shift);
    pai__buf_printf(out, "%" PRId64, count == l->which ? l->extreme : n);
  }
  pai__buf_char(out, '\n');
}

static void change_all(pai__buf *out, const uint8_t *data, size_t size)
{
  lines l = { .n = 0 };
  pai__prng r = { 1 };

  for (size_t i = 0; i < size; i++)
    r.state = (r.state ^ data[i]) * UINT64_C(0x100000001b3);
  split(&l, (const char *)data, size);
  for (uint64_t n = pai__prng_below(&r, CHANGES + 1); n > 0 && l.n > 1; n--)
    change(&l, &r);
  for (size_t i = 0; i < l.n; i++)
    put_line(out, &l.list[i]);
}

/* --- asking --------------------------------------------------------------- */

static void check_failed(int rc, pai_error *err)
{
  CHECK((rc < 0) == (err != NULL));
  if (rc < 0)
    check_error(err, rc);
  pai_error_free(err);
}

static void write_forecast(const pai_forecast *f)
{
  pai__buf out;

  pai__buf_init(&out, &pai__libc_alloc);
  CHECK(pai_forecast_write(f, PAI_FORMAT_TEXT, test_collect, &out, NULL) ==
        PAI_OK);
  pai__buf_dispose(&out);
}

static void look_ahead(const pai_sched *s, pai_history *h,
                       const pai_forecast_options *o)
{
  pai_forecast *f;
  pai_error *err = NULL;
  int rc = pai_forecast_new(&f, s, h, o, &err);

  check_failed(rc, err);
  if (rc < 0)
    return;
  for (uint64_t id = 0; (id = pai_forecast_next(f, id)) != 0;) {
    pai_when when = { .struct_size = sizeof(when) };

    CHECK(pai_forecast_when(f, id, &when) == PAI_OK);
    CHECK(when.p10 <= when.p50 && when.p50 <= when.p90);
  }
  write_forecast(f);
  pai_forecast_free(f);
}

static void look_beside(const pai_sched *s, const pai_history *h,
                        const pai_forecast_options *o)
{
  static const char change[] = "{\"time\":0,\"event\":\"policy\",\"policy\":"
                               "\"backfill\"}";
  pai_what_if *w;
  pai_error *err = NULL;
  pai__buf out;
  int rc = pai_what_if_json(&w, s, h, change, sizeof(change) - 1, o, &err);

  check_failed(rc, err);
  if (rc < 0)
    return;
  pai__buf_init(&out, &pai__libc_alloc);
  CHECK(pai_what_if_write(w, PAI_FORMAT_TEXT, test_collect, &out, NULL) ==
        PAI_OK);
  pai__buf_dispose(&out);
  pai_what_if_free(w);
}

static void ask(const pai_sched *s, pai_history *h)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched_view view = { .struct_size = sizeof(view) };

  o.runs = 2;
  o.horizon = SOON;
  o.arrivals = PAI_ARRIVALS_ALL;
  CHECK(pai_sched_view_sums(s, &view) == PAI_OK);
  look_ahead(s, h, &o);
  look_beside(s, h, &o);
  o.horizon = INT64_MAX;
  o.arrivals = PAI_ARRIVALS_NONE;
  look_ahead(s, NULL, &o);
  for (uint64_t id = 0; (id = pai_sched_next(s, id)) != 0;) {
    pai__buf out;

    pai__buf_init(&out, &pai__libc_alloc);
    CHECK(pai_sched_explain(s, id, PAI_FORMAT_TEXT, test_collect, &out,
                            NULL) == PAI_OK);
    pai__buf_dispose(&out);
  }
}

/* --- reading -------------------------------------------------------------- */

static int read_line(pai_sched **s, pai_history *h, const char *text,
                     size_t len)
{
  pai_error *err = NULL;
  int rc;

  if (*s == NULL) {
    rc = pai_sched_load(s, text, len, NULL, &err);
    check_failed(rc, err);
    return rc;
  }
  rc = pai_history_line(h, *s, text, len, &err);
  check_failed(rc, err);
  rc = pai_sched_send_json(*s, text, len, &err);
  check_failed(rc < 0 ? rc : 0, err);
  return PAI_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  pai_sched *s = NULL;
  pai_history *h;
  pai__buf log;
  int rc = PAI_OK;

  pai__buf_init(&log, &pai__libc_alloc);
  change_all(&log, data, size);
  CHECK(pai_history_new(&h, NULL, NULL) == PAI_OK);
  for (size_t at = 0; at < log.len && rc == PAI_OK;) {
    const char *text = log.data + at;
    size_t len = (size_t)((char *)memchr(text, '\n', log.len - at) - text);

    rc = read_line(&s, h, text, len);
    at += len + 1;
    if (s != NULL && !check_small(s))
      rc = PAI_ELIMIT;
  }
  if (s != NULL && rc == PAI_OK)
    ask(s, h);
  pai_history_free(h);
  pai_sched_free(s);
  pai__buf_dispose(&log);
  return 0;
}
