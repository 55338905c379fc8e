/* runtime.c - chooses the runtime of a task; pure */
#include "backend/local/runtime.h"

#include <stdio.h>

void pai__start_init(pai__start *s, const pai_alloc *alloc)
{
  memset(s, 0, sizeof(*s));
  pai__words_init(&s->argv, alloc);
  pai__words_init(&s->cleanup, alloc);
  pai__words_init(&s->enter, alloc);
  pai__words_init(&s->enter_tty, alloc);
}

void pai__start_dispose(pai__start *s)
{
  pai__words_dispose(&s->argv);
  pai__words_dispose(&s->cleanup);
  pai__words_dispose(&s->enter);
  pai__words_dispose(&s->enter_tty);
}

/* --- the choice ---------------------------------------------------------- */

static void add_bash(pai__start *s, const pai__runtimes *r)
{
  pai__words_add(&s->argv, r->bash);
  pai__words_add(&s->argv, "/dev/fd/3");
}

static int no_bash(pai_error **err)
{
  int rc = pai__fail(err, PAI_ENOTFOUND,
                     "cannot start bash: no such file or directory");

  pai__error_help(err, "install bash, or add its folder to PATH");
  return rc;
}

/* Notes what a plain process cannot have of the plan. */
static void note_process(pai__start *s, const pai_launch_plan *plan)
{
  const pai_launch_mount *m = plan->mounts;
  size_t used;

  for (size_t i = 0; i < plan->nmounts; i++, m++)
    if (strcmp(m->source, m->target) != 0) {
      used = strlen(s->note);
      (void)snprintf(s->note + used, sizeof(s->note) - used,
                     "%s%s is not mounted at %s: this needs a sandbox",
                     used > 0 ? "; " : "", m->source, m->target);
    }
}

static void be_process(pai__start *s, const pai_launch_plan *plan,
                       const pai__runtimes *r)
{
  s->runtime = PAI_RUNTIME_PROCESS;
  note_process(s, plan);
  add_bash(s, r);
}

/* Notes that tasks do not share a pid namespace, which MPI between them
 * needs. */
static void note_alone(pai__start *s, const pai_launch_plan *plan,
                       const pai__surroundings *around)
{
  if ((plan->flags & PAI_LAUNCH_SHARE_PIDS) != 0 && !around->join)
    (void)snprintf(s->note, sizeof(s->note),
                   "process ids of the job's other tasks are not visible: "
                   "bubblewrap cannot join name spaces here");
}

static void be_bwrap(pai__start *s, const pai_launch_plan *plan,
                     const pai__runtimes *r, const pai__surroundings *around)
{
  s->runtime = PAI_RUNTIME_BWRAP;
  s->tmp = (plan->flags & PAI_LAUNCH_SHARE_TMP) == 0;
  s->home = (plan->flags & PAI_LAUNCH_APART) != 0;
  s->spare_first = true;
  note_alone(s, plan, around);
  pai__bwrap_words(&s->argv, r->bwrap.path, plan, around);
  s->looks = pai__bwrap_look(&s->argv, plan, around);
  add_bash(s, r);
}

/* NVIDIA's GPUs do not work in a container without the driver's libraries,
 * which an engine with NVIDIA support adds. */
static bool lacks_driver(const pai__tool *engine, const pai_launch_plan *plan,
                         const pai__surroundings *around)
{
  const char *const *d = around->devices;

  for (; plan->gpus != 0 && d != NULL && *d != NULL; d++)
    if (strncmp(*d, "/dev/nvidia", 11) == 0)
      return !engine->nvidia;
  return false;
}

/* Writes why an engine cannot run an image; a part of a sentence. */
static void tell_why_not(char *out, size_t size, const pai__tool *engine,
                         const char *name, enum pai__at_hand hand)
{
  if (engine->path == NULL)
    (void)snprintf(out, size, "%s is not installed", name);
  else if (hand == PAI__HAND_YES && engine->ran)
    (void)snprintf(out, size,
                   "%s has the image but no NVIDIA driver for containers "
                   "(install nvidia-container-toolkit)",
                   name);
  else if (hand == PAI__HAND_YES || (engine->tried && !engine->works))
    (void)snprintf(out, size, "%s %s%s%.160s", name,
                   hand == PAI__HAND_YES ? "cannot run it" : "does not answer",
                   engine->why_not[0] != '\0' ? ": " : "", engine->why_not);
  else
    (void)snprintf(out, size, "%s %s", name,
                   hand == PAI__HAND_OTHERS ? "does not have it"
                                            : "has no images");
}

