/* place.c - writes the value at a path as JSON */
#include "spec/edit/place.h"

#include "spec/edit/path.h"
#include "spec/format/write.h"

static pai__node find_item(const pai__tree *t, pai__node n,
                           const pai__path *path, size_t step)
{
  int64_t index, count = pai__tree_count(t, n);
  pai__tree_walk walk = pai__tree_iter(t, n);
  pai__node item = PAI__NO_NODE;

  if (pai__path_item(path, step, &index) != PAI__STEP_ITEM)
    return PAI__NO_NODE;
  if (index < 0)
    index += count;
  if (index < 0 || index >= count)
    return PAI__NO_NODE;
  for (; index >= 0; index--)
    item = pai__tree_next(&walk);
  return item;
}

static pai__node find(const pai__tree *t, const pai__secrets *secrets,
                      const pai__path *path)
{
  pai__node n = 0, key;

  for (size_t i = 0; i < path->len && n != PAI__NO_NODE; i++) {
    const pai__spec_step *step = &path->steps[i];

    if (secrets != NULL && pai__secrets_hide(secrets, n))
      return PAI__NO_NODE; /* a mask has nothing below it */
    if (pai__tree_type(t, n) == PAI__SEQUENCE) {
      n = find_item(t, n, path, i);
      continue;
    }
    key = step->kind == PAI__STEP_KEY || step->kind == PAI__STEP_TOKEN
            ? pai__tree_find(t, n, pai__path_key(path, i), step->len)
            : PAI__NO_NODE;
    n = key != PAI__NO_NODE ? pai__tree_value(t, key) : PAI__NO_NODE;
  }
  return n;
}

static int write_json(const pai__tree *t, const pai__secrets *secrets,
                      pai__node n, pai_write_cb write, void *user_data,
                      pai_error **err)
{
  pai__json_writer w;
  pai__buf out;
  int rc;

  pai__buf_init(&out, &t->alloc);
  pai__json_writer_init(&w, &out, false);
  pai__write_json_masked(&w, t, secrets, n);
  rc = pai__json_finish(&w);
  if (rc < 0)
    rc = pai__oom(err);
  else
    rc = write(user_data, pai__buf_text(&out), out.len);
  pai__buf_dispose(&out);
  return rc < 0 ? rc : PAI_OK;
}

int pai__write_place(const pai__tree *tree, const pai__secrets *secrets,
                     const char *path, pai_write_cb write, void *user_data,
                     pai_error **err)
{
  pai__path steps;
  pai__node n;
  int rc = pai__path_parse(&steps, path, &tree->alloc, err);

  n = rc == PAI_OK ? find(tree, secrets, &steps) : PAI__NO_NODE;
  pai__path_dispose(&steps);
  if (rc < 0)
    return rc;
  if (n == PAI__NO_NODE)
    return pai__fail(err, PAI_ENOTFOUND, "there is no '%s'", path);
  return write_json(tree, secrets, n, write, user_data, err);
}
