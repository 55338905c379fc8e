/* shapes_jobs.c - what answers about jobs hold (room platform writes them) */
#include "server/shapes.h"

/* --- what several have ------------------------------------------------------------ */

static const pai__field retry_fields[] = { PAI__HAS(WHOLE, "user"),
                                           PAI__HAS(WHOLE, "platform"),
                                           PAI__HAS(WHOLE, "resource"),
                                           { 0 } };

static const pai__shape retries = { "Retries", retry_fields };

static const pai__field exit_fields[] = {
  PAI__HAS(WHOLE, "code"),          PAI__MAY_HAVE(TEXT, "phrase"),
  PAI__MAY_HAVE(TEXT, "issuer"),    PAI__MAY_HAVE(TEXT, "causer"),
  PAI__MAY_HAVE(TEXT, "type"),      PAI__MAY_HAVE(TEXT, "stage"),
  PAI__MAY_HAVE(TEXT, "behavior"),  PAI__MAY_HAVE(TEXT, "reaction"),
  PAI__MAY_HAVE(TEXT, "reason"),    PAI__MAY_HAVE(TEXTS, "solution"),
  PAI__MAY_HAVE(OBJECT, "pattern"), { 0 }
};

static const pai__shape exit_spec = { "ExitSpec", exit_fields };

#define EXIT_SPEC(key)                                           \
  {                                                              \
    .name = (key), .kind = PAI__IS_OBJECT,                       \
    .flags = PAI__NEEDED | PAI__MAY_BE_NULL, .shape = &exit_spec \
  }

/* Why a job or an attempt of it ended. */
#define EXIT_TRIGGER                                                        \
  PAI__HAS_OR_NULL(TEXT, "appExitTriggerMessage"),                          \
    PAI__HAS_OR_NULL(TEXT, "appExitTriggerTaskRoleName"),                   \
    PAI__HAS_OR_NULL(WHOLE, "appExitTriggerTaskIndex"),                     \
    EXIT_SPEC("appExitSpec"), PAI__HAS_OR_NULL(TEXT, "appExitDiagnostics"), \
    PAI__HAS_OR_NULL(OBJECT, "appExitMessages")

static const pai__field failure_fields[] = { PAI__HAS(TEXT, "name"),
                                             PAI__HAS(TEXT, "reason"),
                                             PAI__HAS(TEXTS, "solution"),
                                             PAI__HAS_OR_NULL(TEXT, "line"),
                                             { 0 } };

static const pai__shape failure = { "Failure", failure_fields };

/* Of a job and of a task: what the command itself exited with, why it did not
 * run, and what is known of its failure.  OpenPAI has the first two in its
 * diagnostics only. */
#define HOW_IT_ENDED                                           \
  PAI__HAS_OR_NULL(WHOLE, "originUserExitCode"),               \
    PAI__HAS_OR_NULL(TEXT, "exitReason"),                      \
  {                                                            \
    .name = "failure", .kind = PAI__IS_OBJECT,                 \
    .flags = PAI__NEEDED | PAI__MAY_BE_NULL, .shape = &failure \
  }

/* Of a job, in lists and alone. */
#define JOB_STATE                                                             \
  PAI__HAS(TEXT, "username"), PAI__HAS(TEXT, "state"),                        \
    PAI__HAS(TEXT, "subState"), PAI__HAS(TEXT, "executionType"),              \
    PAI__HAS(WHOLE, "retries"),                                               \
    PAI__HAS_OF(OBJECT, "retryDetails", &retries),                            \
    PAI__HAS_OR_NULL(WHOLE, "retryDelayTime"),                                \
    PAI__HAS(TIME, "submissionTime"), PAI__HAS_OR_NULL(TIME, "createdTime"),  \
    PAI__HAS_OR_NULL(TIME, "launchedTime"),                                   \
    PAI__HAS_OR_NULL(TIME, "completedTime"),                                  \
    PAI__HAS(TEXT, "virtualCluster"), PAI__HAS_OR_NULL(WHOLE, "appExitCode"), \
    PAI__HAS(FLAG, "outputLost")

/* --- the list --------------------------------------------------------------------- */

static const pai__field item_fields[] = {
  PAI__HAS(TEXT, "debugId"),
  PAI__HAS(TEXT, "name"),
  JOB_STATE,
  PAI__HAS(TEXTS, "tags"),
  PAI__HAS(WHOLE, "totalGpuNumber"),
  PAI__HAS(WHOLE, "totalTaskNumber"),
  PAI__HAS(WHOLE, "totalTaskRoleNumber"),
  PAI__HAS_OR_NULL(TEXT, "jobPriority"),
  { 0 }
};

