/*
 * alerts.c - GET /alerts: alerts in Alertmanager's format, with the names of
 * OpenPAI's rules
 *
 * Alerts of the machine are for administrators; those of a job also for its
 * owner.
 */
#include "server/monitor/alerts.h"

#include "base/date.h"

#include <stdio.h>

static void date(pai__json_writer *w, const char *key, pai_time time)
{
  char out[PAI__TIME_TEXT];

  pai__json_put_text(w, key, pai__time_text(out, time / 1000000, ".000Z"));
}

static void write_labels(pai__json_writer *w, const pai__alert *a,
                         const pai__observed_machine *m)
{
  pai__json_write(w, "labels:{alertname:s,severity:s,node_name:s", a->name,
                  a->severity, m->name);
  if (a->user != NULL) {
    pai__buf name;

    pai__buf_init(&name, w->out->alloc);
    pai__buf_printf(&name, "%s~%s", a->user, a->job);
    pai__json_put_text(w, "job_name", pai__buf_text(&name));
    pai__json_put_text(w, "username", a->user);
    pai__buf_dispose(&name);
  }
  pai__json_end_object(w);
}

/* As in Alertmanager, a firing alert has an end in the near future, which each
 * later answer moves. */
static void write_alert_state(pai__json_writer *w, const pai__alert_state *x,
                              const pai__observed_machine *m, pai_time now)
{
  const pai__alert *a = &x->alert;
  char print[20];

  pai__json_begin_object(w);
  write_labels(w, a, m);
  pai__json_write(w, "annotations:{summary:s}", a->text);
  date(w, "startsAt", a->since);
  date(w, "endsAt", x->ended != 0 ? x->ended : now + PAI__ALERT_ENDS);
  pai__json_write(w, "generatorURL:s,status:{state:s", "",
                  x->ended != 0 ? "resolved" : "active");
  pai__json_write(w, "silencedBy:[],inhibitedBy:[]},receivers:[s]",
                  "webportal-notification");
  (void)snprintf(print, sizeof(print), "%016llx",
                 (unsigned long long)x->print);
  pai__json_put_text(w, "fingerprint", print);
  pai__json_end_object(w);
}

static bool is_his(const pai__request *r, const pai__alert *a)
{
  pai__buf name;
  bool his;

  if (a->job == NULL)
    return r->caller.admin;
  pai__buf_init(&name, &r->server->alloc);
  pai__buf_printf(&name, "%s~%s", a->user, a->job);
  his = pai__buf_ok(&name) && pai__request_is_own(r, pai__buf_text(&name));
  pai__buf_dispose(&name);
  return his;
}

static void write_all(pai__request *r, const pai__observed_machine *m)
{
  const pai__alert_states *all = pai__alerts_of(r->server);
  bool over = pai__request_flag(r, "resolved");
  pai_time now = pai__loop_wall_time();

  pai__json_writer_init(&r->json, &r->answer, false);
  pai__json_begin_array(&r->json);
  for (size_t i = 0; i < all->n; i++) {
    const pai__alert_state *x = all->list[i];

    if ((over ? x->ended != 0 : pai__alert_state_fires(x, now)) &&
        is_his(r, &x->alert))
      write_alert_state(&r->json, x, m, now);
  }
  pai__json_end_array(&r->json);
  pai__answer_json(r, 200);
}

void pai__do_alerts_list(pai__request *r)
{
  pai__observed_machine machine;
  int rc = pai__observed_machine_read(&machine, r->server, &r->err);

  if (rc == PAI_OK)
    rc = pai__alerts_look(r->server, &machine, &r->err);
  if (rc == PAI_OK)
    write_all(r, &machine);
  else
    pai__answer_failure(r, rc);
  pai__observed_machine_dispose(&machine);
}
