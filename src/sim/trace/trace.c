/*
 * trace.c - opens traces, detects their form, and returns their records in
 * order of time
 */
#include "sim/trace/documents.h"
#include "sim/trace/forms.h"
#include "sim/trace/table.h"

/* --- forms --------------------------------------------------------------- */

#define ROWS(name, form)                                                 \
  {                                                                      \
    name, pai__rows_read, pai__rows_begin, pai__rows_end, &(form), NULL, \
      NULL, false                                                        \
  }
#define LIST(name, key, put, unordered)                                  \
  {                                                                      \
    name, pai__documents_read, pai__documents_begin, pai__documents_end, \
      NULL, key, put, unordered                                          \
  }

static const pai__trace_form forms[] = {
  [PAI_TRACE_JSONL] = { "jsonl", pai__jsonl_read, pai__jsonl_begin,
                        pai__jsonl_end, NULL, NULL, NULL, false },
  [PAI_TRACE_SACCT] = ROWS("sacct", pai__sacct_rows),
  [PAI_TRACE_SACCT_JSON] =
    LIST("sacct_json", "jobs", pai__sacct_json_put, false),
  [PAI_TRACE_SWF] = ROWS("swf", pai__swf_rows),
  [PAI_TRACE_PHILLY] = LIST("philly", "jobs", pai__philly_put, true),
  [PAI_TRACE_HELIOS] = ROWS("helios", pai__helios_rows),
  [PAI_TRACE_ALIBABA_2020] = { "alibaba2020", pai__pai2020_read,
                               pai__pai2020_begin, pai__pai2020_end,
                               &pai__pai2020_rows, NULL, NULL, true },
  [PAI_TRACE_ALIBABA_2023] = ROWS("alibaba2023", pai__openb_rows),
  [PAI_TRACE_OPENPAI] = LIST("openpai", "data", pai__openpai_put, true),
  [PAI_TRACE_KUBERNETES] =
    LIST("kubernetes", "items", pai__kubernetes_put, true),
  [PAI_TRACE_GAVEL] = ROWS("gavel", pai__gavel_rows),
  [PAI_TRACE_MURI] = ROWS("muri", pai__muri_rows),
  [PAI_TRACE_GENERATED] = { .name = "generated" },
};

/* Returns where a word begins, or NULL. */
static const char *find(const char *text, size_t len, const char *word)
{
  size_t n = strlen(word);

  for (const char *p = text; len >= n;) {
    const char *found = memchr(p, *word, len - n + 1);

    if (found == NULL)
      return NULL;
    if (memcmp(found, word, n) == 0)
      return found;
    len -= (size_t)(found + 1 - p);
    p = found + 1;
  }
  return NULL;
}

static bool has(const char *text, size_t len, const char *word)
{
  return find(text, len, word) != NULL;
}

/* Returns whether the first occurrence of a word is a JSON key. */
static bool has_key(const char *text, size_t len, const char *word)
{
  const char *end = text + len, *at = find(text, len, word);

  if (at == NULL)
    return false;
  at += strlen(word);
  while (at < end && (*at == ' ' || *at == '\t'))
    at++;
  return at < end && *at == ':';
}

/* Returns whether the text is a job file. */
static bool looks_like_job(const char *text, size_t len)
{
  static const char yaml[] = "protocolVersion";

  while (len != 0 && (*text == ' ' || *text == '\n' || *text == '\r')) {
    text++;
    len--;
  }
  if (len != 0 && *text == '{')
    return has_key(text, len, "\"taskRoles\"");
  return (len >= sizeof(yaml) && memcmp(text, yaml, sizeof(yaml) - 1) == 0) ||
         has(text, len, "\nprotocolVersion:") ||
         has(text, len, "\ntaskRoles:");
}

static size_t count_of(const char *text, size_t len, char c)
{
  size_t count = 0;

  for (size_t i = 0; i < len; i++)
    count += text[i] == c;
  return count;
}

