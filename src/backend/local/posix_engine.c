/* posix_engine.c - podman and docker: whether they work, and which images they
 * have */
#define _GNU_SOURCE
#include "backend/local/posix_try.h"

#include "base/buf.h"
#include "base/os/posix_fs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { AGAIN_MS = 30000, MOST_LIST = 16 << 20 };

static bool run(const pai__runtimes *r, const char *const *argv, char *text,
                size_t size)
{
  const pai__backend_attempt a = { .argv = argv, .stop = r->stop };

  return pai__try_run(&a, text, size);
}

static bool try_tool(const pai__runtimes *r, pai__tool *tool,
                     const char *const *argv)
{
  char text[2048];

  tool->tried = true;
  tool->works = run(r, argv, text, sizeof(text));
  if (!tool->works)
    pai__try_keep_last_line(tool->why_not, sizeof(tool->why_not), text);
  return tool->works;
}

static void try_podman(const pai__runtimes *r, pai__tool *tool)
{
  const char *argv[] = { tool->path, "info", "--format", "works", NULL };

  if (try_tool(r, tool, argv))
    tool->nvidia = access("/etc/cdi/nvidia.yaml", R_OK) == 0 ||
                   access("/var/run/cdi/nvidia.yaml", R_OK) == 0;
}

static void try_docker(const pai__runtimes *r, pai__tool *tool)
{
  const char *argv[] = { tool->path, "version", "--format",
                         "{{.Server.Version}}", NULL };
  const char *more[] = { tool->path, "info", "--format", "{{json .Runtimes}}",
                         NULL };
  char text[2048];

  if (try_tool(r, tool, argv))
    tool->nvidia =
      run(r, more, text, sizeof(text)) && strstr(text, "\"nvidia\"") != NULL;
}

/* --- engines ------------------------------------------------------------- */

/* True: a query is needed but not allowed (dry). */
static bool is_open(pai__runtimes *r)
{
  r->asks |= r->dry;
  return r->dry;
}

static void try_engine(pai__runtimes *r, pai__tool *tool, int runtime)
{
  int64_t now = pai__try_now();

  if (tool->path == NULL ||
      (tool->tried && (tool->works || now < tool->again)) || is_open(r))
    return;
  tool->why_not[0] = '\0';
  if (runtime == PAI_RUNTIME_PODMAN)
    try_podman(r, tool);
  else
    try_docker(r, tool);
  tool->again = pai__try_now() + AGAIN_MS;
}

static bool is_there(const char *folder, const char *below)
{
  char path[4096];

  return folder != NULL && folder[0] == '/' &&
         snprintf(path, sizeof(path), "%s/%s", folder, below) <
           (int)sizeof(path) &&
         access(path, F_OK) == 0;
}

/* Writes the name without registry, folders, tag and digest. */
static void base_name(char *out, size_t size, const char *image)
{
  const char *slash = strrchr(image, '/');
  const char *name = slash != NULL ? slash + 1 : image;

  (void)snprintf(out, size, "%.*s", (int)strcspn(name, ":@"), name);
}

/* Returns whether a list has the name as the last part of an image's name,
 * before a tag or digest. */
static bool names_it(const char *list, const char *name)
{
  size_t len = strlen(name);

  for (const char *at = list; len > 0 && (at = strstr(at, name)) != NULL; at++)
    if (at > list && strchr("/\"", at[-1]) != NULL &&
        strchr(":@\"", at[len]) != NULL)
      return true;
  return false;
}

/* Returns whether podman's image lists have a similar name.  The files are
 * read because asking podman takes a hundred times as long. */
static enum pai__at_hand is_listed(const char *folder, const char *below,
                                   const char *image, const pai_alloc *alloc)
{
  static const char *const drivers[] = { "overlay", "vfs", "btrfs", "zfs" };
  enum pai__at_hand hand = PAI__HAND_NO;
  char path[4096], name[256];
  pai__buf b;

  base_name(name, sizeof(name), image);
  pai__buf_init(&b, alloc);
  for (size_t i = 0; folder != NULL && i < PAI__LEN(drivers); i++) {
    if (snprintf(path, sizeof(path), "%s/%s/%s-images/images.json", folder,
                 below, drivers[i]) >= (int)sizeof(path) ||
        pai__fs_read(&b, path, MOST_LIST, NULL) < 0 || b.len <= 4)
      continue;
    if (names_it(pai__buf_text(&b), name))
      hand = PAI__HAND_YES;
    else if (hand == PAI__HAND_NO)
      hand = PAI__HAND_OTHERS;
  }
  pai__buf_dispose(&b);
  return hand;
}

/* Returns whether an engine may have the image, without running it: that would
 * create its folders, and takes long. */
static enum pai__at_hand may_have(int runtime, const char *image,
                                  const pai_alloc *alloc)
{
  const char *home = getenv("HOME"), *data = getenv("XDG_DATA_HOME");

  if (runtime == PAI_RUNTIME_DOCKER)
    return getenv("DOCKER_HOST") != NULL ||
               is_there("/var/run", "docker.sock") ||
               is_there(getenv("XDG_RUNTIME_DIR"), "docker.sock") ||
               is_there(home, ".docker/contexts")
             ? PAI__HAND_YES
             : PAI__HAND_NO;
  if (getenv("CONTAINERS_STORAGE_CONF") != NULL ||
      getenv("CONTAINERS_CONF") != NULL ||
      is_there(home, ".config/containers/storage.conf"))
    return PAI__HAND_YES; /* its storage is elsewhere */
  if (geteuid() == 0)
    return is_listed("/var/lib/containers", "storage", image, alloc);
  if (data != NULL && data[0] == '/')
    return is_listed(data, "containers/storage", image, alloc);
  return is_listed(home, ".local/share/containers/storage", image, alloc);
}

