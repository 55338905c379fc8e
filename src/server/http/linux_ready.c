/* linux_ready.c - readiness of connections with epoll */
#include "server/http/conn.h"

#include <sys/epoll.h>

enum { AT_ONCE = 256 };

int pai__ready_new(void)
{
  return epoll_create1(EPOLL_CLOEXEC);
}

/* Edge-triggered, so that nothing has to be removed while a connection
 * sleeps. */
bool pai__ready_add(int ready, pai__conn *c)
{
  struct epoll_event e = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                           .data = { .ptr = c } };

  return epoll_ctl(ready, EPOLL_CTL_ADD, c->fd, &e) == 0;
}

/* Needed as a process that shares the descriptor would keep the entry
 * alive. */
void pai__ready_remove(int ready, const pai__conn *c)
{
  (void)epoll_ctl(ready, EPOLL_CTL_DEL, c->fd, NULL);
}

static void note(pai__conn *c, uint32_t events)
{
  bool over = (events & (EPOLLHUP | EPOLLERR)) != 0;

  c->hung_up = c->hung_up || over || (events & EPOLLRDHUP) != 0;
  c->readable = c->readable || over || (events & (EPOLLIN | EPOLLRDHUP)) != 0;
  c->writable = c->writable || over || (events & EPOLLOUT) != 0;
  pai__conn_make_due(c);
}

void pai__ready_look(int ready)
{
  struct epoll_event events[AT_ONCE];
  int n;

  do {
    n = epoll_wait(ready, events, AT_ONCE, 0);
    for (int i = 0; i < n; i++)
      note(events[i].data.ptr, events[i].events);
  } while (n == AT_ONCE);
}
