/*
 * save.h - internal: saving and restoring the state of the HiveD engine as
 * JSON
 *
 * For the engine of the policy `hived`: all virtual clusters and nodes of its
 * groups exist in the cluster.
 */
#ifndef PAI_SRC_SCHED_HIVED_SAVE_H
#define PAI_SRC_SCHED_HIVED_SAVE_H

#include "base/tree.h"
#include "json/writer.h"
#include "sched/hived/engine.h"

/* Writes one object.  Returns false if memory is short. */
bool pai__hived_save(const pai__hived *h, pai__json_writer *w);

/* Restores a saved state into a new engine of the same cluster.  Returns
 * PAI_OK; PAI_EINVAL if the state is invalid, with *wrong set; PAI_ENOMEM.
 * After an error the engine can only be freed (restore.c). */
int pai__hived_restore(pai__hived *h, const pai__tree *t, pai__node n,
                       const char **wrong);

/* --- layout of the saved state, for both directions (save.c) -------------- */

/* A number in each element of an array: cells, leaves or views. */
typedef struct pai__hived_column {
  const char *key;
  void *first; /* address of the number in the first element */
  size_t n, stride;
  uint8_t size;      /* bytes of the number: 1, 2 or 4 */
  bool group;        /* index of a group; written as its rank by name */
  int64_t low, high; /* valid range; low is -1 for an index that may be
                        PAI__NOTHING */
} pai__hived_column;

enum { PAI__COLUMNS = 20 };
size_t pai__hived_columns(const pai__hived *h, pai__hived_column *out);

/* A list of cells of one level. */
typedef struct pai__cell_list {
  uint32_t at, cap; /* range in `lists` */
  uint32_t *n;
  uint32_t level; /* index in `levels` */
} pai__cell_list;

/* Lists: one of each kind for each level, or for each level of a virtual
 * cluster's cells. */
extern const char *const pai__list_keys[PAI__LISTS];
size_t pai__hived_list_count(const pai__hived *h, int kind);
pai__cell_list pai__hived_list(pai__hived *h, int kind, size_t i);
/* Bits of "was" of a group. */
enum { PAI__WAS_OPEN_TO_LAZY = 1, PAI__WAS_LAZY = 2, PAI__WAS_PREEMPTED = 4 };

#endif
