/* input.c - objects of JSON that say what is to change */
#include "account/inside.h"

static int check_members(const pai__tree *t, const char *const *members,
                         pai_error **err)
{
  pai__tree_walk walk = pai__tree_iter(t, 0);
  pai__node key;

  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = pai__tree_str(t, key, NULL);
    size_t i = 0;

    while (members[i] != NULL && strcmp(members[i], name) != 0)
      i++;
    if (members[i] == NULL)
      return pai__invalid(err, "\"%.64s\" is not allowed", name);
  }
  return PAI_OK;
}

int pai__input_parse(pai__tree **out, const pai_alloc *alloc, const char *json,
                     size_t len, const char *const *members, pai_error **err)
{
  pai__json_options o = { .max_bytes = 2 * (size_t)PAI__MOST_EXTENSION };
  int rc;

  *out = NULL;
  o.alloc = alloc;
  rc = pai__json_parse(out, json, len, &o, err);
  if (rc == PAI_EINVAL || rc == PAI_ELIMIT)
    return pai__as(err, rc, rc == PAI_ELIMIT ? 413 : 400,
                   "InvalidParametersError");
  if (rc == PAI_OK && pai__tree_type(*out, 0) != PAI__MAPPING)
    rc = pai__invalid(err, "\"value\" must be an object");
  if (rc == PAI_OK)
    rc = check_members(*out, members, err);
  if (rc < 0) {
    pai__tree_free(*out);
    *out = NULL;
  }
  return rc;
}

/* A text without NULs: it goes on as one of C. */
static bool is_text(const pai__tree *t, pai__node n)
{
  size_t len = 0;
  const char *text =
    pai__tree_type(t, n) == PAI__STRING ? pai__tree_str(t, n, &len) : NULL;

  return text != NULL && strlen(text) == len;
}

int pai__input_text(const pai__tree *t, const char *key, const char **out,
                    pai_error **err)
{
  pai__node n = pai__tree_get(t, 0, key);

  if (n == PAI__NO_NODE)
    return PAI_OK;
  if (!is_text(t, n))
    return pai__invalid(err, "\"%s\" must be a string", key);
  *out = pai__tree_str(t, n, NULL);
  return PAI_OK;
}

int pai__input_bool(const pai__tree *t, const char *key, bool *out,
                    pai_error **err)
{
  pai__node n = pai__tree_get(t, 0, key);

  if (n == PAI__NO_NODE)
    return PAI_OK;
  if (pai__tree_type(t, n) != PAI__BOOL)
    return pai__invalid(err, "\"%s\" must be a boolean", key);
  *out = pai__tree_bool(t, n);
  return PAI_OK;
}

int pai__input_object(const pai__tree *t, const char *key, pai__node *out,
                      pai_error **err)
{
  pai__node n = pai__tree_get(t, 0, key);

  if (n == PAI__NO_NODE)
    return PAI_OK;
  if (pai__tree_type(t, n) != PAI__MAPPING)
    return pai__invalid(err, "\"%s\" must be an object", key);
  *out = n;
  return PAI_OK;
}

int pai__input_list(const pai__tree *t, const char *key, pai__node *out,
                    pai_error **err)
{
  pai__node list = pai__tree_get(t, 0, key), n;
  pai__tree_walk walk;

  if (list == PAI__NO_NODE)
    return PAI_OK;
  if (pai__tree_type(t, list) != PAI__SEQUENCE)
    return pai__invalid(err, "\"%s\" must be an array", key);
  walk = pai__tree_iter(t, list);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (!is_text(t, n))
      return pai__invalid(err, "\"%s\" must be an array of strings", key);
  *out = list;
  return PAI_OK;
}

int pai__input_names(const pai_alloc *alloc, const pai__tree *t,
                     pai__node list, pai__strings *out)
{
  pai__tree_walk walk = pai__tree_iter(t, list);
  pai__map seen; /* a list may have as many names as a request has room for */
  pai__node n;
  int rc = PAI_OK;

  pai__map_init(&seen, alloc);
  for (size_t i = 0; rc == PAI_OK && i < out->n; i++)
    rc = pai__map_set(&seen, out->at[i], strlen(out->at[i]), out);
  while (rc == PAI_OK && (n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = pai__tree_str(t, n, NULL);

    if (pai__map_get(&seen, name, strlen(name)) != NULL)
      continue;
    rc = pai__map_set(&seen, name, strlen(name), out);
    if (rc == PAI_OK)
      rc = pai__strings_push(alloc, out, name);
  }
  pai__map_dispose(&seen);
  return rc;
}
