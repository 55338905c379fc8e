/* read.h - internal to the room: what the readers of clusters share */
#ifndef PAI_SRC_RESOURCE_READ_H
#define PAI_SRC_RESOURCE_READ_H

#include "base/findings.h"
#include "resource/cluster.h"

/* A text on its way into a cluster.  What is wrong with it, and short memory,
 * is kept by the findings, so that reading goes on. */
typedef struct pai__reader {
  pai_cluster *c;
  const pai__tree *t;
  pai__findings *f;
  uint32_t max_nodes;
  pai__node *places; /* where each node of the cluster stands */
  size_t place_cap;
  pai__node *cell_at; /* likewise of each cell, or of what implies it */
  size_t cell_at_cap;
  bool full;    /* a limit was met: the rest need not be read */
  bool lenient; /* unknown keys are let pass, but for misspelled ones */
} pai__reader;

/* A form of text: whether this is one, and into the cluster with it. */
typedef struct pai__cluster_form {
  const char *name;
  bool (*is)(const pai__tree *t);
  void (*read)(pai__reader *r);
  /* What needs the nodes' names in order, once there is no error; or NULL. */
  void (*finish)(pai__reader *r);
} pai__cluster_form;

extern const pai__cluster_form pai__form_openpai, pai__form_hived,
  pai__form_layout, pai__form_kubernetes, pai__form_slurm, pai__form_alibaba;

/* --- read_alibaba.c: a text of rows, which is no YAML ---------------------- */

bool pai__is_node_rows(const char *text, size_t len);
/* A list of lists of numbers and texts. */
int pai__node_rows_parse(pai__tree **out, const char *text, size_t len,
                         const pai_cluster_options *o, pai_error **err);

/* Options with their defaults filled in (cluster_parse.c). */
int pai__cluster_options(pai_cluster_options *out,
                         const pai_cluster_options *opts, pai_error **err);

/* The name of a kind of GPU as jobs write it: small letters, digits, + and
 * single - for all else; a point would part it in "chain.kind".  Returns its
 * length (machines.c). */
size_t pai__kind_text(char *out, size_t size, const char *s, size_t len);

/* --- read.c: one value ---------------------------------------------------- */

/* A piece of the text, or of a string of the tree; NULL: there was none, and
 * if it was needed that is told. */
typedef struct pai__piece {
  const char *s;
  size_t len;
} pai__piece;

/* Takes a mapping apart: the value of each of the keys, or PAI__NO_NODE.  Tells
 * of other keys, and of what is no mapping, which has no values. */
bool pai__read_fields(pai__reader *r, pai__node n, const char *what,
                      const char *const *keys, size_t nkeys,
                      pai__node *values);

/* A text of one line that is not empty; a number counts as it is written. */
pai__piece pai__read_text(pai__reader *r, pai__node n, const char *what);
/* A text in the cluster's arena, or NULL. */
const char *pai__read_copy(pai__reader *r, pai__node n, const char *what);
/* The same for what types of cells are called after: no '.' and no '/'. */
const char *pai__read_cell_name(pai__reader *r, pai__node n, const char *what);
/* A whole number of that range; `missing` when it is not there or wrong. */
uint32_t pai__read_uint32(pai__reader *r, pai__node n, const char *what,
                          uint32_t least, uint32_t most, uint32_t missing);
/* Bytes, as 1024 or 64G; 0 when they are not there or wrong. */
uint64_t pai__read_size(pai__reader *r, pai__node n, const char *what);
/* A list or a mapping to walk through, which may be absent.  False: tells that
 * it is neither. */
bool pai__read_is_list(pai__reader *r, pai__node n, const char *what);
bool pai__read_is_mapping(pai__reader *r, pai__node n, const char *what);

/* Something that a mapping at n should have. */
void pai__read_missing(pai__reader *r, pai__node n, const char *what,
                       const char *key);

