/*
 * import.h - internal to the room: helpers for reading node lists of
 * Kubernetes, Slurm and others
 *
 * Kubernetes and Slurm list the hardware of every node and have no SKUs.
 * Nodes of equal hardware become one SKU here.
 */
#ifndef PAI_SRC_RESOURCE_CLUSTER_IMPORT_H
#define PAI_SRC_RESOURCE_CLUSTER_IMPORT_H

#include "resource/cluster/read.h"
#include "resource/shape.h"

enum {
  PAI__SHAPE_KINDS = 32, /* kinds of GPUs in one node */
  PAI__IMPORT_CPUS = 1 << 20,
  PAI__REASON_TEXT = 253 /* longest text of the openpai form */
};

/* --- amounts as Kubernetes writes them ----------------------------------- */

/* Parses "64", "63900m", "512Gi", "1e3", in units of 10^-3 if `milli`, rounded
 * up as Kubernetes does.  Returns false if the text is not a quantity or is
 * too large. */
bool pai__quantity_parse(uint64_t *out, const char *s, size_t len, bool milli);

/* Reads the quantity at node n.  Returns false if it is absent, or if it is
 * wrong or above `most`, which is reported. */
bool pai__read_quantity(pai__reader *r, pai__node n, const char *what,
                        bool milli, uint64_t most, uint64_t *out);

/* --- import.c ------------------------------------------------------------ */

/* Returns the value of a key, or PAI__NO_NODE, also if n is not a mapping. */
pai__node pai__import_get(const pai__reader *r, pai__node n, const char *key);
/* Returns a text, or NULL if it is absent or empty, which is not reported. */
pai__piece pai__import_text(const pai__reader *r, pai__node n);
bool pai__import_is_true(const pai__reader *r, pai__node n);
bool pai__piece_is(pai__piece p, const char *s);
bool pai__piece_begins(pai__piece p, const char *s);
bool pai__piece_ends(pai__piece p, const char *s);
/* Whether the openpai form can hold the text: one line of bounded length, not
 * empty. */
bool pai__piece_is_line(pai__piece p);

/* Returns the name of a node, in the arena.  NULL: it is not valid, or has
 * brackets, which would stand for many nodes in the openpai form; this is
 * reported. */
const char *pai__import_name(pai__reader *r, pai__node n);

/* Finds or adds the kind of GPU with that name, spelled as pai__kind_text()
 * does.  PAI__NOTHING: memory is short, or the name is wrong, which is
 * reported. */
uint32_t pai__import_kind(pai__reader *r, pai__node at, pai__piece name);

/* The labels of a node while they are collected, each key once, up to 1,000.
 * `room` is the number of labels that the caller counted.  Most nodes have the
 * labels of the node before: `last` is that node, whose texts are used
 * again. */
typedef struct pai__labels {
  pai__label *list;
  uint32_t n;
  const pai__member *last; /* the node before, or NULL */
} pai__labels;

bool pai__labels_begin(pai__reader *r, pai__labels *l, size_t room);
void pai__labels_add(pai__reader *r, pai__labels *l, const char *before,
                     pai__piece key, pai__piece value);
static inline void pai__labels_end(const pai__labels *l, pai__member *m)
{
  m->labels = l->list;
  m->nlabels = l->n;
}

/* Joins the reasons why a node is sick into one line of bounded length. */
void pai__reason_add(pai__buf *why, const char *fmt, ...) PAI__PRINTF(2, 3);
void pai__reason_end(pai__reader *r, pai__buf *why, char **sick);

/* The hardware of a node while it is read. */
typedef struct pai__import_shape {
  pai__piece name; /* preferred name of its SKU, or NULL */
  pai__sku sku;    /* its hardware; numa 0: unknown */
  pai__gpu_group groups[PAI__SHAPE_KINDS];
  uint32_t sick[PAI__SHAPE_KINDS]; /* sick GPUs of each group in this node */
} pai__import_shape;

void pai__shape_init(pai__import_shape *shape);

/* Adds `count` GPUs of a kind, `sick` of which are sick; reports too many. */
void pai__shape_add(pai__reader *r, pai__node at, pai__import_shape *shape,
                    uint32_t kind, uint32_t count, uint32_t sick);

/* Reads all nodes of a list; `read` gets the shapes as its record. */
void pai__import_nodes(pai__reader *r, pai__node list, const char *what,
                       pai__read_fn *read);

/* Adds a node of that shape.  `at` is its place in the text.  Returns NULL if
 * that fails, which is reported. */
pai__member *pai__shape_node(pai__reader *r, pai__shapes *shapes, pai__node at,
                             const char *name, const pai__import_shape *shape);

#endif
