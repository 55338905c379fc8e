/* alerts.h - internal to the room: what somebody should look at */
#ifndef PAI_SRC_SERVER_ALERTS_H
#define PAI_SRC_SERVER_ALERTS_H

#include "server/alarms.h"
#include "server/seen.h"

/* How long after an answer a list holds, as Alertmanager's says. */
#define PAI__ALERT_ENDS (INT64_C(5) * 60 * 1000000)

/* alerts_look.c: looks each minute from now on.  PAI_OK or PAI_ENOMEM. */
int pai__alerts_begin(pai_server *s);
void pai__alerts_free(pai_server *s);
/* Looks now, unless that was done just before.  A code. */
int pai__alerts_look(pai_server *s, const pai__seen_machine *m,
                     pai_error **err);
/* What was seen, after such a look. */
const pai__alarms *pai__alerts_of(const pai_server *s);

#endif
