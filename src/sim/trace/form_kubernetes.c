/* form_kubernetes.c - traces of Kubernetes: jobs, pods and Kueue's workloads
 * in kubectl's JSON */
#include "resource/cluster/kubernetes.h"
#include "sim/trace/documents.h"
#include "sim/trace/forms.h"

/* --- resources of a pod -------------------------------------------------- */

static pai__slice value_of(const pai__tree *tree, pai__node n, const char *key)
{
  pai__slice none = { NULL, 0 };

  if (n == PAI__NO_NODE || pai__tree_type(tree, n) != PAI__MAPPING)
    return none;
  n = pai__tree_get(tree, n, key);
  return n != PAI__NO_NODE ? pai__string_at(tree, n, "") : none;
}

/* Reads a quantity that is a string or a number. */
static uint64_t amount(const pai__tree *tree, pai__node n, bool milli)
{
  const pai__tree_node *node = pai__tree_at(tree, n);
  pai__slice text = pai__string_at(tree, n, "");
  uint64_t value;

  if (text.s == NULL)
    text = (pai__slice){ tree->text + node->start,
                         (size_t)(node->end - node->start) };
  return pai__quantity_parse(&value, text.s, text.len, milli) ? value : 0;
}

typedef struct pai__pod_needs {
  uint64_t gpus, milli_cpus, memory;
} pai__pod_needs;

static void add_needs(pai__pod_needs *needs, const pai__tree *tree,
                      pai__node list, bool only_gpus)
{
  pai__tree_walk walk;
  pai__node key;

  if (list == PAI__NO_NODE || pai__tree_type(tree, list) != PAI__MAPPING)
    return;
  walk = pai__tree_iter(tree, list);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node value = pai__tree_value(tree, key);
    pai__piece name;

    name.s = pai__tree_str(tree, key, &name.len);
    if (pai__kube_is_gpu(name))
      needs->gpus += amount(tree, value, false);
    else if (!only_gpus && name.len == 3 && memcmp(name.s, "cpu", 3) == 0)
      needs->milli_cpus += amount(tree, value, true);
    else if (!only_gpus && name.len == 6 && memcmp(name.s, "memory", 6) == 0)
      needs->memory += amount(tree, value, false);
  }
}

/* GPU limits and requests are equal, and one of them may be missing. */
static void add_container(pai__pod_needs *needs, const pai__tree *tree,
                          pai__node container)
{
  pai__pod_needs limits = { 0, 0, 0 }, requests = { 0, 0, 0 };

  add_needs(&limits, tree, pai__at(tree, container, "resources.limits"),
            false);
  add_needs(&requests, tree, pai__at(tree, container, "resources.requests"),
            false);
  needs->gpus += limits.gpus > requests.gpus ? limits.gpus : requests.gpus;
  needs->milli_cpus +=
    requests.milli_cpus > 0 ? requests.milli_cpus : limits.milli_cpus;
  needs->memory += requests.memory > 0 ? requests.memory : limits.memory;
}

