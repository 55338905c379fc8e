/*
 * A process that writes is killed at a random moment, again and again, in one
 * folder: all that it was told is durable is there, and nothing by halves.
 * `./dev soak` does it more often, OPENPAI_SEED sets the seed.
 */
#include "cases.h"
#include "folder.h"
#include "writer.h"

#include "base/prng.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KILLS = 20, SOAK_KILLS = 500, MOST_ACKED = 60 };

/* Kills a writer after some acknowledged commits and a little; returns the
 * last id it was told of. */
static uint64_t kill_one(pai__prng *prng, uint64_t told)
{
  struct timespec little = { 0, (long)pai__prng_below(prng, 3000000) };
  unsigned acked = (unsigned)pai__prng_below(prng, MOST_ACKED) + 1;
  int fds[2], status;
  pid_t child;

  assert_int_equal(pipe(fds), 0);
  child = fork();
  if (child == 0) {
    (void)close(fds[0]);
    write_for_ever(fds[1]);
  }
  (void)close(fds[1]);
  while (acked-- > 0)
    assert_int_equal(read(fds[0], &told, sizeof(told)), sizeof(told));
  (void)nanosleep(&little, NULL);
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));
  while (read(fds[0], &told, sizeof(told)) == sizeof(told))
    continue; /* what it was told before it was killed */
  (void)close(fds[0]);
  return told;
}

TEST(nothing_acknowledged_is_lost)
{
  const char *from = getenv("OPENPAI_SEED");
  int kills = getenv("OPENPAI_SOAK") != NULL ? SOAK_KILLS : KILLS;
  pai__prng prng = { from != NULL ? strtoull(from, NULL, 10) : 1 };
  uint64_t last = 0;

  for (int i = 0; i < kills; i++) {
    uint64_t told = kill_one(&prng, last);
    last = check_folder(last, told);
  }
  print_message("%d kills, %llu jobs\n", kills, (unsigned long long)last);
}

TEST_AROUND_EACH(folder_set_up, folder_tear_down);
