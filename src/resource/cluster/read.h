/* read.h - internal to the room: parser state, forms and field tables shared
 * by the readers of clusters */
#ifndef PAI_SRC_RESOURCE_CLUSTER_READ_H
#define PAI_SRC_RESOURCE_CLUSTER_READ_H

#include "base/findings.h"
#include "resource/cluster.h"
#include "resource/cluster/tables.h"

/* The state of reading a text into a cluster.  `f` keeps all errors, also that
 * memory is short, so that reading continues. */
typedef struct pai__reader {
  pai_cluster *c;
  const pai__tree *t;
  pai__findings *f;
  uint32_t max_nodes;
  pai__node *places; /* place in the text of each node of the cluster */
  size_t place_cap;
  pai__node *cell_at; /* place of each cell, or of the text that implies it */
  size_t cell_at_cap;
  struct pai__share *shares; /* of the virtual cluster being read */
  size_t nshares, share_cap;
  bool full;    /* a limit was exceeded: reading can stop */
  bool lenient; /* accept unknown keys, except misspelled ones */
} pai__reader;

/* A form of cluster text: how to detect it and how to read it. */
typedef struct pai__cluster_form {
  const char *name;
  bool (*is)(const pai__tree *t);
  void (*read)(pai__reader *r);
  /* Called if there is no error, once the nodes are sorted by name; or
   * NULL. */
  void (*finish)(pai__reader *r);
} pai__cluster_form;

extern const pai__cluster_form pai__form_openpai, pai__form_hived,
  pai__form_layout, pai__form_kubernetes, pai__form_slurm, pai__form_alibaba;

/* --- read_alibaba.c: a text of rows, which is no YAML -------------------- */

bool pai__is_node_rows(const char *text, size_t len);
/* Parses rows into a list of lists of numbers and texts. */
int pai__node_rows_parse(pai__tree **out, const char *text, size_t len,
                         const pai_cluster_options *o, pai_error **err);

/* Returns the number of GPUs in all groups of a SKU. */
static inline uint32_t pai__sku_count(const pai__sku *sku)
{
  uint32_t gpus = 0;

  for (uint32_t i = 0; i < sku->ngroups; i++)
    gpus += sku->groups[i].count;
  return gpus;
}

/* Fills in the defaults of options (cluster_parse.c). */
int pai__cluster_options(pai_cluster_options *out,
                         const pai_cluster_options *opts, pai_error **err);

/* Writes the name of a kind of GPU as jobs write it: small letters, digits and
 * +, with a single - for everything else, because a point would split
 * "chain.kind".  Returns its length (machines.c). */
size_t pai__kind_text(char *out, size_t size, const char *s, size_t len);

/* --- read.c: one value --------------------------------------------------- */

/* A piece of the text, or of a string of the tree; NULL if it is absent, which
 * is reported if it is required. */
typedef struct pai__piece {
  const char *s;
  size_t len;
} pai__piece;

/* Called for an item of a list, a key of a mapping, or a value. */
typedef void pai__read_fn(pai__reader *r, pai__node n, void *record);

struct pai__output;
/* Writes a field of a record with its key, or nothing if it has no value. */
typedef void pai__write_fn(struct pai__output *o, const pai_cluster *c,
                           const void *record);

/* A field of a mapping: its type, its offset in a record, and how it is read
 * and written. */
enum {
  PAI__FIELD_KNOWN,  /* read by the caller */
  PAI__FIELD_TEXT,   /* const char *: pai__read_copy() */
  PAI__FIELD_NUMBER, /* uint32_t: pai__read_uint32() */
  PAI__FIELD_SIZE,   /* uint64_t: bytes, as 1024 or 64G */
  PAI__FIELD_FLAG,   /* bool */
  PAI__FIELD_OWN,    /* calls read() with the value, if present */
  PAI__FIELD_ITEMS,  /* calls read() for each item */
  PAI__FIELD_KEYS    /* calls read() for each key */
};

typedef struct pai__read_field {
  const char *key;
  size_t place;
  pai__read_fn *read;
  pai__write_fn *write; /* if neither `type` nor `as` says how */
  int type;             /* how it is read */
  int as;               /* how it is written, if not as `type`: TEXT or FLAG */
  uint32_t least, most; /* of a number */
  uint32_t usual;       /* a number that is not written */
  bool needed;
  enum pai__read_names names; /* for editors, as in pai__read_shown */
  bool declares;
} pai__read_field;

/* What editors tell of a field, in the order of the fields. */
typedef struct pai__read_about {
  const char *says;
  enum pai__read_kind kind; /* if the field's type does not say it */
  const pai__read_table *inside;
} pai__read_about;

