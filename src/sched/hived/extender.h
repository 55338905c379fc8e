/*
 * extender.h - internal: HiveD as an extender of Kubernetes' scheduler;
 * <openpai/hived.h>
 *
 * Pods are known by their UIDs, and by numbers to the engine.
 */
#ifndef PAI_SRC_SCHED_HIVED_EXTENDER_H
#define PAI_SRC_SCHED_HIVED_EXTENDER_H

#include "base/map.h"
#include "base/tree.h"
#include "json/writer.h"
#include "sched/hived/engine.h"
#include "sched/hived/request.h"

#include <openpai/hived.h>

/* Pods that are not known have no state.  From PAI__POD_BINDING on they are
 * allocated: they have their cells. */
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
  char *group;     /* that it belongs to for the engine, or NULL */
  char *node;      /* of allocated ones */
  char *isolation; /* of binding ones: their devices, as "0,1" */
  char *info;      /* likewise: the bind info */
  uint32_t leaves; /* of allocated ones */
  uint32_t index;  /* among those of its size; PAI__NOTHING: it has no cells */
  uint32_t tries;  /* to bind it that somebody else did not finish */
  uint32_t round;  /* of the last list that has it */
  uint8_t state;
} pai__ext_pod;

struct pai_hived_extender {
  pai_alloc alloc;
  pai__hived *engine;
  pai__map pods;    /* by UID */
  pai__map names;   /* by "namespace/name" */
  pai__map numbers; /* by the bytes of the number */
  pai__map nodes;   /* those that Kubernetes has */
  uint64_t last;    /* number that was given to a pod */
  uint32_t round;   /* lists of pods so far */
  int64_t force_after;
  int64_t hold_ms;
  /* One call. */
  pai__arena arena;
  pai__tree *tree;
  pai__buf why; /* a user's error, in HiveD's words */
  pai__buf body, bind_path, bind_body;
  pai_hived_answer answer;
};

/* A call begins: what the last one needed is gone (extender.c). */
void pai__ext_begin(pai_hived_extender *e, pai_time now);

/* --- objects of Kubernetes (extender_read.c) ------------------------------ */

typedef struct pai__ext_read {
  const pai__tree *t;
  const char *wrong; /* the first field of another type, or NULL */
  bool too_long;     /* its type is right, and it is too long */
} pai__ext_read;

/* What is wrong with that field. */
const char *pai__ext_wrong(const pai__ext_read *r);

/* What is of interest of a pod; strings are the tree's. */
typedef struct pai__ext_view {
  const char *uid, *ns, *name;
  const char *node;  /* that it is bound to, or "" */
  const char *spec;  /* annotations: pod-scheduling-spec, pod-bind-info */
  const char *bound; /* likewise */
  bool live;         /* it has not finished, and wants to be scheduled here */
} pai__ext_view;

/* Fields are found whatever their case is, as in Go; null is nothing. */
pai__node pai__ext_field(const pai__ext_read *r, pai__node n, const char *key);
/* Likewise, and it must be of that type. */
pai__node pai__ext_get(pai__ext_read *r, pai__node n, const char *key,
                       int type);
const char *pai__ext_text(pai__ext_read *r, pai__node n, const char *key);
void pai__ext_read_pod(pai__ext_read *r, pai__node n, pai__ext_view *v);
/* Its name, and whether it is ready for pods. */
const char *pai__ext_read_node(pai__ext_read *r, pai__node n, bool *good);

/* --- pods (extender_pods.c) ----------------------------------------------- */

pai__ext_pod *pai__ext_find(const pai_hived_extender *e, const char *uid);
const pai__ext_pod *pai__ext_numbered(const pai_hived_extender *e,
                                      uint64_t number);
