/*
 * exit_rows.c - table of OpenPAI's exit spec
 *
 * job-spec 5.7, in its order, which is that of trying the patterns; only -1205
 * is moved before -1203, because it could never match after -1204.  Texts for
 * people are this project's own.
 */
#include "job/end/exit.h"

#include "base/base.h"

/* --- recommended actions ------------------------------------------------- */

static const char to_wait[] =
  "Nothing to do: the platform retries the task, a limited number of times.";
static const char to_mend[] =
  "Correct the job as the message says and submit it again.";
static const char to_admin[] = "Report the message to an administrator.";
static const char to_limit[] =
  "Request more time, or save checkpoints and resume from them.";
static const char to_memory[] =
  "Request more memory: --memory, or resourcePerInstance.memoryMB in a file.";
static const char to_image[] =
  "Check that the image exists and that the job may pull it: dockerimage.uri "
  "and dockerimage.auth.";
static const char to_log[] = "Look for the error in the task's output.";
static const char to_shm[] =
  "Request more shared memory: extraContainerOptions.shmMB.";
static const char to_path[] =
  "Install the command in the image or on the machine, or use its full path.";
static const char to_batch[] =
  "Use smaller batches, or request GPUs with more memory.";
static const char to_cuda[] =
  "Use an image whose CUDA and cuDNN fit the machine's driver.";
static const char to_data[] =
  "Check that the files exist, are complete and have the expected format.";
static const char to_module[] =
  "Install the module in the image, or before the program starts.";
static const char to_short_memory[] =
  "If memory was short, request more (--memory, or in a file "
  "resourcePerInstance.memoryMB) or use less. For another attempt set "
  "jobRetryCount.";
static const char to_sender[] = "Find out which process sent the signal. For "
                                "another attempt set jobRetryCount.";
static const char to_ssh[] =
  "Find out why a task did not start, or increase sshbarrierTimeout.";

/* --- patterns ------------------------------------------------------------ */

static const pai__exit_pattern of_minus_1000[] = { { .pod = "(?i)^Evicted$" },
                                                   PAI__NO_PATTERN };
static const pai__exit_pattern of_minus_1001[] = { { .pod = "(?i)^NodeLost$" },
                                                   PAI__NO_PATTERN };
