/* tree.c - see tree.h */
#define _XOPEN_SOURCE 700
#include "backend/tree.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

char root[64];

void make(const char *path, const char *text)
{
  char full[256];
  FILE *f;

  (void)snprintf(full, sizeof(full), "%s%s", root, path);
  if (text == NULL) {
    assert_int_equal(mkdir(full, 0700), 0);
    return;
  }
  f = fopen(full, "w");
  assert_non_null(f);
  (void)fputs(text, f);
  (void)fclose(f);
}

const char *content(const char *path)
{
  static char text[256];
  char full[256];
  size_t n;
  FILE *f;

  (void)snprintf(full, sizeof(full), "%s%s", root, path);
  f = fopen(full, "r");
  if (f == NULL)
    return "missing";
  n = fread(text, 1, sizeof(text) - 1, f);
  text[n] = '\0';
  (void)fclose(f);
  return text;
}

int make_tree(void **state)
{
  (void)state;
  (void)snprintf(root, sizeof(root), "/tmp/openpai-groups-XXXXXX");
  return mkdtemp(root) != NULL ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *at)
{
  (void)info;
  (void)kind;
  (void)at;
  return remove(path);
}

int remove_tree(void **state)
{
  (void)state;
  return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
