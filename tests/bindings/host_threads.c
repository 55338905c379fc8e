/*
 * host_threads.c - a C host with a platform, a server and a client: which threads
 * there are beside its own, which signals they take, and what is left of them
 *
 * Signals of the host must reach the host: each other thread has them blocked.
 * After the close there is none but libuv's pool, which libuv ends with the process.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "check.h"

#include <openpai/openpai.h>
#include <openpai/server.h>

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define JOB                                                          \
  "{\"protocolVersion\": 2, \"name\": \"short\", \"type\": \"job\"," \
  "\"prerequisites\": [{\"name\": \"x\", \"type\": \"dockerimage\"," \
  "\"uri\": \"x\"}], \"taskRoles\": {\"w\": {\"instances\": 1,"      \
  "\"dockerImage\": \"x\", \"resourcePerInstance\": {\"cpu\": 1,"    \
  "\"memoryMB\": 64, \"gpu\": 0}, \"commands\": [\"echo hello\"]}}}"

enum { POOL = 4 }; /* libuv's */

typedef struct host {
  pai_loop *loop;
  pai_platform *platform;
  pai_server *server;
  pai_client *near, *far; /* at its socket; at a name that nobody has */
  int under_way, failed, closed;
  int state; /* of the job, in the end */
} host;

/* --- threads as they are made -------------------------------------------------------- */

static const int host_signals[] = { SIGINT,   SIGTERM, SIGHUP,  SIGQUIT,
                                    SIGCHLD,  SIGUSR1, SIGUSR2, SIGALRM,
                                    SIGWINCH, SIGPROF };
enum { HOST_SIGNALS = sizeof(host_signals) / sizeof(host_signals[0]) };

static int made; /* threads, by the library and those below it */

/* Stands before libc's: a thread takes over the mask of who makes it, and some live
 * too shortly to be looked at. */
__attribute__((visibility("default"))) int pthread_create(
  pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
  void *argument)
{
  int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                void *);
  void *next = dlsym(RTLD_NEXT, "pthread_create");
  sigset_t mask;

  CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
  for (int i = 0; i < HOST_SIGNALS; i++)
    CHECK(sigismember(&mask, host_signals[i]) == 1);
  made++;
  memcpy(&create, &next, sizeof(create));
  return create(thread, attributes, run, argument);
}

/* --- threads ------------------------------------------------------------------------ */

static unsigned long long blocked(const char *thread, char name[32])
{
  unsigned long long mask = 0;
  int threads = 1;
  char path[300], line[256];
  FILE *file;

  (void)snprintf(path, sizeof(path), "/proc/self/task/%s/status", thread);
  file = fopen(path, "r");
  name[0] = '\0';
  if (file == NULL) /* it has ended */
    return ~0ULL;
  while (fgets(line, sizeof(line), file) != NULL) {
    (void)sscanf(line, "Name: %31s", name);
    (void)sscanf(line, "Threads: %d", &threads);
    (void)sscanf(line, "SigBlk: %llx", &mask);
  }
  (void)fclose(file);
  return threads == 0 ? ~0ULL : mask; /* 0: it is ending, and has no mask */
}

static bool masks_are_true = true; /* valgrind has its own for a moment */

/* How many there are beside this one; each must have these signals blocked. */
static int look(void)
{
  DIR *dir = opendir("/proc/self/task");
  struct dirent *e;
  int n = 0;

  CHECK(dir != NULL);
  while ((e = readdir(dir)) != NULL) {
    unsigned long long mask;
    char name[32];

    if (e->d_name[0] == '.' || atoi(e->d_name) == getpid())
      continue;
    mask = blocked(e->d_name, name);
    for (int i = 0; i < HOST_SIGNALS; i++)
      if (masks_are_true && (mask & 1ULL << (host_signals[i] - 1)) == 0) {
        (void)printf("thread %s takes signal %d\n", name, host_signals[i]);
        exit(1);
      }
    n++;
  }
  (void)closedir(dir);
  return n;
}

/* --- what goes on ------------------------------------------------------------------- */

static void on_answer(void *user_data, int status, const pai_client_answer *a)
{
  host *h = user_data;

  h->under_way--;
  h->failed += status < 0;
  (void)a;
}

static int on_event(void *user_data, const pai_event *event)
{
  host *h = user_data;

  if (pai_event_type(event) == PAI_EVENT_JOB)
    h->state = pai_event_state(event);
  return 0;
}

