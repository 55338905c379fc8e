/* Tokens that a program makes: when it runs, who waits, and all that breaks. */
#define _GNU_SOURCE
#include "cases.h"
#include "files.h"
#include "backend/fake_kube.h"

#include "backend/kubernetes/kube.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define V1 "client.authentication.k8s.io/v1"
/* It writes $TOKEN, and notes each of its runs. */
#define WRITES(more)                                                     \
  "echo run >> runs; printf "                                            \
  "'{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{" \
  "\"token\":\"%s\"" more "}}' \"$TOKEN\""

enum { MOST = 8 };

typedef struct scene {
  pai_loop *loop;
  fake_kube server;
  pai__kube *kube;
  char dir[64], here[4096];
  int done, closed;
  int status[MOST];
  char why[MOST][256];
} scene;

static void on_closed(void *user_data)
{
  ((scene *)user_data)->closed++;
}

static void open_kube(scene *s, const char *script, const char *token)
{
  char variable[64];
  const char *words[] = { "sh", "-c", script, "name", NULL };
  const char *env[] = { variable, NULL };
  pai__kube_program program = {
    .words = words, .env = env, .version = V1, .hint = "ask somebody"
  };
  pai__kube_options options = { .url = s->server.url, .program = &program };

  (void)snprintf(variable, sizeof(variable), "TOKEN=%s", token);
  if (script == NULL)
    words[0] = "no-such-program-at-all";
  assert_ok(
    pai__kube_new(&s->kube, &pai__libc_alloc, s->loop, &options, NULL));
}

/* Programs run in a folder of the test's own. */
static void begin(scene *s, const char *script, const char *token)
{
  *s = (scene){ 0 };
  assert_non_null(getcwd(s->here, sizeof(s->here)));
  (void)snprintf(s->dir, sizeof(s->dir), "/tmp/test-tokens-XXXXXX");
  assert_non_null(mkdtemp(s->dir));
  assert_int_equal(chdir(s->dir), 0);
  assert_ok(pai_loop_new(&s->loop, NULL, NULL));
  fake_begin(&s->server, s->loop);
  open_kube(s, script, token);
}

static void close_kube(scene *s)
{
  s->closed = 0;
  pai__kube_close(s->kube, on_closed, s);
  while (s->closed == 0)
    assert_int_equal(pai_loop_run_once(s->loop), 1);
}

static void end(scene *s)
{
  close_kube(s);
  fake_end(&s->server);
  assert_ok(pai_loop_run(s->loop));
  pai_loop_free(s->loop);
  (void)unlink("runs");
  (void)unlink("fifo");
  (void)unlink("pid");
  assert_int_equal(chdir(s->here), 0);
  assert_int_equal(rmdir(s->dir), 0);
}

/* How often it ran. */
static int runs(void)
{
  FILE *f = fopen("runs", "r");
  char line[16];
  int n = 0;

  if (f == NULL)
    return 0;
  while (fgets(line, sizeof(line), f) != NULL)
    n++;
  (void)fclose(f);
  return n;
}

/* --- asking --------------------------------------------------------------------- */

static void on_posted(void *user_data, int status, const char *why)
{
  scene *s = user_data;

  assert_true(s->done < MOST);
  s->status[s->done] = status;
  (void)snprintf(s->why[s->done++], sizeof(s->why[0]), "%s", why);
}

static void ask(scene *s)
{
  assert_ok(pai__kube_post_new(s->kube, "/x", "{}", 2, on_posted, s, NULL));
}

static void until_done(scene *s, int n)
{
  while (s->done < n)
    assert_int_equal(pai_loop_run_once(s->loop), 1);
}

static void post(scene *s)
{
  s->done = 0;
  ask(s);
  until_done(s, 1);
}

/* Whether one of the requests that came had this token. */
static bool was_shown(const scene *s, const char *token)
{
  char want[128];

  (void)snprintf(want, sizeof(want), "\r\nAuthorization: Bearer %s\r\n",
                 token);
  for (size_t i = 0; i < s->server.lines; i++)
    if (strstr(s->server.of[i]->head, want) != NULL)
      return true;
  return false;
}

/* --- the tests ------------------------------------------------------------------- */

TEST(one_run_is_for_all)
{
  scene s;

  begin(&s, WRITES(""), "abc");
  assert_int_equal(runs(), 0); /* nobody has asked yet */
  ask(&s);
  ask(&s);
  ask(&s);
  until_done(&s, 3);
  for (int i = 0; i < 3; i++)
    assert_ok(s.status[i]);
  assert_true(was_shown(&s, "abc"));
  post(&s);
  assert_int_equal(runs(), 1);
  end(&s);
}

