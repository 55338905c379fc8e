/* A job's state as bytes: by its parts, as a whole, and out of broken ones. */
#include "cases.h"
#include "by_hand.h"

#include "job/inside.h"
#include "job/save.h"

#include <openpai/job.h>

#include <stdio.h>
#include <stdlib.h>

/* --- by its parts -------------------------------------------------------------- */

static void expect_bytes(const pai__buf *b, const char *wanted)
{
  pai__buf hex = test_buf();

  for (size_t i = 0; i < b->len; i++)
    pai__buf_printf(&hex, "%02x", (uint8_t)b->data[i]);
  assert_string_equal(pai__buf_text(&hex), wanted);
  pai__buf_dispose(&hex);
}

/* What a store keeps is the same in each version of the library: a job with a
 * task that failed and one that runs. */
TEST(bytes_by_heart)
{
  by_hand h;
  pai__buf b = test_buf();

  hand_form(&h, 2, 0, 0);
  h.roles[0].min_failed = 2;
  hand_begin(&h);
  hand_play(&h, "up\nend 1 -10");
  pai__job_save_head(&b, &h.job);
  expect_bytes(&b, "0103000001"               /* version, running, asked */
                   "010000000200000000000000" /* roles, tasks, attempt */
                   "000000000000000000000000" /* retries */
                   "ffffffff00000000"         /* trigger, code */
                   "0100000000000000"         /* seed */
                   "e803000000000000"         /* began */
                   "ffffffffffffff7f"         /* due: never */
                   "020000000000000001000000" /* the role */);
  pai__buf_clear(&b);
  pai__job_save_task(&b, &h.job, 1);
  expect_bytes(&b, "0107000800"               /* version, done, has room */
                   "0000000001000000f6ffffff" /* role, index, code */
                   "0000000000000000"         /* retries */
                   "e803000000000000" /* ended */);
  pai__buf_dispose(&b);
  hand_play(&h, "end 0 0 -> release, finish");
  hand_dispose(&h);
}

/* A head and tasks that do not belong together. */
TEST(parts_that_do_not_fit)
{
  static const char *const why[] = { "out of order", "fewer", "newer",
                                     "other task roles", "wrong length" };
  by_hand h, two;
  pai__buf head, tasks[2];
  pai__job job;
  pai_error *err;

  hand_start(&h, 2, 0, 0);
  hand_form(&two, 1, 1, 0);
  pai__buf_init(&head, &pai__libc_alloc);
  pai__job_save_head(&head, &h.job);
  for (uint32_t i = 0; i < 2; i++) {
    pai__buf_init(&tasks[i], &pai__libc_alloc);
    pai__job_save_task(&tasks[i], &h.job, i);
  }
  for (int i = 0; i < 5; i++) {
    pai__bytes first = { tasks[i == 0].data, tasks[0].len };
    pai__bytes list[2] = { first, { tasks[i != 0].data, tasks[0].len } };
    int rc;

    head.data[0] = i == 2 ? 2 : 1;
    list[1].len -= i == 4;
    rc = pai__job_restore(&job, &pai__libc_alloc, i == 3 ? &two.form : &h.form,
                          (pai__bytes){ head.data, head.len }, list,
                          i == 1 ? 1 : 2, &err);
    test_expect_error(err, i == 2 ? PAI_ENOTSUP : PAI_EINVAL, why[i]);
    assert_int_equal(rc, i == 2 ? PAI_ENOTSUP : PAI_EINVAL);
  }
  for (uint32_t i = 0; i < 2; i++)
    pai__buf_dispose(&tasks[i]);
  pai__buf_dispose(&head);
  hand_play(&h, " -> queue");
  hand_dispose(&h);
}

/* --- as a whole ----------------------------------------------------------------- */

static const char yaml[] =
  "protocolVersion: 2\nname: j\ntype: job\nprerequisites:\n"
  "  - {name: i, type: dockerimage, uri: x}\n"
  "jobRetryCount: 1\n"
  "taskRoles:\n"
  "  a: {instances: 2, dockerImage: i, taskRetryCount: 3,\n"
  "      resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0},\n"
  "      completion: {minFailedInstances: 2}, commands: [x]}\n"
  "  b: {dockerImage: i, commands: [x],\n"
  "      resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}}\n";
