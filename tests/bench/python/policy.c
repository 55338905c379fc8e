/* policy.c - policy.py's policy in C: a plug-in that asks only who waits next */
#include <openpai/policy.h>

static int decide(void *state, void *data, const pai_policy_host *host)
{
  uint64_t id;
  int rc = 1;

  (void)state;
  (void)data;
  while (rc > 0 && (id = host->next_waiting(host, 0)) != 0)
    rc = host->start(host, id, NULL);
  return rc;
}

static const pai_policy strict = { .struct_size = sizeof(strict),
                                   .version = PAI_POLICY_VERSION,
                                   .name = "strict",
                                   .about = "first come, first served",
                                   .decide = decide };

extern const pai_plugin_entry pai_plugin;
PAI_API const pai_plugin_entry pai_plugin = { sizeof(pai_plugin_entry),
                                              PAI_PLUGIN_ABI,
                                              PAI_PLUGIN_POLICY, &strict };
