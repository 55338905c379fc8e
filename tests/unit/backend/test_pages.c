/* Lists that come in pages: one list of them all. */
#include "testing.h"

#include "backend/kubernetes/pages.h"
#include "json/json.h"

#define PAGE(rest, items)                                               \
  "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"," rest \
  "\"remainingItemCount\":3},\"items\":" items "}"
#define MORE(where) "\"continue\":\"" where "\","

static int add(pai__kube_pages *p, const char *json)
{
  pai__tree *t;
  int rc;

  assert_int_equal(pai__json_parse(&t, json, strlen(json), NULL, NULL),
                   PAI_OK);
  rc = pai__kube_pages_add(p, t, json, "PodList", "7");
  pai__tree_free(t);
  return rc;
}

static void one_page_is_as_it_is(void **state)
{
  pai__kube_pages p;

  (void)state;
  pai__kube_pages_init(&p, &pai__libc_alloc);
  assert_int_equal(add(&p, PAGE("", "[{\"a\":1}]")), PAI_OK);
  assert_null(pai__kube_pages_next(&p));
  assert_int_equal(p.all.len, 0);
  assert_int_equal(add(&p, "{\"metadata\":5,\"items\":null}"), PAI_OK);
  assert_int_equal(add(&p, "{}"), PAI_OK);
  assert_int_equal(add(&p, "[]"), PAI_OK);
  assert_null(pai__kube_pages_next(&p));
  pai__kube_pages_clear(&p);
}

static void pages_become_one_list(void **state)
{
  static const char *const rests[] = { "ab-_9", "x%26y%3D%2F%22", NULL };
  static const char *const pages[] = {
    PAGE(MORE("ab-_9"),
         "[ {\"metadata\":{\"name\":\"a\",\"managedFields\":[{\"f\":{}}]},"
         "\"s\":[1]} , {\"metadata\":null} ]"),
    PAGE(MORE("x&y=/\\\""), "[{\"metadata\":{\"managedFields\":null}}]"),
    PAGE("", "[]"),
  };
  pai__kube_pages p;

  (void)state;
  pai__kube_pages_init(&p, &pai__libc_alloc);
  for (int twice = 0; twice < 2; twice++) {
    for (size_t i = 0; i < PAI__LEN(pages); i++) {
      assert_int_equal(add(&p, pages[i]), PAI_OK);
      if (rests[i] == NULL)
        assert_null(pai__kube_pages_next(&p));
      else
        assert_string_equal(pai__kube_pages_next(&p), rests[i]);
    }
    assert_string_equal(
      pai__buf_text(&p.all),
      "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{"
      "\"resourceVersion\":\"7\"},\"items\":[{\"metadata\":{\"name\":\"a\","
      "\"managedFields\":[]},\"s\":[1]},{\"metadata\":null},{\"metadata\":{"
      "\"managedFields\":null}}]}");
    pai__kube_pages_clear(&p);
  }
}

static void pages_without_an_end(void **state)
{
  char json[9000] = "{\"metadata\":{\"continue\":\"";
  size_t len = strlen(json);
  pai__kube_pages p;

  (void)state;
  pai__kube_pages_init(&p, &pai__libc_alloc);
  assert_int_equal(add(&p, PAGE(MORE("a"), "[]")), PAI_OK);
  assert_int_equal(add(&p, PAGE(MORE("b"), "null")), PAI_OK);
  assert_int_equal(add(&p, PAGE(MORE("b"), "[1]")), PAI_EINVAL);
  pai__kube_pages_clear(&p);
  memset(json + len, 'x', 8500);
  memcpy(json + len + 8500, "\"},\"items\":[1]}", 16);
  assert_int_equal(add(&p, json), PAI_EINVAL);
  pai__kube_pages_clear(&p);
}

static int body(const pai_alloc *alloc, void *user_data)
{
  pai__kube_pages p;
  int rc;

  (void)user_data;
  pai__kube_pages_init(&p, alloc);
  rc = add(&p, PAGE(MORE("a"), "[{\"a\":1}]"));
  if (rc == PAI_OK)
    rc = add(&p, PAGE("", "[{\"a\":2}]"));
  if (rc == PAI_OK)
    assert_non_null(strstr(pai__buf_text(&p.all), "[{\"a\":1},{\"a\":2}]}"));
  pai__kube_pages_clear(&p);
  return rc;
}

static void it_survives_failing_memory(void **state)
{
  (void)state;
  test_faults(body, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_page_is_as_it_is),
    cmocka_unit_test(pages_become_one_list),
    cmocka_unit_test(pages_without_an_end),
    cmocka_unit_test(it_survives_failing_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
