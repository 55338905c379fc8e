/* explain_text.h - internal: the words of why a request waits */
#ifndef PAI_SRC_SCHED_EXPLAIN_TEXT_H
#define PAI_SRC_SCHED_EXPLAIN_TEXT_H

#include "base/buf.h"
#include "sched/remedy.h"

/* What is known of a request while its explanation is written. */
typedef struct pai__telling {
  const pai_sched *s;
  const pai__req *r;
  uint32_t req;
  pai_reason reason;
  bool waits; /* also a request that has to leave its place first */
  pai__remedy own, others;
  pai__buf *out;
} pai__telling;

/* The whole paragraph. */
void pai__tell_waiting(pai__telling *t);

/* --- its pieces ----------------------------------------------------------- */

void pai__tell(const pai__telling *t, const char *fmt, ...) PAI__PRINTF(2, 3);
/* "3 GPUs", "1 GPU", "512 MiB of memory". */
void pai__tell_amount(const pai__telling *t, int lack, uint64_t amount);
/* "train (request 3)", or "request 3" where it has no name. */
void pai__tell_request(const pai__telling *t, uint64_t id);
/* The changes with which it would start (explain_change.c). */
void pai__tell_changes(pai__telling *t);

#endif
