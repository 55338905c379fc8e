/*
 * feed.h - internal to the room: events of jobs, for all who watch
 *
 * Each event is made a text once.  The last ones are kept with their ids,
 * shared by all readers: a reader has a position among them, and takes the
 * following ones when its connection can send.  A reader too far behind is cut
 * off while its position is still kept.  It can come back with the last id
 * that it has seen, and goes on from there.
 */
#ifndef PAI_SRC_SERVER_STREAMS_FEED_H
#define PAI_SRC_SERVER_STREAMS_FEED_H

#include "server/server.h"

/* A watcher.  It is sent events on the stream of its request, which must begin
 * before the next event. */
typedef struct pai__server_reader {
  pai__request *request;
  pai_job_id job;         /* the job it watches; 0: all */
  struct pai__note *next; /* next event to send; NULL: all were sent */
  struct pai__server_reader *before, *after;
} pai__server_reader;

struct pai__note;

typedef struct pai__feed {
  pai_server *server;
  pai_listener *listener;
  pai__server_reader *readers;
  pai_time left;                  /* when the last reader left */
  pai__map names;                 /* names of unfinished jobs, by id */
  uint64_t series;                /* ids of another series are unknown */
  uint64_t last;                  /* id of the latest event; 0: none yet */
  struct pai__note *first, **end; /* the last events, oldest first */
  size_t kept;                    /* bytes of these */
  struct pai__note *late; /* the oldest one that a reader may still be at */
  size_t behind;          /* bytes from `late` on */
} pai__feed;

/* Bytes of kept events, and how many of them a reader may be behind: after it
 * is cut off, it has the other half as time to come back. */
enum { PAI__FEED_KEPT = 8 << 20, PAI__FEED_BEHIND = PAI__FEED_KEPT / 2 };
/* How long events are kept after the last reader left, for it to come back. */
#define PAI__FEED_TIME (INT64_C(600) * 1000000)

/* The first reader starts the server's feed. */
int pai__feed_join(pai__server_reader *r, pai_error **err);
void pai__feed_leave(pai__server_reader *r);
/* Adds the line with the id of an event. */
void pai__feed_add_id(const pai__feed *f, uint64_t event, pai__buf *out);
/* Finds an event by its id.  Returns false if it is unknown or no longer
 * kept. */
bool pai__feed_find(const pai__feed *f, const char *id, uint64_t *event);
/* Continues a reader after that event. */
void pai__feed_go_on(pai__server_reader *r, uint64_t event);
/* Adds the next events to the reader's stream, as far as the reader may see
 * them. */
void pai__feed_give(pai__server_reader *r);
void pai__feed_free(pai_server *server); /* NULL feed is allowed */

#endif
