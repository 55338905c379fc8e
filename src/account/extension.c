/*
 * extension.c - extension data of users and groups, a JSON object stored as
 * text
 *
 * All texts here were written by this room: they are parsed and written again,
 * so that keys are spelled in one way.
 */
#include "account/inside.h"

/* --- updates of a text --------------------------------------------------- */

typedef struct rewrite {
  pai__tree *t; /* of the old text */
  pai__buf b;
  pai__json_writer w;
} rewrite;

static int begin(rewrite *r, const pai_alloc *alloc, const char *text)
{
  pai__json_options o = { .alloc = alloc };

  pai__buf_init(&r->b, alloc);
  pai__json_writer_init(&r->w, &r->b, false);
  return pai__json_parse(&r->t, text, strlen(text), &o, NULL);
}

static int end(rewrite *r, int rc, const pai_alloc *alloc, char **text,
               pai_error **err)
{
  int written = pai__json_finish(&r->w);
  char *made = NULL;

  pai__tree_free(r->t);
  if (rc == PAI_OK)
    rc = written;
  if (rc == PAI_OK && r->b.len > PAI__MOST_EXTENSION)
    rc = PAI_ELIMIT;
  if (rc == PAI_OK && (made = pai__buf_take(&r->b)) == NULL)
    rc = PAI_ENOMEM;
  pai__buf_dispose(&r->b);
  if (rc == PAI_ELIMIT) {
    (void)pai__fail(err, rc,
                    "the extension is too large or too deeply nested");
    return pai__as(err, rc, 413, "InvalidParametersError");
  }
  if (rc < 0)
    return rc == PAI_ENOMEM ? pai__oom(err)
                            : pai__fail(err, PAI_EINTERNAL,
                                        "an extension is not a JSON object");
  pai__strfree(alloc, *text);
  *text = made;
  return PAI_OK;
}

/* Secret members.  Of an object only the member `member` is secret; NULL: all
 * of it. */
static const struct {
  const char *name, *member;
  bool each; /* `member` is secret in each of its members */
} secrets[] = {
  { "jobSSH", "key", false },
  { "boundedClusters", "token", true },
  { "githubPAT", NULL, false },
};

/* Keeps secrets that the new value lacks: clients do not see secrets of
 * others, so writing back what was shown must not remove them. */
static void write_over(pai__json_writer *w, const pai__tree *t, pai__node n,
                       const pai__tree *of, pai__node old, const char *member,
                       bool each)
{
  pai__tree_walk walk;
  pai__node key;

  if (old == PAI__NO_NODE || pai__tree_type(t, n) != PAI__MAPPING ||
      pai__tree_type(of, old) != PAI__MAPPING) {
    pai__json_node(w, t, n);
    return;
  }
  pai__json_begin_object(w);
  walk = pai__tree_iter(t, n);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *name = pai__tree_str(t, key, &len);
    pai__json_key(w, name, len);
    if (each)
      write_over(w, t, pai__tree_value(t, key), of,
                 pai__tree_get(of, old, name), member, false);
    else
      pai__json_node(w, t, pai__tree_value(t, key));
  }
  old = each ? PAI__NO_NODE : pai__tree_get(of, old, member);
  if (old != PAI__NO_NODE && pai__tree_get(t, n, member) == PAI__NO_NODE) {
    pai__json_member(w, member);
    pai__json_node(w, of, old);
  }
  pai__json_end_object(w);
}

static void write_other(rewrite *r, const char *name, const pai__tree *t,
                        pai__node n, pai__node old)
{
  size_t i = 0;

  while (i < PAI__LEN(secrets) && strcmp(secrets[i].name, name) != 0)
    i++;
  if (i < PAI__LEN(secrets) && secrets[i].member != NULL)
    write_over(&r->w, t, n, r->t, old, secrets[i].member, secrets[i].each);
  else
    pai__json_node(&r->w, t, n);
}

int pai__extension_merge(const pai_alloc *alloc, char **text,
                         const pai__tree *t, pai__node n, pai_error **err)
{
  pai__tree_walk walk;
  rewrite r;
  pai__node key;
  int rc = begin(&r, alloc, *text);

  pai__json_begin_object(&r.w);
  if (rc == PAI_OK) {
    walk = pai__tree_iter(r.t, 0);
    while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
      size_t len;
      const char *name = pai__tree_str(r.t, key, &len);
      pai__node other = pai__tree_find(t, n, name, len);
      pai__json_key(&r.w, name, len);
      if (other != PAI__NO_NODE)
        write_other(&r, name, t, pai__tree_value(t, other),
                    pai__tree_value(r.t, key));
      else
        pai__json_node(&r.w, r.t, pai__tree_value(r.t, key));
    }
    walk = pai__tree_iter(t, n);
    while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
      size_t len;
      const char *name = pai__tree_str(t, key, &len);
      if (pai__tree_find(r.t, 0, name, len) != PAI__NO_NODE)
        continue;
      pai__json_key(&r.w, name, len);
      pai__json_node(&r.w, t, pai__tree_value(t, key));
    }
  }
  pai__json_end_object(&r.w);
  return end(&r, rc, alloc, text, err);
}

/* --- one value ----------------------------------------------------------- */

/* Writes a copy of the node, which may be PAI__NO_NODE, with the value set at
 * `path`. */
