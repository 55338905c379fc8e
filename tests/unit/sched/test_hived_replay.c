/*
 * test_hived_replay.c - what was recorded of HiveD itself, done again; and
 * small records of our own
 */
#include "rows.h"

#include "base/buf.h"

#include <openpai/hived.h>

#include <stdio.h>
#include <stdlib.h>

/* --- HiveD's records ------------------------------------------------------ */

static bool skipped; /* there were no records */

typedef struct sums {
  int steps, agree, fixed, others; /* others: fixed, and not Q2 */
} sums;

static int shared_config(void *user_data, const char *name, pai_write_cb write,
                         void *to)
{
  char path[256], *text;
  size_t len;
  int rc;

  (void)user_data;
  (void)snprintf(path, sizeof(path), "hived/config/%s", name);
  text = test_shared_text(path, &len);
  if (text == NULL)
    return PAI_ENOTFOUND;
  rc = write(to, text, len);
  free(text);
  return rc;
}

static void count(sums *s, const char *file, const pai_hived_verdict *v)
{
  s->steps++;
  if (v->kind == PAI_HIVED_DIFFERS)
    fail_msg("%s, step %lld: %s %s: %s: want %s, got %s", file,
             (long long)v->step, v->op, v->subject, v->place, v->want, v->got);
  s->agree += v->kind == PAI_HIVED_AGREES;
  s->fixed += v->kind == PAI_HIVED_FIXED;
  s->others += v->kind == PAI_HIVED_FIXED && strcmp(v->fix, "Q2") != 0;
}

/* False where there is no such record. */
static bool replay_shared(const char *file, sums *s)
{
  pai_hived_replay_options opts = PAI_HIVED_REPLAY_OPTIONS_INIT;
  pai_hived_verdict v = { .struct_size = sizeof(v) };
  pai_hived_replay *r;
  char path[256], *text, *next;
  size_t len;

  (void)snprintf(path, sizeof(path), "hived/%s", file);
  text = test_shared_text(path, &len);
  skipped = skipped || text == NULL;
  if (text == NULL)
    return false;
  opts.config = shared_config;
  assert_int_equal(pai_hived_replay_new(&r, &opts, NULL), PAI_OK);
  for (char *line = text; line < text + len; line = next) {
    pai_error *err;

    next = memchr(line, '\n', len - (size_t)(line - text));
    next = next != NULL ? next + 1 : text + len;
    if (pai_hived_replay_step(r, line, (size_t)(next - line), &v, &err) < 0)
      fail_msg("%s: %s", file, pai_error_message(err));
    count(s, file, &v);
  }
  pai_hived_replay_free(r);
  free(text);
  return true;
}

static void cases_agree(void **state)
{
  sums s = { 0 };

  (void)state;
  if (!replay_shared("cases.jsonl", &s))
    skip();
  assert_int_equal(s.steps, 832);
  assert_true(s.agree >= 395);
  assert_true(s.fixed < 20);
}

/* The traces without HiveD's defects, and the others. */
static void replay_traces(bool clean, sums *s)
{
  static const char *const configs[] = { "design", "dgx16", "large128" };
  static const int seeds[] = { 1, 5, 6, 10, 11, 15, 16, 20 };
  char file[64];

  for (size_t i = 0; i < PAI__LEN(configs); i++)
    for (size_t k = 0; k < PAI__LEN(seeds); k++) {
      (void)snprintf(file, sizeof(file),
                     clean ? "traces/%s-clean-seed%03d.jsonl"
                           : "traces/%s-seed%02d.jsonl",
                     configs[i], clean ? 100 + seeds[k] : seeds[k]);
      if (!replay_shared(file, s))
        skip();
    }
}

static void clean_traces_agree(void **state)
{
  sums s = { 0 };

  (void)state;
  replay_traces(true, &s);
  assert_int_equal(s.others, 0);
  assert_true(s.agree > 3500 && s.fixed < 20);
}

static void traces_agree_but_for_fixes(void **state)
{
  sums s = { 0 };

  (void)state;
  replay_traces(false, &s);
  assert_true(s.agree > 3500 && s.fixed < 150);
}

/* --- records of our own --------------------------------------------------- */

