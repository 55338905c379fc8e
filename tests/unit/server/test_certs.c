/* A certificate whose files are renewed, and cannot be read at times; with a
 * clock that the test moves. */
#include "cases.h"

#include "client/certificates.h"
#include "server/http/listener.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOUR = 3600 };
#define SECOND INT64_C(1000000)

static pai_time now;
static int trouble; /* what reading a file answers; PAI_OK: it is read */
static unsigned reads;

pai_time __wrap_pai__loop_time(void);
int __real_pai__tls_read(char **out, const pai_alloc *alloc, const char *path,
                         const char *what, pai_error **err);
int __wrap_pai__tls_read(char **out, const pai_alloc *alloc, const char *path,
                         const char *what, pai_error **err);

pai_time __wrap_pai__loop_time(void)
{
  return now;
}

int __wrap_pai__tls_read(char **out, const pai_alloc *alloc, const char *path,
                         const char *what, pai_error **err)
{
  reads++;
  if (trouble == PAI_OK)
    return __real_pai__tls_read(out, alloc, path, what, err);
  *out = NULL;
  return pai__fail(err, trouble, "as the test wants: %d", trouble);
}

/* --- the scene -------------------------------------------------------------------- */

typedef struct files {
  char dir[32], cert[96], key[96];
  pai_server server;
  pai__certs *certs;
  int renewals, complaints;
} files;

static void on_log(void *user_data, int level, const char *message)
{
  files *f = user_data;

  (void)level;
  f->renewals += strstr(message, "has been renewed") != NULL;
  f->complaints += strstr(message, "stays in use") != NULL;
}

static void save(files *f)
{
  certificate c;

  certificate_make(&c, NULL, "127.0.0.1", -HOUR, HOUR);
  certificate_save(f->cert, f->dir, "cert.pem", c.pem);
  certificate_save(f->key, f->dir, "key.pem", c.key_pem);
  certificate_free(&c);
}

static void begin(files *f)
{
  memset(f, 0, sizeof(*f));
  now = HOUR * SECOND;
  trouble = PAI_OK;
  (void)snprintf(f->dir, sizeof(f->dir), "/tmp/test-certs-XXXXXX");
  assert_non_null(mkdtemp(f->dir));
  save(f);
  f->server.alloc = pai__libc_alloc;
  f->server.log = (pai__log){ .cb = on_log, .user_data = f };
  assert_ok(pai__certs_new(&f->certs, &f->server, f->cert, f->key, NULL));
  reads = 0;
}

static void end(files *f)
{
  pai__certs_free(f->certs);
  (void)unlink(f->cert);
  (void)unlink(f->key);
  (void)rmdir(f->dir);
}

static void look(files *f)
{
  now += 2 * SECOND;
  pai__certs_look(f->certs);
}

/* --- the tests -------------------------------------------------------------------- */

TEST(what_cannot_be_read_is_tried_again)
{
  static const int troubles[] = { PAI_EPERM, PAI_ENOTFOUND, PAI_EIO,
                                  PAI_ENOMEM };

  for (size_t i = 0; i < PAI__LEN(troubles); i++) {
    files f;

    begin(&f);
    look(&f);
    assert_int_equal(reads, 0);
    save(&f);
    trouble = troubles[i];
    for (int n = 0; n < 3; n++)
      look(&f);
    assert_int_equal(reads, 3);
    assert_int_equal(f.complaints, 1);
    trouble = PAI_OK;
    look(&f);
    assert_int_equal(f.renewals, 1);
    look(&f);
    assert_int_equal(f.renewals, 1);
    end(&f);
  }
}

/* Half of a renewed pair is looked at once, until it changes. */
TEST_IN(what_does_not_fit_is_not, files, f, begin, end)
{
  save(f);
  trouble = PAI_EINVAL;
  look(f);
  look(f);
  assert_int_equal(reads, 1);
  assert_int_equal(f->complaints, 1);
  trouble = PAI_OK;
  save(f);
  look(f);
  assert_int_equal(f->renewals, 1);
}

/* One of the same length, in the same file, that says to be as old. */
TEST_IN(a_file_that_is_as_old, files, f, begin, end)
{
  struct timespec times[2];
  struct stat was;
  char text[CERTIFICATE_SIZE];
  size_t len;
  FILE *file;

  assert_int_equal(stat(f->cert, &was), 0);
  file = fopen(f->cert, "r+");
  assert_non_null(file);
  len = fread(text, 1, sizeof(text), file);
  rewind(file);
  do { /* until the clock of the file system has moved */
    struct stat is;

    rewind(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(stat(f->cert, &is), 0);
    times[0] = is.st_ctim;
  } while (times[0].tv_sec == was.st_ctim.tv_sec &&
           times[0].tv_nsec == was.st_ctim.tv_nsec);
  (void)fclose(file);
  times[0] = times[1] = was.st_mtim;
  assert_int_equal(utimensat(AT_FDCWD, f->cert, times, 0), 0);
  look(f);
  assert_int_equal(f->renewals, 1);
}
