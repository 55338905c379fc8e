/* sched_tables.c - what can be seen of a scheduler, as tables and as JSON */
#include "cells.h"
#include "sched_tables.h"

#include <stdlib.h>
#include <string.h>

static const char *const states[] = { "up", "drain", "sick" };

/* --- tables --------------------------------------------------------------- */

/* A text in a column, never so that it touches the next one. */
static void put_cell(const char *text, int width)
{
  int len = text != NULL ? (int)strlen(text) : 0;

  if (text != NULL)
    cli_print(stdout, text);
  (void)printf("%*s", len < width ? width - len + 1 : 1, "");
}

/* Bits as "0-3,6". */
static void put_bits(uint64_t bits)
{
  const char *comma = "";

  for (int i = 0, last; i < 64; i = last + 1) {
    last = i;
    if ((bits >> i & 1) == 0)
      continue;
    while (last < 63 && (bits >> (last + 1) & 1) != 0)
      last++;
    (void)printf(last > i ? "%s%d-%d" : "%s%d", comma, i, last);
    comma = ",";
  }
}

/* Node by node, with the GPUs it has there. */
static void put_places(const pai_sched *s, const pai_decision *d)
{
  pai_task_place p = { .struct_size = sizeof(p) }, next = p;
  pai_sched_node_view node = { .struct_size = sizeof(node) };
  uint32_t i = 0, tasks;

  while (pai_sched_task(s, d->id, d->instance, i, &p) == PAI_OK) {
    uint64_t gpus = p.gpus;

    for (tasks = 1;
         pai_sched_task(s, d->id, d->instance, i + tasks, &next) == PAI_OK &&
         next.node == p.node;
         tasks++)
      gpus |= next.gpus;
    (void)pai_sched_view_node(s, p.node, &node);
    (void)putchar(' ');
    cli_print(stdout, node.name);
    if (gpus != 0) {
      (void)putchar('[');
      put_bits(gpus);
      (void)putchar(']');
    }
    i += tasks;
  }
}

static void put_decision(const sched_log *log, const pai_decision *d)
{
  static const char *const kinds[] = { "", "start", "stop", "grow", "shrink" };
  static const char *const causes[] = { "", " preempted", " cancelled",
                                        " limit" };
  pai_sched_view view = { .struct_size = sizeof(view) };
  char when[PAI_REPLAY_TIME];

  (void)pai_sched_view_sums(log->sched, &view);
  (void)printf("%19s  %-6s %8llu %5u %6u ",
               pai_replay_show_time(log->replay, view.now, when),
               kinds[d->kind], (unsigned long long)d->id, d->instance,
               d->tasks);
  if (d->kind != PAI_DECISION_STOP)
    put_places(log->sched, d);
  else
    (void)printf("%s", causes[d->cause]);
  if (d->by != 0)
    (void)printf(" for %llu", (unsigned long long)d->by);
  (void)putchar('\n');
}

void sched_show_head(void)
{
  (void)printf("%19s  %-6s %8s %5s %6s  %s\n", "TIME", "WHAT", "REQUEST",
               "INST", "TASKS", "WHERE OR WHY");
}

void sched_show_decisions(const sched_log *log, int n)
{
  pai_decision d = { .struct_size = sizeof(d) };

  for (int i = 0; i < n; i++)
    if (pai_sched_decision(log->sched, (size_t)i, &d) == PAI_OK)
      put_decision(log, &d);
}

/* --- states --------------------------------------------------------------- */

void sched_show_sums(const sched_log *log)
{
  pai_sched_view v = { .struct_size = sizeof(v) };
  char when[PAI_REPLAY_TIME];

  (void)pai_sched_view_sums(log->sched, &v);
  (void)printf("policy %s", v.policy);
  if (v.shadow != NULL)
    (void)printf(", beside it %s (%llu of its %llu decisions were the same)",
                 v.shadow, (unsigned long long)v.shadow_agreed,
                 (unsigned long long)v.shadow_decisions);
  (void)printf("; %llu events, until %s\n", (unsigned long long)v.events,
               pai_replay_show_time(log->replay, v.now, when));
  (void)printf("%llu of %llu GPUs free on %zu nodes; requests: %u, of them "
               "wait %u; instances that run: %u\n",
               (unsigned long long)v.free_gpus, (unsigned long long)v.gpus,
               v.nodes, v.requests, v.waiting, v.running);
}

