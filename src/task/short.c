/*
 * short.c - detects whether the machine was out of memory while a task ran
 *
 * Without a control group of the task nothing says which process the kernel
 * killed for lack of memory; but the kernel counts them, for the machine and
 * for this program's group.  Programs that kill earlier than the kernel use
 * its pressure stall information.
 */
#include "task.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* Percent of the last 10 s during which all processes waited. */
enum { PRESSED = 10 };

static struct {
  long machine, group;
} before;

static long number_behind(const char *text, const char *key)
{
  const char *at = text;
  size_t len = strlen(key);

  while ((at = strstr(at, key)) != NULL && at != text && at[-1] != '\n')
    at += len; /* the end of a longer word */
  return at != NULL ? strtol(at + len, NULL, 10) : 0;
}

static long read_number(const char *root, const char *path, const char *key)
{
  char text[16384];
  line full = { .len = 0 };

  line_add(&full, root);
  line_add(&full, path);
  full.text[full.len] = '\0';
  return read_small(AT_FDCWD, full.text, text, sizeof(text)) > 0
           ? number_behind(text, key)
           : 0;
}

/* Returns the path after "0::", or after a list of controllers that contains
 * memory. */
static const char *find_group(char *lines, bool *v1)
{
  char *found = NULL;

  for (char *at = lines, *end; (end = strchr(at, '\n')) != NULL;
       at = end + 1) {
    char *kinds = strchr(at, ':'),
         *path = kinds != NULL ? strchr(kinds + 1, ':') : NULL;

    *end = '\0';
    if (path == NULL)
      continue;
    *path = '\0';
    if (strcmp(kinds, ":memory") == 0) {
      *v1 = true;
      return path + 1;
    }
    if (kinds[1] == '\0')
      found = path + 1;
  }
  return found;
}

static long group_kills(const char *root)
{
  char lines[4096];
  line path = { .len = 0 };
  const char *group;
  bool v1 = false;

  line_add(&path, root);
  line_add(&path, "/proc/self/cgroup");
  path.text[path.len] = '\0';
  if (read_small(AT_FDCWD, path.text, lines, sizeof(lines)) <= 0)
    return 0;
  group = find_group(lines, &v1);
  if (group == NULL)
    return 0;
  path.len = 0;
  line_add(&path, v1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup");
  line_add(&path, group);
  line_add(&path, v1 ? "/memory.oom_control" : "/memory.events");
  path.text[path.len] = '\0';
  return read_number(root, path.text, "oom_kill ");
}

void short_note(const char *root)
{
  before.machine = read_number(root, "/proc/vmstat", "oom_kill ");
  before.group = group_kills(root);
}

bool short_since(const char *root)
{
  return read_number(root, "/proc/vmstat", "oom_kill ") > before.machine ||
         group_kills(root) > before.group ||
         read_number(root, "/proc/pressure/memory", "full avg10=") >= PRESSED;
}
