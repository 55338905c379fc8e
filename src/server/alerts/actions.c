/*
 * actions.c - what is done with alerts: each receiver is told once of each, and
 * again after the route's time
 */
#include "server/alerts/message.h"

#include "base/hash.h"

#include <openpai/vc.h>

#include <stdio.h>
#include <string.h>

enum { MOST_ALERTS = 100 }; /* of a message; further ones come later */

/* The alerts that a receiver is told of now. */
typedef struct telling {
  pai__watched *w;
  const pai__alert_receiver *receiver;
  pai__alert_state *alerts[MOST_ALERTS];
  bool first[MOST_ALERTS]; /* it was not told of this one before */
  size_t n;
  pai__alert_batch *batch;
  pai_time now;
} telling;

/* --- jobs and nodes ------------------------------------------------------ */

static void note(pai__watched *w, const char *who, const char *method,
                 const char *path, const char *name, const char *rest)
{
  char what[700];

  (void)snprintf(what, sizeof(what), "%s %s/%s%s", method, path, name, rest);
  if (pai_accounts_note(w->server->accounts, who, NULL, what, 200) < 0)
    pai__log_line(&w->server->log, PAI_LOG_WARNING,
                  "out of memory: an action is missing from the audit log");
}

static pai_job_id find_job(pai__watched *w, const char *name)
{
  pai_job_id job = 0;
  int state = -1;

  if (name[0] == '\0' ||
      pai_platform_find(&job, w->server->platform, name, NULL) < 0)
    return 0;
  state = pai_platform_job_state(NULL, w->server->platform, job);
  return state >= 0 && state <= PAI_STATE_STOPPING ? job : 0;
}

size_t pai__alert_stop_job(pai__watched *w, pai__alert_labels labels,
                           const char *who)
{
  const char *name = pai__alert_labels_get(labels, "job_name");
  pai_job_id job = find_job(w, name);

  if (job == 0 || pai_platform_stop(w->server->platform, job) < 0)
    return 0;
  note(w, who, "PUT", "/api/v2/jobs", name, "/executionType");
  return 1;
}

size_t pai__alert_tag_job(pai__watched *w, pai__alert_labels labels,
                          const char *tag, const char *who)
{
  const char *name = pai__alert_labels_get(labels, "job_name");
  pai_job_id job = find_job(w, name);

  if (job == 0 || pai_platform_tag(w->server->platform, job, tag, NULL) < 0)
    return 0;
  note(w, who, "PUT", "/api/v2/jobs", name, "/tag");
  return 1;
}

size_t pai__alert_drain_node(pai__watched *w, pai__alert_labels labels,
                             const char *who)
{
  const char *name = pai__alert_labels_get(labels, "node_name"),
             *alert = pai__alert_labels_get(labels, "alertname");
  char why[300];

  (void)snprintf(why, sizeof(why), "alert %.200s", alert);
  if (name[0] == '\0' ||
      pai_platform_drain(w->server->platform, name, 1, why, NULL) < 0)
    return 0;
  note(w, who, "PUT", "/api/v2/nodes", name, "/status");
  return 1;
}

/* Jobs and nodes are changed once, not again after the route's time. */
static void change_things(const telling *t)
{
  const pai__alert_receiver *r = t->receiver;
  char who[100];

  (void)snprintf(who, sizeof(who), "(alerts: %.80s)", r->name);
  for (size_t i = 0; i < t->n; i++) {
    pai__alert_view view;

    if (!t->first[i] || t->alerts[i]->ended != 0)
      continue;
    pai__alert_view_of(&view, t->w, &t->alerts[i]->alert);
    if (r->stop_jobs)
      (void)pai__alert_stop_job(t->w, view.labels, who);
    for (size_t k = 0; k < r->tags.n; k++)
      (void)pai__alert_tag_job(t->w, view.labels, r->tags.at[k], who);
    if (r->cordon_nodes)
      (void)pai__alert_drain_node(t->w, view.labels, who);
  }
}

/* --- messages ------------------------------------------------------------ */

