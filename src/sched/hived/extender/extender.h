/*
 * extender.h - internal: HiveD as a Kubernetes scheduler extender;
 * <openpai/hived.h>
 *
 * Pods are identified by UID; the engine knows them by number.
 */
#ifndef PAI_SRC_SCHED_HIVED_EXTENDER_EXTENDER_H
#define PAI_SRC_SCHED_HIVED_EXTENDER_EXTENDER_H

#include "base/map.h"
#include "base/tree.h"
#include "json/writer.h"
#include "sched/hived/engine.h"
#include "sched/hived/request.h"

#include <openpai/hived.h>

/* States of known pods.  From PAI__POD_BINDING on a pod is allocated: it has
 * its cells. */
enum {
  PAI__POD_WAITING,
  PAI__POD_PREEMPTING,
  PAI__POD_BINDING,
  PAI__POD_BOUND
};

typedef struct pai__ext_pod {
  uint64_t number;
  char *uid, *ns, *name;
  char *full;      /* "namespace/name" */
  char *group;     /* its group in the engine, or NULL */
  char *node;      /* of an allocated pod */
  char *isolation; /* of a binding pod: its devices, such as "0,1" */
  char *info;      /* of a binding pod: the bind info */
  uint32_t leaves; /* of an allocated pod */
  uint32_t index;  /* index among the pods of its size; PAI__NOTHING: it has no
                      cells */
  uint32_t tries;  /* filter calls since it was given cells */
  uint32_t round;  /* number of the last pod list that has it */
  uint8_t state;
} pai__ext_pod;

struct pai_hived_extender {
  pai_alloc alloc;
  pai__hived *engine;
  pai__map pods;    /* by UID */
  pai__map names;   /* by "namespace/name" */
  pai__map numbers; /* by number */
  pai__map nodes;   /* nodes that Kubernetes has */
  uint64_t last;    /* last pod number given */
  uint32_t round;   /* number of the last pod list */
  int64_t force_after;
  int64_t hold_ms;
  /* Valid during one call. */
  pai__arena arena;
  pai__tree *tree;
  pai__buf why; /* an error, in HiveD's words */
  pai__buf body, bind_path, bind_body;
  pai_hived_answer answer;
};

/* --- calls (extender.c) --------------------------------------------------- */

/* Begins a call: frees what belongs to the last one. */
void pai__ext_begin(pai_hived_extender *e, pai_time now);
/* Formats a text that lives until the next call.  Returns "" and fails `why`
 * if memory is short. */
const char *pai__ext_printf(pai_hived_extender *e, const char *fmt, ...)
  PAI__PRINTF(2, 3);

/* --- Kubernetes objects (read.c) ------------------------------------------ */

typedef struct pai__ext_read {
  const pai__tree *t;
  const char *wrong; /* name of the first field with a wrong type or length, or
                        NULL */
  bool too_long;     /* the field is too long */
} pai__ext_read;

/* Fields of a pod that matter here; strings belong to the tree. */
typedef struct pai__ext_view {
  const char *uid, *ns, *name;
  const char *node;  /* node it is bound to, or "" */
  const char *spec;  /* annotation pod-scheduling-spec */
  const char *bound; /* annotation pod-bind-info */
  bool live;         /* not finished, and asks for this scheduler */
} pai__ext_view;

/* Finds a field.  As in Go, case is ignored, and null counts as absent. */
pai__node pai__ext_field(const pai__ext_read *r, pai__node n, const char *key);
/* As pai__ext_field(), but records an error if the field has another type. */
pai__node pai__ext_get(pai__ext_read *r, pai__node n, const char *key,
                       int type);
const char *pai__ext_text(pai__ext_read *r, pai__node n, const char *key);
void pai__ext_read_pod(pai__ext_read *r, pai__node n, pai__ext_view *v);
/* Returns the node's name, and sets *good if it is ready for pods. */
const char *pai__ext_read_node(pai__ext_read *r, pai__node n, bool *good);

/* --- pods (pods.c) -------------------------------------------------------- */

pai__ext_pod *pai__ext_find(const pai_hived_extender *e, const char *uid);
const pai__ext_pod *pai__ext_numbered(const pai_hived_extender *e,
                                      uint64_t number);
void pai__ext_free_pod(const pai_hived_extender *e, pai__ext_pod *p);
/* Replaces a text.  Returns PAI_OK; or PAI_ENOMEM, with the old text kept. */
int pai__ext_set(const pai_hived_extender *e, char **to, const char *text);
/* Updates a pod from the API server: it is new, bound or finished.  Returns
 * PAI_OK; PAI_EINVAL, with `why` set; PAI_EEXISTS if other pods have its
 * cells; PAI_ENOMEM. */
int pai__ext_see(pai_hived_extender *e, const pai__ext_view *v);
/* Removes a pod from the engine and frees it. */
void pai__ext_forget(pai_hived_extender *e, pai__ext_pod *p);
/* Moves a pod to a group before it is scheduled there.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__ext_join(pai_hived_extender *e, pai__ext_pod *p, const char *group);
int pai__ext_read_ask(pai_hived_extender *e, const pai__ext_view *v,
                      pai__hived_ask *ask);

/* --- bindings (bind.c) ---------------------------------------------------- */

/* Stores the annotations for a decision to bind a pod, and sets *node to the
 * engine's node, or PAI__NOTHING.  Returns PAI_OK or PAI_ENOMEM. */
int pai__ext_keep_binding(const pai_hived_extender *e, pai__ext_pod *p,
                          const pai__hived_result *result, uint32_t *node);
/* Puts the stored binding into the answer, for the host to send. */
int pai__ext_put_binding(pai_hived_extender *e, const pai__ext_pod *p,
                         int kind);

/* --- requests ------------------------------------------------------------- */

/* Verbs; each writes the body of the answer (verbs.c).  Return PAI_EINVAL or
 * PAI_EINTERNAL, with `why` set, if the answer is an error. */
int pai__ext_on_filter(pai_hived_extender *e, const char *body, size_t len);
int pai__ext_on_bind(pai_hived_extender *e, const char *body, size_t len);
int pai__ext_on_preempt(pai_hived_extender *e, const char *body, size_t len);
/* Writes the answer for a pod that the API server did not bind. */
int pai__ext_put_unbound(pai_hived_extender *e, const char *uid,
                         const char *why);

/* Inspection of groups and cells (show.c).  `rest` is the rest of the path:
 * the name of a group or virtual cluster, or "" for all. */
int pai__ext_show_groups(pai_hived_extender *e, const char *rest);
int pai__ext_show_cluster(pai_hived_extender *e, const char *rest);
int pai__ext_show_physical(pai_hived_extender *e, const char *rest);
int pai__ext_show_vcs(pai_hived_extender *e, const char *rest);

#endif
