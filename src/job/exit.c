/*
 * exit.c - OpenPAI's exit spec as data
 *
 * job-spec 5.7, in its order.  Which code a container's end is given is found
 * elsewhere: here is what the codes mean once they are known.
 */
#include "job/exit.h"

#include "base/base.h"

static const pai__exit rows[] = {
  { 0, PAI__EXIT_UNKNOWN, "Succeeded", "USER_CONTAINER", "USER_CONTAINER",
    "USER_SUCCESS", "COMPLETING" },
  { -100, PAI__EXIT_TRANSIENT, "ConfigMapExternalDeleted", "PAI_FC",
    "PAI_UNKNOWN", "PLATFORM_FAILURE", "UNKNOWN" },
  { -101, PAI__EXIT_TRANSIENT, "PodExternalDeleted", "PAI_FC", "PAI_UNKNOWN",
    "PLATFORM_FAILURE", "UNKNOWN" },
  { -110, PAI__EXIT_TRANSIENT, "ConfigMapLocalCacheCreationTimeout", "PAI_FC",
    "PAI_UNKNOWN", "PLATFORM_FAILURE", "LAUNCHING" },
  { -111, PAI__EXIT_TRANSIENT, "PodLocalCacheCreationTimeout", "PAI_FC",
    "PAI_UNKNOWN", "PLATFORM_FAILURE", "LAUNCHING" },
  { -120, PAI__EXIT_TRANSIENT, "PodCreationTransientError", "PAI_FC",
    "PAI_UNKNOWN", "PLATFORM_FAILURE", "LAUNCHING" },
  { -200, PAI__EXIT_PERMANENT, "PodCreationPermanentError", "PAI_FC",
    "USER_SUBMISSION", "USER_FAILURE", "SUBMITTING" },
  { -210, PAI__EXIT_PERMANENT, "StopFrameworkRequested", "PAI_FC", "USER_STOP",
    "USER_STOP", "UNKNOWN" },
  { -220, PAI__EXIT_PERMANENT, "FrameworkAttemptCompletion", "PAI_FC",
    "USER_STOP", "USER_STOP", "UNKNOWN" },
  { -230, PAI__EXIT_PERMANENT, "DeleteTaskRequested", "PAI_FC",
    "USER_SCALEDOWN", "USER_STOP", "UNKNOWN" },
  { -300, PAI__EXIT_UNKNOWN, "PodFailedWithoutFailedContainer", "PAI_FC",
    "UNKNOWN", "UNKNOWN_FAILURE", "LAUNCHING" },
  { -310, PAI__EXIT_UNKNOWN, "PodCreationUnknownError", "PAI_FC", "UNKNOWN",
    "UNKNOWN_FAILURE", "LAUNCHING" },
  { -1000, PAI__EXIT_TRANSIENT, "PodEvicted", "PAI_K8S", "PAI_K8S",
    "PLATFORM_FAILURE", "RUNNING" },
  { -1001, PAI__EXIT_TRANSIENT, "PodNodeLost", "PAI_K8S", "PAI_K8S",
    "PLATFORM_FAILURE", "RUNNING" },
  { -1002, PAI__EXIT_TRANSIENT, "PodScheduledToInsufficientResourceNode",
    "PAI_K8S", "PAI_K8S", "PLATFORM_FAILURE", "LAUNCHING" },
  { -1003, PAI__EXIT_TRANSIENT, "PodPreemptedForCriticalPod", "PAI_K8S",
    "PAI_K8S", "PLATFORM_FAILURE", "RUNNING" },
  { -1004, PAI__EXIT_PERMANENT, "PodDeadlineExceeded", "PAI_K8S", "USER_STOP",
    "USER_STOP", "RUNNING" },
  { -1005, PAI__EXIT_PERMANENT, "PodNodeAdmissionForbidden", "PAI_K8S",
    "USER_SUBMISSION", "USER_FAILURE", "LAUNCHING" },
  { -1006, PAI__EXIT_TRANSIENT, "PodNodeAdmissionUnexpectedError", "PAI_K8S",
    "PAI_K8S", "PLATFORM_FAILURE", "LAUNCHING" },
  { -1100, PAI__EXIT_PERMANENT, "CreateFrameworkPermanentFailed",
    "PAI_DB_CONTROLLER", "USER_SUBMISSION", "USER_FAILURE", "SUBMITTING" },
  { -1300, PAI__EXIT_TRANSIENT, "InitContainerDockerOOMKilled", "PAI_DOCKER",
    "PAI_RUNTIME", "PLATFORM_FAILURE", "LAUNCHING" },
  { -1200, PAI__EXIT_PERMANENT, "UserContainerDockerOOMKilled", "PAI_DOCKER",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { -1201, PAI__EXIT_UNKNOWN, "ContainerDockerCreationError", "PAI_DOCKER",
    "UNKNOWN", "UNKNOWN_FAILURE", "LAUNCHING" },
  { -1202, PAI__EXIT_PERMANENT, "ContainerDockerStartCmdPermissionDenied",
    "PAI_DOCKER", "PAI_RUNTIME", "PLATFORM_FAILURE", "LAUNCHING" },
  { -1203, PAI__EXIT_PERMANENT, "ContainerDockerStartCmdNotFound",
    "PAI_DOCKER", "PAI_RUNTIME", "PLATFORM_FAILURE", "LAUNCHING" },
  { -1204, PAI__EXIT_UNKNOWN, "ContainerDockerStartUnknownError", "PAI_DOCKER",
    "UNKNOWN", "UNKNOWN_FAILURE", "LAUNCHING" },
  { -1205, PAI__EXIT_TRANSIENT, "ContainerGpuDeviceNotFoundError",
    "PAI_DOCKER", "PAI_HW", "PLATFORM_FAILURE", "LAUNCHING" },
  { 128, PAI__EXIT_UNKNOWN, "ContainerMayFailDueToGpuDeviceEccError",
    "USER_CONTAINER", "PAI_HW", "PLATFORM_FAILURE", "RUNNING" },
  { 130, PAI__EXIT_TRANSIENT, "ContainerSigIntReceived", "PAI_OS", "PAI_OS",
    "PLATFORM_FAILURE", "RUNNING" },
  { 131, PAI__EXIT_TRANSIENT, "ContainerSigQuitReceived", "PAI_OS", "PAI_OS",
    "PLATFORM_FAILURE", "RUNNING" },
  { 132, PAI__EXIT_PERMANENT, "ContainerSigIllReceived", "USER_CONTAINER",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 134, PAI__EXIT_UNKNOWN, "ContainerSigAbrtReceived", "USER_CONTAINER",
    "UNKNOWN", "UNKNOWN_FAILURE", "RUNNING" },
  { 135, PAI__EXIT_PERMANENT, "ContainerSigBusReceived", "USER_CONTAINER",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 136, PAI__EXIT_PERMANENT, "ContainerSigFpeReceived", "USER_CONTAINER",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 137, PAI__EXIT_TRANSIENT, "ContainerSigKillReceived", "PAI_OS", "PAI_OS",
    "PLATFORM_FAILURE", "RUNNING" },
  { 139, PAI__EXIT_UNKNOWN, "ContainerSigSegvReceived", "USER_CONTAINER",
    "UNKNOWN", "UNKNOWN_FAILURE", "RUNNING" },
  { 141, PAI__EXIT_PERMANENT, "ContainerSigPipeReceived", "USER_CONTAINER",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 143, PAI__EXIT_TRANSIENT, "ContainerSigTermReceived", "PAI_OS", "PAI_OS",
    "PLATFORM_FAILURE", "RUNNING" },
  { 220, PAI__EXIT_PERMANENT, "UserCommandExitWithError", "USER_CONTAINER",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 221, PAI__EXIT_PERMANENT, "ContainerTensorflowOOMKilled", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 222, PAI__EXIT_PERMANENT, "ContainerMPISegvFault", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 223, PAI__EXIT_TRANSIENT, "ContainerCudaUncorrectableECCError",
    "PAI_RUNTIME", "PAI_HW", "PLATFORM_FAILURE", "RUNNING" },
  { 224, PAI__EXIT_PERMANENT, "ContainerCudaVersionMismatch", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 225, PAI__EXIT_PERMANENT, "ContainerCudaDnnVersionMismatch", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 226, PAI__EXIT_PERMANENT, "ContainerCudaOOMKilled", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 228, PAI__EXIT_PERMANENT, "ContainerIncorrectParameterError",
    "PAI_RUNTIME", "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 229, PAI__EXIT_PERMANENT, "ContainerIncorrectDataModelError",
    "PAI_RUNTIME", "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 230, PAI__EXIT_PERMANENT, "ContainerInvalidSavePath", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 231, PAI__EXIT_PERMANENT, "ContainerSyntaxError", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 232, PAI__EXIT_PERMANENT, "ContainerImportError", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 233, PAI__EXIT_PERMANENT, "ContainerIndexOutOfRange", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 234, PAI__EXIT_PERMANENT, "ContainerSigvFault", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 235, PAI__EXIT_PERMANENT, "ContainerEngineCoreDump", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING" },
  { 249, PAI__EXIT_PERMANENT, "PAIRuntimeSSHBarrierTimeout", "PAI_RUNTIME",
    "PAI_RUNTIME", "PLATFORM_FAILURE", "RUNNING" },
  { 250, PAI__EXIT_TRANSIENT, "FrameworkBarrierTransientFailed", "PAI_RUNTIME",
    "PAI_RUNTIME", "PLATFORM_FAILURE", "LAUNCHING" },
  { 251, PAI__EXIT_CONFLICT, "JobGangAllocationTimeout", "PAI_RUNTIME",
    "RESOURCE_ALLOCATION_TIMEOUT", "RESOURCE_ALLOCATION_TIMEOUT",
    "ALLOCATING" },
  { 252, PAI__EXIT_PERMANENT, "FrameworkBarrierPermanentFailed", "PAI_RUNTIME",
    "PAI_RUNTIME", "PLATFORM_FAILURE", "LAUNCHING" },
  { 253, PAI__EXIT_TRANSIENT, "ContainerPortConflict", "PAI_RUNTIME",
    "PAI_RUNTIME", "PLATFORM_FAILURE", "LAUNCHING" },
  { 254, PAI__EXIT_PERMANENT, "ContainerImageNotExists", "PAI_RUNTIME",
    "PAI_RUNTIME", "USER_FAILURE", "LAUNCHING" },
  { 255, PAI__EXIT_UNKNOWN, "PAIRuntimeUnknownFailed", "PAI_RUNTIME",
    "UNKNOWN", "UNKNOWN_FAILURE", "UNKNOWN" },
  { -8000, PAI__EXIT_UNKNOWN, "ContainerUndefinedNegativeExitCode", "UNKNOWN",
    "UNKNOWN", "UNKNOWN_FAILURE", "UNKNOWN" },
  { 256, PAI__EXIT_UNKNOWN, "PAIRuntimeExitAbnormally", "PAI_RUNTIME",
    "PAI_RUNTIME", "PLATFORM_FAILURE", "UNKNOWN" },
};

enum { UNDEFINED_NEGATIVE = -8000, UNDEFINED_POSITIVE = 256 };

const pai__exit *pai__exit_rows(size_t *n)
{
  *n = PAI__LEN(rows);
  return rows;
}

/* Few ask, and only of failures: they are looked through. */
static const pai__exit *find(int code)
{
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    if (rows[i].code == code)
      return &rows[i];
  return NULL;
}

const pai__exit *pai__exit_find(int code)
{
  const pai__exit *row = find(code);

  if (row == NULL)
    row = find(code > 0 ? UNDEFINED_POSITIVE : UNDEFINED_NEGATIVE);
  return row;
}

const char *pai__exit_behavior(const pai__exit *e)
{
  static const char *const names[] = {
    [PAI__EXIT_UNKNOWN] = "UNKNOWN",
    [PAI__EXIT_TRANSIENT] = "TRANSIENT",
    [PAI__EXIT_CONFLICT] = "TRANSIENT_CONFLICT",
    [PAI__EXIT_PERMANENT] = "PERMANENT",
  };

  return names[e->class];
}

const char *pai__exit_reaction(const pai__exit *e)
{
  static const char *const names[] = {
    [PAI__EXIT_UNKNOWN] = "RETRY_TO_MAX",
    [PAI__EXIT_TRANSIENT] = "ALWAYS_RETRY",
    [PAI__EXIT_CONFLICT] = "ALWAYS_BACKOFF_RETRY",
    [PAI__EXIT_PERMANENT] = "NEVER_RETRY",
  };

  return e->code == 0 ? "NEVER_RETRY" : names[e->class];
}

/* The codes that containers may end with to say so themselves, which are in
 * no row, come first, as FrameworkController's own. */
enum pai__exit_class pai__exit_class(int code, bool raw)
{
  switch (code) {
  case 200: return PAI__EXIT_TRANSIENT;
  case 201: return PAI__EXIT_CONFLICT;
  case 210: return PAI__EXIT_PERMANENT;
  default: break;
  }
  return raw && code > 0 ? PAI__EXIT_UNKNOWN : pai__exit_find(code)->class;
}
