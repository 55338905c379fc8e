/**
 * @file openpai/json.h
 * Reads the JSON that this library writes and that servers answer, so that a C
 * host needs no JSON parser: records as structs (a job, a task, an event, ...),
 * and any value by its place.
 *
 * What is read:
 *   - answers of pai_client_*() (pai_client_answer.body), and of any server of
 *     OpenPAI's REST API;
 *   - what pai_platform_list(), _show(), _events(), _why(), _estimate() and
 *     their like write, and what pai_account_cb is told.
 *
 * A value is a number that belongs to its pai_json: 0 is the whole text.  Every
 * function takes PAI_JSON_NONE, the value that is not there, and treats it as
 * null, so that calls can be nested without a check between them.
 *
 * Records take what is there and ignore what they do not know: members of a newer
 * server, or of another one.  A member that is missing, is null or has another
 * type is NULL, 0, or PAI_JSON_NO_NUMBER where 0 has a meaning.
 *
 * Threads: IMMUTABLE.
 */
#ifndef OPENPAI_JSON_H
#define OPENPAI_JSON_H

#include <openpai/report.h>

PAI_BEGIN_DECLS

typedef struct pai_json pai_json; /**< opaque; pai_json_free() */

/** The value that is not there. */
#define PAI_JSON_NONE ((size_t)-1)
/** The number that is not there. */
#define PAI_JSON_NO_NUMBER INT64_MIN

/** Options of pai_json_read(); zero-fill, or use PAI_JSON_OPTIONS_INIT. */
typedef struct pai_json_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  size_t max_bytes;       /**< longest text; 0: 256 MiB */
  uint32_t max_depth;     /**< of lists and objects; 0: 64 */
} pai_json_options;

#define PAI_JSON_OPTIONS_INIT         \
  {                                   \
    sizeof(pai_json_options), 0, 0, 0 \
  }

/**
 * Reads a JSON text (RFC 8259).  Of members with equal keys each has its place, and
 * the value of the last one.
 *
 * @param[out] out  the values, owned by the caller; NULL on failure
 * @param text      not kept
 * @param len       its length in bytes
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error, with line and column
 * @return PAI_OK; PAI_EINVAL: not JSON; PAI_ELIMIT; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_json_read(pai_json **out, const char *text,
                                        size_t len,
                                        const pai_json_options *opts,
                                        pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_json_free(pai_json *json);

/* --- any value ------------------------------------------------------------- */

/** The value at a JSON pointer, as "/taskRoles/worker/taskStatuses/0"; ""
 *  is the whole text.  @since 0.1 */
PAI_API size_t pai_json_find(const pai_json *json, const char *pointer);

/** A member of an object.  @since 0.1 */
PAI_API size_t pai_json_member(const pai_json *json, size_t value,
                               const char *key);

/** Entries of a list, or members of an object; 0 for others.  @since 0.1 */
PAI_API size_t pai_json_count(const pai_json *json, size_t value);

/** Entry @p i of a list, or the value of member @p i of an object, from 0 in the
 *  order of the text.  @since 0.1 */
PAI_API size_t pai_json_item(const pai_json *json, size_t value, size_t i);

/** Key of member @p i of an object, or NULL.  @since 0.1 */
PAI_API const char *pai_json_key(const pai_json *json, size_t value, size_t i);

/** What a value is: one of PAI_VALUE_*; a number without a fraction is
 *  PAI_VALUE_WHOLE; 0 for PAI_JSON_NONE.  @since 0.1 */
PAI_API unsigned pai_json_type(const pai_json *json, size_t value);

/** The text of a string, valid as long as @p json; NULL for others.  @p len may
 *  be NULL.  @since 0.1 */
PAI_API const char *pai_json_text(const pai_json *json, size_t value,
                                  size_t *len);

/** A whole number, also if written as 2.0 or 1e3; @p otherwise for others.
 *  @since 0.1 */
PAI_API int64_t pai_json_int(const pai_json *json, size_t value,
                             int64_t otherwise);

/** Any number; @p otherwise for others.  @since 0.1 */
PAI_API double pai_json_number(const pai_json *json, size_t value,
                               double otherwise);

/** 1 for true, 0 for all else.  @since 0.1 */
PAI_API int pai_json_bool(const pai_json *json, size_t value);

