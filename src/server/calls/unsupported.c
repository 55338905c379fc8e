/* unsupported.c - routes of OpenPAI that a single machine does not have */
#include "server/server.h"

/* Logs are on this machine; none are in Azure. */
void pai__do_absent_tail_logs(pai__request *r)
{
  pai__answer_error(
    r, 500, "UnknownError",
    "Log %s is not in Azure storage: use the URLs in the list of logs.",
    r->params[0]);
}