static void tell_host(pai__start *s, const pai_launch_plan *plan,
                      const pai__runtimes *r, const pai__surroundings *around)
{
  char podman[256], docker[256];

  if (!pai__has_image(plan))
    return;
  tell_why_not(podman, sizeof(podman), &r->podman, "podman", around->podman);
  tell_why_not(docker, sizeof(docker), &r->docker, "docker", around->docker);
  (void)snprintf(
    s->about, sizeof(s->about),
    "runs %s of this machine, not in its image %.120s: %.200s, %.200s",
    r->bwrap.works ? "in a sandbox" : "as processes", plan->image, podman,
    docker);
}

static void be_container(pai__start *s, const pai_launch_plan *plan,
                         const pai__tool *engine, int runtime,
                         const pai__surroundings *around)
{
  s->runtime = runtime;
  (void)snprintf(
    s->about, sizeof(s->about), "runs in %s: the image %.200s %s",
    runtime == PAI_RUNTIME_PODMAN ? "podman" : "docker", plan->image,
    plan->runtime == PAI_RUNTIME_AUTO ? "is available" : "was requested");
  if (lacks_driver(engine, plan, around))
    (void)snprintf(s->note, sizeof(s->note),
                   "the container may lack the NVIDIA driver for its GPUs: "
                   "install nvidia-container-toolkit");
  pai__container_words(s, engine, plan, around);
}

/* Chooses a runtime for `auto`: an engine that has the image, else what
 * works. */
static void be_auto(pai__start *s, const pai_launch_plan *plan,
                    const pai__runtimes *r, const pai__surroundings *around)
{
  if (around->podman == PAI__HAND_YES && r->podman.ran &&
      !lacks_driver(&r->podman, plan, around)) {
    be_container(s, plan, &r->podman, PAI_RUNTIME_PODMAN, around);
    return;
  }
  if (around->docker == PAI__HAND_YES && r->docker.ran &&
      !lacks_driver(&r->docker, plan, around)) {
    be_container(s, plan, &r->docker, PAI_RUNTIME_DOCKER, around);
    return;
  }
  tell_host(s, plan, r, around);
  if (r->bwrap.works)
    be_bwrap(s, plan, r, around);
  else
    be_process(s, plan, r);
}

static int does_not_work(const pai__tool *tool, const char *name,
                         const char *how, const char *help, pai_error **err)
{
  int rc = pai__fail(err, PAI_ENOTSUP, "%s %s%s%s", name,
                     tool->path == NULL ? "is not installed" : how,
                     tool->why_not[0] != '\0' ? ": " : "", tool->why_not);

  pai__error_help(err, "%s", help);
  return rc;
}

/* A user who requests an engine by name does not want the command to see the
 * machine; but a command without an image can only run on the machine. */
static int choose_engine(pai__start *s, const pai_launch_plan *plan,
                         const pai__runtimes *r,
                         const pai__surroundings *around, pai_error **err)
{
  bool podman = plan->runtime == PAI_RUNTIME_PODMAN;
  const pai__tool *engine = podman ? &r->podman : &r->docker;
  const char *name = podman ? "podman" : "docker";

  if (pai__has_image(plan) && !engine->works)
    return does_not_work(engine, name, "does not answer",
                         "repair it, or use the runtime auto, which then runs "
                         "commands on this machine",
                         err);
  if (pai__has_image(plan)) {
    be_container(s, plan, engine, plan->runtime, around);
    return PAI_OK;
  }
  be_auto(s, plan, r, around);
  (void)snprintf(s->about, sizeof(s->about),
                 "runs %s of this machine, not in %s: it has no image",
                 r->bwrap.works ? "in a sandbox" : "as processes", name);
  return PAI_OK;
}

static int choose_bwrap(pai__start *s, const pai_launch_plan *plan,
                        const pai__runtimes *r,
                        const pai__surroundings *around, pai_error **err)
{
  if (!r->bwrap.works)
    return does_not_work(
      &r->bwrap, "bubblewrap", "does not work here",
      "use the runtime auto or process, or install bubblewrap", err);
  be_bwrap(s, plan, r, around);
  return PAI_OK;
}

int pai__start_choose(pai__start *s, const pai_launch_plan *plan,
                      const pai__runtimes *r, const pai__surroundings *around,
                      pai_error **err)
{
  int rc = PAI_OK;

  if (r->bash == NULL)
    return no_bash(err);
  switch (plan->runtime) {
  case PAI_RUNTIME_AUTO: be_auto(s, plan, r, around); break;
  case PAI_RUNTIME_PROCESS: be_process(s, plan, r); break;
  case PAI_RUNTIME_BWRAP: rc = choose_bwrap(s, plan, r, around, err); break;
  case PAI_RUNTIME_PODMAN:
  case PAI_RUNTIME_DOCKER: rc = choose_engine(s, plan, r, around, err); break;
  default:
    return pai__fail(err, PAI_EINVAL, "there is no runtime %d", plan->runtime);
  }
  if (rc == PAI_OK && (s->argv.failed || s->cleanup.failed ||
                       s->enter.failed || s->enter_tty.failed))
    rc = pai__oom(err);
  return rc;
}
