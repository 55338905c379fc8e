/* end.c - completion code of a task's end: the first matching pattern of the
 * exit spec decides */
#include "job/end/end.h"

#include "job/end/exit.h"
#include "job/end/pattern.h"

/* The facts that patterns are compared with. */
typedef struct seen {
  const pai__end_facts *facts;
  const char *pod, *reason; /* in Kubernetes' terms */
  const char *message;
  int code;    /* the container's exit code */
  bool failed; /* out of memory */
} seen;

static const char container[] = "app";

static bool fits(seen *s, const char *pattern, pai__log_tail log,
                 pai__log_match *where)
{
  pai__pattern_span found[1 + PAI__PATTERN_GROUPS];
  pai__pattern p;
  int rc;

  if (pattern == NULL)
    return true;
  if (log.text == NULL || !pai__pattern_make(&p, pattern))
    return false;
  rc = pai__pattern_find(found, &p, log.text, log.len, false);
  s->failed |= rc < 0;
  if (rc > 0)
    *where = (pai__log_match){ true, found[0].start, found[0].end };
  return rc > 0;
}

static bool fits_text(seen *s, const char *pattern, const char *text)
{
  pai__log_tail all = { text, text != NULL ? strlen(text) : 0 };
  pai__log_match where;

  return fits(s, pattern, all, &where);
}

/* --- at the command's side (the runtime) --------------------------------- */

static bool fits_runtime(const pai__exit_pattern *p, seen *s,
                         pai__error_facts *e)
{
  e->in_user.found = e->in_platform.found = false;
  e->ecc = p->ecc;
  return (p->exit == 0 || p->exit == s->facts->code) &&
         (!p->ecc || s->facts->ecc) &&
         fits(s, p->user, e->user, &e->in_user) &&
         fits(s, p->platform, e->platform, &e->in_platform);
}

/* Sets the container's exit code, and the facts that decided it. */
static void look_into_logs(seen *s, pai__error_facts *e)
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

/* --- at Kubernetes' side ------------------------------------------------- */

static bool fits_pod(const pai__exit_pattern *p, seen *s)
{
  return fits_text(s, p->pod, s->pod) &&
         (p->exit == 0 || p->exit == s->code) &&
         fits_text(s, p->name, s->reason != NULL ? container : NULL) &&
         fits_text(s, p->reason, s->reason) &&
         fits_text(s, p->message, s->message);
}

/* Returns the code of the first matching pattern, or `other`. */
static int look_at_pod(seen *s, int other)
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

/* --- diagnostics --------------------------------------------------------- */

static void put_container(pai__json_writer *w, const seen *s,
                          const pai__buf *message)
{
  pai__json_put_array(w, "containers");
  pai__json_begin_object(w);
  pai__json_put_word(w, "name", container);
  pai__json_put_word(w, "reason", s->reason);
  pai__json_member(w, "message");
  pai__json_text(w, pai__buf_text(message), message->len);
  pai__json_put_int(w, "code", s->code);
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
  pai__json_put_word(&w, "reason", s->pod);
  if (s->reason != NULL)
    put_container(&w, s, message);
  else
    pai__json_put_word(&w, "message", s->message);
  pai__json_end_object(&w);
  if (pai__json_finish(&w) < 0 || !pai__buf_ok(out) || s->failed)
    return PAI_ENOMEM;
  return PAI_OK;
}

/* --- the kinds of end ---------------------------------------------------- */

/* For commands that ran: searches their output. */
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
  if (oom) /* whatever the logs contain */
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

/* For commands that could not be started: as Docker reports it. */
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
    *code = -111; /* it was never seen to start */
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
