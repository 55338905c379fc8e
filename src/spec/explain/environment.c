/*
 * environment.c - variables that a job sets for its commands:
 * extras.openpai.environment
 *
 * Forms: NAME: "VALUE", NAME: {secret: NAME-OF-A-SECRET} or {value: "VALUE"}.
 * With container: false a variable is not set in a container, where paths
 * differ.  A number instead of the mapping says that the variables are lines
 * before the commands of each role, so many of each; OpenPAI's own servers
 * understand that.
 */
#include "spec/notes.h"

#include "spec/scan/index.h"

#include <ctype.h>
#include <stdio.h>

#define PLACE "extras.openpai.environment"

/* Returns the mapping, or PAI__NO_NODE. */
static pai__node find_mapping(const pai__tree *t)
{
  pai__node n = pai__spec_own(t, "environment");

  return pai__tree_is(t, n, PAI__MAPPING) ? n : PAI__NO_NODE;
}

static bool is_name(const char *name, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (!(isalpha((unsigned char)name[i]) || name[i] == '_' ||
          (i > 0 && isdigit((unsigned char)name[i]))))
      return false;
  return len > 0 && len < 256;
}

/* Sets the obstacle, unless there is one already. */
static int refuse(pai_spec *spec, const char *name, const char *why)
{
  char text[400];

  (void)snprintf(text, sizeof(text), PLACE ".%.200s %s", name, why);
  if (spec->obstacle == NULL)
    spec->obstacle = pai__arena_strndup(&spec->arena, text, strlen(text));
  return spec->obstacle != NULL ? PAI_OK : PAI_ENOMEM;
}

/* Returns the value of a secret, or PAI__NO_NODE if the job has none of that
 * name. */
static pai__node secret_node(const pai__tree *t, const char *name, size_t len)
{
  pai__node secrets = pai__tree_get(t, 0, "secrets"), key;

  if (!pai__tree_is(t, secrets, PAI__MAPPING))
    return secrets; /* a text masks all of them */
  key = pai__tree_find(t, secrets, name, len);
  return key != PAI__NO_NODE ? pai__tree_value(t, key) : PAI__NO_NODE;
}

/* Reads a variable that is a mapping.  Returns its value, or NULL. */
static const char *read_form(pai__variable *v, const pai__tree *t, pai__node n,
                             size_t *len)
{
  pai__node container = pai__tree_get(t, n, "container");
  const char *secret = pai__text_at(t, pai__tree_get(t, n, "secret"), len);

  v->outside =
    pai__tree_is(t, container, PAI__BOOL) && !pai__tree_bool(t, container);
  if (secret != NULL)
    return pai__text_at(t, secret_node(t, secret, *len), len);
  return pai__text_at(t, pai__tree_get(t, n, "value"), len);
}

static int add(pai_spec *spec, pai__node key)
{
  const pai__tree *t = spec->tree;
  pai__node n = pai__tree_value(t, key);
  pai__variable v = { .outside = false };
  size_t name_len, len = 0;
  const char *name = pai__tree_str(t, key, &name_len), *value;

  if (!is_name(name, name_len))
    return refuse(spec, name, "is not a valid name of a variable");
  value = pai__tree_type(t, n) == PAI__MAPPING ? read_form(&v, t, n, &len)
                                               : pai__text_at(t, n, &len);
  if (value == NULL)
    return refuse(spec, name,
                  "must be a text in quotes, or {secret: NAME} for one of the "
                  "job's secrets");
  if (memchr(value, '\0', len) != NULL)
    return refuse(spec, name, "has a NUL character");
  v.name = name;
  v.value = value;
  spec->variables[spec->nvariables++] = v;
  return PAI_OK;
}

int pai__spec_environment(pai_spec *spec)
{
  const pai__tree *t = spec->tree;
  pai__node mapping = find_mapping(t), key;
  pai__tree_walk walk;
  size_t n = 0;
  int rc = PAI_OK;

  if (mapping == PAI__NO_NODE)
    return PAI_OK;
  for (walk = pai__tree_iter(t, mapping);
       pai__tree_next(&walk) != PAI__NO_NODE;)
    n++;
  spec->variables =
    pai__arena_zalloc(&spec->arena, n + 1, sizeof(*spec->variables));
  if (spec->variables == NULL)
    return PAI_ENOMEM;
  walk = pai__tree_iter(t, mapping);
  while (rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = add(spec, key);
  return rc;
}

int pai__spec_environment_secrets(const pai_spec *spec,
                                  int (*cb)(void *user_data, const char *name,
                                            size_t len),
                                  void *user_data)
{
  const pai__tree *t = spec->tree;
  pai__node mapping = find_mapping(t), key, n,
            secrets = pai__tree_get(t, 0, "secrets");
  bool masked = pai__tree_is(t, secrets, PAI__STRING);
  pai__tree_walk walk;
  int rc = PAI_OK;

  if (mapping == PAI__NO_NODE)
    return PAI_OK;
  walk = pai__tree_iter(t, mapping);
  while (rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *secret = NULL;
    size_t len = 0;

    n = pai__tree_value(t, key);
    if (pai__tree_type(t, n) == PAI__MAPPING)
      secret = pai__text_at(t, pai__tree_get(t, n, "secret"), &len);
    if (secret != NULL &&
        (secret_node(t, secret, len) == PAI__NO_NODE || masked))
      rc = cb(user_data, secret, len);
  }
  return rc;
}
