/* Virtual clusters that have a part of the whole: how they are written, what
 * they may use, and how that changes. */
#include "parted.h"

#include "base/prng.h"

#include <stdio.h>

/* --- the form ------------------------------------------------------------- */

static void parts_are_read_and_written(void **state)
{
  pai_vc_view v = { .struct_size = sizeof(v) };
  pai_cluster *c, *again;
  pai__buf text, second;

  (void)state;
  pai__buf_init(&text, &pai__libc_alloc);
  pai__buf_init(&second, &pai__libc_alloc);
  assert_int_equal(
    pai_cluster_parse(&c, parts_box, strlen(parts_box), NULL, NULL), PAI_OK);
  assert_int_equal(pai_cluster_view_vc(c, 1, &v), PAI_OK);
  assert_int_equal(v.part, 2500);
  assert_int_equal(v.most, 5000);
  assert_int_equal(v.parted, 1);
  assert_int_equal(v.shares, 0);
  assert_int_equal(pai_cluster_view_vc(c, 0, &v), PAI_OK);
  assert_int_equal(v.rest, 1);
  assert_int_equal(pai_cluster_view_vc(c, 2, &v), PAI_OK);
  assert_int_equal(v.part, 1250);
  assert_int_equal(v.stopped, 1);
  assert_int_equal(
    pai_cluster_write(c, PAI_FORMAT_YAML, test_collect, &text, NULL), PAI_OK);
  assert_non_null(strstr(pai__buf_text(&text), "12.5%"));
  assert_int_equal(pai_cluster_parse(&again, text.data, text.len, NULL, NULL),
                   PAI_OK);
  assert_int_equal(
    pai_cluster_write(again, PAI_FORMAT_YAML, test_collect, &second, NULL),
    PAI_OK);
  assert_string_equal(pai__buf_text(&text), pai__buf_text(&second));
  pai__buf_dispose(&text);
  pai__buf_dispose(&second);
  pai_cluster_free(again);
  pai_cluster_free(c);
}

static void wrong_parts_are_refused(void **state)
{
  static const char *const wrong[] = {
    "{a: {part: 25}}",
    "{a: {part: 101%}}",
    "{a: {part: 1.234%}}",
    "{a: {part: .5%}}",
    "{a: {part: 5.%}}",
    "{a: {part: -5%}}",
    "{a: {part: \"%\"}}",
    "{a: {part: 99999999999%}}",
    "{a: {part: [1]}}",
    "{a: {part: 60%}, b: {part: 40.01%}}",
    "{a: {part: rest}, b: {part: rest}}",
    "{a: {part: 20%, max: 10%}}",
    "{a: {part: rest, max: 10%}}",
    "{a: {max: 10%}}",
    "{a: {part: 20%, cells: {box: 1}}}",
    "{a: {part: 20%}, b: {cells: {box: 1}}}",
    "{a: {part: 20%, stopped: 1}}",
    "{a: {part: 20%, halted: true}}",
  };
  char text[512];

  (void)state;
  for (size_t i = 0; i < PAI__LEN(wrong); i++) {
    pai_cluster *c = NULL;
    pai_error *err = NULL;

    (void)snprintf(text, sizeof(text), PARTS_BOX "virtualClusters: %s\n",
                   wrong[i]);
    if (pai_cluster_parse(&c, text, strlen(text), NULL, &err) != PAI_EINVAL)
      fail_msg("taken: %s", wrong[i]);
    assert_null(c);
    assert_non_null(err);
    pai_error_free(err);
  }
}

/* What a part comes to in cells is there, whatever the parts are. */
static void parts_become_cells(void **state)
{
  pai__prng r = { .state = 5 };

  (void)state;
  for (int i = 0; i < 200; i++) {
    unsigned a = (unsigned)pai__prng_below(&r, 10001);
    unsigned b = (unsigned)pai__prng_below(&r, 10001 - a);
    pai_cluster *c, *hived;
    char text[512];
    pai__buf out;

    pai__buf_init(&out, &pai__libc_alloc);
    (void)snprintf(text, sizeof(text),
                   PARTS_BOX
                   "virtualClusters: {default: {part: rest}, a: {part: "
                   "%u.%02u%%}, b: {part: %u.%02u%%}}\n",
                   a / 100, a % 100, b / 100, b % 100);
    assert_int_equal(pai_cluster_parse(&c, text, strlen(text), NULL, NULL),
                     PAI_OK);
    assert_int_equal(
      pai_cluster_write_hived(c, PAI_FORMAT_YAML, test_collect, &out, NULL),
      PAI_OK);
    if (pai_cluster_parse(&hived, out.data, out.len, NULL, NULL) < 0)
      fail_msg("%s", pai__buf_text(&out));
    pai_cluster_free(hived);
    pai_cluster_free(c);
    pai__buf_dispose(&out);
  }
}

