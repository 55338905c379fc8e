/* event.c - accessors of pai_event */
#include "platform/platform.h"

int pai_event_type(const pai_event *event)
{
  return event->type;
}

pai_job_id pai_event_job(const pai_event *event)
{
  return event->job;
}

pai_time pai_event_time(const pai_event *event)
{
  return event->time;
}

int pai_event_state(const pai_event *event)
{
  return event->state;
}

int pai_event_code(const pai_event *event)
{
  return event->code;
}

const char *pai_event_role(const pai_event *event)
{
  return event->role;
}

uint32_t pai_event_index(const pai_event *event)
{
  return event->index;
}

uint32_t pai_event_attempt(const pai_event *event)
{
  return event->attempt;
}

int pai_event_stream(const pai_event *event)
{
  return event->stream;
}

const char *pai_event_text(const pai_event *event, size_t *len)
{
  if (len != NULL)
    *len = event->len;
  return event->text;
}
