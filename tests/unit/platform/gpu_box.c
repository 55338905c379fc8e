/* gpu_box.c - two GPUs whose driver is played, and jobs on them */
#include "gpu_box.h"

#include "resource/machine.h"

#include <dlfcn.h>
#include <openpai/gpu.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* The machine, its driver and its clock, as the linker was told. */
void __real_pai__machine_discover(pai__machine *out);
void __wrap_pai__machine_discover(pai__machine *out);
int __real_pai_gpus_new(pai_gpus **out, const pai_gpus_options *opts,
                        pai_error **err);
int __wrap_pai_gpus_new(pai_gpus **out, const pai_gpus_options *opts,
                        pai_error **err);
pai_time __real_pai__loop_time(void);
pai_time __wrap_pai__loop_time(void);

pai_time box_later;

static atomic_int looks;      /* that were begun; */
static int gate[2];           /* a byte for each that may go on, */
static atomic_bool gate_shut; /* if it is */

pai_time __wrap_pai__loop_time(void)
{
  return __real_pai__loop_time() + box_later;
}

void __wrap_pai__machine_discover(pai__machine *out)
{
  __real_pai__machine_discover(out);
  out->gpus = 2;
}

int __wrap_pai_gpus_new(pai_gpus **out, const pai_gpus_options *opts,
                        pai_error **err)
{
  pai_gpus_options o = *opts;
  bool shut = gate_shut;
  char byte;

  looks++;
  if (shut)
    (void)!read(gate[0], &byte, 1);
  o.nvml = FAKE_NVML;
  return __real_pai_gpus_new(out, &o, err);
}

void box_driver_tells(const char *machine)
{
  static void (*set)(const char *);

  if (set == NULL) {
    void *library = dlopen(FAKE_NVML, RTLD_NOW); /* and it stays */
    assert_non_null(library);
    *(void **)&set = dlsym(library, "fake_nvml_machine");
    assert_non_null(set);
  }
  set(machine);
}

int box_looks(void)
{
  return looks;
}

void box_shut_gate(void)
{
  assert_int_equal(pipe(gate), 0);
  gate_shut = true;
}

void box_let_look(const char *machine)
{
  box_driver_tells(machine);
  assert_int_equal(write(gate[1], "", 1), 1);
}

void box_let_pass(void)
{
  gate_shut = false;
}

void box_open_gate(void)
{
  box_let_pass();
  (void)close(gate[0]);
  (void)close(gate[1]);
}

void box_wait_looks(durable *d, pai_job_id id, int count)
{
  while (looks < count) {
    durable_is(d, id, PAI_STATE_WAITING);
    durable_turn(d);
  }
}

void box_wait_log(durable *d, const char *line)
{
  while (strstr(d->log, line) == NULL)
    durable_turn(d);
}

pai_job_id box_submit_with(durable *d, const char *name, int gpus,
                           const char *extras, int tasks)
{
  pai_error *err = NULL;
  pai_spec *spec;
  pai_job_id id;

  spec = story_parse(
    test_string("{protocolVersion: 2, name: %s, type: job, " STORY_IMAGE
                ", %s taskRoles: {a: {instances: %d, dockerImage: x, "
                "resourcePerInstance: {cpu: 0, memoryMB: 64, gpu: %d}, "
                "commands: [\"echo "
                "$CUDA_VISIBLE_DEVICES; while ! test -e %s/%s.end; do sleep "
                "0.01; done\"]}}}",
                name, extras, tasks, gpus, story_root, name));
  if (pai_platform_submit(&id, d->platform, spec, &err) < 0)
    (void)snprintf(d->code, sizeof(d->code), "%s", pai_error_message(err));
  pai_error_free(err);
  pai_spec_unref(spec);
  if (id != 0)
    assert_ok(durable_sync(d));
  return id;
}

pai_job_id box_submit(durable *d, const char *name, int gpus)
{
  pai_job_id id = box_submit_with(d, name, gpus, "", 1);

  assert_int_not_equal(id, 0);
  return id;
}

pai_job_id box_share(durable *d, const char *name, int mb, int tasks)
{
  char extras[80];

  (void)snprintf(extras, sizeof(extras),
                 "extras: {openpai: {gpuMemoryMB: %d}},", mb);
  return box_submit_with(d, name, 1, extras, tasks);
}

void box_end_job(durable *d, pai_job_id id, const char *name)
{
  test_write_file(test_string("%s/%s.end", story_root, name), "");
  durable_reaches(d, id, PAI_STATE_SUCCEEDED);
}

const char *box_why(durable *d, pai_job_id id)
{
  d->len = 0;
  assert_ok(pai_platform_why(d->platform, id, durable_write, d, NULL));
  return d->text;
}
