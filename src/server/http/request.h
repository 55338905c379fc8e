/* request.h - internal to the room: functions shared by the files about
 * requests */
#ifndef PAI_SRC_SERVER_HTTP_REQUEST_H
#define PAI_SRC_SERVER_HTTP_REQUEST_H

#include "server/server.h"

/* The request's answer no longer waits for the database. */
void pai__waiting_forget(pai__request *r);

/* authorize.c: check the caller's rights, first by the head, then with the
 * checked body; if they do not suffice, answer and return false. */
bool pai__request_may(pai__request *r);
bool pai__request_may_do(pai__request *r);
/* body.c: checks that the body's encoding and charset are supported; if not,
 * answers and returns false. */
bool pai__body_is_known(pai__request *r);
/* Reads and checks the body of a route with fields; if it is invalid, answers
 * and returns false. */
bool pai__body_read(pai__request *r);
/* audit.c: records what was changed, and the status of the answer. */
void pai__request_note(pai__request *r);
/* Sets the caller, or nobody, as the author of the changes that follow. */
void pai__request_act(const pai__request *r);
void pai__request_acted(const pai__request *r);
/* posix_listen.c: sets `caller` and `who` by the peer credentials.  PAI_OK;
 * PAI_EPERM: no credentials; PAI_EIO: the user database cannot be read now;
 * PAI_ENOMEM. */
int pai__request_find_user(pai__request *r);

/* count.c: counts an answer that is being sent. */
void pai__count_answer(pai__request *r);

#endif
