/*
 * story.h - internal: how a request waited, as data
 *
 * story.c collects it from a log, story_other.c asks another policy, and
 * story_text.c and story_json.c tell it.
 */
#ifndef PAI_SRC_SIM_STORY_H
#define PAI_SRC_SIM_STORY_H

#include "sim/line_event.h"
#include "sim/replay.h"

#include "sched/core.h"

/* Somebody who had what it needed, or stood before it. */
typedef struct pai__blocker {
  uint64_t id;
  uint32_t name;  /* of the story's texts, or PAI__NONE */
  uint32_t most;  /* at a time; 0: it only stood before it */
  int64_t weight; /* how much, times how long */
} pai__blocker;

enum { PAI__BLOCKERS = 6, PAI__CAUSES = 6 };

/* What it lacked, and who had it. */
typedef struct pai__cause {
  uint32_t lack, of; /* PAI_LACK_* */
  uint32_t front;    /* what lacked who stands first of those before it */
  uint32_t text;     /* what the policy said, or PAI__NONE */
  uint64_t wanted, found;
  uint32_t placed, tasks;
  bool others;        /* there were more blockers, nobody knows how many */
  pai_time time;      /* for how long, in all */
  uint32_t held, all; /* at most: of those it could use, in devices */
  bool cpus;          /* the devices are CPUs */
  uint32_t nblockers; /* how many there were; the worst are kept */
  pai__blocker blockers[PAI__BLOCKERS];
} pai__cause;

/* From when to when it lacked the same, or by turns what is told. */
typedef struct pai__episode {
  pai_time from, to;
  uint32_t ncauses;
  pai__cause causes[PAI__CAUSES]; /* the longest first */
} pai__episode;

enum pai__mark_kind {
  PAI__MARK_START = 1,
  PAI__MARK_STOP, /* it was told to stop */
  PAI__MARK_RESIZE,
  PAI__MARK_RETURN, /* it waits again */
  PAI__MARK_FINISH,
  PAI__MARK_CANCEL
};

/* Something happened to it. */
typedef struct pai__mark {
  pai_time time;
  int kind, cause; /* of a stop: PAI_STOP_* */
  uint32_t instance;
  uint32_t tasks, text; /* where it was started */
  uint64_t by;
  int64_t code;
} pai__mark;

/* What another policy would have done. */
typedef struct pai__other {
  bool asked;
  pai_time started; /* when started is true */
  bool begun;
  uint64_t skipped; /* lines that tell of what it did not do */
  uint32_t lack;    /* what it lacked in the end, if it has not begun */
  pai_time end;     /* so far it was driven */
  bool given_up;    /* too many waited to drive it any further */
} pai__other;

typedef struct pai__story {
  pai_replay *r;
  const pai_alloc *alloc;
  pai_story_options o;
  uint64_t id;
  uint64_t place; /* where the log tells of its submission, or of what is
                     behind the first snapshot */
  bool dated;

  pai__texts texts;
  pai__flat episodes, marks;
  uint32_t name, user, vc, type; /* texts, or PAI__NONE */
  uint32_t kind; /* of the GPUs that it could use, if all are of one */
  pai_time submitted, end; /* of the log, or of the request */
  bool before;             /* it was submitted before the log began */
  bool gone, waiting;      /* in the end */
  uint32_t instances;
  uint64_t tasks, gpus;
  pai_time waited; /* in all */
  pai_time first;  /* its first start, if it has begun */
  bool begun;
  bool ran; /* it had begun before the log did */
  pai__other other;
} pai__story;

/* The worst ones of what is open are kept (story_blame.c). */
typedef struct pai__blame {
  pai__cause cause;
  pai__flat blockers; /* all of them, */
  pai__lookup by_id;  /* and where they are */
} pai__blame;

void pai__blame_init(pai__blame *blame);

/* Why it waits now, and for whom: `blame` is initialised and empty.  PAI_OK,
 * PAI_ENOTFOUND: it does not wait; PAI_ENOMEM. */
int pai__blame_find(pai__blame *blame, pai__story *story, const pai_sched *s);
/* Is the lack of both the same? */
bool pai__cause_same(const pai__cause *a, const pai__cause *b);
/* What was found counts for so long. */
void pai__blame_weigh(pai__blame *blame, pai_time time);
/* What `more` has is added to it.  PAI_OK or PAI_ENOMEM. */
int pai__blame_add(pai__blame *blame, const pai__blame *more,
                   const pai_alloc *alloc);
/* The cause goes on for as long as `more` did; who of both is worst is kept. */
void pai__cause_join(pai__cause *cause, const pai__cause *more);
/* Its worst blockers become the cause's. */
void pai__blame_rank(pai__blame *blame);
void pai__blame_dispose(pai__blame *blame, const pai_alloc *alloc);

/* Times that may be of any clock: never over the edge. */
static inline pai_time pai__span(pai_time from, pai_time to)
{
  return from < 0 && to > INT64_MAX + from ? INT64_MAX : to - from;
}
static inline pai_time pai__later(pai_time t, pai_time by)
{
  return by > 0 && t > INT64_MAX - by ? INT64_MAX : t + by;
}

/* Asks the other policy.  The codes of pai_replay_story(). */
int pai__story_other(pai__story *story, pai_error **err);

/* Tells it.  PAI_OK; PAI_ENOMEM. */
int pai__story_text(const pai__story *story, pai__buf *out);
int pai__story_json(const pai__story *story, pai__buf *out);

#endif
