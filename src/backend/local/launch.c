/*
 * launch.c - starts a supervisor for a launch plan
 *
 * Makes the order from the runtime's command line, the control groups and the
 * plan; then creates the task's folder and starts the supervisor.
 */
#include "backend/local/local.h"

#include "backend/local/enter_env.h"
#include "backend/local/posix_files.h"
#include "backend/local/posix_launch.h"
#include "base/os/posix_fs.h"
#include "task/order.h"

#include <limits.h>

enum { OF_ENGINE = 128 << 20 }; /* memory that an engine uses itself */

typedef struct launch {
  const pai_launch_plan *plan;
  pai_launch_mount *mounts; /* the plan's and its folders */
  size_t room;
  pai__start start;
  pai__backend_group group;
  pai__backend_words devices, points;
  pai__backend_words real,
    identities;         /* of mount sources: pai__files_look() */
  const pai__user *who; /* NULL: this process's user */
  const char *status;   /* local_task.own */
  pai__space *space;    /* of its job, or NULL */
  pai__backend_words user_env, enter_env;
  pai__buf gids;
  pai__buf failed; /* groups that could not be created */
  pai__buf note, begun;
  pai__backend_words own; /* holds the next two */
  const char *tmp, *home; /* or NULL */
  const char **env;
  size_t env_count;
  char here[4096];
} launch;

static void init(launch *k, const local_task *t, const pai_launch_plan *plan)
{
  const pai_alloc *alloc = &t->owner->alloc;

  k->plan = plan;
  k->mounts = NULL;
  k->room = 0;
  k->who = t->who;
  k->status = t->own;
  k->space = NULL;
  pai__words_init(&k->user_env, alloc);
  pai__words_init(&k->enter_env, alloc);
  pai__buf_init(&k->gids, alloc);
  pai__start_init(&k->start, alloc);
  pai__group_init(&k->group, alloc);
  pai__words_init(&k->devices, alloc);
  pai__words_init(&k->points, alloc);
  pai__words_init(&k->real, alloc);
  pai__words_init(&k->identities, alloc);
  pai__buf_init(&k->failed, alloc);
  pai__buf_init(&k->note, alloc);
  pai__words_init(&k->own, alloc);
  k->tmp = k->home = NULL;
  pai__buf_init(&k->begun, alloc);
  k->env = NULL;
  k->env_count = 0;
  k->here[0] = '\0';
}

static void dispose(launch *k)
{
  const pai_alloc *alloc = k->note.alloc;

  pai__start_dispose(&k->start);
  pai__group_dispose(&k->group);
  pai__words_dispose(&k->devices);
  pai__words_dispose(&k->user_env);
  pai__words_dispose(&k->enter_env);
  pai__buf_dispose(&k->gids);
  pai__words_dispose(&k->points);
  pai__words_dispose(&k->real);
  pai__words_dispose(&k->identities);
  pai__buf_dispose(&k->failed);
  pai__buf_dispose(&k->note);
  pai__words_dispose(&k->own);
  pai__buf_dispose(&k->begun);
  pai__free(alloc, k->env, k->env_count * sizeof(*k->env));
  pai__free(alloc, k->mounts, k->room * sizeof(*k->mounts));
}

/* Use of docker is equivalent to root's rights. */
static int no_docker(const pai__user *who, pai_error **err)
{
  int rc = pai__fail(err, PAI_EPERM,
                     "user %s may not use docker's socket, which gives full "
                     "access to this machine",
                     who->name);

  pai__error_help(err, "use the runtime podman, bwrap or process, or ask the "
                       "administrator to add the user to docker's group");
  return rc;
}

/* If tasks run as other users, file permissions hide it. */
bool pai__local_hides(const local *l)
{
  return l->host.owner == NULL && l->host.root != NULL &&
         pai__files_are_real(l->host.root);
}

