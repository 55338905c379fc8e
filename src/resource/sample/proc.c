/* proc.c - parse text files of /proc and cgroups: numbers, lines, names */
#include "resource/sample/proc.h"

/* --- scanning: at never passes end --------------------------------------- */

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static void skip_blanks(pai__proc_walk *w)
{
  while (w->at < w->end && (*w->at == ' ' || *w->at == '\t'))
    w->at++;
}

/* Reads a number up to UINT64_MAX, after blanks. */
static bool get(pai__proc_walk *w, uint64_t *out)
{
  uint64_t n = 0;

  skip_blanks(w);
  if (w->at == w->end || !is_digit(*w->at))
    return false;
  for (; w->at < w->end && is_digit(*w->at); w->at++) {
    unsigned digit = (unsigned)(*w->at - '0');

    if (n > (UINT64_MAX - digit) / 10)
      return false;
    n = n * 10 + digit;
  }
  *out = n;
  return true;
}

/* Reads several numbers in a row; returns false if one is missing. */
static bool get_all(pai__proc_walk *w, uint64_t *out, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!get(w, &out[i]))
      return false;
  return true;
}

/* Skips words, numbers or not. */
static void skip_words(pai__proc_walk *w, size_t count)
{
  for (; count > 0; count--) {
    skip_blanks(w);
    while (w->at < w->end && *w->at != ' ' && *w->at != '\n')
      w->at++;
  }
}

/* Returns the line at w, and moves w to the next one. */
static pai__proc_walk next_line(pai__proc_walk *w)
{
  size_t left = (size_t)(w->end - w->at);
  const char *lf = left != 0 ? memchr(w->at, '\n', left) : NULL;
  pai__proc_walk line = { w->at, lf != NULL ? lf : w->end };

  w->at = lf != NULL ? lf + 1 : w->end;
  return line;
}

static bool begins(const pai__proc_walk *w, const char *name)
{
  size_t len = strlen(name);

  return (size_t)(w->end - w->at) >= len && memcmp(w->at, name, len) == 0;
}

/* Reads a word up to `stop` or a blank; returns false if it is empty or too
 * long. */
static bool get_name(pai__proc_walk *w, char stop, char *out, size_t size)
{
  const char *start;
  size_t len;

  skip_blanks(w);
  start = w->at;
  while (w->at < w->end && *w->at != stop && *w->at != ' ')
    w->at++;
  len = (size_t)(w->at - start);
  if (len == 0 || len >= size || memchr(start, '\0', len) != NULL)
    return false;
  memcpy(out, start, len);
  out[len] = '\0';
  return true;
}

static int64_t bounded(uint64_t n)
{
  return n <= INT64_MAX ? (int64_t)n : -1;
}

/* --- single numbers ------------------------------------------------------ */

int64_t pai__proc_number(const char *text, size_t len)
{
  pai__proc_walk w = pai__proc_walk_of(text, len);
  uint64_t n;

  return get(&w, &n) ? bounded(n) : -1;
}

int64_t pai__proc_field(const char *text, size_t len, const char *name)
{
  pai__proc_walk w = pai__proc_walk_of(text, len);
  size_t name_len = strlen(name);
  uint64_t n;

  while (w.at < w.end) {
    pai__proc_walk line = next_line(&w);

    if (!begins(&line, name))
      continue;
    line.at += name_len;
    if (line.at < line.end && (*line.at == ' ' || *line.at == '\t') &&
        get(&line, &n))
      return bounded(n);
  }
  return -1;
}

int64_t pai__proc_sum(const char *text, size_t len, const char *name)
{
  pai__proc_walk w = pai__proc_walk_of(text, len);
  size_t name_len = strlen(name);
  uint64_t sum = 0, n;
  bool fresh = true; /* a word may begin here */

  while (w.at < w.end) {
    if (fresh && begins(&w, name)) {
      w.at += name_len;
      if (get(&w, &n))
        sum = sum + n < sum ? UINT64_MAX : sum + n;
      fresh = false;
    } else {
      fresh = *w.at == ' ' || *w.at == '\n';
      w.at++;
    }
  }
  return sum <= INT64_MAX ? (int64_t)sum : INT64_MAX;
}

int64_t pai__proc_limit(const char *text, size_t len)
{
  int64_t n = pai__proc_number(text, len);

  /* Version 1 writes the largest multiple of a page for no limit. */
  return n >= (int64_t)1 << 60 ? -1 : n;
}

void pai__proc_dpm(const char *text, size_t len, int32_t *now, int32_t *most)
{
  pai__proc_walk w = pai__proc_walk_of(text, len);
  uint64_t level, mhz;

  while (w.at < w.end) {
    pai__proc_walk line = next_line(&w);

    if (!get(&line, &level) || !begins(&line, ":"))
      continue;
    line.at++;
    if (!get(&line, &mhz) || mhz > 1000000)
      continue;
    if ((int32_t)mhz > *most)
      *most = (int32_t)mhz;
    if (memchr(line.at, '*', (size_t)(line.end - line.at)) != NULL)
      *now = (int32_t)mhz;
  }
}

