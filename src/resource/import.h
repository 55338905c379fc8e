/*
 * import.h - internal to the room: what the readers of others' lists of nodes
 * share
 *
 * Kubernetes and Slurm tell of every node what it has, and know no types of
 * machines.  Ours are made of it: nodes of one shape are one SKU.
 */
#ifndef PAI_SRC_RESOURCE_IMPORT_H
#define PAI_SRC_RESOURCE_IMPORT_H

#include "resource/read.h"
#include "resource/shape.h"

enum {
  PAI__SHAPE_KINDS = 32, /* of GPUs in one node */
  PAI__IMPORT_CPUS = 1 << 20,
  PAI__REASON_TEXT = 253 /* the longest text of our own form */
};

/* --- quantity.c: amounts as Kubernetes writes them ------------------------ */

/* Reads "64", "63900m", "512Gi", "1e3"; units of 10^-3 if `milli`, rounded up
 * as Kubernetes does.  False: it is none, or too large. */
bool pai__quantity_parse(uint64_t *out, const char *s, size_t len, bool milli);

/* The value of a node, at most `most`; false when it is not there or wrong,
 * which is told. */
bool pai__read_quantity(pai__reader *r, pai__node n, const char *what,
                        bool milli, uint64_t most, uint64_t *out);

/* --- import.c ------------------------------------------------------------- */

/* The value of a key, or PAI__NO_NODE, also when n is that or no mapping. */
pai__node pai__import_get(const pai__reader *r, pai__node n, const char *key);
/* A text that is there and not empty, or NULL, which is not told. */
pai__piece pai__import_text(const pai__reader *r, pai__node n);
bool pai__piece_is(pai__piece p, const char *s);
/* Whether our own form can hold it: one line of bounded length, not empty. */
bool pai__piece_is_line(pai__piece p);

/* The name of a node, in the arena; NULL: it is none, or has brackets, which
 * stand for many nodes in our own form, and that is told. */
const char *pai__import_name(pai__reader *r, pai__node n);

/* The kind of GPU called so, made the way jobs write it: small letters, and -
 * for spaces and _.  PAI__NOTHING: no memory, or it is told what is wrong. */
uint32_t pai__import_kind(pai__reader *r, pai__node at, pai__piece name);

/* Adds a label that is not there yet, up to 1,000; room is for as many as the
 * caller counted.  Most nodes have
 * the labels of the node before: `last` is its list, whose texts are used
 * again. */
typedef struct pai__labels {
  pai__label *list;
  uint32_t n;
  const pai__member *last; /* or NULL */
} pai__labels;

bool pai__labels_begin(pai__reader *r, pai__labels *l, size_t room);
void pai__labels_add(pai__reader *r, pai__labels *l, const char *before,
                     pai__piece key, pai__piece value);
static inline void pai__labels_end(const pai__labels *l, pai__member *m)
{
  m->labels = l->list;
  m->nlabels = l->n;
}

/* Why a node is out of use: reasons joined, as one line of bounded length. */
void pai__reason_add(pai__buf *why, const char *fmt, ...) PAI__PRINTF(2, 3);
void pai__reason_end(pai__reader *r, pai__buf *why, char **sick);

/* What a node has, as it is read. */
typedef struct pai__shape {
  pai__piece name; /* which its SKU should have, or NULL */
  pai__sku sku;    /* what it should be; numa 0: not known */
  pai__gpu_group groups[PAI__SHAPE_KINDS];
  uint32_t sick[PAI__SHAPE_KINDS]; /* of each group, in this node */
} pai__shape;

void pai__shape_init(pai__shape *shape);

/* More GPUs of a kind, of which some are sick; tells of too many. */
void pai__shape_add(pai__reader *r, pai__node at, pai__shape *shape,
                    uint32_t kind, uint32_t count, uint32_t sick);

/* A node of that shape, which stands at `at`; NULL: it cannot be, and that is
 * told. */
pai__member *pai__shape_node(pai__reader *r, pai__shapes *shapes, pai__node at,
                             const char *name, const pai__shape *shape);

#endif
