/* <openpai/json.h>: any value by its place, and records as structs. */
#include "cases.h"

#include <openpai/job.h>
#include <openpai/json.h>
#include <openpai/sched.h>

#include <stdio.h>

#define LITERAL(text) (text), sizeof(text) - 1

static pai_json *read_text(const char *text)
{
  pai_json *json;
  pai_error *err = NULL;

  if (pai_json_read(&json, text, strlen(text), NULL, &err) != PAI_OK)
    fail_msg("%s", pai_error_message(err));
  return json;
}

static int collect(void *user_data, const char *bytes, size_t len)
{
  char *to = user_data;

  (void)snprintf(to + strlen(to), 4000 - strlen(to), "%.*s", (int)len, bytes);
  return PAI_OK;
}

TEST(values_are_found)
{
  pai_json *json =
    read_text("{\"a\": [1, 2.0, 2.5, \"x\\u0000y\", true, null, {}], \"b/c\": "
              "{\"k\": 1, "
              "\"l\": 2}, \"a2\": 1e300, \"b/c2\": -9223372036854775808}");
  size_t a = pai_json_find(json, "/a"), b = pai_json_find(json, "/b~1c"), len;
  static const unsigned types[] = { PAI_VALUE_WHOLE,  PAI_VALUE_WHOLE,
                                    PAI_VALUE_NUMBER, PAI_VALUE_TEXT,
                                    PAI_VALUE_BOOL,   PAI_VALUE_NULL,
                                    PAI_VALUE_MAPPING };
  char text[4000] = "";

  assert_int_equal(pai_json_type(json, 0), PAI_VALUE_MAPPING);
  assert_int_equal(pai_json_count(json, 0), 4);
  assert_string_equal(pai_json_key(json, 0, 1), "b/c");
  assert_int_equal(pai_json_count(json, a), PAI__LEN(types));
  assert_int_equal(pai_json_type(json, a), PAI_VALUE_LIST);
  for (size_t i = 0; i < PAI__LEN(types); i++)
    assert_int_equal(pai_json_type(json, pai_json_item(json, a, i)), types[i]);
  assert_int_equal(pai_json_int(json, pai_json_item(json, a, 0), 7), 1);
  assert_int_equal(pai_json_int(json, pai_json_item(json, a, 1), 7), 2);
  assert_int_equal(pai_json_int(json, pai_json_item(json, a, 2), 7), 7);
  assert_true(pai_json_number(json, pai_json_item(json, a, 2), 0) == 2.5);
  assert_true(pai_json_number(json, pai_json_item(json, a, 4), 3) == 3);
  assert_memory_equal(pai_json_text(json, pai_json_item(json, a, 3), &len),
                      "x\0y", 4);
  assert_int_equal(len, 3);
  assert_null(pai_json_text(json, a, &len));
  assert_int_equal(len, 0);
  assert_int_equal(pai_json_bool(json, pai_json_item(json, a, 4)), 1);
  assert_int_equal(pai_json_bool(json, a), 0);
  assert_int_equal(pai_json_int(json, pai_json_member(json, b, "l"), 0), 2);
  assert_int_equal(pai_json_int(json, pai_json_item(json, b, 1), 0), 2);
  assert_string_equal(pai_json_key(json, b, 0), "k");
  assert_int_equal(pai_json_int(json, pai_json_find(json, "/a2"), 5), 5);
  assert_true(pai_json_int(json, pai_json_find(json, "/b~1c2"), 5) ==
              INT64_MIN);
  assert_ok(pai_json_write(json, a, collect, text, NULL));
  assert_string_equal(text, "[1,2,2.5,\"x\\u0000y\",true,null,{}]");
  pai_json_free(json);
}

/* What is not there is as null, everywhere. */
TEST(nothing_is_harmless)
{
  pai_json *json = read_text("[1, [2], {\"a\": 3}]");
  const size_t none[] = { PAI_JSON_NONE, 1000, 1 };
  pai_error *err = NULL;

  for (size_t i = 0; i < PAI__LEN(none); i++) {
    assert_int_equal(pai_json_count(json, none[i]), 0);
    assert_true(pai_json_item(json, none[i], 0) == PAI_JSON_NONE);
    assert_true(pai_json_member(json, none[i], "a") == PAI_JSON_NONE);
    assert_null(pai_json_key(json, none[i], 0));
    assert_null(pai_json_text(json, none[i], NULL));
  }
  assert_int_equal(pai_json_type(json, PAI_JSON_NONE), 0);
  assert_true(pai_json_item(json, 0, 3) == PAI_JSON_NONE);
  assert_null(pai_json_key(json, 0, 0));
  assert_true(pai_json_member(json, 0, "a") == PAI_JSON_NONE);
  assert_true(pai_json_find(json, "/3") == PAI_JSON_NONE);
  assert_true(pai_json_find(json, "no pointer") == PAI_JSON_NONE);
  assert_true(pai_json_find(NULL, "") == PAI_JSON_NONE);
  assert_true(pai_json_find(json, NULL) == PAI_JSON_NONE);
  assert_true(pai_json_page(NULL) == PAI_JSON_NONE);
  assert_true(pai_json_tasks(NULL, 0) == PAI_JSON_NONE);
  assert_int_equal(pai_json_count(NULL, 0), 0);
  assert_int_equal(pai_json_int(NULL, 0, 4), 4);
  assert_int_equal(pai_json_write(json, PAI_JSON_NONE, collect, NULL, &err),
                   PAI_EINVAL);
  pai_error_free(err);
  pai_json_free(json);
  pai_json_free(NULL);
}