static const char alone[] = "extras: {gangAllocation: false}\n";

static pai_job *new_job(const pai_alloc *alloc, bool gang)
{
  pai_job_options o = PAI_JOB_OPTIONS_INIT;
  char text[sizeof(yaml) + sizeof(alone)];
  pai_spec *spec;
  pai_job *job;
  int rc;

  (void)snprintf(text, sizeof(text), "%s%s", yaml, gang ? "" : alone);
  assert_ok(pai_spec_parse(&spec, text, strlen(text), NULL, NULL));
  o.alloc = alloc;
  o.seed = 7;
  rc = pai_job_new(&job, spec, &o, NULL);
  assert_int_equal(rc == PAI_OK, job != NULL);
  pai_spec_unref(spec);
  return job;
}

static int send(pai_job *job, int kind, uint32_t task, uint32_t count,
                int code)
{
  pai_job_event e = { sizeof(e), kind, task, count, code, 1000 };

  return pai_job_send(job, &e, NULL);
}

static void expect_next(pai_job *job, int kind, uint32_t task, uint32_t count)
{
  pai_job_action a = { .struct_size = sizeof(a) };

  assert_int_equal(pai_job_next(job, 100, &a), 1);
  assert_int_equal(a.kind, kind);
  assert_int_equal(a.task, task);
  assert_int_equal(a.count, count);
  assert_true(a.struct_size == sizeof(a));
}

static void expect_nothing(pai_job *job)
{
  pai_job_action a = { .struct_size = sizeof(a) };

  assert_int_equal(pai_job_next(job, 1, &a), 0);
}

/* The job is replaced by what its bytes give. */
static int round_trip(pai_job **job, const pai_alloc *alloc)
{
  pai_job *back;
  pai__buf b = test_buf(), again = test_buf();
  int rc;

  rc = pai_job_save(*job, test_collect, &b, NULL);
  if (rc == PAI_OK)
    rc = pai_job_load(&back, pai__buf_text(&b), b.len, alloc, NULL);
  if (rc == PAI_OK) {
    pai_job_free(*job);
    *job = back;
    rc = pai_job_save(back, test_collect, &again, NULL);
  }
  if (rc == PAI_OK) {
    assert_int_equal(b.len, again.len);
    assert_memory_equal(b.data, again.data, b.len);
  }
  pai__buf_dispose(&b);
  pai__buf_dispose(&again);
  return rc;
}

static int life_body(const pai_alloc *alloc, void *user_data)
{
  bool gang = *(bool *)user_data;
  pai_job *job = new_job(alloc, gang);
  pai_job_status s = { .struct_size = sizeof(s) };
  pai_job_task_status t = { .struct_size = sizeof(t) };
  pai_job_role_status r = { .struct_size = sizeof(r) };
  int rc = job != NULL ? PAI_OK : PAI_ENOMEM;

  if (rc == PAI_OK)
    rc = round_trip(&job, alloc);
  if (rc < 0) {
    pai_job_free(job);
    return rc;
  }
  expect_next(job, PAI_JOB_DO_QUEUE, 0, 3);
  expect_nothing(job);
  assert_ok(send(job, PAI_JOB_PLACED, 0, 0, 0));
  expect_next(job, PAI_JOB_DO_START, 0, 3);
  assert_ok(send(job, PAI_JOB_TASK_STARTED, 0, 3, 0));
  assert_ok(pai_job_look(job, &s));
  assert_int_equal(s.state, PAI_STATE_RUNNING);
  assert_string_equal(s.substate, "AttemptRunning");
  assert_int_equal(s.roles, 2);
  assert_int_equal(s.tasks, 3);
  assert_int_equal(s.alive, 3);
  assert_int_equal(s.trigger, PAI_NO_TASK);
  assert_ok(send(job, PAI_JOB_TASK_ENDED, 1, 1, 255));
  assert_ok(pai_job_look_task(job, 1, &t));
  assert_int_equal(t.code, 255);
  assert_int_equal(t.role, 0);
  assert_int_equal(t.index, 1);
  /* A gang's tasks are not tried again alone. */
  assert_int_equal(t.state, gang ? PAI_STATE_FAILED : PAI_STATE_WAITING);
  assert_int_equal(t.retries, gang ? 0 : 1);
  assert_ok(pai_job_look_role(job, 0, &r));
  assert_int_equal(r.tasks, 2);
  assert_int_equal(r.failed, gang ? 1 : 0);
  rc = round_trip(&job, alloc);
  if (rc == PAI_OK)
    assert_ok(send(job, PAI_JOB_STOP, 0, 0, 0));
  pai_job_free(job);
  return rc;
}

