/* input.c - JSON objects that describe changes */
#include "account/inside.h"

/* Returns whether a text has no NULs, so that it can be used as a C string. */
static bool is_text(const pai__tree *t, pai__node n)
{
  size_t len = 0;
  const char *text =
    pai__tree_type(t, n) == PAI__STRING ? pai__tree_str(t, n, &len) : NULL;

  return text != NULL && strlen(text) == len;
}

static bool is_texts(const pai__tree *t, pai__node list)
{
  pai__tree_walk walk = pai__tree_iter(t, list);
  pai__node n;

  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (!is_text(t, n))
      return false;
  return true;
}

/* Stores a member's value: a text, a truth, or the node of another value. */
static int take(const pai__input_field *f, const pai__tree *t, pai__node n,
                void *out, pai_error **err)
{
  static const struct {
    int type; /* of the tree */
    const char *what;
  } kinds[] = { [PAI__INPUT_TEXT] = { PAI__STRING, "a string" },
                [PAI__INPUT_BOOL] = { PAI__BOOL, "a boolean" },
                [PAI__INPUT_OBJECT] = { PAI__MAPPING, "an object" },
                [PAI__INPUT_LIST] = { PAI__SEQUENCE, "an array" } };
  void *to = (char *)out + f->at;
  const char *text;
  bool truth;

  if (pai__tree_type(t, n) != kinds[f->kind].type ||
      (f->kind == PAI__INPUT_TEXT && !is_text(t, n)))
    return pai__invalid(err, "\"%s\" must be %s", f->name,
                        kinds[f->kind].what);
  if (f->kind == PAI__INPUT_LIST && !is_texts(t, n))
    return pai__invalid(err, "\"%s\" must be an array of strings", f->name);
  if (f->kind == PAI__INPUT_TEXT) {
    text = pai__tree_str(t, n, NULL);
    memcpy(to, &text, sizeof(text));
  } else if (f->kind == PAI__INPUT_BOOL) {
    truth = pai__tree_bool(t, n);
    memcpy(to, &truth, sizeof(truth));
  } else {
    memcpy(to, &n, sizeof(n));
  }
  return PAI_OK;
}

static int read_members(const pai__tree *t, const pai__input_field *fields,
                        void *out, pai_error **err)
{
  pai__tree_walk walk = pai__tree_iter(t, 0);
  const pai__input_field *f;
  pai__node key;
  int rc = PAI_OK;

  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = pai__tree_str(t, key, NULL);

    for (f = fields; f->name != NULL && strcmp(f->name, name) != 0; f++) {
    }
    if (f->name == NULL)
      return pai__invalid(err, "\"%.64s\" is not allowed", name);
  }
  for (f = fields; rc == PAI_OK && f->name != NULL; f++) {
    pai__node n = pai__tree_get(t, 0, f->name);

    if (n != PAI__NO_NODE)
      rc = take(f, t, n, out, err);
  }
  return rc;
}

int pai__input_parse(pai__tree **out, const pai_alloc *alloc, const char *json,
                     size_t len, const pai__input_field *fields, void *members,
                     pai_error **err)
{
  pai__json_options o = { .max_bytes = 2 * (size_t)PAI__MOST_EXTENSION };
  int rc;

  *out = NULL;
  o.alloc = alloc;
  rc = pai__json_parse(out, json, len, &o, err);
  if (rc == PAI_EINVAL || rc == PAI_ELIMIT)
    return pai__as(err, rc, rc == PAI_ELIMIT ? 413 : 400,
                   "InvalidParametersError");
  if (rc == PAI_OK && pai__tree_type(*out, 0) != PAI__MAPPING)
    rc = pai__invalid(err, "\"value\" must be an object");
  if (rc == PAI_OK)
    rc = read_members(*out, fields, members, err);
  if (rc < 0) {
    pai__tree_free(*out);
    *out = NULL;
  }
  return rc;
}

int pai__input_names(const pai_alloc *alloc, const pai__tree *t,
                     pai__node list, pai__strings *out)
{
  pai__tree_walk walk = pai__tree_iter(t, list);
  pai__map seen; /* a set, as the list may be as long as a request */
  pai__node n;
  int rc = PAI_OK;

  pai__map_init(&seen, alloc);
  for (size_t i = 0; rc == PAI_OK && i < out->n; i++)
    rc = pai__map_set(&seen, out->at[i], strlen(out->at[i]), out);
  while (rc == PAI_OK && (n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = pai__tree_str(t, n, NULL);

    if (pai__map_get(&seen, name, strlen(name)) != NULL)
      continue;
    rc = pai__map_set(&seen, name, strlen(name), out);
    if (rc == PAI_OK)
      rc = pai__strings_push(alloc, out, name);
  }
  pai__map_dispose(&seen);
  return rc;
}
