/* usage.c - what jobs held and used, by day */
#include "series/usage.h"

#include "series/inside.h"

#include <stdio.h>

#define DAY INT64_C(86400000)

enum { VERSION = 1, KEY = 240 };

typedef struct head {
  char magic[8];
  uint32_t order, version;
  int64_t day;
} head;

typedef struct kept {
  pai__series_use_record record;
  bool changed;
} kept;

struct pai__series_usage {
  pai_alloc alloc;
  char *folder; /* NULL: in memory only */
  int64_t day;  /* today */
  pai__series_file file;
  kept *list;
  size_t n, cap, jobs;
  pai__map records; /* index + 1, by key */
};

/* --- records -------------------------------------------------------------- */

static const char *text_of(const pai__series_use_record *r, int number)
{
  const char *at = r->texts;

  while (number-- > 0)
    at += strlen(at) + 1;
  return at;
}

const char *pai__series_use_user(const pai__series_use_record *r)
{
  return text_of(r, 0);
}

const char *pai__series_use_vc(const pai__series_use_record *r)
{
  return text_of(r, 1);
}

const char *pai__series_use_name(const pai__series_use_record *r)
{
  return text_of(r, 2);
}

/* Three texts, each with its NUL, always fit: the last is cut. */
void pai__series_use_name_it(pai__series_use_record *r, const char *user,
                             const char *vc, const char *name)
{
  const char *const texts[] = { user, vc, name };
  const int most[] = { 70, 70, (int)sizeof(r->texts) };
  size_t at = 0;

  memset(r->texts, 0, sizeof(r->texts));
  for (size_t i = 0; i < PAI__LEN(texts) && at < sizeof(r->texts) - 1; i++) {
    (void)snprintf(r->texts + at, sizeof(r->texts) - at, "%.*s", most[i],
                   texts[i]);
    at += strlen(r->texts + at) + 1;
  }
}

static void add_amount(pai__series_use_amount *to,
                       const pai__series_use_amount *from)
{
  to->held += from->held;
  to->known += from->known;
  to->used += from->used;
}

static void keep_last(int64_t *to, int64_t from)
{
  if (from >= 0)
    *to = from;
}

void pai__series_use_merge(pai__series_use_record *to,
                           const pai__series_use_record *from)
{
  add_amount(&to->sum.gpus, &from->sum.gpus);
  add_amount(&to->sum.cpus, &from->sum.cpus);
  add_amount(&to->sum.memory, &from->sum.memory);
  keep_last(&to->sum.last_gpu, from->sum.last_gpu);
  keep_last(&to->sum.last_cpu, from->sum.last_cpu);
  keep_last(&to->sum.last_memory, from->sum.last_memory);
  if (from->sum.most_memory > to->sum.most_memory)
    to->sum.most_memory = from->sum.most_memory;
  to->from = to->from == 0 || from->from < to->from ? from->from : to->from;
  to->to = from->to > to->to ? from->to : to->to;
}

/* The key of a record: its job, or its user and virtual cluster. */
static size_t key_of(char key[KEY], const pai__series_use_record *r)
{
  int n = r->job != 0 ? snprintf(key, KEY, "%llu", (unsigned long long)r->job)
                      : snprintf(key, KEY, "%s/%s", pai__series_use_user(r),
                                 pai__series_use_vc(r));

  return n < KEY ? (size_t)n : KEY - 1;
}

static pai__series_use_record *find(const pai__series_usage *u,
                                    const pai__series_use_record *r)
{
  char key[KEY];
  size_t len = key_of(key, r);
  uintptr_t at = (uintptr_t)pai__map_get(&u->records, key, len);

  return at != 0 ? &u->list[at - 1].record : NULL;
}

static int add_record(pai__series_usage *u, const pai__series_use_record *r,
                      bool changed)
{
  char key[KEY];
  size_t len = key_of(key, r);

  if (u->n >= PAI__USAGE_RECORDS)
    return PAI_ELIMIT;
  if (PAI__VEC_ROOM(&u->alloc, u->list, u->n, u->cap) < 0 ||
      pai__map_set(&u->records, key, len, (void *)(uintptr_t)(u->n + 1)) < 0)
    return PAI_ENOMEM;
  u->list[u->n++] = (kept){ .record = *r, .changed = changed };
  u->jobs += r->job != 0;
  return PAI_OK;
}

/* --- files ---------------------------------------------------------------- */

static head head_of(int64_t day)
{
  return (head){
    .magic = "paiuse", .order = 0x01020304, .version = VERSION, .day = day
  };
}

/* Opens the file of a day.  Returns whether it has that day's records. */
static bool open_day(pai__series_file *f, const pai__series_usage *u,
                     int64_t day)
{
  const head wanted = head_of(day);
  head found = { .order = 0 };
  char name[32];

  f->fd = -1;
  if (u->folder == NULL)
    return false;
  (void)snprintf(name, sizeof(name), "usage-%02d",
                 (int)(day % PAI__USAGE_DAYS));
  return pai__series_file_open(f, u->folder, name, day == u->day) == PAI_OK &&
         pai__series_file_read(f, 0, &found, sizeof(found)) == PAI_OK &&
         memcmp(&found, &wanted, sizeof(found)) == 0;
}

