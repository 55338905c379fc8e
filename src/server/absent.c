/* absent.c - what clients ask for and a single machine has not */
#include "server/server.h"

/* Logs lie on this machine, and none in Azure. */
static void do_tail_logs(pai__request *r)
{
  pai__answer_error(r, 500, "UnknownError",
                    "Log %s is in no storage of Azure: logs of tasks are at "
                    "their own addresses.",
                    r->params[0]);
}

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/internal/tail-logs/:log",
    .handle = do_tail_logs,
    .right = PAI__OF_ALL,
    .summary = "Get the end of a log in Azure (not supported)",
    .errors = "500 UnknownError" },
};

const pai__routes pai__absent_routes = { routes, PAI__LEN(routes) };
