/*
 * missing.c - finds the secrets that a job needs and does not have
 *
 * A masked file has "******" in their place, and so has a file that a platform
 * stores.  The user is asked for them before such a job runs again.
 */
#include "spec/notes.h"

#include "spec/commands.h"

typedef struct missing {
  pai_spec *spec;
  pai__map found; /* JSON pointers; the value is not NULL if it is masked */
  bool whole;     /* a masked copy: one mask stands for all secrets */
  pai__buf pointer;
} missing;

static bool is_mask(const pai__tree *t, pai__node n)
{
  size_t len;
  const char *s = pai__text_at(t, n, &len);

  return s != NULL && len == sizeof(PAI__MASK) - 1 &&
         memcmp(s, PAI__MASK, len) == 0;
}

/* Appends a key to a JSON pointer. */
static void add_part(pai__buf *to, const char *key, size_t len)
{
  pai__buf_char(to, '/');
  for (size_t i = 0; i < len; i++)
    if (key[i] == '~' || key[i] == '/')
      pai__buf_str(to, key[i] == '~' ? "~0" : "~1");
    else
      pai__buf_char(to, key[i]);
}

static int keep(missing *m, bool masked)
{
  if (!pai__buf_ok(&m->pointer))
    return PAI_ENOMEM;
  if (!masked && pai__map_get(&m->found, pai__buf_text(&m->pointer),
                              m->pointer.len) != NULL)
    return PAI_OK;
  return pai__map_set(&m->found, pai__buf_text(&m->pointer), m->pointer.len,
                      masked ? m : NULL);
}

static int on_secret(void *user_data, const char *name, size_t len)
{
  missing *m = user_data;

  pai__buf_clear(&m->pointer);
  pai__buf_str(&m->pointer, "/secrets");
  add_part(&m->pointer, name, len);
  return keep(m, m->whole);
}

/* Called for an unresolved name: "$secrets.key[0]" lacks `key`. */
static int on_name(void *user_data, const char *name, size_t len, size_t at)
{
  static const char root[] = "$secrets.";
  const size_t skip = sizeof(root) - 1;
  missing *m = user_data;
  size_t end = skip;

  (void)at;
  if (len <= skip || memcmp(name, root, skip) != 0)
    return PAI_OK;
  while (end < len && name[end] != '.' && name[end] != '[')
    end++;
  return on_secret(m, name + skip, end - skip);
}

static int find_masked_keys(missing *m)
{
  const pai__tree *t = m->spec->tree;
  pai__node secrets = pai__tree_get(t, 0, "secrets"), key;
  pai__tree_walk walk;
  int rc = PAI_OK;

  if (!pai__tree_is(t, secrets, PAI__MAPPING))
    return PAI_OK;
  walk = pai__tree_iter(t, secrets);
  while (rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *name = pai__tree_str(t, key, &len);
    if (!is_mask(t, pai__tree_value(t, key)))
      continue;
    pai__buf_clear(&m->pointer);
    pai__buf_str(&m->pointer, "/secrets");
    add_part(&m->pointer, name, len);
    rc = keep(m, true);
  }
  return rc;
}

/* Checks a field of an account: it may be masked, or a template of a missing
 * secret. */
static int look_at_field(missing *m, size_t item, pai__node key)
{
  const pai__tree *t = m->spec->tree;
  pai__template_scope secrets = pai__secrets_scope(t);
  pai__template how = {
    .scopes = &secrets, .nscopes = 1, .unresolved = on_name, .user_data = m
  };
  size_t len;
  const char *text = pai__text_at(t, pai__tree_value(t, key), &len);
  pai__buf out;
  int rc;

  if (text == NULL)
    return PAI_OK;
  if (is_mask(t, pai__tree_value(t, key))) {
    pai__buf_clear(&m->pointer);
    pai__buf_printf(&m->pointer, "/prerequisites/%zu/auth", item);
    text = pai__tree_str(t, key, &len);
    add_part(&m->pointer, text, len);
    return keep(m, true);
  }
  pai__buf_init(&out, &m->spec->alloc);
  rc = pai__template_render(&out, text, len, &how, NULL);
  pai__buf_dispose(&out);
  return rc == PAI_ENOMEM ? rc : PAI_OK; /* other texts name no secrets */
}

static int look_at_accounts(missing *m)
{
  const pai__tree *t = m->spec->tree;
  pai__node list = pai__tree_get(t, 0, "prerequisites"), item, auth, key;
  pai__tree_walk walk, fields;
  int rc = PAI_OK;

  if (list == PAI__NO_NODE)
    return PAI_OK;
  walk = pai__tree_iter(t, list);
  for (size_t i = 0;
       rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE; i++) {
    auth = pai__tree_get(t, item, "auth");
    if (!pai__tree_is(t, auth, PAI__MAPPING))
      continue;
    fields = pai__tree_iter(t, auth);
    while (rc == PAI_OK && (key = pai__tree_next(&fields)) != PAI__NO_NODE)
      rc = look_at_field(m, i, key);
  }
  return rc;
}

static int find(missing *m)
{
  const pai_spec *spec = m->spec;
  pai__node secrets = pai__tree_get(spec->tree, 0, "secrets");
  int rc = find_masked_keys(m);

  m->whole = secrets != PAI__NO_NODE && is_mask(spec->tree, secrets);
  for (size_t i = 0; rc == PAI_OK && i < spec->nunresolved; i++)
    rc = on_name(m, spec->unresolved[i], strlen(spec->unresolved[i]), 0);
  if (rc == PAI_OK)
    rc = pai__spec_environment_secrets(spec, on_secret, m);
  return rc == PAI_OK ? look_at_accounts(m) : rc;
}

int pai__spec_missing(pai_spec *spec)
{
  missing m = { .spec = spec };
  const pai__map_entry *e;
  int rc;

  pai__map_init(&m.found, &spec->alloc);
  pai__buf_init(&m.pointer, &spec->alloc);
  rc = find(&m);
  if (rc == PAI_OK) {
    spec->missing = pai__arena_zalloc(&spec->arena, m.found.live + 1,
                                      sizeof(*spec->missing));
    rc = spec->missing != NULL ? PAI_OK : PAI_ENOMEM;
  }
  for (size_t i = 0;
       rc == PAI_OK && (e = pai__map_next(&m.found, &i)) != NULL;) {
    const char *pointer = pai__arena_strndup(&spec->arena, e->key, e->len);
    if (pointer == NULL)
      rc = PAI_ENOMEM;
    else
      spec->missing[spec->nmissing++] =
        (pai__missing){ pointer, e->value != NULL };
  }
  pai__buf_dispose(&m.pointer);
  pai__map_dispose(&m.found);
  return rc;
}
