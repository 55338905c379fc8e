/* local_list.c - the files in a folder of this machine, and folders that are
 * empty, with a slash behind them */
#include "shared.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* An unfinished download. */
static bool is_part(const char *name)
{
  size_t len = strlen(name);

  return strncmp(name, ".openpai-", 9) == 0 && len > 5 &&
         strcmp(name + len - 5, ".part") == 0;
}

static bool is_file(const FTSENT *entry)
{
  struct stat st;

  if (entry->fts_info == FTS_F)
    return !is_part(entry->fts_name);
  return entry->fts_info == FTS_SL && stat(entry->fts_accpath, &st) == 0 &&
         S_ISREG(st.st_mode);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
  return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Counted in the folder that it lies in. */
static void count(FTSENT *entry)
{
  if (entry->fts_parent != NULL)
    entry->fts_parent->fts_number++;
}

/* The folder itself has no name here. */
static bool is_empty(const FTSENT *entry)
{
  return entry->fts_info == FTS_DP && entry->fts_number == 0 &&
         entry->fts_level > 0;
}

static void add_folder(json *j, const char *path, failure *f)
{
  size_t size = strlen(path) + 2;
  char *text = malloc(size);

  if (text == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return;
  }
  (void)snprintf(text, size, "%s/", path);
  json_text(j, NULL, text);
  free(text);
}

static void add_files(json *j, FTS *walk, size_t skip, failure *f)
{
  FTSENT *entry;

  while ((entry = fts_read(walk)) != NULL)
    if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR ||
        entry->fts_info == FTS_NS) {
      facade_fail_file(f, "read", entry->fts_path, entry->fts_errno);
      return;
    } else if (is_file(entry)) {
      count(entry);
      json_text(j, NULL, entry->fts_path + skip);
    } else if (entry->fts_info == FTS_D) {
      count(entry);
    } else if (is_empty(entry)) {
      add_folder(j, entry->fts_path + skip, f);
    }
}

listing local_list(const char *path, failure *f)
{
  char *root = strdup(path), *paths[2] = { root, NULL };
  size_t len = root != NULL ? strlen(root) : 0;
  listing l = { { NULL, 0 } };
  FTS *walk;
  json j;

  while (len > 1 && root[len - 1] == '/')
    root[--len] = '\0';
  walk = len > 0 ? fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR,
                            by_name)
                 : NULL;
  if (walk == NULL) {
    facade_fail_file(f, "read", path, root != NULL ? ENOENT : ENOMEM);
  } else {
    json_start(&j);
    json_begin(&j, NULL, '[');
    add_files(&j, walk, root[len - 1] == '/' ? len : len + 1, f);
    json_end(&j, ']');
    (void)fts_close(walk);
    l = json_finish(&j, f);
  }
  free(root);
  return (listing){ facade_finished(l.json, f) };
}