/* Two racks of two nodes of two GPUs: a has one rack, b two nodes. */
static const char small[] =
  "physicalCluster:\n"
  "  cellTypes:\n"
  "    NODE: {childCellType: G, childCellNumber: 2, isNodeLevel: true}\n"
  "    RACK: {childCellType: NODE, childCellNumber: 2}\n"
  "  physicalCells:\n"
  "  - cellType: RACK\n"
  "    cellChildren: [{cellAddress: n0}, {cellAddress: n1}]\n"
  "  - cellType: RACK\n"
  "    cellChildren: [{cellAddress: n2}, {cellAddress: n3}]\n"
  "virtualClusters:\n"
  "  a: {virtualCells: [{cellType: RACK, cellNumber: 1}]}\n"
  "  b: {virtualCells: [{cellType: RACK.NODE, cellNumber: 2}]}\n";

static int own_config(void *user_data, const char *name, pai_write_cb write,
                      void *to)
{
  (void)user_data;
  if (strcmp(name, "small.yaml") == 0)
    return write(to, small, strlen(small));
  if (strcmp(name, "bad.yaml") == 0)
    return write(to, "physicalCluster: 1\n", 19);
  return PAI_ENOTFOUND;
}

#define SPEC(vc, prio, n, group, pods)                                    \
  "\"spec\":{\"virtualCluster\":\"" vc "\",\"priority\":" prio            \
  ",\"leafCellNumber\":" n ",\"affinityGroup\":{\"name\":\"" group        \
  "\",\"members\":[{\"podNumber\":" pods ",\"leafCellNumber\":" n "}]}}," \
  "\"suggested\":\"all\","

/* a has the first rack that is whole; what is opportunistic runs on the other,
 * and gives way to b, who is told so and gives up. */
static const char *const story[] = {
  "{\"case\":\"story\",\"step\":0,\"op\":\"init\",\"config\":\"small.yaml\"}",
  "{\"step\":1,\"op\":\"nodes_healthy\"}",
  "{\"step\":2,\"op\":\"schedule\",\"pod\":\"a0\",\"phase\":"
  "\"Filtering\"," SPEC(
    "a", "0", "2", "ga",
    "2") "\"expect\":{\"kind\":\"bind\",\"node\":\"n0\",\"leafCells\":[0,1],"
         "\"chain\":\"RACK\",\"group\":[[{\"node\":\"n0\",\"idx\":[0,1],"
         "\"type\":"
         "\"RACK\"},{\"node\":\"n1\",\"idx\":[0,1],\"type\":\"RACK\"}]]}}",
  "{\"step\":3,\"op\":\"add\",\"pod\":\"a0\"}",
  "{\"step\":4,\"op\":\"schedule\",\"pod\":\"a1\",\"phase\":"
  "\"Filtering\"," SPEC(
    "a", "0", "2", "ga",
    "2") "\"expect\":{\"kind\":\"bind\",\"node\":\"n1\",\"leafCells\":[0,1],"
         "\"chain\":\"RACK\",\"groupSame\":true}}",
  "{\"step\":5,\"op\":\"add\",\"pod\":\"a1\"}",
  "{\"step\":6,\"op\":\"schedule\",\"pod\":\"o0\",\"phase\":"
  "\"Filtering\"," SPEC(
    "a", "-1", "2", "go",
    "1") "\"expect\":{\"kind\":\"bind\",\"node\":\"n2\",\"leafCells\":[0,1],"
         "\"chain\":\"RACK\",\"group\":[[{\"node\":\"n2\",\"idx\":[0,1],"
         "\"type\":"
         "\"\"}]]}}",
  "{\"step\":7,\"op\":\"add\",\"pod\":\"o0\"}",
  "{\"step\":8,\"op\":\"schedule\",\"pod\":\"b0\",\"phase\":"
  "\"Preempting\"," SPEC(
    "b", "1", "2", "gb",
    "2") "\"expect\":{\"kind\":\"preempt\",\"victims\":{\"n2\":[\"o0\"]}}}",
  "{\"step\":9,\"op\":\"schedule\",\"pod\":\"a2\",\"phase\":"
  "\"Filtering\"," SPEC("a", "0", "2", "ga",
                        "2") "\"expect\":{\"kind\":\"user_error\",\"code\":"
                             "400,\"message\":\"Requesting "
                             "more pods than the configured number for 2 leaf "
                             "cells (2 pods) in affinity "
                             "group ga\"}}",
  "{\"step\":10,\"op\":\"schedule\",\"pod\":\"b9\",\"phase\":"
  "\"Filtering\"," SPEC("b", "0", "2", "gc",
                        "1") "\"expect\":{\"kind\":\"wait\",\"reason\":"
                             "\"insufficient capacity when "
                             "scheduling in VC b\"}}",
  "{\"step\":11,\"op\":\"delete\",\"pod\":\"o0\"}",
  "{\"step\":12,\"op\":\"delete_unallocated\",\"pod\":\"b0\"}",
  "{\"step\":13,\"op\":\"delete\",\"pod\":\"a0\"}",
  "{\"step\":14,\"op\":\"delete\",\"pod\":\"a1\"}",
  "{\"step\":15,\"op\":\"node_bad\",\"node\":\"nowhere\"}",
  "{\"step\":16,\"op\":\"check\",\"state\":{\"groups\":{},\"badNodes\":["
  "\"nowhere\"],\"vcFreeCellNum\":{\"a\":{\"RACK\":{\"3\":1}},\"b\":{\"RACK\":"
  "{\"2\":2}}},\"allVCFreeCellNum\":{\"RACK\":{\"2\":2,\"3\":1}},"
  "\"totalLeftCellNum\":{\"RACK\":{\"1\":8,\"2\":4,\"3\":2}},\"freeList\":"
  "{\"RACK\":{\"3\":[\"1\",\"0\"]}}}}",
  ("{\"step\":17,\"op\":\"vc_health\",\"query\":[\"b\",\"RACK\",2],"
   "\"vcCellHealth\":{\"b/0\":\"Healthy/-2\",\"b/1\":\"Healthy/-2\"}}"),
};

