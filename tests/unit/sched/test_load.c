/* Snapshots that somebody has changed by hand. */
#include "scribe.h"

#include <stdio.h>
#include <stdlib.h>

#define TWO "nodes:2 gpu:4:t4 cpus:8 mem:1G"

/* Two that run, one of two tasks, and one that waits for the first. */
static void make_text(pai__buf *out)
{
  pai_sched *s = scene_new(TWO, NULL, NULL, NULL);
  pai_want want = scene_want(2, 1);
  pai_after after = { 1, PAI_AFTER_OK };
  pai_request q = { .id = 1, .wants = &want, .nwants = 1 };

  want.ports = 1;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 2), PAI_OK);
  q.id = 3;
  q.after = &after;
  q.nafter = 1;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  scribe_save(s, out);
  pai_sched_free(s);
}

/* The text with the first `from` behind `behind` made `to`. */
static char *changed(const pai__buf *text, const char *behind,
                     const char *from, const char *to)
{
  const char *at = strstr(pai__buf_text(text), behind);
  size_t size = text->len + strlen(to) + 1;
  char *out = calloc(1, size);

  assert_non_null(at);
  at = strstr(at, from);
  assert_non_null(at);
  (void)snprintf(out, size, "%.*s%s%s", (int)(at - pai__buf_text(text)),
                 pai__buf_text(text), to, at + strlen(from));
  return out;
}

static const struct {
  const char *behind, *from, *to;
  const char *pointer, *part;
} bad[] = {
  { "", "\"snapshot\":1", "\"snapshot\":2", "/snapshot", "of version 1" },
  { "", "\"snapshot\":1,", "", "", "this is no snapshot" },
  { "", "\"turns\":3,", "", "", "needs \"turns\"" },
  { "", "\"turns\":3", "\"turns\":2", "", "above \"turns\"" },
  { "", "\"orders\":2", "\"orders\":1", "/requests/1/runs/0", "\"order\"" },
  { "", "\"first_port\":20000", "\"first_port\":30000", "", "no range" },
  { "", "\"policy\":{", "\"policy\":{\"speed\":1,", "/policy/speed",
    "has no \"speed\"" },
  { "\"policy\"", "\"options\":{}", "\"options\":{\"x\":1}", "/policy",
    "no option \"x\"" },
  { "\"policy\"", "\"options\":{}", "\"options\":[]", "/policy/options",
    "is an object" },
  { "", "\"cluster\":{", "\"cluster\":{\"x\":1,", "/cluster", "x" },
  { "", "\"turn\":2", "\"turn\":1", "/requests/1", "\"turn\" is above" },
  { "", "\"id\":2", "\"id\":1", "/requests/1/request", "is there already" },
  { "", "\"id\":2", "\"id\":0", "/requests/1/request", "" },
  { "\"id\":2", "\"vc\":\"default\"", "\"vc\":\"nix\"", "/requests/1/request",
    "no virtual cluster 'nix'" },
  { "\"after\"", "\"id\":1", "\"id\":9", "/requests/2",
    "waits for 9, which is not before it" },
  { "\"after\"", "\"id\":1", "\"id\":3", "/requests/2",
    "which is not before it" },
  { "\"runs\"", "\"instance\":0", "\"instance\":1", "/requests/0/runs/0",
    "there are 1" },
  { "\"runs\"", "\"state\":\"placed\"", "\"state\":\"returned\"",
    "/requests/0/runs/0", "unless it was returned" },
  { "\"runs\"", "\"state\":\"placed\"", "\"state\":\"gone\"",
    "/requests/0/runs/0/state", "cannot be \"gone\"" },
  { "\"runs\"", "\"order\":1", "\"order\":2", "/requests/1/runs/0",
    "the same \"order\"" },
  { "\"runs\"", "\"order\":1", "\"order\":0", "/requests/0/runs/0",
    "\"order\"" },
  { "\"runs\"", "node0001", "node0009", "/requests/0/runs/0/tasks/0",
    "there is no node 'node0009'" },
  { "\"runs\"", "\"gpus\":[0]", "\"gpus\":[4]",
    "/requests/0/runs/0/tasks/0/gpus/0", "from 0 to 3, not 4" },
  { "\"runs\"", "\"gpus\":[0]", "\"gpus\":[0,1]", "/requests/0/runs/0/tasks/0",
    "not as many GPUs" },
  { "\"runs\"", "\"gpus\":[0]", "\"gpus\":[1]", "/requests/0/runs/0",
    "two tasks have a GPU of node 'node0001'" },
  { "\"runs\"", "\"gpus\":[0]", "\"gpus\":[3]", "/requests/1/runs/0",
    "two tasks have a GPU of node 'node0001'" },
  { "\"runs\"", "\"cpus\":\"0\"", "\"cpus\":\"1\"", "/requests/0/runs/0",
    "a CPU or a port of node 'node0001'" },
  { "\"runs\"", "\"cpus\":\"0\"", "\"cpus\":\"0-1\"",
    "/requests/0/runs/0/tasks/0", "as many CPUs" },
  { "\"runs\"", "\"cpus\":\"0\"", "\"cpus\":\"99\"",
    "/requests/0/runs/0/tasks/0", "too large" },
  { "\"runs\"", "\"ports\":[20000]", "\"ports\":[20001]", "/requests/0/runs/0",
    "a CPU or a port of node 'node0001'" },
  { "\"runs\"", "\"ports\":[20000]", "\"ports\":[19999]", "/requests/0/runs/0",
    "a CPU or a port of node 'node0001'" },
  { "\"runs\"", "\"ports\":[20000]", "\"ports\":[]",
    "/requests/0/runs/0/tasks/0", "not as many ports" },
  { "", "\"tasks\":2,", "\"tasks\":3,", "/requests/0/runs/0/tasks",
    "want 0 has 2 tasks, and is of 3 to 3" },
  { "\"wants\":[", "\"gpus\":1", "\"memory\":1073741824,\"gpus\":1",
    "/requests/0/runs/0", "have more than it has" },
  { "\"runs\"", "\"state\":\"placed\"", "\"state\":\"placed\",\"leaving\":2",
    "/requests/0/runs/0", "\"leaving\" is less" },
  { "", "\"submitted\":0", "\"submitted\":0,\"finished\":2", "/requests/0",
    "more instances have finished" },
  { "", "\"submitted\":0", "\"submitted\":0,\"finished\":1",
    "/requests/0/runs", "more instances have begun" },
  { "\"turn\":3", "\"submitted\":0", "\"submitted\":0,\"cancelled\":true",
    "/requests/2", "is done" },
  { "\"nodes\":[{\"name\":\"node0001\",\"next_port\"", "node0001", "other",
    "/nodes/0", "there is no node 'other'" },
  { "\"nodes\":[{\"name\":\"node0001\",\"next_port\"", "\"next_port\":20002",
    "\"next_port\":3", "/nodes/0", "none of ports 20000 to 20009" },
};

