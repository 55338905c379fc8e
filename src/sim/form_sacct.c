/* form_sacct.c - sacct --parsable2: a row for each job, and one for each of its
 * steps, which are not of interest */
#include "sim/forms.h"
#include "sim/sacct.h"
#include "sim/table.h"

enum {
  C_ID,
  C_NAME,
  C_USER,
  C_ACCOUNT,
  C_PARTITION,
  C_QOS,
  C_SUBMIT,
  C_START,
  C_END,
  C_ELAPSED,
  C_ELAPSED_RAW,
  C_LIMIT,
  C_LIMIT_RAW,
  C_REQ_TRES,
  C_ALLOC_TRES,
  C_REQ_CPUS,
  C_NCPUS,
  C_NODES,
  C_STATE,
  C_EXIT
};

int pai__sacct_begin(pai_trace *t, pai_error **err)
{
  static const char *const names[] = {
    "JobID",      "JobName",   "User",         "Account", "Partition",
    "QOS",        "Submit",    "Start",        "End",     "Elapsed",
    "ElapsedRaw", "Timelimit", "TimelimitRaw", "ReqTRES", "AllocTRES",
    "ReqCPUS",    "NCPUS",     "NNodes",       "State",   "ExitCode"
  };
  static const pai__columns columns = {
    names, PAI__LEN(names), 1u << C_ID | 1u << C_SUBMIT | 1u << C_STATE,
    '|',   false,           false
  };
  pai__table *tb = pai__zalloc(&t->alloc, sizeof(*tb));

  if (tb == NULL)
    return pai__oom(err);
  t->state = tb;
  return pai__table_begin(tb, t, &columns, err);
}

/* "2-03:04:05", "03:04:05", "04:05", and "04:05.678" */
static bool read_span(pai__slice cell, pai_time *out)
{
  const char *s = cell.s, *end = s + cell.len;
  pai_time seconds = 0, days = 0, part = 0;
  size_t colons = 0;

  for (; s < end && *s != '.'; s++) {
    if (*s >= '0' && *s <= '9' && part < 100000000) {
      part = part * 10 + (*s - '0');
    } else if (*s == '-' && colons == 0 && days == 0) {
      days = part;
      part = 0;
    } else if (*s == ':' && colons < 2) {
      seconds = (seconds + part) * 60;
      part = 0;
      colons++;
    } else {
      return false;
    }
  }
  if (colons == 0 || days > 100000)
    return false;
  *out = (days * 86400 + seconds + part) * 1000000;
  return true;
}

static pai_time span_cell(pai__table *tb, uint32_t column, pai_time usual)
{
  pai__slice cell = pai__cell(tb, column);

  if (cell.s == NULL || pai__cell_is(tb, column, "UNLIMITED") ||
      pai__cell_is(tb, column, "Partition_Limit"))
    return usual;
  if (!read_span(cell, &usual))
    pai__cell_bad(tb, column, "a time as 1-02:03:04");
  return usual;
}

/* "1:0": the code, and the signal. */
static void read_exit(pai__sacct_job *job, pai__slice cell)
{
  int64_t *to = &job->code;

  for (size_t i = 0; i < cell.len; i++)
    if (cell.s[i] == ':')
      to = &job->signal;
    else if (cell.s[i] >= '0' && cell.s[i] <= '9' && *to < 1000)
      *to = *to * 10 + (cell.s[i] - '0');
}

static void read_row(pai__table *tb, pai__sacct_job *job)
{
  pai_time minutes;

  memset(job, 0, sizeof(*job));
  job->all.tasks = 1;
  job->state = pai__cell(tb, C_STATE);
  job->submit = pai__cell_date(tb, C_SUBMIT, INT64_MIN);
  job->start = pai__cell_date(tb, C_START, -1);
  job->end = pai__cell_date(tb, C_END, -1);
  job->elapsed = span_cell(tb, C_ELAPSED, -1);
  job->elapsed = pai__cell_seconds(tb, C_ELAPSED_RAW, job->elapsed);
  minutes = 0;
  if (!pai__cell_is(tb, C_LIMIT_RAW, "UNLIMITED") &&
      !pai__cell_is(tb, C_LIMIT_RAW, "Partition_Limit"))
    minutes = pai__cell_whole(tb, C_LIMIT_RAW, 0);
  job->limit = span_cell(tb, C_LIMIT, minutes * 60000000);
  job->all.cpus = pai__cell_count(tb, C_REQ_CPUS, 0);
  if (job->all.cpus == 0)
    job->all.cpus = pai__cell_count(tb, C_NCPUS, 0);
  job->nodes = pai__cell_count(tb, C_NODES, 1);
  if (pai__cell(tb, C_REQ_TRES).s != NULL)
    pai__sacct_tres(job, pai__cell(tb, C_REQ_TRES));
  else if (pai__cell(tb, C_ALLOC_TRES).s != NULL)
    pai__sacct_tres(job, pai__cell(tb, C_ALLOC_TRES));
  if (pai__cell(tb, C_EXIT).s != NULL)
    read_exit(job, pai__cell(tb, C_EXIT));
  if (job->submit == INT64_MIN)
    pai__cell_bad(tb, C_SUBMIT, "known");
}

static void read_texts(pai__table *tb, pai__draft *d)
{
  static const uint32_t vcs[] = { C_ACCOUNT, C_PARTITION, C_QOS };

  pai__draft_clear(d);
  d->texts[PAI__TEXT_ID] = pai__cell(tb, C_ID);
  d->texts[PAI__TEXT_NAME] = pai__cell(tb, C_NAME);
  d->texts[PAI__TEXT_USER] = pai__cell(tb, C_USER);
  for (size_t i = 0; i < PAI__LEN(vcs); i++)
    if (d->texts[PAI__TEXT_VC].s == NULL)
      d->texts[PAI__TEXT_VC] = pai__cell(tb, vcs[i]);
}

static bool has(pai__slice s, char c)
{
  return s.s != NULL && memchr(s.s, c, s.len) != NULL;
}

int pai__sacct_read(pai_trace *t, pai_error **err)
{
  pai__table *tb = t->state;
  pai__sacct_job job;
  pai__slice id;
  bool skipped;
  int rc = pai__table_next(tb, t, err);

  if (rc <= 0)
    return rc;
  id = pai__cell(tb, C_ID);
  if (has(id, '.')) /* a step: "17.batch" */
    return 1;
  if (has(id, '[')) {
    rc = pai__trace_skip(t, tb->line, err,
                         "it stands for tasks of an array "
                         "that had not begun");
    return rc < 0 ? rc : 1;
  }
  if (has(id, '+'))
    pai__trace_alter(t, tb->line,
                     "a part of a heterogeneous job counts as a "
                     "job of its own");
  read_texts(tb, &t->draft);
  read_row(tb, &job);
  rc = pai__table_check(tb, t, &skipped, err);
  if (rc == PAI_OK && !skipped)
    rc = pai__sacct_put(t, &job, tb->line, err);
  return rc < 0 ? rc : 1;
}
