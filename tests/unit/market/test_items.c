/* Items of the marketplace: who sees and changes them, what is refused, what
 * is counted. */
#include "cases.h"
#include "scene.h"

#include <stdio.h>

#define NOBODYS "00000000-0000-4000-8000-000000000000"

static void create(const char *user, const char *json)
{
  if (put_item(user, NULL, json) < 0)
    fail_msg("%s", h.message);
}

static bool sees(const char *user, const char *id)
{
  pai_market_query q = PAI_MARKET_QUERY_INIT;
  bool listed = strstr(list_items(user, &q), id) != NULL;
  bool shown = show_item(user, id)[0] != '\0';

  assert_int_equal(listed, shown); /* list and item follow one rule */
  if (!shown)
    expect(PAI_ENOTFOUND, PAI_ENOTFOUND, h.api, h.http);
  return shown;
}

TEST(what_is_put_is_shown)
{
  char id[PAI_MARKET_ID];

  create("ada", ITEM(",\"summary\":\"Trains\",\"description\":\"# T\",\"tags\""
                     ":[\"a\",\"b\",\"a\"],\"categories\":[\"vision\"]"));
  memcpy(id, last_id, sizeof(id));
  assert_int_equal(strlen(id), 36);
  assert_int_equal(id[14], '4'); /* a UUID of version 4 */
  market_reopen();
  (void)show_item("bob", id);
  assert_has(h.text, "\"name\":\"train\",\"author\":\"ada\",\"type\":"
                     "\"template\",\"source\":\"marketplace\",\"isPublic\":"
                     "true,\"isPrivate\":false,\"groupList\":[]");
  assert_has(h.text, "\"categories\":[\"vision\"],\"tags\":[\"a\",\"b\"],"
                     "\"summary\":\"Trains\",\"description\":\"# T\"");
  assert_has(h.text,
             "\"useNumber\":0,\"starNumber\":0,\"status\":"
             "\"approved\",\"createdAt\":\"2023-11-14T22:13:20.000Z\"");
  assert_has(h.text, "\"isEditable\":false");
  h.now += 1000000;
  assert_ok(put_item("ada", id, "{\"summary\":\"Trains more\"}"));
  market_reopen();
  (void)show_item("ada", id);
  assert_has(h.text, "\"summary\":\"Trains more\",\"description\":\"# T\"");
  assert_has(h.text, "\"createdAt\":\"2023-11-14T22:13:20.000Z\",\"updatedAt\""
                     ":\"2023-11-14T22:13:21.000Z\"");
  assert_has(h.text, "\"isEditable\":true");
  assert_ok(remove_item("ada", id));
  market_reopen();
  assert_false(sees("ada", id));
}

TEST(who_sees_what)
{
  char id[PAI_MARKET_ID];

  create("ada", ITEM(",\"isPrivate\":true,\"isPublic\":true"));
  memcpy(id, last_id, sizeof(id));
  assert_true(sees("ada", id)); /* private wins */
  assert_false(sees("bob", id));
  assert_true(sees("admin", id));
  expect(put_item("bob", id, "{}"), PAI_ENOTFOUND, "NoItemError", 404);
  expect(remove_item("bob", id), PAI_ENOTFOUND, "NoItemError", 404);
  expect(star("bob", id, 1), PAI_ENOTFOUND, "NoItemError", 404);
  expect(use("bob", id), PAI_ENOTFOUND, "NoItemError", 404);
  /* The group of ada and bob. */
  assert_ok(
    put_item("ada", id, "{\"isPrivate\":false,\"groupList\":[\"team\"]}"));
  assert_true(sees("bob", id));
  assert_false(sees("eve", id));
  assert_ok(put_user(0, "{\"username\":\"bob\",\"grouplist\":[]}"));
  assert_false(sees("bob", id)); /* at once */
  assert_ok(put_item("ada", id, "{\"isPublic\":true}"));
  assert_true(sees("eve", id));
  assert_null(strstr(show_item("ada", id), "team"));
  expect(put_item("eve", id, "{\"name\":\"mine\"}"), PAI_EPERM,
         "ForbiddenUserError", 403);
  expect(remove_item("eve", id), PAI_EPERM, "ForbiddenUserError", 403);
  assert_ok(put_item("admin", id, "{\"name\":\"theirs\"}"));
  assert_has(show_item("eve", id), "\"author\":\"ada\"");
}

