/* forecast_text.h - internal: forecasts in words and as JSON */
#ifndef PAI_SRC_SIM_FORECAST_TEXT_H
#define PAI_SRC_SIM_FORECAST_TEXT_H

#include "json/writer.h"
#include "sim/future.h"
#include "sim/spell.h"

/* "train (request 17) of ann". */
void pai__say_who(pai__buf *out, uint64_t id, const char *name,
                  const char *user);
/* "between 14:05 and 17:30, most likely about 15:10". */
void pai__say_band(pai__buf *out, const pai_forecast *f, const pai__fwait *w);
/* What a forecast took for granted, as a sentence of its own; of one that
 * waits, or NULL. */
void pai__say_assumed(pai__buf *out, const pai_forecast *f,
                      const pai__fwait *w);

/* The members of an object that is begun. */
void pai__put_forecast(pai__json_writer *w, const pai_forecast *f);
/* A key with a time, null for one that never comes. */
void pai__put_time(pai__json_writer *w, const char *key, pai_time t);
void pai__put_number(pai__json_writer *w, const char *key, int64_t n);

/* Hands what was said, or the JSON that `put` makes, to a caller.  The codes
 * of pai_forecast_write(). */
int pai__say_or_put(const pai_alloc *alloc, int format,
                    void (*say)(pai__buf *out, const void *what),
                    void (*put)(pai__json_writer *w, const void *what),
                    const void *what, pai_write_cb write, void *user_data,
                    pai_error **err);

#endif
