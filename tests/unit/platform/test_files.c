/* Files of jobs: listed, read, and kept. */
#define _GNU_SOURCE
#include "code_job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- lists ---------------------------------------------------------------------- */

static int refused(durable *d, pai_job_id job, const pai_files_options *o,
                   const char *part)
{
  pai_error *err = NULL;
  listed l = { .status = 1 };
  int rc = pai_platform_list_files(d->platform, job, o, on_listed, &l, &err);

  test_expect_error(err, rc, part);
  assert_int_equal(l.status, 1);
  return rc;
}

static void a_jobs_own_files(void **state)
{
  char part[400];
  pai_job_id job;
  durable d;

  (void)state;
  durable_open(&d, path_of("own"));
  job = submit_code(&d, "own", "a",
                    "mkdir -p out/deep; printf 12345 >out/model; chmod 700 "
                    "out/model; printf x >out/deep/f; ln -s /etc/passwd bad; "
                    "ln -s out/model good; touch \"$(printf 'n\\nl\\001')\" "
                    "\"$(printf 'b\\377')\"");
  (void)snprintf(part, sizeof(part), "{\"folder\":\"%s",
                 in_folder(&d, "own", job, ""));
  part[strlen(part) - 1] = '\0';
  has(list(&d, job, (pai_files_options){ 0 }, PAI_OK), part);
  has(list(&d, job, (pai_files_options){ 0 }, PAI_OK),
      "\",\"own\":true,\"entries\":[{\"path\":\"bad\",\"type\":\"link\",");
  has(list(&d, job, (pai_files_options){ 0 }, PAI_OK),
      "{\"path\":\"b\xef\xbf\xbd\",\"type\":\"file\",");
  has(list(&d, job, (pai_files_options){ 0 }, PAI_OK),
      "\"target\":null,\"escaped\":\"b%FF\"}");
  has(list(&d, job, (pai_files_options){ .own = 1 }, PAI_OK),
      "\"executable\":false,\"target\":\"/etc/passwd\",\"escaped\":null}");
  has(list(&d, job, (pai_files_options){ .path = "out", .limit = 1 }, PAI_OK),
      "],\"next\":\"out/deep\",\"files\":null,\"bytes\":null}");
  has(list(&d, job,
           (pai_files_options){
             .path = "out", .after = "out/deep", .recursive = 1 },
           PAI_OK),
      "{\"path\":\"out/deep/f\",\"type\":\"file\",\"size\":1,");
  has(list(&d, job, (pai_files_options){ .total = 1, .recursive = 1 }, PAI_OK),
      "\"entries\":[],\"next\":null,\"files\":4,\"bytes\":6}");
  has(list(&d, job, (pai_files_options){ .path = "good" }, PAI_OK),
      "[{\"path\":\"good\",\"type\":\"file\",\"size\":5,");
  has(list(&d, job, (pai_files_options){ .path = "bad" }, PAI_EINVAL),
      "bad leads out of the job's folder");
  has(list(&d, job, (pai_files_options){ .path = "none" }, PAI_ENOTFOUND),
      "there is no none in the job's folder");
  assert_int_equal(
    refused(&d, job,
            &(pai_files_options){ .struct_size = sizeof(pai_files_options),
                                  .limit = 10001 },
            "at most 10000"),
    PAI_EINVAL);
  assert_int_equal(
    refused(&d, job, &(pai_files_options){ .struct_size = 8 }, "struct_size"),
    PAI_EINVAL);
  assert_int_equal(refused(&d, 99, NULL, "there is no job 99"), PAI_ENOTFOUND);
  durable_close(&d);
}

/* A link in the place of its own folder is not followed, as one that somebody
 * has named is. */