static pai_hived_replay *make_replay(const pai_alloc *alloc, int *rc)
{
  pai_hived_replay_options opts = PAI_HIVED_REPLAY_OPTIONS_INIT;
  pai_hived_replay *r;

  opts.alloc = alloc;
  opts.config = own_config;
  *rc = pai_hived_replay_new(&r, &opts, NULL);
  return r;
}

static pai_hived_verdict step(pai_hived_replay *r, const char *line)
{
  pai_hived_verdict v = { .struct_size = sizeof(v) };
  pai_error *err;

  if (pai_hived_replay_step(r, line, strlen(line), &v, &err) < 0)
    fail_msg("%s: %s", line, pai_error_message(err));
  return v;
}

static void a_story_is_as_told(void **state)
{
  pai_hived_verdict v;
  int rc, agree = 0;
  pai_hived_replay *r = make_replay(NULL, &rc);

  (void)state;
  assert_int_equal(rc, PAI_OK);
  for (size_t i = 0; i < PAI__LEN(story); i++) {
    v = step(r, story[i]);
    if (v.kind == PAI_HIVED_DIFFERS || v.kind == PAI_HIVED_FIXED)
      fail_msg("step %zu: %s: want %s, got %s", i, v.place, v.want, v.got);
    assert_int_equal(v.step, i);
    assert_string_equal(v.name, "story");
    agree += v.kind == PAI_HIVED_AGREES;
  }
  assert_int_equal(agree, 8);
  pai_hived_replay_free(r);
}

/* What is told otherwise differs, and the place is named. */
static void differences_are_told(void **state)
{
  int rc;
  pai_hived_replay *r = make_replay(NULL, &rc);
  pai_hived_verdict v;

  (void)state;
  (void)step(r, story[0]);
  (void)step(r, story[1]);
  v = step(
    r, "{\"step\":2,\"op\":\"schedule\",\"pod\":\"a0\",\"phase\":"
       "\"Filtering\"," SPEC(
         "a", "0", "2", "ga",
         "1") "\"expect\":{\"kind\":\"bind\",\"node\":\"n7\",\"leafCells\":"
              "[0,1],\"chain\":\"RACK\",\"group\":[[{\"node\":\"n0\",\"idx\":"
              "[0,1],\"type\":\"RACK\"}]]}}");
  assert_int_equal(v.kind, PAI_HIVED_DIFFERS);
  assert_string_equal(v.op, "schedule");
  assert_string_equal(v.subject, "a0");
  assert_string_equal(v.place, "/node");
  assert_string_equal(v.want, "n7");
  assert_string_equal(v.got, "n0");
  assert_null(v.fix);
  v = step(
    r, "{\"step\":3,\"op\":\"schedule\",\"pod\":\"a0\",\"phase\":"
       "\"Filtering\"," SPEC(
         "a", "0", "2", "ga",
         "1") "\"expect\":{\"kind\":\"wait\"},\"alternatives\":[{\"runs\":1,"
              "\"result\":{\"kind\":\"bind\",\"node\":\"n0\",\"leafCells\":"
              "[0,1],\"chain\":\"RACK\",\"group\":[[{\"node\":\"n0\",\"idx\":"
              "[0,1],\"type\":\"RACK\"}]]}}]}");
  assert_int_equal(v.kind, PAI_HIVED_ALTERNATIVE);
  v = step(r, "{\"step\":4,\"op\":\"check\",\"state\":{\"badNodes\":[\"n1\"]}"
              "}");
  assert_int_equal(v.kind, PAI_HIVED_DIFFERS);
  pai_hived_replay_free(r);
}

