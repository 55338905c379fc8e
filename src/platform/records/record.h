/* record.h - internal to the room: database rows of jobs, and commits */
#ifndef PAI_SRC_PLATFORM_RECORDS_RECORD_H
#define PAI_SRC_PLATFORM_RECORDS_RECORD_H

#include "platform/platform.h"

#include "job/plan/names.h"

/* --- record.c ------------------------------------------------------------- */

/* Adds a job's changes to the batch; of a new job, everything.  PAI_OK or
 * PAI_ENOMEM; then it may be called again. */
int pai__record_job(pai__pjob *j);
/* Adds a new job's first row, with its file. */
int pai__record_new_job(pai__pjob *j, const char *text, size_t len,
                        const char *masked, pai_error **err);
#define PAI__SECRET_FILE "file" /* its file as it was, if it has secrets */

/* Keeps the result of an attempt that has ended.  pai__record_job() does so as
 * well, but only after a commit that is under way. */
void pai__record_result(pai__pjob *j);

/* Writes a task's last start as a past start. */
void pai__record_past(pai__pjob *j, uint32_t task);
/* Names the folder of a task's start, if memory was short for that before. */
void pai__record_name(pai__pjob *j, uint32_t task);
/* A task is about to be started once more: its folder is named. */
void pai__record_start(pai__pjob *j, uint32_t task);
/* That start was recorded and never happened: it keeps its number and gets
 * another folder, because a supervisor that comes late may not run in it. */
void pai__record_restart(pai__pjob *j, uint32_t task);

/* Writes a job's unique id to `out`, of PAI__JOB_UID bytes.  Returns out. */
enum { PAI__JOB_UID = 40 };
const char *pai__platform_job_uid(char *out, const pai_platform *p,
                                  pai_job_id job);
/* Writes the unique id of a part of a job; `of` need not name the job.  Returns
 * out. */
const char *pai__platform_uid(char out[PAI__UID], const pai_platform *p,
                              pai_job_id job, pai__uid_of of);

/* --- running.c: counts a job that has ended with this code. */
void pai__count_end(pai_platform *p, int code);

/* --- happened.c ----------------------------------------------------------- */

/* Adds an event to the batch; PAI__NO_TASK: an event of the job. */
void pai__happened(pai__pjob *j, uint32_t task, const char *type,
                   const char *reason, const char *fmt, ...) PAI__PRINTF(5, 6);

/* --- commit.c ------------------------------------------------------------- */

int pai__commit_open(pai_platform *p, pai_error **err);
void pai__commit_close(pai_platform *p);
/* Commits the batch, or delays that if the batch is not `whole`.  False: there
 * is nothing to commit. */
bool pai__commit_begin(pai_platform *p, bool whole);
/* Calls back for syncs whose changes are durable and reported. */
void pai__commit_told(pai_platform *p);
/* While commits fail, lets all syncs fail. */
void pai__commit_refuse(pai_platform *p);
bool pai__commit_is_idle(const pai_platform *p);

/* --- submit.c ------------------------------------------------------------- */

/* Removes a job whose submission could not be made durable. */
void pai__platform_withdraw(pai__pjob *j);
/* Tells whether a job is removed by a commit that is yet to be done. */
bool pai__is_dropped(const pai_platform *p, pai_job_id id);

/* --- forget.c: jobs that are over ----------------------------------------- */

int pai__past_state(int *code, const pai_platform *p, pai_job_id id);
/* Returns the folder of an ended job, valid until the next call. */
const char *pai__past_dir(const pai_platform *p, pai_job_id id);
/* Makes a folder the job's working folder; moves it if it is in the root. */
int pai__platform_take_code(pai__pjob *j, const char *dir, pai_error **err);
/* The job was not accepted: moves its code back to `dir`, or with NULL removes
 * it. */
void pai__platform_give_code_back(const pai__pjob *j, const char *dir);

/* commit.c: tells whether only the room reserved for ends of jobs is left. */
bool pai__commit_disk_is_full(pai_platform *p);

#endif
