/*
 * timeline.h - internal: timeline of a request: how it waited, as data
 *
 * timeline.c collects it from a log, timeline_other.c replays the log with
 * another policy, timeline_text.c and timeline_json.c write it.
 */
#ifndef PAI_SRC_SIM_REPLAY_TIMELINE_H
#define PAI_SRC_SIM_REPLAY_TIMELINE_H

#include "sim/replay/replay.h"

#include "sched/inspect.h"

/* Another request that held what the request lacked, or was before it in the
 * queue. */
typedef struct pai__blocker {
  uint64_t id;
  uint32_t name;  /* in the timeline's texts, or PAI__NONE */
  uint32_t most;  /* most devices at a time; 0: only before it */
  int64_t weight; /* amount multiplied by time */
} pai__blocker;

enum { PAI__BLOCKERS = 6, PAI__CAUSES = 6 };

/* What the request lacked, and the blockers. */
typedef struct pai__cause {
  uint32_t lack, of;      /* PAI_LACK_* */
  uint32_t front;         /* PAI_LACK_* of the first request in front */
  uint32_t text;          /* what the policy reported, or PAI__NONE */
  uint64_t wanted, found; /* CPUs in thousandths */
  uint32_t placed, tasks;
  bool others;        /* there were more blockers, number unknown */
  pai_time time;      /* total time of this cause */
  uint32_t held, all; /* devices held by others, and devices that the request
                         could use; the most at a time */
  bool cpus;          /* the devices are CPUs */
  uint32_t nblockers; /* number of blockers; the worst are kept */
  pai__blocker blockers[PAI__BLOCKERS];
} pai__cause;

/* A time in which the request had the same cause, or several in turn. */
typedef struct pai__episode {
  pai_time from, to;
  uint32_t ncauses;
  pai__cause causes[PAI__CAUSES]; /* the longest first */
} pai__episode;

enum pai__mark_kind {
  PAI__MARK_START = 1,
  PAI__MARK_STOP, /* a stop was requested */
  PAI__MARK_RESIZE,
  PAI__MARK_RETURN, /* it waits again */
  PAI__MARK_FINISH,
  PAI__MARK_CANCEL
};

/* An event of the request. */
typedef struct pai__mark {
  pai_time time;
  int kind, cause; /* cause of a stop: PAI_STOP_* */
  uint32_t instance;
  uint32_t tasks, text; /* of a start: number of tasks, nodes */
  uint64_t by;
  int64_t code;
} pai__mark;

/* What another policy would have done. */
typedef struct pai__other {
  bool asked;
  pai_time started; /* time of the start, if `begun` */
  bool begun;
  uint64_t skipped; /* lines about decisions that it did not make */
  uint32_t lack;    /* what it lacked at the end, unless `begun` */
  pai_time end;     /* time up to which it was replayed */
  bool given_up;    /* ended early, as too many requests waited */
} pai__other;

typedef struct pai__timeline {
  pai_replay *r;
  const pai_alloc *alloc;
  pai_story_options o;
  uint64_t id;
  uint64_t place; /* offset of its submission, or of the second line */
  bool dated;

  pai__texts texts;
  pai__flat episodes, marks;
  uint32_t name, user, vc, type; /* texts, or PAI__NONE */
  uint32_t kind; /* of the GPUs that it can use, if they are of one kind */
  pai_time submitted, end; /* end of the log, or of the request */
  bool before;             /* submitted before the log begins */
  bool gone, waiting;      /* at the end */
  uint32_t instances;
  uint64_t tasks, gpus;
  pai_time waited; /* total waiting time */
  pai_time first;  /* time of the first start, if `begun` */
  bool begun;
  bool ran; /* it started before the log begins */
  pai__other other;
} pai__timeline;

/* A cause that is being summed up, with all its blockers
 * (timeline_blame.c). */
typedef struct pai__blame {
  pai__cause cause;
  pai__flat blockers; /* all blockers */
  pai__lookup by_id;  /* their index by id */
} pai__blame;

void pai__blame_init(pai__blame *blame);

/* Finds out why the request waits now, and its blockers.  `blame` must be
 * initialised and empty.  Returns PAI_OK; PAI_ENOTFOUND: the request does not
 * wait; PAI_ENOMEM. */
int pai__blame_find(pai__blame *blame, pai__timeline *timeline,
                    const pai_sched *s);
/* Returns whether both lack the same. */
bool pai__cause_same(const pai__cause *a, const pai__cause *b);
/* Weighs the cause and its blockers by the time that it lasted. */
void pai__blame_weigh(pai__blame *blame, pai_time time);
/* Adds the time and the blockers of `more`.  Returns PAI_OK or PAI_ENOMEM. */
int pai__blame_add(pai__blame *blame, const pai__blame *more,
                   const pai_alloc *alloc);
/* Adds the time and amounts of `more` to the cause. */
void pai__cause_go_on(pai__cause *cause, const pai__cause *more);
/* The same, and keeps the worst blockers of both. */
void pai__cause_join(pai__cause *cause, const pai__cause *more);
/* Copies the worst blockers to the cause. */
void pai__blame_rank(pai__blame *blame);
void pai__blame_dispose(pai__blame *blame, const pai_alloc *alloc);

/* Difference and sum of times, saturated. */
static inline pai_time pai__span(pai_time from, pai_time to)
{
  return from < 0 && to > INT64_MAX + from ? INT64_MAX : to - from;
}
static inline pai_time pai__later(pai_time t, pai_time by)
{
  return by > 0 && t > INT64_MAX - by ? INT64_MAX : t + by;
}

/* Replays the log with the other policy.  Returns as pai_replay_story(). */
int pai__timeline_other(pai__timeline *st, pai_error **err);

/* Write the timeline.  Return PAI_OK or PAI_ENOMEM. */
int pai__timeline_text(const pai__timeline *st, pai__buf *out);
int pai__timeline_json(const pai__timeline *st, pai__buf *out);

/* --- episodes of waiting (timeline_waits.c) ------------------------------ */

/* State of the episodes that are being collected. */
typedef struct pai__waits {
  pai__timeline *st;
  pai__flat raws; /* causes of the open window, one after the other */
  pai_time until; /* end of the window */
  pai__blame now; /* current cause, if `waits` */
  bool waits;
  pai_time since;  /* time up to which it is counted */
  pai_time looked; /* time at which the blockers were last looked up */
} pai__waits;

void pai__waits_begin(pai__waits *f, pai__timeline *st);
/* Counts the time up to `now`.  Returns PAI_OK or PAI_ENOMEM. */
int pai__waits_count(pai__waits *f, pai_time now);
/* Adds the last episodes and frees memory.  Returns PAI_OK or PAI_ENOMEM. */
int pai__waits_end(pai__waits *f);
/* Merges episodes of a long wait: those within two hours, or four, and so on,
 * until they fit on a page. */
void pai__waits_coarsen(pai__timeline *st);

#endif
