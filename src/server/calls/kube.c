/*
 * kube.c - GET /kubernetes/nodes and /kubernetes/pods: this machine and its
 * tasks in the form of Kubernetes' lists
 */
#include "server/monitor/observed.h"

#include "base/date.h"
#include "server/calls/selector.h"

#include <stdio.h>

#define NAMESPACE "default"

static void date(pai__json_writer *w, const char *name, pai_time time)
{
  char out[PAI__TIME_TEXT];

  pai__json_put_text(w, name, pai__time_text(out, time / 1000000, "Z"));
}

/* Writes quantities of resources. */
static void resources(pai__json_writer *w, const char *name, uint64_t milli,
                      int64_t memory, int64_t gpus)
{
  char number[40];

  pai__json_put_object(w, name);
  (void)snprintf(
    number, sizeof(number), milli % 1000 == 0 ? "%llu" : "%llum",
    (unsigned long long)(milli % 1000 == 0 ? milli / 1000 : milli));
  pai__json_put_text(w, "cpu", number);
  (void)snprintf(number, sizeof(number), "%lldKi", (long long)(memory >> 10));
  pai__json_put_text(w, "memory", number);
  (void)snprintf(number, sizeof(number), "%lld", (long long)gpus);
  pai__json_put_text(w, "nvidia.com/gpu", number);
  pai__json_end_object(w);
}

static void condition(pai__json_writer *w, const char *type, bool is)
{
  pai__json_write(w, "{type:s,status:s}", type, is ? "True" : "False");
}

static const char list[] = "{kind:s,apiVersion:s,metadata:{},items:[";

/* --- nodes --------------------------------------------------------------- */

static void write_node(pai__json_writer *w, const pai__observed_machine *m)
{
  pai__json_write(w,
                  "{metadata:{name:s,labels:{kubernetes.io/hostname:s,"
                  "pai-worker:s}},spec:{},status:{",
                  m->name, m->name, "true");
  resources(w, "capacity", (uint64_t)m->cpus * 1000, m->memory, m->gpus);
  resources(w, "allocatable", (uint64_t)m->cpus * 1000, m->memory,
            m->gpus - m->sick_gpus);
  pai__json_put_array(w, "conditions");
  condition(w, "Ready", true);
  condition(w, "DiskPressure", m->trouble != NULL);
  condition(w, "MemoryPressure", false);
  pai__json_write(w, "],addresses:[{type:s,address:s},{type:s,address:s}]}}",
                  "InternalIP", m->ip, "Hostname", m->name);
}

void pai__do_kubernetes_nodes(pai__request *r)
{
  pai__observed_machine machine;
  int rc = pai__observed_machine_read(&machine, r->server, &r->err);

  if (rc == PAI_OK) {
    pai__json_writer_init(&r->json, &r->answer, false);
    pai__json_write(&r->json, list, "NodeList", "v1");
    write_node(&r->json, &machine);
    pai__json_write(&r->json, "]}");
    pai__answer_json(r, 200);
  } else {
    pai__answer_failure(r, rc);
  }
  pai__observed_machine_dispose(&machine);
}

/* --- pods ---------------------------------------------------------------- */

static const char *phase_of(const pai_task_view *t)
{
  switch (t->state) {
  case PAI_STATE_SUCCEEDED: return "Succeeded";
  case PAI_STATE_FAILED:
  case PAI_STATE_STOPPED: return "Failed";
  default: return t->started != 0 ? "Running" : "Pending";
  }
}

/* A task as labels and field selectors see it. */
typedef struct pod {
  const pai_task_view *task;
  char name[600], index[16];
} pod;

static pod pod_of(const pai_task_view *t)
{
  pod p = { .task = t };

  (void)snprintf(p.name, sizeof(p.name), "%s-%s-%u", t->framework, t->role,
                 t->index);
  (void)snprintf(p.index, sizeof(p.index), "%u", t->index);
  return p;
}

enum { LABELS = 7 };

static void labels_of(const pod *p, const char *labels[LABELS][2])
{
  const pai_task_view *t = p->task;
  const char *of[LABELS][2] = {
    { "FC_FRAMEWORK_NAME", t->framework },
    { "FC_TASKROLE_NAME", t->role },
    { "FC_TASK_INDEX", p->index },
    { "jobName", t->name },
    { "userName", t->user },
    { "virtualCluster",
      t->virtual_cluster != NULL ? t->virtual_cluster : "default" },
    { "type", "kube-launcher-task" },
  };

  memcpy(labels, of, sizeof(of));
}

static const char *find(const char *const (*rows)[2], size_t n,
                        const char *name, size_t len)
{
  for (size_t i = 0; i < n; i++)
    if (strlen(rows[i][0]) == len && memcmp(rows[i][0], name, len) == 0)
      return rows[i][1];
  return NULL;
}

static const char *label(void *user_data, const char *name, size_t len)
{
  const char *labels[LABELS][2];

  labels_of(user_data, labels);
  return find((const char *const(*)[2])labels, LABELS, name, len);
}

