/*
 * forgotten.c - calls, commands, clients, logs and followers that a script forgets
 * in one thread while another one runs what they are of; and streams that nobody
 * reads
 *
 * Python frees an object in whichever thread drops it last.
 */
#include "check.h"
#include "client_shared.h"
#include "facade_platform.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { ROUNDS = 3000, SIZE = 32 << 20, MOST = 1 << 20 };

/* --- what a script's glue does ---------------------------------------------------- */

static Client *open_client(const char *url)
{
  failure f = { 0 };
  char text[128];
  int len =
    snprintf(text, sizeof(text), "url%c%s%cmost_tries%c1", 0, url, 0, 0);
  Client *c = client_open((words){ text, (size_t)len + 1 }, &f);

  CHECK(c != NULL);
  return c;
}

static Call *begin(Client *c, const char *fields, size_t size)
{
  failure f = { 0 };
  Call *call =
    client_call(c, "ask", (words){ fields, size }, "", 0, "", 0, &f);

  CHECK(call !=
        NULL); /* that another thread forgets one, is in nobody's way */
  return call;
}

static Call *ask(Client *c)
{
  static const char fields[] = "path\0/x";

  return begin(c, fields, sizeof(fields));
}

static void step(Client *c)
{
  failure f = { 0 };

  (void)client_step(c, 0, &f);
  CHECK(f.code == PAI_OK);
}

/* --- forgotten in another thread ---------------------------------------------------- */

typedef struct other {
  void *_Atomic thing; /* to be forgotten; NULL: wait */
  void (*forget)(void *thing);
  atomic_bool over;
} other;

static void forget_call(void *call)
{
  call_free(call);
}

static void forget_command(void *exec)
{
  exec_free(exec);
}

static void *forget(void *user_data)
{
  other *o = user_data;

  while (!atomic_load(&o->over)) {
    void *thing = atomic_exchange(&o->thing, NULL);
    if (thing != NULL)
      o->forget(thing);
    else
      (void)sched_yield();
  }
  return NULL;
}

/* Every other one is live, and is told something. */
static void *begin_command(Client *c)
{
  static int number;
  static const char fields[] = "job\0alice~x\0role\0w", names[] = "true";
  failure f = { 0 };
  Exec *e = client_exec(c, (words){ fields, sizeof(fields) },
                        (words){ names, sizeof(names) }, "x", 1, &f);

  CHECK(e != NULL);
  if (number++ % 2 != 0) {
    exec_live(e, &f);
    CHECK(f.code == PAI_OK && exec_write(e, "y", 1, &f));
    CHECK(!exec_has_begun(e) && exec_state(e) == 0 && exec_pending(e, &f));
    CHECK(exec_take(e, &f).bytes == NULL && !exec_is_full(e));
    exec_end_input(e, &f);
    CHECK(!exec_write(e, "z", 1, &f) && f.code == PAI_EINVAL);
    facade_failure_dispose(&f);
  }
  return e;
}

static void *begin_call(Client *c)
{
  return ask(c);
}

/* In each round a little later, so that some are over and some are not. */
static void they_are_forgotten(const char *url, void *(*start)(Client *c),
                               void (*end)(void *thing))
{
  Client *c = open_client(url);
  other o = { NULL, end, false };
  pthread_t thread;

  CHECK(pthread_create(&thread, NULL, forget, &o) == 0);
  for (int i = 0; i < ROUNDS; i++) {
    void *thing = start(c);
    for (int steps = i % 8; steps > 0; steps--)
      step(c);
    atomic_store(&o.thing, thing);
    while (atomic_load(&o.thing) != NULL)
      step(c);
    step(c);
  }
  atomic_store(&o.over, true);
  CHECK(pthread_join(thread, NULL) == 0);
  client_free(c);
}

/* The client goes while its last call or command does. */
static void clients_are_forgotten(const char *url, void *(*start)(Client *c),
                                  void (*end)(void *thing))
{
  other o = { NULL, end, false };
  pthread_t thread;

  CHECK(pthread_create(&thread, NULL, forget, &o) == 0);
  for (int i = 0; i < ROUNDS / 10; i++) {
    Client *c = open_client(url);
    void *thing = start(c);
    for (int steps = i % 4; steps > 0; steps--)
      step(c);
    atomic_store(&o.thing, thing);
    client_free(c);
    while (atomic_load(&o.thing) != NULL)
      (void)sched_yield();
  }
  atomic_store(&o.over, true);
  CHECK(pthread_join(thread, NULL) == 0);
}