/* A gang whose second pod is the first to be seen after a restart. */
static void mended_defects_are_named(void **state)
{
  int rc;
  pai_hived_replay *r = make_replay(NULL, &rc);
  pai_hived_verdict v;

  (void)state;
  for (int i = 0; i < 6; i++)
    (void)step(r, story[i]);
  v = step(r, "{\"step\":6,\"op\":\"init\",\"config\":\"small.yaml\"}");
  assert_int_equal(v.kind, PAI_HIVED_DONE);
  (void)step(r, story[1]);
  (void)step(r, story[5]);
  v = step(
    r, "{\"step\":8,\"op\":\"schedule\",\"pod\":\"a0\",\"phase\":"
       "\"Filtering\"," SPEC(
         "a", "0", "2", "ga",
         "2") "\"expect\":{\"kind\":\"bind\",\"node\":\"n1\",\"leafCells\":"
              "[0,1],\"chain\":\"RACK\",\"groupSame\":true}}");
  assert_int_equal(v.kind, PAI_HIVED_FIXED);
  assert_string_equal(v.fix, "Q10");
  assert_string_equal(v.got, "n0");
  pai_hived_replay_free(r);
}

#define ANNOTATED(text) \
  "{\"op\":\"schedule\",\"pod\":\"p\",\"annotation\":\"" text "\"," SUGGESTED

/* Nodes that are not suggested are no hindrance, unless the pod says so. */
#define SUGGESTED "\"suggested\":{\"only\":[]},\"expect\":{\"kind\":"
#define BOUND                                                        \
  "\"bind\",\"node\":\"n0\",\"leafCells\":[0,1],\"chain\":\"RACK\"," \
  "\"group\":[[{\"node\":\"n0\",\"idx\":[0,1],\"type\":\"RACK\"}]]}}"
#define MISTAKE "\"user_error\",\"message\":\"Failed to unmarshal YAML\"}}"

/* As the reader of YAML that HiveD has takes them: that of YAML 1.1. */
static void annotations_are_read_as_hived_does(void **state)
{
  static const char *const pods[] = {
    ANNOTATED("virtualCluster: a\\nleafCellNumber: 2.9") BOUND,
    ANNOTATED("virtualCluster: b\\nvirtualCluster: a\\nleafCellNumber: 2")
      BOUND,
    ANNOTATED("{virtualCluster: a, leafCellNumber: 2, lazyPreemptionEnable: "
              "on}") BOUND,
    ANNOTATED("{virtualCluster: a, leafCellNumber: 2, "
              "ignoreK8sSuggestedNodes: yes}") BOUND,
    ANNOTATED("{virtualCluster: a, leafCellNumber: 2, priority: null}") BOUND,
    ANNOTATED("{virtualCluster: a, leafCellNumber: 2, lazyPreemptionEnable: "
              "'yes'}") MISTAKE,
    ANNOTATED("{virtualCluster: a, leafCellNumber: '2'}") MISTAKE,
    ANNOTATED("{virtualCluster: a, leafCellNumber: 2147483648.0}") MISTAKE,
    ANNOTATED("{virtualCluster: a, leafCellNumber: .nan}") MISTAKE,
  };
  static const char *const words[] = { "no", "OFF", "false", "null", "~" };
  int rc;
  pai_hived_replay *r = make_replay(NULL, &rc);
  pai_hived_verdict v;
  char line[512];

  (void)state;
  (void)step(r, story[0]);
  (void)step(r, story[1]);
  for (size_t i = 0; i < PAI__LEN(pods); i++) {
    v = step(r, pods[i]);
    if (v.kind != PAI_HIVED_AGREES)
      fail_msg("%s: want %s, got %s", pods[i], v.want, v.got);
  }
  for (size_t i = 0; i < PAI__LEN(words); i++) {
    (void)snprintf(line, sizeof(line),
                   ANNOTATED("{virtualCluster: a, leafCellNumber: 2, "
                             "ignoreK8sSuggestedNodes: %s}") "\"wait\"}}",
                   words[i]);
    v = step(r, line);
    assert_string_equal(v.place, "/reason");
    assert_string_equal(v.want, "nothing");
  }
  pai_hived_replay_free(r);
}

static void expect_bad(pai_hived_replay *r, const char *line, int code,
                       const char *part)
{
  pai_hived_verdict v = { .struct_size = sizeof(v) };
  pai_error *err;

  assert_int_equal(pai_hived_replay_step(r, line, strlen(line), &v, &err),
                   code);
  test_expect_error(err, code, part);
}

