/*
 * trace.c - a trace as callers see it: bytes in, records out, in their order
 */
#include "sim/trace.h"

enum { USUAL_WINDOW = 16384, ENOUGH_TO_KNOW = 64 << 10 };

const char *pai_trace_form_name(int form)
{
  return form > 0 && form < PAI__TRACE_FORMS ? pai__trace_forms[form].name
                                             : "";
}

int pai__trace_make(pai_trace **out, const pai_alloc *alloc, pai_error **err)
{
  pai_trace *t = pai__zalloc(alloc, sizeof(*t));

  *out = t;
  if (t == NULL)
    return pai__oom(err);
  t->alloc = *alloc;
  t->passed = INT64_MIN;
  pai__source_init(&t->source, &t->alloc, NULL, NULL);
  pai__queue_init(&t->queue, &t->alloc);
  return PAI_OK;
}

void pai_trace_free(pai_trace *t)
{
  pai_alloc alloc;

  if (t == NULL)
    return;
  if (t->how != NULL && t->how->end != NULL)
    t->how->end(t);
  if (t->shown != NULL)
    pai__queue_drop(&t->queue, t->shown);
  pai__queue_dispose(&t->queue);
  pai__draft_dispose(&t->draft, &t->alloc);
  if (t->close != NULL)
    t->close(t->source.user_data);
  pai__source_dispose(&t->source);
  pai__strfree(&t->alloc, t->model);
  alloc = t->alloc;
  pai__free(&alloc, t, sizeof(*t));
}

/* --- beginning ------------------------------------------------------------- */

static int check_options(pai_trace_options *o, const pai_trace_options *opts,
                         pai_error **err)
{
  int rc = PAI__OPTIONS_IN(o, opts, pai_trace_options, user_data);

  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_trace_options");
  if (o->form < 0 || o->form >= PAI_TRACE_GENERATED)
    return pai__fail(err, PAI_EINVAL, "there is no form %d of a trace",
                     o->form);
  o->alloc = pai__alloc_or_libc(o->alloc);
  return PAI_OK;
}

/* A log of a scheduler begins with a snapshot. */
static int refuse_log(const char *text, size_t len, pai_error **err)
{
  static const char begins[] = "{\"snapshot\":";

  if (len < sizeof(begins) || memcmp(text, begins, sizeof(begins) - 1) != 0)
    return PAI_OK;
  (void)pai__fail(err, PAI_EINVAL,
                  "this is a scheduler's log, and no trace of jobs");
  pai__error_help(err, "openpai sched replay decides it once more, openpai at "
                       "and openpai sched story tell what is in it");
  return PAI_EINVAL;
}

static int refuse_job(const char *text, size_t len, pai_error **err)
{
  if (!pai__looks_like_job(text, len))
    return PAI_OK;
  (void)pai__fail(err, PAI_EINVAL, "this is a job, and no trace of jobs");
  pai__error_help(err, "openpai spec check reads it; each line of a trace "
                       "tells when a job came and how long it took");
  return PAI_EINVAL;
}

/* Reads so much that the form can be known. */
static int find_form(pai_trace *t, pai_error **err)
{
  pai__source *s = &t->source;
  int rc = 1;

  while (rc > 0 && s->end - s->at < ENOUGH_TO_KNOW)
    rc = pai__source_more(s, err);
  if (rc < 0)
    return rc;
  if (s->end - s->at >= 3 && memcmp(s->buf + s->at, "\xef\xbb\xbf", 3) == 0)
    s->at += 3;
  rc = refuse_log(s->buf + s->at, s->end - s->at, err);
  if (rc == PAI_OK && t->form == PAI_TRACE_AUTO)
    t->form = pai__trace_detect(s->buf + s->at, s->end - s->at);
  if (rc == PAI_OK &&
      (t->form == PAI_TRACE_AUTO || t->form == PAI_TRACE_JSONL))
    rc = refuse_job(s->buf + s->at, s->end - s->at, err);
  if (rc < 0)
    return rc;
  if (t->form != PAI_TRACE_AUTO)
    return PAI_OK;
  if (s->end - s->at > 3 && memcmp(s->buf + s->at, "sn,", 3) == 0)
    return pai__fail(err, PAI_EINVAL,
                     "this is a list of nodes: it is a cluster, no trace");
  (void)pai__fail(err, PAI_EINVAL,
                  "this does not look like any trace that is known");
  pai__error_help(err, "say its form: jsonl, sacct, swf, philly, helios, ...");
  return PAI_EINVAL;
}

