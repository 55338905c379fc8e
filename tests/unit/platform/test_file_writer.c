/* Files of jobs that are written. */
#define _GNU_SOURCE
#include "cases.h"
#include "code_job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* What it comes to: 1, 0, or a code. */
static int write_file(durable *d, pai_job_id job, pai_file_write_options o,
                      const char *text)
{
  pai_file_writer *w;
  int rc;

  o.struct_size = sizeof(o);
  rc = pai_file_writer_open(&w, d->platform, job, &o, NULL);
  if (rc < 0) {
    assert_null(w);
    return rc;
  }
  rc = pai_file_writer_add(w, text, strlen(text), NULL);
  if (rc == PAI_OK)
    rc = pai_file_writer_end(w, NULL);
  if (rc == 1)
    assert_int_equal(pai_file_writer_end(w, NULL), 1);
  pai_file_writer_close(w);
  return rc;
}

static uint64_t arrived(durable *d, pai_job_id job, const char *path,
                        const char *upload, uint64_t size)
{
  pai_file_write_options o = PAI_FILE_WRITE_OPTIONS_INIT;
  pai_file_writer *w;
  uint64_t n;

  o.path = path;
  o.upload = upload;
  o.size = size;
  o.offset = UINT64_MAX;
  assert_ok(pai_file_writer_open(&w, d->platform, job, &o, NULL));
  n = pai_file_writer_received(w);
  pai_file_writer_close(w);
  return n;
}

/* How many files lie in a folder, parts included. */
static int files_in(const char *dir)
{
  FILE *p;
  int n = -1;

  p = popen(test_string("ls -A '%s' | wc -l", dir), "r");
  assert_non_null(p);
  assert_int_equal(fscanf(p, "%d", &n), 1);
  (void)pclose(p);
  return n;
}

TEST(one_is_written)
{
  struct stat st;
  pai_job_id job;
  durable d;

  durable_open(&d, story_in("write"));
  job = submit_code(&d, "a",
                    "printf old >f; mkdir dir; ln -s dir/new l; ln -s /tmp x; "
                    "ln -s f f2");
#define AT(name) in_folder(&d, job, name)
  assert_int_equal(
    write_file(&d, job, (pai_file_write_options){ .path = "f", .size = 3 },
               "new"),
    1);
  assert_string_equal(content(AT("f")), "new");
  assert_int_equal(write_file(&d, job,
                              (pai_file_write_options){ .path = "a/b/run",
                                                        .size = 2,
                                                        .executable = 1 },
                              "hi"),
                   1);
  assert_int_equal(stat(AT("a/b/run"), &st), 0);
  assert_int_equal(st.st_mode & 0700, 0700);
  assert_int_equal(
    write_file(&d, job, (pai_file_write_options){ .path = "l", .size = 1 },
               "x"),
    1);
  assert_string_equal(content(AT("dir/new")), "x");
  assert_int_equal(
    write_file(&d, job, (pai_file_write_options){ .path = "empty" }, ""), 1);
  assert_int_equal(access(AT("empty"), F_OK), 0);
  /* And what is not. */
  assert_int_equal(
    write_file(&d, job, (pai_file_write_options){ .path = "f", .size = 4 },
               "abc"),
    0);
  assert_int_equal(
    write_file(&d, job, (pai_file_write_options){ .path = "f", .size = 2 },
               "abc"),
    PAI_ELIMIT);
  assert_string_equal(content(AT("f")), "new");
  assert_int_equal(
    write_file(&d, job, (pai_file_write_options){ .path = "x/new" }, ""),
    PAI_EINVAL);
  assert_int_equal(
    write_file(&d, job, (pai_file_write_options){ .path = "dir" }, ""),
    PAI_EINVAL);
  assert_int_equal(
    write_file(&d, job, (pai_file_write_options){ .path = "f", .offset = 1 },
               ""),
    PAI_EINVAL);
  assert_int_equal(
    write_file(&d, job,
               (pai_file_write_options){ .path = "f", .upload = "a/b" }, ""),
    PAI_EINVAL);
  assert_int_equal(files_in(AT("")), 7); /* nothing is left of those */
  durable_close(&d);
#undef AT
}