static void finish(host *h)
{
  while (h->under_way > 0) {
    CHECK(pai_loop_run_once(h->loop) >= 0);
    (void)look();
  }
}

static void ask(host *h, pai_client *client, const char *method,
                const char *path, const char *body)
{
  pai_client_request request = PAI_CLIENT_REQUEST_INIT;

  request.method = method;
  request.path = path;
  request.body = body;
  request.body_len = body != NULL ? strlen(body) : 0;
  CHECK(pai_client_ask(NULL, client, &request, on_answer, h, NULL) == PAI_OK);
  h->under_way++;
  finish(h);
}

static void open_all(host *h, const char *root, char *socket, size_t size)
{
  pai_platform_options of_platform = PAI_PLATFORM_OPTIONS_INIT;
  pai_server_options of_server = PAI_SERVER_OPTIONS_INIT;
  pai_client_options of_client = PAI_CLIENT_OPTIONS_INIT;

  *h = (host){ .loop = NULL };
  (void)snprintf(socket, size, "%s/socket", root);
  CHECK(pai_loop_new(&h->loop, NULL, NULL) == PAI_OK);
  of_platform.root = root;
  of_platform.durable = 1;
  of_platform.on_event = on_event;
  of_platform.user_data = h;
  CHECK(pai_platform_new(&h->platform, h->loop, &of_platform, NULL) == PAI_OK);
  of_server.socket = socket;
  of_server.listen = "127.0.0.1:0";
  CHECK(pai_server_new(&h->server, h->loop, h->platform, &of_server, NULL) ==
        PAI_OK);
  of_client.socket = socket;
  CHECK(pai_client_new(&h->near, h->loop, &of_client, NULL) == PAI_OK);
  of_client.socket = NULL;
  of_client.url = "http://nobody.invalid:9";
  of_client.most_tries = 1;
  of_client.proxy = "";
  CHECK(pai_client_new(&h->far, h->loop, &of_client, NULL) == PAI_OK);
}

/* Work beside the loop of each kind: the store's, a password's, an explanation's,
 * a name's. */
static void use_all(host *h)
{
  pai_client_job_file job = PAI_CLIENT_JOB_FILE_INIT;
  char name[32];
  int before;

  (void)snprintf(name, sizeof(name), "short_%d", (int)getpid());
  job.text = JOB;
  job.name = name; /* the root is used again */
  CHECK(pai_client_submit(NULL, h->near, &job, on_answer, h, NULL) == PAI_OK);
  h->under_way++;
  finish(h);
  CHECK(h->failed == 0);
  while (h->state != PAI_STATE_SUCCEEDED) {
    CHECK(pai_loop_run_once(h->loop) >= 0 && h->state != PAI_STATE_FAILED);
    (void)look();
  }
  ask(h, h->near, "GET", "/api/v2/jobs?limit=1", NULL);
  CHECK(h->failed == 0);
  ask(h, h->near, "POST", "/api/v1/authn/basic/login",
      "{\"username\": \"eve\", \"password\": \"guess\"}");
  CHECK(h->failed == 1);
  before = made;
  ask(h, h->far, "GET", "/api/v2/info", NULL);
  CHECK(h->failed == 2);
  CHECK(made > before); /* libcurl's, to look the name up */
}

static void on_closed(void *user_data)
{
  host *h = user_data;

  h->closed++;
}

static void await_closed(host *h, int closed)
{
  while (h->closed < closed) {
    CHECK(pai_loop_run_once(h->loop) >= 0);
    (void)look();
  }
}

static void close_all(host *h)
{
  pai_client_close(h->near, on_closed, h);
  pai_client_close(h->far, on_closed, h);
  await_closed(h, 2);
  pai_server_close(h->server, on_closed, h);
  await_closed(h, 3);
  pai_platform_close(h->platform, on_closed, h);
  await_closed(h, 4);
  CHECK(pai_loop_run(h->loop) == PAI_OK);
  pai_loop_free(h->loop);
}

int main(int argc, char **argv)
{
  char socket[512];
  sigset_t mask;
  int left;
  host h;

  if (argc < 2)
    return 2;
  masks_are_true = argc == 2;
  open_all(&h, argv[1], socket, sizeof(socket));
  use_all(&h);
  close_all(&h);
  left = look();
  if (left > POOL) {
    (void)printf("%d threads are left, of which %d may be libuv's\n", left,
                 POOL);
    return 1;
  }
  CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
  CHECK(sigismember(&mask, SIGINT) == 0); /* the host's own are as they were */
  return 0;
}
