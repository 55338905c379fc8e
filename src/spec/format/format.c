/* format.c - formats a file in canonical layout */
#include "spec/format/format_parts.h"
#include "spec/format/write.h"

/* Checks that the result means the same as the text. */
static int check(const pai__format_state *f, pai_error **err)
{
  pai__tree *t = NULL;
  int rc = pai__read_back(&t, f->t, f->out, f->base, NULL);
  bool same = t != NULL && pai__tree_same(t, 0, f->t, 0);

  pai__tree_free(t);
  if (same)
    return PAI_OK;
  if (rc == PAI_ENOMEM)
    return pai__oom(err);
  rc = pai__fail(err, PAI_ENOTSUP,
                 "the file cannot be formatted without changing its meaning");
  pai__error_help(err, "simplify unusual keys and tags");
  return rc;
}

static int fail_node(const pai__format_state *f, pai_error **err)
{
  int rc = pai__fail_at(err, PAI_ENOTSUP, pai__tree_where(f->t, f->fail),
                        "this key cannot be formatted");

  pai__error_help(err, "write the list or mapping on one line, in brackets");
  return rc;
}

int pai__format(pai__buf *out, const pai__tree *tree, pai_error **err)
{
  pai__format_state f = {
    .t = tree, .out = out, .base = out->len, .fail = PAI__NO_NODE
  };
  int rc;

  pai__clear_err(err);
  pai__buf_init(&f.scratch, &tree->alloc);
  rc = pai__comments_find(&f);
  if (rc == PAI_OK && tree->syntax == PAI__SYNTAX_JSON)
    pai__format_json(&f);
  else if (rc == PAI_OK)
    pai__format_yaml(&f);
  if (rc < 0)
    rc = pai__oom(err);
  else if (f.fail != PAI__NO_NODE)
    rc = fail_node(&f, err);
  else
    rc = check(&f, err);
  if (rc < 0)
    pai__buf_cut(out, f.base);
  pai__buf_dispose(&f.scratch);
  pai__free(&tree->alloc, f.comments, f.cap * sizeof(*f.comments));
  return rc;
}