TEST(what_is_no_json_is_refused)
{
  static const char *const texts[] = { "", "{", "[1,]", "nul", "{} {}" };
  pai_json_options options = PAI_JSON_OPTIONS_INIT;
  pai_json *json = (pai_json *)texts;
  pai_error *err = NULL;

  for (size_t i = 0; i < PAI__LEN(texts); i++) {
    assert_int_equal(
      pai_json_read(&json, texts[i], strlen(texts[i]), NULL, &err),
      PAI_EINVAL);
    assert_null(json);
    assert_int_not_equal(pai_error_line(err), 0);
    pai_error_free(err);
    err = NULL;
  }
  options.max_depth = 2;
  assert_int_equal(pai_json_read(&json, LITERAL("[[[]]]"), &options, &err),
                   PAI_ELIMIT);
  pai_error_free(err);
  options.max_bytes = 3;
  assert_int_equal(pai_json_read(&json, LITERAL("[   ]"), &options, &err),
                   PAI_ELIMIT);
  pai_error_free(err);
  options.struct_size = 3;
  assert_fails(pai_json_read(&json, LITERAL("[]"), &options, &err), err,
               PAI_EINVAL, "pai_json_options");
}

static const char job_text[] =
  "{\"name\": \"train\", \"tags\": [\"a\", \"b\"], \"jobPriority\": \"prod\","
  "\"jobStatus\": {\"username\": \"alice\", \"state\": \"FAILED\","
  "\"retries\": 2, \"submissionTime\": 1700000000123, \"launchedTime\": null,"
  "\"completedTime\": \"soon\", \"virtualCluster\": \"default\","
  "\"appExitCode\": 1, \"originUserExitCode\": null, \"attemptId\": 2,"
  "\"failure\": {\"name\": \"module-missing\", \"reason\": \"no numpy\","
  "\"solution\": [\"install it\"], \"line\": \"No module named 'numpy'\"},"
  "\"outputLost\": true, \"new\": {\"deep\": []}},"
  "\"taskRoles\": {\"worker\": {\"taskRoleStatus\": {\"name\": \"worker\"},"
  "\"taskStatuses\": [{\"taskIndex\": 0, \"taskState\": \"RUNNING\","
  "\"containerPorts\": {\"http\": \"8080\"}, \"containerExitCode\": null}]}}}";

TEST(a_job_is_a_struct)
{
  pai_job_record job = { .struct_size = sizeof(job) };
  pai_task_record task = { .struct_size = sizeof(task) };
  pai_json *json = read_text(job_text);
  size_t role, tasks;

  assert_ok(pai_json_job(&job, json, 0));
  assert_string_equal(job.name, "train");
  assert_string_equal(job.user, "alice");
  assert_int_equal(job.state, PAI_STATE_FAILED);
  assert_true(job.submitted == 1700000000123000);
  assert_true(job.started == 0 && job.ended == 0);
  assert_int_equal(job.exit_code, 1);
  assert_true(job.user_exit_code == PAI_JSON_NO_NUMBER);
  assert_true(job.failed_index == PAI_JSON_NO_NUMBER);
  assert_null(job.failed_role);
  assert_string_equal(job.failure, "module-missing");
  assert_string_equal(
    pai_json_text(json, pai_json_item(json, job.failure_solution, 0), NULL),
    "install it");
  assert_int_equal(job.output_lost, 1);
  assert_int_equal(pai_json_count(json, job.tags), 2);
  assert_string_equal(pai_json_key(json, job.roles, 0), "worker");
  role = pai_json_item(json, job.roles, 0);
  tasks = pai_json_tasks(json, role);
  assert_int_equal(pai_json_count(json, tasks), 1);
  assert_ok(pai_json_task(&task, json, pai_json_item(json, tasks, 0)));
  assert_int_equal(task.state, PAI_STATE_RUNNING);
  assert_null(task.failure);
  assert_true(task.exit_code == PAI_JSON_NO_NUMBER);
  assert_string_equal(pai_json_key(json, task.ports, 0), "http");
  pai_json_free(json);
}

