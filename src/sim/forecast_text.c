/* forecast_text.c - forecasts in words and as JSON */
#include "sim/arrivals.h"
#include "sim/forecast_text.h"

#include "sched/form.h"
#include "sim/format.h"

#include <inttypes.h>

enum { MOST_NAME = 60 }; /* columns */

static const struct {
  const char *name, *as;
} alikes[PAI__ALIKES] = {
  [PAI_ALIKE_NONE] = { "none", "as long again as they have run, or an hour" },
  [PAI_ALIKE_ANY] = { "any", "as long as the last ones of all did" },
  [PAI_ALIKE_SIZE] = { "size", "as long as the last ones of their size did" },
  [PAI_ALIKE_VC_SIZE] = { "vc_size", "as long as the last ones of their size "
                                     "did in their virtual clusters" },
  [PAI_ALIKE_USER] = { "user", "as long as the last ones of their owners "
                               "did" },
  [PAI_ALIKE_USER_SIZE] = { "user_size",
                            "as long as the last ones of that size of their "
                            "owners did" },
  [PAI_ALIKE_NAME] = { "name", "as long as the last ones of their names did" },
};

static const char *alike_name(int alike)
{
  return alike >= 0 && alike < PAI__ALIKES ? alikes[alike].name : "";
}

/* --- words ---------------------------------------------------------------- */

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
                      const pai__fwait *w)
{
  bool date = pai__spell_is_date(f->now);

  if (w->p10 == w->p90) {
    pai__spell_at(out, f->now, w->p10);
    return;
  }
  if (w->p90 == INT64_MAX) {
    pai__buf_str(out, date ? "not before " : "not within ");
    pai__spell_time(out, f->now, w->p10);
  } else {
    pai__buf_str(out, date ? "between " : "in ");
    pai__spell_time(out, f->now, w->p10);
    pai__buf_str(out, date ? " and " : " to ");
    pai__spell_time(out, f->now, w->p90);
  }
  pai__buf_str(out, date ? ", most likely about " : ", most likely in about ");
  pai__spell_time(out, f->now, w->p50);
  if (w->p90 == INT64_MAX)
    pai__buf_str(out, ", perhaps much later");
}

void pai__say_band(pai__buf *out, const pai_forecast *f, const pai__fwait *w)
{
  if (w->stuck && w->started == 0) {
    pai__buf_str(out, "it cannot start as it is: it is held, or comes after "
                      "what cannot be any more");
  } else if (w->blind) {
    pai__buf_str(out,
                 "unknown, for no job has ended yet by which those before "
                 "it could be judged");
  } else if (w->p50 == INT64_MAX) {
    pai__buf_str(out, "it does not start within ");
    pai__spell_span(out, f->horizon);
  } else if (w->p90 == f->now) {
    pai__buf_str(out, "now");
  } else {
    say_times(out, f, w);
  }
}

static void say_guessed(pai__buf *out, const pai__fwait *w)
{
  uint64_t n =
    w->started != 0 ? (w->guessed + w->started / 2) / w->started : 0;

  if (n == 0) {
    pai__buf_str(out, "that jobs take as long as their owners told");
    return;
  }
  pai__buf_printf(out, "that ");
  pai__spell_count(out, n, "job");
  pai__buf_printf(out, " before it take%s %s", n == 1 ? "s" : "",
                  alikes[w->alike].as);
}

void pai__say_assumed(pai__buf *out, const pai_forecast *f,
                      const pai__fwait *w)
{
  pai__buf_str(out, "Assumed: ");
  if (w != NULL)
    say_guessed(out, w);
  else
    pai__buf_str(out, f->believed
                        ? "that jobs take as long as their owners told"
                        : "that jobs take as long as the last ones of their "
                          "names, owners or sizes did");
  if (f->arrivals)
    pai__buf_printf(out,
                    "; that jobs go on coming as the last %u did, %d at most",
                    (unsigned)f->coming.like, (int)PAI__MOST_ARRIVALS);
  else
    pai__buf_str(out, "; that no new jobs come");
  pai__buf_str(out, " (");
  pai__spell_count(out, f->runs, "future");
  if (f->calibrated != 0) {
    pai__buf_str(out, ", corrected by ");
    pai__spell_count(out, f->calibrated, "forecast");
    pai__buf_str(out, " that came true");
  }
  pai__buf_str(out, "). Eight of ten start within the times told.\n");
  if (pai__curves_unlike(&f->curves))
    pai__buf_printf(out,
                    "Warning: the present is unlike the past: %u of %u jobs "
                    "that run have run for longer\nthan any like them that "
                    "ended, so the times are less certain.\n",
                    f->curves.outlast, f->curves.running);
}

