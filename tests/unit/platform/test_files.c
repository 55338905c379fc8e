/* Files of jobs: listed, read, and kept. */
#define _GNU_SOURCE
#include "cases.h"
#include "code_job.h"

#include <dirent.h>
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

DURABLE(a_jobs_own_files)
{
  char part[400];
  pai_job_id job;

  job = submit_code(d, "a",
                    "mkdir -p out/deep; printf 12345 >out/model; chmod 700 "
                    "out/model; printf x >out/deep/f; ln -s /etc/passwd bad; "
                    "ln -s out/model good; touch \"$(printf 'n\\nl\\001')\" "
                    "\"$(printf 'b\\377')\"");
  (void)snprintf(part, sizeof(part), "{\"folder\":\"%s",
                 in_folder(d, job, ""));
  part[strlen(part) - 1] = '\0';
  has(list(d, job, (pai_files_options){ 0 }, PAI_OK), part);
  has(list(d, job, (pai_files_options){ 0 }, PAI_OK),
      "\",\"own\":true,\"entries\":[{\"path\":\"bad\",\"type\":\"link\",");
  has(list(d, job, (pai_files_options){ 0 }, PAI_OK),
      "{\"path\":\"b\xef\xbf\xbd\",\"type\":\"file\",");
  has(list(d, job, (pai_files_options){ 0 }, PAI_OK),
      "\"target\":null,\"escaped\":\"b%FF\"}");
  has(list(d, job, (pai_files_options){ .own = 1 }, PAI_OK),
      "\"executable\":false,\"target\":\"/etc/passwd\",\"escaped\":null}");
  has(list(d, job, (pai_files_options){ .path = "out", .limit = 1 }, PAI_OK),
      "],\"next\":\"out/deep\",\"files\":null,\"bytes\":null}");
  has(list(d, job,
           (pai_files_options){
             .path = "out", .after = "out/deep", .recursive = 1 },
           PAI_OK),
      "{\"path\":\"out/deep/f\",\"type\":\"file\",\"size\":1,");
  has(list(d, job, (pai_files_options){ .total = 1, .recursive = 1 }, PAI_OK),
      "\"entries\":[],\"next\":null,\"files\":4,\"bytes\":6}");
  has(list(d, job, (pai_files_options){ .path = "good" }, PAI_OK),
      "[{\"path\":\"good\",\"type\":\"file\",\"size\":5,");
  has(list(d, job, (pai_files_options){ .path = "bad" }, PAI_EINVAL),
      "'bad' leads out of the job's folder");
  has(list(d, job, (pai_files_options){ .path = "none" }, PAI_ENOTFOUND),
      "there is no 'none' in the job's folder");
  assert_int_equal(
    refused(d, job,
            &(pai_files_options){ .struct_size = sizeof(pai_files_options),
                                  .limit = 10001 },
            "at most 10000"),
    PAI_EINVAL);
  assert_int_equal(
    refused(d, job, &(pai_files_options){ .struct_size = 8 }, "struct_size"),
    PAI_EINVAL);
  assert_int_equal(refused(d, 99, NULL, "there is no job 99"), PAI_ENOTFOUND);
}

/* A link in the place of its own folder is not followed, as one that somebody
 * has named is. */
DURABLE(the_folder_itself)
{
  const pai_files_options own = { .struct_size = sizeof(own), .own = 1 };
  char dir[700], was[710];
  pai_job_id job, plain;
  int fd;

  job = submit_code(d, "a", "printf x >f");
  (void)snprintf(dir, sizeof(dir), "%s", in_folder(d, job, ""));
  dir[strlen(dir) - 1] = '\0';
  (void)snprintf(was, sizeof(was), "%s.was", dir);
  assert_int_equal(rename(dir, was), 0);
  has(list(d, job, own, PAI_ENOTFOUND), "the job's folder is gone");
  assert_int_equal(symlink(was, dir), 0);
  has(list(d, job, own, PAI_ENOTFOUND), "the job's folder is gone");
  assert_int_equal(pai_platform_open_file(&fd, d->platform, job, "f", 0, NULL),
                   PAI_ENOTFOUND);
  assert_int_equal(fd, -1);
  plain = durable_accept(d, "plain", "true");
  durable_reaches(d, plain, PAI_STATE_SUCCEEDED);
  assert_int_equal(refused(d, plain, &own, "no folder of its own"),
                   PAI_ENOTFOUND);
  has(list(d, plain, (pai_files_options){ .limit = 1 }, PAI_OK),
      "\"own\":false");
}