/* Words that only one form has.  The first match counts. */
typedef struct pai__form_word {
  const char *word;
  int form;
} pai__form_word;

static int by_words(const char *text, size_t len, const pai__form_word *words,
                    size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (has(text, len, words[i].word))
      return words[i].form;
  return PAI_TRACE_AUTO;
}

static int detect_json(const char *text, size_t len)
{
  static const pai__form_word words[] = {
    { "\"submitted_time\"", PAI_TRACE_PHILLY },
    { "\"submissionTime\"", PAI_TRACE_OPENPAI },
    { "\"creationTimestamp\"", PAI_TRACE_KUBERNETES },
    { "\"association\"", PAI_TRACE_SACCT_JSON },
    { "\"submission\"", PAI_TRACE_SACCT_JSON },
    { "\"apiVersion\"", PAI_TRACE_KUBERNETES },
  };
  const char *line = memchr(text, '\n', len);
  size_t first = line != NULL ? (size_t)(line - text) : len;
  int form;

  /* a first line with these keys is in our own form */
  if (*text == '{' && has(text, first, "\"time\"") &&
      has(text, first, "\"duration\""))
    return PAI_TRACE_JSONL;
  form = by_words(text, len, words, PAI__LEN(words));
  return form != PAI_TRACE_AUTO || *text == '[' ? form : PAI_TRACE_JSONL;
}

static bool is_number_line(const char *text, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if ((text[i] < '0' || text[i] > '9') && text[i] != '-' && text[i] != '.' &&
        text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
      return false;
  return len >= 35; /* 18 numbers with separators */
}

static int detect_rows(const char *text, size_t len)
{
  static const pai__form_word words[] = {
    { "JobID", PAI_TRACE_SACCT },
    { "gpu_milli", PAI_TRACE_ALIBABA_2023 },
    { "gpu_num", PAI_TRACE_HELIOS },
    { "num_gpu", PAI_TRACE_MURI },
    { "plan_gpu", PAI_TRACE_ALIBABA_2020 },
    { "inst_id", PAI_TRACE_ALIBABA_2020 },
    { ",Terminated,", PAI_TRACE_ALIBABA_2020 },
    { ",Failed,", PAI_TRACE_ALIBABA_2020 },
    { ",Running,", PAI_TRACE_ALIBABA_2020 },
    { ",Waiting,", PAI_TRACE_ALIBABA_2020 },
  };
  size_t tabs = count_of(text, len, '\t');
  int form = by_words(text, len, words, PAI__LEN(words));

  if (form != PAI_TRACE_AUTO)
    return form;
  if (is_number_line(text, len))
    return PAI_TRACE_SWF;
  return tabs == 6 || tabs == 9 ? PAI_TRACE_GAVEL : PAI_TRACE_AUTO;
}

/* Detects the form from the first bytes; 0: unknown. */
static int detect(const char *text, size_t len)
{
  const char *line;
  size_t i = 0;

  while (i < len && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' ||
                     text[i] == '\n'))
    i++;
  text += i;
  len -= i;
  if (len == 0)
    return PAI_TRACE_JSONL; /* an empty file is an empty trace */
  if (*text == '{' || *text == '[')
    return detect_json(text, len);
  if (*text == ';')
    return PAI_TRACE_SWF;
  line = memchr(text, '\n', len);
  return detect_rows(text, line != NULL ? (size_t)(line - text) : len);
}

/* --- making -------------------------------------------------------------- */

enum { USUAL_WINDOW = 16384, ENOUGH_TO_KNOW = 64 << 10 };

const char *pai_trace_form_name(int form)
{
  return form > 0 && (size_t)form < PAI__LEN(forms) ? forms[form].name : "";
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
  pai__free(&t->alloc, t->draft.wants,
            t->draft.wants_cap * sizeof(*t->draft.wants));
  pai__free(&t->alloc, t->draft.attempts,
            t->draft.attempts_cap * sizeof(*t->draft.attempts));
  pai__free(&t->alloc, t->draft.after,
            t->draft.after_cap * sizeof(*t->draft.after));
  if (t->close != NULL)
    t->close(t->source.user_data);
  pai__source_dispose(&t->source);
  pai__strfree(&t->alloc, t->model);
  alloc = t->alloc;
  pai__free(&alloc, t, sizeof(*t));
}