static uint32_t narrow(uint64_t n)
{
  return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Makes a want of `tasks` pods of a spec. */
static pai__draft_want want_of(const pai__tree *tree, pai__node spec,
                               int64_t tasks)
{
  static const char *const products[] = { "nvidia.com/gpu.product",
                                          "cloud.google.com/gke-accelerator",
                                          "amd.com/gpu.product-name" };
  pai__draft_want want = { .tasks = tasks > 0 && tasks < INT32_MAX
                                      ? (uint32_t)tasks
                                      : 0 };
  pai__pod_needs needs = { 0, 0, 0 };
  pai__tree_walk walk;
  pai__node n;

  if (pai__list_at(tree, spec, "containers", &walk))
    while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
      add_container(&needs, tree, n);
  want.gpus = narrow(needs.gpus);
  want.cpus = narrow((needs.milli_cpus + 999) / 1000);
  want.memory = needs.memory;
  for (size_t i = 0; i < PAI__LEN(products) && want.type.s == NULL; i++)
    if (want.gpus > 0)
      want.type =
        value_of(tree, pai__at(tree, spec, "nodeSelector"), products[i]);
  return want;
}

/* --- times and end ------------------------------------------------------- */

typedef struct pai__kube_run {
  pai_time start, end; /* -1: not known */
  int code;
} pai__kube_run;

/* Returns the condition of a type if its status is "True". */
static pai__node condition(const pai__tree *tree, const char *type)
{
  pai__tree_walk walk;
  pai__node n;

  if (!pai__list_at(tree, 0, "status.conditions", &walk))
    return PAI__NO_NODE;
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (pai__text_is(pai__string_at(tree, n, "type"), type) &&
        pai__text_is(pai__string_at(tree, n, "status"), "True"))
      return n;
  return PAI__NO_NODE;
}

static pai_time date_or_none(const pai__tree *tree, pai__node n,
                             const char *path)
{
  pai_time time;

  return n != PAI__NO_NODE && pai__date_at(tree, n, path, &time) ? time : -1;
}

static pai__kube_run run_of_job(const pai__tree *tree)
{
  pai__node failed = condition(tree, "Failed");
  pai__kube_run run = { date_or_none(tree, 0, "status.startTime"),
                        date_or_none(tree, 0, "status.completionTime"), 0 };

  if (failed == PAI__NO_NODE)
    return run;
  if (run.end == -1)
    run.end = date_or_none(tree, failed, "lastTransitionTime");
  run.code =
    pai__text_is(pai__string_at(tree, failed, "reason"), "DeadlineExceeded")
      ? PAI__CODE_TIMEOUT
      : PAI__CODE_FAILED;
  return run;
}

static pai__kube_run run_of_workload(const pai__tree *tree)
{
  pai__node done = condition(tree, "Finished");
  pai__node admitted = condition(tree, "Admitted");
  pai__kube_run run;

  run.start = date_or_none(tree, admitted, "lastTransitionTime");
  run.end = date_or_none(tree, done, "lastTransitionTime");
  run.code = done != PAI__NO_NODE &&
                 pai__text_is(pai__string_at(tree, done, "reason"), "Failed")
               ? PAI__CODE_FAILED
               : 0;
  return run;
}

static pai__kube_run run_of_pod(const pai__tree *tree)
{
  pai__kube_run run = { date_or_none(tree, 0, "status.startTime"), -1, 0 };
  pai__tree_walk walk;
  pai__node n;
  int64_t code;

  if (pai__text_is(pai__string_at(tree, 0, "status.phase"), "Failed"))
    run.code = PAI__CODE_FAILED;
  if (!pai__list_at(tree, 0, "status.containerStatuses", &walk))
    return run;
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node over = pai__at(tree, n, "state.terminated");
    pai_time end = date_or_none(tree, over, "finishedAt");

    if (over == PAI__NO_NODE) { /* a container still runs */
      run.end = -1;
      return run;
    }
    if (end > run.end)
      run.end = end;
    if (pai__number_at(tree, over, "exitCode", &code) && code > 0 &&
        code < 256)
      run.code = (int)code;
  }
  return run;
}

/* --- records ------------------------------------------------------------- */

static void add_texts(pai__draft *d, const pai__tree *tree)
{
  pai__node labels = pai__at(tree, 0, "metadata.labels");
  pai__slice queue = pai__string_at(tree, 0, "status.admission.clusterQueue");

  if (queue.s == NULL)
    queue = pai__string_at(tree, 0, "spec.queueName");
  if (queue.s == NULL)
    queue = value_of(tree, labels, "kueue.x-k8s.io/queue-name");
  if (queue.s == NULL)
    queue = pai__string_at(tree, 0, "metadata.namespace");
  d->texts[PAI__TEXT_VC] = queue;
  d->texts[PAI__TEXT_NAME] = pai__string_at(tree, 0, "metadata.name");
  d->texts[PAI__TEXT_ID] = pai__string_at(tree, 0, "metadata.uid");
  if (d->texts[PAI__TEXT_ID].s == NULL)
    d->texts[PAI__TEXT_ID] = d->texts[PAI__TEXT_NAME];
  d->texts[PAI__TEXT_USER] = value_of(tree, labels, "user");
}

