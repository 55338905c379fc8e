/* record.h - internal to the room: what a durable platform writes, and when */
#ifndef PAI_SRC_PLATFORM_RECORD_H
#define PAI_SRC_PLATFORM_RECORD_H

#include "platform/platform.h"

#include "job/names.h"

/* --- record.c -------------------------------------------------------------- */

/* Adds what has changed of a job to the batch: all of it, if it is new.
 * PAI_OK or PAI_ENOMEM; then it may be done again. */
int pai__record_job(pai__pjob *j);
/* The first of it, with its file. */
int pai__record_new_job(pai__pjob *j, const char *text, size_t len,
                        const char *masked, pai_error **err);
#define PAI__SECRET_FILE "file" /* its file as it was, if it has secrets */

/* What it came to when it was started last goes to where it stays. */
void pai__record_past(pai__pjob *j, uint32_t task);
/* Names the folder of a task's start, if memory was short for that before. */
void pai__record_name(pai__pjob *j, uint32_t task);
/* A task is about to be started once more: its folder is named. */
void pai__record_start(pai__pjob *j, uint32_t task);
/* That start was recorded and never happened: it keeps its number and gets
 * another folder, because a supervisor that comes late may not run in it. */
void pai__record_restart(pai__pjob *j, uint32_t task);

/* Unlike any other job's; in `out`, of PAI__JOB_UID bytes.  Returns out. */
enum { PAI__JOB_UID = 40 };
const char *pai__platform_job_uid(char *out, const pai_platform *p,
                                  pai_job_id job);
/* What a part of a job is called for ever; `of` need not name the job.
 * Returns out. */
const char *pai__platform_uid(char out[PAI__UID], const pai_platform *p,
                              pai_job_id job, pai__uid_of of);

/* --- running.c: a job has ended with this code. */
void pai__count_end(pai_platform *p, int code);

/* --- happened.c ------------------------------------------------------------ */

/* Adds an event to the batch; PAI__NO_TASK: of the job as a whole. */
void pai__happened(pai__pjob *j, uint32_t task, const char *type,
                   const char *reason, const char *fmt, ...) PAI__PRINTF(5, 6);

/* --- commit.c -------------------------------------------------------------- */

int pai__commit_open(pai_platform *p, pai_error **err);
void pai__commit_close(pai_platform *p);
/* Commits what was collected; or later, if that is not `whole`.  False: there
 * is nothing to commit. */
bool pai__commit_begin(pai_platform *p, bool whole);
/* What was recorded has been told: who waits for that is told, too. */
void pai__commit_told(pai_platform *p);
/* While commits fail nobody waits. */
void pai__commit_refuse(pai_platform *p);
bool pai__commit_is_idle(const pai_platform *p);

/* --- submit.c -------------------------------------------------------------- */

/* It was not accepted after all. */
void pai__platform_withdraw(pai__pjob *j);
/* It goes with the next commit. */
bool pai__is_dropped(const pai_platform *p, pai_job_id id);

/* --- forget.c: jobs that are over ------------------------------------------- */

int pai__past_state(int *code, const pai_platform *p, pai_job_id id);
/* Until the next call. */
const char *pai__past_dir(const pai_platform *p, pai_job_id id);
/* The folder becomes the job's, and where its commands begin. */
int pai__platform_take_code(pai__pjob *j, const char *dir, pai_error **err);
/* The job is not taken after all: back to where it was, or, with NULL, nobody
 * has it any more. */
void pai__platform_give_code_back(const pai__pjob *j, const char *dir);

/* commit.c: has the disk no room but what is kept for the end of jobs? */
bool pai__commit_disk_is_full(pai_platform *p);

#endif
