/*
 * writer.h - streaming YAML writer: block style, two spaces a level
 *
 * The output means the same to YAML 1.1 (PyYAML), YAML 1.2 and js-yaml.  The
 * same calls give the same bytes on every machine.  A failure is sticky: check
 * only the result of pai__yaml_finish().
 */
#ifndef PAI_SRC_YAML_WRITER_H
#define PAI_SRC_YAML_WRITER_H

#include "base/buf.h"
#include "base/text/nest.h"

typedef struct pai__yaml_writer {
  pai__buf *out; /* borrowed; the writer appends to it */
  pai__nest nest;
} pai__yaml_writer;

void pai__yaml_writer_init(pai__yaml_writer *w, pai__buf *out);

void pai__yaml_begin_mapping(pai__yaml_writer *w);
void pai__yaml_end_mapping(pai__yaml_writer *w);
void pai__yaml_begin_sequence(pai__yaml_writer *w);
void pai__yaml_end_sequence(pai__yaml_writer *w);

/* Invalid UTF-8 becomes U+FFFD. */
void pai__yaml_key(pai__yaml_writer *w, const char *s, size_t len);
void pai__yaml_text(pai__yaml_writer *w, const char *s, size_t len);
void pai__yaml_int(pai__yaml_writer *w, int64_t v);
/* Writes a number with a point, so that it is read back as a float. */
void pai__yaml_double(pai__yaml_writer *w, double v);
void pai__yaml_boolean(pai__yaml_writer *w, bool v);
void pai__yaml_nothing(pai__yaml_writer *w);
/* Writes a value as given, on one line: a date, a tagged scalar. */
void pai__yaml_verbatim(pai__yaml_writer *w, const char *text);

/* Returns PAI_OK after one complete document, PAI_EINVAL after calls in a
 * wrong order, PAI_ELIMIT when nested too deep, or PAI_ENOMEM. */
int pai__yaml_finish(pai__yaml_writer *w);

/* --- text.c: forms of a scalar ------------------------------------------ */

typedef enum pai__yaml_form {
  PAI__FORM_PLAIN,
  PAI__FORM_SINGLE,
  PAI__FORM_LITERAL,
  PAI__FORM_DOUBLE
} pai__yaml_form;

/* Returns the most readable form that every reader reads back as this text.
 * *indicator says that a literal block needs an indentation indicator. */
pai__yaml_form pai__yaml_choose_form(const char *s, size_t len,
                                     bool *indicator);

/* Returns whether a text can be a literal block. */
bool pai__yaml_can_be_literal(const char *s, size_t len, bool *indicator);

/* Write a literal block: the header that follows "key: ", and the lines,
 * indented to a column. */
void pai__yaml_put_header(pai__buf *out, const char *s, size_t len,
                          bool indicator);
void pai__yaml_put_lines(pai__buf *out, const char *s, size_t len,
                         size_t column);

/* Writes a text on one line, in any form but a literal block. */
void pai__yaml_put_line(pai__buf *out, const char *s, size_t len,
                        pai__yaml_form form);

#endif