TEST(a_job_comes_back)
{
  bool gang[] = { true, false };

  test_faults(life_body, &gang[0]);
  test_faults(life_body, &gang[1]);
}

TEST(calls_that_cannot_be)
{
  pai_job *job = new_job(NULL, true), *out;
  pai_job_action a = { .struct_size = 1 };
  pai_job_status s = { .struct_size = 1 };
  pai_job_task_status t = { .struct_size = sizeof(t) };
  pai_job_role_status r = { .struct_size = sizeof(r) };
  pai_job_event e = { 1, PAI_JOB_STOP, 0, 0, 0, 0 };
  pai_error *err;

  assert_int_equal(send(job, 0, 0, 0, 0), PAI_EINVAL);
  assert_int_equal(send(job, PAI_JOB_DUE + 1, 0, 0, 0), PAI_EINVAL);
  assert_fails(pai_job_send(job, &e, &err), err, PAI_EINVAL, "struct_size");
  e.struct_size = sizeof(e);
  e.kind = PAI_JOB_TASK_ENDED;
  assert_fails(pai_job_send(job, &e, &err), err, PAI_EINVAL, "is impossible");
  e.time = INT64_MAX;
  assert_fails(pai_job_send(job, &e, &err), err, PAI_EINVAL,
               "no time 9223372036854775807");
  assert_fails(pai_job_rescale(job, 0, 4, INT64_MIN, &err), err, PAI_EINVAL,
               "no time");
  assert_int_equal(pai_job_next(job, 1, &a), PAI_EINVAL);
  assert_int_equal(pai_job_look(job, &s), PAI_EINVAL);
  assert_int_equal(pai_job_look_task(job, 3, &t), PAI_ENOTFOUND);
  assert_int_equal(pai_job_look_role(job, 2, &r), PAI_ENOTFOUND);
  assert_fails(pai_job_rescale(job, 2, 1, 0, &err), err, PAI_EINVAL,
               "no role 2");
  assert_fails(pai_job_rescale(job, 0, UINT32_MAX, 0, &err), err, PAI_EINVAL,
               "at most");
  assert_ok(pai_job_rescale(job, 0, 4, 0, &err));
  assert_fails(pai_job_load(&out, "PAI jab", 8, NULL, &err), err, PAI_EINVAL,
               "not a saved job");
  assert_fails(pai_job_load(&out, "PAI job\0\2", 9, NULL, &err), err,
               PAI_ENOTSUP, "version 2");
  expect_next(job, PAI_JOB_DO_QUEUE, 0, 5);
  assert_ok(send(job, PAI_JOB_STOP, 0, 0, 0));
  expect_next(job, PAI_JOB_DO_RELEASE, 0, 5);
  expect_next(job, PAI_JOB_DO_FINISH, 0, 5);
  assert_fails(pai_job_rescale(job, 0, 1, 0, &err), err, PAI_EINVAL,
               "has ended");
  pai_job_free(job);
  pai_job_free(NULL);
}

/* --- out of broken bytes --------------------------------------------------------- */

