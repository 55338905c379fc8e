/* Snapshots, as they stand alone and as rows in the middle of a log; and those
 * that somebody has changed by hand. */
#include "sched/script.h"
#include "sched/scribe.h"

#include "sched/sched.h"

#include <stdio.h>
#include <stdlib.h>

#define TWO "nodes:2 gpu:4:t4 cpus:8 mem:1G"

/* Two that run, whose tasks have ports, and two that wait. */
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
  assert_ok(scene_request(s, &q, NULL));
  q.id = 9;
  assert_ok(scene_request(s, &q, NULL));
  scene_script(s, "=> start 1, start 9; time 100; started 1; started 9\n"
                  "submit 4 user=ann limit=900 duration=70 tasks=2 gpus=4 "
                  "ports=1 => nothing\n");
  assert_ok(scene_submit(s, UINT64_MAX, 1, 1));
  return s;
}

static void make_rows(pai__buf *out)
{
  pai_sched *s = make(NULL);

  scribe_save_lean(s, out);
  pai_sched_free(s);
}

/* Two that run, one of two tasks, and one that waits for the first. */
static void make_objects(pai__buf *out)
{
  pai_sched *s = scene_new(TWO, NULL, NULL, NULL);

  scene_script(s, "submit 1 tasks=2 gpus=1 ports=1; submit 2 gpus=2\n"
                  "submit 3 tasks=2 gpus=1 ports=1 after=1:ok\n"
                  "=> start 1, start 2\n");
  scribe_save(s, out);
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
TEST(what_is_alike_is_said_once)
{
  pai__buf text;

  make_rows(&text);
  assert_has(
    pai__buf_text(&text),
    "\"requests\":["
    "[1,0,1,\"a job\",0,0,900,0,"
    "[[0,1,100,[[0,0,\"0\",\"0\",[20000]],[0,0,\"1\",\"1\",[20001]]]]]],"
    "[1,0,8,0,0,0,900,0,"
    "[[0,1,100,[[0,0,\"2\",\"2\",[20002]],[0,0,\"3\",\"3\",[20003]]]]]],"
    "[1,100,-5,null,1,70,900,1],"
    "[1,0,-5,null,2]]}");
  pai__buf_dispose(&text);
}

TEST(rows_tell_what_objects_tell)
{
  pai_sched *s = make(NULL), *again = NULL;
  pai__buf lean, plain, other;

  scribe_save_lean(s, &lean);
  scribe_save(s, &plain);
  assert_ok(load(&again, pai__buf_text(&lean), NULL, NULL));
  scribe_save(again, &other);
  scribe_same(&plain, &other);
  pai__buf_dispose(&other);
  scribe_save_lean(again, &other);
  scribe_same(&lean, &other);
  /* And each is written in the form of another. */
  pai__buf_clear(&other);
  assert_ok(
    pai__save_like(again, pai__buf_text(&lean), lean.len, &other, NULL));
  scribe_same(&lean, &other);
  pai__buf_clear(&other);
  assert_ok(
    pai__save_like(again, pai__buf_text(&plain), plain.len, &other, NULL));
  scribe_same(&plain, &other);
  pai__buf_dispose(&other);
  pai__buf_dispose(&plain);
  pai__buf_dispose(&lean);
  pai_sched_free(again);
  pai_sched_free(s);
}

/* Of each pair one thing differs. */
TEST(what_differs_is_not_alike)
{
  static const char *const differences[] = {
    "user=ann",    "within=node", "priority=7", "duration=9",  "limit=9",
    "instances=3", "at_once=1",   "lazy=1",     "held=0",      "name=worker",
    "cpus=2",      "type=t4",     "ports=1",    "min_tasks=1", "memory=1M",
  };
  pai_sched *s = scene_new(TWO, NULL, NULL, NULL), *loaded = NULL;
  pai_want want = scene_want(2, 1);
  pai_request named = {
    .id = 99, .name = "a", .wants = &want, .nwants = 1, .held = 1
  };
  pai__buf lean, plain, again;
  char line[200];

  for (size_t i = 0; i < PAI__LEN(differences); i++) {
    (void)snprintf(line, sizeof(line),
                   "submit %zu held=1 tasks=2 gpus=1 %s; submit %zu held=1 "
                   "tasks=2 gpus=1",
                   2 * i + 1, differences[i], 2 * i + 2);
    scene_script(s, line);
  }
  assert_ok(scene_request(s, &named, NULL));
  scribe_save_lean(s, &lean);
  scribe_save(s, &plain);
  assert_ok(load(&loaded, pai__buf_text(&lean), NULL, NULL));
  scribe_save(loaded, &again);
  scribe_same(&plain, &again);
  pai__buf_dispose(&again);
  pai__buf_dispose(&plain);
  pai__buf_dispose(&lean);
  pai_sched_free(loaded);
  pai_sched_free(s);
}

/* The text with the first `from` behind `behind` made `to`; with ' for ". */
static char *changed(const pai__buf *text, const char *behind,
                     const char *from, const char *to)
{
  char *words[] = { scribe_quotes(behind), scribe_quotes(from),
                    scribe_quotes(to) };
  const char *begin = pai__buf_text(text), *at = strstr(begin, words[0]);
  size_t size = text->len + strlen(to) + 1;
  char *out = calloc(1, size);

  assert_non_null(at);
  at = strstr(at, words[1]);
  assert_non_null(at);
  (void)snprintf(out, size, "%.*s%s%s", (int)(at - begin), begin, words[2],
                 at + strlen(words[1]));
  for (size_t i = 0; i < PAI__LEN(words); i++)
    free(words[i]);
  return out;
}

typedef struct change {
  const char *behind, *from, *to;
  const char *pointer, *part;
} change;

static const change bad_objects[] = {
  { "", "'snapshot':1", "'snapshot':2", "/snapshot", "of version 1" },
  { "", "'snapshot':1,", "", "", "this is no snapshot" },
  { "", "'turns':3,", "", "", "needs \"turns\"" },
  { "", "'turns':3", "'turns':2", "", "above \"turns\"" },
  { "", "'orders':2", "'orders':1", "/requests/1/runs/0", "\"order\"" },
  { "", "'first_port':20000", "'first_port':30000", "", "no range" },
  { "", "'policy':{", "'policy':{'speed':1,", "/policy/speed",
    "has no \"speed\"" },
  { "'policy'", "'options':{}", "'options':{'x':1}", "/policy",
    "no option \"x\"" },
  { "'policy'", "'options':{}", "'options':[]", "/policy/options",
    "is an object" },
  { "", "'cluster':{", "'cluster':{'x':1,", "/cluster", "x" },
  { "", "'turn':2", "'turn':1", "/requests/1", "\"turn\" is above" },
  { "", "'id':2", "'id':1", "/requests/1/request", "already exists" },
  { "", "'id':2", "'id':0", "/requests/1/request", "" },
  { "'id':2", "'vc':'default'", "'vc':'nix'", "/requests/1/request",
    "no virtual cluster 'nix'" },
  { "'after'", "'id':1", "'id':9", "/requests/2",
    "waits for 9, which is not before it" },
  { "'after'", "'id':1", "'id':3", "/requests/2", "which is not before it" },
  { "'runs'", "'instance':0", "'instance':1", "/requests/0/runs/0",
    "there are 1" },
  { "'runs'", "'state':'placed'", "'state':'returned'", "/requests/0/runs/0",
    "unless it was returned" },
  { "'runs'", "'state':'placed'", "'state':'gone'", "/requests/0/runs/0/state",
    "cannot be \"gone\"" },
  { "'runs'", "'order':1", "'order':2", "/requests/1/runs/0",
    "the same \"order\"" },
  { "'runs'", "'order':1", "'order':0", "/requests/0/runs/0", "\"order\"" },
  { "'runs'", "node0001", "node0009", "/requests/0/runs/0/tasks/0",
    "there is no node 'node0009'" },
  { "'runs'", "'gpus':[0]", "'gpus':[4]", "/requests/0/runs/0/tasks/0/gpus/0",
    "from 0 to 3, not 4" },
  { "'runs'", "'gpus':[0]", "'gpus':[0,1]", "/requests/0/runs/0/tasks/0",
    "not as many GPUs" },
  { "'runs'", "'gpus':[0]", "'gpus':[1]", "/requests/0/runs/0",
    "two tasks have a GPU of node 'node0001'" },
  { "'runs'", "'gpus':[0]", "'gpus':[3]", "/requests/1/runs/0",
    "two tasks have a GPU of node 'node0001'" },
  { "'runs'", "'cpus':'0'", "'cpus':'1'", "/requests/0/runs/0",
    "a CPU or a port of node 'node0001'" },
  { "'runs'", "'cpus':'0'", "'cpus':'0-1'", "/requests/0/runs/0/tasks/0",
    "as many CPUs" },
  { "'runs'", "'cpus':'0'", "'cpus':'99'", "/requests/0/runs/0/tasks/0",
    "too large" },
  { "'runs'", "'ports':[20000]", "'ports':[20001]", "/requests/0/runs/0",
    "a CPU or a port of node 'node0001'" },
  { "'runs'", "'ports':[20000]", "'ports':[19999]", "/requests/0/runs/0",
    "a CPU or a port of node 'node0001'" },
  { "'runs'", "'ports':[20000]", "'ports':[]", "/requests/0/runs/0/tasks/0",
    "not as many ports" },
  { "", "'tasks':2,", "'tasks':3,", "/requests/0/runs/0/tasks",
    "want 0 has 2 tasks, and is of 3 to 3" },
  { "'wants':[", "'gpus':1", "'memory':1073741824,'gpus':1",
    "/requests/0/runs/0", "have more than it has" },
  { "'runs'", "'state':'placed'", "'state':'placed','leaving':2",
    "/requests/0/runs/0", "\"leaving\" is less" },
  { "", "'submitted':0", "'submitted':0,'finished':2", "/requests/0",
    "more instances have finished" },
  { "", "'submitted':0", "'submitted':0,'finished':1", "/requests/0/runs",
    "more instances have begun" },
  { "'turn':3", "'submitted':0", "'submitted':0,'cancelled':true",
    "/requests/2", "is done" },
  { "'nodes':[{'name':'node0001','next_port'", "node0001", "other", "/nodes/0",
    "there is no node 'other'" },
  { "'nodes':[{'name':'node0001','next_port'", "'next_port':20002",
    "'next_port':3", "/nodes/0", "none of ports 20000 to 20009" },
};

static const change bad_rows[] = {
  { "", "'alike':{", "'alike':{'x':1,", "/alike/x", "has no \"x\"" },
  { "", "'alike':{'requests'", "'alikes':{'requests'", "/alikes",
    "has no \"alikes\"" },
  { "", "'whys':[{", "'whys':[4,{", "/alike/whys/0", "is an object" },
  { "", "'lack':'gang'", "'lack':'luck'", "/alike/whys/0/lack",
    "cannot be \"luck\"" },
  { "", "{'id':0,", "{'id':0,'after':[{'id':1}],", "/alike/requests/0",
    "comes after none" },
  { "", "[1,0,1,'a job'", "[0,0,1,'a job'", "/requests/0", "a turn above 0" },
  { "", "[1,0,8,", "[0,0,8,", "/requests/1", "\"turn\" is above" },
  { "", "[1,0,8,", "[4611686018427387904,0,8,", "/requests/1",
    "a turn above 0" },
  { "", "[1,0,8,", "[1,0,0,", "/requests/1", "already exists" },
  { "", "[1,0,1,'", "[1,0,0,'", "/requests/0",
    "the id of a request is not 0" },
  { "", "[1,0,8,", "[1,0.5,8,", "/requests/1/1", "\"submitted\" is a whole" },
  { "", "[1,0,8,", "[1,[],8,", "/requests/1/1", "\"submitted\" is a whole" },
  { "", "'a job',0", "7,0", "/requests/0/3", "\"name\" is a string" },
  { "", "'a job',0", "'a job',3", "/requests/0/4", "from 0 to 2, not 3" },
  { "", "'a job',0", "'a job',-1", "/requests/0/4", "from 0 to 2, not -1" },
  { "", ",70,900,1]", ",-70,900,1]", "/requests/2/5",
    "\"duration\" is from 0" },
  { "", ",70,900,1]", ",70,-900,1]", "/requests/2/6", "\"limit\" is from 0" },
  { "", ",70,900,1]", ",70,900,2]", "/requests/2/7", "from 0 to 1, not 2" },
  { "", ",70,900,1]", ",70,900,1,4]", "/requests/2/8", "\"runs\" is a list" },
  { "", ",70,900,1]", ",70,900,1,[],4]", "/requests/2", "not so much in it" },
  { "", "[[0,1,100,", "[[1,1,100,", "/requests/0/8/0", "there are 1" },
  { "", "[[0,1,100,", "[[0,3,100,", "/requests/0/8/0", "\"order\"" },
  { "", "900,0,[[0,1,100,[[0,0,'2", "900,0,[[0,0,100,[[0,0,'2",
    "/requests/1/8/0", "the same \"order\"" },
  { "", "[[0,1,100,[[0,0", "[4,[0,1,100,[[0,0", "/requests/0/8/0",
    "a run is an object" },
  { "", "[[0,1,100,", "[[0,1,100,4,", "/requests/0/8/0", "not so much in it" },
  { "", "[[0,1,100,[[0,0", "[[0,1,100,[[0,2", "/requests/0/8/0/3/0/1",
    "from 0 to 1, not 2" },
  { "", "[[0,1,100,[[0,0", "[[0,1,100,[[1,0", "/requests/0/8/0/3/0",
    "has no want 1" },
  { "", "'0','0',[20000]", "'9','0',[20000]", "/requests/0/8/0/3/0/2",
    "no GPUs of the node" },
  { "", "'0','0',[20000]", "'0-1','0',[20000]", "/requests/0/8/0/3/0",
    "not as many GPUs" },
  { "", "'0','0',[20000]", "'','0',[20000]", "/requests/0/8/0/3/0",
    "not as many GPUs" },
  { "", "'0','0',[20000]", "'x','0',[20000]", "/requests/0/8/0/3/0/2",
    "no GPUs of the node" },
  { "", "'0','0',[20000]", "'1','0',[20000]", "/requests/0/8/0",
    "two tasks have a GPU of node 'node0001'" },
  { "", "'0','0',[20000]", "'0','99',[20000]", "/requests/0/8/0/3/0",
    "too large" },
  { "", "'0','0',[20000]", "'0','',[20000]", "/requests/0/8/0/3/0",
    "as many CPUs" },
  { "", "'0','0',[20000]", "'0','0'", "/requests/0/8/0/3/0",
    "not as many ports" },
  { "", "'0','0',[20000]", "'0','0',[20000],1", "/requests/0/8/0/3/0",
    "not so much in it" },
};

static void told_where(const pai__buf *text, const change *list, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    char *wrong = changed(text, list[i].behind, list[i].from, list[i].to);
    pai_sched *s = NULL;
    pai_error *err = NULL;
    int rc = load(&s, wrong, NULL, &err);
    const char *pointer = pai_error_pointer(err);

    if (rc != PAI_EINVAL || pointer == NULL ||
        strcmp(pointer, list[i].pointer) != 0)
      fail_msg("%zu: %s\n%d at %s: %s", i, wrong, rc,
               pointer != NULL ? pointer : "-", pai_error_message(err));
    assert_null(s);
    test_expect_error(err, PAI_EINVAL, list[i].part);
    free(wrong);
  }
}

