/* quotas.h - internal to the room: what a user may have at a time */
#ifndef PAI_SRC_SERVER_QUOTAS_H
#define PAI_SRC_SERVER_QUOTAS_H

#include "server/server.h"

/* Whether the caller may have one more job with so many tasks; if not, that is
 * the answer.  The platform's own user may have any number. */
bool pai__quota_has_job(pai__request *r, uint64_t tasks);
/* How many streams the caller may have over TCP. */
size_t pai__quota_streams(const pai__request *r);
/* How many bytes of code the caller may upload now, at most PAI__MOST_CODE. */
uint64_t pai__quota_code(const pai__request *r);
/* The caller has uploaded so many, which are in that folder until a job takes
 * it or it is swept away.  Without memory they do not count. */
void pai__quota_keep_code(const pai__request *r, const char *dir,
                          uint64_t bytes);
void pai__quota_forget_code(pai_server *server);

#endif
