/*
 * fuzz_edit.c - edits of YAML and JSON, and their canonical layout
 *
 * The first line is a path, the second a value (none: unset), the rest the
 * document.
 */
#include "check.h"
#include "json/json.h"
#include "spec/edit/edit.h"
#include "spec/format/format.h"
#include "yaml/yaml.h"

static pai__tree *parse(const char *text, size_t len, bool json)
{
  pai__json_options opts = { .flags = PAI__JSON_COMMENTS };
  pai__tree *t = NULL;

  if (json)
    (void)pai__json_parse(&t, text, len, &opts, NULL);
  else
    (void)pai__yaml_parse(&t, text, len, NULL, NULL);
  return t;
}

/* What is laid out means the same, and stays as it is. */
static void format(const pai__tree *t)
{
  pai_error *err = NULL;
  pai__buf out, again;
  int rc;

  if (t == NULL)
    return;
  pai__buf_init(&out, &pai__libc_alloc);
  pai__buf_init(&again, &pai__libc_alloc);
  rc = pai__format(&out, t, &err);
  if (rc == PAI_OK) {
    pai__tree *back =
      parse(pai__buf_text(&out), out.len, t->syntax == PAI__SYNTAX_JSON);
    CHECK(back != NULL && pai__tree_same(t, 0, back, 0));
    CHECK(pai__format(&again, back, NULL) == PAI_OK);
    CHECK(out.len == again.len);
    CHECK(out.len == 0 || memcmp(out.data, again.data, out.len) == 0);
    pai__tree_free(back);
  } else {
    check_error(err, rc);
  }
  pai_error_free(err);
  pai__buf_dispose(&again);
  pai__buf_dispose(&out);
}

/* What an edit made must be read as what the tree was; the same edit of it
 * must go well again and mean the same. */
static void check_edited(const pai__buf *text, const pai__tree *t,
                         const char *path, const pai__tree *value)
{
  bool json = t->syntax == PAI__SYNTAX_JSON;
  pai__tree *back = parse(pai__buf_text(text), text->len, json), *twice;
  pai__buf again;

  CHECK(back != NULL);
  test_check_tree(back);
  pai__buf_init(&again, &pai__libc_alloc);
  if (value != NULL && strstr(path, "[+]") == NULL &&
      strstr(path, "/-") == NULL) {
    int rc = pai__edit_set(&again, back, path, value, NULL);

    CHECK(rc == PAI_OK);
    twice = parse(pai__buf_text(&again), again.len, json);
    CHECK(twice != NULL && pai__tree_same(twice, 0, back, 0));
    pai__tree_free(twice);
  }
  pai__buf_dispose(&again);
  pai__tree_free(back);
}

static void edit(const pai__tree *t, const char *path, const char *text)
{
  pai__tree *value = NULL;
  pai_error *err = NULL;
  pai__buf out;
  int rc;

  if (t == NULL)
    return;
  if (*text != '\0' &&
      pai__yaml_parse(&value, text, strlen(text), NULL, NULL) < 0)
    return;
  pai__buf_init(&out, &pai__libc_alloc);
  rc = value != NULL ? pai__edit_set(&out, t, path, value, &err)
                     : pai__edit_unset(&out, t, path, &err);
  if (rc == PAI_OK) {
    CHECK(err == NULL);
    check_edited(&out, t, path, value);
  } else {
    CHECK(out.len == 0);
    check_error(err, rc);
  }
  pai_error_free(err);
  pai__buf_dispose(&out);
  pai__tree_free(value);
}

/* Cuts a line off; what is left of the text stays behind it. */
static char *cut_line(char **text)
{
  char *line = *text;

  *text += strcspn(line, "\n");
  if (**text != '\0')
    *(*text)++ = '\0';
  return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *copy = malloc(size + 1), *rest = copy, *path, *value;
  size_t len;

  if (copy == NULL)
    return 0;
  if (size != 0)
    memcpy(copy, data, size);
  copy[size] = '\0';
  path = cut_line(&rest);
  value = cut_line(&rest);
  len = size - (size_t)(rest - copy);
  for (int json = 0; json <= 1; json++) {
    pai__tree *t = parse(rest, len, json != 0);

    edit(t, path, value);
    format(t);
    pai__tree_free(t);
  }
  free(copy);
  return 0;
}
