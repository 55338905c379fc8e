/* driving.h - for the files of a drive */
#ifndef PAI_SRC_SIM_DRIVING_H
#define PAI_SRC_SIM_DRIVING_H

#include "sched/core.h"
#include "sim/drive.h"

void pai__drive_open_jobs(pai__drive *d);
/* A new job that waits, and is found by its id.  PAI_OK or PAI_ENOMEM. */
int pai__drive_await(pai__drive *d, pai__dwait **out, uint64_t id);
void pai__drive_unawait(pai__drive *d, pai__dwait *wait);
/* The job, whose life begins if it has not yet: one that waits, or that others
 * submitted.  PAI_OK, PAI_ENOMEM, or what the caller answered. */
int pai__drive_born(pai__drive *d, pai__djob **out, uint64_t id,
                    uint32_t instance);
void pai__drive_unmake(pai__drive *d, pai__djob *job);
/* All of them. */
void pai__drive_forget(pai__drive *d);
pai__djob *pai__drive_job(const pai__drive *d, uint32_t slot);
pai__dwait *pai__drive_wait_at(const pai__drive *d, uint32_t slot);

/* Something happened to a job: what is to be done about it is done.  It may be
 * gone afterwards.  Codes of the caller, of the scheduler; PAI_ENOMEM. */
int pai__drive_feed(pai__drive *d, pai__djob *job, enum pai__event_kind kind,
                    int code, pai_error **err);

/* An event for the scheduler; size and time are filled in. */
int pai__drive_tell(pai__drive *d, pai_sched_event *event, pai_error **err);

/* Its work is done, or it has left its place, or a node failed. */
int pai__drive_run_over(pai__drive *d, pai__djob *job, bool disturbed,
                        pai_error **err);

/* Its owner stops it. */
int pai__drive_kill_job(pai__drive *d, pai__djob *job, pai_error **err);
/* The policy has it stopped.  PAI_STOP_*. */
int pai__drive_stop(pai__drive *d, pai__djob *job, int cause, pai_error **err);

/* It has its place and is to work. */
int pai__drive_begin_run(pai__drive *d, pai__djob *job, pai_error **err);
/* It has worked since job->works, and maybe was told to stop. */
int pai__drive_resume(pai__drive *d, pai__djob *job, bool stopping, int cause,
                      pai_error **err);

int pai__drive_timer(pai__drive *d, pai__djob *job, enum pai__timer_kind kind,
                     pai_time at, pai_error **err);

/* What it holds, or NULL. */
const pai__run *pai__drive_place(const pai__drive *d, const pai__djob *job);

#endif
