/* requests.h - signals that ask a waiting verb to stop */
#ifndef PAI_SRC_CLI_REQUESTS_H
#define PAI_SRC_CLI_REQUESTS_H

#include <openpai/loop.h>

/* Catches and counts these signals from now on; each wakes the loop.  NULL: no
 * loop is woken any more. */
void cli_requests_hear(pai_loop *loop);
/* Return how many signals came, SIGQUIT counted as two; and the last one. */
int cli_requests(void);
int cli_request_last(void);
/* Counts a signal as if it had come. */
void cli_request_make(int number);

#endif