TEST(groups_are_ones_own)
{
  expect(put_item("eve", NULL, ITEM(",\"groupList\":[\"team\"]")), PAI_EPERM,
         "ForbiddenUserError", 403);
  expect(put_item("ada", NULL, ITEM(",\"groupList\":[\"none\"]")),
         PAI_ENOTFOUND, "NoGroupError", 404);
  expect(put_item("ada", NULL, ITEM(",\"isPublic\":false")), PAI_EINVAL,
         "InvalidParametersError", 400);
  create("admin", ITEM(",\"groupList\":[\"team\"]"));
  assert_true(sees("ada", last_id));
  assert_false(sees("eve", last_id));
}

/* The name alone does not make a user the author. */
TEST(a_later_user_of_that_name)
{
  char id[PAI_MARKET_ID];

  create("ada", ITEM(",\"isPrivate\":true"));
  memcpy(id, last_id, sizeof(id));
  assert_ok(pai_accounts_remove_user(h.a, "ada", NULL));
  h.now += 1000000;
  add_user("ada");
  assert_false(sees("ada", id));
  market_reopen();
  assert_false(sees("ada", id));
  assert_true(sees("admin", id));
}

TEST(official_examples)
{
  char id[PAI_MARKET_ID];

  expect(put_item("ada", NULL, ITEM(",\"categories\":[\"official example\"]")),
         PAI_EPERM, "ForbiddenUserError", 403);
  create("ada", ITEM(""));
  memcpy(id, last_id, sizeof(id));
  assert_ok(put_item("admin", id, "{\"categories\":[\"official example\"]}"));
  expect(put_item("ada", id, "{\"categories\":[]}"), PAI_EPERM,
         "ForbiddenUserError", 403);
  expect(remove_item("ada", id), PAI_EPERM, "ForbiddenUserError", 403);
  assert_ok(put_item("admin", id, "{\"categories\":[]}"));
  assert_ok(remove_item("ada", id));
}

/* --- job files ---------------------------------------------------------------- */

static void refuses(const char *protocol, const char *message)
{
  static const char form[] = "{\"name\":\"n\",\"protocol\":\"%s\"}";
  char id[PAI_MARKET_ID];

  expect(put_item("ada", NULL, test_string(form, protocol)), PAI_EINVAL,
         "InvalidProtocolError", 400);
  assert_has(h.message, message);
  create("ada", ITEM(""));
  memcpy(id, last_id, sizeof(id));
  expect(put_item("ada", id, test_string(form, protocol)), PAI_EINVAL,
         "InvalidProtocolError", 400);
  assert_has(show_item("ada", id), "name: x"); /* as it was */
}

TEST(job_files_are_checked)
{
  refuses("", "Empty protocol");
  refuses("name: x", "not valid: line");
  refuses("[", "not valid: line");
  refuses(JOB_FILE "secrets: {token: hunter2}", "value of a secret");
  refuses(JOB_FILE "secrets: &a {token: hunter2}", "value of a secret");
  refuses(JOB_FILE "# AccountKey=abc", "credential");
  create("ada", "{\"name\":\"n\",\"protocol\":\"" JOB_FILE
                "secrets: {token: '******'}\"}");
}

