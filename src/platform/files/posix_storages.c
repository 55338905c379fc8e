/*
 * posix_storages.c - storages that jobs may ask for by name
 *
 * Storages for all users are in ROOT/storages, each under its name, mostly as a
 * link.  There is no other list that could be out of date: the folder is read
 * for each job that asks, and for each attempt.  Storages that administrators
 * have made (openpai/account.h) are for the users they are granted to, and
 * take precedence over one of the same name in the folder.
 */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "platform/files/storages.h"

#include "account/account.h"
#include "base/os/posix_fs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int by_name(const void *a, const void *b)
{
  const pai__storage *x = a, *y = b;

  return strcmp(x->name, y->name);
}

typedef struct storages {
  const char *user;
  pai__arena *arena;
  pai__storage *list;
  size_t n;
} storages;

/* Adds a storage, if the path is a folder.  PAI_OK or PAI_ENOMEM. */
static int add(storages *all, const char *name, const char *path)
{
  char *real = realpath(path, NULL);
  pai__storage *s = &all->list[all->n];
  bool good = true;
  struct stat st;

  if (real != NULL && stat(real, &st) == 0 && S_ISDIR(st.st_mode)) {
    *s = (pai__storage){ .name =
                           pai__arena_strndup(all->arena, name, strlen(name)),
                         .path =
                           pai__arena_strndup(all->arena, real, strlen(real)),
                         .readonly = access(real, W_OK) != 0,
                         .shared = true,
                         .usual = true };
    good = s->name != NULL && s->path != NULL;
    all->n += good;
  }
  free(real);
  return good ? PAI_OK : PAI_ENOMEM;
}

/* --- for all users -------------------------------------------------------- */

static size_t count(DIR *dir)
{
  size_t n = 0;

  while (readdir(dir) != NULL)
    n++;
  rewinddir(dir);
  return n;
}

/* Reads at most `most` entries, as many as were counted. */
static int read_all(storages *all, size_t most, DIR *dir, const char *folder)
{
  const struct dirent *e;
  int rc = PAI_OK;

  while (rc == PAI_OK && all->n < most && (e = readdir(dir)) != NULL) {
    char *path;

    if (e->d_name[0] == '.')
      continue;
    path = pai__fs_join(folder, e->d_name, all->arena->alloc);
    rc = path != NULL ? add(all, e->d_name, path) : PAI_ENOMEM;
    pai__strfree(all->arena->alloc, path);
  }
  return rc;
}

/* --- granted ones --------------------------------------------------------- */

static int count_one(void *user_data, const pai__mounted *m)
{
  (void)m;
  ++*(size_t *)user_data;
  return PAI_OK;
}

static void drop(storages *all, const char *name)
{
  for (size_t i = 0; i < all->n; i++)
    if (strcmp(all->list[i].name, name) == 0) {
      all->list[i] = all->list[--all->n];
      return;
    }
}

/* A user with the name of a removed one gets a folder with another name, which
 * no user has: "ann~2". */
static int name_folder(const storages *all, pai__storage *s, unsigned before)
{
  size_t size = strlen(all->user) + 16;
  char *name;

  if (before == 0 || s->shared)
    return PAI_OK;
  name = pai__arena_zalloc(all->arena, size, 1);
  if (name == NULL)
    return PAI_ENOMEM;
  (void)snprintf(name, size, "%s~%u", all->user, before + 1);
  s->folder = name;
  return PAI_OK;
}

static int take_one(void *user_data, const pai__mounted *m)
{
  storages *all = user_data;
  size_t before;
  int rc;

  drop(all, m->name);
  if (!m->granted || m->path == NULL)
    return PAI_OK;
  before = all->n;
  rc = add(all, m->name, m->path);
  if (rc == PAI_OK && all->n > before) {
    all->list[before].readonly |= m->readonly;
    all->list[before].shared = m->shared;
    all->list[before].usual = m->usual;
    rc = name_folder(all, &all->list[before], m->before);
  }
  return rc;
}

/* --- both ----------------------------------------------------------------- */

static int find_all(storages *all, const pai_platform *p, pai_job_id job,
                    const char *folder)
{
  DIR *dir = opendir(folder);
  size_t most = dir != NULL ? count(dir) : 0, granted = 0;
  int rc = PAI_OK;

  if (p->accounts != NULL)
    (void)pai__accounts_mounted(p->accounts, all->user, job, count_one,
                                &granted);
  all->list =
    pai__arena_zalloc(all->arena, most + granted + 1, sizeof(*all->list));
  if (all->list == NULL)
    rc = PAI_ENOMEM;
  if (rc == PAI_OK && dir != NULL)
    rc = read_all(all, most, dir, folder);
  if (dir != NULL)
    (void)closedir(dir);
  if (rc == PAI_OK && p->accounts != NULL)
    rc = pai__accounts_mounted(p->accounts, all->user, job, take_one, all);
  return rc;
}

int pai__storages_find(const pai__storage **out, size_t *n, pai__arena *arena,
                       const pai_platform *p, const pai_spec *spec,
                       const char *user, pai_job_id job)
{
  storages all = { .user = user, .arena = arena };
  char *folder;
  int rc;

  *out = NULL;
  *n = 0;
  if (!pai__storages_are_asked(spec))
    return PAI_OK;
  folder = pai__fs_join(p->root, "storages", arena->alloc);
  if (folder == NULL)
    return PAI_ENOMEM;
  rc = find_all(&all, p, job, folder);
  pai__strfree(arena->alloc, folder);
  if (rc < 0)
    return rc;
  if (all.n > 1)
    qsort(all.list, all.n, sizeof(*all.list), by_name);
  *out = all.list;
  *n = all.n;
  return PAI_OK;
}

int pai__storages_are_there(const pai_platform *p, const pai_spec *spec,
                            const char *user, pai_error **err)
{
  const pai__storage *list;
  pai__arena arena;
  size_t n;
  int rc;

  pai__arena_init(&arena, &p->alloc);
  rc = pai__storages_find(&list, &n, &arena, p, spec, user, PAI__NEW_JOB) < 0
         ? pai__oom(err)
         : pai__storages_check(spec, list, n, err);
  if (rc == PAI_ENOTFOUND) {
    pai__error_api(err, 404, "NoStorageError");
    pai__error_help(err,
                    "create it, ask for access to it, or remove it from "
                    "extras.storages: ln -s FOLDER %s/storages/NAME",
                    p->root);
  }
  pai__arena_dispose(&arena);
  return rc;
}