static void write_set(rewrite *r, pai__node n, const char *path,
                      const pai__tree *value)
{
  const char *slash = strchr(path, '/');
  size_t len = slash != NULL ? (size_t)(slash - path) : strlen(path);
  bool mapping = n != PAI__NO_NODE && pai__tree_type(r->t, n) == PAI__MAPPING;
  pai__node found =
    mapping ? pai__tree_find(r->t, n, path, len) : PAI__NO_NODE;
  pai__tree_walk walk;
  pai__node key;

  pai__json_begin_object(&r->w);
  if (mapping) {
    walk = pai__tree_iter(r->t, n);
    while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
      size_t key_len;
      const char *name = pai__tree_str(r->t, key, &key_len);
      if (key == found)
        continue;
      pai__json_key(&r->w, name, key_len);
      pai__json_node(&r->w, r->t, pai__tree_value(r->t, key));
    }
  }
  pai__json_key(&r->w, path, len);
  if (slash == NULL)
    pai__json_node(&r->w, value, 0);
  else
    write_set(
      r, found != PAI__NO_NODE ? pai__tree_value(r->t, found) : PAI__NO_NODE,
      slash + 1, value);
  pai__json_end_object(&r->w);
}

static bool is_path(const char *path)
{
  size_t deep = 0;

  for (const char *s = path; *s != '\0'; s++)
    if (*s == '/') {
      deep++;
      if (s == path || s[1] == '\0' || s[1] == '/')
        return false;
    }
  return *path != '\0' && deep < 16;
}

int pai__extension_set(const pai_alloc *alloc, char **text, const char *path,
                       const char *value, size_t len, pai_error **err)
{
  pai__json_options o = { .alloc = alloc };
  pai__tree *t;
  rewrite r;
  int rc;

  if (!is_path(path))
    return pai__invalid(err, "\"%.64s\" is not a path in an extension", path);
  rc = pai__json_parse(&t, value, len, &o, err);
  if (rc < 0)
    return rc == PAI_ENOMEM ? rc
                            : pai__as(err, rc, 400, "InvalidParametersError");
  rc = begin(&r, alloc, *text);
  if (rc == PAI_OK)
    write_set(&r, 0, path, t);
  rc = end(&r, rc, alloc, text, err);
  pai__tree_free(t);
  return rc;
}

/* --- output without secrets ---------------------------------------------- */

static void write_without(pai__json_writer *w, const pai__tree *t, pai__node n,
                          const char *member, bool each)
{
  pai__tree_walk walk;
  pai__node key;

  if (pai__tree_type(t, n) != PAI__MAPPING) {
    pai__json_null(w); /* not of the expected form: may hold a secret */
    return;
  }
  pai__json_begin_object(w);
  walk = pai__tree_iter(t, n);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *name = pai__tree_str(t, key, &len);
    if (!each && strcmp(name, member) == 0)
      continue;
    pai__json_key(w, name, len);
    if (each)
      write_without(w, t, pai__tree_value(t, key), member, false);
    else
      pai__json_node(w, t, pai__tree_value(t, key));
  }
  pai__json_end_object(w);
}

static void write_member(pai__json_writer *w, const pai__tree *t,
                         pai__node key)
{
  size_t len, i = 0;
  const char *name = pai__tree_str(t, key, &len);

  while (i < PAI__LEN(secrets) && strcmp(secrets[i].name, name) != 0)
    i++;
  if (i < PAI__LEN(secrets) && secrets[i].member == NULL)
    return;
  pai__json_key(w, name, len);
  if (i < PAI__LEN(secrets))
    write_without(w, t, pai__tree_value(t, key), secrets[i].member,
                  secrets[i].each);
  else
    pai__json_node(w, t, pai__tree_value(t, key));
}

int pai__extension_write(const pai_alloc *alloc, pai__json_writer *w,
                         const char *text)
{
  pai__json_options o = { .alloc = alloc };
  pai__tree_walk walk;
  pai__node key;
  pai__tree *t;
  bool some = false;
  int rc;

  for (size_t i = 0; i < PAI__LEN(secrets); i++)
    some |= strstr(text, secrets[i].name) != NULL;
  if (!some) {
    pai__json_ready(w, text, strlen(text));
    return PAI_OK;
  }
  rc = pai__json_parse(&t, text, strlen(text), &o, NULL);
  if (rc < 0)
    return rc;
  pai__json_begin_object(w);
  walk = pai__tree_iter(t, 0);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE)
    write_member(w, t, key);
  pai__json_end_object(w);
  pai__tree_free(t);
  return PAI_OK;
}

int pai__extension_has(const pai_alloc *alloc, const char *text,
                       const char *member, bool *out)
{
  pai__json_options o = { .alloc = alloc };
  pai__tree *t;
  pai__node n;
  int rc;

  *out = false;
  if (strstr(text, member) == NULL)
    return PAI_OK;
  rc = pai__json_parse(&t, text, strlen(text), &o, NULL);
  if (rc < 0)
    return rc;
  n = pai__tree_get(t, 0, member);
  *out = n != PAI__NO_NODE && pai__tree_type(t, n) == PAI__STRING &&
         *pai__tree_str(t, n, NULL) != '\0';
  pai__tree_free(t);
  return PAI_OK;
}
