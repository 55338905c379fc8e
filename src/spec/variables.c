/* variables.c - environment variables that the platform sets for commands:
 * job-spec 3.1 to 3.4, 5.8 */
#include "spec/variables.h"

#include <string.h>

/* --- values that the job file says ------------------------------------------- */

static void put_nothing(pai__buf *out, const pai__variable_of *of)
{
  (void)out;
  (void)of;
}

static void put_namespace(pai__buf *out, const pai__variable_of *of)
{
  (void)of;
  pai__buf_str(out, "default");
}

static void put_number(pai__buf *out, uint32_t number)
{
  pai__buf_printf(out, "%u", number);
}

#define PUT_NUMBER(name, value)                                     \
  static void put_##name(pai__buf *out, const pai__variable_of *of) \
  {                                                                 \
    put_number(out, value);                                         \
  }

PUT_NUMBER(role_count, (uint32_t)of->spec->nroles)
PUT_NUMBER(tasks, of->tasks)
PUT_NUMBER(role_tasks, of->role_tasks)
PUT_NUMBER(index, of->index)
PUT_NUMBER(cpus, of->role->cpus)
PUT_NUMBER(memory, of->role->memory_mb)
PUT_NUMBER(gpus, of->role->gpus)
PUT_NUMBER(shm, of->role->shm_mb)

static void put_role_name(pai__buf *out, const pai__variable_of *of)
{
  pai__buf_str(out, of->role->name);
}

static void put_role_names(pai__buf *out, const pai__variable_of *of)
{
  for (size_t r = 0; r < of->spec->nroles; r++)
    pai__buf_printf(out, "%s%s", r == 0 ? "" : ",", of->spec->roles[r].name);
}

static void put_resources(pai__buf *out, const pai__variable_of *of)
{
  pai__buf_printf(out, "%u,%u,%u,%u", of->role->gpus, of->role->cpus,
                  of->role->memory_mb, of->role->shm_mb);
}

/* A minimum; v1 has none for one that is never reached. */
static void put_minimum(pai__buf *out, const pai__variable_of *of, int32_t min)
{
  if (!of->spec->was_v1 || min >= 1)
    pai__buf_printf(out, "%d", min);
}

static void put_min_failed(pai__buf *out, const pai__variable_of *of)
{
  put_minimum(out, of, of->role->min_failed);
}

static void put_min_succeeded(pai__buf *out, const pai__variable_of *of)
{
  put_minimum(out, of, of->role->min_succeeded);
}

/* --- the table ---------------------------------------------------------------- */

#define ELSEWHERE(name, says)      \
  {                                \
    name, says, false, false, NULL \
  }
#define OF_JOB(name, says, value)         \
  {                                       \
    name, says, false, false, put_##value \
  }
#define OF_TASK(name, says, value)       \
  {                                      \
    name, says, false, true, put_##value \
  }
#define OLD_ELSEWHERE(name, says) \
  {                               \
    name, says, true, false, NULL \
  }
#define OLD_OF_TASK(name, says, value)  \
  {                                     \
    name, says, true, true, put_##value \
  }

