/*
 * secrets.c - finds the secrets of a job file
 *
 * Secrets are the value of `secrets`, and the values of registry accounts that
 * are not templates.  A template names a secret, but does not contain it.  In
 * a file that may be wrong, values under similar names or in other places
 * count too.
 */
#include "spec/secrets.h"

#include "base/findings.h"
#include "spec/template/template.h"

/* Returns whether a value is a template and nothing else.  It then names a
 * secret, but does not contain it. */
static bool is_template(const pai__tree *t, pai__node n)
{
  size_t len;
  const char *s, *end;

  if (pai__tree_type(t, n) != PAI__STRING)
    return false;
  s = pai__tree_str(t, n, &len);
  pai__template_trim(&s, &len);
  if (len < 4 || memcmp(s, "<%", 2) != 0)
    return false;
  end = s + 2;
  while (end + 2 < s + len && memcmp(end, "%>", 2) != 0)
    end++;
  return end + 2 == s + len && memcmp(end, "%>", 2) == 0;
}

static bool is_secret(const pai__tree *tree, pai__node value)
{
  size_t len = 1;

  if (pai__tree_type(tree, value) == PAI__STRING)
    (void)pai__tree_str(tree, value, &len);
  return len > 0 && !is_template(tree, value);
}

/* Adds the secrets of an account, or the whole value if it is not a
 * mapping. */
static int add_auth(pai__secrets *s, pai__node auth_key)
{
  const pai__tree *tree = s->tree;
  pai__node auth = pai__tree_value(tree, auth_key);
  pai__tree_walk walk = pai__tree_iter(tree, auth);
  pai__node key;
  int rc = PAI_OK;

  if (pai__tree_type(tree, auth) != PAI__MAPPING)
    return is_secret(tree, auth) ? pai__secrets_add_entry(s, auth_key)
                                 : PAI_OK;
  while (rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (strcmp(pai__tree_str(tree, key, NULL), "registryuri") != 0 &&
        is_secret(tree, pai__tree_value(tree, key)))
      rc = pai__secrets_add_entry(s, key);
  return rc;
}

static int add_auths(pai__secrets *s, pai__node list)
{
  pai__tree_walk walk = pai__tree_iter(s->tree, list);
  pai__node item;
  int rc = PAI_OK;

  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node auth = pai__tree_find(s->tree, item, "auth", 4);
    if (auth != PAI__NO_NODE)
      rc = add_auth(s, auth);
  }
  return rc;
}

/* Adds the secrets of a valid file. */
static int add_known(pai__secrets *s)
{
  const pai__tree *t = s->tree;
  pai__node n = pai__tree_find(t, 0, "secrets", 7);
  int rc = PAI_OK;

  if (n != PAI__NO_NODE &&
      pai__tree_type(t, pai__tree_value(t, n)) != PAI__NULL)
    rc = pai__secrets_add_entry(s, n);
  n = pai__tree_get(t, 0, "prerequisites");
  if (rc == PAI_OK && pai__tree_is(t, n, PAI__SEQUENCE))
    rc = add_auths(s, n);
  return rc;
}

int pai__secrets_find(pai__secrets *s, const pai__tree *tree)
{
  int rc;

  *s = (pai__secrets){ .tree = tree };
  rc = add_known(s);
  return rc == PAI_OK ? pai__secrets_end(s) : rc;
}

/* --- files that may be wrong -------------------------------------------- */

enum { AUTH, USERNAME, PASSWORD, TOKEN, SECRETS, WORDS };

static void init_words(pai__word words[WORDS])
{
  static const char *const all[] = { "auth", "username", "password", "token",
                                     "secrets" };

  for (size_t i = 0; i < WORDS; i++)
    words[i] = pai__word_of(all[i], strlen(all[i]));
}

/* Compares without case, and allows one slip, or two in a long word. */
static bool is_nearly(const pai__word *key, const pai__word *word)
{
  return pai__word_within(key, word, word->len < 7 ? 1 : 2);
}

/* Returns whether a value is a task role, which may have any name. */
static bool is_role(const pai__tree *t, pai__node n)
{
  return pai__tree_get(t, n, "resourcePerInstance") != PAI__NO_NODE ||
         pai__tree_get(t, n, "commands") != PAI__NO_NODE;
}