static int fail_link(const char *path, const char *root, pai_error **err)
{
  return pai__fail(err, PAI_EPERM,
                   "%.400s is a link to the platform's own folder %.400s, "
                   "which is hidden from tasks",
                   path, root);
}

/* Returns whether a path with a symbolic link leads to that folder, into it,
 * or to a folder above it. */
static bool leads(const char *path, const char *real, const char *folder)
{
  return real[0] != '\0' && strcmp(real, path) != 0 &&
         (pai__is_within(real, folder) || pai__is_within(folder, real));
}

/* Looks up the paths once, before anything is started: a path may lead
 * elsewhere later. */
static int look_at_shown(launch *k, pai__surroundings *around, pai_error **err)
{
  const pai_launch_plan *plan = k->plan;
  char real[PATH_MAX], identity[PAI_ORDER_IDENTITY];

  if (!pai__root_is_hidden(around) && around->homes == NULL)
    return PAI_OK;
  for (size_t i = 0; i <= plan->nmounts; i++) {
    const char *path = i == 0 ? plan->workdir : plan->mounts[i - 1].source;

    pai__files_look(real, identity, path != NULL ? path : "");
    pai__words_printf(&k->real, "%s", real);
    pai__words_printf(&k->identities, "%s", identity);
  }
  around->identities = k->identities.at;
  return k->real.failed || k->identities.failed ? pai__oom(err) : PAI_OK;
}

static bool shows_workdir(const launch *k, const pai__surroundings *around)
{
  return k->plan->workdir != NULL &&
         (k->start.runtime != PAI_RUNTIME_BWRAP ||
          pai__bwrap_shows_workdir(k->plan, around));
}

/* Returns the hidden folder that `path` leads to, for an isolated task; or
 * NULL. */
static const char *find_hidden(const char *path, const char *real,
                               const pai__surroundings *around)
{
  static const char *const others[] = { "/run", "/dev", "/proc" };
  const char *const *home = around->homes;

  if (pai__root_is_hidden(around) && leads(path, real, around->root))
    return around->root;
  for (; home != NULL && *home != NULL; home++)
    if (leads(path, real, *home))
      return *home;
  for (size_t i = 0; around->homes != NULL && i < PAI__LEN(others); i++)
    if (leads(path, real, others[i]))
      return others[i];
  return NULL;
}

/* An isolated task may write to its working directory, if that is mounted: so
 * no link in its path may lead out of the storage, or of /tmp. */
static bool stays(const launch *k, const pai__surroundings *around)
{
  char top[PATH_MAX], real[PATH_MAX], identity[PAI_ORDER_IDENTITY];

  pai__fixed_top(top, sizeof(top), k->plan->workdir, around->root);
  pai__files_look(real, identity, top);
  return pai__is_within(k->real.at[0], real);
}

/* A user who can create links in the path of a mounted folder could see hidden
 * files through one. */
static int check_links(const launch *k, const pai__surroundings *around,
                       pai_error **err)
{
  const pai_launch_plan *plan = k->plan;

  if (around->identities == NULL)
    return PAI_OK;
  for (size_t i = 0; i <= plan->nmounts; i++) {
    const char *path = i == 0 ? plan->workdir : plan->mounts[i - 1].source;
    const char *hidden = i > 0 || shows_workdir(k, around)
                           ? find_hidden(path, k->real.at[i], around)
                           : NULL;

    if (hidden != NULL)
      return fail_link(path, hidden, err);
  }
  if (around->homes == NULL || !shows_workdir(k, around) ||
      k->real.at[0][0] == '\0' || stays(k, around))
    return PAI_OK;
  return pai__fail(
    err, PAI_EPERM,
    "%.400s is a link to %.400s, where jobs of other accounts may not write",
    plan->workdir, k->real.at[0]);
}