static bool is_valid(const pai__series_use_record *r, int64_t day)
{
  size_t nuls = 0;

  for (size_t i = 0; i < sizeof(r->texts); i++)
    nuls += r->texts[i] == '\0';
  return nuls >= 3 && r->texts[sizeof(r->texts) - 1] == '\0' &&
         r->to >= r->from && r->to / DAY == day;
}

/* Reads record i of a file; false: there is none.  An invalid one keeps its
 * place, with amounts of 0. */
static bool read_record(const pai__series_file *f, int64_t day, size_t i,
                        pai__series_use_record *out)
{
  memset(out, 0, sizeof(*out));
  if (i >= PAI__USAGE_RECORDS ||
      pai__series_file_read(f, sizeof(head) + i * sizeof(*out), out,
                            sizeof(*out)) < 0 ||
      out->from == 0)
    return false;
  if (!is_valid(out, day)) {
    memset(out, 0, sizeof(*out));
    out->job = UINT64_MAX - i;
    out->from = out->to = day * DAY;
  }
  return true;
}

static int load_today(pai__series_usage *u)
{
  const head wanted = head_of(u->day);
  pai__series_use_record r;
  int rc = PAI_OK;

  if (!open_day(&u->file, u, u->day)) {
    if (u->file.fd >= 0 && pai__series_file_empty(&u->file) == PAI_OK)
      (void)pai__series_file_write(&u->file, 0, &wanted, sizeof(wanted));
    return PAI_OK;
  }
  for (size_t i = 0; rc == PAI_OK && read_record(&u->file, u->day, i, &r); i++)
    rc = add_record(u, &r, false);
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

int pai__series_use_flush(pai__series_usage *u)
{
  int rc = PAI_OK;

  for (size_t i = 0; i < u->n && rc == PAI_OK && u->file.fd >= 0; i++) {
    if (!u->list[i].changed)
      continue;
    rc = pai__series_file_write(
      &u->file, sizeof(head) + i * sizeof(pai__series_use_record),
      &u->list[i].record, sizeof(pai__series_use_record));
    u->list[i].changed = rc < 0;
  }
  return rc;
}

static void close_day(pai__series_usage *u)
{
  (void)!pai__series_use_flush(u);
  pai__series_file_close(&u->file);
  pai__map_dispose(&u->records);
  pai__map_init(&u->records, &u->alloc);
  u->n = u->jobs = 0;
}

/* --- opening, adding, reading --------------------------------------------- */

int pai__series_use_open(pai__series_usage **out, const pai_alloc *alloc,
                         const char *folder, int64_t now)
{
  pai__series_usage *u = pai__zalloc(alloc, sizeof(*u));
  int rc;

  *out = NULL;
  if (u == NULL)
    return PAI_ENOMEM;
  u->alloc = *alloc;
  u->file.fd = -1;
  u->day = now / DAY;
  pai__map_init(&u->records, &u->alloc);
  if (folder != NULL)
    u->folder = pai__strdup(&u->alloc, folder);
  rc = folder != NULL && u->folder == NULL ? PAI_ENOMEM : load_today(u);
  if (rc < 0) {
    pai__series_use_close(u);
    return rc;
  }
  *out = u;
  return PAI_OK;
}

void pai__series_use_close(pai__series_usage *u)
{
  pai_alloc alloc;

  if (u == NULL)
    return;
  close_day(u);
  pai__map_dispose(&u->records);
  alloc = u->alloc;
  pai__free(&alloc, u->list, u->cap * sizeof(*u->list));
  pai__strfree(&alloc, u->folder);
  pai__free(&alloc, u, sizeof(*u));
}

int64_t pai__series_use_seen(const pai__series_usage *u, uint64_t job)
{
  const pai__series_use_record *r =
    find(u, &(pai__series_use_record){ .job = job });

  return r != NULL ? r->to : 0;
}

int pai__series_use_add(pai__series_usage *u,
                        const pai__series_use_record *add)
{
  pai__series_use_record one = *add, *r;
  int rc = PAI_OK;

  if (one.to / DAY != u->day) {
    close_day(u);
    u->day = one.to / DAY;
    rc = load_today(u);
  }
  r = find(u, &one);
  if (r == NULL && u->jobs >= PAI__USAGE_JOBS) {
    one.job = 0;
    pai__series_use_name_it(&one, pai__series_use_user(add),
                            pai__series_use_vc(add), "");
    r = find(u, &one);
  }
  if (rc < 0)
    return rc;
  if (r == NULL)
    return add_record(u, &one, true);
  pai__series_use_merge(r, &one);
  ((kept *)r)->changed = true; /* its first member is the record */
  return PAI_OK;
}

int pai__series_use_read(pai__series_usage *u, int64_t from, int64_t to,
                         pai__series_use_cb cb, void *user_data)
{
  int64_t first = from / DAY, last = to / DAY < u->day ? to / DAY : u->day;
  pai__series_file file;
  pai__series_use_record r;
  int rc = PAI_OK;

  if (first <= u->day - PAI__USAGE_DAYS)
    first = u->day - PAI__USAGE_DAYS + 1;
  for (int64_t day = first; day <= last && day < u->day && rc == PAI_OK;
       day++) {
    if (open_day(&file, u, day))
      for (size_t i = 0; rc == PAI_OK && read_record(&file, day, i, &r); i++)
        rc = cb(user_data, &r);
    pai__series_file_close(&file);
  }
  for (size_t i = 0; last == u->day && i < u->n && rc == PAI_OK; i++)
    rc = cb(user_data, &u->list[i].record);
  return rc;
}
