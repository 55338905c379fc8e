/* Virtual clusters that have a part of the whole: how they are written, what
 * they may use, and how that changes. */
#include "parted.h"
#include "sched/script.h"

#include "base/prng.h"

#include <stdio.h>

/* --- the form ------------------------------------------------------------- */

TEST(parts_are_read_and_written)
{
  pai_vc_view v = { .struct_size = sizeof(v) };
  pai_cluster *c, *again;
  pai__buf text = test_buf(), second = test_buf();

  assert_ok(pai_cluster_parse(&c, parts_box, strlen(parts_box), NULL, NULL));
  assert_ok(pai_cluster_view_vc(c, 1, &v));
  assert_int_equal(v.part, 2500);
  assert_int_equal(v.most, 5000);
  assert_int_equal(v.parted, 1);
  assert_int_equal(v.shares, 0);
  assert_ok(pai_cluster_view_vc(c, 0, &v));
  assert_int_equal(v.rest, 1);
  assert_ok(pai_cluster_view_vc(c, 2, &v));
  assert_int_equal(v.part, 1250);
  assert_int_equal(v.stopped, 1);
  assert_ok(pai_cluster_write(c, PAI_FORMAT_YAML, test_collect, &text, NULL));
  assert_has(pai__buf_text(&text), "12.5%");
  assert_ok(pai_cluster_parse(&again, text.data, text.len, NULL, NULL));
  assert_ok(
    pai_cluster_write(again, PAI_FORMAT_YAML, test_collect, &second, NULL));
  assert_string_equal(pai__buf_text(&text), pai__buf_text(&second));
  pai__buf_dispose(&text);
  pai__buf_dispose(&second);
  pai_cluster_free(again);
  pai_cluster_free(c);
}

TEST(wrong_parts_are_refused)
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

/* Nothing more than `part` ten-thousandths. */
static uint64_t part_of(uint64_t all, unsigned part)
{
  return all / 10000 * part + all % 10000 * part / 10000;
}

/* a and b have at most so much of what there is, and default what they are not
 * guaranteed. */
static void expect_most(const char *cluster, unsigned a, unsigned b,
                        const unsigned *most)
{
  const uint64_t all[] = { 16, 32, UINT64_C(64) << 30 };
  pai_sched *s = scene_new(cluster, NULL, NULL, NULL);
  pai_sched_vc_view v = { .struct_size = sizeof(v) };

  for (size_t i = 0; pai_sched_view_vc(s, i, &v) == PAI_OK; i++) {
    const uint64_t is[] = { v.most_gpus, v.most_cpus, v.most_memory };

    for (size_t k = 0; k < PAI__LEN(all); k++)
      assert_int_equal(is[k],
                       *v.name == 'd'
                         ? all[k] - part_of(all[k], a) - part_of(all[k], b)
                         : part_of(all[k], most[*v.name == 'b']));
  }
  pai_sched_free(s);
}

/* Parts come to whole GPUs, CPUs and bytes, and what they come to in cells is
 * there, whatever the parts are. */
TEST(parts_become_cells)
{
  pai__prng r = { .state = 5 };

  for (int i = 0; i < 200; i++) {
    unsigned a = (unsigned)pai__prng_below(&r, 10001);
    unsigned b = (unsigned)pai__prng_below(&r, 10001 - a);
    const unsigned most[] = { a + (unsigned)pai__prng_below(&r, 10001 - a),
                              b + (unsigned)pai__prng_below(&r, 10001 - b) };
    pai_cluster *c, *hived;
    char text[512];
    pai__buf out = test_buf();

    (void)snprintf(text, sizeof(text),
                   PARTS_BOX
                   "virtualClusters: {default: {part: rest}, a: {part: "
                   "%u.%02u%%, max: %u.%02u%%}, b: {part: %u.%02u%%, max: "
                   "%u.%02u%%}}\n",
                   a / 100, a % 100, most[0] / 100, most[0] % 100, b / 100,
                   b % 100, most[1] / 100, most[1] % 100);
    c = scene_cluster(text, NULL);
    assert_ok(
      pai_cluster_write_hived(c, PAI_FORMAT_YAML, test_collect, &out, NULL));
    hived = scene_cluster(pai__buf_text(&out), NULL);
    pai_cluster_free(hived);
    pai_cluster_free(c);
    pai__buf_dispose(&out);
    expect_most(text, a, b, most);
  }
}