TEST(a_platform_that_closes_waits)
{
  enum { LISTS = 20 };
  static listed l[LISTS];
  pai_files_options o = PAI_FILES_OPTIONS_INIT;
  pai_job_id job;
  durable d;

  durable_open(&d, story_in("closing"));
  job = submit_code(&d, "a", "touch f");
  o.recursive = 1;
  for (int i = 0; i < LISTS; i++) {
    l[i].status = 1;
    assert_ok(
      pai_platform_list_files(d.platform, job, &o, on_listed, &l[i], NULL));
  }
  durable_close(&d);
  for (int i = 0; i < LISTS; i++)
    assert_true(
      l[i].status == PAI_OK ||
      (l[i].status == PAI_EBUSY && strstr(l[i].text, "is closing") != NULL));
}

DURABLE(too_many_lists)
{
  enum { LISTS = 300 };
  static listed l[LISTS];
  int status[LISTS], busy = 0;
  pai_job_id job;

  job = submit_code(d, "a", "touch f");
  for (int i = 0; i < LISTS; i++) {
    l[i].status = 1;
    status[i] =
      pai_platform_list_files(d->platform, job, NULL, on_listed, &l[i], NULL);
    assert_true(status[i] == PAI_OK || status[i] == PAI_EBUSY);
    busy += status[i] == PAI_EBUSY;
  }
  assert_true(busy > 0 && busy < 100);
  for (int i = 0; i < LISTS; i++)
    while (status[i] == PAI_OK && l[i].status == 1)
      durable_turn(d);
  has(list(d, job, (pai_files_options){ 0 }, PAI_OK), "\"path\":\"f\"");
}

TEST(not_of_one_without_records)
{
  pai_file_write_options o = PAI_FILE_WRITE_OPTIONS_INIT;
  pai_platform_options po = PAI_PLATFORM_OPTIONS_INIT;
  pai_file_writer *w;
  durable d = { 0 };
  int fd;

  po.root = story_in("none");
  po.runtime = "process";
  o.path = "x";
  assert_ok(pai_loop_new(&d.loop, NULL, NULL));
  assert_ok(pai_platform_new(&d.platform, d.loop, &po, NULL));
  assert_int_equal(refused(&d, 1, NULL, "keeps no records"), PAI_ENOTSUP);
  assert_int_equal(pai_platform_open_file(&fd, d.platform, 1, "x", 0, NULL),
                   PAI_ENOTSUP);
  assert_int_equal(pai_file_writer_open(&w, d.platform, 1, &o, NULL),
                   PAI_ENOTSUP);
  pai_platform_close(d.platform, NULL, NULL);
  assert_ok(pai_loop_run(d.loop));
  pai_loop_free(d.loop);
}

/* --- a file that is read ------------------------------------------------------------ */

