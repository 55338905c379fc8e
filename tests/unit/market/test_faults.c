/* Without memory the marketplace does nothing by halves. */
#include "cases.h"
#include "scene.h"

#include "store/inside.h"

typedef int (*step)(void);

static char item[PAI_MARKET_ID], tag[PAI_MARKET_ID];

/* As put_item() and so on, for a call that may fail. */
static pai_market_viewer admin(void)
{
  pai_market_viewer v = PAI_MARKET_VIEWER_INIT;

  v.user = "admin";
  v.admin = 1;
  return v;
}

static int put(char out[PAI_MARKET_ID], const char *id, const char *json)
{
  pai_market_viewer v = admin();

  return pai_market_put_item(out, market, &v, id, json, strlen(json), NULL);
}

static int s_create(void)
{
  char made[PAI_MARKET_ID];
  int rc = put(made, NULL,
               ITEM(",\"summary\":\"s\",\"tags\":[\"a\"],\"groupList\":"
                    "[\"team\"],\"dataUrl\":\"u\""));

  if (rc == PAI_OK)
    memcpy(item, made, sizeof(made));
  return rc;
}

static int s_change(void)
{
  char made[PAI_MARKET_ID];

  return put(made, item, "{\"isPublic\":true,\"categories\":[\"c\"]}");
}

static int s_star(void)
{
  pai_market_viewer v = admin();

  return pai_market_star(market, &v, item, 1, NULL);
}

static int s_unstar(void)
{
  pai_market_viewer v = admin();

  return pai_market_star(market, &v, item, 0, NULL);
}

static int s_use(void)
{
  pai_market_viewer v = admin();

  return pai_market_use(market, &v, item, NULL);
}

static int s_label(void)
{
  static const char json[] = "{\"name\":\"t\",\"description\":\"d\"}";
  pai_market_viewer v = admin();
  char made[PAI_MARKET_ID];
  int rc = pai_market_put_label(made, market, &v, PAI_MARKET_TAG, NULL, json,
                                sizeof(json) - 1, NULL);

  if (rc == PAI_OK)
    memcpy(tag, made, sizeof(made));
  return rc;
}

static int s_relabel(void)
{
  static const char json[] = "{\"color\":\"red\"}";
  pai_market_viewer v = admin();
  char made[PAI_MARKET_ID];

  return pai_market_put_label(made, market, &v, PAI_MARKET_TAG, tag, json,
                              sizeof(json) - 1, NULL);
}

static int s_set(void)
{
  pai_market_viewer v = admin();

  return pai_market_set_label(market, &v, item, PAI_MARKET_TAG, tag, 1, NULL);
}

static int s_write(void)
{
  pai_market_query q = PAI_MARKET_QUERY_INIT;
  pai_market_viewer v = admin();
  int rc;

  host_begin();
  rc = pai_market_write_items(market, &v, &q, host_write, &h, NULL);
  return rc == PAI_OK
           ? pai_market_write_labels(market, &v, PAI_MARKET_TAG, NULL, NULL,
                                     host_write, &h, NULL)
           : rc;
}

static int s_no_label(void)
{
  pai_market_viewer v = admin();

  return pai_market_remove_label(market, &v, PAI_MARKET_TAG, tag, NULL);
}

static int s_no_item(void)
{
  pai_market_viewer v = admin();

  return pai_market_remove_item(market, &v, item, NULL);
}

static const step steps[] = { s_create, s_change,   s_star,   s_use,
                              s_label,  s_relabel,  s_set,    s_unstar,
                              s_write,  s_no_label, s_no_item };

/* From now on memory is from there: all of it is libc's in the end. */
static void take_from(pai_alloc alloc)
{
  h.alloc = h.a->alloc = h.store->alloc = market->alloc = alloc;
}

/* All that can be seen. */
static void picture(pai__buf *out)
{
  pai__buf_clear(out);
  assert_ok(s_write());
  pai__buf_add(out, h.text, h.len);
  pai__buf_printf(out, " %zu bytes", market->bytes);
  assert_true(pai__buf_ok(out));
}

static size_t count_changes(void)
{
  size_t n = 0;

  for (const pai__store_change *c = h.batch->first; c != NULL; c = c->next)
    n++;
  return n;
}

/* Up to step `n` all goes well; that one may fail, and then nothing has
 * changed, and it goes well afterwards. */
static int try_step(size_t n, const pai_alloc *alloc)
{
  pai__buf before = test_buf(), after = test_buf();
  size_t changes;
  int rc;

  pai__batch_clear(h.batch);
  pai__market_close(market);
  assert_ok(market_open(&h.alloc, NULL));
  for (size_t i = 0; i < n; i++)
    assert_ok(steps[i]());
  picture(&before);
  changes = count_changes();
  take_from(*alloc);
  rc = steps[n]();
  take_from(pai__libc_alloc);
  if (rc < 0) {
    picture(&after);
    assert_string_equal(after.data, before.data);
    assert_int_equal(count_changes(), changes);
  }
  pai__buf_dispose(&before);
  pai__buf_dispose(&after);
  if (rc < 0)
    assert_ok(steps[n]());
  return rc;
}

TEST(failing_changes_nothing)
{
  host_commit();
  pai__batch_clear(h.batch);
  for (size_t i = 0; i < PAI__LEN(steps); i++) {
    bool done = false;

    for (size_t n = 1; !done; n++) {
      test_tally t;
      int rc;

      test_tally_init(&t);
      t.fail_at = n;
      rc = try_step(i, &t.alloc);
      done = rc == PAI_OK && t.calls < n;
      if ((rc != PAI_OK && rc != PAI_ENOMEM) || n > 5000)
        fail_msg("step %zu, allocation %zu: %d", i, n, rc);
    }
  }
}

/* Opening, with all there may be. */
static int opening(const pai_alloc *alloc, void *user_data)
{
  pai_market *made = NULL;
  pai_error *err = NULL;
  int rc = pai__market_open(&made, alloc, &h.a->host, h.a, &err);

  (void)user_data;
  if (rc < 0) {
    assert_null(made);
    pai_error_free(err);
    return rc;
  }
  assert_int_equal(made->items.n, 1);
  assert_int_equal(made->labels.n, 1);
  pai__market_close(made);
  return PAI_OK;
}

TEST(opening_fails_whole)
{
  for (size_t i = 0; steps[i] != s_no_label; i++)
    assert_ok(steps[i]());
  market_reopen();
  test_faults(opening, NULL);
}

TEST_AROUND_EACH(market_set_up, market_tear_down);