TEST(what_it_is_told)
{
  scene s;

  begin(
    &s,
    "test \"$0\" = name && test \"$KUBERNETES_EXEC_INFO\" = "
    "'{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
    "\",\"spec\":{\"interactive\":false}}' && test -z \"$(cat)\" && " WRITES(
      ""),
    "told");
  post(&s);
  assert_string_equal(s.why[0], "");
  assert_true(was_shown(&s, "told"));
  end(&s);
}

/* An end that is near, or was, is no good for the next one. */
TEST(a_token_that_ends)
{
  scene s;

  begin(&s, WRITES(",\"expirationTimestamp\":\"2020-01-01T00:00:00Z\""), "a");
  post(&s);
  post(&s);
  assert_int_equal(runs(), 2);
  close_kube(&s);
  open_kube(&s, WRITES(",\"expirationTimestamp\":\"2999-01-01T00:00:00Z\""),
            "b");
  post(&s);
  post(&s);
  assert_int_equal(runs(), 3);
  end(&s);
}

/* A program that fails makes no token good that was over. */
TEST(a_token_stays_over)
{
  scene s;

  begin(&s,
        "if test -e runs; then echo run >> runs; echo junk; else " WRITES(
          ",\"expirationTimestamp\":\"2020-01-01T00:00:00Z\"") "; fi",
        "old");
  post(&s);
  assert_ok(s.status[0]);
  for (int i = 2; i < 4; i++) {
    post(&s);
    assert_int_equal(s.status[0], PAI_EINVAL);
    assert_int_equal(runs(), i);
  }
  end(&s);
}

/* It writes faster than is read, and the loop goes on. */
TEST(it_says_things_without_end)
{
  scene s;

  begin(&s,
        "yes x >&2 & yes y >&2 & yes z >&2 & yes w >&2 & echo run >> runs; "
        "wait",
        "abc");
  ask(&s);
  while (runs() == 0)
    assert_int_equal(pai_loop_run_once(s.loop), 1);
  for (int i = 0; i < 20; i++)
    assert_int_equal(pai_loop_run_once(s.loop), 1);
  assert_int_equal(s.done, 0);
  end(&s);
  assert_int_equal(s.done, 1);
}

TEST(a_token_that_is_refused)
{
  scene s;

  begin(&s, WRITES(""), "abc");
  s.server.post = "HTTP/1.1 401 X\r\nContent-Length: 2\r\n\r\n{}";
  post(&s);
  assert_int_equal(s.status[0], PAI_EIO);
  s.server.post = "HTTP/1.1 403 X\r\nContent-Length: 2\r\n\r\n{}";
  post(&s);
  assert_int_equal(runs(), 2);
  post(&s); /* that one was good */
  assert_int_equal(runs(), 2);
  end(&s);
}

TEST(what_goes_wrong_is_told)
{
  static const struct {
    const char *script, *why;
    int status;
  } rows[] = {
    { "echo 'no account' >&2; exit 3",
      "no token from sh: sh exited with code 3: no account", PAI_EIO },
    { "kill -9 $$", "sh exited with code 137", PAI_EIO },
    { "echo secret", "its output is not valid JSON", PAI_EINVAL },
    { "true", "its output is not valid JSON", PAI_EINVAL },
    { WRITES(""), "its token must be one line", PAI_EINVAL },
    { "yes secret", "the output of sh is too long", PAI_ELIMIT },
    { "yes x | head -n 100000 >&2; exit 1", "sh exited with code 1: x",
      PAI_EIO },
  };
  scene s;

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    begin(&s, rows[i].script, i == 4 ? "a\\nb" : "abc");
    post(&s);
    if (strstr(s.why[0], rows[i].why) == NULL)
      print_error("%s: %s\n", rows[i].script, s.why[0]);
    assert_has(s.why[0], rows[i].why);
    assert_null(strstr(s.why[0], "secret"));
    assert_int_equal(s.status[0], rows[i].status);
    assert_int_equal(s.server.lines, 0); /* nobody was asked without one */
    end(&s);
  }
}

