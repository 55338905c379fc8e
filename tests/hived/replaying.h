/* replaying.h - shared by the files of the replay; its callers see replay.h */
#ifndef OPENPAI_TESTS_HIVED_REPLAYING_H
#define OPENPAI_TESTS_HIVED_REPLAYING_H

#include "hived/replay.h"

#include "base/map.h"
#include "base/tree.h"
#include "json/writer.h"
#include "sched/hived/engine.h"
#include "sched/hived/request.h"

/* A pod and its annotations: they outlive restarts. */
typedef struct hived_replay_pod {
  uint64_t number;
  char *name;
  char *spec;  /* or NULL */
  char *bound; /* bind info, or NULL */
} hived_replay_pod;

struct hived_replay {
  pai_alloc alloc;
  hived_config_cb config;
  void *user_data;
  pai_cluster *cluster; /* of the engine; NULL before a case, and after one
                           that HiveD refuses */
  pai__hived *engine;
  pai__map pods; /* by their names */
  hived_replay_pod **by_number;
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
  hived_verdict verdict;
};

/* --- values (replay_compare.c) -------------------------------------------- */

/* Compares two JSON texts without the order of keys; empty collections and
 * texts, nulls, and zeros among the counts of cells are nothing.  Fills place,
 * want and got with the first difference; one of the kind that Q2 makes only
 * sets q2.  1: the same; 0; or PAI_ENOMEM. */
int hived_replay_same(hived_replay *r, const char *want, size_t want_len,
                      const char *got, size_t got_len);

/* Of the step: a string, "" for none; a number; the text of a value. */
const char *hived_replay_text(const hived_replay *r, const char *key);
const char *hived_replay_slice(const pai__tree *t, pai__node n, size_t *len);

/* --- lines (replay_step.c) ------------------------------------------------ */

/* Whether what the step has is as it should be, and the field is there that it
 * needs; "" for none. */
int hived_replay_check(const hived_replay *r, const char *needed,
                       pai_error **err);
/* The line is none of the n steps of these names: what it may be. */
int hived_replay_no_step(const hived_replay *r, const char *const *names,
                         size_t n, pai_error **err);

/* --- state (replay_state.c, replay_dump.c) -------------------------------- */

/* Writes what a check looks at: the inner state, or the order of views; and
 * what a new engine has of its configuration. */
void hived_replay_put_state(const hived_replay *r, pai__json_writer *w);
void hived_replay_put_views(const hived_replay *r, pai__json_writer *w);
void hived_replay_put_parsed(const hived_replay *r, pai__json_writer *w);
void hived_replay_put_health(const hived_replay *r, uint32_t vc,
                             uint32_t chain, uint32_t level,
                             pai__json_writer *w);

void hived_replay_put_key(pai__json_writer *w, const char *key);
void hived_replay_put_text(pai__json_writer *w, const char *s);

/* --- pods (replay_pods.c) ------------------------------------------------- */

/* The pod of the step, which may be new; NULL without memory. */
hived_replay_pod *hived_replay_pod_of(hived_replay *r);
void hived_replay_forget(hived_replay *r);
/* Keeps the spec that the step has, if any; reads the one it has. */
int hived_replay_keep_spec(hived_replay *r, hived_replay_pod *p);
int hived_replay_read_ask(hived_replay *r, const hived_replay_pod *p,
                          pai__hived_ask *ask, pai__buf *why);
bool hived_replay_is_kind(const hived_replay *r, pai__node n,
                          const char *kind);
/* A recorded result as we write ours; and, of one that binds, the bind info. */
void hived_replay_put_expected(const hived_replay *r, pai__node n,
                               const char *group, pai__buf *out);
int hived_replay_keep_bound(hived_replay *r, hived_replay_pod *p,
                            const char *group);

/* --- decisions (replay_result.c) ------------------------------------------ */

int hived_replay_put_result(const hived_replay *r, const hived_replay_pod *p,
                            const pai__hived_ask *ask,
                            const pai__hived_result *result, pai__buf *out);
int hived_replay_put_refused(pai__buf *why, pai__buf *out);

/* --- events (replay_events.c) --------------------------------------------- */

int hived_replay_schedule(hived_replay *r);
int hived_replay_add(hived_replay *r);
int hived_replay_delete(hived_replay *r);
int hived_replay_delete_unallocated(hived_replay *r);
/* Nodes, those named included that the cluster does not have. */
int hived_replay_set_node(hived_replay *r, const char *name, bool good);

/* Sets the verdict by what was wanted, and what came of it. */
int hived_replay_judge(hived_replay *r, const char *want, size_t want_len,
                       const pai__buf *got);

#endif
