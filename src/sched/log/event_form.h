/* event_form.h - internal: events, requests and places as JSON */
#ifndef PAI_SRC_SCHED_LOG_EVENT_FORM_H
#define PAI_SRC_SCHED_LOG_EVENT_FORM_H

#include "json/form.h"

#include "base/arena.h"

#include <openpai/sched.h>

/* A dependency of a request.  Snapshots also have its outcome. */
typedef struct pai__after_form {
  uint64_t id;
  int kind;  /* PAI_AFTER_OK, ... */
  int done;  /* it is satisfied */
  int never; /* it can no longer be satisfied */
} pai__after_form;

/* Writes the members of a request, except wants and after, into an object that
 * was begun. */
void pai__request_put(pai__json_writer *w, const pai_request *q);
/* Write one item of the list of wants, or of dependencies. */
void pai__want_put(pai__json_writer *w, const pai_want *want);
void pai__after_put(pai__json_writer *w, const pai__after_form *after);

/* Reads a request.  Its lists are in the arena.  For a snapshot, *after gets
 * the outcomes of its dependencies; else `after` is NULL.  Returns PAI_OK,
 * PAI_EINVAL or PAI_ENOMEM. */
int pai__request_read(const pai__form *f, pai__arena *arena, pai__node n,
                      pai_request *q, pai__after_form **after);

/* The kind of a line of the log that is a decision, not an event. */
enum { PAI__LINE_DECIDE = PAI_SCHED_TIME + 1 };

/* A line of the log.  What the event points at belongs to the tree, the arena
 * or `cluster`. */
typedef struct pai__line {
  pai_sched_event e;    /* kind may be PAI__LINE_DECIDE */
  int failed;           /* the call failed, although the event was handled */
  pai_cluster *cluster; /* of the event; free with pai_cluster_free() */
  pai_request request_read;
  pai_reservation reservation_read;
  pai__node event, request, reservation, nodes, new_cluster, options, value;
} pai__line;

/* Reads a line.  Returns PAI_OK, PAI_EINVAL or PAI_ENOMEM.  The cluster has to
 * be freed in each case. */
int pai__line_read(const pai__form *f, pai__arena *arena, pai__line *line);

/* Writes an event as an object, even if the scheduler would refuse it.
 * Returns PAI_OK; or a code, with an error, if memory lacks or options are not
 * JSON. */
int pai__event_put(pai__json_writer *w, const pai_alloc *alloc,
                   const pai_sched_event *e, pai_error **err);

/* Write and read a reservation of an event or a snapshot. */
void pai__reservation_put(pai__json_writer *w, const pai_reservation *from);
int pai__reservation_read(const pai__form *f, pai__arena *arena, pai__node n,
                          pai_reservation *out);

/* Reads a cluster that is part of a text.  Returns PAI_OK; or PAI_EINVAL or
 * PAI_ENOMEM with an error. */
int pai__cluster_read(const pai__form *f, const pai_alloc *alloc, pai__node n,
                      pai_cluster **cluster);
/* Returns a copy of part of the text as it was written, or NULL without
 * memory. */
const char *pai__form_slice(const pai__form *f, pai__arena *arena, pai__node n,
                            size_t *len);
/* Checks and writes JSON from elsewhere.  `what` names it in the error.
 * Returns PAI_OK; PAI_EINVAL if it is not JSON; or PAI_ENOMEM. */
int pai__json_foreign(pai__json_writer *w, const pai_alloc *alloc,
                      const char *what, const char *json, size_t len,
                      pai_error **err);

typedef struct pai__place_form {
  const char *node;
  uint64_t gpus;
  const uint64_t *cpus;
  uint32_t cpu_words;
  const uint32_t *ports;
  uint32_t nports;
} pai__place_form;

/* Writes the members of a place into an object that was begun.  `list` is a
 * scratch buffer. */
void pai__place_put(pai__json_writer *w, pai__buf *list,
                    const pai__place_form *p);

void pai__mask_put(pai__json_writer *w, const char *key, uint64_t mask);
void pai__ports_put(pai__json_writer *w, const char *key,
                    const uint32_t *ports, uint32_t n);

#endif
