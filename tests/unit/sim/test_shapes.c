/* test_shapes.c - in which shape a request would start sooner */
#include "cases.h"
#include "learned.h"

#include <openpai/forecast.h>

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

static pai_shapes *shapes(const pai_sched *s, uint64_t id,
                          const char *const *vcs, size_t n)
{
  pai_shapes *x;

  assert_ok(pai_shapes_new(&x, s, NULL, id, vcs, n, NULL, NULL));
  learned_keep(LEARNED_SHAPES, x);
  return x;
}

static pai_shape get(const pai_shapes *x, size_t i)
{
  pai_shape v = { .struct_size = sizeof(v) };

  assert_ok(pai_shapes_get(x, i, &v));
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

/* --- shapes --------------------------------------------------------------- */

/* 8 GPUs are wanted, 6 of which are free. */
static pai_sched *crowded(const pai_alloc *alloc)
{
  return learned_queue("nodes:1 gpu:8 cpus:64 mem:1G", "fifo", NULL, alloc,
                       "1 - 1x2 100\n2 - 1x8 50 name=bert\ngo");
}

TEST(fewer_gpus_start_sooner)
{
  pai_sched *s = crowded(NULL);
  pai_shapes *x = shapes(s, 2, NULL, 0);
  pai_shape v = get(x, 0);

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
}

/* What starts at once instead of a larger request. */
TEST(gangs_are_split_or_made_smaller)
{
  static const struct {
    const char *nodes, *options, *queue, *what;
    uint32_t tasks, gpus, share;
  } rows[] = {
    { "nodes:2 gpu:8 cpus:64 mem:1G", "{\"place\":\"spread\"}",
      "1 - 2x4 100\n2 - 1x8 50 within=node\ngo",
      "2 tasks with 4 GPUs each, on any nodes, rather than 1 with 8", 2, 4,
      1000 },
    { "nodes:4 gpu:2 cpus:64 mem:1G", NULL, "1 - 1x2 100\n2 - 4x2 50\ngo",
      "3 tasks rather than 4", 3, 2, 750 },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_sched *s = learned_queue(rows[i].nodes, "fifo", rows[i].options, NULL,
                                 rows[i].queue);
    pai_shapes *x = shapes(s, 2, NULL, 0);
    pai_shape v = get(x, 1);

    assert_string_equal(v.what, rows[i].what);
    assert_int_equal(v.tasks, rows[i].tasks);
    assert_int_equal(v.gpus, rows[i].gpus);
    assert_int_equal(v.share, rows[i].share);
    assert_int_equal(v.p50, 0);
  }
}

TEST(other_types_and_clusters_are_tried)
{
  const char *const vcs[] = { "right", "nowhere", "left" };
  pai_sched *s = learned_queue(park, "fifo", NULL, NULL,
                               "1 - 1x4 100 vc=right type=t4\n"
                               "2 - 2x4 100 vc=right type=t4\n"
                               "3 - 1x8 500 vc=left\n"
                               "4 - 1x4 10 vc=left\n"
                               "go");
  pai_shapes *x = shapes(s, 2, NULL, 0);
  bool found = false;

  /* There are GPUs of the other kind, but not in its virtual cluster: refused. */
  for (size_t i = 0; i < count(x); i++)
    assert_null(get(x, i).type);
  x = shapes(s, 4, vcs, 3);
  for (size_t i = 0; i < count(x); i++) {
    pai_shape v = get(x, i);

    if (strcmp(v.what, "in virtual cluster right rather than left") != 0)
      continue;
    found = true;
    assert_string_equal(v.vc, "right");
    assert_true(v.p50 < get(x, 0).p50);
  }
  assert_true(found);
}

TEST(nothing_helps_who_is_held)
{
  pai_sched *s = crowded(NULL);
  pai_shapes *x;
  pai_error *err;

  assert_ok(scene_change(s, 2, "held", 1));
  x = shapes(s, 2, NULL, 0);
  assert_int_equal(count(x), 1);
  assert_fails(pai_shapes_new(&x, s, NULL, 1, NULL, 0, NULL, &err), err,
               PAI_ENOTFOUND, "request 1 does not wait");
  assert_fails(pai_shapes_new(&x, s, NULL, 9, NULL, 0, NULL, &err), err,
               PAI_ENOTFOUND, "no request 9");
  pai_shapes_free(NULL);
}

/* --- text ----------------------------------------------------------------- */

TEST(texts_rank_shapes)
{
  pai_sched *s = crowded(NULL);
  pai_shapes *x = shapes(s, 2, NULL, 0);
  pai__buf out = test_buf();

  assert_ok(pai_shapes_write(x, PAI_FORMAT_TEXT, test_collect, &out, NULL));
  assert_has(out.data,
             "bert (request 2): in 100 s\n"
             "It would start\n"
             "  now: 6 GPUs for each task rather than 8 (75 % of its "
             "GPUs)\n"
             "How this changes its run time is not known.\n");
  pai__buf_clear(&out);
  assert_ok(pai_shapes_write(x, PAI_FORMAT_JSON, test_collect, &out, NULL));
  assert_has(out.data, "\"tasks\":1,\"gpus\":6,\"p50\":0,\"p90\":0,"
                       "\"share\":750,\"changes\":[{\"event\":\"change\","
                       "\"id\":2,\"key\":\"gpus\",\"want\":0,\"value\":6}]}");
  pai__buf_dispose(&out);
}

/* --- faults --------------------------------------------------------------- */

TEST_FAULTS(no_memory_is_survived)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = crowded(alloc);
  pai_shapes *x = NULL;
  pai_error *err = NULL;
  pai__buf out;
  int rc = PAI_ENOMEM;

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

TEST_AROUND_ALL(NULL, learned_free);
