/*
 * writer.h - writes JSON as it is told, without a tree in between
 *
 * The same calls give the same bytes on every machine.  Failure is sticky:
 * check what pai__json_finish() returns, nothing else.
 */
#ifndef PAI_SRC_JSON_WRITER_H
#define PAI_SRC_JSON_WRITER_H

#include "base/buf.h"
#include "base/nest.h"

/* Takes bytes that are ready; a negative result stops the writer. */
typedef int (*pai__sink)(void *user_data, const char *bytes, size_t len);

typedef struct pai__json_writer {
  pai__buf *out;  /* borrowed */
  pai__sink sink; /* NULL: all stays in out */
  void *user_data;
  bool pretty; /* by two spaces a level, and a newline at the end */
  pai__nest nest;
} pai__json_writer;

/* Writes to the end of out; with a sink, out only collects what goes there. */
void pai__json_writer_init(pai__json_writer *w, pai__buf *out, bool pretty);
void pai__json_writer_to(pai__json_writer *w, pai__sink sink, void *user_data);

void pai__json_begin_object(pai__json_writer *w);
void pai__json_end_object(pai__json_writer *w);
void pai__json_begin_array(pai__json_writer *w);
void pai__json_end_array(pai__json_writer *w);

/* Text that is no UTF-8 becomes U+FFFD. */
void pai__json_key(pai__json_writer *w, const char *s, size_t len);
void pai__json_text(pai__json_writer *w, const char *s, size_t len);
void pai__json_int(pai__json_writer *w, int64_t v);
/* The shortest text that reads back as v, as JavaScript writes it; null for
 * what JSON cannot say. */
void pai__json_double(pai__json_writer *w, double v);
void pai__json_bool(pai__json_writer *w, bool v);
void pai__json_null(pai__json_writer *w);
/* A value that is valid JSON already, in one line: spaces between its tokens
 * go. */
void pai__json_ready(pai__json_writer *w, const char *json, size_t len);
/* One that such a writer wrote, neither pretty: as it is. */
void pai__json_written(pai__json_writer *w, const char *json, size_t len);

/* PAI_OK when one whole value was written; PAI_EINVAL after calls in a wrong
 * order, PAI_ELIMIT when nested too deep, PAI_ENOMEM, or the sink's code. */
int pai__json_finish(pai__json_writer *w);

#endif
