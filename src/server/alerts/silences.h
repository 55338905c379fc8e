/*
 * silences.h - internal to the room: silences, during which nobody is told of
 * alerts that match
 */
#ifndef PAI_SRC_SERVER_ALERTS_SILENCES_H
#define PAI_SRC_SERVER_ALERTS_SILENCES_H

#include "base/tree.h"
#include "json/writer.h"
#include "server/alerts/label.h"

typedef struct pai__alert_silence {
  char id[33];
  pai__alert_matchers matchers;
  pai_time starts, ends, updated;
  char *by, *comment; /* owned */
} pai__alert_silence;

typedef struct pai__alert_silences {
  pai_alloc alloc;
  pai__alert_silence **at;
  size_t n, cap;
} pai__alert_silences;

enum { PAI__SILENCES = 1000 };

void pai__alert_silences_init(pai__alert_silences *s, const pai_alloc *alloc);
void pai__alert_silences_dispose(pai__alert_silences *s);
/* Adds one from Alertmanager's JSON.  `id` NULL: that of the JSON.  `by` NULL:
 * that of the JSON.  PAI_EINVAL; PAI_ELIMIT; PAI_ENOMEM. */
int pai__alert_silences_add(pai__alert_silences *s, pai__alert_silence **out,
                            const pai__tree *t, pai__node of, const char *id,
                            const char *by, pai_time now, pai_error **err);
void pai__alert_silences_remove(pai__alert_silences *s,
                                pai__alert_silence *one);
pai__alert_silence *pai__alert_silences_find(const pai__alert_silences *s,
                                             const char *id);
/* Forgets those that ended a day ago; returns whether there were any. */
bool pai__alert_silences_tidy(pai__alert_silences *s, pai_time now);
/* Returns the next silence after `from` (NULL: the first) that holds now for
 * these labels; NULL: none. */
const pai__alert_silence *pai__alert_silences_match(
  const pai__alert_silences *s, const pai__alert_silence *from,
  pai__alert_labels labels, pai_time now);
/* Writes one, as Alertmanager does. */
void pai__alert_silence_write(pai__json_writer *w, const pai__alert_silence *s,
                              pai_time now);

/* times.c: a time of JSON, as 2026-11-29T10:00:00.000Z; microseconds since
 * 1970.  False: it is none. */
bool pai__alert_time_read(pai_time *out, const char *text);
void pai__alert_time_put(pai__json_writer *w, const char *key, pai_time time);

#endif
