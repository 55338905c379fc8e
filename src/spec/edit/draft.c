/* draft.c - pai_draft: a text that is changed by edits */
#include "spec/edit/edit.h"
#include "spec/format/format.h"
#include "spec/read.h"
#include "spec/edit/place.h"

#include <openpai/draft.h>

struct pai_draft {
  pai_alloc alloc;
  pai_spec_options options;
  pai__tree *tree; /* owner of the text */
};

/* Parses a text and makes it the draft's. */
static int take_text(pai_draft *d, const char *text, size_t len,
                     pai_error **err)
{
  pai__tree *tree;
  int version;
  int rc = pai__spec_tree(&tree, &version, NULL, text, len, &d->options, err);

  if (rc < 0)
    return rc;
  pai__tree_free(d->tree);
  d->tree = tree;
  return PAI_OK;
}

int pai_draft_new(pai_draft **out, const char *text, size_t len,
                  const pai_spec_options *opts, pai_error **err)
{
  pai_spec_options o;
  pai_draft *d;
  int rc;

  PAI__CLEAR_OUT(out, err);
  rc = pai__spec_options(&o, opts, err);
  if (rc < 0)
    return rc;
  d = pai__zalloc(o.alloc, sizeof(*d));
  if (d == NULL)
    return pai__oom(err);
  d->alloc = *o.alloc;
  d->options = o;
  d->options.alloc = &d->alloc;
  rc = take_text(d, text != NULL ? text : "", text != NULL ? len : 0, err);
  if (rc < 0) {
    pai_draft_free(d);
    return rc;
  }
  *out = d;
  return PAI_OK;
}

void pai_draft_free(pai_draft *d)
{
  pai_alloc alloc;

  if (d == NULL)
    return;
  alloc = d->alloc;
  pai__tree_free(d->tree);
  pai__free(&alloc, d, sizeof(*d));
}

const char *pai_draft_text(const pai_draft *d, size_t *len)
{
  if (len != NULL)
    *len = d->tree->len;
  return d->tree->text;
}

/* Returns whether parsing the text again would give `made`, which was parsed
 * to check an edit: the limits and the detected syntax are the same. */
static bool is_as_read(const pai_draft *d, const pai__tree *made)
{
  const pai_spec_options *o = &d->options;
  pai_spec_options defaults;

  return pai__spec_options(&defaults, NULL, NULL) == PAI_OK &&
         made->syntax == PAI__SYNTAX_YAML && made->len <= o->max_bytes &&
         o->max_depth == defaults.max_depth &&
         o->max_aliases == defaults.max_aliases &&
         !pai__spec_braced(made->text, made->len);
}

/* Sets a place, or removes it if `value` is NULL. */
static int change(pai_draft *d, const char *path, const pai__tree *value,
                  pai_error **err)
{
  pai__tree *made;
  pai__buf text;
  int rc;

  pai__buf_init(&text, &d->alloc);
  rc = pai__edit_read(&text, &made, d->tree, path, value, err);
  if (rc == PAI_OK && is_as_read(d, made)) {
    pai__tree_free(d->tree);
    d->tree = made;
    made = NULL;
  } else if (rc == PAI_OK) {
    rc = take_text(d, pai__buf_text(&text), text.len, err);
  }
  pai__tree_free(made);
  pai__buf_dispose(&text);
  return rc;
}

int pai_draft_set(pai_draft *d, const char *path, const char *value,
                  pai_error **err)
{
  pai_error *why = NULL;
  pai__tree *tree;
  int version, rc;

  PAI__CHECK_ARG_ERR(d != NULL && path != NULL && value != NULL, err);
  rc = pai__spec_tree(&tree, &version, NULL, value, strlen(value), &d->options,
                      &why);
  if (rc < 0) {
    rc = pai__fail(err, rc, "the value for '%s' cannot be read: %s", path,
                   pai_error_message(why));
    pai_error_free(why);
    return rc;
  }
  rc = change(d, path, tree, err);
  pai__tree_free(tree);
  return rc;
}

/* Makes a tree of one string. */
static int text_tree(pai__tree **out, const pai_alloc *alloc, const char *text,
                     size_t len)
{
  pai__tree_node *node;
  uint32_t off;

  if (pai__tree_new(out, alloc, "", 0, NULL) < 0)
    return PAI_ENOMEM;
  if (pai__tree_store(*out, &off, text, len) < 0 ||
      (node = pai__tree_push(*out, PAI__STRING, 0, 0)) == NULL) {
    pai__tree_free(*out);
    *out = NULL;
    return PAI_ENOMEM;
  }
  node->u.s.off = off;
  node->u.s.len = (uint32_t)len;
  return PAI_OK;
}

int pai_draft_set_text(pai_draft *d, const char *path, const char *text,
                       size_t len, pai_error **err)
{
  pai__tree *tree;
  int rc;

  PAI__CHECK_ARG_ERR(d != NULL && path != NULL && text != NULL, err);
  if (len > d->options.max_bytes)
    return pai__fail(err, PAI_ELIMIT, "the text for '%s' is too long", path);
  if (text_tree(&tree, &d->alloc, text, len) < 0)
    return pai__oom(err);
  rc = change(d, path, tree, err);
  pai__tree_free(tree);
  return rc;
}

int pai_draft_unset(pai_draft *d, const char *path, pai_error **err)
{
  PAI__CHECK_ARG_ERR(d != NULL && path != NULL, err);
  return change(d, path, NULL, err);
}

int pai_draft_format(pai_draft *d, pai_error **err)
{
  pai__buf text;
  int rc;

  PAI__CHECK_ARG_ERR(d != NULL, err);
  pai__buf_init(&text, &d->alloc);
  rc = pai__format(&text, d->tree, err);
  if (rc == PAI_OK)
    rc = take_text(d, pai__buf_text(&text), text.len, err);
  pai__buf_dispose(&text);
  return rc;
}

int pai_draft_get(const pai_draft *d, const char *path, pai_write_cb write,
                  void *user_data, pai_error **err)
{
  PAI__CHECK_ARG_ERR(d != NULL && path != NULL && write != NULL, err);
  return pai__write_place(d->tree, NULL, path, write, user_data, err);
}
