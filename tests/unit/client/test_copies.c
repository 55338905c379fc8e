/* Files and folders that are copied from and to a job, by the public API. */
#define _GNU_SOURCE
#include "cases.h"
#include "client/caller.h"

#include <openpai/client_files.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BIG = 3 << 20 };

/* --- the job, as the server has it ------------------------------------------------- */

static struct {
  const char *first, *second; /* entries of the list's pages */
  char *bytes;                /* of each file */
  size_t size;
  int modified;
  bool endless;     /* the list */
  bool changes;     /* the file, when it is fetched from its middle */
  uint64_t from[8]; /* first byte of each fetch */
  int fetches;
  char sent[512]; /* PATH SIZE BYTES of uploads */
} job;

static char dir[] = "/tmp/openpai-copies-XXXXXX";

static void fill(size_t size, char first)
{
  free(job.bytes);
  job.bytes = malloc(size + 1);
  assert_non_null(job.bytes);
  for (size_t i = 0; i < size; i++)
    job.bytes[i] = (char)(first + (char)(i * 31 % 64));
  job.size = size;
}

static void say_list(const char *request, pai__buf *out)
{
  bool next = strstr(request, "after=") != NULL;
  char body[2048];

  (void)snprintf(body, sizeof(body), "{\"entries\":[%s],\"next\":%s}",
                 next ? job.second : job.first,
                 job.endless || (job.second != NULL && !next) ? "\"x\""
                                                              : "null");
  say(out, "200 OK", body);
}

static void say_big(pai__buf *out)
{
  char body[256];

  (void)snprintf(body, sizeof(body),
                 "{\"entries\":[{\"path\":\"big\",\"type\":\"file\",\"size\":"
                 "%zu,\"modified\":%d}],\"next\":null}",
                 job.size, job.modified);
  say(out, "200 OK", body);
}

static void say_bytes(const char *request, pai__buf *out)
{
  const char *range = strcasestr(request, "\r\nRange: bytes=");
  size_t from = range != NULL ? strtoul(range + 15, NULL, 10) : 0;

  job.from[job.fetches++ % 8] = from;
  if (from > 0 && job.changes) {
    job.changes = false;
    job.modified++;
    fill(job.size / 2, 'A');
    say(out, "409 Conflict", "{\"code\":\"ConflictFileError\"}");
    return;
  }
  pai__buf_printf(out,
                  "HTTP/1.1 %s\r\nContent-Type: application/octet-stream\r\n"
                  "Content-Length: %zu\r\n\r\n",
                  from > 0 ? "206 Partial Content" : "200 OK",
                  job.size - from);
  pai__buf_add(out, job.bytes + from, job.size - from);
}

static void take(const char *request, pai__buf *out)
{
  const char *path = strstr(request, "path=") + 5,
             *body = strstr(request, "\r\n\r\n") + 4;

  (void)snprintf(job.sent + strlen(job.sent),
                 sizeof(job.sent) - strlen(job.sent), "%.*s %s;",
                 (int)strcspn(path, "&"), path, body);
  say(out, "200 OK", "{\"received\":3,\"complete\":true}");
}

static void answer(played *p, const char *request, pai__buf *out)
{
  (void)p;
  if (asks_for(request, "GET /api/v2/jobs/ann~one/files"))
    job.first != NULL ? say_list(request, out) : say_big(out);
  else if (asks_for(request, "PUT /api/v2/jobs/ann~one/file?"))
    take(request, out);
  else
    say_bytes(request, out);
}

/* --- who copies ------------------------------------------------------------------------ */

static caller w;
static pai_op *op;
static uint64_t enough; /* cancels after so many bytes; 0: never */
static char skipped[512], file[256];
static int number, skip;

static void on_progress(void *user_data, const char *path, uint64_t done,
                        uint64_t total)
{
  (void)user_data;
  (void)path;
  assert_true(done <= total);
  if (enough > 0 && done >= enough)
    pai_op_cancel(op);
}

static int on_skip(void *user_data, const char *path, const pai_error *why)
{
  (void)user_data;
  (void)snprintf(skipped + strlen(skipped), sizeof(skipped) - strlen(skipped),
                 "%s%s;", path, why != NULL ? "!" : "");
  return skip;
}

static void on_end(void *user_data, int status, const pai_client_answer *a)
{
  const char *name = pai_error_file(a->err);

  (void)snprintf(file, sizeof(file), "%s", name != NULL ? name : "");
  number = pai_error_number(a->err);
  on_outcome(user_data, status, a);
}

static char *local(const char *name)
{
  static char path[2][256];
  static int i;

  i ^= 1;
  (void)snprintf(path[i], sizeof(path[i]), "%s/%s", dir, name);
  return path[i];
}

