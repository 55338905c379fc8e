/* A user's code as it comes: an archive, made here byte by byte. */
#include "cases.h"
#include "files.h"

#include "server/calls/upload.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 512, MIB = 1 << 20 };

static char folder[64];

static int begin(void **state)
{
  (void)state;
  return test_make_folder(folder) ? 0 : -1;
}

static int end(void **state)
{
  (void)state;
  return test_remove(folder);
}

/* --- archives -------------------------------------------------------------------- */

static int add_head(pai__upload *u, char type, const char *name, unsigned size,
                    pai_error **err)
{
  char b[BLOCK] = "";
  unsigned sum = 0;

  (void)snprintf(b, 100, "%s", name);
  (void)snprintf(b + 100, 8, "0000644");
  (void)snprintf(b + 124, 12, "%011o", size);
  memset(b + 148, ' ', 8);
  b[156] = type;
  memcpy(b + 257,
         "ustar\0"
         "00",
         8);
  for (size_t i = 0; i < BLOCK; i++)
    sum += (unsigned char)b[i];
  (void)snprintf(b + 148, 8, "%06o", sum);
  return pai__upload_add(u, b, BLOCK, err);
}

/* A whole entry of a text. */
static int add_entry(pai__upload *u, char type, const char *name,
                     const char *text, pai_error **err)
{
  unsigned len = (unsigned)strlen(text);
  char b[BLOCK] = "";
  int rc = add_head(u, type, name, len, err);

  assert_true(len <= BLOCK);
  memcpy(b, text, len);
  return rc == PAI_OK && len > 0 ? pai__upload_add(u, b, BLOCK, err) : rc;
}

static int add_end(pai__upload *u, pai_error **err)
{
  static const char zeros[2 * BLOCK];

  return pai__upload_add(u, zeros, sizeof(zeros), err);
}

static pai__upload *new_upload(const pai_alloc *alloc, uint64_t most)
{
  pai__upload *u;

  assert_ok(pai__upload_new(&u, alloc, folder, NULL, most, NULL));
  return u;
}

static const char *path_in(const pai__upload *u, const char *name)
{
  static char path[200];

  (void)snprintf(path, sizeof(path), "%s/%s", pai__upload_dir(u), name);
  return path;
}

/* --- tests ------------------------------------------------------------------------ */

TEST(files_are_written)
{
  pai__upload *u = new_upload(&pai__libc_alloc, MIB);
  char text[8] = "";
  int fd;

  assert_ok(add_entry(u, '5', "a/", "", NULL));
  assert_ok(add_entry(u, 'x', "", "15 path=a/long\n", NULL));
  assert_ok(add_entry(u, '0', "short", "words", NULL));
  assert_ok(add_end(u, NULL));
  assert_ok(pai__upload_end(u, NULL));
  fd = open(path_in(u, "a/long"), O_RDONLY);
  assert_int_equal(read(fd, text, sizeof(text)), 5);
  assert_string_equal(text, "words");
  (void)close(fd);
  assert_int_equal(access(path_in(u, "short"), F_OK), -1);
  pai__upload_free(u);
}

/* Names of folders end with a slash there, as Python's tarfile writes them. */
TEST(a_folder_has_its_name_from_pax)
{
  pai__upload *u = new_upload(&pai__libc_alloc, MIB);

  assert_ok(add_entry(u, 'x', "",
                      "16 path=\xc3\x9c"
                      "bung/\n",
                      NULL));
  assert_ok(add_entry(u, '5', "./?bung/", "", NULL));
  assert_ok(add_end(u, NULL));
  assert_ok(pai__upload_end(u, NULL));
  assert_int_equal(access(path_in(u, "\xc3\x9c"
                                     "bung"),
                          F_OK),
                   0);
  assert_int_equal(access(path_in(u, "\xc3\x9c"
                                     "bung/?bung"),
                          F_OK),
                   -1);
  pai__upload_free(u);
}

/* A file that is called as the folder itself is none: what it has is nowhere. */
TEST(what_has_no_name_is_not_kept)
{
  static const char *const names[] = { "./", ".", "././/", "" };
  static char bytes[64 << 10];
  test_tally tally;

  for (size_t i = 0; i < PAI__LEN(names); i++) {
    pai__upload *u;

    test_tally_init(&tally);
    u = new_upload(&tally.alloc, 8 * MIB);
    assert_ok(add_head(u, '0', names[i], 4 * MIB, NULL));
    for (size_t n = 0; n < 4 * MIB; n += sizeof(bytes))
      assert_ok(pai__upload_add(u, bytes, sizeof(bytes), NULL));
    assert_ok(add_entry(u, '0', "behind", "it", NULL));
    assert_ok(add_end(u, NULL));
    assert_ok(pai__upload_end(u, NULL));
    assert_int_equal(access(path_in(u, "behind"), F_OK), 0);
    pai__upload_free(u);
    assert_in_range(tally.peak, 1, 64 << 10);
    assert_int_equal(tally.live, 0);
  }
}

TEST(headers_are_short)
{
  static const char types[] = "xgLK";

  for (size_t i = 0; types[i] != '\0'; i++) {
    pai__upload *u = new_upload(&pai__libc_alloc, MIB);
    pai_error *err = NULL;

    assert_fails(add_head(u, types[i], "", 8193, &err), err, PAI_EINVAL,
                 "a name in the archive is too long");
    pai__upload_free(u);
  }
}

TEST(a_record_begins_with_its_length)
{
  /* The right lengths, if they began where they should. */
  static const char *const records[] = { "\n11 path=a\n", " 11 path=a\n",
                                         "+11 path=a\n",  "-11 path=a\n",
                                         "0 path=a\n",    "9path=a\n",
                                         "99 path=a\n",   "8 path=a\n",
                                         "path=a\n" };

  for (size_t i = 0; i < PAI__LEN(records); i++) {
    pai_error *err = NULL;
    pai__upload *u = new_upload(&pai__libc_alloc, MIB);

    assert_fails(add_entry(u, 'x', "", records[i], &err), err, PAI_EINVAL,
                 "invalid pax header");
    pai__upload_free(u);
  }
}

/* What goes on for long in folders below is not taken for what was left. */
TEST(a_folder_that_fills_is_in_use)
{
  static const struct timespec long_ago[2] = { { 1, 0 }, { 1, 0 } };
  pai__upload *u = new_upload(&pai__libc_alloc, MIB);
  struct stat st;

  assert_ok(add_entry(u, '5', "below/", "", NULL));
  assert_ok(add_head(u, '0', "below/file", 4, NULL));
  assert_int_equal(utimensat(AT_FDCWD, pai__upload_dir(u), long_ago, 0), 0);
  assert_ok(pai__upload_add(u, "by", 2, NULL));
  assert_int_equal(stat(pai__upload_dir(u), &st), 0);
  assert_true(st.st_mtim.tv_sec > 1);
  pai__upload_free(u);
}

TEST_AROUND_ALL(begin, end);