/* For an isolated task: the working directory must not be hidden. */
static int check_home(const pai_launch_plan *plan,
                      const pai__surroundings *around, pai_error **err)
{
  static const char *const run[] = { "/run", "/var/run", NULL };
  const char *const *home = around->homes, *const *at = run;

  while (plan->workdir != NULL && *home != NULL &&
         !pai__is_within(plan->workdir, *home))
    home++;
  while (plan->workdir != NULL && *at != NULL &&
         !pai__is_within(plan->workdir, *at))
    at++;
  if (plan->workdir == NULL || (*home == NULL && *at == NULL) ||
      (pai__root_is_hidden(around) &&
       pai__is_within(plan->workdir, around->root)))
    return PAI_OK;
  if (*home == NULL)
    return pai__fail(err, PAI_EPERM,
                     "commands cannot start in %.400s: %s is hidden from jobs "
                     "of other accounts",
                     plan->workdir, *at);
  return pai__fail(err, PAI_EPERM,
                   "commands cannot start in %.400s: the home folder %.400s "
                   "is hidden from jobs of other accounts",
                   plan->workdir, *home);
}

static void give_space_back(launch *k, local *l)
{
  pai__space_give_back(&l->runtimes, &l->alloc, k->space);
  k->space = NULL;
}

/* Tasks of a job that refer to each other by pid share a pid namespace. */
static int find_space(launch *k, local *l, pai__surroundings *around)
{
  int rc;

  if ((k->plan->flags & PAI_LAUNCH_SHARE_PIDS) == 0)
    return PAI_OK;
  rc = pai__space_take(&k->space, &l->runtimes, &l->alloc, k->plan, k->who);
  around->join = around->join_told = k->space != NULL;
  around->join_user = k->space != NULL && k->space->user >= 0;
  around->shm = k->space != NULL ? k->space->shm : NULL;
  return rc;
}

/* Chooses the runtime.  A container's engine enforces its limits. */
static int choose(launch *k, local *l, pai_error **err)
{
  pai__surroundings around = { .root = l->host.root,
                               .hide = pai__local_hides(l) };
  const char *homes[PAI__HOMES + 1];
  bool apart = (k->plan->flags & PAI_LAUNCH_APART) != 0;
  int rc;

  if (k->plan->runtime == PAI_RUNTIME_DOCKER &&
      !pai__docker_lets(&l->runtimes, k->who))
    return no_docker(k->who, err);
  if (apart) {
    pai__files_homes(homes, &l->self);
    around.homes = homes;
  }
  if (!apart && k->plan->workdir == NULL &&
      pai__files_here(k->here, sizeof(k->here)))
    around.here = k->here;
  if (k->plan->gpus != 0)
    pai__gpu_devices(&k->devices, k->plan->gpus);
  around.devices = k->devices.at;
  if (pai__as_user(k->who)) { /* looks up paths with the user's rights */
    pai__mount_points(&k->points, k->plan);
    pai__as_self(k->who);
  }
  around.points = k->points.at;
  if (k->devices.failed || k->points.failed)
    return pai__oom(err);
  rc = look_at_shown(k, &around, err);
  if (rc < 0)
    return rc;
  rc = pai__local_look(l, k->plan, &around, err);
  if (rc < 0)
    return rc;
  if (find_space(k, l, &around) < 0)
    return pai__oom(err);
  rc = pai__start_choose(&k->start, k->plan, &l->runtimes, &around, err);
  if (k->start.runtime != PAI_RUNTIME_BWRAP)
    give_space_back(k, l);
  if (rc == PAI_OK && apart)
    rc = check_home(k->plan, &around, err);
  if (rc == PAI_OK && k->start.tmp)
    k->tmp = pai__own_add(&k->own, k->plan, &around, "tmp");
  if (rc == PAI_OK && k->start.home)
    k->home = pai__own_add(&k->own, k->plan, &around, "home");
  if (rc == PAI_OK && k->start.runtime != PAI_RUNTIME_PROCESS)
    rc = check_links(k, &around, err);
  if (rc < 0)
    return rc;
  if (k->start.script_stdin)
    return PAI_OK;
  return pai__group_make(&k->group, &l->groups, k->plan, &k->failed) < 0
           ? pai__oom(err)
           : PAI_OK;
}

