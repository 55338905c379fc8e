/* alerts.yaml and the state that is kept: what is read, what is refused and
 * where; each allocation failing. */
#include "cases.h"

#include "server/alerts/alerts.h"

#include <stdio.h>
#include <string.h>

static const char good[] =
  "interval: 30s\n"
  "rules:\n"
  "- alert: Hot\n"
  "  expr: nvidiasmi_temperature > 85\n"
  "  for: 5m\n"
  "  severity: error\n"
  "  summary: \"{{minor_number}}: {{value}}\"\n"
  "  labels: {team: b, area: a}\n"
  "disabled: [NodeMemoryUsage]\n"
  "targets: [\"hooks.example.org:443\", \"10.0.0.7:25\", \"[::1]:9093\"]\n"
  "alertmanagers: [\"http://[::1]:9093\"]\n"
  "mail: {server: \"smtp://10.0.0.7\", from: a@example.org, to: [b@c.org]}\n"
  "receivers:\n"
  "- name: ops\n"
  "  actions: {webhook: {url: \"https://hooks.example.org/x\"}, "
  "email-admin: {template: general}, tag-jobs: {tags: [bad]}}\n"
  "routes:\n"
  "- {receiver: ops, match: {severity: error}, match_re: {team: \"a|b\"}, "
  "repeat_interval: 1h, continue: true}\n";

TEST_FAULTS(settings)
{
  pai__alert_settings s;
  int rc = pai__alert_settings_parse(&s, alloc, "alerts.yaml", good,
                                     strlen(good), NULL);

  if (rc == PAI_OK) {
    const pai__alert_rule *hot = pai__alert_rules_find(&s.rules, "Hot");

    assert_int_equal(s.interval, 30 * 1000000);
    assert_int_equal(hot->wait, 300 * INT64_C(1000000));
    assert_string_equal(hot->labels.at[0].name, "area");
    assert_true(pai__alert_rules_find(&s.rules, "NodeMemoryUsage")->off);
    assert_true(s.receivers[0].email_admin && !s.receivers[0].stop_jobs);
    assert_int_equal(s.receivers[0].tags.n, 1);
    assert_int_equal(s.routes[0].matchers.n, 2);
    assert_true(s.routes[0].more);
  }
  pai__alert_settings_dispose(&s);
  return rc;
}

static const struct wrong {
  const char *text, *message;
  unsigned line, column; /* 0: none */
} wrongs[] = {
  { "rule: []\n", "no such key", 1, 1 },
  { "interval: 5\n", "not text", 1, 11 },
  { "interval: \"5\"\n", "not a time", 1, 11 },
  { "rules: {}\n", "not a list", 1, 8 },
  { "rules: [{alert: A}]\n", "needs \"alert\" and \"expr\"", 1, 9 },
  { "rules:\n- {alert: A, expr: a > > b}\n", "name of a metric", 2, 24 },
  { "rules:\n- {alert: A, expr: \"a > > b\"}\n", "name of a metric", 2, 25 },
  { "rules:\n- {alert: A, expr: a > 1, severity: bad}\n", "severity", 2, 37 },
  { "rules:\n- {alert: PaiJobPending, expr: a > 1}\n", "already", 2, 11 },
  { "disabled: [a]\n", "no such rule", 1, 12 },
  { "targets: a\n", "not a list", 1, 10 },
  { "alertmanagers: [\"http://a\"]\n", "a:80 is not in targets", 0, 0 },
  { "alertmanagers: [\"ftp://a\"]\n", "not a URL", 0, 0 },
  { "mail: {from: a@b}\n", "\"server\" and \"from\"", 1, 7 },
  { "mail: {server: \"smtp://a\", from: \"a@b\\nX: y\"}\n", "one line", 1,
    34 },
  { "mail: {server: \"smtp://a\", from: a@b, to: [\"a@b, c@d\"]}\n",
    "no address", 1, 7 },
  { "receivers: [{name: a, actions: {webhook: {}}}]\n", "needs a url", 1, 42 },
  { "receivers: [{name: a, actions: {email-user: {}}}]\n",
    "there is no \"mail\"", 0, 0 },
  { "receivers: [{name: a}, {name: a}]\n", "name of its own", 1, 24 },
  { "routes: [{match: {}}]\n", "no receiver", 1, 10 },
  { "routes: [{receiver: a}]\n", "names receiver a", 0, 0 },
  { "receivers: [{name: a}]\nroutes: [{receiver: a, match_re: {b: \"(\"}}]\n",
    "no regular expression", 2, 34 },
  { "a: [\n", "", 2, 1 },
};

