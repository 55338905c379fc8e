/*
 * faults.c - preloaded into openpai: what the library cannot be brought to do
 *
 * OPENPAI_TEST_FAULT says what: "log", a log line of each level; "silence",
 * no event is told.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <openpai/platform.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef int (*new_fn)(pai_platform **out, pai_loop *loop,
                      const pai_platform_options *opts, pai_error **err);

int pai_platform_new(pai_platform **out, pai_loop *loop,
                     const pai_platform_options *opts, pai_error **err)
{
  void *symbol = dlsym(RTLD_NEXT, "pai_platform_new");
  const char *fault = getenv("OPENPAI_TEST_FAULT");
  pai_platform_options o = *opts;
  new_fn real;

  memcpy(&real, &symbol, sizeof(real)); /* ISO C has no cast for it */
  if (fault != NULL && strcmp(fault, "log") == 0) {
    o.on_log(o.user_data, PAI_LOG_DEBUG, "a detail");
    o.on_log(o.user_data, PAI_LOG_INFO, "a note");
    o.on_log(o.user_data, PAI_LOG_WARNING, "a warning");
    o.on_log(o.user_data, PAI_LOG_ERROR, "an error");
  } else {
    o.on_event = NULL;
  }
  return real(out, loop, &o, err);
}
