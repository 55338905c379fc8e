/* pthread.h - mutexes for the facade where there is one thread: wasi-libc has
 * none */
#ifndef OPENPAI_BINDINGS_JS_PTHREAD_H
#define OPENPAI_BINDINGS_JS_PTHREAD_H

#include <errno.h>

typedef int pthread_mutexattr_t; /* whether the mutex is recursive */

typedef struct pthread_mutex_t {
  int recursive, held;
} pthread_mutex_t;

enum { PTHREAD_MUTEX_RECURSIVE = 1 };

static inline int pthread_mutexattr_init(pthread_mutexattr_t *attr)
{
  *attr = 0;
  return 0;
}

static inline int pthread_mutexattr_settype(pthread_mutexattr_t *attr,
                                            int type)
{
  *attr = type;
  return 0;
}

static inline int pthread_mutexattr_destroy(pthread_mutexattr_t *attr)
{
  (void)attr;
  return 0;
}

static inline int pthread_mutex_init(pthread_mutex_t *mutex,
                                     const pthread_mutexattr_t *attr)
{
  *mutex = (pthread_mutex_t){ attr != 0 && *attr != 0, 0 };
  return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
  (void)mutex;
  return 0;
}

static inline int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
  if (mutex->held > 0 && !mutex->recursive)
    return EBUSY;
  mutex->held++;
  return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
  return pthread_mutex_trylock(mutex);
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
  mutex->held--;
  return 0;
}

#endif /* OPENPAI_BINDINGS_JS_PTHREAD_H */
