/*
 * secrets.c - which parts of a job file nobody may see
 *
 * The value of `secrets`, and what an account of a registry holds unless it
 * is a template, which says where the secret is and not what.
 */
#include "spec/secrets.h"

#include "spec/template.h"

/* Is a value one template and nothing else?  That says where a secret is, and
 * not what. */
static bool is_template(const pai__tree *t, pai__node n)
{
  size_t len;
  const char *s, *end;

  if (pai__tree_type(t, n) != PAI__STRING)
    return false;
  s = pai__tree_str(t, n, &len);
  pai__template_trim(&s, &len);
  if (len < 4 || memcmp(s, "<%", 2) != 0)
    return false;
  end = s + 2;
  while (end + 2 < s + len && memcmp(end, "%>", 2) != 0)
    end++;
  return end + 2 == s + len && memcmp(end, "%>", 2) == 0;
}

static bool is_secret(const pai__tree *tree, pai__node value)
{
  size_t len = 1;

  if (pai__tree_type(tree, value) == PAI__STRING)
    (void)pai__tree_str(tree, value, &len);
  return len > 0 && !is_template(tree, value);
}

static int add_auth(pai__secrets *s, pai__node auth)
{
  const pai__tree *tree = s->tree;
  pai__tree_walk walk = pai__tree_iter(tree, auth);
  pai__node key;
  int rc = PAI_OK;

  if (pai__tree_type(tree, auth) != PAI__MAPPING)
    return pai__secrets_add(s, auth);
  while (rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (strcmp(pai__tree_str(tree, key, NULL), "registryuri") != 0 &&
        is_secret(tree, pai__tree_value(tree, key)))
      rc = pai__secrets_add(s, pai__tree_value(tree, key));
  return rc;
}

static int add_auths(pai__secrets *s, pai__node list)
{
  pai__tree_walk walk = pai__tree_iter(s->tree, list);
  pai__node item;
  int rc = PAI_OK;

  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node auth = pai__tree_get(s->tree, item, "auth");
    if (auth != PAI__NO_NODE)
      rc = add_auth(s, auth);
  }
  return rc;
}

int pai__secrets_find(pai__secrets *s, const pai__tree *tree)
{
  pai__node n = pai__tree_get(tree, 0, "secrets");
  int rc = PAI_OK;

  *s = (pai__secrets){ .tree = tree };
  if (n != PAI__NO_NODE && pai__tree_type(tree, n) != PAI__NULL)
    rc = pai__secrets_add(s, n);
  n = pai__tree_get(tree, 0, "prerequisites");
  if (rc == PAI_OK && n != PAI__NO_NODE &&
      pai__tree_type(tree, n) == PAI__SEQUENCE)
    rc = add_auths(s, n);
  return rc == PAI_OK ? pai__secrets_end(s) : rc;
}
