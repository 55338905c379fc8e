/*
 * broken.c - parses a text that is not valid YAML or JSON, without the lines
 * that are wrong
 *
 * Lines are replaced by spaces, so all other bytes keep their places.  The
 * reader reports where it failed, which is the wrong line or a line after it.
 */
#include "spec/read.h"

#include "json/json.h"
#include "yaml/yaml.h"

enum {
  BACK = 5,             /* suspected lines before that of an error */
  MOST_TRIES = 60,      /* parses */
  MOST_BYTES = 16 << 20 /* bytes parsed */
};

typedef struct broken {
  pai__buf text;
  size_t len; /* of the original text */
  const pai_spec_options *o;
  bool json;
  unsigned tries;
  size_t bytes;
  uint32_t failed; /* line of the last error, from 1 */
} broken;

/* Parses the current text as loosely as possible. */
static int parse(broken *b, pai__tree **out)
{
  pai__json_options json = { PAI__JSON_COMMENTS | PAI__JSON_DUPLICATES |
                               PAI__JSON_COMMAS,
                             b->o->max_depth, b->o->max_bytes, b->o->alloc };
  pai__yaml_options yaml = { .mode = PAI__YAML_JS,
                             .duplicates = PAI__LAST_DUPLICATE,
                             .max_depth = b->o->max_depth,
                             .max_bytes = b->o->max_bytes,
                             .alias_factor = b->o->max_aliases,
                             .alloc = b->o->alloc };
  const char *text = pai__buf_text(&b->text);
  pai_error *err = NULL;
  int rc;

  if (b->tries == MOST_TRIES || b->bytes > MOST_BYTES)
    return PAI_ELIMIT;
  b->tries++;
  b->bytes += b->text.len;
  rc = b->json ? pai__json_parse(out, text, b->text.len, &json, &err)
               : pai__yaml_parse(out, text, b->text.len, &yaml, &err);
  b->failed = err != NULL ? pai_error_line(err) : 0;
  pai_error_free(err);
  return rc;
}

/* --- lines --------------------------------------------------------------- */

static bool is_break(char c)
{
  return c == '\n' || c == '\r';
}

/* Finds a line, from 1.  Returns false if there is none. */
static bool find_line(const broken *b, uint32_t line, size_t *start,
                      size_t *end)
{
  const char *s = pai__buf_text(&b->text);
  size_t at = 0;

  for (; line > 1 && at < b->len; at++)
    line -= s[at] == '\n' || (s[at] == '\r' && s[at + 1] != '\n');
  *start = *end = at;
  while (*end < b->len && !is_break(s[*end]))
    ++*end;
  return line == 1;
}

static uint32_t line_of(const broken *b, size_t at)
{
  const char *s = pai__buf_text(&b->text);
  uint32_t line = 1;

  for (size_t i = 0; i < at && i < b->len; i++)
    line += s[i] == '\n' || (s[i] == '\r' && s[i + 1] != '\n');
  return line;
}

static bool is_blank(const broken *b, size_t start, size_t end)
{
  for (; start < end; start++)
    if (b->text.data[start] != ' ')
      return false;
  return true;
}

/* Tries the text without a line.  If it fails, the line is put back, and
 * *reached is the line that the reader reached. */
static int try_without(broken *b, pai__tree **out, uint32_t line,
                       uint32_t *reached)
{
  size_t start, end;
  pai__buf kept;
  int rc = PAI_EINVAL;

  *reached = 0;
  if (!find_line(b, line, &start, &end) || is_blank(b, start, end))
    return rc;
  pai__buf_init(&kept, b->o->alloc);
  pai__buf_add(&kept, b->text.data + start, end - start);
  if (!pai__buf_ok(&kept)) {
    pai__buf_dispose(&kept);
    return PAI_ENOMEM;
  }
  memset(b->text.data + start, ' ', end - start);
  rc = parse(b, out);
  if (rc < 0) {
    *reached = b->failed;
    memcpy(b->text.data + start, kept.data, kept.len);
  }
  pai__buf_dispose(&kept);
  return rc;
}

/* Returns whether a line has only a comment. */
static bool is_comment(const broken *b, size_t start, size_t end)
{
  while (start < end &&
         (b->text.data[start] == ' ' || b->text.data[start] == '\t'))
    start++;
  return start < end && b->text.data[start] == (b->json ? '/' : '#');
}

/* Returns the nearest line before this one with more than a comment, or 0. */
static uint32_t line_before(const broken *b, uint32_t line)
{
  size_t start, end;

  while (line > 1)
    if (find_line(b, --line, &start, &end) && !is_blank(b, start, end) &&
        !is_comment(b, start, end))
      return line;
  return 0;
}

/* Returns the line before `end` with a bracket or quote that is still open
 * there, or 0.  A quote counts if a value begins with it. */
