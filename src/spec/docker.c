/*
 * docker.c - registry accounts of a job's images, as docker's configuration
 *
 * Missing fields are empty, the default registry is Docker Hub, and the later
 * of two accounts of one registry counts: job-spec 1.3.
 */
#include "spec/commands.h"
#include "spec/spec.h"
#include "base/text/encode.h"
#include "json/writer.h"

typedef struct account {
  const char *registry;
  size_t len;
  pai__node auth;
} account;

typedef struct docker {
  const pai_spec *spec;
  account *list;
  size_t len, cap;
  bool failed;
} docker;

/* Adds an account, or replaces an earlier one of the same registry. */
static void add(docker *d, pai__node auth)
{
  static const char hub[] = "https://index.docker.io/v1/";
  const pai__tree *t = d->spec->tree;
  account a = { .auth = auth };
  size_t i = 0;

  a.registry = pai__text_at(t, pai__tree_get(t, auth, "registryuri"), &a.len);
  if (a.registry == NULL) {
    a.registry = hub;
    a.len = sizeof(hub) - 1;
  }
  while (i < d->len && (d->list[i].len != a.len ||
                        memcmp(d->list[i].registry, a.registry, a.len) != 0))
    i++;
  if (i == d->len &&
      PAI__VEC_ROOM(&d->spec->alloc, d->list, d->len, d->cap) < 0) {
    d->failed = true;
    return;
  }
  d->len += i == d->len;
  d->list[i] = a;
}

static void collect(docker *d)
{
  const pai__tree *t = d->spec->tree;
  pai__node list = pai__tree_get(t, 0, "prerequisites"), item;
  pai__tree_walk walk;

  if (list == PAI__NO_NODE)
    return;
  walk = pai__tree_iter(t, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node auth = pai__tree_get(t, item, "auth");
    if (auth != PAI__NO_NODE)
      add(d, auth);
  }
}

/* Appends a text with the job's secrets filled in. */
static void put_filled(docker *d, pai__buf *out, const char *s, size_t len)
{
  pai__template_scope secrets = pai__secrets_scope(d->spec->tree);
  pai__template t = { .scopes = &secrets, .nscopes = 1 };

  if (s != NULL && pai__template_render(out, s, len, &t, NULL) == PAI_ENOMEM)
    d->failed = true;
}

static void write_account(docker *d, pai__json_writer *w, const account *a)
{
  const pai__tree *t = d->spec->tree;
  pai__buf plain, coded;
  size_t len;
  const char *s;

  pai__buf_init(&plain, &d->spec->alloc);
  pai__buf_init(&coded, &d->spec->alloc);
  put_filled(d, &plain, a->registry, a->len);
  pai__json_key(w, pai__buf_text(&plain), plain.len);
  pai__buf_clear(&plain);
  s = pai__text_at(t, pai__tree_get(t, a->auth, "username"), &len);
  put_filled(d, &plain, s, len);
  pai__buf_char(&plain, ':');
  s = pai__text_at(t, pai__tree_get(t, a->auth, "password"), &len);
  put_filled(d, &plain, s, len);
  pai__put_base64(&coded, pai__buf_text(&plain), plain.len);
  d->failed |= !pai__buf_ok(&plain) || !pai__buf_ok(&coded);
  pai__json_begin_object(w);
  pai__json_put_text(w, "auth", pai__buf_text(&coded));
  pai__json_end_object(w);
  pai__buf_dispose(&plain);
  pai__buf_dispose(&coded);
}

static int put(docker *d, pai__buf *out)
{
  pai__json_writer w;
  int rc;

  collect(d);
  pai__json_writer_init(&w, out, false);
  pai__json_begin_object(&w);
  pai__json_put_object(&w, "auths");
  for (size_t i = 0; i < d->len && !d->failed; i++)
    write_account(d, &w, &d->list[i]);
  pai__json_end_object(&w);
  pai__json_end_object(&w);
  rc = pai__json_finish(&w);
  return d->failed ? PAI_ENOMEM : rc;
}

int pai_spec_docker_config(const pai_spec *spec, pai_write_cb write,
                           void *user_data, pai_error **err)
{
  docker d = { .spec = spec };
  pai__buf out;
  int rc;

  PAI__CHECK_ARG_ERR(spec != NULL && write != NULL, err);
  pai__buf_init(&out, &spec->alloc);
  rc = put(&d, &out);
  if (rc < 0)
    rc = pai__oom(err);
  else
    rc = write(user_data, pai__buf_text(&out), out.len);
  pai__free(&spec->alloc, d.list, d.cap * sizeof(*d.list));
  pai__buf_dispose(&out);
  return rc < 0 ? rc : PAI_OK;
}
