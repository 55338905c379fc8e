/* client.h - a client of a language server: messages as texts */
#ifndef PAI_TESTS_LANGUAGE_CLIENT_H
#define PAI_TESTS_LANGUAGE_CLIENT_H

#include "cases.h"

#include <openpai/language.h>

typedef struct client {
  pai_language *server;
  pai_language_options options;
  pai__buf heard;             /* messages of the server, each with a newline */
  pai__buf passed;            /* what the host was asked, a line each */
  int taken;                  /* what the host says to methods of its own */
  uint64_t request, question; /* the last ones */
  int fails;                  /* what `send` returns */
  int session;                /* its number in the recording; 0: none */
} client;

/* Options of a client; then its server.  If $OPENPAI_LANGUAGE_RECORD names a
 * file, the steps of the session are appended to it, each a line of JSON. */
void client_begin(client *c, const pai_alloc *alloc);
void client_end(client *c);

/* Passes a message, and lets the server work.  In texts ' stands for a double
 * quote and ` for an apostrophe. */
void client_say(client *c, const char *format, ...)
  __attribute__((format(printf, 2, 3)));
/* Passes a message alone. */
int client_pass(client *c, const char *message);
/* Lets the server do the next piece of work, or all. */
int client_step(client *c);
void client_work(client *c);
/* The server must have said exactly this since the last time. */
void client_hears(client *c, const char *want);
/* One of its messages must have this part; then they are forgotten. */
void client_hears_part(client *c, const char *part);
/* Forgets what it said. */
void client_forget(client *c);

/* Returns the server for what a host does beside receiving and sending: the
 * recording of the session ends here. */
pai_language *client_host(client *c);

/* initialize, with capabilities as JSON with ' for quotes. */
void client_initialize(client *c, const char *capabilities);
/* Opens a document; the text is escaped. */
void client_open(client *c, const char *uri, const char *text);

/* Appends a text as a JSON string. */
void client_quote(pai__buf *out, const char *text, size_t len);

#endif