TEST(what_is_refused)
{
  static const char *const bodies[] = { "{}",
                                        "[]",
                                        "{",
                                        "{\"name\":\"x\"}",
                                        "{\"name\":1,\"protocol\":\"x\"}",
                                        ITEM(",\"type\":\"virus\""),
                                        ITEM(",\"source\":\"elsewhere\""),
                                        ITEM(",\"summary\":\"a\\nb\""),
                                        ITEM(",\"tags\":[\"a,b\"]"),
                                        ITEM(",\"tags\":[\"\"]"),
                                        ITEM(",\"tags\":\"a\""),
                                        ITEM(",\"unknown\":1"),
                                        ITEM(",\"dataUrl\":\"\\u0001\""),
                                        "{\"name\":\"\",\"protocol\":\"x\"}" };
  pai__buf json = test_buf();

  for (size_t i = 0; i < PAI__LEN(bodies); i++)
    expect(put_item("ada", NULL, bodies[i]), PAI_EINVAL,
           "InvalidParametersError", 400);
  expect(put_item("ada", NULL, ITEM(",\"author\":\"bob\"")), PAI_EPERM,
         "ForbiddenUserError", 403);
  pai__buf_str(&json, "{\"tags\":[\"0\"");
  for (int i = 1; i <= PAI__MOST_NAMES; i++)
    pai__buf_printf(&json, ",\"%d\"", i);
  pai__buf_str(&json, "]}");
  create("ada", ITEM(",\"author\":\"ada\""));
  expect(put_item("ada", last_id, json.data), PAI_EINVAL,
         "InvalidParametersError", 400);
  pai__buf_dispose(&json);
  expect(put_item("ada", NOBODYS, "{}"), PAI_ENOTFOUND, "NoItemError", 404);
  expect(put_item("ada", "", "{}"), PAI_ENOTFOUND, "NoItemError", 404);
  assert_int_equal(market->items.n, 1);
}

TEST(a_user_has_limits)
{
  pai__buf json = test_buf();

  for (int i = 0; i < PAI__MOST_USER_ITEMS; i++)
    create("ada", ITEM(""));
  expect(put_item("ada", NULL, ITEM("")), PAI_ELIMIT, "NoEnoughQuotaError",
         403);
  create("bob", ITEM("")); /* others go on */
  assert_ok(remove_item("bob", last_id));
  pai__buf_str(&json, "{\"description\":\"");
  for (int i = 0; i < 64 << 10; i++)
    pai__buf_char(&json, 'x');
  pai__buf_str(&json, "\"}");
  for (size_t i = 0; i < 40; i++) {
    const pai__market_item *item = market->items.at[i];
    int rc = put_item("ada", item->uid, json.data);

    if (rc != PAI_OK)
      expect(rc, PAI_ELIMIT, "NoEnoughQuotaError", 403);
    if (i == 39)
      assert_int_equal(rc, PAI_ELIMIT);
  }
  assert_true(market->bytes <= PAI__MOST_USER_BYTES);
  pai__buf_dispose(&json);
}

/* --- lists -------------------------------------------------------------------- */

static size_t count_of(const pai_market_query *q)
{
  size_t n = 0;

  for (const char *at = list_items("bob", q);
       (at = strstr(at, "{\"id\"")) != NULL; at++)
    n++;
  return n;
}

TEST(lists)
{
  pai_market_query q = PAI_MARKET_QUERY_INIT;
  const pai_market_query all = PAI_MARKET_QUERY_INIT;

  create("ada", ITEM(",\"summary\":\"On MNIST\",\"tags\":[\"a\",\"b\"]"));
  h.now += 1000000;
  create("bob", "{\"name\":\"serve\",\"type\":\"data\",\"categories\":[\"c\"],"
                "\"protocol\":\"" JOB_FILE "\"}");
  assert_int_equal(count_of(&all), 2);
  assert_true(strstr(h.text, "serve") < strstr(h.text, "train"));
  q.keyword = "mnist";
  assert_int_equal(count_of(&q), 1);
  q.keyword = "AD";
  assert_int_equal(count_of(&q), 1); /* the author */
  q = all;
  q.tags = "b,a";
  assert_int_equal(count_of(&q), 1);
  q.tags = "b,c";
  assert_int_equal(count_of(&q), 0);
  q = all;
  q.categories = "c";
  q.brief = 1;
  assert_int_equal(count_of(&q), 1);
  assert_null(strstr(h.text, "protocol"));
  q = all;
  q.type = "all";
  assert_int_equal(count_of(&q), 2);
  q.type = "data";
  assert_int_equal(count_of(&q), 1);
  q = all;
  q.name = "train";
  q.author = "ada";
  q.source = "marketplace";
  assert_int_equal(count_of(&q), 1);
}

/* --- counts ------------------------------------------------------------------- */

