/* test_generate.c - traces that are made up: what comes out is as published */
#include "cases.h"
#include "sim/traces.h"

#include "sim/scale.h"
#include "sim/trace/generate.h"

#include <stdio.h>
#include <stdlib.h>

enum { MANY = 100000 };

/* What one trace was. */
typedef struct counted {
  size_t jobs, of[1024]; /* of so many GPUs */
  int64_t *durations;
  int64_t gpus, seconds, gpu_seconds;
  size_t failed, killed, retried, short_guesses;
  pai_time last;
} counted;

static int compare(const void *a, const void *b)
{
  int64_t x, y;

  memcpy(&x, a, sizeof(x));
  memcpy(&y, b, sizeof(y));
  return (x > y) - (x < y);
}

static void count_job(counted *c, const pai_trace_record *r)
{
  uint32_t gpus = r->wants->gpus * r->wants->tasks;
  const pai_trace_attempt *last = &r->attempts[r->nattempts - 1];
  int64_t us =
    last->code == 1 ? last->duration * (r->retries + 1) : last->duration;

  assert_int_equal(r->kind, PAI_RECORD_JOB);
  assert_true(r->time >= c->last);
  assert_non_null(r->id);
  assert_non_null(r->user);
  assert_non_null(r->vc);
  assert_true(gpus < PAI__LEN(c->of));
  c->of[gpus]++;
  c->durations[c->jobs++] = us;
  c->gpus += gpus;
  c->seconds += us / 1000000;
  c->gpu_seconds += us / 1000000 * gpus;
  c->failed += last->code == 1;
  c->killed += last->code == -210;
  c->retried += r->nattempts > 1;
  c->short_guesses += r->estimate < us;
  c->last = r->time;
}

static counted count(const pai_generate_options *opts)
{
  pai_trace_record record = { .struct_size = sizeof(record) };
  counted c = { 0 };
  pai_trace *trace;

  c.durations = malloc(opts->jobs * sizeof(*c.durations));
  assert_ok(pai_trace_generate(&trace, opts, NULL));
  while (pai_trace_next(trace, &record, NULL) > 0)
    count_job(&c, &record);
  pai_trace_free(trace);
  qsort(c.durations, c.jobs, sizeof(*c.durations), compare);
  return c;
}

#define NEAR(value, low, high) assert_in_range((value), (low), (high))

TEST(philly_is_as_published)
{
  pai_generate_options opts = PAI_GENERATE_OPTIONS_INIT;
  counted c;

  opts.jobs = MANY;
  opts.seed = 3;
  opts.faults = 1;
  c = count(&opts);
  assert_int_equal(c.jobs, MANY);
  NEAR(c.of[1], 78000, 80000);
  NEAR(c.of[2], 7000, 8000);
  NEAR(c.of[4], 7000, 8000);
  NEAR(c.of[8], 4700, 5300);
  NEAR(c.of[16], 600, 800);
  NEAR(c.of[128], 5, 45);
  assert_int_equal(c.of[256], 0);
  NEAR(c.gpus, 175000, 200000); /* 1.75 on average are published */
  NEAR(c.durations[MANY / 2] / 1000000, 800, 1100);
  NEAR(c.durations[MANY / 100 * 82] / 1000000, 5000, 7500);
  NEAR(c.seconds / MANY, 21000, 31000); /* 28,329 */
  NEAR(c.failed, 16700, 17700);
  NEAR(c.killed, 13000, 14000);
  NEAR(c.retried, 2700, 3300);
  assert_int_equal(c.short_guesses, 0);
  /* load: of 8000 GPUs over the whole span */
  NEAR(c.gpu_seconds / (c.last / 1000000) / 80, 70, 90);
  free(c.durations);
}

