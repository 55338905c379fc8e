/* What a task runs in, of what is there and what was asked for. */
#define _XOPEN_SOURCE 700

#include "cases.h"
#include "backend/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char works[] = "works", no_rights[] = "no rights",
                  no_daemon[] = "no daemon", none[] = "none";

/* What is there, for a row of the table below: NULL is not installed. */
static void set_tool(pai__tool *tool, char *path, const char *why_not)
{
  memset(tool, 0, sizeof(*tool));
  if (why_not == none)
    return;
  tool->path = path;
  tool->tried = tool->ran_tried = true;
  tool->works = tool->ran = why_not == works;
  if (why_not != works)
    (void)snprintf(tool->why_not, sizeof(tool->why_not), "%s", why_not);
}

TEST(the_choice)
{
  static const struct {
    int wish, is;
    const char *bwrap, *podman, *docker; /* why they do not work */
    enum pai__at_hand in_podman, in_docker;
    const char *image;
    int code;
    const char *about;
  } rows[] = {
    { PAI_RUNTIME_AUTO, PAI_RUNTIME_BWRAP, works, none, none, 0, 0, NULL, 0,
      "" },
    { PAI_RUNTIME_AUTO, PAI_RUNTIME_BWRAP, works, works, none,
      PAI__HAND_OTHERS, 0, "host", 0, "" },
    { PAI_RUNTIME_AUTO, PAI_RUNTIME_PROCESS, no_rights, none, none, 0, 0,
      "img", 0,
      "runs as processes of this machine, not in its image img: podman is not "
      "installed, docker is not installed" },
    { PAI_RUNTIME_AUTO, PAI_RUNTIME_BWRAP, works, works, works,
      PAI__HAND_OTHERS, PAI__HAND_NO, "img", 0,
      "runs in a sandbox of this machine, not in its image img: podman does "
      "not have it, docker has no images" },
    { PAI_RUNTIME_AUTO, PAI_RUNTIME_BWRAP, works, none, no_daemon, 0, 0, "img",
      0,
      "runs in a sandbox of this machine, not in its image img: podman is not "
      "installed, docker does not answer: no daemon" },
    { PAI_RUNTIME_AUTO, PAI_RUNTIME_BWRAP, works, no_rights, none,
      PAI__HAND_YES, 0, "img", 0,
      "runs in a sandbox of this machine, not in its image img: podman cannot "
      "run it: no rights, docker is not installed" },
    { PAI_RUNTIME_AUTO, PAI_RUNTIME_PODMAN, works, works, works, PAI__HAND_YES,
      PAI__HAND_YES, "img", 0, "runs in podman: the image img is available" },
    { PAI_RUNTIME_AUTO, PAI_RUNTIME_DOCKER, works, no_rights, works,
      PAI__HAND_YES, PAI__HAND_YES, "img", 0,
      "runs in docker: the image img is available" },
    { PAI_RUNTIME_PROCESS, PAI_RUNTIME_PROCESS, works, works, works,
      PAI__HAND_YES, PAI__HAND_YES, "img", 0, "" },
    { PAI_RUNTIME_BWRAP, PAI_RUNTIME_BWRAP, works, works, works, 0, 0, "img",
      0, "" },
    { PAI_RUNTIME_BWRAP, 0, no_rights, works, works, 0, 0, "img", PAI_ENOTSUP,
      "bubblewrap does not work here: no rights" },
    { PAI_RUNTIME_DOCKER, PAI_RUNTIME_DOCKER, works, works, works, 0, 0, "img",
      0, "runs in docker: the image img was requested" },
    { PAI_RUNTIME_DOCKER, 0, works, works, no_daemon, 0, 0, "img", PAI_ENOTSUP,
      "docker does not answer: no daemon" },
    { PAI_RUNTIME_PODMAN, 0, works, none, works, 0, 0, "img", PAI_ENOTSUP,
      "podman is not installed" },
    { PAI_RUNTIME_DOCKER, PAI_RUNTIME_PROCESS, no_rights, works, works, 0, 0,
      NULL, 0,
      "runs as processes of this machine, not in docker: it has no image" },
    { PAI_RUNTIME_PODMAN, PAI_RUNTIME_BWRAP, works, works, works, 0, 0, "host",
      0, "runs in a sandbox of this machine, not in podman: it has no image" },
    { 99, 0, works, works, works, 0, 0, "img", PAI_EINVAL, "99" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__runtimes r = { .bash = bash };
    pai__surroundings around = { .root = "/root",
                                 .podman = rows[i].in_podman,
                                 .docker = rows[i].in_docker };
    pai_launch_plan plan = { .dir = "/jobs/1",
                             .runtime = rows[i].wish,
                             .image = rows[i].image };
    pai_error *err = NULL;
    pai__start s;

    set_tool(&r.bwrap, bwrap, rows[i].bwrap);
    set_tool(&r.podman, podman, rows[i].podman);
    set_tool(&r.docker, docker, rows[i].docker);
    pai__start_init(&s, &pai__libc_alloc);
    assert_int_equal(pai__start_choose(&s, &plan, &r, &around, &err),
                     rows[i].code);
    print_message("%zu: %s\n", i, s.about);
    if (rows[i].code != 0)
      test_expect_error(err, rows[i].code, rows[i].about);
    else
      assert_string_equal(s.about, rows[i].about);
    assert_int_equal(s.runtime, rows[i].is);
    assert_string_equal(s.note, "");
    pai__start_dispose(&s);
  }
}

/* Where an engine has no driver to put into a container, `auto` runs a command
 * with GPUs here; who asks for the engine is told. */
TEST(gpus_want_a_driver)
{
  static const char *const nvidia[] = { "/dev/nvidia0", NULL };
  static const char *const amd[] = { "/dev/kfd", NULL };
  pai__surroundings around = { .devices = nvidia, .podman = PAI__HAND_YES };
  pai_launch_plan plan = { .dir = "/jobs/1", .image = "img", .gpus = 1 };
  pai__runtimes r = { .bash = bash };

  for (int i = 0; i < 5; i++) {
    pai__start s;

    set_tool(&r.podman, podman, works);
    r.podman.nvidia = i == 1;
    around.devices = i == 2 ? amd : nvidia;
    plan.gpus = i != 3;
    plan.runtime = i == 4 ? PAI_RUNTIME_PODMAN : PAI_RUNTIME_AUTO;
    pai__start_init(&s, &pai__libc_alloc);
    assert_ok(pai__start_choose(&s, &plan, &r, &around, NULL));
    assert_int_equal(s.runtime,
                     i == 0 ? PAI_RUNTIME_PROCESS : PAI_RUNTIME_PODMAN);
    assert_int_equal(
      strstr(s.about, "podman has the image but no NVIDIA") != NULL, i == 0);
    assert_int_equal(strstr(s.note, "may lack the NVIDIA driver") != NULL,
                     i == 4);
    pai__start_dispose(&s);
  }
}

/* Tasks of one job have name spaces in common, if there are any. */
TEST(a_name_space_is_joined)
{
  pai__runtimes r = { .bash = "/bin/bash",
                      .bwrap = { .path = bwrap, .works = true } };
  pai__surroundings around = { .root = NULL };
  pai_launch_plan plan = { .dir = "/jobs/1", .runtime = PAI_RUNTIME_AUTO };

  for (int i = 0; i < 3; i++) {
    pai__start s;

    plan.flags = i > 0 ? PAI_LAUNCH_SHARE_PIDS : 0;
    around.join = i == 2;
    pai__start_init(&s, &pai__libc_alloc);
    assert_ok(pai__start_choose(&s, &plan, &r, &around, NULL));
    assert_int_equal(strstr(joined(&s.argv), "--unshare-pid") != NULL, i < 2);
    assert_int_equal(strstr(s.note, "other tasks are not visible") != NULL,
                     i == 1);
    pai__start_dispose(&s);
  }
}

TEST(without_bash_nothing_starts)
{
  pai__runtimes r = { .bash = NULL };
  pai__surroundings around = { .root = NULL };
  pai_launch_plan plan = { .dir = "/jobs/1" };
  pai_error *err;
  pai__start s;

  pai__start_init(&s, &pai__libc_alloc);
  assert_fails(pai__start_choose(&s, &plan, &r, &around, &err), err,
               PAI_ENOTFOUND, "cannot start bash");
  pai__start_dispose(&s);
}

static int choose_body(const pai_alloc *alloc, void *user_data)
{
  pai__surroundings around = { .root = "/tmp/root", .here = "/tmp/here" };
  pai_launch_plan plan = { .dir = "/tmp/root/jobs/1",
                           .workdir = "/tmp/code",
                           .image = "img",
                           .gpus = 1,
                           .env = env,
                           .mounts = mounts,
                           .nmounts = 2,
                           .runtime = *(int *)user_data };
  pai__runtimes r = { .bash = bash,
                      .bwrap = { .path = bwrap, .tried = true, .works = true },
                      .docker = {
                        .path = docker, .works = true, .nvidia = true } };
  pai_error *err = NULL;
  pai__start s;
  int rc;

  pai__start_init(&s, alloc);
  rc = pai__start_choose(&s, &plan, &r, &around, &err);
  pai_error_free(err);
  pai__start_dispose(&s);
  return rc;
}

TEST(no_memory_is_survived)
{
  int runtimes[] = { PAI_RUNTIME_PROCESS, PAI_RUNTIME_BWRAP,
                     PAI_RUNTIME_DOCKER };

  for (size_t i = 0; i < PAI__LEN(runtimes); i++)
    test_faults(choose_body, &runtimes[i]);
}
