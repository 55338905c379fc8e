/* asked.h - a server over a platform that is played, and who asks it */
#ifndef PAI_TESTS_SERVER_ASKED_H
#define PAI_TESTS_SERVER_ASKED_H

#include "cases.h"

#include "base/os/posix_socket.h"
#include "fake.h"

#include <openpai/server.h>

typedef struct scene {
  char dir[64], path[96];
  pai_loop *loop;
  pai_platform platform;
  pai_server_options options; /* but for the socket */
  pai_server *server;
  int closed;
  int shutdown;        /* -1: nobody asked */
  bool tokens, system; /* the server's options */
  bool obliging; /* what waits for the platform is done in the next turn */
} scene;

/* One who asks. */
typedef struct peer {
  scene *s;
  int fd;
  pai__poll *watch;
  pai__buf seen;
  bool over; /* the server hung up */
} peer;

int new_server(scene *s, pai_error **err);
/* A platform with a job and no server yet. */
void begin_empty(scene *s);
/* As one that asks for tokens, of a platform that does all it is asked for. */
void begin_with_tokens(scene *s);
/* The same with its server. */
void begin(scene *s);
/* The loop runs once. */
void turn(scene *s);
/* As pai_closed_cb, of the scene. */
void on_closed(void *user_data);
void close_server(scene *s);
void end(scene *s);
/* All of it, where code has been sent. */
void end_with_code(scene *s);

/* A test in a scene `s`, begun before it and ended after it. */
#define IN_SCENE(begin, test) SCENE_TEST(begin, test, end)
#define WITH_CODE(begin, test) SCENE_TEST(begin, test, end_with_code)
#define SCENE_TEST(begin, test, end) TEST_IN(test, scene, s, begin, end)

/* Connects; leave() closes. */
void come(peer *p, scene *s);
/* The same by TCP, to the first address. */
void come_far(peer *p, scene *s);
void leave(peer *p);
void say(peer *p, const char *text);
/* Until the server has said that. */
void hear(peer *p, const char *part);
/* A head, and the body if it has a length. */
void hear_body(peer *p);
/* Until it hangs up. */
void hear_all(peer *p);
/* Does anybody follow a log, a job, or what happens to all? */
bool is_heard(const scene *s);
/* Asks once; the answer is there until the next one. */
const char *ask(scene *s, const char *fmt, ...) PAI__PRINTF(2, 3);
const char *ask_far(scene *s, const char *fmt, ...) PAI__PRINTF(2, 3);
/* Serves and asks, with each allocation of the server failing; false: it hung
 * up, or answered 503. */
void serve_faults(scene *s, bool (*is_told)(scene *s));
/* The status, and a part of the body. */
void expect(const char *answer, int status, const char *body);

#define GET(s, path) \
  ask(s, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path)
#define SEND(s, method, path, body)                                        \
  ask(s,                                                                   \
      "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " \
      "%zu\r\n\r\n%s",                                                     \
      method, path, strlen(body), body)

/* A log of that job. */
#define LOG                                                          \
  "/api/v2/jobs/alice~mnist/attempts/latest/taskRoles/w/taskIndex/0" \
  "/attempts/latest/logs"

#endif