static const char *field(void *user_data, const char *name, size_t len)
{
  const pod *p = user_data;
  const pai_task_view *t = p->task;
  const char *const fields[][2] = {
    { "metadata.name", p->name },
    { "metadata.namespace", NAMESPACE },
    { "spec.nodeName", t->node != NULL ? t->node : "" },
    { "spec.restartPolicy", "Never" },
    { "status.phase", phase_of(t) },
    { "status.podIP", t->ip != NULL ? t->ip : "" },
  };

  return find(fields, PAI__LEN(fields), name, len);
}

static void write_metadata(pai__json_writer *w, const pod *p)
{
  const pai_task_view *t = p->task;
  const char *labels[LABELS][2];

  pai__json_write(w, "metadata:{name:s,namespace:s", p->name, NAMESPACE);
  pai__json_put_known(w, "uid", t->id);
  date(w, "creationTimestamp", t->created);
  pai__json_put_object(w, "labels");
  labels_of(p, labels);
  for (size_t i = 0; i < LABELS; i++)
    pai__json_put_text(w, labels[i][0], labels[i][1]);
  pai__json_write(w, "}}");
}

static void write_pod_spec(pai__json_writer *w, const pai_task_view *t)
{
  uint64_t milli =
    t->milli_cpus != 0 ? t->milli_cpus : (uint64_t)t->cpus * 1000;

  pai__json_put_object(w, "spec");
  pai__json_put_known(w, "nodeName", t->node);
  pai__json_write(w,
                  "restartPolicy:s,hostNetwork:true,containers:[{name:s,"
                  "image:s,resources:{",
                  "Never", "app", t->image != NULL ? t->image : "");
  resources(w, "limits", milli, (int64_t)t->memory, t->wants_gpus);
  resources(w, "requests", milli, (int64_t)t->memory, t->wants_gpus);
  pai__json_write(w, "}}]}");
}

static void write_pod_status(pai__json_writer *w, const pai_task_view *t)
{
  pai__json_write(w, "status:{phase:s", phase_of(t));
  pai__json_put_known(w, "hostIP", t->ip);
  pai__json_put_known(w, "podIP", t->ip);
  if (t->started != 0)
    date(w, "startTime", t->started);
  pai__json_put_array(w, "conditions");
  condition(w, "PodScheduled", t->node != NULL);
  condition(w, "Initialized", t->node != NULL);
  condition(w, "Ready", t->started != 0 && t->state <= PAI_STATE_STOPPING);
  pai__json_write(w, "]}");
}

/* Returns 1 if the pod is selected, 0 if not, PAI_EINVAL for an invalid
 * selector. */
static int is_selected(const pai__request *r, pod *p)
{
  const char *labels = pai__request_query(r, "labelSelector");
  const char *fields = pai__request_query(r, "fieldSelector");
  int rc = labels != NULL ? pai__select(labels, false, label, p) : 1;
  int more = fields != NULL ? pai__select(fields, true, field, p) : 1;

  return rc < 0 || more < 0 ? PAI_EINVAL : rc & more;
}

/* Checks the selectors even if there are no pods. */
static bool check_selectors(pai__request *r)
{
  const pai_task_view none = {
    .framework = "", .role = "", .name = "", .user = ""
  };
  pod p = pod_of(&none);

  if (is_selected(r, &p) >= 0)
    return true;
  pai__answer_error(
    r, 400, "InvalidParametersError",
    "Invalid selector. Examples: labelSelector \"a=b,c!=d,e in (f,g),h,!i\"; "
    "fieldSelector \"a=b,c!=d\" over metadata.name, metadata.namespace, "
    "spec.nodeName, spec.restartPolicy, status.phase and status.podIP.");
  return false;
}

void pai__do_kubernetes_pods(pai__request *r)
{
  const char *space = pai__request_query(r, "namespace");
  bool all = space == NULL || strcmp(space, NAMESPACE) == 0;
  pai__json_writer *w = &r->json;
  pai__observed_tasks tasks;
  int rc;

  if (!check_selectors(r))
    return;
  rc = pai__observed_tasks_read(&tasks, r->server, &r->err);
  if (rc == PAI_OK) {
    pai__json_writer_init(w, &r->answer, false);
    pai__json_write(w, list, "PodList", "v1");
    for (size_t i = 0; all && i < tasks.n; i++) {
      pod p = pod_of(&tasks.at[i]);

      if (is_selected(r, &p) != 1)
        continue;
      pai__json_begin_object(w);
      write_metadata(w, &p);
      write_pod_spec(w, &tasks.at[i]);
      write_pod_status(w, &tasks.at[i]);
      pai__json_end_object(w);
    }
    pai__json_write(w, "]}");
    pai__answer_json(r, 200);
  } else {
    pai__answer_failure(r, rc);
  }
  pai__observed_tasks_dispose(&tasks);
}