static void set_priority(pai_trace *t, const pai__tree *tree, uint64_t line)
{
  int64_t priority;

  if (!pai__number_at(tree, 0, "spec.priority", &priority))
    return;
  if (priority > PAI_SCHED_MAX_PRIORITY ||
      priority < PAI_SCHED_OPPORTUNISTIC) {
    priority = priority < 0 ? PAI_SCHED_OPPORTUNISTIC : PAI_SCHED_MAX_PRIORITY;
    pai__trace_alter(
      t, line,
      "the priority is not from -1 to 1000: the nearest value is used");
  }
  t->draft.priority = (int)priority;
}

static void add_pod_sets(pai_trace *t, const pai__tree *tree,
                         pai__tree_walk *sets)
{
  pai__node n;

  while ((n = pai__tree_next(sets)) != PAI__NO_NODE) {
    pai__draft_want want;
    int64_t count = 1, least;

    (void)pai__number_at(tree, n, "count", &count);
    want = want_of(tree, pai__at(tree, n, "template.spec"), count);
    want.name = pai__string_at(tree, n, "name");
    if (pai__number_at(tree, n, "minCount", &least) && least > 0 &&
        least <= (int64_t)want.tasks)
      want.min_tasks = (uint32_t)least;
    if (want.tasks > 0)
      pai__draft_add_want(t, &want);
  }
}

static void add_job_wants(pai_trace *t, const pai__tree *tree)
{
  int64_t parallel = 1, completions;
  pai__draft_want want;

  (void)pai__number_at(tree, 0, "spec.parallelism", &parallel);
  if (pai__number_at(tree, 0, "spec.completions", &completions) &&
      completions < parallel)
    parallel = completions;
  want = want_of(tree, pai__at(tree, 0, "spec.template.spec"), parallel);
  pai__draft_add_want(t, &want);
}

static int put_run(pai_trace *t, const pai__kube_run *run, uint64_t line,
                   pai_error **err)
{
  if (run->end == -1)
    return pai__trace_not_ended(t, line, err);
  pai__draft_ran(t, line, run->start, run->end, run->code);
  return pai__trace_put(t, line, err);
}

int pai__kubernetes_put(pai_trace *t, const pai__tree *tree, uint64_t line,
                        pai_error **err)
{
  pai__draft *d = &t->draft;
  pai__draft_want want;
  pai__kube_run run;
  pai__tree_walk sets;
  int64_t seconds;

  pai__draft_clear(d);
  if (!pai__date_at(tree, 0, "metadata.creationTimestamp", &d->time))
    return pai__trace_skip(t, line, err,
                           "\"metadata\" has no \"creationTimestamp\"");
  add_texts(d, tree);
  if (pai__number_at(tree, 0, "spec.activeDeadlineSeconds", &seconds) &&
      seconds > 0 && seconds < PAI__MOST_TIME / 1000000)
    d->limit = seconds * 1000000;
  set_priority(t, tree, line);
  if (pai__list_at(tree, 0, "spec.podSets", &sets)) {
    run = run_of_workload(tree);
    add_pod_sets(t, tree, &sets);
  } else if (pai__at(tree, 0, "spec.template.spec") != PAI__NO_NODE) {
    run = run_of_job(tree);
    add_job_wants(t, tree);
  } else if (pai__at(tree, 0, "spec.containers") != PAI__NO_NODE) {
    run = run_of_pod(tree);
    want = want_of(tree, pai__at(tree, 0, "spec"), 1);
    pai__draft_add_want(t, &want);
  } else {
    return pai__trace_skip(
      t, line, err, "the element is not a job, a pod or a Kueue workload");
  }
  return put_run(t, &run, line, err);
}