TEST(a_program_that_is_not_there)
{
  pai_error *err = NULL;
  scene s;

  begin(&s, NULL, "");
  assert_int_equal(
    pai__kube_post_new(s.kube, "/x", "{}", 2, on_posted, &s, &err),
    PAI_ENOTFOUND);
  assert_has(pai_error_message(err), "; ask somebody");
  test_expect_error(err, PAI_ENOTFOUND,
                    "no token from no-such-program-at-all: cannot start");
  end(&s);
}

/* A program that hangs ends with who wanted it, and what it has started too. */
TEST(it_may_be_closed_meanwhile)
{
  char pid[32] = "";
  scene s;
  int fd;

  begin(&s, "sleep 1000 & echo $! > fifo; wait", "abc");
  assert_int_equal(mkfifo("fifo", 0600), 0);
  ask(&s);
  ask(&s);
  fd = open("fifo", O_RDONLY);
  assert_true(read(fd, pid, sizeof(pid) - 1) > 0);
  (void)close(fd);
  assert_int_equal(s.done, 0);
  close_kube(&s);
  assert_int_equal(s.done, 2);
  for (int i = 0; i < 2; i++)
    assert_int_equal(s.status[i], PAI_ECANCELED);
  /* It is gone, or a zombie that whoever adopts it takes. */
  while (kill(atoi(pid), 0) == 0) {
    const char *stat = test_file(test_string("/proc/%d/stat", atoi(pid)));

    if (stat == NULL || strstr(stat, ") Z ") != NULL)
      break;
  }
  open_kube(&s, WRITES(""), "abc");
  end(&s);
}

/* What hangs in the background does not keep the token back. */
TEST(its_children_may_go_on)
{
  const char *pid;
  scene s;

  begin(&s, "sleep 1000 & echo $! > pid; " WRITES(""), "abc");
  post(&s);
  assert_ok(s.status[0]);
  pid = test_file("pid");
  assert_non_null(pid);
  assert_int_equal(kill(atoi(pid), SIGKILL), 0);
  end(&s);
}

static int on_nothing(void *user_data, const char *json, size_t len)
{
  (void)user_data;
  (void)json;
  (void)len;
  return PAI_OK;
}

/* One that waits is told alone that it need not, and the others go on. */
TEST(one_may_give_up)
{
  const pai__kube_watch_want want = { .path = "/api/v1/pods",
                                      .kind = "PodList",
                                      .on_list = on_nothing,
                                      .on_event = on_nothing };
  pai__kube_watch *watch;
  scene s;

  begin(&s, "cat fifo > /dev/null; " WRITES(""), "abc");
  assert_int_equal(mkfifo("fifo", 0600), 0);
  ask(&s);
  assert_ok(pai__kube_watch_new(&watch, s.kube, &want, NULL));
  ask(&s);
  pai__kube_watch_close(watch);
  assert_int_equal(pai_loop_run_once(s.loop), 1);
  assert_int_equal(s.done, 0);
  (void)close(open("fifo", O_WRONLY)); /* it is read, and ends */
  until_done(&s, 2);
  assert_ok(s.status[0]);
  assert_ok(s.status[1]);
  assert_null(strstr(pai__buf_text(&s.server.asked), "/pods"));
  end(&s);
}

static int ask_once(const pai_alloc *alloc, void *user_data)
{
  static const char *const words[] = { "sh", "-c", WRITES(""), NULL };
  static const char *const env[] = { "TOKEN=abc", NULL };
  static const pai__kube_program program = { .words = words,
                                             .env = env,
                                             .version = V1 };
  scene *s = user_data;
  const pai__kube_options options = { .url = s->server.url,
                                      .program = &program };
  int rc = pai__kube_new(&s->kube, alloc, s->loop, &options, NULL);

  if (rc < 0) { /* memory of what was closed goes in the loop's turns */
    (void)!pai_loop_dispatch(s->loop);
    (void)!pai_loop_dispatch(s->loop);
    return rc;
  }
  s->done = 0;
  rc = pai__kube_post_new(s->kube, "/x", "{}", 2, on_posted, s, NULL);
  if (rc == PAI_OK) {
    until_done(s, 1);
    rc = s->status[0];
  }
  close_kube(s);
  (void)!pai_loop_dispatch(s->loop);
  (void)!pai_loop_dispatch(s->loop);
  return rc;
}

TEST(it_survives_failing_memory)
{
  scene s;

  begin(&s, WRITES(""), "abc");
  close_kube(&s);
  test_faults(ask_once, &s);
  open_kube(&s, WRITES(""), "abc");
  end(&s);
}