struct pai__read_table {
  const char *what;
  const pai__read_field *fields;
  const pai__read_about *about;
  size_t count;
};

#define PAI__TABLE(thing, its_fields, its_about)                             \
  {                                                                          \
    .what = (thing), .fields = (its_fields), .about = (its_about),           \
    .count =                                                                 \
      PAI__LEN(its_fields) +                                                 \
      0 * sizeof(char[PAI__LEN(its_fields) == PAI__LEN(its_about) ? 1 : -1]) \
  }

extern const pai__read_table pai__table_kind, pai__table_sku, pai__table_vc,
  pai__table_cells, pai__table_type;

#define PAI__FIELD(k, kind, ...)                     \
  {                                                  \
    .key = k, .type = PAI__FIELD_##kind, __VA_ARGS__ \
  }
#define PAI__KNOWN(k) PAI__FIELD(k, KNOWN, .needed = false)
#define PAI__NEEDED(k) PAI__FIELD(k, KNOWN, .needed = true)
#define PAI__TEXT(k, record, member) \
  PAI__FIELD(k, TEXT, .place = offsetof(record, member))
#define PAI__SIZE(k, record, member) \
  PAI__FIELD(k, SIZE, .place = offsetof(record, member))
#define PAI__FLAG(k, record, member) \
  PAI__FIELD(k, FLAG, .place = offsetof(record, member))
#define PAI__NUMBER(k, record, member, from, to)                            \
  PAI__FIELD(k, NUMBER, .place = offsetof(record, member), .least = (from), \
             .most = (to))
#define PAI__OWN(k, reader) PAI__FIELD(k, OWN, .read = (reader))
#define PAI__ITEMS(k, reader) PAI__FIELD(k, ITEMS, .read = (reader))
/* A field of any type that is written by a function. */
#define PAI__BOTH(k, kind, reader, writer) \
  PAI__FIELD(k, kind, .read = (reader), .write = (writer))

/* Splits a mapping into the value of each field, or PAI__NO_NODE.  Reports
 * other keys and missing required keys.  Returns false, without values, if n
 * is not a mapping, which is reported too. */
bool pai__read_fields(pai__reader *r, pai__node n, const char *what,
                      const pai__read_field *fields, size_t nfields,
                      pai__node *values);
/* Fills a record from the values.  The field of an absent number keeps its
 * value. */
void pai__read_values(pai__reader *r, const pai__read_field *fields,
                      size_t nfields, const pai__node *values, void *record);
/* pai__read_fields(), then pai__read_values(). */
#define PAI__READ(r, n, what, fields, record) \
  pai__read_record(r, n, what, fields, PAI__LEN(fields), record)
bool pai__read_record(pai__reader *r, pai__node n, const char *what,
                      const pai__read_field *fields, size_t nfields,
                      void *record);

/* Read the items of a list, or the keys of a mapping, until memory is short or
 * a limit is exceeded. n may be absent; another type is reported. */
void pai__read_items(pai__reader *r, pai__node n, const char *what,
                     pai__read_fn *read, void *record);
void pai__read_keys(pai__reader *r, pai__node n, const char *what,
                    pai__read_fn *read, void *record);

/* Allocates n + 1 zeroed elements in the cluster's arena.  NULL: memory is
 * short, which the findings keep. */
void *pai__read_room(pai__reader *r, size_t n, size_t size);

/* Reads a text of one line that is not empty; a number counts as it is
 * written. */
pai__piece pai__read_text(pai__reader *r, pai__node n, const char *what);
/* Reads a text and copies it to the cluster's arena, or returns NULL. */
const char *pai__read_copy(pai__reader *r, pai__node n, const char *what);
/* The same for names that cell types take; they must not contain '.' or
 * '/'. */
const char *pai__read_cell_name(pai__reader *r, pai__node n, const char *what);
/* Reads a whole number in a range; returns `missing` if it is absent or
 * wrong. */
uint32_t pai__read_uint32(pai__reader *r, pai__node n, const char *what,
                          uint32_t least, uint32_t most, uint32_t missing);
/* Whether n is a list (or a mapping); absent is false.  Reports another
 * type. */
bool pai__read_is_list(pai__reader *r, pai__node n, const char *what);
bool pai__read_is_mapping(pai__reader *r, pai__node n, const char *what);

/* Reports that the mapping at n lacks a required key. */
void pai__read_missing(pai__reader *r, pai__node n, const char *what,
                       const char *key);

/* From this number on, the GPUs of a node are surely not equally near to each
 * other.  Kinds that stand for CPUs do not count: kinds with such a name, or
 * without GPUs. */
