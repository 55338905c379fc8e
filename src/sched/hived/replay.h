/* replay.h - internal: recorded steps done again; <openpai/hived.h> */
#ifndef PAI_SRC_SCHED_HIVED_REPLAY_H
#define PAI_SRC_SCHED_HIVED_REPLAY_H

#include "base/map.h"
#include "base/tree.h"
#include "json/writer.h"
#include "sched/hived/engine.h"
#include "sched/hived/request.h"

#include <openpai/hived.h>

/* A pod and its annotations: they outlive restarts. */
typedef struct pai__replay_pod {
  uint64_t number;
  char *name;
  char *spec;  /* or NULL */
  char *bound; /* bind info, or NULL */
} pai__replay_pod;

struct pai_hived_replay {
  pai_alloc alloc;
  pai_hived_config_cb config;
  void *user_data;
  pai_cluster *cluster; /* of the engine; NULL before a case, and after one
                           that HiveD refuses */
  pai__hived *engine;
  pai__map pods; /* by their names */
  pai__replay_pod **by_number;
  size_t npods, pods_cap;
  pai__map sick;  /* nodes that the cluster does not have */
  pai__map gangs; /* of each group: as it was last recorded */
  char *name;     /* of the case */
  bool q2;        /* only the state of a group differs, and this is why */
  /* The step. */
  pai__tree *row;
  pai__arena arena;
  pai__buf want, got, place;
  char fix[64];
  pai_hived_verdict verdict;
};

/* --- values (replay_compare.c) -------------------------------------------- */

/* Compares two JSON texts without the order of keys; empty collections and
 * texts, nulls, and zeros among the counts of cells are nothing.  Fills place,
 * want and got with the first difference; one of the kind that Q2 makes only
 * sets q2.  1: the same; 0; or PAI_ENOMEM. */
int pai__replay_same(pai_hived_replay *r, const char *want, size_t want_len,
                     const char *got, size_t got_len);

/* Of the step: a string, "" for none; a number; the text of a value. */
const char *pai__replay_text(const pai_hived_replay *r, const char *key);
const char *pai__replay_slice(const pai__tree *t, pai__node n, size_t *len);

/* --- lines (replay_step.c) ------------------------------------------------ */

/* Whether what the step has is as it should be, and the field is there that it
 * needs; "" for none. */
int pai__replay_check(const pai_hived_replay *r, const char *needed,
                      pai_error **err);
/* The line is none of the n steps of these names: what it may be. */
int pai__replay_no_step(const pai_hived_replay *r, const char *const *names,
                        size_t n, pai_error **err);

/* --- state (replay_state.c, replay_dump.c) -------------------------------- */

/* Writes what a check looks at: the inner state, or the order of views; and
 * what a new engine has of its configuration. */
void pai__replay_put_state(const pai_hived_replay *r, pai__json_writer *w);
void pai__replay_put_views(const pai_hived_replay *r, pai__json_writer *w);
void pai__replay_put_parsed(const pai_hived_replay *r, pai__json_writer *w);
void pai__replay_put_health(const pai_hived_replay *r, uint32_t vc,
                            uint32_t chain, uint32_t level,
                            pai__json_writer *w);

void pai__put_key(pai__json_writer *w, const char *key);
void pai__put_text(pai__json_writer *w, const char *s);

/* --- pods (replay_pods.c) ------------------------------------------------- */

/* The pod of the step, which may be new; NULL without memory. */
pai__replay_pod *pai__replay_pod_of(pai_hived_replay *r);
void pai__replay_forget(pai_hived_replay *r);
/* Keeps the spec that the step has, if any; reads the one it has. */
int pai__replay_keep_spec(pai_hived_replay *r, pai__replay_pod *p);
int pai__replay_read_ask(pai_hived_replay *r, const pai__replay_pod *p,
                         pai__hived_ask *ask, pai__buf *why);
bool pai__replay_is_kind(const pai_hived_replay *r, pai__node n,
                         const char *kind);
/* A recorded result as we write ours; and, of one that binds, the bind info. */
void pai__replay_put_expected(const pai_hived_replay *r, pai__node n,
                              const char *group, pai__buf *out);
int pai__replay_keep_bound(pai_hived_replay *r, pai__replay_pod *p,
                           const char *group);

/* --- decisions (replay_result.c) ------------------------------------------ */

int pai__replay_put_result(const pai_hived_replay *r, const pai__replay_pod *p,
                           const pai__hived_ask *ask,
                           const pai__hived_result *result, pai__buf *out);
int pai__replay_put_refused(pai__buf *why, pai__buf *out);

/* --- events (replay_events.c) --------------------------------------------- */

int pai__replay_schedule(pai_hived_replay *r);
int pai__replay_add(pai_hived_replay *r);
int pai__replay_delete(pai_hived_replay *r);
int pai__replay_delete_unallocated(pai_hived_replay *r);
/* Nodes, those named included that the cluster does not have. */
int pai__replay_set_node(pai_hived_replay *r, const char *name, bool good);

/* Sets the verdict by what was wanted, and what came of it. */
int pai__replay_judge(pai_hived_replay *r, const char *want, size_t want_len,
                      const pai__buf *got);

#endif