/* Queries the image by name; the answer is cached for a while. */
static bool has_image(pai__runtimes *r, const pai__tool *engine,
                      const char *name)
{
  const char *argv[] = { engine->path, "image", "inspect", "--format",
                         "works",      "--",    name,      NULL };
  uint64_t hash = pai__text_hash(engine->path) * 31 + pai__text_hash(name);
  int64_t now = pai__try_now();
  char text[2048];
  pai__image *known = NULL;

  for (unsigned i = 0; known == NULL && i < PAI__IMAGES; i++)
    if (r->images[i].name == hash)
      known = &r->images[i];
  if (known != NULL && now < known->until)
    return known->here;
  if (is_open(r))
    return false;
  if (known == NULL)
    known = &r->images[r->next_image++ % PAI__IMAGES];
  *known =
    (pai__image){ .name = hash, .here = run(r, argv, text, sizeof(text)) };
  known->until = pai__try_now() + AGAIN_MS;
  return known->here;
}

/* Returns whether the engine can run containers: some machines only keep
 * images. */
static bool runs(pai__runtimes *r, pai__tool *engine, const char *image)
{
  const char *argv[] = { engine->path,
                         "run",
                         "--rm",
                         "--network=host",
                         "--log-driver=none",
                         "--entrypoint=bash",
                         "--",
                         image,
                         "-c",
                         "echo works",
                         NULL };
  char text[2048];

  if (engine->ran_tried && (engine->ran || pai__try_now() < engine->again))
    return engine->ran;
  if (is_open(r))
    return false;
  engine->why_not[0] = '\0';
  engine->ran_tried = true;
  engine->ran = run(r, argv, text, sizeof(text));
  if (!engine->ran)
    pai__try_keep_last_line(engine->why_not, sizeof(engine->why_not), text);
  engine->again = pai__try_now() + AGAIN_MS;
  return engine->ran;
}

static enum pai__at_hand look_for(pai__runtimes *r, const pai_alloc *alloc,
                                  pai__tool *engine, int runtime,
                                  const char *image)
{
  enum pai__at_hand hand =
    engine->path != NULL ? may_have(runtime, image, alloc) : PAI__HAND_NO;

  if (hand != PAI__HAND_YES)
    return hand;
  try_engine(r, engine, runtime);
  if (!engine->works)
    return PAI__HAND_NO;
  if (!has_image(r, engine, image))
    return PAI__HAND_OTHERS;
  (void)runs(r, engine, image);
  return PAI__HAND_YES;
}

void pai__engines_probe(pai__runtimes *r, const pai_alloc *alloc,
                        const pai_launch_plan *plan, pai__surroundings *around)
{
  switch (plan->runtime) {
  case PAI_RUNTIME_PODMAN: try_engine(r, &r->podman, plan->runtime); break;
  case PAI_RUNTIME_DOCKER: try_engine(r, &r->docker, plan->runtime); break;
  case PAI_RUNTIME_AUTO:
    if (!pai__has_image(plan) || r->others) /* root's images are not the
                                               user's */
      break;
    around->podman =
      look_for(r, alloc, &r->podman, PAI_RUNTIME_PODMAN, plan->image);
    if (around->podman != PAI__HAND_YES || !r->podman.ran ||
        (plan->gpus != 0 && !r->podman.nvidia))
      around->docker =
        look_for(r, alloc, &r->docker, PAI_RUNTIME_DOCKER, plan->image);
    break;
  default: break;
  }
}

bool pai__engines_ask(pai__runtimes *r, const pai_alloc *alloc,
                      const pai_launch_plan *plan)
{
  pai__surroundings around = { .root = NULL };

  r->asks = false;
  r->dry = true;
  pai__engines_probe(r, alloc, plan, &around);
  r->dry = false;
  return r->asks;
}

/* docker's client runs as the task's user; this predicts whether it has
 * access. */
bool pai__docker_lets(const pai__runtimes *r, const pai__user *who)
{
  static const struct sockaddr_un at = { AF_UNIX, "/var/run/docker.sock" };
  int fd = -1, rc = -1;

  if (who == NULL || r->docker.path == NULL)
    return true;
  if (pai__as_user(who)) {
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    rc = connect(fd, (const struct sockaddr *)&at, sizeof(at));
    rc = rc < 0 && errno != EACCES && errno != EPERM ? 0 : rc;
    pai__as_self(who);
  }
  if (fd >= 0)
    (void)close(fd);
  return rc == 0;
}

/* --- containers of lost supervisors -------------------------------------- */

/* Runs in the background, because an engine is slow. */
static void remove_container(const pai__runtimes *r, const char *engine,
                             const char *name)
{
  static const char words[] =
    "\"$0\" rm --force \"$1\" </dev/null >/dev/null 2>&1 &";
  const char *argv[] = { "/bin/sh", "-c", words, engine, name, NULL };
  char text[16];

  (void)run(r, argv, text, sizeof(text));
}

void pai__container_forget(const pai__runtimes *r, const char *task_dir)
{
  const pai__tool *const engines[] = { &r->podman, &r->docker };
  const char *const names[] = { PAI__ID_FILE "podman", PAI__ID_FILE "docker" };
  char name[32];

  (void)snprintf(name, sizeof(name), "openpai-%016llx",
                 (unsigned long long)pai__text_hash(task_dir));
  for (size_t i = 0; i < PAI__LEN(engines); i++)
    if (engines[i]->path != NULL && is_there(task_dir, names[i]))
      remove_container(r, engines[i]->path, name);
}
