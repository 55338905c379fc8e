/*
 * record.c - records as structs: one table for each, of its members and their
 * places in the JSON
 */
#include "api/json.h"

#include <openpai/job.h>

enum kind { TEXT, WHOLE, MAYBE, REAL, TIME, FLAG, STATE, VALUE };

/* A member of a struct: the names that lead to it, with '/' between them. */
typedef struct field {
  const char *path;
  size_t offset;
  enum kind kind;
} field;

typedef struct table {
  size_t size, first; /* of the struct, now and when it was made */
  const field *fields;
  size_t count;
} table;

/* It does not compile unless the member is of the kind's type. */
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type */
#define IS_OF(type, m, of) _Generic(((type *)0)->m, of : 1)
#define ROW(type, m, k, of, p)                \
  {                                           \
    .path = (p), .offset = offsetof(type, m), \
    .kind = (k) + 0 * IS_OF(type, m, of)      \
  }
#define ROW_TEXT(type, m, p) ROW(type, m, TEXT, const char *, p)
#define ROW_WHOLE(type, m, p) ROW(type, m, WHOLE, int64_t, p)
#define ROW_MAYBE(type, m, p) ROW(type, m, MAYBE, int64_t, p)
#define ROW_REAL(type, m, p) ROW(type, m, REAL, double, p)
#define ROW_TIME(type, m, p) ROW(type, m, TIME, pai_time, p)
#define ROW_FLAG(type, m, p) ROW(type, m, FLAG, int, p)
#define ROW_STATE(type, m, p) ROW(type, m, STATE, int, p)
#define ROW_VALUE(type, m, p) ROW(type, m, VALUE, size_t, p)

