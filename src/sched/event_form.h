/* event_form.h - internal: events as JSON */
#ifndef PAI_SRC_SCHED_EVENT_FORM_H
#define PAI_SRC_SCHED_EVENT_FORM_H

#include "base/arena.h"
#include "sched/form.h"

#include <openpai/sched.h>

/* Not an event, but a line of the log as they are: behind the last kind. */
enum { PAI__LINE_DECIDE = PAI_SCHED_TIME + 1 };

/* A line that was read.  What the event points at is the tree's, the arena's,
 * or `cluster`. */
typedef struct pai__line {
  pai_sched_event e;    /* kind may be PAI__LINE_DECIDE */
  int failed;           /* it was taken, and its call failed all the same */
  pai_cluster *cluster; /* of the event; pai_cluster_free() */
  pai_request request_read;
  pai_reservation reservation_read;
  pai__node event, request, reservation, nodes, new_cluster, options, value;
} pai__line;

/* PAI_OK, PAI_EINVAL or PAI_ENOMEM; the cluster is to be freed either way. */
int pai__line_read(const pai__form *f, pai__arena *arena, pai__line *line);

/* Writes an event as an object.  What nobody will take may be written
 * anyhow.  PAI_OK; or a code, with the error: there is no memory, or options
 * are no JSON. */
int pai__event_put(pai__json_writer *w, const pai_alloc *alloc,
                   const pai_sched_event *e, pai_error **err);

/* Reservations, in events and in snapshots. */
void pai__reservation_put(pai__json_writer *w, const pai_reservation *from);
int pai__reservation_read(const pai__form *f, pai__arena *arena, pai__node n,
                          pai_reservation *out);

/* Part of a text that is read, as a cluster.  The codes of
 * pai_cluster_parse(). */
int pai__cluster_read(const pai__form *f, const pai_alloc *alloc, pai__node n,
                      pai_cluster **cluster);
/* A copy of part of the text, as it was written; NULL without memory. */
const char *pai__form_slice(const pai__form *f, pai__arena *arena, pai__node n,
                            size_t *len);
/* JSON that somebody else has made: it is checked.  PAI_OK; PAI_EINVAL: it is
 * none; PAI_ENOMEM. */
int pai__json_foreign(pai__json_writer *w, const pai_alloc *alloc,
                      const char *what, const char *json, size_t len,
                      pai_error **err);

#endif
