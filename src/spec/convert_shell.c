/* convert_shell.c - commands that v1 made of fields and v2 spells out */
#include "spec/convert_common.h"

const conv_dir pai__conv_dirs[PAI__CONV_DIRS] = {
  { "dataDir", "data", "default_data", "PAI_DATA_DIR", "$data.uri[0]", true },
  { "outputDir", "output", "default_output", "PAI_OUTPUT_DIR", "$output.uri",
    false },
  { "codeDir", "script", "default_script", "PAI_CODE_DIR", "$script.uri",
    false },
};

/* What v1 filled into folders; in v2 they are variables of the environment. */
static const char *const variables[] = { "$PAI_DEFAULT_FS_URI",
                                         "$PAI_JOB_NAME", "$PAI_USER_NAME",
                                         "$PAI_USERNAME" };

static bool is_word(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

/* Whether one of v1's variables stands at s, which a NUL ends. */
static bool is_variable(const char *s)
{
  for (size_t i = 0; i < PAI__LEN(variables); i++) {
    size_t len = strlen(variables[i]);
    if (strncmp(s, variables[i], len) == 0 && !is_word(s[len]))
      return true;
  }
  return false;
}

text pai__conv_export_dir(convert *c, const conv_dir *dir, text uri,
                          bool *literal)
{
  size_t escapes = 0;
  pai__buf b;

  pai__buf_init(&b, c->alloc);
  pai__buf_printf(&b, "export %s=\"", dir->variable);
  for (size_t i = 0; i < uri.len; i++) {
    char ch = uri.s[i];

    if (ch == '"' || ch == '\\' || ch == '`' ||
        (ch == '$' && !is_variable(uri.s + i))) {
      pai__buf_char(&b, '\\');
      escapes++;
    }
    pai__buf_char(&b, ch);
  }
  if (escapes == 0) {
    pai__buf_clear(&b);
    pai__buf_printf(&b, "export %s=\"<%% %s %%>", dir->variable, dir->path);
  }
  pai__buf_char(&b, '"');
  *literal = escapes != 0;
  return pai__conv_take(c, &b);
}

text pai__conv_export(convert *c, text name, text value)
{
  pai__buf b;

  pai__buf_init(&b, c->alloc);
  pai__buf_printf(&b, "export %s='", name.s);
  for (size_t i = 0; i < value.len; i++) {
    if (value.s[i] == '\'')
      pai__buf_str(&b, "'\\'");
    pai__buf_char(&b, value.s[i]);
  }
  pai__buf_char(&b, '\'');
  return pai__conv_take(c, &b);
}

bool pai__conv_exported(convert *c, text command, text *name, text *value)
{
  static const char begin[] = "export ", quote[] = "'\\''";
  const char *p, *end = command.s + command.len;
  pai__buf b;

  if (command.len < sizeof(begin) ||
      memcmp(command.s, begin, sizeof(begin) - 1) != 0)
    return false;
  p = name->s = command.s + strlen(begin);
  while (is_word(*p))
    p++;
  name->len = (size_t)(p - name->s);
  if (!pai__conv_is_name(*name) || end - p < 3 || p[0] != '=' ||
      p[1] != '\'' || end[-1] != '\'')
    return false;
  pai__buf_init(&b, c->alloc);
  for (p += 2, end--; p < end; p++) {
    if (*p == '\'') { /* inside it only as '\'' */
      if (strncmp(p, quote, 4) != 0)
        break;
      p += 3;
    }
    pai__buf_char(&b, *p);
  }
  *value = pai__conv_take(c, &b);
  return p == end && c->rc == PAI_OK;
}

/* --- templates ---------------------------------------------------------- */

/* Where `what` stands in s, from a place on, or s.len. */
static size_t find(text s, size_t from, const char *what)
{
  for (; from + 1 < s.len; from++)
    if (s.s[from] == what[0] && s.s[from + 1] == what[1])
      return from;
  return s.len;
}

text pai__conv_hide_tags(convert *c, text s, text open)
{
  size_t at = find(s, 0, "<%"), from = 0;
  pai__buf b;

  if (at == s.len)
    return s;
  pai__buf_init(&b, c->alloc);
  for (; at < s.len; from = at + 2, at = find(s, from, "<%")) {
    pai__buf_add(&b, s.s + from, at - from);
    pai__buf_printf(&b, "<%% $parameters.%s %%>", open.s);
  }
  pai__buf_add(&b, s.s + from, s.len - from);
  return pai__conv_take(c, &b);
}

/* Whether a tag, without its brackets, stands for "<%". */
static bool is_hidden(convert *c, text tag, pai__node parameters)
{
  static const char root[] = "$parameters.";
  size_t skip = strlen(root);
  pai__node key;

  while (tag.len != 0 && *tag.s == ' ')
    tag.s++, tag.len--;
  while (tag.len != 0 && tag.s[tag.len - 1] == ' ')
    tag.len--;
  if (parameters == PAI__NO_NODE || tag.len <= skip ||
      strncmp(tag.s, root, skip) != 0)
    return false;
  key = pai__tree_find(c->tree, parameters, tag.s + skip, tag.len - skip);
  return key != PAI__NO_NODE &&
         pai__conv_equals(pai__conv_text(c, pai__tree_value(c->tree, key)),
                          "<%");
}

text pai__conv_show_tags(convert *c, text s, pai__node parameters, bool *left)
{
  size_t at = find(s, 0, "<%"), from = 0;
  pai__buf b;

  if (at == s.len)
    return s;
  pai__buf_init(&b, c->alloc);
  while (at < s.len) {
    size_t end = find(s, at + 2, "%>");
    text tag = { s.s + at + 2, end - at - 2 };

    pai__buf_add(&b, s.s + from, at - from);
    if (end < s.len && is_hidden(c, tag, parameters)) {
      pai__buf_str(&b, "<%");
    } else {
      *left = true;
      end = end < s.len ? end : at;
      pai__buf_add(&b, s.s + at, end + 2 - at);
    }
    from = end + 2;
    at = find(s, from, "<%");
  }
  pai__buf_add(&b, s.s + from, s.len - from);
  return pai__conv_take(c, &b);
}
