/*
 * apart.c - isolation of jobs of several accounts on a platform of one user
 *
 * All of them run as that user.  The back end hides the root, with its key,
 * database, socket and other jobs' folders, from tasks in a sandbox or a
 * container.  A job must not undo that by its options.  A platform without an
 * effective sandbox logs a warning.
 */
#include "platform/apart.h"

#include "account/account.h"
#include "job/plan/plan.h"

/* With `auto` the back end's description begins with the runtime's name. */
static bool has_sandbox(const pai_platform *p)
{
  static const char name[] = "bwrap";

  return p->runtime == PAI_RUNTIME_BWRAP ||
         (p->runtime != PAI_RUNTIME_PROCESS &&
          strncmp(p->ops->runtime(p->backend), name, sizeof(name) - 1) == 0);
}

/* Container engines run only the jobs with an image. */
static bool is_engine(int runtime)
{
  return runtime == PAI_RUNTIME_PODMAN || runtime == PAI_RUNTIME_DOCKER;
}

const char *pai__apart_hole(const pai_platform *p)
{
  if (p->system || p->accounts == NULL || pai__accounts_count(p->accounts) < 2)
    return NULL;
  if (pai__user_is_root())
    return "jobs of all accounts run as root, who can read everything: serve "
           "as another user, or with --system";
  if (!has_sandbox(p) && is_engine(p->runtime))
    return "jobs without an image run as plain processes of this user, "
           "whatever their account, and can read the platform's key and ask "
           "at its socket: install bubblewrap, or let root serve with "
           "--system";
  if (!has_sandbox(p))
    return "jobs of all accounts run as plain processes of this user, and can "
           "read the platform's key and ask at its socket: install "
           "bubblewrap, or let root serve with --system";
  return NULL;
}

void pai__apart_tell(pai_platform *p)
{
  const char *hole = pai__apart_hole(p), *before = p->hole;

  p->hole = hole;
  if (hole != NULL && hole != before)
    pai__log_line(&p->log, PAI_LOG_WARNING, "%s", hole);
}

bool pai__apart_is_another(const pai__pjob *j)
{
  const pai_platform *p = j->platform;

  return !p->system && p->accounts != NULL && strcmp(j->user, p->user) != 0 &&
         pai_accounts_has_user(p->accounts, j->user) &&
         !pai_accounts_is_admin(p->accounts, j->user);
}

int pai__apart_check_runtime(const pai__pjob *j, pai_error **err)
{
  if (j->runtime != PAI_RUNTIME_PROCESS || !pai__apart_is_another(j))
    return PAI_OK;
  (void)pai__fail(err, PAI_EPERM,
                  "the runtime \"process\" is for administrators here: such "
                  "jobs can read the platform's own files");
  pai__error_help(err, "remove extras.openpai.runtime, or set it to bwrap");
  return PAI_EPERM;
}

/* A task sees its working folder, so that must not lie in the root.  The job's
 * own code does, but is not asked for by path. */
int pai__apart_check_work_dir(const pai__pjob *j, pai_error **err)
{
  static const char open[] = "/storages/";
  const char *root = j->platform->root, *in;
  size_t n = strlen(root);

  if (j->platform->system || j->work_dir == NULL ||
      strncmp(j->work_dir, root, n) != 0 || j->work_dir[n] != '/')
    return PAI_OK;
  in = j->work_dir + n;
  if (strncmp(in, open, sizeof(open) - 1) == 0)
    return PAI_OK;
  (void)pai__fail(
    err, PAI_EINVAL,
    "commands cannot start in %.400s: jobs cannot see the platform's root",
    j->work_dir);
  pai__error_help(err, "choose a folder elsewhere, or send it as code");
  return PAI_EINVAL;
}

/* Returns a folder in the root that the job names, or NULL. */
static const char *find_in_root(const pai__pjob *j)
{
  const pai__tree *t = j->spec->tree;
  const char *root = j->platform->root;
  pai__node list = pai__spec_own(t, "folders"), item;
  size_t n = strlen(root);
  pai__tree_walk walk;

  if (list == PAI__NO_NODE || !pai__tree_is(t, list, PAI__SEQUENCE))
    return NULL;
  walk = pai__tree_iter(t, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *path = pai__tree_text(t, item, NULL);

    if (path != NULL && strncmp(path, root, n) == 0 &&
        (path[n] == '\0' || path[n] == '/'))
      return path;
  }
  return NULL;
}

int pai__apart_check_folders(const pai__pjob *j, pai_error **err)
{
  const char *inside = find_in_root(j);

  if (inside != NULL && !j->platform->system) {
    (void)pai__fail(err, PAI_EINVAL,
                    "extras.openpai.folders: jobs cannot see the platform's "
                    "root, and so not %.400s",
                    inside);
    pai__error_help(err, "choose a folder elsewhere, or send it as code");
    return PAI_EINVAL;
  }
  if (pai__spec_own(j->spec->tree, "folders") == PAI__NO_NODE ||
      !pai__apart_is_another(j))
    return PAI_OK;
  (void)pai__fail(err, PAI_EPERM,
                  "extras.openpai.folders is for administrators here: other "
                  "accounts' jobs see nothing of this machine's /tmp");
  pai__error_help(err, "use a storage, or send files with --code");
  return PAI_EPERM;
}
