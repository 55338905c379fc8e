/*
 * report_form.h - internal: a report as JSON, both ways by the same tables
 *
 * All numbers are exact decimals, and stand in the report as whole numbers of
 * their last digit.
 */
#ifndef PAI_SRC_SIM_REPORT_FORM_H
#define PAI_SRC_SIM_REPORT_FORM_H

#include "sim/pages.h"

/* A number: a member of so many bytes, with so many digits behind the point. */
typedef struct pai__number_form {
  const char *key;
  size_t at, size;
  unsigned digits;
} pai__number_form;

extern const pai__number_form pai__head_form[], pai__group_form[],
  pai__bin_form[]; /* NULL behind the last */

unsigned pai__figure_digits(const pai__figure *f);

int64_t pai__number_get(const void *in, size_t at, size_t size);
/* False: it does not fit. */
bool pai__number_set(void *out, size_t at, size_t size, int64_t value);

/* The groups of a report, by index; NULL behind the last. */
const char *pai__groups_form(size_t i, size_t *at);
/* Likewise, its distributions and their digits. */
const char *pai__spread_form(size_t i, size_t *at, unsigned *digits);
/* How runs end, by PAI_STATE_*; NULL: there is no such end. */
const char *pai__bar_end_name(int end);

#endif
