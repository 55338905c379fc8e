/*
 * shape.h - internal to the room: types of machines from what single machines
 * have
 *
 * The one place that decides which machines are equal.
 */
#ifndef PAI_SRC_RESOURCE_SHAPE_H
#define PAI_SRC_RESOURCE_SHAPE_H

#include "resource/read.h"

/* What is known of a SKU beside itself. */
typedef struct pai__shape_sku {
  uint64_t memory, left; /* of its first node */
  uint32_t before;       /* 1 + the SKU before with the same key, or 0 */
} pai__shape_sku;

typedef struct pai__shapes {
  pai_cluster *c;
  pai__map by_key; /* all but the memory -> 1 + the last SKU that has it */
  pai__map names;  /* of SKUs -> how many wanted it */
  pai__shape_sku *skus;
  size_t cap;
  pai__buf text;
} pai__shapes;

/* For a cluster that has no SKUs yet, and gets them all from here. */
void pai__shapes_init(pai__shapes *s, pai_cluster *c);
void pai__shapes_dispose(pai__shapes *s);

/* The longest name that a SKU is given, before "-2" and the like. */
enum { PAI__SHAPE_NAME = 200 };

/* The SKU of machines that have this, which is made if there is none;
 * PAI__NOTHING: no memory.  What is handed in is copied, and its name not
 * looked at: that is `name`, or if that is NULL or too long, what it has.
 * Memory of up to a 64th less or more is the same: kernels keep a little of it
 * for themselves, and not all the same.  The SKU then has the least of its
 * nodes. */
uint32_t pai__shapes_sku(pai__shapes *s, pai__piece name, const pai__sku *has);

#endif
