/* Snapshots as they stand in the middle of a log: requests as rows. */
#include "scribe.h"

#include "sched/sched.h"

#include <stdio.h>
#include <stdlib.h>

#define TWO "nodes:2 gpu:4:t4 cpus:8 mem:1G"

static pai_sched *make(const pai_alloc *alloc)
{
  pai_sched *s = scene_new(TWO, "backfill", NULL, alloc);
  pai_want want = scene_want(2, 1);
  pai_request q = { .id = 1,
                    .name = "a job",
                    .user = "ann",
                    .wants = &want,
                    .nwants = 1,
                    .limit = 900 };

  want.ports = 1;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  q.id = 9;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 9");
  for (uint64_t id = 1; id <= 9; id += 8)
    assert_int_equal(
      scene_event(
        s,
        (pai_sched_event){ .kind = PAI_SCHED_STARTED, .time = 100, .id = id },
        NULL),
      PAI_OK);
  q.id = 4;
  q.name = NULL;
  q.duration = 70;
  want.gpus = 4;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(scene_submit(s, UINT64_MAX, 1, 1), PAI_OK);
  return s;
}

static void make_text(pai__buf *out)
{
  pai_sched *s = make(NULL);

  scribe_save_lean(s, out);
  pai_sched_free(s);
}

static int load(pai_sched **s, const char *text, const pai_alloc *alloc,
                pai_error **err)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;

  o.alloc = alloc;
  return pai_sched_load(s, text, strlen(text), &o, err);
}

/* docs/internals/sched-log.md tells what each place in a row means. */
static void what_is_alike_is_said_once(void **state)
{
  pai__buf text;

  (void)state;
  make_text(&text);
  assert_non_null(strstr(
    pai__buf_text(&text),
    "\"requests\":["
    "[1,0,1,\"a job\",0,0,900,0,"
    "[[0,1,100,[[0,0,\"0\",\"0\",[20000]],[0,0,\"1\",\"1\",[20001]]]]]],"
    "[1,0,8,0,0,0,900,0,"
    "[[0,1,100,[[0,0,\"2\",\"2\",[20002]],[0,0,\"3\",\"3\",[20003]]]]]],"
    "[1,100,-5,null,1,70,900,1],"
    "[1,0,-5,null,2]]}"));
  pai__buf_dispose(&text);
}

static void rows_tell_what_objects_tell(void **state)
{
  pai_sched *s = make(NULL), *again = NULL;
  pai__buf lean, plain, other;

  (void)state;
  scribe_save_lean(s, &lean);
  scribe_save(s, &plain);
  assert_int_equal(load(&again, pai__buf_text(&lean), NULL, NULL), PAI_OK);
  scribe_save(again, &other);
  scribe_same(&plain, &other);
  pai__buf_dispose(&other);
  scribe_save_lean(again, &other);
  scribe_same(&lean, &other);
  /* And each is written in the form of another. */
  pai__buf_clear(&other);
  assert_int_equal(
    pai__save_like(again, pai__buf_text(&lean), lean.len, &other, NULL),
    PAI_OK);
  scribe_same(&lean, &other);
  pai__buf_clear(&other);
  assert_int_equal(
    pai__save_like(again, pai__buf_text(&plain), plain.len, &other, NULL),
    PAI_OK);
  scribe_same(&plain, &other);
  pai__buf_dispose(&other);
  pai__buf_dispose(&plain);
  pai__buf_dispose(&lean);
  pai_sched_free(again);
  pai_sched_free(s);
}

/* Of each pair one thing differs. */
static void what_differs_is_not_alike(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4:t4 cpus:8 mem:1G", NULL, NULL, NULL);
  pai_want want = scene_want(2, 1), other = scene_want(2, 1);
  pai_request q = { .wants = &want, .nwants = 1, .held = 1 };
  pai_request each[16];
  pai__buf lean, plain, again;
  pai_sched *loaded = NULL;
  size_t n = 0;

  (void)state;
  other.name = "worker";
  for (size_t i = 0; i < PAI__LEN(each); i++)
    each[i] = q;
  each[n++].name = "a";
  each[n++].user = "ann";
  each[n++].within = "node";
  each[n++].priority = 7;
  each[n++].duration = 9;
  each[n++].limit = 9;
  each[n++].instances = 3;
  each[n++].at_once = 1;
  each[n++].lazy = 1;
  each[n++].held = 0;
  each[n++].wants = &other;
  for (size_t i = 0; i < n; i++) {
    each[i].id = 2 * i + 1;
    assert_int_equal(scene_request(s, &each[i], NULL), PAI_OK);
    q.id = 2 * i + 2;
    assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  }
  scribe_save_lean(s, &lean);
  scribe_save(s, &plain);
  assert_int_equal(load(&loaded, pai__buf_text(&lean), NULL, NULL), PAI_OK);
  scribe_save(loaded, &again);
  scribe_same(&plain, &again);
  pai__buf_dispose(&again);
  pai__buf_dispose(&plain);
  pai__buf_dispose(&lean);
  pai_sched_free(loaded);
  pai_sched_free(s);
}

