/* message.h - internal to the room: texts of messages about alerts */
#ifndef PAI_SRC_SERVER_ALERTS_MESSAGE_H
#define PAI_SRC_SERVER_ALERTS_MESSAGE_H

#include "server/alerts/alerts.h"

/* One alert of a message. */
typedef struct pai__alert_line {
  const char *name, *severity, *summary;
  pai_time since;
  bool resolved;
} pai__alert_line;

/* Writes the body of Alertmanager's webhook, version 4. */
void pai__message_webhook(pai__buf *out, const pai__watched *w,
                          const char *receiver,
                          pai__alert_state *const *alerts, size_t n,
                          pai_time now);
/* Writes the body for an Alertmanager's POST /api/v2/alerts. */
void pai__message_manager(pai__buf *out, const pai__watched *w,
                          pai__alert_state *const *alerts, size_t n,
                          pai_time now);
/* Writes the address of a user's mail; false: there is none (actions.c). */
bool pai__alert_mail_of(char *out, size_t size, const pai__watched *w,
                        const char *user);
/* Writes a mail with its headers.  `to` NULL: to administrators, of whom there
 * is one. */
void pai__message_mail(pai__buf *out, const pai__watched *w, const char *to,
                       const pai__alert_line *alerts, size_t n, pai_time now);

#endif