/* Whatever was taken goes on: with any events, until a stop ends it. */
static void drive(pai_job *job, pai__prng *rng)
{
  pai_job_action a = { .struct_size = sizeof(a) };
  pai_job_status s = { .struct_size = sizeof(s) };
  pai_time now = 1;

  for (int i = 0; i < 60; i++) {
    pai_job_event e = { sizeof(e),
                        (int)pai__prng_below(rng, 8),
                        (uint32_t)pai__prng_below(rng, 5),
                        (uint32_t)pai__prng_below(rng, 4),
                        (int)pai__prng_below(rng, 3),
                        now };

    (void)!pai_job_send(job, &e, NULL);
    (void)pai_job_next(job, 2, &a);
    if (pai__prng_below(rng, 8) == 0)
      (void)!pai_job_rescale(job, (uint32_t)pai__prng_below(rng, 2),
                             (uint32_t)pai__prng_below(rng, 4), now, NULL);
    assert_ok(pai_job_look(job, &s));
    now += 1000000;
  }
  (void)!send(job, PAI_JOB_STOP, 0, 0, 0);
  for (uint32_t i = 0; i < s.tasks + 4; i++) {
    while (pai_job_next(job, 1, &a) == 1) {
    }
    (void)!send(job, PAI_JOB_TASK_ENDED, i, 1, 0);
  }
  while (pai_job_next(job, 1, &a) == 1) {
  }
  assert_ok(pai_job_look(job, &s));
  assert_true(s.state >= PAI_STATE_SUCCEEDED);
}

TEST(broken_bytes_do_no_harm)
{
  const char *from = getenv("OPENPAI_SEED");
  pai__prng rng = { from != NULL ? strtoull(from, NULL, 10) : 11 };
  unsigned taken = 0, refused = 0;

  for (int run = 0; run < 20000; run++) {
    pai_job *job = new_job(NULL, run % 2 == 0), *back;
    uint8_t *bytes;
    size_t len;
    pai__buf b = test_buf();

    for (uint64_t n = pai__prng_below(&rng, 8); n > 0; n--) {
      pai_job_action a = { .struct_size = sizeof(a) };

      (void)pai_job_next(job, 5, &a);
      (void)!send(job, 1 + (int)(8 - n) % 7, 0, (uint32_t)(n % 3), (int)n % 2);
    }
    assert_ok(pai_job_save(job, test_collect, &b, NULL));
    pai_job_free(job);
    len =
      pai__prng_below(&rng, 10) == 0 ? pai__prng_below(&rng, b.len) : b.len;
    bytes = malloc(len + 1); /* so that reading past it is seen */
    assert_non_null(bytes);
    memcpy(bytes, b.data, len);
    for (uint64_t n = pai__prng_below(&rng, 3); n > 0 && len > 0; n--)
      bytes[pai__prng_below(&rng, len)] = (uint8_t)pai__prng_below(&rng, 12);
    if (pai_job_load(&back, bytes, len, NULL, NULL) == PAI_OK) {
      drive(back, &rng);
      taken++;
    } else {
      refused++;
    }
    pai_job_free(back);
    free(bytes);
    pai__buf_dispose(&b);
  }
  print_message("%u taken, %u refused\n", taken, refused);
  assert_true(taken > 1000 && refused > 1000);
}

/* --- the exit spec ------------------------------------------------------------------ */

TEST(exits)
{
  pai_exit_view v = { .struct_size = sizeof(v) };
  size_t n = 0;
  pai__buf b = test_buf();

  assert_ok(pai_exit_find(&v, 137));
  assert_int_equal(v.code, 137);
  assert_string_equal(v.phrase, "ContainerSigKillReceived");
  assert_string_equal(v.issuer, "PAI_OS");
  assert_string_equal(v.causer, "PAI_OS");
  assert_string_equal(v.type, "PLATFORM_FAILURE");
  assert_string_equal(v.stage, "RUNNING");
  assert_string_equal(v.behavior, "TRANSIENT");
  assert_string_equal(v.reaction, "ALWAYS_RETRY");
  assert_string_equal(v.reason, "The command was ended by SIGKILL.");
  assert_string_equal(v.solution, "Nothing to do: the platform retries the "
                                  "task, a limited number of times.");
  assert_ok(pai_exit_find(&v, 77));
  assert_int_equal(v.code, 256);
  while (pai_exit_at(&v, n) == PAI_OK)
    n++;
  assert_int_equal(n, 62);
  assert_int_equal(pai_exit_at(&v, n), PAI_ENOTFOUND);
  v.struct_size = 3;
  assert_int_equal(pai_exit_at(&v, 0), PAI_EINVAL);
  assert_ok(pai_exit_write(77, test_collect, &b, NULL));
  assert_int_equal(
    strncmp(pai__buf_text(&b), "{\"code\":77,\"phrase\":\"PAIRuntimeExit", 35),
    0);
  pai__buf_dispose(&b);
}
