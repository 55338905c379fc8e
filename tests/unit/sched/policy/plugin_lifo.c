/* A policy in a shared object, which needs no symbol of the library: whoever
 * came last goes first. */
#include <openpai/policy.h>

static int decide(void *state, void *data, const pai_policy_host *host)
{
  uint64_t last = 0, id;
  int rc = 1;

  (void)state;
  (void)data;
  for (; rc > 0; last = 0) {
    for (id = host->next_waiting(host, 0); id != 0;
         id = host->next_waiting(host, id))
      last = id;
    rc = last != 0 ? host->start(host, last, NULL) : 0;
  }
  return rc;
}

static const pai_policy lifo = { .struct_size = sizeof(lifo),
                                 .version = PAI_POLICY_VERSION,
                                 .name = "lifo",
                                 .about = "last come, first served",
                                 .decide = decide };

#ifndef PLUGIN_ABI
#define PLUGIN_ABI PAI_PLUGIN_ABI
#endif

extern const pai_plugin_entry pai_plugin;
PAI_API const pai_plugin_entry pai_plugin = { sizeof(pai_plugin_entry),
                                              PLUGIN_ABI, PAI_PLUGIN_POLICY,
                                              &lifo };
