/* leaderless.c - a process whose first thread has ended, while another runs */
#include <pthread.h>
#include <unistd.h>

static void *stay(void *none)
{
  for (;;)
    (void)pause();
  return none;
}

int main(void)
{
  pthread_t thread;

  if (pthread_create(&thread, NULL, stay, NULL) != 0)
    return 1;
  pthread_exit(NULL);
}