static const pai__shape item = { "JobItem", item_fields };

static const pai__field page_fields[] = { PAI__HAS(WHOLE, "totalCount"),
                                          PAI__HAS_OF(LIST, "data", &item),
                                          { 0 } };

static const pai__shape page = { "JobPage", page_fields };

static const pai__result with_total = { .kind = PAI__IS_OBJECT,
                                        .shape = &page };

const pai__result pai__jobs_result = { .kind = PAI__IS_LIST,
                                       .shape = &item,
                                       .other = &with_total };

/* --- one job ------------------------------------------------------------------------ */

static const pai__field status_fields[] = {
  JOB_STATE,
  PAI__HAS(WHOLE, "attemptId"),
  PAI__HAS(TEXT, "attemptState"),
  PAI__HAS(TEXT, "appId"),
  PAI__HAS(WHOLE, "appProgress"),
  PAI__HAS(TEXT, "appTrackingUrl"),
  PAI__HAS_OR_NULL(TIME, "appCreatedTime"),
  PAI__HAS_OR_NULL(TIME, "appLaunchedTime"),
  PAI__HAS_OR_NULL(TIME, "appCompletedTime"),
  EXIT_TRIGGER,
  HOW_IT_ENDED,
  PAI__HAS_OR_NULL(TEXT, "appExitType"),
  { 0 }
};

static const pai__shape status = { "JobStatus", status_fields };

/* Where a start of a task is, and how it ended. */
#define START                                                                \
  PAI__HAS(WHOLE, "attemptId"), PAI__HAS(TEXT, "attemptState"),              \
    PAI__HAS_OR_NULL(TIME, "currentAttemptCreatedTime"),                     \
    PAI__HAS_OR_NULL(TIME, "currentAttemptLaunchedTime"),                    \
    PAI__HAS_OR_NULL(TIME, "currentAttemptCompletedTime"),                   \
    PAI__HAS_OR_NULL(TEXT, "containerId"),                                   \
    PAI__HAS_OR_NULL(TEXT, "containerIp"),                                   \
    PAI__HAS_OR_NULL(TEXT, "containerNodeName"),                             \
    PAI__HAS(MAP, "containerPorts"), PAI__HAS_OR_NULL(ANY, "containerGpus"), \
    PAI__HAS(TEXT, "containerLog"),                                          \
    PAI__HAS_OR_NULL(WHOLE, "containerExitCode"),                            \
    EXIT_SPEC("containerExitSpec"),                                          \
    PAI__HAS_OR_NULL(TEXT, "containerExitDiagnostics"), HOW_IT_ENDED,        \
    PAI__HAS(FLAG, "outputLost"), PAI__HAS_OR_NULL(TEXT, "runtime")

#define TASK                                                 \
  PAI__HAS(WHOLE, "taskIndex"), PAI__HAS(TEXT, "taskUid"),   \
    PAI__HAS(TEXT, "taskState"), PAI__HAS(WHOLE, "retries"), \
    PAI__HAS(WHOLE, "accountableRetries"),                   \
    PAI__HAS_OR_NULL(TIME, "createdTime"),                   \
    PAI__HAS_OR_NULL(TIME, "launchedTime"),                  \
    PAI__HAS_OR_NULL(TIME, "completedTime")

static const pai__field task_fields[] = { TASK, START, { 0 } };

static const pai__shape task = { "Task", task_fields };

static const pai__field role_name_fields[] = { PAI__HAS(TEXT, "name"), { 0 } };

static const pai__shape role_name = { "TaskRoleStatus", role_name_fields };

static const pai__field role_fields[] = {
  PAI__HAS_OF(OBJECT, "taskRoleStatus", &role_name),
  PAI__HAS_OF(LIST, "taskStatuses", &task),
  { 0 }
};

static const pai__shape role = { "TaskRole", role_fields };

static const pai__field job_fields[] = { PAI__HAS(TEXT, "debugId"),
                                         PAI__HAS(TEXT, "name"),
                                         PAI__HAS(TEXTS, "tags"),
                                         PAI__HAS_OR_NULL(TEXT, "jobPriority"),
                                         PAI__HAS_OF(OBJECT, "jobStatus",
                                                     &status),
                                         PAI__HAS_OF(MAP, "taskRoles", &role),
                                         { 0 } };

static const pai__shape job = { "Job", job_fields };

const pai__result pai__job_result = { .kind = PAI__IS_OBJECT, .shape = &job };

/* --- its file ----------------------------------------------------------------------- */

