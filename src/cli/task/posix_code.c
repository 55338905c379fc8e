/*
 * posix_code.c - copying a user's folder for a job
 *
 * The copy is made in the root, so that the platform takes it with a rename.
 * Links are copied as links; special files are left out.
 */
#define _GNU_SOURCE /* nftw(), posix_spawn_file_actions_addchdir_np() */
#include "file.h"
#include "job_files.h"
#include "jobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define IGNORE_FILE ".openpaiignore"
#define LIMIT_VARIABLE "OPENPAI_CODE_LIMIT"
enum {
  MOST_PATTERNS = 1000,
  MOST_DEPTH = 100,
  LINK = 4096,
  SHOWN = 25 /* progress is shown every 32 MiB */
};

typedef struct copying {
  char *patterns[MOST_PATTERNS];
  size_t npatterns;
  long long bytes, most;
  long files;
  bool shows; /* on the terminal */
  int depth;
} copying;

/* --- ignored files ------------------------------------------------------- */

/* Reads the ignore file, in git's syntax: patterns for names, or with a slash
 * for paths; "!" includes again, "/" at the end means folders only. */
static bool read_patterns(copying *c, const char *from)
{
  char *path = cli_join(from, IGNORE_FILE), *text = NULL, *line, *rest;
  size_t len = 0;
  int error =
    path != NULL ? cli_read_file(&text, &len, path, 1 << 20) : ENOMEM;
  bool good = error == 0 || error == ENOENT;

  if (!good)
    cli_fail("cannot read %s: %s", path, strerror(error));
  for (line = text; good && line != NULL && *line != '\0'; line = rest) {
    size_t n = strcspn(line, "\n");
    rest = line + n + (line[n] == '\n' ? 1 : 0);
    while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\r'))
      n--;
    if (n == 0 || line[0] == '#' || c->npatterns == MOST_PATTERNS)
      continue;
    c->patterns[c->npatterns] = strndup(line, n);
    good = c->patterns[c->npatterns] != NULL;
    c->npatterns += good;
  }
  free(text);
  free(path);
  return good;
}

/* `path` is relative to the copied folder. */
static bool is_ignored(const copying *c, const char *path, bool is_folder)
{
  const char *slash = strrchr(path, '/'),
             *name = slash != NULL ? slash + 1 : path;
  bool ignored = false;

  for (size_t i = 0; i < c->npatterns; i++) {
    const char *p = c->patterns[i];
    bool back = *p == '!';
    char pattern[1024];
    size_t len;
    (void)snprintf(pattern, sizeof(pattern), "%s", p + back);
    len = strlen(pattern);
    if (len > 0 && pattern[len - 1] == '/') {
      if (!is_folder)
        continue;
      pattern[--len] = '\0';
    }
    p = pattern[0] == '/' ? pattern + 1 : pattern;
    if (fnmatch(p, strchr(pattern, '/') != NULL ? path : name, FNM_PATHNAME) ==
        0)
      ignored = !back;
  }
  return ignored;
}

/* --- copying ------------------------------------------------------------- */

static bool fail(const char *what, const char *path)
{
  cli_fail("cannot %s %s: %s", what, path, strerror(errno));
  return false;
}

static void show_progress(const copying *c, const char *what, const char *end)
{
  if (c->shows)
    (void)fprintf(stderr, "\r%s: %ld files, %lld MB%s", what, c->files,
                  c->bytes >> 20, end);
}

static bool count(copying *c, long long bytes)
{
  if ((c->bytes + bytes) >> SHOWN != c->bytes >> SHOWN)
    show_progress(c, "copying code", "");
  c->bytes += bytes;
  if (c->bytes > c->most) {
    cli_fail("the code is larger than %lld bytes", c->most);
    cli_help(stderr, "name what is not needed in " IGNORE_FILE
                     ", or set " LIMIT_VARIABLE);
    return false;
  }
  return true;
}

/* Copies the bytes of one file to another; returns false and sets errno on an
 * error. */
static bool pump(copying *c, int from, int to)
{
  static char bytes[1 << 17];
  ssize_t n;

  while ((n = read(from, bytes, sizeof(bytes))) != 0) {
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    for (ssize_t done = 0, w; done < n; done += w) {
      w = write(to, bytes + done, (size_t)(n - done));
      if (w < 0 && errno == EINTR)
        w = 0;
      if (w < 0)
        return false;
    }
    if (!count(c, n)) {
      errno = 0;
      return false;
    }
  }
  return true;
}