/* A call outlives its client, and says how it ended. */
static void a_call_is_left(const char *url)
{
  Client *c = open_client(url);
  Call *call = ask(c);
  failure f = { 0 };

  CHECK(call_state(call) == 0);
  client_free(c);
  CHECK(call_state(call) == -1);
  (void)call_answer(call, &f);
  CHECK(f.code == PAI_ECANCELED);
  facade_failure_dispose(&f);
  call_cancel(call);
  CHECK(call_take(call).bytes == NULL);
  call_free(call);
}

/* --- logs ----------------------------------------------------------------------------- */

enum { LOGS = 400, SEEN = 30 };

static const char talking[] =
  "protocolVersion: 2\n"
  "name: talking\n"
  "type: job\n"
  "prerequisites:\n"
  "  - {name: none, type: dockerimage, uri: none}\n"
  "taskRoles:\n"
  "  main:\n"
  "    instances: 1\n"
  "    dockerImage: none\n"
  "    resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0}\n"
  "    commands: [\"while :; do head -c 20000 /dev/zero; sleep 0.01; "
  "done\"]\n";

static Platform *open_platform(const char *root, pai_job_id *job)
{
  failure f = { 0 };
  Platform *p =
    facade_open(root, true, "process", NULL, NULL, (words){ "", 0 }, &f);
  pai_spec *spec;
  char name[64];
  int len = snprintf(name, sizeof(name), "name%ctalking%d", 0, (int)getpid());

  CHECK(p != NULL);
  CHECK(pai_spec_parse(&spec, talking, strlen(talking), NULL, NULL) == PAI_OK);
  *job = facade_submit(p, spec, (words){ name, (size_t)len + 1 }, &f);
  CHECK(*job != 0);
  pai_spec_unref(spec);
  while (facade_state(p, *job, &f).state != PAI_STATE_RUNNING)
    CHECK(facade_step(p, 50, &f));
  return p;
}

static LogReader *follow(Platform *p, pai_job_id job)
{
  static const char fields[] = "name\0all\0follow\0001";
  failure f = { 0 };
  LogReader *r;

  do { /* a thread that takes from one may have it */
    facade_failure_dispose(&f);
    f = (failure){ 0 };
    r = facade_log(p, job, (words){ fields, sizeof(fields) }, &f);
  } while (r == NULL && f.code == PAI_EBUSY);
  CHECK(r != NULL);
  return r;
}

static void run(Platform *p)
{
  failure f = { 0 };

  (void)facade_step(p, 1, &f);
  CHECK(f.code == PAI_OK || f.code == PAI_EBUSY);
  facade_failure_dispose(&f);
}

static void forget_log(void *log)
{
  facade_log_free(log);
}

static void logs_are_forgotten(Platform *p, pai_job_id job)
{
  other o = { NULL, forget_log, false };
  pthread_t thread;

  CHECK(pthread_create(&thread, NULL, forget, &o) == 0);
  for (int i = 0; i < LOGS; i++) {
    LogReader *r = follow(p, job);
    for (int steps = i % 4; steps > 0; steps--)
      run(p);
    atomic_store(&o.thing, r);
    while (atomic_load(&o.thing) != NULL)
      run(p);
  }
  atomic_store(&o.over, true);
  CHECK(pthread_join(thread, NULL) == 0);
  run(p);
  CHECK(p->logs == NULL); /* though their platform was in use all the time */
}

typedef struct taker {
  LogReader *log;
  atomic_bool over;
} taker;

/* Something, or that the platform is in use. */
static void *take_all(void *user_data)
{
  taker *t = user_data;

  for (int seen = 0; seen < SEEN;) {
    failure f = { 0 };
    log_bytes piece = { NULL, 0 };
    if (facade_log_state(t->log) != 0)
      piece = facade_log_take(t->log, &f);
    CHECK(f.code == PAI_OK || f.code == PAI_EBUSY);
    seen += piece.len > 0;
    free(piece.bytes);
    facade_failure_dispose(&f);
    (void)sched_yield();
  }
  atomic_store(&t->over, true);
  return NULL;
}

static void a_log_is_taken_elsewhere(Platform *p, pai_job_id job)
{
  taker t = { follow(p, job), false };
  pthread_t thread;

  CHECK(pthread_create(&thread, NULL, take_all, &t) == 0);
  while (!atomic_load(&t.over)) {
    run(p);
    (void)sched_yield(); /* or on one processor the other never has its turn */
  }
  CHECK(pthread_join(thread, NULL) == 0);
  facade_log_free(t.log);
}

