/*
 * outbox.c - messages about alerts on their way, with retries
 *
 * A message has its text; URL, token and password are looked up when it is
 * sent, so that changed settings apply.
 */
#include "server/alerts/alerts.h"

#include "http/delivery.h"

#include <string.h>

#define SECOND INT64_C(1000000)
enum { FIRST_WAIT = 5, MOST_TRIES = 9 }; /* 5 s, 10 s, ... : 21 minutes */

struct pai__outgoing {
  pai__outgoing *next;
  pai__watched *w;
  enum pai__outgoing_kind kind;
  char *name, *body;
  size_t len;
  pai__alert_batch *batch;
  pai__delivery *delivery; /* under way, or NULL */
  pai_time due;            /* loop time of the next try */
  int tries;
  bool over; /* sent, or given up */
};

static void on_due(void *user_data);

int pai__outbox_init(pai__watched *w)
{
  return pai__timer_new(&w->outbox.timer, &w->server->alloc, w->server->loop,
                        on_due, w);
}

/* --- the end of messages ------------------------------------------------- */

static pai__alert_state *find_told(const pai__watched *w,
                                   const struct pai__alert_told *told)
{
  for (size_t i = 0; i < w->states.n; i++) {
    pai__alert_state *x = w->states.list[i];

    if (x->print == told->print && x->alert.since == told->since)
      return x;
  }
  return NULL;
}

void pai__alert_batch_end(pai__watched *w, pai__alert_batch *batch)
{
  pai_time now = pai__loop_wall_time();
  pai_alloc *alloc = &w->server->alloc;

  for (size_t i = 0; i < batch->n; i++) {
    pai__alert_state *x = find_told(w, &batch->told[i]);
    pai__alert_sent *oldest = x != NULL ? &x->sent[0] : NULL;

    for (size_t k = 0; x != NULL && k < PAI__ALERT_RECEIVERS; k++)
      if (x->sent[k].receiver == batch->receiver) {
        oldest = &x->sent[k];
        break;
      } else if (x->sent[k].at < oldest->at) {
        oldest = &x->sent[k];
      }
    if (oldest != NULL)
      *oldest =
        (pai__alert_sent){ batch->receiver, now, batch->told[i].resolved };
  }
  w->states.changed = true;
  pai__free(alloc, batch->told, batch->n * sizeof(*batch->told));
  pai__free(alloc, batch, sizeof(*batch));
}

static void free_outgoing(pai__outgoing *o)
{
  pai__watched *w = o->w;
  pai_alloc *alloc = &w->server->alloc;

  if (o->batch != NULL && --o->batch->pending == 0 && o->over)
    pai__alert_batch_end(w, o->batch);
  else if (o->batch != NULL && o->batch->pending == 0) {
    pai__free(alloc, o->batch->told, o->batch->n * sizeof(*o->batch->told));
    pai__free(alloc, o->batch, sizeof(*o->batch));
  }
  pai__strfree(alloc, o->name);
  pai__strfree(alloc, o->body);
  pai__free(alloc, o, sizeof(*o));
}

static void remove_outgoing(pai__outgoing *o)
{
  pai__outgoing **at = &o->w->outbox.first;

  while (*at != o)
    at = &(*at)->next;
  *at = o->next;
  o->w->outbox.n--;
  free_outgoing(o);
}

/* --- sending ------------------------------------------------------------- */

static const char *const kinds[] = { "webhook", "mail", "Alertmanager" };

static void start_timer(pai__watched *w)
{
  pai_time next = 0, now = pai__loop_time();

  for (const pai__outgoing *o = w->outbox.first; o != NULL; o = o->next)
    if (o->delivery == NULL && (next == 0 || o->due < next))
      next = o->due;
  if (next != 0 && !w->outbox.shut)
    pai__timer_start(w->outbox.timer, next > now ? next - now : 0);
}

static void retry_later(pai__outgoing *o, int http_status,
                        const pai_error *err)
{
  pai_server *s = o->w->server;
  bool refused = http_status >= 400 && http_status < 500 &&
                 http_status != 408 && http_status != 429;

  o->tries++;
  o->due =
    pai__loop_time() + ((pai_time)FIRST_WAIT << (o->tries - 1)) * SECOND;
  o->over = refused || o->tries >= MOST_TRIES || o->kind == PAI__ALERTMANAGER;
  pai__log_line(
    &s->log, PAI_LOG_WARNING, "cannot send alerts (%s%s%s)%s: %s%s",
    kinds[o->kind], o->kind == PAI__WEBHOOK ? " of receiver " : "",
    o->kind == PAI__WEBHOOK ? o->name : "", o->over ? "" : ", trying again",
    err != NULL ? pai_error_message(err) : "the answer's status is ",
    err != NULL          ? ""
    : http_status >= 500 ? "5xx"
                         : "not 2xx");
}

static void on_done(void *user_data, int status, int http_status,
                    const pai_error *err)
{
  pai__outgoing *o = user_data;
  bool good = status == PAI_OK && (o->kind == PAI__MAIL ||
                                   (http_status >= 200 && http_status < 300));

  if (good)
    o->over = true;
  else
    retry_later(o, http_status, status < 0 ? err : NULL);
}

static void on_closed(void *user_data)
{
  pai__outgoing *o = user_data;
  pai__watched *w = o->w;
  pai_server *server = w->server;

  o->delivery = NULL;
  w->outbox.under_way--;
  if (w->outbox.shut || o->over)
    remove_outgoing(o);
  start_timer(w);
  if (server->closing > 0)
    pai__server_check_end(server);
  else
    (void)!pai__alerts_keep(w, NULL);
}

