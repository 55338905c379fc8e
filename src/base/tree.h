/*
 * tree.h - parsed document, independent of its syntax
 *
 * The JSON reader and the YAML reader fill it; afterwards it never changes.
 * Nodes lie in document order, so a walk is a walk through memory:
 *
 * - a node's first child is the next node, its next sibling is node.skip
 * - the children of a mapping are key, value, key, value, ...
 * - a key is always a string; one that was written as something else, and not
 *   as an alias, keeps that as its only child
 *
 * There are two views.  The effective view is what a reader of the document
 * sees: aliases lead to their target, merge keys (<<) are resolved.  All
 * functions use it unless they say "as written".  The view as written is for
 * editors.
 *
 * Threads: IMMUTABLE once parsed.
 */
#ifndef PAI_SRC_BASE_TREE_H
#define PAI_SRC_BASE_TREE_H

#include "base/buf.h"

enum {
  PAI__NULL,
  PAI__BOOL,
  PAI__INT,   /* exact, 64 bits */
  PAI__FLOAT, /* also whole numbers written as 1.0 or too large for INT */
  PAI__STRING,
  PAI__TIMESTAMP, /* milliseconds since the epoch, as JavaScript's Date */
  PAI__BINARY,    /* decoded bytes */
  PAI__SEQUENCE,
  PAI__MAPPING,
  PAI__ALIAS /* as written only */
};

/* How a node was written: one style, and flags. */
enum {
  PAI__STYLE = 7, /* mask */
  PAI__PLAIN = 0, /* for collections: block style */
  PAI__SINGLE = 1,
  PAI__DOUBLE = 2,
  PAI__LITERAL = 3,
  PAI__FOLDED = 4,
  PAI__FLOW = 5,
  PAI__IS_KEY = 8,
  PAI__IS_MERGE = 16,  /* the key is << and its value was merged */
  PAI__HAS_LIST = 32,  /* a mapping whose entries differ from those written */
  PAI__HAS_PROPS = 64, /* has an anchor or a tag */
  PAI__CONVERTED = 128 /* the key was not written as a string */
};

typedef uint32_t pai__node;
#define PAI__NO_NODE UINT32_MAX

typedef struct pai__tree_node {
  uint32_t start, end; /* bytes of the source, without anchor and tag */
  uint32_t skip;       /* the node after this one and its descendants */
  uint8_t type;
  uint8_t flags;
  union {
    bool b;
    int64_t i; /* for INT, TIMESTAMP */
    double f;
    struct {
      uint32_t off, len; /* in the tree's strings; followed by a NUL */
    } s;                 /* for STRING, BINARY */
    struct {
      uint32_t count;
      uint32_t side;  /* 0, or 1 + index of its key lists in `side` */
    } c;              /* for SEQUENCE, MAPPING */
    pai__node target; /* for ALIAS; never an alias itself */
  } u;
} pai__tree_node;

/* The syntax of a document. */
enum { PAI__SYNTAX_JSON, PAI__SYNTAX_YAML };

typedef struct pai__tree {
  pai_alloc alloc;
  uint8_t syntax; /* PAI__SYNTAX_* */
  uint8_t how;    /* the reader's flags or mode, needed to read it again */
  pai__tree_node *nodes; /* [0] is the root */
  size_t count, cap;
  char *strings;
  size_t strings_len, strings_cap;
  uint32_t *side; /* lists of keys: in document order, then sorted */
  size_t side_len, side_cap;
  bool repeats;     /* a mapping has a repeated key, of which the last
                       counts */
  const char *text; /* a copy, followed by NULs */
  size_t len;
  pai__pos *marks; /* lines and characters before every 4096th byte */
  size_t block;    /* size of the block that holds the whole tree */
} pai__tree;

void pai__tree_free(pai__tree *t);

/* Makes a separate tree with the same content.  PAI_ENOMEM. */
int pai__tree_copy(pai__tree **out, const pai__tree *t);

/* --- queries ------------------------------------------------------------- */

/* Returns the target of an alias, else n. */
static inline pai__node pai__tree_real(const pai__tree *t, pai__node n)
{
  const pai__tree_node *p = &t->nodes[n];

  return p->type == PAI__ALIAS ? p->u.target : n;
}

static inline const pai__tree_node *pai__tree_at(const pai__tree *t,
                                                 pai__node n)
{
  return &t->nodes[pai__tree_real(t, n)];
}

