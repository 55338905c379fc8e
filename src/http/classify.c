/* classify.c - result of a request: success, or an error with its cause */
#include "http/inside.h"

/* Sets the system's reason for a failed connection, if there is one. */
static void classify_unix(pai__http_request *r)
{
  long error = 0;

  (void)curl_easy_getinfo(r->easy, CURLINFO_OS_ERRNO, &error);
  if (r->error == NULL && r->result == CURLE_COULDNT_CONNECT && error != 0)
    (void)pai__http_fail_unix((int)error, r->http->socket, &r->error);
}

/* --- certificates -------------------------------------------------------- */

static bool says(const pai__http_request *r, const char *part)
{
  return strstr(r->why, part) != NULL;
}

/* The messages are those of curl and the TLS library. */
static int classify_trust(pai__http_request *r)
{
  pai_error **err = &r->error;

  (void)pai__fail(err, PAI_EPERM, "%s cannot be trusted: %s", r->http->place,
                  r->why);
  if (says(r, "expired") || says(r, "not yet valid"))
    pai__error_help(err, "check this machine's clock, or ask the server's "
                         "administrator to renew the certificate");
  else if (says(r, "subject name") || says(r, "does not match"))
    pai__error_help(err, "use the host name in the server's certificate");
  else {
    pai__error_no_answer(err, PAI_NO_ANSWER_UNTRUSTED);
    pai__error_help(
      err,
      "set ca_file to a file with the certificate of the server's authority");
  }
  return PAI_EPERM;
}

/* Errors with this client's certificate files. */
static int classify_files(pai__http_request *r, const char *what,
                          const char *path)
{
  return pai__fail(&r->error, PAI_EINVAL, "cannot use %s %s: %s", what,
                   path != NULL ? path : "of the system", r->why);
}

/* --- other errors -------------------------------------------------------- */

static int broke(pai__http_request *r, int how, const char *what)
{
  int rc = how == PAI_NO_ANSWER_NOT_REACHED ? PAI_ENOTFOUND : PAI_EIO;

  (void)pai__fail(&r->error, rc, "%s %s: %s", what, r->http->place,
                  r->why[0] != '\0' ? r->why : curl_easy_strerror(r->result));
  pai__error_no_answer(&r->error, how);
  pai__error_retriable(&r->error);
  return rc;
}

static int classify_result(pai__http_request *r)
{
  switch (r->result) {
  case CURLE_OK:
    (void)pai__fail(&r->error, PAI_EIO,
                    "no answer from %s: its head is incomplete",
                    r->http->place);
    pai__error_no_answer(&r->error, PAI_NO_ANSWER_LOST);
    pai__error_retriable(&r->error);
    return PAI_EIO;
  case CURLE_OUT_OF_MEMORY: return pai__oom(&r->error);
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_RESOLVE_PROXY:
    return broke(r, PAI_NO_ANSWER_NOT_REACHED, "cannot find");
  case CURLE_COULDNT_CONNECT:
    return broke(r, PAI_NO_ANSWER_NOT_REACHED, "cannot connect to");
  case CURLE_OPERATION_TIMEDOUT:
    return broke(r, PAI_NO_ANSWER_LATE, "no answer in time from");
  case CURLE_PEER_FAILED_VERIFICATION: return classify_trust(r);
  case CURLE_SSL_CACERT_BADFILE:
    return classify_files(r, "the authorities", r->http->ca_file);
  case CURLE_SSL_CERTPROBLEM:
    return classify_files(r, "the client's certificate", r->http->cert_file);
  case CURLE_TOO_MANY_REDIRECTS:
    return pai__fail(&r->error, PAI_EIO, "%s redirects in a circle",
                     r->http->place);
  case CURLE_USE_SSL_FAILED:
    (void)pai__fail(&r->error, PAI_EPERM, "%s offers no TLS", r->http->place);
    pai__error_help(&r->error, "use a mail server with TLS");
    return PAI_EPERM;
  case CURLE_UNSUPPORTED_PROTOCOL:
    if (says(r, "HTTP/0.9")) /* the answer has no valid head */
      return broke(r, PAI_NO_ANSWER_LOST, "no answer from");
    return pai__fail(&r->error, PAI_EPERM,
                     "%s redirects to an address that is not allowed: %s",
                     r->http->place, r->why);
  default: return broke(r, PAI_NO_ANSWER_LOST, "no answer from");
  }
}

int pai__http_classify(pai__http_request *r)
{
  /* A head that curl made up has no status. */
  if (!r->canceled && r->done && r->result == CURLE_OK &&
      (r->head || r->want.mail != NULL))
    return PAI_OK;
  if (r->http->socket != NULL)
    classify_unix(r);
  if (!r->canceled && r->error != NULL)
    return pai_error_code(r->error);
  pai_error_free(r->error);
  r->error = NULL;
  if (r->canceled || !r->done)
    return pai__fail(&r->error, PAI_ECANCELED, "the request was cancelled");
  if (r->stopped_by < 0)
    return pai__fail(&r->error, r->stopped_by,
                     "the reader of the answer cancelled it");
  return classify_result(r);
}
