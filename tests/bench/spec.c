/* spec.c - checking and reading job files against libyaml's bare events */
#include "bench.h"

#include <openpai/spec.h>

static pai__buf text;

static void *setup(void)
{
  pai__buf_init(&text, &pai__libc_alloc);
  bench_yaml_spec(&text);
  return pai__buf_ok(&text) ? &text : NULL;
}

static void teardown(void *data)
{
  pai__buf_dispose(data);
}

/* A file that is not valid would be checked in no time. */
static int verdict(const pai__buf *b, pai_spec **spec)
{
  pai_report *report;
  int rc = pai_spec_check(&report, spec, b->data, b->len, NULL, NULL);

  if (rc == PAI_OK && !pai_report_valid(report))
    rc = PAI_EINVAL;
  pai_report_free(report);
  return rc;
}

static int check(void *data)
{
  return verdict(data, NULL);
}

static int parse(void *data)
{
  pai_spec *spec;
  int rc = verdict(data, &spec);

  pai_spec_unref(spec);
  return rc;
}

const bench bench_spec[] = {
  { "spec-check", "a job file's verdict, against libyaml's events", "spec",
    0.5, setup, teardown, check, bench_yaml_events },
  { "spec-parse", "a job file as a spec, against libyaml's events", "spec",
    0.4, setup, teardown, parse, bench_yaml_events },
  { NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL },
};
