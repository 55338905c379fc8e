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
            if count() is not None:
                self.check_rounds(work, max(50, times // 8), count)

    def check_rounds(self, work, times, count):
        """What leaks grows each time; what is kept or freed once, once."""
        if count == self.traced:
            tracemalloc.start()
        grown = []
        while sum(bytes < 16 * times for bytes in grown) < 2:
            self.assertLess(len(grown), 10, f"{grown} bytes in {times} calls")
            gc.collect()
            before = count()
            for _ in range(times):
                work()
            gc.collect()
            grown.append(count() - before)
        tracemalloc.stop()

    def traced(self):
        return tracemalloc.get_traced_memory()[0]
