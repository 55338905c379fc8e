/*
 * states.h - internal to the room: alerts with their begin and end
 *
 * Pure: the caller says which conditions hold, and the time.
 */
#ifndef PAI_SRC_SERVER_ALERTS_STATES_H
#define PAI_SRC_SERVER_ALERTS_STATES_H

#include "base/map.h"
#include "server/alerts/label.h"

#include <openpai/base.h>

/* A condition that holds. */
typedef struct pai__alert {
  const char *name, *severity;
  const char *user, *job;   /* NULL: about the machine */
  pai__alert_labels labels; /* other labels, sorted by name */
  bool outside;             /* sent by an Alertmanager */
  pai_time since; /* wall-clock time, if known; 0: from the first look on */
  pai_time wait;  /* it fires after the condition has held this long */
  char text[256];
} pai__alert;

/* When a receiver was last told of an alert. */
typedef struct pai__alert_sent {
  uint64_t receiver; /* hash of its name; 0: none */
  pai_time at;
  bool resolved; /* told that the alert has ended */
} pai__alert_sent;

enum { PAI__ALERT_RECEIVERS = 4 };

typedef struct pai__alert_state {
  pai__alert alert; /* its texts are in `texts`; `since`: when it began to
                       fire */
  void *texts;
  size_t texts_size;
  pai_time ended;     /* 0: the condition still holds */
  pai_time until;     /* of one from outside: it ends then, unless it is sent
                     again */
  uint64_t print;     /* hash that identifies the condition */
  uint64_t look;      /* the last look in which the condition held */
  char *acknowledged; /* who has seen to it, or NULL */
  pai_time acknowledged_at;
  pai__alert_sent sent[PAI__ALERT_RECEIVERS];
} pai__alert_state;

typedef struct pai__alert_states {
  pai_alloc alloc;
  pai__alert_state **list; /* in order of arrival */
  size_t n, cap;
  size_t over;    /* number of ended ones */
  pai__map live;  /* alerts not ended, by condition */
  pai__map users; /* number of live alerts of each user */
  size_t most;    /* largest of these numbers */
  uint64_t look;
  bool changed; /* since it was last written to the database */
} pai__alert_states;

/* Limits of kept alerts: in total, live ones of one user (many users get equal
 * shares), and ended ones. */
enum {
  PAI__ALERT_STATES = 1000,
  PAI__ALERT_STATES_OF_USER = 100,
  PAI__ALERT_STATES_OVER = 500
};
/* How long an ended alert is kept. */
#define PAI__ALERT_STATE_KEPT (INT64_C(24) * 3600 * 1000000)

void pai__alert_states_init(pai__alert_states *a, const pai_alloc *alloc);
void pai__alert_states_dispose(pai__alert_states *a);

/* A look: begin, see each condition that holds, end.  Alerts not seen have
 * ended.  pai__alert_states_see() returns PAI_OK or PAI_ENOMEM. */
void pai__alert_states_begin(pai__alert_states *a);
int pai__alert_states_see(pai__alert_states *a, const pai__alert *alert,
                          pai_time now);
/* The condition cannot be checked now: a live alert stays as it is. */
void pai__alert_states_stay(pai__alert_states *a, pai__alert_state *x);
/* Adds an alert of an earlier process, with the times in *like.  PAI_OK or
 * PAI_ENOMEM. */
int pai__alert_states_restore(pai__alert_states *a, const pai__alert *alert,
                              const pai__alert_state *like);
/* An alert from outside holds until then, or has ended if `until` is not after
 * `now`. */
int pai__alert_states_receive(pai__alert_states *a, const pai__alert *alert,
                              pai_time until, pai_time now);
/* Returns the alert of a fingerprint, the latest if there are several; or
 * NULL. */
pai__alert_state *pai__alert_states_find(const pai__alert_states *a,
                                         const char *print);
/* Notes who has seen to an alert, NULL: nobody.  PAI_OK or PAI_ENOMEM. */
int pai__alert_states_acknowledge(pai__alert_states *a, pai__alert_state *x,
                                  const char *user, pai_time now);
enum { PAI__ALERT_PRINT = 17 };
void pai__alert_print(char out[PAI__ALERT_PRINT], const pai__alert_state *x);
/* Returns whether the alert would be kept.  To be called before its text is
 * made if there may be very many. */
bool pai__alert_states_have_room(const pai__alert_states *a,
                                 const pai__alert *alert);
void pai__alert_states_end(pai__alert_states *a, pai_time now);

/* Returns whether the condition has held long enough, and still holds. */
static inline bool pai__alert_state_fires(const pai__alert_state *a,
                                          pai_time now)
{
  return a->ended == 0 && a->alert.since <= now;
}

#endif
