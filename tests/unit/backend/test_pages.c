/* Lists that come in pages: one list of them all. */
#include "cases.h"

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

  assert_ok(pai__json_parse(&t, json, strlen(json), NULL, NULL));
  rc = pai__kube_pages_add(p, t, json, "PodList", "7");
  pai__tree_free(t);
  return rc;
}

TEST(one_page_is_as_it_is)
{
  pai__kube_pages p;

  pai__kube_pages_init(&p, &pai__libc_alloc);
  assert_ok(add(&p, PAGE("", "[{\"a\":1}]")));
  assert_null(pai__kube_pages_next(&p));
  assert_int_equal(p.all.len, 0);
  assert_ok(add(&p, "{\"metadata\":5,\"items\":null}"));
  assert_ok(add(&p, "{}"));
  assert_ok(add(&p, "[]"));
  assert_null(pai__kube_pages_next(&p));
  pai__kube_pages_clear(&p);
}

TEST(pages_become_one_list)
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

  pai__kube_pages_init(&p, &pai__libc_alloc);
  for (int twice = 0; twice < 2; twice++) {
    for (size_t i = 0; i < PAI__LEN(pages); i++) {
      assert_ok(add(&p, pages[i]));
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

TEST(pages_without_an_end)
{
  char json[9000] = "{\"metadata\":{\"continue\":\"";
  size_t len = strlen(json);
  pai__kube_pages p;

  pai__kube_pages_init(&p, &pai__libc_alloc);
  assert_ok(add(&p, PAGE(MORE("a"), "[]")));
  assert_ok(add(&p, PAGE(MORE("b"), "null")));
  assert_int_equal(add(&p, PAGE(MORE("b"), "[1]")), PAI_EINVAL);
  pai__kube_pages_clear(&p);
  memset(json + len, 'x', 8500);
  memcpy(json + len + 8500, "\"},\"items\":[1]}", 16);
  assert_int_equal(add(&p, json), PAI_EINVAL);
  pai__kube_pages_clear(&p);
}

TEST_FAULTS(it_survives_failing_memory)
{
  pai__kube_pages p;
  int rc;

  pai__kube_pages_init(&p, alloc);
  rc = add(&p, PAGE(MORE("a"), "[{\"a\":1}]"));
  if (rc == PAI_OK)
    rc = add(&p, PAGE("", "[{\"a\":2}]"));
  if (rc == PAI_OK)
    assert_has(pai__buf_text(&p.all), "[{\"a\":1},{\"a\":2}]}");
  pai__kube_pages_clear(&p);
  return rc;
}
