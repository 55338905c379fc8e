/* exit.c - what completion codes mean, once they are known */
#include "job/exit.h"

enum { UNDEFINED_NEGATIVE = -8000, UNDEFINED_POSITIVE = 256 };

/* Few ask, and only of failures: they are looked through. */
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

/* The codes that containers may end with to say so themselves, which are in
 * no row, come first, as FrameworkController's own. */
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

/* --- as the API shows them -------------------------------------------------- */

static void put_key(pai__json_writer *w, const char *key)
{
  pai__json_key(w, key, strlen(key));
}

/* Nothing if there is no value. */
static void put(pai__json_writer *w, const char *key, const char *value)
{
  if (value == NULL)
    return;
  put_key(w, key);
  pai__json_text(w, value, strlen(value));
}

static void put_list(pai__json_writer *w, const char *key, const char *value)
{
  if (value == NULL)
    return;
  put_key(w, key);
  pai__json_begin_array(w);
  pai__json_text(w, value, strlen(value));
  pai__json_end_array(w);
}

static void put_exit(pai__json_writer *w, int exit)
{
  if (exit == 0)
    return;
  put_key(w, "exitCode");
  pai__json_int(w, exit);
}

static void put_pod(pai__json_writer *w, const pai__exit_pattern *p)
{
  put(w, "reasonRegex", p->pod);
  if (p->pod != NULL)
    return;
  put_key(w, "containers");
  pai__json_begin_array(w);
  pai__json_begin_object(w);
  put(w, "nameRegex", p->name);
  put(w, "reasonRegex", p->reason);
  put(w, "messageRegex", p->message);
  put_exit(w, p->exit);
  pai__json_end_object(w);
  pai__json_end_array(w);
}

static void put_runtime(pai__json_writer *w, const pai__exit_pattern *p)
{
  put_exit(w, p->exit);
  put(w, "userLogRegex", p->user);
  put(w, "platformLogRegex", p->platform);
  if (!p->ecc)
    return;
  put_key(w, "gpuInfo");
  pai__json_begin_object(w);
  put_key(w, "nvidiaDoubleEccError");
  pai__json_bool(w, true);
  pai__json_end_object(w);
}

static void put_patterns(pai__json_writer *w, const pai__exit *e)
{
  bool pods = e->code < 0;

  if (e->patterns == NULL)
    return;
  put_key(w, "pattern");
  pai__json_begin_object(w);
  put_key(w, pods ? "controllerPodPatterns" : "runtimeContainerPatterns");
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
  put_key(w, "code");
  pai__json_int(w, code);
  put(w, "phrase", e->phrase);
  put(w, "issuer", e->issuer);
  put(w, "causer", e->causer);
  put(w, "type", e->type);
  put(w, "stage", e->stage);
  put(w, "behavior", pai__exit_behavior(e));
  put(w, "reaction", pai__exit_reaction(e));
  put(w, "reason", e->why);
  put_list(w, "solution", e->what_to_do);
  put_patterns(w, e);
  pai__json_end_object(w);
}