TEST(helios_is_as_published)
{
  pai_generate_options opts = PAI_GENERATE_OPTIONS_INIT;
  counted c;

  opts.jobs = MANY;
  opts.seed = 4;
  opts.like = PAI_LIKE_HELIOS;
  opts.gpus = 2096;
  opts.load = 500;
  c = count(&opts);
  NEAR(c.of[1], 63000, 65000);
  NEAR(c.of[8], 12500, 13500);
  assert_int_equal(c.of[512], 0); /* an eighth of all is 262 */
  NEAR(c.gpus, 340000, 385000);   /* 3.72 */
  NEAR(c.durations[MANY / 2] / 1000000, 180, 230); /* 206 */
  NEAR(c.seconds / MANY, 5700, 7300);              /* 6,652 */
  assert_int_equal(c.failed + c.killed + c.retried, 0);
  NEAR(c.gpu_seconds * 1000 / (c.last / 1000000) / 2096, 450, 550);
  free(c.durations);
}

/* Nights and week-ends are quiet. */
TEST(weeks_have_a_rhythm)
{
  pai_generate_options opts = PAI_GENERATE_OPTIONS_INIT;
  pai_trace_record record = { .struct_size = sizeof(record) };
  pai_trace *trace;
  size_t night = 0, noon = 0, days[7] = { 0 };
  int64_t hour;

  opts.jobs = MANY;
  opts.gpus = 3000;
  assert_ok(pai_trace_generate(&trace, &opts, NULL));
  while (pai_trace_next(trace, &record, NULL) > 0 &&
         record.time < 4 * 168 * INT64_C(3600000000)) {
    hour = record.time / INT64_C(3600000000);
    night += hour % 24 >= 2 && hour % 24 < 6;
    noon += hour % 24 >= 14 && hour % 24 < 18;
    days[hour / 24 % 7]++;
  }
  assert_true(record.time >= 4 * 168 * INT64_C(3600000000));
  assert_true(noon > 3 * night);
  assert_true(days[2] * 10 > days[6] * 13);
  pai_trace_free(trace);
}

static void write_out(pai__buf *out, const pai_generate_options *opts)
{
  pai_trace_record record = { .struct_size = sizeof(record) };
  pai_trace *trace;

  pai__buf_init(out, &pai__libc_alloc);
  assert_ok(pai_trace_generate(&trace, opts, NULL));
  while (pai_trace_next(trace, &record, NULL) > 0)
    assert_ok(pai_trace_write(&record, test_collect, out, NULL));
  pai_trace_free(trace);
}

/* These bytes are the same on any machine. */
TEST(a_seed_is_a_trace)
{
  pai_generate_options opts = PAI_GENERATE_OPTIONS_INIT;
  pai__buf a, b;

  opts.jobs = 5;
  opts.seed = 1;
  opts.faults = 1;
  write_out(&a, &opts);
  write_out(&b, &opts);
  assert_string_equal(pai__buf_text(&a), pai__buf_text(&b));
  assert_string_equal(
    pai__buf_text(&a),
    "{\"time\":6.591949,\"id\":\"j1\",\"user\":\"u46\",\"vc\":\"vc1\""
    ",\"gpus\":1,\"duration\":551.617,\"estimate\":600}\n"
    "{\"time\":35.779602,\"id\":\"j2\",\"user\":\"u19\",\"vc\":\"vc1\""
    ",\"gpus\":8,\"duration\":142.976666,\"code\":1,\"estimate\":3600,"
    "\"retries\":2}\n"
    "{\"time\":62.439978,\"id\":\"j3\",\"user\":\"u2\",\"vc\":\"vc4\""
    ",\"gpus\":1,\"duration\":36.109666,\"code\":1,\"estimate\":300,"
    "\"retries\":2}\n"
    "{\"time\":67.403126,\"id\":\"j4\",\"user\":\"u1\",\"vc\":\"vc2\""
    ",\"gpus\":1,\"duration\":1252.797,\"estimate\":7200}\n"
    "{\"time\":75.366169,\"id\":\"j5\",\"user\":\"u3\",\"vc\":\"vc3\""
    ",\"gpus\":1,\"duration\":186355.017,\"estimate\":1814400}\n");
  pai__buf_dispose(&b);
  opts.seed = 2;
  write_out(&b, &opts);
  assert_string_not_equal(pai__buf_text(&a), pai__buf_text(&b));
  pai__buf_dispose(&a);
  pai__buf_dispose(&b);
}

