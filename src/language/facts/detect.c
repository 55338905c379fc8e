/* detect.c - finds the language of a text by its content and its name */
#include "language/facts/facts.h"

/* Keys at the left margin, or in the outermost braces, that only one language
 * has. */
static const struct {
  const char *key;
  enum pai__language_kind kind;
} keys[] = {
  { "protocolVersion", PAI__LANGUAGE_JOB },
  { "jobName", PAI__LANGUAGE_JOB },
  { "taskRoles", PAI__LANGUAGE_JOB },
  { "prerequisites", PAI__LANGUAGE_JOB },
  { "deployments", PAI__LANGUAGE_JOB },
  { "jobRetryCount", PAI__LANGUAGE_JOB },
  { "physicalCluster", PAI__LANGUAGE_HIVED },
  { "nodes", PAI__LANGUAGE_CLUSTER },
  { "skus", PAI__LANGUAGE_CLUSTER },
};

static const struct {
  const char *part;
  bool begins, ends; /* the file's name, rather than being anywhere in it */
  enum pai__language_kind kind;
} names[] = {
  { "pai_cluster_", true, false, PAI__LANGUAGE_CLUSTER },
  { ".pai.yaml", false, true, PAI__LANGUAGE_JOB },
  { ".pai.yml", false, true, PAI__LANGUAGE_JOB },
  { ".pai.json", false, true, PAI__LANGUAGE_JOB },
  { ".pai.jsonc", false, true, PAI__LANGUAGE_JOB },
  { "hivedscheduler.yaml", false, true, PAI__LANGUAGE_HIVED },
  { "cluster.yaml", true, true, PAI__LANGUAGE_CLUSTER },
  { "cluster.yml", true, true, PAI__LANGUAGE_CLUSTER },
};

static bool is_word(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns the language that a key tells, or OTHER. */
static enum pai__language_kind of_key(const char *s, size_t len)
{
  for (size_t i = 0; i < PAI__LEN(keys); i++)
    if (strlen(keys[i].key) == len && memcmp(s, keys[i].key, len) == 0)
      return keys[i].kind;
  return PAI__LANGUAGE_OTHER;
}

/* Returns whether a colon follows, after a quote and blanks. */
static bool is_key(const char *s, const char *end)
{
  if (s < end && (*s == '"' || *s == '\''))
    s++;
  while (s < end && (*s == ' ' || *s == '\t'))
    s++;
  return s < end && *s == ':';
}

/* Returns the byte after the comment that begins at one, or that byte. */
static const char *skip_comment(const char *s, const char *end, bool margin)
{
  if ((*s == '#' && margin) || (*s == '/' && s + 1 < end && s[1] == '/'))
    while (s < end && *s != '\n')
      s++;
  return s;
}

/* Looks for keys at the left margin, or, if the text begins with a brace, for
 * those one brace deep. */
static enum pai__language_kind of_content(const char *text, size_t len)
{
  const char *end = text + len;
  enum pai__language_kind kind = PAI__LANGUAGE_OTHER;
  int depth = 0;
  bool braced = false, first = true, margin = true;

  for (const char *s = text; s < end && kind == PAI__LANGUAGE_OTHER; s++) {
    const char *word, *after;

    s = skip_comment(s, end, margin);
    if (s == end)
      break;
    word = after = s + (*s == '"' || *s == '\'');
    braced |= first && *s == '{';
    depth += *s == '{' || *s == '[';
    depth -= *s == '}' || *s == ']';
    while (after < end && is_word(*after))
      after++;
    if (after > word && (braced ? depth == 1 : margin) && is_key(after, end))
      kind = of_key(word, (size_t)(after - word));
    if (after > word)
      s = after - 1;
    first &= strchr(" \t\r\n\xef\xbb\xbf", *s) != NULL;
    margin = *s == '\n' || *s == '\r';
  }
  return kind;
}

static enum pai__language_kind of_name(const char *path)
{
  const char *name = strrchr(path, '/');
  size_t len;

  name = name != NULL ? name + 1 : path;
  len = strlen(name);
  for (size_t i = 0; i < PAI__LEN(names); i++) {
    size_t n = strlen(names[i].part);

    if (n <= len &&
        (!names[i].begins || memcmp(name, names[i].part, n) == 0) &&
        (!names[i].ends || memcmp(name + len - n, names[i].part, n) == 0))
      return names[i].kind;
  }
  return PAI__LANGUAGE_OTHER;
}

enum pai__language_kind pai__language_detect(const char *path,
                                             const char *text, size_t len)
{
  enum pai__language_kind kind = of_content(text, len);

  if (kind == PAI__LANGUAGE_OTHER && path != NULL)
    kind = of_name(path);
  return kind;
}
