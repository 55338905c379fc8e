/*
 * tree.c - parses a job file in YAML or JSON into a tree
 *
 * A text that is JSON is parsed as JSON.  YAML is nearly a superset of JSON,
 * but libyaml refuses escaped surrogate pairs.  Job config v1 is JSON that may
 * have comments, and in which the last of equal keys counts, as in
 * JSON.parse().
 */
#include "spec/read.h"

#include "json/json.h"
#include "spec/scan/syntax.h"
#include "yaml/yaml.h"

int pai__spec_options(pai_spec_options *out, const pai_spec_options *opts,
                      pai_error **err)
{
  int rc = PAI__OPTIONS_IN(out, opts, pai_spec_options, hived);

  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_spec_options");
  out->alloc = pai__alloc_or_libc(out->alloc);
  if (out->max_bytes == 0)
    out->max_bytes = PAI__SPEC_MAX_BYTES;
  if (out->max_depth == 0)
    out->max_depth = 64;
  if (out->max_roles == 0)
    out->max_roles = 10000;
  if (out->max_tasks == 0)
    out->max_tasks = 100000;
  if (out->max_aliases == 0)
    out->max_aliases = 10;
  return PAI_OK;
}

bool pai__spec_is_usual(const pai_spec_options *o)
{
  pai_spec_options usual;

  return pai__spec_options(&usual, NULL, NULL) == PAI_OK &&
         o->max_bytes == usual.max_bytes && o->max_depth == usual.max_depth &&
         o->max_roles == usual.max_roles && o->max_tasks == usual.max_tasks &&
         o->max_aliases == usual.max_aliases && o->version == usual.version &&
         o->hived == usual.hived;
}

static bool has(const pai__tree *t, const char *key)
{
  return pai__tree_get(t, 0, key) != PAI__NO_NODE;
}

int pai__spec_version_of(const pai__tree *t)
{
  pai__node roles;

  if (pai__tree_type(t, 0) != PAI__MAPPING)
    return 0;
  if (has(t, "protocolVersion"))
    return 2;
  if (has(t, "jobName") || has(t, "image") || has(t, "jobEnvs") ||
      has(t, "retryCount"))
    return 1;
  roles = pai__tree_get(t, 0, "taskRoles");
  return pai__tree_is(t, roles, PAI__SEQUENCE) ? 1 : 2;
}

bool pai__spec_braced(const char *text, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (text[i] == '{' || text[i] == '/')
      return true;
    else if (strchr(" \t\r\n\xef\xbb\xbf", text[i]) == NULL)
      return false;
  return false;
}

/* YAML with braces mostly has no quotes around its first key. */
bool pai__spec_is_json(const char *text, size_t len)
{
  const char *at = text, *end = text + len;

  if (!pai__spec_braced(text, len))
    return false;
  while (*at != '{' && *at != '/')
    at++;
  if (*at == '/') /* a comment */
    return true;
  do
    at++;
  while (at < end && strchr(" \t\r\n", *at) != NULL);
  return at == end || strchr("\"}/,", *at) != NULL;
}

static int parse_json(pai__tree **out, const char *text, size_t len,
                      const pai_spec_options *o, unsigned flags,
                      pai_error **err)
{
  pai__json_options options = { flags, o->max_depth, o->max_bytes, o->alloc };

  return pai__json_parse(out, text, len, &options, err);
}

/* Parses loosely, and accepts only v1. */
static int parse_v1(pai__tree **out, const char *text, size_t len,
                    const pai_spec_options *o, pai_error **err)
{
  int rc = parse_json(
    out, text, len, o,
    PAI__JSON_COMMENTS | PAI__JSON_DUPLICATES | PAI__JSON_COMMAS, err);

  if (rc < 0 || o->version == 1 || pai__spec_version_of(*out) == 1)
    return rc;
  pai__tree_free(*out);
  *out = NULL;
  return PAI_EINVAL;
}

static int parse_yaml(pai__tree **out, const char *text, size_t len,
                      const pai_spec_options *o, pai_error **err)
{
  pai__yaml_options options = { .mode = PAI__YAML_JS,
                                .max_depth = o->max_depth,
                                .max_bytes = o->max_bytes,
                                .alias_factor = o->max_aliases,
                                .alloc = o->alloc };

  return pai__yaml_parse(out, text, len, &options, err);
}

