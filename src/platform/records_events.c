/* records_events.c - what happened to a job; its tags */
#include "platform/records.h"

#include <stdio.h>
#include <time.h>

/* As JavaScript writes it: "2026-01-02T03:04:05.678Z". */
static void member_date(pai__reply *a, const char *key, pai_time time)
{
  time_t seconds = (time_t)(time / 1000000);
  struct tm tm;
  char text[40];
  size_t len;

  (void)gmtime_r(&seconds, &tm);
  len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
  (void)snprintf(text + len, sizeof(text) - len, ".%03dZ",
                 (int)(time / 1000 % 1000));
  pai__member_text(a, key, text);
}

typedef struct events {
  pai__reply *a;
  pai__buf framework; /* the job's encoded name */
  int64_t count;
  bool writing; /* or counting */
} events;

static void write_task_name(events *e, const pai__event_row *row)
{
  pai__buf name;

  pai__buf_init(&name, &e->a->p->alloc);
  if (row->role != NULL) {
    pai__buf_printf(&name, "%s-", pai__buf_text(&e->framework));
    pai__name_role(&name, row->role);
    pai__buf_printf(&name, "-%lld", (long long)row->index.value);
  }
  pai__member_text(e->a, "taskName",
                   row->role != NULL ? pai__buf_text(&name) : NULL);
  pai__buf_dispose(&name);
}

static int on_event(void *user_data, const pai__event_row *row)
{
  events *e = user_data;
  pai__reply *a = e->a;

  e->count++;
  if (!e->writing)
    return PAI_OK;
  pai__json_begin_object(&a->w);
  pai__member_text(a, "uid", row->uid);
  pai__member_text(a, "frameworkName", pai__buf_text(&e->framework));
  pai__member_text(a, "podUid", row->task_uid);
  pai__member_text(a, "taskroleName", row->role);
  write_task_name(e, row);
  pai__member_maybe(a, "taskIndex", row->index);
  pai__member_text(a, "type", row->type);
  pai__member_text(a, "reason", row->reason);
  pai__member_text(a, "message", row->message);
  member_date(a, "firstTimestamp", row->first);
  member_date(a, "lastTimestamp", row->last);
  pai__member_int(a, "count", row->count);
  pai__member_text(a, "sourceComponent", row->component);
  pai__member_text(a, "sourceHost", row->host);
  pai__json_end_object(&a->w);
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
  pai__member_int(&a, "totalCount", e.count);
  pai__member(&a, "data");
  pai__json_begin_array(&a.w);
  e.writing = true;
  if (rc == PAI_OK)
    rc = pai__store_events(p->store, job, type, on_event, &e, err);
  pai__json_end_array(&a.w);
  pai__json_end_object(&a.w);
  pai__buf_dispose(&e.framework);
  return pai__reply_end(&a, rc);
}

/* --- tags ------------------------------------------------------------------------- */

static int check_tag(pai_platform *p, pai_job_id job, const char *tag,
                     pai_error **err)
{
  enum { LONGEST = 512 };

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(p != NULL && tag != NULL, err);
  PAI__CHECK_PROCESS(p, err);
  if (p->store == NULL)
    return pai__fail(err, PAI_ENOTSUP, "the platform keeps no records");
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
