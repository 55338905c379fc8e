/* failure_texts.c - outputs of failed programs, as their tools print them */
#include "failure_texts.h"

#define TRACEBACK                                      \
  "Traceback (most recent call last):\n"               \
  "  File \"/u/ann/train.py\", line 42, in <module>\n" \
  "    main()\n"

const failure_text failure_texts[] = {
  /* --- disks and files --- */
  { 1, "disk-full",
    TRACEBACK
    "OSError: [Errno 28] No space left on device: '/scratch/ckpt/3.pt'\n",
    "The disk with /scratch/ckpt/3.pt is full.", "df -h" },
  { 1, "disk-full", "OSError: [Errno 28] No space left on device\n",
    "A disk is full.", NULL },
  { 1, "disk-full",
    "tar: data/1.jpg: Cannot write: No space left on device\ntar: Exiting "
    "with "
    "failure status due to previous errors\n",
    "A disk is full.", NULL },
  { 1, "disk-full",
    "RuntimeError: [enforce fail at inline_container.cc:595] . unexpected pos "
    "448 vs 342\n",
    "A checkpoint could not be written whole, mostly because the disk is "
    "full.",
    NULL },
  { 1, "disk-quota", "OSError: [Errno 122] Disk quota exceeded: '/u/ann/x'\n",
    "Your quota of disk space is used up.", NULL },
  { 1, "too-many-files",
    "OSError: [Errno 24] Too many open files: '/data/1.jpg'\n",
    "The program has more files open than it may.", "ulimit -n" },
  { 1, "too-many-files",
    "RuntimeError: unable to open shared memory object </torch_29919_1396182> "
    "in read-write mode: Too many open files (24)\n",
    "The program has more files open than it may.", NULL },
  { 1, "too-many-files", "RuntimeError: received 0 items of ancdata\n",
    "The program has more files open than it may.", NULL },
  { 1, "too-many-processes", "RuntimeError: can't start new thread\n",
    "The program could start no more processes or threads.",
    "OMP_NUM_THREADS=1" },
  { 254, "too-many-processes",
    "bash: fork: retry: Resource temporarily unavailable\n"
    "bash: fork: Resource temporarily unavailable\n",
    "The program could start no more processes or threads.", NULL },
  { 1, "too-many-processes",
    "OpenBLAS blas_thread_init: pthread_create failed for thread 3 of 64: "
    "Resource temporarily unavailable\n",
    "The program could start no more processes or threads.", NULL },
  { 153, "file-size-limit", "",
    "A file became larger than the limit allows (signal SIGXFSZ).",
    "ulimit -f" },
  { 152, "cpu-time-limit", "epoch 1\n",
    "The command used more CPU time than the limit allows (signal SIGXCPU).",
    NULL },
  { 1, "permission-denied",
    TRACEBACK
    "PermissionError: [Errno 13] Permission denied: '/data/out/log.txt'\n",
    "The user of the job may not use /data/out/log.txt.",
    "ls -ld '/data/out/log.txt'" },
  { 1, "permission-denied",
    "mkdir: cannot create directory '/data/out': Permission denied\n",
    "The user of the job may not use /data/out.", NULL },
  { 1, "permission-denied", "bash: line 1: /data/log: Permission denied\n",
    "The user of the job may not use /data/log.", NULL },
  { 1, "file-missing",
    "FileNotFoundError: [Errno 2] No such file or directory: "
    "'data/train.csv'\n",
    "There is no file data/train.csv.", "--code" },

  /* --- programs, libraries, modules --- */
  { 1, "glibc-too-old",
    "./solve: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found "
    "(required by ./solve)\n",
    "The program was built for a newer system: it needs GLIBC_2.34.",
    "newer system" },
  { 1, "libstdcxx-too-old",
    "ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version "
    "`GLIBCXX_3.4.30' not found (required by /opt/conda/lib/libicuuc.so.73)\n",
    "The program needs a newer C++ library: GLIBCXX_3.4.30.",
    "conda install" },
  { 1, "library-missing",
    "ImportError: libGL.so.1: cannot open shared object file: No such file or "
    "directory\n",
    "The library libGL.so.1, which OpenCV needs, is not there.",
    "opencv-python-headless" },
  { 127, "library-missing",
    "./solve: error while loading shared libraries: libcudart.so.12: cannot "
    "open shared object file: No such file or directory\n",
    "The library libcudart.so.12 is not there, or not where it is looked for.",
    "LD_LIBRARY_PATH" },
  { 1, "library-missing",
    "OSError: libcudnn.so.9: cannot open shared object file: No such file or "
    "directory\n",
    "The library libcudnn.so.9 is not there, or not where it is looked for.",
    NULL },
  { 1, "module-missing",
    TRACEBACK "ModuleNotFoundError: No module named 'torch'\n",
    "Python has no module 'torch'.", "pip install torch." },
  { 1, "module-missing", "ModuleNotFoundError: No module named 'cv2'\n",
    "Python has no module 'cv2'.", "pip install opencv-python-headless." },
  { 1, "module-missing", "ModuleNotFoundError: No module named 'PIL'\n",
    "Python has no module 'PIL'.", "pip install pillow." },
  { 1, "module-missing", "ModuleNotFoundError: No module named 'sklearn'\n",
    "Python has no module 'sklearn'.", "pip install scikit-learn." },
  { 1, "module-missing", "ModuleNotFoundError: No module named 'yaml'\n",
    "Python has no module 'yaml'.", "pip install pyyaml." },
  { 1, "module-missing",
    "ModuleNotFoundError: No module named 'flash_attn'\n\n"
    "During handling of the above exception, another exception "
    "occurred:\n\n" TRACEBACK
    "ModuleNotFoundError: No module named 'xformers.ops'\n",
    "Python has no module 'xformers.ops'.", "pip install xformers." },
  { 1, "module-missing",
    "/usr/bin/python3: No module named torch.distributed.run\n",
    "Python has no module 'torch.distributed.run'.", "pip install torch." },
  { 1, "module-missing",
    "/usr/bin/python3: Error while finding module specification for "
    "'torch.distributed.run' (ModuleNotFoundError: No module named 'torch')\n",
    "Python has no module 'torch'.", "pip install torch." },
  { 1, "module-version",
    "ImportError: cannot import name 'AdamW' from 'transformers.optimization' "
    "(/opt/venv/lib/python3.11/site-packages/transformers/optimization.py)\n",
    "The module 'transformers.optimization' has no 'AdamW': it has another "
    "version than the program expects.",
    "pip install --upgrade transformers." },
  { 2, "hidden-in-tmp",
    "/usr/bin/python3: can't open file '/tmp/ann/train.py': [Errno 2] No such "
    "file or directory\n",
    "There is no /tmp/ann/train.py.", "--folder /tmp/ann/train.py" },
  { 1, "hidden-in-tmp",
    "Traceback (most recent call last):\n"
    "  File \"/u/ann/a.py\", line 1, in <module>\n"
    "    print(open(\"/tmp/data/x\").read())\n"
    "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/data/x'\n",
    "There is no /tmp/data/x.", "extras.openpai.folders" },
  { 127, "hidden-in-tmp",
    "bash: line 33: /tmp/venv/bin/python: No such file or directory\n",
    "There is no /tmp/venv/bin/python.", "--folder" },
  { 2, "script-missing",
    "python: can't open file '/u/ann/trian.py': [Errno 2] No such file or "
    "directory\n",
    "Python finds no file /u/ann/trian.py.", "--code" },
  { 127, "command-not-found", "bash: line 1: foo: command not found\n",
    "There is no command 'foo'.", "command -v foo" },
  { 127, "command-not-found",
    "/u/ann/train.sh: line 3: torchrun: command not found\n",
    "There is no command 'torchrun'.", NULL },
  { 127, "command-not-found", "sh: 1: nvcc: not found\n",
    "There is no command 'nvcc'.", NULL },
  { 127, "command-not-found",
    "bash: line 1: ./run.sh: No such file or directory\n",
    "There is no command './run.sh'.", NULL },
  { 127, "command-not-found",
    "env: \xe2\x80\x98nproc2\xe2\x80\x99: No such file or directory\n",
    "There is no command 'nproc2'.", NULL },
  { 127, "command-not-found",
    "/usr/bin/env: 'python': No such file or directory\n",
    "There is no command 'python'.", NULL },
  { 126, "bad-interpreter",
    "bash: line 1: ./run.sh: /bin/bash^M: bad interpreter: No such file or "
    "directory\n",
    "The first line of a script names a program that does not exist.",
    "sed -i" },
  { 127, "bad-interpreter",
    "bash: line 1: ./run.sh: cannot execute: required file not found\n",
    "The first line of a script names a program that does not exist.", NULL },
  { 126, "command-not-executable",
    "bash: line 1: ./train.sh: Permission denied\n",
    "The file ./train.sh may not be run as a command.",
    "chmod +x ./train.sh" },
  { 126, "wrong-architecture",
    "bash: line 1: ./solve: cannot execute binary file: Exec format error\n",
    "A program was built for another kind of processor, or is no program.",
    "uname -m" },

  /* --- network --- */
  { 1, "model-gated",
    "huggingface_hub.errors.GatedRepoError: 401 Client Error. (Request ID: "
    "Root=1-66f4b037-1bf3d7d219afbc904ee05694;5601d2c9)\n\n"
    "Cannot access gated repo for url https://huggingface.co/meta-llama/"
    "Llama-3.1-8B/resolve/main/config.json.\n"
    "Access to model meta-llama/Llama-3.1-8B is restricted. You must have "
    "access to it and be authenticated to access it. Please log in.\n",
    "Hugging Face lets only those who accepted its terms have "
    "meta-llama/Llama-3.1-8B.",
    "https://huggingface.co/meta-llama/Llama-3.1-8B" },
  { 1, "model-not-found",
    "huggingface_hub.errors.RepositoryNotFoundError: 401 Client Error. "
    "(Request ID: Root=1-6)\n\n"
    "Repository Not Found for url: https://huggingface.co/api/models/ann/"
    "typo/revision/main.\n"
    "Please make sure you specified the correct `repo_id` and `repo_type`.\n",
    "Hugging Face has no ann/typo, or it is private.", "HF_TOKEN" },
  { 1, "host-unknown",
    "requests.exceptions.ConnectionError: (MaxRetryError('HTTPSConnectionPool("
    "host=\\'huggingface.co\\', port=443): Max retries exceeded with url: /x "
    "(Caused by NameResolutionError(\"<urllib3.connection.HTTPSConnection "
    "object at 0x7f>: Failed to resolve 'huggingface.co' ([Errno -3] "
    "Temporary "
    "failure in name resolution)\"))'), '(Request ID: 1)')\n",
    "The name of the host huggingface.co cannot be resolved.",
    "getent hosts huggingface.co" },
  { 128, "host-unknown",
    "fatal: unable to access 'https://github.com/a/b.git/': Could not resolve "
    "host: github.com\n",
    "The name of the host github.com cannot be resolved.", NULL },
  { 1, "host-unknown",
    "socket.gaierror: [Errno -2] Name or service not known\n",
    "The name of a host cannot be resolved.", "getent" },
  { 255, "host-unknown",
    "ssh: connect to host node7: Temporary failure in name resolution\n",
    "The name of a host cannot be resolved.", NULL },
  { 1, "port-taken",
    "torch.distributed.DistNetworkError: The server socket has failed to "
    "listen on any local network address. port: 29500, useIpv6: false, code: "
    "-98, name: EADDRINUSE, message: address already in use\n",
    "Port 29500 is used by another program.", "PAI_PORT_LIST" },
  { 1, "port-taken",
    "RuntimeError: The server socket has failed to listen on any local "
    "network "
    "address. The server socket has failed to bind to [::]:29500 (errno: 98 - "
    "Address already in use). The server socket has failed to bind to "
    "0.0.0.0:29500 (errno: 98 - Address already in use).\n",
    "Port 29500 is used by another program.", NULL },
  { 1, "port-taken",
    "ERROR:    [Errno 98] error while attempting to bind on address "
    "('0.0.0.0', 8000): address already in use\n",
    "Port 8000 is used by another program.", NULL },
  { 1, "port-taken", "OSError: [Errno 98] Address already in use\n",
    "A port that the program listens on is used by another one.", NULL },
  { 1, "port-taken", "RuntimeError: Address already in use\n",
    "A port that the program listens on is used by another one.", NULL },
  { 1, "connection-refused",
    "ConnectionRefusedError: [Errno 111] Connection refused\n",
    "Nothing listens at the address that the program connects to.", NULL },

  /* --- other tasks --- */
  { 134, "nccl-timeout",
    "[rank1]:[E626 06:24:44.903881913 ProcessGroupNCCL.cpp:616] [Rank 1] "
    "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=808, "
    "OpType=ALLREDUCE, NumelIn=9801523, NumelOut=9801523, Timeout(ms)=600000) "
    "ran for 600020 milliseconds before timing out.\n"
    "[rank1]:[E626 06:24:44.906457629 ProcessGroupNCCL.cpp:1785] [PG ID 0 PG "
    "GUID 0(default_pg) Rank 1] Exception (either an error or timeout) "
    "detected by watchdog at work: 808\n",
    "Rank 1 waited 600000 ms for the others to take part in ALLREDUCE.",
    "--task ROLE/INDEX" },
  { 1, "nccl-duplicate-gpu",
    "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/"
    "distributed/c10d/ProcessGroupNCCL.cpp:3356, invalid usage (run with "
    "NCCL_DEBUG=WARN for details), NCCL version 2.26.2\n"
    "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\n"
    "Last error:\n"
    "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 4b000\n",
    "Ranks 1 and 0 use the same GPU.", "LOCAL_RANK" },
  { 1, "nccl-error",
    "[rank0]: torch.distributed.DistBackendError: NCCL error in: ../torch/"
    "csrc/distributed/c10d/ProcessGroupNCCL.cpp:1333, unhandled system error "
    "(run with NCCL_DEBUG=INFO for details), NCCL version 2.18.6\n"
    "ncclSystemError: System call (e.g. socket, malloc) or external library "
    "call failed or device error. \nLast error:\n"
    "socketStartConnect: Connect to 192.168.19.14<52822> failed : No route to "
    "host\n",
    "NCCL, by which GPUs talk to each other, failed: unhandled system error.",
    "NCCL_SOCKET_IFNAME" },
  { 1, "nccl-error",
    "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/"
    "distributed/c10d/ProcessGroupNCCL.cpp:1691, remote process exited or "
    "there was a network error, NCCL version 2.19.3\n",
    "NCCL, by which GPUs talk to each other, failed: remote process exited or "
    "there was a network error.",
    NULL },
  { 1, "rendezvous-timeout",
    "torch.distributed.DistStoreError: Timed out after 901 seconds waiting "
    "for "
    "clients. 1/2 clients joined.\n",
    "Of 2 tasks only 1 met within 901 s.", NULL },

  /* --- what only mentions an error, or is none of these --- */
  { 1, NULL, "", NULL, NULL },
  { 1, NULL, TRACEBACK "ValueError: loss is nan\n", NULL, NULL },
  { 1, NULL, "no CUDA out of memory so far\n", NULL, NULL },
  { 1, NULL,
    "WARNING: caught torch.OutOfMemoryError: CUDA out of memory. Tried to "
    "allocate 2.00 GiB. Halving the batch.\nAssertionError\n",
    NULL, NULL },
  { 1, NULL,
    "2025-01-01 10:00:00.1: W tensorflow/core/common_runtime/"
    "bfc_allocator.cc:296] Allocator (GPU_0_bfc) ran out of memory trying to "
    "allocate 2.00GiB with freed_by_count=0.\nAssertionError\n",
    NULL, NULL },
  { 1, NULL,
    "optional: ModuleNotFoundError: No module named 'apex' (not needed)\n"
    "AssertionError\n",
    NULL, NULL },
  { 1, NULL, "warn: foo: command not found\n", NULL, NULL },
  { 1, NULL,
    "pip: no disk is full: No space left on device is not our problem\n", NULL,
    NULL },
  { 1, NULL, "I know what Permission denied: means\n", NULL, NULL },
  { 1, NULL, "retrying after: Address already in use? no\n", NULL, NULL },
  { 1, NULL, "INFO a timeout of NCCL: set the Watchdog timeout to 600000 ms\n",
    NULL, NULL },
  { 1, NULL, "tests of MemoryError passed\n", NULL, NULL },
  { 137, NULL, "Killed\n", NULL, NULL },
  { 0, NULL, "ModuleNotFoundError: No module named 'torch'\n", NULL, NULL },
};

const size_t failure_texts_count =
  sizeof(failure_texts) / sizeof(failure_texts[0]);
