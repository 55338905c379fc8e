/*
 * number.h - numbers as text, independent of the host's locale
 *
 * Reading is correctly rounded; writing gives JavaScript's String(number),
 * the shortest text that reads back as the same double.
 */
#ifndef PAI_SRC_BASE_NUMBER_H
#define PAI_SRC_BASE_NUMBER_H

#include "base/base.h"

enum { PAI__DOUBLE_TEXT = 32 }; /* bytes that any double fits into */

/* Reads "digits", "digits.digits", ".digits", each with an optional exponent;
 * the caller has checked the form.  s[len] must not continue a number.  Too
 * large gives infinity.  PAI_OK or PAI_ENOMEM. */
int pai__parse_double(double *out, const char *s, size_t len);

/* Reads digits of radix 2, 8 or 16, as JavaScript's parseInt() rounds. */
double pai__parse_bits(const char *s, size_t len, unsigned bits_per_digit);

/* Writes v and a NUL; returns the length. */
size_t pai__format_double(char out[PAI__DOUBLE_TEXT], double v);
size_t pai__format_int(char out[PAI__DOUBLE_TEXT], int64_t v);

/* strtod() in the C locale (posix_number.c). */
int pai__strtod_c(double *out, const char *s);

#endif
