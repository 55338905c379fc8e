/* forecast_text.c - writes forecasts as text and JSON */
#include "sim/forecast/forecast.h"

#include "base/date.h"
#include "sim/report/format.h"

#include <inttypes.h>

enum { MOST_NAME = 60 }; /* columns */

static const struct {
  const char *name, *as;
} alikes[PAI__ALIKES] = {
  [PAI_ALIKE_NONE] = { "none", "twice as long as they have run, or an hour" },
  [PAI_ALIKE_ANY] = { "any", "as long as recent jobs" },
  [PAI_ALIKE_SIZE] = { "size", "as long as recent jobs of the same size" },
  [PAI_ALIKE_VC_SIZE] = { "vc_size", "as long as recent jobs of the same size "
                                     "and virtual cluster" },
  [PAI_ALIKE_USER] = { "user", "as long as recent jobs of the same user" },
  [PAI_ALIKE_USER_SIZE] = { "user_size", "as long as recent jobs of the same "
                                         "user and size" },
  [PAI_ALIKE_NAME] = { "name", "as long as recent jobs with the same name" },
};

static const char *alike_name(int alike)
{
  return alike >= 0 && alike < PAI__ALIKES ? alikes[alike].name : "";
}

/* --- times --------------------------------------------------------------- */

static void put_amount(pai__buf *out, int64_t n, const char *unit,
                       int64_t more, const char *smaller)
{
  pai__buf_printf(out, "%" PRId64 " %s", n, unit);
  if (more != 0)
    pai__buf_printf(out, " %" PRId64 " %s", more, smaller);
}

void pai__spell_span(pai__buf *out, pai_time span)
{
  int64_t s = span / PAI__SECOND + (span % PAI__SECOND >= PAI__SECOND / 2),
          minutes;

  if (s < 180) {
    put_amount(out, s, "s", 0, "");
    return;
  }
  minutes = (s + 30) / 60;
  if (minutes < 60)
    put_amount(out, minutes, "min", 0, "");
  else if (minutes < 48 * 60)
    put_amount(out, minutes / 60, "h", minutes % 60, "min");
  else
    put_amount(out, minutes / 1440, "d", minutes % 1440 / 60, "h");
}

static void put_date(pai__buf *out, int64_t days)
{
  int64_t year, month, day;

  pai__date_of(days, &year, &month, &day);
  pai__buf_printf(out, "%04" PRId64 "-%02" PRId64 "-%02" PRId64 " ", year,
                  month, day);
}

/* The clock is the calendar's if it is in the year 2000 or later. */
static bool spell_is_date(pai_time now)
{
  return now >= INT64_C(946684800) * PAI__SECOND;
}

/* Writes a time after `now`: as "14:05", with the date on another day, if the
 * clock is the calendar's (UTC); else the time left. */
static void spell_time(pai__buf *out, pai_time now, pai_time t)
{
  int64_t s = t / PAI__SECOND;

  if (!spell_is_date(now)) {
    pai__spell_span(out, t - now);
    return;
  }
  if (s / 86400 != now / PAI__SECOND / 86400)
    put_date(out, s / 86400);
  pai__buf_printf(out, "%02" PRId64 ":%02" PRId64, s % 86400 / 3600,
                  s % 3600 / 60);
}

void pai__spell_at(pai__buf *out, pai_time now, pai_time t)
{
  pai__buf_str(out, spell_is_date(now) ? "at " : "in ");
  spell_time(out, now, t);
}

/* Writes "1 job", "2 jobs". */
static void spell_count(pai__buf *out, uint64_t n, const char *thing)
{
  pai__buf_printf(out, "%" PRIu64 " %s%s", n, thing, n != 1 ? "s" : "");
}

/* --- text ---------------------------------------------------------------- */

