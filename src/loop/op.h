/* op.h - internal: the common part of operations that a caller can cancel */
#ifndef PAI_SRC_LOOP_OP_H
#define PAI_SRC_LOOP_OP_H

#include <openpai/loop.h>

#include <stdbool.h>

/* The first member of the operations of each room. */
struct pai_op {
  unsigned forks; /* see base/os/fork.h */
  /* Begins to end the operation, with PAI_ECANCELED. */
  void (*cancel)(pai_op *op);
  /* Pauses or resumes its callbacks; NULL: it cannot pause. */
  void (*hold)(pai_op *op, bool hold);
  bool ending; /* its last callback is due */
  bool held;   /* paused by the caller */
};

#endif