static bool may_connect(void *user_data, const void *address)
{
  const pai__outgoing *o = user_data;

  return pai__alert_may_connect(o->w->settings, address);
}

/* What the settings say of a message now.  False: its receiver is gone. */
static bool fill(pai__delivery_want *want, pai__http_mail *mail,
                 pai__buf *authorization, const pai__outgoing *o,
                 const char *const to[2])
{
  const pai__alert_settings *s = o->w->settings;
  const pai__alert_receiver *receiver;

  want->type = "application/json";
  if (o->kind == PAI__ALERTMANAGER) {
    want->url = o->name;
    return true;
  }
  if (o->kind == PAI__WEBHOOK) {
    receiver = pai__alert_receiver_find(s, o->name);
    if (receiver == NULL || receiver->url == NULL)
      return false;
    want->url = receiver->url;
    if (receiver->token != NULL) {
      pai__buf_printf(authorization, "Bearer %s", receiver->token);
      want->authorization = pai__buf_text(authorization);
    }
    return true;
  }
  *mail = (pai__http_mail){
    s->mail.from, o->name != NULL ? to : (const char *const *)s->mail.to.at,
    s->mail.user, s->mail.password
  };
  want->mail = mail;
  want->url = s->mail.server;
  want->ca_file = s->mail.ca_file;
  want->plain_mail = s->mail.plain;
  return s->mail.server != NULL && mail->to != NULL && mail->to[0] != NULL;
}

static void send_one(pai__outgoing *o)
{
  pai_server *s = o->w->server;
  const char *const to[2] = { o->name, NULL };
  pai__delivery_want want = { .body = o->body,
                              .body_len = o->len,
                              .may_connect = may_connect,
                              .on_done = on_done,
                              .on_closed = on_closed,
                              .user_data = o };
  pai__buf authorization;
  pai__http_mail mail;
  pai_error *err = NULL;

  pai__buf_init(&authorization, &s->alloc);
  if (!fill(&want, &mail, &authorization, o, to)) {
    o->over = true;
  } else if (!pai__buf_ok(&authorization) ||
             pai__delivery_begin(&o->delivery, &s->alloc, s->loop, &want,
                                 &err) < 0) {
    retry_later(o, 0, err);
  } else {
    o->w->outbox.under_way++;
  }
  pai_error_free(err);
  pai__buf_wipe(&authorization);
}

static void on_due(void *user_data)
{
  pai__watched *w = user_data;
  pai_time now = pai__loop_time();
  pai__outgoing *next;

  for (pai__outgoing *o = w->outbox.first; o != NULL; o = next) {
    next = o->next;
    if (o->delivery == NULL && o->due <= now)
      send_one(o);
    if (o->delivery == NULL && o->over)
      remove_outgoing(o);
  }
  start_timer(w);
}

/* --- adding -------------------------------------------------------------- */

int pai__outbox_add(pai__watched *w, enum pai__outgoing_kind kind,
                    const char *name, pai__buf *body, pai__alert_batch *batch)
{
  pai_alloc *alloc = &w->server->alloc;
  size_t len = body->len;
  pai__outgoing *o, **at = &w->outbox.first;

  if (w->outbox.n >= PAI__OUTBOX || w->outbox.shut) {
    pai__log_line(&w->server->log, PAI_LOG_WARNING,
                  "cannot send alerts: %d messages wait already", PAI__OUTBOX);
    return PAI_ELIMIT;
  }
  o = pai__zalloc(alloc, sizeof(*o));
  if (o == NULL)
    return PAI_ENOMEM;
  *o = (pai__outgoing){ .w = w, .kind = kind, .len = len };
  o->due = pai__loop_time();
  o->name = name != NULL ? pai__strdup(alloc, name) : NULL;
  o->body = pai__buf_take(body);
  if (o->body == NULL || (name != NULL && o->name == NULL)) {
    free_outgoing(o);
    return PAI_ENOMEM;
  }
  o->batch = batch;
  if (batch != NULL)
    batch->pending++;
  while (*at != NULL)
    at = &(*at)->next;
  *at = o;
  w->outbox.n++;
  start_timer(w);
  return PAI_OK;
}

bool pai__outbox_has(const pai__watched *w, uint64_t receiver)
{
  for (const pai__outgoing *o = w->outbox.first; o != NULL; o = o->next)
    if (o->batch != NULL && o->batch->receiver == receiver)
      return true;
  return false;
}

bool pai__outbox_has_manager(const pai__watched *w, const char *url)
{
  for (const pai__outgoing *o = w->outbox.first; o != NULL; o = o->next)
    if (o->kind == PAI__ALERTMANAGER && strcmp(o->name, url) == 0)
      return true;
  return false;
}

/* --- the end ------------------------------------------------------------- */

void pai__outbox_shut(pai__watched *w)
{
  pai__outgoing *next;

  w->outbox.shut = true;
  if (w->outbox.timer != NULL)
    pai__timer_stop(w->outbox.timer);
  for (pai__outgoing *o = w->outbox.first; o != NULL; o = next) {
    next = o->next;
    if (o->delivery != NULL)
      pai__delivery_cancel(o->delivery);
    else
      remove_outgoing(o);
  }
}

void pai__outbox_free(pai__watched *w)
{
  while (w->outbox.first != NULL)
    remove_outgoing(w->outbox.first);
  pai__timer_close(w->outbox.timer);
}
