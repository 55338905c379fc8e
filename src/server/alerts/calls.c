/* calls.c - silences and rules over HTTP */
#include "server/alerts/alerts.h"

#include <stdio.h>

/* --- silences ------------------------------------------------------------ */

void pai__do_silences_list(pai__request *r)
{
  const pai__watched *w = r->server->watched;
  pai_time now = pai__loop_wall_time();

  pai__json_writer_init(&r->json, &r->answer, false);
  pai__json_begin_array(&r->json);
  for (size_t i = w->silences.n; i-- > 0;)
    pai__alert_silence_write(&r->json, w->silences.at[i], now);
  pai__json_end_array(&r->json);
  pai__answer_json(r, 200);
}

static void make_id(char id[33])
{
  (void)snprintf(id, 33, "%016llx%016llx",
                 (unsigned long long)pai__loop_seed(),
                 (unsigned long long)pai__loop_seed());
}

/* A silence with the id of an earlier one replaces it, as in Alertmanager. */
void pai__do_silences_create(pai__request *r)
{
  pai__watched *w = r->server->watched;
  const char *id = pai__body_text(r, "id");
  pai__alert_silence *old = id != NULL && id[0] != '\0'
                              ? pai__alert_silences_find(&w->silences, id)
                              : NULL,
                     *new;
  char fresh[33];
  int rc;

  if (id != NULL && id[0] != '\0' && old == NULL) {
    pai__answer_error(r, 404, "NoSilenceError", "There is no silence %s.", id);
    return;
  }
  make_id(fresh);
  rc = pai__alert_silences_add(&w->silences, &new, r->form, 0, fresh,
                               r->caller.name, pai__loop_wall_time(), &r->err);
  if (rc < 0) {
    pai__answer_failure(r, rc);
    return;
  }
  if (old != NULL)
    pai__alert_silences_remove(&w->silences, old);
  w->changed = true;
  rc = pai__alerts_keep(w, &r->err);
  if (rc < 0) {
    pai__answer_failure(r, rc);
    return;
  }
  pai__json_writer_init(&r->json, &r->answer, false);
  pai__json_write(&r->json, "{silenceID:s}", new->id);
  pai__answer_json(r, 200);
  pai__answer_when_safe(r);
}

/* The silence stays in the list for a day, as expired. */
void pai__do_silences_end(pai__request *r)
{
  pai__watched *w = r->server->watched;
  pai__alert_silence *one =
    pai__alert_silences_find(&w->silences, r->params[0]);
  pai_time now = pai__loop_wall_time();
  int rc;

  if (one == NULL) {
    pai__answer_error(r, 404, "NoSilenceError", "There is no silence %s.",
                      r->params[0]);
    return;
  }
  if (one->ends > now)
    one->ends = one->updated = now;
  w->changed = true;
  rc = pai__alerts_keep(w, &r->err);
  pai__answer_changed(r, rc, "End silence successfully.");
}

/* --- rules --------------------------------------------------------------- */

static size_t count(const pai__watched *w, const pai__alert_rule *rule,
                    bool fires, pai_time now)
{
  size_t n = 0;

  for (size_t i = 0; i < w->states.n; i++) {
    const pai__alert_state *x = w->states.list[i];

    n += x->ended == 0 && !x->alert.outside &&
         (x->alert.since <= now) == fires &&
         strcmp(x->alert.name, rule->name) == 0;
  }
  return n;
}

void pai__do_alerts_rules(pai__request *r)
{
  const pai__watched *w = r->server->watched;
  pai__json_writer *json = &r->json;
  pai_time now = pai__loop_wall_time();

  pai__json_writer_init(json, &r->answer, false);
  pai__json_begin_array(json);
  for (size_t i = 0; i < w->settings->rules.n; i++) {
    const pai__alert_rule *rule = &w->settings->rules.at[i];

    pai__json_write(json, "{alert:s,expr:s,severity:s,summary:s", rule->name,
                    rule->expr, rule->severity, rule->summary);
    pai__json_put_int(json, "for", rule->wait / 1000000);
    pai__json_put_bool(json, "builtIn", rule->built_in);
    pai__json_put_bool(json, "disabled", rule->off);
    pai__json_put_int(json, "firing", (int64_t)count(w, rule, true, now));
    pai__json_put_int(json, "pending", (int64_t)count(w, rule, false, now));
    pai__json_end_object(json);
  }
  pai__json_end_array(json);
  pai__answer_json(r, 200);
}