enum { PAI__FLAT = 4 };
bool pai__is_cpu_kind(const pai_cluster *c, const char *name);

/* Finds or adds a kind of GPU.  PAI__NOTHING: memory is short, or there are
 * too many kinds, which is reported. */
uint32_t pai__read_kind(pai__reader *r, pai__node at, const char *name,
                        size_t len);

/* Whether a node can have that name: one line of bounded length, without
 * brackets, which stand for many nodes, and without /, which separates
 * addresses. */
bool pai__is_node_name(const char *s, size_t len);

/* Adds a node; `at` is its place in the text.  Returns NULL for too many
 * nodes, or if memory is short. */
pai__member *pai__read_add_node(pai__reader *r, pai__node at, const char *name,
                                uint32_t sku);

/* Reports what is valid but probably a mistake, and shares that do not add up,
 * for a text without errors (lint.c). */
void pai__cluster_lint(pai__reader *r);

/* pai__read_same_names() reports nodes with the same name; pai__read_same()
 * reports equal addresses of nodes and equal UUIDs of GPUs.  Return PAI_OK or
 * PAI_ENOMEM. */
int pai__read_same_names(pai__reader *r);
int pai__read_same(pai__reader *r);

/* --- read_hived.c -------------------------------------------------------- */

/* Reads HiveD's `cellTypes`: the types of cells, leaf types last.  Errors are
 * reported; a type that cannot be used is its own child. */
void pai__read_types(pai__reader *r, pai__node n);

/* --- read_cells.c -------------------------------------------------------- */

/* Reads HiveD's `physicalCluster`: units of leaf cells, types, and cells with
 * their addresses, which have no node and no GPU yet. */
void pai__read_cells(pai__reader *r, pai__node n);

/* Reads the device number of a leaf cell from its address.  False: the address
 * is not a number, which is reported. */
bool pai__read_device(pai__reader *r, uint32_t cell, uint16_t *number);
/* Returns the last part of a cell's address. */
const char *pai__cell_own(const pai_cluster *c, uint32_t cell);

/* --- cells_nodes.c ------------------------------------------------------- */

/* Makes nodes, GPUs and SKUs from the cells. */
void pai__read_cells_nodes(pai__reader *r);

/* Binds the cells to nodes and GPUs that are given. */
void pai__read_cells_bind(pai__reader *r);

/* --- check_shares.c ------------------------------------------------------ */

/* Checks that the cells of all shares exist and are enough; the cells may have
 * been derived. */
void pai__read_check_shares(pai__reader *r);

/* --- parts of the openpai form: openpai_skus.c, openpai_vcs.c ------------ */

/* `gpus`, `skus` and `virtualClusters`: {NAME: {cells: {TYPE: COUNT}, pins:
 * [ID]}}, where cells may be a list of such mappings to keep an order. */
pai__read_fn pai__openpai_read_kind, pai__openpai_read_sku,
  pai__openpai_read_vcs;
pai__write_fn pai__openpai_put_kinds, pai__openpai_put_skus,
  pai__openpai_put_vcs;

/* Adds a share to the virtual cluster being read; does nothing without a path
 * and a pin. pai__read_add_vc() then adds the virtual cluster with its
 * shares. */
void pai__read_add_share(pai__reader *r, pai__node at, const char *path,
                         const char *pin, uint32_t count);
void pai__read_add_vc(pai__reader *r, pai__vc *vc);

/* --- read.c: amounts of memory ------------------------------------------- */

/* Parses "64G", "1.5T", "512MiB", "1024", in units of 1024.  Returns false if
 * the text is not a size or is too large. */
bool pai__size_parse(uint64_t *out, const char *s, size_t len);
/* Writes the shortest exact form, as "64G". */
enum { PAI__SIZE_TEXT = 40 };
const char *pai__size_text(char out[PAI__SIZE_TEXT], uint64_t size);

/* --- read.c: many names in one ------------------------------------------- */

/* Expands "gpu[01-16,20]b" to gpu01b, gpu02b, ...; at most one pair of
 * brackets. */
typedef struct pai__range_names {
  pai__piece before, after; /* texts before and after the brackets */
  const char *at, *end;     /* rest of the brackets' content */
  uint64_t next, last;
  int width;
  bool plain; /* no brackets: one name */
} pai__range_names;

/* Returns false if the brackets are malformed. */
bool pai__range_begin(pai__range_names *n, const char *s, size_t len);
/* Writes the next name; returns false at the end. */
bool pai__range_next(pai__range_names *n, pai__buf *out);

#endif
