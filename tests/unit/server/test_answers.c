/* What answers are held against, and that something is seen. */
#include "cases.h"
#include "answers.h"

#include "api/records.h"

static const pai__api_field pet_fields[] = {
  { .name = "name", .kind = PAI__IS_TEXT, .flags = PAI__NEEDED },
  { .name = "age",
    .kind = PAI__IS_WHOLE,
    .flags = PAI__NEEDED | PAI__MAY_BE_NULL },
  { .name = "toys", .kind = PAI__IS_TEXTS },
  { 0 }
};
static const pai__api_record pet = { "Pet", pet_fields };
static const pai__api_field house_fields[] = {
  { .name = "rooms",
    .kind = PAI__IS_MAP,
    .flags = PAI__NEEDED,
    .record = &pet },
  { .name = "past", .kind = PAI__IS_LIST, .record = &pet },
  { .name = "more", .kind = PAI__IS_ANY },
  { .name = "warm", .kind = PAI__IS_FLAG },
  { .name = "size", .kind = PAI__IS_NUMBER },
  { .name = "since", .kind = PAI__IS_TIME },
  { 0 }
};
static const pai__api_record house = { "House", house_fields };
static const pai__api_answer other = { .kind = PAI__IS_LIST, .record = &pet };
static const pai__api_answer result = { .kind = PAI__IS_OBJECT,
                                        .record = &house,
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

TEST(what_is_right)
{
  fits("{\"rooms\":{}}");
  fits("{\"rooms\":{\"a\":{\"name\":\"x\",\"age\":null}}}");
  fits("{\"rooms\":{},\"past\":[{\"name\":\"x\",\"age\":1,\"toys\":[\"b\"]}],"
       "\"more\":null,\"warm\":true,\"size\":1.5,\"since\":7}");
  fits("[]");
  fits("[{\"name\":\"x\",\"age\":1}]");
}

TEST(what_is_wrong)
{
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
TEST(within_objects)
{
  static const pai__api_answer one = { .kind = PAI__IS_OBJECT,
                                       .record = &house };
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

  for (size_t i = 0; i < PAI__LEN(bad); i++)
    if (fits_result(why, sizeof(why), &one, bad[i]))
      fail_msg("%s: nothing was seen", bad[i]);
}

/* --- the routes' own tables ------------------------------------------------------- */

enum { MOST = 128 };

typedef struct seen {
  const pai__api_record *at[MOST];
  size_t n;
} seen;

/* Two of one name would be one in the document. */
static void look_at(seen *all, const pai__api_record *record)
{
  for (size_t i = 0; record != NULL && i < all->n; i++) {
    if (all->at[i] == record)
      return;
    if (strcmp(all->at[i]->name, record->name) == 0)
      fail_msg("there are two of the name %s", record->name);
  }
  if (record == NULL)
    return;
  assert_true(all->n < MOST);
  all->at[all->n++] = record;
  for (const pai__api_field *f = record->fields; f->kind != PAI__END; f++)
    look_at(all, f->record);
}

TEST(names_are_their_own)
{
  const pai__api_route *route = NULL;
  seen all = { .n = 0 };

  look_at(&all, &pai__api_Error);
  look_at(&all, &pai__api_Done);
  while ((route = pai__route_next(route, PAI__WITH_ANY)) != NULL)
    for (const pai__api_answer *a = route->result; a != NULL; a = a->other)
      look_at(&all, a->record);
  assert_true(all.n > 30);
}
