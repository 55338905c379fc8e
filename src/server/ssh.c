/*
 * ssh.c - how the tasks of a job are reached by ssh, and its key
 *
 * Two routes, for what they say is of two kinds: addresses and public keys are
 * everybody's who may see the job; the private key is its user's alone, as that
 * of the user's own account is.  A program's token may have it, too: it may
 * begin any command in the task, which could read it.
 */
#include "server/server.h"

typedef int teller(pai_platform *platform, pai_job_id job, pai_write_cb write,
                   void *user_data, pai_error **err);

static void tell(pai__request *r, teller *of)
{
  pai_job_id job = pai__request_job(r);
  pai_error *err = NULL;
  int rc;

  if (job == 0)
    return;
  rc = of(r->server->platform, job, pai__answer_write, &r->answer, &err);
  if (rc != PAI_ENOTFOUND) {
    pai__answer_written(r, rc, err);
    return;
  }
  pai_error_free(err);
  pai__answer_error(r, 404, "NoJobSshInfoError", /* as OpenPAI says it */
                    "SSH info of job %s is not found.", r->params[0]);
}

void pai__ssh_show(pai__request *r)
{
  tell(r, pai_platform_ssh);
}

static void do_key(pai__request *r)
{
  tell(r, pai_platform_ssh_key);
}

/* --- answers --- */

static const pai__field container_fields[] = { PAI__HAS(TEXT, "taskRole"),
                                               PAI__HAS(WHOLE, "taskIndex"),
                                               PAI__HAS(TEXT, "sshUser"),
                                               PAI__HAS(TEXT, "sshIp"),
                                               PAI__HAS(TEXT, "sshPort"),
                                               PAI__HAS(TEXT, "hostKey"),
                                               { 0 } };

static const pai__shape container = { "SshContainer", container_fields };

static const pai__field ssh_fields[] = { PAI__HAS_OF(LIST, "containers",
                                                     &container),
                                         PAI__HAS_OR_NULL(TEXT, "publicKey"),
                                         { 0 } };

static const pai__shape ssh_shape = { "Ssh", ssh_fields };

const pai__result pai__ssh_result = { .kind = PAI__IS_OBJECT,
                                      .shape = &ssh_shape };

static const pai__field key_fields[] = { PAI__HAS(TEXT, "privateKey"), { 0 } };

static const pai__shape key_shape = { "SshKey", key_fields };

static const pai__result key = { .kind = PAI__IS_OBJECT, .shape = &key_shape };

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/jobs/:job/ssh",
    .handle = pai__ssh_show,
    .right = PAI__OF_READERS,
    .result = &pai__ssh_result,
    .summary = "Get addresses for SSH into the tasks of a job",
    .errors = "404 NoJobSshInfoError, 404 NoJobError" },
  { .method = "GET",
    .path = "/api/v2/jobs/:job/ssh/key",
    .handle = do_key,
    .right = PAI__OF_OWNER_ALONE,
    .noted = true,
    .submits = true,
    .result = &key,
    .summary = "Get the private SSH key of a job (only for its user)",
    .errors = "404 NoJobSshInfoError, 404 NoJobError" },
};

const pai__routes pai__ssh_routes = { routes, PAI__LEN(routes) };