/* --- processors ---------------------------------------------------------- */

bool pai__proc_next_cpu(pai__proc_walk *w, pai__proc_cpu *out)
{
  pai__proc_walk line = next_line(w);
  uint64_t number, n[8] = { 0 };

  if (!begins(&line, "cpu"))
    return false;
  line.at += 3;
  out->number = -1;
  if (line.at < line.end && is_digit(*line.at)) {
    if (!get(&line, &number) || number > INT32_MAX)
      return false;
    out->number = (int32_t)number;
  }
  if (!get_all(&line, n, 4)) /* old kernels lack the other fields */
    return false;
  (void)get_all(&line, n + 4, 4);
  out->user = n[0] + n[1];
  out->system = n[2] + n[5] + n[6]; /* with interrupts */
  out->idle = n[3];
  out->iowait = n[4];
  out->steal = n[7];
  return true;
}

/* --- disks --------------------------------------------------------------- */

enum { SECTOR = 512 }; /* unit of diskstats, whatever the disk's sector size */

bool pai__proc_next_disk(pai__proc_walk *w, pai__proc_disk *out)
{
  while (w->at < w->end) {
    pai__proc_walk line = next_line(w);
    uint64_t number[2], n[10];

    if (!get_all(&line, number, 2) ||
        !get_name(&line, ' ', out->name, sizeof(out->name)) ||
        !get_all(&line, n, 10))
      continue;
    out->reads = n[0];
    out->read_bytes = n[2] * SECTOR;
    out->writes = n[4];
    out->write_bytes = n[6] * SECTOR;
    out->busy_ms = n[9];
    return true;
  }
  return false;
}

bool pai__proc_is_part(const char *whole, const char *name)
{
  size_t len = strlen(whole);

  if (len == 0 || strncmp(name, whole, len) != 0)
    return false;
  name += len;
  if (is_digit(whole[len - 1]) && *name++ != 'p')
    return false;
  return *name != '\0' && strspn(name, "0123456789") == strlen(name);
}

static bool is_one_of(const char *name, const char *const *list)
{
  for (; *list != NULL; list++)
    if (strncmp(name, *list, strlen(*list)) == 0)
      return true;
  return false;
}

bool pai__proc_is_stacked_disk(const char *name)
{
  static const char *const stacked[] = { "loop", "ram",  "zram",   "dm-",
                                         "md",   "drbd", "bcache", NULL };

  return is_one_of(name, stacked);
}

bool pai__proc_is_stacked_net(const char *name)
{
  static const char *const stacked[] = { "veth", "docker", "br-",     "virbr",
                                         "vnet", "cni",    "flannel", "cali",
                                         "bond", "team",   "dummy",   "tun",
                                         "tap",  "ifb",    "vxlan",   "wg",
                                         NULL };

  return strcmp(name, "lo") == 0 || is_one_of(name, stacked);
}

/* --- network ------------------------------------------------------------- */

bool pai__proc_next_net(pai__proc_walk *w, pai__proc_net *out)
{
  while (w->at < w->end) {
    pai__proc_walk line = next_line(w);
    uint64_t n[11];

    if (!get_name(&line, ':', out->name, sizeof(out->name)) ||
        !begins(&line, ":"))
      continue;
    line.at++;
    if (!get_all(&line, n, 11))
      continue;
    out->rx_bytes = n[0];
    out->rx_packets = n[1];
    out->rx_errors = n[2];
    out->tx_bytes = n[8];
    out->tx_packets = n[9];
    out->tx_errors = n[10];
    return true;
  }
  return false;
}

/* --- memory, load -------------------------------------------------------- */

void pai__proc_memory_of(pai__proc_memory *out, const char *text, size_t len)
{
  static const struct {
    const char *name;
    size_t where;
  } fields[] = {
    { "MemTotal:", offsetof(pai__proc_memory, total) },
    { "MemFree:", offsetof(pai__proc_memory, free) },
    { "MemAvailable:", offsetof(pai__proc_memory, available) },
    { "Buffers:", offsetof(pai__proc_memory, buffers) },
    { "Cached:", offsetof(pai__proc_memory, cached) },
    { "SwapTotal:", offsetof(pai__proc_memory, swap_total) },
    { "SwapFree:", offsetof(pai__proc_memory, swap_free) },
  };
  pai__proc_walk w = pai__proc_walk_of(text, len);
  size_t found = 0, next = 0;

  *out = (pai__proc_memory){ -1, -1, -1, -1, -1, -1, -1 };
  while (w.at < w.end && found < PAI__LEN(fields)) {
    pai__proc_walk line = next_line(&w);

    /* The fields usually come in this order: try the next one first. */
    for (size_t i = 0; i < PAI__LEN(fields); i++) {
      size_t at = (next + i) % PAI__LEN(fields);
      int64_t bytes;
      uint64_t kb;

      if (!begins(&line, fields[at].name))
        continue;
      line.at += strlen(fields[at].name);
      bytes =
        get(&line, &kb) && kb <= INT64_MAX / 1024 ? (int64_t)(kb * 1024) : -1;
      memcpy((char *)out + fields[at].where, &bytes, sizeof(bytes));
      next = at + 1;
      found++;
      break;
    }
  }
}