static void post(const telling *t, enum pai__outgoing_kind kind,
                 const char *name, pai__buf *body)
{
  if (pai__buf_ok(body))
    (void)!pai__outbox_add(t->w, kind, name, body, t->batch);
  pai__buf_dispose(body);
}

static void post_webhook(const telling *t)
{
  pai__buf body;

  pai__buf_init(&body, &t->w->server->alloc);
  pai__message_webhook(&body, t->w, t->receiver->name, t->alerts, t->n,
                       t->now);
  post(t, PAI__WEBHOOK, t->receiver->name, &body);
}

/* Sends a mail about the firing alerts, of one user if `user` is given. */
static void post_mail(const telling *t, const char *user, const char *to)
{
  pai__alert_line lines[MOST_ALERTS];
  size_t n = 0;
  pai__buf body;

  for (size_t i = 0; i < t->n; i++) {
    const pai__alert_state *x = t->alerts[i];

    if (x->ended == 0 && (user == NULL || (x->alert.user != NULL &&
                                           strcmp(x->alert.user, user) == 0)))
      lines[n++] = (pai__alert_line){ x->alert.name, x->alert.severity,
                                      x->alert.text, x->alert.since, false };
  }
  if (n == 0)
    return;
  pai__buf_init(&body, &t->w->server->alloc);
  pai__message_mail(&body, t->w, to, lines, n, t->now);
  post(t, PAI__MAIL, to, &body);
}

bool pai__alert_mail_of(char *out, size_t size, const pai__watched *w,
                        const char *user)
{
  pai__buf json;
  pai__tree *t = NULL;
  const char *mail;
  int rc;

  out[0] = '\0';
  pai__buf_init(&json, &w->server->alloc);
  rc = pai_accounts_write_user(w->server->accounts, user, NULL,
                               pai__answer_write, &json, NULL);
  t = pai__written_tree(&json);
  mail = rc == PAI_OK ? pai__tree_look_text(t, 0, "email", "") : "";
  if (pai__alert_is_address(mail))
    (void)snprintf(out, size, "%s", mail);
  pai__tree_free(t);
  return out[0] != '\0';
}

/* Sends a mail to each user of the alerts. */
static void post_to_users(const telling *t)
{
  for (size_t i = 0; i < t->n; i++) {
    const char *user = t->alerts[i]->alert.user;
    char to[256];
    bool done = user == NULL;

    for (size_t k = 0; !done && k < i; k++)
      done = t->alerts[k]->alert.user != NULL &&
             strcmp(t->alerts[k]->alert.user, user) == 0;
    if (!done && pai__alert_mail_of(to, sizeof(to), t->w, user))
      post_mail(t, user, to);
  }
}

/* --- who is told --------------------------------------------------------- */

/* Returns the route by which the receiver gets the alert, or NULL. */
static const pai__alert_route *find_route(const telling *t,
                                          const pai__alert *a)
{
  const pai__alert_settings *s = t->w->settings;
  pai__alert_view view;

  pai__alert_view_of(&view, t->w, a);
  for (size_t i = 0; i < s->nroutes; i++) {
    const pai__alert_route *route = &s->routes[i];

    if (!pai__alert_matchers_match(&route->matchers, view.labels))
      continue;
    if (strcmp(route->receiver, t->receiver->name) == 0)
      return route;
    if (!route->more)
      return NULL;
  }
  return NULL;
}

static const pai__alert_sent *find_sent(const pai__alert_state *x,
                                        uint64_t receiver)
{
  for (size_t i = 0; i < PAI__ALERT_RECEIVERS; i++)
    if (x->sent[i].receiver == receiver)
      return &x->sent[i];
  return NULL;
}

