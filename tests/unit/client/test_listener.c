/* The client, and who listens where it asks. */
#define _GNU_SOURCE
#include "cases.h"
#include "client/scene.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TEST_IN(nobody_listens, scene, s, begin_empty, end)
{
  int fd;

  get(s, "/x"); /* no socket */
  assert_int_equal(s->status, PAI_ENOTFOUND);
  assert_int_equal(s->http_status, 0);
  assert_has(s->message, s->path);
  assert_int_equal(pai__socket_listen(&fd, s->path, 1), 0);
  (void)close(fd);
  get(s, "/x"); /* one that was left behind */
  assert_int_equal(s->status, PAI_ENOTFOUND);
}

TEST_IN(what_is_no_socket, scene, s, begin_empty, end)
{
  char other[96];
  int fd;

  fd = open(s->path, O_CREAT | O_WRONLY, 0600);
  (void)close(fd);
  get(s, "/x");
  assert_int_equal(s->status, PAI_EPERM);
  (void)unlink(s->path);
  (void)snprintf(other, sizeof(other), "%s/other", s->dir);
  assert_int_equal(pai__socket_listen(&fd, other, 1), 0);
  assert_int_equal(symlink(other, s->path), 0);
  get(s, "/x"); /* though it leads to one of this user's */
  assert_int_equal(s->status, PAI_EPERM);
  (void)close(fd);
  (void)unlink(other);
}

TEST(anothers_socket)
{
  scene s;

  if (geteuid() != 0) {
    print_message("skipped: only root can play another user\n");
    skip();
  }
  begin(&s, OK "Content-Length: 0\r\n\r\n");
  assert_int_equal(chown(s.path, 65534, 65534), 0);
  get(&s, "/x");
  assert_int_equal(s.status, PAI_EPERM);
  assert_has(s.message, "belongs to another user: 65534");
  assert_int_equal(s.connections, 0);
  end(&s);
}

/* The file is this user's, but another one listens. */
TEST(another_listens)
{
  int fd, ready[2];
  char c;
  pid_t child;
  scene s;

  if (geteuid() != 0) {
    print_message("skipped: only root can play another user\n");
    skip();
  }
  begin_empty(&s);
  assert_int_equal(pipe(ready), 0);
  assert_int_equal(chmod(s.dir, 0777), 0);
  child = fork();
  if (child == 0) {
    (void)close(ready[0]);
    if (setuid(65534) != 0 || pai__socket_listen(&fd, s.path, 1) != 0 ||
        write(ready[1], "x", 1) != 1)
      _exit(1);
    (void)pause();
    _exit(0);
  }
  (void)close(ready[1]);
  assert_int_equal(read(ready[0], &c, 1), 1);
  (void)close(ready[0]);
  assert_int_equal(chown(s.path, 0, 0), 0);
  get(&s, "/x");
  assert_int_equal(s.status, PAI_EPERM);
  assert_has(s.message, "another user listens");
  (void)kill(child, SIGKILL);
  (void)waitpid(child, NULL, 0);
  end(&s);
}

TEST_IN(a_long_path, scene, s, begin_empty, end)
{
  char dir[400], path[420];
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;

  (void)snprintf(dir, sizeof(dir), "%s/%0200d", s->dir, 0);
  (void)snprintf(path, sizeof(path), "%s/socket", dir);
  assert_int_equal(mkdir(dir, 0700), 0);
  assert_int_equal(pai__socket_listen(&s->listener, path, 1), 0);
  s->answer = OK "Content-Length: 0\r\n\r\n";
  assert_ok(pai__poll_new(&s->listen_watch, &pai__libc_alloc, s->loop,
                          s->listener, on_connection, s, NULL));
  pai__poll_set(s->listen_watch, PAI__READABLE);
  pai_client_close(s->client, NULL, NULL);
  options.socket = path;
  assert_ok(pai_client_new(&s->client, s->loop, &options, NULL));
  get(s, "/x");
  assert_ok(s->status);
  (void)unlink(path);
  (void)rmdir(dir);
}