TEST(an_older_struct_gets_what_it_has)
{
  union {
    pai_job_record record;
    char bytes[sizeof(pai_job_record) + 8];
  } old;
  pai_json *json = read_text(job_text);
  pai_file_record file = { .struct_size = 5 };

  assert_int_equal(pai_json_job(NULL, json, 0), PAI_EINVAL);
  memset(&old, 0x5a, sizeof(old));
  old.record.struct_size = sizeof(old); /* of a newer version */
  assert_ok(pai_json_job(&old.record, json, 0));
  assert_true(old.record.struct_size == sizeof(old));
  old.record.struct_size = sizeof(old.record);
  assert_int_equal(pai_json_job(&old.record, NULL, 0), PAI_EINVAL);
  assert_int_equal(pai_json_job(&old.record, json, PAI_JSON_NONE),
                   PAI_ENOTFOUND);
  assert_int_equal(
    pai_json_job(&old.record, json, pai_json_find(json, "/tags")),
    PAI_ENOTFOUND);
  assert_int_equal(pai_json_file(&file, json, 0), PAI_EINVAL);
  pai_json_free(json);
}

/* Of each record one text, and a member that stands for all. */
TEST(each_record_is_read)
{
  pai_json *json = read_text(
    "{\"username\": \"u\", \"groupname\": \"g\", \"id\": \"i\", \"name\": "
    "\"n\","
    "\"state\": \"STOPPED\", \"totalTaskNumber\": 3, \"reason\": \"r\","
    "\"taskIndex\": 4, \"path\": \"p\", \"modified\": 5, \"admin\": true,"
    "\"capacity\": 12.5, \"resourcesUsed\": {\"GPUs\": 6}, \"freeGpus\": 7,"
    "\"code\": \"gpu\", \"nodes\": 8, \"default\": true, \"created\": 9,"
    "\"start\": {\"p50\": 10}, \"unlike\": true, \"line\": {\"place\": 11},"
    "\"why\": \"w\"}");
  pai_job_item item = { .struct_size = sizeof(item) };
  pai_event_record event = { .struct_size = sizeof(event) };
  pai_why_record why = { .struct_size = sizeof(why) };
  pai_reason_record reason = { .struct_size = sizeof(reason) };
  pai_estimate_record estimate = { .struct_size = sizeof(estimate) };
  pai_file_record file = { .struct_size = sizeof(file) };
  pai_user_record user = { .struct_size = sizeof(user) };
  pai_group_record group = { .struct_size = sizeof(group) };
  pai_token_record token = { .struct_size = sizeof(token) };
  pai_storage_record storage = { .struct_size = sizeof(storage) };
  pai_vc_record vc = { .struct_size = sizeof(vc) };
  pai_node_record node = { .struct_size = sizeof(node) };

  assert_ok(pai_json_job_item(&item, json, 0));
  assert_int_equal(item.tasks, 3);
  assert_int_equal(item.state, PAI_STATE_STOPPED);
  assert_ok(pai_json_event(&event, json, 0));
  assert_int_equal(event.index, 4);
  assert_ok(pai_json_why(&why, json, 0));
  assert_int_equal(why.place, 11);
  assert_ok(pai_json_reason(&reason, json, 0));
  assert_string_equal(reason.code, "gpu");
  assert_ok(pai_json_estimate(&estimate, json, 0));
  assert_true(estimate.start_p50 == 10000 && estimate.unlike_past == 1);
  assert_ok(pai_json_file(&file, json, 0));
  assert_true(file.modified == 5000);
  assert_ok(pai_json_user(&user, json, 0));
  assert_int_equal(user.admin, 1);
  assert_ok(pai_json_group(&group, json, 0));
  assert_string_equal(group.name, "g");
  assert_ok(pai_json_token(&token, json, 0));
  assert_true(token.created == 9000);
  assert_ok(pai_json_storage(&storage, json, 0));
  assert_int_equal(storage.is_default, 1);
  assert_ok(pai_json_vc(&vc, json, 0));
  assert_true(vc.capacity == 12.5 && vc.gpus_used == 6);
  assert_ok(pai_json_node(&node, json, 0));
  assert_string_equal(node.reason, "w");
  assert_int_equal(node.gpus_free, 7);
  pai_json_free(json);
}

