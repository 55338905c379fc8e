/* methods.c - the methods of our own that the helper adds to the language
 * server: one row each */
#include "helper.h"

#include <string.h>

static const struct {
  const char *name;
  helper_method handle;
} methods[] = {
  { "openpai/addCluster", helper_do_add_cluster },
  { "openpai/call", helper_do_call },
  { "openpai/calls", helper_do_calls },
  { "openpai/clusters", helper_do_clusters },
  { "openpai/copy", helper_do_copy },
  { "openpai/debugJob", helper_do_debug_job },
  { "openpai/events", helper_do_events },
  { "openpai/exec", helper_do_exec },
  { "openpai/execInput", helper_do_exec_input },
  { "openpai/findServer", helper_do_find_server },
  { "openpai/forgetCluster", helper_do_forget_cluster },
  { "openpai/login", helper_do_login },
  { "openpai/loginPage", helper_do_login_page },
  { "openpai/logs", helper_do_logs },
  { "openpai/useCluster", helper_do_use },
  { "openpai/whatIf", helper_do_what_if },
};

/* Settings of the editor: the cluster that it works with. */
static void take_settings(helper_editor *e, const pai_json *settings)
{
  const char *cluster = cli_json_text(settings, 0, "cluster");

  if (cli_json_has(settings, 0, "cluster") &&
      strcmp(cluster, e->cluster != NULL ? e->cluster : "") != 0)
    (void)helper_cluster_choose(e, cluster);
}

int helper_other(void *user_data, uint64_t request, const char *method,
                 const char *params, size_t len)
{
  helper_editor *e = user_data;
  pai_json *json = NULL;
  int taken = 0;

  if (pai_json_read(&json, params, len, NULL, NULL) < 0)
    return 0;
  if (request == 0 && strcmp(method, "openpai/settings") == 0)
    take_settings(e, json);
  for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
    if (request != 0 && strcmp(methods[i].name, method) == 0) {
      methods[i].handle(e, request, json);
      taken = 1;
    }
  pai_json_free(json);
  return taken;
}

void helper_ask(void *user_data, uint64_t question, int kind, const char *text,
                size_t len)
{
  if (kind == PAI_LANGUAGE_NAMES)
    helper_ask_names(user_data, question);
  else
    helper_ask_estimate(user_data, question, text, len);
}

void helper_cancel(void *user_data, uint64_t number)
{
  const helper_editor *e = user_data;
  helper_call *c = e->calls;

  while (c != NULL && c->request != number && c->question != number)
    c = c->next;
  if (c != NULL)
    helper_call_cancel(c);
}
