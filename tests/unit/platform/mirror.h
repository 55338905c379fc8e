/*
 * mirror.h - whoever follows a platform in tests: a scheduler that is told what
 * the platform's is told, and has a shadow
 */
#ifndef PAI_TESTS_PLATFORM_MIRROR_H
#define PAI_TESTS_PLATFORM_MIRROR_H

#include "testing.h"

#include <openpai/openpai.h>

/* What a follower has read, and the scheduler that was told it. */
typedef struct mirror {
  pai_follower *follower;
  pai_sched *sched; /* NULL: nothing was read */
  int snapshots;
  int starts; /* of requests: one whose port was just taken starts twice */
  uint64_t latest; /* of those */
  int
    differ; /* starts that its shadow, a greedy fifo, would have made alone */
} mirror;

/* The codes of pai_platform_follow(). */
int mirror_follow(mirror *m, pai_platform *p);
/* Takes each line that has come; it must be one that the scheduler takes.  The
 * codes of pai_follower_read(). */
int mirror_look(mirror *m);
void mirror_leave(mirror *m);

/* Its scheduler is the platform's, to the byte. */
void mirror_expect_same(const mirror *m, pai_platform *p);

#endif
