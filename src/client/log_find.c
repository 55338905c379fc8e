/* log_find.c - finds a task and its logs in the server's details of a job;
 * pure */
#include "client/logs.h"

/* The API spells roles in lower case, with only letters and digits. */
static bool is_role(const char *name, const char *role)
{
  if (strcmp(name, role) == 0)
    return true;
  for (; *role != '\0'; role++) {
    char c = *role >= 'A' && *role <= 'Z' ? (char)(*role + 32) : *role;
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      if (*name != c)
        return false;
      name++;
    }
  }
  return *name == '\0';
}

pai__node pai__log_task(const pai__tree *tree, const char *role,
                        uint32_t index)
{
  pai__tree_walk walk =
    pai__tree_iter(tree, pai__tree_get(tree, 0, "taskRoles"));
  pai__node key, list = PAI__NO_NODE, n;

  while (list == PAI__NO_NODE && walk.keys &&
         (key = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (is_role(pai__tree_str(tree, key, NULL), role))
      list = pai__tree_get(tree, pai__tree_value(tree, key), "taskStatuses");
  walk = pai__tree_iter(tree, list);
  while (!walk.keys && (n = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (pai__tree_look_int(tree, n, "taskIndex") == index)
      return n;
  return PAI__NO_NODE;
}

bool pai__log_is_over(const char *state)
{
  return strcmp(state, "SUCCEEDED") == 0 || strcmp(state, "FAILED") == 0 ||
         strcmp(state, "STOPPED") == 0;
}

bool pai__log_is_location(const char *uri)
{
  for (const char *p = uri; *p != '\0'; p++)
    if ((unsigned char)*p <= ' ' || *p == 0x7f)
      return false;
  return uri[0] == '/' || strncmp(uri, "http://", 7) == 0 ||
         strncmp(uri, "https://", 8) == 0;
}

const char *pai__log_location(const pai__tree *tree, const char *name)
{
  pai__tree_walk walk =
    pai__tree_iter(tree, pai__tree_get(tree, 0, "locations"));
  pai__node n;

  while (!walk.keys && (n = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (strcmp(pai__tree_look_text(tree, n, "name", ""), name) == 0)
      return pai__tree_look_text(tree, n, "uri", "");
  return "";
}
