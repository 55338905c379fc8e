/*
 * container.c - command lines of podman and docker; pure
 *
 * Both take nearly the same words.  The command line has only names of
 * variables: values come from the client's environment, and the script is its
 * standard input, so no process list shows either.
 */
#include "backend/local/enter_env.h"
#include "backend/local/groups.h"
#include "backend/local/runtime.h"

#include "base/buf.h"
#include "base/text/milli.h"

/*
 * Runs inside, with the task folder as $1.  The script on standard input is
 * written to a file that bash reads, so that commands get an empty input of
 * their own.  Only this shell receives a stop request, and passes it to the
 * script's process group.  In that group a second shell, which ignores it,
 * records how the script ended, because an interrupted `wait` of the first
 * loses that.  At last the counters of the container's control group are
 * recorded: nothing else shows whether a process exceeded its memory.
 */
static const char inside[] =
  "begun=$1/" PAI__BEGUN_FILE "; "
  "exec 3<<<\"exec 3<&-;$(</dev/stdin)\" 4>&2 2>/dev/null; >\"$begun\"; "
  "trap 'asked=1; kill -TERM -- -$first' TERM INT HUP; set -m; "
  "(trap : TERM INT HUP; bash /dev/fd/3 </dev/null 2>&4 4>&-; "
  "echo $? >\"$begun\") & first=$!; set +m; "
  "[ -z \"$asked\" ] || kill -TERM -- -$first; "
  "while kill -0 $first; do wait $first; done; read -r code <\"$begun\"; "
  "for f in memory.events memory/memory.oom_control; do "
  "f=/sys/fs/cgroup/$f; "
  "[ ! -r $f ] || { echo \"$(<$f)\" >\"$begun\"; break; }; done; "
  "exit ${code:-137}";

/* Appends a CSV field for --mount; commas and quotes occur. */
static void add_quoted(pai__buf *b, const char *key, const char *value)
{
  pai__buf_printf(b, ",\"%s=", key);
  for (; *value != '\0'; value++) {
    if (*value == '"')
      pai__buf_char(b, '"');
    pai__buf_char(b, *value);
  }
  pai__buf_char(b, '"');
}

typedef struct container {
  pai__backend_words *w;
  const pai_launch_plan *plan;
  const pai__surroundings *around;
  bool docker;
} container;

static void end_mount(pai__backend_words *w, pai__buf *b)
{
  pai__words_add(w, "--mount");
  if (pai__buf_ok(b))
    pai__words_printf(w, "%s", pai__buf_text(b));
  else
    w->failed = true;
  pai__buf_dispose(b);
}

/* Hides the platform's root if it is in the mount.  Without an option podman
 * would copy the hidden content into the tmpfs. */
static void hide_root(const container *c, const char *source,
                      const char *target)
{
  const char *root = pai__root_in(source, c->around);
  pai__buf path, b;

  if (root == NULL)
    return;
  pai__buf_init(&path, c->w->arena.alloc);
  pai__buf_init(&b, c->w->arena.alloc);
  pai__buf_printf(&path, "%s%s", target, root);
  pai__buf_str(&b, "type=tmpfs");
  add_quoted(&b, "target", pai__buf_text(&path));
  if (!c->docker)
    pai__buf_str(&b, ",notmpcopyup");
  c->w->failed |= !pai__buf_ok(&path);
  end_mount(c->w, &b);
  pai__buf_dispose(&path);
}

static void add_mount(const container *c, const char *source,
                      const char *target, int readonly)
{
  pai__buf b;

  pai__buf_init(&b, c->w->arena.alloc);
  pai__buf_str(&b, "type=bind");
  add_quoted(&b, "source", source);
  add_quoted(&b, "target", target);
  if (readonly)
    pai__buf_str(&b, ",readonly");
  end_mount(c->w, &b);
  hide_root(c, source, target);
}

/* Mounts the working directory, unless that is the whole machine or would hide
 * the image's own programs. */
static bool may_show(const container *c, const char *folder)
{
  static const char *const own[] = { "/bin",  "/dev",   "/etc",
                                     "/lib",  "/lib64", "/proc",
                                     "/sbin", "/sys",   "/usr" };
  const char *root = pai__root_in(folder, c->around);

  for (size_t i = 0; i < PAI__LEN(own); i++)
    if (pai__is_within(folder, own[i]))
      return false;
  return strcmp(folder, "/") != 0 && (root == NULL || *root != '\0');
}

