/* posix_probe.c - finds the runtimes and tries whether they work */
#include "backend/local/posix_try.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- programs ------------------------------------------------------------ */

/* Searches PATH; *out is NULL if there is none. */
static int find_program(char **out, const char *name, const pai_alloc *alloc)
{
  const char *path = getenv("PATH"), *end;
  char file[4096];

  *out = NULL;
  if (path == NULL)
    path = "/usr/local/bin:/usr/bin:/bin";
  for (;; path = end + 1) {
    end = path + strcspn(path, ":");
    if (path[0] == '/' &&
        snprintf(file, sizeof(file), "%.*s/%s", (int)(end - path), path,
                 name) < (int)sizeof(file) &&
        access(file, X_OK) == 0) {
      *out = pai__strdup(alloc, file);
      return *out != NULL ? PAI_OK : PAI_ENOMEM;
    }
    if (*end == '\0')
      return PAI_OK;
  }
}

int pai__runtimes_find(pai__runtimes *r, const char *program,
                       const pai_alloc *alloc)
{
  memset(r, 0, sizeof(*r));
  r->program = program;
  if (find_program(&r->bash, "bash", alloc) < 0 ||
      find_program(&r->bwrap.path, "bwrap", alloc) < 0 ||
      find_program(&r->podman.path, "podman", alloc) < 0 ||
      find_program(&r->docker.path, "docker", alloc) < 0) {
    pai__runtimes_dispose(r, alloc);
    return PAI_ENOMEM;
  }
  return PAI_OK;
}

void pai__runtimes_dispose(pai__runtimes *r, const pai_alloc *alloc)
{
  pai__strfree(alloc, r->bash);
  pai__strfree(alloc, r->bwrap.path);
  pai__strfree(alloc, r->podman.path);
  pai__strfree(alloc, r->docker.path);
  pai__spaces_dispose(r, alloc);
  memset(r, 0, sizeof(*r));
}

/* --- tries --------------------------------------------------------------- */

/* A sandbox is tried once: a busy machine is not one without any. */
enum { SANDBOX_MS = 30000 };

/* Adds the words of a bubblewrap that runs echo. */
static void add_try(pai__backend_words *w, const pai__runtimes *r,
                    const pai__space *space)
{
  const pai_launch_plan plan = {
    .struct_size = sizeof(plan),
    .flags = PAI_LAUNCH_SHARE_TMP | (space != NULL ? PAI_LAUNCH_SHARE_PIDS : 0)
  };
  const pai__surroundings around = { .join = space != NULL,
                                     .join_user =
                                       space != NULL && space->user >= 0,
                                     .shm =
                                       space != NULL ? space->shm : NULL };

  pai__bwrap_words(w, r->bwrap.path, &plan, &around);
  pai__words_add(w, r->bash);
  pai__words_add(w, "-c");
  pai__words_add(w, "echo works");
}

static int try_bwrap(pai__runtimes *r, const pai_alloc *alloc)
{
  enum { NOBODY = 65534 }; /* a user without any rights */
  pai__backend_attempt a = {
    .most_ms = SANDBOX_MS, .other = r->others, .uid = NOBODY, .gid = NOBODY
  };
  char text[2048];
  int rc = PAI_OK;
  pai__backend_words w;

  pai__words_init(&w, alloc);
  r->bwrap.tried = true;
  if (r->bwrap.path != NULL && r->bash != NULL) {
    add_try(&w, r, NULL);
    rc = w.failed ? PAI_ENOMEM : PAI_OK;
    a.argv = w.at;
    if (rc == PAI_OK &&
        !(r->bwrap.works = pai__try_run(&a, text, sizeof(text))))
      pai__try_keep_last_line(r->bwrap.why_not, sizeof(r->bwrap.why_not),
                              text);
  }
  pai__words_dispose(&w);
  if (r->bwrap.works)
    (void)snprintf(r->said, sizeof(r->said),
                   "bwrap: bubblewrap works here, so tasks have their own "
                   "/tmp and process ids");
  else
    (void)snprintf(
      r->said, sizeof(r->said),
      "process: tasks are plain processes because bubblewrap %s%s%s",
      r->bwrap.path == NULL ? "is not installed" : "does not work here",
      r->bwrap.why_not[0] != '\0' ? ": " : "", r->bwrap.why_not);
  return rc;
}

/* Tries whether a sandbox can join the namespaces.  PAI_OK or PAI_ENOMEM. */
int pai__runtimes_try_join(pai__runtimes *r, const pai_alloc *alloc,
                           const pai__space *space, const pai__user *who)
{
  pai__backend_attempt a = { .space = space,
                             .most_ms = SANDBOX_MS,
                             .other = who != NULL };
  char text[2048];
  pai__backend_words w;
  int rc;

  if (who != NULL) {
    a.uid = who->uid;
    a.gid = who->gid;
  }
  pai__words_init(&w, alloc);
  add_try(&w, r, space);
  rc = w.failed ? PAI_ENOMEM : PAI_OK;
  a.argv = w.at;
  if (rc == PAI_OK)
    r->joins = pai__try_run(&a, text, sizeof(text)) ? 1 : -1;
  pai__words_dispose(&w);
  return rc;
}

int pai__runtimes_probe(pai__runtimes *r, const pai_alloc *alloc,
                        const pai_launch_plan *plan, pai__surroundings *around)
{
  if (plan->runtime == PAI_RUNTIME_PROCESS)
    return PAI_OK;
  pai__engines_probe(r, alloc, plan, around);
  return r->bwrap.tried ? PAI_OK : try_bwrap(r, alloc);
}

/* --- devices ------------------------------------------------------------- */

static void add_if_there(pai__backend_words *out, const char *path)
{
  if (access(path, F_OK) == 0)
    pai__words_add(out, path);
}

void pai__gpu_devices(pai__backend_words *out, uint64_t gpus)
{
  char path[64];

  for (unsigned i = 0; i < 64; i++) {
    if ((gpus >> i & 1) == 0)
      continue;
    (void)snprintf(path, sizeof(path), "/dev/nvidia%u", i);
    if (access(path, F_OK) == 0)
      pai__words_printf(out, "%s", path);
  }
  if (gpus != 0) {
    add_if_there(out, "/dev/nvidiactl");
    add_if_there(out, "/dev/nvidia-uvm");
    add_if_there(out, "/dev/kfd");
    add_if_there(out, "/dev/dri");
  }
}
