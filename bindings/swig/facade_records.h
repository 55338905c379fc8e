/*
 * facade_records.h - what a durable platform knows of its jobs, and their
 * logs; for facade.h, which includes this
 *
 * What is listed is JSON of OpenPAI's REST API.  On a platform that is not
 * durable all of it fails.
 */
#ifndef OPENPAI_BINDINGS_FACADE_RECORDS_H
#define OPENPAI_BINDINGS_FACADE_RECORDS_H

#include "facade.h"

typedef struct LogReader LogReader;

/* Bytes of a log, as they are. */
typedef struct log_bytes {
  char *bytes; /* allocated, or NULL */
  size_t len;
} log_bytes;

/* Of "name" (this user's) or "user~name". */
pai_job_id records_find(Platform *p, const char *name, failure *f);

/* Fields: users, virtual_clusters, states, priorities, tags, not_tags,
 * keyword, order, offset, limit. */
listing records_list(Platform *p, words fields, failure *f);
/* Of an attempt, or with -1 of the latest. */
listing records_show(Platform *p, pai_job_id job, int attempt, failure *f);
listing records_show_task(Platform *p, pai_job_id job, int attempt,
                          const char *role, uint32_t index, failure *f);
job_text records_config(Platform *p, pai_job_id job, const char *format,
                        failure *f);
listing records_events(Platform *p, pai_job_id job, const char *type,
                       failure *f);
listing records_why(Platform *p, pai_job_id job, failure *f);
listing records_ssh(Platform *p, pai_job_id job, failure *f);
listing records_ssh_key(Platform *p, pai_job_id job, failure *f);
listing records_status(Platform *p, failure *f);
job_text records_snapshot(Platform *p, failure *f);

/* These wait for the database, so they are not for callbacks. */
void records_tag(Platform *p, pai_job_id job, const char *tag, bool has,
                 failure *f);
void records_backup(Platform *p, const char *path, failure *f);

/* All that is on record, to a file. */
void records_export(Platform *p, const char *path, failure *f);

/* A broken root's database made whole; no platform has it. */
listing records_repair(const char *root, failure *f);

/* Fields: attempt, role, index, retry, name, offset, follow.  It ends with its
 * platform at the latest. */
LogReader *facade_log(Platform *p, pai_job_id job, words fields, failure *f);
void facade_log_free(LogReader *r);
/* What has come since; fails, once, if the log broke off. */
log_bytes facade_log_take(LogReader *r, failure *f);
/* 1: there is something to take; 0: not yet; -1: it is over. */
int facade_log_state(LogReader *r);

#endif /* OPENPAI_BINDINGS_FACADE_RECORDS_H */