/* --- opening ------------------------------------------------------------- */

static int check_options(pai_trace_options *o, const pai_trace_options *opts,
                         pai_error **err)
{
  int rc = PAI__OPTIONS_IN(o, opts, pai_trace_options, user_data);

  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_trace_options");
  if (o->form < 0 || o->form >= PAI_TRACE_GENERATED)
    return pai__fail(err, PAI_EINVAL, "unknown form of trace: %d", o->form);
  o->alloc = pai__alloc_or_libc(o->alloc);
  return PAI_OK;
}

/* Refuses a scheduler's log, which begins with a snapshot. */
static int refuse_log(const char *text, size_t len, pai_error **err)
{
  static const char begins[] = "{\"snapshot\":";

  if (len < sizeof(begins) || memcmp(text, begins, sizeof(begins) - 1) != 0)
    return PAI_OK;
  (void)pai__fail(err, PAI_EINVAL,
                  "this is a scheduler log, not a trace of jobs");
  pai__error_help(
    err,
    "read it with openpai sched replay, openpai at or openpai sched story");
  return PAI_EINVAL;
}

static int refuse_job(const char *text, size_t len, pai_error **err)
{
  if (!looks_like_job(text, len))
    return PAI_OK;
  (void)pai__fail(err, PAI_EINVAL, "this is a job file, not a trace of jobs");
  pai__error_help(err,
                  "check it with openpai spec check; each line of a trace has "
                  "the submission time and the duration of a job");
  return PAI_EINVAL;
}

/* Reads enough bytes to detect the form. */
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
    t->form = detect(s->buf + s->at, s->end - s->at);
  if (rc == PAI_OK &&
      (t->form == PAI_TRACE_AUTO || t->form == PAI_TRACE_JSONL))
    rc = refuse_job(s->buf + s->at, s->end - s->at, err);
  if (rc < 0)
    return rc;
  if (t->form != PAI_TRACE_AUTO)
    return PAI_OK;
  if (s->end - s->at > 3 && memcmp(s->buf + s->at, "sn,", 3) == 0)
    return pai__fail(err, PAI_EINVAL,
                     "this is a list of nodes, not a trace of jobs");
  (void)pai__fail(err, PAI_EINVAL, "the form of the trace is not known");
  pai__error_help(err,
                  "name its form: jsonl, sacct, swf, philly, helios, ...");
  return PAI_EINVAL;
}

static int begin(pai_trace *t, pai_error **err)
{
  int rc = find_form(t, err);

  if (rc < 0)
    return rc;
  t->how = &forms[t->form];
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
  t->source.stop = o.stop;
  t->source.stop_data = o.user_data;
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

/* --- records ------------------------------------------------------------- */

/* Reads until the next record is known. */
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
  t->passed = item->r.time;
  t->passed_line = item->r.line;
  if (item->r.kind != PAI_RECORD_JOB)
    return;
  if (t->jobs++ == 0)
    t->first = item->r.time;
  t->last = item->r.time;
}

int pai_trace_next(pai_trace *t, pai_trace_record *record, pai_error **err)
{
  pai__item *item;
  int rc;

  PAI__CHECK_ARG_ERR(t != NULL, err);
  PAI__CHECK_ARG_ERR(record != NULL, err);
  if (t->shown != NULL)
    pai__queue_drop(&t->queue, t->shown);
  t->shown = NULL;
  if (t->failed < 0)
    return pai__fail(err, t->failed, "reading the trace has failed before");
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
    *record = item->r;
    return 1;
  }
  rc = PAI__FILL_VIEW(record, item->r, pai_trace_record, why);
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
