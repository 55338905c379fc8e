/* text.c - messages of failures, and names of constants */
#include "facade.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *facade_message(const failure *f)
{
  if (f->err != NULL)
    return pai_error_message(f->err);
  if (f->made != NULL)
    return f->made;
  return f->text != NULL ? f->text : pai_code_name(f->code);
}

void facade_failure_dispose(failure *f)
{
  pai_error_free(f->err);
  pai_report_free(f->report);
  free(f->made);
  free(f->file);
  free(f->help);
  free(f->api_code);
  *f = (failure){ .code = f->code };
}

const char *facade_help(const failure *f)
{
  return f->help != NULL ? f->help : pai_error_help(f->err);
}

const char *facade_api_code(const failure *f)
{
  return f->api_code != NULL ? f->api_code : pai_error_api_code(f->err);
}

int facade_http_status(const failure *f)
{
  return f->http_status != 0 ? f->http_status : pai_error_http_status(f->err);
}

int facade_no_answer(const failure *f)
{
  return f->no_answer != 0 ? f->no_answer : pai_error_no_answer(f->err);
}

bool facade_retriable(const failure *f)
{
  return f->retriable || pai_error_retriable(f->err) != 0;
}

const char *facade_file(const failure *f)
{
  return f->file != NULL ? f->file : pai_error_file(f->err);
}

int facade_errno(const failure *f)
{
  return f->error != 0 ? f->error : pai_error_number(f->err);
}

int64_t facade_retry_after(const failure *f)
{
  return f->wait != 0 ? f->wait : pai_error_retry_after(f->err);
}

bool facade_cause(failure *cause, const failure *f)
{
  *cause = (failure){ .err = (pai_error *)pai_error_cause(f->err) };
  cause->code = pai_error_code(cause->err);
  return cause->err != NULL;
}

char *facade_describe(const failure *f)
{
  const char *help = facade_help(f);
  const char *message = facade_message(f);
  unsigned column = pai_error_column(f->err);
  char where[64] = "", at[32] = "";
  const char *file = f->file != NULL ? f->file : "";
  char *text;
  int len;

  if (column > 0)
    (void)snprintf(at, sizeof(at), ", column %u", column);
  if (pai_error_line(f->err) == 0)
    file = "";
  else
    (void)snprintf(where, sizeof(where),
                   "%sline %u%s: ", *file != '\0' ? ", " : "",
                   (unsigned)pai_error_line(f->err), at);
  for (size_t size = 256;; size = (size_t)len + 1) {
    text = malloc(size);
    if (text == NULL)
      return NULL;
    len = snprintf(text, size, "%s%s%s%s%s", file, where, message,
                   help != NULL ? "\nhelp: " : "", help != NULL ? help : "");
    if (len >= 0 && (size_t)len < size)
      return text;
    free(text);
    if (len < 0)
      return NULL;
  }
}

static const char *event_type(const pai_event *event)
{
  switch (pai_event_type(event)) {
  case PAI_EVENT_JOB: return "job";
  case PAI_EVENT_TASK: return "task";
  case PAI_EVENT_OUTPUT: return "output";
  default: return "?"; /* of a newer library */
  }
}

static const char *event_stream(const pai_event *event)
{
  switch (pai_event_stream(event)) {
  case 1: return "stdout";
  case 2: return "stderr";
  default: return NULL;
  }
}

const char *facade_state_name(int state)
{
  return state > 0 ? pai_state_name(state) : NULL;
}

const char *facade_severity_name(int severity)
{
  return severity == PAI_SEVERITY_ERROR ? "error" : "warning";
}

const char *facade_change_name(int kind)
{
  switch (kind) {
  case PAI_CHANGE_ADDED: return "added";
  case PAI_CHANGE_REMOVED: return "removed";
  case PAI_CHANGE_MOVED: return "moved";
  default: return "changed";
  }
}

bool facade_is_final(int state)
{
  return state >= PAI_STATE_SUCCEEDED;
}

/* --- events ----------------------------------------------------------------- */

static event_member number(const char *name, bool there, int64_t value)
{
  return (event_member){ .name = name,
                         .kind = there ? EVENT_NUMBER : EVENT_NONE,
                         .number = value };
}

static event_member text(const char *name, const char *value)
{
  return (event_member){ .name = name,
                         .kind = value != NULL ? EVENT_TEXT : EVENT_NONE,
                         .text = value,
                         .len = value != NULL ? strlen(value) : 0 };
}

void facade_event_members(event_member out[EVENT_MEMBERS],
                          const pai_event *event)
{
  const char *role = pai_event_role(event);
  int state = pai_event_state(event);
  event_member data = { .name = "text", .kind = EVENT_BYTES };
  size_t n = 0;

  data.text = pai_event_text(event, &data.len);
  out[n++] = text("type", event_type(event));
  out[n++] = number("job", true, (int64_t)pai_event_job(event));
  out[n++] = number("time_us", true, pai_event_time(event));
  out[n++] = text("state", facade_state_name(state));
  out[n++] =
    number("code", facade_is_final(state), (int64_t)pai_event_code(event));
  out[n++] = text("role", role);
  out[n++] = number("index", role != NULL, pai_event_index(event));
  out[n++] = number("attempt", true, pai_event_attempt(event));
  out[n++] = text("stream", event_stream(event));
  out[n] = data;
}