static char *changed(const pai__buf *text, const char *from, const char *to)
{
  const char *begin = pai__buf_text(text), *at = strstr(begin, from);
  size_t size = text->len + strlen(to) + 1;
  char *out = calloc(1, size);

  assert_non_null(at);
  (void)snprintf(out, size, "%.*s%s%s", (int)(at - begin), begin, to,
                 at + strlen(from));
  return out;
}

static const struct {
  const char *from, *to;
  const char *pointer, *part;
} bad[] = {
  { "\"alike\":{", "\"alike\":{\"x\":1,", "/alike/x", "has no \"x\"" },
  { "\"alike\":{\"requests\"", "\"alikes\":{\"requests\"", "/alikes",
    "has no \"alikes\"" },
  { "\"whys\":[{", "\"whys\":[4,{", "/alike/whys/0", "is an object" },
  { "\"lack\":\"gang\"", "\"lack\":\"luck\"", "/alike/whys/0/lack",
    "cannot be \"luck\"" },
  { "{\"id\":0,", "{\"id\":0,\"after\":[{\"id\":1}],", "/alike/requests/0",
    "comes after none" },
  { "[1,0,1,\"a job\"", "[0,0,1,\"a job\"", "/requests/0", "a turn above 0" },
  { "[1,0,8,", "[0,0,8,", "/requests/1", "\"turn\" is above" },
  { "[1,0,8,", "[4611686018427387904,0,8,", "/requests/1", "a turn above 0" },
  { "[1,0,8,", "[1,0,0,", "/requests/1", "is there already" },
  { "[1,0,1,\"", "[1,0,0,\"", "/requests/0", "the id of a request is not 0" },
  { "[1,0,8,", "[1,0.5,8,", "/requests/1/1", "\"submitted\" is a whole" },
  { "[1,0,8,", "[1,[],8,", "/requests/1/1", "\"submitted\" is a whole" },
  { "\"a job\",0", "7,0", "/requests/0/3", "\"name\" is a string" },
  { "\"a job\",0", "\"a job\",3", "/requests/0/4", "from 0 to 2, not 3" },
  { "\"a job\",0", "\"a job\",-1", "/requests/0/4", "from 0 to 2, not -1" },
  { ",70,900,1]", ",-70,900,1]", "/requests/2/5", "\"duration\" is from 0" },
  { ",70,900,1]", ",70,-900,1]", "/requests/2/6", "\"limit\" is from 0" },
  { ",70,900,1]", ",70,900,2]", "/requests/2/7", "from 0 to 1, not 2" },
  { ",70,900,1]", ",70,900,1,4]", "/requests/2/8", "\"runs\" is a list" },
  { ",70,900,1]", ",70,900,1,[],4]", "/requests/2", "not so much in it" },
  { "[[0,1,100,", "[[1,1,100,", "/requests/0/8/0", "there are 1" },
  { "[[0,1,100,", "[[0,3,100,", "/requests/0/8/0", "\"order\"" },
  { "900,0,[[0,1,100,[[0,0,\"2", "900,0,[[0,0,100,[[0,0,\"2",
    "/requests/1/8/0", "the same \"order\"" },
  { "[[0,1,100,[[0,0", "[4,[0,1,100,[[0,0", "/requests/0/8/0",
    "a run is an object" },
  { "[[0,1,100,", "[[0,1,100,4,", "/requests/0/8/0", "not so much in it" },
  { "[[0,1,100,[[0,0", "[[0,1,100,[[0,2", "/requests/0/8/0/3/0/1",
    "from 0 to 1, not 2" },
  { "[[0,1,100,[[0,0", "[[0,1,100,[[1,0", "/requests/0/8/0/3/0",
    "has no want 1" },
  { "\"0\",\"0\",[20000]", "\"9\",\"0\",[20000]", "/requests/0/8/0/3/0/2",
    "no GPUs of the node" },
  { "\"0\",\"0\",[20000]", "\"0-1\",\"0\",[20000]", "/requests/0/8/0/3/0",
    "not as many GPUs" },
  { "\"0\",\"0\",[20000]", "\"\",\"0\",[20000]", "/requests/0/8/0/3/0",
    "not as many GPUs" },
  { "\"0\",\"0\",[20000]", "\"x\",\"0\",[20000]", "/requests/0/8/0/3/0/2",
    "no GPUs of the node" },
  { "\"0\",\"0\",[20000]", "\"1\",\"0\",[20000]", "/requests/0/8/0",
    "two tasks have a GPU of node 'node0001'" },
  { "\"0\",\"0\",[20000]", "\"0\",\"99\",[20000]", "/requests/0/8/0/3/0",
    "too large" },
  { "\"0\",\"0\",[20000]", "\"0\",\"\",[20000]", "/requests/0/8/0/3/0",
    "as many CPUs" },
  { "\"0\",\"0\",[20000]", "\"0\",\"0\"", "/requests/0/8/0/3/0",
    "not as many ports" },
  { "\"0\",\"0\",[20000]", "\"0\",\"0\",[20000],1", "/requests/0/8/0/3/0",
    "not so much in it" },
};

