/* hello.c - runs a job file: hello JOB.yaml */
#include <openpai/openpai.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  pai_error *err;
  pai_spec *job;
  int rc = pai_spec_load(&job, argv[argc - 1], NULL, &err);
  for (size_t i = 0; rc == PAI_OK && i < pai_spec_role_count(job); i++)
    puts(pai_spec_role_name(job, i));
  rc = rc == PAI_OK ? pai_run(NULL, job, NULL, &err) : rc;
  puts(rc < 0 ? pai_error_message(err) : pai_state_name(rc));
  pai_error_free(err);
  pai_spec_unref(job);
  return rc != PAI_STATE_SUCCEEDED;
}