static int download(const char *path, const char *to, bool skips)
{
  pai_download_options o = PAI_DOWNLOAD_OPTIONS_INIT;
  int calls = w.o.calls;

  o.path = path;
  o.to = to;
  o.on_progress = on_progress;
  o.on_skip = skips ? on_skip : NULL;
  job.fetches = 0;
  skipped[0] = '\0';
  assert_int_equal(
    pai_client_download(&op, w.client, "ann~one", &o, on_end, &w.o, NULL),
    PAI_OK);
  assert_int_equal(w.o.calls, calls); /* never from inside */
  wait_for(w.loop, &w.o, calls + 1);
  return w.o.status;
}

static int upload(const char *from, const char *path)
{
  pai_upload_options o = PAI_UPLOAD_OPTIONS_INIT;
  int calls = w.o.calls, rc;

  o.from = from;
  o.path = path;
  o.on_skip = on_skip;
  job.sent[0] = skipped[0] = '\0';
  rc = pai_client_upload(NULL, w.client, "ann~one", &o, on_end, &w.o, NULL);
  if (rc < 0)
    return rc;
  assert_int_equal(w.o.calls, calls);
  wait_for(w.loop, &w.o, calls + 1);
  return w.o.status;
}

static void begin(const char *first, const char *second)
{
  caller_begin(&w, true, answer);
  (void)strcpy(dir + strlen(dir) - 6, "XXXXXX");
  assert_non_null(mkdtemp(dir));
  job.first = first;
  job.second = second;
  job.modified = 5000;
  job.changes = false;
  enough = 0;
  skip = 0;
  fill(3, 'a');
}

static void end(void)
{
  char command[128];

  caller_end(&w);
  (void)snprintf(command, sizeof(command), "rm -r '%s'", dir);
  assert_int_equal(system(command), 0);
}

static void assert_is(const char *path)
{
  char *read = malloc(job.size + 1);
  int fd = open(path, O_RDONLY);

  assert_true(fd >= 0 && read != NULL);
  assert_int_equal(pread(fd, read, job.size + 1, 0), job.size);
  assert_memory_equal(read, job.bytes, job.size);
  free(read);
  (void)close(fd);
}

static bool exists(const char *path)
{
  struct stat st;

  return lstat(path, &st) == 0;
}

/* --- downloads ------------------------------------------------------------------------- */

#define FILE(path) \
  "{\"path\":\"" path "\",\"type\":\"file\",\"size\":3,\"modified\":5000}"
#define LINK(path, target)                                              \
  "{\"path\":\"" path "\",\"type\":\"link\",\"size\":0,\"modified\":1," \
  "\"target\":\"" target "\"}"

ON_LOOPS(a_folder_is_copied)
{
  char to[32];

  begin(FILE("d/a") "," LINK("d/good", "a") "," LINK("d/out", "../x"),
        FILE("d/e/b") ",{\"path\":\"d/f\",\"type\":\"folder\"}");
  assert_int_equal(download("./d//", local("got"), true), PAI_OK);
  assert_string_equal(
    w.o.body, "{\"files\":2,\"bytes\":6,\"skipped\":1,\"into\":false}");
  assert_string_equal(skipped, "out;");
  assert_is(local("got/a"));
  assert_is(local("got/e/b"));
  assert_true(exists(local("got/f")) && !exists(local("got/out")));
  assert_int_equal(readlink(local("got/good"), to, sizeof(to)), 1);
  /* What is there is not fetched again. */
  assert_int_equal(download("d", local("got"), false), PAI_OK);
  assert_int_equal(job.fetches, 0);
  end();
}

ON_LOOPS(a_file_keeps_its_name_in_a_folder)
{
  begin(NULL, NULL);
  assert_int_equal(download("big", dir, false), PAI_OK);
  assert_string_equal(w.o.body,
                      "{\"files\":1,\"bytes\":3,\"skipped\":0,\"into\":true}");
  assert_is(local("big"));
  assert_int_equal(download("big", local("new/"), false), PAI_OK);
  assert_is(local("new/big"));
  assert_int_equal(download("big", local("other/one"), false), PAI_OK);
  assert_is(local("other/one"));
  end();
}

ON_LOOPS(a_file_is_older_than_1970)
{
  struct stat st;

  begin("{\"path\":\"d/a\",\"type\":\"file\",\"size\":3,\"modified\":-1500}",
        NULL);
  assert_int_equal(download("d", local("got"), false), PAI_OK);
  assert_int_equal(stat(local("got/a"), &st), 0);
  assert_int_equal(st.st_mtim.tv_sec, -2);
  assert_int_equal(st.st_mtim.tv_nsec, 500000000);
  assert_int_equal(download("d", local("got"), false), PAI_OK);
  assert_int_equal(job.fetches, 0);
  end();
}

