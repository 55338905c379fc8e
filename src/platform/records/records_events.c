/* records_events.c - events and tags of a job */
#include "platform/records/records.h"

#include <stdio.h>
#include <time.h>

/* Writes a time as JavaScript does: "2026-01-02T03:04:05.678Z". */
static int value_date(pai__reply *a, pai_time time)
{
  time_t seconds = (time_t)(time / 1000000);
  struct tm tm;
  char text[40];
  size_t len;

  (void)gmtime_r(&seconds, &tm);
  len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
  (void)snprintf(text + len, sizeof(text) - len, ".%03dZ",
                 (int)(time / 1000 % 1000));
  return pai__reply_text(a, text);
}

typedef struct events {
  pai__reply *a;
  pai__buf framework; /* the job's encoded name */
  int64_t count;
  bool writing; /* false: counting */
} events;

static int value_task_name(events *e, const pai__event_row *row)
{
  pai__buf name;

  pai__buf_init(&name, &e->a->p->alloc);
  if (row->role != NULL) {
    pai__buf_printf(&name, "%s-", pai__buf_text(&e->framework));
    pai__name_role(&name, row->role);
    pai__buf_printf(&name, "-%lld", (long long)row->index.value);
  }
  (void)pai__reply_text(e->a, row->role != NULL ? pai__buf_text(&name) : NULL);
  pai__buf_dispose(&name);
  return PAI_OK;
}

static int event_value(void *user_data, unsigned field, const void *of)
{
  const pai__event_row *row = of;
  events *e = user_data;

  switch (field) {
  case PAI__JobEvent_frameworkName:
    return pai__reply_text(e->a, pai__buf_text(&e->framework));
  case PAI__JobEvent_taskName: return value_task_name(e, row);
  case PAI__JobEvent_firstTimestamp: return value_date(e->a, row->first);
  default: /* PAI__JobEvent_lastTimestamp */
    return value_date(e->a, row->last);
  }
}

static int on_event(void *user_data, const pai__event_row *row)
{
  events *e = user_data;
  pai__reply *a = e->a;

  e->count++;
  if (!e->writing)
    return PAI_OK;
  (void)pai__api_object(&a->w, &pai__api_JobEvent, row, event_value, e);
  return PAI_OK;
}

static int on_job(void *user_data, const pai__job_row *row)
{
  events *e = user_data;
  pai__buf whole;

  pai__buf_init(&whole, &e->a->p->alloc);
  pai__buf_printf(&whole, "%s~%s", row->user, row->name);
  pai__name_encode(&e->framework, pai__buf_text(&whole));
  pai__buf_dispose(&whole);
  return PAI_OK;
}

int pai_platform_events(pai_platform *p, pai_job_id job, const char *type,
                        pai_write_cb write, void *user_data, pai_error **err)
{
  pai__reply a;
  events e = { .a = &a };
  int rc = pai__reply_begin(&a, p, write, user_data, err);

  if (rc < 0)
    return rc;
  pai__buf_init(&e.framework, &p->alloc);
  rc = pai__store_job(p->store, job, on_job, &e, err);
  if (rc == PAI_OK)
    rc = pai__store_events(p->store, job, type, on_event, &e, err);
  pai__json_begin_object(&a.w);
  pai__json_put_int(&a.w, "totalCount", e.count);
  pai__json_member(&a.w, "data");
  pai__json_begin_array(&a.w);
  e.writing = true;
  if (rc == PAI_OK)
    rc = pai__store_events(p->store, job, type, on_event, &e, err);
  pai__json_end_array(&a.w);
  pai__json_end_object(&a.w);
  pai__buf_dispose(&e.framework);
  return pai__reply_end(&a, rc);
}

/* --- tags ----------------------------------------------------------------- */

static int check_tag(pai_platform *p, pai_job_id job, const char *tag,
                     pai_error **err)
{
  enum { LONGEST = 512 };

  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(tag != NULL, err);
  if (p->store == NULL)
    return pai__no_records(err);
  if (*tag == '\0' || strlen(tag) > LONGEST || strchr(tag, ',') != NULL)
    return pai__fail(err, PAI_EINVAL, "a tag has 1 to %d bytes and no comma",
                     LONGEST);
  if (pai_platform_job_state(NULL, p, job) < 0)
    return pai__fail(err, PAI_ENOTFOUND, "there is no such job");
  return PAI_OK;
}

int pai_platform_tag(pai_platform *p, pai_job_id job, const char *tag,
                     pai_error **err)
{
  int rc = check_tag(p, job, tag, err);

  if (rc < 0)
    return rc;
  if (pai__batch_put_tag(p->batch, job, tag) < 0)
    return pai__oom(err);
  pai__platform_hurry(p);
  return PAI_OK;
}

typedef struct tag_search {
  const char *tag;
  bool found;
} tag_search;

static int on_tag(void *user_data, const char *tag)
{
  tag_search *s = user_data;

  s->found |= strcmp(s->tag, tag) == 0;
  return PAI_OK;
}

int pai_platform_untag(pai_platform *p, pai_job_id job, const char *tag,
                       pai_error **err)
{
  tag_search s = { tag, false };
  int rc = check_tag(p, job, tag, err);

  if (rc == PAI_OK)
    rc = pai__store_tags(p->store, job, on_tag, &s, err);
  if (rc == PAI_OK && !s.found)
    return pai__fail(err, PAI_ENOTFOUND, "the job has no tag \"%s\"", tag);
  if (rc == PAI_OK && pai__batch_drop_tag(p->batch, job, tag) < 0)
    return pai__oom(err);
  pai__platform_hurry(p);
  return rc;
}
