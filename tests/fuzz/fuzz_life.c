/*
 * fuzz_life.c - what the life of a job reads: saved jobs, logs, diagnostics
 *
 * A text that begins like a saved job is loaded, and what was taken is driven
 * by what follows from its bytes, and ended.  Any other is the log of a task
 * that failed, diagnostics, and, up to its first line's end, a pattern that is
 * looked for in the rest.
 */
#include "check.h"

#include "job/end/end.h"
#include "job/end/pattern.h"

#include <openpai/job.h>

/* --- saved jobs ---------------------------------------------------------------- */

static void send(pai_job *job, int kind, uint32_t task, uint32_t count,
                 int code, pai_time time)
{
  pai_job_event e = { sizeof(e), kind, task, count, code, time };
  pai_error *err = NULL;
  int rc = pai_job_send(job, &e, &err);

  CHECK(rc == PAI_OK || rc == PAI_EINVAL);
  if (rc < 0)
    check_error(err, rc);
  pai_error_free(err);
}

static void take_all(pai_job *job)
{
  pai_job_action a = { .struct_size = sizeof(a) };

  while (pai_job_next(job, 3, &a) == 1)
    CHECK(a.kind >= PAI_JOB_DO_QUEUE && a.kind <= PAI_JOB_DO_KILL);
}

/* Whatever it was, it comes to its end. */
static void drive(pai_job *job, const uint8_t *data, size_t size)
{
  pai_job_status s = { .struct_size = sizeof(s) };

  for (size_t i = 0; i < size && i < 64; i++) {
    send(job, data[i] % 8, data[i] / 8 % 4, data[i] / 32 % 4, data[i] % 3,
         (pai_time)i * 1000000);
    if (data[i] % 16 == 0)
      (void)!pai_job_rescale(job, data[i] / 16 % 2, data[i] / 32, 0, NULL);
    if (data[i] % 2 == 0)
      take_all(job);
  }
  send(job, PAI_JOB_STOP, 0, 0, 0, 100000000);
  take_all(job);
  CHECK(pai_job_look(job, &s) == PAI_OK);
  for (uint32_t i = 0; i < s.tasks; i++)
    send(job, PAI_JOB_TASK_ENDED, i, 1, 0, 100000000);
  take_all(job);
  CHECK(pai_job_look(job, &s) == PAI_OK && s.state >= PAI_STATE_SUCCEEDED);
}

static void check_saved(const char *text, size_t size)
{
  pai_error *err;
  pai_job *job, *again;
  pai__buf b;
  int rc = pai_job_load(&job, text, size, NULL, &err);

  if (rc < 0)
    check_error(err, rc);
  pai_error_free(err);
  if (rc < 0)
    return;
  pai__buf_init(&b, &pai__libc_alloc);
  CHECK(pai_job_save(job, test_collect, &b, NULL) == PAI_OK);
  CHECK(pai_job_load(&again, pai__buf_text(&b), b.len, NULL, NULL) == PAI_OK);
  pai__buf_dispose(&b);
  drive(again, (const uint8_t *)text, size);
  drive(job, (const uint8_t *)text + size / 2, size - size / 2);
  pai_job_free(again);
  pai_job_free(job);
}

/* --- texts ------------------------------------------------------------------------ */

static void check_messages(const char *diagnostics)
{
  pai__json_writer w;
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  CHECK(pai__end_summary(&b, diagnostics) == PAI_OK);
  pai__buf_clear(&b);
  pai__json_writer_init(&w, &b, false);
  CHECK(pai__end_messages(&w, diagnostics) == PAI_OK);
  CHECK(pai__json_finish(&w) == PAI_OK);
  pai__buf_dispose(&b);
}

static void check_log(const char *text, size_t size)
{
  pai__end_facts f = { .how = PAI__END_EXITED,
                       .code = 1,
                       .user = { text, size },
                       .runtime = { text, size / 2 } };
  pai__buf b;
  int code;

  pai__buf_init(&b, &pai__libc_alloc);
  CHECK(pai__end_judge(&code, &b, &f) == PAI_OK);
  CHECK(code > 0);
  check_messages(pai__buf_text(&b));
  pai__buf_dispose(&b);
}

static void check_pattern(char *text, size_t size)
{
  char *end = memchr(text, '\n', size);
  pai__pattern_span found[1 + PAI__PATTERN_GROUPS];
  pai__pattern p;

  if (end == NULL || memchr(text, '\0', (size_t)(end - text)) != NULL)
    return;
  *end++ = '\0';
  size -= (size_t)(end - text);
  if (!pai__pattern_make(&p, text) ||
      pai__pattern_find(found, &p, end, size, false) == 0)
    return;
  for (int i = 0; i <= PAI__PATTERN_GROUPS; i++) {
    const pai__pattern_span *s = &found[i];

    CHECK(s->start <= s->end && s->end <= size);
    CHECK(memchr(end + s->start, '\n', s->end - s->start) == NULL);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = malloc(size + 1);

  if (text == NULL)
    return 0;
  if (size != 0)
    memcpy(text, data, size);
  text[size] = '\0';
  if (size >= 8 && memcmp(text, "PAI job", 8) == 0) {
    check_saved(text, size);
  } else {
    check_log(text, size);
    check_messages(text);
    check_pattern(text, size);
  }
  free(text);
  return 0;
}
