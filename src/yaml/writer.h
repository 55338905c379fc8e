/*
 * writer.h - writes YAML as it is told: block style, two spaces a level
 *
 * What it writes means the same to YAML 1.1 (PyYAML), YAML 1.2 and js-yaml.
 * The same calls give the same bytes on every machine.  Failure is sticky:
 * check what pai__yaml_finish() returns, nothing else.
 */
#ifndef PAI_SRC_YAML_WRITER_H
#define PAI_SRC_YAML_WRITER_H

#include "base/buf.h"
#include "base/nest.h"

typedef struct pai__yaml_writer {
  pai__buf *out; /* borrowed; written to its end */
  pai__nest nest;
} pai__yaml_writer;

void pai__yaml_writer_init(pai__yaml_writer *w, pai__buf *out);

void pai__yaml_begin_mapping(pai__yaml_writer *w);
void pai__yaml_end_mapping(pai__yaml_writer *w);
void pai__yaml_begin_sequence(pai__yaml_writer *w);
void pai__yaml_end_sequence(pai__yaml_writer *w);

/* Text that is no UTF-8 becomes U+FFFD. */
void pai__yaml_key(pai__yaml_writer *w, const char *s, size_t len);
void pai__yaml_text(pai__yaml_writer *w, const char *s, size_t len);
void pai__yaml_int(pai__yaml_writer *w, int64_t v);
/* Always with a point, so that it stays a float. */
void pai__yaml_double(pai__yaml_writer *w, double v);
void pai__yaml_boolean(pai__yaml_writer *w, bool v);
void pai__yaml_nothing(pai__yaml_writer *w);
/* A value as it shall stand there, on one line: a date, a tagged scalar. */
void pai__yaml_verbatim(pai__yaml_writer *w, const char *text);

/* PAI_OK when one whole document was written; PAI_EINVAL after calls in a
 * wrong order, PAI_ELIMIT when nested too deep, PAI_ENOMEM. */
int pai__yaml_finish(pai__yaml_writer *w);

/* --- text.c: how a text can be written ----------------------------------- */

typedef enum pai__yaml_form {
  PAI__FORM_PLAIN,
  PAI__FORM_SINGLE,
  PAI__FORM_LITERAL,
  PAI__FORM_DOUBLE
} pai__yaml_form;

/* The nicest form that every reader reads back as this text.  A literal needs
 * an indentation indicator when *indicator is set. */
pai__yaml_form pai__yaml_choose_form(const char *s, size_t len,
                                     bool *indicator);

/* Whether a text can be a literal block, nice or not. */
bool pai__yaml_can_be_literal(const char *s, size_t len, bool *indicator);

/* A literal block: what stands behind "key: ", and its lines from a column
 * on. */
void pai__yaml_put_header(pai__buf *out, const char *s, size_t len,
                          bool indicator);
void pai__yaml_put_lines(pai__buf *out, const char *s, size_t len,
                         size_t column);

/* The text on one line, in one of the forms but a literal. */
void pai__yaml_put_line(pai__buf *out, const char *s, size_t len,
                        pai__yaml_form form);

#endif