void pai__ext_free_pod(const pai_hived_extender *e, pai__ext_pod *p);
/* Replaces a text.  PAI_OK, or PAI_ENOMEM and it is as it was. */
int pai__ext_set(const pai_hived_extender *e, char **to, const char *text);
/* A pod as it is by now: it comes, is bound, or ends.  PAI_OK; PAI_EINVAL, and
 * `why` says what is wrong with it; PAI_EEXISTS: others have its cells;
 * PAI_ENOMEM. */
int pai__ext_see(pai_hived_extender *e, const pai__ext_view *v);
/* It is gone, and so is the memory. */
void pai__ext_forget(pai_hived_extender *e, pai__ext_pod *p);
/* Before it is scheduled as one of that group: it leaves the one it was of. */
int pai__ext_join(pai_hived_extender *e, pai__ext_pod *p, const char *group);
int pai__ext_read_ask(pai_hived_extender *e, const pai__ext_view *v,
                      pai__hived_ask *ask);

/* --- decisions (extender_decide.c) ---------------------------------------- */

/* What came of a question. */
typedef struct pai__ext_choice {
  int kind;         /* PAI__HIVED_BIND, PAI__HIVED_PREEMPT, PAI__HIVED_WAIT */
  const char *node; /* to go to, or of the victims */
  const pai__ext_pod **victims; /* by their UIDs */
  uint32_t nvictims;
} pai__ext_choice;

/* These return PAI_EINVAL for what HiveD calls a user's error, and PAI_EINTERNAL
 * for one of the platform; `why` says it.  Names are n strings. */
int pai__ext_filter(pai_hived_extender *e, const pai__ext_view *v,
                    const char *const *names, size_t n, pai__ext_choice *out);
int pai__ext_preempt(pai_hived_extender *e, const pai__ext_view *v,
                     const char *const *names, size_t n, pai__ext_choice *out);
int pai__ext_bind(pai_hived_extender *e, const char *uid, const char *node);

/* --- bindings (extender_bind.c) ------------------------------------------- */

/* Keeps what a pod is to be annotated with: a decision to bind it; the node is
 * also told as the engine calls it, or PAI__NOTHING. */
int pai__ext_keep_binding(const pai_hived_extender *e, pai__ext_pod *p,
                          const pai__hived_result *result, uint32_t *node);
/* Puts it into the answer, for the host to send. */
int pai__ext_put_binding(pai_hived_extender *e, const pai__ext_pod *p,
                         int kind);

/* --- requests ------------------------------------------------------------- */

/* Answers; each writes the body (extender_verbs.c).  PAI_EINVAL and
 * PAI_EINTERNAL: it has not, and `why` is what to answer instead. */
int pai__ext_on_filter(pai_hived_extender *e, const char *body, size_t len);
int pai__ext_on_bind(pai_hived_extender *e, const char *body, size_t len);
int pai__ext_on_preempt(pai_hived_extender *e, const char *body, size_t len);
/* The answer when the API server did not bind the pod. */
int pai__ext_put_unbound(pai_hived_extender *e, const char *uid,
                         const char *why);

/* "uid(namespace/name)" */
void pai__ext_put_key(pai__buf *out, const char *uid, const char *ns,
                      const char *name);

/* Groups (extender_groups.c): one, or all. */
int pai__ext_show_group(pai_hived_extender *e, const char *name);
int pai__ext_show_groups(pai_hived_extender *e, const char *rest);
/* Cells (extender_cells.c); the rest of the path is a virtual cluster. */
int pai__ext_show_cluster(pai_hived_extender *e, const char *rest);
int pai__ext_show_physical(pai_hived_extender *e, const char *rest);
int pai__ext_show_vcs(pai_hived_extender *e, const char *rest);

static inline void pai__ext_put(pai__json_writer *w, const char *s)
{
  pai__json_text(w, s, strlen(s));
}

static inline void pai__ext_key(pai__json_writer *w, const char *s)
{
  pai__json_key(w, s, strlen(s));
}

static inline void pai__ext_pair(pai__json_writer *w, const char *key,
                                 const char *s)
{
  pai__ext_key(w, key);
  pai__ext_put(w, s);
}

#endif