void pai__say_who(pai__buf *out, uint64_t id, const char *name,
                  const char *user)
{
  if (name != NULL) {
    (void)pai__put_name(out, name, MOST_NAME);
    pai__buf_printf(out, " (request %" PRIu64 ")", id);
  } else {
    pai__buf_printf(out, "request %" PRIu64, id);
  }
  if (user != NULL) {
    pai__buf_str(out, " of ");
    (void)pai__put_name(out, user, MOST_NAME);
  }
}

static void say_times(pai__buf *out, const pai_forecast *f,
                      const pai__future_wait *w)
{
  bool date = spell_is_date(f->now);

  if (w->p10 == w->p90) {
    pai__spell_at(out, f->now, w->p10);
    return;
  }
  if (w->p90 == INT64_MAX) {
    pai__buf_str(out, date ? "not before " : "not within ");
    spell_time(out, f->now, w->p10);
  } else {
    pai__buf_str(out, date ? "between " : "in ");
    spell_time(out, f->now, w->p10);
    pai__buf_str(out, date ? " and " : " to ");
    spell_time(out, f->now, w->p90);
  }
  pai__buf_str(out, date ? ", most likely about " : ", most likely in about ");
  spell_time(out, f->now, w->p50);
  if (w->p90 == INT64_MAX)
    pai__buf_str(out, ", perhaps much later");
}

void pai__say_band(pai__buf *out, const pai_forecast *f,
                   const pai__future_wait *w)
{
  if (w->stuck && w->started == 0) {
    pai__buf_str(
      out, "it cannot start: it is held, or depends on a job that has failed");
  } else if (w->blind) {
    pai__buf_str(out, "unknown: no job has ended yet, so the durations of the "
                      "jobs before it cannot be predicted");
  } else if (w->p50 == INT64_MAX) {
    pai__buf_str(out, "it does not start within ");
    pai__spell_span(out, f->horizon);
  } else if (w->p90 == f->now) {
    pai__buf_str(out, "now");
  } else {
    say_times(out, f, w);
  }
}

static void say_guessed(pai__buf *out, const pai__future_wait *w)
{
  uint64_t n =
    w->started != 0 ? (w->guessed + w->started / 2) / w->started : 0;

  if (n == 0) {
    pai__buf_str(out, "jobs run until their estimates or time limits");
    return;
  }
  spell_count(out, n, "job");
  pai__buf_printf(out, " before it run%s %s", n == 1 ? "s" : "",
                  alikes[w->alike].as);
}

void pai__say_assumed(pai__buf *out, const pai_forecast *f,
                      const pai__future_wait *w)
{
  pai__buf_str(out, "Assumptions: ");
  if (w != NULL)
    say_guessed(out, w);
  else
    pai__buf_str(
      out,
      f->believed
        ? "jobs run until their estimates or time limits"
        : "jobs take as long as recent jobs with the same name, user or size");
  if (f->arrivals)
    pai__buf_printf(out, "; jobs arrive as the last %u did, at most %d",
                    (unsigned)f->pattern.like, (int)PAI__MOST_ARRIVALS);
  else
    pai__buf_str(out, "; no new jobs arrive");
  pai__buf_str(out, " (");
  spell_count(out, f->runs, "future");
  if (f->calibrated != 0) {
    pai__buf_str(out, ", corrected by ");
    spell_count(out, f->calibrated, "past forecast");
  }
  pai__buf_str(out, "). 8 of 10 jobs start within these times.\n");
  if (pai__curves_unlike(&f->curves))
    pai__buf_printf(out,
                    "Warning: %u of %u running jobs have run longer than all "
                    "similar jobs that ended,\nso these times are less "
                    "certain.\n",
                    f->curves.outlast, f->curves.running);
}

