/* forecast.c - histories, forecasts, what-if and other shapes */
#include "facade_fields.h"
#include "options.h"
#include "sched_shared.h"
#include "shared.h"
#include "sim_shared.h"

#include <stdlib.h>

struct History {
  pai_history *history;
  pthread_mutex_t owner; /* one thread at a time */
};

/* --- histories ------------------------------------------------------------- */

static bool take(History *h, failure *f)
{
  if (h == NULL || pthread_mutex_trylock(&h->owner) == 0)
    return true;
  facade_fail(f, PAI_EBUSY, "the history is in use by another thread");
  return false;
}

static void give(History *h)
{
  if (h != NULL)
    (void)pthread_mutex_unlock(&h->owner);
}

static History *make(failure *f)
{
  History *h = calloc(1, sizeof(*h));

  if (h == NULL)
    facade_fail(f, PAI_ENOMEM, "out of memory");
  else
    (void)pthread_mutex_init(&h->owner, NULL);
  return h;
}

static History *finish(History *h, failure *f)
{
  if (h == NULL || f->code == PAI_OK)
    return h;
  facade_history_free(h);
  return NULL;
}

void facade_history_free(History *h)
{
  pai_history_free(h->history);
  (void)pthread_mutex_destroy(&h->owner);
  free(h);
}

History *facade_history_make(failure *f)
{
  History *h = make(f);

  if (h != NULL)
    f->code = pai_history_new(&h->history, NULL, &f->err);
  return finish(h, f);
}

History *facade_history_load(const char *text, size_t len, failure *f)
{
  History *h = make(f);

  if (h != NULL)
    f->code = pai_history_read(&h->history, text, len, NULL, &f->err);
  return finish(h, f);
}

static bool read_past(pai_past *past, words list, failure *f)
{
  *past = (pai_past){ .struct_size = sizeof(*past) };
  return options_read(past, options_past, &list, f);
}

void facade_history_add(History *h, words list, failure *f)
{
  pai_past past;

  if (!read_past(&past, list, f) || !take(h, f))
    return;
  f->code = pai_history_add(h->history, &past, &f->err);
  give(h);
}

static const char *alike_name(int alike)
{
  switch (alike) {
  case PAI_ALIKE_ANY: return "any";
  case PAI_ALIKE_SIZE: return "size";
  case PAI_ALIKE_VC_SIZE: return "vc_size";
  case PAI_ALIKE_USER: return "user";
  case PAI_ALIKE_USER_SIZE: return "user_size";
  case PAI_ALIKE_NAME: return "name";
  default: return "none";
  }
}

static void put_start(json *j, const char *name, pai_time time)
{
  if (time != INT64_MAX)
    json_number(j, name, time);
}

listing facade_history_guess(History *h, words list, int64_t ran, failure *f)
{
  pai_guess g = { .struct_size = sizeof(g) };
  pai_past past;
  json j;

  if (read_past(&past, list, f) && take(h, f)) {
    f->code = pai_history_guess(h->history, &past, ran, &g);
    give(h);
  }
  if (f->code < 0)
    return (listing){ { NULL, 0 } };
  json_start(&j);
  json_begin(&j, NULL, '{');
  json_text(&j, "alike", alike_name(g.alike));
  json_fields(&j, fields_Guess, &g);
  json_end(&j, '}');
  return json_finish(&j, f);
}

void facade_history_learn(History *h, Scheduler *s, const char *text,
                          size_t len, failure *f)
{
  if (!sched_take(s, f))
    return;
  if (take(h, f)) {
    f->code = pai_history_line(h->history, s->sched, text, len, &f->err);
    give(h);
  }
  sched_give(s);
}

job_text facade_history_save(History *h, failure *f)
{
  job_text t = { NULL, 0 };

  if (take(h, f)) {
    f->code = pai_history_write(h->history, facade_collect, &t, &f->err);
    give(h);
  }
  return facade_finished(t, f);
}

/* --- runs of an ensemble ------------------------------------------------- */

typedef struct looking {
  Scheduler *s;
  History *h;
  const pai_history *history; /* history of `h`, or NULL */
  pai_forecast_options o;
  bool raised; /* a signal handler raised an error, as for Ctrl-C */
} looking;

static int on_stop(void *user_data)
{
  looking *l = user_data;

  l->raised = l->raised || script_signals();
  return l->raised;
}

static bool begin(looking *l, Scheduler *s, History *h, words list, failure *f)
{
  *l = (looking){ s, h, h != NULL ? h->history : NULL,
                  PAI_FORECAST_OPTIONS_INIT, false };
  l->o.stop = on_stop;
  l->o.user_data = l;
  if (!options_read(&l->o, options_forecast, &list, f) || !sched_enter(s, f))
    return false;
  if (take(h, f))
    return true;
  sched_leave(s, f);
  return false;
}

static void end(looking *l, failure *f)
{
  give(l->h);
  if (l->raised) { /* report the error of the signal handler instead */
    pai_error_free(f->err);
    f->err = NULL;
    f->code = PAI_EUSER;
  }
  sched_leave(l->s, f);
}