/* It outlives its platform, and says how it ended. */
static void a_log_is_left(Platform *p, pai_job_id job)
{
  failure f = { 0 };
  LogReader *r = follow(p, job);

  facade_stop(p, job, &f);
  facade_close(p, false, &f);
  CHECK(f.code == PAI_OK);
  while (f.code == PAI_OK) {
    CHECK(facade_log_state(r) == 1);
    free(facade_log_take(r, &f).bytes);
  }
  CHECK(f.code == PAI_ECANCELED && facade_log_state(r) == -1);
  facade_failure_dispose(&f);
  facade_log_free(r);
}

static void logs(const char *root)
{
  pai_job_id job;
  Platform *p = open_platform(root, &job);

  logs_are_forgotten(p, job);
  a_log_is_taken_elsewhere(p, job);
  a_log_is_left(p, job);
  facade_free(p);
}

/* --- read slowly --------------------------------------------------------------------- */

typedef struct source {
  int door;
  atomic_size_t sent;
  atomic_bool stuck; /* for a moment nobody took anything */
} source;

/* Sends a body of SIZE as fast as somebody takes it. */
static void *serve(void *user_data)
{
  static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 33554432\r\n"
                             "\r\n";
  struct timeval moment = { .tv_usec = 300 * 1000 };
  source *s = user_data;
  static char bytes[64 << 10];
  int fd = accept(s->door, NULL, NULL);

  CHECK(fd >= 0);
  CHECK(recv(fd, bytes, sizeof(bytes), 0) > 0);
  (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &moment, sizeof(moment));
  CHECK(send(fd, head, sizeof(head) - 1, MSG_NOSIGNAL) > 0);
  memset(bytes, 'x', sizeof(bytes));
  for (size_t sent = 0; sent < SIZE;) {
    size_t len = SIZE - sent < sizeof(bytes) ? SIZE - sent : sizeof(bytes);
    ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
    if (n > 0)
      sent += (size_t)n;
    else
      atomic_store(&s->stuck, true);
    atomic_store(&s->sent, sent);
  }
  (void)close(fd);
  return NULL;
}

/* While nobody takes what comes it is not kept, either: the server waits. */
static void little_is_held(int door, const char *url)
{
  static const char fields[] = "path\0/x\0stream\0001";
  Client *c = open_client(url);
  Call *call = begin(c, fields, sizeof(fields));
  source s = { .door = door };
  size_t taken = 0;
  pthread_t thread;

  CHECK(pthread_create(&thread, NULL, serve, &s) == 0);
  while (!atomic_load(&s.stuck) && atomic_load(&s.sent) < SIZE)
    step(c);
  CHECK(atomic_load(&s.sent) < SIZE);
  while (call_state(call) >= 0) {
    log_bytes piece = call_take(call);
    CHECK(piece.len <= MOST);
    taken += piece.len;
    free(piece.bytes);
    step(c);
  }
  CHECK(taken == SIZE);
  CHECK(pthread_join(thread, NULL) == 0);
  call_free(call);
  client_free(c);
}

/* --- of a platform ------------------------------------------------------------- */

typedef struct followed {
  Follower *follower;
  Promise *promise;
  atomic_bool gone;
} followed;

static void *forget_followed(void *data)
{
  followed *it = data;

  facade_follow_free(it->follower);
  facade_promise_free(it->promise);
  atomic_store(&it->gone, true);
  return NULL;
}

static int all_is_well(listener *l)
{
  (void)l;
  return 0;
}

static void nothing_is_kept(listener *l)
{
  (void)l;
}

/* While the platform's own thread runs it, and keeps promises. */
static void followers_are_forgotten(const char *root)
{
  listener deaf = { .check = all_is_well,
                    .rethrow = nothing_is_kept,
                    .free = nothing_is_kept };
  failure f = { 0 };
  Platform *p =
    facade_open(root, false, "process", NULL, &deaf, (words){ "", 0 }, &f);
  Follower *last;
  job_text text;

  CHECK(p != NULL);
  for (int i = 0; i < ROUNDS / 10; i++) {
    followed it = { facade_follow(p, &f), facade_promise(p, &f), false };
    pthread_t thread;

    CHECK(it.follower != NULL && it.promise != NULL);
    CHECK(pthread_create(&thread, NULL, forget_followed, &it) == 0);
    do {
      (void)facade_step(p, 0, &f);
      CHECK(f.code == PAI_OK);
      (void)sched_yield();
    } while (!atomic_load(&it.gone));
    CHECK(pthread_join(thread, NULL) == 0);
  }
  last = facade_follow(p, &f);
  CHECK(last != NULL);
  facade_free(p);
  text = facade_follow_read(last, &f); /* what it had */
  CHECK(text.len > 0 && f.code == PAI_OK);
  free(text.bytes);
  facade_follow_free(last);
}

