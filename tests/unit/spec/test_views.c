/* Views: every field of a spec with its default, in structs of any age. */
#include "found.h"
#include "testing.h"

static const char full[] =
  "protocolVersion: 2\nname: n\ntype: job\ncontributor: me\n"
  "description: what\njobRetryCount: 3\n"
  "prerequisites:\n"
  "- {name: i, type: dockerimage, uri: image, auth: {password: p}}\n"
  "- {name: d, type: data, uri: [one, two], plugin: some.plugin}\n"
  "- {name: s, type: script}\n"
  "taskRoles:\n"
  "  b:\n"
  "    instances: 2\n    taskRetryCount: 4\n"
  "    completion: {minFailedInstances: null, minSucceededInstances: -1}\n"
  "    dockerImage: i\n    data: d\n    script: s\n"
  "    prerequisites: [s, d]\n"
  "    extraContainerOptions: {shmMB: 64, infiniband: 1}\n"
  "    resourcePerInstance: {cpu: 1, memoryMB: 2, gpu: 3, ports: {p: 5}}\n"
  "    commands: ['run <% $data.uri[1] %>']\n"
  "  a:\n"
  "    dockerImage: i\n"
  "    resourcePerInstance: {cpu: 1, memoryMB: 2, gpu: 0}\n"
  "    commands: [x]\n"
  "deployments: [{name: dep, taskRoles: {b: {preCommands: [pre]}}}]\n"
  "defaults: {deployment: dep, virtualCluster: vc}\n"
  "extras: {gangAllocation: false}\n";

static void jobs(void **state)
{
  pai_job_view v = { .struct_size = sizeof(v) };
  pai_spec *spec = test_spec(full, NULL);

  (void)state;
  assert_int_equal(pai_spec_view_job(spec, &v), PAI_OK);
  assert_string_equal(v.name, "n");
  assert_string_equal(v.contributor, "me");
  assert_string_equal(v.description, "what");
  assert_int_equal(v.retry_count, 3);
  assert_string_equal(v.virtual_cluster, "vc");
  assert_string_equal(v.deployment, "dep");
  assert_int_equal(v.gang, 0);
  assert_int_equal(v.roles, 2);
  assert_int_equal(v.tasks, 3);
  assert_int_equal(v.prerequisites, 3);
  pai_spec_unref(spec);
  spec = test_spec(JOB_HEAD JOB_IMAGE JOB_ROLES, NULL);
  assert_int_equal(pai_spec_view_job(spec, &v), PAI_OK);
  assert_null(v.contributor);
  assert_null(v.deployment);
  assert_string_equal(v.virtual_cluster, "default");
  assert_int_equal(v.gang, 1);
  assert_int_equal(v.retry_count, 0);
  pai_spec_unref(spec);
}