static void write_note(launch *k)
{
  pai__buf_str(&k->note, k->start.about);
  if (k->start.about[0] != '\0' && k->start.note[0] != '\0')
    pai__buf_str(&k->note, "; ");
  pai__buf_str(&k->note, k->start.note);
  if (k->failed.len > 0)
    pai__buf_printf(&k->note, "%sno limit by %s", k->note.len > 0 ? "; " : "",
                    pai__buf_text(&k->failed));
}

/* Logs what the runtime lacks: in each task's log, and once in this process's
 * log. */
static void say_note(const launch *k, local *l)
{
  uint64_t hash = pai__text_hash(pai__buf_text(&k->note));

  if (k->note.len == strlen(k->start.about) || hash == l->last_note)
    return;
  l->last_note = hash;
  pai__log_line(&l->log, PAI_LOG_WARNING, "%s", pai__buf_text(&k->note));
}

/* Checks the size of arguments and environment; it grows with the addresses in
 * a large job. */
static int check_size(const launch *k, pai_error **err)
{
  size_t most = pai__local_most_args(), size = 0;

  for (const char **at = k->env; *at != NULL; at++)
    size += strlen(*at) + 1 + sizeof(*at);
  for (size_t i = 0; i < k->start.argv.len; i++)
    size += strlen(k->start.argv.at[i]) + 1 + sizeof(char *);
  if (size <= most)
    return PAI_OK;
  return pai__fail(err, PAI_ELIMIT,
                   "cannot start bash: the addresses of the job's tasks "
                   "exceed the size limit of the environment");
}

/* An engine limits a container's memory, but not on every machine: then the
 * supervisor checks podman and its processes. */
static void order_container(pai__backend_order *order, launch *k)
{
  const pai_launch_plan *plan = k->plan;

  if (k->start.runtime == PAI_RUNTIME_PODMAN && plan->memory > 0)
    order->memory = pai__group_memory(plan) + OF_ENGINE;
  pai__buf_printf(&k->begun, "%s/" PAI__BEGUN_FILE, plan->dir);
  order->oom_file = pai__buf_text(&k->begun);
}

/* A container's standard input is its script. */
static uint32_t input_flags(launch *k)
{
  uint32_t wished = k->plan->flags & (PAI_LAUNCH_INPUT | PAI_LAUNCH_TTY);

  if (k->start.script_stdin && wished != 0)
    pai__buf_str(
      &k->note,
      "the task has no standard input: a container's cannot be kept open; ");
  if (k->start.script_stdin)
    return PAI_ORDER_SCRIPT_STDIN;
  return ((wished & PAI_LAUNCH_INPUT) != 0 ? PAI_ORDER_INPUT : 0) |
         ((wished & PAI_LAUNCH_TTY) != 0 ? PAI_ORDER_INPUT | PAI_ORDER_TTY
                                         : 0);
}

