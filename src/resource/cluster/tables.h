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

/* What a text names, each text of a list, or each key of a mapping. */
enum pai__read_names {
  PAI__READ_NO_NAME,
  PAI__READ_TYPE, /* a type of cell, or a SKU, which is one of its nodes */
  PAI__READ_PATH, /* a type as TYPE or CHAIN.TYPE, or one that is derived from a
                     SKU: dgx-numa */
  PAI__READ_NODE,
  PAI__READ_PIN
};

/* A field of a mapping. */
typedef struct pai__read_shown {
  const char *key;
  const char *says; /* a one-line description */
  enum pai__read_kind kind;
  bool needed;
  uint32_t least, most;          /* of a number; both 0: not known */
  enum pai__read_names names;    /* which are declared in the file */
  bool declares;                 /* here */
  const pai__read_table *inside; /* or NULL */
} pai__read_shown;

/* Returns what a mapping is: "a node". */
const char *pai__table_what(const pai__read_table *table);
/* Returns whether there is a field i, from 0, and describes it. */
bool pai__table_field(const pai__read_table *table, size_t i,
                      pai__read_shown *out);

#endif
