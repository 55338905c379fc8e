/* info.c - finds out the kind of server, on which some calls depend */
#include "client/inside.h"

int pai__client_note_info(pai_client *client, const pai_client_answer *a)
{
  pai__tree *tree;

  if (pai__answer_read(&tree, &client->alloc, a->body, a->body_len) < 0)
    return PAI_ENOMEM;
  client->server =
    strcmp(pai__tree_look_text(tree, 0, "server", ""), "libopenpai") == 0
      ? PAI__OURS
      : PAI__ORIGINAL;
  pai__tree_free(tree);
  return PAI_OK;
}

int pai__client_sequence_info(pai__client_sequence *c,
                              pai__client_sequence_cb next, pai_error **err)
{
  pai__call call = pai__call_of(c->op.client, "GET", "/api/v2/info");

  call.nobody = true;
  return pai__client_sequence_ask(c, &call, next, err);
}

static void on_info(pai__client_sequence *c, int status,
                    const pai_client_answer *a)
{
  if (status == PAI_OK) /* after a failure it is requested again when needed */
    (void)pai__client_note_info(c->op.client, a);
  pai__client_sequence_end(c, status, a);
}

int pai_client_info(pai_op **op, pai_client *client, pai_client_cb cb,
                    void *user_data, pai_error **err)
{
  pai__client_sequence *c;
  int rc = pai__op_check(op, client, cb, __func__, err);

  if (rc == PAI_OK)
    rc = pai__client_sequence_new(&c, client, sizeof(*c), NULL, cb, user_data,
                                  err);
  if (rc < 0)
    return rc;
  rc = pai__client_sequence_info(c, on_info, err);
  return pai__client_sequence_started(c, rc, op);
}
