/* sched_tables.c - the state of a scheduler as tables and as JSON */
#include "cells.h"
#include "sched_tables.h"
#include "table.h"

#include <stdlib.h>

/* --- decisions -------------------------------------------------------------- */

/* Prints bits as "0-3,6". */
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

/* Prints the nodes of a decision with their GPUs. */
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

/* --- states -------------------------------------------------------------- */

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
  (void)printf("%llu of %llu GPUs free on %zu nodes; %u requests, %u of them "
               "waiting; %u instances running\n",
               (unsigned long long)v.free_gpus, (unsigned long long)v.gpus,
               v.nodes, v.requests, v.waiting, v.running);
}

static const char *free_cpus(char out[PAI_CPUS_TEXT],
                             const pai_sched_node_view *v)
{
  return pai_cpus_text(out,
                       (uint64_t)v->free_cpus * 1000 + v->free_cpu_millis);
}

/* --- JSON ---------------------------------------------------------------- */

static void put_text(FILE *out, const char *key, const char *text)
{
  if (text != NULL)
    cli_json_print(out, ",%s:%s", key, text);
}

static void put_vcs(FILE *out, const pai_sched *s)
{
  pai_sched_vc_view v = { .struct_size = sizeof(v) };

  for (size_t i = 0; pai_sched_view_vc(s, i, &v) == PAI_OK; i++) {
    (void)fputs(i != 0 ? "," : "", out);
    cli_json_print(out, "{\"name\":%s", v.name);
    if (v.limited)
      cli_json_print(out, ",\"gpus\":%llu", (unsigned long long)v.gpus);
    cli_json_print(
      out, ",\"used\":%llu,\"lent\":%llu,\"waiting\":%u,\"running\":%u}",
      (unsigned long long)v.used, (unsigned long long)v.lent, v.waiting,
      v.running);
  }
}

static void put_sick(FILE *out, uint64_t mask)
{
  const char *comma = ",\"sick\":[";

  for (int i = 0; i < 64; i++)
    if ((mask >> i & 1) != 0) {
      (void)fprintf(out, "%s%d", comma, i);
      comma = ",";
    }
  if (mask != 0)
    (void)fputc(']', out);
}

static void put_nodes(FILE *out, const pai_sched *s)
{
  static const char *const states[] = { "up", "drain", "sick" };
  pai_sched_node_view v = { .struct_size = sizeof(v) };
  char cpus[PAI_CPUS_TEXT];

  for (size_t i = 0; pai_sched_view_node(s, i, &v) == PAI_OK; i++) {
    (void)fputs(i != 0 ? "," : "", out);
    cli_json_print(out, "{\"name\":%s,\"state\":%s", v.name, states[v.state]);
    put_text(out, "why", v.why);
    cli_json_print(out, ",\"gpus\":%u,\"free_gpus\":%u", v.gpus, v.free_gpus);
    put_sick(out, v.sick_mask);
    (void)fprintf(out, ",\"cpus\":%u,\"free_cpus\":%s", v.cpus,
                  free_cpus(cpus, &v));
    cli_json_print(out, ",\"memory\":%llu,\"free_memory\":%llu}",
                   (unsigned long long)v.memory,
                   (unsigned long long)v.free_memory);
  }
}

static void put_request(FILE *out, const pai_sched *s,
                        const pai_request_view *v)
{
  pai_want want = { .struct_size = sizeof(want) };
  pai_reason r = { .struct_size = sizeof(r) };
  uint64_t tasks = 0, gpus = 0;

  for (uint32_t i = 0; i < v->wants; i++)
    if (pai_sched_view_want(s, v->id, i, &want) == PAI_OK) {
      tasks += want.tasks;
      gpus += (uint64_t)want.tasks * want.gpus;
    }
  (void)fprintf(out, "{\"id\":%llu", (unsigned long long)v->id);
  put_text(out, "name", v->name);
  put_text(out, "vc", v->vc);
  put_text(out, "user", v->user);
  cli_json_print(out,
                 ",\"priority\":%d,\"submitted\":%lld,\"tasks\":%llu,"
                 "\"gpus\":%llu,\"waiting\":%u,\"running\":%u,"
                 "\"finished\":%u",
                 v->priority, (long long)v->submitted,
                 (unsigned long long)tasks, (unsigned long long)gpus,
                 v->waiting, v->running, v->finished);
  if (pai_sched_reason(s, v->id, &r) == PAI_OK)
    put_text(out, "lacks", pai_lack_name(r.lack));
  if (r.behind != 0)
    cli_json_print(out, ",\"behind\":%llu", (unsigned long long)r.behind);
  (void)fputc('}', out);
}

static void put_requests(FILE *out, const pai_sched *s)
{
  const char *comma = "";

  for (uint64_t id = 0; (id = pai_sched_next(s, id)) != 0; comma = ",") {
    pai_request_view v = { .struct_size = sizeof(v) };

    (void)fputs(comma, out);
    if (pai_sched_view_request(s, id, &v) == PAI_OK)
      put_request(out, s, &v);
  }
}

const sched_table sched_tables[SCHED_TABLES] = {
  [SCHED_VCS] = { "virtual_clusters", put_vcs, cli_columns_sched_vcs },
  [SCHED_NODES] = { "nodes", put_nodes, cli_columns_sched_nodes },
  [SCHED_REQUESTS] = { "requests", put_requests, cli_columns_sched_requests },
};

void sched_json(FILE *out, const pai_sched *s, const sched_table *table)
{
  pai_sched_view v = { .struct_size = sizeof(v) };

  (void)pai_sched_view_sums(s, &v);
  cli_json_print(out,
                 "{\"time\":%lld,\"policy\":%s,\"events\":%llu,\"gpus\":%llu,"
                 "\"free_gpus\":%llu,%s:[",
                 (long long)v.now, v.policy, (unsigned long long)v.events,
                 (unsigned long long)v.gpus, (unsigned long long)v.free_gpus,
                 table->key);
  table->put(out, s);
  (void)fputs("]}\n", out);
}

void sched_show(const pai_sched *s, const sched_table *table)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  pai_json *j = NULL;

  if (out != NULL)
    sched_json(out, s, table);
  if (out != NULL && fclose(out) == 0 && cli_json_read(&j, text, len))
    cli_print_table(stdout, table->columns,
                    cli_each_of(j, cli_json_get(j, 0, table->key)));
  else
    cli_fail("out of memory");
  pai_json_free(j);
  free(text);
}

void sched_json_decisions(const sched_log *log, int n)
{
  for (int i = 0; i < n; i++)
    if (pai_sched_write_decision(log->sched, (size_t)i, cli_write, stdout,
                                 NULL) < 0)
      cli_fail("out of memory");
}