/* Mounts a storage in the root as a whole: its tasks may replace folders in it
 * by links.  An isolated task writes to nothing of the machine but /tmp. */
static void add_workdir(const container *c)
{
  const char *folder = c->plan->workdir, *root = c->around->root;
  bool apart = (c->plan->flags & PAI_LAUNCH_APART) != 0;
  bool in_root = pai__is_within(folder, root);
  char top[PAI__OWN_PATH];

  pai__fixed_top(top, sizeof(top), folder, root);
  if (in_root && strlen(folder) < sizeof(top))
    folder =
      c->w->failed ? "" : pai__arena_strndup(&c->w->arena, top, strlen(top));
  if (folder == NULL)
    c->w->failed = true;
  else
    add_mount(c, folder, folder,
              apart && !in_root && !pai__is_within(folder, "/tmp"));
}

static void add_mounts(const container *c)
{
  const pai_launch_plan *plan = c->plan;
  bool has_workdir = plan->workdir == NULL || !may_show(c, plan->workdir) ||
                     pai__is_within(plan->workdir, plan->dir) ||
                     pai__is_within(plan->workdir, plan->job_dir);

  if (plan->job_dir != NULL)
    add_mount(c, plan->job_dir, plan->job_dir, 0);
  if (plan->job_dir == NULL || !pai__is_within(plan->dir, plan->job_dir))
    add_mount(c, plan->dir, plan->dir, 0);
  for (size_t i = 0; i < plan->nmounts; i++) {
    const pai_launch_mount *m = &plan->mounts[i];
    add_mount(c, m->source, m->target, m->readonly);
    has_workdir |=
      plan->workdir != NULL && pai__is_within(plan->workdir, m->target);
  }
  if (!has_workdir)
    add_workdir(c);
  if (plan->workdir != NULL) {
    pai__words_add(c->w, "--workdir");
    pai__words_add(c->w, plan->workdir);
  }
}

static void add_env(pai__backend_words *w, const pai_launch_plan *plan)
{
  for (const char *const *env = plan->env; env != NULL && *env != NULL;
       env++) {
    if (plan->gpus != 0 && strncmp(*env, "CUDA_VISIBLE_DEVICES=", 21) == 0)
      continue;
    pai__words_add(w, "--env");
    pai__words_printf(w, "%.*s", (int)strcspn(*env, "="), *env);
  }
}

/* Inside only the task's GPUs exist, numbered from 0. */
static void add_visible(pai__backend_words *w, uint64_t gpus)
{
  pai__buf list;
  unsigned n = 0;

  pai__buf_init(&list, w->arena.alloc);
  for (unsigned i = 0; i < 64; i++)
    if ((gpus >> i & 1) != 0) {
      pai__buf_printf(&list, "%s%u", n > 0 ? "," : "", n);
      n++;
    }
  pai__words_printf(w, "--env=CUDA_VISIBLE_DEVICES=%s", pai__buf_text(&list));
  w->failed |= !pai__buf_ok(&list);
  pai__buf_dispose(&list);
}

/* Passes whole GPUs: by NVIDIA's runtime, by podman's CDI names, or as device
 * files. */
static void add_gpus(pai__backend_words *w, const pai_launch_plan *plan,
                     bool docker, bool nvidia, const pai__surroundings *around)
{
  pai__buf list;
  const char *comma = "";

  if (plan->gpus == 0)
    return;
  add_visible(w, plan->gpus);
  if (!nvidia) {
    for (const char *const *d = around->devices; d != NULL && *d != NULL;
         d++) {
      pai__words_add(w, "--device");
      pai__words_add(w, *d);
    }
    return;
  }
  pai__buf_init(&list, w->arena.alloc);
  for (unsigned i = 0; i < 64; i++)
    if ((plan->gpus >> i & 1) != 0 && docker) {
      pai__buf_printf(&list, "%s%u", comma, i);
      comma = ",";
    } else if ((plan->gpus >> i & 1) != 0) {
      pai__words_add(w, "--device");
      pai__words_printf(w, "nvidia.com/gpu=%u", i);
    }
  if (docker) {
    pai__words_add(w, "--gpus");
    pai__words_printf(w, "\"device=%s\"", pai__buf_text(&list));
    w->failed |= !pai__buf_ok(&list);
  }
  pai__buf_dispose(&list);
}

