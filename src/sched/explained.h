/* explained.h - internal: what was told of requests at the present state */
#ifndef PAI_SRC_SCHED_EXPLAINED_H
#define PAI_SRC_SCHED_EXPLAINED_H

#include "sched/core.h"

/* Both forms of one explanation; NULL-terminated texts. */
typedef struct pai__explanation {
  uint64_t id;
  char *text, *json;
} pai__explanation;

/* They cost milliseconds where thousands wait, and callers ask again while
 * nothing has happened: so the last ones are kept until something does. */
struct pai__explained {
  uint64_t events; /* of the scheduler, as they were made */
  pai__flat list;  /* pai__explanation */
};

/* A scheduler keeps explanations from now on.  PAI_OK or PAI_ENOMEM. */
int pai__explained_new(pai_sched *s);
void pai__explained_free(pai_sched *s);

/* That of a request, if nothing has happened since; or NULL. */
const pai__explanation *pai__explained_find(const pai_sched *s, uint64_t id);
/* Keeps copies, if there is memory and the scheduler keeps any. */
void pai__explained_keep(const pai_sched *s, uint64_t id, const char *text,
                         const char *json);

#endif
