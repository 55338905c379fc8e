/* quotas.h - internal to the room: limits of what a user may have at a time */
#ifndef PAI_SRC_SERVER_CALLS_QUOTAS_H
#define PAI_SRC_SERVER_CALLS_QUOTAS_H

#include "server/server.h"

/* Checks that the caller may have one more job with `tasks` tasks; if not,
 * answers and returns false.  The platform's own user has no limit. */
bool pai__quota_has_job(pai__request *r, uint64_t tasks);
/* Returns how many streams the caller may have over TCP. */
size_t pai__quota_streams(const pai__request *r);
/* Records that the caller has uploaded `bytes` into the folder `dir`; they
 * count until a job takes the folder or it is swept away.  Returns false if
 * all uploads of the caller, unfinished ones included, exceed the limit, or if
 * out of memory. */
bool pai__quota_has_code(const pai__request *r, const char *dir,
                         uint64_t bytes);
/* Forgets a folder that was removed. */
void pai__quota_drop_code(pai_server *server, const char *dir);
/* Returns whether the caller may upload `bytes` more. */
bool pai__quota_may_upload(const pai__request *r, uint64_t bytes);
/* Adds `bytes`, which may be negative, to what the caller has uploaded to the
 * folder of a job; they count as long as the job exists.  Returns as
 * pai__quota_has_code(). */
bool pai__quota_has_sent(const pai__request *r, pai_job_id job, int64_t bytes);
/* The job is removed and its folder is now `dir`. */
void pai__quota_move_sent(pai_server *server, pai_job_id job, const char *dir);
/* Answers that the upload exceeds the limit. */
void pai__quota_refuse_upload(pai__request *r);
void pai__quota_forget_uploads(pai_server *server);

#endif
