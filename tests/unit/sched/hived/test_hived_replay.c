/*
 * test_hived_replay.c - what was recorded of HiveD itself, done again; and
 * small records of our own, of defects of HiveD that few of these show
 */
#include "cases.h"
#include "rows.h"

#include "base/buf.h"

#include "hived/replay.h"
#include "hived/replaying.h"

#include <stdio.h>
#include <stdlib.h>

/* --- HiveD's records ------------------------------------------------------ */

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

static void count(sums *s, const char *file, const hived_verdict *v)
{
  s->steps++;
  if (v->kind == HIVED_DIFFERS)
    fail_msg("%s, step %lld: %s %s: %s: want %s, got %s", file,
             (long long)v->step, v->op, v->subject, v->place, v->want, v->got);
  s->agree += v->kind == HIVED_AGREES;
  s->fixed += v->kind == HIVED_FIXED;
  s->others += v->kind == HIVED_FIXED && strcmp(v->fix, "Q2") != 0;
}

/* False where there is no such record. */
static bool replay_shared(const char *file, sums *s)
{
  hived_verdict v;
  hived_replay *r;
  char path[256], *text, *next;
  size_t len;

  (void)snprintf(path, sizeof(path), "hived/%s", file);
  text = test_shared_text(path, &len);
  if (text == NULL)
    return false;
  assert_ok(hived_replay_new(&r, NULL, shared_config, NULL));
  for (char *line = text; line < text + len; line = next) {
    pai_error *err;

    next = memchr(line, '\n', len - (size_t)(line - text));
    next = next != NULL ? next + 1 : text + len;
    if (hived_replay_step(r, line, (size_t)(next - line), &v, &err) < 0)
      fail_msg("%s: %s", file, pai_error_message(err));
    count(s, file, &v);
  }
  hived_replay_free(r);
  free(text);
  return true;
}

