/* requests.h - signals as requests to stop what one waits for */
#ifndef PAI_SRC_CLI_REQUESTS_H
#define PAI_SRC_CLI_REQUESTS_H

#include <openpai/loop.h>

/* From now on they are counted, and wake the loop; NULL: they wake none. */
void cli_requests_hear(pai_loop *loop);
/* How many came so far, SIGQUIT as two; and the last signal. */
int cli_requests(void);
int cli_request_last(void);
/* As if that signal had come. */
void cli_request_make(int number);

#endif
