/* end.c - the first pattern that fits decides */
#include "job/end.h"

#include "job/exit.h"
#include "job/pattern.h"

/* What patterns are compared with. */
typedef struct seen {
  const pai__end_facts *facts;
  const char *pod, *reason; /* in Kubernetes' words */
  const char *message;
  int code; /* that the container ended with */
} seen;

static const char container[] = "app";

static bool fits(const char *pattern, pai__log_tail log, pai__log_match *where)
{
  pai__span span;
  pai__pattern p;

  if (pattern == NULL)
    return true;
  if (log.text == NULL || !pai__pattern_make(&p, pattern) ||
      !pai__pattern_find(&span, &p, log.text, log.len))
    return false;
  *where = (pai__log_match){ true, span.start, span.end };
  return true;
}

static bool fits_text(const char *pattern, const char *text)
{
  pai__log_tail all = { text, text != NULL ? strlen(text) : 0 };
  pai__log_match where;

  return fits(pattern, all, &where);
}

/* --- where the command ran -------------------------------------------------- */

static bool fits_runtime(const pai__exit_pattern *p, const seen *s,
                         pai__error_facts *e)
{
  e->in_user.found = e->in_platform.found = false;
  e->ecc = p->ecc;
  return (p->exit == 0 || p->exit == s->facts->code) &&
         (!p->ecc || s->facts->ecc) && fits(p->user, e->user, &e->in_user) &&
         fits(p->platform, e->platform, &e->in_platform);
}

/* What the container ends with; and what decided that. */
static void look_into_logs(const seen *s, pai__error_facts *e)
{
  *e = (pai__error_facts){ .user_code = s->facts->code,
                           .user = s->facts->user,
                           .platform = s->facts->runtime };
  for (size_t i = 0; i < pai__exit_count; i++) {
    const pai__exit *row = &pai__exit_rows[i];
    const pai__exit_pattern *p = row->patterns;

    for (; row->code > 0 && p != NULL && p->exit >= 0; p++)
      if (fits_runtime(p, s, e)) {
        e->code = row->code;
        return;
      }
  }
  e->in_user.found = e->in_platform.found = e->ecc = false;
  e->code = PAI__CODE_UNRECOGNIZED;
}

/* --- what Kubernetes would say ------------------------------------------------ */

static bool fits_pod(const pai__exit_pattern *p, const seen *s)
{
  return fits_text(p->pod, s->pod) && (p->exit == 0 || p->exit == s->code) &&
         fits_text(p->name, s->reason != NULL ? container : NULL) &&
         fits_text(p->reason, s->reason) && fits_text(p->message, s->message);
}

/* The code of the first pattern; `other` without one. */
static int look_at_pod(const seen *s, int other)
{
  for (size_t i = 0; i < pai__exit_count; i++) {
    const pai__exit *row = &pai__exit_rows[i];
    const pai__exit_pattern *p = row->patterns;

    for (; row->code < 0 && p != NULL && p->exit >= 0; p++)
      if (fits_pod(p, s))
        return row->code;
  }
  return other;
}

/* --- diagnostics ------------------------------------------------------------------ */

static void put(pai__json_writer *w, const char *key, const char *value)
{
  if (value == NULL || *value == '\0')
    return;
  pai__json_key(w, key, strlen(key));
  pai__json_text(w, value, strlen(value));
}

static void put_container(pai__json_writer *w, const seen *s,
                          const pai__buf *message)
{
  pai__json_key(w, "containers", 10);
  pai__json_begin_array(w);
  pai__json_begin_object(w);
  put(w, "name", container);
  put(w, "reason", s->reason);
  pai__json_key(w, "message", 7);
  pai__json_text(w, pai__buf_text(message), message->len);
  pai__json_key(w, "code", 4);
  pai__json_int(w, s->code);
  pai__json_end_object(w);
  pai__json_end_array(w);
}

