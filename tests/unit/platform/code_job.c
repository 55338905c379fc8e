/* code_job.c - jobs with a folder of their own, in tests of their files */
#include "code_job.h"

#include "json/json.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A job with a folder of its own, in which a command has run. */
pai_job_id submit_code(durable *d, const char *name, const char *command)
{
  pai_submit_options o = PAI_SUBMIT_OPTIONS_INIT;
  char dir[400], text[2000];
  pai_spec *spec;
  pai_job_id id;

  (void)snprintf(dir, sizeof(dir), "%s/code", d->root);
  (void)mkdir(dir, 0700);
  (void)snprintf(dir, sizeof(dir), "%s/code/new-%s", d->root, name);
  assert_int_equal(mkdir(dir, 0700), 0);
  test_shell("cd '%s' && { %s; }", dir, command);
  (void)snprintf(text, sizeof(text),
                 "{protocolVersion: 2, name: %s, type: job, " STORY_IMAGE
                 ", taskRoles: {a: {dockerImage: x, resourcePerInstance: "
                 "{cpu: 0, memoryMB: 64, gpu: 0}, commands: [\"true\"]}}}",
                 name);
  spec = story_parse(text);
  o.code_dir = dir;
  o.text = text;
  assert_ok(pai_platform_submit_as(&id, d->platform, spec, &o, NULL));
  pai_spec_unref(spec);
  durable_reaches(d, id, PAI_STATE_SUCCEEDED);
  return id;
}

/* Where it is: until the next call. */
const char *in_folder(durable *d, pai_job_id id, const char *name)
{
  static char path[700];
  const char *dir = pai_platform_job_dir(d->platform, id);

  (void)snprintf(path, sizeof(path), "%s/code/%s/%s", d->root,
                 strrchr(dir, '/') + 1, name);
  return path;
}

const char *content(const char *path)
{
  static char text[64];
  int fd = open(path, O_RDONLY);
  ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

  if (fd >= 0)
    (void)close(fd);
  text[n > 0 ? n : 0] = '\0';
  return n >= 0 ? text : "none";
}

void on_listed(void *user_data, int status, const char *json, size_t len,
               const pai_error *err)
{
  listed *l = user_data;
  pai__tree *tree = NULL;

  assert_int_equal(l->status, 1); /* once */
  l->status = status;
  (void)snprintf(l->text, sizeof(l->text), "%s",
                 status == PAI_OK ? json : pai_error_message(err));
  if (status < 0)
    return;
  assert_ok(pai__json_parse(&tree, json, len, NULL, NULL));
  pai__tree_free(tree);
}

const char *list(durable *d, pai_job_id job, pai_files_options o, int status)
{
  static listed l;

  l.status = 1;
  o.struct_size = sizeof(o);
  assert_ok(
    pai_platform_list_files(d->platform, job, &o, on_listed, &l, NULL));
  assert_int_equal(l.status, 1); /* never from inside */
  while (l.status == 1)
    durable_turn(d);
  if (l.status != status)
    print_error("%s\n", l.text);
  assert_int_equal(l.status, status);
  return l.text;
}

void has(const char *text, const char *part)
{
  if (strstr(text, part) == NULL)
    fail_msg("%s\nlacks %s", text, part);
}
