/*
 * writer.h - streaming JSON writer, without a tree
 *
 * The same calls give the same bytes on every machine.  A failure is sticky:
 * check only the result of pai__json_finish().
 */
#ifndef PAI_SRC_JSON_WRITER_H
#define PAI_SRC_JSON_WRITER_H

#include "base/buf.h"
#include "base/text/nest.h"

/* Receives finished bytes; a negative result stops the writer. */
typedef int (*pai__sink)(void *user_data, const char *bytes, size_t len);

typedef struct pai__json_writer {
  pai__buf *out;  /* borrowed */
  pai__sink sink; /* NULL: all output stays in out */
  void *user_data;
  bool pretty; /* indents by two spaces a level, and ends with a newline */
  pai__nest nest;
} pai__json_writer;

/* Appends to out.  With a sink, out is only a buffer before the sink. */
void pai__json_writer_init(pai__json_writer *w, pai__buf *out, bool pretty);
void pai__json_writer_to(pai__json_writer *w, pai__sink sink, void *user_data);

void pai__json_begin_object(pai__json_writer *w);
void pai__json_end_object(pai__json_writer *w);
void pai__json_begin_array(pai__json_writer *w);
void pai__json_end_array(pai__json_writer *w);

/* Invalid UTF-8 becomes U+FFFD. */
void pai__json_key(pai__json_writer *w, const char *s, size_t len);
void pai__json_text(pai__json_writer *w, const char *s, size_t len);
void pai__json_int(pai__json_writer *w, int64_t v);
/* Writes the shortest text that parses back to v, as JavaScript does; null for
 * infinities and NaN. */
void pai__json_double(pai__json_writer *w, double v);
void pai__json_bool(pai__json_writer *w, bool v);
void pai__json_null(pai__json_writer *w);
/* Writes a value that is valid JSON already, on one line: drops the space
 * between its tokens. */
void pai__json_ready(pai__json_writer *w, const char *json, size_t len);
/* Writes a value that this writer produced, unchanged.  Neither writer may be
 * pretty. */
void pai__json_written(pai__json_writer *w, const char *json, size_t len);

/* Writes a text that ends with NUL; null for NULL. */
void pai__json_string(pai__json_writer *w, const char *s);
/* Writes a number; above 2^63 a string of digits. */
void pai__json_id(pai__json_writer *w, uint64_t id);
/* Writes thousandths as a decimal number: 2, 0.5. */
void pai__json_milli(pai__json_writer *w, uint64_t milli);

/* Write a member of an object: its key, and a value or the beginning of
 * one. */
void pai__json_member(pai__json_writer *w, const char *key);
void pai__json_put_text(pai__json_writer *w, const char *key,
                        const char *text);
/* Nothing is written if `text` is NULL; or is NULL or "". */
void pai__json_put_known(pai__json_writer *w, const char *key,
                         const char *text);
void pai__json_put_word(pai__json_writer *w, const char *key,
                        const char *text);
void pai__json_put_int(pai__json_writer *w, const char *key, int64_t value);
void pai__json_put_id(pai__json_writer *w, const char *key, uint64_t id);
void pai__json_put_milli(pai__json_writer *w, const char *key, uint64_t milli);
void pai__json_put_bool(pai__json_writer *w, const char *key, bool value);
void pai__json_put_object(pai__json_writer *w, const char *key);
void pai__json_put_array(pai__json_writer *w, const char *key);

/* Writes JSON of a form such as "{name:s,list:[i,b,null],*:s}".  Names are
 * literal, and * takes the name from the arguments.  Values are arguments: s a
 * string or NULL, i an int, b a flag; or words of JSON: null, true, false.  An
 * object or list that a form leaves open is continued by the next call. */
void pai__json_write(pai__json_writer *w, const char *form, ...);

/* Returns PAI_OK after one complete value, PAI_EINVAL after calls in a wrong
 * order, PAI_ELIMIT when nested too deep, PAI_ENOMEM, or the sink's code. */
int pai__json_finish(pai__json_writer *w);

#endif
