/* op.c - operations that a caller can cancel or pause */
#include "loop/op.h"

#include "base/os/fork.h"

static void hold(pai_op *op, bool held)
{
  if (op == NULL || PAI__IS_FORKED(op) || op->ending || op->hold == NULL ||
      op->held == held)
    return;
  op->held = held;
  op->hold(op, held);
}

void pai_op_pause(pai_op *op)
{
  hold(op, true);
}

void pai_op_resume(pai_op *op)
{
  hold(op, false);
}

void pai_op_cancel(pai_op *op)
{
  if (op != NULL && !PAI__IS_FORKED(op) && !op->ending)
    op->cancel(op);
}
