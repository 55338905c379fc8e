/* ajv.h - internal to the room: findings of a job file in the format of Ajv */
#ifndef PAI_SRC_SERVER_CALLS_AJV_H
#define PAI_SRC_SERVER_CALLS_AJV_H

#include "server/server.h"

#include <openpai/report.h>

/* Writes a list of all findings that are errors.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__ajv_write(pai__buf *out, const pai_report *report);

#endif
