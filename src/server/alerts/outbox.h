/*
 * outbox.h - internal to the room: messages about alerts on their way to
 * receivers, with retries
 */
#ifndef PAI_SRC_SERVER_ALERTS_OUTBOX_H
#define PAI_SRC_SERVER_ALERTS_OUTBOX_H

#include "base/buf.h"
#include "loop/loop.h"

struct pai__watched;
typedef struct pai__outgoing pai__outgoing;

/* The alerts that a receiver is told of at a time.  When the last of its
 * messages was sent, or given up, each alert is marked. */
typedef struct pai__alert_batch {
  uint64_t receiver; /* hash of its name */
  size_t pending;    /* messages */
  struct pai__alert_told {
    uint64_t print;
    int64_t since; /* of the alert: another one may have the same print */
    bool resolved;
  } * told;
  size_t n;
} pai__alert_batch;

enum pai__outgoing_kind { PAI__WEBHOOK, PAI__MAIL, PAI__ALERTMANAGER };

enum { PAI__OUTBOX = 200 };

typedef struct pai__outbox {
  pai__outgoing *first;
  pai__timer *timer;
  size_t n, under_way;
  bool shut;
} pai__outbox;

int pai__outbox_init(struct pai__watched *w);
/* Sends nothing more; w->outbox.under_way is 0 when it is over. */
void pai__outbox_shut(struct pai__watched *w);
void pai__outbox_free(struct pai__watched *w);
/* Sends a message.  `name`: of the receiver; URL of the Alertmanager; address
 * for a mail, NULL: to administrators.  Takes over the text of `body`.
 * `batch` may be NULL.  PAI_OK; PAI_ELIMIT: the outbox is full; PAI_ENOMEM. */
int pai__outbox_add(struct pai__watched *w, enum pai__outgoing_kind kind,
                    const char *name, pai__buf *body, pai__alert_batch *batch);
/* Returns whether messages to the receiver wait; or to the Alertmanager. */
bool pai__outbox_has(const struct pai__watched *w, uint64_t receiver);
bool pai__outbox_has_manager(const struct pai__watched *w, const char *url);
/* Frees a batch that no message has, and marks its alerts as told. */
void pai__alert_batch_end(struct pai__watched *w, pai__alert_batch *batch);

#endif
