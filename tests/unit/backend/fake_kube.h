/* fake_kube.h - an API server that answers what a test wants it to, on its loop */
#ifndef PAI_TESTS_FAKE_KUBE_H
#define PAI_TESTS_FAKE_KUBE_H

#include "testing.h"

#include "base/buf.h"
#include "loop/loop.h"

/* The head of a watch that goes on. */
#define WATCH_HEAD                                        \
  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" \
  "Transfer-Encoding: chunked\r\n\r\n"
#define NODES                                                 \
  "{\"kind\":\"NodeList\",\"metadata\":{\"resourceVersion\":" \
  "\"10\"},\"items\":[" NODE("n0") "," NODE("n1") "]}"
#define NODE(name)                                                \
  "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{},\"status\":" \
  "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"
#define NO_PODS                                              \
  "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":" \
  "\"10\"},\"items\":[]}"

typedef struct fake_kube fake_kube;

typedef struct fake_line {
  fake_kube *kube;
  pai__poll *watch;
  int fd;
  char head[4096];
  size_t len;
} fake_line;

struct fake_kube {
  pai_loop *loop;
  int listener;
  pai__poll *listening;
  char url[64];
  fake_line *of[1024];
  size_t lines;
  /* What is answered; on_ask, if it is there, may change it before. */
  const char *nodes, *pods;             /* bodies of lists */
  int lists_status;                     /* of HTTP; 0: 200 */
  const char *nodes_watch, *pods_watch; /* whole, with the head; held open */
  size_t cut;   /* the next watch of pods ends after so many bytes; 0: no */
  size_t split; /* it comes in two pieces, the first of so many */
  const char *post; /* whole */
  void (*on_ask)(fake_kube *k, const char *head);
  void *user_data;
  pai__buf asked; /* the first lines of all that was asked */
  unsigned watches, lists;
  pai__loop_step *turn; /* in which the second piece is sent */
  fake_line *rest_of;
  const char *rest;
  int turns;
};

void fake_begin(fake_kube *k, pai_loop *loop);
void fake_end(fake_kube *k);
/* A line of a watch as a chunk, of a buffer of the callee's. */
const char *fake_watch(const char *lines);

#endif
