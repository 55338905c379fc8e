/* event_json.c - an event as one line of JSON */
#include "server/server.h"

static void text(pai__json_writer *w, const char *key, const char *value,
                 size_t len)
{
  pai__json_key(w, key, strlen(key));
  pai__json_text(w, value, len);
}

static void number(pai__json_writer *w, const char *key, int64_t value)
{
  pai__json_key(w, key, strlen(key));
  pai__json_int(w, value);
}

void pai__event_json(pai__json_writer *w, const char *name,
                     const pai_event *event, const int64_t *exit_code)
{
  const char *role = pai_event_role(event), *state, *why;
  size_t len;

  pai__json_begin_object(w);
  text(w, "event", role == NULL ? "job" : "task", role == NULL ? 3 : 4);
  if (name != NULL)
    text(w, "name", name, strlen(name));
  number(w, "time_us", pai_event_time(event));
  number(w, "attempt", pai_event_attempt(event));
  if (role != NULL) {
    text(w, "role", role, strlen(role));
    number(w, "index", pai_event_index(event));
  }
  state = pai_state_name(pai_event_state(event));
  text(w, "state", state, strlen(state));
  if (pai_event_state(event) >= PAI_STATE_SUCCEEDED)
    number(w, "code", pai_event_code(event));
  if (exit_code != NULL)
    number(w, "appExitCode", *exit_code);
  why = pai_event_text(event, &len);
  if (len > 0)
    text(w, "text", why, len);
  pai__json_end_object(w);
}
