/* <openpai/jansson.h>: what is written as json_t, and json_t as what is read. */
#include "cases.h"

#include <openpai/jansson.h>
#include <openpai/sched.h>

static const char job_text[] =
  "protocolVersion: 2\nname: hi\ntype: job\nsecrets: {key: s3cret}\n"
  "prerequisites: [{name: x, type: dockerimage, uri: x}]\n"
  "taskRoles: {w: {instances: 2, dockerImage: x, commands: [echo '\"ä\"'],\n"
  "  resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0}}}\n";

TEST(a_spec_goes_there_and_back)
{
  pai_spec *spec, *back;
  pai_error *err = NULL;
  json_t *job;

  assert_ok(pai_spec_parse(&spec, job_text, sizeof(job_text) - 1, NULL, NULL));
  job = pai_jansson_spec(spec, 0, &err);
  assert_string_equal(json_string_value(json_object_get(job, "secrets")),
                      "******");
  json_decref(job);
  job = pai_jansson_spec(spec, 1, &err);
  assert_string_equal(json_string_value(json_object_get(job, "name")), "hi");
  assert_string_equal(
    json_string_value(json_object_get(json_object_get(job, "secrets"), "key")),
    "s3cret");
  assert_int_equal(json_object_set_new(job, "name", json_string("ho")), 0);
  assert_ok(pai_spec_from_jansson(&back, job, NULL, &err));
  assert_string_equal(pai_spec_name(back), "ho");
  assert_int_equal(pai_spec_task_count(back), 2);
  assert_string_equal(pai_spec_role_script(back, 0), "echo '\"ä\"'");
  pai_spec_unref(back);
  assert_int_equal(json_object_del(job, "taskRoles"), 0);
  assert_int_equal(pai_spec_from_jansson(&back, job, NULL, &err), PAI_EINVAL);
  assert_null(back);
  test_expect_error(err, PAI_EINVAL, "taskRoles");
  json_decref(job);
  err = NULL;
  assert_fails(pai_spec_from_jansson(&back, NULL, NULL, &err), err, PAI_EINVAL,
               "without");
  pai_spec_unref(spec);
}

/* Text in many pieces, of any length. */
TEST(pieces_are_collected)
{
  pai_jansson text = PAI_JANSSON_INIT;
  json_error_t error;
  json_t *list;

  assert_ok(pai_jansson_write(&text, "[", 1));
  for (int i = 0; i < 5000; i++)
    assert_ok(pai_jansson_write(&text, "12345,", 6));
  assert_ok(pai_jansson_write(&text, NULL, 0));
  assert_ok(pai_jansson_write(&text, "true]", 5));
  list = pai_jansson_take(&text, &error);
  assert_int_equal(json_array_size(list), 5001);
  json_decref(list);
  assert_null(text.text);
  assert_null(pai_jansson_take(&text, &error));
  assert_ok(pai_jansson_write(&text, "[1", 2));
  assert_null(pai_jansson_take(&text, &error));
  assert_int_equal(error.line, 1);
  pai_jansson_dispose(&text);
}

TEST(values_and_answers_are_converted)
{
  pai_client_answer answer = { .struct_size = sizeof(answer),
                               .body = "\"hi\"",
                               .body_len = 4 };
  pai_client_answer nothing = { .struct_size = sizeof(nothing) };
  const char text[] = "{\"a\": [1, \"x\\u0000y\"]}";
  pai_json *json;
  json_t *value;
  char *written;
  size_t len;

  value = pai_jansson_answer(&answer, NULL);
  assert_string_equal(json_string_value(value), "hi");
  json_decref(value);
  assert_null(pai_jansson_answer(&nothing, NULL));
  assert_ok(pai_json_read(&json, text, sizeof(text) - 1, NULL, NULL));
  value = pai_jansson_value(json, pai_json_find(json, "/a"));
  assert_int_equal(json_array_size(value), 2);
  assert_int_equal(json_string_length(json_array_get(value, 1)), 3);
  json_decref(value);
  assert_null(pai_jansson_value(json, PAI_JSON_NONE));
  pai_json_free(json);
  value = pai_jansson_read("[18446744073709551616, 1]", 25, NULL);
  assert_true(json_real_value(json_array_get(value, 0)) > 1.8e19);
  json_decref(value);
  assert_null(pai_jansson_read("[1e999]", 7, NULL));
  value = json_pack("{s:i,s:[s]}", "cpu", 1, "names", "b");
  written = pai_jansson_text(value, &len);
  assert_string_equal(written, "{\"cpu\":1,\"names\":[\"b\"]}");
  assert_int_equal(len, strlen(written));
  free(written);
  json_decref(value);
  assert_null(pai_jansson_text(NULL, &len));
  assert_int_equal(len, 0);
}
