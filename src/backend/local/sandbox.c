/*
 * sandbox.c - command line of bubblewrap; pure
 *
 * The sandbox is the machine as the user sees it, with devices, except for
 * /tmp, which is a folder of the task, for pids, which begin anew for each
 * job, and for the platform's root, of which the task sees its own part.
 * /dev/shm is the job's if its tasks see each other, else the task's.  A
 * working directory under /tmp is mounted at its place.  An isolated task (of
 * a job of another account) sees the machine as it is installed, and cannot
 * write to it.
 */
#include "backend/local/runtime.h"
#include "task/order.h"

#include <stdio.h>

bool pai__is_within(const char *path, const char *folder)
{
  size_t n = folder != NULL ? strlen(folder) : 0;

  return n > 0 && strncmp(path, folder, n) == 0 &&
         (path[n] == '\0' || path[n] == '/' || folder[n - 1] == '/');
}

void pai__fixed_top(char *out, size_t size, const char *path, const char *root)
{
  size_t n = strlen(path);

  if (pai__is_within(path, root)) {
    n = strlen(root);
    for (int i = 0; i < 2 && path[n] == '/'; i++)
      n += 1 + strcspn(path + n + 1, "/");
  } else if (pai__is_within(path, "/tmp")) {
    n = strlen("/tmp");
  }
  (void)snprintf(out, size, "%.*s", (int)n, path);
}

static bool is_below(const char *path, const char *folder)
{
  return path != NULL && pai__is_within(path, folder) &&
         strcmp(path, folder) != 0;
}

/* --- the platform's root ------------------------------------------------- */

/* A root that is the whole machine, or belongs to the task anyway, is not
 * hidden. */
bool pai__root_is_hidden(const pai__surroundings *around)
{
  return around->hide && around->root != NULL &&
         strcmp(around->root, "/") != 0 && strcmp(around->root, "/tmp") != 0;
}

const char *pai__root_in(const char *source, const pai__surroundings *around)
{
  if (!pai__root_is_hidden(around) || !pai__is_within(around->root, source))
    return NULL;
  return around->root + (strcmp(source, "/") != 0 ? strlen(source) : 0);
}

/* Mounts the paths in `folder`; of nested paths only the outer one, if it
 * comes first. */
static void show_all(pai__backend_words *w, const char *folder,
                     const char *const paths[], size_t n)
{
  for (size_t i = 0; i < n; i++) {
    bool shown = !is_below(paths[i], folder);

    for (size_t k = 0; k < i && !shown; k++)
      shown = is_below(paths[k], folder) && pai__is_within(paths[i], paths[k]);
    if (shown)
      continue;
    pai__words_add(w, "--bind");
    pai__words_add(w, paths[i]);
    pai__words_add(w, paths[i]);
  }
}

static void hide(pai__backend_words *w, const pai_launch_plan *plan,
                 const pai__surroundings *around)
{
  const char *const own[] = { plan->workdir != NULL ? plan->workdir
                                                    : around->here,
                              plan->job_dir, plan->dir };

  pai__words_add(w, "--tmpfs");
  pai__words_add(w, around->root);
  show_all(w, around->root, own, PAI__LEN(own));
}

/* Returns whether the mount contains the root at the root's own path. */
static bool shows_root_in_place(const pai_launch_mount *m,
                                const pai__surroundings *around)
{
  const char *in = pai__root_in(m->source, around), *at;

  if (in == NULL || !pai__is_within(around->root, m->target))
    return false;
  at = around->root + strlen(m->target);
  return strcmp(at + strspn(at, "/"), in + strspn(in, "/")) == 0;
}

/* Comes last, because mount points are created before it.  Read-only, so that
 * nothing is written there that would be in memory and lost with the task. */
static void close_root(pai__backend_words *w, const pai_launch_plan *plan,
                       const pai__surroundings *around)
{
  bool covered = false; /* a later mount replaces it */

  for (size_t i = 0; i < plan->nmounts; i++)
    if (pai__is_within(around->root, plan->mounts[i].target))
      covered = !shows_root_in_place(&plan->mounts[i], around);
  if (covered)
    return;
  pai__words_add(w, "--remount-ro");
  pai__words_add(w, around->root);
}

/* --- the task's own folders ---------------------------------------------- */

bool pai__own_dir(char out[PAI__OWN_PATH], const char *root, const char *dir)
{
  return root != NULL && strcmp(root, "/") != 0 && is_below(dir, root) &&
         snprintf(out, PAI__OWN_PATH, "%s/" PAI__OWN_FOLDER "%s", root,
                  dir + strlen(root)) < PAI__OWN_PATH;
}

