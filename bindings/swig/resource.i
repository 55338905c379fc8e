/* resource.i - machines, clusters, samples and allocations, for openpai.i */

PAI_CALLS_BACK(Topology::discover)
PAI_CALLS_BACK(Topology::load)
PAI_CALLS_BACK(Topology::parse_xml)
PAI_CALLS_BACK(Cluster::load)
PAI_CALLS_BACK(Cluster::parse)
PAI_CALLS_BACK(Cluster::check)
PAI_CALLS_BACK(Cluster::check_file)
PAI_CALLS_BACK(Sampler::make)
PAI_CALLS_BACK(gpus)

%newobject Topology::discover;
%newobject Topology::load;
%newobject Topology::parse_xml;
%newobject Topology::synthetic;
%newobject Cluster::load;
%newobject Cluster::parse;
%newobject Cluster::synthetic;
%newobject Cluster::from_machines;
%newobject Sampler::make;
%newobject Allocation::make;
%newobject Allocation::parse;
%newobject Allocation::copy;
%newobject Allocation::union_of;
%newobject Allocation::intersection;
%newobject Allocation::difference;

typedef struct {} Topology;
%extend Topology {
  static Topology *discover(bool drivers, failure *f) {
    return facade_discover(drivers, f);
  }
  static Topology *load(const char *path, failure *f) {
    return facade_topology_load(path, f);
  }
  static Topology *parse_xml(const char *text, size_t len, failure *f) {
    return facade_parse_xml(text, len, f);
  }
  static Topology *synthetic(const char *description, failure *f) {
    pai_topology *t;

    f->code = pai_topology_synthetic(&t, description, NULL, &f->err);
    return t;
  }
  ~Topology() { pai_topology_unref($self); }
  listing summary(failure *f) { return facade_summary($self, f); }
  listing objects(failure *f) { return facade_objects($self, f); }
  listing gpus(failure *f) { return facade_topology_gpus($self, f); }
  listing between(uint32_t a, uint32_t b, failure *f) {
    return facade_between($self, a, b, f);
  }
  listing affinity(words gpus, uint32_t cores, failure *f) {
    return facade_affinity($self, gpus, cores, f);
  }
  job_text __str__(failure *f) {
    return facade_topology_write($self, PAI_FORMAT_TEXT, (words){ "", 0 }, f);
  }
  job_text text(words marks, failure *f) {
    return facade_topology_write($self, PAI_FORMAT_TEXT, marks, f);
  }
  job_text svg(words marks, failure *f) {
    return facade_topology_write($self, PAI_FORMAT_SVG, marks, f);
  }
  job_text to_json(words marks, failure *f) {
    return facade_topology_write($self, PAI_FORMAT_JSON, marks, f);
  }
}

typedef struct {} Cluster;
%extend Cluster {
  static Cluster *load(const char *path, const char *form, failure *f) {
    return facade_cluster_load(path, form, f);
  }
  static Cluster *parse(const char *text, size_t len, const char *form,
                        failure *f) {
    return facade_cluster_parse(text, len, form, f);
  }
  static Cluster *synthetic(const char *description, failure *f) {
    pai_cluster *cluster;

    f->code = pai_cluster_synthetic(&cluster, description, NULL, &f->err);
    return cluster;
  }
  static Cluster *from_machines(machine_list machines, failure *f) {
    return facade_from_machines(machines, f);
  }
  static pai_report *check(const char *text, size_t len, const char *form,
                           failure *f) {
    return facade_cluster_check(text, len, form, f);
  }
  static pai_report *check_file(const char *path, const char *form,
                                failure *f) {
    return facade_cluster_check_file(path, form, f);
  }
  ~Cluster() { pai_cluster_free($self); }
  listing sums(failure *f) { return facade_sums($self, f); }
  size_t node_count() { return facade_node_count($self); }
  listing node(node_ref node, failure *f) {
    return facade_node($self, node, f);
  }
  listing skus(failure *f) { return facade_skus($self, f); }
  listing virtual_clusters(failure *f) {
    return facade_virtual_clusters($self, f);
  }
  void set_sick(node_ref node, const char *why, long gpu, failure *f) {
    facade_set_sick($self, node, why, gpu, f);
  }
  job_text to_yaml(failure *f) {
    return facade_cluster_write($self, PAI_FORMAT_YAML, f);
  }
  job_text to_json(failure *f) {
    return facade_cluster_write($self, PAI_FORMAT_JSON, f);
  }
  job_text to_hived(const char *format, failure *f) {
    return facade_cluster_hived($self, format, f);
  }
  job_text __str__(failure *f) {
    return facade_draw($self, PAI_FORMAT_TEXT, false, (words){ "", 0 }, f);
  }
  job_text text(words marks, bool colour, failure *f) {
    return facade_draw($self, PAI_FORMAT_TEXT, colour, marks, f);
  }
  job_text svg(words marks, failure *f) {
    return facade_draw($self, PAI_FORMAT_SVG, false, marks, f);
  }
}
#if defined(SWIGLUA) /* for node in cluster:nodes() do */
%extend Cluster {
  node_walk nodes() { return (node_walk){ $self }; }
}
#endif

