/*
 * body.h - checks of request bodies
 *
 * A route names the record of its body (api/api.h).  The body is JSON, a form,
 * or JSON sent as text.  It is checked as OpenPAI's server checks it, with the
 * messages of Joi 13.  The handler gets JSON in which texts that stand for
 * numbers, booleans or objects are converted and missing values are filled in.
 */
#ifndef PAI_SRC_SERVER_HTTP_BODY_H
#define PAI_SRC_SERVER_HTTP_BODY_H

#include "api/api.h"
#include "base/buf.h"
#include "base/tree.h"

/*
 * Checks that a value is an object of these fields and no others, and adds it
 * to `out` as JSON.  Returns PAI_OK; PAI_EINVAL with the reason in *wrong,
 * which must be empty; or PAI_ENOMEM.
 */
int pai__fields_check(const pai__api_field *fields, const pai__tree *tree,
                      pai__buf *out, pai__buf *wrong);

/* fields_text.c: returns whether a text matches the pattern and is not
 * empty. */
bool pai__pattern_fits(const pai__api_pattern *p, const char *text,
                       size_t len);
/* Returns the length of a text as JavaScript counts it. */
int64_t pai__count_utf16(const char *text, size_t len);
/* Parses the number that a text begins with; returns false if there is
 * none. */
bool pai__read_number(const char *text, double *out);

/*
 * Converts a form ("a=1&b[c]=2&d[]=3") to JSON, added to `out`; all values are
 * texts.  PAI_OK; PAI_ELIMIT: too many values, or too deep; PAI_ENOMEM.
 */
int pai__form_to_json(const char *text, size_t len, pai__buf *out);

#endif
