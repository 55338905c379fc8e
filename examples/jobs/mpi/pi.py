"""Pi by numerical integration: each rank adds up its part, one sum is told.

MPI is called as the C library that it is, so that nothing is needed but Open
MPI itself; with mpi4py it would be half as long.
"""
import ctypes
import os
import sys

mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)


def handle(name):
    """One of the library's constants, which are addresses."""
    return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, name)))


WORLD = handle("ompi_mpi_comm_world")
DOUBLE = handle("ompi_mpi_double")
SUM = handle("ompi_mpi_op_sum")


def ask(function):
    number = ctypes.c_int()
    function(WORLD, ctypes.byref(number))
    return number.value


steps = int(sys.argv[1])
mpi.MPI_Init(None, None)
rank, size = ask(mpi.MPI_Comm_rank), ask(mpi.MPI_Comm_size)

# The integral of 4 / (1 + x^2) from 0 to 1, of every size-th strip from rank on.
part = sum(4 / (1 + ((i + 0.5) / steps) ** 2) for i in range(rank, steps, size))
mine, total = ctypes.c_double(part / steps), ctypes.c_double()
mpi.MPI_Allreduce(ctypes.byref(mine), ctypes.byref(total), 1, DOUBLE, SUM, WORLD)

task = os.environ["PAI_TASK_INDEX"]  # sessions of ssh have it, too
print(f"rank {rank} of {size}, of task {task}: my part is {mine.value:.12f}",
      flush=True)
if rank == 0:
    print(f"pi is {total.value:.12f}", flush=True)
mpi.MPI_Finalize()