TEST(what_cannot_be_is_told_where)
{
  pai__buf text;

  make_objects(&text);
  told_where(&text, bad_objects, PAI__LEN(bad_objects));
  pai__buf_dispose(&text);
  make_rows(&text);
  told_where(&text, bad_rows, PAI__LEN(bad_rows));
  pai__buf_dispose(&text);
}

/* Steps are not added as signed numbers: what comes out is no time, and refused. */
TEST(a_step_may_not_lead_to_no_time)
{
  static const char *const steps[] = { "9223372036854775807",
                                       "-9223372036854775808" };
  pai__buf text;

  make_rows(&text);
  for (size_t i = 0; i < PAI__LEN(steps); i++) {
    char to[96];
    char *wild;
    pai_sched *s = NULL;
    pai_error *err = NULL;

    (void)snprintf(to, sizeof(to), "[1,%s,8,0,0,0,900,0,[[0,1,%s,", steps[i],
                   steps[1 - i]);
    wild = changed(&text, "", "[1,0,8,0,0,0,900,0,[[0,1,100,", to);
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

TEST(no_memory_is_survived)
{
  pai__buf text;

  make_rows(&text);
  test_faults(load_and_save, text.data);
  pai__buf_dispose(&text);
}

TEST(a_text_that_was_cut_off_is_none)
{
  pai__buf text;

  make_objects(&text);
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
TEST(a_limit_is_kept_though_nobody_says_when_it_is_due)
{
  pai_sched *s = scene_new(TWO, NULL, NULL, NULL), *again = NULL;
  pai__buf text;
  char *without;

  scene_script(s, "submit 1 gpus=1 limit=50 => start 1; time 20; started 1");
  scribe_save(s, &text);
  without = changed(&text, "", "'next_limit':70,", "");
  assert_ok(pai_sched_load(&again, without, strlen(without), NULL, NULL));
  assert_int_equal(pai_sched_next_time(again), 70);
  pai_sched_free(again);
  pai_sched_free(s);
  pai__buf_dispose(&text);
  free(without);
}
