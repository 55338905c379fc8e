/*
 * gpu_box.h - a machine that seems to have two GPUs, whose driver says what a
 * test wants it to, and jobs on them
 */
#ifndef PAI_TESTS_PLATFORM_GPU_BOX_H
#define PAI_TESTS_PLATFORM_GPU_BOX_H

#include "durable.h"

/* --- the driver --------------------------------------------------------------- */

enum { LONG_AGO = 6000000 /* microseconds */ };

extern pai_time box_later; /* than it is, by so much */
/* "2": each of two GPUs has a process; "2 idle": none has; "0": the driver knows
 * of no GPU. */
void box_driver_tells(const char *machine);

/* How many times it was asked until now. */
int box_looks(void);
/* From now on it does not answer until it may; whoever asks waits. */
void box_shut_gate(void);
/* One that waits, or the next one, is answered this. */
void box_let_look(const char *machine);
/* Nobody is held up any more, but who waits already. */
void box_let_pass(void);
void box_open_gate(void); /* when nobody waits there */

/* --- platforms and jobs ------------------------------------------------------- */

/* A job with so many tasks, each of so many GPUs, which says which, and ends
 * when its end is asked for; 0: it is refused, and d->code says why. */
pai_job_id box_submit_with(durable *d, const char *name, int gpus,
                           const char *extras, int tasks);
/* One of one task, that must be taken. */
pai_job_id box_submit(durable *d, const char *name, int gpus);
/* So many tasks, each of which needs so much of a GPU. */
pai_job_id box_share(durable *d, const char *name, int mb, int tasks);
/* It succeeds. */
void box_end_job(durable *d, pai_job_id id, const char *name);

/* Until the driver was asked so many times; the job waits all the while. */
void box_wait_looks(durable *d, pai_job_id id, int count);
void box_wait_log(durable *d, const char *line);
/* What a job waits for. */
const char *box_why(durable *d, pai_job_id id);

#endif
