/* posix_compat.c - what the old programs' words need of the machine: chance,
 * copies of sources, an editor */
#define _GNU_SOURCE /* getrandom() by its header */
#include "compat.h"
#include "jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16, MOST_WORDS = 32 };

bool cli_old_random(char *out, size_t letters)
{
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz";
  unsigned char byte;

  for (size_t i = 0; i < letters;) {
    if (getrandom(&byte, 1, 0) != 1) {
      if (errno == EINTR)
        continue;
      cli_fail("no random numbers are available: %s", strerror(errno));
      return false;
    }
    if (byte < 208) /* 4 * 52: each letter is as likely */
      out[i++] = alphabet[byte % 52];
  }
  out[letters] = '\0';
  return true;
}

/* --- sources ------------------------------------------------------------------------ */

static bool fail(const char *what, const char *path)
{
  cli_fail("cannot %s %s: %s", what, path, strerror(errno));
  return false;
}

bool cli_old_pump(int from, int to)
{
  static char piece[PIECE];
  ssize_t n;

  while ((n = read(from, piece, sizeof(piece))) > 0)
    for (ssize_t done = 0, w; done < n; done += w)
      if ((w = write(to, piece + done, (size_t)(n - done))) < 0)
        return false;
  return n == 0;
}

/* The folders above a file. */
static bool make_folders(char *path, size_t start)
{
  for (char *p = path + start; (p = strchr(p, '/')) != NULL; p++) {
    *p = '\0';
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
      return fail("make", path);
    *p = '/';
  }
  return true;
}

/* Whether an open file lies below the present folder, whatever links led to
 * it: what a settings file names may have come with a folder from elsewhere. */
static bool lies_here(int fd)
{
  char at[32], real[PATH_MAX], here[PATH_MAX];
  size_t len;
  ssize_t n;

  (void)snprintf(at, sizeof(at), "/proc/self/fd/%d", fd);
  n = readlink(at, real, sizeof(real) - 1);
  if (n <= 0 || getcwd(here, sizeof(here)) == NULL)
    return false;
  real[n] = '\0';
  len = strcmp(here, "/") == 0 ? 0 : strlen(here);
  return strncmp(real, here, len) == 0 && real[len] == '/';
}

static bool copy_file(const char *from, const char *to)
{
  int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK), out;
  struct stat st;
  bool good;

  if (in < 0 || fstat(in, &st) < 0) {
    (void)fail("read", from);
    if (in >= 0)
      (void)close(in);
    return false;
  }
  if (!S_ISREG(st.st_mode) || !lies_here(in)) {
    if (S_ISREG(st.st_mode))
      cli_fail("%s is outside the present folder", from);
    else
      cli_fail("%s is not a regular file", from);
    (void)close(in);
    return false;
  }
  out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
             (st.st_mode & 0100) != 0 ? 0700 : 0600);
  good = (out >= 0 && cli_old_pump(in, out)) || fail("copy", from);
  (void)close(in);
  if (out >= 0 && close(out) != 0 && good)
    good = fail("copy", from);
  return good;
}

/* Only what is below the present folder has a place in the job's. */
static bool is_below(const char *path)
{
  const char *p = path;

  do {
    if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == '\0'))
      break;
    p = strchr(p, '/');
    p = p != NULL ? p + 1 : NULL;
  } while (p != NULL);
  if (path[0] != '\0' && path[0] != '/' && p == NULL)
    return true;
  cli_fail("sources must be below the present folder: %s", path);
  cli_help(stderr, "copy it there, or call this in the folder above it");
  return false;
}

static bool stage_one(const char *folder, const char *file)
{
  char *to = is_below(file) ? cli_join(folder, file) : NULL;
  bool good =
    to != NULL && make_folders(to, strlen(folder) + 1) && copy_file(file, to);

  free(to);
  return good;
}

char *cli_old_stage(const char *const *files, size_t count)
{
  const char *tmp = getenv("TMPDIR");
  char *folder =
    cli_join(tmp != NULL && tmp[0] == '/' ? tmp : "/tmp", "openpai-XXXXXX");
  bool good = folder != NULL && mkdtemp(folder) != NULL;

  if (!good) {
    cli_fail("cannot make a folder for the sources: %s", strerror(errno));
    free(folder);
    return NULL;
  }
  for (size_t i = 0; i < count && good; i++)
    good = stage_one(folder, files[i]);
  if (good)
    return folder;
  cli_remove_code(folder);
  free(folder);
  return NULL;
}

/* --- an editor ------------------------------------------------------------------------ */

/* Its words are parted by spaces; nothing of a shell is in them. */
int cli_old_edit(const char *editor, const char *path)
{
  char *words[MOST_WORDS + 2], *copy = strdup(editor), *next = NULL;
  size_t n = 0;

  if (copy == NULL) {
    cli_fail("out of memory");
    return CLI_NO;
  }
  for (char *p = strtok_r(copy, " ", &next); p != NULL && n < MOST_WORDS;
       p = strtok_r(NULL, " ", &next))
    words[n++] = p;
  if (n > 0) {
    words[n] = (char *)path;
    words[n + 1] = NULL;
    (void)execvp(words[0], words);
  }
  cli_fail("cannot start the editor %s: %s", editor, strerror(errno));
  cli_help(stderr, "--editor, $VISUAL or $EDITOR says which");
  free(copy);
  return CLI_NO;
}