static const pai__exit_pattern of_minus_1002[] = {
  { .pod = "(?i)^OutOf\\S+$" }, PAI__NO_PATTERN
};
static const pai__exit_pattern of_minus_1003[] = {
  { .pod = "(?i)^Preempting$" }, PAI__NO_PATTERN
};
static const pai__exit_pattern of_minus_1004[] = {
  { .pod = "(?i)^DeadlineExceeded$" }, PAI__NO_PATTERN
};
static const pai__exit_pattern of_minus_1005[] = {
  { .pod = "(?i)^Forbidden$" }, PAI__NO_PATTERN
};
static const pai__exit_pattern of_minus_1006[] = {
  { .pod = "(?i)^UnexpectedAdmissionError$" },
  { .pod = "(?i)^UnknownReason$" },
  { .pod = "(?i)^InvalidNodeInfo$" },
  { .pod = "(?i)^UnexpectedPredicateFailureType$" },
  PAI__NO_PATTERN
};
static const pai__exit_pattern of_minus_1300[] = {
  { .name = "(?i)^init$", .reason = "(?i)^OOMKilled$" }, PAI__NO_PATTERN
};
static const pai__exit_pattern of_minus_1200[] = {
  { .reason = "(?i)^OOMKilled$" }, PAI__NO_PATTERN
};
static const pai__exit_pattern of_minus_1201[] = {
  { .reason = "(?i)^ContainerCannotRun$", .exit = 125 }, PAI__NO_PATTERN
};
static const pai__exit_pattern of_minus_1202[] = {
  { .reason = "(?i)^ContainerCannotRun$", .exit = 126 }, PAI__NO_PATTERN
};
static const pai__exit_pattern of_minus_1203[] = {
  { .reason = "(?i)^ContainerCannotRun$", .exit = 127 },
  { .reason = "(?i)^ContainerCannotRun$",
    .exit = 128,
    .message = "(?mi).*(not found|cannot find|no such).*" },
  PAI__NO_PATTERN
};
static const pai__exit_pattern of_minus_1204[] = {
  { .reason = "(?i)^ContainerCannotRun$", .exit = 128 }, PAI__NO_PATTERN
};
static const pai__exit_pattern of_minus_1205[] = {
  { .reason = "(?i)^ContainerCannotRun$",
    .exit = 128,
    .message =
      "(?mi).*(nvidia-container-cli: device error: unknown device id).*" },
  PAI__NO_PATTERN
};
static const pai__exit_pattern of_128[] = { { .ecc = true }, PAI__NO_PATTERN };
static const pai__exit_pattern of_130[] = { { .exit = 130 }, PAI__NO_PATTERN };
static const pai__exit_pattern of_131[] = { { .exit = 131 }, PAI__NO_PATTERN };
static const pai__exit_pattern of_132[] = { { .exit = 132 }, PAI__NO_PATTERN };
static const pai__exit_pattern of_134[] = { { .exit = 134 }, PAI__NO_PATTERN };
static const pai__exit_pattern of_135[] = { { .exit = 135 }, PAI__NO_PATTERN };
static const pai__exit_pattern of_136[] = { { .exit = 136 }, PAI__NO_PATTERN };
static const pai__exit_pattern of_137[] = { { .exit = 137 }, PAI__NO_PATTERN };
static const pai__exit_pattern of_139[] = { { .exit = 139 }, PAI__NO_PATTERN };
static const pai__exit_pattern of_141[] = { { .exit = 141 }, PAI__NO_PATTERN };
static const pai__exit_pattern of_143[] = { { .exit = 143 }, PAI__NO_PATTERN };
static const pai__exit_pattern of_220[] = {
  { .exit = 127, .user = "(?i)command not found" }, PAI__NO_PATTERN
};
static const pai__exit_pattern of_221[] = {
  { .user = "(?mi)tensorflow.*ResourceExhaustedError.*OOM.*" },
  { .user = "(?i)ran out of memory trying to allocate" },
  PAI__NO_PATTERN
};
static const pai__exit_pattern of_222[] = {
  { .user = "(?mi)Signal code: Address not mapped.*" }, PAI__NO_PATTERN
};
static const pai__exit_pattern of_223[] = {
  { .user = "(?mi)CUDA_ERROR_ECC_UNCORRECTABLE.*" }, PAI__NO_PATTERN
};
static const pai__exit_pattern of_224[] = {
  { .user =
      "(?i)cuda driver version is insufficient for cuda runtime version" },
  PAI__NO_PATTERN
};
static const pai__exit_pattern of_225[] = {
  { .user = "(?i)dropout supported only in cudnn v" }, PAI__NO_PATTERN
};
static const pai__exit_pattern of_226[] = {
  { .user = "(?i)cuda runtime error (2) : out of memory" }, PAI__NO_PATTERN
};
static const pai__exit_pattern of_228[] = {
  { .user = "(?i)unknown option" },
  { .user = "(?i)typeerror: dynamic_rnn() got multiple values for keyword "
            "argument" },
  { .user = "(?mi)bad argument #2 to .*" },
  { .user = "(?i)invalid argument:" },
  { .user = "(?i)option -start_symbol has no default value" },
  PAI__NO_PATTERN
};
static const pai__exit_pattern of_229[] = {
  { .user = "(?i)perhaps your file is in a different file format" },
  { .user = "(?i)bash: bd5/bd5_bar-train.ids" },
  { .user = "(?i)exception occurred: error opening file" },
  { .user = "(?i)filenotfounderror: [errno 2] no such file or directory" },
  { .user = "(?i)unicodeencodeerror:" },
  { .user = "(?i)unicodedecodeerror" },
  { .user = "(?i)exception: unknown text header name" },
  { .user = "(?i)exception: unknown label header name" },
  { .user = "(?i)eoferror: ran out of input" },
  { .user = "(?mi)utils.lua:.*input/output error" },
  { .user = "(?mi)tensorflow.python.framework.errors.unknownerror:.*input/"
            "output error" },
  { .user = "(?mi)cp: failed to close.*input/output error" },
  { .user = "(?mi)exception occurred:.* Input/output error" },
  PAI__NO_PATTERN
};
static const pai__exit_pattern of_230[] = {
  { .user = "(?i)ValueError: Restore called with invalid save path" },
  PAI__NO_PATTERN
};
static const pai__exit_pattern of_231[] = {
  { .user = "(?i)syntaxerror: invalid syntax" },
  { .user = "(?i)unpicklingerror" },
  { .user = "(?i)assign requires shapes of both tensors to match" },
  { .user = "(?mi)torch/install/share/lua.*c.* exception" },
  { .user = "(?mi)attributeerror:.*has no attribute" },
  { .user = "(?mi)nameerror: name.* is not defined" },
  PAI__NO_PATTERN
};
static const pai__exit_pattern of_232[] = { { .user = "(?mi)importerror:.*" },
                                            PAI__NO_PATTERN };