static void what_cannot_be_is_told_where(void **state)
{
  pai__buf text;

  (void)state;
  make_text(&text);
  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    char *wrong = changed(&text, bad[i].from, bad[i].to);
    pai_sched *s = NULL;
    pai_error *err = NULL;
    int rc = load(&s, wrong, NULL, &err);
    const char *pointer = pai_error_pointer(err);

    pointer = pointer != NULL ? pointer : "";
    if (rc != PAI_EINVAL || strcmp(pointer, bad[i].pointer) != 0 ||
        strstr(pai_error_message(err), bad[i].part) == NULL)
      print_error("%zu: %s\n%d at %s: %s\n", i, wrong, rc, pointer,
                  pai_error_message(err));
    assert_null(s);
    assert_int_equal(rc, PAI_EINVAL);
    assert_string_equal(pointer, bad[i].pointer);
    test_expect_error(err, PAI_EINVAL, bad[i].part);
    free(wrong);
  }
  pai__buf_dispose(&text);
}

/* Steps are not added as signed numbers: what comes out is no time, and refused. */
static void a_step_may_not_lead_to_no_time(void **state)
{
  static const char *const steps[] = { "9223372036854775807",
                                       "-9223372036854775808" };
  pai__buf text;

  (void)state;
  make_text(&text);
  for (size_t i = 0; i < PAI__LEN(steps); i++) {
    char to[96];
    char *wild;
    pai_sched *s = NULL;
    pai_error *err = NULL;

    (void)snprintf(to, sizeof(to), "[1,%s,8,0,0,0,900,0,[[0,1,%s,", steps[i],
                   steps[1 - i]);
    wild = changed(&text, "[1,0,8,0,0,0,900,0,[[0,1,100,", to);
    assert_int_equal(load(&s, wild, NULL, &err), PAI_EINVAL);
    assert_null(s);
    test_expect_error(err, PAI_EINVAL, "\"submitted\" of a row is no time");
    free(wild);
  }
  pai__buf_dispose(&text);
}

static int load_and_save(const pai_alloc *alloc, void *user_data)
{
  pai_sched *s = NULL;
  pai__buf out;
  int rc = load(&s, user_data, alloc, NULL);

  if (rc == PAI_OK) {
    pai__buf_init(&out, alloc);
    rc = pai__save_lean(s, &out, NULL);
    if (rc == PAI_OK)
      assert_string_equal(pai__buf_text(&out), user_data);
    pai__buf_dispose(&out);
  }
  pai_sched_free(s);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  pai__buf text;

  (void)state;
  make_text(&text);
  test_faults(load_and_save, text.data);
  pai__buf_dispose(&text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_alike_is_said_once),
    cmocka_unit_test(rows_tell_what_objects_tell),
    cmocka_unit_test(what_differs_is_not_alike),
    cmocka_unit_test(what_cannot_be_is_told_where),
    cmocka_unit_test(a_step_may_not_lead_to_no_time),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
