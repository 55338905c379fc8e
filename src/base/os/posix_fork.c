/* posix_fork.c - counts forks, to detect objects of a parent process, and
 * closes their descriptors in the child */
#define _XOPEN_SOURCE 700

#include "base/os/fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_uint forks;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t held = PTHREAD_RWLOCK_INITIALIZER;
static pai__fork_fd *first;

static void before(void)
{
  (void)pthread_rwlock_wrlock(&held);
  (void)pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
  (void)pthread_mutex_unlock(&lock);
  (void)pthread_rwlock_unlock(&held);
}

/* A descriptor that holds a lock or a port for the parent must not outlive it
 * here. */
static void in_child(void)
{
  for (pai__fork_fd *f = first; f != NULL; f = f->next)
    (void)close(f->fd);
  first = NULL;
  (void)atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
  (void)pthread_mutex_unlock(&lock);
  /* The lock is held by a thread of the parent. */
  (void)pthread_rwlock_init(&held, NULL);
}

static void listen_for_forks(void)
{
  (void)pthread_atfork(before, in_parent, in_child);
}

unsigned pai__forks(void)
{
  (void)pthread_once(&once, listen_for_forks);
  return atomic_load_explicit(&forks, memory_order_relaxed);
}

int pai__forked(pai_error **err)
{
  (void)pai__fail(
    err, PAI_EBUSY,
    "this object belongs to the parent process: it was created before fork()");
  pai__error_help(err,
                  "create another object in the child, or start the child "
                  "with exec (Python: multiprocessing's \"spawn\")");
  return PAI_EBUSY;
}

void pai__fork_close(pai__fork_fd *f, int fd)
{
  (void)pai__forks();
  (void)pthread_mutex_lock(&lock);
  *f = (pai__fork_fd){ .fd = fd, .next = first };
  if (first != NULL)
    first->at = &f->next;
  f->at = &first;
  first = f;
  (void)pthread_mutex_unlock(&lock);
}

void pai__fork_keep(pai__fork_fd *f)
{
  if (f->at == NULL)
    return;
  (void)pthread_mutex_lock(&lock);
  *f->at = f->next;
  if (f->next != NULL)
    f->next->at = f->at;
  f->at = NULL;
  (void)pthread_mutex_unlock(&lock);
}

void pai__fork_hold(void)
{
  (void)pai__forks();
  (void)pthread_rwlock_rdlock(&held);
}

void pai__fork_release(void)
{
  (void)pthread_rwlock_unlock(&held);
}