static int write_order(pai__buf *out, launch *k, pai_error **err)
{
  const pai_launch_plan *plan = k->plan;
  pai__backend_order order = { .argv = k->start.argv.at,
                               .env = k->env,
                               .cleanup = k->start.cleanup.at,
                               .procs = k->group.procs.at,
                               .groups = k->group.dirs.at,
                               .enter = k->start.enter.at,
                               .enter_tty = k->start.enter_tty.at,
                               .enter_env = k->enter_env.at,
                               .oom_file = k->group.oom_file,
                               .script = plan->script,
                               .log_limit = plan->log_limit };
  int rc;

  if (k->start.script_stdin) { /* the engine handles the rest */
    order_container(&order, k);
  } else {
    order.workdir = plan->workdir;
    order.memory = k->group.oom_file == NULL ? pai__group_memory(plan) : 0;
    order.cpus = plan->cpu_list;
    order.numa_nodes = plan->numa_nodes;
    order.nice = plan->nice;
  }
  if (k->start.spare_first)
    order.flags |= PAI_ORDER_SPARE_FIRST;
  if (k->start.home)
    order.flags |= PAI_ORDER_APART;
  if (k->start.looks)
    order.flags |= PAI_ORDER_CHECK;
  if (k->space != NULL) {
    order.flags |= PAI_ORDER_SHARED;
    order.holder = (uint32_t)k->space->holder;
  }
  order.flags |= input_flags(k);
  if (k->who != NULL) {
    order.flags |= PAI_ORDER_BE_USER;
    order.uid = k->who->uid;
    order.gid = k->who->gid;
    for (size_t i = 0; i < k->who->ngroups; i++)
      pai__buf_printf(&k->gids, "%s%u", i > 0 ? "," : "", k->who->groups[i]);
    if (k->gids.len > 0)
      order.gids = pai__buf_text(&k->gids);
  }
  write_note(k);
  if (k->note.len > 0)
    order.note = pai__buf_text(&k->note);
  order.tmp = k->tmp;
  order.status = k->status;
  rc = pai__order_write(out, &order);
  if (rc == PAI_EINVAL)
    return pai__fail(err, rc,
                     "\"%s\" and \"%s\" must be lists such as \"0-3,8\"",
                     plan->cpu_list != NULL ? plan->cpu_list : "",
                     plan->numa_nodes != NULL ? plan->numa_nodes : "");
  return rc < 0 || !pai__buf_ok(&k->note) || k->own.failed ||
             !pai__buf_ok(&k->gids) || !pai__buf_ok(&k->begun)
           ? pai__oom(err)
           : PAI_OK;
}

/* It may contain secrets. */
static void dispose_order(pai__buf *order)
{
  volatile char *byte = order->data;

  for (size_t i = 0; byte != NULL && i < order->cap; i++)
    byte[i] = 0;
  pai__buf_dispose(order);
}

static int make_dirs(const launch *k, local *l, pai_error **err)
{
  char real[PATH_MAX], identity[PAI_ORDER_IDENTITY];
  int rc =
    k->status != NULL ? pai__fs_make_dirs(k->status, &l->alloc, err) : PAI_OK;

  if (rc < 0)
    return rc;
  if (!pai__as_user(k->who))
    return pai__fail(err, PAI_EPERM, "this process cannot act for %s",
                     k->who->name);
  rc = pai__fs_make_dirs(k->plan->dir, &l->alloc, err);
  pai__files_look(real, identity, k->plan->dir);
  if (rc == PAI_OK &&
      pai__local_hides(l) && /* the folder is where earlier tasks could
                                write */
      leads(k->plan->dir, real, l->host.root))
    rc = fail_link(k->plan->dir, l->host.root, err);
  if (rc == PAI_OK && k->tmp != NULL)
    rc = pai__files_make_tmp(k->tmp, &l->alloc, err);
  if (rc == PAI_OK && k->home != NULL)
    rc = pai__files_make_home(k->home, &l->alloc, err);
  pai__as_self(k->who);
  return rc;
}

/* Creates the folder last, so a refused plan leaves nothing. */
static int start(launch *k, local *l, int *pid, pai_error **err)
{
  pai__buf order;
  int rc;

  pai__buf_init(&order, &l->alloc);
  rc = write_order(&order, k, err);
  if (rc == PAI_OK)
    rc = make_dirs(k, l, err);
  if (rc == PAI_OK)
    rc = pai__local_spawn(pid, l->program, k->plan->dir,
                          k->status != NULL && pai__local_hides(l), k->who,
                          k->space, order.data, order.len, err);
  dispose_order(&order);
  return rc;
}