static bool same_place(const pai_error *a, const pai_error *b)
{
  return pai_error_line(a) == pai_error_line(b) &&
         pai_error_column(a) == pai_error_column(b);
}

/* Diagnoses a text that begins like JSON and is not JSON.  If it has comments,
 * it was meant as JSON, and the errors of a YAML parser would mislead.  *why
 * then receives the error: the comments, or what is wrong after them.  There
 * are comments if a parser that allows them gets further. */
static int refuse_comments(const char *text, size_t len,
                           const pai_spec_options *o, pai_error **why)
{
  pai_error *plain = NULL, *behind = NULL;
  pai__tree *tree;
  int rc = parse_json(&tree, text, len, o, PAI__JSON_COMMAS, &plain);

  if (rc == PAI_EINVAL)
    rc = parse_json(&tree, text, len, o, PAI__JSON_COMMAS | PAI__JSON_COMMENTS,
                    &behind);
  pai__tree_free(tree);
  if (rc == PAI_OK) { /* the comments are the only error */
    *why = plain;
    plain = NULL;
  } else if (rc != PAI_ENOMEM && !same_place(plain, behind)) {
    *why = behind;
    behind = NULL;
  }
  pai_error_free(plain);
  pai_error_free(behind);
  return rc == PAI_ENOMEM ? rc : PAI_EINVAL;
}

/* Parses a text that begins like JSON.  PAI_EINVAL without *why: the text may
 * be YAML. */
static int parse_braces(pai__tree **out, const char *text, size_t len,
                        const pai_spec_options *o, pai_error **why)
{
  int rc = parse_json(out, text, len, o, 0, NULL);

  if (rc == PAI_EINVAL && o->version == 0)
    rc = parse_v1(out, text, len, o, NULL);
  if (rc == PAI_EINVAL)
    rc = parse_json(out, text, len, o, PAI__JSON_COMMAS, NULL);
  if (rc == PAI_EINVAL)
    rc = refuse_comments(text, len, o, why);
  return rc;
}

int pai__spec_tree(pai__tree **out, int *version, pai__mended *mended,
                   const char *text, size_t len, const pai_spec_options *o,
                   pai_error **err)
{
  pai_error *why = NULL;
  int rc = PAI_EINVAL;

  *out = NULL;
  *version = o->version;
  if (o->version == 1) {
    rc = parse_v1(out, text, len, o, err);
  } else {
    if (pai__spec_is_json(text, len))
      rc = parse_braces(out, text, len, o, &why);
    if (rc < 0 && rc != PAI_ENOMEM && why == NULL) {
      rc = parse_yaml(out, text, len, o, err);
      if (rc == PAI_EINVAL && !pai__spec_braced(text, len))
        rc = pai__syntax_cause(err, mended, text, len, o, parse_yaml);
    }
    if (why != NULL && err != NULL)
      *err = why;
    else
      pai_error_free(why);
  }
  if (rc == PAI_ENOMEM)
    return pai__oom(err);
  if (rc == PAI_OK && o->version == 0)
    *version = pai__spec_version_of(*out);
  return rc;
}

int pai__spec_tree_again(pai__tree **tree, int *version, const char *text,
                         size_t len, const pai_spec_options *o)
{
  pai__yaml_options options = { .mode = PAI__YAML_JS,
                                .duplicates = PAI__LAST_DUPLICATE,
                                .max_depth = o->max_depth,
                                .max_bytes = o->max_bytes,
                                .alias_factor = o->max_aliases,
                                .alloc = o->alloc };
  int rc = pai__yaml_parse(tree, text, len, &options, NULL);

  if (rc < 0)
    return rc == PAI_ENOMEM ? rc : PAI_EINVAL;
  if (!(*tree)->repeats || pai__tree_type(*tree, 0) != PAI__MAPPING) {
    pai__tree_free(*tree);
    *tree = NULL;
    return PAI_EINVAL;
  }
  if (o->version == 0)
    *version = pai__spec_version_of(*tree);
  return PAI_OK;
}
