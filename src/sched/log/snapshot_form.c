/* snapshot_form.c - tables of the fields of snapshots */
#include "sched/log/snapshot_form.h"

#include "sched/core.h"
#include "sched/queue.h"

const char *const pai__decision_words[] = { [0] = "",
                                            [PAI_DECISION_START] = "start",
                                            [PAI_DECISION_STOP] = "stop",
                                            [PAI_DECISION_GROW] = "grow",
                                            [PAI_DECISION_SHRINK] = "shrink",
                                            NULL };

const char *const pai__cause_words[] = { [0] = "",
                                         [PAI_STOP_PREEMPTED] = "preempted",
                                         [PAI_STOP_CANCELLED] = "cancelled",
                                         [PAI_STOP_LIMIT] = "limit",
                                         NULL };

static const char *const run_states[] = { [0] = "",
                                          [PAI__RUN_RETURNED] = "returned",
                                          [PAI__RUN_CLAIMED] = "claimed",
                                          [PAI__RUN_PLACED] = "placed",
                                          [PAI__RUN_STARTED] = "started",
                                          [PAI__RUN_STOPPING] = "stopping",
                                          NULL };

static const char *const node_states[] = { [PAI_NODE_UP] = "up",
                                           [PAI_NODE_DRAIN] = "drain",
                                           [PAI_NODE_SICK] = "sick",
                                           NULL };

#define COUNT(type, m, ...) PAI__NUMBER(type, m, 0, UINT32_MAX, __VA_ARGS__)
#define TIME(type, m, ...) \
  PAI__NUMBER(type, m, -PAI__LAST_TIME, PAI__LAST_TIME, __VA_ARGS__)
/* Counters that may still grow. */
#define LONG(type, m, ...) PAI__NUMBER(type, m, 0, INT64_MAX / 2, __VA_ARGS__)

static const pai__field state[] = {
  LONG(pai__state_form, version, "snapshot", .needed = true),
  TIME(pai__state_form, m.now, "time", .needed = true),
  LONG(pai__state_form, m.events, "events", .needed = true),
  LONG(pai__state_form, m.turns, "turns", .needed = true),
  LONG(pai__state_form, m.orders, "orders", .needed = true),
  PAI__NUMBER(pai__state_form, m.next_limit, INT64_MIN, INT64_MAX,
              "next_limit", .usual = INT64_MAX),
  PAI__NUMBER(pai__state_form, m.first_port, 1, UINT16_MAX, "first_port",
              .needed = true),
  PAI__NUMBER(pai__state_form, m.last_port, 1, UINT16_MAX, "last_port",
              .needed = true),
  PAI__NUMBER(pai__state_form, m.next_port, 1, UINT16_MAX, "next_port",
              .needed = true),
  PAI__FLAG(pai__state_form, m.unchecked, "unchecked"),
  PAI__FLAG(pai__state_form, gap, "gap"),
  PAI__NODE(pai__state_form, alike, "alike"),
  PAI__NODE(pai__state_form, cluster, "cluster", .needed = true),
  PAI__NODE(pai__state_form, policy, "policy", .needed = true),
  PAI__NODE(pai__state_form, shadow, "shadow"),
  PAI__NODE(pai__state_form, nodes, "nodes"),
  PAI__NODE(pai__state_form, reservations, "reservations"),
  PAI__NODE(pai__state_form, requests, "requests"),
  PAI__NODE(pai__state_form, refused, "refused"),
  PAI__NODE(pai__state_form, decisions, "decisions"),
};

static const pai__field policy[] = {
  PAI__TEXT(pai__policy_form, name, "name", .needed = true),
  LONG(pai__policy_form, agreement.live, "live"),
  LONG(pai__policy_form, agreement.decisions, "decisions"),
  LONG(pai__policy_form, agreement.agreed, "agreed"),
  LONG(pai__policy_form, agreement.failed, "failed"),
  PAI__NODE(pai__policy_form, options, "options", .needed = true),
  PAI__NODE(pai__policy_form, state, "state"),
};

static const pai__field req[] = {
  LONG(pai__req_form, turn, "turn", .needed = true),
  TIME(pai__req_form, submitted, "submitted", .needed = true),
  COUNT(pai__req_form, finished, "finished"),
  COUNT(pai__req_form, failed, "failed"),
  PAI__FLAG(pai__req_form, cancelled, "cancelled"),
  PAI__NODE(pai__req_form, request, "request", .needed = true),
  PAI__NODE(pai__req_form, runs, "runs"),
  PAI__NODE(pai__req_form, reason, "why"),
};

