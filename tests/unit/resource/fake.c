/* fake.c - opens the fake NVML; makes trees of kernel files */
#define _XOPEN_SOURCE 700

#include "fake.h"
#include "files.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void look_up(const fake_nvml *f, const char *name, void *where)
{
  void *found = dlsym(f->library, name);

  assert_non_null(found);
  memcpy(where, &found, sizeof(found));
}

void fake_open(fake_nvml *f, const char *path)
{
  f->library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (f->library == NULL)
    fail_msg("%s", dlerror());
  look_up(f, "fake_nvml_machine", &f->machine);
  look_up(f, "fake_nvml_lose", &f->lose);
  look_up(f, "fake_nvml_want_reset", &f->want_reset);
  look_up(f, "fake_nvml_break", &f->break_);
  look_up(f, "fake_nvml_wear", &f->wear);
  look_up(f, "fake_nvml_crowd", &f->crowd);
  look_up(f, "fake_nvml_ready", &f->ready);
}

void fake_close(fake_nvml *f)
{
  assert_int_equal(f->ready(), 0); /* each init had its shutdown */
  (void)dlclose(f->library);
}

static char root[64];
static pid_t owner;

/* Of a test that failed, or that only asked for the root. */
static void leave(void)
{
  if (root[0] != '\0' && owner == getpid())
    (void)test_remove(root);
}

const char *made_root(void)
{
  if (root[0] == '\0') {
    assert_true(test_make_folder(root));
    if (owner == 0)
      (void)atexit(leave);
    owner = getpid();
  }
  return root;
}

void made_bytes(const char *path, const char *bytes, size_t len)
{
  char full[512];
  FILE *f;

  (void)snprintf(full, sizeof(full), "%s/%s", made_root(), path);
  for (char *slash = full + strlen(root) + 1;
       (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = '\0';
    if (mkdir(full, 0700) != 0)
      assert_int_equal(errno, EEXIST);
    *slash = '/';
  }
  f = fopen(full, "w"); /* the same file as before, for who has it open */
  assert_non_null(f);
  assert_int_equal(fwrite(bytes, 1, len, f), len);
  assert_int_equal(fclose(f), 0);
}

void made_file(const char *path, const char *text)
{
  made_bytes(path, text, strlen(text));
}

void made_remove(const char *path)
{
  char full[512];

  (void)snprintf(full, sizeof(full), "%s%s%s", made_root(),
                 path[0] != '\0' ? "/" : "", path);
  assert_int_equal(test_remove(full), 0);
}

void made_end(void)
{
  if (root[0] != '\0')
    made_remove("");
  root[0] = '\0';
}
