/*
 * list.c - GET /alerts and one alert, in Alertmanager's format; alerts that are
 * acknowledged
 *
 * Alerts of the machine are for administrators; those of a job also for its
 * owner.
 */
#include "server/alerts/alerts.h"

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

static void write_all(pai__request *r)
{
  const pai__watched *w = r->server->watched;
  bool over = pai__request_flag(r, "resolved");
  pai_time now = pai__loop_wall_time();

  pai__json_writer_init(&r->json, &r->answer, false);
  pai__json_begin_array(&r->json);
  for (size_t i = 0; i < w->states.n; i++) {
    const pai__alert_state *x = w->states.list[i];

    if ((over ? x->ended != 0 : pai__alert_state_fires(x, now)) &&
        is_his(r, &x->alert))
      pai__alert_write(&r->json, w, x, now);
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
    write_all(r);
  else
    pai__answer_failure(r, rc);
  pai__observed_machine_dispose(&machine);
}

/* Returns the alert of the path that the caller may see; NULL: none, which is
 * then the answer. */
static pai__alert_state *find(pai__request *r)
{
  pai__alert_state *x =
    pai__alert_states_find(&r->server->watched->states, r->params[0]);

  if (x != NULL && is_his(r, &x->alert) &&
      (x->ended != 0 || x->alert.since <= pai__loop_wall_time()))
    return x;
  pai__answer_error(r, 404, "NoAlertError", "There is no alert %s.",
                    r->params[0]);
  return NULL;
}

void pai__do_alerts_show(pai__request *r)
{
  const pai__alert_state *x = find(r);

  if (x == NULL)
    return;
  pai__json_writer_init(&r->json, &r->answer, false);
  pai__alert_write(&r->json, r->server->watched, x, pai__loop_wall_time());
  pai__answer_json(r, 200);
}

void pai__do_alerts_acknowledge(pai__request *r)
{
  pai__alert_state *x = find(r);
  bool yes =
    pai__tree_is_true(r->form, pai__tree_get(r->form, 0, "acknowledged"));
  int rc;

  if (x == NULL)
    return;
  rc = pai__alert_states_acknowledge(&r->server->watched->states, x,
                                     !yes                     ? NULL
                                     : r->caller.name != NULL ? r->caller.name
                                                              : "",
                                     pai__loop_wall_time());
  if (rc == PAI_OK)
    rc = pai__alerts_keep(r->server->watched, &r->err);
  pai__answer_changed(r, rc,
                      yes ? "Acknowledge alert successfully."
                          : "Withdraw acknowledgement successfully.");
}
