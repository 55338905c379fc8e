/* HTTP/2, where a server offers it: Node's plays one. */
#include "client/certificates.h"
#include "client/played.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Answers which version it was asked in, and how many connections there are. */
static char program[] =
  "const fs = require('fs'); let n = 0;"
  "const s = require('http2').createSecureServer({allowHTTP1: true,"
  "  cert: fs.readFileSync(process.argv[1]),"
  "  key: fs.readFileSync(process.argv[2])},"
  "  (q, r) => r.end(q.url == '/large' ? Buffer.alloc(32 << 20)"
  "                                    : q.httpVersion + ' ' + n));"
  "s.on('secureConnection', () => n++);"
  "process.stdin.resume().on('end', () => process.exit());"
  "s.listen(0, '127.0.0.1', () => console.log(s.address().port));";

/* Its port; 0: there is no Node.  It ends with this process, whatever becomes of
 * that: nobody has the other end of its input then. */
static int start(pid_t *pid, char *cert_file, char *key_file)
{
  char node[] = "node", eval[] = "-e", text[16] = "";
  char *argv[] = { node, eval, program, cert_file, key_file, NULL };
  posix_spawn_file_actions_t files;
  int fds[2], input[2], rc;

  assert_int_equal(pipe(fds), 0);
  assert_int_equal(pipe(input), 0);
  assert_int_equal(fcntl(input[1], F_SETFD, FD_CLOEXEC), 0);
  (void)posix_spawn_file_actions_init(&files);
  (void)posix_spawn_file_actions_adddup2(&files, input[0], STDIN_FILENO);
  (void)posix_spawn_file_actions_adddup2(&files, fds[1], STDOUT_FILENO);
  (void)posix_spawn_file_actions_addclose(&files, fds[0]);
  rc = posix_spawnp(pid, node, &files, NULL, argv, environ);
  (void)posix_spawn_file_actions_destroy(&files);
  (void)close(input[0]);
  (void)close(fds[1]);
  if (rc == 0)
    (void)!read(fds[0], text, sizeof(text) - 1);
  (void)close(fds[0]);
  if (rc != 0)
    *pid = 0;
  return rc == 0 ? (int)strtol(text, NULL, 10) : 0;
}

typedef struct stage {
  char dir[32], ca_file[96], cert_file[96], key_file[96];
  certificate ca, server;
  pai_loop *loop;
  pai_client *client;
  pid_t pid;
  pai_op *op;
  size_t taken;
  bool pauses;
  outcome o;
} stage;

/* False: there is no Node. */
static bool begin(stage *s)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  char url[64];
  int port;

  *s = (stage){ .dir = "/tmp/test-http2-XXXXXX" };
  assert_non_null(mkdtemp(s->dir));
  certificate_make(&s->ca, NULL, NULL, -3600, 3600);
  certificate_make(&s->server, &s->ca, "127.0.0.1", -3600, 3600);
  certificate_save(s->ca_file, s->dir, "ca.pem", s->ca.pem);
  certificate_save(s->cert_file, s->dir, "server.pem", s->server.pem);
  certificate_save(s->key_file, s->dir, "server.key", s->server.key_pem);
  port = start(&s->pid, s->cert_file, s->key_file);
  if (port == 0)
    return false;
  s->loop = open_loop();
  (void)snprintf(url, sizeof(url), "https://127.0.0.1:%d", port);
  options.url = url;
  options.ca_file = s->ca_file;
  assert_ok(pai_client_new(&s->client, s->loop, &options, NULL));
  return true;
}

static void end(stage *s)
{
  if (s->client != NULL) {
    close_client(s->loop, s->client);
    close_loop(s->loop);
  }
  if (s->pid > 0) {
    (void)kill(s->pid, SIGKILL);
    (void)waitpid(s->pid, NULL, 0);
  }
  (void)unlink(s->ca_file);
  (void)unlink(s->cert_file);
  (void)unlink(s->key_file);
  assert_int_equal(rmdir(s->dir), 0);
  certificate_free(&s->ca);
  certificate_free(&s->server);
  if (s->client == NULL) {
    print_message("skipped: there is no node\n");
    skip();
  }
}

static void ask_many(stage *s, int count)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  outcome o = { 0 };

  q.path = "/x";
  for (int i = 0; i < count; i++)
    assert_ok(pai_client_ask(NULL, s->client, &q, on_outcome, &o, NULL));
  wait_for(s->loop, &o, count);
  assert_ok(o.status);
  assert_string_equal(o.body, "2.0 1");
}

ON_LOOPS(one_connection_is_enough)
{
  static stage s;

  if (begin(&s))
    ask_many(&s, 200);
  end(&s);
}

static int on_body(void *user_data, const char *bytes, size_t len)
{
  stage *s = user_data;

  (void)bytes;
  s->taken += len;
  if (s->pauses)
    pai_op_pause(s->op);
  return 0;
}

static void on_end(void *user_data, int status, const pai_client_answer *a)
{
  stage *s = user_data;

  on_outcome(&s->o, status, a);
}

/* One that is paused is in nobody's way, though all share a connection. */
ON_LOOPS(paused_beside_others)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  static stage s;

  if (begin(&s)) {
    s.pauses = true;
    q.path = "/large";
    q.on_body = on_body;
    assert_ok(pai_client_ask(&s.op, s.client, &q, on_end, &s, NULL));
    for (int i = 0; i < 5; i++) {
      size_t taken = s.taken;
      /* A turn that pauses it may leave nothing to do. */
      while (s.taken == taken)
        if (!turn_loop(s.loop) && s.taken == taken)
          fail_msg("it ended with %s after %zu bytes: %s",
                   pai_code_name(s.o.status), s.taken, s.o.message);
      taken = s.taken;
      ask_many(&s, 20);
      assert_int_equal(s.taken, taken);
      assert_int_equal(s.o.calls, 0);
      pai_op_resume(s.op);
    }
    assert_true(s.taken < 1 << 20);
    s.pauses = false;
    wait_for(s.loop, &s.o, 1);
    assert_ok(s.o.status);
    assert_int_equal(s.taken, 32 << 20);
  }
  end(&s);
}