TEST(fractions_of_cpus_are_whole_and_thousandths)
{
  pai_json *json =
    read_text("{\"freeCpus\": 1.25, \"resourcesUsed\": {\"vCores\": 0.5}, "
              "\"event\": \"change\", \"key\": \"cpus\", \"value\": 2.125, "
              "\"wanted\": 0.5, \"found\": 4503599627370496}");
  pai_node_record node = { .struct_size = sizeof(node) };
  pai_vc_record vc = { .struct_size = sizeof(vc) };
  pai_change_record change = { .struct_size = sizeof(change) };
  pai_explanation_record e = { .struct_size = sizeof(e) };

  assert_ok(pai_json_node(&node, json, 0));
  assert_int_equal(node.cpus_free, 1);
  assert_int_equal(node.cpus_free_millis, 250);
  assert_ok(pai_json_vc(&vc, json, 0));
  assert_int_equal(vc.cpus_used, 0);
  assert_int_equal(vc.cpus_used_millis, 500);
  assert_ok(pai_json_change(&change, json, 0));
  assert_int_equal(change.number, 2);
  assert_int_equal(change.cpu_millis, 125);
  assert_int_equal(change.gpu, PAI_JSON_NO_NUMBER);
  assert_ok(pai_json_explanation(&e, json, 0));
  assert_int_equal(e.wanted, 0);
  assert_int_equal(e.wanted_millis, 500);
  assert_int_equal(e.found, INT64_C(4503599627370496));
  assert_int_equal(e.found_millis, 0);
  pai_json_free(json);
  json = read_text("{\"event\": \"change\", \"value\": \"lab\"}");
  assert_ok(pai_json_change(&change, json, 0));
  assert_int_equal(change.number, PAI_JSON_NO_NUMBER);
  assert_int_equal(change.cpu_millis, 0);
  pai_json_free(json);
}

/* The change that a scheduler suggests, as a struct; and the scheduler takes it. */
TEST(a_suggested_change_is_taken)
{
  pai_explanation_record found = { .struct_size = sizeof(found) };
  pai_change_record change = { .struct_size = sizeof(change) };
  pai_decision decision = { .struct_size = sizeof(decision) };
  pai_cluster *cluster;
  pai_sched *sched;
  pai_json *json;
  char text[4000] = "", line[4000] = "";

  assert_ok(pai_cluster_synthetic(&cluster, "nodes:1 gpu:4:a", NULL, NULL));
  assert_ok(pai_sched_new(&sched, cluster, NULL, NULL));
  for (uint64_t id = 1; id <= 2; id++) {
    pai_want want = { .struct_size = sizeof(want), .tasks = 1, .gpus = 3 };
    pai_request request = {
      .struct_size = sizeof(request), .id = id, .wants = &want, .nwants = 1
    };
    pai_sched_event event = { .struct_size = sizeof(event),
                              .kind = PAI_SCHED_SUBMIT,
                              .request = &request };
    assert_ok(pai_sched_send(sched, &event, NULL));
  }
  assert_true(pai_sched_decide(sched, 0, NULL) >= 0);
  assert_ok(pai_sched_explain(sched, 2, PAI_FORMAT_JSON, collect, text, NULL));
  json = read_text(text);
  assert_ok(pai_json_explanation(&found, json, 0));
  assert_string_equal(found.lack, "gpu");
  assert_int_equal(found.wanted, 3);
  assert_int_equal(found.found, 1);
  assert_int_equal(pai_json_count(json, found.own_changes), 1);
  assert_ok(
    pai_json_change(&change, json, pai_json_item(json, found.own_changes, 0)));
  assert_string_equal(change.event, "change");
  assert_string_equal(change.key, "gpus");
  assert_int_equal(change.id, 2);
  assert_int_equal(change.number, 1);
  assert_null(change.text);
  assert_ok(pai_json_write(json, pai_json_item(json, found.own_changes, 0),
                           collect, line, NULL));
  assert_ok(pai_sched_send_json(sched, line, strlen(line), NULL));
  assert_true(pai_sched_decide(sched, 0, NULL) >= 0);
  assert_ok(pai_sched_decision(sched, 0, &decision));
  assert_int_equal(decision.id, 2);
  pai_json_free(json);
  pai_sched_free(sched);
  pai_cluster_free(cluster);
}

TEST_FAULTS(failing_memory)
{
  pai_json_options o = PAI_JSON_OPTIONS_INIT;
  char text[4000] = "";
  pai_json *json;
  int rc;

  o.alloc = alloc;
  rc = pai_json_read(&json, job_text, sizeof(job_text) - 1, &o, NULL);
  if (rc == PAI_OK)
    rc = pai_json_write(json, 0, collect, text, NULL);
  pai_json_free(json);
  return rc;
}
