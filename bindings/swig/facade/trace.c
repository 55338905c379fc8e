/* trace.c - traces: reading, generating, records */
#include "facade_fields.h"
#include "options.h"
#include "shared.h"
#include "sim_shared.h"

#include <stdlib.h>
#include <string.h>

enum { NOTES = 1000, CHUNK = 1 << 16 };

struct Trace {
  pai_trace *trace;
  void *object;  /* script object with read() and line(), or NULL */
  bool tell;     /* the object has line() */
  bool reads;    /* the object has read() */
  bool raised;   /* a method or a signal handler raised an error */
  job_text text; /* text to read, from `at` on */
  size_t at;
  job_text notes; /* an unfinished JSON list */
  size_t nnotes;
  pthread_mutex_t owner;
  atomic_int refs;
};

typedef struct given {
  pai_trace_options o;
  int tell;
} given;

static const option options[] = {
  { "form", offsetof(given, o.form), OPTION_NAME, pai_trace_form_name },
  { "strict", offsetof(given, o.strict), OPTION_INT, NULL },
  { "sort", offsetof(given, o.sort), OPTION_INT, NULL },
  { "window", offsetof(given, o.window), OPTION_U32, NULL },
  { "model", offsetof(given, o.model), OPTION_TEXT, NULL },
  { "tell", offsetof(given, tell), OPTION_INT, NULL },
  OPTION_END
};

/* --- callbacks ----------------------------------------------------------- */

static listing put_line(uint64_t line, int used, const char *why, failure *f)
{
  json j;

  json_start(&j);
  json_begin(&j, NULL, '{');
  json_id(&j, "line", line);
  json_bool(&j, "used", used != 0);
  json_text(&j, "why", why);
  json_end(&j, '}');
  return json_finish(&j, f);
}

void line_tell(void *object, uint64_t line, int used, const char *why,
               bool *raised)
{
  failure f = { 0 };
  listing told;

  if (*raised)
    return;
  told = put_line(line, used, why, &f);
  if (f.code == PAI_OK)
    *raised = script_ask(object, "line", NULL, told.json.bytes, told.json.len,
                         NULL) < 0;
  free(told.json.bytes);
}

/* Passes a line's problem to the script, and keeps the first ones as notes. A
 * note is dropped without memory. */
static void on_line(void *user_data, uint64_t line, int used, const char *why)
{
  Trace *t = user_data;
  failure f = { 0 };
  listing told;

  if (t->tell)
    line_tell(t->object, line, used, why, &t->raised);
  if (t->nnotes == NOTES)
    return;
  told = put_line(line, used, why, &f);
  if (f.code == PAI_OK &&
      facade_collect(&t->notes, t->nnotes++ > 0 ? "," : "[", 1) == PAI_OK)
    (void)facade_collect(&t->notes, told.json.bytes, told.json.len);
  free(told.json.bytes);
}

/* Reads from the text; at its end, gets the next text from the object. */
static ptrdiff_t on_read(void *user_data, char *buffer, size_t size)
{
  Trace *t = user_data;
  size_t n;
  int rc;

  if (t->at == t->text.len && t->reads) {
    free(t->text.bytes);
    t->text = (job_text){ NULL, 0 };
    t->at = 0;
    rc = script_ask(t->object, "read", NULL, NULL, 0, &t->text);
    t->raised = t->raised || rc < 0;
    if (rc < 0)
      return rc;
  }
  n = t->text.len - t->at;
  if (n > size)
    n = size;
  if (n > 0)
    memcpy(buffer, t->text.bytes + t->at, n);
  t->at += n;
  return (ptrdiff_t)n;
}

/* Stops reading if a signal handler raised an error, as for Ctrl-C. */
static int on_stop(void *user_data)
{
  Trace *t = user_data;

  t->raised = t->raised || script_signals();
  return t->raised;
}

/* --- life ------------------------------------------------------------------ */

void trace_hold(Trace *t)
{
  (void)atomic_fetch_add(&t->refs, 1);
}

void facade_trace_free(Trace *t)
{
  if (atomic_fetch_sub(&t->refs, 1) > 1)
    return;
  pai_trace_free(t->trace);
  script_drop(t->object);
  free(t->text.bytes);
  free(t->notes.bytes);
  (void)pthread_mutex_destroy(&t->owner);
  free(t);
}

