/*
 * fuzz_trace.c - traces of any form: records come in order, whatever is wrong
 * is told, and what was read survives our own form
 */
#include "check.h"

#include "base/buf.h"

#include <openpai/trace.h>

#include <string.h>

typedef struct text {
  const uint8_t *data;
  size_t len, at;
} text;

static ptrdiff_t give(void *user_data, char *buffer, size_t size)
{
  text *t = user_data;
  size_t n = t->len - t->at;

  if (n > size)
    n = size;
  if (n > 100) /* pieces, so that ends fall anywhere */
    n = 100;
  if (n > 0)
    memcpy(buffer, t->data + t->at, n);
  t->at += n;
  return (ptrdiff_t)n;
}

static void count_line(void *user_data, uint64_t line, int used,
                       const char *why)
{
  uint64_t *skipped = user_data;

  CHECK(line > 0 && why[0] != '\0');
  *skipped += used == 0;
}

static void check_record(const pai_trace_record *r, pai_time last)
{
  CHECK(r->time >= last);
  CHECK(r->kind >= PAI_RECORD_JOB && r->kind <= PAI_RECORD_KILL);
  if (r->kind != PAI_RECORD_JOB)
    return;
  CHECK(r->nwants > 0 && r->nattempts > 0);
  for (size_t i = 0; i < r->nwants; i++)
    CHECK(r->wants[i].tasks > 0 && r->wants[i].min_tasks <= r->wants[i].tasks);
  for (size_t i = 0; i < r->nattempts; i++)
    CHECK(r->attempts[i].duration >= 0);
  CHECK(r->estimate >= 0 && r->limit >= 0 && r->patience >= 0);
}

/* Reads it all, and writes its records; what the last call returned. */
static int read_all(const uint8_t *data, size_t size,
                    const pai_trace_options *given, pai__buf *out)
{
  pai_trace_options opts = *given;
  pai_trace_record record = { .struct_size = sizeof(record) };
  pai_trace_view view = { .struct_size = sizeof(view) };
  pai_time last = INT64_MIN;
  text from = { data, size, 0 };
  uint64_t skipped = 0;
  pai_error *err = NULL;
  pai_trace *trace;
  int rc;

  opts.on_line = count_line;
  opts.user_data = &skipped;
  rc = pai_trace_new(&trace, give, &from, &opts, &err);
  CHECK((rc < 0) == (trace == NULL));
  while (rc >= 0 && (rc = pai_trace_next(trace, &record, &err)) > 0) {
    check_record(&record, last);
    last = record.time;
    CHECK(pai_trace_write(&record, test_collect, out, NULL) == PAI_OK);
  }
  CHECK((rc < 0) == (err != NULL));
  if (trace != NULL) {
    CHECK(pai_trace_look(trace, &view) == PAI_OK);
    CHECK(view.skipped == skipped);
    CHECK(!opts.strict || rc < 0 || skipped == 0);
  }
  pai_error_free(err);
  pai_trace_free(trace);
  return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  pai_trace_options opts = PAI_TRACE_OPTIONS_INIT;
  pai__buf first, again;

  pai__buf_init(&first, &pai__libc_alloc);
  pai__buf_init(&again, &pai__libc_alloc);
  opts.window = 3;
  if (read_all(data, size, &opts, &first) == 0) {
    opts.form = PAI_TRACE_JSONL;
    opts.strict = 1;
    CHECK(read_all((const uint8_t *)pai__buf_text(&first), first.len, &opts,
                   &again) == 0);
    CHECK(strcmp(pai__buf_text(&first), pai__buf_text(&again)) == 0);
  }
  /* and as what it is not */
  pai__buf_clear(&again);
  opts.form = 1 + (int)(size % (PAI_TRACE_GENERATED - 1));
  opts.strict = 0;
  opts.sort = 1;
  (void)read_all(data, size, &opts, &again);
  pai__buf_dispose(&first);
  pai__buf_dispose(&again);
  return 0;
}
