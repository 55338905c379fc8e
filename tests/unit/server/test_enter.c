/* A connection that becomes a stream into a task. */
#include "asked.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define PATH "/api/v2/jobs/alice~mnist/taskRoles/w/taskIndex/0/stream"
#define CLOSE " HTTP/1.1\r\nHost: x\r\nConnection: close, Upgrade\r\n"
#define HEAD " HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"

/* The task's side of it: what the server sends there. */
static int take_connection(int fd, char *early, size_t size)
{
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  struct iovec room = { early, size };
  struct msghdr message = { .msg_iov = &room,
                            .msg_iovlen = 1,
                            .msg_control = control,
                            .msg_controllen = sizeof(control) };
  ssize_t n = recvmsg(fd, &message, 0);
  struct cmsghdr *c = CMSG_FIRSTHDR(&message);
  int given;

  assert_true(n >= 1);
  early[n] = '\0';
  assert_non_null(c);
  assert_int_equal(c->cmsg_type, SCM_RIGHTS);
  memcpy(&given, CMSG_DATA(c), sizeof(given));
  return given;
}

static void a_connection_is_handed_over(void **state)
{
  char early[256];
  int pair[2], given;
  scene s;
  peer p;

  (void)state;
  begin(&s);
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  s.platform.entrance = pair[0];
  come(&p, &s);
  say(&p, "GET " PATH HEAD "Upgrade: other, OpenPAI-Stream\r\n\r\n");
  hear(&p, "HTTP/1.1 101 Switching Protocols\r\n");
  hear(&p, "\r\nUpgrade: openpai-stream\r\n");
  given = take_connection(pair[1], early, sizeof(early) - 1);
  /* The server has its end no more: what is said there is heard here, */
  assert_int_equal(write(given, "words", 5), 5);
  hear(&p, "words");
  say(&p, "back");
  assert_int_equal(read(given, early, 4), 4);
  assert_memory_equal(early, "back", 4);
  assert_int_equal(read(pair[1], early, 1), 0); /* nothing more of it */
  /* and when the task closes it, it is closed. */
  (void)close(given);
  hear_all(&p);
  leave(&p);
  (void)close(pair[1]);
  end(&s);
}

static void refusals(void **state)
{
  scene s;

  (void)state;
  begin(&s);
  expect(GET(&s, PATH), 426, "This path requires 'Upgrade: openpai-stream'");
  expect(ask(&s, "GET " PATH
                 " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nUpgrade: "
                 "openpai-streams\r\n\r\n"),
         426, "UpgradeRequiredError");
  s.platform.fail = PAI_EINVAL;
  expect(ask(&s, "GET " PATH CLOSE "Upgrade: openpai-stream\r\n\r\n"), 400,
         "TaskNotRunningError");
  s.platform.fail = PAI_EBUSY;
  expect(ask(&s, "GET " PATH CLOSE "Upgrade: openpai-stream\r\n\r\n"), 503,
         "as the test wants it");
  s.platform.fail = 0;
  expect(
    ask(&s, "GET /api/v2/jobs/alice~mnist/taskRoles/w/taskIndex/1/stream" CLOSE
            "Upgrade: openpai-stream\r\n\r\n"),
    404, "NoTaskError");
  expect(
    ask(&s, "GET /api/v2/jobs/alice~mnist/taskRoles/w/taskIndex/x/stream" CLOSE
            "Upgrade: openpai-stream\r\n\r\n"),
    404, "NoTaskError");
  expect(ask(&s,
             "GET /api/v2/jobs/alice~no/taskRoles/w/taskIndex/0/stream" CLOSE
             "Upgrade: openpai-stream\r\n\r\n"),
         404, "NoJobError");
  end(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_connection_is_handed_over),
    cmocka_unit_test(refusals),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
