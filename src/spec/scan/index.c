/* index.c - looks up prerequisites and deployments by name */
#include "spec/scan/index.h"

enum { LONGEST = 300 }; /* of "TYPE/NAME"; a name has at most 255 */

const char *pai__text_at(const pai__tree *tree, pai__node n, size_t *len)
{
  *len = 0;
  return pai__tree_is(tree, n, PAI__STRING) ? pai__tree_str(tree, n, len)
                                            : NULL;
}

/* Makes the key of a name.  Returns 0 if the name is too long to exist. */
static size_t make_key(char key[LONGEST], const char *type, const char *name,
                       size_t len)
{
  size_t type_len = strlen(type);

  if (type_len + 1 + len > LONGEST)
    return 0;
  memcpy(key, type, type_len);
  key[type_len] = '/';
  memcpy(key + type_len + 1, name, len);
  return type_len + 1 + len;
}

pai__node pai__index_find(const pai__index *index, const char *type,
                          const char *name, size_t len)
{
  char key[LONGEST];
  size_t n = make_key(key, type, name, len);
  const void *found = n > 0 ? pai__map_get(&index->named, key, n) : NULL;

  return found != NULL ? (pai__node)((uintptr_t)found - 1) : PAI__NO_NODE;
}

typedef struct adder {
  pai__index *index;
  pai__twice_cb twice;
  void *user_data;
} adder;

static int add(const adder *a, const char *type, pai__node item)
{
  const pai__tree *t = a->index->tree;
  pai__node name_node = pai__tree_get(t, item, "name");
  char key[LONGEST];
  size_t len, n;
  const char *name = pai__text_at(t, name_node, &len);

  n = name != NULL ? make_key(key, type, name, len) : 0;
  if (n == 0)
    return PAI_OK;
  if (pai__map_get(&a->index->named, key, n) == NULL)
    return pai__map_set(&a->index->named, key, n,
                        (void *)((uintptr_t)item + 1));
  if (a->twice != NULL)
    a->twice(a->user_data, name_node, type);
  return PAI_OK;
}

/* Adds all items of a list of the root, by `type` or, if it is NULL, by their
 * own types. */
static int add_all(const adder *a, const char *list, const char *type)
{
  const pai__tree *t = a->index->tree;
  pai__node n = pai__tree_get(t, 0, list), item;
  pai__tree_walk walk;
  int rc = PAI_OK;

  if (!pai__tree_is(t, n, PAI__SEQUENCE))
    return PAI_OK;
  walk = pai__tree_iter(t, n);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *its =
      type != NULL ? type
                   : pai__text_at(t, pai__tree_get(t, item, "type"), &len);

    if (its != NULL)
      rc = add(a, its, item);
  }
  return rc;
}

/* Returns the roles of the deployment that defaults.deployment names. */
static pai__node used_deployment(const pai__index *index)
{
  const pai__tree *t = index->tree;
  pai__node n = pai__tree_get(t, 0, "defaults");
  const char *name;
  size_t len;

  if (n == PAI__NO_NODE)
    return PAI__NO_NODE;
  name = pai__text_at(t, pai__tree_get(t, n, "deployment"), &len);
  if (name == NULL)
    return PAI__NO_NODE;
  n = pai__index_find(index, "deployment", name, len);
  return pai__tree_get(t, n, "taskRoles");
}

int pai__index_init(pai__index *index, const pai__tree *tree,
                    const pai_alloc *alloc, pai__twice_cb twice,
                    void *user_data)
{
  adder a = { index, twice, user_data };
  int rc;

  *index = (pai__index){ .tree = tree };
  pai__map_init(&index->named, alloc);
  rc = add_all(&a, "prerequisites", NULL);
  if (rc == PAI_OK)
    rc = add_all(&a, "deployments", "deployment");
  if (rc < 0) {
    pai__index_dispose(index);
    return rc;
  }
  index->deployment = used_deployment(index);
  return PAI_OK;
}

void pai__index_dispose(pai__index *index)
{
  pai__map_dispose(&index->named);
}
