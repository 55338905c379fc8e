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

static bool is_false(const pai__tree *t, pai__node n)
{
  return pai__tree_type(t, n) == PAI__BOOL && !pai__tree_bool(t, n);
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

static bool is_not_default(const pai__tree *t, pai__node n)
{
  return is_given(t, n) && (pai__tree_type(t, n) != PAI__STRING ||
                            strcmp(pai__tree_str(t, n, NULL), "default") != 0);
}

typedef bool (*predicate)(const pai__tree *t, pai__node n);

/* One note each, in this order.  "*" stands for every key. */
static const struct {
  const char *path;
  predicate asks; /* does the value there ask for something? */
  const char *note;
} ignored[] = {
  { "extras/com.microsoft.pai.runtimeplugin", is_given,
    "runtime plugins are not started" },
  { "extras/storages", is_given, "storages are not mounted" },
  { "extras/gangAllocation", is_false,
    "all tasks start together, although gangAllocation is false" },
  { "extras/hivedScheduler", is_given,
    "hivedScheduler is not used: there are no cells, SKUs or priorities" },
  { "extras/jobStatusChangeNotification/*", is_true,
    "nobody is notified of the job's changes" },
  { "defaults/virtualCluster", is_not_default,
    "virtualCluster is not used: there is only 'default'" },
  { "taskRoles/*/taskRetryCount", is_positive,
    "taskRetryCount is not used: only whole jobs are tried again" },
  { "taskRoles/*/prerequisites", is_given,
    "prerequisites of task roles are not prepared" },
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

int pai__spec_notes(pai_spec *spec)
{
  int rc =
    add_note(spec, "commands run on this machine, not in the job's image");

  for (size_t i = 0; i < PAI__LEN(ignored) && rc == PAI_OK; i++)
    if (asks(spec->tree, 0, ignored[i].path, ignored[i].asks))
      rc = add_note(spec, ignored[i].note);
  return rc;
}
