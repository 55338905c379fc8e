/* bare.c - the bare loop of programs that are started and waited for */
#define _GNU_SOURCE
#include "bare.h"

#include "backend/local/order.h"
#include "backend/local/posix_launch.h"

#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int add_sandbox(bare *b, pai__backend_words *w)
{
  pai_launch_plan plan = { .dir = b->root };
  pai__surroundings around = { .root = b->root };
  static char here[4096]; /* the words do not copy it */
  char tmp[BENCH_FOLDER + 8];

  around.here = getcwd(here, sizeof(here));
  (void)snprintf(tmp, sizeof(tmp), "%s/tmp", b->root);
  pai__bwrap_words(w, b->tools.bwrap.path, &plan, &around);
  return mkdir(tmp, 0700);
}

static int make_order(bare *b, pai__backend_words *w, const char *script)
{
  pai__backend_order order = { .env = (const char *const *)environ,
                               .script = script };

  pai__words_add(w, b->tools.bash);
  pai__words_add(w, "/dev/fd/3");
  order.argv = w->at;
  return w->failed ? -1 : pai__order_write(&b->order, &order);
}

static int make_words(bare *b, int kind, const char *script)
{
  int rc = 0;

  if (kind != BARE_SUPERVISOR)
    rc = add_sandbox(b, &b->words);
  if (rc == 0 && kind != BARE_SANDBOX)
    return make_order(b, &b->words, script);
  pai__words_add(&b->words, b->tools.bash);
  pai__words_add(&b->words, "-c");
  pai__words_add(&b->words, script);
  return rc < 0 || b->words.failed ? -1 : 0;
}

void bare_close(bare *b)
{
  pai__strfree(&pai__libc_alloc, b->program);
  pai__buf_dispose(&b->order);
  pai__words_dispose(&b->words);
  pai__runtimes_dispose(&b->tools, &pai__libc_alloc);
  bench_remove(b->root);
}

static int spawn_sandbox(const bare *b)
{
  posix_spawn_file_actions_t files;
  pid_t pid;
  int rc = posix_spawn_file_actions_init(&files);

  for (int i = 0; i < 3 && rc == 0; i++)
    rc = posix_spawn_file_actions_addopen(&files, i, "/dev/null", O_RDWR, 0);
  if (rc == 0)
    rc = posix_spawn(&pid, b->words.at[0], &files, NULL,
                     (char *const *)b->words.at, environ);
  (void)posix_spawn_file_actions_destroy(&files);
  return rc == 0 ? 0 : -1;
}

static int spawn_one(bare *b)
{
  char dir[BENCH_FOLDER + 32];
  int pid;

  if (b->kind == BARE_SANDBOX)
    return spawn_sandbox(b);
  (void)snprintf(dir, sizeof(dir), "%s/%llu", b->root,
                 (unsigned long long)b->next++);
  if (mkdir(dir, 0700) < 0)
    return -1;
  return pai__local_spawn(&pid, b->program, dir, false, NULL, NULL,
                          b->order.data, b->order.len, NULL);
}

int bare_run(bare *b, int count, int at_once)
{
  int running = 0, status;

  while (count > 0 || running > 0) {
    if (count > 0 && running < at_once) {
      if (spawn_one(b) < 0)
        return -1;
      count--;
      running++;
      continue;
    }
    if (waitpid(-1, &status, 0) < 0 || status != 0)
      return -1;
    running--;
  }
  return 0;
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *at)
{
  (void)info;
  (void)kind;
  (void)at;
  return remove(path);
}

int bench_make_folder(char out[BENCH_FOLDER])
{
  const char *tmp = getenv("TMPDIR");

  (void)snprintf(out, BENCH_FOLDER, "%s/openpai-XXXXXX",
                 tmp != NULL ? tmp : "/var/tmp");
  return mkdtemp(out) != NULL ? 0 : -1;
}

void bench_remove(const char *folder)
{
  (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void print_file(const char *path)
{
  FILE *in = fopen(path, "r");
  char line[512];

  while (in != NULL && fgets(line, sizeof(line), in) != NULL)
    (void)fprintf(stderr, "  %s", line);
  if (in != NULL)
    (void)fclose(in);
}

/* What the supervisor says of the first one: its own exit code is 0 whatever
 * becomes of what it starts. */
static int check_first(const bare *b)
{
  static const char *const files[] = { "status", "runtime", "stderr" };
  char path[BENCH_FOLDER + 32], text[1024];
  size_t n = 0;
  FILE *in;

  (void)snprintf(path, sizeof(path), "%s/0/status", b->root);
  in = fopen(path, "r");
  if (in != NULL) {
    n = fread(text, 1, sizeof(text) - 1, in);
    (void)fclose(in);
  }
  text[n] = '\0';
  if (strstr(text, "\nexit 0 ") != NULL)
    return 0;
  (void)fprintf(stderr, "openpai-bench: the bare loop's program fails:\n");
  for (size_t i = 0; i < PAI__LEN(files); i++) {
    (void)snprintf(path, sizeof(path), "%s/0/%s", b->root, files[i]);
    print_file(path);
  }
  return -1;
}

/* One alone: the first makes folders in the /tmp that they share, which many
 * at once get in each other's way with. */
int bare_open(bare *b, int kind, const char *script)
{
  memset(b, 0, sizeof(*b));
  b->kind = kind;
  pai__buf_init(&b->order, &pai__libc_alloc);
  pai__words_init(&b->words, &pai__libc_alloc);
  if (bench_make_folder(b->root) < 0 ||
      pai__runtimes_find(&b->tools, NULL, &pai__libc_alloc) < 0 ||
      b->tools.bash == NULL ||
      (kind != BARE_SUPERVISOR && b->tools.bwrap.path == NULL) ||
      pai__local_find_program(&b->program, NULL, &pai__libc_alloc, NULL) < 0 ||
      make_words(b, kind, script) < 0 || bare_run(b, 1, 1) < 0)
    return -1;
  return kind != BARE_SANDBOX ? check_first(b) : 0;
}
