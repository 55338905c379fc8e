/* queue.c - views of a scheduler: requests, nodes, shares, places */
#include "facade_fields.h"
#include "sched_shared.h"
#include "shared.h"

static void put_mask(json *j, const char *name, uint64_t mask)
{
  json_begin(j, name, '[');
  for (int i = 0; mask != 0; i++, mask >>= 1)
    if ((mask & 1) != 0)
      json_number(j, NULL, i);
  json_end(j, ']');
}

/* What a listing is about: a request, and an instance or a node. */
typedef struct subject {
  uint64_t id;
  uint32_t number;
} subject;

static listing look(Scheduler *s,
                    int (*put)(json *, const pai_sched *, subject), subject of,
                    const char *missing, failure *f)
{
  listing made = { { NULL, 0 } };
  int rc;
  json j;

  if (!sched_take(s, f))
    return made;
  json_start(&j);
  rc = put(&j, s->sched, of);
  made = json_finish(&j, f);
  sched_give(s);
  if (rc < 0) {
    facade_fail(f, rc, missing);
    made.json = facade_finished(made.json, f);
  }
  return made;
}

/* --- sums ------------------------------------------------------------------ */

static int put_sums(json *j, const pai_sched *sched, subject of)
{
  pai_sched_view v = { .struct_size = sizeof(v) };
  int rc = pai_sched_view_sums(sched, &v);

  (void)of;
  json_record(j, NULL, fields_SchedSums, &v);
  return rc;
}

listing facade_sched_sums(Scheduler *s, failure *f)
{
  return look(s, put_sums, (subject){ 0, 0 }, NULL, f);
}

/* --- requests -------------------------------------------------------------- */

static const char *state_name(int state)
{
  switch (state) {
  case PAI_REQUEST_WAITING: return "waiting";
  case PAI_REQUEST_RUNNING: return "running";
  default: return "stopping";
  }
}

static void put_wants(json *j, const pai_sched *sched, uint64_t id)
{
  pai_want w = { .struct_size = sizeof(w) };

  json_begin(j, "wants", '[');
  for (uint32_t i = 0; pai_sched_view_want(sched, id, i, &w) == PAI_OK; i++) {
    json_begin(j, NULL, '{');
    json_fields(j, fields_Want, &w);
    json_amount(j, "min_tasks", w.min_tasks != w.tasks ? w.min_tasks : 0);
    json_cpus(j, "cpus", (uint64_t)w.cpus * 1000 + w.cpu_millis);
    json_end(j, '}');
  }
  json_end(j, ']');
}

static void put_lack(json *j, const pai_sched *sched, uint64_t id)
{
  pai_reason reason = { .struct_size = sizeof(reason) };

  if (pai_sched_reason(sched, id, &reason) == PAI_OK)
    json_some(j, "lack", pai_lack_name(reason.lack));
}

static int put_request(json *j, const pai_sched *sched, subject of)
{
  pai_request_view v = { .struct_size = sizeof(v) };
  int rc = pai_sched_view_request(sched, of.id, &v);

  if (rc < 0)
    return rc;
  json_begin(j, NULL, '{');
  json_fields(j, fields_Request, &v);
  json_text(j, "state", state_name(v.state));
  put_lack(j, sched, of.id);
  put_wants(j, sched, of.id);
  json_end(j, '}');
  return PAI_OK;
}

listing facade_sched_request(Scheduler *s, uint64_t id, failure *f)
{
  return look(s, put_request, (subject){ id, 0 }, "there is no such request",
              f);
}

static int put_requests(json *j, const pai_sched *sched, subject of)
{
  json_begin(j, NULL, '[');
  while ((of.id = pai_sched_next(sched, of.id)) != 0)
    (void)put_request(j, sched, of);
  json_end(j, ']');
  return PAI_OK;
}

listing facade_sched_requests(Scheduler *s, failure *f)
{
  return look(s, put_requests, (subject){ 0, 0 }, NULL, f);
}

/* --- nodes and virtual clusters -------------------------------------------- */

static const char *node_state(int state)
{
  switch (state) {
  case PAI_NODE_UP: return "up";
  case PAI_NODE_DRAIN: return "drain";
  default: return "sick";
  }
}

static int put_node(json *j, const pai_sched *sched, subject of)
{
  pai_sched_node_view v = { .struct_size = sizeof(v) };
  int rc = pai_sched_view_node(sched, of.number, &v);

  if (rc < 0)
    return rc;
  json_begin(j, NULL, '{');
  json_number(j, "number", of.number);
  json_fields(j, fields_SchedNode, &v);
  json_text(j, "state", node_state(v.state));
  put_mask(j, "free_gpus", v.free_mask);
  put_mask(j, "sick_gpus", v.sick_mask);
  json_cpus(j, "free_cpus", (uint64_t)v.free_cpus * 1000 + v.free_cpu_millis);
  json_end(j, '}');
  return PAI_OK;
}

