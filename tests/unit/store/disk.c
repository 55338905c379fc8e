/* disk.c - a disk that fails, and that forgets what was not synced */
#include "disk.h"

#include "testing.h"

#include "base/prng.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

unsigned disk_calls;
unsigned disk_fail_at;
bool disk_for_ever;
bool disk_full;

static unsigned cut_at;
static pai__prng prng;

/* --- what is not synced ------------------------------------------------------------ */

/* A write, or a change of the size: what was there, and what is. */
typedef struct change {
  struct change *next, *before;
  const char *path;
  sqlite3_int64 at, old_size, new_size;
  int old_len, new_len; /* bytes from `at` on */
  char bytes[];         /* old, then new */
} change;

static change *newest, *oldest;

static void put_bytes(int fd, const char *bytes, int len, sqlite3_int64 at)
{
  if (len > 0 && pwrite(fd, bytes, (size_t)len, (off_t)at) != len)
    _exit(10);
}

static void undo(const change *c)
{
  int fd = open(c->path, O_WRONLY);

  if (fd < 0)
    return; /* it is removed since */
  put_bytes(fd, c->bytes, c->old_len, c->at);
  if (ftruncate(fd, (off_t)c->old_size) != 0)
    _exit(11);
  (void)close(fd);
}

static void redo(const change *c)
{
  int fd = open(c->path, O_WRONLY);

  if (fd < 0)
    return;
  put_bytes(fd, c->bytes + c->old_len, c->new_len, c->at);
  if (c->new_size < c->old_size && ftruncate(fd, (off_t)c->new_size) != 0)
    _exit(12);
  (void)close(fd);
}

/* The disk as it would be: all that was synced, and some of the rest. */
static void cut_power(void)
{
  for (const change *c = newest; c != NULL; c = c->before)
    undo(c);
  for (const change *c = oldest; c != NULL; c = c->next)
    if (pai__prng_below(&prng, 2) == 0)
      redo(c);
  _exit(0);
}

static void forget(const char *path)
{
  for (change *c = oldest, *next; c != NULL; c = next) {
    next = c->next;
    if (strcmp(c->path, path) != 0)
      continue;
    *(c->before != NULL ? &c->before->next : &oldest) = c->next;
    *(c->next != NULL ? &c->next->before : &newest) = c->before;
    free(c);
  }
}

/* --- files ------------------------------------------------------------------------- */

typedef struct disk_file {
  sqlite3_file base;
  const char *path;
  sqlite3_file *real;
} disk_file;

#define REAL(f) (((disk_file *)(f))->real)

static sqlite3_vfs *below;

/* Counts a call; true: it fails. */
static bool fails(void)
{
  disk_calls++;
  if (cut_at != 0 && disk_calls == cut_at)
    cut_power();
  return disk_fail_at != 0 && (disk_calls == disk_fail_at ||
                               (disk_for_ever && disk_calls > disk_fail_at));
}

static void remember(sqlite3_file *file, const void *bytes, int len,
                     sqlite3_int64 at, sqlite3_int64 new_size)
{
  const disk_file *f = (disk_file *)file;
  sqlite3_int64 size = 0;
  change *c;
  int old;

  if (cut_at == 0 || f->path == NULL)
    return;
  (void)f->real->pMethods->xFileSize(f->real, &size);
  old = at >= size ? 0 : (int)(size - at);
  if (bytes != NULL && old > len)
    old = len;
  c = calloc(1, sizeof(*c) + (size_t)old + (size_t)len);
  if (c == NULL)
    _exit(13);
  c->path = f->path, c->at = at;
  c->old_size = size, c->old_len = old, c->new_len = len;
  c->new_size = bytes != NULL ? (at + len > size ? at + len : size) : new_size;
  (void)f->real->pMethods->xRead(f->real, c->bytes, old, at);
  if (len > 0 && bytes != NULL)
    memcpy(c->bytes + old, bytes, (size_t)len);
  c->before = newest;
  *(newest != NULL ? &newest->next : &oldest) = c;
  newest = c;
}

static int on_close(sqlite3_file *f)
{
  int rc = REAL(f)->pMethods->xClose(REAL(f));

  free(REAL(f));
  return rc;
}