/**
 * Writes a value as JSON on one line.
 * @return PAI_OK; PAI_EINVAL: a broken call, or there is no such value;
 *         PAI_ENOMEM; or what @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_json_write(const pai_json *json, size_t value,
                                         pai_write_cb write, void *user_data,
                                         pai_error **err);

/* --- records ----------------------------------------------------------------- */

/** A job of a list: an entry of `GET /jobs`, of pai_client_jobs() and of
 *  pai_platform_list().  Texts belong to the pai_json, as of all records. */
typedef struct pai_job_item {
  size_t struct_size; /**< set by the caller, as of all records */
  const char *name;
  const char *user;
  int state;                   /**< PAI_STATE_*; 0: unknown */
  const char *virtual_cluster; /**< "default" */
  const char *priority;        /**< "prod", or NULL */
  pai_time submitted;          /**< microseconds since 1970, as all times here;
                                    0: not yet, or not known */
  pai_time started, ended;
  int64_t exit_code; /**< or PAI_JSON_NO_NUMBER */
  int64_t retries;
  int64_t roles, tasks, gpus; /**< in all */
  int output_lost;            /**< 1: some of its output is in no log */
  size_t tags;                /**< value: a list of strings */
} pai_job_item;

/** All about one job: of `GET /jobs/NAME`, pai_client_job(), pai_client_wait()
 *  and pai_platform_show(). */
typedef struct pai_job_record {
  size_t struct_size;
  const char *name;
  const char *user;
  int state;
  const char *virtual_cluster;
  const char *priority;
  pai_time submitted, started, ended;
  int64_t attempt; /**< from 0 */
  int64_t retries;
  int64_t exit_code;       /**< as OpenPAI's exit spec has it */
  int64_t user_exit_code;  /**< what the deciding task's command exited with */
  const char *exit_type;   /**< "User Failure", or NULL */
  const char *exit_reason; /**< why a command did not run, or NULL */
  const char *diagnostics; /**< or NULL */
  const char *failed_role; /**< the task that decided, or NULL */
  int64_t failed_index;
  const char *failure; /**< a known failure, as "module-missing"; or NULL */
  const char *failure_reason; /**< what went wrong, in a sentence */
  const char *failure_line;   /**< of the output, that says so */
  size_t failure_solution; /**< value: a list of strings, what can be done */
  int output_lost;
  size_t tags;  /**< value: a list of strings */
  size_t roles; /**< value: an object; each key is the name of a role.  Their
                     tasks: pai_json_tasks() */
} pai_job_record;

/** One task, of pai_job_record.roles. */
typedef struct pai_task_record {
  size_t struct_size;
  int64_t index; /**< in its role, from 0 */
  int state;
  int64_t retries;
  pai_time started, ended;
  const char *node;    /**< or NULL */
  const char *address; /**< where others reach it, or NULL */
  const char *runtime; /**< what it runs in, where that is not the usual one */
  const char *log;     /**< address of its log */
  int64_t exit_code, user_exit_code; /**< as pai_job_record */
  const char *exit_reason;
  const char *diagnostics;
  const char *failure, *failure_reason, *failure_line;
  size_t failure_solution;
  int output_lost;
  size_t ports; /**< value: an object of strings, "8080" or "8080,8081" */
  size_t gpus;  /**< value: a list of objects */
} pai_task_record;

/** Something that happened to a job: an entry of `GET /jobs/NAME/events` and of
 *  pai_platform_events(). */
typedef struct pai_event_record {
  size_t struct_size;
  const char *type;    /**< "Normal" or "Warning" */
  const char *reason;  /**< a word, as "JobStarted" */
  const char *message; /**< a sentence */
  const char *role;    /**< the task it is of, or NULL */
  int64_t index;       /**< or PAI_JSON_NO_NUMBER */
  const char *time;    /**< "2026-11-29T10:00:00.000Z": the last time */
  int64_t count;       /**< of times */
} pai_event_record;

