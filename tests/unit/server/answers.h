/* answers.h - answers, held against the tables that the API's document is
 * written from */
#ifndef PAI_TESTS_SERVER_ANSWERS_H
#define PAI_TESTS_SERVER_ANSWERS_H

#include "asked.h"

#include "server/server.h"

/* What was answered has all that its route's table has, and nothing else.  What
 * the played platform has written itself is passed over. */
void check_answer(const scene *s, const char *request, const char *answer);

/* Whether JSON is as a table says; if not, why. */
bool fits_result(char *why, size_t size, const pai__api_answer *result,
                 const char *json);

#endif
