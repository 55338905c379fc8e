/* Files of jobs: listed, read, written, and kept. */
#define _GNU_SOURCE
#include "durable.h"

#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *path_of(const char *name)
{
  static char path[300];

  (void)snprintf(path, sizeof(path), "%s/%s", story_root, name);
  return path;
}

/* A job with a folder of its own, in which a command has run. */
static pai_job_id submit_code(durable *d, const char *root, const char *name,
                              const char *command)
{
  pai_submit_options o = PAI_SUBMIT_OPTIONS_INIT;
  char dir[400], text[2000];
  pai_spec *spec;
  pai_job_id id;

  (void)snprintf(dir, sizeof(dir), "%s/code", path_of(root));
  (void)mkdir(dir, 0700);
  (void)snprintf(dir, sizeof(dir), "%s/code/new-%s", path_of(root), name);
  assert_int_equal(mkdir(dir, 0700), 0);
  (void)snprintf(text, sizeof(text), "cd '%s' && { %s; }", dir, command);
  assert_int_equal(system(text), 0);
  (void)snprintf(text, sizeof(text),
                 "{protocolVersion: 2, name: %s, type: job, " STORY_IMAGE
                 ", taskRoles: {a: {dockerImage: x, resourcePerInstance: "
                 "{cpu: 0, memoryMB: 64, gpu: 0}, commands: [\"true\"]}}}",
                 name);
  spec = story_parse(text);
  o.code_dir = dir;
  o.text = text;
  assert_int_equal(pai_platform_submit_as(&id, d->platform, spec, &o, NULL),
                   PAI_OK);
  pai_spec_unref(spec);
  assert_int_equal(durable_wait(d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  return id;
}

/* Where it is: until the next call. */
static const char *in_folder(durable *d, const char *root, pai_job_id id,
                             const char *name)
{
  static char path[700];
  const char *dir = pai_platform_job_dir(d->platform, id);

  (void)snprintf(path, sizeof(path), "%s/code/%s/%s", path_of(root),
                 strrchr(dir, '/') + 1, name);
  return path;
}

static const char *content(const char *path)
{
  static char text[64];
  int fd = open(path, O_RDONLY);
  ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

  if (fd >= 0)
    (void)close(fd);
  text[n > 0 ? n : 0] = '\0';
  return n >= 0 ? text : "none";
}

/* --- lists ---------------------------------------------------------------------- */

typedef struct listed {
  int status; /* 1: not yet */
  char text[8192];
} listed;

static void on_listed(void *user_data, int status, const char *json,
                      size_t len, const pai_error *err)
{
  listed *l = user_data;
  pai__tree *tree = NULL;

  assert_int_equal(l->status, 1); /* once */
  l->status = status;
  (void)snprintf(l->text, sizeof(l->text), "%s",
                 status == PAI_OK ? json : pai_error_message(err));
  if (status < 0)
    return;
  assert_int_equal(pai__json_parse(&tree, json, len, NULL, NULL), PAI_OK);
  pai__tree_free(tree);
}

static const char *list(durable *d, pai_job_id job, pai_files_options o,
                        int status)
{
  static listed l;

  l.status = 1;
  o.struct_size = sizeof(o);
  assert_int_equal(
    pai_platform_list_files(d->platform, job, &o, on_listed, &l, NULL),
    PAI_OK);
  assert_int_equal(l.status, 1); /* never from inside */
  while (l.status == 1)
    durable_turn(d);
  if (l.status != status)
    print_error("%s\n", l.text);
  assert_int_equal(l.status, status);
  return l.text;
}

static void has(const char *text, const char *part)
{
  if (strstr(text, part) == NULL)
    fail_msg("%s\nlacks %s", text, part);
}

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
  has(list(&d, job, (pai_files_options){ .own = 1 }, PAI_OK),
      "\"executable\":false,\"target\":\"/etc/passwd\"}");
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

/* --- one that is written -------------------------------------------------------------- */

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
  assert_int_equal(pai_file_writer_open(&w, d->platform, job, &o, NULL),
                   PAI_OK);
  n = pai_file_writer_received(w);
  pai_file_writer_close(w);
  return n;
}

/* How many files lie in a folder, parts included. */
static int files_in(const char *dir)
{
  char command[800];
  FILE *p;
  int n = -1;

  (void)snprintf(command, sizeof(command), "ls -A '%s' | wc -l", dir);
  p = popen(command, "r");
  assert_non_null(p);
  assert_int_equal(fscanf(p, "%d", &n), 1);
  (void)pclose(p);
  return n;
}

static void one_is_written(void **state)
{
  struct stat st;
  pai_job_id job;
  durable d;

  (void)state;
  durable_open(&d, path_of("write"));
  job = submit_code(&d, "write", "a",
                    "printf old >f; mkdir dir; ln -s dir/new l; ln -s /tmp x; "
                    "ln -s f f2");
#define AT(name) in_folder(&d, "write", job, name)
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

static void in_pieces(void **state)
{
  pai_file_write_options o = { .path = "sub/f", .upload = "up", .size = 6 };
  pai_job_id job;
  durable d;

  (void)state;
  durable_open(&d, path_of("pieces"));
  job = submit_code(&d, "pieces", "a", "true");
#define AT(name) in_folder(&d, "pieces", job, name)
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

/* What a job puts where a part is to be is not written to. */
static void a_part_that_is_none(void **state)
{
  static const char *const plants[] = {
    "ln -s ../../../secret \"$p\"", /* a link */
    "ln -s nowhere \"$p\"", "mkfifo \"$p\"",
    "printf inside >other; ln other \"$p\"" /* another file's second name */
  };
  pai_file_write_options o = { .path = "f", .upload = "u", .size = 4 };
  char command[1200];
  pai_job_id job;
  durable d;

  (void)state;
  durable_open(&d, path_of("planted"));
  job = submit_code(&d, "planted", "a", "true");
#define AT(name) in_folder(&d, "planted", job, name)
  for (size_t i = 0; i < PAI__LEN(plants); i++) {
    o.offset = UINT64_MAX;
    assert_int_equal(write_file(&d, job, o, "ab"), 0);
    (void)snprintf(command, sizeof(command),
                   "cd '%s' && printf secret >../../../secret && p=$(ls -d "
                   ".openpai-*) && rm \"$p\" && %s",
                   AT(""), plants[i]);
    assert_int_equal(system(command), 0);
    assert_int_equal(write_file(&d, job, o, "1234"), 1);
    assert_string_equal(content(AT("f")), "1234");
    assert_string_equal(content(AT("../../../secret")), "secret");
  }
  assert_string_equal(content(AT("other")), "inside");
  durable_close(&d);
#undef AT
}

/* Of two that write the same upload only one puts it there. */
static void two_at_once(void **state)
{
  pai_file_write_options o = PAI_FILE_WRITE_OPTIONS_INIT;
  pai_file_writer *first, *second;
  pai_job_id job;
  durable d;

  (void)state;
  durable_open(&d, path_of("two"));
  job = submit_code(&d, "two", "a", "true");
  o.path = "f";
  o.upload = "u";
  o.size = 2;
  assert_int_equal(pai_file_writer_open(&first, d.platform, job, &o, NULL), 0);
  assert_int_equal(pai_file_writer_add(first, "a", 1, NULL), PAI_OK);
  o.offset = UINT64_MAX;
  assert_int_equal(pai_file_writer_open(&second, d.platform, job, &o, NULL),
                   0);
  assert_int_equal(pai_file_writer_received(second), 1);
  assert_int_equal(pai_file_writer_add(second, "b", 1, NULL), PAI_OK);
  assert_int_equal(pai_file_writer_end(second, NULL), 1);
  assert_int_equal(pai_file_writer_add(first, "x", 1, NULL), PAI_OK);
  assert_int_equal(pai_file_writer_end(first, NULL), PAI_EIO);
  pai_file_writer_close(first);
  pai_file_writer_close(second);
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
    cmocka_unit_test(one_is_written),
    cmocka_unit_test(in_pieces),
    cmocka_unit_test(a_part_that_is_none),
    cmocka_unit_test(two_at_once),
    cmocka_unit_test(files_are_kept),
    cmocka_unit_test(what_cannot_be_kept),
    cmocka_unit_test(memory_may_be_short),
  };

  return cmocka_run_group_tests(tests, story_make_root, story_remove_root);
}
