/* Bodies: forms as JSON, and what a table of fields says of a value. */
#include "cases.h"

#include "json/json.h"
#include "server/http/body.h"

#include <string.h>

/* --- forms ------------------------------------------------------------------------ */

TEST(forms_become_json)
{
  static const char *const rows[][2] = {
    { "", "{}" },
    { "&&", "{}" },
    { "=x", "{}" },
    { "a=1", "{\"a\":\"1\"}" },
    { "a", "{\"a\":\"\"}" },
    { "a=", "{\"a\":\"\"}" },
    { "a=b=c", "{\"a\":\"b=c\"}" },
    { "a=1&b=2", "{\"a\":\"1\",\"b\":\"2\"}" },
    { "a=1+2%20%41%zz%4", "{\"a\":\"1 2 A%zz%4\"}" },
    { "a%5Bb%5D=c", "{\"a\":{\"b\":\"c\"}}" },
    { "a[b]=c&a[d]=e", "{\"a\":{\"b\":\"c\",\"d\":\"e\"}}" },
    { "a[b][c]=d", "{\"a\":{\"b\":{\"c\":\"d\"}}}" },
    { "a[]=1&a[]=2", "{\"a\":[\"1\",\"2\"]}" },
    { "a=1&a=2&a=3", "{\"a\":[\"1\",\"2\",\"3\"]}" },
    { "a[1]=x&a[0]=y", "{\"a\":[\"y\",\"x\"]}" },
    { "a[7]=x", "{\"a\":[\"x\"]}" },
    { "a[21]=x", "{\"a\":{\"21\":\"x\"}}" },
    { "a[0]=x&a[b]=y", "{\"a\":{\"0\":\"x\",\"b\":\"y\"}}" },
    { "a[0][b]=x&a[1][b]=y", "{\"a\":[{\"b\":\"x\"},{\"b\":\"y\"}]}" },
    { "a=1&a[b]=2", "{\"a\":{\"\":\"1\",\"b\":\"2\"}}" },
    { "a[b=c", "{\"a[b\":\"c\"}" },
    { "a[b][c=d", "{\"a\":{\"b\":{\"[c\":\"d\"}}}" },
    { "[a]=b", "{\"a\":\"b\"}" },
    { "a]=b", "{\"a]\":\"b\"}" },
    { "a=%ff", "{\"a\":\"\xef\xbf\xbd\"}" },
    { "a=%00", "{\"a\":\"\\u0000\"}" },
    { "a=%22%0a", "{\"a\":\"\\\"\\n\"}" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__buf out = test_buf();

    assert_ok(pai__form_to_json(rows[i][0], strlen(rows[i][0]), &out));
    assert_string_equal(pai__buf_text(&out), rows[i][1]);
    pai__buf_dispose(&out);
  }
}

TEST(forms_have_an_end)
{
  pai__buf form = test_buf(), out = test_buf();

  for (int i = 0; i < 1000; i++)
    pai__buf_printf(&form, "&a%d=1", i);
  assert_ok(pai__form_to_json(pai__buf_text(&form), form.len, &out));
  pai__buf_str(&form, "&b=1");
  assert_int_equal(pai__form_to_json(pai__buf_text(&form), form.len, &out),
                   PAI_ELIMIT);
  assert_ok(pai__form_to_json("a[b][c][d][e][f]=1", 18, &out));
  assert_int_equal(pai__form_to_json("a[b][c][d][e][f][g]=1", 21, &out),
                   PAI_ELIMIT);
  pai__buf_dispose(&out);
  pai__buf_dispose(&form);
}

/* --- fields ------------------------------------------------------------------------ */

static const char *const colours[] = { "red", "blue", NULL };

static const pai__api_field inner[] = {
  { .name = "x", .kind = PAI__IS_TEXT, .flags = PAI__NEEDED },
  { .name = "w", .kind = PAI__IS_TEXT, .flags = PAI__NEEDED_WHOLE },
  { .name = "new", .kind = PAI__IS_TEXT },
  { .name = "old", .kind = PAI__IS_TEXT, .with = "new" },
  { 0 }
};

static const pai__api_field fields[] = {
  { .name = "user", .kind = PAI__IS_TEXT, .pattern = &pai__user_pattern },
  { .name = "group", .kind = PAI__IS_TEXT, .pattern = &pai__group_pattern },
  { .name = "tag",
    .kind = PAI__IS_TEXT,
    .pattern = &pai__no_comma_pattern,
    .most = 5 },
  { .name = "mail",
    .kind = PAI__IS_TEXT,
    .flags = PAI__IS_MAIL | PAI__MAY_BE_EMPTY },
  { .name = "needed mail", .kind = PAI__IS_TEXT, .flags = PAI__IS_MAIL },
  { .name = "long", .kind = PAI__IS_TEXT, .least = 3 },
  { .name = "colour", .kind = PAI__IS_TEXT, .choices = colours },
  { .name = "flag", .kind = PAI__IS_FLAG },
  { .name = "whole", .kind = PAI__IS_WHOLE, .least = 60, .most = 600 },
  { .name = "any whole", .kind = PAI__IS_WHOLE },
  { .name = "low", .kind = PAI__IS_NUMBER, .most = 100 },
  { .name = "high", .kind = PAI__IS_NUMBER, .most = 100, .not_below = "low" },
  { .name = "texts", .kind = PAI__IS_TEXTS },
  { .name = "object", .kind = PAI__IS_OBJECT },
  { .name = "any", .kind = PAI__IS_ANY },
  { .name = "data", .kind = PAI__IS_OBJECT, .fields = inner },
  { .name = "patch", .kind = PAI__IS_FLAG, .missing = "false" },
  { 0 }
};

/* What becomes of it: JSON, or what is wrong. */
static const char *check(const char *json, pai__buf *out, pai__buf *wrong)
{
  const pai__json_options options = { .flags = PAI__JSON_DUPLICATES };
  pai__tree *tree;
  int rc;

  pai__buf_clear(out);
  pai__buf_clear(wrong);
  assert_ok(pai__json_parse(&tree, json, strlen(json), &options, NULL));
  rc = pai__fields_check(fields, tree, out, wrong);
  pai__tree_free(tree);
  assert_true(rc == PAI_OK || rc == PAI_EINVAL);
  return rc == PAI_OK ? pai__buf_text(out) : pai__buf_text(wrong);
}

#define CHILD(name, what) \
  "child \"" name "\" fails because [\"" name "\" " what "]"
#define DATA(inner) "child \"data\" fails because [" inner "]"
#define GOOD(member) "{" member ",\"patch\":false}"
#define SAME(member)             \
  {                              \
    "{" member "}", GOOD(member) \
  }

TEST(values_are_checked)
{
  static const char *const rows[][2] = {
    { "{}", "{\"patch\":false}" },
    { "[]", "\"value\" must be an object" },
    { "\"{}\"", "\"value\" must be an object" },
    { "null", "\"value\" must be an object" },
    { "{\"no\":1}", "\"no\" is not allowed" },
    { "{\"patch\":\"TRUE\"}", "{\"patch\":true}" },
    { "{\"patch\":1}", CHILD("patch", "must be a boolean") },
    { "{\"patch\":\"yes\"}", CHILD("patch", "must be a boolean") },
    { "{\"patch\":true,\"patch\":false}", "{\"patch\":false}" },

    SAME("\"user\":\"A_.-9\""),
    { "{\"user\":\"a b\"}",
      CHILD("user", "with value \"a b\" fails to match the required pattern: "
                    "/^[\\w.-]+$/") },
    { "{\"user\":\"\"}", CHILD("user", "is not allowed to be empty") },
    { "{\"user\":7}", CHILD("user", "must be a string") },
    { "{\"user\":null}", CHILD("user", "must be a string") },
    { "{\"user\":\"a\\u0000b\"}",
      CHILD("user", "must not contain the character NUL") },
    SAME("\"group\":\"A_9\""),
    { "{\"group\":\"a-b\"}",
      CHILD("group",
            "must only contain alpha-numeric and underscore characters") },
    { "{\"tag\":\"a,b\"}",
      CHILD("tag", "with value \"a,b\" fails to match the required pattern: "
                   "/^[^,]+$/") },
    SAME("\"tag\":\"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\""),
    { "{\"tag\":\"abc\xf0\x9f\x98\x80z\"}",
      CHILD("tag", "length must be less than or equal to 5 characters "
                   "long") },
    { "{\"long\":\"ab\"}",
      CHILD("long", "length must be at least 3 characters long") },
    SAME("\"long\":\"abc\""),
    SAME("\"colour\":\"blue\""),
    { "{\"colour\":\"blu\"}", CHILD("colour", "must be one of [red, blue]") },

    SAME("\"mail\":\"\""),
    SAME("\"mail\":\"a.b+c@d-e.f\""),
    { "{\"needed mail\":\"\"}",
      CHILD("needed mail", "is not allowed to be empty") },
    { "{\"needed mail\":\"\",\"patch\":true}",
      "{\"needed mail\":\"\",\"patch\":true}" },
    SAME("\"mail\":\"a@b\""),
    { "{\"mail\":\"a\"}", CHILD("mail", "must be a valid email") },
    { "{\"mail\":\"@b\"}", CHILD("mail", "must be a valid email") },
    { "{\"mail\":\"a@\"}", CHILD("mail", "must be a valid email") },
    { "{\"mail\":\"a@b@c\"}", CHILD("mail", "must be a valid email") },
    { "{\"mail\":\"a..b@c\"}", CHILD("mail", "must be a valid email") },
    { "{\"mail\":\".a@c\"}", CHILD("mail", "must be a valid email") },
    { "{\"mail\":\"a b@c\"}", CHILD("mail", "must be a valid email") },
    { "{\"mail\":\"a@b..c\"}", CHILD("mail", "must be a valid email") },
    { "{\"mail\":\"a@-b\"}", CHILD("mail", "must be a valid email") },
    { "{\"mail\":\"a@b-\"}", CHILD("mail", "must be a valid email") },
    { "{\"mail\":\"a@b_c\"}", CHILD("mail", "must be a valid email") },

    { "{\"flag\":\"false\"}", GOOD("\"flag\":false") },
    { "{\"flag\":\"\"}", CHILD("flag", "must be a boolean") },
    { "{\"whole\":\"60\"}", GOOD("\"whole\":60") },
    { "{\"whole\":60.0}", GOOD("\"whole\":60") },
    { "{\"whole\":59}", CHILD("whole", "must be larger than or equal to 60") },
    { "{\"whole\":601}", CHILD("whole", "must be less than or equal to 600") },
    { "{\"whole\":60.5}", CHILD("whole", "must be an integer") },
    { "{\"whole\":\"x\"}", CHILD("whole", "must be a number") },
    { "{\"whole\":true}", CHILD("whole", "must be a number") },
    { "{\"any whole\":1e300}", CHILD("any whole", "must be an integer") },
    { "{\"any whole\":\" -12e1x\"}", GOOD("\"any whole\":-120") },
    { "{\"low\":\"+.5e\"}", GOOD("\"low\":0.5") },
    { "{\"low\":\"-\"}", CHILD("low", "must be a number") },
    { "{\"any whole\":\"nan\"}", CHILD("any whole", "must be a number") },
    { "{\"any whole\":\"inf\"}", CHILD("any whole", "must be a number") },
    SAME("\"any whole\":-9007199254740991"),
    SAME("\"low\":0.5"),
    { "{\"low\":-1}", CHILD("low", "must be larger than or equal to 0") },
    SAME("\"low\":10,\"high\":10"),
    { "{\"low\":\"10\",\"high\":9.5}",
      CHILD("high", "must be larger than or equal to low") },

    SAME("\"texts\":[]"),
    SAME("\"texts\":[\"a\",\"b\"]"),
    { "{\"texts\":\"[\\\"a\\\"]\"}", GOOD("\"texts\":[\"a\"]") },
    { "{\"texts\":\"a\"}", CHILD("texts", "must be an array") },
    { "{\"texts\":{}}", CHILD("texts", "must be an array") },
    { "{\"texts\":[\"a\",1]}",
      CHILD("texts", "at position 1 fails because [\"1\" must be a "
                     "string]") },
    { "{\"texts\":[\"\"]}",
      CHILD("texts", "at position 0 fails because [\"0\" is not allowed to be "
                     "empty]") },

    SAME("\"object\":{\"a\":[1,null,true,\"x\",{\"b\":0.5}]}"),
    { "{\"object\":\"{\\\"a\\\":1}\"}", GOOD("\"object\":{\"a\":1}") },
    { "{\"object\":\"{\"}", CHILD("object", "must be an object") },
    { "{\"object\":[]}", CHILD("object", "must be an object") },
    SAME("\"any\":null"),
    SAME("\"any\":[{\"a\":\"b\"}]"),

    { "{\"data\":{}}", DATA(CHILD("x", "is required")) },
    { "{\"data\":[]}", CHILD("data", "must be an object") },
    { "{\"data\":{\"x\":\"1\"}}", DATA(CHILD("w", "is required")) },
    { "{\"data\":{\"x\":\"1\"},\"patch\":\"false\"}",
      DATA(CHILD("w", "is required")) },
    { "{\"data\":{\"x\":\"1\"},\"patch\":\"true\"}",
      "{\"data\":{\"x\":\"1\"},\"patch\":true}" },
    { "{\"data\":{\"x\":\"1\",\"new\":\"2\"},\"patch\":true}",
      DATA(CHILD("old", "is required")) },
    { "{\"data\":{\"x\":\"1\",\"y\":\"2\"},\"patch\":true}",
      DATA("\"y\" is not allowed") },
    { "{\"data\":{\"x\":\"1\",\"y\":\"2\"},\"patch\":2,\"no\":1}",
      DATA(CHILD("w", "is required")) },
    { "{\"data\":\"{\\\"x\\\":\\\"1\\\"}\",\"patch\":true}",
      "{\"data\":{\"x\":\"1\"},\"patch\":true}" },
  };
  pai__buf out = test_buf(), wrong = test_buf();

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    assert_string_equal(check(rows[i][0], &out, &wrong), rows[i][1]);
  pai__buf_dispose(&out);
  pai__buf_dispose(&wrong);
}

/* --- without memory ------------------------------------------------------------------ */

static int read_both(const pai_alloc *alloc, void *user_data)
{
  static const char form[] =
    "data[x]=1&data[new]=2&data[old]=3&data[w]=4&"
    "texts[]=a&texts[]=b&object={\"a\":[1]}&flag=true";
  const pai__json_options options = { .alloc = alloc };
  pai__buf json, out, wrong;
  pai__tree *tree = NULL;
  int rc;

  (void)user_data;
  pai__buf_init(&json, alloc);
  pai__buf_init(&out, alloc);
  pai__buf_init(&wrong, alloc);
  rc = pai__form_to_json(form, sizeof(form) - 1, &json);
  if (rc == PAI_OK)
    rc =
      pai__json_parse(&tree, pai__buf_text(&json), json.len, &options, NULL);
  if (rc == PAI_OK)
    rc = pai__fields_check(fields, tree, &out, &wrong);
  if (rc == PAI_OK)
    assert_string_equal(pai__buf_text(&out),
                        "{\"flag\":true,\"texts\":[\"a\",\"b\"],"
                        "\"object\":{\"a\":[1]},\"data\":{\"x\":\"1\","
                        "\"w\":\"4\",\"new\":\"2\",\"old\":\"3\"},"
                        "\"patch\":false}");
  pai__tree_free(tree);
  pai__buf_dispose(&json);
  pai__buf_dispose(&out);
  pai__buf_dispose(&wrong);
  return rc;
}

static int refuse_one(const pai_alloc *alloc, void *user_data)
{
  static const char text[] = "{\"data\":{\"x\":\"1\"},\"colour\":\"green\"}";
  const pai__json_options options = { .alloc = alloc };
  pai__tree *tree = NULL;
  pai__buf out, wrong;
  int rc;

  (void)user_data;
  pai__buf_init(&out, alloc);
  pai__buf_init(&wrong, alloc);
  rc = pai__json_parse(&tree, text, sizeof(text) - 1, &options, NULL);
  if (rc == PAI_OK)
    rc = pai__fields_check(fields, tree, &out, &wrong);
  if (rc == PAI_EINVAL) {
    assert_has(pai__buf_text(&wrong), "must be one of");
    rc = PAI_OK; /* as it should be */
  }
  pai__tree_free(tree);
  pai__buf_dispose(&out);
  pai__buf_dispose(&wrong);
  return rc;
}

TEST(memory_runs_out)
{
  test_faults(read_both, NULL);
  test_faults(refuse_one, NULL);
}
