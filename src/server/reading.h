/*
 * reading.h - long job files are read beside the loop
 *
 * A file of 4 MiB may take a second, whatever is done about it; no other
 * request waits that long.
 */
#ifndef PAI_SRC_SERVER_READING_H
#define PAI_SRC_SERVER_READING_H

#include "server/server.h"

/* What came of a file. */
typedef struct pai__read {
  pai_spec *spec; /* NULL: it is wrong, or rc < 0; the callee's to keep */
  pai__buf wrong; /* what is wrong with it, as OpenPAI's server lists it */
  size_t twin;    /* the first role that the API spells as an earlier one, */
  size_t other;   /* which is this; or as many as there are roles */
  int rc;         /* negative: it was not read */
  pai_error *err; /* then; the callee's */
} pai__read;

typedef void (*pai__read_cb)(pai__request *r, pai__read *read);

/* Reads the job file in r->body, and calls back with it: at once where it is
 * short; else when it was read, which may be never if the request is gone by
 * then. */
void pai__read_job(pai__request *r, pai__read_cb cb);

/* The server may not be freed while files are being read. */
bool pai__reading_is_over(const pai_server *server);

#endif
