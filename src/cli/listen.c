/* listen.c - addresses of TCP, and how often they may be asked */
#include "serve.h"

#include <stdlib.h>
#include <string.h>

char *cli_join_addresses(const char *usual)
{
  size_t size = strlen(usual) + 1, len = 0;
  char *list;

  for (size_t i = 0; i < cli_values.count; i++)
    size += strlen(cli_values.words[i]) + 1;
  list = malloc(size);
  if (list == NULL)
    return NULL;
  (void)snprintf(list, size, "%s", cli_values.count == 0 ? usual : "");
  for (size_t i = 0; i < cli_values.count; i++)
    len += (size_t)snprintf(list + len, size - len, "%s%s", i > 0 ? "," : "",
                            cli_values.words[i]);
  return list;
}

void cli_set_rates(pai_server_options *o, unsigned rate)
{
  o->rate_requests = rate;
  o->rate_lists = rate > 0 ? 120 : 0;
  o->rate_submits = rate > 0 ? 3600 : 0;
}
