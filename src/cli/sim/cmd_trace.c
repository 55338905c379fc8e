/* cmd_trace.c - `trace`: show a trace of jobs or convert it into OpenPAI's
 * form */
#include "cells.h"
#include "file.h"
#include "json.h"
#include "sim_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REASONS = 24, MOST_TOLD = 20 };

/* Lines with the same problem. */
typedef struct reason {
  char why[300];
  uint64_t line, count; /* first line, and number of lines */
  int used;
} reason;

/* Classes of jobs by GPUs, each from this number on. */
static const uint32_t sizes[] = { 0, 1, 2, 4, 8, 9, 17, 33, 65 };
static const char *const size_names[] = { "0",     "1",     "2-3",
                                          "4-7",   "8",     "9-16",
                                          "17-32", "33-64", "65 and more" };
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

typedef struct trace_file {
  const char *name, *form, *model;
  bool sort, strict;
  bool tells; /* print problems of lines to stderr as they occur */
  pai_trace *trace;
  reason *reasons; /* array of MOST_REASONS */
  size_t nreasons;
  uint64_t other_reasons, told;
  uint64_t jobs[SIZES], nodes, kills, failed;
  int64_t gpu_seconds;
} trace_file;

/* --- reading ------------------------------------------------------------- */

static void tell(const trace_file *f, uint64_t line, const char *why)
{
  cli_print(stderr, cli_shown_name(f->name));
  (void)fprintf(stderr, ":%" PRIu64 ": ", line);
  cli_level(stderr, PAI_LOG_WARNING, "line skipped: ");
  cli_print(stderr, why);
  (void)fputc('\n', stderr);
}

static void on_line(void *user_data, uint64_t line, int used, const char *why)
{
  trace_file *f = user_data;
  size_t i = 0;

  if (f->tells && !used && !f->strict && f->told++ < MOST_TOLD)
    tell(f, line, why);
  while (i < f->nreasons &&
         (f->reasons[i].used != used ||
          strncmp(f->reasons[i].why, why, sizeof(f->reasons[i].why) - 1) != 0))
    i++;
  if (i == MOST_REASONS) {
    f->other_reasons++;
    return;
  }
  if (i == f->nreasons) {
    reason *r = &f->reasons[f->nreasons++];

    *r = (reason){ .line = line, .used = used };
    (void)snprintf(r->why, sizeof(r->why), "%s", why);
  }
  f->reasons[i].count++;
}

int cli_trace_form(const char *name, int *form)
{
  *form = PAI_TRACE_AUTO;
  if (name == NULL)
    return CLI_OK;
  for (int i = 1; i < PAI_TRACE_GENERATED; i++)
    if (strcmp(pai_trace_form_name(i), name) == 0) {
      *form = i;
      return CLI_OK;
    }
  return cli_misused("unknown format of a trace", name);
}

static int fail(const trace_file *f, pai_error *err)
{
  int code = pai_error_code(err) == PAI_ENOTFOUND ||
                 pai_error_code(err) == PAI_EPERM ||
                 pai_error_code(err) == PAI_EIO
               ? CLI_USAGE
               : CLI_NO;

  (void)cli_fail_with(cli_shown_name(f->name), err);
  return code;
}

static int open_trace(trace_file *f)
{
  pai_trace_options opts = PAI_TRACE_OPTIONS_INIT;
  pai_error *err = NULL;
  int code = cli_trace_form(f->form, &opts.form);

  if (code != CLI_OK)
    return code;
  f->reasons = calloc(MOST_REASONS, sizeof(*f->reasons));
  if (f->reasons == NULL) {
    cli_fail("out of memory");
    return CLI_NO;
  }
  opts.sort = f->sort;
  opts.strict = f->strict;
  opts.model = f->model;
  opts.on_line = on_line;
  opts.user_data = f;
  if (pai_trace_load(&f->trace, f->name, &opts, &err) < 0)
    return fail(f, err);
  return CLI_OK;
}

static void count_job(trace_file *f, const pai_trace_record *r)
{
  uint64_t gpus = 0;
  size_t size = 0;

  for (size_t i = 0; i < r->nwants; i++)
    gpus += (uint64_t)r->wants[i].gpus * r->wants[i].tasks;
  while (size + 1 < SIZES && gpus >= sizes[size + 1])
    size++;
  f->jobs[size]++;
  f->failed += r->attempts[r->nattempts - 1].code != 0;
  for (size_t i = 0; i < r->nattempts; i++)
    f->gpu_seconds += r->attempts[i].duration / 1000000 * (int64_t)gpus;
}

/* Reads the whole trace and writes each record to `out`, if not NULL. */
static int read_trace(trace_file *f, FILE *out)
{
  pai_trace_record record = { .struct_size = sizeof(record) };
  pai_error *err = NULL;
  int rc;

  while ((rc = pai_trace_next(f->trace, &record, &err)) > 0) {
    if (record.kind == PAI_RECORD_JOB)
      count_job(f, &record);
    f->nodes += record.kind == PAI_RECORD_NODE;
    f->kills += record.kind == PAI_RECORD_KILL;
    if (out == NULL)
      continue;
    rc = pai_trace_write(&record, cli_write, out, &err);
    if (rc < 0 || !cli_written())
      break;
  }
  return rc < 0 ? fail(f, err) : CLI_OK;
}

