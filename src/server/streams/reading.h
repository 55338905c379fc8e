/*
 * reading.h - parsing of long job files on another thread
 *
 * Parsing a file of 4 MiB may take a second; no other request should wait that
 * long.
 */
#ifndef PAI_SRC_SERVER_STREAMS_READING_H
#define PAI_SRC_SERVER_STREAMS_READING_H

#include "server/server.h"

/* The result of parsing. */
typedef struct pai__read {
  pai_spec *spec; /* NULL: invalid, or rc < 0; the callback takes ownership */
  pai__buf wrong; /* findings as OpenPAI's server lists them */
  /* first role whose API name equals that of an earlier role; the number of
   * roles if there is none */
  size_t twin;
  /* that earlier role */
  size_t other;
  int rc;         /* negative: it could not be parsed */
  pai_error *err; /* then set; the callback takes ownership */
} pai__read;

typedef void (*pai__read_cb)(pai__request *r, pai__read *read);

/* Parses the job file in r->body and calls `cb`: at once if the file is short,
 * else later, or never if the request is gone by then. */
void pai__read_job(pai__request *r, pai__read_cb cb);

/* Must be true before the server is freed. */
bool pai__reading_is_over(const pai_server *server);

#endif
