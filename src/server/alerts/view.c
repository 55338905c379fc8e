/* view.c - an alert with all of its labels, in Alertmanager's format */
#include "server/alerts/alerts.h"

#include <stdio.h>
#include <string.h>

static void add(pai__alert_view *out, const char *name, const char *value)
{
  out->at[out->labels.n++] = (pai__alert_label){ name, value };
}

void pai__alert_view_of(pai__alert_view *out, const pai__watched *w,
                        const pai__alert *a)
{
  out->labels = (pai__alert_labels){ out->at, 0 };
  add(out, "alertname", a->name);
  add(out, "severity", a->severity);
  if (!a->outside)
    add(out, "node_name", w->node);
  if (a->user != NULL && a->job != NULL) {
    (void)snprintf(out->job, sizeof(out->job), "%s~%s", a->user, a->job);
    add(out, "job_name", out->job);
    add(out, "username", a->user);
  }
  for (size_t i = 0; i < a->labels.n && i < PAI__ALERT_LABELS; i++)
    add(out, a->labels.at[i].name, a->labels.at[i].value);
}

bool pai__alert_is_silenced(const pai__watched *w, const pai__alert *a,
                            pai_time now)
{
  pai__alert_view view;

  pai__alert_view_of(&view, w, a);
  return pai__alert_silences_match(&w->silences, NULL, view.labels, now) !=
         NULL;
}

void pai__alert_write_labels(pai__json_writer *w, const pai__watched *watched,
                             const pai__alert *a)
{
  pai__alert_view view;

  pai__alert_view_of(&view, watched, a);
  pai__json_put_object(w, "labels");
  for (size_t i = 0; i < view.labels.n; i++)
    pai__json_put_text(w, view.at[i].name, view.at[i].value);
  pai__json_end_object(w);
  pai__json_write(w, "annotations:{summary:s}", a->text);
}

static void write_silences(pai__json_writer *w, const pai__watched *watched,
                           const pai__alert_state *x, pai_time now)
{
  const pai__alert_silence *s = NULL;
  pai__alert_view view;

  pai__alert_view_of(&view, watched, &x->alert);
  s = pai__alert_silences_match(&watched->silences, NULL, view.labels, now);
  pai__json_put_object(w, "status");
  pai__json_put_text(w, "state",
                     x->ended != 0 ? "resolved"
                     : s != NULL   ? "suppressed"
                                   : "active");
  pai__json_put_array(w, "silencedBy");
  for (; s != NULL;
       s = pai__alert_silences_match(&watched->silences, s, view.labels, now))
    pai__json_string(w, s->id);
  pai__json_end_array(w);
  pai__json_write(w, "inhibitedBy:[]");
  pai__json_end_object(w);
}

/* As in Alertmanager, a firing alert has an end in the near future, which each
 * later answer moves. */
void pai__alert_write(pai__json_writer *w, const pai__watched *watched,
                      const pai__alert_state *x, pai_time now)
{
  const pai__alert *a = &x->alert;
  char print[PAI__ALERT_PRINT];

  pai__json_begin_object(w);
  pai__alert_write_labels(w, watched, a);
  pai__alert_time_put(w, "startsAt", a->since);
  pai__alert_time_put(w, "endsAt",
                      x->ended != 0 ? x->ended : now + PAI__ALERT_ENDS);
  pai__json_put_text(w, "generatorURL", "");
  write_silences(w, watched, x, now);
  pai__json_write(w, "receivers:[s]", "webportal-notification");
  pai__alert_print(print, x);
  pai__json_put_text(w, "fingerprint", print);
  pai__json_put_text(w, "acknowledgedBy", x->acknowledged);
  pai__json_end_object(w);
}