/* Makes a Trace without its pai_trace; takes the object. */
static Trace *make(log_ref told, failure *f)
{
  Trace *t = calloc(1, sizeof(*t));

  if (t == NULL) {
    script_drop(told.object);
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return NULL;
  }
  t->object = told.object;
  (void)pthread_mutex_init(&t->owner, NULL);
  atomic_init(&t->refs, 1);
  return t;
}

static bool read_options(Trace *t, given *g, words list, failure *f)
{
  *g = (given){ .o = PAI_TRACE_OPTIONS_INIT };
  if (t == NULL || !options_read(g, options, &list, f))
    return false;
  t->tell = g->tell != 0;
  g->o.on_line = on_line;
  g->o.stop = on_stop;
  g->o.user_data = t;
  return true;
}

/* Turns an error of the object or of a signal handler into the failure. */
static void settle(Trace *t, failure *f)
{
  bool raised = trace_raised(t);

  if (raised) {
    pai_error_free(f->err);
    f->err = NULL;
    f->code = PAI_EUSER;
  }
  if (raised || t->object != NULL)
    sched_settle(f);
}

/* Ends opening, which may have called the object already. */
static Trace *finish(Trace *t, failure *f)
{
  if (t != NULL)
    settle(t, f);
  if (f->code == PAI_OK)
    return t;
  if (t != NULL)
    facade_trace_free(t);
  return NULL;
}

Trace *facade_trace_load(const char *path, words list, log_ref told,
                         failure *f)
{
  Trace *t = make(told, f);
  given g;

  if (read_options(t, &g, list, f))
    f->code = pai_trace_load(&t->trace, path, &g.o, &f->err);
  return finish(t, f);
}

Trace *facade_trace_parse(const char *text, size_t len, words list,
                          log_ref told, failure *f)
{
  Trace *t = make(told, f);
  given g;

  if (read_options(t, &g, list, f))
    f->code = facade_collect(&t->text, text, len);
  if (f->code == PAI_OK)
    f->code = pai_trace_new(&t->trace, on_read, t, &g.o, &f->err);
  return finish(t, f);
}

Trace *facade_trace_read(words list, log_ref told, failure *f)
{
  Trace *t = make(told, f);
  given g;

  if (!read_options(t, &g, list, f))
    return finish(t, f);
  t->reads = true;
  f->code = pai_trace_new(&t->trace, on_read, t, &g.o, &f->err);
  return finish(t, f);
}

/* --- generating ---------------------------------------------------------- */

static const char *like_name(int like)
{
  return like == PAI_LIKE_PHILLY   ? "philly"
         : like == PAI_LIKE_HELIOS ? "helios"
                                   : "";
}

static const option made_up[] = {
  { "like", offsetof(pai_generate_options, like), OPTION_NAME, like_name },
  OPTION(pai_generate_options, jobs),
  OPTION(pai_generate_options, seed),
  OPTION(pai_generate_options, gpus),
  OPTION(pai_generate_options, load),
  OPTION(pai_generate_options, most_gpus),
  OPTION(pai_generate_options, gpus_per_node),
  OPTION(pai_generate_options, users),
  OPTION(pai_generate_options, virtual_clusters),
  OPTION(pai_generate_options, model),
  OPTION(pai_generate_options, faults),
  OPTION_END
};

Trace *facade_trace_generate(words list, words vc_names, failure *f)
{
  Trace *t = make((log_ref){ NULL }, f);
  pai_generate_options o = PAI_GENERATE_OPTIONS_INIT;
  size_t n;
  const char **names = facade_word_list(&vc_names, &n, f);

  if (f->code == PAI_OK && options_read(&o, made_up, &list, f)) {
    if (n > 0) {
      o.vc_names = names;
      o.virtual_clusters = (uint32_t)n;
    }
    f->code = pai_trace_generate(&t->trace, &o, &f->err);
  }
  free(names);
  return finish(t, f);
}

/* --- one thread at a time -------------------------------------------------- */

pai_trace *trace_take(Trace *t, failure *f)
{
  if (pthread_mutex_trylock(&t->owner) == 0)
    return t->trace;
  facade_fail(f, PAI_EBUSY, "the trace is being read already");
  return NULL;
}

void trace_give(Trace *t, failure *f)
{
  settle(t, f);
  (void)pthread_mutex_unlock(&t->owner);
}

bool trace_calls(const Trace *t)
{
  return t->object != NULL;
}

bool trace_raised(Trace *t)
{
  bool raised = t->raised;

  t->raised = false;
  return raised;
}

