/* records.h - internal to the room: rows as the API's JSON */
#ifndef PAI_SRC_PLATFORM_RECORDS_H
#define PAI_SRC_PLATFORM_RECORDS_H

#include "platform/record.h"

#include "job/end.h"
#include "json/writer.h"

#include <openpai/records.h>

/* Writes to the caller's function as it goes; one moment of the database. */
typedef struct pai__reply {
  pai_platform *p;
  bool held; /* the store's moment */
  pai__json_writer w;
  pai__buf buf;
  pai__buf exit; /* the entry of this code, for many tasks have the same */
  int64_t exit_code;
  pai_error **err;
} pai__reply;

/* PAI_ENOTSUP: the platform is not durable.  What was begun is ended with the
 * result so far, which is returned, or what came in between. */
int pai__reply_begin(pai__reply *a, pai_platform *p, pai_write_cb write,
                     void *user_data, pai_error **err);
/* The same, of no moment yet: for what may need nothing of the database. */
int pai__reply_open(pai__reply *a, pai_platform *p, pai_write_cb write,
                    void *user_data, pai_error **err);
int pai__reply_hold(pai__reply *a);
int pai__reply_end(pai__reply *a, int rc);

/* Members of an object. */
void pai__member(pai__reply *a, const char *key);
void pai__member_text(pai__reply *a, const char *key, const char *text);
void pai__member_int(pai__reply *a, const char *key, int64_t number);
void pai__member_bool(pai__reply *a, const char *key, bool value);
void pai__member_maybe(pai__reply *a, const char *key, pai__maybe number);
/* Milliseconds, or null. */
void pai__member_time(pai__reply *a, const char *key, pai_time time);
/* The entry of a code, or null. */
void pai__member_exit(pai__reply *a, const char *key, pai__maybe code);
/* failure: what is known of one, as it was kept (job/failure.h), or null. */
void pai__member_failure(pai__reply *a, const char *json);
/* What 4.4 makes of diagnostics, or null. */
void pai__member_summary(pai__reply *a, const char *key,
                         const char *diagnostics);

/* The object that 4.4 makes of them, or null; with their summary in it, too. */
void pai__member_messages(pai__reply *a, const char *key,
                          const char *diagnostics, bool summary);

/* debugId, and what else bears it. */
void pai__member_debug_id(pai__reply *a, const char *key, const char *user,
                          const char *name);
int pai__member_tags(pai__reply *a, uint64_t job);
/* The address of a task as others reach it. */
const char *pai__shown_ip(const pai_platform *p, const char *ip);
void pai__member_retries(pai__reply *a, const pai__job_row *row);

/* records_task.c: the tasks of an attempt, role by role. */
typedef struct pai__job_part {
  const char *user, *name;
  uint64_t id;
  uint32_t attempt;
} pai__job_part;
int pai__write_roles(pai__reply *a, const pai__job_part *job);
/* A role's name as the API spells it; without a key it is one. */
void pai__member_role(pai__reply *a, const char *key, const char *role);
/* containerLog: where the logs of a start are. */
void pai__member_log(pai__reply *a, const pai__job_part *job, const char *role,
                     uint32_t index, uint32_t start);

#endif
