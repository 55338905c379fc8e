"""How the Python tests see that all is freed again."""
import ctypes
import gc
import tracemalloc
import unittest


class MallocInfo(ctypes.Structure):
    """The C library's struct mallinfo2."""
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks",
        "fsmblks", "uordblks", "fordblks", "keepcost")]


def allocated():
    """Bytes that C code holds, or None where they cannot be counted."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        return None
    libc.mallinfo2.restype = MallocInfo
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


class Checked(unittest.TestCase):
    def check(self, work, times=10000):
        """One object, or one block, of 16 bytes a time would be too much."""
        for _ in range(times // 10):
            work()
        for count in (allocated, self.traced):
            gc.collect()
            tracemalloc.start() if count == self.traced else None
            before = count()
            for _ in range(times):
                work()
            gc.collect()
            after = count()
            tracemalloc.stop()
            if before is not None:
                self.assertLess(after - before, 16 * times)

    def traced(self):
        return tracemalloc.get_traced_memory()[0]
