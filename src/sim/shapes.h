/* shapes.h - internal: shapes that were tried */
#ifndef PAI_SRC_SIM_SHAPES_H
#define PAI_SRC_SIM_SHAPES_H

#include "sim/future.h"

enum { PAI__SHAPE_ASKS = 4 };

/* A change of the request, as an event of the scheduler. */
typedef struct pai__ask {
  const char *key, *text;
  uint32_t want;
  int64_t number;
} pai__ask;

typedef struct pai__trial {
  pai_shape view;
  pai__ask changes[PAI__SHAPE_ASKS];
  uint32_t nchanges;
  uint64_t score; /* of two the higher is better */
} pai__trial;

struct pai_shapes {
  pai_alloc alloc;
  pai__arena arena;
  pai_forecast *as_is;
  uint64_t gpus;    /* that were wanted */
  pai__trial *list; /* first as it is, and then the best */
  size_t n, cap;
};

#endif
