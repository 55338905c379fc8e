/* scene.c - a scheduler to play with, in few words */
#include "scene.h"

#include <inttypes.h>
#include <stdio.h>

static char text[4096];

pai_cluster *scene_cluster(const char *description, const pai_alloc *alloc)
{
  pai_cluster_options co = PAI_CLUSTER_OPTIONS_INIT;
  bool one_line = strchr(description, '\n') == NULL;
  pai_cluster *c = NULL;
  pai_error *err = NULL;
  int rc;

  co.alloc = alloc;
  if (one_line && strstr(description, "nodes:") != NULL)
    rc = pai_cluster_synthetic(&c, description, &co, &err);
  else
    rc = pai_cluster_parse(&c, description, strlen(description), &co, &err);
  if (rc < 0 && rc != PAI_ENOMEM)
    fail_msg("%s\n%s", pai_error_message(err), description);
  pai_error_free(err);
  return c;
}

int scene_set_cluster(pai_sched *s, const char *description, pai_error **err)
{
  pai_cluster *c = scene_cluster(description, NULL);
  int rc = scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c }, err);

  pai_cluster_free(c);
  return rc;
}

pai_sched *scene_new(const char *description, const char *policy,
                     const char *options, const pai_alloc *alloc)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_cluster *cluster = scene_cluster(description, alloc);
  pai_sched *s = NULL;

  if (cluster == NULL)
    return NULL;
  o.alloc = alloc;
  o.policy = policy;
  o.policy_options = options;
  o.first_port = 20000;
  o.last_port = 20009;
  if (pai_sched_new(&s, cluster, &o, NULL) < 0)
    assert_null(s);
  pai_cluster_free(cluster);
  return s;
}

pai_time scene_now(const pai_sched *s)
{
  pai_sched_view view = { .struct_size = sizeof(view) };

  assert_ok(pai_sched_view_sums(s, &view));
  return view.now;
}

int scene_event(pai_sched *s, pai_sched_event event, pai_error **err)
{
  event.struct_size = sizeof(event);
  if (event.time == 0)
    event.time = scene_now(s);
  return pai_sched_send(s, &event, err);
}

int scene_request(pai_sched *s, const pai_request *request, pai_error **err)
{
  pai_request r = *request;

  r.struct_size = sizeof(r);
  return scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_SUBMIT, .request = &r }, err);
}

pai_want scene_want(uint32_t tasks, uint32_t gpus)
{
  return (pai_want){
    .struct_size = sizeof(pai_want), .tasks = tasks, .gpus = gpus, .cpus = 1
  };
}

int scene_submit(pai_sched *s, uint64_t id, uint32_t tasks, uint32_t gpus)
{
  pai_want want = scene_want(tasks, gpus);

  return scene_request(
    s, &(pai_request){ .id = id, .wants = &want, .nwants = 1 }, NULL);
}

int scene_submit_to(pai_sched *s, uint64_t id, const char *vc, uint32_t tasks,
                    uint32_t gpus, int priority)
{
  pai_want want = scene_want(tasks, gpus);

  return scene_request(
    s,
    &(pai_request){
      .id = id, .vc = vc, .priority = priority, .wants = &want, .nwants = 1 },
    NULL);
}

int scene_finish(pai_sched *s, uint64_t id)
{
  return scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_FINISHED, .id = id }, NULL);
}

int scene_returned(pai_sched *s, uint64_t id)
{
  return scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_RETURNED, .id = id }, NULL);
}

int scene_cancel(pai_sched *s, uint64_t id)
{
  return scene_event(s,
                     (pai_sched_event){ .kind = PAI_SCHED_CANCEL,
                                        .id = id,
                                        .instance = PAI_SCHED_ALL },
                     NULL);
}

int scene_change(pai_sched *s, uint64_t id, const char *key, int64_t number)
{
  return scene_event(
    s,
    (pai_sched_event){
      .kind = PAI_SCHED_CHANGE, .id = id, .key = key, .number = number },
    NULL);
}

static size_t add_decision(size_t at, const pai_decision *d)
{
  static const char *const kinds[] = { "", "start", "stop", "grow", "shrink" };
  static const char *const causes[] = { "", " preempted", " cancelled",
                                        " limit" };
  char instance[16] = "", tasks[16] = "";

  if (d->instance != 0)
    (void)snprintf(instance, sizeof(instance), ".%u", d->instance);
  if (d->kind >= PAI_DECISION_GROW)
    (void)snprintf(tasks, sizeof(tasks), " to %u", d->tasks);
  return at + (size_t)snprintf(text + at, sizeof(text) - at,
                               "%s%s %" PRIu64 "%s%s%s", at != 0 ? ", " : "",
                               kinds[d->kind], d->id, instance, tasks,
                               causes[d->cause]);
}

const char *scene_decide(pai_sched *s)
{
  const char *decisions;

  (void)scene_try_decide(s, &decisions);
  return decisions;
}

int scene_try_decide(pai_sched *s, const char **decisions)
{
  pai_decision d = { .struct_size = sizeof(d) };
  pai_error *err = NULL;
  size_t at = 0;
  int n = pai_sched_decide(s, scene_now(s), &err);

  text[0] = '\0';
  *decisions = text;
  if (n < 0) {
    (void)snprintf(text, sizeof(text), "%s", pai_error_message(err));
    pai_error_free(err);
    return n;
  }
  for (int i = 0; i < n; i++) {
    assert_ok(pai_sched_decision(s, (size_t)i, &d));
    at = add_decision(at, &d);
  }
  assert_int_equal(pai_sched_decision(s, (size_t)n, &d), PAI_ENOTFOUND);
  return n;
}

const char *scene_places(const pai_sched *s, uint64_t id, uint32_t instance)
{
  pai_task_place p = { .struct_size = sizeof(p) };
  size_t at = 0;

  text[0] = '\0';
  for (uint32_t t = 0; pai_sched_task(s, id, instance, t, &p) == PAI_OK; t++)
    at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u:%" PRIx64,
                           t != 0 ? " " : "", p.node, p.gpus);
  return text;
}

const char *scene_lack(const pai_sched *s, uint64_t id)
{
  pai_reason r = { .struct_size = sizeof(r) };

  return pai_sched_reason(s, id, &r) == PAI_OK ? pai_lack_name(r.lack) : "";
}

int scene_reserve(pai_sched *s, pai_reservation r, pai_error **err)
{
  r.struct_size = sizeof(r);
  return scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_RESERVE, .reservation = &r }, err);
}

int scene_unreserve(pai_sched *s, const char *name)
{
  return scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_UNRESERVE, .text = name }, NULL);
}
