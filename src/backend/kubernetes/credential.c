/*
 * credential.c - input and output of a token program: ExecCredential of
 * client.authentication.k8s.io
 */
#include "backend/kubernetes/program.h"

#include "base/date.h"
#include "base/text/encode.h"
#include "json/json.h"
#include "json/writer.h"

/* --- input --------------------------------------------------------------- */

static void put_cluster(pai__json_writer *w, const pai__kube_options *o)
{
  pai__buf ca;

  pai__json_put_object(w, "cluster");
  pai__json_put_known(w, "server", o->url);
  pai__json_put_known(w, "proxy-url", o->proxy);
  pai__buf_init(&ca, w->out->alloc);
  if (o->ca != NULL) {
    pai__put_base64(&ca, o->ca, strlen(o->ca));
    pai__json_put_known(w, "certificate-authority-data", pai__buf_text(&ca));
  }
  w->out->failed |= ca.failed;
  pai__buf_dispose(&ca);
  pai__json_end_object(w);
}

void pai__kube_put_info(pai__buf *out, const pai__kube_options *o)
{
  pai__json_writer w;

  pai__json_writer_init(&w, out, false);
  pai__json_begin_object(&w);
  pai__json_put_known(&w, "kind", "ExecCredential");
  pai__json_put_known(&w, "apiVersion", o->program->version);
  pai__json_put_object(&w, "spec");
  pai__json_put_bool(&w, "interactive", false);
  if (o->program->wants_cluster)
    put_cluster(&w, o);
  pai__json_end_object(&w);
  pai__json_end_object(&w);
  (void)pai__json_finish(&w); /* the buffer records a lack of memory */
}

/* --- dates --------------------------------------------------------------- */

/* Parses n digits and one of `signs` after them; -1: no match. */
static int64_t digits(const char **at, unsigned n, const char *signs)
{
  int64_t value = 0;

  for (; n > 0; n--, (*at)++) {
    if (**at < '0' || **at > '9')
      return -1;
    value = value * 10 + (**at - '0');
  }
  if (signs == NULL)
    return value;
  if (**at == '\0' || strchr(signs, **at) == NULL)
    return -1;
  (*at)++;
  return value;
}

/* Parses "Z" or "+01:00" as seconds east; false: invalid. */
static bool read_zone(const char *at, int64_t *out)
{
  int64_t sign = *at == '-' ? -1 : 1, hours, minutes;

  *out = 0;
  if ((*at | 32) == 'z')
    return at[1] == '\0';
  if (*at != '+' && *at != '-')
    return false;
  at++;
  hours = digits(&at, 2, ":");
  minutes = hours >= 0 ? digits(&at, 2, NULL) : -1;
  *out = sign * (hours * 3600 + minutes * 60);
  return hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60 &&
         *at == '\0';
}

/* Parses an RFC 3339 date; false: invalid. */
static bool read_date(const char *at, pai_time *out)
{
  static const struct {
    unsigned digits;
    const char *signs;
    int64_t least, most;
  } parts[] = {
    { 4, "-", 1970, 9999 }, { 2, "-", 1, 12 }, { 2, "Tt ", 1, 31 },
    { 2, ":", 0, 23 },      { 2, ":", 0, 59 }, { 2, NULL, 0, 60 }
  };
  int64_t n[PAI__LEN(parts)], zone, days;

  for (size_t i = 0; i < PAI__LEN(parts); i++) {
    n[i] = digits(&at, parts[i].digits, parts[i].signs);
    if (n[i] < parts[i].least || n[i] > parts[i].most)
      return false;
  }
  if (*at == '.')
    at += 1 + strspn(at + 1, "0123456789");
  if (!read_zone(at, &zone))
    return false;
  days = pai__date_number(n[0], n[1], n[2]);
  *out =
    (days * 86400 + n[3] * 3600 + n[4] * 60 + n[5] - zone) * (pai_time)1000000;
  return *out > 0;
}

/* --- output -------------------------------------------------------------- */

/* Returns a non-empty text, or NULL. */
static const char *text_of(const pai__tree *t, pai__node n, const char *key)
{
  const char *text = pai__tree_look_text(t, n, key, "");

  return text[0] != '\0' ? text : NULL;
}

static bool is(const char *text, const char *want)
{
  return text != NULL && strcmp(text, want) == 0;
}

/* Returns what is wrong with the output, as part of an error, or NULL. */
static const char *judge(const pai__tree *t, const char *version,
                         pai__node *status)
{
  *status = PAI__NO_NODE;
  if (pai__tree_type(t, 0) != PAI__MAPPING ||
      !is(text_of(t, 0, "kind"), "ExecCredential"))
    return "its output is not an ExecCredential";
  if (!is(text_of(t, 0, "apiVersion"), version))
    return "its output has another apiVersion than requested";
  *status = pai__tree_get(t, 0, "status");
  return NULL;
}

static int take(pai__buf *token, pai_time *expires, const pai__tree *t,
                const char *version, pai_error **err)
{
  pai__node status;
  const char *wrong = judge(t, version, &status), *text, *date;

  if (wrong != NULL)
    return pai__fail(err, PAI_EINVAL, "%s", wrong);
  text = text_of(t, status, "token");
  date = text_of(t, status, "expirationTimestamp");
  if (text == NULL && text_of(t, status, "clientCertificateData") != NULL)
    return pai__fail(
      err, PAI_ENOTSUP,
      "it returns a certificate, but only tokens are supported");
  if (text == NULL)
    return pai__fail(err, PAI_EINVAL, "it printed no token");
  if (date != NULL && !read_date(date, expires))
    return pai__fail(err, PAI_EINVAL, "its expirationTimestamp is not a date");
  pai__buf_str(token, text);
  return pai__buf_ok(token) ? PAI_OK : pai__oom(err);
}

int pai__kube_read_credential(pai__buf *token, pai_time *expires,
                              const char *json, size_t len,
                              const char *version, pai_error **err)
{
  pai__json_options options = { .flags = PAI__JSON_DUPLICATES,
                                .alloc = token->alloc };
  pai__tree *tree = NULL;
  int rc = pai__json_parse(&tree, json, len, &options, NULL);

  *expires = 0;
  if (rc == PAI_ENOMEM)
    return pai__oom(err);
  if (rc < 0) /* the parser's message could contain a secret */
    return pai__fail(err, PAI_EINVAL, "its output is not valid JSON");
  rc = take(token, expires, tree, version, err);
  pai__tree_free(tree);
  return rc;
}