/* Its list says of each page that the same one is next. */
ON_LOOPS(a_list_without_an_end_is_refused)
{
  begin(FILE("d/a"), FILE("d/b"));
  job.endless = true;
  assert_int_equal(download("d", local("got"), false), PAI_EIO);
  job.endless = false;
  end();
}

ON_LOOPS(a_cut_connection_loses_nothing)
{
  begin(NULL, NULL);
  fill(BIG, 'a');
  w.p.fault = CUT;
  w.p.at = 1000000;
  w.p.fault_connections = 3; /* the first has the list */
  assert_int_equal(download("big", local("it"), false), PAI_OK);
  assert_true(job.fetches == 3 && job.from[1] > 0 &&
              job.from[2] > job.from[1]);
  assert_is(local("it"));
  end();
}

ON_LOOPS(a_download_that_ended_early_goes_on)
{
  begin(NULL, NULL);
  fill(BIG, 'a');
  enough = 1000000;
  assert_int_equal(download("big", local("it"), false), PAI_ECANCELED);
  assert_false(exists(local("it")));
  enough = 0;
  assert_int_equal(download("big", local("it"), false), PAI_OK);
  assert_true(job.fetches == 1 && job.from[0] >= 1000000);
  assert_is(local("it"));
  end();
}

ON_LOOPS(a_file_that_changes_is_fetched_anew)
{
  begin(NULL, NULL);
  fill(BIG, 'a');
  job.changes = true;
  w.p.fault = CUT;
  w.p.at = 1000000;
  w.p.fault_connections = 2; /* the first has the list */
  assert_int_equal(download("big", local("it"), false), PAI_OK);
  assert_true(job.fetches == 3 && job.from[1] > 0 && job.from[2] == 0);
  assert_is(local("it"));
  end();
}

ON_LOOPS(a_full_disk_is_told)
{
  struct rlimit was, full;

  begin(NULL, NULL);
  fill(BIG, 'a');
  (void)signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
  full = was;
  full.rlim_cur = 2 << 20;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
  assert_int_equal(download("big", local("it"), false), PAI_EIO);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
  assert_string_equal(file, local("it"));
  assert_int_equal(number, EFBIG);
  assert_non_null(strstr(w.o.message, "cannot write /tmp/"));
  assert_false(exists(local("it")));
  /* It goes on when there is space again. */
  assert_int_equal(download("big", local("it"), false), PAI_OK);
  assert_true(job.from[0] == 2 << 20);
  assert_is(local("it"));
  end();
}

ON_LOOPS(nothing_is_written_outside_the_folder)
{
  static const char *const hostile[] = { FILE("../evil"),      FILE("/evil"),
                                         FILE("d/../../evil"), FILE("d//evil"),
                                         FILE("d/.."),         FILE("d/.") };

  for (size_t i = 0; i < PAI__LEN(hostile); i++) {
    begin(hostile[i], NULL);
    assert_int_equal(download(NULL, local("in"), true), PAI_EIO);
    assert_non_null(strstr(w.o.message, "invalid file name"));
    assert_false(exists(local("evil")));
    end();
  }
  begin(FILE("e/f"), NULL); /* not below the folder that was asked for */
  assert_int_equal(download("d", local("in"), true), PAI_EIO);
  job.first = FILE("way/evil"); /* through a link */
  assert_int_equal(mkdir(local("in"), 0777), 0);
  assert_int_equal(symlink("..", local("in/way")), 0);
  assert_int_equal(download(NULL, local("in"), false), PAI_EIO);
  assert_int_equal(number, ENOTDIR);
  assert_false(exists(local("evil")));
  assert_int_equal(download(NULL, local("in"), true), PAI_OK);
  assert_string_equal(skipped, "way/evil!;");
  skip = PAI_EUSER;
  assert_int_equal(download(NULL, local("in"), true), PAI_EIO);
  end();
}

/* --- uploads --------------------------------------------------------------------------- */

ON_LOOPS(a_folder_is_sent)
{
  begin(NULL, NULL);
  memcpy(job.bytes, "xyz", 3);
  assert_int_equal(mkdir(local("in"), 0777), 0);
  assert_int_equal(upload(local("in"), NULL), PAI_OK); /* it is empty */
  assert_string_equal(job.sent, "");
  assert_int_equal(upload(local("in"), "to"), PAI_OK);
  assert_string_equal(job.sent, "to%2F ;");
  assert_int_equal(mkdir(local("in/none"), 0777), 0);
  assert_int_equal(mkdir(local("in/some"), 0777), 0);
  assert_int_equal(symlink("..", local("in/up")), 0);
  assert_int_equal(download("big", local("in/some/a"), false), PAI_OK);
  assert_int_equal(symlink("some/a", local("in/link")), 0);
  assert_int_equal(upload(local("in/"), "to/"), PAI_OK);
  assert_string_equal(job.sent,
                      "to%2Flink xyz;to%2Fnone%2F ;to%2Fsome%2Fa xyz;");
  assert_non_null(strstr(skipped, "/in/up;"));
  end();
}

