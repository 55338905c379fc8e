/* why.h - internal to the room: explanations of why jobs wait */
#ifndef PAI_SRC_PLATFORM_RECORDS_WHY_H
#define PAI_SRC_PLATFORM_RECORDS_WHY_H

#include "platform/platform.h"

typedef struct pai__explainer pai__explainer;

/* Returns why a job waits, in one word: a lack (pai_lack_name()), "impossible",
 * "shortage", "retry" or "health"; NULL: unknown. */
const char *pai__waiting_code(const pai__pjob *j);

/* The scheduler's explanation of a request, as text and as JSON. */
typedef struct pai__request_explanation {
  uint64_t request;
  const char *text, *json;
} pai__request_explanation;

/* Returns the request that pai_platform_why() has the scheduler explain; 0:
 * none. */
uint64_t pai__platform_why_request(const pai_platform *p, pai_job_id job);
/* Writes the reply of pai_platform_why(), with an explanation or NULL. */
int pai__platform_why_write(pai_platform *p, pai_job_id job,
                            const pai__request_explanation *explanation,
                            pai_write_cb write, void *user_data,
                            pai_error **err);

/* To be called in the platform's step: begins the next answer, and calls back
 * for cancelled ones.  A platform that closes cancels all. */
void pai__answers_step(pai_platform *p);
bool pai__answers_are_idle(const pai_platform *p);
/* Only while answers are idle. */
void pai__answers_close(pai_platform *p);

#endif