/** Why a job waits, or ended: of `GET /jobs/NAME/why` and pai_platform_why(). */
typedef struct pai_why_record {
  size_t struct_size;
  int state;
  const char *explanation; /**< of a job that waits: a paragraph, or NULL */
  size_t reasons;          /**< value: a list, pai_json_reason() */
  const char *queue;       /**< the virtual cluster whose line it stands in, or
                                NULL */
  const char *order;       /**< "arrival" or "priority", or NULL */
  int64_t place;           /**< in line, from 1; or PAI_JSON_NO_NUMBER */
  int64_t waiting;         /**< jobs in that line */
  size_t change;           /**< value: an object, pai_json_explanation() */
  int64_t exit_code;       /**< of a job that is over, or PAI_JSON_NO_NUMBER */
  const char *failed_role;
  int64_t failed_index;
  const char *failure, *failure_reason, *failure_line;
  size_t failure_solution;
} pai_why_record;

/** One of pai_why_record.reasons. */
typedef struct pai_reason_record {
  size_t struct_size;
  const char *code; /**< "gpu", "quota", ... */
  const char *text; /**< a sentence */
  int64_t nodes;    /**< that lack it */
} pai_reason_record;

/** Why a request waits, of pai_sched_explain() as JSON and of
 *  pai_why_record.change; <openpai/sched.h> has the same as pai_reason.  With the
 *  changes of one list it would start now: of the request itself, or of others
 *  and of nodes. */
typedef struct pai_explanation_record {
  size_t struct_size;
  int64_t id;
  const char
    *lack; /**< "gpu", ... as pai_lack_name(); NULL: it does not wait */
  const char *of;
  int64_t want, placed, tasks, wanted, found;
  const char *node;     /**< or NULL */
  int64_t behind;       /**< the request it waits for, or 0 */
  const char *text;     /**< what the policy says, or NULL */
  int starts;           /**< 1: it starts when it is next decided */
  size_t own_changes;   /**< value: a list, pai_json_change() */
  size_t other_changes; /**< likewise */
} pai_explanation_record;

/** A suggested change: an event for pai_sched_send().  pai_json_write() writes
 *  what pai_sched_send_json() takes. */
typedef struct pai_change_record {
  size_t struct_size;
  const char *event; /**< "change", "finished", "cancel", "node", ... */
  int64_t id;        /**< of the request */
  int64_t instance;
  int64_t want;      /**< "change": which of its resource requests */
  const char *key;   /**< "change": what of it, as "gpus" */
  int64_t number;    /**< its new value, or PAI_JSON_NO_NUMBER */
  const char *text;  /**< likewise, if it is a text; or NULL */
  const char *node;  /**< "node": which */
  const char *state; /**< what it is then, as "up" */
  int64_t gpu;       /**< of the node; or PAI_JSON_NO_NUMBER: all of it */
} pai_change_record;

/** When a job starts, or ends if it runs: of `GET /jobs/NAME/estimate` and
 *  pai_platform_estimate().  A time is 0 where it is not known. */
typedef struct pai_estimate_record {
  size_t struct_size;
  int state;
  pai_time now;
  pai_time start_p10, start_p50, start_p90; /**< of a job that waits */
  pai_time started;                         /**< of one that runs */
  pai_time end_p10, end_p50, end_p90;
  int64_t runs;        /**< simulated futures, of which */
  int64_t start_count; /**< so many started it */
  int unknown;         /**< 1: nothing like what it waits for has ended yet */
  int unlike_past; /**< 1: the present is unlike what it was learned from */
} pai_estimate_record;

/** A user: of `GET /users` and pai_accounts. */
typedef struct pai_user_record {
  size_t struct_size;
  const char *name;
  const char *email; /**< or NULL */
  int admin;
  size_t groups;           /**< value: a list of strings */
  size_t virtual_clusters; /**< likewise */
  size_t storages;         /**< likewise */
  size_t extension;        /**< value: an object */
} pai_user_record;

/** A group: of `GET /groups`. */
typedef struct pai_group_record {
  size_t struct_size;
  const char *name;
  const char *description;   /**< or NULL */
  const char *external_name; /**< or NULL */
  size_t extension;          /**< value: an object */
} pai_group_record;

/** A token: an entry of "details" of `GET /tokens`. */
typedef struct pai_token_record {
  size_t struct_size;
  const char *id;
  const char *name; /**< or NULL */
  int application;
  pai_time created, expires, last_used; /**< 0: never */
  size_t scopes;                        /**< value: a list of strings */
} pai_token_record;

/** A storage: of `GET /storages` and `GET /storages/NAME`. */
typedef struct pai_storage_record {
  size_t struct_size;
  const char *name;
  const char *type; /**< "nfs", ...; NULL in lists */
  int share, is_default, read_only;
  size_t data; /**< value: an object, what its type needs */
} pai_storage_record;

