/* absent.c - what clients ask for and a single machine has not */
#include "server/server.h"

/* Keys are made in the tasks, and are theirs; `openpai ssh` needs none. */
void pai__absent_ssh(pai__request *r)
{
  pai__answer_error(r, 404, "NoJobSshInfoError",
                    "SSH info of job %s is not found.", r->params[0]);
}

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
    .path = "/api/v2/jobs/:job/ssh",
    .handle = pai__absent_ssh,
    .right = PAI__OF_READERS,
    .summary = "How to reach a job by SSH: nothing is known of that",
    .errors = "404 NoJobSshInfoError, 404 NoJobError" },
  { .method = "GET",
    .path = "/api/internal/tail-logs/:log",
    .handle = do_tail_logs,
    .right = PAI__OF_ALL,
    .summary = "The end of a log that Azure has: there is none",
    .errors = "500 UnknownError" },
};

const pai__routes pai__absent_routes = { routes, PAI__LEN(routes) };
