/* hours.h - internal: in which hours of the week how many come */
#ifndef PAI_SRC_SIM_HOURS_H
#define PAI_SRC_SIM_HOURS_H

#include <openpai/base.h>
#include <openpai/sched.h>

#include <stdbool.h>
#include <stdint.h>

enum { PAI__HOURS = 7 * 24, PAI__USUAL = 1024 };

/* A week begins at time 0 of the clock, whatever day that was. */
typedef struct pai__hours {
  uint64_t came[PAI__HOURS];
  uint64_t seconds[PAI__HOURS]; /* of it that somebody looked */
  uint64_t rest;                /* of a second, in microseconds */
} pai__hours;

/* How many come in an hour, where PAI__USUAL is the mean. */
typedef struct pai__rhythm {
  uint32_t weights[PAI__HOURS];
} pai__rhythm;

/* One came at `now`; the last one before it at `last`. */
void pai__hours_note(pai__hours *hours, pai_time last, pai_time now);
/* For how long somebody looked, in seconds. */
uint64_t pai__hours_seen(const pai__hours *hours);
/* What differs from the mean by chance alone is hardly believed. */
void pai__hours_rhythm(const pai__hours *hours, pai__rhythm *out);

/* How much time lies between, if all hours were alike; INT64_MAX at most. */
pai_time pai__rhythm_even(const pai__rhythm *r, pai_time from, pai_time to);
/* The time that lies so much behind; INT64_MAX: never. */
pai_time pai__rhythm_after(const pai__rhythm *r, pai_time from, pai_time even);

#endif