static void close_trace(trace_file *f)
{
  pai_trace_free(f->trace);
  free(f->reasons);
}

/* --- show ---------------------------------------------------------------- */

static void put_seconds(pai_time us)
{
  uint64_t part = us < 0 ? 0 - (uint64_t)us : (uint64_t)us;

  (void)printf("%s%" PRIu64 ".%06" PRIu64, us < 0 ? "-" : "", part / 1000000,
               part % 1000000);
}

static void show_json(const trace_file *f, const pai_trace_view *v)
{
  (void)printf("{\"form\":\"%s\",\"lines\":%" PRIu64 ",\"jobs\":%" PRIu64
               ",\"node_records\":%" PRIu64 ",\"kills\":%" PRIu64
               ",\"failed\":%" PRIu64 ",\"skipped\":%" PRIu64
               ",\"altered\":%" PRIu64 ",\"first_s\":",
               pai_trace_form_name(v->form), v->lines, v->jobs, f->nodes,
               f->kills, f->failed, v->skipped, v->altered);
  put_seconds(v->first);
  (void)fputs(",\"last_s\":", stdout);
  put_seconds(v->last);
  (void)printf(",\"gpu_hours\":%" PRId64 ",\"sizes\":{",
               f->gpu_seconds / 3600);
  for (size_t i = 0; i < SIZES; i++)
    (void)printf("%s\"%s\":%" PRIu64, i > 0 ? "," : "",
                 i + 1 < SIZES ? size_names[i] : "65-", f->jobs[i]);
  (void)fputs("},\"reasons\":[", stdout);
  for (size_t i = 0; i < f->nreasons; i++) {
    const reason *r = &f->reasons[i];

    (void)printf("%s", i > 0 ? "," : "");
    cli_json_print(stdout,
                   "{\"used\":%c,\"count\":%llu,\"line\":%llu,\"why\":%s}",
                   cli_truth(r->used), (unsigned long long)r->count,
                   (unsigned long long)r->line, r->why);
  }
  (void)printf("],\"other_reasons\":%" PRIu64 "}\n", f->other_reasons);
}

static void show_reasons(const trace_file *f, int used)
{
  for (size_t i = 0; i < f->nreasons; i++) {
    const reason *r = &f->reasons[i];

    if (r->used != used)
      continue;
    (void)printf("  %8" PRIu64 "  %s %" PRIu64 ": ", r->count,
                 r->count > 1 ? "from line" : "line", r->line);
    cli_print(stdout, r->why);
    (void)putchar('\n');
  }
}

static void show_text(const trace_file *f, const pai_trace_view *v)
{
  int64_t hours = (v->last - v->first) / INT64_C(3600000000);

  (void)printf("form      %s\n", pai_trace_form_name(v->form));
  (void)printf("jobs      %" PRIu64 " in %" PRIu64 " lines, %" PRIu64
               " of them failed\n",
               v->jobs, v->lines, f->failed);
  if (f->nodes + f->kills > 0)
    (void)printf("others    %" PRIu64 " of nodes, %" PRIu64 " kills\n",
                 f->nodes, f->kills);
  (void)printf("span      %" PRId64 " d %" PRId64 " h\n", hours / 24,
               hours % 24);
  (void)printf("work      %" PRId64 " GPU hours\n", f->gpu_seconds / 3600);
  (void)printf("GPUs      jobs\n");
  for (size_t i = 0; i < SIZES; i++)
    if (f->jobs[i] > 0)
      (void)printf("  %-12s%" PRIu64 "\n", size_names[i], f->jobs[i]);
  (void)printf("skipped   %" PRIu64 "\n", v->skipped);
  show_reasons(f, 0);
  (void)printf("altered   %" PRIu64 "\n", v->altered);
  show_reasons(f, 1);
  if (f->other_reasons > 0)
    (void)printf("and %" PRIu64 " more lines for other reasons\n",
                 f->other_reasons);
}

int cli_do_trace_show(const cli_trace_show_args *a)
{
  trace_file f = {
    .name = a->words[0], .form = a->as, .sort = a->sort, .strict = a->strict
  };
  pai_trace_view view = { .struct_size = sizeof(view) };
  int code = open_trace(&f);

  if (code == CLI_OK)
    code = read_trace(&f, NULL);
  if (code == CLI_OK) {
    (void)pai_trace_look(f.trace, &view);
    if (a->json)
      show_json(&f, &view);
    else
      show_text(&f, &view);
  }
  close_trace(&f);
  return code;
}

/* --- convert ------------------------------------------------------------- */

int cli_do_trace_convert(const cli_trace_convert_args *a)
{
  trace_file f = { .name = a->words[0],
                   .form = a->as,
                   .model = a->model,
                   .sort = a->sort,
                   .strict = a->strict,
                   .tells = true };
  int code = open_trace(&f);

  if (code == CLI_OK)
    code = read_trace(&f, stdout);
  if (f.told > MOST_TOLD)
    (void)fprintf(stderr,
                  "and %" PRIu64 " more lines were skipped; openpai "
                  "trace show lists the reasons\n",
                  f.told - MOST_TOLD);
  close_trace(&f);
  return code;
}