void sched_show_vcs(const pai_sched *s)
{
  pai_sched_vc_view v = { .struct_size = sizeof(v) };

  (void)printf("%-16s %6s %6s %6s %8s %8s\n", "VIRTUAL CLUSTER", "GPUS",
               "USED", "LENT", "WAITING", "RUNNING");
  for (size_t i = 0; pai_sched_view_vc(s, i, &v) == PAI_OK; i++) {
    put_cell(v.name, 16);
    if (v.limited)
      (void)printf("%6llu", (unsigned long long)v.gpus);
    else
      (void)printf("%6s", "all");
    (void)printf(" %6llu %6llu %8u %8u\n", (unsigned long long)v.used,
                 (unsigned long long)v.lent, v.waiting, v.running);
  }
}

void sched_show_nodes(const pai_sched *s)
{
  pai_sched_node_view v = { .struct_size = sizeof(v) };

  (void)printf("%-16s %-5s %9s %9s %17s\n", "NODE", "STATE", "GPUS", "CPUS",
               "MEMORY, MiB");
  for (size_t i = 0; pai_sched_view_node(s, i, &v) == PAI_OK; i++) {
    put_cell(v.name, 16);
    (void)printf("%-5s %4u/%-4u %4u/%-4u %8llu/%-8llu", states[v.state],
                 v.free_gpus, v.gpus, v.free_cpus, v.cpus,
                 (unsigned long long)v.free_memory >> 20,
                 (unsigned long long)v.memory >> 20);
    if (v.sick_gpus != 0) {
      (void)printf(" sick: ");
      put_bits(v.sick_mask);
    }
    if (v.why != NULL) {
      (void)putchar(' ');
      cli_print(stdout, v.why);
    }
    (void)putchar('\n');
  }
}

void sched_show_requests(const pai_sched *s)
{
  uint64_t id = 0;

  (void)printf("%8s %-16s %5s %5s %5s %-12s %s\n", "REQUEST",
               "VIRTUAL CLUSTER", "PRIO", "WAIT", "RUN", "LACKS", "USER NAME");
  while ((id = pai_sched_next(s, id)) != 0) {
    pai_request_view v = { .struct_size = sizeof(v) };
    pai_reason r = { .struct_size = sizeof(r) };
    bool waits = pai_sched_reason(s, id, &r) == PAI_OK;

    (void)pai_sched_view_request(s, id, &v);
    (void)printf("%8llu ", (unsigned long long)id);
    put_cell(v.vc, 16);
    (void)printf("%5d %5u %5u %-12s ", v.priority, v.waiting, v.running,
                 waits ? pai_lack_name(r.lack) : "");
    put_cell(v.user != NULL ? v.user : "-", 1);
    if (v.name != NULL)
      cli_print(stdout, v.name);
    (void)putchar('\n');
  }
}

/* --- JSON ----------------------------------------------------------------- */

static void put_text(const char *key, const char *text)
{
  if (text == NULL)
    return;
  (void)printf(",\"%s\":", key);
  cli_json_string(stdout, text, strlen(text));
}

static void put_number(const char *key, uint64_t n)
{
  (void)printf(",\"%s\":%llu", key, (unsigned long long)n);
}

static void json_sums(const pai_sched *s)
{
  pai_sched_view v = { .struct_size = sizeof(v) };

  (void)pai_sched_view_sums(s, &v);
  (void)printf("{\"time\":%lld", (long long)v.now);
  put_text("policy", v.policy);
  put_number("events", v.events);
  put_number("gpus", v.gpus);
  put_number("free_gpus", v.free_gpus);
}

