/*
 * gang.h - jobs of several tasks on a machine of two CPUs, whose tasks run
 * until a file is there
 */
#ifndef PAI_TESTS_PLATFORM_GANG_H
#define PAI_TESTS_PLATFORM_GANG_H

#include "durable.h"

/* A job of `tasks` tasks of role `a`, one CPU each; `extras` as in a file in
 * flow style, and what its tasks do.  GO in a command is the name of a file
 * that gang_go() makes. */
pai_job_id gang_submit(durable *d, const char *name, int tasks,
                       const char *fields, const char *extras,
                       const char *command);
#define GANG_WAIT "while ! test -e GO; do sleep 0.01; done"
void gang_go(const char *name);

/* Turns until so many tasks of the job are in a state of the API's. */
void gang_wait(durable *d, pai_job_id job, const char *state, int tasks);
int gang_count(durable *d, pai_job_id job, const char *state);

#endif
