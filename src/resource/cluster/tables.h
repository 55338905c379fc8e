/*
 * tables.h - internal: the fields of cluster files, for editors
 *
 * These are the tables by which the files are read and written, with what
 * editors tell of them.
 */
#ifndef PAI_SRC_RESOURCE_CLUSTER_TABLES_H
#define PAI_SRC_RESOURCE_CLUSTER_TABLES_H

#include "base/base.h"

typedef struct pai__read_table pai__read_table;

/* Our own form, and HiveD's configuration. */
extern const pai__read_table pai__table_openpai, pai__table_hived;

/* Kinds of values. */
enum pai__read_kind {
  PAI__KIND_ANY,
  PAI__KIND_TEXT,
  PAI__KIND_NUMBER,
  PAI__KIND_SIZE, /* bytes, as 1024 or 64G */
  PAI__KIND_FLAG,
  PAI__KIND_LIST,   /* of mappings with the fields of `inside` */
  PAI__KIND_KEYS,   /* a mapping of such mappings, with free keys */
  PAI__KIND_MAPPING /* with the fields of `inside` */
};

/* A field of a mapping. */
typedef struct pai__read_shown {
  const char *key;
  const char *says; /* a one-line description */
  enum pai__read_kind kind;
  bool needed;
  uint32_t least, most;          /* of a number; both 0: not known */
  const pai__read_table *inside; /* or NULL */
} pai__read_shown;

/* Returns what a mapping is: "a node". */
const char *pai__table_what(const pai__read_table *table);
/* Returns whether there is a field i, from 0, and describes it. */
bool pai__table_field(const pai__read_table *table, size_t i,
                      pai__read_shown *out);

#endif
