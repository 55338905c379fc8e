/* checking.h - internal to the room: shares while they are checked */
#ifndef PAI_SRC_RESOURCE_CHECKING_H
#define PAI_SRC_RESOURCE_CHECKING_H

#include "resource/cells.h"
#include "resource/read.h"

/* What is wanted of a level of a chain. */
typedef struct pai__wanted {
  uint64_t count;
  bool named;     /* if only with 0 */
  pai__node last; /* the share that wants most recently */
  const char *vc; /* whose it is */
} pai__wanted;

typedef struct pai__pin {
  const char *name;
  uint32_t cell;
  pai__node used; /* where it is given away, or PAI__NO_NODE */
} pai__pin;

typedef struct pai__checking {
  pai__reader *r;
  pai__cells cells;
  pai__wanted **wanted; /* [chain][level - 1] */
  uint64_t *left;       /* of each chain: GPUs that nobody is given */
  pai__pin *pins;       /* by their names */
  size_t npins;
  pai__named *types; /* by their names */
  unsigned helped;   /* findings that were helped with names */
  const char *vc;    /* whose shares are looked at */
} pai__checking;

/* Where a cell is told of; one that was derived, by its first node. */
pai__node pai__checking_place(const pai__checking *k, uint32_t cell);

/* Whether there are as many cells as are wanted (check_enough.c). */
void pai__check_enough(pai__checking *k);

#endif
