/*
 * receive.c - bodies of Alertmanager's webhook: alerts from outside, and
 * OpenPAI's alert-handler, which acts on the alerts that it is sent
 */
#include "server/alerts/message.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ALERTS = 500 };

/* An alert of the body; texts are those of the tree. */
typedef struct received {
  pai__alert_label labels[PAI__ALERT_LABELS];
  pai__alert_labels all; /* sorted */
  const char *summary;
  bool resolved;
  pai_time since, ends;
} received;

/* --- reading ------------------------------------------------------------- */

static pai_time read_time(const pai__tree *t, pai__node of, const char *name)
{
  pai_time time = 0;

  return pai__alert_time_read(&time, pai__tree_look_text(t, of, name, ""))
           ? time
           : 0;
}

/* Reads an alert; false: it has no name, or a label that is none. */
static bool read_one(received *out, const pai__tree *t, pai__node of)
{
  static const char *const texts[] = { "summary", "description", "message" };
  pai__tree_walk w = pai__tree_iter(t, pai__tree_get(t, of, "labels"));
  pai__node notes = pai__tree_get(t, of, "annotations"), k;

  out->all = (pai__alert_labels){ out->labels, 0 };
  while ((k = pai__tree_next(&w)) != PAI__NO_NODE) {
    size_t len;
    const char *name = pai__tree_str(t, k, &len),
               *value = pai__tree_text(t, pai__tree_value(t, k), NULL);

    if (out->all.n == PAI__ALERT_LABELS || value == NULL ||
        !pai__alert_label_is_name(name, len) || strlen(value) > 1000)
      return false;
    out->labels[out->all.n++] = (pai__alert_label){ name, value };
  }
  pai__alert_labels_sort(out->labels, out->all.n);
  out->summary = "";
  for (size_t i = 0; out->summary[0] == '\0' && i < PAI__LEN(texts); i++)
    out->summary = pai__tree_look_text(t, notes, texts[i], "");
  out->resolved =
    strcmp(pai__tree_look_text(t, of, "status", "firing"), "resolved") == 0;
  out->since = read_time(t, of, "startsAt");
  out->ends = read_time(t, of, "endsAt");
  return pai__alert_labels_get(out->all, "alertname")[0] != '\0';
}

/* Calls `with` for each alert of the body.  Returns false after answering that
 * the body is invalid. */
static bool read_body(pai__request *r,
                      bool (*with)(void *user_data, const received *one),
                      void *user_data)
{
  pai__tree *t =
    pai__server_tree(r->server, pai__buf_text(&r->body), r->body.len);
  pai__node alerts = pai__tree_get(t, 0, "alerts"), item;
  const char *why = NULL;
  pai__tree_walk w;
  received one;

  if (!pai__tree_is(t, alerts, PAI__SEQUENCE))
    why = "The body is not JSON with a list \"alerts\".";
  else if (pai__tree_size(t, alerts) > MOST_ALERTS)
    why = "The body has more than 500 alerts.";
  if (why == NULL) {
    w = pai__tree_iter(t, alerts);
    while (why == NULL && (item = pai__tree_next(&w)) != PAI__NO_NODE)
      if (!read_one(&one, t, item))
        why = "An alert has no \"alertname\", or labels that are not valid.";
      else if (!with(user_data, &one))
        why = "";
  }
  pai__tree_free(t);
  if (why != NULL && why[0] != '\0')
    pai__answer_error(r, 400, "InvalidParametersError", "%s", why);
  else if (why != NULL)
    pai__answer_failure(r, PAI_ENOMEM);
  return why == NULL;
}

/* --- alerts from outside ------------------------------------------------- */

/* This platform's alerts come back from an Alertmanager that they were sent
 * to; those are not taken for others. */
