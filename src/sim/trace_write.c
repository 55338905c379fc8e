/* trace_write.c - a record as a line of our own form */
#include "sim/trace.h"

#include "json/writer.h"

static void put_key(pai__json_writer *w, const char *key)
{
  pai__json_key(w, key, strlen(key));
}

static void put_text(pai__json_writer *w, const char *key, const char *text)
{
  if (text == NULL)
    return;
  put_key(w, key);
  pai__json_text(w, text, strlen(text));
}

static void put_int(pai__json_writer *w, const char *key, int64_t value,
                    int64_t usual)
{
  if (value == usual)
    return;
  put_key(w, key);
  pai__json_int(w, value);
}

static void put_seconds(pai__json_writer *w, const char *key, pai_time time)
{
  char text[PAI__SECONDS_TEXT];
  size_t len = pai__seconds_write(text, time);

  put_key(w, key);
  pai__json_ready(w, text, len);
}

static void put_span(pai__json_writer *w, const char *key, pai_time time)
{
  if (time != 0)
    put_seconds(w, key, time);
}

static void put_want(pai__json_writer *w, const pai_want *want)
{
  put_text(w, "name", want->name);
  put_text(w, "type", want->type);
  put_int(w, "tasks", want->tasks, 1);
  put_int(w, "min_tasks", want->min_tasks, 0);
  put_int(w, "gpus", want->gpus, 0);
  put_int(w, "cpus", want->cpus, 0);
  put_int(w, "memory", (int64_t)want->memory, 0);
  put_int(w, "ports", want->ports, 0);
}

static void put_attempt(pai__json_writer *w, const pai_trace_attempt *a)
{
  put_seconds(w, "duration", a->duration);
  put_int(w, "code", a->code, 0);
}

static const pai_want *want_at(const pai_trace_record *r, size_t i)
{
  const char *first = (const char *)r->wants;

  return (const pai_want *)(const void *)(first + i * r->wants->struct_size);
}

static void put_wants(pai__json_writer *w, const pai_trace_record *r)
{
  if (r->nwants == 1 && r->wants->name == NULL) {
    put_want(w, r->wants);
    return;
  }
  put_key(w, "wants");
  pai__json_begin_array(w);
  for (size_t i = 0; i < r->nwants; i++) {
    pai__json_begin_object(w);
    put_want(w, want_at(r, i));
    pai__json_end_object(w);
  }
  pai__json_end_array(w);
}

static void put_attempts(pai__json_writer *w, const pai_trace_record *r)
{
  if (r->nattempts == 1) {
    put_attempt(w, r->attempts);
    return;
  }
  put_key(w, "attempts");
  pai__json_begin_array(w);
  for (size_t i = 0; i < r->nattempts; i++) {
    pai__json_begin_object(w);
    put_attempt(w, &r->attempts[i]);
    pai__json_end_object(w);
  }
  pai__json_end_array(w);
}

static void put_after(pai__json_writer *w, const pai_trace_record *r)
{
  if (r->nafter == 0)
    return;
  put_key(w, "after");
  pai__json_begin_array(w);
  for (size_t i = 0; i < r->nafter; i++)
    pai__json_text(w, r->after[i], strlen(r->after[i]));
  pai__json_end_array(w);
}

/* In the order of the reader's keys. */
static void put_job(pai__json_writer *w, const pai_trace_record *r)
{
  put_text(w, "id", r->id);
  put_text(w, "name", r->name);
  put_text(w, "user", r->user);
  put_text(w, "vc", r->vc);
  put_int(w, "priority", r->priority, 0);
  put_wants(w, r);
  put_attempts(w, r);
  put_span(w, "estimate", r->estimate);
  put_span(w, "limit", r->limit);
  put_span(w, "patience", r->patience);
  if (r->started != -1)
    put_seconds(w, "started", r->started);
  put_int(w, "retries", r->retries, 0);
  put_text(w, "pin", r->pin);
  put_text(w, "within", r->within);
  put_after(w, r);
}

static void put_node(pai__json_writer *w, const pai_trace_record *r)
{
  static const char *const words[] = { "up", "drain", "sick" };

  put_text(w, "node", r->node);
  put_text(w, "state", words[r->state]);
  put_text(w, "why", r->why);
}

static int check(const pai_trace_record *r, pai_error **err)
{
  if (r->kind == PAI_RECORD_NODE &&
      (r->node == NULL || r->state < 0 || r->state > PAI_NODE_SICK))
    return pai__fail(err, PAI_EINVAL,
                     "a record of a node has no node or "
                     "state");
  if (r->kind == PAI_RECORD_KILL && r->id == NULL)
    return pai__fail(err, PAI_EINVAL, "a record of a kill names no job");
  if (r->kind == PAI_RECORD_JOB &&
      (r->nwants == 0 || r->wants == NULL || r->nattempts == 0 ||
       r->attempts == NULL || (r->nafter > 0 && r->after == NULL)))
    return pai__fail(err, PAI_EINVAL,
                     "a record of a job wants nothing, or "
                     "never runs");
  if (r->kind < PAI_RECORD_JOB || r->kind > PAI_RECORD_KILL)
    return pai__fail(err, PAI_EINVAL, "there is no kind %d of a record",
                     r->kind);
  return PAI_OK;
}

int pai_trace_write(const pai_trace_record *record, pai_write_cb write,
                    void *user_data, pai_error **err)
{
  pai_trace_record r;
  pai__json_writer w;
  pai__buf text;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(record != NULL, err);
  PAI__CHECK_ARG_ERR(write != NULL, err);
  rc = PAI__COPY_IN(&r, record, pai_trace_record, why);
  if (rc < 0)
    return pai__fail_struct(err, rc, record, "pai_trace_record");
  rc = check(&r, err);
  if (rc < 0)
    return rc;
  pai__buf_init(&text, &pai__libc_alloc);
  pai__json_writer_init(&w, &text, false);
  pai__json_begin_object(&w);
  put_seconds(&w, "time", r.time);
  if (r.kind == PAI_RECORD_JOB)
    put_job(&w, &r);
  else if (r.kind == PAI_RECORD_NODE)
    put_node(&w, &r);
  else
    put_text(&w, "kill", r.id);
  pai__json_end_object(&w);
  rc = pai__json_finish(&w);
  pai__buf_char(&text, '\n');
  if (rc < 0 || !pai__buf_ok(&text))
    rc = pai__oom(err);
  else if ((rc = write(user_data, pai__buf_text(&text), text.len)) < 0)
    (void)pai__fail(err, rc, "the record could not be written");
  else
    rc = PAI_OK;
  pai__buf_dispose(&text);
  return rc;
}