static int check_plan(const pai_launch_plan *plan, pai_error **err)
{
  if (plan->dir == NULL || plan->dir[0] != '/' || plan->script == NULL)
    return pai__fail(err, PAI_EINVAL,
                     "a launch plan needs a script and an absolute folder");
  if (strlen(plan->dir) > 4000)
    return pai__fail(err, PAI_ELIMIT, "the path of %.200s... is too long",
                     plan->dir);
  if (plan->nice > 19)
    return pai__fail(err, PAI_EINVAL, "nice must be from 0 to 19, not %u",
                     plan->nice);
  return PAI_OK;
}

/* Makes the part of the environment that the plan does not set. */
static int make_env(launch *k, local *l, pai_error **err)
{
  if (k->who != NULL)
    pai__local_user_env(&k->user_env, k->who, l->pass_env);
  if (k->user_env.failed)
    return pai__oom(err);
  k->env = pai__local_env(k->who != NULL ? k->user_env.at : NULL, k->plan,
                          &k->start, l->pass_env, &l->alloc, &k->env_count);
  if (k->env == NULL)
    return pai__oom(err);
  pai__enter_env(&k->enter_env, k->env, k->plan, k->start.script_stdin);
  return k->enter_env.failed ? pai__oom(err) : check_size(k, err);
}

/* Adds existing folders of the machine's /tmp as mounts before the plan's
 * own. */
static int add_folders(launch *k, const local *l, pai_launch_plan *plan,
                       pai_error **err)
{
  char real[PATH_MAX], identity[PAI_ORDER_IDENTITY];
  size_t n = 0;

  if (plan->folders == NULL)
    return PAI_OK;
  while (plan->folders[n] != NULL)
    n++;
  k->room = n + plan->nmounts + 1;
  k->mounts = pai__zalloc(&l->alloc, k->room * sizeof(*k->mounts));
  if (k->mounts == NULL)
    return pai__oom(err);
  n = 0;
  for (const char *const *at = plan->folders; *at != NULL; at++) {
    pai__files_look(real, identity, *at);
    if (real[0] != '\0' &&
        (l->host.root == NULL || !pai__is_within(*at, l->host.root)))
      k->mounts[n++] = (pai_launch_mount){ .source = *at, .target = *at };
  }
  if (plan->nmounts > 0)
    memcpy(k->mounts + n, plan->mounts, plan->nmounts * sizeof(*plan->mounts));
  plan->mounts = k->mounts;
  plan->nmounts += n;
  return PAI_OK;
}

int pai__local_launch(local_task *t, const pai_launch_plan *given,
                      pai_error **err)
{
  local *l = t->owner;
  pai_launch_plan plan;
  int pid = 0, rc;
  launch k;

  rc = PAI__COPY_IN(&plan, given, pai_launch_plan, log_limit);
  if (rc < 0)
    return pai__fail_struct(err, rc, given, "pai_launch_plan");
  rc = check_plan(&plan, err);
  if (rc < 0)
    return rc;
  init(&k, t, &plan);
  rc = add_folders(&k, l, &plan, err);
  if (rc == PAI_OK)
    rc = choose(&k, l, err);
  if (rc == PAI_OK)
    rc = make_env(&k, l, err);
  if (rc == PAI_OK)
    rc = start(&k, l, &pid, err);
  if (rc < 0)
    pai__group_remove(&k.group);
  else
    say_note(&k, l);
  if (rc == PAI_OK)
    t->space = k.space; /* until the task has ended */
  else
    give_space_back(&k, l);
  if (rc == PAI_OK && k.group.above != NULL)
    t->above = pai__strdup(&l->alloc, k.group.above);
  if (rc == PAI_OK && k.start.about[0] != '\0') /* not logged when out of
                                                   memory */
    t->about = pai__strdup(&l->alloc, k.start.about);
  dispose(&k);
  return rc < 0 ? rc : pid;
}