static const pai__field run[] = {
  COUNT(pai__run_form, run.instance, "instance", .needed = true),
  PAI__WORD(pai__run_form, run.state, run_states, "state", .needed = true),
  LONG(pai__run_form, run.order, "order"),
  TIME(pai__run_form, run.since, "since"),
  PAI__WORD(pai__run_form, run.cause, pai__cause_words, "cause"),
  PAI__ID(pai__run_form, run.by, "by"),
  PAI__FLAG(pai__run_form, run.borrowed, "borrowed"),
  COUNT(pai__run_form, run.leaving, "leaving"),
  COUNT(pai__run_form, run.leaving_want, "leaving_want"),
  PAI__NODE(pai__run_form, tasks, "tasks"),
};

static const pai__field slot[] = {
  COUNT(pai__slot_form, want, "want"),
  PAI__TEXT(pai__slot_form, node, "node", .needed = true),
  PAI__NODE(pai__slot_form, gpus, "gpus"),
  PAI__TEXT(pai__slot_form, cpus, "cpus"),
  PAI__NODE(pai__slot_form, ports, "ports"),
};

static const pai__field capacity[] = {
  PAI__TEXT(pai__free_capacity_form, name, "name", .needed = true),
  PAI__WORD(pai__free_capacity_form, state, node_states, "state"),
  PAI__TEXT(pai__free_capacity_form, reason, "why"),
  PAI__NUMBER(pai__free_capacity_form, next_port, 0, UINT16_MAX, "next_port"),
  PAI__NODE(pai__free_capacity_form, sick, "sick"),
  PAI__NODE(pai__free_capacity_form, lost, "lost"),
};

static const pai__field reason[] = {
  PAI__WORD(pai__sched_reason_form, r.lack, pai__lack_words, "lack"),
  PAI__WORD(pai__sched_reason_form, r.of, pai__lack_words, "of"),
  COUNT(pai__sched_reason_form, r.want, "want"),
  COUNT(pai__sched_reason_form, r.placed, "placed"),
  COUNT(pai__sched_reason_form, r.tasks, "tasks"),
  PAI__ID(pai__sched_reason_form, r.wanted, "wanted"),
  PAI__ID(pai__sched_reason_form, r.found, "found"),
  PAI__NUMBER(pai__sched_reason_form, r.wanted_millis, 0, 999,
              "wanted_millis"),
  PAI__NUMBER(pai__sched_reason_form, r.found_millis, 0, 999, "found_millis"),
  PAI__ID(pai__sched_reason_form, r.behind, "behind"),
  PAI__NUMBER(pai__sched_reason_form, r.until, INT64_MIN, INT64_MAX, "until"),
  PAI__TEXT(pai__sched_reason_form, r.node, "node"),
  PAI__TEXT(pai__sched_reason_form, r.text, "text"),
  PAI__NODE(pai__sched_reason_form, failed, "failed"),
};

static const pai__field vc_reason[] = {
  PAI__TEXT(pai__vc_reason_form, vc, "vc", .needed = true),
  PAI__ID(pai__vc_reason_form, vc_reason.behind, "behind", .needed = true),
  LONG(pai__vc_reason_form, vc_reason.first, "from", .needed = true),
  LONG(pai__vc_reason_form, vc_reason.last, "to", .needed = true),
  PAI__FLAG(pai__vc_reason_form, vc_reason.lazy, "opportunistic"),
};

static const pai__field pending[] = {
  PAI__WORD(pai__decision, kind, pai__decision_words, "decision",
            .needed = true),
  PAI__ID(pai__decision, id, "id", .needed = true),
  COUNT(pai__decision, instance, "instance"),
  PAI__WORD(pai__decision, cause, pai__cause_words, "cause"),
  PAI__ID(pai__decision, by, "by"),
  COUNT(pai__decision, want, "want"),
  COUNT(pai__decision, tasks, "tasks"),
};

#define TABLE(list, what)      \
  {                            \
    list, PAI__LEN(list), what \
  }

const pai__table pai__state_table = TABLE(state, "a snapshot");
const pai__table pai__policy_table = TABLE(policy, "a policy");
const pai__table pai__req_table = TABLE(req, "a request of a snapshot");
const pai__table pai__run_table = TABLE(run, "a run");
const pai__table pai__slot_table = TABLE(slot, "a task");
const pai__table pai__free_capacity_table = TABLE(capacity, "a node");
const pai__table pai__sched_reason_table = TABLE(reason, "a reason");
const pai__table pai__vc_reason_table = TABLE(vc_reason, "what is refused");
const pai__table pai__pending_table = TABLE(pending, "a decision");
