/*
 * failure_rows.c - table of known failures
 *
 * tests/unit/job/test_failure.c has real texts for each.  A pattern begins at
 * the start of the line that ended the program, because logs may also mention
 * an error that was handled.  Groups that go into a command match only plain
 * characters.
 */
#include "job/end/failure.h"

/* The start of a line, after prefixes of PyTorch, MPI, Ray or srun. */
#define LINE "(?m)^(?:\\[\\S+ ?|\\(.*\\) ?|\\d+: ?)?"
/* The name of a Python exception, with its module. */
#define RAISED LINE "[\\w.]*"

#define SIZE "([0-9.]+ .?i?B)"

/* --- cures that several failures share ----------------------------------- */

static const char to_batch[] =
  "Use smaller batches or models, or GPUs with more memory.";
static const char to_fragments[] =
  "Use smaller batches or models, or GPUs with more memory. If much memory is "
  "reserved but unallocated: openpai run -e "
  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True ...";
static const char to_jax[] =
  "Use smaller batches or models. If programs share the GPU: openpai run -e "
  "XLA_PYTHON_CLIENT_PREALLOCATE=false ...";
static const char to_label[] =
  "Look for a label, token or index that is negative or too large. To find "
  "the line: openpai run -e CUDA_LAUNCH_BLOCKING=1 ..., or run it on a CPU.";
static const char to_blocking[] =
  "To find the line that failed: openpai run -e CUDA_LAUNCH_BLOCKING=1 ...";
static const char to_driver[] =
  "Install a build of the framework for an older CUDA (nvidia-smi shows the "
  "newest version that the driver supports), or let an administrator update "
  "the driver.";
static const char to_gpu[] =
  "Request a GPU: openpai run --gpus 1 ..., or resourcePerInstance.gpu in a "
  "job file.";
static const char to_memory[] =
  "Request more memory: openpai run --memory 32G ..., or "
  "resourcePerInstance.memoryMB in a job file; or use less, for example with "
  "fewer data loader workers.";
static const char to_shm[] =
  "Request more shared memory: extraContainerOptions.shmMB of the role in a "
  "job file; or use fewer workers (num_workers).";
static const char to_descriptors[] =
  "Put 'ulimit -n \"$(ulimit -Hn)\"' before the command, or call "
  "torch.multiprocessing.set_sharing_strategy('file_system').";
static const char to_disk[] = "Remove old checkpoints and caches, or write to "
                              "a larger disk: df -h shows the free space.";
static const char to_rights[] =
  "Use a folder of yours, or change its permissions: ls -ld '$1' shows them.";
static const char to_first_line[] =
  "If the script has Windows line ends, convert it: sed -i 's/\\r$//' FILE. "
  "Otherwise correct its first line (#!).";
static const char to_install[] =
  "Install the module where the job runs: pip install $2. If the module is a "
  "file of yours, start the job in its folder, or send the folder with --code "
  "DIR.";
static const char to_system[] =
  "Use an image or a node with a newer system, or build the program on the "
  "system where it runs.";
static const char to_network[] =
  "Check that tasks reach the network: openpai run -- getent hosts $1. "
  "Behind a proxy: openpai run -e HTTPS_PROXY ...; without a network, "
  "download the data before the job.";
static const char to_name[] =
  "Check that tasks reach the network: openpai run -- getent hosts NAME. "
  "Behind a proxy: openpai run -e HTTPS_PROXY ...";
static const char to_processes[] =
  "Start fewer threads: openpai run -e OMP_NUM_THREADS=1 -e "
  "OPENBLAS_NUM_THREADS=1 "
  "..., and fewer workers. 'ulimit -u' shows the limit.";
static const char to_gated[] =
  "Accept the terms at https://huggingface.co/$1, and pass your token: "
  "openpai run -e HF_TOKEN ...";
static const char to_rank[] =
  "Find the task that stopped first in the tasks' logs: openpai logs JOB "
  "--task ROLE/INDEX. If a task is only slow, increase "
  "init_process_group(timeout=...).";
static const char to_nccl[] =
  "To see why: openpai run -e NCCL_DEBUG=INFO ... With several network "
  "interfaces, choose one: -e NCCL_SOCKET_IFNAME=eth0.";
static const char to_port[] =
  "Use a port of the job, such as $PAI_PORT_LIST_ROLE_0_LABEL, or a free "
  "port: torchrun --standalone, or port 0.";
