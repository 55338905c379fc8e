/* protocol.c - job files of items: valid, and without values of secrets */
#include "market/inside.h"

#include "spec/spec.h"

enum { LONGEST_PROTOCOL = 128 << 10 };

/* Parts of credentials that must not be in a job file that others run.
 * OpenPAI's marketplace wrote such connection strings into each user's job. */
static const char *const credentials[] = {
  "AccountKey=", "SharedAccessSignature=", "PRIVATE KEY-----"
};

static int refuse(pai_error **err, const char *fmt, ...) PAI__PRINTF(2, 3);
static int refuse(pai_error **err, const char *fmt, ...)
{
  pai__buf b;
  va_list ap;

  pai__buf_init(&b, &pai__libc_alloc);
  va_start(ap, fmt);
  pai__buf_vprintf(&b, fmt, ap);
  va_end(ap);
  (void)pai__fail(err, PAI_EINVAL, "%s", pai__buf_text(&b));
  pai__buf_dispose(&b);
  return pai__as(err, PAI_EINVAL, 400, "InvalidProtocolError");
}

/* Makes the error of the checker one of the API, with its line. */
static int invalid(pai_error **err, int rc)
{
  pai_error *cause = err != NULL ? *err : NULL;

  if (rc == PAI_ENOMEM || cause == NULL)
    return rc;
  *err = NULL;
  rc = refuse(err, "The job file is not valid: line %u, column %u: %s",
              pai_error_line(cause), pai_error_column(cause),
              pai_error_message(cause));
  if (pai_error_help(cause) != NULL)
    pai__error_help(err, "%s", pai_error_help(cause));
  pai_error_free(cause);
  return rc;
}

/* Returns whether a secret has no value: it is masked or empty, or all that is
 * in it is so.  Files of jobs are shown like that. */
static bool is_masked(const pai__tree *t, pai__node n)
{
  pai__tree_walk walk;
  pai__node k;
  bool mapping = false;

  switch (pai__tree_type(t, n)) {
  case PAI__NULL: return true;
  case PAI__STRING: {
    const char *text = pai__tree_str(t, n, NULL);
    return text[0] == '\0' || strcmp(text, PAI__MASK) == 0;
  }
  case PAI__MAPPING: mapping = true; break;
  case PAI__SEQUENCE: break;
  default: return false;
  }
  walk = pai__tree_iter(t, n);
  while ((k = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (!is_masked(t, mapping ? pai__tree_value(t, k) : k))
      return false;
  return true;
}

static int check_secrets(const pai_spec *spec, pai_error **err)
{
  int rc;

  for (size_t i = 0; i < spec->secrets.len; i++)
    if (!is_masked(spec->tree, spec->secrets.list[i].node)) {
      rc = refuse(err, "The job file contains the value of a secret, which "
                       "all users of the item could read.");
      pai__error_help(err, "remove the values of \"secrets\": each user "
                           "gives them when the job is submitted");
      return rc;
    }
  return PAI_OK;
}

static int check_credentials(const char *text, pai_error **err)
{
  int rc;

  for (size_t i = 0; i < PAI__LEN(credentials); i++)
    if (strstr(text, credentials[i]) != NULL) {
      rc = refuse(err, "The job file contains a credential: \"%s\".",
                  credentials[i]);
      pai__error_help(err, "use <%% $secrets.NAME %%>: each user gives the "
                           "value when the job is submitted");
      return rc;
    }
  return PAI_OK;
}

int pai__check_protocol(const pai_market *m, const char *text, pai_error **err)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_spec *spec = NULL;
  size_t len = strlen(text);
  int rc;

  if (len == 0)
    return refuse(err, "Empty protocol is not allowed");
  if (len > LONGEST_PROTOCOL)
    return refuse(err, "\"protocol\" is longer than %d bytes",
                  LONGEST_PROTOCOL);
  o.alloc = &m->alloc;
  rc = pai_spec_parse(&spec, text, len, &o, err);
  if (rc < 0)
    return invalid(err, rc);
  rc = check_secrets(spec, err);
  pai_spec_unref(spec);
  return rc == PAI_OK ? check_credentials(text, err) : rc;
}
