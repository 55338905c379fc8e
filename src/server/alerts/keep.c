/* keep.c - the state of alerts and silences in the database, as JSON */
#include "server/alerts/alerts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "alerts"

/* --- writing ------------------------------------------------------------- */

static void write_sent(pai__json_writer *w, const pai__alert_state *x)
{
  char hash[20];

  pai__json_put_array(w, "sent");
  for (size_t i = 0; i < PAI__ALERT_RECEIVERS; i++) {
    const pai__alert_sent *sent = &x->sent[i];

    if (sent->receiver == 0)
      continue;
    (void)snprintf(hash, sizeof(hash), "%llx",
                   (unsigned long long)sent->receiver);
    pai__json_begin_object(w);
    pai__json_put_text(w, "to", hash);
    pai__json_put_int(w, "at", sent->at);
    pai__json_put_bool(w, "resolved", sent->resolved);
    pai__json_end_object(w);
  }
  pai__json_end_array(w);
}

static void write_state(pai__json_writer *w, const pai__alert_state *x)
{
  const pai__alert *a = &x->alert;

  pai__json_begin_object(w);
  pai__json_put_text(w, "name", a->name);
  pai__json_put_text(w, "severity", a->severity);
  pai__json_put_known(w, "user", a->user);
  pai__json_put_known(w, "job", a->job);
  pai__json_put_object(w, "labels");
  for (size_t i = 0; i < a->labels.n; i++)
    pai__json_put_text(w, a->labels.at[i].name, a->labels.at[i].value);
  pai__json_end_object(w);
  pai__json_put_bool(w, "outside", a->outside);
  pai__json_put_text(w, "text", a->text);
  pai__json_put_int(w, "since", a->since);
  pai__json_put_int(w, "ended", x->ended);
  pai__json_put_int(w, "until", x->until);
  pai__json_put_known(w, "acknowledged", x->acknowledged);
  pai__json_put_int(w, "acknowledgedAt", x->acknowledged_at);
  write_sent(w, x);
  pai__json_end_object(w);
}

int pai__alerts_keep(pai__watched *w, pai_error **err)
{
  pai__json_writer json;
  pai__buf text;
  int rc;

  if (!w->states.changed && !w->changed)
    return PAI_OK;
  pai__buf_init(&text, &w->server->alloc);
  pai__json_writer_init(&json, &text, false);
  pai__json_write(&json, "{alerts:[");
  for (size_t i = 0; i < w->states.n; i++)
    write_state(&json, w->states.list[i]);
  pai__json_end_array(&json);
  pai__json_put_array(&json, "silences");
  for (size_t i = 0; i < w->silences.n; i++)
    pai__alert_silence_write(&json, w->silences.at[i], 0);
  pai__json_end_array(&json);
  pai__json_end_object(&json);
  rc = pai__json_finish(&json) < 0
         ? pai__oom(err)
         : pai_platform_keep_text(w->server->platform, NAME,
                                  pai__buf_text(&text), err);
  pai__buf_dispose(&text);
  if (rc == PAI_OK)
    w->states.changed = w->changed = false;
  return rc;
}

/* --- reading ------------------------------------------------------------- */

static void read_sent(pai__alert_state *out, const pai__tree *t, pai__node of)
{
  pai__tree_walk w = pai__tree_iter(t, pai__tree_get(t, of, "sent"));
  pai__node item;

  for (size_t i = 0;
       i < PAI__ALERT_RECEIVERS && (item = pai__tree_next(&w)) != PAI__NO_NODE;
       i++)
    out->sent[i] = (pai__alert_sent){
      strtoull(pai__tree_look_text(t, item, "to", "0"), NULL, 16),
      pai__tree_look_int(t, item, "at"),
      pai__tree_is_true(t, pai__tree_get(t, item, "resolved"))
    };
}

static int read_state(pai__watched *w, const pai__tree *t, pai__node of)
{
  pai__alert a = { .name = pai__tree_look_text(t, of, "name", NULL),
                   .severity = pai__tree_look_text(t, of, "severity", NULL),
                   .user = pai__tree_look_text(t, of, "user", NULL),
                   .job = pai__tree_look_text(t, of, "job", NULL),
                   .since = pai__tree_look_int(t, of, "since") };
  const char *text = pai__tree_look_text(t, of, "text", ""),
             *by = pai__tree_look_text(t, of, "acknowledged", NULL);
  pai__alert_state like = { .ended = pai__tree_look_int(t, of, "ended"),
                            .until = pai__tree_look_int(t, of, "until"),
                            .acknowledged = (char *)(uintptr_t)by };
  pai__tree_walk walk = pai__tree_iter(t, pai__tree_get(t, of, "labels"));
  pai__alert_label labels[PAI__ALERT_LABELS];
  pai__node k;

  if (a.name == NULL || a.severity == NULL)
    return PAI_OK;
  like.acknowledged_at = pai__tree_look_int(t, of, "acknowledgedAt");
  a.outside = pai__tree_is_true(t, pai__tree_get(t, of, "outside"));
  (void)snprintf(a.text, sizeof(a.text), "%s", text);
  while (a.labels.n < PAI__ALERT_LABELS &&
         (k = pai__tree_next(&walk)) != PAI__NO_NODE)
    labels[a.labels.n++] =
      (pai__alert_label){ pai__tree_str(t, k, NULL),
                          pai__tree_text(t, pai__tree_value(t, k), "") };
  a.labels.at = labels;
  read_sent(&like, t, of);
  return pai__alert_states_restore(&w->states, &a, &like);
}

static int read_all(pai__watched *w, const pai__tree *t, pai_error **err)
{
  pai__tree_walk alerts = pai__tree_iter(t, pai__tree_get(t, 0, "alerts"));
  pai__tree_walk silences = pai__tree_iter(t, pai__tree_get(t, 0, "silences"));
  pai__alert_silence *one;
  pai__node item;
  int rc = PAI_OK;

  while (rc == PAI_OK && (item = pai__tree_next(&alerts)) != PAI__NO_NODE)
    rc = read_state(w, t, item);
  while (rc == PAI_OK && (item = pai__tree_next(&silences)) != PAI__NO_NODE) {
    rc = pai__alert_silences_add(&w->silences, &one, t, item, NULL, NULL, 0,
                                 NULL);
    if (rc == PAI_EINVAL || rc == PAI_ELIMIT)
      rc = PAI_OK; /* what cannot be read is forgotten */
  }
  w->states.changed = w->changed = false;
  return rc < 0 ? pai__oom(err) : PAI_OK;
}

int pai__alerts_restore(pai__watched *w, pai_error **err)
{
  pai__json_options options = { .alloc = &w->server->alloc };
  pai__tree *t = NULL;
  pai__buf text;
  int rc;

  pai__buf_init(&text, &w->server->alloc);
  rc = pai_platform_kept_text(w->server->platform, NAME, pai__answer_write,
                              &text, err);
  if (rc == PAI_OK)
    rc = pai__json_parse(&t, pai__buf_text(&text), text.len, &options, err);
  if (rc == PAI_OK)
    rc = read_all(w, t, err);
  pai__tree_free(t);
  pai__buf_dispose(&text);
  if (rc == PAI_ENOMEM)
    return rc;
  if (rc < 0 && rc != PAI_ENOTFOUND)
    pai__log_line(&w->server->log, PAI_LOG_WARNING,
                  "cannot read the state of alerts, so they begin anew: %s",
                  err != NULL && *err != NULL ? pai_error_message(*err) : "");
  if (err != NULL) {
    pai_error_free(*err);
    *err = NULL;
  }
  return PAI_OK;
}