typedef struct waiter {
  Platform *platform;
  pai_job_id job;
} waiter;

static void *wait_for_job(void *data)
{
  waiter *w = data;
  failure f = { 0 };
  job_state end = facade_wait(w->platform, w->job, &f);

  CHECK(f.code == PAI_OK && end.state == PAI_STATE_SUCCEEDED);
  return NULL;
}

/* It ends when there is such a file. */
static pai_job_id submit_until(Platform *p, const char *file)
{
  failure f = { 0 };
  char text[1024];
  pai_spec *spec;
  pai_job_id job;

  (void)snprintf(text, sizeof(text),
                 "protocolVersion: 2\n"
                 "name: until\n"
                 "type: job\n"
                 "prerequisites:\n"
                 "  - {name: none, type: dockerimage, uri: none}\n"
                 "taskRoles:\n"
                 "  main:\n"
                 "    instances: 1\n"
                 "    dockerImage: none\n"
                 "    resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0}\n"
                 "    commands: [\"until test -e %s; do sleep 0.01; done\"]\n",
                 file);
  CHECK(pai_spec_parse(&spec, text, strlen(text), NULL, NULL) == PAI_OK);
  job = facade_submit(p, spec, (words){ "", 0 }, &f);
  CHECK(job != 0);
  pai_spec_unref(spec);
  return job;
}

/* The job ends only when that is done. */
static void a_follower_is_forgotten_while_a_job_runs(const char *root)
{
  failure f = { 0 };
  char file[128];
  Platform *p =
    facade_open(root, false, "process", NULL, NULL, (words){ "", 0 }, &f);
  Follower *kept, *forgotten;
  pthread_t thread;
  waiter w;
  FILE *end;

  CHECK(p != NULL);
  (void)snprintf(file, sizeof(file), "%s/end", root);
  w = (waiter){ p, submit_until(p, file) };
  kept = facade_follow(p, &f);
  forgotten = facade_follow(p, &f);
  CHECK(kept != NULL && forgotten != NULL);
  CHECK(pthread_create(&thread, NULL, wait_for_job, &w) == 0);
  while (atomic_load(&p->held) == 0)
    (void)sched_yield();
  facade_follow_free(forgotten);
  end = fopen(file, "w");
  CHECK(end != NULL && fclose(end) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(p->followers == kept); /* the thread has taken the other one off */
  facade_follow_free(kept);
  CHECK(p->followers == NULL);
  facade_free(p);
}

int main(int argc, char **argv)
{
  char root[] = "/tmp/openpai-test-XXXXXX", remove[64];
  struct sockaddr_in a = { .sin_family = AF_INET,
                           .sin_addr = { htonl(INADDR_LOOPBACK) } };
  socklen_t len = sizeof(a);
  int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  char url[64];

  CHECK(argc == 2);
  (void)unsetenv("http_proxy");
  (void)unsetenv("all_proxy");
  CHECK(bind(door, (struct sockaddr *)&a, sizeof(a)) == 0);
  CHECK(getsockname(door, (struct sockaddr *)&a, &len) == 0);
  (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(a.sin_port));
  logs(argv[1]);
  they_are_forgotten(url, begin_call, forget_call); /* nobody listens yet */
  they_are_forgotten(url, begin_command, forget_command);
  clients_are_forgotten(url, begin_call, forget_call);
  clients_are_forgotten(url, begin_command, forget_command);
  a_call_is_left(url);
  CHECK(listen(door, 8) == 0);
  little_is_held(door, url);
  (void)close(door);
  CHECK(mkdtemp(root) != NULL);
  followers_are_forgotten(root);
  a_follower_is_forgotten_while_a_job_runs(root);
  (void)snprintf(remove, sizeof(remove), "rm -rf '%s'", root);
  CHECK(system(remove) == 0);
  return 0;
}
