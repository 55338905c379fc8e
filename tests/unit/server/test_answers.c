/* What answers are held against, and that something is seen. */
#include "answers.h"

static const pai__field pet_fields[] = { PAI__HAS(TEXT, "name"),
                                         PAI__HAS_OR_NULL(WHOLE, "age"),
                                         PAI__MAY_HAVE(TEXTS, "toys"),
                                         { 0 } };
static const pai__shape pet = { "Pet", pet_fields };
static const pai__field house_fields[] = { PAI__HAS_OF(MAP, "rooms", &pet),
                                           PAI__MAY_HAVE_OF(LIST, "past",
                                                            &pet),
                                           PAI__MAY_HAVE(ANY, "more"),
                                           PAI__MAY_HAVE(FLAG, "warm"),
                                           PAI__MAY_HAVE(NUMBER, "size"),
                                           PAI__MAY_HAVE(TIME, "since"),
                                           { 0 } };
static const pai__shape house = { "House", house_fields };
static const pai__result other = { .kind = PAI__IS_LIST, .shape = &pet };
static const pai__result result = { .kind = PAI__IS_OBJECT,
                                    .shape = &house,
                                    .other = &other };

static void fits(const char *json)
{
  char why[256];

  if (!fits_result(why, sizeof(why), &result, json))
    fail_msg("%s: %s", json, why);
}

static void fails(const char *json, const char *part)
{
  char why[256];

  if (fits_result(why, sizeof(why), &result, json))
    fail_msg("%s: nothing was seen", json);
  if (strstr(why, part) == NULL)
    fail_msg("%s: %s", json, why);
}

static void what_is_right(void **state)
{
  (void)state;
  fits("{\"rooms\":{}}");
  fits("{\"rooms\":{\"a\":{\"name\":\"x\",\"age\":null}}}");
  fits("{\"rooms\":{},\"past\":[{\"name\":\"x\",\"age\":1,\"toys\":[\"b\"]}],"
       "\"more\":null,\"warm\":true,\"size\":1.5,\"since\":7}");
  fits("[]");
  fits("[{\"name\":\"x\",\"age\":1}]");
}

static void what_is_wrong(void **state)
{
  (void)state;
  fails("nothing", "no JSON");
  fails("{}", "kind"); /* of the last that it may be */
  fails("[{\"age\":1}]", "lacks name");
  fails("[{\"name\":\"x\"}]", "lacks age");
  fails("[{\"name\":null,\"age\":1}]", ".name is of another kind");
  fails("[{\"name\":\"x\",\"age\":1.5}]", ".age is of another kind");
  fails("[{\"name\":\"x\",\"age\":1,\"secret\":1}]", "should not have secret");
  fails("[{\"name\":\"x\",\"age\":1,\"toys\":[1]}]", ".toys has what");
  fails("[1]", "kind");
}

/* The first of several tells what is wrong with an object. */
static void within_objects(void **state)
{
  static const pai__result one = { .kind = PAI__IS_OBJECT, .shape = &house };
  static const char *const bad[] = {
    "{}",
    "{\"rooms\":[]}",
    "{\"rooms\":{\"a\":{\"age\":1}}}",
    "{\"rooms\":{\"a\":1}}",
    "{\"rooms\":{},\"past\":{}}",
    "{\"rooms\":{},\"past\":[{\"name\":\"x\"}]}",
    "{\"rooms\":{},\"warm\":1}",
    "{\"rooms\":{},\"size\":\"1\"}",
    "{\"rooms\":{},\"since\":1.5}",
  };
  char why[256];

  (void)state;
  for (size_t i = 0; i < PAI__LEN(bad); i++)
    if (fits_result(why, sizeof(why), &one, bad[i]))
      fail_msg("%s: nothing was seen", bad[i]);
}

/* --- the routes' own tables ------------------------------------------------------- */

enum { MOST = 128 };

typedef struct seen {
  const pai__shape *at[MOST];
  size_t n;
} seen;

/* Two of one name would be one in the document. */
static void look_at(seen *all, const pai__shape *shape)
{
  for (size_t i = 0; shape != NULL && i < all->n; i++) {
    if (all->at[i] == shape)
      return;
    if (strcmp(all->at[i]->name, shape->name) == 0)
      fail_msg("there are two of the name %s", shape->name);
  }
  if (shape == NULL)
    return;
  assert_true(all->n < MOST);
  all->at[all->n++] = shape;
  for (const pai__field *f = shape->fields; f->kind != PAI__END; f++)
    look_at(all, f->shape);
}

static void names_are_their_own(void **state)
{
  const pai__routes *table;
  seen all = { .n = 0 };

  (void)state;
  look_at(&all, &pai__error_shape);
  look_at(&all, pai__done_result.shape);
  for (size_t t = 0; (table = pai__routes_at(t)) != NULL; t++)
    for (size_t i = 0; i < table->n; i++)
      for (const pai__result *r = table->at[i].result; r != NULL; r = r->other)
        look_at(&all, r->shape);
  assert_true(all.n > 30);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_right),
    cmocka_unit_test(what_is_wrong),
    cmocka_unit_test(within_objects),
    cmocka_unit_test(names_are_their_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
