/*
 * linux_nvml.h - internal: NVML, opened at run time
 *
 * A pai__nvml keeps the library open.  Functions other than those that
 * pai__nvml_open() requires may be NULL: check the member before the call, or
 * use PAI__NVML().
 */
#ifndef PAI_SRC_RESOURCE_LINUX_NVML_H
#define PAI_SRC_RESOURCE_LINUX_NVML_H

#include "resource/sample/gpu.h"
#include "resource/sample/nvml.h"

typedef struct pai__nvml {
  void *library; /* NULL: closed */
#define PAI__MEMBER(declaration, name, symbol, older) declaration;
  PAI__NVML_FUNCTIONS(PAI__MEMBER)
#undef PAI__MEMBER
  const char *(*explain)(int result); /* nvmlErrorString() */
} pai__nvml;

/* Calls a function; NVML_UNKNOWN if the library lacks it. */
#define PAI__NVML(n, function, ...) \
  ((n)->function != NULL ? (n)->function(__VA_ARGS__) : NVML_UNKNOWN)

/* Opens NVML.  Returns false with a reason of one line in `why`, or "" if this
 * machine has no NVIDIA driver. path NULL: the usual name. */
enum { PAI__NVML_WHY = 512 };
bool pai__nvml_open(pai__nvml *n, const char *path, const char *root,
                    char *why);
void pai__nvml_close(pai__nvml *n);
/* Returns the text of a result, never NULL. */
const char *pai__nvml_explain(const pai__nvml *n, int result);

/* Handles of each GPU and instance in a list; NULL for those without. */
typedef struct pai__nvml_handles {
  pai__nvml_device **of;
  size_t cap;
} pai__nvml_handles;
static inline void pai__nvml_handles_free(pai__nvml_handles *h,
                                          const pai_alloc *alloc)
{
  pai__free(alloc, (void *)h->of, h->cap * sizeof(*h->of));
}

/* Adds NVIDIA's GPUs to an empty list (linux_nvml_list.c).  The caller frees
 * *handles, also after a failure. */
int pai__nvml_list(pai__nvml *n, pai_gpus *gpus, pai__nvml_handles *handles);

/* Values that change every second; -1 if unknown. pai__nvml_live_of() returns
 * NVML's result of the first query. */
typedef struct pai__nvml_live {
  int64_t memory_total, memory_used;
  int32_t busy_percent, memory_busy_percent;
  int32_t temperature;
  int64_t power_mw, power_limit_mw;
} pai__nvml_live;
int pai__nvml_live_of(const pai__nvml *n, pai__nvml_device *device,
                      pai__nvml_live *out);

/* Calls `each` for every compute and graphics process of a device, once for a
 * process that is both.  A negative answer of `each` stops the walk.  *room
 * has buffers that are kept for the next call. */
typedef struct pai__nvml_room {
  void *data[2];
  size_t bytes[2];
} pai__nvml_room;
int pai__nvml_processes(const pai__nvml *n, pai__nvml_device *device,
                        const pai_alloc *alloc, pai__nvml_room *room,
                        int (*each)(void *user_data, int32_t pid,
                                    int64_t memory),
                        void *user_data);
void pai__nvml_room_free(pai__nvml_room *room, const pai_alloc *alloc);

#endif