void sched_json_vcs(const pai_sched *s)
{
  pai_sched_vc_view v = { .struct_size = sizeof(v) };

  json_sums(s);
  (void)printf(",\"virtual_clusters\":[");
  for (size_t i = 0; pai_sched_view_vc(s, i, &v) == PAI_OK; i++) {
    (void)printf("%s{\"name\":", i != 0 ? "," : "");
    cli_json_string(stdout, v.name, strlen(v.name));
    if (v.limited)
      put_number("gpus", v.gpus);
    put_number("used", v.used);
    put_number("lent", v.lent);
    put_number("waiting", v.waiting);
    put_number("running", v.running);
    (void)putchar('}');
  }
  (void)printf("]}\n");
}

static void json_sick(uint64_t mask)
{
  const char *comma = "";

  if (mask == 0)
    return;
  (void)printf(",\"sick\":[");
  for (int i = 0; i < 64; i++)
    if ((mask >> i & 1) != 0) {
      (void)printf("%s%d", comma, i);
      comma = ",";
    }
  (void)putchar(']');
}

void sched_json_nodes(const pai_sched *s)
{
  pai_sched_node_view v = { .struct_size = sizeof(v) };

  json_sums(s);
  (void)printf(",\"nodes\":[");
  for (size_t i = 0; pai_sched_view_node(s, i, &v) == PAI_OK; i++) {
    (void)printf("%s{\"name\":", i != 0 ? "," : "");
    cli_json_string(stdout, v.name, strlen(v.name));
    put_text("state", states[v.state]);
    put_text("why", v.why);
    put_number("gpus", v.gpus);
    put_number("free_gpus", v.free_gpus);
    json_sick(v.sick_mask);
    put_number("cpus", v.cpus);
    put_number("free_cpus", v.free_cpus);
    put_number("memory", v.memory);
    put_number("free_memory", v.free_memory);
    (void)putchar('}');
  }
  (void)printf("]}\n");
}

static void json_request(const pai_sched *s, const pai_request_view *v)
{
  pai_want want = { .struct_size = sizeof(want) };
  pai_reason r = { .struct_size = sizeof(r) };
  uint64_t tasks = 0, gpus = 0;

  for (uint32_t i = 0; i < v->wants; i++)
    if (pai_sched_view_want(s, v->id, i, &want) == PAI_OK) {
      tasks += want.tasks;
      gpus += (uint64_t)want.tasks * want.gpus;
    }
  (void)printf("{\"id\":%llu", (unsigned long long)v->id);
  put_text("name", v->name);
  put_text("vc", v->vc);
  put_text("user", v->user);
  (void)printf(",\"priority\":%d,\"submitted\":%lld", v->priority,
               (long long)v->submitted);
  put_number("tasks", tasks);
  put_number("gpus", gpus);
  put_number("waiting", v->waiting);
  put_number("running", v->running);
  put_number("finished", v->finished);
  if (pai_sched_reason(s, v->id, &r) == PAI_OK)
    put_text("lacks", pai_lack_name(r.lack));
  if (r.behind != 0)
    put_number("behind", r.behind);
  (void)putchar('}');
}

void sched_json_requests(const pai_sched *s)
{
  const char *comma = "";

  json_sums(s);
  (void)printf(",\"requests\":[");
  for (uint64_t id = 0; (id = pai_sched_next(s, id)) != 0; comma = ",") {
    pai_request_view v = { .struct_size = sizeof(v) };

    (void)printf("%s", comma);
    if (pai_sched_view_request(s, id, &v) == PAI_OK)
      json_request(s, &v);
  }
  (void)printf("]}\n");
}

void sched_json_decisions(const sched_log *log, int n)
{
  for (int i = 0; i < n; i++)
    if (pai_sched_write_decision(log->sched, (size_t)i, cli_write, stdout,
                                 NULL) < 0)
      cli_fail("out of memory");
}