/* Lines, and what is said of them. */
static const char *const wrong[][2] = {
  { "{\"op\":1}", "\"op\"" },
  { "{\"op\":\"node_bad\"}", "needs \"node\"" },
  { "{\"op\":\"check\",\"step\":\"1\"}", "\"step\" of a step is a whole" },
  { "{\"op\":\"nodes_healthy\",\"except\":\"n0\"}", "is a list" },
  { "{\"op\":\"delete\",\"pod\":\"p\"}", "was not there before" },
  { "{\"op\":\"add\",\"pod\":\"p\"}", "\"bindAnnotation\"" },
  { "{\"op\":\"schedule\",\"pod\":\"p\",\"phase\":\"Binding\"}",
    "not \"Binding\"" },
  { "{\"op\":\"schedule\",\"pod\":\"p\",\"suggested\":\"none\"}",
    "\"suggested\" is \"all\"" },
  { "{\"op\":\"schedule\",\"pod\":\"p\",\"suggested\":{\"only\":[1]}}",
    "names of nodes" },
  { "{\"op\":\"schedule\",\"pod\":\"p\",\"expect\":{\"kind\":\"bnd\"}}",
    "\"user_error\" or \"crash\"" },
  { "{\"event\":\"decide\"}", "the log of a scheduler" },
};

static void bad_lines_are_refused(void **state)
{
  pai_hived_replay_options opts = PAI_HIVED_REPLAY_OPTIONS_INIT;
  pai_hived_verdict v = { .struct_size = 8 };
  int rc;
  pai_hived_replay *r = make_replay(NULL, &rc), *none;
  pai_error *err;

  (void)state;
  expect_bad(r, "{\"op\":", PAI_EINVAL, "");
  expect_bad(r, "[]", PAI_EINVAL, "object");
  expect_bad(r, "{\"op\":\"dance\"}", PAI_EINVAL, "no step 'dance'");
  expect_bad(r, "{\"op\":\"check\"}", PAI_EINVAL, "before any configuration");
  expect_bad(r, "{\"op\":\"init\",\"config\":\"none.yaml\"}", PAI_ENOTFOUND,
             "no configuration 'none.yaml'");
  expect_bad(r, "{\"op\":\"init\",\"config\":\"bad.yaml\"}", PAI_EINVAL,
             "configuration bad.yaml:1:18: ");
  expect_bad(r, "{\"op\":\"nodes_healthy\"}", PAI_EINVAL, "before any");
  (void)step(r, story[0]);
  expect_bad(r, "{\"op\":\"vc_health\",\"query\":[1]}", PAI_EINVAL,
             "not complete");
  for (size_t i = 0; i < PAI__LEN(wrong); i++)
    expect_bad(r, wrong[i][0], PAI_EINVAL, wrong[i][1]);
  assert_int_equal(pai_hived_replay_step(r, "{}", 2, &v, &err), PAI_EINVAL);
  pai_error_free(err);
  pai_hived_replay_free(r);
  assert_int_equal(pai_hived_replay_new(&none, &opts, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "without config");
  assert_null(none);
  opts.struct_size = 1;
  assert_int_equal(pai_hived_replay_new(&none, &opts, NULL), PAI_EINVAL);
  pai_hived_replay_free(NULL);
}

static int tell_story(const pai_alloc *alloc, void *user_data)
{
  pai_hived_verdict v = { .struct_size = sizeof(v) };
  int rc;
  pai_hived_replay *r = make_replay(alloc, &rc);

  (void)user_data;
  for (size_t i = 0; rc == PAI_OK && i < PAI__LEN(story); i++) {
    rc = pai_hived_replay_step(r, story[i], strlen(story[i]), &v, NULL);
    if (rc == PAI_OK && v.kind > PAI_HIVED_AGREES)
      fail_msg("step %zu: %s: want %s, got %s", i, v.place, v.want, v.got);
  }
  pai_hived_replay_free(r);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(tell_story, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_story_is_as_told),
    cmocka_unit_test(differences_are_told),
    cmocka_unit_test(mended_defects_are_named),
    cmocka_unit_test(annotations_are_read_as_hived_does),
    cmocka_unit_test(bad_lines_are_refused),
    cmocka_unit_test(no_memory_is_survived),
    cmocka_unit_test(cases_agree),
    cmocka_unit_test(clean_traces_agree),
    cmocka_unit_test(traces_agree_but_for_fixes),
  };

  int failed = cmocka_run_group_tests(tests, NULL, NULL);

  return failed != 0 ? failed : skipped ? 77 : 0;
}
