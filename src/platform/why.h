/* why.h - internal to the room: why jobs wait, on the loop and beside it */
#ifndef PAI_SRC_PLATFORM_WHY_H
#define PAI_SRC_PLATFORM_WHY_H

#include "platform/platform.h"

typedef struct pai__explainer pai__explainer;

/* What the scheduler explains of a request, as text and as JSON. */
typedef struct pai__told {
  uint64_t request;
  const char *text, *json;
} pai__told;

/* The request of which pai_platform_why() tells what the scheduler explains; 0:
 * of none. */
uint64_t pai__why_request(const pai_platform *p, pai_job_id job);
/* As pai_platform_why(), with what was found out of that request, or NULL. */
int pai__why_write(pai_platform *p, pai_job_id job, const pai__told *told,
                   pai_write_cb write, void *user_data, pai_error **err);

/* In the platform's turn: the next that is asked for begins, and who gave up is
 * told.  A platform that closes gives all up. */
void pai__answers_turn(pai_platform *p);
bool pai__answers_are_idle(const pai_platform *p);
/* Of a platform on which they are idle. */
void pai__answers_close(pai_platform *p);

#endif
