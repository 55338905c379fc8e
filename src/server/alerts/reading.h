/*
 * reading.h - internal to the room: reading alerts.yaml
 *
 * Each mapping has a table of its keys.  Errors have the place in the file, in
 * an expression that of the wrong sign.
 */
#ifndef PAI_SRC_SERVER_ALERTS_READING_H
#define PAI_SRC_SERVER_ALERTS_READING_H

#include "base/tree.h"
#include "server/alerts/settings.h"

typedef struct pai__alert_reading {
  pai__alert_settings *out;
  const char *path;
  const pai__tree *t;
  pai_error **err;
} pai__alert_reading;

/* A key of a mapping, and the function that sets what `to` points to. */
typedef struct pai__alert_key {
  const char *name;
  int (*set)(const pai__alert_reading *r, pai__node value, void *to);
  size_t at; /* offset of what is set */
} pai__alert_key;

/* Report an error at a place, at a node, and at the place that an error has
 * within the text of a node.  `help` may be NULL. */
int pai__alert_fail_pos(const pai__alert_reading *r, pai__pos pos,
                        const char *what, const char *help);
int pai__alert_fail_at(const pai__alert_reading *r, pai__node n,
                       const char *what, const char *help);
int pai__alert_fail_within(const pai__alert_reading *r, pai__node n,
                           const char *text, const pai_error *why);

/* Set a text; a text of one line; a bool; a pai_time; a pai__alert_texts; a
 * pai__alert_labels. */
int pai__alert_set_text(const pai__alert_reading *r, pai__node n, void *to);
int pai__alert_set_line(const pai__alert_reading *r, pai__node n, void *to);
int pai__alert_set_flag(const pai__alert_reading *r, pai__node n, void *to);
int pai__alert_set_time(const pai__alert_reading *r, pai__node n, void *to);
int pai__alert_set_list(const pai__alert_reading *r, pai__node n, void *to);
int pai__alert_set_labels(const pai__alert_reading *r, pai__node n, void *to);
/* Reads a mapping by the table of its keys, and each item of a list. */
int pai__alert_set_mapping(const pai__alert_reading *r, pai__node n,
                           const pai__alert_key *keys, size_t nkeys, void *to);
int pai__alert_set_items(const pai__alert_reading *r, pai__node n,
                         int (*set)(const pai__alert_reading *r,
                                    pai__node item));

#endif