void pai__proc_load_of(pai__proc_load *out, const char *text, size_t len)
{
  pai__proc_walk w = pai__proc_walk_of(text, len);
  uint64_t whole, part;

  *out = (pai__proc_load){ { -1, -1, -1 }, -1, -1 };
  for (int i = 0; i < 3; i++) {
    const char *point;

    if (!get(&w, &whole) || whole > 10000000 || !begins(&w, "."))
      return;
    point = ++w.at;
    if (!get(&w, &part) || w.at - point != 2)
      return;
    out->load[i] = (int32_t)(whole * 100 + part);
  }
  if (!get(&w, &whole) || whole > INT32_MAX || !begins(&w, "/"))
    return;
  out->running = (int32_t)whole;
  w.at++;
  if (get(&w, &whole) && whole <= INT32_MAX)
    out->threads = (int32_t)whole;
}

/* --- processes ----------------------------------------------------------- */

/* Skips the name, which may contain anything, even ")" and "\n". */
static bool skip_task_name(pai__proc_walk *w, char *name, size_t size)
{
  const char *open = w->at, *close = w->end;
  size_t len;

  while (open < w->end && *open != '(')
    open++;
  while (close > open && close[-1] != ')')
    close--;
  if (close <= open + 1)
    return false;
  len = (size_t)(close - open) - 2;
  if (len >= size)
    len = size - 1;
  memcpy(name, open + 1, len);
  name[len] = '\0';
  w->at = close;
  return true;
}

static int32_t get_id(pai__proc_walk *w)
{
  uint64_t n;

  return get(w, &n) && n <= INT32_MAX ? (int32_t)n : -1;
}

bool pai__proc_task_of(pai__proc_task *out, const char *text, size_t len)
{
  pai__proc_walk w = pai__proc_walk_of(text, len);
  uint64_t user, system, pages;

  *out = (pai__proc_task){ .pid = -1, .group = -1, .session = -1 };
  out->pid = get_id(&w);
  if (out->pid < 0 || !skip_task_name(&w, out->name, sizeof(out->name)))
    return false;
  skip_words(&w, 2); /* state, parent */
  out->group = get_id(&w);
  out->session = get_id(&w);
  if (out->group < 0 || out->session < 0)
    return false;
  skip_words(&w, 7);
  if (!get(&w, &user) || !get(&w, &system))
    return false;
  skip_words(&w, 6); /* times of children, priorities, threads */
  if (!get(&w, &out->started))
    return false;
  skip_words(&w, 1);
  if (!get(&w, &pages))
    return false;
  out->ticks = user + system;
  out->rss_pages = bounded(pages);
  return true;
}

/* --- cgroups ------------------------------------------------------------- */

/* Whether a list such as "cpu,cpuacct" that ends at `end` has a name. */
static bool lists(const char *list, const char *end, const char *name)
{
  size_t len = strlen(name);

  if (len == 0)
    return list == end;
  for (; list < end; list++) {
    const char *comma = memchr(list, ',', (size_t)(end - list));
    const char *stop = comma != NULL ? comma : end;

    if ((size_t)(stop - list) == len && memcmp(list, name, len) == 0)
      return true;
    list = stop;
  }
  return false;
}

const char *pai__proc_cgroup(const char *text, size_t len,
                             const char *controller, size_t *path_len)
{
  pai__proc_walk w = pai__proc_walk_of(text, len);

  while (w.at < w.end) {
    pai__proc_walk line = next_line(&w);
    const char *names, *path;
    size_t left = (size_t)(line.end - line.at);

    names = left != 0 ? memchr(line.at, ':', left) : NULL;
    if (names == NULL)
      continue;
    names++;
    left = (size_t)(line.end - names);
    path = left != 0 ? memchr(names, ':', left) : NULL;
    if (path == NULL || path + 1 == line.end || path[1] != '/' ||
        !lists(names, path, controller))
      continue;
    *path_len = (size_t)(line.end - path) - 1;
    return path + 1;
  }
  return NULL;
}
