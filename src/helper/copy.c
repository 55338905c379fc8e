/* copy.c - files between a job and this machine */
#include "helper.h"

#include <openpai/client_files.h>

#include <string.h>

static void on_copied(void *user_data, int status, const pai_client_answer *a)
{
  helper_call *c = user_data;
  helper_editor *e = c->editor;

  c->op = NULL;
  if (e->closing)
    ;
  else if (status == PAI_OK)
    helper_respond(e, c->request, strdup(a->body));
  else if (c->cancelled)
    helper_refuse(e, c->request, HELPER_CANCELLED, "cancelled");
  else
    helper_refuse_with(e, c->request, status, a->err, a->http_status, a->code);
  helper_call_free(c);
}

static int download(helper_call *c, pai_client *client, const pai_json *params,
                    pai_error **err)
{
  pai_download_options o = PAI_DOWNLOAD_OPTIONS_INIT;

  o.path = cli_json_text(params, 0, "path");
  o.to = cli_json_text(params, 0, "file");
  return pai_client_download(&c->op, client, cli_json_text(params, 0, "job"),
                             &o, on_copied, c, err);
}

static int upload(helper_call *c, pai_client *client, const pai_json *params,
                  pai_error **err)
{
  pai_upload_options o = PAI_UPLOAD_OPTIONS_INIT;

  o.path = cli_json_text(params, 0, "path");
  o.from = cli_json_text(params, 0, "file");
  return pai_client_upload(&c->op, client, cli_json_text(params, 0, "job"), &o,
                           on_copied, c, err);
}

/* A relative path would be one of the helper's folder, which no editor
 * knows. */
static bool is_good(const pai_json *params)
{
  return cli_json_text(params, 0, "file")[0] == '/' &&
         cli_json_text(params, 0, "path")[0] != '\0' &&
         cli_json_text(params, 0, "job")[0] != '\0';
}

HELPER_METHOD(copy)
{
  pai_client *client = helper_find_client(e, request, params);
  bool up = strcmp(cli_json_text(params, 0, "to"), "job") == 0;
  pai_error *err = NULL;
  helper_call *c;
  int rc;

  if (client == NULL)
    return;
  c = is_good(params) ? helper_call_new(e, request) : NULL;
  if (c == NULL) {
    helper_refuse(e, request, HELPER_INVALID_PARAMS,
                  "give a job, a path in it, and the absolute path of a file "
                  "of this machine");
    return;
  }
  rc =
    up ? upload(c, client, params, &err) : download(c, client, params, &err);
  helper_check_begun(c, rc, err);
}
