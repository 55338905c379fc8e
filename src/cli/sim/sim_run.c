/* sim_run.c - one simulation, with the files that it reads and writes */
#include "cells.h"
#include "file.h"
#include "sim_run.h"

#include <openpai/platform.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum { TOLD = 10 }; /* unusable lines printed individually */

typedef struct running {
  const sim_plan *plan;
  FILE *trace, *log, *events, *jobs;
  uint64_t size, got;    /* bytes of the trace */
  unsigned told;         /* last reported progress, in thousandths */
  uint64_t bad;          /* unusable lines */
  sim_progress progress; /* or NULL */
  void *data;
} running;

/* --- the trace ----------------------------------------------------------- */

static ptrdiff_t read_trace(void *data, char *buffer, size_t size)
{
  running *r = data;
  size_t n = fread(buffer, 1, size, r->trace);

  if (n == 0 && ferror(r->trace))
    return PAI_EIO;
  r->got += n;
  if (r->progress != NULL && r->size != 0) {
    uint64_t part = r->got / ((r->size + 999) / 1000);

    if (part > r->told) {
      r->told = part < 1000 ? (unsigned)part : 1000;
      r->progress(r->data, r->told);
    }
  }
  return (ptrdiff_t)n;
}

/* Prints a problem of a line in the style of a compiler; only the first ones
 * of many. */
static void on_line(void *data, uint64_t line, int used, const char *why)
{
  running *r = data;

  /* The final error describes the line at which a strict run ends. */
  if (!used && r->plan->options.strict)
    return;
  if (r->plan->quiet || (used && !r->plan->verbose) || r->bad++ >= TOLD)
    return;
  cli_print(stderr, cli_shown_name(r->plan->trace));
  (void)fprintf(stderr, ":%" PRIu64 ": ", line);
  cli_level(stderr, used ? PAI_LOG_INFO : PAI_LOG_WARNING, why);
  (void)fputc('\n', stderr);
}

static int open_trace(running *r, pai_trace **out)
{
  pai_trace_options o = PAI_TRACE_OPTIONS_INIT;
  pai_error *err = NULL;
  struct stat st;

  r->trace = stdin;
  if (strcmp(r->plan->trace, "-") != 0)
    r->trace = fopen(r->plan->trace, "rb");
  if (r->trace == NULL || fstat(fileno(r->trace), &st) != 0) {
    cli_fail("cannot read %s: %s", r->plan->trace, strerror(errno));
    return CLI_USAGE;
  }
  if (S_ISDIR(st.st_mode)) {
    cli_fail("cannot read %s: it is a folder", r->plan->trace);
    return CLI_USAGE;
  }
  r->size = S_ISREG(st.st_mode) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
  o.form = r->plan->form;
  o.strict = r->plan->options.strict;
  o.sort = r->plan->sort;
  o.model = r->plan->model;
  o.on_line = on_line;
  o.user_data = r;
  if (pai_trace_new(out, read_trace, r, &o, &err) == PAI_OK)
    return CLI_OK;
  return cli_fail_with(cli_shown_name(r->plan->trace), err);
}

/* --- output files -------------------------------------------------------- */

static int write_log(void *data, const char *bytes, size_t len)
{
  return cli_write(((running *)data)->log, bytes, len);
}

static int write_event(void *data, const char *bytes, size_t len)
{
  return cli_write(((running *)data)->events, bytes, len);
}

/* Prints a text, quoted if necessary. */
static void put_text(FILE *out, const char *text)
{
  (void)fputc(',', out);
  if (text == NULL)
    return;
  if (text[strcspn(text, ",\"\r\n")] == '\0') {
    (void)fputs(text, out);
    return;
  }
  (void)fputc('"', out);
  for (; *text != '\0'; text++) {
    if (*text == '"')
      (void)fputc('"', out);
    (void)fputc(*text, out);
  }
  (void)fputc('"', out);
}

/* Prints seconds, or nothing for an event that has not happened. */
static void put_time(FILE *out, pai_time t)
{
  (void)fputc(',', out);
  if (t >= 0)
    (void)fprintf(out, "%" PRId64 ".%06d", t / 1000000, (int)(t % 1000000));
}

