/* A host that forks: the child can do nothing with its server, keeps nothing of
 * it open, and what was connected goes on with the parent. */
#include "cases.h"
#include "asked.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void want(bool holds, const char *what)
{
  if (holds)
    return;
  print_error("in the child: not %s\n", what);
  _exit(1);
}
#define EXPECT(check) want((check), #check)

static void never(void *user_data)
{
  (void)user_data;
  _exit(99); /* nothing may call back here */
}

static void child_does_nothing(scene *s)
{
  pai_server_options o = PAI_SERVER_OPTIONS_INIT;
  pai_server *other = NULL;
  pai_error *err = NULL;
  pai_loop *loop;

  EXPECT(pai_server_port(s->server, 0) > 0); /* as it was */
  EXPECT(pai_server_address(s->server, 0) != NULL);
  EXPECT(pai_loop_run_once(s->loop) == PAI_EBUSY);
  o.listen = "127.0.0.1:0";
  o.root = s->dir;
  EXPECT(pai_server_new(&other, s->loop, &s->platform, &o, &err) == PAI_EBUSY);
  EXPECT(other == NULL);
  EXPECT(strstr(pai_error_message(err), "fork()") != NULL);
  pai_error_free(err);
  pai_server_close(s->server, never, s);
  pai_server_close(s->server, never, s);
  pai_loop_free(s->loop);
  /* One of its own works. */
  EXPECT(pai_loop_new(&loop, NULL, NULL) == PAI_OK);
  s->platform.loop = loop;
  EXPECT(pai_server_new(&other, loop, &s->platform, &o, NULL) == PAI_OK);
  s->closed = 0;
  pai_server_close(other, on_closed, s);
  while (!s->closed)
    EXPECT(pai_loop_run_once(loop) >= 0);
  EXPECT(pai_loop_run(loop) == PAI_OK);
  pai_loop_free(loop);
}

static void begin_listening(scene *s, const char *address)
{
  begin_empty(s);
  s->options.listen = address;
  assert_ok(new_server(s, NULL));
}

TEST(the_parent_goes_on)
{
  scene s;
  peer p;
  int status;
  pid_t child;

  begin_listening(&s, "127.0.0.1:0");
  come(&p, &s);
  say(&p, "GET /api/v2/jobs HTTP/1.1\r\nHost: x\r\n");
  turn(&s);
  child = fork();
  if (child == 0) {
    (void)alarm(240);
    child_does_nothing(&s);
    _exit(0);
  }
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  say(&p, "\r\n"); /* the rest of it */
  hear(&p, "HTTP/1.1 200");
  leave(&p);
  (void)GET(&s, "/healthz");
  end_with_code(&s);
}

/* A child that lives on holds neither the address nor the socket. */
TEST(a_child_keeps_no_address)
{
  int hold[2], begun[2], status;
  char address[64], byte;
  pid_t child;
  scene s;

  assert_int_equal(pipe(hold), 0);
  assert_int_equal(pipe(begun), 0);
  begin_listening(&s, "127.0.0.1:0");
  child = fork();
  if (child == 0) {
    (void)close(hold[1]);
    (void)!write(begun[1], "", 1); /* what is its parent's alone is closed */
    _exit(read(hold[0], &byte, 1) == 0 ? 0 : 1); /* until the parent is done */
  }
  assert_true(child > 0);
  (void)close(hold[0]);
  assert_int_equal(read(begun[0], &byte, 1), 1);
  (void)snprintf(address, sizeof(address), "127.0.0.1:%d",
                 pai_server_port(s.server, 0));
  end_with_code(&s);
  begin_listening(&s, address);
  (void)GET(&s, "/healthz");
  end_with_code(&s);
  (void)close(hold[1]);
  (void)close(begun[0]);
  (void)close(begun[1]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}