listing facade_sched_node(Scheduler *s, uint32_t node, failure *f)
{
  return look(s, put_node, (subject){ 0, node }, "there are fewer nodes", f);
}

static int put_nodes(json *j, const pai_sched *sched, subject of)
{
  json_begin(j, NULL, '[');
  while (put_node(j, sched, of) == PAI_OK)
    of.number++;
  json_end(j, ']');
  return PAI_OK;
}

listing facade_sched_nodes(Scheduler *s, failure *f)
{
  return look(s, put_nodes, (subject){ 0, 0 }, NULL, f);
}

static int put_vcs(json *j, const pai_sched *sched, subject of)
{
  pai_sched_vc_view v = { .struct_size = sizeof(v) };

  json_begin(j, NULL, '[');
  for (; pai_sched_view_vc(sched, of.number, &v) == PAI_OK; of.number++) {
    json_record(j, NULL, fields_SchedVirtualCluster, &v);
  }
  json_end(j, ']');
  return PAI_OK;
}

listing facade_sched_virtual_clusters(Scheduler *s, failure *f)
{
  return look(s, put_vcs, (subject){ 0, 0 }, NULL, f);
}

/* --- running instances --------------------------------------------------- */

static void put_instances(json *j, const pai_sched *sched, uint64_t id)
{
  uint32_t instance = PAI_SCHED_ALL;
  pai_time started = 0;

  while (pai_sched_next_running(sched, id, &instance, &started) == PAI_OK) {
    json_begin(j, NULL, '{');
    json_id(j, "id", id);
    json_number(j, "instance", instance);
    json_number(j, "started", started);
    json_end(j, '}');
  }
}

static int put_running(json *j, const pai_sched *sched, subject of)
{
  json_begin(j, NULL, '[');
  while ((of.id = pai_sched_next(sched, of.id)) != 0)
    put_instances(j, sched, of.id);
  json_end(j, ']');
  return PAI_OK;
}

listing facade_sched_running(Scheduler *s, failure *f)
{
  return look(s, put_running, (subject){ 0, 0 }, NULL, f);
}

/* Writes "0-3,8", the form that decisions use. */
static void put_cpus(json *j, const pai_task_place *p)
{
  char text[4096] = "";
  size_t len = 0, end = p->cpu_words * 64;

  for (size_t i = 0; i < end && len < sizeof(text) - 40; i++) {
    size_t first = i;

    while (i < end && (p->cpus[i / 64] >> (i % 64) & 1) != 0)
      i++;
    if (i == first)
      continue;
    len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%zu",
                            len > 0 ? "," : "", first);
    if (i - first > 1)
      len += (size_t)snprintf(text + len, sizeof(text) - len, "-%zu", i - 1);
  }
  json_some(j, "cpus", text);
}

static void put_place(json *j, const pai_sched *sched, uint64_t id,
                      const pai_task_place *p)
{
  pai_sched_node_view node = { .struct_size = sizeof(node) };
  pai_want want = { .struct_size = sizeof(want) };

  (void)pai_sched_view_node(sched, p->node, &node);
  (void)pai_sched_view_want(sched, id, p->want, &want);
  json_begin(j, NULL, '{');
  json_text(j, "name", want.name);
  json_fields(j, fields_Place, p);
  json_text(j, "node", node.name);
  put_mask(j, "gpus", p->gpus);
  put_cpus(j, p);
  json_begin(j, "ports", '[');
  for (size_t i = 0; i < p->nports; i++)
    json_number(j, NULL, p->ports[i]);
  json_end(j, ']');
  json_end(j, '}');
}

static int put_places(json *j, const pai_sched *sched, subject of)
{
  pai_task_place p = { .struct_size = sizeof(p) };
  uint32_t i = 0;

  json_begin(j, NULL, '[');
  for (; pai_sched_task(sched, of.id, of.number, i, &p) == PAI_OK; i++)
    put_place(j, sched, of.id, &p);
  json_end(j, ']');
  return i > 0 ? PAI_OK : PAI_ENOTFOUND;
}

listing facade_sched_places(Scheduler *s, uint64_t id, uint32_t instance,
                            failure *f)
{
  return look(s, put_places, (subject){ id, instance },
              "that instance holds no place", f);
}
