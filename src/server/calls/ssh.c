/*
 * ssh.c - SSH addresses of a job's tasks, and the job's private key
 *
 * There are two routes, as addresses and public keys are for all who may see
 * the job, but the private key is for its owner only, like the key of the
 * owner's account.  An application token may read it, too: it can start any
 * command in the task, which could read the key.
 */
#include "server/server.h"

typedef int teller(pai_platform *platform, pai_job_id job, pai_write_cb write,
                   void *user_data, pai_error **err);

static void tell(pai__request *r, teller *of)
{
  pai_job_id job = pai__request_job(r);
  int rc;

  if (job == 0)
    return;
  rc = of(r->server->platform, job, pai__answer_write, &r->answer, &r->err);
  if (rc == PAI_ENOTFOUND)
    pai__answer_error(r, 404, "NoJobSshInfoError", /* OpenPAI's message */
                      "SSH info of job %s is not found.", r->params[0]);
  else
    pai__answer_written(r, rc);
}

void pai__do_jobs_ssh(pai__request *r)
{
  tell(r, pai_platform_ssh);
}

void pai__do_jobs_ssh_key(pai__request *r)
{
  tell(r, pai_platform_ssh_key);
}
