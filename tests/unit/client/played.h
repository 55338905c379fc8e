/*
 * played.h - a server at a port of this machine that answers what a test wants
 * it to, and breaks off where it wants; and the three kinds of loop
 */
#ifndef PAI_TESTS_CLIENT_PLAYED_H
#define PAI_TESTS_CLIENT_PLAYED_H

#include "cases.h"

#include "base/buf.h"
#include "loop/loop.h"

#include <openpai/client.h>

#define HEAD_OK "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

/* --- loops ---------------------------------------------------------------------- */

enum loop_kind { OWN_LOOP, HOSTS_LOOP, FOREIGN_LOOP };
extern enum loop_kind loop_kind;

void on_loop(enum loop_kind kind, void (*test)(void));

/* A test on each of the three. */
#define ON_LOOPS(test)           \
  static void test(void);        \
  TEST(test##_on_its_own_loop)   \
  {                              \
    on_loop(OWN_LOOP, test);     \
  }                              \
  TEST(test##_on_the_hosts_loop) \
  {                              \
    on_loop(HOSTS_LOOP, test);   \
  }                              \
  TEST(test##_on_a_foreign_loop) \
  {                              \
    on_loop(FOREIGN_LOOP, test); \
  }                              \
  static void test(void)

pai_loop *open_loop(void);
/* Lets it do what comes next; false: nothing is waited for. */
bool turn_loop(pai_loop *loop);
void close_loop(pai_loop *loop); /* when all on it was closed */

/* --- the server ------------------------------------------------------------------ */

enum fault {
  NO_FAULT,
  CUT,         /* the connection ends after so many bytes of the answer */
  RESET,       /* the same, with a reset */
  STALL,       /* nothing more comes after them */
  DELAY,       /* the rest comes a turn later */
  DOUBLE,      /* the byte after them comes twice */
  CUT_REQUEST, /* it ends after so many bytes of the request */
  FAULTS
};

typedef struct played played;

typedef struct played_connection {
  played *server;
  pai__poll *watch;
  pai__loop_step *turn;
  int fd;
  pai__buf in, late;
  size_t received; /* of all its requests */
  int requests;
  bool stalled;
} played_connection;

struct played {
  pai_loop *loop;
  int listener, port;
  pai__poll *watch;
  char url[64];
  /* Writes the answer to a request, which is a text, into `out`. */
  void (*answer)(played *p, const char *request, pai__buf *out);
  void *user_data;
  bool hang_up; /* after each answer */
  enum fault fault;
  size_t at;
  int fault_connections; /* it strikes only so many of them; 0: all */
  int fault_request;     /* only this one of a connection, from 1; 0: each */
  played_connection of[4096];
  size_t connections, requests;
  pai__buf seen; /* all requests */
};

void played_open(played *p, pai_loop *loop,
                 void (*answer)(played *p, const char *request,
                                pai__buf *out));
/* At a socket of this name; its requests have no prefix. */
void played_open_socket(played *p, pai_loop *loop, const char *path,
                        void (*answer)(played *p, const char *request,
                                       pai__buf *out));
void played_close(played *p);
/* "METHOD /path" begins the request? */
bool asks_for(const char *request, const char *line);
/* An answer with its length. */
void say(pai__buf *out, const char *status, const char *body);

/* --- what a call comes to ------------------------------------------------------------ */

typedef struct outcome {
  int calls, status, http_status, exit_code;
  uint32_t tries;
  char code[64], message[512], help[256], body[4096], state[32];
  size_t body_len;
  bool retriable;
  int no_answer; /* PAI_NO_ANSWER_*, or 0 */
} outcome;

void on_outcome(void *user_data, int status, const pai_client_answer *a);
void wait_for(pai_loop *loop, const outcome *o, int calls);
void close_client(pai_loop *loop, pai_client *client);

#endif
