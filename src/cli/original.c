/* original.c - what a server of the original OpenPAI is asked in another way */
#include "remote.h"

#include <stdlib.h>
#include <string.h>

/* --- states ------------------------------------------------------------------- */

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

static void on_turn(void *data)
{
  const cli_watch *w = data;

  if (w->tick != NULL)
    w->tick(w->user_data);
}

void cli_remote_watch(cli_remote *r, cli_answer *out, const cli_watch *watch)
{
  cli_watch w = *watch;

  cli_remote_call_ticking(r, out, start_watch, &w, on_turn, w.every_ms);
}

/* --- logs ------------------------------------------------------------------------ */

static int on_data(void *user_data, const char *bytes, size_t len)
{
  const cli_log *log = cli_remote_data(user_data);

  return log->on_bytes(NULL, bytes, len);
}

static int start_log(cli_remote *r, void *data, pai_client_cb cb,
                     void *user_data, pai_error **err)
{
  const cli_log *log = data;
  pai_client_log_options o = PAI_CLIENT_LOG_OPTIONS_INIT;
  char *job = cli_whole_name(log->job);
  int rc;

  o.job = job;
  o.role = log->role;
  o.index = log->index;
  o.name = log->name;
  o.follow = log->follow;
  o.on_data = on_data;
  rc = pai_client_logs(NULL, r->client, &o, cb, user_data, err);
  free(job);
  return rc;
}

void cli_remote_log(cli_remote *r, cli_answer *out, const cli_log *log)
{
  cli_log l = *log;

  cli_remote_call(r, out, start_log, &l, NULL);
}
