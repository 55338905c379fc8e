/* trace_write.c - writes records as JSON lines */
#include "sim/trace/trace.h"

#include "sim/report/format.h"
#include "json/writer.h"

static void put_int(pai__json_writer *w, const char *key, int64_t value,
                    int64_t usual)
{
  if (value != usual)
    pai__json_put_int(w, key, value);
}

static void put_seconds(pai__json_writer *w, const char *key, pai_time time,
                        pai_time usual)
{
  if (time == usual)
    return;
  pai__json_member(w, key);
  pai__sim_put_decimal(w, time, 6);
}

/* Traces have whole CPUs only, so a part is rounded up. */
static int64_t whole_cpus(const pai_want *want)
{
  bool has_part =
    want->struct_size >= offsetof(pai_want, cpu_millis) + sizeof(uint32_t) &&
    want->cpu_millis != 0;

  return (int64_t)want->cpus + has_part;
}

static void put_want(pai__json_writer *w, const pai_want *want)
{
  pai__json_put_known(w, "name", want->name);
  pai__json_put_known(w, "type", want->type);
  put_int(w, "tasks", want->tasks, 1);
  put_int(w, "min_tasks", want->min_tasks, 0);
  put_int(w, "gpus", want->gpus, 0);
  put_int(w, "cpus", whole_cpus(want), 0);
  put_int(w, "memory", (int64_t)want->memory, 0);
  put_int(w, "ports", want->ports, 0);
}

static void put_attempt(pai__json_writer *w, const pai_trace_attempt *a)
{
  pai__json_member(w, "duration");
  pai__sim_put_decimal(w, a->duration, 6);
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
  pai__json_put_array(w, "wants");
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
  pai__json_put_array(w, "attempts");
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
  pai__json_put_array(w, "after");
  for (size_t i = 0; i < r->nafter; i++)
    pai__json_string(w, r->after[i]);
  pai__json_end_array(w);
}

/* Writes keys in the order of the table in jsonl.c. */
static void put_job(pai__json_writer *w, const pai_trace_record *r)
{
  pai__json_put_known(w, "id", r->id);
  pai__json_put_known(w, "name", r->name);
  pai__json_put_known(w, "user", r->user);
  pai__json_put_known(w, "vc", r->vc);
  put_int(w, "priority", r->priority, 0);
  put_wants(w, r);
  put_attempts(w, r);
  put_seconds(w, "estimate", r->estimate, 0);
  put_seconds(w, "limit", r->limit, 0);
  put_seconds(w, "patience", r->patience, 0);
  put_seconds(w, "started", r->started, -1);
  put_int(w, "retries", r->retries, 0);
  pai__json_put_known(w, "pin", r->pin);
  pai__json_put_known(w, "within", r->within);
  put_after(w, r);
}

static void put_node(pai__json_writer *w, const pai_trace_record *r)
{
  pai__json_put_known(w, "node", r->node);
  pai__json_put_known(w, "state", pai__node_words[r->state]);
  pai__json_put_known(w, "why", r->why);
}

static int check(const pai_trace_record *r, pai_error **err)
{
  if (r->kind == PAI_RECORD_NODE &&
      (r->node == NULL || r->state < 0 || r->state > PAI_NODE_SICK))
    return pai__fail(err, PAI_EINVAL,
                     "a node record needs a node and a state");
  if (r->kind == PAI_RECORD_KILL && r->id == NULL)
    return pai__fail(err, PAI_EINVAL, "a kill record needs a job");
  if (r->kind == PAI_RECORD_JOB &&
      (r->nwants == 0 || r->wants == NULL || r->nattempts == 0 ||
       r->attempts == NULL || (r->nafter > 0 && r->after == NULL)))
    return pai__fail(err, PAI_EINVAL,
                     "a job record needs resources and attempts");
  if (r->kind < PAI_RECORD_JOB || r->kind > PAI_RECORD_KILL)
    return pai__fail(err, PAI_EINVAL, "unknown kind of record: %d", r->kind);
  return PAI_OK;
}

int pai_trace_write(const pai_trace_record *record, pai_write_cb write,
                    void *user_data, pai_error **err)
{
  pai_trace_record r;
  pai__json_writer w;
  pai__buf text;
  int rc;

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
  pai__json_member(&w, "time");
  pai__sim_put_decimal(&w, r.time, 6);
  if (r.kind == PAI_RECORD_JOB)
    put_job(&w, &r);
  else if (r.kind == PAI_RECORD_NODE)
    put_node(&w, &r);
  else
    pai__json_put_known(&w, "kill", r.id);
  pai__json_end_object(&w);
  rc = pai__json_finish(&w);
  pai__buf_char(&text, '\n');
  return pai__text_write(&text, rc, write, user_data, err);
}