static void roles_keep_their_order_and_have_defaults(void **state)
{
  pai_role_view v = { .struct_size = sizeof(v) };
  pai_port_view port = { .struct_size = sizeof(port) };
  pai_spec *spec = test_spec(full, NULL);

  (void)state;
  assert_int_equal(pai_spec_view_role(spec, 0, &v), PAI_OK);
  assert_string_equal(v.name, "b");
  assert_int_equal(v.instances, 2);
  assert_int_equal(v.min_failed, 1);
  assert_int_equal(v.min_succeeded, -1);
  assert_int_equal(v.task_retry_count, 4);
  assert_int_equal(v.cpus, 1);
  assert_int_equal(v.memory_mb, 2);
  assert_int_equal(v.gpus, 3);
  assert_int_equal(v.shm_mb, 64);
  assert_int_equal(v.infiniband, 1);
  assert_string_equal(v.image, "i");
  assert_string_equal(v.data, "d");
  assert_null(v.output);
  assert_string_equal(v.script_name, "s");
  assert_string_equal(v.script, "pre\nrun two");
  assert_int_equal(v.ports, 3);
  assert_int_equal(v.prerequisites, 2);
  assert_string_equal(pai_spec_role_prerequisite(spec, 0, 0), "s");
  assert_string_equal(pai_spec_role_prerequisite(spec, 0, 1), "d");
  assert_null(pai_spec_role_prerequisite(spec, 0, 2));
  assert_int_equal(pai_spec_view_port(spec, 0, 0, &port), PAI_OK);
  assert_string_equal(port.label, "p");
  assert_int_equal(port.count, 5);
  assert_int_equal(pai_spec_view_port(spec, 0, 2, &port), PAI_OK);
  assert_string_equal(port.label, "http");
  assert_int_equal(pai_spec_view_port(spec, 0, 3, &port), PAI_ENOTFOUND);
  assert_int_equal(pai_spec_view_role(spec, 1, &v), PAI_OK);
  assert_string_equal(v.name, "a");
  assert_int_equal(v.instances, 1);
  assert_int_equal(v.min_succeeded, 1);
  assert_int_equal(v.shm_mb, 512);
  assert_int_equal(v.infiniband, 0);
  assert_int_equal(v.prerequisites, 0);
  assert_int_equal(pai_spec_view_role(spec, 2, &v), PAI_ENOTFOUND);
  assert_null(pai_spec_role_prerequisite(spec, 2, 0));
  pai_spec_unref(spec);
}

static void prerequisites_keep_their_order(void **state)
{
  pai_prerequisite_view v = { .struct_size = sizeof(v) };
  pai_spec *spec = test_spec(full, NULL);

  (void)state;
  assert_int_equal(pai_spec_view_prerequisite(spec, 0, &v), PAI_OK);
  assert_string_equal(v.type, "dockerimage");
  assert_string_equal(v.uri, "image");
  assert_int_equal(v.uris, 1);
  assert_int_equal(v.has_auth, 1);
  assert_int_equal(pai_spec_view_prerequisite(spec, 1, &v), PAI_OK);
  assert_string_equal(v.name, "d");
  assert_string_equal(v.uri, "one");
  assert_int_equal(v.uris, 2);
  assert_string_equal(v.plugin, "some.plugin");
  assert_int_equal(v.has_auth, 0);
  assert_string_equal(pai_spec_prerequisite_uri(spec, 1, 1), "two");
  assert_null(pai_spec_prerequisite_uri(spec, 1, 2));
  assert_null(pai_spec_prerequisite_uri(spec, 0, 1));
  assert_int_equal(pai_spec_view_prerequisite(spec, 2, &v), PAI_OK);
  assert_null(v.uri);
  assert_int_equal(v.uris, 0);
  assert_null(v.plugin);
  assert_int_equal(pai_spec_view_prerequisite(spec, 3, &v), PAI_ENOTFOUND);
  pai_spec_unref(spec);
}

/* Of an older header, and of a newer one. */
static void structs_of_any_age_are_filled(void **state)
{
  struct {
    pai_port_view view;
    char newer[8];
  } newer = { .view = { .struct_size = sizeof(newer) }, .newer = "unknown" };
  pai_port_view older = { .struct_size = sizeof(size_t) };
  pai_spec *spec = test_spec(full, NULL);

  (void)state;
  assert_int_equal(pai_spec_view_port(spec, 0, 0, &newer.view), PAI_OK);
  assert_string_equal(newer.view.label, "p");
  assert_int_equal(newer.view.struct_size, sizeof(newer));
  assert_string_equal(newer.newer, "");
  assert_int_equal(pai_spec_view_port(spec, 0, 0, &older), PAI_EINVAL);
  assert_null(older.label);
  pai_spec_unref(spec);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(jobs),
    cmocka_unit_test(roles_keep_their_order_and_have_defaults),
    cmocka_unit_test(prerequisites_keep_their_order),
    cmocka_unit_test(structs_of_any_age_are_filled),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
