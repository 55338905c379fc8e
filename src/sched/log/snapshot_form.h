/*
 * snapshot_form.h - internal: the state of a scheduler as JSON
 *
 * A snapshot does not have what follows from other parts of it: free capacity
 * follows from the runs, and the queue from the requests.  See
 * docs/internals/sched-log.md.
 */
#ifndef PAI_SRC_SCHED_LOG_SNAPSHOT_FORM_H
#define PAI_SRC_SCHED_LOG_SNAPSHOT_FORM_H

#include "json/form.h"
#include "sched/core.h"
#include "sched/log/event_form.h"

#include <openpai/sched.h>

enum { PAI__SNAPSHOT_VERSION = 1 };

typedef struct pai__state_form {
  int64_t version;
  pai__marks m; /* only some are in the snapshot */
  bool gap;
  pai__node alike, cluster, policy, shadow, nodes, reservations, requests,
    refused, decisions;
} pai__state_form;

typedef struct pai__policy_form {
  const char *name;
  pai__agreement agreement; /* of the shadow */
  pai__node options, state;
} pai__policy_form;

typedef struct pai__req_form {
  int64_t turn;
  pai_time submitted;
  uint32_t finished, failed;
  int cancelled;
  pai__node request, runs, reason;
} pai__req_form;

typedef struct pai__run_form {
  pai__run run;
  pai__node tasks;
} pai__run_form;

typedef struct pai__slot_form {
  uint32_t want;
  const char *node;
  const char *cpus; /* a list such as "0-3,8" */
  uint32_t at;      /* in a row: index of the node in the cluster */
  pai__node gpus, ports;
} pai__slot_form;

typedef struct pai__free_capacity_form {
  const char *name, *reason;
  uint32_t state;
  uint32_t next_port; /* 0: that of the scheduler */
  pai__node sick, lost;
} pai__free_capacity_form;

typedef struct pai__sched_reason_form {
  pai_reason r;
  pai__node failed;
} pai__sched_reason_form;

typedef struct pai__vc_reason_form {
  const char *vc;
  pai__vc_reason vc_reason;
} pai__vc_reason_form;

extern const pai__table pai__state_table, pai__policy_table, pai__req_table,
  pai__run_table, pai__slot_table, pai__free_capacity_table,
  pai__sched_reason_table, pai__vc_reason_table, pai__pending_table;

/* Words for PAI_DECISION_* and PAI_STOP_*, by their values. */
extern const char *const pai__decision_words[], *const pai__cause_words[];

/* Snapshots have two forms: one for people, and a lean one for the middle of a
 * log, in which common parts of requests are written once. */

/* An entry of the list of requests, which is sorted by turn. */
typedef struct pai__sched_turn {
  uint64_t turn;
  uint32_t req;
  uint32_t alike;  /* index in `alike`; PAI__NONE: write it as an object */
  uint32_t reason; /* index in `reasons` + 1; 0: no reason */
} pai__sched_turn;

typedef struct pai__saving {
  const pai_sched *s;
  pai__json_writer *w;
  pai__buf list; /* scratch buffer for lists of numbers */
  pai_error **err;
  pai__sched_turn *turns;
  uint32_t nturns;
  /* For the lean form: the first request of each set of alike ones, the
   * reasons, and the values of the last row. */
  bool lean;
  pai__flat alike, reasons;
  pai__lookup alike_at, reasons_at;
  pai__sched_turn last;
  uint64_t last_id, last_order;
  pai_time last_submitted;
} pai__saving;

/* Lists all requests by turn.  For the lean form it also collects what they
 * have in common.  Returns PAI_OK or PAI_ENOMEM. */
int pai__saving_list(pai__saving *x, bool lean);
void pai__saving_end(pai__saving *x);

/* Write a request as an object, or as a row. */
void pai__save_request(pai__saving *x, uint32_t req);
void pai__save_row(pai__saving *x, const pai__sched_turn *turn);
/* Writes the tables that rows refer to. */
void pai__save_tables(pai__saving *x);
/* Write an item of these tables. */
void pai__save_alike(pai__saving *x, const pai__req *r);
void pai__save_reason(pai__saving *x, const pai__sched_reason *reason);

bool pai__sched_reason_is_equal(const pai__sched_reason *a,
                                const pai__sched_reason *b);

static inline void pai__saving_put(pai__saving *x, const pai__table *table,
                                   const void *form)
{
  pai__form_write(x->w, table->list, table->count, form);
}

/* Returns a name by its number. */
static inline const char *pai__saving_text(const pai__saving *x, uint32_t name)
{
  return pai__texts_text(&x->s->names, name);
}

typedef struct pai__loading {
  pai_sched *s;
  pai__form f;
  pai__arena arena;
  pai__flat orders; /* runs with places, by order: load_runs.c */
  /* The tables that rows refer to, and the values of the last row:
   * load_requests.c */
  const pai_request *alike;
  const pai__sched_reason *reasons;
  uint32_t nalike, nreasons;
  pai__req_form last;
  uint64_t last_id, last_order;
  const char *last_name;
} pai__loading;

/* Loads a request.  Returns PAI_OK, PAI_EINVAL or PAI_ENOMEM. */
int pai__load_request(pai__loading *l, pai__node item);
/* Gets the index of a node by name.  Returns PAI_OK or PAI_EINVAL. */
int pai__load_node(const pai__loading *l, pai__node at, const char *name,
                   uint32_t *node);

/* pai__load_alike() loads the tables that rows refer to.  The others read a
 * run of the last row, and a task of such a run.  They return PAI_OK,
 * PAI_EINVAL or PAI_ENOMEM. */
int pai__load_alike(pai__loading *l, pai__node at);

int pai__load_row_run(pai__loading *l, pai__node item, pai__run_form *form);
int pai__load_row_task(const pai__loading *l, pai__node item,
                       pai__slot_form *form);
/* Loads the runs of a request.  Their places are not counted as taken yet. */
int pai__load_runs(pai__loading *l, uint32_t req, pai__node list);
/* Takes the places of all runs, after all are loaded. */
int pai__load_places(pai__loading *l);

/* Reads a list of numbers below `limit` as a mask.  No number may occur
 * twice. */
int pai__load_mask(pai__loading *l, pai__node list, const char *key,
                   uint32_t limit, uint64_t *mask);

static inline bool pai__load_is_row(const pai__loading *l, pai__node item)
{
  return pai__tree_type(l->f.tree, item) == PAI__SEQUENCE;
}

#endif
