/*
 * alerts.c - GET /alerts: what somebody should look at, in the form of
 * Alertmanager's list; by the names that OpenPAI's rules have for it
 *
 * Those of the machine are the administrator's, those of a job its owner's, too.
 */
#include "server/alerts.h"

#include <stdio.h>
#include <time.h>

static void member(pai__json_writer *w, const char *key, const char *value)
{
  pai__json_key(w, key, strlen(key));
  pai__json_text(w, value, strlen(value));
}

static void date(pai__json_writer *w, const char *key, pai_time time)
{
  time_t seconds = (time_t)(time / 1000000);
  char out[40];
  struct tm tm;

  (void)gmtime_r(&seconds, &tm);
  (void)strftime(out, sizeof(out), "%Y-%m-%dT%H:%M:%S.000Z", &tm);
  member(w, key, out);
}

static void write_labels(pai__json_writer *w, const pai__alert *a,
                         const pai__seen_machine *m)
{
  pai__json_key(w, "labels", 6);
  pai__json_begin_object(w);
  member(w, "alertname", a->name);
  member(w, "severity", a->severity);
  member(w, "node_name", m->name);
  if (a->user != NULL) {
    pai__buf name;

    pai__buf_init(&name, w->out->alloc);
    pai__buf_printf(&name, "%s~%s", a->user, a->job);
    member(w, "job_name", pai__buf_text(&name));
    member(w, "username", a->user);
    pai__buf_dispose(&name);
  }
  pai__json_end_object(w);
}

static void empty_list(pai__json_writer *w, const char *key)
{
  pai__json_key(w, key, strlen(key));
  pai__json_begin_array(w);
  pai__json_end_array(w);
}

/* Of one that is still there Alertmanager says that it will end soon, if nobody
 * tells otherwise. */
static void write_alarm(pai__json_writer *w, const pai__alarm *x,
                        const pai__seen_machine *m, pai_time now)
{
  const pai__alert *a = &x->alert;
  char print[20];

  pai__json_begin_object(w);
  write_labels(w, a, m);
  pai__json_key(w, "annotations", 11);
  pai__json_begin_object(w);
  member(w, "summary", a->text);
  pai__json_end_object(w);
  date(w, "startsAt", a->since);
  date(w, "endsAt", x->ended != 0 ? x->ended : now + PAI__ALERT_ENDS);
  member(w, "generatorURL", "");
  pai__json_key(w, "status", 6);
  pai__json_begin_object(w);
  member(w, "state", x->ended != 0 ? "resolved" : "active");
  empty_list(w, "silencedBy");
  empty_list(w, "inhibitedBy");
  pai__json_end_object(w);
  pai__json_key(w, "receivers", 9);
  pai__json_begin_array(w);
  pai__json_text(w, "webportal-notification", 22);
  pai__json_end_array(w);
  (void)snprintf(print, sizeof(print), "%016llx",
                 (unsigned long long)x->print);
  member(w, "fingerprint", print);
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

static void write_all(pai__request *r, const pai__seen_machine *m)
{
  const pai__alarms *all = pai__alerts_of(r->server);
  bool over = pai__request_flag(r, "resolved");
  pai_time now = pai__loop_wall_time();

  pai__json_writer_init(&r->json, &r->answer, false);
  pai__json_begin_array(&r->json);
  for (size_t i = 0; i < all->n; i++) {
    const pai__alarm *x = all->list[i];

    if ((over ? x->ended != 0 : pai__alarm_fires(x, now)) &&
        is_his(r, &x->alert))
      write_alarm(&r->json, x, m, now);
  }
  pai__json_end_array(&r->json);
  pai__answer_json(r, 200);
}

static void do_alerts(pai__request *r)
{
  pai_error *err = NULL;
  pai__seen_machine machine;
  int rc = pai__seen_machine_read(&machine, r->server, &err);

  if (rc == PAI_OK)
    rc = pai__alerts_look(r->server, &machine, &err);
  if (rc == PAI_OK)
    write_all(r, &machine);
  else
    pai__answer_failure(r, rc, err);
  pai__seen_machine_dispose(&machine);
}

/* --- answers --- */

static const pai__field label_fields[] = {
  PAI__HAS(TEXT, "alertname"),     PAI__HAS(TEXT, "severity"),
  PAI__HAS(TEXT, "node_name"),     PAI__MAY_HAVE(TEXT, "job_name"),
  PAI__MAY_HAVE(TEXT, "username"), { 0 }
};

static const pai__shape label_shape = { "AlertLabels", label_fields };

static const pai__field annotation_fields[] = { PAI__HAS(TEXT, "summary"),
                                                { 0 } };

static const pai__shape annotation_shape = { "AlertAnnotations",
                                             annotation_fields };

static const pai__field state_fields[] = { PAI__HAS(TEXT, "state"),
                                           PAI__HAS(TEXTS, "silencedBy"),
                                           PAI__HAS(TEXTS, "inhibitedBy"),
                                           { 0 } };

static const pai__shape state_shape = { "AlertState", state_fields };

static const pai__field alert_fields[] = {
  PAI__HAS_OF(OBJECT, "labels", &label_shape),
  PAI__HAS_OF(OBJECT, "annotations", &annotation_shape),
  PAI__HAS(TEXT, "startsAt"),
  PAI__HAS(TEXT, "endsAt"),
  PAI__HAS(TEXT, "generatorURL"),
  PAI__HAS_OF(OBJECT, "status", &state_shape),
  PAI__HAS(TEXTS, "receivers"),
  PAI__HAS(TEXT, "fingerprint"),
  { 0 }
};

static const pai__shape alert_shape = { "Alert", alert_fields };

static const pai__result alerts = { .kind = PAI__IS_LIST,
                                    .shape = &alert_shape };

/* --- queries --- */

static const pai__field queries[] = {
  { .name = "resolved",
    .kind = PAI__IS_FLAG,
    .missing = "false",
    .what = "jobs that ended in the last day, instead of unfinished ones" },
  { 0 }
};

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/alerts",
    .packs = true,
    .handle = do_alerts,
    .right = PAI__OF_USERS,
    .result = &alerts,
    .queries = queries,
    .summary = "List alerts, for an administrator or the caller" },
};

const pai__routes pai__alerts_routes = { routes, PAI__LEN(routes) };