TEST(the_cluster_shapes_jobs)
{
  static const char *const names[] = { "red", "blue" };
  pai_generate_options opts = PAI_GENERATE_OPTIONS_INIT;
  pai_trace_record record = { .struct_size = sizeof(record) };
  pai_trace *trace;
  size_t red = 0, wide = 0;

  opts.jobs = 3000;
  opts.gpus = 64;
  opts.most_gpus = 64;
  opts.gpus_per_node = 4;
  opts.vc_names = names;
  opts.virtual_clusters = 2;
  opts.users = 7;
  opts.model = "v100";
  opts.load = 5000;
  assert_ok(pai_trace_generate(&trace, &opts, NULL));
  while (pai_trace_next(trace, &record, NULL) > 0) {
    assert_string_equal(record.wants->type, "v100");
    assert_true(record.wants->gpus <= 4);
    assert_true(record.wants->tasks <= 16);
    wide += record.wants->tasks > 1;
    assert_true(strcmp(record.vc, "red") == 0 ||
                strcmp(record.vc, "blue") == 0);
    red += *record.vc == 'r';
    assert_true(record.user[0] == 'u' && record.user[1] >= '1' &&
                record.user[1] <= '7' && record.user[2] == '\0');
  }
  assert_true(wide > 100);
  assert_true(red > 0 && red < 3000);
  pai_trace_free(trace);
}

TEST(bad_options_are_refused)
{
  pai_generate_options bad[7];
  pai_trace *trace;
  pai_error *err = NULL;

  for (size_t i = 0; i < PAI__LEN(bad); i++)
    bad[i] = (pai_generate_options)PAI_GENERATE_OPTIONS_INIT;
  bad[0].like = 3;
  bad[1].jobs = UINT64_C(1000000001);
  bad[2].gpus = UINT32_MAX;
  bad[3].load = UINT32_MAX;
  bad[4].users = 100001;
  bad[5].vc_names = (const char *const[]){ "a" };
  bad[6].struct_size = 1;
  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    assert_int_equal(pai_trace_generate(&trace, &bad[i], &err), PAI_EINVAL);
    assert_null(trace);
    pai_error_free(err);
  }
  assert_ok(pai_trace_generate(&trace, NULL, NULL));
  pai_trace_free(trace);
}

/* The curve goes through its quantiles, and never down. */
TEST(curves_go_through_their_points)
{
  static pai__quantile_curve c;

  for (int like = 1; like <= 2; like++) {
    const pai__like *l = pai__like_of(like);
    uint32_t shares = 0;

    pai__curve_make(&c, l->quantiles, l->nquantiles);
    for (size_t i = 1; i < c.count; i++) {
      assert_true(c.us[i] >= c.us[i - 1]);
      assert_true(c.position[i] > c.position[i - 1]);
    }
    for (size_t i = 0; i < l->nquantiles; i++)
      assert_int_equal(
        pai__curve_at(&c, (uint32_t)((uint64_t)l->quantiles[i].position *
                                     UINT32_MAX / 10000)),
        l->quantiles[i].seconds * UINT64_C(1000000));
    for (size_t i = 0; i < l->nsizes; i++)
      shares += l->sizes[i].share;
    assert_int_equal(shares, 10000);
  }
}

TEST(draws_are_exponential)
{
  pai__prng r = { 9 };
  uint64_t sum = 0;
  size_t above = 0;

  for (size_t i = 0; i < MANY; i++) {
    uint64_t e = pai__draw_exponential(&r);

    sum += e;
    above += e > 3u << 20;
  }
  NEAR((sum / MANY * 1000) >> 20, 985, 1015);
  NEAR(above, 4700, 5300); /* e^-3 is 4.98 % */
}

TEST_FAULTS(no_memory_is_survived)
{
  pai_generate_options opts = PAI_GENERATE_OPTIONS_INIT;
  pai_trace_record record = { .struct_size = sizeof(record) };
  pai_trace *trace;
  int rc;

  opts.alloc = alloc;
  opts.jobs = 40;
  opts.users = 3;
  opts.virtual_clusters = 2;
  opts.model = "t4";
  opts.faults = 1;
  rc = pai_trace_generate(&trace, &opts, NULL);
  if (rc == PAI_OK)
    while ((rc = pai_trace_next(trace, &record, NULL)) > 0)
      continue;
  pai_trace_free(trace);
  return rc;
}