#define TABLE(name, type, last)                            \
  static const table name = { sizeof(type),                \
                              offsetof(type, last) +       \
                                sizeof(((type *)0)->last), \
                              name##_fields, PAI__LEN(name##_fields) }

/* What all records of a failure have, below a place. */
#define FAILURE(type, at)                                \
  ROW_TEXT(type, failure, at "failure/name"),            \
    ROW_TEXT(type, failure_reason, at "failure/reason"), \
    ROW_TEXT(type, failure_line, at "failure/line"),     \
    ROW_VALUE(type, failure_solution, at "failure/solution")

/* --- the walker ---------------------------------------------------------------- */

static pai__node look(const pai__tree *t, pai__node n, const char *path)
{
  while (n != PAI__NO_NODE) {
    size_t len = strcspn(path, "/");

    n = pai__tree_find(t, n, path, len);
    if (n != PAI__NO_NODE)
      n = pai__tree_value(t, n);
    if (path[len] == '\0')
      break;
    path += len + 1;
  }
  return n;
}

/* Its PAI_STATE_* is its place. */
static int read_state(const char *text)
{
  static const char *const names[] = { "",         "WAITING",   "RUNNING",
                                       "STOPPING", "SUCCEEDED", "FAILED",
                                       "STOPPED" };

  for (size_t i = 1; text != NULL && i < PAI__LEN(names); i++)
    if (strcmp(text, names[i]) == 0)
      return (int)i;
  return 0;
}

/* REST has milliseconds. */
static pai_time read_time(int64_t ms)
{
  return ms > PAI__LAST_TIME / 1000 || ms < -PAI__LAST_TIME / 1000 ? 0
                                                                   : ms * 1000;
}

static void store(const field *f, const pai_json *json, pai__node n, void *out)
{
  void *to = (char *)out + f->offset;
  size_t value = pai__json_value_of(n);
  const char *text;
  int64_t whole;
  double real;
  int number;

  switch (f->kind) {
  case TEXT:
    text = pai_json_text(json, value, NULL);
    memcpy(to, &text, sizeof(text));
    break;
  case VALUE: memcpy(to, &value, sizeof(value)); break;
  case REAL:
    real = pai_json_number(json, value, 0);
    memcpy(to, &real, sizeof(real));
    break;
  case FLAG:
  case STATE:
    number = f->kind == FLAG ? pai_json_bool(json, value)
                             : read_state(pai_json_text(json, value, NULL));
    memcpy(to, &number, sizeof(number));
    break;
  default:
    whole =
      pai_json_int(json, value, f->kind == MAYBE ? PAI_JSON_NO_NUMBER : 0);
    if (f->kind == TIME)
      whole = read_time(whole);
    memcpy(to, &whole, sizeof(whole));
    break;
  }
}

static int fill(void *out, const pai_json *json, size_t value, const table *t)
{
  union {
    size_t struct_size;
    char bytes[512];
    double of_reals;
  } full = { .bytes = { 0 } };
  pai__node n = pai__json_node_of(json, value);

  if (out == NULL || json == NULL)
    return PAI_EINVAL;
  for (size_t i = 0; i < t->count; i++)
    store(&t->fields[i], json, look(json->tree, n, t->fields[i].path),
          full.bytes);
  if (!pai__tree_is(json->tree, n, PAI__MAPPING))
    return PAI_ENOTFOUND;
  return pai__fill_view(out, full.bytes, t->size, t->first);
}

/* --- jobs ------------------------------------------------------------------------ */

#define OF pai_job_item
static const field job_item_fields[] = {
  ROW_TEXT(OF, name, "name"),
  ROW_TEXT(OF, user, "username"),
  ROW_STATE(OF, state, "state"),
  ROW_TEXT(OF, virtual_cluster, "virtualCluster"),
  ROW_TEXT(OF, priority, "jobPriority"),
  ROW_TIME(OF, submitted, "submissionTime"),
  ROW_TIME(OF, started, "launchedTime"),
  ROW_TIME(OF, ended, "completedTime"),
  ROW_MAYBE(OF, exit_code, "appExitCode"),
  ROW_WHOLE(OF, retries, "retries"),
  ROW_WHOLE(OF, roles, "totalTaskRoleNumber"),
  ROW_WHOLE(OF, tasks, "totalTaskNumber"),
  ROW_WHOLE(OF, gpus, "totalGpuNumber"),
  ROW_FLAG(OF, output_lost, "outputLost"),
  ROW_VALUE(OF, tags, "tags"),
};
TABLE(job_item, OF, tags);
#undef OF

#define OF pai_job_record
static const field job_fields[] = {
  ROW_TEXT(OF, name, "name"),
  ROW_TEXT(OF, user, "jobStatus/username"),
  ROW_STATE(OF, state, "jobStatus/state"),
  ROW_TEXT(OF, virtual_cluster, "jobStatus/virtualCluster"),
  ROW_TEXT(OF, priority, "jobPriority"),
  ROW_TIME(OF, submitted, "jobStatus/submissionTime"),
  ROW_TIME(OF, started, "jobStatus/launchedTime"),
  ROW_TIME(OF, ended, "jobStatus/completedTime"),
  ROW_WHOLE(OF, attempt, "jobStatus/attemptId"),
  ROW_WHOLE(OF, retries, "jobStatus/retries"),
  ROW_MAYBE(OF, exit_code, "jobStatus/appExitCode"),
  ROW_MAYBE(OF, user_exit_code, "jobStatus/originUserExitCode"),
  ROW_TEXT(OF, exit_type, "jobStatus/appExitType"),
  ROW_TEXT(OF, exit_reason, "jobStatus/exitReason"),
  ROW_TEXT(OF, diagnostics, "jobStatus/appExitDiagnostics"),
  ROW_TEXT(OF, failed_role, "jobStatus/appExitTriggerTaskRoleName"),
  ROW_MAYBE(OF, failed_index, "jobStatus/appExitTriggerTaskIndex"),
  FAILURE(OF, "jobStatus/"),
  ROW_FLAG(OF, output_lost, "jobStatus/outputLost"),
  ROW_VALUE(OF, tags, "tags"),
  ROW_VALUE(OF, roles, "taskRoles"),
};
TABLE(job, OF, roles);
#undef OF

#define OF pai_task_record
static const field task_fields[] = {
  ROW_WHOLE(OF, index, "taskIndex"),
  ROW_STATE(OF, state, "taskState"),
  ROW_WHOLE(OF, retries, "retries"),
  ROW_TIME(OF, started, "launchedTime"),
  ROW_TIME(OF, ended, "completedTime"),
  ROW_TEXT(OF, node, "containerNodeName"),
  ROW_TEXT(OF, address, "containerIp"),
  ROW_TEXT(OF, runtime, "runtime"),
  ROW_TEXT(OF, log, "containerLog"),
  ROW_MAYBE(OF, exit_code, "containerExitCode"),
  ROW_MAYBE(OF, user_exit_code, "originUserExitCode"),
  ROW_TEXT(OF, exit_reason, "exitReason"),
  ROW_TEXT(OF, diagnostics, "containerExitDiagnostics"),
  FAILURE(OF, ""),
  ROW_FLAG(OF, output_lost, "outputLost"),
  ROW_VALUE(OF, ports, "containerPorts"),
  ROW_VALUE(OF, gpus, "containerGpus"),
};
TABLE(task, OF, gpus);
#undef OF

#define OF pai_event_record
static const field event_fields[] = {
  ROW_TEXT(OF, type, "type"),        ROW_TEXT(OF, reason, "reason"),
  ROW_TEXT(OF, message, "message"),  ROW_TEXT(OF, role, "taskroleName"),
  ROW_MAYBE(OF, index, "taskIndex"), ROW_TEXT(OF, time, "lastTimestamp"),
  ROW_WHOLE(OF, count, "count"),
};
TABLE(event, OF, count);
#undef OF

#define OF pai_why_record
static const field why_fields[] = {
  ROW_STATE(OF, state, "state"),
  ROW_TEXT(OF, explanation, "explanation"),
  ROW_VALUE(OF, reasons, "reasons"),
  ROW_TEXT(OF, queue, "line/virtualCluster"),
  ROW_TEXT(OF, order, "line/order"),
  ROW_MAYBE(OF, place, "line/place"),
  ROW_WHOLE(OF, waiting, "line/waiting"),
  ROW_VALUE(OF, change, "change"),
  ROW_MAYBE(OF, exit_code, "code"),
  ROW_TEXT(OF, failed_role, "role"),
  ROW_MAYBE(OF, failed_index, "index"),
  FAILURE(OF, ""),
};
TABLE(why, OF, failure_solution);
#undef OF

#define OF pai_reason_record
static const field reason_fields[] = {
  ROW_TEXT(OF, code, "code"),
  ROW_TEXT(OF, text, "text"),
  ROW_WHOLE(OF, nodes, "nodes"),
};
TABLE(reason, OF, nodes);
#undef OF

#define OF pai_explanation_record
static const field explanation_fields[] = {
  ROW_WHOLE(OF, id, "id"),
  ROW_TEXT(OF, lack, "lack"),
  ROW_TEXT(OF, of, "of"),
  ROW_WHOLE(OF, want, "want"),
  ROW_WHOLE(OF, placed, "placed"),
  ROW_WHOLE(OF, tasks, "tasks"),
  ROW_WHOLE(OF, wanted, "wanted"),
  ROW_WHOLE(OF, found, "found"),
  ROW_TEXT(OF, node, "node"),
  ROW_WHOLE(OF, behind, "behind"),
  ROW_TEXT(OF, text, "text"),
  ROW_FLAG(OF, starts, "starts"),
  ROW_VALUE(OF, own_changes, "own_change"),
  ROW_VALUE(OF, other_changes, "other_change"),
};
TABLE(explanation, OF, other_changes);
#undef OF

#define OF pai_change_record
static const field change_fields[] = {
  ROW_TEXT(OF, event, "event"),
  ROW_WHOLE(OF, id, "id"),
  ROW_WHOLE(OF, instance, "instance"),
  ROW_WHOLE(OF, want, "want"),
  ROW_TEXT(OF, key, "key"),
  ROW_MAYBE(OF, number, "value"),
  ROW_TEXT(OF, text, "value"),
  ROW_TEXT(OF, node, "node"),
  ROW_TEXT(OF, state, "state"),
  ROW_MAYBE(OF, gpu, "gpu"),
};
TABLE(change, OF, gpu);
#undef OF

#define OF pai_estimate_record
static const field estimate_fields[] = {
  ROW_STATE(OF, state, "state"),         ROW_TIME(OF, now, "now"),
  ROW_TIME(OF, start_p10, "start/p10"),  ROW_TIME(OF, start_p50, "start/p50"),
  ROW_TIME(OF, start_p90, "start/p90"),  ROW_TIME(OF, started, "startedAt"),
  ROW_TIME(OF, end_p10, "end/p10"),      ROW_TIME(OF, end_p50, "end/p50"),
  ROW_TIME(OF, end_p90, "end/p90"),      ROW_WHOLE(OF, runs, "runs"),
  ROW_WHOLE(OF, start_count, "started"), ROW_FLAG(OF, unknown, "unknown"),
  ROW_FLAG(OF, unlike_past, "unlike"),
};
TABLE(estimate, OF, unlike_past);
#undef OF

#define OF pai_file_record
static const field file_fields[] = {
  ROW_TEXT(OF, path, "path"),
  ROW_TEXT(OF, type, "type"),
  ROW_WHOLE(OF, size, "size"),
  ROW_TIME(OF, modified, "modified"),
  ROW_FLAG(OF, executable, "executable"),
  ROW_TEXT(OF, target, "target"),
};
TABLE(file, OF, target);
#undef OF

/* --- accounts ---------------------------------------------------------------------- */

#define OF pai_user_record
static const field user_fields[] = {
  ROW_TEXT(OF, name, "username"),
  ROW_TEXT(OF, email, "email"),
  ROW_FLAG(OF, admin, "admin"),
  ROW_VALUE(OF, groups, "grouplist"),
  ROW_VALUE(OF, virtual_clusters, "virtualCluster"),
  ROW_VALUE(OF, storages, "storageConfig"),
  ROW_VALUE(OF, extension, "extension"),
};
TABLE(user, OF, extension);
#undef OF

#define OF pai_group_record
static const field group_fields[] = {
  ROW_TEXT(OF, name, "groupname"),
  ROW_TEXT(OF, description, "description"),
  ROW_TEXT(OF, external_name, "externalName"),
  ROW_VALUE(OF, extension, "extension"),
};
TABLE(group, OF, extension);
#undef OF

#define OF pai_token_record
static const field token_fields[] = {
  ROW_TEXT(OF, id, "id"),
  ROW_TEXT(OF, name, "name"),
  ROW_FLAG(OF, application, "application"),
  ROW_TIME(OF, created, "created"),
  ROW_TIME(OF, expires, "expires"),
  ROW_TIME(OF, last_used, "lastUsed"),
  ROW_VALUE(OF, scopes, "scopes"),
};
TABLE(token, OF, scopes);
#undef OF

#define OF pai_storage_record
static const field storage_fields[] = {
  ROW_TEXT(OF, name, "name"),          ROW_TEXT(OF, type, "type"),
  ROW_FLAG(OF, share, "share"),        ROW_FLAG(OF, is_default, "default"),
  ROW_FLAG(OF, read_only, "readOnly"), ROW_VALUE(OF, data, "data"),
};
TABLE(storage, OF, data);
#undef OF

/* --- machines ------------------------------------------------------------------------ */

#define OF pai_vc_record
static const field vc_fields[] = {
  ROW_TEXT(OF, state, "state"),
  ROW_TEXT(OF, description, "description"),
  ROW_TEXT(OF, external_name, "externalName"),
  ROW_REAL(OF, capacity, "capacity"),
  ROW_REAL(OF, max_capacity, "maxCapacity"),
  ROW_REAL(OF, used_capacity, "usedCapacity"),
  ROW_WHOLE(OF, gpus, "resourcesTotal/GPUs"),
  ROW_WHOLE(OF, gpus_used, "resourcesUsed/GPUs"),
  ROW_WHOLE(OF, gpus_guaranteed, "resourcesGuaranteed/GPUs"),
  ROW_WHOLE(OF, cpus, "resourcesTotal/vCores"),
  ROW_WHOLE(OF, cpus_used, "resourcesUsed/vCores"),
  ROW_WHOLE(OF, cpus_guaranteed, "resourcesGuaranteed/vCores"),
  ROW_WHOLE(OF, memory_mb, "resourcesTotal/memory"),
  ROW_WHOLE(OF, memory_used_mb, "resourcesUsed/memory"),
  ROW_WHOLE(OF, memory_guaranteed_mb, "resourcesGuaranteed/memory"),
  ROW_WHOLE(OF, jobs_waiting, "waitingJobs"),
  ROW_WHOLE(OF, jobs_running, "runningJobs"),
};
TABLE(vc, OF, jobs_running);
#undef OF

#define OF pai_node_record
static const field node_fields[] = {
  ROW_TEXT(OF, name, "name"),
  ROW_TEXT(OF, state, "state"),
  ROW_TEXT(OF, reason, "why"),
  ROW_TEXT(OF, address, "address"),
  ROW_WHOLE(OF, gpus, "gpus"),
  ROW_WHOLE(OF, gpus_free, "freeGpus"),
  ROW_WHOLE(OF, gpus_sick, "sickGpus"),
  ROW_WHOLE(OF, cpus, "cpus"),
  ROW_WHOLE(OF, cpus_free, "freeCpus"),
  ROW_WHOLE(OF, memory, "memory"),
  ROW_WHOLE(OF, memory_free, "freeMemory"),
};
TABLE(node, OF, memory_free);
#undef OF

/* --- calls --------------------------------------------------------------------------- */

/* NOLINTBEGIN(bugprone-macro-parentheses): types */
#define CALL(name, type)                                             \
  int pai_json_##name(type *out, const pai_json *json, size_t value) \
  {                                                                  \
    return fill(out, json, value, &(name));                          \
  }
/* NOLINTEND(bugprone-macro-parentheses) */

CALL(job_item, pai_job_item)
CALL(job, pai_job_record)
CALL(task, pai_task_record)
CALL(event, pai_event_record)
CALL(why, pai_why_record)
CALL(reason, pai_reason_record)
CALL(explanation, pai_explanation_record)
CALL(change, pai_change_record)
CALL(estimate, pai_estimate_record)
CALL(file, pai_file_record)
CALL(user, pai_user_record)
CALL(group, pai_group_record)
CALL(token, pai_token_record)
CALL(storage, pai_storage_record)
CALL(vc, pai_vc_record)
CALL(node, pai_node_record)