/* --- one after the other -------------------------------------------------- */

static const scene_policy with_parts[] = { { "fifo", NULL },
                                           { "backfill", NULL },
                                           { NULL, NULL } };

static const scene_case cases[] = {
  /* 16 GPUs, 32 CPUs, 64 GiB: left has up to half of that, 8, 16 and 32. */
  { "parts_are_of_everything", parts_box, "fifo", NULL,
    .script =
      "submit 1 vc=left gpus=8 cpus=4 memory=4G\n"
      "submit 2 vc=left gpus=1 cpus=1 memory=1G => start 1\n"
      "reason 2 lack=quota of=quota wanted=1 found=0\n"
      "submit 3 gpus=8 cpus=8 memory=8G => start 3; finish 1 => start 2\n"
      "finish 3; submit 4 vc=left cpus=16 memory=1G => nothing\n"
      "reason 4 lack=quota of=cpu wanted=16 found=15\n"
      "explain 4 ~ it takes 16 CPUs, and its virtual cluster 'left' has 15 "
      "left\n"
      "change 4 cpus 15 => start 4; finish 4\n"
      "submit 5 vc=left cpus=1 memory=32G => nothing\n"
      "reason 5 lack=quota of=memory wanted=32G found=31G\n"
      "vc 1 gpus=4 most_gpus=8 most_cpus=16 used_cpus=1 used_memory=1G\n"
      /* What it never could have is refused at once. */
      "submit 6 vc=left tasks=2 cpus=9 memory=1G !ENOROOM ~ it asks for 18 "
      "CPUs, and virtual cluster 'left' has 16\n"
      "submit 7 vc=left gpus=9 memory=1G !ENOROOM ~ more than 8\n" },
  /* What runs counts, also what began when nobody counted it. */
  { "opportunistic_ones_count", parts_box, "priority", NULL,
    .script = "submit 1-2 vc=left gpus=8 memory=1G priority=-1 => start 1\n"
              "vc 1 used=8 lent=0; lack 2 quota\n" },
  { "memory_may_lack", parts_box, .under = with_parts, .other = parts_box,
    .script = "submit 1-3 vc=left gpus=4 cpus=2 memory=1G => any\n"
              "cluster => any; lack 3 quota\n",
    .faults = true },
};

TEST_TABLE(scene_run, cases);

TEST(parts_change_while_requests_wait)
{
  pai_sched *s = scene_new(parts_box, NULL, NULL, NULL);
  pai_error *err;

  scene_script(s, "submit 1 vc=right gpus=2 memory=1G\n"
                  "submit 2 vc=left gpus=8 memory=1G => start 2\n"
                  "lack 1 stopped; explain 1 ~ 'right' is stopped\n");
  assert_fails(
    parts_change(s, "{default: {part: rest}, left: {part: 5%}}", &err), err,
    PAI_EBUSY, "'right' has requests");
  assert_ok(parts_change(s,
                         "{default: {part: rest}, left: {part: 5%}, "
                         "right: {part: 5%}}",
                         NULL));
  /* 5% of 16 are none. */
  scene_script(s, "=> nothing\n"
                  "reason 1 lack=quota of=quota wanted=2 found=0\n");
  assert_ok(parts_change(s,
                         "{default: {part: rest}, left: {part: 50%}, "
                         "right: {part: 50%}}",
                         NULL));
  scene_script(s, "=> start 1; submit 3 vc=left gpus=6 memory=1G => nothing");
  pai_sched_free(s);
}
