/*
 * op.c - the operations of a client: each calls back once
 *
 * One that is cancelled while nothing is asked for it ends in the loop's next
 * turn.
 */
#include "client/inside.h"

void pai__op_begin(pai_op *op, pai_client *client)
{
  op->client = client;
  op->before = client->last;
  if (client->last != NULL)
    client->last->after = op;
  else
    client->first = op;
  client->last = op;
}

void pai__op_end_soon(pai_op *op)
{
  op->ending = op->client->ends = true;
  op->login = 0;
  pai__turn_ask(op->client->turn);
}

void pai__op_gone(pai_op *op)
{
  pai_client *client = op->client;

  if (op->before != NULL)
    op->before->after = op->after;
  else
    client->first = op->after;
  if (op->after != NULL)
    op->after->before = op->before;
  else
    client->last = op->before;
}

static void hold(pai_op *op, bool held)
{
  if (op == NULL || PAI__IS_FORKED(op->client) || op->ending ||
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
  if (op != NULL && !PAI__IS_FORKED(op->client) && !op->ending)
    op->cancel(op);
}