static int put_diagnostics(pai__buf *out, const seen *s, bool matched,
                           const pai__buf *message)
{
  pai__json_writer w;

  pai__buf_str(out,
               matched ? "PodPattern matched: " : "PodPattern unmatched: ");
  pai__json_writer_init(&w, out, false);
  pai__json_begin_object(&w);
  put(&w, "reason", s->pod);
  if (s->reason != NULL)
    put_container(&w, s, message);
  else
    put(&w, "message", s->message);
  pai__json_end_object(&w);
  return pai__json_finish(&w) == PAI_OK && pai__buf_ok(out) ? PAI_OK
                                                            : PAI_ENOMEM;
}

/* --- each way to end ----------------------------------------------------------------- */

/* Commands that ran: what they wrote is looked into. */
static int judge_run(int *code, pai__buf *out, seen *s)
{
  bool oom = s->facts->how == PAI__END_OOM;
  pai__error_facts e;
  pai__buf message;
  int rc;

  look_into_logs(s, &e);
  s->code = oom ? s->facts->code : e.code;
  s->reason = oom ? "OOMKilled" : "Error";
  *code = oom ? look_at_pod(s, e.code) : e.code;
  if (oom) /* whatever the logs look like */
    e = (pai__error_facts){ .code = s->code,
                            .user_code = s->code,
                            .user = s->facts->user,
                            .platform = s->facts->runtime };
  pai__buf_init(&message, out->alloc);
  rc = pai__end_excerpt(&message, &e);
  if (rc == PAI_OK)
    rc = put_diagnostics(out, s, true, &message);
  pai__buf_dispose(&message);
  return rc;
}

/* One that could not be started: of what cannot be run Docker says so. */
static int judge_start(int *code, pai__buf *out, seen *s)
{
  pai__buf message;
  int rc;

  s->reason = "ContainerCannotRun";
  s->code = s->facts->code;
  *code = look_at_pod(s, PAI__CODE_ABNORMAL);
  pai__buf_init(&message, out->alloc);
  if (s->message != NULL)
    pai__buf_str(&message, s->message);
  rc = pai__buf_ok(&message)
         ? put_diagnostics(out, s, *code != PAI__CODE_ABNORMAL, &message)
         : PAI_ENOMEM;
  pai__buf_dispose(&message);
  return rc;
}

pai__end_facts pai__end_told(const pai_task_end *end)
{
  pai__end_facts f = { .how = PAI__END_LOST,
                       .code = end->code,
                       .memory_short = end->oom == 2,
                       .user = { end->log, end->log_len },
                       .runtime = { end->runtime, end->runtime_len },
                       .why = end->text };

  if (end->oom == 1)
    f.how = PAI__END_OOM;
  else if (end->how == PAI_END_EXIT || end->how == PAI_END_SIGNAL)
    f.how = PAI__END_EXITED;
  else if (end->how == PAI_END_FAILED || end->how == PAI_END_SHORT)
    f.how = PAI__END_FAILED;
  else if (end->how == PAI_END_PLATFORM)
    f.how = PAI__END_PLATFORM;
  return f;
}

int pai__end_judge(int *code, pai__buf *out, const pai__end_facts *facts)
{
  seen s = { .facts = facts, .message = facts->why };

  *code = 0;
  switch (facts->how) {
  case PAI__END_EXITED:
    return facts->code == 0 ? PAI_OK : judge_run(code, out, &s);
  case PAI__END_OOM: return judge_run(code, out, &s);
  case PAI__END_FAILED: return judge_start(code, out, &s);
  case PAI__END_NODE_LOST:
  case PAI__END_PLATFORM:
    s.pod = facts->how == PAI__END_NODE_LOST ? "NodeLost" : facts->why;
    *code = look_at_pod(&s, PAI__CODE_ABNORMAL);
    return put_diagnostics(out, &s, *code != PAI__CODE_ABNORMAL, NULL);
  case PAI__END_NEVER:
    *code = -111; /* what was to be started was never seen */
    return put_diagnostics(out, &s, false, NULL);
  case PAI__END_LOST: break;
  }
  *code = PAI__CODE_ABNORMAL;
  return put_diagnostics(out, &s, false, NULL);
}

int pai__end_user_code(const pai__end_facts *facts)
{
  return facts->how == PAI__END_EXITED || facts->how == PAI__END_OOM
           ? facts->code
           : 0;
}