/** A virtual cluster: a value of the object of `GET /virtual-clusters`, whose
 *  keys are the names. */
typedef struct pai_vc_record {
  size_t struct_size;
  const char *state;                            /**< "running" or "stopped" */
  const char *description;                      /**< or NULL */
  const char *external_name;                    /**< or NULL */
  double capacity, max_capacity, used_capacity; /**< in percent */
  int64_t gpus, gpus_used, gpus_guaranteed;
  int64_t cpus, cpus_used, cpus_guaranteed;
  int64_t memory_mb, memory_used_mb, memory_guaranteed_mb;
  int64_t jobs_waiting, jobs_running;
} pai_vc_record;

/** A node: of `GET /nodes` and `GET /nodes/NAME`. */
typedef struct pai_node_record {
  size_t struct_size;
  const char *name;
  const char *state;  /**< "up", ... */
  const char *reason; /**< why it is not up, or NULL */
  const char *address;
  int64_t gpus, gpus_free, gpus_sick;
  int64_t cpus, cpus_free;
  int64_t memory, memory_free; /**< bytes */
} pai_node_record;

/** A file or folder of a job: an entry of `GET /jobs/NAME/files`. */
typedef struct pai_file_record {
  size_t struct_size;
  const char *path;
  const char *type; /**< "file", "folder", "link", ... */
  int64_t size;     /**< bytes */
  pai_time modified;
  int executable;
  const char *target; /**< of a link, or NULL */
} pai_file_record;

/**
 * Fill a record from the object that @p value is.
 * @return PAI_OK; PAI_ENOTFOUND: there is no such object; PAI_EINVAL: bad
 *         struct_size, or a NULL
 * @since 0.1
 */
PAI_API int pai_json_job_item(pai_job_item *out, const pai_json *json,
                              size_t value);
/** @since 0.1 */
PAI_API int pai_json_job(pai_job_record *out, const pai_json *json,
                         size_t value);
/** @since 0.1 */
PAI_API int pai_json_task(pai_task_record *out, const pai_json *json,
                          size_t value);
/** @since 0.1 */
PAI_API int pai_json_event(pai_event_record *out, const pai_json *json,
                           size_t value);
/** @since 0.1 */
PAI_API int pai_json_why(pai_why_record *out, const pai_json *json,
                         size_t value);
/** @since 0.1 */
PAI_API int pai_json_reason(pai_reason_record *out, const pai_json *json,
                            size_t value);
/** @since 0.1 */
PAI_API int pai_json_explanation(pai_explanation_record *out,
                                 const pai_json *json, size_t value);
/** @since 0.1 */
PAI_API int pai_json_change(pai_change_record *out, const pai_json *json,
                            size_t value);
/** @since 0.1 */
PAI_API int pai_json_estimate(pai_estimate_record *out, const pai_json *json,
                              size_t value);
/** @since 0.1 */
PAI_API int pai_json_user(pai_user_record *out, const pai_json *json,
                          size_t value);
/** @since 0.1 */
PAI_API int pai_json_group(pai_group_record *out, const pai_json *json,
                           size_t value);
/** @since 0.1 */
PAI_API int pai_json_token(pai_token_record *out, const pai_json *json,
                           size_t value);
/** @since 0.1 */
PAI_API int pai_json_storage(pai_storage_record *out, const pai_json *json,
                             size_t value);
/** @since 0.1 */
PAI_API int pai_json_vc(pai_vc_record *out, const pai_json *json,
                        size_t value);
/** @since 0.1 */
PAI_API int pai_json_node(pai_node_record *out, const pai_json *json,
                          size_t value);
/** @since 0.1 */
PAI_API int pai_json_file(pai_file_record *out, const pai_json *json,
                          size_t value);

/** The entries of a page: of a list itself, or of its "data" where it came with
 *  the total ("totalCount").  @since 0.1 */
PAI_API size_t pai_json_page(const pai_json *json);

/** The tasks of a role, a list: @p role is an entry of pai_job_record.roles.
 *  @since 0.1 */
PAI_API size_t pai_json_tasks(const pai_json *json, size_t role);

PAI_END_DECLS

#endif /* OPENPAI_JSON_H */
