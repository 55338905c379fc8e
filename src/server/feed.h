/*
 * feed.h - internal to the room: what happens to jobs, for all who watch
 *
 * Each event is made a text once, and the last ones are kept with their ids, once
 * for all who read: each reader has a place among them, and takes what is behind
 * it when his connection has room.  Whoever is too far behind is cut off while
 * his place is still kept; whoever was cut off shows the last id that he has, and
 * goes on behind it.
 */
#ifndef PAI_SRC_SERVER_FEED_H
#define PAI_SRC_SERVER_FEED_H

#include "server/server.h"

/* One who watches.  He is told on the stream of his request, which has begun
 * before the next event. */
typedef struct pai__reader {
  pai__request *request;
  pai_job_id job;         /* that he watches; 0: all */
  struct pai__note *next; /* that he is to be given; NULL: he has had all */
  struct pai__reader *before, *after;
} pai__reader;

struct pai__note;

typedef struct pai__feed {
  pai_server *server;
  pai_listener *listener;
  pai__reader *readers;
  pai_time left;                  /* when the last reader went */
  pai__map names;                 /* of jobs that are not over, by id */
  uint64_t series;                /* ids of another one are not known */
  uint64_t last;                  /* id of the latest event; 0: none was yet */
  struct pai__note *first, **end; /* the last ones, the oldest first */
  size_t kept;                    /* bytes of them */
  struct pai__note *late; /* the oldest that a reader may still be at */
  size_t behind;          /* bytes from there on */
} pai__feed;

/* Bytes of events that are kept, and those of which a reader may have to take
 * what is left: who is cut off has the other half to come again. */
enum { PAI__FEED_KEPT = 8 << 20, PAI__FEED_BEHIND = PAI__FEED_KEPT / 2 };
/* So long after the last reader went, one who comes again can go on. */
#define PAI__FEED_TIME (INT64_C(600) * 1000000)

/* The server's feed begins with its first reader. */
int pai__feed_join(pai__reader *r, pai_error **err);
void pai__feed_leave(pai__reader *r);
/* Adds the line with the id of an event. */
void pai__feed_add_id(const pai__feed *f, uint64_t event, pai__buf *out);
/* Which event has this id.  False: it is not known any more, or never was. */
bool pai__feed_find(const pai__feed *f, const char *id, uint64_t *event);
/* He is to be given what happened behind that event. */
void pai__feed_go_on(pai__reader *r, uint64_t event);
/* Adds to his stream what is next, as far as he sees it. */
void pai__feed_give(pai__reader *r);
void pai__feed_free(pai_server *server); /* none is allowed */

#endif