static inline int pai__tree_type(const pai__tree *t, pai__node n)
{
  return pai__tree_at(t, n)->type;
}

/* For STRING (keys too) and BINARY.  NUL-terminated; len may be NULL. */
static inline const char *pai__tree_str(const pai__tree *t, pai__node n,
                                        size_t *len)
{
  const pai__tree_node *p = pai__tree_at(t, n);

  if (len != NULL)
    *len = p->u.s.len;
  return t->strings + p->u.s.off;
}

static inline bool pai__tree_bool(const pai__tree *t, pai__node n)
{
  return pai__tree_at(t, n)->u.b;
}

/* For INT, and TIMESTAMP in milliseconds. */
static inline int64_t pai__tree_int(const pai__tree *t, pai__node n)
{
  return pai__tree_at(t, n)->u.i;
}

/* For INT and FLOAT. */
static inline double pai__tree_float(const pai__tree *t, pai__node n)
{
  const pai__tree_node *p = pai__tree_at(t, n);

  return p->type == PAI__INT ? (double)p->u.i : p->u.f;
}

/* Returns true for a number without fraction that fits, as 2, 2.0 and 1e3. */
bool pai__tree_whole(const pai__tree *t, pai__node n, int64_t *value);

/* Number of items or entries. */
static inline uint32_t pai__tree_count(const pai__tree *t, pai__node n)
{
  return pai__tree_at(t, n)->u.c.count;
}

/* Returns the value of a key that pai__tree_next() returned. */
static inline pai__node pai__tree_value(const pai__tree *t, pai__node key)
{
  return t->nodes[key].skip;
}

/* Iterates the items of a sequence, or the keys of a mapping, in order: for
 * (it = pai__tree_iter(t, n); (k = pai__tree_next(&it)) != PAI__NO_NODE;) */
typedef struct pai__tree_walk {
  const pai__tree *tree;
  const uint32_t *list; /* keys, or NULL: iterate as written */
  uint32_t left;
  pai__node next;
  bool keys;
} pai__tree_walk;

static inline pai__tree_walk pai__tree_iter(const pai__tree *t, pai__node n)
{
  const pai__tree_node *p;
  pai__tree_walk w = { t, NULL, 0, 0, false };

  if (n == PAI__NO_NODE) /* nothing to walk through */
    return w;
  n = pai__tree_real(t, n);
  p = &t->nodes[n];
  w.next = n + 1;
  w.keys = p->type == PAI__MAPPING;
  if (p->type >= PAI__SEQUENCE)
    w.left = p->u.c.count;
  if ((p->flags & PAI__HAS_LIST) != 0)
    w.list = t->side + p->u.c.side - 1;
  return w;
}

static inline pai__node pai__tree_next(pai__tree_walk *w)
{
  pai__node n = w->next;

  if (w->left == 0)
    return PAI__NO_NODE;
  w->left--;
  if (w->list != NULL)
    return *w->list++;
  w->next = w->tree->nodes[n].skip;
  if (w->keys)
    w->next = w->tree->nodes[w->next].skip;
  return n;
}

/* Return the key node of an entry, or its value; PAI__NO_NODE if it is missing
 * or n is not a mapping.  t may be NULL, n PAI__NO_NODE. */
pai__node pai__tree_find(const pai__tree *t, pai__node n, const char *key,
                         size_t len);
pai__node pai__tree_get(const pai__tree *t, pai__node n, const char *key);

/* For unchecked documents, too: n may be PAI__NO_NODE. */
bool pai__tree_is(const pai__tree *t, pai__node n, int type);
/* Returns whether n is `true`. */
bool pai__tree_is_true(const pai__tree *t, pai__node n);
/* Number of items or entries; 0 if n is neither a list nor a mapping. */
uint32_t pai__tree_size(const pai__tree *t, pai__node n);
/* Here null counts as missing, too.  `missing` replaces what is not a text, 0
 * what is not a number. */
const char *pai__tree_text(const pai__tree *t, pai__node n,
                           const char *missing);
pai__node pai__tree_look(const pai__tree *t, pai__node n, const char *key);
const char *pai__tree_look_text(const pai__tree *t, pai__node n,
                                const char *key, const char *missing);
int64_t pai__tree_look_int(const pai__tree *t, pai__node n, const char *key);

/* Returns the first child as written, or PAI__NO_NODE; the next is
 * nodes[].skip. */
