/* replay_step.c - whether a line is a step, and what it is if it is none */
#include "hived/replaying.h"

#include "base/findings.h"

/* What a step has, by its name, if it has it. */
typedef struct field {
  const char *key;
  int type;
} field;

static const field fields[] = {
  { "annotation", PAI__STRING },
  { "alternatives", PAI__SEQUENCE },
  { "bindAnnotation", PAI__STRING },
  { "case", PAI__STRING },
  { "config", PAI__STRING },
  { "except", PAI__SEQUENCE },
  { "expect", PAI__MAPPING },
  { "node", PAI__STRING },
  { "op", PAI__STRING },
  { "phase", PAI__STRING },
  { "pod", PAI__STRING },
  { "query", PAI__SEQUENCE },
  { "spec", PAI__MAPPING },
  { "state", PAI__MAPPING },
  { "step", PAI__INT },
  { "vcCellHealth", PAI__MAPPING },
  { "views", PAI__MAPPING },
};

/* Other lines of JSON that somebody might take for a record: a key of theirs,
 * what they are, and who reads them. */
static const char *const others[][3] = {
  { "snapshot", "the log of a scheduler", "openpai sched replay" },
  { "event", "the log of a scheduler", "openpai sched replay" },
  { "protocolVersion", "a job", "openpai spec check" },
  { "physicalCluster", "HiveD's configuration", "openpai cluster check" },
};

static const char *type_name(int type)
{
  return type == PAI__STRING     ? "a string"
         : type == PAI__INT      ? "a whole number"
         : type == PAI__SEQUENCE ? "a list"
                                 : "an object";
}

static int check_types(const pai__tree *t, pai_error **err)
{
  for (size_t i = 0; i < PAI__LEN(fields); i++) {
    pai__node n = pai__tree_get(t, 0, fields[i].key);

    if (n != PAI__NO_NODE && (int)pai__tree_type(t, n) != fields[i].type)
      return pai__fail(err, PAI_EINVAL, "\"%s\" of a step is %s",
                       fields[i].key, type_name(fields[i].type));
  }
  return PAI_OK;
}

/* Of "suggested": all nodes, or a list of some or of the others. */
static bool is_suggestion(const pai__tree *t, pai__node n)
{
  pai__node list;
  pai__tree_walk walk;

  if (pai__tree_type(t, n) == PAI__STRING)
    return strcmp(pai__tree_str(t, n, NULL), "all") == 0;
  if (pai__tree_type(t, n) != PAI__MAPPING || pai__tree_count(t, n) != 1)
    return false;
  list = pai__tree_get(t, n, "except");
  if (list == PAI__NO_NODE)
    list = pai__tree_get(t, n, "only");
  if (list == PAI__NO_NODE || pai__tree_type(t, list) != PAI__SEQUENCE)
    return false;
  walk = pai__tree_iter(t, list);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (pai__tree_type(t, n) != PAI__STRING)
      return false;
  return true;
}

static int check_values(const hived_replay *r, pai_error **err)
{
  static const char *const kinds[] = { "bind", "preempt", "wait", "user_error",
                                       "crash" };
  pai__node n = pai__tree_get(r->row, 0, "suggested");
  bool known = false;
  const char *phase = hived_replay_text(r, "phase");

  if (*phase != '\0' && strcmp(phase, "Filtering") != 0 &&
      strcmp(phase, "Preempting") != 0)
    return pai__fail(err, PAI_EINVAL,
                     "\"phase\" is \"Filtering\" or \"Preempting\", not "
                     "\"%.80s\"",
                     phase);
  if (n != PAI__NO_NODE && !is_suggestion(r->row, n))
    return pai__fail(err, PAI_EINVAL,
                     "\"suggested\" is \"all\", {\"only\": [...]} or "
                     "{\"except\": [...]}, with names of nodes");
  n = pai__tree_get(r->row, 0, "expect");
  for (size_t i = 0; i < PAI__LEN(kinds) && !known; i++)
    known = hived_replay_is_kind(r, n, kinds[i]);
  if (n != PAI__NO_NODE && !known)
    return pai__fail(err, PAI_EINVAL,
                     "the \"kind\" of \"expect\" is \"bind\", \"preempt\", "
                     "\"wait\", \"user_error\" or \"crash\"");
  return PAI_OK;
}

int hived_replay_check(const hived_replay *r, const char *needed,
                       pai_error **err)
{
  int rc = check_types(r->row, err);

  if (rc == PAI_OK && *needed != '\0' &&
      hived_replay_text(r, needed)[0] == '\0')
    rc = pai__fail(err, PAI_EINVAL, "a step '%s' needs \"%s\"",
                   hived_replay_text(r, "op"), needed);
  return rc == PAI_OK ? check_values(r, err) : rc;
}

/* --- what is none --------------------------------------------------------- */

/* A line of the workloads that openpai-bench plays, or of its decisions. */
static bool is_workload(const hived_replay *r)
{
  return hived_replay_text(r, "g")[0] != '\0' ||
         hived_replay_text(r, "mark")[0] != '\0';
}

int hived_replay_no_step(const hived_replay *r, const char *const *names,
                         size_t n, pai_error **err)
{
  const char *op = hived_replay_text(r, "op");

  for (size_t i = 0; *op == '\0' && i < PAI__LEN(others); i++)
    if (pai__tree_get(r->row, 0, others[i][0]) != PAI__NO_NODE) {
      (void)pai__fail(err, PAI_EINVAL,
                      "this is no record of HiveD, but seems to be %s",
                      others[i][1]);
      pai__error_help(err, "`%s` reads it", others[i][2]);
      return PAI_EINVAL;
    }
  if (is_workload(r)) {
    (void)pai__fail(err, PAI_EINVAL,
                    "this is no record of HiveD, but seems to be a workload");
    pai__error_help(err, "`openpai-bench hived-workload` plays it");
    return PAI_EINVAL;
  }
  if (*op == '\0')
    return pai__fail(err, PAI_EINVAL, "a step has an \"op\"");
  (void)pai__fail(err, PAI_EINVAL, "there is no step '%.80s'", op);
  for (size_t i = 0; i < n; i++) {
    pai__word word = pai__word_of(op, strlen(op));
    pai__word name = pai__word_of(names[i], strlen(names[i]));

    if (pai__word_like(&word, &name)) {
      pai__error_help(err, "did you mean '%s'?", names[i]);
      break;
    }
  }
  return PAI_EINVAL;
}
