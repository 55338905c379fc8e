/* event_json.c - an event as one line of JSON */
#include "server/server.h"

void pai__event_json(pai__json_writer *w, const char *name,
                     const pai_event *event, const int64_t *exit_code)
{
  const char *role = pai_event_role(event), *why;
  size_t len;

  pai__json_begin_object(w);
  pai__json_put_text(w, "event", role == NULL ? "job" : "task");
  pai__json_put_known(w, "name", name);
  pai__json_put_int(w, "time_us", pai_event_time(event));
  pai__json_put_int(w, "attempt", pai_event_attempt(event));
  if (role != NULL) {
    pai__json_put_text(w, "role", role);
    pai__json_put_int(w, "index", pai_event_index(event));
  }
  pai__json_put_text(w, "state", pai_state_name(pai_event_state(event)));
  if (pai_event_state(event) >= PAI_STATE_SUCCEEDED)
    pai__json_put_int(w, "code", pai_event_code(event));
  if (exit_code != NULL)
    pai__json_put_int(w, "appExitCode", *exit_code);
  why = pai_event_text(event, &len);
  if (len > 0) {
    pai__json_member(w, "text");
    pai__json_text(w, why, len);
  }
  pai__json_end_object(w);
}
