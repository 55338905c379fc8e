/*
 * import.h - internal to the room: what the readers of others' lists of nodes
 * share
 *
 * Kubernetes and Slurm tell of every node what it has, and know no types of
 * machines.  Ours are made of it: nodes of one shape are one SKU.
 */
#ifndef PAI_SRC_RESOURCE_IMPORT_H
#define PAI_SRC_RESOURCE_IMPORT_H

#include "base/map.h"
#include "resource/read.h"

enum {
  PAI__SHAPE_KINDS = 32, /* of GPUs in one node */
  PAI__IMPORT_CPUS = 1 << 20,
  PAI__REASON_TEXT = 253 /* the longest text of our own form */
};

#define PAI__IMPORT_MEMORY (UINT64_C(1) << 50)

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

/* --- shape.c: types of machines from machines ----------------------------- */

typedef struct pai__shape {
  pai__piece name; /* which its SKU should have, or NULL */
  pai__gpu_group groups[PAI__SHAPE_KINDS];
  uint32_t sick[PAI__SHAPE_KINDS]; /* of each group, in this node */
  uint32_t ngroups;
  uint32_t numa; /* 0: not known */
  uint32_t cpus, used_cpus;
  uint64_t memory, used_memory;
} pai__shape;

/* What is known of a SKU beside itself. */
typedef struct pai__shape_sku {
  uint64_t memory, left; /* of its first node */
  uint32_t before;       /* 1 + the SKU before with the same key, or 0 */
} pai__shape_sku;

typedef struct pai__shapes {
  pai__map by_key; /* all but the memory -> 1 + the last SKU that has it */
  pai__map names;  /* of SKUs -> how many wanted it */
  pai__shape_sku *skus;
  size_t cap;
  pai__buf text;
} pai__shapes;

void pai__shapes_init(pai__shapes *s, const pai__reader *r);
void pai__shapes_dispose(pai__shapes *s, const pai__reader *r);

/* More GPUs of a kind, of which some are sick; tells of too many. */
void pai__shape_add(pai__reader *r, pai__node at, pai__shape *shape,
                    uint32_t kind, uint32_t count, uint32_t sick);

/* The SKU of that shape, which is made if there is none; PAI__NOTHING: no
 * memory.  Memory of up to a 64th less or more is the same: kernels keep a
 * little of it for themselves, and not all the same.  The SKU then has the
 * least of its nodes. */
uint32_t pai__shapes_sku(pai__shapes *s, pai__reader *r,
                         const pai__shape *shape);

#endif
