/* check.h - what must hold in a C host, which ends where it does not */
#ifndef PAI_TESTS_BINDINGS_CHECK_H
#define PAI_TESTS_BINDINGS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(expr)                                           \
  do {                                                        \
    if (!(expr)) {                                            \
      (void)printf("%s:%d: %s\n", __FILE__, __LINE__, #expr); \
      exit(1);                                                \
    }                                                         \
  } while (0)

#endif