static uint32_t open_line(const broken *b, uint32_t end)
{
  const char *s = pai__buf_text(&b->text);
  uint32_t line = 1, opened = 0, quoted = 0;
  int depth = 0;
  char quote = '\0';

  for (size_t i = 0; i < b->len && line < end; i++) {
    bool first = i == 0 || strchr(" \t\n[{,:", s[i - 1]) != NULL;

    if (is_break(s[i])) {
      quoted = quote != '\0' ? line : quoted;
      quote = '\0';
      line += s[i] == '\n' || s[i + 1] != '\n';
    } else if (quote != '\0') {
      quote = s[i] == quote ? '\0' : quote;
    } else if ((s[i] == '"' || s[i] == '\'') && first) {
      quote = s[i];
    } else if ((s[i] == '[' || s[i] == '{') && (first || depth > 0)) {
      if (depth++ == 0)
        opened = line;
    } else if ((s[i] == ']' || s[i] == '}') && depth > 0) {
      depth--;
    } else if (s[i] == '#' && first && !b->json) {
      while (i + 1 < b->len && !is_break(s[i + 1]))
        i++;
    }
  }
  return depth > 0 ? opened : quoted;
}

/* Removes the line without which the reader gets furthest: that of the cursor,
 * one that opens what stays open, that where it failed, or one of those before.
 * Returns PAI_OK with the tree, PAI_EINVAL if the text is still wrong, or
 * PAI_ELIMIT if nothing helps. */
static int remove_one(broken *b, pai__tree **out, uint32_t cursor)
{
  const uint32_t failed = b->failed, opened = open_line(b, failed);
  uint32_t line, reached, best = 0, furthest = 0, before = failed;
  size_t start, end;
  int rc;

  for (int i = 0; i < BACK + 3; i++) {
    if (i >= 3)
      before = line_before(b, before);
    line = i == 0 ? cursor : i == 1 ? opened : i == 2 ? failed : before;
    rc = line > 0 ? try_without(b, out, line, &reached) : PAI_EINVAL;
    if (rc != PAI_EINVAL)
      return rc;
    if (line > 0 && reached > furthest) {
      furthest = reached;
      best = line;
    }
  }
  if (best == 0 || !find_line(b, best, &start, &end))
    return PAI_ELIMIT;
  memset(b->text.data + start, ' ', end - start);
  b->failed = furthest;
  return PAI_EINVAL;
}

/* Appends the brackets that a JSON text lacks at its end. */
static void close_brackets(broken *b)
{
  pai__buf open;
  bool quoted = false;

  pai__buf_init(&open, b->o->alloc);
  for (size_t i = 0; i < b->len; i++) {
    char c = b->text.data[i];

    if (c == '\\' && quoted)
      i++;
    else if (c == '"' || is_break(c))
      quoted = c == '"' && !quoted;
    else if (!quoted && (c == '{' || c == '['))
      pai__buf_char(&open, c == '{' ? '}' : ']');
    else if (!quoted && (c == '}' || c == ']') && open.len > 0)
      pai__buf_cut(&open, open.len - 1);
  }
  while (pai__buf_ok(&open) && open.len > 0) {
    pai__buf_char(&b->text, open.data[open.len - 1]);
    pai__buf_cut(&open, open.len - 1);
  }
  b->text.failed |= !pai__buf_ok(&open);
  pai__buf_dispose(&open);
}

/* Cuts off the brackets that were appended. */
static void cut(pai__tree *t, size_t len)
{
  memset((char *)t->text + len, '\0', t->len - len);
  t->len = len;
  for (pai__node n = 0; n < t->count; n++) {
    if (t->nodes[n].end > len)
      t->nodes[n].end = (uint32_t)len;
    if (t->nodes[n].start > len)
      t->nodes[n].start = (uint32_t)len;
  }
}

int pai__spec_tree_broken(pai__tree **out, int *version, bool *whole,
                          const char *text, size_t len, size_t at,
                          const pai_spec_options *o)
{
  broken b = { .len = len, .o = o, .json = pai__spec_is_json(text, len) };
  uint32_t cursor;
  int rc;

  *out = NULL;
  *version = 0;
  *whole = false;
  if (len > o->max_bytes)
    return PAI_ELIMIT;
  pai__buf_init(&b.text, o->alloc);
  pai__buf_add(&b.text, text, len);
  if (b.json && pai__buf_ok(&b.text))
    close_brackets(&b);
  rc = pai__buf_ok(&b.text) ? parse(&b, out) : PAI_ENOMEM;
  *whole = rc == PAI_OK && b.text.len == len;
  cursor = rc == PAI_EINVAL && at <= len ? line_of(&b, at) : 0;
  while (rc == PAI_EINVAL)
    rc = remove_one(&b, out, cursor);
  pai__buf_dispose(&b.text);
  if (rc == PAI_OK) {
    *version = pai__spec_version_of(*out);
    cut(*out, len);
  }
  return rc;
}
