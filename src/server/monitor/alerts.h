/* alerts.h - internal to the room: alerts for administrators and users */
#ifndef PAI_SRC_SERVER_MONITOR_ALERTS_H
#define PAI_SRC_SERVER_MONITOR_ALERTS_H

#include "server/monitor/alert_states.h"
#include "server/monitor/observed.h"

/* How long a list of alerts stays valid after the answer, as
 * Alertmanager's. */
#define PAI__ALERT_ENDS (INT64_C(5) * 60 * 1000000)

/* alerts_look.c: checks the conditions each minute.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__alerts_begin(pai_server *s);
void pai__alerts_free(pai_server *s);
/* Checks the conditions now, unless they were checked just before.  Returns a
 * code. */
int pai__alerts_look(pai_server *s, const pai__observed_machine *m,
                     pai_error **err);
/* Returns the result of the last check. */
const pai__alert_states *pai__alerts_of(const pai_server *s);

#endif
