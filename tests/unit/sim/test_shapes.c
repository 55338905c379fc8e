/* test_shapes.c - in which shape a request would start sooner */
#include "testing.h"

#include "base/buf.h"
#include "sched/scene.h"

#include <openpai/forecast.h>

#define SECOND INT64_C(1000000)

static const char park[] = "skus:\n"
                           "  old: {gpu: t4, gpus: 4, cpus: 8, memory: 1G}\n"
                           "  new: {gpu: h100, gpus: 8, cpus: 8, memory: 1G}\n"
                           "nodes:\n"
                           "- {name: a, sku: new}\n"
                           "- {name: b, sku: old}\n"
                           "- {name: c, sku: old}\n"
                           "virtualClusters:\n"
                           "  left: {cells: {new: 1}}\n"
                           "  right: {cells: {old: 2}}\n";

static int submit(pai_sched *s, uint64_t id, const char *vc, pai_want want,
                  const char *within, int64_t duration)
{
  want.struct_size = sizeof(want);
  want.cpus = 1;
  return scene_request(s,
                       &(pai_request){ .struct_size = sizeof(pai_request),
                                       .id = id,
                                       .name = "bert",
                                       .vc = vc,
                                       .within = within,
                                       .duration = duration * SECOND,
                                       .wants = &want,
                                       .nwants = 1 },
                       NULL);
}

static int decide(pai_sched *s)
{
  int rc = pai_sched_decide(s, 0, NULL);

  return rc < 0 ? rc : PAI_OK;
}

static pai_shapes *shapes(const pai_sched *s, uint64_t id,
                          const char *const *vcs, size_t n)
{
  pai_shapes *x;

  assert_int_equal(pai_shapes_new(&x, s, NULL, id, vcs, n, NULL, NULL),
                   PAI_OK);
  return x;
}

static pai_shape get(const pai_shapes *x, size_t i)
{
  pai_shape v = { .struct_size = sizeof(v) };

  assert_int_equal(pai_shapes_get(x, i, &v), PAI_OK);
  return v;
}

static size_t count(const pai_shapes *x)
{
  pai_shape v = { .struct_size = sizeof(v) };
  size_t n = 0;

  while (pai_shapes_get(x, n, &v) == PAI_OK)
    n++;
  return n;
}

static const pai_shape *find(const pai_shapes *x, const char *what,
                             pai_shape *v)
{
  *v = (pai_shape){ .struct_size = sizeof(*v) };
  for (size_t i = 0; pai_shapes_get(x, i, v) == PAI_OK; i++)
    if (strcmp(v->what, what) == 0)
      return v;
  return NULL;
}

/* --- shapes --------------------------------------------------------------- */

/* 8 GPUs are wanted, 6 of which are free. */
static pai_sched *crowded(const pai_alloc *alloc)
{
  pai_sched *s =
    scene_new("nodes:1 gpu:8 cpus:64 mem:1G", "fifo", NULL, alloc);
  int rc = s != NULL ? PAI_OK : PAI_ENOMEM;

  if (rc == PAI_OK)
    rc = submit(s, 1, NULL, (pai_want){ .tasks = 1, .gpus = 2 }, NULL, 100);
  if (rc == PAI_OK)
    rc = submit(s, 2, NULL, (pai_want){ .tasks = 1, .gpus = 8 }, NULL, 50);
  if (rc == PAI_OK)
    rc = decide(s);
  if (rc == PAI_OK)
    return s;
  pai_sched_free(s);
  return NULL;
}

static void fewer_gpus_start_sooner(void **state)
{
  pai_sched *s = crowded(NULL);
  pai_shapes *x = shapes(s, 2, NULL, 0);
  pai_shape v = get(x, 0);

  (void)state;
  assert_string_equal(v.what, "as it is");
  assert_int_equal(v.p50, 100 * SECOND);
  assert_int_equal(v.share, 1000);
  /* What keeps more comes first, and what keeps less is not told. */
  v = get(x, 1);
  assert_string_equal(v.what, "6 GPUs for each task rather than 8");
  assert_int_equal(v.gpus, 6);
  assert_int_equal(v.p50, 0);
  assert_int_equal(v.share, 750);
  assert_int_equal(count(x), 2);
  pai_shapes_free(x);
  pai_sched_free(s);
}

static void gangs_are_split(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:8 cpus:64 mem:1G", "fifo",
                           "{\"place\":\"spread\"}", NULL);
  pai_shapes *x;
  pai_shape v;

  (void)state;
  assert_int_equal(
    submit(s, 1, NULL, (pai_want){ .tasks = 2, .gpus = 4 }, NULL, 100),
    PAI_OK);
  assert_int_equal(
    submit(s, 2, NULL, (pai_want){ .tasks = 1, .gpus = 8 }, "node", 50),
    PAI_OK);
  assert_int_equal(decide(s), PAI_OK);
  x = shapes(s, 2, NULL, 0);
  v = get(x, 1);
  assert_string_equal(v.what, "2 tasks with 4 GPUs each, wherever they are, "
                              "rather than 1 with 8");
  assert_int_equal(v.tasks, 2);
  assert_int_equal(v.gpus, 4);
  assert_int_equal(v.share, 1000);
  assert_int_equal(v.p50, 0);
  pai_shapes_free(x);
  pai_sched_free(s);
}