/* Returns whether the receiver is to be told of the alert now. */
static bool is_due(const telling *t, const pai__alert_state *x,
                   const pai__alert_sent *sent)
{
  const pai__alert_route *route;

  if (x->alert.outside || (x->ended == 0 ? x->alert.since > t->now
                                         : sent == NULL || sent->resolved ||
                                             t->receiver->url == NULL))
    return false;
  route = find_route(t, &x->alert);
  if (route == NULL || pai__alert_is_silenced(t->w, &x->alert, t->now))
    return false;
  return sent == NULL || x->ended != 0 ||
         (x->acknowledged == NULL && t->now - sent->at >= route->repeat);
}

static pai__alert_batch *new_batch(const telling *t, uint64_t receiver)
{
  const pai_alloc *alloc = &t->w->server->alloc;
  pai__alert_batch *b = pai__zalloc(alloc, sizeof(*b));

  if (b == NULL)
    return NULL;
  b->receiver = receiver;
  b->n = t->n;
  b->told = pai__zalloc(alloc, t->n * sizeof(*b->told));
  if (b->told == NULL) {
    pai__free(alloc, b, sizeof(*b));
    return NULL;
  }
  for (size_t i = 0; i < t->n; i++) {
    b->told[i].print = t->alerts[i]->print;
    b->told[i].since = t->alerts[i]->alert.since;
    b->told[i].resolved = t->alerts[i]->ended != 0;
  }
  return b;
}

static void tell(telling *t)
{
  const pai__alert_receiver *r = t->receiver;
  uint64_t hash = pai__hash_text(PAI__HASH_SEED, r->name) | 1;

  if (pai__outbox_has(t->w, hash))
    return; /* it is being told of others */
  t->n = 0;
  for (size_t i = 0; i < t->w->states.n && t->n < MOST_ALERTS; i++) {
    pai__alert_state *x = t->w->states.list[i];
    const pai__alert_sent *sent = find_sent(x, hash);

    if (!is_due(t, x, sent))
      continue;
    t->first[t->n] = sent == NULL;
    t->alerts[t->n++] = x;
  }
  if (t->n == 0 || (t->batch = new_batch(t, hash)) == NULL)
    return;
  t->batch->pending++; /* not marked before all messages are there */
  change_things(t);
  if (r->url != NULL)
    post_webhook(t);
  if (r->email_admin && t->w->settings->mail.to.n > 0)
    post_mail(t, NULL, NULL);
  if (r->email_user)
    post_to_users(t);
  if (--t->batch->pending == 0)
    pai__alert_batch_end(t->w, t->batch);
}

/* --- other Alertmanagers ------------------------------------------------- */

/* Sends what fires, and what ended lately; again with each look, as an
 * Alertmanager forgets alerts that are not sent again. */
static void tell_managers(pai__watched *w, pai_time now)
{
  telling t = { .w = w, .now = now };

  for (size_t i = 0; i < w->settings->alertmanagers.n; i++) {
    pai__buf body, url;

    t.n = 0;
    for (size_t k = 0; k < w->states.n && t.n < MOST_ALERTS; k++) {
      pai__alert_state *x = w->states.list[k];

      if (!x->alert.outside &&
          (x->ended == 0 ? x->alert.since <= now
                         : now - x->ended < 2 * PAI__ALERT_ENDS) &&
          !pai__alert_is_silenced(w, &x->alert, now))
        t.alerts[t.n++] = x;
    }
    pai__buf_init(&body, &w->server->alloc);
    pai__buf_init(&url, &w->server->alloc);
    pai__buf_printf(&url, "%s/api/v2/alerts",
                    w->settings->alertmanagers.at[i]);
    pai__message_manager(&body, w, t.alerts, t.n, now);
    if (t.n > 0 && pai__buf_ok(&url) &&
        !pai__outbox_has_manager(w, pai__buf_text(&url)))
      post(&t, PAI__ALERTMANAGER, pai__buf_text(&url), &body);
    pai__buf_dispose(&url);
    pai__buf_dispose(&body);
  }
}

void pai__alerts_act(pai__watched *w, pai_time now)
{
  telling t = { .w = w, .now = now };

  for (size_t i = 0; i < w->settings->nreceivers; i++) {
    t.receiver = &w->settings->receivers[i];
    tell(&t);
  }
  tell_managers(w, now);
}