static inline pai__node pai__tree_written(const pai__tree *t, pai__node n)
{
  return t->nodes[n].skip > n + 1 ? n + 1 : PAI__NO_NODE;
}

/* Returns whether two nodes have the same value, with entries in the same
 * order (tree_same.c).  Numbers are compared by value: 1 and 1.0 are the
 * same. */
bool pai__tree_same(const pai__tree *a, pai__node m, const pai__tree *b,
                    pai__node n);

/* --- places ------------------------------------------------------------- */

/* Returns line and column of a byte of the source, 0 <= offset <= len.  Lines
 * end with LF, CR LF or CR; a byte-order mark takes no column. */
pai__pos pai__tree_pos(const pai__tree *t, size_t offset);

/* Returns where a node starts, as written. */
static inline pai__pos pai__tree_where(const pai__tree *t, pai__node n)
{
  return pai__tree_pos(t, t->nodes[n].start);
}

/* Returns the byte at a place, or the nearest one. */
size_t pai__tree_offset(const pai__tree *t, pai__pos pos);

/* Appends the node's JSON pointer (RFC 6901).  Merge keys do not appear in it.
 * A key has the pointer of its value. */
void pai__tree_pointer(const pai__tree *t, pai__node n, pai__buf *out);

/* The entries on the way of the last pointer.  With it, pointers of nodes in
 * the order of the text cost one walk over the siblings in total, instead of
 * one each.  Initially zeroed; for one tree. */
enum { PAI__TRAIL = 80 }; /* levels; deeper ones are not cached */
typedef struct pai__trail {
  struct {
    pai__node in, key, child; /* a collection, and its entry */
    uint64_t index;
  } levels[PAI__TRAIL];
  size_t depth;
  /* Returns how a key is shown; NULL: unchanged. */
  const char *(*show_key)(void *user_data, pai__node key, size_t *len);
  void *user_data;
} pai__trail;

/* As pai__tree_pointer(), with a trail. */
void pai__tree_pointer_along(const pai__tree *t, pai__node n, pai__buf *out,
                             pai__trail *trail);
/* Appends "/token", escaped. */
void pai__pointer_add(pai__buf *out, const char *token, size_t len);
/* Returns the node of a pointer, or PAI__NO_NODE. */
pai__node pai__tree_resolve(const pai__tree *t, const char *pointer);

/* --- building, for the two readers --------------------------------------- */

enum { PAI__TREE_PAD = 16, PAI__TREE_MAX_TEXT = 1 << 30 };

/* Makes a tree without nodes that owns a copy of the text, followed by
 * PAI__TREE_PAD NULs. */
int pai__tree_new(pai__tree **out, const pai_alloc *alloc, const char *text,
                  size_t len, pai_error **err);

/* Ensures space for one more node; `start` is its place for errors. */
int pai__tree_grow(pai__tree *t, size_t start);

/* Appends a node; its skip is right for a leaf.  NULL when out of memory. */
static inline pai__tree_node *pai__tree_push(pai__tree *t, uint8_t type,
                                             uint32_t start, uint32_t end)
{
  pai__tree_node *n;

  if (PAI__UNLIKELY(t->count == t->cap) && pai__tree_grow(t, start) < 0)
    return NULL;
  n = &t->nodes[t->count++];
  n->start = start;
  n->end = end;
  n->skip = (uint32_t)t->count;
  n->type = type;
  n->flags = 0;
  n->u.i = 0;
  return n;
}

/* Ensures space for len bytes and a NUL at strings + strings_len. */
int pai__tree_reserve(pai__tree *t, size_t len);
/* Stores a string and sets its offset. */
int pai__tree_store(pai__tree *t, uint32_t *off, const char *s, size_t len);

/* How to treat repeated keys. */
enum { PAI__REFUSE_DUPLICATES, PAI__LAST_DUPLICATE };

/* Ends a collection after its last child: sets skip, end and count, resolves
 * merge keys and refuses repeated keys. */
int pai__tree_close(pai__tree *t, pai__node n, uint32_t end, int duplicates,
                    pai_error **err);
/* The part for mappings (tree_mapping.c). */
int pai__tree_close_mapping(pai__tree *t, pai__node n, uint32_t keys,
                            int duplicates, pai_error **err);

/* Frees memory that was allocated in advance. */
void pai__tree_trim(pai__tree *t);

#endif