static const pai__exit_pattern of_233[] = {
  { .user = "(?mi)indexerror:.*index out of range" }, PAI__NO_PATTERN
};
static const pai__exit_pattern of_234[] = {
  { .user = "(?i)segmentation fault" }, PAI__NO_PATTERN
};
static const pai__exit_pattern of_235[] = { { .user = "(?i)core dumped" },
                                            PAI__NO_PATTERN };
static const pai__exit_pattern of_249[] = {
  { .exit = 10, .platform = "SSH barrier reaches max retry count" },
  PAI__NO_PATTERN
};

/* --- the rows ------------------------------------------------------------ */

const pai__exit pai__exit_rows[] = {
  { 0, PAI__EXIT_UNKNOWN, "Succeeded", "USER_CONTAINER", "USER_CONTAINER",
    "USER_SUCCESS", "COMPLETING", "The command exited with code 0.", NULL,
    NULL },
  { -100, PAI__EXIT_TRANSIENT, "ConfigMapExternalDeleted", "PAI_FC",
    "PAI_UNKNOWN", "PLATFORM_FAILURE", "UNKNOWN",
    "The ConfigMap of the attempt was removed.", to_wait, NULL },
  { -101, PAI__EXIT_TRANSIENT, "PodExternalDeleted", "PAI_FC", "PAI_UNKNOWN",
    "PLATFORM_FAILURE", "UNKNOWN",
    "The task's pod was removed, or the task no longer existed.", to_wait,
    NULL },
  { -110, PAI__EXIT_TRANSIENT, "ConfigMapLocalCacheCreationTimeout", "PAI_FC",
    "PAI_UNKNOWN", "PLATFORM_FAILURE", "LAUNCHING",
    "The attempt's ConfigMap was created but never observed.", to_wait, NULL },
  { -111, PAI__EXIT_TRANSIENT, "PodLocalCacheCreationTimeout", "PAI_FC",
    "PAI_UNKNOWN", "PLATFORM_FAILURE", "LAUNCHING",
    "The task was told to start but did not.", to_wait, NULL },
  { -120, PAI__EXIT_TRANSIENT, "PodCreationTransientError", "PAI_FC",
    "PAI_UNKNOWN", "PLATFORM_FAILURE", "LAUNCHING",
    "The task could not be started this time.", to_wait, NULL },
  { -200, PAI__EXIT_PERMANENT, "PodCreationPermanentError", "PAI_FC",
    "USER_SUBMISSION", "USER_FAILURE", "SUBMITTING",
    "The task cannot be started: its description is invalid.", to_mend, NULL },
  { -210, PAI__EXIT_PERMANENT, "StopFrameworkRequested", "PAI_FC", "USER_STOP",
    "USER_STOP", "UNKNOWN", "The job's owner or an administrator stopped it.",
    NULL, NULL },
  { -220, PAI__EXIT_PERMANENT, "FrameworkAttemptCompletion", "PAI_FC",
    "USER_STOP", "USER_STOP", "UNKNOWN",
    "The job ended while this task was still running.", NULL, NULL },
  { -230, PAI__EXIT_PERMANENT, "DeleteTaskRequested", "PAI_FC",
    "USER_SCALEDOWN", "USER_STOP", "UNKNOWN",
    "The task's role was scaled down.", NULL, NULL },
  { -300, PAI__EXIT_UNKNOWN, "PodFailedWithoutFailedContainer", "PAI_FC",
    "UNKNOWN", "UNKNOWN_FAILURE", "LAUNCHING",
    "The node rejected the task before any of its containers ran.", to_admin,
    NULL },
  { -310, PAI__EXIT_UNKNOWN, "PodCreationUnknownError", "PAI_FC", "UNKNOWN",
    "UNKNOWN_FAILURE", "LAUNCHING",
    "The task could not be started, for an unknown reason.", to_admin, NULL },
  { -1000, PAI__EXIT_TRANSIENT, "PodEvicted", "PAI_K8S", "PAI_K8S",
    "PLATFORM_FAILURE", "RUNNING",
    "The node was short of resources and evicted the task.", to_wait,
    of_minus_1000 },
  { -1001, PAI__EXIT_TRANSIENT, "PodNodeLost", "PAI_K8S", "PAI_K8S",
    "PLATFORM_FAILURE", "RUNNING", "The node was lost or restarted.", to_wait,
    of_minus_1001 },
  { -1002, PAI__EXIT_TRANSIENT, "PodScheduledToInsufficientResourceNode",
    "PAI_K8S", "PAI_K8S", "PLATFORM_FAILURE", "LAUNCHING",
    "The node had less free capacity than expected.", to_wait, of_minus_1002 },
  { -1003, PAI__EXIT_TRANSIENT, "PodPreemptedForCriticalPod", "PAI_K8S",
    "PAI_K8S", "PLATFORM_FAILURE", "RUNNING",
    "A critical task of the node took the capacity.", to_wait, of_minus_1003 },
  { -1004, PAI__EXIT_PERMANENT, "PodDeadlineExceeded", "PAI_K8S", "USER_STOP",
    "USER_STOP", "RUNNING", "The job exceeded its time limit.", to_limit,
    of_minus_1004 },
  { -1005, PAI__EXIT_PERMANENT, "PodNodeAdmissionForbidden", "PAI_K8S",
    "USER_SUBMISSION", "USER_FAILURE", "LAUNCHING",
    "The node does not allow such a task.", to_mend, of_minus_1005 },
  { -1006, PAI__EXIT_TRANSIENT, "PodNodeAdmissionUnexpectedError", "PAI_K8S",
    "PAI_K8S", "PLATFORM_FAILURE", "LAUNCHING",
    "The node could not accept the task in time.", to_wait, of_minus_1006 },
  { -1100, PAI__EXIT_PERMANENT, "CreateFrameworkPermanentFailed",
    "PAI_DB_CONTROLLER", "USER_SUBMISSION", "USER_FAILURE", "SUBMITTING",
    "The job was accepted but then rejected at its creation.", to_mend, NULL },
  { -1300, PAI__EXIT_TRANSIENT, "InitContainerDockerOOMKilled", "PAI_DOCKER",
    "PAI_RUNTIME", "PLATFORM_FAILURE", "LAUNCHING",
    "The preparation of the task ran out of memory.", to_admin,
    of_minus_1300 },
  { -1200, PAI__EXIT_PERMANENT, "UserContainerDockerOOMKilled", "PAI_DOCKER",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "The task used more memory than it requested.", to_memory, of_minus_1200 },
  { -1201, PAI__EXIT_UNKNOWN, "ContainerDockerCreationError", "PAI_DOCKER",
    "UNKNOWN", "UNKNOWN_FAILURE", "LAUNCHING",
    "The container could not be created.", to_image, of_minus_1201 },
  { -1202, PAI__EXIT_PERMANENT, "ContainerDockerStartCmdPermissionDenied",
    "PAI_DOCKER", "PAI_RUNTIME", "PLATFORM_FAILURE", "LAUNCHING",
    "The container's first command is not executable.", to_admin,
    of_minus_1202 },
  { -1205, PAI__EXIT_TRANSIENT, "ContainerGpuDeviceNotFoundError",
    "PAI_DOCKER", "PAI_HW", "PLATFORM_FAILURE", "LAUNCHING",
    "A GPU of the task is not on the node.", to_admin, of_minus_1205 },
  { -1203, PAI__EXIT_PERMANENT, "ContainerDockerStartCmdNotFound",
    "PAI_DOCKER", "PAI_RUNTIME", "PLATFORM_FAILURE", "LAUNCHING",
    "The container's first command was not found.", to_admin, of_minus_1203 },
  { -1204, PAI__EXIT_UNKNOWN, "ContainerDockerStartUnknownError", "PAI_DOCKER",
    "UNKNOWN", "UNKNOWN_FAILURE", "LAUNCHING",
    "The container could not be started.", to_image, of_minus_1204 },
  { 128, PAI__EXIT_UNKNOWN, "ContainerMayFailDueToGpuDeviceEccError",
    "USER_CONTAINER", "PAI_HW", "PLATFORM_FAILURE", "RUNNING",
    "A GPU of the node has uncorrectable memory errors, which may be the "
    "cause.",
    to_admin, of_128 },
  { 130, PAI__EXIT_TRANSIENT, "ContainerSigIntReceived", "PAI_OS", "PAI_OS",
    "PLATFORM_FAILURE", "RUNNING", "The command was ended by SIGINT.", to_wait,
    of_130 },
  { 131, PAI__EXIT_TRANSIENT, "ContainerSigQuitReceived", "PAI_OS", "PAI_OS",
    "PLATFORM_FAILURE", "RUNNING", "The command was ended by SIGQUIT.",
    to_wait, of_131 },
  { 132, PAI__EXIT_PERMANENT, "ContainerSigIllReceived", "USER_CONTAINER",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "The command was ended by SIGILL: it has instructions that this processor "
    "does not support.",
    to_log, of_132 },
  { 134, PAI__EXIT_UNKNOWN, "ContainerSigAbrtReceived", "USER_CONTAINER",
    "UNKNOWN", "UNKNOWN_FAILURE", "RUNNING",
    "The command was ended by SIGABRT: it aborted itself.", to_log, of_134 },
  { 135, PAI__EXIT_PERMANENT, "ContainerSigBusReceived", "USER_CONTAINER",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "The command was ended by SIGBUS, possibly for lack of shared memory.",
    to_shm, of_135 },
  { 136, PAI__EXIT_PERMANENT, "ContainerSigFpeReceived", "USER_CONTAINER",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "The command was ended by SIGFPE: an arithmetic error such as a division "
    "by zero.",
    to_log, of_136 },
  { 137, PAI__EXIT_TRANSIENT, "ContainerSigKillReceived", "PAI_OS", "PAI_OS",
    "PLATFORM_FAILURE", "RUNNING", "The command was ended by SIGKILL.",
    to_wait, of_137 },
  { 139, PAI__EXIT_UNKNOWN, "ContainerSigSegvReceived", "USER_CONTAINER",
    "UNKNOWN", "UNKNOWN_FAILURE", "RUNNING",
    "The command was ended by SIGSEGV: an invalid memory access.", to_log,
    of_139 },
  { 141, PAI__EXIT_PERMANENT, "ContainerSigPipeReceived", "USER_CONTAINER",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "The command was ended by SIGPIPE: nothing reads its output.", to_log,
    of_141 },
  { 143, PAI__EXIT_TRANSIENT, "ContainerSigTermReceived", "PAI_OS", "PAI_OS",
    "PLATFORM_FAILURE", "RUNNING", "The command was ended by SIGTERM.",
    to_wait, of_143 },
  { 220, PAI__EXIT_PERMANENT, "UserCommandExitWithError", "USER_CONTAINER",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING", "A command was not found.",
    to_path, of_220 },
  { 221, PAI__EXIT_PERMANENT, "ContainerTensorflowOOMKilled", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "TensorFlow ran out of memory.", to_batch, of_221 },
  { 222, PAI__EXIT_PERMANENT, "ContainerMPISegvFault", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "An MPI process accessed unmapped memory.", to_log, of_222 },
  { 223, PAI__EXIT_TRANSIENT, "ContainerCudaUncorrectableECCError",
    "PAI_RUNTIME", "PAI_HW", "PLATFORM_FAILURE", "RUNNING",
    "CUDA found uncorrectable memory errors of a GPU.", to_wait, of_223 },
  { 224, PAI__EXIT_PERMANENT, "ContainerCudaVersionMismatch", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "The GPU's driver is too old for this version of CUDA.", to_cuda, of_224 },
  { 225, PAI__EXIT_PERMANENT, "ContainerCudaDnnVersionMismatch", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "The version of cuDNN does not match the framework.", to_cuda, of_225 },
  { 226, PAI__EXIT_PERMANENT, "ContainerCudaOOMKilled", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "The GPU's memory was exhausted.", to_batch, of_226 },
  { 228, PAI__EXIT_PERMANENT, "ContainerIncorrectParameterError",
    "PAI_RUNTIME", "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "A program was called with an unknown argument.", to_log, of_228 },
  { 229, PAI__EXIT_PERMANENT, "ContainerIncorrectDataModelError",
    "PAI_RUNTIME", "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "Data or a model could not be read or had an unexpected format.", to_data,
    of_229 },
  { 230, PAI__EXIT_PERMANENT, "ContainerInvalidSavePath", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "The model cannot be restored from the given path.", to_data, of_230 },
  { 231, PAI__EXIT_PERMANENT, "ContainerSyntaxError", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "The program has an error that Python or Lua found at run time.", to_log,
    of_231 },
  { 232, PAI__EXIT_PERMANENT, "ContainerImportError", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "A Python module could not be imported.", to_module, of_232 },
  { 233, PAI__EXIT_PERMANENT, "ContainerIndexOutOfRange", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING", "An index was out of range.",
    to_log, of_233 },
  { 234, PAI__EXIT_PERMANENT, "ContainerSigvFault", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "A process accessed invalid memory.", to_log, of_234 },
  { 235, PAI__EXIT_PERMANENT, "ContainerEngineCoreDump", "PAI_RUNTIME",
    "USER_CONTAINER", "USER_FAILURE", "RUNNING",
    "A process crashed and dumped its memory.", to_log, of_235 },
  { 249, PAI__EXIT_PERMANENT, "PAIRuntimeSSHBarrierTimeout", "PAI_RUNTIME",
    "PAI_RUNTIME", "PLATFORM_FAILURE", "RUNNING",
    "Not all tasks were reachable by ssh in time.", to_ssh, of_249 },
  { 250, PAI__EXIT_TRANSIENT, "FrameworkBarrierTransientFailed", "PAI_RUNTIME",
    "PAI_RUNTIME", "PLATFORM_FAILURE", "LAUNCHING",
    "Waiting for the other tasks failed this time.", to_wait, NULL },
  { 251, PAI__EXIT_CONFLICT, "JobGangAllocationTimeout", "PAI_RUNTIME",
    "RESOURCE_ALLOCATION_TIMEOUT", "RESOURCE_ALLOCATION_TIMEOUT", "ALLOCATING",
    "There was not enough free capacity for all tasks at the same time.",
    to_wait, NULL },
  { 252, PAI__EXIT_PERMANENT, "FrameworkBarrierPermanentFailed", "PAI_RUNTIME",
    "PAI_RUNTIME", "PLATFORM_FAILURE", "LAUNCHING",
    "Waiting for the other tasks failed for good.", to_admin, NULL },
  { 253, PAI__EXIT_TRANSIENT, "ContainerPortConflict", "PAI_RUNTIME",
    "PAI_RUNTIME", "PLATFORM_FAILURE", "LAUNCHING",
    "A port of the task is used by another program.", to_wait, NULL },
  { 254, PAI__EXIT_PERMANENT, "ContainerImageNotExists", "PAI_RUNTIME",
    "PAI_RUNTIME", "USER_FAILURE", "LAUNCHING",
    "The image does not exist, or the job may not pull it.", to_image, NULL },
  { 255, PAI__EXIT_UNKNOWN, "PAIRuntimeUnknownFailed", "PAI_RUNTIME",
    "UNKNOWN", "UNKNOWN_FAILURE", "UNKNOWN",
    "The command failed for a reason that its output does not show.", to_log,
    NULL },
  { -8000, PAI__EXIT_UNKNOWN, "ContainerUndefinedNegativeExitCode", "UNKNOWN",
    "UNKNOWN", "UNKNOWN_FAILURE", "UNKNOWN",
    "The platform ended the task with an unknown code.", to_admin, NULL },
  { 256, PAI__EXIT_UNKNOWN, "PAIRuntimeExitAbnormally", "PAI_RUNTIME",
    "PAI_RUNTIME", "PLATFORM_FAILURE", "UNKNOWN",
    "The task's runtime failed for an unknown reason, or the code is unknown.",
    to_admin, NULL },
};

const size_t pai__exit_count = PAI__LEN(pai__exit_rows);

/* The exit spec attributes these signals to the platform and retries without
 * limit.  If the platform sent none, they are ordinary failures. */
#define OWN_SIGNAL(code, phrase, why, cure, patterns)                        \
  {                                                                          \
    code, PAI__EXIT_UNKNOWN, phrase, "PAI_OS", "UNKNOWN", "UNKNOWN_FAILURE", \
      "RUNNING", why, cure, patterns                                         \
  }

const pai__exit pai__exit_own_rows[] = {
  OWN_SIGNAL(130, "ContainerSigIntReceived",
             "The command was ended by SIGINT, which the platform did not "
             "send.",
             to_sender, of_130),
  OWN_SIGNAL(131, "ContainerSigQuitReceived",
             "The command was ended by SIGQUIT, which the platform did not "
             "send.",
             to_sender, of_131),
  OWN_SIGNAL(137, "ContainerSigKillReceived",
             "The command was killed by SIGKILL, which the platform did not "
             "send. Either a process of the user sent it, or the kernel when "
             "memory was short.",
             to_short_memory, of_137),
  OWN_SIGNAL(143, "ContainerSigTermReceived",
             "The command was ended by SIGTERM, which the platform did not "
             "send.",
             to_sender, of_143),
  { -240, PAI__EXIT_PERMANENT, "TimeLimitReached", "PAI_FC", "USER_SUBMISSION",
    "USER_FAILURE", "RUNNING",
    "The job reached its time limit and was stopped.",
    "Submit it again with a longer --time, or extras.openpai.timeLimit.",
    NULL },
  { -250, PAI__EXIT_PERMANENT, "DependencyNeverSatisfied", "PAI_FC",
    "USER_SUBMISSION", "USER_FAILURE", "SUBMITTING",
    "A job that this job depends on did not end as required.",
    "Submit this job again when the other job has succeeded, or use --after "
    "JOB:ended.",
    NULL },
};

const size_t pai__exit_own_count = PAI__LEN(pai__exit_own_rows);
