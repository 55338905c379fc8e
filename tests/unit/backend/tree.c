/* tree.c - see tree.h */
#include "backend/tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

char root[64];

void make(const char *path, const char *text)
{
  char full[256];

  (void)snprintf(full, sizeof(full), "%s%s", root, path);
  if (text == NULL) {
    assert_int_equal(mkdir(full, 0700), 0);
    return;
  }
  test_write_file(full, text);
}

const char *in_tree(const char *name)
{
  return test_string("%s/%s", root, name);
}

void append(const char *name, const void *bytes, size_t n)
{
  int fd = open(in_tree(name), O_WRONLY | O_CREAT | O_APPEND, 0600);

  assert_true(fd >= 0);
  assert_int_equal(write(fd, bytes, n), n);
  (void)close(fd);
}

const char *content(const char *path)
{
  const char *text = test_file(test_string("%s%s", root, path));

  return text != NULL ? text : "missing";
}

int make_tree(void **state)
{
  (void)state;
  return test_make_folder(root) ? 0 : -1;
}

int remove_tree(void **state)
{
  (void)state;
  return test_remove(root);
}
