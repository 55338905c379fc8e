/* sched.i - schedulers, for openpai.i; also what their policies get */

PAI_CALLS_BACK(Scheduler::make)
PAI_CALLS_BACK(Scheduler::load)
PAI_CALLS_BACK(Scheduler::fork)
PAI_CALLS_BACK(Scheduler::send)
PAI_CALLS_BACK(Scheduler::cluster)
PAI_CALLS_BACK(Scheduler::policy)
PAI_CALLS_BACK(Scheduler::decide)
PAI_CALLS_BACK(Scheduler::save)
PAI_CALLS_BACK(Scheduler::log)
PAI_CALLS_BACK(Scheduler::log_options)
PAI_CALLS_BACK(Scheduler::explain)
PAI_CALLS_BACK(Scheduler::explain_json)

%newobject Scheduler::make;
%newobject Scheduler::load;
%newobject Scheduler::fork;
%newobject Scheduler::allocation;

typedef struct {} Scheduler;
%extend Scheduler {
  static Scheduler *make(Cluster *cluster, const char *options,
                         uint32_t first_port, uint32_t last_port,
                         bool unchecked, policy_ref policy, failure *f) {
    return facade_sched(cluster, options, first_port, last_port, unchecked,
                        policy, f);
  }
  static Scheduler *load(const char *text, size_t len, policy_ref policy,
                         policy_ref shadow, failure *f) {
    return facade_sched_load(text, len, policy, shadow, f);
  }
  ~Scheduler() { facade_sched_free($self); }
  Scheduler *fork(failure *f) { return facade_sched_fork($self, f); }
  int send(draft_value line, failure *f) {
    return facade_sched_send($self, line, f);
  }
  void cluster(Cluster *cluster, int64_t time, failure *f) {
    facade_sched_cluster($self, cluster, time, f);
  }
  void policy(int64_t time, bool beside, const char *options,
              policy_ref policy, failure *f) {
    facade_sched_policy($self, time, beside, options, policy, f);
  }
  listing decide(int64_t time, failure *f) {
    return facade_sched_decide($self, time, f);
  }
  listing decisions(failure *f) { return facade_sched_decisions($self, f); }
  listing beside(failure *f) { return facade_sched_beside($self, f); }
  job_text save(failure *f) { return facade_sched_save($self, f); }
  void log(log_ref log, failure *f) { facade_sched_log($self, log, f); }
  void log_options(bool snapshots, uint64_t every, failure *f) {
    facade_sched_log_options($self, snapshots, every, f);
  }
  job_text explain(uint64_t id, failure *f) {
    return facade_sched_explain($self, id, PAI_FORMAT_TEXT, f);
  }
  listing explain_json(uint64_t id, failure *f) {
    listing l = { facade_sched_explain($self, id, PAI_FORMAT_JSON, f) };
    return l;
  }
  Allocation *allocation(uint64_t id, uint32_t instance, failure *f) {
    return facade_sched_allocation($self, id, instance, f);
  }
  int64_t now(failure *f) { return facade_sched_now($self, f); }
  int64_t next_time(failure *f) { return facade_sched_next_time($self, f); }
  listing sums(failure *f) { return facade_sched_sums($self, f); }
  listing requests(failure *f) { return facade_sched_requests($self, f); }
  listing request(uint64_t id, failure *f) {
    return facade_sched_request($self, id, f);
  }
  listing nodes(failure *f) { return facade_sched_nodes($self, f); }
  listing node(uint32_t node, failure *f) {
    return facade_sched_node($self, node, f);
  }
  listing virtual_clusters(failure *f) { return facade_sched_vcs($self, f); }
  listing running(failure *f) { return facade_sched_running($self, f); }
  listing places(uint64_t id, uint32_t instance, failure *f) {
    return facade_sched_places($self, id, instance, f);
  }

  /* For a policy, of its host. */
  uint64_t next_waiting(uint64_t id, failure *f) {
    return facade_host_next($self, id, f);
  }
  listing placed(failure *f) { return facade_host_placed($self, f); }
  bool start(uint64_t id, const char *strategy, bool beyond_share, bool over,
             failure *f) {
    return facade_host_start($self, id, strategy, beyond_share, over, f);
  }
  bool start_at(uint64_t id, words task_places, bool over, failure *f) {
    return facade_host_start_at($self, id, task_places, over, f);
  }
  void preempt(uint64_t id, uint32_t instance, uint64_t by, failure *f) {
    facade_host_preempt($self, id, instance, by, f);
  }
  bool resize(uint64_t id, uint32_t instance, uint32_t want, uint32_t tasks,
              failure *f) {
    return facade_host_resize($self, id, instance, want, tasks, f);
  }
  void refuse(uint64_t id, const char *lack, const char *why,
              const char *node_name, uint64_t behind, int64_t until,
              failure *f) {
    facade_host_refuse($self, id, lack, why, node_name, behind, until, f);
  }
}

%inline %{
static listing policies(failure *f)
{
  return facade_policies(f);
}
%}
