/*
 * posix_below_list.c - lists the files below a folder, sorted by path
 *
 * Pending entries are on a stack, the next one on top.  A folder that is
 * popped is read, and its entries are pushed.  The stack never holds more than
 * the list may still return.
 */
#define _GNU_SOURCE /* O_PATH */

#include "base/os/posix_below.h"

#include "base/buf.h"
#include "base/text/utf8.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  MOST_COUNTED = 10000000,
  MOST_WAITING = 1000000, /* folders still to be counted */
  PASS = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
  READ = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
};

typedef struct item {
  char *path;
  char *shown; /* as shown; the same if the name is UTF-8 */
  char *target;
  uint64_t size;
  int64_t modified;
  int type;
  bool executable;
  bool passed; /* it is before `after`, but something in it may not be */
} item;

typedef struct items {
  item *at;
  size_t n, room, passed;
} items;

typedef struct lister {
  const pai__below *b;
  const pai__below_ask *ask;
  pai__below_answer *out;
  char *after; /* in its shown form; or NULL */
  items waiting;
  size_t prefix;   /* length of the listed folder's path in all paths */
  int top;         /* descriptor of the listed folder */
  int last;        /* descriptor of the folder below it that was read last, or
                      -1 */
  char *last_path; /* or NULL */
  uint64_t counted;
  uint32_t listed;
  int why; /* an error number, or 0 */
} lister;

/* --- entries ------------------------------------------------------------- */

static void free_item(const lister *l, item *i)
{
  const pai_alloc *alloc = l->b->alloc;

  if (i->shown != i->path)
    pai__strfree(alloc, i->shown);
  pai__strfree(alloc, i->path);
  pai__strfree(alloc, i->target);
}

static void free_items(const lister *l, items *s)
{
  for (size_t i = 0; i < s->n; i++)
    free_item(l, &s->at[i]);
  pai__free(l->b->alloc, s->at, s->room * sizeof(*s->at));
  *s = (items){ 0 };
}

/* Adds an entry, which the list owns; frees it when out of memory. */
static bool add_item(lister *l, items *s, item *i)
{
  size_t room = s->room > 0 ? 2 * s->room : 64;

  if (s->n == s->room) {
    item *at = pai__realloc(l->b->alloc, s->at, s->room, room, sizeof(*at));
    if (at == NULL) {
      free_item(l, i);
      l->why = ENOMEM;
      return false;
    }
    s->at = at;
    s->room = room;
  }
  s->passed += i->passed;
  s->at[s->n++] = *i;
  return true;
}

/* Compares paths.  A slash sorts before everything else, so that a folder's
 * content follows the folder. */
static int compare(const char *a, const char *b)
{
  while (*a != '\0' && *a == *b)
    a++, b++;
  return (*a == '/'    ? 1
          : *a == '\0' ? 0
                       : 1 + (unsigned char)*a) -
         (*b == '/'    ? 1
          : *b == '\0' ? 0
                       : 1 + (unsigned char)*b);
}

static int by_path(const void *a, const void *b)
{
  return compare(((const item *)a)->shown, ((const item *)b)->shown);
}

/* Returns the shown form of a path; the path itself if it is UTF-8. */
static char *show(const pai_alloc *alloc, char *path)
{
  size_t len = strlen(path), i = 0, n;
  pai__buf b;

  while (i < len && (n = pai__utf8_len(path + i, len - i)) > 0)
    i += n;
  if (i == len)
    return path;
  pai__buf_init(&b, alloc);
  for (i = 0; i < len; i += n) {
    n = pai__utf8_len(path + i, len - i);
    if (n > 0)
      pai__buf_add(&b, path + i, n);
    else
      pai__buf_str(&b, "\xef\xbf\xbd");
    n = n > 0 ? n : pai__utf8_bad(path + i, len - i);
  }
  return pai__buf_take(&b);
}

/* Keeps the first entries only: as many as the list may still return, and one
 * more. */
static void keep_first(lister *l, items *s)
{
  size_t keep = l->ask->limit - l->listed + 1 + s->passed;

  if (s->n <= keep)
    return;
  qsort(s->at, s->n, sizeof(*s->at), by_path);
  while (s->n > keep)
    free_item(l, &s->at[--s->n]);
}

/* --- names --------------------------------------------------------------- */

static int type_of(mode_t mode)
{
  return S_ISREG(mode)   ? PAI__BELOW_FILE
         : S_ISDIR(mode) ? PAI__BELOW_FOLDER
         : S_ISLNK(mode) ? PAI__BELOW_LINK
                         : PAI__BELOW_OTHER;
}

/* Returns a link's target; "" if it is not a link any more. */
static char *read_target(const lister *l, int folder, const char *name)
{
  char text[PAI__BELOW_PATH];
  ssize_t n = readlinkat(folder, name, text, sizeof(text));

  return pai__strndup(l->b->alloc, text, n > 0 ? (size_t)n : 0);
}

