/* cases.c - the tests of each file of a program, as they were written there */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64 };

typedef struct test_case {
  const char *name;
  void (*run)(void);
  void (*run_row)(const void *row);
  const void *row;
} test_case;

typedef struct test_file {
  const char *path;
  test_case cases[MOST];
  size_t n;
  CMFixtureFunction set_up, tear_down, set_up_each, tear_down_each;
} test_file;

static test_file files[MOST];
static size_t nfiles;
static bool lacks_records;

static test_file *file_of(const char *path)
{
  for (size_t i = 0; i < nfiles; i++)
    if (strcmp(files[i].path, path) == 0)
      return &files[i];
  if (nfiles == MOST)
    abort();
  files[nfiles].path = path;
  return &files[nfiles++];
}

static void add(const char *file, test_case c)
{
  test_file *f = file_of(file);

  if (f->n == MOST)
    abort();
  f->cases[f->n++] = c;
}

void test_add(const char *file, const char *name, void (*run)(void))
{
  add(file, (test_case){ .name = name, .run = run });
}

void test_add_rows(const char *file, void (*run)(const void *row),
                   const void *rows, size_t n, size_t size)
{
  for (size_t i = 0; i < n; i++) {
    const void *row = (const char *)rows + i * size;

    add(file, (test_case){ *(const char *const *)row, NULL, run, row });
  }
}

void test_around(const char *file, bool each, CMFixtureFunction set_up,
                 CMFixtureFunction tear_down)
{
  test_file *f = file_of(file);

  *(each ? &f->set_up_each : &f->set_up) = set_up;
  *(each ? &f->tear_down_each : &f->tear_down) = tear_down;
}

static void run_case(void **state)
{
  const test_case *c = *state;

  if (c->run != NULL)
    c->run();
  else
    c->run_row(c->row);
}

void test_lacks_records(void)
{
  lacks_records = true;
}

static int run_file(const test_file *f)
{
  struct CMUnitTest tests[MOST] = { { .name = NULL } };

  for (size_t i = 0; i < f->n; i++) {
    tests[i].name = f->cases[i].name;
    tests[i].test_func = run_case;
    tests[i].setup_func = f->set_up_each;
    tests[i].teardown_func = f->tear_down_each;
    tests[i].initial_state = (void *)(uintptr_t)&f->cases[i];
  }
  return _cmocka_run_group_tests("tests", tests, f->n, f->set_up,
                                 f->tear_down);
}

int test_main(const char *name)
{
  char wanted[128]; /* a test_string() would not outlast the tests */
  int failed = 0;
  bool found = false;

  (void)snprintf(wanted, sizeof(wanted), "test_%s.c",
                 name != NULL ? name : "");
  for (size_t i = 0; i < nfiles; i++) {
    const char *slash = strrchr(files[i].path, '/');
    const char *base = slash != NULL ? slash + 1 : files[i].path;

    if (name != NULL && strcmp(base, wanted) != 0)
      continue;
    failed += run_file(&files[i]);
    found = true;
  }
  if (!found)
    (void)fprintf(stderr, "there is no test '%s'\n", name != NULL ? name : "");
  return !found ? 2 : failed != 0 ? failed : lacks_records ? 77 : 0;
}