static const pai__result yaml = { .type = "text/yaml" };

const pai__result pai__job_config_result = { .kind = PAI__IS_OBJECT,
                                             .other = &yaml };

/* --- the starts of a task --------------------------------------------------------------- */

static const pai__field start_fields[] = { START, { 0 } };

static const pai__shape start = { "TaskAttempt", start_fields };

static const pai__field starts_fields[] = { PAI__HAS(TEXT, "username"),
                                            PAI__HAS(TEXT, "jobName"),
                                            PAI__HAS(WHOLE, "jobAttemptId"),
                                            PAI__HAS(TEXT, "taskRoleName"),
                                            TASK,
                                            PAI__HAS_OF(LIST, "attempts",
                                                        &start),
                                            { 0 } };

static const pai__shape starts = { "TaskAttempts", starts_fields };

const pai__result pai__job_task_result = { .kind = PAI__IS_OBJECT,
                                           .shape = &starts };

/* --- attempts, as older clients want them --------------------------------------------- */

static const pai__field old_task_fields[] = {
  PAI__HAS(WHOLE, "taskIndex"),
  PAI__HAS(TEXT, "taskState"),
  PAI__HAS_OR_NULL(TEXT, "containerId"),
  PAI__HAS_OR_NULL(TEXT, "containerIp"),
  PAI__HAS_OR_NULL(ANY, "containerGpus"),
  PAI__HAS(TEXT, "containerLog"),
  PAI__HAS_OR_NULL(WHOLE, "containerExitCode"),
  { 0 }
};

static const pai__shape old_task = { "JobAttemptTask", old_task_fields };

static const pai__field old_role_fields[] = {
  PAI__HAS_OF(OBJECT, "taskRoleStatus", &role_name),
  PAI__HAS_OF(LIST, "taskStatuses", &old_task),
  { 0 }
};

static const pai__shape old_role = { "JobAttemptTaskRole", old_role_fields };

static const pai__field attempt_fields[] = {
  PAI__HAS(TEXT, "jobName"),
  PAI__HAS(TEXT, "frameworkName"),
  PAI__HAS(TEXT, "uid"),
  PAI__HAS(TEXT, "userName"),
  PAI__HAS(TEXT, "state"),
  PAI__HAS(TEXT, "originState"),
  PAI__HAS(WHOLE, "attemptIndex"),
  PAI__HAS_OR_NULL(TIME, "jobStartedTime"),
  PAI__HAS_OR_NULL(TIME, "attemptStartedTime"),
  PAI__HAS_OR_NULL(TIME, "attemptCompletedTime"),
  PAI__HAS_OR_NULL(WHOLE, "exitCode"),
  PAI__HAS_OR_NULL(TEXT, "exitPhrase"),
  PAI__HAS_OR_NULL(TEXT, "exitType"),
  PAI__HAS_OR_NULL(OBJECT, "exitDiagnostics"),
  EXIT_TRIGGER,
  PAI__HAS(WHOLE, "totalGpuNumber"),
  PAI__HAS(WHOLE, "totalTaskNumber"),
  PAI__HAS(WHOLE, "totalTaskRoleNumber"),
  PAI__HAS_OR_NULL(TEXT, "jobPriority"),
  PAI__HAS_OF(MAP, "taskRoles", &old_role),
  PAI__HAS(FLAG, "isLatest"),
  { 0 }
};

static const pai__shape attempt = { "JobAttempt", attempt_fields };

const pai__result pai__job_attempts_result = { .kind = PAI__IS_LIST,
                                               .shape = &attempt };

const pai__result pai__job_attempt_result = { .kind = PAI__IS_OBJECT,
                                              .shape = &attempt };

/* --- what happened to it ---------------------------------------------------------------- */

static const pai__field event_fields[] = {
  PAI__HAS(TEXT, "uid"),
  PAI__HAS(TEXT, "frameworkName"),
  PAI__HAS_OR_NULL(TEXT, "podUid"),
  PAI__HAS_OR_NULL(TEXT, "taskroleName"),
  PAI__HAS_OR_NULL(TEXT, "taskName"),
  PAI__HAS_OR_NULL(WHOLE, "taskIndex"),
  PAI__HAS(TEXT, "type"),
  PAI__HAS(TEXT, "reason"),
  PAI__HAS(TEXT, "message"),
  PAI__HAS(TEXT, "firstTimestamp"),
  PAI__HAS(TEXT, "lastTimestamp"),
  PAI__HAS(WHOLE, "count"),
  PAI__HAS_OR_NULL(TEXT, "sourceComponent"),
  PAI__HAS_OR_NULL(TEXT, "sourceHost"),
  { 0 }
};

