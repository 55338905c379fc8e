/*
 * kube.c - GET /kubernetes/nodes and /kubernetes/pods: this machine and its
 * tasks in the form of Kubernetes' lists, for clients that know those
 */
#include "server/seen.h"
#include "server/selector.h"

#include <stdio.h>
#include <time.h>

#define NAMESPACE "default"

static void key(pai__json_writer *w, const char *name)
{
  pai__json_key(w, name, strlen(name));
}

static void text(pai__json_writer *w, const char *name, const char *value)
{
  key(w, name);
  pai__json_text(w, value, strlen(value));
}

static void begin(pai__json_writer *w, const char *name)
{
  key(w, name);
  pai__json_begin_object(w);
}

/* "2026-01-02T03:04:05Z" */
static void date(pai__json_writer *w, const char *name, pai_time time)
{
  time_t seconds = (time_t)(time / 1000000);
  char out[40];
  struct tm tm;

  (void)gmtime_r(&seconds, &tm);
  (void)strftime(out, sizeof(out), "%Y-%m-%dT%H:%M:%SZ", &tm);
  text(w, name, out);
}

/* Quantities of resources. */
static void resources(pai__json_writer *w, const char *name, int64_t cpus,
                      int64_t memory, int64_t gpus)
{
  char number[40];

  begin(w, name);
  (void)snprintf(number, sizeof(number), "%lld", (long long)cpus);
  text(w, "cpu", number);
  (void)snprintf(number, sizeof(number), "%lldKi", (long long)(memory >> 10));
  text(w, "memory", number);
  (void)snprintf(number, sizeof(number), "%lld", (long long)gpus);
  text(w, "nvidia.com/gpu", number);
  pai__json_end_object(w);
}

static void condition(pai__json_writer *w, const char *type, bool is)
{
  pai__json_begin_object(w);
  text(w, "type", type);
  text(w, "status", is ? "True" : "False");
  pai__json_end_object(w);
}

/* A list of one kind; ended by end_list(). */
static void begin_list(pai__json_writer *w, const char *kind)
{
  pai__json_begin_object(w);
  text(w, "kind", kind);
  text(w, "apiVersion", "v1");
  begin(w, "metadata");
  pai__json_end_object(w);
  key(w, "items");
  pai__json_begin_array(w);
}

static void end_list(pai__json_writer *w)
{
  pai__json_end_array(w);
  pai__json_end_object(w);
}

/* --- nodes ------------------------------------------------------------------------ */

static void address(pai__json_writer *w, const char *type, const char *value)
{
  pai__json_begin_object(w);
  text(w, "type", type);
  text(w, "address", value);
  pai__json_end_object(w);
}

static void write_node(pai__json_writer *w, const pai__seen_machine *m)
{
  pai__json_begin_object(w);
  begin(w, "metadata");
  text(w, "name", m->name);
  begin(w, "labels");
  text(w, "kubernetes.io/hostname", m->name);
  text(w, "pai-worker", "true");
  pai__json_end_object(w);
  pai__json_end_object(w);
  begin(w, "spec");
  pai__json_end_object(w);
  begin(w, "status");
  resources(w, "capacity", m->cpus, m->memory, m->gpus);
  resources(w, "allocatable", m->cpus, m->memory, m->gpus - m->sick_gpus);
  key(w, "conditions");
  pai__json_begin_array(w);
  condition(w, "Ready", true);
  condition(w, "DiskPressure", m->trouble != NULL);
  condition(w, "MemoryPressure", false);
  pai__json_end_array(w);
  key(w, "addresses");
  pai__json_begin_array(w);
  address(w, "InternalIP", m->ip);
  address(w, "Hostname", m->name);
  pai__json_end_array(w);
  pai__json_end_object(w);
  pai__json_end_object(w);
}

static void do_nodes(pai__request *r)
{
  pai_error *err = NULL;
  pai__seen_machine machine;
  int rc = pai__seen_machine_read(&machine, r->server, &err);

  if (rc == PAI_OK) {
    pai__json_writer_init(&r->json, &r->answer, false);
    begin_list(&r->json, "NodeList");
    write_node(&r->json, &machine);
    end_list(&r->json);
    pai__answer_json(r, 200);
  } else {
    pai__answer_failure(r, rc, err);
  }
  pai__seen_machine_dispose(&machine);
}

/* --- pods ------------------------------------------------------------------------- */

static const char *phase_of(const pai_task_view *t)
{
  switch (t->state) {
  case PAI_STATE_SUCCEEDED: return "Succeeded";
  case PAI_STATE_FAILED:
  case PAI_STATE_STOPPED: return "Failed";
  default: return t->started != 0 ? "Running" : "Pending";
  }
}

/* What labels and names are told of a task. */
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

  begin(w, "metadata");
  text(w, "name", p->name);
  text(w, "namespace", NAMESPACE);
  if (t->id != NULL)
    text(w, "uid", t->id);
  date(w, "creationTimestamp", t->created);
  begin(w, "labels");
  labels_of(p, labels);
  for (size_t i = 0; i < LABELS; i++)
    text(w, labels[i][0], labels[i][1]);
  pai__json_end_object(w);
  pai__json_end_object(w);
}

