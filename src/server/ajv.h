/* ajv.h - internal to the room: findings in a job's file, as Ajv tells them */
#ifndef PAI_SRC_SERVER_AJV_H
#define PAI_SRC_SERVER_AJV_H

#include "server/server.h"

#include <openpai/report.h>

/* A list of all that is an error.  PAI_OK or PAI_ENOMEM. */
int pai__ajv_write(pai__buf *out, const pai_report *report);

#endif