static int begin(pai_trace *t, pai_error **err)
{
  int rc = find_form(t, err);

  if (rc < 0)
    return rc;
  t->how = &pai__trace_forms[t->form];
  t->sort |= t->how->unordered;
  t->draft.foreign = t->form != PAI_TRACE_JSONL;
  return t->how->begin != NULL ? t->how->begin(t, err) : PAI_OK;
}

int pai_trace_new(pai_trace **out, pai_read_cb read, void *user_data,
                  const pai_trace_options *opts, pai_error **err)
{
  pai_trace_options o;
  pai_trace *t;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(read != NULL, err);
  rc = check_options(&o, opts, err);
  if (rc == PAI_OK)
    rc = pai__trace_make(&t, o.alloc, err);
  if (rc < 0)
    return rc;
  pai__source_init(&t->source, &t->alloc, read, user_data);
  t->form = o.form;
  t->strict = o.strict != 0;
  t->sort = o.sort != 0;
  t->window = o.window != 0 ? o.window : USUAL_WINDOW;
  t->on_line = o.on_line;
  t->user_data = o.user_data;
  if (o.model != NULL && (t->model = pai__strdup(&t->alloc, o.model)) == NULL)
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = begin(t, err);
  if (rc < 0)
    pai_trace_free(t);
  else
    *out = t;
  return rc;
}

/* --- going on -------------------------------------------------------------- */

/* Reads until one record is certainly the next. */
static int fill(pai_trace *t, pai_error **err)
{
  int rc = 1;

  while (rc > 0 && !t->ended &&
         (t->sort || pai__queue_count(&t->queue) <= t->window))
    rc = t->how->read(t, err);
  t->ended |= rc == 0;
  return rc;
}

static void count(pai_trace *t, const pai__item *item)
{
  t->passed = item->time;
  t->passed_line = item->line;
  if (item->kind != PAI_RECORD_JOB)
    return;
  if (t->jobs++ == 0)
    t->first = item->time;
  t->last = item->time;
}

int pai_trace_next(pai_trace *t, pai_trace_record *record, pai_error **err)
{
  pai_trace_record full;
  pai__item *item;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(t != NULL, err);
  PAI__CHECK_ARG_ERR(record != NULL, err);
  if (t->shown != NULL)
    pai__queue_drop(&t->queue, t->shown);
  t->shown = NULL;
  if (t->failed < 0)
    return pai__fail(err, t->failed, "the trace could not be read on before");
  rc = fill(t, err);
  if (rc < 0) {
    t->failed = rc;
    return rc;
  }
  item = pai__queue_take(&t->queue);
  if (item == NULL)
    return 0;
  count(t, item);
  t->shown = item;
  if (record->struct_size == sizeof(*record)) {
    pai__item_view(item, record);
    return 1;
  }
  pai__item_view(item, &full);
  rc = PAI__FILL_VIEW(record, full, pai_trace_record, why);
  return rc < 0 ? pai__fail(err, rc, "pai_trace_record: bad struct_size") : 1;
}

int pai_trace_look(const pai_trace *t, pai_trace_view *view)
{
  pai_trace_view full;

  PAI__CHECK_ARG(t != NULL && view != NULL);
  full = (pai_trace_view){ sizeof(full), t->form,    t->source.line, t->jobs,
                           t->skipped,   t->altered, t->first,       t->last };
  return PAI__FILL_VIEW(view, full, pai_trace_view, last);
}