static const char to_path[] =
  "Install the command in the image or on the machine, or use its full path. "
  "To see the environment of tasks: openpai run -- bash -c 'command -v $1; "
  "echo $PATH'";

static const char to_show_tmp[] =
  "Tasks in the sandbox have their own /tmp. To show them a folder of the "
  "machine's /tmp: --folder $1, or extras.openpai.folders in the job file.";

#define NOT_IN_TMP "$1 does not exist."
#define NO_INTERPRETER \
  "The first line of a script has a program that does not exist."

/* --- rows ---------------------------------------------------------------- */

/* A row for any exit code. */
#define ROW(name, pattern, reason, solution) \
  {                                          \
    name, pattern, reason, solution, 0, 0    \
  }

const pai__failure pai__failure_rows[] = {
  { "memory-limit", NULL,
    "The task used more memory than it requested and was killed.", to_memory,
    0, PAI__MEMORY_LIMIT },
  { "memory-short", NULL,
    "The task was killed when its node ran out of memory.", to_memory, 0,
    PAI__MEMORY_SHORT },

  /* GPUs */
  ROW("gpu-out-of-memory",
      RAISED
      "(?:OutOfMemoryError|RuntimeError): (?:CUDA|HIP) out of memory\\. "
      "Tried to allocate " SIZE "\\. GPU (\\d+) has a total capaci?ty of " SIZE
      " of which ([0-9.]+ \\w+)",
      "PyTorch needed $1 more on GPU $2, which has $3 with $4 free.",
      to_fragments),
  ROW("gpu-out-of-memory",
      RAISED
      "(?:OutOfMemoryError|RuntimeError): (?:CUDA|HIP) out of memory\\. "
      "Tried to allocate " SIZE,
      "PyTorch needed $1 more on the GPU, which had less free memory.",
      to_fragments),
  ROW("gpu-out-of-memory",
      RAISED "Error: (?:CUDA error: |CUDA driver error: )?"
             "(?:out of memory|CUBLAS_STATUS_ALLOC_FAILED)",
      "The GPU's memory was exhausted.", to_batch),
  ROW("gpu-out-of-memory",
      RAISED "Error: RESOURCE_EXHAUSTED: Out of memory (?:while trying to "
             "allocate|trying to allocate|allocating) ([0-9.]+ ?[A-Za-z]+)",
      "JAX needed $1 more on the GPU, which had less free memory.", to_jax),
  ROW("gpu-out-of-memory",
      LINE
      "(?:.*Error: .*|.*[Rr]esource exhausted: )?OOM when allocating tensor "
      "with shape(\\[[0-9,]*\\]) and type (\\w+) on \\S*(GPU:\\d+)",
      "TensorFlow had no memory for a tensor of shape $1 and type $2 on $3.",
      to_batch),
  ROW("gpu-assertion", "(?m)\\.cu:\\d+: .*Assertion .(.+). failed",
      "A value on the GPU was out of range: the code requires '$1'.",
      to_label),
  ROW("gpu-assertion",
      RAISED "Error: CUDA error: device-side assert triggered",
      "A value on the GPU was out of range: an assertion of its code failed.",
      to_label),
  ROW(
    "gpu-architecture",
    RAISED "Error: CUDA error: no kernel image is available for execution",
    "The program was not built for this kind of GPU.",
    "Install a build for it: 'python -c \"import torch; "
    "print(torch.cuda.get_arch_list())\"' lists what PyTorch was built for."),
  ROW("gpu-illegal-access",
      RAISED "Error: CUDA error: an illegal memory access was encountered",
      "Code on the GPU accessed invalid memory.", to_blocking),
  ROW("gpu-broken",
      RAISED "Error: CUDA error: (uncorrectable ECC error|unspecified launch "
             "failure|the launch timed out and was terminated|hardware "
             "[a-z ]+error)",
      "The GPU failed: $1.",
      "Retry the job: openpai retry JOB. If it fails on the same node again, "
      "report the message to an administrator."),
  ROW("driver-too-old",
      RAISED "Error: The NVIDIA driver on your system is too old \\(found "
             "version (\\d+)\\)",
      "The GPU's driver (CUDA $1) is too old for this build of PyTorch.",
      to_driver),
  ROW("driver-too-old",
      "(?i)CUDA driver version is insufficient for CUDA runtime version",
      "The GPU's driver is too old for this version of CUDA.", to_driver),
  ROW("no-gpu",
      RAISED
      "Error: (No CUDA GPUs are available|Found no NVIDIA driver on your "
      "system|no CUDA-capable device is detected)",
      "The program needs a GPU, but the task has none: $1.", to_gpu),
  ROW("no-gpu-build", RAISED "Error: Torch not compiled with CUDA enabled",
      "This build of PyTorch does not support GPUs.",
      "Install a build with CUDA: see https://pytorch.org/get-started."),

  /* memory of the machine */
  ROW("shared-memory",
      LINE
      "RuntimeError: DataLoader worker \\(pid (\\d+)\\) is killed by signal: "
      "Bus error",
      "Process $1, which loads data, had no shared memory left (/dev/shm).",
      to_shm),
  ROW("shared-memory",
      RAISED "Error: unable to (?:write to file|mmap|allocate shared memory)"
             ".*</?torch_.*>.*: (?:No space left on device|Cannot allocate "
             "memory)",
      "PyTorch had no shared memory left (/dev/shm).", to_shm),
  ROW("out-of-memory",
      LINE
      "RuntimeError: DataLoader worker \\(pid (\\d+)\\) is killed by signal: "
      "Killed",
      "Process $1, which loads data, was killed, usually for lack of memory.",
      to_memory),
  ROW("out-of-memory",
      RAISED "MemoryError: Unable to allocate " SIZE
             " for an array with shape "
             "(\\([0-9, ]*\\))",
      "NumPy had no memory for an array of $1 and shape $2.", to_memory),
  ROW("out-of-memory",
      RAISED
      "Error: .*DefaultCPUAllocator: (?:can't|not enough) .*memory: you "
      "tried to allocate (\\d+) bytes",
      "PyTorch could not allocate $1 bytes of the node's memory.", to_memory),
#define NO_MEMORY(pattern)                                               \
  ROW("out-of-memory", pattern, "The program could get no more memory.", \
      to_memory)
  NO_MEMORY(LINE "MemoryError"),
  NO_MEMORY("std::bad_alloc"),
  NO_MEMORY("(?m): (?:\\[Errno 12\\] )?Cannot allocate memory"),
  NO_MEMORY("java\\.lang\\.OutOfMemoryError: "),

  /* disks and files */
  ROW("disk-full",
      RAISED "Error: \\[Errno 28\\] No space left on device: '([^']+)'",
      "The disk with $1 is full.", to_disk),
  ROW(
    "disk-full",
    "(?m): (?:\\[Errno 28\\] )?No space left on device( \\(os error 28\\))?$",
    "A disk is full.", to_disk),
  ROW("disk-full",
      RAISED
      "Error: \\[enforce fail at inline_container\\.cc:\\d+\\].*(?:unexpected "
      "pos|file write failed)",
      "A checkpoint could not be written completely, usually because the disk "
      "is full.",
      to_disk),
  ROW("disk-quota", "(?m): (?:\\[Errno 122\\] )?Disk quota exceeded",
      "Your quota of disk space is used up.",
      "Remove old checkpoints and caches, or ask for a larger quota."),
  ROW("too-many-files",
      "(?m): (?:\\[Errno 24\\] )?Too many open files(?: \\(\\d+\\)|: .*)?$",
      "The program has reached the limit of open files.", to_descriptors),
  ROW("too-many-files", RAISED "Error: received \\d+ items of ancdata",
      "The program has reached the limit of open files.", to_descriptors),
#define NO_PROCESS(pattern)          \
  ROW("too-many-processes", pattern, \
      "The program could start no more processes or threads.", to_processes)
  NO_PROCESS(LINE "RuntimeError: can't start new thread"),
  NO_PROCESS("(?m)fork: .*Resource temporarily unavailable$"),
  NO_PROCESS("pthread_create failed for thread "),
  { "file-size-limit", NULL,
    "A file became larger than the limit allows (signal SIGXFSZ).",
    "'ulimit -f' shows the limit of the node.", 153, 0 },
  { "cpu-time-limit", NULL,
    "The command used more CPU time than the limit allows (signal SIGXCPU).",
    "'ulimit -t' shows the limit of the node.", 152, 0 },

  /* programs, libraries, modules */
  ROW("glibc-too-old",
      "(?m)version .(GLIBC_[0-9.]+). not found(?: \\(required by (\\S+)\\))?",
      "The program was built for a newer system: it needs $1.", to_system),
  ROW("libstdcxx-too-old",
      "(?m)version .((?:GLIBCXX|CXXABI)_[0-9.]+). not found",
      "The program needs a newer C++ library: $1.",
      "Install a newer library: conda install -c conda-forge libstdcxx-ng, or "
      "use a newer image."),
  ROW("library-missing",
      LINE "(?:.*error while loading shared libraries|.*Error): "
           "(libGL\\.so\\.1|libgthread-2\\.0\\.so\\.0): cannot open shared",
      "The library $1, which OpenCV needs, is missing.",
      "Install OpenCV without windows: pip install opencv-python-headless; or "
      "apt-get install -y libgl1 libglib2.0-0."),
  ROW("library-missing",
      LINE "(?:.*error while loading shared libraries|.*Error): "
           "([^ :]+): cannot open shared object file",
      "The library $1 is missing or not in the search path.",
      "Install it in the image or on the machine, or add its folder: openpai "
      "run -e LD_LIBRARY_PATH=DIR ..."),
#define MODULE(module, package)                                 \
  ROW("module-missing",                                         \
      LINE "ModuleNotFoundError: No module named '" module "'", \
      "Python has no module '" module "'.",                     \
      "Install the module where the job runs: pip install " package ".")
  MODULE("cv2", "opencv-python-headless"),
  MODULE("PIL", "pillow"),
  MODULE("sklearn", "scikit-learn"),
  MODULE("yaml", "pyyaml"),
#define NO_MODULE(pattern) \
  ROW("module-missing", pattern, "Python has no module '$1'.", to_install)
  NO_MODULE(LINE "ModuleNotFoundError: No module named '((\\w+)[^']*)'"),
  NO_MODULE("(?m)\\(ModuleNotFoundError: No module named '((\\w+)[^']*)'\\)$"),
  NO_MODULE("(?m)^\\S*python\\S*: No module named '?((\\w+)[\\w.]*)"),
  ROW("module-version",
      LINE "ImportError: cannot import name '([^']+)' from '((\\w+)[^']*)'",
      "The module '$2' has no '$1': the program expects another version of "
      "the module.",
      "Install a matching version: pip install --upgrade $3. A file of yours "
      "named $3.py would hide the module."),
  ROW("hidden-in-tmp",
      RAISED "Error: \\[Errno 2\\] No such file or directory: "
             "'(/tmp/[\\w./+-]+)'",
      NOT_IN_TMP, to_show_tmp),
  ROW("hidden-in-tmp",
      "(?m)^\\S*python\\S*: can't open file '(/tmp/[\\w./+-]+)'", NOT_IN_TMP,
      to_show_tmp),
  { "hidden-in-tmp",
    "(?m)^(?:\\S+: )?(?:line \\d+: )?(/tmp/[\\w./+-]+): No such file or "
    "directory$",
    NOT_IN_TMP, to_show_tmp, 127, 0 },
  ROW("script-missing", "(?m)^\\S*python\\S*: can't open file '([^']+)'",
      "Python cannot find the file $1.",
      "Start the job in the folder of that file, or send it with --code DIR: "
      "openpai run --code . -- python ..."),
  { "command-not-found",
    "(?m)^(?:\\S+: )?(?:line )?(?:\\d+: )?([\\w.+-]+): (?:command )?not "
    "found$",
    "The command '$1' was not found.", to_path, 127, 0 },
  { "command-not-found",
    "(?m)^(?:\\S+: )?(?:line \\d+: )?(?:exec: "
    ")?[^\\w./+-]?([\\w./+-]+)[^\\w./+-]?: (?:No such "
    "file or directory|not found)$",
    "The command '$1' was not found.", to_path, 127, 0 },
  ROW("bad-interpreter", ": bad interpreter: ", NO_INTERPRETER, to_first_line),
  ROW("bad-interpreter", "(?m): cannot execute: required file not found$",
      NO_INTERPRETER, to_first_line),
  { "command-not-executable",
    "(?m)^(?:\\S+: )?(?:line \\d+: )?([\\w./+-]+): Permission denied$",
    "The file $1 is not executable.",
    "Make it executable: chmod +x $1; or run it with its interpreter: bash $1",
    126, 0 },
  ROW("wrong-architecture",
      "(?m): (?:cannot execute binary file: )?Exec format error$",
      "A program was built for another kind of processor, or the file is not "
      "a program.",
      "Build the program for this machine: uname -m shows its architecture."),

  /* network */
  ROW("model-gated",
      "(?m)^Cannot access gated repo for url https://huggingface\\.co/"
      "(?:api/models/|datasets/|api/datasets/)?([\\w.-]+/[\\w.-]+)",
      "Hugging Face gives $1 only to users who accepted its terms.", to_gated),
  ROW("model-not-found",
      "(?m)Repository Not Found for url: https://huggingface\\.co/"
      "(?:api/models/|datasets/|api/datasets/)?([\\w.-]+/[\\w.-]+)",
      "Hugging Face has no repository $1, or it is private.",
      "Correct the name; if the repository is private, pass a token: openpai "
      "run -e HF_TOKEN ..."),
  ROW("host-unknown", "(?m)Failed to resolve '([\\w.-]+)'",
      "The host name $1 cannot be resolved.", to_network),
  ROW("host-unknown", "(?m)[Cc]ould not resolve host:? '?([\\w.-]+)",
      "The host name $1 cannot be resolved.", to_network),
  ROW("host-unknown",
      "(?m): (?:\\[Errno -?\\d+\\] )?Name or service not known",
      "A host name cannot be resolved.", to_name),
  ROW("host-unknown",
      "(?m): (?:\\[Errno -?\\d+\\] )?Temporary failure in name resolution",
      "A host name cannot be resolved.", to_name),
  ROW("port-taken",
      RAISED
      "Error: The server socket has failed to listen on any local network "
      "address\\. .*(?:port: |\\]:)(\\d+).*[Aa]ddress already in use",
      "Port $1 is used by another program.", to_port),
  ROW("port-taken",
      "(?m)error while attempting to bind on address \\('.*', (\\d+).*\\): "
      "\\[?.*address already in use",
      "Port $1 is used by another program.", to_port),
  ROW("port-taken",
      "(?m): (?:\\[Errno 98\\] )?[Aa]ddress already in use(?: \\(.*\\))?$",
      "A port of the program is used by another program.", to_port),

  /* consequences of another task's failure: after all causes */
  ROW("nccl-timeout",
      "(?m)\\[Rank (\\d+)\\] Watchdog caught collective operation timeout: "
      "WorkNCCL\\(.*OpType=(\\w+),.*Timeout\\(ms\\)=(\\d+)\\)",
      "Rank $1 waited $3 ms for the others to take part in $2.", to_rank),
  ROW("nccl-duplicate-gpu",
      "(?m)Duplicate GPU detected : rank (\\d+) and rank (\\d+) both on CUDA "
      "device (\\w+)",
      "Ranks $1 and $2 use the same GPU.",
      "Use one GPU per process: torch.cuda.set_device(int(os.environ"
      "[\"LOCAL_RANK\"])), with no more processes than GPUs."),
  ROW("nccl-error", RAISED "Error: NCCL error in: \\S+, ([^,(-]*[^,( -])",
      "NCCL, the communication library of the GPUs, failed: $1.", to_nccl),
  ROW("rendezvous-timeout",
      RAISED "Error: Timed out after (\\d+) seconds waiting for clients\\. "
             "(\\d+)/(\\d+) clients joined",
      "Only $2 of $3 tasks joined within $1 s.", to_rank),
  ROW("connection-refused", RAISED "Error: \\[Errno 111\\] Connection refused",
      "No program listens at the address that the program connects to.",
      "Check that the other program runs and that host and port are correct."),

  /* files: after more specific failures */
  ROW("permission-denied",
      RAISED "Error: \\[Errno 13\\] Permission denied: '([^']+)'",
      "The user of the job has no permission for $1.", to_rights),
  ROW("permission-denied",
      "(?m)^\\S+: (?:.*[ '])?(/[^':]+)'?: Permission denied$",
      "The user of the job has no permission for $1.", to_rights),
  ROW("file-missing",
      RAISED "Error: \\[Errno 2\\] No such file or directory: '([^']+)'",
      "The file $1 does not exist.",
      "Correct the path; send files with --code DIR, or use a storage. Jobs "
      "start in the folder where 'openpai run' was called."),
};

const size_t pai__failure_count = PAI__LEN(pai__failure_rows);