static void refuse(const void *of)
{
  const struct wrong *row = of;
  pai__alert_settings s;
  pai_error *err = NULL;

  assert_int_equal(pai__alert_settings_parse(&s, &pai__libc_alloc, "f",
                                             row->text, strlen(row->text),
                                             &err),
                   PAI_EINVAL);
  assert_non_null(strstr(pai_error_message(err), row->message));
  assert_int_equal(pai_error_line(err), row->line);
  assert_int_equal(pai_error_column(err), row->column);
  pai_error_free(err);
  pai__alert_settings_dispose(&s);
}
TEST_TABLE(refuse, wrongs);

/* --- targets ---------------------------------------------------------------- */

TEST(targets_of_urls)
{
  static const struct {
    const char *url, *target;
  } rows[] = {
    { "https://a.b/c", "a.b:443" },   { "http://a:81/", "a:81" },
    { "HTTP://[::1]?x", "[::1]:80" }, { "smtps://[::1]:2", "[::1]:2" },
    { "http://u@a/", NULL },          { "http://a\\b/", NULL },
    { "http://:80/", NULL },          { "http:///", NULL },
    { "http://a b/", NULL },          { "file:///etc/passwd", NULL },
    { "gopher://a/", NULL }
  };
  char target[64];

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    if (pai__alert_target_of(target, sizeof(target), rows[i].url)) {
      assert_non_null(rows[i].target);
      assert_string_equal(target, rows[i].target);
    } else {
      assert_null(rows[i].target);
    }
}

/* --- times, silences, summaries ---------------------------------------------- */

TEST(times_of_json)
{
  pai_time t = 0;

  assert_true(pai__alert_time_read(&t, "2026-01-02T03:04:05.678Z"));
  assert_int_equal(t, INT64_C(1767323045000000));
  assert_true(pai__alert_time_read(&t, "2026-01-02T05:04:05+02:00"));
  assert_int_equal(t, INT64_C(1767323045000000));
  assert_false(pai__alert_time_read(&t, "2026-13-02T03:04:05Z"));
  assert_false(pai__alert_time_read(&t, "2026-01-02T03:04:05"));
  assert_false(pai__alert_time_read(&t, "2026-01-02T03:04:05+2"));
  assert_false(pai__alert_time_read(&t, "tomorrow"));
}

TEST_FAULTS(silences)
{
  static const char text[] =
    "{\"matchers\":[{\"name\":\"a\",\"value\":\"x.*\",\"isRegex\":true},"
    "{\"name\":\"b\",\"value\":\"y\",\"isEqual\":false}],"
    "\"startsAt\":\"1970-01-01T00:00:10Z\","
    "\"endsAt\":\"1970-01-01T00:00:20Z\",\"comment\":\"c\"}";
  const pai__alert_label labels[] = { { "a", "xz" }, { "b", "z" } };
  const pai__alert_labels l = { labels, 2 };
  pai__alert_silence *one = NULL;
  pai__alert_silences s;
  pai__tree *t = NULL;
  int rc;

  pai__alert_silences_init(&s, alloc);
  assert_ok(pai__json_parse(&t, text, strlen(text), NULL, NULL));
  rc = pai__alert_silences_add(&s, &one, t, 0, "id", "me", 0, NULL);
  if (rc == PAI_OK) {
    assert_null(pai__alert_silences_match(&s, NULL, l, 9000000));
    assert_ptr_equal(pai__alert_silences_match(&s, NULL, l, 10000000), one);
    assert_null(pai__alert_silences_match(&s, one, l, 10000000));
    assert_null(pai__alert_silences_match(&s, NULL, l, 20000000));
    assert_null(pai__alert_silences_match(
      &s, NULL, (pai__alert_labels){ labels, 0 }, 10000000));
    assert_string_equal(one->by, "me");
    assert_false(pai__alert_silences_tidy(&s, 21000000));
    assert_true(pai__alert_silences_tidy(&s, INT64_C(86400) * 2 * 1000000));
  }
  pai__tree_free(t);
  pai__alert_silences_dispose(&s);
  return rc;
}

TEST(summaries_are_cut)
{
  const pai__alert_label label = { "job_name", "u~\xe4\xb8\xad\xe6\x96\x87" };
  const pai__alert_labels labels = { &label, 1 };
  char out[16];

  pai__alert_summary(out, sizeof(out), "{{job_name}} {{value}}%", labels, 3.5);
  assert_string_equal(out, "u~\xe4\xb8\xad\xe6\x96\x87 3.5%");
  pai__alert_summary(out, 7, "{{job_name}}", labels, 0);
  assert_string_equal(out, "u~\xe4\xb8\xad"); /* no half character */
  pai__alert_summary(out, sizeof(out), "{{none}}{{", labels, 0);
  assert_string_equal(out, "{{");
}
