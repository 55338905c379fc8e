/*
 * notes.c - notes about fields that OpenPAI acts on and this version ignores
 *
 * Only fields that change how the job runs.  There is one note for each field,
 * however often it occurs.
 */
#include "spec/notes.h"

#include "spec/values.h"

static bool is_given(const pai__tree *t, pai__node n)
{
  return pai__tree_type(t, n) != PAI__NULL;
}

static bool is_positive(const pai__tree *t, pai__node n)
{
  int type = pai__tree_type(t, n);

  return (type == PAI__INT || type == PAI__FLOAT) && pai__tree_float(t, n) > 0;
}

typedef bool (*predicate)(const pai__tree *t, pai__node n);

/* Ignored fields, in the order of their notes.  "*" stands for every key. */
static const struct {
  const char *path;
  predicate asks; /* whether the value has an effect in OpenPAI */
  const char *note;
} ignored[] = {
  { "extras/hivedScheduler", is_given,
    "of hivedScheduler only jobPriorityClass (with --policy) and skuType (by "
    "a platform) are used: there are no cells" },
  { "extras/jobStatusChangeNotification/*", pai__js_true,
    "no notifications of the job's changes are sent" },
  { "taskRoles/*/taskRetryCount", is_positive,
    "taskRetryCount is not used: a gang is retried as a whole" },
  { "taskRoles/*/data", is_given, "data of task roles is not prepared" },
  { "taskRoles/*/output", is_given, "output of task roles is not prepared" },
  { "taskRoles/*/script", is_given, "script of task roles is not prepared" },
  { "taskRoles/*/extraContainerOptions/infiniband", pai__js_true,
    "InfiniBand devices are not reserved" },
};

/* Returns whether a value at `path` below n has an effect in OpenPAI. */
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
                                         sizeof(*notes)); /* notes are few */

  if (notes == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < spec->nnotes; i++)
    notes[i] = spec->notes[i];
  notes[spec->nnotes++] = note;
  spec->notes = notes;
  return PAI_OK;
}

/* --- folders of a job config v1 ----------------------------------------- */

/* Notes about folders that are addresses, as hdfs://, by the type of their
 * prerequisite. */
static const char *const addresses[][2] = {
  { "data", "dataDir is an address: commands get the address, not the data" },
  { "output",
    "outputDir is an address: commands get the address, not a folder" },
  { "script", "codeDir is an address, which is not fetched: the folder must "
              "exist where the job starts" },
};

static bool is_address(const pai__tree *t, pai__node uri)
{
  pai__tree_walk walk;

  if (pai__tree_is(t, uri, PAI__SEQUENCE)) {
    walk = pai__tree_iter(t, uri);
    uri = pai__tree_next(&walk);
  }
  return pai__tree_is(t, uri, PAI__STRING) &&
         strstr(pai__tree_str(t, uri, NULL), "://") != NULL &&
         strncmp(pai__tree_str(t, uri, NULL), "file://", 7) != 0;
}

static bool has_address(const pai__tree *t, const char *type)
{
  pai__tree_walk walk =
    pai__tree_iter(t, pai__tree_get(t, 0, "prerequisites"));
  pai__node item;

  while (!walk.keys && (item = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (strcmp(pai__tree_look_text(t, item, "type", ""), type) == 0 &&
        is_address(t, pai__tree_get(t, item, "uri")))
      return true;
  return false;
}

/* Returns whether a field comes from a folder of v1, which is prepared. */
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
    if ((ignored[i].asks != is_positive || pai__spec_gang(spec->tree)) &&
        !is_prepared(spec, ignored[i].path) &&
        asks(spec->tree, 0, ignored[i].path, ignored[i].asks))
      rc = add_note(spec, ignored[i].note);
  for (size_t i = 0; spec->was_v1 && i < PAI__LEN(addresses) && rc == PAI_OK;
       i++)
    if (has_address(spec->tree, addresses[i][0]))
      rc = add_note(spec, addresses[i][1]);
  return rc;
}
