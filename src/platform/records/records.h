/* records.h - internal to the room: database rows as the API's JSON */
#ifndef PAI_SRC_PLATFORM_RECORDS_RECORDS_H
#define PAI_SRC_PLATFORM_RECORDS_RECORDS_H

#include "platform/records/record.h"

#include "api/write.h"
#include "job/end/end.h"
#include "json/writer.h"

#include <openpai/records.h>

/* A reply: JSON that is streamed to the caller, from one read snapshot. */
typedef struct pai__reply {
  pai_platform *p;
  bool held; /* the store's read snapshot is open */
  pai__json_writer w;
  pai__buf buf;
  pai__buf exit; /* cached entry of `exit_code`: many tasks have the same */
  int64_t exit_code;
  pai_error **err;
} pai__reply;

/* Begins a reply.  PAI_ENOTSUP: the platform is not durable.  To be ended with
 * pai__reply_end(), which takes the result so far and returns it, or the first
 * failure of the reply. */
int pai__reply_begin(pai__reply *a, pai_platform *p, pai_write_cb write,
                     void *user_data, pai_error **err);
/* The same, without a read snapshot until pai__reply_hold(). */
int pai__reply_open(pai__reply *a, pai_platform *p, pai_write_cb write,
                    void *user_data, pai_error **err);
int pai__reply_hold(pai__reply *a);
int pai__reply_end(pai__reply *a, int rc);

/* Members of an object whose other members are lists or records. */
/* Milliseconds, or null. */
void pai__member_time(pai__reply *a, const char *key, pai_time time);

/* Computed values; each returns PAI_OK or a code. */

/* A text, or null. */
int pai__reply_text(pai__reply *a, const char *text);
/* Milliseconds, or null. */
int pai__reply_time(pai__reply *a, pai_time time);
/* The entry of an exit code, or null. */
int pai__reply_exit(pai__reply *a, pai__maybe code);
/* Diagnostics as in specification 4.4: the summary, and the object of messages,
 * on demand with the summary; or null. */
int pai__reply_summary(pai__reply *a, const char *diagnostics);
int pai__reply_messages(pai__reply *a, const char *diagnostics, bool summary);
/* debugId, and the fields with the same value. */
int pai__reply_debug_id(pai__reply *a, const char *user, const char *name);
int pai__reply_tags(pai__reply *a, uint64_t job);
/* A role's name as the API spells it. */
int pai__reply_role(pai__reply *a, const char *role);
/* Values of the fields of JobRetries. */
int pai__reply_retries(pai__reply *a, unsigned field, const pai__job_row *row);
/* Returns the address at which others reach a task. */
const char *pai__shown_ip(const pai_platform *p, const char *ip);

/* nodes.c: the machine; its texts live until the scheduler's next event. */
pai__node_row pai__node_of(const pai_platform *p);

/* records_task.c: the tasks of an attempt, by role. */
typedef struct pai__job_part {
  const char *user, *name;
  uint64_t id;
  uint32_t attempt;
} pai__job_part;
int pai__write_roles(pai__reply *a, const pai__job_part *job);
/* Begins the object of a role and the list of its tasks. */
void pai__begin_role(pai__reply *a, const char *role);
void pai__end_role(pai__reply *a);
/* containerLog: the URL of a start's logs. */
int pai__reply_log(pai__reply *a, const pai__job_part *job, const char *role,
                   uint32_t index, uint32_t start);

#endif