static void say_forecast(pai__buf *out, const void *what)
{
  const pai_forecast *f = what;

  if (f->nwaits == 0)
    pai__buf_str(out, "Nothing waits.\n");
  for (uint32_t i = 0; i < f->nwaits; i++) {
    const pai__fwait *w = &f->waits[i];

    pai__say_who(out, w->id, w->name, w->user);
    pai__buf_str(out, ": ");
    pai__say_band(out, f, w);
    pai__buf_str(out, "\n");
  }
  if (f->nwaits != 0)
    pai__say_assumed(out, f, f->nwaits == 1 ? &f->waits[0] : NULL);
}

/* --- JSON ----------------------------------------------------------------- */

void pai__put_time(pai__json_writer *w, const char *key, pai_time t)
{
  pai__form_put_key(w, key);
  if (t == INT64_MAX)
    pai__json_null(w);
  else
    pai__json_int(w, t);
}

void pai__put_number(pai__json_writer *w, const char *key, int64_t n)
{
  pai__form_put_key(w, key);
  pai__json_int(w, n);
}

static void put_text(pai__json_writer *w, const char *key, const char *text)
{
  if (text == NULL)
    return;
  pai__form_put_key(w, key);
  pai__form_put_text(w, text);
}

static void put_wait(pai__json_writer *w, const pai__fwait *x)
{
  pai__json_begin_object(w);
  pai__form_put_key(w, "id");
  pai__form_put_id(w, x->id);
  put_text(w, "name", x->name);
  put_text(w, "user", x->user);
  put_text(w, "vc", x->vc);
  pai__put_time(w, "p10", x->p10);
  pai__put_time(w, "p50", x->p50);
  pai__put_time(w, "p90", x->p90);
  pai__put_number(w, "started", x->started);
  if (x->blind) {
    pai__form_put_key(w, "unknown");
    pai__json_bool(w, true);
  }
  put_text(w, "alike", alike_name(x->alike));
  pai__put_number(w, "guessed",
                  x->started != 0
                    ? (int64_t)((x->guessed + x->started / 2) / x->started)
                    : 0);
  pai__json_end_object(w);
}

void pai__put_forecast(pai__json_writer *w, const pai_forecast *f)
{
  pai__put_time(w, "now", f->now);
  pai__put_number(w, "runs", f->runs);
  pai__put_time(w, "horizon", f->horizon);
  pai__form_put_key(w, "arrivals");
  pai__json_bool(w, f->arrivals);
  pai__put_number(w, "calibrated", f->calibrated);
  pai__put_number(w, "running", f->curves.running);
  pai__put_number(w, "outlasting", f->curves.outlast);
  pai__form_put_key(w, "unlike");
  pai__json_bool(w, pai__curves_unlike(&f->curves));
  pai__form_put_key(w, "requests");
  pai__json_begin_array(w);
  for (uint32_t i = 0; i < f->nwaits; i++)
    put_wait(w, &f->waits[i]);
  pai__json_end_array(w);
}

static void put_forecast(pai__json_writer *w, const void *what)
{
  pai__put_forecast(w, what);
}

/* --- all ------------------------------------------------------------------ */

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
    return pai__fail(err, PAI_EINVAL, "nobody is given the text");
  if (format != PAI_FORMAT_TEXT && format != PAI_FORMAT_JSON)
    return pai__fail(err, PAI_EINVAL, "this is written as text or as JSON");
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
  if (rc < 0 || !pai__buf_ok(&text))
    rc = pai__oom(err);
  else if ((rc = write(user_data, pai__buf_text(&text), text.len)) < 0)
    (void)pai__fail(err, rc, "it could not be written");
  pai__buf_dispose(&text);
  return rc < 0 ? rc : PAI_OK;
}

int pai_forecast_write(const pai_forecast *forecast, int format,
                       pai_write_cb write, void *user_data, pai_error **err)
{
  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(forecast != NULL, err);
  return pai__say_or_put(&forecast->alloc, format, say_forecast, put_forecast,
                         forecast, write, user_data, err);
}
