/*
 * alarms.h - internal to the room: alerts, since when they are there, and when
 * they were over
 *
 * Pure: who looks says what is the case, and when.
 */
#ifndef PAI_SRC_SERVER_ALARMS_H
#define PAI_SRC_SERVER_ALARMS_H

#include "base/map.h"

#include <openpai/base.h>

/* What is the case. */
typedef struct pai__alert {
  const char *name, *severity; /* constants */
  const char *user, *job;      /* NULL: it is the machine's */
  pai_time since; /* the wall's, if that is known; 0: from the first look on */
  pai_time wait;  /* it is one when it has been the case for so long */
  char text[256];
} pai__alert;

typedef struct pai__alarm {
  pai__alert alert; /* whose texts are this one's own; `since`: it is one */
  pai_time ended;   /* 0: it is still the case */
  uint64_t print;   /* of what it is about, whenever it is the case */
  uint64_t look;    /* the last in which it was seen */
} pai__alarm;

typedef struct pai__alarms {
  pai_alloc alloc;
  pai__alarm **list; /* in the order in which they came */
  size_t n, cap;
  size_t over;    /* of them */
  pai__map live;  /* those that are not over, by what they are about */
  pai__map users; /* and how many of each user they are, */
  size_t most;    /* the largest of these numbers */
  uint64_t look;
} pai__alarms;

enum {
  PAI__ALARMS = 1000,        /* of users: further ones are not kept, */
  PAI__ALARMS_OF_USER = 100, /* nor of one user, while they last; of many users
                                each has the same share */
  PAI__ALARMS_OVER = 500
};
/* How long one that is over is kept. */
#define PAI__ALARM_KEPT (INT64_C(24) * 3600 * 1000000)

void pai__alarms_init(pai__alarms *a, const pai_alloc *alloc);
void pai__alarms_dispose(pai__alarms *a);

/* A look begins; in it these are seen; and it ends: what was not seen is over.
 * pai__alarms_see() answers PAI_OK or PAI_ENOMEM. */
void pai__alarms_begin(pai__alarms *a);
int pai__alarms_see(pai__alarms *a, const pai__alert *alert, pai_time now);
/* Nobody can tell: if it was the case it still is. */
void pai__alarms_stay(pai__alarms *a, const pai__alert *alert);
/* Would it be kept?  Before its text is made, where there may be very many. */
bool pai__alarms_have_room(const pai__alarms *a, const pai__alert *alert);
void pai__alarms_end(pai__alarms *a, pai_time now);

/* Is it one now: has it been the case for long enough, and still is? */
static inline bool pai__alarm_fires(const pai__alarm *a, pai_time now)
{
  return a->ended == 0 && a->alert.since <= now;
}

#endif