static void say_forecast(pai__buf *out, const void *what)
{
  const pai_forecast *f = what;

  if (f->nwaits == 0)
    pai__buf_str(out, "No request is waiting.\n");
  for (uint32_t i = 0; i < f->nwaits; i++) {
    const pai__future_wait *w = &f->waits[i];

    pai__say_who(out, w->id, w->name, w->user);
    pai__buf_str(out, ": ");
    pai__say_band(out, f, w);
    pai__buf_str(out, "\n");
  }
  if (f->nwaits != 0)
    pai__say_assumed(out, f, f->nwaits == 1 ? &f->waits[0] : NULL);
}

/* --- JSON ---------------------------------------------------------------- */

void pai__put_time(pai__json_writer *w, const char *key, pai_time t)
{
  pai__json_member(w, key);
  if (t == INT64_MAX)
    pai__json_null(w);
  else
    pai__json_int(w, t);
}

static void put_wait(pai__json_writer *w, const pai__future_wait *x)
{
  pai__json_begin_object(w);
  pai__json_put_id(w, "id", x->id);
  pai__json_put_known(w, "name", x->name);
  pai__json_put_known(w, "user", x->user);
  pai__json_put_known(w, "vc", x->vc);
  pai__put_time(w, "p10", x->p10);
  pai__put_time(w, "p50", x->p50);
  pai__put_time(w, "p90", x->p90);
  pai__json_put_int(w, "started", x->started);
  if (x->blind)
    pai__json_put_bool(w, "unknown", true);
  pai__json_put_known(w, "alike", alike_name(x->alike));
  pai__json_put_int(w, "guessed",
                    x->started != 0
                      ? (int64_t)((x->guessed + x->started / 2) / x->started)
                      : 0);
  pai__json_end_object(w);
}

void pai__put_forecast(pai__json_writer *w, const pai_forecast *f)
{
  pai__put_time(w, "now", f->now);
  pai__json_put_int(w, "runs", f->runs);
  pai__put_time(w, "horizon", f->horizon);
  pai__json_put_bool(w, "arrivals", f->arrivals);
  pai__json_put_int(w, "calibrated", f->calibrated);
  pai__json_put_int(w, "running", f->curves.running);
  pai__json_put_int(w, "outlasting", f->curves.outlast);
  pai__json_put_bool(w, "unlike", pai__curves_unlike(&f->curves));
  pai__json_put_array(w, "requests");
  for (uint32_t i = 0; i < f->nwaits; i++)
    put_wait(w, &f->waits[i]);
  pai__json_end_array(w);
}

static void put_forecast(pai__json_writer *w, const void *what)
{
  pai__put_forecast(w, what);
}

/* --- entry points -------------------------------------------------------- */

int pai__say_or_put(const pai_alloc *alloc, int format,
                    void (*say)(pai__buf *out, const void *what),
                    void (*put)(pai__json_writer *w, const void *what),
                    const void *what, pai_write_cb write, void *user_data,
                    pai_error **err)
{
  pai__json_writer w;
  pai__buf text;
  int rc = PAI_OK;

  if (write == NULL)
    return pai__fail(err, PAI_EINVAL, "the callback `write` is NULL");
  if (format != PAI_FORMAT_TEXT && format != PAI_FORMAT_JSON)
    return pai__fail(err, PAI_EINVAL, "the format must be text or JSON");
  pai__buf_init(&text, alloc);
  if (format == PAI_FORMAT_TEXT) {
    say(&text, what);
  } else {
    pai__json_writer_init(&w, &text, false);
    pai__json_begin_object(&w);
    put(&w, what);
    pai__json_end_object(&w);
    rc = pai__json_finish(&w);
    pai__buf_char(&text, '\n');
  }
  return pai__text_write(&text, rc, write, user_data, err);
}

int pai_forecast_write(const pai_forecast *forecast, int format,
                       pai_write_cb write, void *user_data, pai_error **err)
{
  PAI__CHECK_ARG_ERR(forecast != NULL, err);
  return pai__say_or_put(&forecast->alloc, format, say_forecast, put_forecast,
                         forecast, write, user_data, err);
}
