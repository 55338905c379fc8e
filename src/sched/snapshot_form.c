/* snapshot_form.c - the members of all that is in a snapshot */
#include "sched/snapshot_form.h"

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
/* Counters that still go on for a while. */
#define LONG(type, m, ...) PAI__NUMBER(type, m, 0, INT64_MAX / 2, __VA_ARGS__)

static const pai__field state[] = {
  LONG(pai__state_form, version, "snapshot", .needed = true),
  TIME(pai__state_form, time, "time", .needed = true),
  LONG(pai__state_form, events, "events", .needed = true),
  LONG(pai__state_form, turns, "turns", .needed = true),
  LONG(pai__state_form, orders, "orders", .needed = true),
  PAI__NUMBER(pai__state_form, next_limit, INT64_MIN, INT64_MAX, "next_limit",
              .usual = INT64_MAX),
  PAI__NUMBER(pai__state_form, first_port, 1, UINT16_MAX, "first_port",
              .needed = true),
  PAI__NUMBER(pai__state_form, last_port, 1, UINT16_MAX, "last_port",
              .needed = true),
  PAI__NUMBER(pai__state_form, next_port, 1, UINT16_MAX, "next_port",
              .needed = true),
  PAI__FLAG(pai__state_form, unchecked, "unchecked"),
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
  LONG(pai__policy_form, live, "live"),
  LONG(pai__policy_form, decisions, "decisions"),
  LONG(pai__policy_form, agreed, "agreed"),
  LONG(pai__policy_form, failed, "failed"),
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
  PAI__NODE(pai__req_form, why, "why"),
};

static const pai__field run[] = {
  COUNT(pai__run_form, instance, "instance", .needed = true),
  PAI__WORD(pai__run_form, state, run_states, "state", .needed = true),
  LONG(pai__run_form, order, "order"),
  TIME(pai__run_form, since, "since"),
  PAI__WORD(pai__run_form, cause, pai__cause_words, "cause"),
  PAI__ID(pai__run_form, by, "by"),
  PAI__FLAG(pai__run_form, borrowed, "borrowed"),
  COUNT(pai__run_form, leaving, "leaving"),
  COUNT(pai__run_form, leaving_want, "leaving_want"),
  PAI__NODE(pai__run_form, tasks, "tasks"),
};

static const pai__field slot[] = {
  COUNT(pai__slot_form, want, "want"),
  PAI__TEXT(pai__slot_form, node, "node", .needed = true),
  PAI__NODE(pai__slot_form, gpus, "gpus"),
  PAI__TEXT(pai__slot_form, cpus, "cpus"),
  PAI__NODE(pai__slot_form, ports, "ports"),
};

static const pai__field room[] = {
  PAI__TEXT(pai__room_form, name, "name", .needed = true),
  PAI__WORD(pai__room_form, state, node_states, "state"),
  PAI__TEXT(pai__room_form, why, "why"),
  PAI__NUMBER(pai__room_form, next_port, 0, UINT16_MAX, "next_port"),
  PAI__NODE(pai__room_form, sick, "sick"),
  PAI__NODE(pai__room_form, lost, "lost"),
};

static const pai__field why[] = {
  PAI__WORD(pai__why_form, lack, pai__lack_words, "lack"),
  PAI__WORD(pai__why_form, of, pai__lack_words, "of"),
  COUNT(pai__why_form, want, "want"),
  COUNT(pai__why_form, placed, "placed"),
  COUNT(pai__why_form, tasks, "tasks"),
  PAI__ID(pai__why_form, wanted, "wanted"),
  PAI__ID(pai__why_form, found, "found"),
  PAI__ID(pai__why_form, behind, "behind"),
  PAI__NUMBER(pai__why_form, until, INT64_MIN, INT64_MAX, "until"),
  PAI__TEXT(pai__why_form, node, "node"),
  PAI__TEXT(pai__why_form, text, "text"),
  PAI__NODE(pai__why_form, failed, "failed"),
};

static const pai__field rule[] = {
  PAI__TEXT(pai__rule_form, vc, "vc", .needed = true),
  PAI__ID(pai__rule_form, behind, "behind", .needed = true),
  LONG(pai__rule_form, first, "from", .needed = true),
  LONG(pai__rule_form, last, "to", .needed = true),
  PAI__FLAG(pai__rule_form, lazy, "opportunistic"),
};

static const pai__field pending[] = {
  PAI__WORD(pai__pending_form, kind, pai__decision_words, "decision",
            .needed = true),
  PAI__ID(pai__pending_form, id, "id", .needed = true),
  COUNT(pai__pending_form, instance, "instance"),
  PAI__WORD(pai__pending_form, cause, pai__cause_words, "cause"),
  PAI__ID(pai__pending_form, by, "by"),
  COUNT(pai__pending_form, want, "want"),
  COUNT(pai__pending_form, tasks, "tasks"),
};

const pai__table pai__state_table = { state, PAI__LEN(state) };
const pai__table pai__policy_table = { policy, PAI__LEN(policy) };
const pai__table pai__req_table = { req, PAI__LEN(req) };
const pai__table pai__run_table = { run, PAI__LEN(run) };
const pai__table pai__slot_table = { slot, PAI__LEN(slot) };
const pai__table pai__room_table = { room, PAI__LEN(room) };
const pai__table pai__why_table = { why, PAI__LEN(why) };
const pai__table pai__rule_table = { rule, PAI__LEN(rule) };
const pai__table pai__pending_table = { pending, PAI__LEN(pending) };
