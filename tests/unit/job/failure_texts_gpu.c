/* failure_texts_gpu.c - outputs of programs that failed on GPUs, or for memory */
#include "failure_texts.h"

#define TRACEBACK                                      \
  "Traceback (most recent call last):\n"               \
  "  File \"/u/ann/train.py\", line 42, in <module>\n" \
  "    main()\n"

const failure_text failure_texts_gpu[] = {
  /* --- GPUs: PyTorch --- */
  { 1, "gpu-out-of-memory",
    TRACEBACK
    "  File \"/opt/venv/lib/python3.11/site-packages/torch/nn/modules/"
    "linear.py\", line 125, in forward\n"
    "    return F.linear(input, self.weight, self.bias)\n"
    "           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. "
    "GPU 0 has a total capacity of 23.65 GiB of which 1.06 GiB is free. "
    "Including non-PyTorch memory, this process has 22.58 GiB memory in use. "
    "Of the allocated memory 21.90 GiB is allocated by PyTorch, and 194.87 "
    "MiB "
    "is reserved by PyTorch but unallocated. If reserved but unallocated "
    "memory is large try setting PYTORCH_CUDA_ALLOC_CONF="
    "expandable_segments:True to avoid fragmentation.  See documentation for "
    "Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html"
    "#environment-variables)\n"
    "wandb: You can sync this run to the cloud by running:\n"
    "wandb: wandb sync /u/ann/wandb/offline-run-20250101_101010-abc\n"
    "/usr/lib/python3.11/multiprocessing/resource_tracker.py:254: "
    "UserWarning: "
    "resource_tracker: There appear to be 12 leaked semaphore objects to "
    "clean "
    "up at shutdown\n"
    "  warnings.warn('resource_tracker: There appear to be %d '\n",
    "PyTorch needed another 2.00 GiB on GPU 0, which has 23.65 GiB, of which "
    "1.06 GiB were free.",
    "expandable_segments" },
  { 1, "gpu-out-of-memory",
    "[rank3]: Traceback (most recent call last):\n"
    "[rank3]:   File \"/w/train.py\", line 9, in <module>\n"
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate "
    "64.00 MiB. GPU 3 has a total capacity of 79.15 GiB of which 0 bytes is "
    "free. Process 2147 has 79.14 GiB memory in use.\n"
    "[rank0]:[E626 06:24:44.903 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog "
    "caught collective operation timeout: WorkNCCL(SeqNum=8, "
    "OpType=ALLREDUCE, "
    "NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600020 milliseconds "
    "before timing out.\n",
    "PyTorch needed another 64.00 MiB on GPU 3, which has 79.15 GiB, of which "
    "0 bytes were free.",
    NULL },
  { 1, "gpu-out-of-memory",
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.70 "
    "GiB. GPU 0 has a total capacty of 6.00 GiB of which 0 bytes is free. Of "
    "the allocated memory 2.93 GiB is allocated by PyTorch\n",
    "PyTorch needed another 1.70 GiB on GPU 0, which has 6.00 GiB, of which 0 "
    "bytes were free.",
    NULL },
  { 1, "gpu-out-of-memory",
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; "
    "10.76 GiB total capacity; 9.50 GiB already allocated; 10.44 MiB free; "
    "9.60 GiB reserved in total by PyTorch)\n",
    "PyTorch needed another 20.00 MiB on the GPU, which had less free.",
    NULL },
  { 1, "gpu-out-of-memory",
    "RuntimeError: CUDA error: out of memory\nCUDA kernel errors might be "
    "asynchronously reported at some other API call\n",
    "The GPU's memory was exhausted.", "batches" },
  { 1, "gpu-out-of-memory",
    "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling "
    "`cublasCreate(handle)`\n",
    "The GPU's memory was exhausted.", NULL },
  { 1, "gpu-assertion",
    "../aten/src/ATen/native/cuda/Loss.cu:250: nll_loss_forward_reduce_cuda_"
    "kernel_2d: block: [0,0,0], thread: [8,0,0] Assertion `t >= 0 && t < "
    "n_classes` failed.\n" TRACEBACK
    "torch.AcceleratorError: CUDA error: device-side assert triggered\n"
    "Search for `cudaErrorAssert' in https://docs.nvidia.com/cuda/\n",
    "A value on the GPU was out of range: its code demands 't >= 0 && t < "
    "n_classes'.",
    "CUDA_LAUNCH_BLOCKING=1" },
  { 1, "gpu-assertion",
    TRACEBACK
    "RuntimeError: CUDA error: device-side assert triggered\n"
    "CUDA kernel errors might be asynchronously reported at some other API "
    "call, so the stacktrace below might be incorrect.\n"
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n",
    "A value on the GPU was out of range: an assertion of its code failed.",
    NULL },
  { 1, "gpu-architecture",
    "RuntimeError: CUDA error: no kernel image is available for execution on "
    "the device\n",
    "The program was not built for this kind of GPU.", "get_arch_list" },
  { 1, "gpu-illegal-access",
    "[rank1]: torch.AcceleratorError: CUDA error: an illegal memory access "
    "was "
    "encountered\n",
    "Code on the GPU used memory that was not its own.", NULL },
  { 1, "gpu-broken",
    "RuntimeError: CUDA error: uncorrectable ECC error encountered\n",
    "The GPU failed: uncorrectable ECC error.", "openpai retry" },
  { 1, "driver-too-old",
    "RuntimeError: The NVIDIA driver on your system is too old (found version "
    "11040). Please update your GPU driver by downloading and installing a "
    "new "
    "version from the URL: http://www.nvidia.com/Download/index.aspx\n",
    "The GPU's driver (CUDA 11040) is too old for this build of PyTorch.",
    "nvidia-smi" },
  { 1, "driver-too-old",
    "terminate called after throwing an instance of 'thrust::system_error'\n"
    "  what():  CUDA driver version is insufficient for CUDA runtime "
    "version\n",
    "The GPU's driver is too old for this version of CUDA.", NULL },
  { 1, "no-gpu", "RuntimeError: No CUDA GPUs are available\n",
    "The program wants a GPU, and the task has none: No CUDA GPUs are "
    "available.",
    "--gpus 1" },
  { 1, "no-gpu",
    "RuntimeError: Found no NVIDIA driver on your system. Please check that "
    "you have an NVIDIA GPU and installed a driver from\n",
    "The program wants a GPU, and the task has none: Found no NVIDIA driver "
    "on "
    "your system.",
    NULL },
  { 1, "no-gpu-build",
    "AssertionError: Torch not compiled with CUDA enabled\n",
    "This build of PyTorch knows no GPUs.", NULL },

  /* --- GPUs: JAX, TensorFlow --- */
  { 1, "gpu-out-of-memory",
    "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory "
    "while trying to allocate 7406166528 bytes.\n"
    "BufferAssignment OOM Debugging.\n"
    "BufferAssignment stats:\n"
    "             parameter allocation:  372.76MiB\n",
    "JAX needed another 7406166528 bytes on the GPU, which had less free.",
    "XLA_PYTHON_CLIENT_PREALLOCATE=false" },
  { 1, "gpu-out-of-memory",
    "jaxlib._jax.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while "
    "trying to allocate 64.00GiB.\n--------------------\nFor simplicity, JAX "
    "has removed its internal frames from the traceback of the following "
    "exception.\n",
    "JAX needed another 64.00GiB on the GPU, which had less free.", NULL },
  { 1, "gpu-out-of-memory",
    "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating "
    "20029400304 bytes.\n",
    "JAX needed another 20029400304 bytes on the GPU, which had less free.",
    NULL },
  { 1, "gpu-out-of-memory",
    "tensorflow.python.framework.errors_impl.ResourceExhaustedError: "
    "{{function_node __wrapped__Mul_device_/job:localhost/replica:0/task:0/"
    "device:GPU:0}} OOM when allocating tensor with shape[8192,8192] and type "
    "float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator "
    "GPU_0_bfc [Op:Mul] name:\n",
    "TensorFlow had no room for a tensor of shape [8192,8192] and type float "
    "on GPU:0.",
    NULL },
  { 1, "gpu-out-of-memory",
    "ResourceExhaustedError: 2 root error(s) found.\n"
    "  (0) Resource exhausted: OOM when allocating tensor with "
    "shape[16,112,112,147] and type float on /job:localhost/replica:0/task:0/"
    "device:GPU:1 by allocator GPU_1_bfc\n",
    "TensorFlow had no room for a tensor of shape [16,112,112,147] and type "
    "float on GPU:1.",
    NULL },

  /* --- memory of the machine --- */
  { 1, "shared-memory",
    "ERROR: Unexpected bus error encountered in worker. This might be caused "
    "by insufficient shared memory (shm).\n" TRACEBACK
    "RuntimeError: DataLoader worker (pid 123) is killed by signal: Bus "
    "error. "
    "It is possible that dataloader's workers are out of shared memory. "
    "Please "
    "try to raise your shared memory limit.\n",
    "Process 123, which loads data, had no shared memory left (/dev/shm).",
    "shmMB" },
  { 1, "shared-memory",
    "RuntimeError: unable to write to file </torch_4711_2846712_0>: No space "
    "left on device (28)\n",
    "PyTorch had no shared memory left (/dev/shm).", NULL },
  { 1, "out-of-memory",
    "RuntimeError: DataLoader worker (pid 88) is killed by signal: Killed. \n",
    "Process 88, which loads data, was killed, mostly for want of memory.",
    "--memory" },
  { 1, "out-of-memory",
    "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 74.5 GiB "
    "for an array with shape (100000, 100000) and data type float64\n",
    "NumPy had no memory for an array of 74.5 GiB and shape (100000, 100000).",
    NULL },
  { 1, "out-of-memory",
    "RuntimeError: [enforce fail at alloc_cpu.cpp:114] . DefaultCPUAllocator: "
    "can't allocate memory: you tried to allocate 400000000000 bytes. Error "
    "code 12 (Cannot allocate memory)\n",
    "PyTorch had no memory of the machine for 400000000000 bytes.", NULL },
  { 1, "out-of-memory", TRACEBACK "MemoryError\n",
    "The program could get no more memory.", NULL },
  { 134, "out-of-memory",
    "terminate called after throwing an instance of 'std::bad_alloc'\n"
    "  what():  std::bad_alloc\n"
    "bash: line 1: 4711 Aborted                 (core dumped) ./solve\n",
    "The program could get no more memory.", NULL },
  { 1, "out-of-memory", "OSError: [Errno 12] Cannot allocate memory\n",
    "The program could get no more memory.", NULL },
  { 1, "out-of-memory",
    "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap "
    "space\n",
    "The program could get no more memory.", NULL },
};

const size_t failure_texts_gpu_count =
  sizeof(failure_texts_gpu) / sizeof(failure_texts_gpu[0]);
