/* form_kubernetes.c - jobs, pods, and Kueue's workloads, as kubectl prints them
 * in JSON */
#include "resource/kubernetes.h"
#include "sim/documents.h"
#include "sim/forms.h"

/* --- what a pod asks for ------------------------------------------------------ */

static pai__slice value_of(const pai__tree *tree, pai__node n, const char *key)
{
  pai__slice none = { NULL, 0 };

  if (n == PAI__NO_NODE || pai__tree_type(tree, n) != PAI__MAPPING)
    return none;
  n = pai__tree_get(tree, n, key);
  return n != PAI__NO_NODE ? pai__string_at(tree, n, "") : none;
}

/* An amount as a string or a number. */
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

/* GPUs are the same in limits and requests, and may be told in one alone. */
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

/* The want of so many pods of a spec. */
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
  pai__node list = pai__at(tree, spec, "containers"), n;
  pai__tree_walk walk;

  if (list != PAI__NO_NODE && pai__tree_type(tree, list) == PAI__SEQUENCE) {
    walk = pai__tree_iter(tree, list);
    while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
      add_container(&needs, tree, n);
  }
  want.gpus = narrow(needs.gpus);
  want.cpus = narrow((needs.milli_cpus + 999) / 1000);
  want.memory = needs.memory;
  for (size_t i = 0; i < PAI__LEN(products) && want.type.s == NULL; i++)
    if (want.gpus > 0)
      want.type =
        value_of(tree, pai__at(tree, spec, "nodeSelector"), products[i]);
  return want;
}

/* --- what became of it --------------------------------------------------------- */

typedef struct pai__kube_run {
  pai_time start, end; /* -1: not known */
  int code;
} pai__kube_run;

/* The condition of a type that is true: its node. */
static pai__node condition(const pai__tree *tree, const char *type)
{
  pai__node list = pai__at(tree, 0, "status.conditions"), n;
  pai__tree_walk walk;

  if (list == PAI__NO_NODE || pai__tree_type(tree, list) != PAI__SEQUENCE)
    return PAI__NO_NODE;
  walk = pai__tree_iter(tree, list);
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
  pai__node list = pai__at(tree, 0, "status.containerStatuses"), n;
  pai__kube_run run = { date_or_none(tree, 0, "status.startTime"), -1, 0 };
  pai__tree_walk walk;
  int64_t code;

  if (pai__text_is(pai__string_at(tree, 0, "status.phase"), "Failed"))
    run.code = PAI__CODE_FAILED;
  if (list == PAI__NO_NODE || pai__tree_type(tree, list) != PAI__SEQUENCE)
    return run;
  walk = pai__tree_iter(tree, list);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node over = pai__at(tree, n, "state.terminated");
    pai_time end = date_or_none(tree, over, "finishedAt");

    if (over == PAI__NO_NODE) { /* one of its containers runs */
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

/* --- records ------------------------------------------------------------------- */

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
    pai__trace_alter(t, line,
                     "its priority is not from -1 to 1000: the "
                     "nearest counts");
  }
  t->draft.priority = (int)priority;
}

static int add_pod_sets(pai_trace *t, const pai__tree *tree, pai__node sets)
{
  pai__tree_walk walk = pai__tree_iter(tree, sets);
  pai__node n;
  int rc = PAI_OK;

  while (rc == PAI_OK && (n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__draft_want want;
    int64_t count = 1, least;

    (void)pai__number_at(tree, n, "count", &count);
    want = want_of(tree, pai__at(tree, n, "template.spec"), count);
    want.name = pai__string_at(tree, n, "name");
    if (pai__number_at(tree, n, "minCount", &least) && least > 0 &&
        least <= (int64_t)want.tasks)
      want.min_tasks = (uint32_t)least;
    if (want.tasks > 0)
      rc = pai__draft_add_want(&t->draft, &t->alloc, &want);
  }
  return rc;
}

static int add_job_wants(pai_trace *t, const pai__tree *tree)
{
  int64_t parallel = 1, completions;
  pai__draft_want want;

  (void)pai__number_at(tree, 0, "spec.parallelism", &parallel);
  if (pai__number_at(tree, 0, "spec.completions", &completions) &&
      completions < parallel)
    parallel = completions;
  want = want_of(tree, pai__at(tree, 0, "spec.template.spec"), parallel);
  return pai__draft_add_want(&t->draft, &t->alloc, &want);
}

static int put_run(pai_trace *t, const pai__kube_run *run, uint64_t line,
                   pai_error **err)
{
  pai__draft *d = &t->draft;
  pai_time start = run->start;

  if (run->end == -1)
    return pai__trace_skip(t, line, err,
                           "it had not ended: nobody knows how "
                           "long it takes");
  if (start == -1) {
    d->patience = run->end - d->time;
    start = run->end;
    pai__trace_alter(t, line,
                     "it never ran: it takes no time, and is killed "
                     "when it has waited as long");
  } else {
    d->started = start;
  }
  if (pai__draft_add_attempt(d, &t->alloc, run->end - start, run->code) < 0)
    return pai__oom(err);
  return pai__trace_put(t, line, err);
}

static int put_object(pai_trace *t, const pai__tree *tree, uint64_t line,
                      pai_error **err)
{
  pai__node sets = pai__at(tree, 0, "spec.podSets");
  pai__draft *d = &t->draft;
  pai__draft_want want;
  pai__kube_run run;
  int64_t seconds;
  int rc;

  pai__draft_clear(d);
  if (!pai__date_at(tree, 0, "metadata.creationTimestamp", &d->time))
    return pai__trace_skip(t, line, err,
                           "\"metadata\" has no \"creationTimestamp\"");
  add_texts(d, tree);
  if (pai__number_at(tree, 0, "spec.activeDeadlineSeconds", &seconds) &&
      seconds > 0 && seconds < PAI__MOST_TIME / 1000000)
    d->limit = seconds * 1000000;
  set_priority(t, tree, line);
  if (sets != PAI__NO_NODE && pai__tree_type(tree, sets) == PAI__SEQUENCE) {
    run = run_of_workload(tree);
    rc = add_pod_sets(t, tree, sets);
  } else if (pai__at(tree, 0, "spec.template.spec") != PAI__NO_NODE) {
    run = run_of_job(tree);
    rc = add_job_wants(t, tree);
  } else if (pai__at(tree, 0, "spec.containers") != PAI__NO_NODE) {
    run = run_of_pod(tree);
    want = want_of(tree, pai__at(tree, 0, "spec"), 1);
    rc = pai__draft_add_want(d, &t->alloc, &want);
  } else {
    return pai__trace_skip(t, line, err,
                           "it is no job, no pod, and no workload of Kueue");
  }
  return rc < 0 ? pai__oom(err) : put_run(t, &run, line, err);
}

int pai__kubernetes_begin(pai_trace *t, pai_error **err)
{
  return pai__documents_begin(t, "items", put_object, err);
}