/* Adds the secrets of a key anywhere in the file, if it resembles one of the
 * words. */
static int add_suspect(pai__secrets *s, pai__node key,
                       const pai__word words[WORDS])
{
  const pai__tree *t = s->tree;
  const pai__tree_node *n = &t->nodes[key];
  pai__node value = pai__tree_value(t, key);
  pai__word name = pai__word_of(t->strings + n->u.s.off, n->u.s.len);

  if (is_nearly(&name, &words[AUTH]))
    return is_role(t, value) ? PAI_OK : add_auth(s, key);
  for (size_t i = PASSWORD; i <= SECRETS; i++)
    if (is_nearly(&name, &words[i]))
      return !is_secret(t, value) || is_role(t, value)
               ? PAI_OK
               : pai__secrets_add_entry(s, key);
  return PAI_OK;
}

/* Adds the secrets of keys of the root or of a prerequisite that may be meant
 * for one of the words `first` to `last`.  Each value may be an account. */
static int add_meant(pai__secrets *s, pai__node mapping,
                     const pai__word *first, const pai__word *last)
{
  const pai__tree *t = s->tree;
  pai__tree_walk walk = pai__tree_iter(t, mapping);
  pai__node key;
  int rc = PAI_OK;

  if (pai__tree_type(t, mapping) != PAI__MAPPING)
    return PAI_OK;
  while (rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *text = pai__tree_str(t, key, &len);
    pai__word name = pai__word_of(text, len);

    for (const pai__word *word = first; rc == PAI_OK && word <= last; word++)
      if (pai__word_like(&name, word))
        rc = add_auth(s, key);
  }
  return rc;
}

static int add_all_meant(pai__secrets *s, const pai__word words[WORDS])
{
  const pai__tree *t = s->tree;
  pai__node list = pai__tree_get(t, 0, "prerequisites"), item;
  const pai__word *first = &words[AUTH], *last = &words[PASSWORD];
  pai__tree_walk walk;
  int rc = add_meant(s, 0, &words[SECRETS], &words[SECRETS]);

  if (list == PAI__NO_NODE || rc < 0)
    return rc;
  if (pai__tree_type(t, list) != PAI__SEQUENCE)
    return add_meant(s, list, first, last);
  walk = pai__tree_iter(t, list);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = add_meant(s, item, first, last);
  return rc;
}

/* Adds a text that may have been meant as a mapping, which may hold secrets:
 * the text is the whole file, or has a colon with a no-break space after
 * it. */
static int add_unread(pai__secrets *s, pai__node n)
{
  size_t len;
  const char *text = pai__tree_str(s->tree, n, &len);

  if (n > 0 && !pai__hides_colon(text, len))
    return PAI_OK;
  return (s->tree->nodes[n].flags & PAI__IS_KEY) != 0
           ? pai__secrets_add_key(s, n)
           : pai__secrets_add(s, n);
}

static bool has_aliases(const pai__tree *t)
{
  for (size_t i = 0; i < t->count; i++)
    if (t->nodes[i].type == PAI__ALIAS)
      return true;
  return false;
}

int pai__secrets_suspect(pai__secrets *s, const pai__tree *tree, uint32_t from,
                         uint32_t to)
{
  const pai__tree_node *nodes = tree->nodes;
  bool all = has_aliases(tree); /* an alias may lead anywhere */
  pai__word words[WORDS];
  int rc;

  *s = (pai__secrets){ .tree = tree };
  init_words(words);
  rc = add_known(s);
  if (rc == PAI_OK)
    rc = add_all_meant(s, words);
  for (pai__node n = 0; rc == PAI_OK && n < tree->count; n++) {
    if (nodes[n].start > to && !all)
      break;
    if ((nodes[n].flags & PAI__IS_KEY) != 0 &&
        nodes[n].u.s.len - 3 < 8 && /* other lengths resemble no word */
        (all || nodes[nodes[n].skip].end >= from))
      rc = add_suspect(s, n, words);
    if (rc == PAI_OK && nodes[n].type == PAI__STRING && nodes[n].end >= from &&
        (n == 0 || (nodes[n].flags & PAI__STYLE) == PAI__PLAIN))
      rc = add_unread(s, n);
  }
  return rc == PAI_OK ? pai__secrets_end(s) : rc;
}
