/* request.h - what files about requests share */
#ifndef PAI_SRC_SERVER_REQUEST_H
#define PAI_SRC_SERVER_REQUEST_H

#include "server/server.h"

/* Its answer waits for the database no more. */
void pai__waiting_forget(pai__request *r);

/* who.c: whether who asks may, as far as the head tells, and then with the body
 * that was checked; if not, that is the answer. */
bool pai__request_may(pai__request *r);
bool pai__request_may_do(pai__request *r);
/* body.c: whether the body can be read; if not, that is the answer. */
bool pai__body_is_known(pai__request *r);
/* Reads and checks the body of a route with fields; likewise. */
bool pai__body_read(pai__request *r);
/* audit.c: notes what was changed, and how it was answered. */
void pai__request_note(pai__request *r);
/* What is changed from now on is the caller's doing; or nobody's. */
void pai__request_act(const pai__request *r);
void pai__request_acted(const pai__request *r);
/* posix_listen.c: fills in `caller` and `who` by the kernel's word.  PAI_OK;
 * PAI_EPERM: it cannot be told; PAI_EIO: who has that number cannot be told now;
 * PAI_ENOMEM. */
int pai__request_find_user(pai__request *r);

/* count.c: its answer is being sent. */
void pai__count_answer(pai__request *r);

#endif
