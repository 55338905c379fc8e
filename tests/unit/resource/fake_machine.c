/*
 * fake_machine.c - a large machine, for programs on a small one
 *
 * Preloaded, it says that there are 64 CPUs, 256 GiB, and device files of 8
 * GPUs.
 */
#include <dlfcn.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) int access(const char *path, int mode)
{
  static int (*real)(const char *, int);
  static const char before[] = "/dev/nvidia";
  size_t n = sizeof(before) - 1;

  if (real == NULL)
    *(void **)&real = dlsym(RTLD_NEXT, "access");
  if (strncmp(path, before, n) == 0 && path[n] >= '0' && path[n] < '8' &&
      path[n + 1] == '\0')
    return 0;
  return real(path, mode);
}

__attribute__((visibility("default"))) long sysconf(int name)
{
  static long (*real)(int);

  if (real == NULL)
    *(void **)&real = dlsym(RTLD_NEXT, "sysconf");
  if (name == _SC_NPROCESSORS_ONLN)
    return 64;
  if (name == _SC_PHYS_PAGES)
    return (256L << 30) / real(_SC_PAGESIZE);
  return real(name);
}

/* All of them may be used. */
__attribute__((visibility("default"))) int sched_getaffinity(pid_t pid,
                                                             size_t size,
                                                             cpu_set_t *mask)
{
  (void)pid;
  if (size < 8)
    return -1;
  memset(mask, 0, size);
  memset(mask, 0xff, 8);
  return 0;
}