/* Engines accept no less than a hundredth of a CPU. */
static void add_cpus(pai__backend_words *w, const pai_launch_plan *plan)
{
  enum { LEAST = 10 };
  uint64_t millis =
    plan->milli_cpus != 0 ? plan->milli_cpus : (uint64_t)plan->cpus * 1000;
  char text[PAI__MILLI_TEXT];

  pai__words_printf(w, "--cpus=%s",
                    pai__milli_text(text, millis < LEAST ? LEAST : millis));
}

static void add_limits(pai__backend_words *w, const pai_launch_plan *plan)
{
  if (plan->shm > 0)
    pai__words_printf(w, "--shm-size=%llu", (unsigned long long)plan->shm);
  if (plan->memory > 0)
    pai__words_printf(w, "--memory=%llu",
                      (unsigned long long)pai__group_memory(plan));
  if (plan->cpus > 0 || plan->milli_cpus > 0)
    add_cpus(w, plan);
  if (plan->cpu_list != NULL && plan->cpu_list[0] != '\0')
    pai__words_printf(w, "--cpuset-cpus=%s", plan->cpu_list);
}

static void add_cleanup(pai__backend_words *w, const char *engine, bool docker,
                        unsigned long long name)
{
  pai__words_add(w, engine);
  pai__words_add(w, "rm");
  pai__words_add(w, "--force");
  if (!docker) { /* podman would wait for it, and fail if it does not exist */
    pai__words_add(w, "--time=0");
    pai__words_add(w, "--ignore");
  }
  pai__words_printf(w, "openpai-%016llx", name);
}

/* Adds the words of a command in the container, with the job's own
 * variables. */
static void add_enter(pai__backend_words *w, const pai__tool *engine, bool tty,
                      unsigned long long name, const pai_launch_plan *plan)
{
  static const char set[] = "eval \"$" PAI__ENTER_VARIABLE
                            "\"; unset " PAI__ENTER_VARIABLE "; exec \"$@\"";

  pai__words_add(w, engine->path);
  pai__words_add(w, "exec");
  pai__words_add(w, "--interactive");
  if (tty)
    pai__words_add(w, "--tty");
  if (pai__enter_has_env(plan))
    pai__words_add(w, "--env=" PAI__ENTER_VARIABLE);
  pai__words_printf(w, "openpai-%016llx", name);
  if (!pai__enter_has_env(plan))
    return;
  pai__words_add(w, "bash");
  pai__words_add(w, "-c");
  pai__words_add(w, set);
  pai__words_add(w, "openpai");
}

void pai__container_words(pai__start *s, const pai__tool *engine,
                          const pai_launch_plan *plan,
                          const pai__surroundings *around)
{
  unsigned long long name = (unsigned long long)pai__text_hash(plan->dir);
  bool docker = s->runtime == PAI_RUNTIME_DOCKER;
  pai__backend_words *w = &s->argv;

  s->script_stdin = true;
  pai__words_add(w, engine->path);
  pai__words_add(w, "run");
  pai__words_add(w, "--rm");
  pai__words_add(w, "--interactive");
  pai__words_printf(w, "--name=openpai-%016llx", name);
  pai__words_printf(w, "--cidfile=%s/" PAI__ID_FILE "%s", plan->dir,
                    docker ? "docker" : "podman");
  pai__words_add(w, "--network=host");
  pai__words_add(w, "--log-driver=none");
  pai__words_add(w, "--security-opt=label=disable");
  /* forwards signals and reaps orphans */
  pai__words_add(w, "--init");
  add_limits(w, plan);
  add_gpus(w, plan, docker, engine->nvidia, around);
  pai__words_printf(w, "--user=%s", plan->user != NULL ? plan->user : "0:0");
  add_mounts(&(container){ w, plan, around, docker });
  add_env(w, plan);
  pai__words_printf(w, "--env=OPENPAI_CONTAINER=%s",
                    docker ? "docker" : "podman");
  pai__words_add(w, "--entrypoint=bash");
  pai__words_add(w, "--");
  pai__words_add(w, plan->image);
  pai__words_add(w, "-c");
  pai__words_add(w, inside);
  pai__words_add(w, "openpai");
  pai__words_add(w, plan->dir);
  add_enter(&s->enter, engine, false, name, plan);
  add_enter(&s->enter_tty, engine, true, name, plan);
  add_cleanup(&s->cleanup, engine->path, docker, name);
}