TEST(in_pieces)
{
  pai_file_write_options o = { .path = "sub/f", .upload = "up", .size = 6 };
  pai_job_id job;
  durable d;

  durable_open(&d, story_in("pieces"));
  job = submit_code(&d, "a", "true");
#define AT(name) in_folder(&d, job, name)
  assert_int_equal(write_file(&d, job, o, "abcd"), 0);
  assert_int_equal(arrived(&d, job, "sub/f", "up", 6), 4);
  assert_int_equal(arrived(&d, job, "sub/f", "other", 6), 0);
  has(list(&d, job, (pai_files_options){ .path = "sub" }, PAI_OK),
      "\"entries\":[],"); /* what is not whole is not listed */
  has(list(&d, job, (pai_files_options){ .path = "sub", .total = 1 }, PAI_OK),
      "\"files\":0,");
  o.offset = 5;
  assert_int_equal(write_file(&d, job, o, ""), PAI_EINVAL);
  o.offset = 2;
  assert_int_equal(write_file(&d, job, o, "C"), 0);
  assert_int_equal(arrived(&d, job, "sub/f", "up", 6), 3);
  assert_int_equal(arrived(&d, job, "sub/f", "up", 2), 0); /* another file */
  o.offset = 0;
  assert_int_equal(write_file(&d, job, o, "abC"), 0);
  o.offset = UINT64_MAX;
  assert_int_equal(write_file(&d, job, o, "def"), 1);
  assert_string_equal(content(AT("sub/f")), "abCdef");
  assert_int_equal(files_in(AT("sub")), 2); /* and the part of "other" */
  durable_close(&d);
#undef AT
}

/* Those of uploads that nobody goes on with; once for a folder, so it takes
 * another platform here. */
TEST(parts_are_given_up)
{
  const pai_file_write_options o = { .path = "sub/g", .size = 1 };
  char command[600];
  pai_job_id job;
  durable d;

  durable_open(&d, story_in("parts"));
  job = submit_code(&d, "a", "true");
#define AT(name) in_folder(&d, job, name)
  assert_int_equal(arrived(&d, job, "sub/f", "old", 6), 0);
  (void)snprintf(
    command, sizeof(command),
    "touch -d '2 days ago' '%s'/.openpai-*; touch -d '2 days ago' "
    "'%s'/.openpai-own.part",
    AT("sub"), AT("sub"));
  test_shell("%s", command); /* NOLINT */
  assert_int_equal(arrived(&d, job, "sub/f", "young", 6), 0);
  durable_close(&d);
  durable_open(&d, story_in("parts"));
  assert_int_equal(files_in(AT("sub")), 3);
  assert_int_equal(write_file(&d, job, o, "x"), 1);
  assert_int_equal(files_in(AT("sub")), 3); /* g, young's, and no part */
  assert_int_equal(arrived(&d, job, "sub/f", "old", 6), 0);
  durable_close(&d);
#undef AT
}

/* A path that ends with a slash. */
TEST(folders_are_made)
{
  struct stat st;
  pai_job_id job;
  durable d;

  durable_open(&d, story_in("made"));
  job = submit_code(&d, "a", "printf old >f; ln -s /tmp x");
#define AT(name) in_folder(&d, job, name)
  for (int i = 0; i < 2; i++) {
    assert_int_equal(
      write_file(&d, job, (pai_file_write_options){ .path = "a/b/" }, ""), 1);
    assert_int_equal(stat(AT("a/b"), &st), 0);
    assert_true(S_ISDIR(st.st_mode));
  }
  assert_int_equal(
    write_file(&d, job, (pai_file_write_options){ .path = "c/", .size = 1 },
               "x"),
    PAI_EINVAL);
  assert_int_equal(
    write_file(&d, job, (pai_file_write_options){ .path = "f/" }, ""),
    PAI_ENOTFOUND);
  assert_int_equal(
    write_file(&d, job, (pai_file_write_options){ .path = "x/y/" }, ""),
    PAI_EINVAL);
  assert_int_equal(
    write_file(&d, job, (pai_file_write_options){ .path = "../y/" }, ""),
    PAI_EINVAL);
  durable_close(&d);
#undef AT
}