/* So many GPUs of a node are surely not equally near to each other; fewer may
 * be.  Kinds that stand for CPUs do not count: they are called so, or come
 * with no GPU. */
enum { PAI__FLAT = 4 };
bool pai__is_cpu_kind(const pai_cluster *c, const char *name);

/* The kind of that name, which is added if there is none; PAI__NOTHING: no
 * memory, or too many of them, which is told. */
uint32_t pai__read_kind(pai__reader *r, pai__node at, const char *name,
                        size_t len);

/* Whether a node can have that name: one line of bounded length, no brackets,
 * which would be many nodes, and no /, which parts addresses. */
bool pai__is_node_name(const char *s, size_t len);

/* A node that stands at `at`; NULL: too many of them, or no memory. */
pai__member *pai__read_add_node(pai__reader *r, pai__node at, const char *name,
                                uint32_t sku);

/* What is legal and surely not meant, and shares that do not add up: behind a
 * form without errors (lint.c). */
void pai__cluster_lint(pai__reader *r);

/* --- same.c --------------------------------------------------------------- */

/* Tells of nodes of one name; then of one address, and of GPUs of one UUID.
 * PAI_OK or PAI_ENOMEM. */
int pai__read_same_names(pai__reader *r);
int pai__read_same(pai__reader *r);

/* --- read_types.c --------------------------------------------------------- */

/* `cellTypes` of HiveD: the types of cells, leaf types last.  What is wrong
 * with them is told; a type that cannot be used is its own child. */
void pai__read_types(pai__reader *r, pai__node n);

/* --- read_cells.c --------------------------------------------------------- */

/* `physicalCluster` of HiveD: what comes with leaf cells, types, and cells
 * with their addresses, which belong to no node and no GPU yet. */
void pai__read_cells(pai__reader *r, pai__node n);

/* The index of the device that a leaf cell is; false: tells that its address
 * is none. */
bool pai__read_device(pai__reader *r, uint32_t cell, uint16_t *number);
/* What a cell is called in the one above it. */
const char *pai__cell_own(const pai_cluster *c, uint32_t cell);

/* --- cells_nodes.c -------------------------------------------------------- */

/* Makes the nodes, their GPUs and SKUs of the cells. */
void pai__read_cells_nodes(pai__reader *r);

/* --- cells_bind.c --------------------------------------------------------- */

/* Finds the nodes and GPUs of the cells among those there are. */
void pai__read_cells_bind(pai__reader *r);

/* --- check_shares.c ------------------------------------------------------- */

/* Whether the shares are there, and fit into the cells, which may have been
 * derived. */
void pai__read_check_shares(pai__reader *r);

/* --- read_shares.c -------------------------------------------------------- */

/* `virtualClusters` of our own form: {NAME: {cells: {TYPE: COUNT}, pins: [ID]}}
 * with a list of such mappings for cells where their order matters. */
void pai__read_vcs(pai__reader *r, pai__node n);

/* --- size.c --------------------------------------------------------------- */

/* Reads "64G", "1.5T", "512MiB", "1024": units of 1024.  False: it is none, or
 * too large. */
bool pai__size_parse(uint64_t *out, const char *s, size_t len);
/* The shortest that is exact, as "64G". */
enum { PAI__SIZE_TEXT = 40 };
const char *pai__size_text(char out[PAI__SIZE_TEXT], uint64_t size);

/* --- range.c: many names in one ------------------------------------------- */

/* "gpu[01-16,20]b" is gpu01b, gpu02b, ...; at most one pair of brackets. */
typedef struct pai__range_names {
  pai__piece before, after; /* the brackets */
  const char *at, *end;     /* in them, what is left */
  uint64_t next, last;
  int width;
  bool plain; /* there are no brackets: one name */
} pai__range_names;

/* False: the brackets make no sense. */
bool pai__range_begin(pai__range_names *n, const char *s, size_t len);
/* Writes the next one; false when there is none. */
bool pai__range_next(pai__range_names *n, pai__buf *out);

#endif
