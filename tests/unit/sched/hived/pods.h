/* pods.h - pods of a small cluster, for tests of HiveD's extender */
#ifndef PAI_TESTS_PODS_H
#define PAI_TESTS_PODS_H

#include "extender.h"

#include "base/buf.h"

/* Two racks of two nodes of two GPUs: a has one rack, b two nodes. */
typedef struct ext_scene {
  pai_cluster *cluster;
  pai_hived_extender *e;
  pai__buf text;
} ext_scene;

typedef struct ext_pod {
  const char *name; /* the UID is "uid-" and the name */
  const char *spec;
  const char *info, *node, *phase; /* NULL: none */
} ext_pod;

#define EXT_NODE(name, ready)                                        \
  "{\"kind\":\"Node\",\"metadata\":{\"name\":\"" name                \
  "\"},\"status\":{\"conditions\":[{\"type\":\"Memory\",\"status\":" \
  "\"False\"},{\"type\":\"Ready\",\"status\":\"" ready "\"}]}}"

#define EXT_GANG(vc, prio, group, pods)               \
  "{virtualCluster: " vc ", priority: " prio          \
  ", leafCellNumber: 2, affinityGroup: {name: " group \
  ", members: [{podNumber: " pods ", leafCellNumber: 2}]}}"

#define EXT_EVERYWHERE "[\"n0\",\"n1\",\"n2\",\"n3\"]"

extern const char ext_all_nodes[];

/* A gang of two, another of one, and a more important one. */
extern const ext_pod a0, a1, a2, high;

int ext_open(ext_scene *s, const pai_alloc *alloc);
void ext_ready(ext_scene *s);
void ext_close(ext_scene *s);
/* The text of an event, or of a list of all pods. */
const char *ext_event_of(ext_scene *s, const char *type, const ext_pod *p);
const char *ext_list_of(ext_scene *s, const ext_pod *pods, size_t n);
void ext_tell(ext_scene *s, const char *type, const ext_pod *p);
void ext_expect_failure(ext_scene *s, const char *json, int code,
                        const char *part);
/* A request for a pod; nodes is JSON. */
const char *ext_body_of(ext_scene *s, const ext_pod *p, const char *key,
                        const char *nodes);
pai_hived_answer ext_filter(ext_scene *s, const ext_pod *p);
pai_hived_answer ext_preempt(ext_scene *s, const ext_pod *p);
pai_hived_answer ext_bind(ext_scene *s, const char *name, const char *node);
void ext_expect_body(const pai_hived_answer *a, const char *part);
void ext_expect_node(const pai_hived_answer *a, const char *node);
void ext_expect_shown(ext_scene *s, const char *target, const char *part);
/* What the binding says of the pod. */
char *ext_info_of(const pai_hived_answer *a);
void ext_free_info(char *info);

#endif