const pai__platform_variable pai__platform_variables[] = {
  /* the task */
  OF_TASK("PAI_CURRENT_TASK_ROLE_NAME", "task role of this task", role_name),
  OF_TASK("PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX",
          "index of this task in its role, from 0", index),
  OF_TASK("PAI_TASK_INDEX", "index of this task in its role, from 0", index),
  ELSEWHERE("PAI_CURRENT_CONTAINER_IP", "address of this task"),
  ELSEWHERE("PAI_CURRENT_CONTAINER_PORT", "first http port of this task"),
  ELSEWHERE("PAI_CONTAINER_HOST_IP", "address of this task"),
  ELSEWHERE("PAI_CONTAINER_HOST_PORT", "first http port of this task"),
  ELSEWHERE("PAI_CONTAINER_SSH_PORT", "first ssh port of this task"),
  ELSEWHERE("PAI_CONTAINER_HOST_{label}_PORT_LIST",
            "ports of this task with that label, separated by commas"),
  ELSEWHERE("PAI_CONTAINER_HOST_PORT_LIST",
            "all ports of this task, as LABEL:PORT,PORT;"),
  ELSEWHERE("PAI_WORK_DIR", "folder in which the commands begin"),
  ELSEWHERE("CUDA_VISIBLE_DEVICES", "GPUs of this task, separated by commas"),
  ELSEWHERE("NVIDIA_VISIBLE_DEVICES",
            "GPUs of this task, separated by commas; none: it has no GPU"),
  ELSEWHERE("RUNTIME_LOG_PIPE", "file for messages about the task"),
  /* all tasks */
  ELSEWHERE("PAI_HOST_IP_{role}_{index}", "address of a task"),
  ELSEWHERE("PAI_PORT_LIST_{role}_{index}_{label}",
            "ports of a task with that label, separated by commas"),
  ELSEWHERE("PAI_{role}_{index}_{label}_PORT",
            "ports of a task with that label, separated by commas"),
  ELSEWHERE("PAI_TASK_ROLE_{role}_HOST_LIST",
            "tasks of a role as ADDRESS:PORT, with their first http port"),
  ELSEWHERE("PAI_TASK_ROLE_INSTANCES", "all tasks of the job, as ROLE:INDEX"),
  /* task roles */
  OF_JOB("PAI_TASK_ROLE_TASK_COUNT_{role}", "number of tasks of a role",
         role_tasks),
  OF_JOB("PAI_RESOURCE_{role}",
         "resources of each task of a role: GPUs,CPUs,MEMORY,SHM in MiB",
         resources),
  OF_JOB("PAI_MIN_FAILED_TASK_COUNT_{role}",
         "number of failed tasks of a role that fails the job", min_failed),
  OF_JOB("PAI_MIN_SUCCEEDED_TASK_COUNT_{role}",
         "number of succeeded tasks of a role that completes the job",
         min_succeeded),
  OF_JOB("PAI_TASK_ROLE_LIST", "names of the task roles, separated by commas",
         role_names),
  OF_JOB("PAI_TASK_ROLE_COUNT", "number of task roles", role_count),
  /* the job */
  ELSEWHERE("PAI_JOB_NAME", "name of the job, as USER~JOB"),
  ELSEWHERE("PAI_USER_NAME", "user who submitted the job"),
  ELSEWHERE("PAI_VIRTUAL_CLUSTER", "virtual cluster of the job"),
  OF_JOB("PAI_JOB_TASK_COUNT", "number of tasks of the job", tasks),
  ELSEWHERE("PAI_FRAMEWORK_NAME", "name of the job, as USER~JOB"),
  ELSEWHERE("PAI_USERNAME", "user who submitted the job"),
  OF_JOB("PAI_DEFAULT_FS_URI", "empty; for old jobs", nothing),
  OF_JOB("PAI_TASK_ROLES_NUM", "number of task roles", role_count),
  OF_JOB("PAI_JOB_TASK_ROLE_COUNT", "number of task roles", role_count),
  OF_JOB("PAI_JOB_TASK_ROLE_LIST",
         "names of the task roles, separated by commas", role_names),
  OF_JOB("PAI_TASKS_NUM", "number of tasks of the job", tasks),
  /* FrameworkController */
  OF_JOB("FC_FRAMEWORK_NAMESPACE", "namespace of the job's objects",
         namespace),
  ELSEWHERE("FC_FRAMEWORK_NAME", "identifier of the job"),
  ELSEWHERE("FC_FRAMEWORK_UID", "identifier of the job"),
  ELSEWHERE("FC_FRAMEWORK_ATTEMPT_ID",
            "number of this attempt of the job, from 0"),
  ELSEWHERE("FC_FRAMEWORK_ATTEMPT_INSTANCE_UID", "identifier of this attempt"),
  ELSEWHERE("FC_CONFIGMAP_NAME", "identifier of this attempt"),
  ELSEWHERE("FC_CONFIGMAP_UID", "identifier of this attempt"),
  ELSEWHERE("FC_TASKROLE_NAME", "task role of this task, in small letters"),
  ELSEWHERE("FC_TASKROLE_UID", "identifier of the task role"),
  OF_TASK("FC_TASK_INDEX", "index of this task in its role, from 0", index),
  ELSEWHERE("FC_TASK_UID", "identifier of the task"),
  ELSEWHERE("FC_TASK_ATTEMPT_ID",
            "number of this attempt of the task, from 0"),
  ELSEWHERE("FC_TASK_ATTEMPT_INSTANCE_UID",
            "identifier of this attempt of the task"),
  ELSEWHERE("FC_POD_NAME", "identifier of the task"),
  ELSEWHERE("FC_POD_UID", "identifier of this attempt of the task"),
  /* of job config v1 */
  OLD_ELSEWHERE("PAI_DATA_DIR", "dataDir"),
  OLD_ELSEWHERE("PAI_CODE_DIR", "codeDir"),
  OLD_ELSEWHERE("PAI_OUTPUT_DIR", "outputDir"),
  OLD_OF_TASK("PAI_RESOURCE",
              "resources of this task: GPUs,CPUs,MEMORY,SHM in MiB",
              resources),
  OLD_ELSEWHERE("PAI_CONTAINER_ID", "identifier of the task"),
  OLD_OF_TASK("PAI_TASK_ROLE_NAME", "task role of this task", role_name),
  OLD_OF_TASK("PAI_TASK_ROLE_INDEX", "index of this task in its role, from 0",
              index),
  OLD_OF_TASK("PAI_TASK_ROLE_NUM", "number of tasks of this role", role_tasks),
  OLD_OF_TASK("PAI_TASK_CPU_NUM", "CPUs of this task", cpus),
  OLD_OF_TASK("PAI_TASK_MEM_MB", "memory of this task in MiB", memory),
  OLD_OF_TASK("PAI_TASK_GPU_NUM", "GPUs of this task", gpus),
  OLD_OF_TASK("PAI_CURRENT_TASK_ROLE_TASK_COUNT",
              "number of tasks of this role", role_tasks),
  OLD_OF_TASK("PAI_CURRENT_TASK_ROLE_CPU_COUNT", "CPUs of this task", cpus),
  OLD_OF_TASK("PAI_CURRENT_TASK_ROLE_MEM_MB", "memory of this task in MiB",
              memory),
  OLD_OF_TASK("PAI_CURRENT_TASK_ROLE_GPU_COUNT", "GPUs of this task", gpus),
  OLD_OF_TASK("PAI_CURRENT_TASK_ROLE_SHM_MB", "size of /dev/shm in MiB", shm),
  OLD_OF_TASK("PAI_CURRENT_TASK_ROLE_MIN_FAILED_TASK_COUNT",
              "number of failed tasks of this role that fails the job",
              min_failed),
  OLD_OF_TASK("PAI_CURRENT_TASK_ROLE_MIN_SUCCEEDED_TASK_COUNT",
              "number of succeeded tasks of this role that completes the job",
              min_succeeded),
  OLD_ELSEWHERE("APP_ID", "identifier of the job"),
  OLD_ELSEWHERE("FRAMEWORK_NAME", "name of the job, as USER~JOB"),
  OLD_ELSEWHERE("HADOOP_USER_NAME", "user who submitted the job"),
  { NULL, NULL, false, false, NULL }
};