static void the_folder_itself(void **state)
{
  const pai_files_options own = { .struct_size = sizeof(own), .own = 1 };
  char dir[700], was[710];
  pai_job_id job, plain;
  durable d;
  int fd;

  (void)state;
  durable_open(&d, path_of("itself"));
  job = submit_code(&d, "itself", "a", "printf x >f");
  (void)snprintf(dir, sizeof(dir), "%s", in_folder(&d, "itself", job, ""));
  dir[strlen(dir) - 1] = '\0';
  (void)snprintf(was, sizeof(was), "%s.was", dir);
  assert_int_equal(rename(dir, was), 0);
  has(list(&d, job, own, PAI_ENOTFOUND), "the job's folder is gone");
  assert_int_equal(symlink(was, dir), 0);
  has(list(&d, job, own, PAI_ENOTFOUND), "the job's folder is gone");
  assert_int_equal(pai_platform_open_file(&fd, d.platform, job, "f", 0, NULL),
                   PAI_ENOTFOUND);
  assert_int_equal(fd, -1);
  plain = durable_accept(&d, "plain", "true");
  assert_int_equal(durable_wait(&d, plain, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  assert_int_equal(refused(&d, plain, &own, "no folder of its own"),
                   PAI_ENOTFOUND);
  has(list(&d, plain, (pai_files_options){ .limit = 1 }, PAI_OK),
      "\"own\":false");
  durable_close(&d);
}

static void a_platform_that_closes_waits(void **state)
{
  enum { LISTS = 20 };
  static listed l[LISTS];
  pai_files_options o = PAI_FILES_OPTIONS_INIT;
  pai_job_id job;
  durable d;

  (void)state;
  durable_open(&d, path_of("closing"));
  job = submit_code(&d, "closing", "a", "touch f");
  o.recursive = 1;
  for (int i = 0; i < LISTS; i++) {
    l[i].status = 1;
    assert_int_equal(
      pai_platform_list_files(d.platform, job, &o, on_listed, &l[i], NULL),
      PAI_OK);
  }
  durable_close(&d);
  for (int i = 0; i < LISTS; i++)
    assert_true(
      l[i].status == PAI_OK ||
      (l[i].status == PAI_EBUSY && strstr(l[i].text, "is closing") != NULL));
}

static void too_many_lists(void **state)
{
  enum { LISTS = 300 };
  static listed l[LISTS];
  int status[LISTS], busy = 0;
  pai_job_id job;
  durable d;

  (void)state;
  durable_open(&d, path_of("many"));
  job = submit_code(&d, "many", "a", "touch f");
  for (int i = 0; i < LISTS; i++) {
    l[i].status = 1;
    status[i] =
      pai_platform_list_files(d.platform, job, NULL, on_listed, &l[i], NULL);
    assert_true(status[i] == PAI_OK || status[i] == PAI_EBUSY);
    busy += status[i] == PAI_EBUSY;
  }
  assert_true(busy > 0 && busy < 100);
  for (int i = 0; i < LISTS; i++)
    while (status[i] == PAI_OK && l[i].status == 1)
      durable_turn(&d);
  has(list(&d, job, (pai_files_options){ 0 }, PAI_OK), "\"path\":\"f\"");
  durable_close(&d);
}

static void not_of_one_without_records(void **state)
{
  pai_file_write_options o = PAI_FILE_WRITE_OPTIONS_INIT;
  pai_platform_options po = PAI_PLATFORM_OPTIONS_INIT;
  pai_file_writer *w;
  durable d = { 0 };
  int fd;

  (void)state;
  po.root = path_of("none");
  po.runtime = "process";
  o.path = "x";
  assert_int_equal(pai_loop_new(&d.loop, NULL, NULL), PAI_OK);
  assert_int_equal(pai_platform_new(&d.platform, d.loop, &po, NULL), PAI_OK);
  assert_int_equal(refused(&d, 1, NULL, "keeps no records"), PAI_ENOTSUP);
  assert_int_equal(pai_platform_open_file(&fd, d.platform, 1, "x", 0, NULL),
                   PAI_ENOTSUP);
  assert_int_equal(pai_file_writer_open(&w, d.platform, 1, &o, NULL),
                   PAI_ENOTSUP);
  pai_platform_close(d.platform, NULL, NULL);
  assert_int_equal(pai_loop_run(d.loop), PAI_OK);
  pai_loop_free(d.loop);
}

/* --- a file that is read ------------------------------------------------------------ */

static void one_is_opened(void **state)
{
  pai_error *err = NULL;
  char text[8] = "";
  pai_job_id job;
  durable d;
  int fd;

  (void)state;
  durable_open(&d, path_of("open"));
  job = submit_code(&d, "open", "a",
                    "printf hi >f; ln -s f l; ln -s ../../openpai.db x; "
                    "mkfifo p");
  assert_int_equal(pai_platform_open_file(&fd, d.platform, job, "l", 1, NULL),
                   PAI_OK);
  assert_int_equal(read(fd, text, sizeof(text)), 2);
  assert_string_equal(text, "hi");
  assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
  (void)close(fd);
  assert_int_equal(pai_platform_open_file(&fd, d.platform, job, "x", 0, &err),
                   PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "x leads out of the job's folder");
  assert_int_equal(pai_platform_open_file(&fd, d.platform, job, "p", 0, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_platform_open_file(&fd, d.platform, 99, "f", 0, NULL),
                   PAI_ENOTFOUND);
  durable_close(&d);
}

/* --- files of a forgotten job ----------------------------------------------------------- */

static const char *forget(durable *d, pai_job_id job, int keep, int status)
{
  pai_forget_options o = PAI_FORGET_OPTIONS_INIT;

  o.keep_files = keep;
  d->len = 0;
  d->text[0] = '\0';
  assert_int_equal(
    pai_platform_forget_as(d->platform, job, &o, durable_write, d, NULL),
    status);
  return d->text;
}

static const char *kept(const char *root, const char *name)
{
  static char path[500];
  char command[600];
  FILE *p;

  (void)snprintf(command, sizeof(command), "ls -d %s/kept/*~%s 2>&-",
                 path_of(root), name);
  p = popen(command, "r");
  assert_non_null(p);
  if (fgets(path, sizeof(path), p) == NULL)
    path[0] = '\0';
  path[strcspn(path, "\n")] = '\0';
  (void)pclose(p);
  return path;
}

static void files_are_kept(void **state)
{
  char expected[600], file[600];
  pai_job_id job, plain;
  durable d;

  (void)state;
  durable_open(&d, path_of("kept"));
  for (int i = 0; i < 3; i++) { /* the name is free again each time */
    job = submit_code(&d, "kept", "a", "printf x >f; chmod 500 .");
    has(forget(&d, job, 1, PAI_OK), "{\"kept\":\"");
    (void)snprintf(file, sizeof(file), i > 0 ? "a.%d" : "a", i);
    (void)snprintf(expected, sizeof(expected), "{\"kept\":\"%s\"}",
                   kept("kept", file));
    assert_string_equal(d.text, expected);
    (void)snprintf(file, sizeof(file), "%s/f", kept("kept", file));
    assert_string_equal(content(file), "x");
    assert_int_equal(pai_platform_job_state(NULL, d.platform, job),
                     PAI_ENOTFOUND);
  }
  job = submit_code(&d, "kept", "b", "true");
  assert_string_equal(forget(&d, job, 0, PAI_OK), "{\"kept\":null}");
  assert_string_equal(kept("kept", "b"), "");
  plain = durable_accept(&d, "plain", "true");
  assert_int_equal(durable_wait(&d, plain, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  assert_string_equal(forget(&d, plain, 1, PAI_OK), "{\"kept\":null}");
  (void)forget(&d, plain, 1, PAI_ENOTFOUND);
  assert_int_equal(durable_sync(&d), PAI_OK);
  durable_close(&d);
  durable_open(&d, path_of("kept")); /* what is kept is no trouble later */
  assert_string_equal(content(file), "x");
  job = submit_code(&d, "kept", "a", "true");
  assert_string_equal(content(file), "x");
  durable_close(&d);
}

static void what_cannot_be_kept(void **state)
{
  char file[400];
  pai_job_id job;
  durable d;
  int fd;

  (void)state;
  durable_open(&d, path_of("full"));
  job = submit_code(&d, "full", "a", "printf x >f");
  (void)snprintf(file, sizeof(file), "%s/kept", path_of("full"));
  fd = open(file, O_WRONLY | O_CREAT, 0600); /* no folder */
  assert_true(fd >= 0);
  (void)close(fd);
  assert_true(forget(&d, job, 1, PAI_EIO) != NULL);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, job),
                   PAI_STATE_SUCCEEDED);
  assert_string_equal(content(in_folder(&d, "full", job, "f")), "x");
  durable_close(&d);
}

/* --- memory ------------------------------------------------------------------------------ */

/* All that begins in the loop's thread, with memory that is short. */
static int use_all(durable *d, pai_job_id job)
{
  pai_file_write_options o = PAI_FILE_WRITE_OPTIONS_INIT;
  listed l = { .status = 1 };
  pai_file_writer *w = NULL;
  int fd = -1;
  int rc =
    pai_platform_list_files(d->platform, job, NULL, on_listed, &l, NULL);

  while (rc == PAI_OK && l.status == 1)
    durable_turn(d);
  rc = rc < 0 ? rc : l.status;
  if (rc == PAI_OK)
    rc = pai_platform_open_file(&fd, d->platform, job, "f", 0, NULL);
  if (fd >= 0)
    (void)close(fd);
  o.path = "g";
  o.size = 1;
  if (rc == PAI_OK)
    rc = pai_file_writer_open(&w, d->platform, job, &o, NULL);
  if (rc == PAI_OK)
    rc = pai_file_writer_add(w, "x", 1, NULL);
  if (rc == PAI_OK)
    rc = pai_file_writer_end(w, NULL);
  pai_file_writer_close(w);
  return rc;
}

static void memory_may_be_short(void **state)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  int rc = PAI_ENOMEM;
  durable d = { 0 };
  test_tally tally;
  pai_job_id job;
  size_t n = 0;

  (void)state;
  test_tally_init(&tally);
  o.root = path_of("memory");
  o.durable = 1;
  o.runtime = "process";
  o.alloc = &tally.alloc;
  assert_int_equal(pai_loop_new(&d.loop, NULL, NULL), PAI_OK);
  assert_int_equal(pai_platform_new(&d.platform, d.loop, &o, NULL), PAI_OK);
  job = submit_code(&d, "memory", "a", "printf x >f");
  while (rc == PAI_ENOMEM) {
    tally.fail_at = tally.calls + ++n;
    rc = use_all(&d, job);
    tally.fail_at = 0;
  }
  assert_int_equal(rc, 1);
  assert_true(n > 10);
  pai_platform_close(d.platform, NULL, NULL);
  assert_int_equal(pai_loop_run(d.loop), PAI_OK);
  pai_loop_free(d.loop);
  assert_int_equal(tally.live, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_jobs_own_files),
    cmocka_unit_test(the_folder_itself),
    cmocka_unit_test(a_platform_that_closes_waits),
    cmocka_unit_test(too_many_lists),
    cmocka_unit_test(not_of_one_without_records),
    cmocka_unit_test(one_is_opened),
    cmocka_unit_test(files_are_kept),
    cmocka_unit_test(what_cannot_be_kept),
    cmocka_unit_test(memory_may_be_short),
  };

  return cmocka_run_group_tests(tests, story_make_root, story_remove_root);
}
