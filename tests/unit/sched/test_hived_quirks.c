/*
 * test_hived_quirks.c - defects of HiveD that few records show, as they are
 * mended: what is counted stays right, and nobody has what is another's
 */
#include "testing.h"

#include "sched/hived/replay.h"

static const char config[] =
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

static int give_config(void *user_data, const char *name, pai_write_cb write,
                       void *to)
{
  (void)user_data;
  (void)name;
  return write(to, config, strlen(config));
}

#define BEGIN "{'case':'c','op':'init','config':'c'}"
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
#define BIND(node, pods)                                               \
  "{'kind':'bind','node':'" node "','leafCells':[0,1],'chain':'RACK'," \
  "'group':[[" pods "]]}}"
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

/* Each step agrees, and then all that is counted is right. */
static void play(const char *const *steps, size_t n)
{
  pai_hived_replay_options opts = PAI_HIVED_REPLAY_OPTIONS_INIT;
  pai_hived_verdict v = { .struct_size = sizeof(v) };
  const char *wrong;
  pai_hived_replay *r;
  char line[1024];

  opts.config = give_config;
  assert_int_equal(pai_hived_replay_new(&r, &opts, NULL), PAI_OK);
  for (size_t i = 0; i < n; i++) {
    pai_error *err;
    size_t len = strlen(steps[i]);

    assert_true(len < sizeof(line));
    for (size_t k = 0; k < len; k++)
      line[k] = (char)(steps[i][k] == '\'' ? '"' : steps[i][k]);
    if (pai_hived_replay_step(r, line, len, &v, &err) < 0)
      fail_msg("%s: %s", steps[i], pai_error_message(err));
    if (v.kind > PAI_HIVED_AGREES)
      fail_msg("%s: %s: want %s, got %s", steps[i], v.place, v.want, v.got);
    if (pai__hived_check(r->engine, &wrong) < 0)
      fail_msg("%s: %s", steps[i], wrong);
  }
  pai_hived_replay_free(r);
}

/* Q6: after a restart a pod is on a node to which, sick as all still are,
 * another virtual cluster is doomed: it does not get that one's cell. */
static void doomed_cells_are_not_taken(void **state)
{
  static const char *const steps[] = {
    BEGIN,
    FOUND("b0", "b", "0", "gb", "n0", "NODE"),
    WELL,
    ASK("Filtering", "a0", "a", "0", "ga", "2")
      BIND("n2", ON("n2", "RACK") "," ON("n3", "RACK")),
    ADD("a0"),
    DELETE("b0"),
    DELETE("a0"),
  };

  (void)state;
  play(steps, PAI__LEN(steps));
}

/* Q17: a group is preempted, of which somebody has reserved a part; and then
 * loses what it was promised to a third, who had been bound elsewhere. */
static void what_is_reserved_is_left_alone(void **state)
{
  static const char *const steps[] = {
    BEGIN,
    WELL,
    ASK("Filtering", "v0", "a", "0", "gv", "2")
      BIND("n0", ON("n0", "RACK") "," ON("n1", "RACK")),
    ADD("v0"),
    ASK("Filtering", "v1", "a", "0", "gv", "2")
      BIND("n1", ON("n0", "RACK") "," ON("n1", "RACK")),
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
    ASK("Filtering", "w", "a", "0", "gw", "2")
      BIND("n2", ON("n2", "RACK") "," ON("n3", "RACK")),
  };

  (void)state;
  play(steps, PAI__LEN(steps));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(doomed_cells_are_not_taken),
    cmocka_unit_test(what_is_reserved_is_left_alone),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