/* --- names --------------------------------------------------------------------- */

/* Words of a name that stand for something else, in the order of
 * pai__variable_parts. */
static const char *const words[] = { "{role}", "{index}", "{label}" };

/* Returns the word that begins at a byte of a pattern, or -1. */
static int word_at(const char *pattern, size_t at)
{
  for (int i = 0; pattern[at] == '{' && i < 3; i++)
    if (strncmp(pattern + at, words[i], strlen(words[i])) == 0)
      return i;
  return -1;
}

static bool is_ident(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

typedef struct match {
  const char *name, *end;
  pai__variable_parts *parts;
} match;

static bool fits(const match *m, const char *pattern, size_t at,
                 const char *s);

/* Tries all lengths of the part that word i stands for, shortest first. */
static bool part_fits(const match *m, const char *pattern, size_t at, int i,
                      const char *s)
{
  pai__variable_part *part = &m->parts->part[i];
  size_t after = at + strlen(words[i]);

  if (part->fixed != NULL)
    return (size_t)(m->end - s) >= part->len &&
           memcmp(s, part->fixed, part->len) == 0 &&
           (part->at = (size_t)(s - m->name),
            fits(m, pattern, after, s + part->len));
  for (size_t n = 1; s + n <= m->end; n++) {
    if (i == 1 ? !is_digit(s[n - 1]) : !is_ident(s[n - 1]))
      return false;
    if (fits(m, pattern, after, s + n)) {
      part->at = (size_t)(s - m->name);
      part->len = n;
      return true;
    }
  }
  return false;
}

static bool fits(const match *m, const char *pattern, size_t at, const char *s)
{
  for (; pattern[at] != '\0'; at++, s++) {
    int i = word_at(pattern, at);

    if (i >= 0)
      return part_fits(m, pattern, at, i, s);
    if (s == m->end || *s != pattern[at])
      return false;
  }
  return s == m->end;
}

bool pai__variable_fits(const pai__platform_variable *v, const char *name,
                        size_t len, pai__variable_parts *parts)
{
  match m = { name, name + len, parts };

  return fits(&m, v->name, 0, name);
}

bool pai__variable_has(const pai__platform_variable *v, int part)
{
  for (size_t at = 0; v->name[at] != '\0'; at++)
    if (word_at(v->name, at) == part)
      return true;
  return false;
}

void pai__variable_put_name(pai__buf *out, const pai__platform_variable *v,
                            const char *role, size_t role_len, uint64_t index,
                            const char *label, size_t label_len)
{
  for (size_t at = 0; v->name[at] != '\0';) {
    int i = word_at(v->name, at);

    if (i < 0) {
      pai__buf_char(out, v->name[at++]);
      continue;
    }
    if (i == PAI__VARIABLE_ROLE)
      pai__buf_add(out, role, role_len);
    else if (i == PAI__VARIABLE_INDEX)
      pai__buf_printf(out, "%llu", (unsigned long long)index);
    else
      pai__buf_add(out, label, label_len);
    at += strlen(words[i]);
  }
}
