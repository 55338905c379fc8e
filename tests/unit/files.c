/* files.c - files and folders in tests */
#define _XOPEN_SOURCE 700 /* mkdtemp(), nftw() */
#include "files.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

const char *test_file(const char *path)
{
  static char text[(1 << 20) + 1];
  FILE *f = fopen(path, "rb");

  if (f == NULL)
    return NULL;
  text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
  (void)fclose(f);
  return text;
}

void test_write_file(const char *path, const char *text)
{
  FILE *f = fopen(path, "w");

  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  assert_int_equal(fclose(f), 0);
}

bool test_make_folder(char path[64])
{
  (void)snprintf(path, 64, "/tmp/openpai-test-XXXXXX");
  return mkdtemp(path) != NULL;
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *at)
{
  (void)info;
  (void)kind;
  (void)at;
  return remove(path);
}

int test_remove(const char *path)
{
  return nftw(path, remove_one, 64, FTW_DEPTH | FTW_PHYS);
}