static void what_cannot_be_is_told_where(void **state)
{
  pai__buf text;

  (void)state;
  make_text(&text);
  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    char *wrong = changed(&text, bad[i].behind, bad[i].from, bad[i].to);
    pai_sched *s = NULL;
    pai_error *err = NULL;
    int rc = pai_sched_load(&s, wrong, strlen(wrong), NULL, &err);
    const char *pointer = pai_error_pointer(err);

    if (rc != PAI_EINVAL || pointer == NULL ||
        strcmp(pointer, bad[i].pointer) != 0 ||
        strstr(pai_error_message(err), bad[i].part) == NULL)
      print_error("%zu: %s\n%d at %s: %s\n", i, wrong, rc,
                  pointer != NULL ? pointer : "-", pai_error_message(err));
    assert_null(s);
    assert_int_equal(rc, PAI_EINVAL);
    assert_string_equal(pointer, bad[i].pointer);
    test_expect_error(err, PAI_EINVAL, bad[i].part);
    free(wrong);
  }
  pai__buf_dispose(&text);
}

static void a_text_that_was_cut_off_is_none(void **state)
{
  pai__buf text;

  (void)state;
  make_text(&text);
  for (size_t n = 0; n + 1 < text.len; n++) {
    pai_sched *s = NULL;
    pai_error *err = NULL;

    if (pai_sched_load(&s, pai__buf_text(&text), n, NULL, &err) != PAI_EINVAL)
      print_error("%zu bytes\n", n);
    assert_null(s);
    assert_int_equal(pai_error_code(err), PAI_EINVAL);
    assert_true(pai_error_line(err) == 1);
    pai_error_free(err);
  }
  pai__buf_dispose(&text);
}

/* It only saves looking: what is due is found without it. */
static void a_limit_is_kept_though_nobody_says_when_it_is_due(void **state)
{
  pai_sched *s = scene_new(TWO, NULL, NULL, NULL), *again = NULL;
  pai_want want = scene_want(1, 1);
  pai_request q = { .id = 1, .wants = &want, .nwants = 1, .limit = 50 };
  pai_sched_event e = { .kind = PAI_SCHED_STARTED, .id = 1, .time = 20 };
  pai__buf text;
  char *without;

  (void)state;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(scene_event(s, e, NULL), PAI_OK);
  scribe_save(s, &text);
  without = changed(&text, "", "\"next_limit\":70,", "");
  assert_int_equal(
    pai_sched_load(&again, without, strlen(without), NULL, NULL), PAI_OK);
  assert_int_equal(pai_sched_next_time(again), 70);
  pai_sched_free(again);
  pai_sched_free(s);
  pai__buf_dispose(&text);
  free(without);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_cannot_be_is_told_where),
    cmocka_unit_test(a_text_that_was_cut_off_is_none),
    cmocka_unit_test(a_limit_is_kept_though_nobody_says_when_it_is_due),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