static const pai__shape event = { "JobEvent", event_fields };

static const pai__field events_fields[] = { PAI__HAS(WHOLE, "totalCount"),
                                            PAI__HAS_OF(LIST, "data", &event),
                                            { 0 } };

static const pai__shape events = { "JobEvents", events_fields };

const pai__result pai__job_events_result = { .kind = PAI__IS_OBJECT,
                                             .shape = &events };

/* --- why it waits or ended, and when it starts -------------------------------------------- */

static const pai__field reason_fields[] = { PAI__HAS(TEXT, "code"),
                                            PAI__HAS(TEXT, "text"),
                                            PAI__HAS(WHOLE, "nodes"),
                                            { 0 } };

static const pai__shape reason = { "WaitReason", reason_fields };

static const pai__field line_fields[] = { PAI__HAS(TEXT, "virtualCluster"),
                                          PAI__HAS_OR_NULL(TEXT, "order"),
                                          PAI__HAS_OR_NULL(WHOLE, "place"),
                                          PAI__HAS(WHOLE, "waiting"),
                                          { 0 } };

static const pai__shape line = { "WaitLine", line_fields };

static const pai__field why_fields[] = {
  PAI__HAS(TEXT, "state"),
  PAI__HAS_OF(LIST, "reasons", &reason),
  /* of a job that waits, or some of whose tasks do */
  PAI__MAY_HAVE(WHOLE, "tasksRunning"),
  PAI__MAY_HAVE(WHOLE, "tasksWaiting"),
  { .name = "line",
    .kind = PAI__IS_OBJECT,
    .flags = PAI__MAY_BE_NULL,
    .shape = &line },
  { .name = "explanation", .kind = PAI__IS_TEXT, .flags = PAI__MAY_BE_NULL },
  { .name = "change", .kind = PAI__IS_OBJECT, .flags = PAI__MAY_BE_NULL },
  /* of one that does not */
  { .name = "code", .kind = PAI__IS_WHOLE, .flags = PAI__MAY_BE_NULL },
  { .name = "exitSpec",
    .kind = PAI__IS_OBJECT,
    .flags = PAI__MAY_BE_NULL,
    .shape = &exit_spec },
  { .name = "failure",
    .kind = PAI__IS_OBJECT,
    .flags = PAI__MAY_BE_NULL,
    .shape = &failure },
  { .name = "trigger", .kind = PAI__IS_TEXT, .flags = PAI__MAY_BE_NULL },
  { .name = "role", .kind = PAI__IS_TEXT, .flags = PAI__MAY_BE_NULL },
  { .name = "index", .kind = PAI__IS_WHOLE, .flags = PAI__MAY_BE_NULL },
  { .name = "diagnostics", .kind = PAI__IS_TEXT, .flags = PAI__MAY_BE_NULL },
  { 0 }
};

static const pai__shape why = { "JobWhy", why_fields };

const pai__result pai__job_why_result = { .kind = PAI__IS_OBJECT,
                                          .shape = &why };

static const pai__field when_fields[] = { PAI__HAS_OR_NULL(TIME, "p10"),
                                          PAI__HAS_OR_NULL(TIME, "p50"),
                                          PAI__HAS_OR_NULL(TIME, "p90"),
                                          { 0 } };

static const pai__shape when = { "When", when_fields };

static const pai__field estimate_fields[] = {
  PAI__HAS(TEXT, "state"),
  PAI__HAS(TIME, "now"),
  /* of a job that waits */
  { .name = "start",
    .kind = PAI__IS_OBJECT,
    .flags = PAI__MAY_BE_NULL,
    .shape = &when },
  PAI__MAY_HAVE(WHOLE, "runs"),
  PAI__MAY_HAVE(WHOLE, "started"),
  PAI__MAY_HAVE(WHOLE, "guessed"),
  { .name = "alike", .kind = PAI__IS_TEXT, .flags = PAI__MAY_BE_NULL },
  PAI__MAY_HAVE(FLAG, "unlike"),
  PAI__MAY_HAVE(FLAG, "unknown"),
  /* of one that runs */
  { .name = "startedAt", .kind = PAI__IS_TIME, .flags = PAI__MAY_BE_NULL },
  PAI__MAY_HAVE_OF(OBJECT, "end", &when),
  { 0 }
};

static const pai__shape estimate = { "JobEstimate", estimate_fields };

const pai__result pai__job_estimate_result = { .kind = PAI__IS_OBJECT,
                                               .shape = &estimate };
