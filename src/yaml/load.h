/* load.h - from libyaml's events to the tree: the parts and their state */
#ifndef PAI_SRC_YAML_LOAD_H
#define PAI_SRC_YAML_LOAD_H

#include "yaml/anchors.h"
#include "yaml/scalar.h"
#include "yaml/source.h"
#include "yaml/yaml.h"

#include <yaml.h>

/* What a tag, or the lack of one, asks for. */
typedef enum pai__yaml_tag {
  PAI__TAG_NONE,
  PAI__TAG_TEXT, /* "!": a scalar is a string whatever it looks like */
  PAI__TAG_STR,
  PAI__TAG_INT,
  PAI__TAG_FLOAT,
  PAI__TAG_BOOL,
  PAI__TAG_NULL,
  PAI__TAG_SEQ,
  PAI__TAG_MAP,
  PAI__TAG_TIMESTAMP, /* js mode only, from here on */
  PAI__TAG_MERGE,
  PAI__TAG_BINARY,
  PAI__TAG_OMAP,
  PAI__TAG_PAIRS,
  PAI__TAG_SET
} pai__yaml_tag;

/* A collection whose end has not come. */
typedef struct pai__yaml_frame {
  pai__node node;
  pai__node key;   /* the key that it is, or PAI__NO_NODE */
  int32_t anchor;  /* or -1 */
  uint32_t height; /* of what it has so far */
  uint64_t before; /* expanded nodes before it, */
  uint64_t bytes;  /* and bytes that aliases stood for */
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
  uint32_t at;       /* end of the last node: nodes do not overlap */
  uint64_t expanded; /* nodes as a reader of the document will meet them */
  uint64_t repeated; /* bytes of the text that aliases stand for */
  size_t key_bytes;  /* made up for keys that are no scalars */
  pai_error **err;
} pai__yaml_loader;

/* Takes one event of the document's content. */
int pai__yaml_take(pai__yaml_loader *l, yaml_event_t *event);

/* --- place.c ------------------------------------------------------------ */

bool pai__yaml_space(char c);

/* The place of a node, kept behind the one before it; props says that an
 * anchor or a tag comes first. */
void pai__yaml_place(pai__yaml_loader *l, const yaml_event_t *event,
                     bool props, uint32_t *start, uint32_t *end);

/* Whether "!" stands before the scalar at a byte: libyaml forgets it. */
bool pai__yaml_bare_tag(const pai__tree *t, uint32_t at);

/* Whether "?" announces the key at a byte, in a block mapping. */
bool pai__yaml_explicit(const pai__tree *t, const pai__tree_node *mapping,
                        size_t at);

/* --- values.c ----------------------------------------------------------- */

/* A scalar as an event tells of it. */
typedef struct pai__yaml_text {
  char *s; /* the event's */
  size_t len;
  uint32_t from; /* where its anchor or tag begins, or it does */
  uint32_t start, end;
  uint8_t flags;
  bool merge; /* "<<", if it is a key */
  pai__scalar value;
} pai__yaml_text;

int pai__yaml_read(pai__yaml_loader *l, yaml_event_t *event,
                   pai__yaml_text *x);

/* Gives a node of that type the value. */
int pai__yaml_set(pai__yaml_loader *l, pai__node n, const pai__yaml_text *x);

/* --- tags.c ------------------------------------------------------------- */

/* The tag of a node of this kind: SEQUENCE, MAPPING, or STRING for a scalar;
 * `empty` for one that is not there. */
int pai__yaml_find_tag(pai__yaml_loader *l, const char *tag, int kind,
                       bool empty, uint32_t at, pai__yaml_tag *found);

/* Refuses what a tagged collection may not be, now that it is whole. */
int pai__yaml_check_tag(pai__yaml_loader *l, pai__yaml_tag tag, pai__node n);

/* "cannot read this as !!TAG" */
int pai__yaml_fail_tag(pai__yaml_loader *l, pai__yaml_tag tag, uint32_t at);

/* --- keys.c ------------------------------------------------------------- */

/* Gives a key the text that JavaScript makes of a node. */
int pai__yaml_key_text(pai__yaml_loader *l, pai__node key, pai__node from);

#endif
