/*
 * number.h - numbers as text, independent of the host's locale
 *
 * Reading is correctly rounded; writing gives JavaScript's String(number),
 * the shortest text that reads back as the same double.
 */
#ifndef PAI_SRC_BASE_TEXT_NUMBER_H
#define PAI_SRC_BASE_TEXT_NUMBER_H

#include "base/base.h"

enum { PAI__DOUBLE_TEXT = 32 }; /* size that any double fits into */

/* Parses "digits", "digits.digits", ".digits", each with an optional exponent;
 * the caller has checked the form. s[len] must not continue a number.  A
 * number that is too large gives infinity.  PAI_OK or PAI_ENOMEM. */
int pai__parse_double(double *out, const char *s, size_t len);

/* Parses digits of radix 2, 8 or 16, rounded as by JavaScript's parseInt(). */
double pai__parse_bits(const char *s, size_t len, unsigned bits_per_digit);

/* Write v and a NUL; return the length. */
size_t pai__format_double(char out[PAI__DOUBLE_TEXT], double v);
size_t pai__format_int(char out[PAI__DOUBLE_TEXT], int64_t v);

/* strtod() in the C locale (posix_number.c). */
int pai__strtod_c(double *out, const char *s);

#endif
