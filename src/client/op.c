/*
 * op.c - operations of a client: each calls back once
 *
 * An operation that is canceled between requests ends in the loop's next step.
 */
#include "client/inside.h"

int pai__op_check(pai_op **op, const pai_client *client, pai_client_cb cb,
                  const char *name, pai_error **err)
{
  if (op != NULL)
    *op = NULL;
  pai__clear_err(err);
  if (client == NULL || cb == NULL)
    return pai__fail(err, PAI_EINVAL, "%s() was called without %s", name,
                     client == NULL ? "client" : "cb");
  return PAI__IS_FORKED(client) ? pai__forked(err) : PAI_OK;
}

void pai__op_begin(pai__client_op *op, pai_client *client)
{
  op->head.forks = client->forks;
  op->client = client;
  op->before = client->last;
  if (client->last != NULL)
    client->last->after = op;
  else
    client->first = op;
  client->last = op;
}

void pai__op_end_soon(pai__client_op *op)
{
  op->head.ending = op->client->ends = true;
  op->login = 0;
  pai__loop_step_ask(op->client->step);
}

void pai__op_gone(pai__client_op *op)
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
