/* scene.h - a client, and a server that answers what a test wants it to */
#ifndef PAI_TESTS_CLIENT_SCENE_H
#define PAI_TESTS_CLIENT_SCENE_H

#include "testing.h"

#include "base/buf.h"
#include "base/os/posix_socket.h"
#include "loop/loop.h"

#include <openpai/client.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

typedef struct connection {
  struct scene *scene;
  pai__poll *watch;
  int fd;
} connection;

typedef struct scene {
  char dir[64], path[96];
  pai_loop *loop;
  pai_client *client;
  int listener;
  pai__poll *listen_watch;
  connection of[256];
  size_t connections, closed;
  const char *answer; /* to each request; NULL: none */
  bool hang_up;       /* after it */
  pai__buf seen;      /* all that was asked */
  /* what came of it */
  int calls, status, http_status;
  char code[64], message[256], body[256], streamed[256];
  size_t body_len;
  int stream_answer;
  pai_op *op;
  bool cancel_in_stream;
  int client_closed;
} scene;

/* A client; nobody listens where it asks. */
void begin_empty(scene *s);
/* The same with a server, which gives this answer. */
void begin(scene *s, const char *answer);
void end(scene *s);
/* One more client, in the place of the scene's. */
void new_client(scene *s);
/* What the server does when somebody connects. */
void on_connection(void *user_data, int fd, int events);
/* Runs the loop once; something must be there to wait for, or done. */
void turn(scene *s, const int *done, int want);
/* As the client's `closed`, and until it has come. */
void on_closed(void *user_data);
void wait_closed(scene *s);
/* What callbacks of a request note. */
void on_answer(void *user_data, int status, const pai_client_answer *a);
int on_stream(void *user_data, const char *bytes, size_t len);
/* Asks; until so many answers have come in all; both, of a path. */
void ask(scene *s, const pai_client_request *request);
void wait_for(scene *s, int calls);
void get(scene *s, const char *path);

#endif
