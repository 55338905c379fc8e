/* caller.c - who calls a played server */
#define _GNU_SOURCE
#include "client/caller.h"

#include <stdio.h>

void caller_begin(caller *w, bool ours,
                  void (*answer)(played *p, const char *request,
                                 pai__buf *out))
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;

  memset(w, 0, sizeof(*w));
  w->loop = open_loop();
  w->ours = ours;
  played_open(&w->p, w->loop, answer);
  w->p.user_data = w;
  options.url = w->p.url;
  options.token = "h.eyJ1c2VybmFtZSI6ImFubiJ9.s";
  options.first_wait = 1;
  options.most_wait = 1000;
  assert_ok(pai_client_new(&w->client, w->loop, &options, NULL));
}

void caller_end(caller *w)
{
  if (w->client != NULL)
    close_client(w->loop, w->client);
  played_close(&w->p);
  close_loop(w->loop);
}

bool caller_info(caller *w, const char *request, pai__buf *out)
{
  if (!asks_for(request, "GET /api/v2/info "))
    return false;
  assert_null(strcasestr(request, "authorization"));
  say(out, "200 OK",
      w->ours ? "{\"name\":\"PAI RESTful API\",\"server\":\"libopenpai\"}"
              : "{\"name\":\"PAI RESTful API\",\"version\":\"v1.8.0\"}");
  return true;
}

void say_job(pai__buf *out, const char *state, int code)
{
  char body[512];

  (void)snprintf(body, sizeof(body),
                 "{\"name\":\"one\",\"jobStatus\":{\"username\":\"ann\","
                 "\"state\":\"%s\",\"attemptId\":2,\"appExitCode\":%d},"
                 "\"taskRoles\":{\"worka\":{\"taskStatuses\":[{\"taskIndex\":"
                 "0,\"attemptId\":3,\"taskState\":\"%s\"}]}}}",
                 state, code, state);
  say(out, "200 OK", body);
}