TEST(cases_agree)
{
  sums s = { 0 };

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

TEST(clean_traces_agree)
{
  sums s = { 0 };

  replay_traces(true, &s);
  assert_int_equal(s.others, 0);
  assert_true(s.agree > 3500 && s.fixed < 20);
}

TEST(traces_agree_but_for_fixes)
{
  sums s = { 0 };

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

#define BEGIN "{'case':'story','op':'init','config':'small.yaml'}"
#define WELL "{'op':'nodes_healthy'}"

/* A gang of pods with two GPUs each. */
#define POD(op, pod, vc, priority, group, pods)                  \
  "{'op':'" op "','pod':'" pod "','spec':{'virtualCluster':'" vc \
  "','priority':" priority                                       \
  ",'leafCellNumber':2,'affinityGroup':{'name':'" group          \
  "','members':[{'podNumber':" pods ",'leafCellNumber':2}]}},"
#define ASK(phase, pod, vc, priority, group, pods) \
  POD("schedule", pod, vc, priority, group, pods)  \
  "'phase':'" phase "','suggested':'all','expect':"
#define ON(node, type) "{'node':'" node "','idx':[0,1],'type':'" type "'}"
#define BOUND(node, pods)                                              \
  "{'kind':'bind','node':'" node "','leafCells':[0,1],'chain':'RACK'," \
  "'group':[[" pods "]]}"
#define BIND(node, pods) BOUND(node, pods) "}"
#define PREEMPT(victims) "{'kind':'preempt','victims':{" victims "}}}"
#define WAIT(reason) "{'kind':'wait','reason':'" reason "'}}"
#define ADD(pod) "{'op':'add','pod':'" pod "'}"
#define DELETE(pod) "{'op':'delete','pod':'" pod "'}"

/* One that was bound before, alone in its group. */
#define FOUND(pod, vc, priority, group, node, type)                           \
  POD("add", pod, vc, priority, group, "1")                                   \
  "'node':'" node "','bindAnnotation':'{node: " node                          \
  ", leafCellIsolation: [0, 1], cellChain: RACK, affinityGroupBindInfo: "     \
  "[{podPlacements: [{physicalNode: " node                                    \
  ", physicalLeafCellIndices: [0, 1], preassignedCellTypes: [" type ", " type \
  "]}]}]}'}"

#define SAME(node)               \
  "{'kind':'bind','node':'" node \
  "','leafCells':[0,1],'chain':'RACK','groupSame':true}}"
#define ON_TWO(first, second) ON(first, "RACK") "," ON(second, "RACK")

/* a has the first rack that is whole; what is opportunistic runs on the other,
 * and gives way to b, who is told so and gives up. */
static const char *const story[] = {
  BEGIN,
  WELL,
  ASK("Filtering", "a0", "a", "0", "ga", "2") BIND("n0", ON_TWO("n0", "n1")),
  ADD("a0"),
  ASK("Filtering", "a1", "a", "0", "ga", "2") SAME("n1"),
  ADD("a1"),
  ASK("Filtering", "o0", "a", "-1", "go", "1") BIND("n2", ON("n2", "")),
  ADD("o0"),
  ASK("Preempting", "b0", "b", "1", "gb", "2") PREEMPT("'n2':['o0']"),
  ASK(
    "Filtering", "a2", "a", "0", "ga",
    "2") "{'kind':'user_error','code':400,'message':'Requesting more pods "
         "than the "
         "configured number for 2 leaf cells (2 pods) in affinity group ga'}}",
  ASK("Filtering", "b9", "b", "0", "gc", "1")
    WAIT("insufficient capacity when scheduling in VC b"),
  DELETE("o0"),
  "{'op':'delete_unallocated','pod':'b0'}",
  DELETE("a0"),
  DELETE("a1"),
  "{'op':'node_bad','node':'nowhere'}",
  "{'op':'check','state':{'groups':{},'badNodes':['nowhere'],"
  "'vcFreeCellNum':{'a':{'RACK':{'3':1}},'b':{'RACK':{'2':2}}},"
  "'allVCFreeCellNum':{'RACK':{'2':2,'3':1}},"
  "'totalLeftCellNum':{'RACK':{'1':8,'2':4,'3':2}},"
  "'freeList':{'RACK':{'3':['1','0']}}}}",
  ("{'op':'vc_health','query':['b','RACK',2],"
   "'vcCellHealth':{'b/0':'Healthy/-2','b/1':'Healthy/-2'}}"),
};

static hived_replay *make_replay(const pai_alloc *alloc, int *rc)
{
  hived_replay *r;

  *rc = hived_replay_new(&r, alloc, own_config, NULL);
  return r;
}

/* Step `number`, with ' for ". */
static int try_step(hived_replay *r, size_t number, const char *text,
                    hived_verdict *v, pai_error **err)
{
  char line[1024];
  int len = snprintf(line, sizeof(line), "{\"step\":%zu,%s", number, text + 1);

  assert_in_range(len, 1, sizeof(line) - 1);
  for (int i = 0; i < len; i++)
    if (line[i] == '\'')
      line[i] = '"';
  return hived_replay_step(r, line, (size_t)len, v, err);
}

static hived_verdict step(hived_replay *r, const char *text)
{
  hived_verdict v;
  pai_error *err;

  if (try_step(r, 0, text, &v, &err) < 0)
    fail_msg("%s: %s", text, pai_error_message(err));
  return v;
}

/* Each step agrees, and then all that is counted is right; how many were
 * compared. */
static int play(const char *const *steps, size_t n)
{
  hived_verdict v;
  const char *wrong;
  int rc, agree = 0;
  hived_replay *r = make_replay(NULL, &rc);

  assert_ok(rc);
  for (size_t i = 0; i < n; i++) {
    pai_error *err;

    if (try_step(r, i, steps[i], &v, &err) < 0)
      fail_msg("%s: %s", steps[i], pai_error_message(err));
    if (v.kind > HIVED_AGREES)
      fail_msg("%s: %s: want %s, got %s", steps[i], v.place, v.want, v.got);
    assert_int_equal(v.step, i);
    assert_string_equal(v.name, "story");
    agree += v.kind == HIVED_AGREES;
    if (pai__hived_check(r->engine, &wrong) < 0)
      fail_msg("%s: %s", steps[i], wrong);
  }
  hived_replay_free(r);
  return agree;
}

TEST(a_story_is_as_told)
{
  assert_int_equal(play(story, PAI__LEN(story)), 8);
}

/* What is told otherwise differs, and the place is named. */
TEST(differences_are_told)
{
  int rc;
  hived_replay *r = make_replay(NULL, &rc);
  hived_verdict v;

  (void)step(r, BEGIN);
  (void)step(r, WELL);
  v = step(r, ASK("Filtering", "a0", "a", "0", "ga", "1")
                BIND("n7", ON("n0", "RACK")));
  assert_int_equal(v.kind, HIVED_DIFFERS);
  assert_string_equal(v.op, "schedule");
  assert_string_equal(v.subject, "a0");
  assert_string_equal(v.place, "/node");
  assert_string_equal(v.want, "n7");
  assert_string_equal(v.got, "n0");
  assert_null(v.fix);
  v = step(r, ASK("Filtering", "a0", "a", "0", "ga",
                  "1") "{'kind':'wait'},'alternatives':[{'runs':1,'result'"
                       ":" BOUND("n0", ON("n0", "RACK")) "}]}");
  assert_int_equal(v.kind, HIVED_ALTERNATIVE);
  v = step(r, "{'op':'check','state':{'badNodes':['n1']}}");
  assert_int_equal(v.kind, HIVED_DIFFERS);
  hived_replay_free(r);
}

/* A gang whose second pod is the first to be seen after a restart. */
TEST(mended_defects_are_named)
{
  int rc;
  hived_replay *r = make_replay(NULL, &rc);
  hived_verdict v;

  for (int i = 0; i < 6; i++)
    (void)step(r, story[i]);
  v = step(r, "{'op':'init','config':'small.yaml'}");
  assert_int_equal(v.kind, HIVED_DONE);
  (void)step(r, WELL);
  (void)step(r, ADD("a1"));
  v = step(r, ASK("Filtering", "a0", "a", "0", "ga", "2") SAME("n1"));
  assert_int_equal(v.kind, HIVED_FIXED);
  assert_string_equal(v.fix, "Q10");
  assert_string_equal(v.got, "n0");
  hived_replay_free(r);
}

/* Q6: after a restart a pod is on a node to which, sick as all still are,
 * another virtual cluster is doomed: it does not get that one's cell. */
TEST(doomed_cells_are_not_taken)
{
  static const char *const steps[] = {
    BEGIN,
    FOUND("b0", "b", "0", "gb", "n0", "NODE"),
    WELL,
    ASK("Filtering", "a0", "a", "0", "ga", "2") BIND("n2", ON_TWO("n2", "n3")),
    ADD("a0"),
    DELETE("b0"),
    DELETE("a0"),
  };

  (void)play(steps, PAI__LEN(steps));
}

/* Q17: a group is preempted, of which somebody has reserved a part; and then
 * loses what it was promised to a third, who had been bound elsewhere. */
TEST(what_is_reserved_is_left_alone)
{
  static const char *const steps[] = {
    BEGIN,
    WELL,
    ASK("Filtering", "v0", "a", "0", "gv", "2") BIND("n0", ON_TWO("n0", "n1")),
    ADD("v0"),
    ASK("Filtering", "v1", "a", "0", "gv", "2") BIND("n1", ON_TWO("n0", "n1")),
    ADD("v1"),
    ASK("Preempting", "h", "a", "5", "gh", "1")
      PREEMPT("'n0':['v0'],'n1':['v1']"),
    FOUND("x", "a", "9", "gx", "n2", "RACK"),
    DELETE("v0"),
    DELETE("v1"),
    ASK("Filtering", "h", "a", "5", "gh", "1") BIND("n0", ON("n0", "RACK")),
    ADD("h"),
    DELETE("h"),
    DELETE("x"),
    ASK("Filtering", "w", "a", "0", "gw", "2") BIND("n2", ON_TWO("n2", "n3")),
  };

  (void)play(steps, PAI__LEN(steps));
}

/* Nodes that are not suggested are no hindrance, unless the pod says so. */
#define ANNOTATED "{'op':'schedule','pod':'p','suggested':{'only':[]},"
#define MISTAKE \
  "'expect':{'kind':'user_error','message':'Failed to unmarshal YAML'},"

/* As the reader of YAML that HiveD has takes them: that of YAML 1.1. */
TEST(annotations_are_read_as_hived_does)
{
  static const struct {
    const char *annotation;
    bool read;
  } pods[] = {
    { "virtualCluster: a\\nleafCellNumber: 2.9", true },
    { "virtualCluster: b\\nvirtualCluster: a\\nleafCellNumber: 2", true },
    { "{virtualCluster: a, leafCellNumber: 2, lazyPreemptionEnable: on}",
      true },
    { "{virtualCluster: a, leafCellNumber: 2, ignoreK8sSuggestedNodes: yes}",
      true },
    { "{virtualCluster: a, leafCellNumber: 2, priority: null}", true },
    { "{virtualCluster: a, leafCellNumber: 2, lazyPreemptionEnable: "
      "\\u0027yes\\u0027}",
      false },
    { "{virtualCluster: a, leafCellNumber: \\u00272\\u0027}", false },
    { "{virtualCluster: a, leafCellNumber: 2147483648.0}", false },
    { "{virtualCluster: a, leafCellNumber: .nan}", false },
  };
  static const char *const words[] = { "no", "OFF", "false", "null", "~" };
  int rc;
  hived_replay *r = make_replay(NULL, &rc);
  hived_verdict v;
  char line[512];

  (void)step(r, BEGIN);
  (void)step(r, WELL);
  for (size_t i = 0; i < PAI__LEN(pods); i++) {
    (void)snprintf(line, sizeof(line), ANNOTATED "%s'annotation':'%s'}",
                   pods[i].read ? "'expect':" BOUND("n0", ON("n0", "RACK")) ","
                                : MISTAKE,
                   pods[i].annotation);
    v = step(r, line);
    if (v.kind != HIVED_AGREES)
      fail_msg("%s: want %s, got %s", line, v.want, v.got);
  }
  for (size_t i = 0; i < PAI__LEN(words); i++) {
    (void)snprintf(line, sizeof(line),
                   ANNOTATED "'expect':{'kind':'wait'},'annotation':"
                             "'{virtualCluster: a, leafCellNumber: 2, "
                             "ignoreK8sSuggestedNodes: %s}'}",
                   words[i]);
    v = step(r, line);
    assert_string_equal(v.place, "/reason");
    assert_string_equal(v.want, "nothing");
  }
  hived_replay_free(r);
}

/* Lines, and what is said of them. */
static const struct {
  const char *line, *part;
  int code;
} wrong[] = {
  { "{'op':'dance'}", "no step 'dance'", PAI_EINVAL },
  { "{'op':'check'}", "before any configuration", PAI_EINVAL },
  { "{'op':'init','config':'none.yaml'}", "no configuration 'none.yaml'",
    PAI_ENOTFOUND },
  { "{'op':'init','config':'bad.yaml'}",
    "configuration bad.yaml:1:18: ", PAI_EINVAL },
  { "{'op':'nodes_healthy'}", "before any", PAI_EINVAL },
  { BEGIN, NULL, PAI_OK },
  { "{'op':'vc_health','query':[1]}", "not complete", PAI_EINVAL },
  { "{'op':1}", "\"op\"", PAI_EINVAL },
  { "{'op':'node_bad'}", "needs \"node\"", PAI_EINVAL },
  { "{'op':'nodes_healthy','except':'n0'}", "is a list", PAI_EINVAL },
  { "{'op':'delete','pod':'p'}", "was not there before", PAI_EINVAL },
  { "{'op':'add','pod':'p'}", "\"bindAnnotation\"", PAI_EINVAL },
  { "{'op':'schedule','pod':'p','phase':'Binding'}", "not \"Binding\"",
    PAI_EINVAL },
  { "{'op':'schedule','pod':'p','suggested':'none'}",
    "\"suggested\" is \"all\"", PAI_EINVAL },
  { "{'op':'schedule','pod':'p','suggested':{'only':[1]}}", "names of nodes",
    PAI_EINVAL },
  { "{'op':'schedule','pod':'p','expect':{'kind':'bnd'}}",
    "\"user_error\" or \"crash\"", PAI_EINVAL },
  { "{'event':'decide'}", "the log of a scheduler", PAI_EINVAL },
};

TEST(bad_lines_are_refused)
{
  static const char *const broken[][2] = {
    { "{\"op\":", "" },
    { "[]", "object" },
    { "{\"op\":\"check\",\"step\":\"1\"}", "\"step\" of a step is a whole" },
  };
  int rc;
  hived_replay *r = make_replay(NULL, &rc);
  hived_verdict v;

  for (size_t i = 0; i < PAI__LEN(wrong); i++) {
    pai_error *err = NULL;

    assert_int_equal(try_step(r, i, wrong[i].line, &v, &err), wrong[i].code);
    if (wrong[i].code != PAI_OK)
      test_expect_error(err, wrong[i].code, wrong[i].part);
  }
  for (size_t i = 0; i < PAI__LEN(broken); i++) {
    pai_error *err = NULL;

    assert_fails(
      hived_replay_step(r, broken[i][0], strlen(broken[i][0]), &v, &err), err,
      PAI_EINVAL, broken[i][1]);
  }
  hived_replay_free(r);
  hived_replay_free(NULL);
}

TEST_FAULTS(no_memory_is_survived)
{
  hived_verdict v;
  int rc;
  hived_replay *r = make_replay(alloc, &rc);

  for (size_t i = 0; rc == PAI_OK && i < PAI__LEN(story); i++) {
    rc = try_step(r, i, story[i], &v, NULL);
    if (rc == PAI_OK && v.kind > HIVED_AGREES)
      fail_msg("step %zu: %s: want %s, got %s", i, v.place, v.want, v.got);
  }
  hived_replay_free(r);
  return rc;
}