/* If the root is hidden they are where no task sees them: otherwise other
 * tasks of the job could replace a folder in the job's folder by a link just
 * before it is mounted. */
const char *pai__own_add(pai__backend_words *w, const pai_launch_plan *plan,
                         const pai__surroundings *around, const char *name)
{
  char own[PAI__OWN_PATH];
  bool apart =
    pai__root_is_hidden(around) && pai__own_dir(own, around->root, plan->dir);

  pai__words_printf(w, "%s/%s", apart ? own : plan->dir, name);
  return w->failed ? NULL : w->at[w->len - 1];
}

/* --- content ------------------------------------------------------------- */

/* The visible part of a hidden root is mounted later. */
static void add_tmp(pai__backend_words *w, const pai_launch_plan *plan,
                    const pai__surroundings *around)
{
  const char *const paths[] = { around->root, around->here, plan->workdir,
                                plan->dir };
  const char *open[PAI__LEN(paths)];
  size_t n = 0;

  for (size_t i = 0; i < PAI__LEN(paths); i++)
    if (paths[i] != NULL && (!pai__root_is_hidden(around) ||
                             !pai__is_within(paths[i], around->root)))
      open[n++] = paths[i];
  pai__words_add(w, "--bind");
  (void)pai__own_add(w, plan, around, "tmp");
  pai__words_add(w, "/tmp");
  show_all(w, "/tmp", open, n);
}

static void add_mount(pai__backend_words *w, const pai_launch_plan *plan,
                      const pai_launch_mount *m,
                      const pai__surroundings *around)
{
  const char *root = pai__root_in(m->source, around);

  pai__words_add(w, m->readonly ? "--ro-bind" : "--bind");
  pai__words_add(w, m->source);
  pai__words_add(w, m->target);
  if (shows_root_in_place(m, around)) { /* covers earlier mounts in it */
    hide(w, plan, around);
  } else if (root != NULL) {
    pai__words_add(w, "--tmpfs");
    pai__words_printf(w, "%s%s", m->target, root);
  }
}

static void add_number(pai__backend_words *w, const char *option, int number)
{
  pai__words_add(w, option);
  pai__words_printf(w, "%d", number);
}

/* Adds pid and user namespaces, new ones or the job's. */
static void add_processes(pai__backend_words *w,
                          const pai__surroundings *around)
{
  if (around->join_user)
    add_number(w, "--userns", PAI_ORDER_USER_FD);
  if (around->join)
    add_number(w, "--pidns", PAI_ORDER_PID_FD);
  else
    pai__words_add(w, "--unshare-pid");
  if (around->join_told) {
    add_number(w, "--info-fd", PAI_ORDER_INFO_FD);
    add_number(w, "--block-fd", PAI_ORDER_GO_FD);
  }
  pai__words_add(w, "--proc");
  pai__words_add(w, "/proc");
}

/* --- isolated tasks ------------------------------------------------------ */

static bool is_apart(const pai_launch_plan *plan)
{
  return (plan->flags & PAI_LAUNCH_APART) != 0;
}

static void bind(pai__backend_words *w, const char *word, const char *path)
{
  pai__words_add(w, word);
  pai__words_add(w, path);
  pai__words_add(w, path);
}

/* Adds its own terminals, and the GPUs of the machine. */
static void add_devices(pai__backend_words *w, const pai_launch_plan *plan,
                        const pai__surroundings *around)
{
  pai__words_add(w, "--dev");
  pai__words_add(w, "/dev");
  for (const char *const *d = around->devices; d != NULL && *d != NULL; d++)
    bind(w, "--dev-bind-try", *d);
  if (plan->gpus != 0)
    bind(w, "--dev-bind-try", "/dev/infiniband");
}

/* Adds /dev/shm in memory, within the task's limit; other jobs neither see nor
 * fill it. */
static void add_shm(pai__backend_words *w, const pai__surroundings *around)
{
  pai__words_add(w, around->shm != NULL ? "--bind" : "--tmpfs");
  if (around->shm != NULL)
    pai__words_add(w, around->shm);
  pai__words_add(w, "/dev/shm");
}

/* Adds the part of /run that name resolution and NVIDIA's service need; it
 * also has sockets of the user's session and of engines, which stay hidden. */
static void hide_run(pai__backend_words *w)
{
  static const char *const open[] = {
    "/run/systemd/resolve", "/run/resolvconf",
    "/run/NetworkManager/resolv.conf", "/run/nscd", "/run/nvidia-persistenced"
  };

  pai__words_add(w, "--tmpfs");
  pai__words_add(w, "/run");
  for (size_t i = 0; i < PAI__LEN(open); i++)
    bind(w, "--ro-bind-try", open[i]);
}