/* --- records --------------------------------------------------------------- */

static void put_wants(json *j, const pai_trace_record *r)
{
  json_begin(j, "wants", '[');
  for (size_t i = 0; i < r->nwants; i++) {
    const pai_want *w = &r->wants[i];

    json_begin(j, NULL, '{');
    json_fields(j, fields_TraceWant, w);
    json_amount(j, "min_tasks", w->min_tasks != w->tasks ? w->min_tasks : 0);
    json_end(j, '}');
  }
  json_end(j, ']');
}

static void put_job(json *j, const pai_trace_record *r)
{
  json_fields(j, fields_TraceJob, r);
  put_wants(j, r);
  json_begin(j, "attempts", '[');
  for (size_t i = 0; i < r->nattempts; i++) {
    json_begin(j, NULL, '{');
    json_number(j, "duration", r->attempts[i].duration);
    json_number(j, "code", r->attempts[i].code);
    json_end(j, '}');
  }
  json_end(j, ']');
  json_begin(j, "after", '[');
  for (size_t i = 0; i < r->nafter; i++)
    json_text(j, NULL, r->after[i]);
  json_end(j, ']');
}

static const char *state_name(int state)
{
  return state == PAI_NODE_UP      ? "up"
         : state == PAI_NODE_DRAIN ? "drain"
                                   : "sick";
}

static void put_record(json *j, const pai_trace_record *r)
{
  json_begin(j, NULL, '{');
  json_text(j, "kind",
            r->kind == PAI_RECORD_JOB    ? "job"
            : r->kind == PAI_RECORD_NODE ? "node"
                                         : "kill");
  json_fields(j, fields_TraceRecord, r);
  if (r->kind == PAI_RECORD_JOB)
    put_job(j, r);
  if (r->kind == PAI_RECORD_NODE)
    json_text(j, "state", state_name(r->state));
  json_end(j, '}');
}

listing facade_trace_next(Trace *t, failure *f)
{
  pai_trace_record record = { .struct_size = sizeof(record) };
  pai_trace *trace = trace_take(t, f);
  listing made = { { NULL, 0 } };
  json j;
  int rc;

  if (trace == NULL)
    return made;
  rc = pai_trace_next(trace, &record, &f->err);
  f->code = rc < 0 ? rc : PAI_OK;
  if (rc == 0) {
    f->code = facade_collect(&made.json, "null", 4);
  } else if (rc > 0) {
    json_start(&j);
    put_record(&j, &record);
    made = json_finish(&j, f);
  }
  trace_give(t, f);
  made.json = facade_finished(made.json, f);
  return made;
}

job_text facade_trace_lines(Trace *t, failure *f)
{
  pai_trace_record record = { .struct_size = sizeof(record) };
  pai_trace *trace = trace_take(t, f);
  job_text text = { NULL, 0 };
  int rc = 1;

  if (trace == NULL)
    return text;
  f->code = facade_collect(&text, "", 0);
  while (f->code == PAI_OK && rc > 0 && text.len < CHUNK) {
    rc = pai_trace_next(trace, &record, &f->err);
    if (rc > 0)
      f->code = pai_trace_write(&record, facade_collect, &text, &f->err);
    else
      f->code = rc;
  }
  trace_give(t, f);
  return facade_finished(text, f);
}

listing facade_trace_look(Trace *t, failure *f)
{
  pai_trace_view v = { .struct_size = sizeof(v) };
  pai_trace *trace = trace_take(t, f);
  json j;

  if (trace == NULL)
    return (listing){ { NULL, 0 } };
  (void)pai_trace_look(trace, &v);
  (void)pthread_mutex_unlock(&t->owner);
  json_start(&j);
  json_begin(&j, NULL, '{');
  json_text(&j, "form", pai_trace_form_name(v.form));
  json_fields(&j, fields_TraceSums, &v);
  json_end(&j, '}');
  return json_finish(&j, f);
}

listing facade_trace_notes(Trace *t, failure *f)
{
  listing made = { { NULL, 0 } };

  if (trace_take(t, f) == NULL)
    return made;
  f->code = t->nnotes > 0
              ? facade_collect(&made.json, t->notes.bytes, t->notes.len)
              : facade_collect(&made.json, "[", 1);
  if (f->code == PAI_OK)
    f->code = facade_collect(&made.json, "]", 1);
  (void)pthread_mutex_unlock(&t->owner);
  made.json = facade_finished(made.json, f);
  return made;
}