TEST(stars_and_uses)
{
  char id[PAI_MARKET_ID];

  create("ada", ITEM(""));
  memcpy(id, last_id, sizeof(id));
  assert_ok(star("ada", id, 1));
  assert_ok(star("bob", id, 1));
  assert_ok(star("bob", id, 1)); /* once each */
  assert_ok(star("eve", id, 0));
  assert_ok(use("bob", id));
  assert_ok(use("bob", id));
  assert_ok(put_item("ada", id, "{\"summary\":\"s\"}")); /* they stay */
  market_reopen();
  assert_has(show_item("bob", id), "\"useNumber\":2,\"starNumber\":2");
  assert_has(h.text, "\"isStarred\":true");
  assert_has(show_item("eve", id), "\"isStarred\":false");
  assert_ok(star("bob", id, 0));
  market_reopen();
  assert_has(show_item("bob", id), "\"starNumber\":1");
  assert_ok(remove_item("ada", id));
  market_reopen();
  expect(use("bob", id), PAI_ENOTFOUND, "NoItemError", 404);
}

/* --- labels ------------------------------------------------------------------- */

TEST(tags_and_categories)
{
  char tag[PAI_MARKET_ID], category[PAI_MARKET_ID], id[PAI_MARKET_ID];

  expect(put_label("ada", PAI_MARKET_TAG, NULL, "{\"name\":\"a\"}"), PAI_EPERM,
         "ForbiddenUserError", 403);
  assert_ok(put_label("admin", PAI_MARKET_TAG, NULL,
                      "{\"name\":\"a\",\"color\":\"red\"}"));
  memcpy(tag, last_id, sizeof(tag));
  expect(put_label("admin", PAI_MARKET_TAG, NULL, "{\"name\":\"a\"}"),
         PAI_EEXISTS, "ConflictLabelError", 409);
  assert_ok(put_label("admin", PAI_MARKET_CATEGORY, NULL,
                      "{\"name\":\"official example\"}"));
  memcpy(category, last_id, sizeof(category));
  assert_ok(
    put_label("admin", PAI_MARKET_TAG, tag, "{\"description\":\"d\"}"));
  expect(put_label("admin", PAI_MARKET_TAG, tag, "{\"name\":\"b\"}"),
         PAI_EINVAL, "InvalidParametersError", 400);
  expect(put_label("admin", PAI_MARKET_TAG, category, "{}"), PAI_ENOTFOUND,
         "NoLabelError", 404); /* of another kind */
  market_reopen();
  assert_string_equal(
    show_labels("ada", PAI_MARKET_TAG, NULL, NULL),
    test_string("[{\"id\":\"%s\",\"name\":\"a\",\"color\":\"red\","
                "\"description\":\"d\",\"extras\":null}]",
                tag));
  create("ada", ITEM(""));
  memcpy(id, last_id, sizeof(id));
  assert_string_equal(show_labels("bob", PAI_MARKET_TAG, NULL, id), "[]");
  assert_ok(set_label("ada", id, PAI_MARKET_TAG, tag, 1));
  assert_ok(set_label("ada", id, PAI_MARKET_TAG, tag, 1));
  expect(set_label("bob", id, PAI_MARKET_TAG, tag, 0), PAI_EPERM,
         "ForbiddenUserError", 403);
  expect(set_label("ada", id, PAI_MARKET_CATEGORY, category, 1), PAI_EPERM,
         "ForbiddenUserError", 403);
  market_reopen();
  assert_has(show_labels("bob", PAI_MARKET_TAG, NULL, id), tag);
  assert_has(show_item("bob", id), "\"tags\":[\"a\"]");
  assert_ok(set_label("ada", id, PAI_MARKET_TAG, tag, 0));
  assert_has(show_item("bob", id), "\"tags\":[]");
  expect(remove_label("ada", PAI_MARKET_TAG, tag), PAI_EPERM,
         "ForbiddenUserError", 403);
  assert_ok(remove_label("admin", PAI_MARKET_TAG, tag));
  market_reopen();
  assert_string_equal(show_labels("ada", PAI_MARKET_TAG, NULL, NULL), "[]");
}

TEST_AROUND_EACH(market_set_up, market_tear_down);