/* False: the name was removed, or out of memory, with l->why set. */
static bool look(lister *l, item *i, int folder, const char *name)
{
  struct stat st;

  if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
    return false;
  i->type = type_of(st.st_mode);
  i->modified =
    (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
  if (i->type == PAI__BELOW_FILE) {
    i->size = (uint64_t)st.st_size;
    i->executable = (st.st_mode & 0100) != 0;
  }
  if (i->type != PAI__BELOW_LINK || l->ask->total)
    return true;
  i->target = read_target(l, folder, name);
  if (i->target == NULL)
    l->why = ENOMEM;
  return i->target != NULL;
}

static bool is_above(const char *path, const char *other)
{
  size_t len = strlen(path);

  return strncmp(path, other, len) == 0 &&
         (other[len] == '/' || other[len] == '\0');
}

/* Returns whether it is listed, or a folder that may contain listed
 * entries. */
static bool is_wanted(const lister *l, item *i)
{
  if (l->after == NULL || compare(i->shown, l->after) > 0)
    return true;
  i->passed = l->ask->recursive && i->type == PAI__BELOW_FOLDER &&
              is_above(i->shown, l->after);
  return i->passed;
}

static bool make_path(lister *l, item *i, const char *folder, const char *name)
{
  pai__buf b;

  pai__buf_init(&b, l->b->alloc);
  pai__buf_printf(&b, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", name);
  i->path = pai__buf_take(&b);
  i->shown = i->path != NULL ? show(l->b->alloc, i->path) : NULL;
  if (i->shown == NULL)
    l->why = ENOMEM;
  return i->shown != NULL;
}

static void count(lister *l, const item *i)
{
  l->out->files += i->type == PAI__BELOW_FILE;
  l->out->bytes += i->size;
  if (++l->counted > MOST_COUNTED || l->waiting.n > MOST_WAITING)
    l->why = EOVERFLOW;
}

static void take_name(lister *l, items *found, int folder, const char *path,
                      const char *name)
{
  item i = { 0 };

  if (!look(l, &i, folder, name))
    return;
  if (l->ask->total)
    count(l, &i);
  if ((l->ask->total && (i.type != PAI__BELOW_FOLDER || !l->ask->recursive)) ||
      !make_path(l, &i, path, name) || !is_wanted(l, &i)) {
    free_item(l, &i);
    return;
  }
  if (add_item(l, found, &i) && !l->ask->total &&
      found->n > 2 * ((size_t)l->ask->limit + 1 + found->passed))
    keep_first(l, found);
}

/* --- folders ------------------------------------------------------------- */

static bool is_stopped(lister *l)
{
  if (l->ask->stopped != NULL &&
      atomic_load_explicit(l->ask->stopped, memory_order_relaxed))
    l->why = ECANCELED;
  return l->why != 0;
}

static bool is_dots(const char *name)
{
  return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static void read_names(lister *l, items *found, DIR *dir, const char *path)
{
  struct dirent *e;

  while (!is_stopped(l) && (e = readdir(dir)) != NULL)
    if (!is_dots(e->d_name) &&
        (l->ask->is_hidden == NULL || !l->ask->is_hidden(e->d_name)))
      take_name(l, found, dirfd(dir), path, e->d_name);
}

/* Reads a folder and pushes its entries.  Closes `fd`. */
static void read_folder(lister *l, int fd, const char *path)
{
  items found = { 0 };
  DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
  items *to = &l->waiting;

  if (dir == NULL) {
    if (fd >= 0)
      (void)close(fd);
    return; /* it was removed, or is not readable */
  }
  read_names(l, &found, dir, path);
  (void)closedir(dir);
  if (!l->ask->total) {
    keep_first(l, &found);
    if (found.n > 0)
      qsort(found.at, found.n, sizeof(*found.at), by_path);
  }
  while (found.n > 0 && l->why == 0)
    (void)add_item(l, to, &found.at[--found.n]);
  free_items(l, &found);
}

/* Drops entries that cannot be part of this list any more, at the bottom. */
static void drop_last(lister *l)
{
  items *s = &l->waiting;
  size_t keep = l->ask->limit - l->listed + 1 + s->passed, drop;

  if (l->ask->total || s->n <= keep)
    return;
  drop = s->n - keep;
  for (size_t i = 0; i < drop; i++)
    free_item(l, &s->at[i]);
  memmove(s->at, s->at + drop, keep * sizeof(*s->at));
  s->n = keep;
}

/* Opens the folder of a path with O_PATH, starting at the folder read last if
 * that is above it; or -1. */
static int pass_to(lister *l, const char *path)
{
  const char *from = path + l->prefix;
  size_t len = l->last_path != NULL ? strlen(l->last_path) : 0;
  bool below =
    len > 0 && strncmp(path, l->last_path, len) == 0 && path[len] == '/';
  int at = openat(below ? l->last : l->top, ".", PASS), next;
  char name[NAME_MAX + 1];

  for (from = below ? path + len : from; at >= 0 && *from != '\0';) {
    size_t n;

    from += strspn(from, "/");
    n = strcspn(from, "/");
    if (n > NAME_MAX || n == 0)
      break;
    memcpy(name, from, n);
    name[n] = '\0';
    next = openat(at, name, PASS);
    (void)close(at);
    at = next;
    from += n;
  }
  return at;
}

/* Opens and reads a folder, unless its path is too long. */
static void enter(lister *l, const char *path)
{
  int at = strlen(path) < PAI__BELOW_PATH ? pass_to(l, path) : -1;

  if (at < 0)
    return;
  if (l->last >= 0)
    (void)close(l->last);
  pai__strfree(l->b->alloc, l->last_path);
  l->last = at;
  l->last_path = pai__strdup(l->b->alloc, path);
  if (l->last_path == NULL)
    l->why = ENOMEM;
  else
    read_folder(l, openat(at, ".", READ), path);
}

/* --- the list ------------------------------------------------------------ */

static void tell(lister *l, const item *i)
{
  const pai__below_entry e = { .path = i->path,
                               .target = i->target,
                               .type = i->type,
                               .size = i->size,
                               .modified = i->modified,
                               .executable = i->executable };

  l->listed++;
  l->ask->on_entry(l->ask->user_data, &e);
}

static void list_all(lister *l)
{
  while (l->waiting.n > 0 && l->why == 0 && !l->out->more) {
    item i = l->waiting.at[--l->waiting.n];

    l->waiting.passed -= i.passed;
    if (!l->ask->total && !i.passed && l->listed == l->ask->limit)
      l->out->more = true;
    else if (!l->ask->total && !i.passed)
      tell(l, &i);
    if (l->ask->recursive && !l->out->more && i.type == PAI__BELOW_FOLDER) {
      enter(l, i.path);
      drop_last(l);
    }
    free_item(l, &i);
  }
}

/* Normalizes the path, a prefix of all listed paths: removes "." and empty
 * parts. */
static char *trim(const pai_alloc *alloc, const char *path)
{
  pai__buf b;

  pai__buf_init(&b, alloc);
  while (*path != '\0') {
    size_t n = strcspn(path, "/");

    if (n > 0 && !(n == 1 && path[0] == '.')) {
      if (b.len > 0)
        pai__buf_char(&b, '/');
      pai__buf_add(&b, path, n);
    }
    path += n + (path[n] == '/');
  }
  if (b.len == 0) /* empty for the folder itself, not for lack of memory */
    pai__buf_str(&b, "");
  return pai__buf_take(&b);
}

static bool copy_after(lister *l)
{
  char *copy, *after;

  if (l->ask->after == NULL)
    return true;
  copy = pai__strdup(l->b->alloc, l->ask->after);
  after = copy != NULL ? show(l->b->alloc, copy) : NULL;
  if (after != copy)
    pai__strfree(l->b->alloc, copy);
  l->after = after;
  return after != NULL;
}

/* Lists a path that is not a folder: the only entry. */
static void list_one(lister *l, int folder, const char *name, const char *path)
{
  item i = { 0 };

  if (look(l, &i, folder, name)) {
    if (l->ask->total)
      count(l, &i);
    else if (make_path(l, &i, "", path) && is_wanted(l, &i))
      tell(l, &i);
  }
  free_item(l, &i);
}

static int fail(const lister *l, const char *path, pai_error **err)
{
  if (l->why == ECANCELED)
    return pai__fail(err, PAI_ECANCELED, "the list was cancelled");
  if (l->why == EOVERFLOW)
    return pai__fail(err, PAI_ELIMIT, "more than %d files are not counted",
                     (int)MOST_COUNTED);
  return pai__below_fail(l->b, path, l->why, err);
}

static void free_lister(lister *l)
{
  free_items(l, &l->waiting);
  pai__strfree(l->b->alloc, l->after);
  pai__strfree(l->b->alloc, l->last_path);
  if (l->top >= 0)
    (void)close(l->top);
  if (l->last >= 0)
    (void)close(l->last);
}

static int list(lister *l, const char *path, pai_error **err)
{
  char *name;
  int in, rc;

  rc = pai__below_find(&l->top, &in, &name, l->b, l->ask->path, err);
  if (rc < 0)
    return rc;
  l->prefix = strlen(path);
  if (l->top >= 0) {
    read_folder(l, dup(l->top), path);
    list_all(l);
  } else {
    list_one(l, in, name, path);
    pai__strfree(l->b->alloc, name);
    (void)close(in);
  }
  return l->why != 0 ? fail(l, l->ask->path, err) : PAI_OK;
}

int pai__below_list(pai__below_answer *out, const pai__below *b,
                    const pai__below_ask *ask, pai_error **err)
{
  lister l = { .b = b, .ask = ask, .out = out, .top = -1, .last = -1 };
  char *path = trim(b->alloc, ask->path);
  int rc;

  *out = (pai__below_answer){ 0 };
  rc = path != NULL && copy_after(&l) ? list(&l, path, err) : pai__oom(err);
  free_lister(&l);
  pai__strfree(b->alloc, path);
  return rc;
}