static bool copy_file(copying *c, const char *from, const char *to,
                      mode_t mode)
{
  int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), out = -1;
  bool good;

  if (in < 0)
    return fail("read", from);
  out =
    open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600 | (mode & 0700));
  good = out >= 0 && pump(c, in, out);
  if (!good && errno != 0)
    (void)fail("copy", from);
  if (out >= 0 && close(out) != 0 && good)
    good = fail("write", to);
  (void)close(in);
  return good;
}

static bool copy_link(const char *from, const char *to)
{
  char text[LINK];
  ssize_t n = readlink(from, text, sizeof(text) - 1);

  if (n < 0)
    return fail("read", from);
  text[n] = '\0';
  return symlink(text, to) == 0 || fail("write", to);
}

static bool copy_folder(copying *c, const char *from, const char *to,
                        const char *below);

/* Copies one entry of a folder. */
static bool copy_one(copying *c, const char *from, const char *to,
                     const char *below)
{
  struct stat st;
  bool good = true;

  if (lstat(from, &st) != 0)
    return fail("look at", from);
  if (is_ignored(c, below, S_ISDIR(st.st_mode)))
    return true;
  if (S_ISREG(st.st_mode))
    good = copy_file(c, from, to, st.st_mode);
  else if (S_ISLNK(st.st_mode))
    good = copy_link(from, to);
  else if (S_ISDIR(st.st_mode))
    good = copy_folder(c, from, to, below);
  c->files++;
  if (c->files % 100 == 0)
    show_progress(c, "copying code", "");
  return good;
}

static bool copy_entry(copying *c, const char *from, const char *to,
                       const char *below, const char *name)
{
  char *a = cli_join(from, name), *b = cli_join(to, name),
       *path = below[0] != '\0' ? cli_join(below, name) : strdup(name);
  bool good =
    a != NULL && b != NULL && path != NULL && copy_one(c, a, b, path);

  free(path);
  free(b);
  free(a);
  return good;
}

static bool copy_folder(copying *c, const char *from, const char *to,
                        const char *below)
{
  DIR *dir = opendir(from);
  struct dirent *e;
  bool good = true;

  if (dir == NULL)
    return fail("read", from);
  if (mkdir(to, 0700) != 0 || ++c->depth > MOST_DEPTH)
    good = fail("make", to);
  while (good && (e = readdir(dir)) != NULL)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
      good = copy_entry(c, from, to, below, e->d_name);
  c->depth--;
  (void)closedir(dir);
  return good;
}

/* --- place of the copy --------------------------------------------------- */

/* Returns a new path in ROOT/code, for free(). */
static char *new_place(const char *root)
{
  char *folder = cli_join(root, "code"), *place = NULL, name[64];

  if (folder != NULL && cli_make_folder(folder)) {
    (void)snprintf(name, sizeof(name), "new-%ld-%lld", (long)getpid(),
                   (long long)cli_now());
    place = cli_join(folder, name);
  }
  free(folder);
  return place;
}

static int on_left(const char *path, const struct stat *st, int what,
                   struct FTW *where)
{
  (void)st;
  (void)what;
  (void)where;
  return remove(path);
}

void cli_remove_code(const char *path)
{
  (void)nftw(path, on_left, 16, FTW_DEPTH | FTW_PHYS);
}

/* Reads the limit from the environment variable: bytes, or a number with a
 * unit. */
static bool read_limit(long long *out)
{
  static const char units[] = "KMGT";
  const char *text = getenv(LIMIT_VARIABLE), *unit;
  char *end;

  *out = 1LL << 30;
  if (text == NULL || *text == '\0')
    return true;
  *out = strtoll(text, &end, 10);
  unit = *end != '\0' ? strchr(units, *end) : NULL;
  if (unit != NULL && *out < 1LL << 20) {
    *out <<= 10 * (unit - units + 1);
    end++;
  }
  if (end != text && *end == '\0' && *out >= 0)
    return true;
  cli_fail(LIMIT_VARIABLE " is no size: %s", text);
  cli_help(stderr, "give bytes, or 512M, or 4G");
  return false;
}

static bool want_folder(const char *path)
{
  if (cli_is_folder(path))
    return true;
  cli_fail("--code: %s is not a folder", path);
  return false;
}

