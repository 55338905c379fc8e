/*
 * notes.c - what a file asks for that OpenPAI does and this version does not
 *
 * Only what changes how the job runs; and once, however often it is there.
 */
#include "spec/notes.h"

static bool is_given(const pai__tree *t, pai__node n)
{
  return pai__tree_type(t, n) != PAI__NULL;
}

static bool is_positive(const pai__tree *t, pai__node n)
{
  int type = pai__tree_type(t, n);

  return (type == PAI__INT || type == PAI__FLOAT) && pai__tree_float(t, n) > 0;
}

/* As JavaScript takes it: false, 0, "" and null are not. */
static bool is_true(const pai__tree *t, pai__node n)
{
  switch (pai__tree_type(t, n)) {
  case PAI__NULL: return false;
  case PAI__BOOL: return pai__tree_bool(t, n);
  case PAI__INT:
  case PAI__FLOAT: return pai__tree_float(t, n) != 0;
  case PAI__STRING: return *pai__tree_str(t, n, NULL) != '\0';
  default: return true;
  }
}

typedef bool (*predicate)(const pai__tree *t, pai__node n);

/* One note each, in this order.  "*" stands for every key. */
static const struct {
  const char *path;
  predicate asks; /* does the value there ask for something? */
  const char *note;
} ignored[] = {
  { "extras/hivedScheduler", is_given,
    "of hivedScheduler no more than jobPriorityClass is used, under "
    "--policy, and skuType, by a platform: there are no cells" },
  { "extras/jobStatusChangeNotification/*", is_true,
    "no notifications of the job's changes are sent" },
  { "taskRoles/*/taskRetryCount", is_positive,
    "taskRetryCount is not used: a gang is tried again as a whole" },
  { "taskRoles/*/data", is_given, "data of task roles is not prepared" },
  { "taskRoles/*/output", is_given, "output of task roles is not prepared" },
  { "taskRoles/*/script", is_given, "script of task roles is not prepared" },
  { "taskRoles/*/extraContainerOptions/infiniband", is_true,
    "InfiniBand devices are not reserved" },
};

/* Does a value at `path` below n ask for something? */
static bool asks(const pai__tree *t, pai__node n, const char *path,
                 predicate is_asked)
{
  size_t len = strcspn(path, "/");
  const char *rest = path + len + (path[len] == '/');
  pai__tree_walk walk;
  pai__node key;

  if (len == 0)
    return is_asked(t, n);
  if (*path != '*') {
    key = pai__tree_find(t, n, path, len);
    return key != PAI__NO_NODE &&
           asks(t, pai__tree_value(t, key), rest, is_asked);
  }
  if (pai__tree_type(t, n) != PAI__MAPPING)
    return false;
  walk = pai__tree_iter(t, n);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (asks(t, pai__tree_value(t, key), rest, is_asked))
      return true;
  return false;
}

static int add_note(pai_spec *spec, const char *note)
{
  const char **notes = pai__arena_zalloc(&spec->arena, spec->nnotes + 1,
                                         sizeof(*notes)); /* they are few */

  if (notes == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < spec->nnotes; i++)
    notes[i] = spec->notes[i];
  notes[spec->nnotes++] = note;
  spec->notes = notes;
  return PAI_OK;
}

/* Tasks that start alone are tried again alone. */
static bool is_gang(const pai_spec *spec)
{
  pai__node n = pai__tree_get(spec->tree, 0, "extras");

  n = n != PAI__NO_NODE ? pai__tree_get(spec->tree, n, "gangAllocation") : n;
  return n == PAI__NO_NODE || pai__tree_type(spec->tree, n) != PAI__BOOL ||
         pai__tree_bool(spec->tree, n);
}

/* --- folders of a job config v1 ---------------------------------------------- */

/* Those that are addresses, as hdfs://, by the type of prerequisite that they
 * became. */
static const char *const addresses[][2] = {
  { "data", "dataDir is an address, which is all that commands get of it" },
  { "output",
    "outputDir is an address, which is all that commands get of it" },
  { "script", "codeDir is an address, which is not fetched: its folder is "
              "looked for where the job begins" },
};

static pai__node find(const pai__tree *t, pai__node n, const char *key)
{
  pai__node found = pai__tree_find(t, n, key, strlen(key));

  return found != PAI__NO_NODE ? pai__tree_value(t, found) : found;
}

static bool is_address(const pai__tree *t, pai__node uri)
{
  pai__tree_walk walk;

  if (uri != PAI__NO_NODE && pai__tree_type(t, uri) == PAI__SEQUENCE) {
    walk = pai__tree_iter(t, uri);
    uri = pai__tree_next(&walk);
  }
  return uri != PAI__NO_NODE && pai__tree_type(t, uri) == PAI__STRING &&
         strstr(pai__tree_str(t, uri, NULL), "://") != NULL &&
         strncmp(pai__tree_str(t, uri, NULL), "file://", 7) != 0;
}

static bool has_address(const pai__tree *t, const char *type)
{
  pai__node list = find(t, 0, "prerequisites"), item, its;
  pai__tree_walk walk;

  if (list == PAI__NO_NODE || pai__tree_type(t, list) != PAI__SEQUENCE)
    return false;
  walk = pai__tree_iter(t, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    its = find(t, item, "type");
    if (its != PAI__NO_NODE && pai__tree_type(t, its) == PAI__STRING &&
        strcmp(pai__tree_str(t, its, NULL), type) == 0 &&
        is_address(t, find(t, item, "uri")))
      return true;
  }
  return false;
}

/* What v1's folders become is prepared for v1. */
static bool is_prepared(const pai_spec *spec, const char *path)
{
  static const char role[] = "taskRoles/*/";

  for (size_t i = 0; spec->was_v1 && i < PAI__LEN(addresses); i++)
    if (strncmp(path, role, strlen(role)) == 0 &&
        strcmp(path + strlen(role), addresses[i][0]) == 0)
      return true;
  return false;
}

int pai__spec_notes(pai_spec *spec)
{
  int rc = PAI_OK;

  for (size_t i = 0; i < PAI__LEN(ignored) && rc == PAI_OK; i++)
    if ((ignored[i].asks != is_positive || is_gang(spec)) &&
        !is_prepared(spec, ignored[i].path) &&
        asks(spec->tree, 0, ignored[i].path, ignored[i].asks))
      rc = add_note(spec, ignored[i].note);
  for (size_t i = 0; spec->was_v1 && i < PAI__LEN(addresses) && rc == PAI_OK;
       i++)
    if (has_address(spec->tree, addresses[i][0]))
      rc = add_note(spec, addresses[i][1]);
  return rc;
}
