/**
 * @file openpai/json.h
 * Reads the JSON of this library and of servers, so that a C program needs no
 * JSON parser: records as structs (a job, a task, an event, ...), and any
 * value by its path.
 *
 * Input:
 *   - answers of pai_client_*() (pai_client_answer.body), and of any server of
 *     OpenPAI's REST API;
 *   - the output of pai_platform_list(), _show(), _events(), _why(),
 *     _estimate() and similar functions, and the JSON of pai_account_cb.
 *
 * A value is a number that is valid for its pai_json: 0 is the whole text.
 * Every function accepts PAI_JSON_NONE, a missing value, and treats it as
 * null, so calls can be nested without checks.
 *
 * Unknown members, e.g. of a newer server, are ignored.  A member that is
 * missing, is null or has another type becomes NULL, 0, or PAI_JSON_NO_NUMBER
 * where 0 has a meaning.
 *
 * Threads: IMMUTABLE.
 */
#ifndef OPENPAI_JSON_H
#define OPENPAI_JSON_H

#include <openpai/report.h>

PAI_BEGIN_DECLS

typedef struct pai_json pai_json; /**< opaque; pai_json_free() */

/** A missing value. */
#define PAI_JSON_NONE ((size_t)-1)
/** A missing number. */
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
 * Reads a JSON text (RFC 8259).  Members with equal keys are all listed, each
 * with the value of the last one.
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

/** The value at a JSON pointer, such as "/taskRoles/worker/taskStatuses/0"; ""
 *  is the whole text.  @since 0.1 */
PAI_API size_t pai_json_find(const pai_json *json, const char *pointer);

/** The member of an object with a key.  @since 0.1 */
PAI_API size_t pai_json_member(const pai_json *json, size_t value,
                               const char *key);

/** Number of entries of a list, or of members of an object; 0 for other
 *  values.  @since 0.1 */
PAI_API size_t pai_json_count(const pai_json *json, size_t value);

/** Entry @p i of a list, or the value of member @p i of an object, from 0, in
 *  the order of the text.  @since 0.1 */
PAI_API size_t pai_json_item(const pai_json *json, size_t value, size_t i);

/** Key of member @p i of an object, or NULL.  @since 0.1 */
PAI_API const char *pai_json_key(const pai_json *json, size_t value, size_t i);

/** The type of a value, one of PAI_VALUE_*; PAI_VALUE_WHOLE for a number
 *  without a fraction; 0 for PAI_JSON_NONE.  @since 0.1 */
PAI_API unsigned pai_json_type(const pai_json *json, size_t value);

/** The text of a string, valid as long as @p json; NULL for other values.
 *  @p len may be NULL.  @since 0.1 */
PAI_API const char *pai_json_text(const pai_json *json, size_t value,
                                  size_t *len);

/** A whole number, even if written as 2.0 or 1e3; @p otherwise for other
 *  values.  @since 0.1 */
PAI_API int64_t pai_json_int(const pai_json *json, size_t value,
                             int64_t otherwise);

/** Any number; @p otherwise for other values.  @since 0.1 */
PAI_API double pai_json_number(const pai_json *json, size_t value,
                               double otherwise);

/** 1 for true, 0 for all else.  @since 0.1 */
PAI_API int pai_json_bool(const pai_json *json, size_t value);

/**
 * Writes a value as JSON on one line.
 * @return PAI_OK; PAI_EINVAL: invalid arguments, or no such value; PAI_ENOMEM;
 *         or the return value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_json_write(const pai_json *json, size_t value,
                                         pai_write_cb write, void *user_data,
                                         pai_error **err);

/* --- records ----------------------------------------------------------------- */

/** A job of a list: an entry of `GET /jobs`, of the call jobs.list, and of
 *  pai_platform_list().  Texts belong to the pai_json, as in all records. */
typedef struct pai_job_item {
  size_t struct_size; /**< set by the caller, as in all records */
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
  int64_t roles, tasks, gpus; /**< of the whole job */
  int output_lost;            /**< 1: some of its output is missing in the
                                   logs */
  size_t tags;                /**< value: a list of strings */
  const char *queued_reason; /**< why it waits: the code of the first reason of
                                  `GET /jobs/NAME/why`, such as "gpu", "quota"
                                  or "turn"; NULL: it does not wait */
} pai_job_item;

/** Details of a job: of `GET /jobs/NAME`, pai_client_wait() and
 *  pai_platform_show(). */
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
  int64_t exit_code;       /**< completion code, by OpenPAI's exit spec */
  int64_t user_exit_code;  /**< exit code of the command of the deciding
                                task */
  const char *exit_type;   /**< "User Failure", or NULL */
  const char *exit_reason; /**< why a command did not run, or NULL */
  const char *diagnostics; /**< or NULL */
  const char *failed_role; /**< role of the deciding task, or NULL */
  int64_t failed_index;
  const char *failure; /**< a known failure, such as "module-missing"; or
                            NULL */
  const char *failure_reason; /**< what went wrong, in a sentence */
  const char *failure_line;   /**< line of the output that shows the failure */
  size_t failure_solution;    /**< value: a list of strings with possible
                                   solutions */
  int output_lost;
  size_t tags;  /**< value: a list of strings */
  size_t roles; /**< value: an object; each key is the name of a role.  Tasks
                     of a role: pai_json_tasks() */
} pai_job_record;

