/* original.c - calls that a server of the original OpenPAI needs in another
 * form */
#include "remote.h"

#include <stdlib.h>

static int on_change(void *user_data, const pai_client_change *change)
{
  const cli_watch *w = cli_remote_data(user_data);

  return w->on_change != NULL ? w->on_change(w->user_data, change) : PAI_OK;
}

static int start_watch(cli_remote *r, void *data, pai_client_cb cb,
                       void *user_data, pai_error **err)
{
  const cli_watch *w = data;
  char *job = cli_whole_name(w->job);
  int rc =
    pai_client_watch(NULL, r->client, job, on_change, cb, user_data, err);

  free(job);
  return rc;
}

static void on_step(void *data)
{
  const cli_watch *w = data;

  if (w->tick != NULL)
    w->tick(w->user_data);
}

void cli_remote_watch(cli_remote *r, cli_answer *out, const cli_watch *watch)
{
  cli_watch w = *watch;

  cli_remote_call_ticking(r, out, start_watch, &w, on_step, w.every_ms);
}