char *cli_copy_code(const char *root, const char *from, bool quiet)
{
  copying c = { .shows = !quiet && cli_is_terminal(stderr) };
  char *whole = realpath(from, NULL), *to = NULL;
  bool good = false;

  if (whole == NULL)
    (void)fail("copy", from);
  else if (!want_folder(whole) || !read_limit(&c.most))
    ; /* the error was printed */
  else if (strncmp(root, whole, strlen(whole)) == 0 &&
           (root[strlen(whole)] == '/' || root[strlen(whole)] == '\0'))
    cli_fail("the folder %s contains the platform's root", whole);
  else if (read_patterns(&c, whole))
    to = new_place(root);
  if (to != NULL)
    good = copy_folder(&c, whole, to, "");
  if (c.files >= 100 || c.bytes >> SHOWN > 0)
    show_progress(&c, "code copied", " \n");
  for (size_t i = 0; i < c.npatterns; i++)
    free(c.patterns[i]);
  free(whole);
  if (good)
    return to;
  if (to != NULL)
    cli_remove_code(to);
  free(to);
  return NULL;
}

static char *cannot_send(const char *what)
{
  cli_fail("cannot send the code: %s: %s", what, strerror(errno));
  return NULL;
}

/* Runs tar(1) on a folder, with its output to a file. */
static bool pack(const char *folder, int to)
{
  extern char **environ;
  char name[] = "tar", what[] = "-cf", out[] = "-", form[] = "--format=gnu",
       here[] = ".";
  char *argv[] = { name, form, what, out, here, NULL };
  posix_spawn_file_actions_t files;
  int status = 0, rc;
  pid_t pid;

  (void)posix_spawn_file_actions_init(&files);
  rc = posix_spawn_file_actions_addchdir_np(&files, folder);
  if (rc == 0)
    rc = posix_spawn_file_actions_adddup2(&files, to, STDOUT_FILENO);
  if (rc == 0)
    rc = posix_spawnp(&pid, name, &files, NULL, argv, environ);
  (void)posix_spawn_file_actions_destroy(&files);
  if (rc == 0)
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
      ;
  errno = rc;
  if (rc == 0 && status != 0)
    errno = EIO;
  if (errno == 0)
    return true;
  (void)cannot_send("tar");
  return false;
}

/* Sends the code and returns its folder on the server, for free(); NULL after
 * printing an error. */
static char *put(cli_remote *r, const char *job, const void *bytes, size_t len,
                 bool quiet)
{
  char *path = cli_job_path(job, "/code"), *code = NULL;
  cli_answer a;
  pai_json *j;

  cli_remote_send(r, &a, path, "application/x-tar", bytes, len,
                  quiet ? NULL : "sending code");
  free(path);
  if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (cli_json_read(&j, a.body, a.len)) {
    code = strdup(cli_json_text(j, 0, "codeDir"));
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  return code;
}

static char *send_folder(cli_remote *r, const char *job, const char *folder,
                         bool quiet)
{
  int fd = memfd_create("openpai-code", MFD_CLOEXEC);
  struct stat st;
  char *code = NULL;
  void *bytes;

  if (fd < 0)
    return cannot_send("memory");
  if (pack(folder, fd) && fstat(fd, &st) == 0) {
    bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes != MAP_FAILED) {
      code = put(r, job, bytes, (size_t)st.st_size, quiet);
      (void)munmap(bytes, (size_t)st.st_size);
    } else {
      (void)cannot_send("memory");
    }
  }
  (void)close(fd);
  return code;
}

char *cli_send_code(cli_remote *r, const char *job, const char *from,
                    bool quiet)
{
  const char *tmp = getenv("TMPDIR");
  char *root =
    cli_join(tmp != NULL && tmp[0] == '/' ? tmp : "/tmp", "openpai-XXXXXX");
  char *copy = NULL, *code = NULL, *inner;

  if (root == NULL || mkdtemp(root) == NULL) {
    free(root);
    return cannot_send("a folder for a copy");
  }
  copy = cli_copy_code(root, from, quiet);
  if (copy != NULL)
    code = send_folder(r, job, copy, quiet);
  if (copy != NULL)
    cli_remove_code(copy);
  inner = cli_join(root, "code");
  if (inner != NULL)
    (void)rmdir(inner);
  (void)rmdir(root);
  free(inner);
  free(copy);
  free(root);
  return code;
}