static void write_pod_spec(pai__json_writer *w, const pai_task_view *t)
{
  begin(w, "spec");
  if (t->node != NULL)
    text(w, "nodeName", t->node);
  text(w, "restartPolicy", "Never");
  key(w, "hostNetwork");
  pai__json_bool(w, true);
  key(w, "containers");
  pai__json_begin_array(w);
  pai__json_begin_object(w);
  text(w, "name", "app");
  text(w, "image", t->image != NULL ? t->image : "");
  begin(w, "resources");
  resources(w, "limits", t->cpus, (int64_t)t->memory, t->wants_gpus);
  resources(w, "requests", t->cpus, (int64_t)t->memory, t->wants_gpus);
  pai__json_end_object(w);
  pai__json_end_object(w);
  pai__json_end_array(w);
  pai__json_end_object(w);
}

static void write_pod_status(pai__json_writer *w, const pai_task_view *t)
{
  begin(w, "status");
  text(w, "phase", phase_of(t));
  if (t->ip != NULL) {
    text(w, "hostIP", t->ip);
    text(w, "podIP", t->ip);
  }
  if (t->started != 0)
    date(w, "startTime", t->started);
  key(w, "conditions");
  pai__json_begin_array(w);
  condition(w, "PodScheduled", t->node != NULL);
  condition(w, "Initialized", t->node != NULL);
  condition(w, "Ready", t->started != 0 && t->state <= PAI_STATE_STOPPING);
  pai__json_end_array(w);
  pai__json_end_object(w);
}

/* Is it wanted?  1; 0; PAI_EINVAL: a selector is none. */
static int is_selected(const pai__request *r, pod *p)
{
  const char *labels = pai__request_query(r, "labelSelector");
  const char *fields = pai__request_query(r, "fieldSelector");
  int rc = labels != NULL ? pai__select(labels, false, label, p) : 1;
  int more = fields != NULL ? pai__select(fields, true, field, p) : 1;

  return rc < 0 || more < 0 ? PAI_EINVAL : rc & more;
}

/* Also where there is nothing that it could select. */
static bool check_selectors(pai__request *r)
{
  const pai_task_view none = {
    .framework = "", .role = "", .name = "", .user = ""
  };
  pod p = pod_of(&none);

  if (is_selected(r, &p) >= 0)
    return true;
  pai__answer_error(r, 400, "InvalidParametersError",
                    "labelSelector is like \"a=b,c!=d,e in (f,g),h,!i\"; "
                    "fieldSelector is \"a=b,c!=d\" of metadata.name and "
                    "namespace, spec.nodeName and restartPolicy, status.phase "
                    "and podIP.");
  return false;
}

static void do_pods(pai__request *r)
{
  const char *space = pai__request_query(r, "namespace");
  bool all = space == NULL || strcmp(space, NAMESPACE) == 0;
  pai__json_writer *w = &r->json;
  pai_error *err = NULL;
  pai__seen_tasks tasks;
  int rc;

  if (!check_selectors(r))
    return;
  rc = pai__seen_tasks_read(&tasks, r->server, &err);
  if (rc == PAI_OK) {
    pai__json_writer_init(w, &r->answer, false);
    begin_list(w, "PodList");
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
    end_list(w);
    pai__answer_json(r, 200);
  } else {
    pai__answer_failure(r, rc, err);
  }
  pai__seen_tasks_dispose(&tasks);
}

/* --- answers --- */

/* As Kubernetes has them: what of each is told is in its own reference. */
static const pai__field list_fields[] = { PAI__HAS(TEXT, "kind"),
                                          PAI__HAS(TEXT, "apiVersion"),
                                          PAI__HAS(OBJECT, "metadata"),
                                          PAI__HAS(LIST, "items"),
                                          { 0 } };

static const pai__shape list_shape = { "KubernetesList", list_fields };

static const pai__result nodes = { .kind = PAI__IS_OBJECT,
                                   .shape = &list_shape };

static const pai__result pods = { .kind = PAI__IS_OBJECT,
                                  .shape = &list_shape };

/* --- queries --- */

static const pai__field pod_queries[] = {
  PAI__TAKES(TEXT, "namespace", "of this namespace: all are in \"default\""),
  PAI__TAKES(TEXT, "labelSelector",
             "as Kubernetes has it: \"a=b,c!=d,e in "
             "(f,g),h,!i\""),
  PAI__TAKES(TEXT, "fieldSelector",
             "\"a=b,c!=d\" of metadata.name and namespace, spec.nodeName and "
             "restartPolicy, status.phase and podIP"),
  { 0 }
};

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/kubernetes/nodes /api/v1/kubernetes/nodes",
    .packs = true,
    .handle = do_nodes,
    .right = PAI__OF_ADMIN,
    .result = &nodes,
    .summary = "List nodes, as a Kubernetes list" },
  { .method = "GET",
    .path = "/api/v2/kubernetes/pods /api/v1/kubernetes/pods",
    .packs = true,
    .handle = do_pods,
    .right = PAI__OF_ADMIN,
    .result = &pods,
    .queries = pod_queries,
    .summary = "List tasks, as a Kubernetes list of pods",
    .errors = "400 InvalidParametersError" },
};

const pai__routes pai__kube_routes = { routes, PAI__LEN(routes) };