static int on_read(sqlite3_file *f, void *to, int len, sqlite3_int64 at)
{
  return fails() ? SQLITE_IOERR_READ
                 : REAL(f)->pMethods->xRead(REAL(f), to, len, at);
}

static int on_write(sqlite3_file *f, const void *from, int len,
                    sqlite3_int64 at)
{
  if (fails())
    return SQLITE_IOERR_WRITE;
  if (disk_full)
    return SQLITE_FULL; /* as for ENOSPC */
  remember(f, from, len, at, 0);
  return REAL(f)->pMethods->xWrite(REAL(f), from, len, at);
}

static int on_truncate(sqlite3_file *f, sqlite3_int64 size)
{
  if (fails())
    return SQLITE_IOERR_TRUNCATE;
  remember(f, NULL, 0, size, size);
  return REAL(f)->pMethods->xTruncate(REAL(f), size);
}

/* That it does sync is not what is tested, and takes time. */
static int on_sync(sqlite3_file *f, int flags)
{
  (void)flags;
  if (fails())
    return SQLITE_IOERR_FSYNC;
  if (((disk_file *)f)->path != NULL)
    forget(((disk_file *)f)->path);
  return SQLITE_OK;
}

static int on_size(sqlite3_file *f, sqlite3_int64 *size)
{
  return fails() ? SQLITE_IOERR_FSTAT
                 : REAL(f)->pMethods->xFileSize(REAL(f), size);
}

static int on_lock(sqlite3_file *f, int how)
{
  return REAL(f)->pMethods->xLock(REAL(f), how);
}

static int on_unlock(sqlite3_file *f, int how)
{
  return REAL(f)->pMethods->xUnlock(REAL(f), how);
}

static int on_check(sqlite3_file *f, int *out)
{
  return REAL(f)->pMethods->xCheckReservedLock(REAL(f), out);
}

static int on_control(sqlite3_file *f, int op, void *arg)
{
  return REAL(f)->pMethods->xFileControl(REAL(f), op, arg);
}

static int on_sector(sqlite3_file *f)
{
  return REAL(f)->pMethods->xSectorSize(REAL(f));
}

static int on_kind(sqlite3_file *f)
{
  return REAL(f)->pMethods->xDeviceCharacteristics(REAL(f));
}

static int on_shm_map(sqlite3_file *f, int page, int size, int extend,
                      void volatile **out)
{
  return REAL(f)->pMethods->xShmMap(REAL(f), page, size, extend, out);
}

static int on_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
  return REAL(f)->pMethods->xShmLock(REAL(f), at, n, flags);
}

static void on_shm_barrier(sqlite3_file *f)
{
  REAL(f)->pMethods->xShmBarrier(REAL(f));
}

static int on_shm_unmap(sqlite3_file *f, int drop)
{
  return REAL(f)->pMethods->xShmUnmap(REAL(f), drop);
}

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file,
                   int flags, int *out)
{
  static const sqlite3_io_methods methods = {
    2,       on_close,   on_read,     on_write,       on_truncate,  on_sync,
    on_size, on_lock,    on_unlock,   on_check,       on_control,   on_sector,
    on_kind, on_shm_map, on_shm_lock, on_shm_barrier, on_shm_unmap, NULL,
    NULL,
  };
  disk_file *f = (disk_file *)file;
  int rc;

  (void)vfs;
  memset(f, 0, sizeof(*f));
  if (fails())
    return SQLITE_CANTOPEN;
  f->real = calloc(1, (size_t)below->szOsFile);
  if (f->real == NULL)
    return SQLITE_NOMEM;
  rc = below->xOpen(below, name, f->real, flags, out);
  if (rc != SQLITE_OK)
    free(f->real);
  else
    f->path = name, f->base.pMethods = &methods;
  return rc;
}

void disk_install(void)
{
  static sqlite3_vfs disk;

  if (below != NULL)
    return;
  below = sqlite3_vfs_find(NULL);
  assert_non_null(below);
  disk = *below;
  disk.szOsFile = sizeof(disk_file);
  disk.zName = "disk";
  disk.xOpen = on_open;
  assert_int_equal(sqlite3_vfs_register(&disk, 1), SQLITE_OK);
}

void disk_cut_power_at(unsigned n, uint64_t seed)
{
  cut_at = disk_calls + n;
  prng.state = seed;
}
