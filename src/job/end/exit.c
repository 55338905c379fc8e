/* exit.c - looks up the meaning of completion codes */
#include "job/end/exit.h"

enum { UNDEFINED_NEGATIVE = -8000, UNDEFINED_POSITIVE = 256 };

/* A linear search: only failures are looked up, and rarely. */
static const pai__exit *find(int code)
{
  for (size_t i = 0; i < pai__exit_count; i++)
    if (pai__exit_rows[i].code == code)
      return &pai__exit_rows[i];
  return NULL;
}

static const pai__exit *find_own(int code)
{
  for (size_t i = 0; i < pai__exit_own_count; i++)
    if (pai__exit_own_rows[i].code == code)
      return &pai__exit_own_rows[i];
  return NULL;
}

const pai__exit *pai__exit_find(int code)
{
  const pai__exit *row = find(code);

  if (row == NULL)
    row = find_own(code);
  if (row == NULL)
    row = find(code > 0 ? UNDEFINED_POSITIVE : UNDEFINED_NEGATIVE);
  return row;
}

const pai__exit *pai__exit_find_own(int code)
{
  const pai__exit *row = find_own(code);

  return row != NULL ? row : pai__exit_find(code);
}

const char *pai__exit_behavior(const pai__exit *e)
{
  static const char *const names[] = {
    [PAI__EXIT_UNKNOWN] = "UNKNOWN",
    [PAI__EXIT_TRANSIENT] = "TRANSIENT",
    [PAI__EXIT_CONFLICT] = "TRANSIENT_CONFLICT",
    [PAI__EXIT_PERMANENT] = "PERMANENT",
  };

  return names[e->class];
}

const char *pai__exit_reaction(const pai__exit *e)
{
  static const char *const names[] = {
    [PAI__EXIT_UNKNOWN] = "RETRY_TO_MAX",
    [PAI__EXIT_TRANSIENT] = "ALWAYS_RETRY",
    [PAI__EXIT_CONFLICT] = "ALWAYS_BACKOFF_RETRY",
    [PAI__EXIT_PERMANENT] = "NEVER_RETRY",
  };

  return e->code == 0 ? "NEVER_RETRY" : names[e->class];
}

/* Codes by which containers report a class themselves come first.  They are in
 * no row but are FrameworkController's own. */
enum pai__exit_class pai__exit_class(int code, bool raw, bool own_signals)
{
  switch (code) {
  case 200: return PAI__EXIT_TRANSIENT;
  case 201: return PAI__EXIT_CONFLICT;
  case 210: return PAI__EXIT_PERMANENT;
  default: break;
  }
  if (raw && code > 0)
    return PAI__EXIT_UNKNOWN;
  return (own_signals ? pai__exit_find_own(code) : pai__exit_find(code))
    ->class;
}

/* --- output for the API -------------------------------------------------- */

static void put_list(pai__json_writer *w, const char *key, const char *value)
{
  if (value != NULL)
    pai__json_write(w, "*:[s]", key, value);
}

static void put_exit(pai__json_writer *w, int exit)
{
  if (exit != 0)
    pai__json_put_int(w, "exitCode", exit);
}

static void put_pod(pai__json_writer *w, const pai__exit_pattern *p)
{
  pai__json_put_known(w, "reasonRegex", p->pod);
  if (p->pod != NULL)
    return;
  pai__json_write(w, "containers:[{");
  pai__json_put_known(w, "nameRegex", p->name);
  pai__json_put_known(w, "reasonRegex", p->reason);
  pai__json_put_known(w, "messageRegex", p->message);
  put_exit(w, p->exit);
  pai__json_write(w, "}]");
}

static void put_runtime(pai__json_writer *w, const pai__exit_pattern *p)
{
  put_exit(w, p->exit);
  pai__json_put_known(w, "userLogRegex", p->user);
  pai__json_put_known(w, "platformLogRegex", p->platform);
  if (p->ecc)
    pai__json_write(w, "gpuInfo:{nvidiaDoubleEccError:true}");
}

static void put_patterns(pai__json_writer *w, const pai__exit *e)
{
  bool pods = e->code < 0;

  if (e->patterns == NULL)
    return;
  pai__json_put_object(w, "pattern");
  pai__json_member(w, pods ? "controllerPodPatterns"
                           : "runtimeContainerPatterns");
  pai__json_begin_array(w);
  for (const pai__exit_pattern *p = e->patterns; p->exit >= 0; p++) {
    pai__json_begin_object(w);
    (pods ? put_pod : put_runtime)(w, p);
    pai__json_end_object(w);
  }
  pai__json_end_array(w);
  pai__json_end_object(w);
}

void pai__exit_write(pai__json_writer *w, const pai__exit *e, int code)
{
  pai__json_begin_object(w);
  pai__json_put_int(w, "code", code);
  pai__json_put_known(w, "phrase", e->phrase);
  pai__json_put_known(w, "issuer", e->issuer);
  pai__json_put_known(w, "causer", e->causer);
  pai__json_put_known(w, "type", e->type);
  pai__json_put_known(w, "stage", e->stage);
  pai__json_put_known(w, "behavior", pai__exit_behavior(e));
  pai__json_put_known(w, "reaction", pai__exit_reaction(e));
  pai__json_put_known(w, "reason", e->why);
  put_list(w, "solution", e->what_to_do);
  put_patterns(w, e);
  pai__json_end_object(w);
}