/* --- forecasts ------------------------------------------------------------- */

Forecast *facade_forecast_make(Scheduler *s, History *h, words list,
                               failure *f)
{
  Forecast *made = NULL;
  looking l;

  if (!begin(&l, s, h, list, f))
    return NULL;
  f->code = pai_forecast_new(&made, s->sched, l.history, &l.o, &f->err);
  end(&l, f);
  return made;
}

static void put_when(json *j, const pai_when *w)
{
  json_begin(j, NULL, '{');
  json_fields(j, fields_When, w);
  put_start(j, "p10", w->p10);
  put_start(j, "p50", w->p50);
  put_start(j, "p90", w->p90);
  json_text(j, "alike", alike_name(w->alike));
  json_end(j, '}');
}

listing facade_forecast_when(const Forecast *fc, uint64_t id, failure *f)
{
  pai_when w = { .struct_size = sizeof(w) };
  int rc = pai_forecast_when(fc, id, &w);
  json j;

  if (rc < 0) {
    facade_fail(
      f, rc, "there is no such request that waits, or it was not asked for");
    return (listing){ { NULL, 0 } };
  }
  json_start(&j);
  put_when(&j, &w);
  return json_finish(&j, f);
}

listing facade_forecast_all(const Forecast *fc, failure *f)
{
  pai_when w = { .struct_size = sizeof(w) };
  uint64_t id = 0;
  json j;

  json_start(&j);
  json_begin(&j, NULL, '[');
  while ((id = pai_forecast_next(fc, id)) != 0)
    if (pai_forecast_when(fc, id, &w) == PAI_OK)
      put_when(&j, &w);
  json_end(&j, ']');
  return json_finish(&j, f);
}

void facade_forecast_met(const Forecast *fc, uint64_t id, int64_t started,
                         History *h, failure *f)
{
  int rc;

  if (!take(h, f))
    return;
  rc = pai_forecast_met(fc, id, started, h->history);
  give(h);
  if (rc == PAI_ENOTFOUND)
    facade_fail(f, rc, "the start of that request was not forecast");
  else if (rc < 0)
    facade_fail(f, rc, "it started before the forecast was made");
}

/* --- what if --------------------------------------------------------------- */

WhatIf *facade_what_if_make(Scheduler *s, History *h, const char *text,
                            size_t len, words list, failure *f)
{
  WhatIf *made = NULL;
  looking l;

  if (!begin(&l, s, h, list, f))
    return NULL;
  f->code =
    pai_what_if_json(&made, s->sched, l.history, text, len, &l.o, &f->err);
  end(&l, f);
  return made;
}

listing facade_what_if_look(const WhatIf *w, failure *f)
{
  pai_what_if_view v = { .struct_size = sizeof(v) };

  (void)pai_what_if_look(w, &v);
  return json_object(fields_WhatIfSums, &v, f);
}

Cluster *facade_what_if_cluster(Scheduler *s, Cluster *from, const char *nodes,
                                words shares, failure *f)
{
  pai_cluster_change *list = calloc(shares.len + 1, sizeof(*list));
  Cluster *made = NULL;
  size_t n = 0, at = 0;

  if (list == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return NULL;
  }
  list[n++] =
    (pai_cluster_change){ .struct_size = sizeof(*list), .nodes = nodes };
  while (at < shares.len) {
    list[n] = (pai_cluster_change){ .struct_size = sizeof(*list) };
    list[n].vc = facade_word(&shares, &at);
    list[n++].share = facade_word(&shares, &at);
  }
  if (sched_take(s, f)) {
    f->code =
      pai_what_if_cluster_changes(&made, s->sched, from, list, n, &f->err);
    sched_give(s);
  }
  free(list);
  return made;
}

/* --- other shapes ---------------------------------------------------------- */

Shapes *facade_shapes_make(Scheduler *s, History *h, uint64_t id, words vcs,
                           words list, failure *f)
{
  size_t n;
  const char **names = facade_word_list(&vcs, &n, f);
  Shapes *made = NULL;
  looking l;

  if (names != NULL && begin(&l, s, h, list, f)) {
    f->code = pai_shapes_new(&made, s->sched, l.history, id,
                             n > 0 ? names : NULL, n, &l.o, &f->err);
    end(&l, f);
  }
  free(names);
  return made;
}

listing facade_shapes_all(const Shapes *shapes, failure *f)
{
  pai_shape s = { .struct_size = sizeof(s) };
  json j;

  json_start(&j);
  json_begin(&j, NULL, '[');
  for (size_t i = 0; pai_shapes_get(shapes, i, &s) == PAI_OK; i++) {
    json_begin(&j, NULL, '{');
    json_fields(&j, fields_Shape, &s);
    put_start(&j, "p50", s.p50);
    put_start(&j, "p90", s.p90);
    json_end(&j, '}');
  }
  json_end(&j, ']');
  return json_finish(&j, f);
}
