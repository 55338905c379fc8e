/* quotas.h - internal to the room: what a user may have at a time */
#ifndef PAI_SRC_SERVER_QUOTAS_H
#define PAI_SRC_SERVER_QUOTAS_H

#include "server/server.h"

/* Whether the caller may have one more job with so many tasks; if not, that is
 * the answer.  The platform's own user may have any number. */
bool pai__quota_has_job(pai__request *r, uint64_t tasks);
/* How many streams the caller may have over TCP. */
size_t pai__quota_streams(const pai__request *r);
/* The caller has uploaded so many into that folder, where they are until a job
 * takes it or it is swept away.  False: all uploads together, also those that
 * are still on their way, are more than the caller may have; or no memory. */
bool pai__quota_has_code(const pai__request *r, const char *dir,
                         uint64_t bytes);
/* That folder is removed. */
void pai__quota_drop_code(pai_server *server, const char *dir);
/* Whether the caller may upload so many more. */
bool pai__quota_may_upload(const pai__request *r, uint64_t bytes);
/* So many more of the caller's, or fewer, lie in the folder of that job, where
 * they count as long as there is such a job.  As pai__quota_has_code(). */
bool pai__quota_has_sent(const pai__request *r, pai_job_id job, int64_t bytes);
/* That job is removed, and its folder is this one now. */
void pai__quota_move_sent(pai_server *server, pai_job_id job, const char *dir);
/* Of more than that. */
void pai__quota_refuse_upload(pai__request *r);
void pai__quota_forget_uploads(pai_server *server);

#endif
