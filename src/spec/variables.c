/* variables.c - environment variables that the platform sets for commands:
 * job-spec 3.1 to 3.4, 5.8 */
#include "spec/variables.h"

#include <string.h>

const pai__platform_variable pai__platform_variables[] = {
  /* the task */
  { "PAI_CURRENT_TASK_ROLE_NAME", "task role of this task", false },
  { "PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX",
    "index of this task in its role, from 0", false },
  { "PAI_TASK_INDEX", "index of this task in its role, from 0", false },
  { "PAI_CURRENT_CONTAINER_IP", "address of this task", false },
  { "PAI_CURRENT_CONTAINER_PORT", "first http port of this task", false },
  { "PAI_CONTAINER_HOST_IP", "address of this task", false },
  { "PAI_CONTAINER_HOST_PORT", "first http port of this task", false },
  { "PAI_CONTAINER_SSH_PORT", "first ssh port of this task", false },
  { "PAI_CONTAINER_HOST_{label}_PORT_LIST",
    "ports of this task with that label, separated by commas", false },
  { "PAI_CONTAINER_HOST_PORT_LIST",
    "all ports of this task, as LABEL:PORT,PORT;", false },
  { "PAI_WORK_DIR", "folder in which the commands begin", false },
  { "CUDA_VISIBLE_DEVICES", "GPUs of this task, separated by commas", false },
  { "NVIDIA_VISIBLE_DEVICES",
    "GPUs of this task, separated by commas; none: it has no GPU", false },
  { "RUNTIME_LOG_PIPE", "file for messages about the task", false },
  /* all tasks */
  { "PAI_HOST_IP_{role}_{index}", "address of a task", false },
  { "PAI_PORT_LIST_{role}_{index}_{label}",
    "ports of a task with that label, separated by commas", false },
  { "PAI_{role}_{index}_{label}_PORT",
    "ports of a task with that label, separated by commas", false },
  { "PAI_TASK_ROLE_{role}_HOST_LIST",
    "tasks of a role as ADDRESS:PORT, with their first http port", false },
  { "PAI_TASK_ROLE_INSTANCES", "all tasks of the job, as ROLE:INDEX", false },
  /* task roles */
  { "PAI_TASK_ROLE_TASK_COUNT_{role}", "number of tasks of a role", false },
  { "PAI_RESOURCE_{role}",
    "resources of each task of a role: GPUs,CPUs,MEMORY,SHM in MiB", false },
  { "PAI_MIN_FAILED_TASK_COUNT_{role}",
    "number of failed tasks of a role that fails the job", false },
  { "PAI_MIN_SUCCEEDED_TASK_COUNT_{role}",
    "number of succeeded tasks of a role that completes the job", false },
  { "PAI_TASK_ROLE_LIST", "names of the task roles, separated by commas",
    false },
  { "PAI_TASK_ROLE_COUNT", "number of task roles", false },
  /* the job */
  { "PAI_JOB_NAME", "name of the job, as USER~JOB", false },
  { "PAI_USER_NAME", "user who submitted the job", false },
  { "PAI_VIRTUAL_CLUSTER", "virtual cluster of the job", false },
  { "PAI_JOB_TASK_COUNT", "number of tasks of the job", false },
  { "PAI_FRAMEWORK_NAME", "name of the job, as USER~JOB", false },
  { "PAI_USERNAME", "user who submitted the job", false },
  { "PAI_DEFAULT_FS_URI", "empty; for old jobs", false },
  { "PAI_TASK_ROLES_NUM", "number of task roles", false },
  { "PAI_JOB_TASK_ROLE_COUNT", "number of task roles", false },
  { "PAI_JOB_TASK_ROLE_LIST", "names of the task roles, separated by commas",
    false },
  { "PAI_TASKS_NUM", "number of tasks of the job", false },
  /* FrameworkController */
  { "FC_FRAMEWORK_NAMESPACE", "default", false },
  { "FC_FRAMEWORK_NAME", "identifier of the job", false },
  { "FC_FRAMEWORK_UID", "identifier of the job", false },
  { "FC_FRAMEWORK_ATTEMPT_ID", "number of this attempt of the job, from 0",
    false },
  { "FC_FRAMEWORK_ATTEMPT_INSTANCE_UID", "identifier of this attempt", false },
  { "FC_CONFIGMAP_NAME", "identifier of this attempt", false },
  { "FC_CONFIGMAP_UID", "identifier of this attempt", false },
  { "FC_TASKROLE_NAME", "task role of this task, in small letters", false },
  { "FC_TASKROLE_UID", "identifier of the task role", false },
  { "FC_TASK_INDEX", "index of this task in its role, from 0", false },
  { "FC_TASK_UID", "identifier of the task", false },
  { "FC_TASK_ATTEMPT_ID", "number of this attempt of the task, from 0",
    false },
  { "FC_TASK_ATTEMPT_INSTANCE_UID", "identifier of this attempt of the task",
    false },
  { "FC_POD_NAME", "identifier of the task", false },
  { "FC_POD_UID", "identifier of this attempt of the task", false },
  /* of job config v1 */
  { "PAI_DATA_DIR", "dataDir", true },
  { "PAI_CODE_DIR", "codeDir", true },
  { "PAI_OUTPUT_DIR", "outputDir", true },
  { "PAI_RESOURCE", "resources of this task: GPUs,CPUs,MEMORY,SHM in MiB",
    true },
  { "PAI_CONTAINER_ID", "identifier of the task", true },
  { "PAI_TASK_ROLE_NAME", "task role of this task", true },
  { "PAI_TASK_ROLE_INDEX", "index of this task in its role, from 0", true },
  { "PAI_TASK_ROLE_NUM", "number of tasks of this role", true },
  { "PAI_TASK_CPU_NUM", "CPUs of this task", true },
  { "PAI_TASK_MEM_MB", "memory of this task in MiB", true },
  { "PAI_TASK_GPU_NUM", "GPUs of this task", true },
  { "PAI_CURRENT_TASK_ROLE_TASK_COUNT", "number of tasks of this role", true },
  { "PAI_CURRENT_TASK_ROLE_CPU_COUNT", "CPUs of this task", true },
  { "PAI_CURRENT_TASK_ROLE_MEM_MB", "memory of this task in MiB", true },
  { "PAI_CURRENT_TASK_ROLE_GPU_COUNT", "GPUs of this task", true },
  { "PAI_CURRENT_TASK_ROLE_SHM_MB", "size of /dev/shm in MiB", true },
  { "PAI_CURRENT_TASK_ROLE_MIN_FAILED_TASK_COUNT",
    "number of failed tasks of this role that fails the job", true },
  { "PAI_CURRENT_TASK_ROLE_MIN_SUCCEEDED_TASK_COUNT",
    "number of succeeded tasks of this role that completes the job", true },
  { "APP_ID", "identifier of the job", true },
  { "FRAMEWORK_NAME", "name of the job, as USER~JOB", true },
  { "HADOOP_USER_NAME", "user who submitted the job", true },
  { NULL, NULL, false }
};

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