/** One task, of pai_job_record.roles. */
typedef struct pai_task_record {
  size_t struct_size;
  int64_t index; /**< in its role, from 0 */
  int state;
  int64_t retries;
  pai_time started, ended;
  const char *node;    /**< or NULL */
  const char *address; /**< address for other machines, or NULL */
  const char *runtime; /**< runtime of the task, if it is not the default */
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

/** An event of a job: an entry of `GET /jobs/NAME/events` and of
 *  pai_platform_events(). */
typedef struct pai_event_record {
  size_t struct_size;
  const char *type;    /**< "Normal" or "Warning" */
  const char *reason;  /**< a word, such as "JobStarted" */
  const char *message; /**< a sentence */
  const char *role;    /**< task role of the event's task, or NULL */
  int64_t index;       /**< or PAI_JSON_NO_NUMBER */
  const char *time;    /**< "2026-11-29T10:00:00.000Z": time of the last
                            occurrence */
  int64_t count;       /**< number of occurrences */
} pai_event_record;

/** Why a job waits or ended: of `GET /jobs/NAME/why` and
 *  pai_platform_why(). */
typedef struct pai_why_record {
  size_t struct_size;
  int state;
  const char *explanation; /**< a paragraph about a waiting job, or NULL */
  size_t reasons;          /**< value: a list, pai_json_reason() */
  const char *queue;       /**< the virtual cluster in whose queue the job
                                waits, or NULL */
  const char *order;       /**< "arrival" or "priority", or NULL */
  int64_t place;           /**< position in that queue, from 1; or
                                PAI_JSON_NO_NUMBER */
  int64_t waiting;         /**< jobs in that queue */
  size_t change;           /**< value: an object, pai_json_explanation() */
  int64_t exit_code;       /**< of a job that is over, or PAI_JSON_NO_NUMBER */
  /* How the job ended; for a job or task that waits for a retry, how its last
   *  attempt ended. */
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
  int64_t nodes;    /**< number of nodes with this reason */
} pai_reason_record;

/** Why a request waits, of pai_sched_explain() as JSON and of
 *  pai_why_record.change; the same data as pai_reason.  With all changes of
 *  one list the request would start now: own_changes change the request
 *  itself, other_changes change other requests and nodes. */
typedef struct pai_explanation_record {
  size_t struct_size;
  int64_t id;
  const char *lack; /**< "gpu", ... see pai_lack_name(); NULL: the request does
                         not wait */
  const char *of;
  int64_t want, placed, tasks, wanted, found;
  const char *node;      /**< or NULL */
  int64_t behind;        /**< id of the request that it waits for, or 0 */
  const char *text;      /**< text of the policy, or NULL */
  int starts;            /**< 1: it starts at the next decision */
  size_t own_changes;    /**< value: a list, pai_json_change() */
  size_t other_changes;  /**< value: a list, pai_json_change() */
  int64_t wanted_millis; /**< CPUs: thousandths in addition to `wanted`, 0 to
                              999 */
  int64_t found_millis; /**< CPUs: thousandths in addition to `found`, 0 to 999
                             @since 0.1 */
} pai_explanation_record;

/** A suggested change: an event for pai_sched_send().  pai_sched_send_json()
 *  accepts the output of pai_json_write(). */
typedef struct pai_change_record {
  size_t struct_size;
  const char *event; /**< "change", "finished", "cancel", "node", ... */
  int64_t id;        /**< of the request */
  int64_t instance;
  int64_t want;       /**< "change": index of the resource request */
  const char *key;    /**< "change": the key to change, such as "gpus" */
  int64_t number;     /**< its new value, or PAI_JSON_NO_NUMBER */
  const char *text;   /**< its new value, if it is a text; or NULL */
  const char *node;   /**< "node": name of the node */
  const char *state;  /**< "node": its new state, such as "up" */
  int64_t gpu;        /**< "node": a single GPU; PAI_JSON_NO_NUMBER: the whole
                           node */
  int64_t cpu_millis; /**< for "cpus": thousandths in addition to number, 0 to
                           999  @since 0.1 */
} pai_change_record;

/** Forecast start of a waiting job, or end of a running job: of `GET
 *  /jobs/NAME/estimate` and pai_platform_estimate().  A time is 0 if it is not
 *  known. */
typedef struct pai_estimate_record {
  size_t struct_size;
  int state;
  pai_time now;
  pai_time start_p10, start_p50, start_p90; /**< of a job that waits */
  pai_time started;                         /**< of a running job */
  pai_time end_p10, end_p50, end_p90;
  int64_t runs;        /**< number of simulated futures */
  int64_t start_count; /**< number of futures in which the job started */
  int unknown;         /**< 1: no job similar to the jobs before it has ended
                            yet */
  int unlike_past; /**< 1: the present is unlike the past, as in pai_when */
} pai_estimate_record;

/** A user: of `GET /users` and pai_accounts. */
typedef struct pai_user_record {
  size_t struct_size;
  const char *name;
  const char *email; /**< or NULL */
  int admin;
  size_t groups;           /**< value: a list of strings */
  size_t virtual_clusters; /**< value: a list of strings */
  size_t storages;         /**< value: a list of strings */
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
  size_t data; /**< value: an object, the settings of its type */
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
  int64_t cpus_used_millis; /**< thousandths in addition to cpus_used, 0 to 999
                                 @since 0.1 */
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
  int64_t cpus_free_millis;    /**< thousandths in addition to cpus_free, 0 to
                                    999  @since 0.1 */
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
 * Fills a record from the object @p value.  The functions below do the same
 * for other records.
 * @return PAI_OK; PAI_ENOTFOUND: no such object; PAI_EINVAL: bad struct_size,
 *         or a NULL argument
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

/** The list of entries of a page: the whole text, or its "data" if it has
 *  "totalCount".  @since 0.1 */
PAI_API size_t pai_json_page(const pai_json *json);

/** The list of tasks of a role; @p role is an entry of pai_job_record.roles.
 *  @since 0.1 */
PAI_API size_t pai_json_tasks(const pai_json *json, size_t role);

PAI_END_DECLS

#endif /* OPENPAI_JSON_H */