DURABLE(one_is_opened)
{
  pai_error *err = NULL;
  char text[8] = "";
  pai_job_id job;
  int fd;

  job = submit_code(d, "a",
                    "printf hi >f; ln -s f l; ln -s ../../openpai.db x; "
                    "mkfifo p");
  assert_ok(pai_platform_open_file(&fd, d->platform, job, "l", 1, NULL));
  assert_int_equal(read(fd, text, sizeof(text)), 2);
  assert_string_equal(text, "hi");
  assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
  (void)close(fd);
  assert_fails(pai_platform_open_file(&fd, d->platform, job, "x", 0, &err),
               err, PAI_EINVAL, "'x' leads out of the job's folder");
  assert_int_equal(pai_platform_open_file(&fd, d->platform, job, "p", 0, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_platform_open_file(&fd, d->platform, 99, "f", 0, NULL),
                   PAI_ENOTFOUND);
}

/* --- copies --------------------------------------------------------------------------- */

static const char *copied(durable *d, pai_job_id job, const char *path,
                          const char *to, int status)
{
  static listed l;
  pai_download_options o = PAI_DOWNLOAD_OPTIONS_INIT;

  o.path = path;
  o.to = to;
  l.status = 1;
  assert_ok(
    pai_platform_download(NULL, d->platform, job, &o, on_listed, &l, NULL));
  while (l.status == 1)
    durable_turn(d);
  assert_int_equal(l.status, status);
  return l.text;
}

static const char *sent(durable *d, pai_job_id job, const char *from,
                        const char *path, int status)
{
  static listed l;
  pai_upload_options o = PAI_UPLOAD_OPTIONS_INIT;

  o.from = from;
  o.path = path;
  l.status = 1;
  assert_ok(
    pai_platform_upload(NULL, d->platform, job, &o, on_listed, &l, NULL));
  while (l.status == 1)
    durable_turn(d);
  assert_int_equal(l.status, status);
  return l.text;
}

static int skips(void *user_data, const char *path, const pai_error *why)
{
  (void)user_data;
  (void)path;
  (void)why;
  return 0;
}

DURABLE(files_are_copied)
{
  pai_download_options o = PAI_DOWNLOAD_OPTIONS_INIT;
  listed l = { .status = 1 };
  pai_job_id job;
  char to[600];

  job =
    submit_code(d, "a",
                "mkdir -p out/deep out/none; printf 12345 >out/m; printf x "
                ">out/deep/f; ln -s m out/l; ln -s /etc out/away");
  (void)snprintf(to, sizeof(to), "%s/got", d->root);
  assert_string_equal(
    copied(d, job, "out", to, PAI_OK),
    "{\"files\":2,\"bytes\":6,\"skipped\":1,\"into\":false}");
  assert_string_equal(content(test_string("%s/l", to)), "12345");
  assert_string_equal(content(test_string("%s/deep/f", to)), "x");
  assert_int_equal(access(test_string("%s/away", to), F_OK), -1);
  assert_string_equal(copied(d, job, "out/m", to, PAI_OK),
                      "{\"files\":1,\"bytes\":0,\"skipped\":0,\"into\":true}");
  has(copied(d, job, "none", to, PAI_ENOTFOUND),
      "there is no 'none' in the job's folder");
  has(copied(d, job, "out/m", test_string("%s/m/x", to), PAI_EIO),
      "cannot write ");
  assert_string_equal(
    sent(d, job, to, "new", PAI_OK),
    "{\"files\":3,\"bytes\":11,\"skipped\":0,\"into\":false}");
  assert_string_equal(content(in_folder(d, job, "new/l")), "12345");
  assert_int_equal(access(in_folder(d, job, "new/none"), F_OK), 0);
  has(sent(d, job, test_string("%s/m", to), "../x", PAI_EINVAL),
      "leads out of the job's folder");
  o.to = to;
  o.on_skip = skips;
  assert_int_equal(
    pai_platform_download(NULL, d->platform, job, &o, on_listed, &l, NULL),
    PAI_ENOTSUP);
  o.on_skip = NULL;
  assert_int_equal(
    pai_platform_download(NULL, d->platform, 99, &o, on_listed, &l, NULL),
    PAI_ENOTFOUND);
  assert_int_equal(l.status, 1);
}

/* A copy that takes seconds: what the tests do meanwhile is sooner. */
static pai_op *endless(durable *d, pai_job_id job, const char *to, listed *l)
{
  pai_download_options o = PAI_DOWNLOAD_OPTIONS_INIT;
  pai_op *op = NULL;

  o.path = "endless";
  o.to = to;
  l->status = 1;
  assert_ok(
    pai_platform_download(&op, d->platform, job, &o, on_listed, l, NULL));
  assert_non_null(op);
  return op;
}

static void canceled(durable *d, pai_op *op, listed *l)
{
  assert_int_equal(l->status, 1);
  pai_op_cancel(op);
  pai_op_cancel(op);
  assert_int_equal(l->status, 1); /* it calls back from the loop */
  while (l->status == 1)
    durable_turn(d);
  assert_int_equal(l->status, PAI_ECANCELED);
  assert_string_equal(l->text, "the copy was cancelled");
}

static bool is_empty(const char *folder)
{
  DIR *dir = opendir(folder);
  const struct dirent *e;
  bool empty = true;

  while (dir != NULL && (e = readdir(dir)) != NULL)
    empty = empty && e->d_name[0] == '.' &&
            (e->d_name[1] == '\0' || strcmp(e->d_name, "..") == 0);
  if (dir != NULL)
    (void)closedir(dir);
  return empty;
}

DURABLE(copies_are_cancelled_and_hold_up_no_list)
{
  listed l[3];
  pai_op *ops[3], *none = (pai_op *)d;
  pai_upload_options up = PAI_UPLOAD_OPTIONS_INIT;
  pai_job_id job = submit_code(d, "a", "truncate -s 4G endless");

  for (int i = 0; i < 3; i++)
    ops[i] = endless(d, job, test_string("%s/got/%d", d->root, i), &l[i]);
  has(list(d, job, (pai_files_options){ 0 }, PAI_OK), "\"endless\"");
  canceled(d, ops[2], &l[2]); /* it waits for the others */
  assert_int_equal(l[0].status, 1);
  assert_int_equal(l[1].status, 1);
  canceled(d, ops[0], &l[0]);
  canceled(d, ops[1], &l[1]);
  assert_true(is_empty(test_string("%s/got", d->root)));
  pai_op_cancel(NULL);
  up.from = in_folder(d, job, "endless");
  up.path = "again";
  l[0].status = 1;
  assert_ok(pai_platform_upload(&ops[0], d->platform, job, &up, on_listed,
                                &l[0], NULL));
  canceled(d, ops[0], &l[0]);
  assert_int_equal(access(in_folder(d, job, "again"), F_OK), -1);
  up.from = NULL;
  assert_int_equal(
    pai_platform_upload(&none, d->platform, job, &up, on_listed, &l[0], NULL),
    PAI_EINVAL);
  assert_null(none);
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
  FILE *p;

  p = popen(test_string("ls -d %s/kept/*~%s 2>&-", story_in(root), name), "r");
  assert_non_null(p);
  if (fgets(path, sizeof(path), p) == NULL)
    path[0] = '\0';
  path[strcspn(path, "\n")] = '\0';
  (void)pclose(p);
  return path;
}

TEST(files_are_kept)
{
  char file[600];
  pai_job_id job, plain;
  durable d;

  durable_open(&d, story_in("kept"));
  for (int i = 0; i < 3; i++) { /* the name is free again each time */
    job = submit_code(&d, "a", "printf x >f; chmod 500 .");
    has(forget(&d, job, 1, PAI_OK), "{\"kept\":\"");
    (void)snprintf(file, sizeof(file), i > 0 ? "a.%d" : "a", i);
    assert_string_equal(d.text,
                        test_string("{\"kept\":\"%s\"}", kept("kept", file)));
    (void)snprintf(file, sizeof(file), "%s/f", kept("kept", file));
    assert_string_equal(content(file), "x");
    durable_is(&d, job, PAI_ENOTFOUND);
  }
  job = submit_code(&d, "b", "true");
  assert_string_equal(forget(&d, job, 0, PAI_OK), "{\"kept\":null}");
  assert_string_equal(kept("kept", "b"), "");
  plain = durable_accept(&d, "plain", "true");
  durable_reaches(&d, plain, PAI_STATE_SUCCEEDED);
  assert_string_equal(forget(&d, plain, 1, PAI_OK), "{\"kept\":null}");
  (void)forget(&d, plain, 1, PAI_ENOTFOUND);
  assert_ok(durable_sync(&d));
  durable_close(&d);
  durable_open(&d, story_in("kept")); /* what is kept is no trouble later */
  assert_string_equal(content(file), "x");
  job = submit_code(&d, "a", "true");
  assert_string_equal(content(file), "x");
  durable_close(&d);
}

TEST(what_cannot_be_kept)
{
  pai_job_id job;
  durable d;
  int fd;

  durable_open(&d, story_in("full"));
  job = submit_code(&d, "a", "printf x >f");
  fd = open(test_string("%s/kept", story_in("full")), O_WRONLY | O_CREAT,
            0600); /* no folder */
  assert_true(fd >= 0);
  (void)close(fd);
  assert_true(forget(&d, job, 1, PAI_EIO) != NULL);
  durable_is(&d, job, PAI_STATE_SUCCEEDED);
  assert_string_equal(content(in_folder(&d, job, "f")), "x");
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

TEST(memory_may_be_short)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  int rc = PAI_ENOMEM;
  durable d = { 0 };
  test_tally tally;
  pai_job_id job;
  size_t n = 0;

  test_tally_init(&tally);
  (void)snprintf(d.root, sizeof(d.root), "%s", story_in("memory"));
  o.root = d.root;
  o.durable = 1;
  o.runtime = "process";
  o.alloc = &tally.alloc;
  assert_ok(pai_loop_new(&d.loop, NULL, NULL));
  assert_ok(pai_platform_new(&d.platform, d.loop, &o, NULL));
  job = submit_code(&d, "a", "printf x >f");
  while (rc == PAI_ENOMEM) {
    tally.fail_at = tally.calls + ++n;
    rc = use_all(&d, job);
    tally.fail_at = 0;
  }
  assert_int_equal(rc, 1);
  assert_true(n > 10);
  pai_platform_close(d.platform, NULL, NULL);
  assert_ok(pai_loop_run(d.loop));
  pai_loop_free(d.loop);
  assert_int_equal(tally.live, 0);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