ON_LOOPS(a_file_is_sent)
{
  begin(NULL, NULL);
  memcpy(job.bytes, "xxx", 3);
  assert_int_equal(download("big", local("a"), false), PAI_OK);
  assert_int_equal(upload(local("a"), "b"), PAI_OK);
  assert_string_equal(job.sent, "b xxx;");
  assert_int_equal(upload(local("a"), "c/"), PAI_OK);
  assert_string_equal(job.sent, "c%2Fa xxx;");
  assert_int_equal(upload(local("none"), "c/"), PAI_ENOTFOUND);
  assert_int_equal(upload("/dev/null", "c/"), PAI_EINVAL);
  end();
}

ON_LOOPS(wrong_arguments)
{
  pai_download_options down = PAI_DOWNLOAD_OPTIONS_INIT;

  begin(NULL, NULL);
  assert_int_equal(
    pai_client_download(NULL, w.client, "ann~one", &down, on_end, &w.o, NULL),
    PAI_EINVAL);
  down.to = "";
  assert_int_equal(
    pai_client_download(NULL, w.client, "ann~one", &down, on_end, &w.o, NULL),
    PAI_EINVAL);
  down.to = dir;
  assert_int_equal(
    pai_client_download(NULL, w.client, "", &down, on_end, &w.o, NULL),
    PAI_EINVAL);
  assert_int_equal(
    pai_client_upload(NULL, w.client, "ann~one", NULL, on_end, &w.o, NULL),
    PAI_EINVAL);
  end();
}

/* --- short of memory --------------------------------------------------------------------- */

/* Memory of handles is freed in the next turns. */
static void rest(void)
{
  for (int i = 0; i < 3; i++)
    if (pai_loop_dispatch(w.loop) == 0)
      break;
}

/* A copy by a client whose memory is `alloc`: how it was refused, or ended. */
static int copy_with(const pai_alloc *alloc, bool up)
{
  pai_download_options from = PAI_DOWNLOAD_OPTIONS_INIT;
  pai_upload_options to = PAI_UPLOAD_OPTIONS_INIT;
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  pai_client *client;
  int calls = w.o.calls, rc;

  options.alloc = alloc;
  options.url = w.p.url;
  rc = pai_client_new(&client, w.loop, &options, NULL);
  if (rc < 0) {
    rest();
    return rc;
  }
  from.path = "d";
  from.to = local("got");
  to.from = local("in");
  to.path = "to";
  job.sent[0] = '\0';
  rc = up ? pai_client_upload(NULL, client, "ann~one", &to, on_end, &w.o, NULL)
          : pai_client_download(NULL, client, "ann~one", &from, on_end, &w.o,
                                NULL);
  if (rc == PAI_OK) {
    wait_for(w.loop, &w.o, calls + 1);
    rc = w.o.status;
  }
  close_client(w.loop, client);
  rest();
  return rc == PAI_EIO ? PAI_ENOMEM : rc; /* a socket was not watched */
}

/* What has its name is whole, whatever became of the rest. */
static int download_without_memory(const pai_alloc *alloc, void *user_data)
{
  int rc = copy_with(alloc, false);

  (void)user_data;
  if (rc == PAI_OK || exists(local("got/a")))
    assert_is(local("got/a"));
  if (rc == PAI_OK || exists(local("got/e/b")))
    assert_is(local("got/e/b"));
  if (rc == PAI_OK) {
    assert_true(exists(local("got/good")));
    assert_string_equal(
      w.o.body, "{\"files\":2,\"bytes\":6,\"skipped\":0,\"into\":false}");
  }
  test_shell("rm -rf '%s'", local("got"));
  return rc;
}

static int upload_without_memory(const pai_alloc *alloc, void *user_data)
{
  int rc = copy_with(alloc, true);

  (void)user_data;
  if (rc == PAI_OK) { /* whose answer was lost is sent again */
    assert_has(job.sent, "to%2Fa xyz;");
    assert_has(job.sent, "to%2Fe%2Fb xyz;");
  }
  return rc;
}

TEST(without_memory)
{
  begin(FILE("d/a") "," LINK("d/good", "a"), FILE("d/e/b"));
  test_faults(download_without_memory, NULL);
  assert_int_equal(download("d", local("in"), false), PAI_OK);
  test_shell("cd '%s' && rm good && printf xyz >a && cp a e/b", local("in"));
  test_faults(upload_without_memory, NULL);
  end();
}
