/*
 * fuzz_credential.c - what a program that makes tokens is told, and what it
 * answers
 *
 * The first line is what a kubeconfig file says of the cluster, and comes back
 * as it was from what the program is told; the rest is its answer.  No error
 * has any of that.
 */
#include "check.h"

#include "backend/kubernetes/program.h"
#include "json/json.h"

static const char version[] = "client.authentication.k8s.io/v1";

static pai__tree *parse(const char *json, size_t len)
{
  pai__json_options options = { .flags = PAI__JSON_DUPLICATES };
  pai__tree *t;

  return pai__json_parse(&t, json, len, &options, NULL) == PAI_OK ? t : NULL;
}

static bool is(const pai__tree *t, pai__node n, const char *key,
               const char *want)
{
  n = pai__tree_get(t, n, key);
  return n != PAI__NO_NODE && strcmp(pai__tree_str(t, n, NULL), want) == 0;
}

/* JSON writes what is no UTF-8 otherwise: then it is only read. */
static void tell(const char *line, size_t len, bool cluster)
{
  char *text = malloc(len + 1);
  pai__kube_program program = { .version = version, .wants_cluster = cluster };
  pai__kube_options o = { .program = &program, .url = text, .ca = text };
  pai__node spec;
  pai__tree *t;
  pai__buf out;
  bool plain = true;

  CHECK(text != NULL);
  memcpy(text, line, len);
  text[len] = '\0';
  for (size_t i = 0; i < len; i++)
    plain = plain && text[i] > 0;
  pai__buf_init(&out, &pai__libc_alloc);
  pai__kube_put_info(&out, &o);
  t = parse(pai__buf_text(&out), out.len);
  CHECK(t != NULL && is(t, 0, "kind", "ExecCredential"));
  CHECK(is(t, 0, "apiVersion", version));
  spec = pai__tree_get(t, 0, "spec");
  CHECK((pai__tree_get(t, spec, "cluster") != PAI__NO_NODE) == cluster);
  if (cluster && plain)
    CHECK(is(t, pai__tree_get(t, spec, "cluster"), "server", text));
  pai__tree_free(t);
  pai__buf_dispose(&out);
  free(text);
}

/* The last moment of the year 9999, with any zone's hours. */
#define MOST_TIME ((pai_time)253402387200 * 1000000)

static void hear(const char *json, size_t len)
{
  pai_error *err = NULL;
  pai_time expires;
  pai__tree *t;
  pai__buf token;
  int rc;

  pai__buf_init(&token, &pai__libc_alloc);
  rc = pai__kube_read_credential(&token, &expires, json, len, version, &err);
  CHECK(expires >= 0 && expires <= MOST_TIME);
  if (rc == PAI_OK) {
    CHECK(err == NULL && token.len > 0);
    t = parse(json, len);
    CHECK(t != NULL && is(t, pai__tree_get(t, 0, "status"), "token",
                          pai__buf_text(&token)));
    pai__tree_free(t);
  } else {
    CHECK(token.len == 0 && (rc == PAI_EINVAL || rc == PAI_ENOTSUP));
    check_error(err, rc);
    CHECK(strpbrk(pai_error_message(err), "{}\"\\") == NULL);
  }
  pai_error_free(err);
  pai__buf_dispose(&token);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *line = (const char *)data, *end;
  size_t len;
  char *copy;

  if (size == 0)
    return 0;
  end = memchr(line, '\n', size);
  len = end != NULL ? (size_t)(end - line) : size;
  tell(line, len, len % 2 == 0);
  len = end != NULL ? size - len - 1 : 0;
  copy = malloc(len + 1); /* with an end, as the program's output has it */
  CHECK(copy != NULL);
  memcpy(copy, line + (size - len), len);
  copy[len] = '\0';
  hear(copy, len);
  free(copy);
  return 0;
}
