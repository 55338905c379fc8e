/*
 * linux_nvml.h - internal: NVML, opened at run time
 *
 * The library is kept open while a pai__nvml is.  All its functions may be
 * missing but those that pai__nvml_open() insists on: ask through the members
 * only after a look at them, or with PAI__NVML().
 */
#ifndef PAI_SRC_RESOURCE_LINUX_NVML_H
#define PAI_SRC_RESOURCE_LINUX_NVML_H

#include "resource/gpu.h"
#include "resource/nvml.h"

typedef struct pai__nvml {
  void *library; /* NULL: closed */
#define PAI__MEMBER(declaration, name, symbol, older) declaration;
  PAI__NVML_FUNCTIONS(PAI__MEMBER)
#undef PAI__MEMBER
  const char *(*explain)(int result); /* nvmlErrorString() */
} pai__nvml;

/* NVML_SUCCESS when the function is there and says so. */
#define PAI__NVML(n, function, ...) \
  ((n)->function != NULL ? (n)->function(__VA_ARGS__) : NVML_UNKNOWN)

/* False, and *why is one line: it cannot be used; "" when there is nothing to
 * tell: this machine has no NVIDIA driver.  path NULL: the usual name. */
enum { PAI__NVML_WHY = 512 };
bool pai__nvml_open(pai__nvml *n, const char *path, const char *root,
                    char *why);
void pai__nvml_close(pai__nvml *n);
/* What a result means, never NULL. */
const char *pai__nvml_explain(const pai__nvml *n, int result);

/* Of each GPU and instance in a list; NULL for those that gave none. */
typedef struct pai__nvml_handles {
  pai__nvml_device **of;
  size_t cap;
} pai__nvml_handles;
static inline void pai__nvml_handles_free(pai__nvml_handles *h,
                                          const pai_alloc *alloc)
{
  pai__free(alloc, (void *)h->of, h->cap * sizeof(*h->of));
}

/* Adds NVIDIA's GPUs to an empty list (linux_nvml_list.c).  *handles is freed
 * by the caller, whatever comes of it. */
int pai__nvml_list(pai__nvml *n, pai_gpus *gpus, pai__nvml_handles *handles);
/* Adds their links, once all of them are listed (linux_nvml_links.c).
 * handles[i] is of the i-th in the list, NULL for one without. */
int pai__nvml_links(pai__nvml *n, pai_gpus *gpus,
                    pai__nvml_device *const *handles);

/* What changes from second to second; -1 for what cannot be told.  Returns
 * NVML's result for the first thing asked. */
typedef struct pai__nvml_live {
  int64_t memory_total, memory_used;
  int32_t busy_percent, memory_busy_percent;
  int32_t temperature;
  int64_t power_mw, power_limit_mw;
} pai__nvml_live;
int pai__nvml_live_of(const pai__nvml *n, pai__nvml_device *device,
                      pai__nvml_live *out);

/* The processes of a device, those that compute and those that draw; one that
 * does both comes once.  `each` stops with a negative answer.  *room has
 * buffers of the caller's that are kept for the next call. */
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
