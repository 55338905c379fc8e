/* code_job.h - jobs with a folder of their own, in tests of their files */
#ifndef PAI_TESTS_PLATFORM_CODE_JOB_H
#define PAI_TESTS_PLATFORM_CODE_JOB_H

#include "durable.h"

#include <openpai/files.h>

/* A job with a folder of its own, in which a command has run. */
pai_job_id submit_code(durable *d, const char *name, const char *command);
/* Where something in it is: until the next call. */
const char *in_folder(durable *d, pai_job_id id, const char *name);
/* The beginning of a file, until the next call; or "none". */
const char *content(const char *path);

typedef struct listed {
  int status; /* 1: not yet */
  char text[8192];
} listed;

/* Of pai_platform_list_files(): user_data is a listed, with status 1. */
void on_listed(void *user_data, int status, const char *json, size_t len,
               const pai_error *err);
/* What is listed, until the next call: it ends with that status. */
const char *list(durable *d, pai_job_id job, pai_files_options o, int status);
void has(const char *text, const char *part);

#endif