typedef struct {} Sampler;
%extend Sampler {
  static Sampler *make(const char *root, const char *nvml, words paths,
                       bool all_groups, failure *f) {
    return facade_sampler(root, nvml, paths, all_groups, f);
  }
  ~Sampler() { facade_sampler_free($self); }
  void watch(const char *kind, int64_t id, failure *f) {
    facade_watch($self, kind, id, f);
  }
  void watch_cgroup(const char *path, failure *f) {
    facade_watch_cgroup($self, path, f);
  }
  void unwatch(const char *kind, int64_t id, failure *f) {
    facade_unwatch($self, kind, id, f);
  }
  void unwatch_cgroup(const char *path, failure *f) {
    facade_unwatch_cgroup($self, path, f);
  }
  listing take(int64_t now, failure *f) { return facade_take($self, now, f); }
  listing gpus(failure *f) { return facade_sampler_gpus($self, f); }
  void close() { facade_sampler_close($self); }
}

typedef struct {} Allocation;
%extend Allocation {
  static Allocation *make(failure *f) {
    pai_allocation *set;

    f->code = pai_allocation_new(&set, NULL, &f->err);
    return set;
  }
  static Allocation *parse(const char *text, size_t len, failure *f) {
    pai_allocation *set;

    f->code = pai_allocation_parse(&set, text, len, NULL, &f->err);
    return set;
  }
  ~Allocation() { pai_allocation_free($self); }
  Allocation *copy(failure *f) { return facade_allocation_copy($self, f); }
  void clear() { pai_allocation_clear($self); }
  void add(uint32_t node, const char *kind, uint32_t first, uint32_t last,
           failure *f) {
    facade_allocation_add($self, node, kind, first, last, f);
  }
  void remove(uint32_t node, const char *kind, uint32_t first, uint32_t last,
              failure *f) {
    facade_allocation_remove($self, node, kind, first, last, f);
  }
  void set_memory(uint32_t node, uint64_t bytes, failure *f) {
    f->code = pai_allocation_set_memory($self, node, bytes, &f->err);
  }
  void unite(Allocation *other, failure *f) {
    facade_allocation_change($self, other, SET_UNITE, f);
  }
  void intersect(Allocation *other, failure *f) {
    facade_allocation_change($self, other, SET_INTERSECT, f);
  }
  void subtract(Allocation *other, failure *f) {
    facade_allocation_change($self, other, SET_SUBTRACT, f);
  }
  void give(Allocation *other, failure *f) {
    facade_allocation_change($self, other, SET_GIVE, f);
  }
  void take(Allocation *other, failure *f) {
    facade_allocation_change($self, other, SET_TAKE, f);
  }
  Allocation *union_of(Allocation *other, failure *f) {
    pai_allocation *set;

    f->code = pai_allocation_union(&set, $self, other, &f->err);
    return set;
  }
  Allocation *intersection(Allocation *other, failure *f) {
    pai_allocation *set;

    f->code = pai_allocation_intersection(&set, $self, other, &f->err);
    return set;
  }
  Allocation *difference(Allocation *other, failure *f) {
    pai_allocation *set;

    f->code = pai_allocation_difference(&set, $self, other, &f->err);
    return set;
  }
  bool is_empty() { return pai_allocation_is_empty($self) != 0; }
  bool has(uint32_t node, const char *kind, uint32_t number, failure *f) {
    return facade_allocation_has($self, node, kind, number, f);
  }
  int64_t count(const char *kind, uint32_t one_node, failure *f) {
    return facade_allocation_count($self, kind, one_node, f);
  }
  int64_t memory(uint32_t one_node) {
    return facade_allocation_memory($self, one_node);
  }
  bool contains(Allocation *other) {
    return pai_allocation_contains($self, other) != 0;
  }
  bool overlaps(Allocation *other) {
    return pai_allocation_overlaps($self, other) != 0;
  }
  bool equals(Allocation *other) {
    return pai_allocation_equal($self, other) != 0;
  }
  listing nodes(failure *f) { return facade_allocation_nodes($self, f); }
  job_text __str__(failure *f) {
    return facade_allocation_write($self, false, f);
  }
  job_text to_json(failure *f) {
    return facade_allocation_write($self, true, f);
  }
}

%inline %{
static listing gpus(const char *root, const char *nvml, words pids,
                    words groups, failure *f)
{
  return facade_gpus(root, nvml, pids, groups, f);
}
%}