static const char *state_name(int state)
{
  switch (state) {
  case PAI_STATE_WAITING: return "waiting";
  case PAI_STATE_RUNNING: return "running";
  case PAI_STATE_SUCCEEDED: return "succeeded";
  case PAI_STATE_FAILED: return "failed";
  case PAI_STATE_STOPPED: return "stopped";
  default: return "rejected";
  }
}

static void on_job(void *data, const pai_sim_job *job)
{
  FILE *out = ((running *)data)->jobs;

  (void)fprintf(out, "%" PRIu64 ",%" PRIu64, job->id, job->line);
  put_text(out, job->name);
  put_text(out, job->user);
  put_text(out, job->vc);
  (void)fprintf(out, ",%" PRIu32 ",%" PRIu32, job->tasks, job->gpus);
  put_time(out, job->submitted);
  put_time(out, job->started);
  put_time(out, job->ended);
  (void)fprintf(out, ",%s,%d,%" PRIu32 ",%" PRIu32, state_name(job->state),
                job->code, job->attempts, job->preemptions);
  put_time(out, job->lost);
  (void)fputc('\n', out);
}

static bool open_file(FILE **out, const char *name)
{
  if (name == NULL)
    return true;
  *out = strcmp(name, "-") == 0 ? stdout : fopen(name, "wb");
  if (*out == NULL)
    (void)cli_write_fail(name, errno);
  return *out != NULL;
}

static bool open_files(running *r)
{
  if (!open_file(&r->log, r->plan->log) ||
      !open_file(&r->events, r->plan->events) ||
      !open_file(&r->jobs, r->plan->jobs))
    return false;
  if (r->jobs != NULL)
    (void)fputs("job,line,name,user,vc,tasks,gpus,submitted_s,started_s,"
                "ended_s,state,code,attempts,preemptions,lost_gpu_s\n",
                r->jobs);
  return true;
}

/* Closes the file; returns false, after printing an error, if a write
 * failed. */
static bool close_file(FILE *file, const char *name)
{
  bool good;

  if (file == NULL || file == stdout || file == stdin)
    return true;
  good = ferror(file) == 0;
  if (fclose(file) != 0 || !good) {
    (void)cli_write_fail(name, errno);
    return false;
  }
  return true;
}

/* --- running ------------------------------------------------------------- */

static int simulate(running *r, sim_case *c, pai_trace *trace)
{
  pai_sim_options o = r->plan->options;
  pai_error *err = NULL;

  o.policy = c->name;
  o.policy_options = c->options;
  o.user_data = r;
  o.log = r->log != NULL ? write_log : NULL;
  o.events = r->events != NULL ? write_event : NULL;
  o.on_job = r->jobs != NULL ? on_job : NULL;
  o.on_line = r->plan->verbose ? on_line : NULL;
  if (pai_sim_run(&c->report, r->plan->cluster, trace, &o, &err) == PAI_OK)
    return CLI_OK;
  return cli_fail_with(
    pai_error_line(err) != 0 ? cli_shown_name(r->plan->trace) : c->name, err);
}

int sim_run(const sim_plan *plan, sim_case *c, sim_progress progress,
            void *data)
{
  running r = { .plan = plan, .progress = progress, .data = data };
  pai_trace *trace = NULL;
  int code = CLI_USAGE;

  c->report = NULL;
  if (open_files(&r))
    code = open_trace(&r, &trace);
  if (code == CLI_OK)
    code = simulate(&r, c, trace);
  pai_trace_free(trace);
  if (r.bad > TOLD && !plan->quiet)
    (void)fprintf(stderr, "%s: and %" PRIu64 " more lines\n",
                  cli_shown_name(plan->trace), r.bad - TOLD);
  if (r.trace != NULL && r.trace != stdin)
    (void)fclose(r.trace);
  if (!close_file(r.log, plan->log) || !close_file(r.events, plan->events) ||
      !close_file(r.jobs, plan->jobs))
    code = code == CLI_OK ? CLI_NO : code;
  return code;
}