static bool is_ours(const pai__watched *w, const received *one)
{
  const char *name = pai__alert_labels_get(one->all, "alertname"),
             *job = pai__alert_labels_get(one->all, "job_name");

  for (size_t i = 0; i < w->states.n; i++) {
    const pai__alert *own = &w->states.list[i]->alert;
    pai__alert_view view;
    size_t same = 0;

    if (own->outside || strcmp(own->name, name) != 0 ||
        (own->job != NULL && strstr(job, own->job) == NULL))
      continue;
    pai__alert_view_of(&view, w, own);
    for (size_t k = 0; k < view.labels.n; k++)
      same += strcmp(pai__alert_labels_get(one->all, view.at[k].name),
                     view.at[k].value) == 0;
    if (same == view.labels.n && same == one->all.n)
      return true;
  }
  return false;
}

/* An alert from outside lasts for two of Alertmanager's usual times of
 * repeating, unless the body says when it ends. */
#define LASTS (INT64_C(2) * 86400 * 1000000)

static bool take(void *user_data, const received *one)
{
  pai__watched *w = user_data;
  pai_time now = pai__loop_wall_time();
  pai__alert_label labels[PAI__ALERT_LABELS];
  const char *severity = pai__alert_labels_get(one->all, "severity");
  pai__alert a = { .name = pai__alert_labels_get(one->all, "alertname"),
                   .severity = severity[0] != '\0' ? severity : "warn",
                   .since = one->since > now ? now : one->since,
                   .outside = true };

  if (is_ours(w, one))
    return true;
  for (size_t i = 0; i < one->all.n; i++)
    if (strcmp(one->all.at[i].name, "alertname") != 0 &&
        strcmp(one->all.at[i].name, "severity") != 0)
      labels[a.labels.n++] = one->all.at[i];
  a.labels.at = labels;
  pai__alert_summary(
    a.text, sizeof(a.text), "{{summary}}",
    (pai__alert_labels){ &(pai__alert_label){ "summary", one->summary }, 1 },
    0);
  return pai__alert_states_receive(&w->states, &a,
                                   one->resolved     ? 0
                                   : one->ends > now ? one->ends
                                                     : now + LASTS,
                                   now) == PAI_OK;
}

void pai__do_alerts_receive(pai__request *r)
{
  pai__watched *w = r->server->watched;
  int rc;

  if (!read_body(r, take, w))
    return;
  rc = pai__alerts_keep(w, &r->err);
  pai__answer_changed(r, rc, "Receive alerts successfully.");
}

/* --- OpenPAI's alert-handler --------------------------------------------- */

typedef struct handling {
  pai__request *r;
  pai__watched *w;
  const char *tag;
  size_t done;
  pai__alert_line lines[MOST_ALERTS];
  const char *users[MOST_ALERTS]; /* of lines */
  size_t n;
  pai__arena arena;
} handling;

static bool stop_one(void *user_data, const received *one)
{
  handling *h = user_data;

  if (!one->resolved)
    h->done += pai__alert_stop_job(h->w, one->all, h->r->caller.name);
  return true;
}

static bool tag_one(void *user_data, const received *one)
{
  handling *h = user_data;

  if (!one->resolved)
    h->done += pai__alert_tag_job(h->w, one->all, h->tag, h->r->caller.name);
  return true;
}

static bool drain_one(void *user_data, const received *one)
{
  handling *h = user_data;

  if (!one->resolved)
    h->done += pai__alert_drain_node(h->w, one->all, h->r->caller.name);
  return true;
}

static void handle(pai__request *r, const char *what, const char *tag,
                   bool (*with)(void *user_data, const received *one))
{
  handling h = { .r = r, .w = r->server->watched, .tag = tag };

  if (!read_body(r, with, &h))
    return;
  pai__answer_done(r, 200, "%s: %llu.", what, (unsigned long long)h.done);
  pai__answer_when_safe(r);
}

void pai__do_alert_handler_stop_jobs(pai__request *r)
{
  handle(r, "Stopped jobs", NULL, stop_one);
}

void pai__do_alert_handler_tag_jobs(pai__request *r)
{
  handle(r, "Tagged jobs", r->params[0], tag_one);
}