/* What a job puts where a part is to be is not written to. */
TEST(a_part_that_is_none)
{
  static const char *const plants[] = {
    "ln -s ../../../secret \"$p\"", /* a link */
    "ln -s nowhere \"$p\"", "mkfifo \"$p\"",
    "printf inside >other; ln other \"$p\"" /* another file's second name */
  };
  pai_file_write_options o = { .path = "f", .upload = "u", .size = 4 };
  pai_job_id job;
  durable d;

  durable_open(&d, story_in("planted"));
  job = submit_code(&d, "a", "true");
#define AT(name) in_folder(&d, job, name)
  for (size_t i = 0; i < PAI__LEN(plants); i++) {
    o.offset = UINT64_MAX;
    assert_int_equal(write_file(&d, job, o, "ab"), 0);
    test_shell("cd '%s' && printf secret >../../../secret && p=$(ls -d "
               ".openpai-*) && rm \"$p\" && %s",
               AT(""), plants[i]);
    assert_int_equal(write_file(&d, job, o, "1234"), 1);
    assert_string_equal(content(AT("f")), "1234");
    assert_string_equal(content(AT("../../../secret")), "secret");
  }
  assert_string_equal(content(AT("other")), "inside");
  durable_close(&d);
#undef AT
}

/* Of two that write the same upload only one puts it there. */
DURABLE(two_at_once)
{
  pai_file_write_options o = PAI_FILE_WRITE_OPTIONS_INIT;
  pai_file_writer *first, *second;
  pai_job_id job;

  job = submit_code(d, "a", "true");
  o.path = "f";
  o.upload = "u";
  o.size = 2;
  assert_int_equal(pai_file_writer_open(&first, d->platform, job, &o, NULL),
                   0);
  assert_ok(pai_file_writer_add(first, "a", 1, NULL));
  o.offset = UINT64_MAX;
  assert_int_equal(pai_file_writer_open(&second, d->platform, job, &o, NULL),
                   0);
  assert_int_equal(pai_file_writer_received(second), 1);
  assert_ok(pai_file_writer_add(second, "b", 1, NULL));
  assert_int_equal(pai_file_writer_end(second, NULL), 1);
  assert_ok(pai_file_writer_add(first, "x", 1, NULL));
  assert_int_equal(pai_file_writer_end(first, NULL), PAI_EIO);
  pai_file_writer_close(first);
  pai_file_writer_close(second);
}

static pai_file_writer *open_half(durable *d, pai_job_id job, const char *path,
                                  const char *upload)
{
  pai_file_write_options o = PAI_FILE_WRITE_OPTIONS_INIT;
  pai_file_writer *w;

  o.path = path;
  o.upload = upload;
  o.size = 4;
  assert_ok(pai_file_writer_open(&w, d->platform, job, &o, NULL));
  assert_ok(pai_file_writer_add(w, "ab", 2, NULL));
  return w;
}

/* The platform waits for none of them, and they need it no more. */
TEST(uploads_outlive_their_platform)
{
  pai_file_writer *done, *dropped, *kept;
  char folder[400];
  pai_job_id job;
  durable d;

  durable_open(&d, story_in("outlived"));
  job = submit_code(&d, "a", "true");
  (void)snprintf(folder, sizeof(folder), "%s", in_folder(&d, job, ""));
  done = open_half(&d, job, "done", NULL);
  dropped = open_half(&d, job, "dropped", NULL);
  kept = open_half(&d, job, "kept", "u");
  durable_close(&d);
  assert_ok(pai_file_writer_add(done, "cd", 2, NULL));
  assert_int_equal(pai_file_writer_end(done, NULL), 1);
  assert_int_equal(pai_file_writer_end(dropped, NULL), 0);
  pai_file_writer_close(done);
  pai_file_writer_close(dropped);
  pai_file_writer_close(kept);
  assert_string_equal(content(test_string("%s/done", folder)), "abcd");
  assert_int_equal(files_in(folder), 2); /* that one, and the part of `kept` */
  durable_open(&d, story_in("outlived"));
  assert_int_equal(arrived(&d, job, "kept", "u", 4), 2);
  durable_close(&d);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