static void fewer_tasks_start_sooner(void **state)
{
  pai_sched *s = scene_new("nodes:4 gpu:2 cpus:64 mem:1G", "fifo", NULL, NULL);
  pai_shapes *x;
  pai_shape v;

  (void)state;
  assert_int_equal(
    submit(s, 1, NULL, (pai_want){ .tasks = 1, .gpus = 2 }, NULL, 100),
    PAI_OK);
  assert_int_equal(
    submit(s, 2, NULL, (pai_want){ .tasks = 4, .gpus = 2 }, NULL, 50), PAI_OK);
  assert_int_equal(decide(s), PAI_OK);
  x = shapes(s, 2, NULL, 0);
  v = get(x, 1);
  assert_string_equal(v.what, "3 tasks rather than 4");
  assert_int_equal(v.share, 750);
  pai_shapes_free(x);
  pai_sched_free(s);
}

static void other_types_and_clusters_are_tried(void **state)
{
  const char *const vcs[] = { "right", "nowhere", "left" };
  pai_sched *s = scene_new(park, "fifo", NULL, NULL);
  pai_shapes *x;
  pai_shape v;

  (void)state;
  assert_non_null(s);
  assert_int_equal(submit(s, 1, "right",
                          (pai_want){ .tasks = 1, .gpus = 4, .type = "t4" },
                          NULL, 100),
                   PAI_OK);
  assert_int_equal(submit(s, 2, "right",
                          (pai_want){ .tasks = 2, .gpus = 4, .type = "t4" },
                          NULL, 100),
                   PAI_OK);
  assert_int_equal(
    submit(s, 3, "left", (pai_want){ .tasks = 1, .gpus = 8 }, NULL, 500),
    PAI_OK);
  assert_int_equal(
    submit(s, 4, "left", (pai_want){ .tasks = 1, .gpus = 4 }, NULL, 10),
    PAI_OK);
  assert_int_equal(decide(s), PAI_OK);
  /* There are GPUs of the other kind, but not in its virtual cluster: refused. */
  x = shapes(s, 2, NULL, 0);
  for (size_t i = 0; i < count(x); i++)
    assert_null(get(x, i).type);
  pai_shapes_free(x);
  x = shapes(s, 4, vcs, 3);
  assert_non_null(find(x, "in virtual cluster right rather than left", &v));
  assert_string_equal(v.vc, "right");
  assert_true(v.p50 < get(x, 0).p50);
  pai_shapes_free(x);
  pai_sched_free(s);
}

static void nothing_helps_who_is_held(void **state)
{
  pai_sched *s = crowded(NULL);
  pai_shapes *x;
  pai_error *err;

  (void)state;
  assert_int_equal(scene_change(s, 2, "held", 1), PAI_OK);
  x = shapes(s, 2, NULL, 0);
  assert_int_equal(count(x), 1);
  pai_shapes_free(x);
  assert_int_equal(pai_shapes_new(&x, s, NULL, 1, NULL, 0, NULL, &err),
                   PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "request 1 does not wait");
  assert_int_equal(pai_shapes_new(&x, s, NULL, 9, NULL, 0, NULL, &err),
                   PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "no request 9");
  pai_shapes_free(NULL);
  pai_sched_free(s);
}

/* --- text ----------------------------------------------------------------- */

static void texts_rank_shapes(void **state)
{
  pai_sched *s = crowded(NULL);
  pai_shapes *x = shapes(s, 2, NULL, 0);
  pai__buf out;

  (void)state;
  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(
    pai_shapes_write(x, PAI_FORMAT_TEXT, test_collect, &out, NULL), PAI_OK);
  assert_non_null(
    strstr(out.data, "bert (request 2): in 100 s\n"
                     "It would start\n"
                     "  now: 6 GPUs for each task rather than 8 (75 % of its "
                     "GPUs)\n"
                     "How much longer it then runs is not known.\n"));
  pai__buf_clear(&out);
  assert_int_equal(
    pai_shapes_write(x, PAI_FORMAT_JSON, test_collect, &out, NULL), PAI_OK);
  assert_non_null(
    strstr(out.data, "\"tasks\":1,\"gpus\":6,\"p50\":0,\"p90\":0,"
                     "\"share\":750,\"changes\":[{\"event\":\"change\","
                     "\"id\":2,\"key\":\"gpus\",\"want\":0,\"value\":6}]}"));
  pai__buf_dispose(&out);
  pai_shapes_free(x);
  pai_sched_free(s);
}

/* --- faults --------------------------------------------------------------- */

static int ask(const pai_alloc *alloc, void *user_data)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = crowded(alloc);
  pai_shapes *x = NULL;
  pai_error *err = NULL;
  pai__buf out;
  int rc = PAI_ENOMEM;

  (void)user_data;
  pai__buf_init(&out, alloc);
  o.runs = 1;
  if (s != NULL)
    rc = pai_shapes_new(&x, s, NULL, 2, NULL, 0, &o, &err);
  if (rc == PAI_OK)
    rc = pai_shapes_write(x, PAI_FORMAT_TEXT, test_collect, &out, &err);
  if (rc == PAI_OK)
    assert_int_equal(count(x), 2);
  pai_error_free(err);
  pai_shapes_free(x);
  pai__buf_dispose(&out);
  pai_sched_free(s);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(ask, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(fewer_gpus_start_sooner),
    cmocka_unit_test(gangs_are_split),
    cmocka_unit_test(fewer_tasks_start_sooner),
    cmocka_unit_test(other_types_and_clusters_are_tried),
    cmocka_unit_test(nothing_helps_who_is_held),
    cmocka_unit_test(texts_rank_shapes),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