void pai__do_alert_handler_drain_nodes(pai__request *r)
{
  handle(r, "Drained nodes", NULL, drain_one);
}

/* --- mails of the alert-handler ------------------------------------------ */

static bool collect(void *user_data, const received *one)
{
  handling *h = user_data;
  pai__alert_line *line = &h->lines[h->n];
  const char *const texts[] = { pai__alert_labels_get(one->all, "alertname"),
                                pai__alert_labels_get(one->all, "severity"),
                                one->summary,
                                pai__alert_labels_get(one->all, "username") };
  const char *copies[PAI__LEN(texts)];

  if (one->resolved)
    return true;
  for (size_t i = 0; i < PAI__LEN(texts); i++) {
    copies[i] = pai__arena_strndup(&h->arena, texts[i], strlen(texts[i]));
    if (copies[i] == NULL)
      return false;
  }
  *line =
    (pai__alert_line){ copies[0], copies[1], copies[2], one->since, false };
  h->users[h->n++] = copies[3];
  return true;
}

/* Sends a mail with the lines of a user, or with all. */
static int send_mail(handling *h, const char *user, const char *to)
{
  pai__alert_line lines[MOST_ALERTS];
  size_t n = 0;
  pai__buf body;
  int rc;

  for (size_t i = 0; i < h->n; i++)
    if (user == NULL || strcmp(h->users[i], user) == 0)
      lines[n++] = h->lines[i];
  pai__buf_init(&body, &h->w->server->alloc);
  pai__message_mail(&body, h->w, to, lines, n, pai__loop_wall_time());
  rc = pai__buf_ok(&body) ? pai__outbox_add(h->w, PAI__MAIL, to, &body, NULL)
                          : PAI_ENOMEM;
  pai__buf_dispose(&body);
  h->done += rc == PAI_OK;
  return rc;
}

static int send_to_users(handling *h)
{
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && i < h->n; i++) {
    bool seen = h->users[i][0] == '\0';
    char to[256];

    for (size_t k = 0; !seen && k < i; k++)
      seen = strcmp(h->users[k], h->users[i]) == 0;
    if (!seen && pai__alert_mail_of(to, sizeof(to), h->w, h->users[i]))
      rc = send_mail(h, h->users[i], to);
  }
  return rc;
}

static void mail(pai__request *r, bool to_users)
{
  pai__watched *w = r->server->watched;
  handling *h;
  int rc = PAI_OK;

  (void)pai__request_query(r, "template"); /* there is one template */
  if (w->settings->mail.server == NULL ||
      (!to_users && w->settings->mail.to.n == 0)) {
    pai__answer_error(r, 400, "InvalidParametersError",
                      "alerts.yaml of this platform has no \"mail\"%s.",
                      to_users ? "" : " with \"to\"");
    return;
  }
  h = pai__zalloc(&r->server->alloc, sizeof(*h));
  if (h == NULL) {
    pai__answer_failure(r, PAI_ENOMEM);
    return;
  }
  h->r = r;
  h->w = w;
  pai__arena_init(&h->arena, &r->server->alloc);
  if (read_body(r, collect, h)) {
    if (h->n > 0)
      rc = to_users ? send_to_users(h) : send_mail(h, NULL, NULL);
    if (rc == PAI_ELIMIT)
      pai__answer_error(r, 503, "UnknownError", "Too many messages wait.");
    else if (rc < 0)
      pai__answer_failure(r, rc);
    else
      pai__answer_done(r, 200, "Sent mails: %llu.",
                       (unsigned long long)h->done);
  }
  pai__arena_dispose(&h->arena);
  pai__free(&r->server->alloc, h, sizeof(*h));
}

void pai__do_alert_handler_mail_admins(pai__request *r)
{
  mail(r, false);
}

void pai__do_alert_handler_mail_users(pai__request *r)
{
  mail(r, true);
}