/* --- one after the other -------------------------------------------------- */

static void expect_quota(const pai_sched *s, uint64_t id, int of,
                         uint64_t wanted, uint64_t found)
{
  pai_reason r = { .struct_size = sizeof(r) };

  assert_int_equal(pai_sched_reason(s, id, &r), PAI_OK);
  assert_int_equal(r.lack, PAI_LACK_QUOTA);
  assert_int_equal(r.of, of);
  assert_int_equal(r.wanted, wanted);
  assert_int_equal(r.found, found);
}

static const char *explain(const pai_sched *s, uint64_t id)
{
  static char text[1024];
  pai__buf out;

  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(
    pai_sched_explain(s, id, PAI_FORMAT_TEXT, test_collect, &out, NULL),
    PAI_OK);
  (void)snprintf(text, sizeof(text), "%s", pai__buf_text(&out));
  pai__buf_dispose(&out);
  return text;
}

/* 16 GPUs, 32 CPUs, 64 GiB: left has up to half of that, 8, 16 and 32. */
static void parts_are_of_everything(void **state)
{
  pai_sched *s = scene_new(parts_box, NULL, NULL, NULL);
  pai_sched_vc_view v = { .struct_size = sizeof(v) };
  pai_error *err;
  pai_want two;

  (void)state;
  assert_non_null(s);
  assert_int_equal(parts_submit(s, 1, "left", parts_some(8, 4, 4), NULL),
                   PAI_OK);
  assert_int_equal(parts_submit(s, 2, "left", parts_some(1, 1, 1), NULL),
                   PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  expect_quota(s, 2, PAI_LACK_QUOTA, 1, 0);
  assert_int_equal(parts_submit(s, 3, "default", parts_some(8, 8, 8), NULL),
                   PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_int_equal(scene_finish(s, 3), PAI_OK);
  assert_int_equal(parts_submit(s, 4, "left", parts_some(0, 16, 1), NULL),
                   PAI_OK);
  assert_string_equal(scene_decide(s), "");
  expect_quota(s, 4, PAI_LACK_CPU, 16, 15);
  assert_non_null(strstr(explain(s, 4),
                         "it takes 16 CPUs, and of its own virtual cluster "
                         "'left' has 15 left"));
  assert_int_equal(scene_change(s, 4, "cpus", 15), PAI_OK);
  assert_string_equal(scene_decide(s), "start 4");
  assert_int_equal(scene_finish(s, 4), PAI_OK);
  assert_int_equal(parts_submit(s, 5, "left", parts_some(0, 1, 32), NULL),
                   PAI_OK);
  assert_string_equal(scene_decide(s), "");
  expect_quota(s, 5, PAI_LACK_MEMORY, UINT64_C(32) << 30, UINT64_C(31) << 30);
  assert_int_equal(pai_sched_view_vc(s, 1, &v), PAI_OK);
  assert_int_equal(v.gpus, 4);
  assert_int_equal(v.most_gpus, 8);
  assert_int_equal(v.most_cpus, 16);
  assert_int_equal(v.used_cpus, 1);
  assert_int_equal(v.used_memory, UINT64_C(1) << 30);
  /* What it never could have is refused at once. */
  two = parts_some(0, 9, 1);
  two.tasks = 2;
  assert_int_equal(parts_submit(s, 6, "left", two, &err), PAI_ENOROOM);
  test_expect_error(err, PAI_ENOROOM,
                    "it asks for 18 CPUs, and virtual cluster 'left' has 16");
  assert_int_equal(parts_submit(s, 7, "left", parts_some(9, 1, 1), &err),
                   PAI_ENOROOM);
  test_expect_error(err, PAI_ENOROOM, "more than 8");
  pai_sched_free(s);
}

static void parts_change_while_requests_wait(void **state)
{
  pai_sched *s = scene_new(parts_box, NULL, NULL, NULL);
  pai_error *err;

  (void)state;
  assert_int_equal(parts_submit(s, 1, "right", parts_some(2, 1, 1), NULL),
                   PAI_OK);
  assert_int_equal(parts_submit(s, 2, "left", parts_some(8, 1, 1), NULL),
                   PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_string_equal(scene_lack(s, 1), "stopped");
  assert_non_null(strstr(explain(s, 1), "'right' is stopped"));
  assert_int_equal(
    parts_change(s, "{default: {part: rest}, left: {part: 5%}}", &err),
    PAI_EBUSY);
  test_expect_error(err, PAI_EBUSY, "'right' has requests");
  assert_int_equal(parts_change(s,
                                "{default: {part: rest}, left: {part: 5%}, "
                                "right: {part: 5%}}",
                                NULL),
                   PAI_OK);
  assert_string_equal(scene_decide(s), "");
  expect_quota(s, 1, PAI_LACK_QUOTA, 2, 0); /* 5% of 16 are none */
  assert_int_equal(parts_change(s,
                                "{default: {part: rest}, left: {part: 50%}, "
                                "right: {part: 50%}}",
                                NULL),
                   PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  /* Without parts nothing is counted any more. */
  assert_int_equal(parts_submit(s, 3, "left", parts_some(6, 1, 1), NULL),
                   PAI_OK);
  assert_string_equal(scene_decide(s), "");
  pai_sched_free(s);
}

/* What runs counts, also what began when nobody counted it. */
static void opportunistic_ones_count(void **state)
{
  pai_sched *s = scene_new(parts_box, "priority", NULL, NULL);
  pai_sched_vc_view v = { .struct_size = sizeof(v) };
  pai_want want = parts_some(8, 1, 1);

  (void)state;
  want.struct_size = sizeof(want);
  assert_int_equal(
    scene_request(s,
                  &(pai_request){ .id = 1,
                                  .vc = "left",
                                  .priority = PAI_SCHED_OPPORTUNISTIC,
                                  .wants = &want,
                                  .nwants = 1 },
                  NULL),
    PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(pai_sched_view_vc(s, 1, &v), PAI_OK);
  assert_int_equal(v.used, 8);
  assert_int_equal(v.lent, 0);
  assert_int_equal(
    scene_request(s,
                  &(pai_request){ .id = 2,
                                  .vc = "left",
                                  .priority = PAI_SCHED_OPPORTUNISTIC,
                                  .wants = &want,
                                  .nwants = 1 },
                  NULL),
    PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 2), "quota");
  pai_sched_free(s);
}

/* --- without memory ------------------------------------------------------- */

static int with_parts(const pai_alloc *alloc, void *user_data)
{
  pai_sched *s = scene_new(parts_box, user_data, NULL, alloc);
  pai_want want = parts_some(4, 2, 1);
  pai_cluster_options o = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c = NULL;
  int rc = PAI_ENOMEM;

  if (s == NULL)
    return PAI_ENOMEM;
  o.alloc = alloc;
  rc = parts_submit(s, 1, "left", want, NULL);
  if (rc == PAI_OK)
    rc = parts_submit(s, 2, "left", want, NULL);
  if (rc == PAI_OK)
    rc = parts_submit(s, 3, "left", want, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 1, NULL);
  if (rc >= 0)
    rc = pai_cluster_parse(&c, parts_box, strlen(parts_box), &o, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_send(
      s,
      &(pai_sched_event){ .struct_size = sizeof(pai_sched_event),
                          .kind = PAI_SCHED_CLUSTER,
                          .time = 1,
                          .cluster = c },
      NULL);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 2, NULL);
  if (rc >= 0) {
    assert_string_equal(scene_lack(s, 3), "quota");
    rc = PAI_OK;
  }
  pai_cluster_free(c);
  pai_sched_free(s);
  return rc;
}

static void memory_may_lack(void **state)
{
  (void)state;
  test_faults(with_parts, (void *)"fifo");
  test_faults(with_parts, (void *)"backfill");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(parts_are_read_and_written),
    cmocka_unit_test(wrong_parts_are_refused),
    cmocka_unit_test(parts_become_cells),
    cmocka_unit_test(parts_are_of_everything),
    cmocka_unit_test(parts_change_while_requests_wait),
    cmocka_unit_test(opportunistic_ones_count),
    cmocka_unit_test(memory_may_lack),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