/* Hides the user's own files outside. */
static void hide_user(pai__backend_words *w, const pai_launch_plan *plan,
                      const pai__surroundings *around)
{
  const char *const *home = around->homes;

  hide_run(w);
  pai__words_add(w, "--bind");
  (void)pai__own_add(w, plan, around, "tmp");
  pai__words_add(w, "/var/tmp");
  for (; home != NULL && *home != NULL; home++) {
    pai__words_add(w, "--bind");
    (void)pai__own_add(w, plan, around, "home");
    pai__words_add(w, *home);
  }
  if (!pai__root_is_hidden(around)) {
    if (plan->job_dir != NULL)
      bind(w, "--bind", plan->job_dir);
    bind(w, "--bind", plan->dir);
  }
}

/* --- checking the mounts ------------------------------------------------- */

bool pai__bwrap_shows_workdir(const pai_launch_plan *plan,
                              const pai__surroundings *around)
{
  if (plan->workdir != NULL && pai__is_within(plan->workdir, around->root))
    return is_below(plan->workdir, around->root);
  return (plan->flags & PAI_LAUNCH_SHARE_TMP) == 0 &&
         is_below(plan->workdir, "/tmp");
}

/* Returns whether a mount after the first `n` covers the path. */
static bool is_covered(const char *path, const pai_launch_plan *plan, size_t n)
{
  for (; n < plan->nmounts; n++)
    if (pai__is_within(path, plan->mounts[n].target))
      return true;
  return false;
}

static void look_at(pai__backend_words *w, const char *identity,
                    const char *path)
{
  if (identity[0] == '\0')
    return;
  pai__words_add(w, identity);
  pai__words_add(w, path);
}

bool pai__bwrap_look(pai__backend_words *w, const pai_launch_plan *plan,
                     const pai__surroundings *around)
{
  const char *const *identity = around->identities;
  size_t before, none;

  if (identity == NULL)
    return false;
  before = w->len;
  pai__words_add(w, PAI_ORDER_LOOK_PATH);
  pai__words_add(w, PAI_ORDER_LOOK);
  none = w->len;
  if (pai__bwrap_shows_workdir(plan, around) &&
      !is_covered(plan->workdir, plan, 0))
    look_at(w, identity[0], plan->workdir);
  for (size_t i = 0; i < plan->nmounts; i++) {
    const pai_launch_mount *m = &plan->mounts[i];
    const char *root = pai__root_in(m->source, around);

    if (!is_covered(m->target, plan, i + 1) && (root == NULL || *root != '\0'))
      look_at(w, identity[i + 1], m->target);
  }
  if (w->len > none) {
    pai__words_add(w, "--");
    return true;
  }
  pai__words_cut(w, before);
  return false;
}

/* --- the whole command line ---------------------------------------------- */

/* Returns the working directory; an isolated task has its own home. */
static const char *begins_in(const pai_launch_plan *plan,
                             const pai__surroundings *around)
{
  if (plan->workdir != NULL)
    return plan->workdir;
  return around->homes != NULL && around->homes[0] != NULL ? around->homes[0]
                                                           : "/tmp";
}

void pai__bwrap_words(pai__backend_words *w, const char *bwrap,
                      const pai_launch_plan *plan,
                      const pai__surroundings *around)
{
  pai__words_add(w, bwrap);
  /* In a joined pid namespace the process inside is created by one that exits
   * at once: only a supervisor that is told waits until then. */
  if (!around->join || around->join_told)
    pai__words_add(w, "--die-with-parent");
  bind(w, is_apart(plan) ? "--ro-bind" : "--dev-bind", "/");
  if (is_apart(plan))
    add_devices(w, plan, around);
  add_shm(w, around);
  add_processes(w, around);
  if ((plan->flags & PAI_LAUNCH_SHARE_TMP) == 0)
    add_tmp(w, plan, around);
  for (const char *const *p = around->points; p != NULL && *p != NULL; p++)
    pai__words_add(w, *p);
  if (is_apart(plan))
    hide_user(w, plan, around);
  if (pai__root_is_hidden(around))
    hide(w, plan, around);
  for (size_t i = 0; i < plan->nmounts; i++)
    add_mount(w, plan, &plan->mounts[i], around);
  if (pai__root_is_hidden(around))
    close_root(w, plan, around);
  if (plan->workdir != NULL || is_apart(plan)) {
    pai__words_add(w, "--chdir");
    pai__words_add(w, begins_in(plan, around));
  }
}
