/*
 * posix_download_folder.c - a folder of a job becomes one of this machine
 *
 * What a server lists is not believed: nothing is written outside the target,
 * and through no link.
 */
#define _XOPEN_SOURCE 700
#include "job_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(const char *what, const char *path)
{
  cli_fail("cannot %s %s: %s", what, path, strerror(errno));
  return false;
}

typedef struct tree {
  cli_remote *r;
  const char *job, *path; /* the folder */
  const char *to;
  cli_copied *copied;
  char **links; /* path and target in turns */
  size_t nlinks;
  bool seen, failed;
} tree;

/* Whether a path goes down, and no other way. */
static bool goes_down(const char *path)
{
  for (const char *p = path; *p != '\0'; p += strspn(p, "/")) {
    size_t n = strcspn(p, "/");
    if (n == 0 || (n == 1 && p[0] == '.') ||
        (n == 2 && p[0] == '.' && p[1] == '.'))
      return false;
    p += n;
  }
  return path[0] != '\0';
}

/* Whether a link there stays below the target: up at most as deep as it lies,
 * and then only down. */
static bool stays(const char *below, const char *target)
{
  size_t depth = 0;

  for (const char *p = below; *p != '\0'; p++)
    depth += *p == '/';
  while (strncmp(target, "../", 3) == 0 || strcmp(target, "..") == 0) {
    if (depth-- == 0)
      return false;
    target += target[2] == '/' ? 3 : 2;
  }
  return target[0] == '\0' || goes_down(target);
}

/* Makes the folders above a path below `to`, through no link; `path` is taken
 * apart and put together again. */
static bool make_above(char *path, size_t from)
{
  struct stat st;
  bool good = true;

  for (char *slash = strchr(path + from, '/'); good && slash != NULL;
       slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    good = mkdir(path, 0777) == 0 || errno == EEXIST;
    if (good && (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode))) {
      errno = ENOTDIR;
      good = false;
    }
    if (!good)
      (void)fail("make the folder", path);
    *slash = '/';
  }
  return good;
}

static bool keep_link(tree *t, const char *below, const char *target)
{
  char **more;

  if (!stays(below, target)) {
    (void)fprintf(
      stderr,
      "openpai: note: not copied, as this link leads out of the folder: %s\n",
      below);
    return true;
  }
  more = realloc(t->links, (t->nlinks + 2) * sizeof(*more));
  if (more == NULL)
    return false;
  t->links = more;
  more[t->nlinks++] = strdup(below);
  more[t->nlinks++] = strdup(target);
  return more[t->nlinks - 1] != NULL && more[t->nlinks - 2] != NULL;
}

static bool on_entry(void *user_data, const cli_entry *e)
{
  tree *t = user_data;
  size_t skip = strlen(t->path), begin = strlen(t->to) + 1;
  const char *below = e->path + (skip > 0 ? skip + 1 : 0);
  char to[CLI_COPY_PATH];
  bool good = true;

  t->seen = true;
  if ((skip > 0 &&
       (strncmp(e->path, t->path, skip) != 0 || e->path[skip] != '/')) ||
      !goes_down(below) || begin + strlen(below) + 2 > sizeof(to)) {
    cli_fail("the server sent an invalid file name: %.200s", e->path);
    t->failed = true;
    return false;
  }
  (void)snprintf(to, sizeof(to), "%s/%s%s", t->to, below,
                 strcmp(e->type, "folder") == 0 ? "/" : "");
  good = make_above(to, begin);
  if (good && strcmp(e->type, "file") == 0)
    good = cli_download_file(t->r, t->job, e, to, t->copied);
  else if (good && strcmp(e->type, "link") == 0)
    good = keep_link(t, below, e->target);
  t->failed |= !good;
  return good || errno != ENOSPC;
}

/* Last of all: no file is written through one. */
static void make_links(tree *t)
{
  char to[CLI_COPY_PATH];

  for (size_t i = 0; i < t->nlinks; i += 2) {
    if (t->links[i] != NULL && t->links[i + 1] != NULL) {
      (void)snprintf(to, sizeof(to), "%s/%s", t->to, t->links[i]);
      if (symlink(t->links[i + 1], to) != 0 && errno != EEXIST)
        t->failed = !fail("make the link", to);
    }
    free(t->links[i]);
    free(t->links[i + 1]);
  }
  free(t->links);
}

bool cli_download_folder(cli_remote *r, const cli_place *from, const char *to,
                         cli_copied *c)
{
  tree t = {
    .r = r, .job = from->job, .path = from->path, .to = to, .copied = c
  };
  cli_listing l = { .job = from->job,
                    .path = from->path,
                    .recursive = true,
                    .on_entry = on_entry,
                    .user_data = &t };
  cli_answer a;

  if (mkdir(to, 0777) != 0 && !cli_is_folder(to))
    return fail("make the folder", to);
  if (!cli_list_files(r, &l, &a)) {
    cli_answer_tell(&a);
    t.failed = true;
  }
  cli_answer_free(&a);
  make_links(&t);
  return !t.failed;
}
