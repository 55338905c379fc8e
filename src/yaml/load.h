/*
 * load.h - internal to the YAML loader: state that turns libyaml's events into
 * a tree
 */
#ifndef PAI_SRC_YAML_LOAD_H
#define PAI_SRC_YAML_LOAD_H

#include "yaml/anchors.h"
#include "yaml/scalar.h"
#include "yaml/source.h"
#include "yaml/yaml.h"

#include <yaml.h>

/* The meaning of a node's tag. */
typedef enum pai__yaml_tag {
  PAI__TAG_NONE,
  PAI__TAG_TEXT, /* "!": the scalar is a string whatever it looks like */
  PAI__TAG_STR,
  PAI__TAG_INT,
  PAI__TAG_FLOAT,
  PAI__TAG_BOOL,
  PAI__TAG_NULL,
  PAI__TAG_SEQ,
  PAI__TAG_MAP,
  PAI__TAG_TIMESTAMP, /* from here on only in js mode */
  PAI__TAG_MERGE,
  PAI__TAG_BINARY,
  PAI__TAG_OMAP,
  PAI__TAG_PAIRS,
  PAI__TAG_SET
} pai__yaml_tag;

/* An open collection: its end event has not come yet. */
typedef struct pai__yaml_frame {
  pai__node node;
  pai__node key;   /* the key that this collection is, or PAI__NO_NODE */
  int32_t anchor;  /* or -1 */
  uint32_t height; /* depth of its content so far */
  uint64_t before; /* expanded nodes before it */
  uint64_t bytes;  /* bytes of aliases before it */
  pai__yaml_tag tag;
} pai__yaml_frame;

typedef struct pai__yaml_loader {
  pai__tree *t;
  pai__yaml_source src;
  pai__yaml_options opts; /* with the defaults filled in */
  bool js;
  pai__anchors anchors;
  pai__yaml_frame *frames;
  size_t depth, frame_cap;
  uint32_t at;       /* end of the last node; nodes do not overlap */
  uint64_t expanded; /* nodes of the document with aliases expanded */
  uint64_t repeated; /* bytes that aliases stand for */
  size_t key_bytes;  /* bytes of texts made for keys that are not scalars */
  pai_error **err;
} pai__yaml_loader;

/* Handles one event of the document. */
int pai__yaml_take(pai__yaml_loader *l, yaml_event_t *event);

/* --- place.c ------------------------------------------------------------ */

bool pai__yaml_space(char c);

/* Computes where a node begins and ends, never before the end of the node
 * before it.  With `props` an anchor or a tag precedes the node. */
void pai__yaml_place(pai__yaml_loader *l, const yaml_event_t *event,
                     bool props, uint32_t *start, uint32_t *end);

/* Returns whether "!" precedes the scalar at a byte.  libyaml does not report
 * it. */
bool pai__yaml_bare_tag(const pai__tree *t, uint32_t at);

/* Returns whether "?" precedes the key at a byte, in a block mapping. */
bool pai__yaml_explicit(const pai__tree *t, const pai__tree_node *mapping,
                        size_t at);

/* --- values.c ----------------------------------------------------------- */

/* A scalar event's content, type and place. */
typedef struct pai__yaml_text {
  char *s; /* owned by the event */
  size_t len;
  uint32_t from; /* start of its anchor or tag, else of the scalar */
  uint32_t start, end;
  uint8_t flags;
  bool merge; /* "<<", a merge key if the scalar is a key */
  pai__scalar value;
} pai__yaml_text;

int pai__yaml_read(pai__yaml_loader *l, yaml_event_t *event,
                   pai__yaml_text *x);

/* Stores the value in a node of the same type. */
int pai__yaml_set(pai__yaml_loader *l, pai__node n, const pai__yaml_text *x);

/* --- tags.c ------------------------------------------------------------- */

/* Finds the tag of a node.  `kind` is SEQUENCE, MAPPING, or STRING for a
 * scalar; `empty` says that the scalar is absent. */
int pai__yaml_find_tag(pai__yaml_loader *l, const char *tag, int kind,
                       bool empty, uint32_t at, pai__yaml_tag *found);

/* Checks that a complete collection fits its tag. */
int pai__yaml_check_tag(pai__yaml_loader *l, pai__yaml_tag tag, pai__node n);

/* Fails with "cannot read this as !!TAG". */
int pai__yaml_fail_tag(pai__yaml_loader *l, pai__yaml_tag tag, uint32_t at);

/* --- keys.c ------------------------------------------------------------- */

/* Gives a key the text that JavaScript makes of a node. */
int pai__yaml_key_text(pai__yaml_loader *l, pai__node key, pai__node from);

#endif
