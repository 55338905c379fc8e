/*
 * save.h - internal: all that HiveD knows, as JSON
 *
 * Of the engine of a policy: its groups are of virtual clusters and on nodes
 * that the cluster has.
 */
#ifndef PAI_SRC_SCHED_HIVED_SAVE_H
#define PAI_SRC_SCHED_HIVED_SAVE_H

#include "base/tree.h"
#include "json/writer.h"
#include "sched/hived/hived.h"

/* One object.  False without memory. */
bool pai__hived_save(const pai__hived *h, pai__json_writer *w);

/* Makes a new engine of the same cluster what was saved.  PAI_OK; PAI_EINVAL:
 * that cannot be, and *wrong says what; PAI_ENOMEM.  After a failure it can only
 * be freed. */
int pai__hived_restore(pai__hived *h, const pai__tree *t, pai__node n,
                       const char **wrong);

/* --- columns: one number of each element of an array (columns.c) ----------- */

enum pai__column_kind {
  PAI__COLUMN_NUMBER,
  PAI__COLUMN_CELL, /* an index, or PAI__NOTHING; so below */
  PAI__COLUMN_VCELL,
  PAI__COLUMN_GROUP
};

typedef struct pai__column {
  const char *key;
  void *first; /* in the first element */
  size_t n, stride;
  uint8_t size; /* of the number: 1, 2 or 4 bytes */
  uint8_t kind;
  int64_t low, high; /* of a PAI__COLUMN_NUMBER */
} pai__column;

enum { PAI__COLUMNS = 20 };
size_t pai__hived_columns(const pai__hived *h, pai__column *out);

#endif
