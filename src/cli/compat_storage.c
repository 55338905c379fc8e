/*
 * compat_storage.c - the storages of `opai`
 *
 * The old program asked WebHDFS; here a storage's files are reached if it is a
 * folder of this machine, with this user's own rights.  Of others it is said
 * what to use instead.
 */
#include "compat.h"

#include <stdlib.h>
#include <string.h>

/* --- which one ------------------------------------------------------------------------ */

/* The one that is named, else the only one there is, for free(); NULL, and
 * told. */
static char *choose(const cli_old *old, cli_remote *r)
{
  const char *name = cli_old_value(old, OLD_STORAGE);
  size_t list, count = 0;
  char *only = NULL;
  cli_json j;

  if (name != NULL)
    return strdup(name);
  if (!cli_remote_get(r, &j, "/api/v2/storages"))
    return NULL;
  list = cli_json_get(&j, 0, "storages");
  for (size_t i = list != 0 ? cli_json_first(&j, list) : 0; i != 0;
       i = cli_json_next(&j, list, i))
    if (++count == 1)
      only = strdup(cli_json_text(&j, i, "name"));
  cli_json_free(&j);
  if (count == 1)
    return only;
  free(only);
  cli_fail(count == 0 ? "you have no access to any storage"
                      : "there are several storages");
  cli_help(stderr, count == 0
                     ? "openpai storage add makes one, and openpai group set "
                       "--storage grants it"
                     : "-s NAME says which; opai storage list-storage lists "
                       "them");
  return NULL;
}

/* What else reaches one of that type. */
static const char *advice(const char *type)
{
  static const struct {
    const char *type, *help;
  } others[] = {
    { "hdfs", "use hdfs dfs -put and -get, or its WebHDFS with curl" },
    { "azureBlob", "use azcopy, or az storage blob" },
    { "azureFile", "use azcopy, or mount the share" },
    { "nfs", "mount it, and have an administrator say where: openpai storage "
             "add --mounted-at" },
    { "samba", "use smbclient, or mount the share" },
  };

  for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
    if (strcmp(type, others[i].type) == 0)
      return others[i].help;
  return "a job that mounts it can copy files";
}

/* Where everybody's storages lie, for free(). */
static char *usual_folder(const cli_remote *r, const char *name)
{
  char *all = r->root != NULL ? cli_join(r->root, "storages") : NULL;
  char *path = NULL;

  if (all != NULL && name[0] != '.' && strchr(name, '/') == NULL)
    path = cli_join(all, name);
  free(all);
  return path;
}

/* The folder of a storage whose record is there, for free(); NULL, and told. */
static char *recorded_folder(const cli_json *j, const char *name)
{
  const char *type = cli_json_text(j, 0, "type");
  const char *path = cli_json_text(j, 0, "mountedAt");
  size_t data = cli_json_get(j, 0, "data");

  if (path[0] == '\0' && data != 0 &&
      (cli_json_true(j, 0, "local") || strcmp(type, "local") == 0))
    path = cli_json_text(j, data, "path");
  if (path[0] != '/') {
    cli_fail("the storage %s is of type %s: its files cannot be reached from "
             "this machine",
             name, type);
    cli_help(stderr, advice(type));
    return NULL;
  }
  return cli_json_true(j, 0, "share") ? strdup(path)
                                      : cli_join(path, cli_user());
}

/* Its folder, for free(); NULL, and told. */
static char *find_folder(cli_remote *r, const char *name)
{
  char *path = cli_path("/api/v2/storages", name, ""), *folder = NULL;
  cli_answer a;
  cli_json j;

  cli_remote_ask(r, &a, "GET", path, NULL, NULL, 0);
  free(path);
  if (a.status == PAI_OK && cli_json_read(&j, a.body, a.len)) {
    folder = recorded_folder(&j, name);
    cli_json_free(&j);
  } else if (a.http != 404 || (folder = usual_folder(r, name)) == NULL) {
    if (a.status == PAI_OK)
      cli_fail("the platform's answer is not valid JSON");
    else
      cli_answer_tell(&a);
  }
  cli_answer_free(&a);
  return folder;
}

/* The folder that words mean, for free(); NULL, and told. */
static char *open_storage(const cli_old *old)
{
  char *name = NULL, *folder = NULL;
  cli_remote r;

  if (!cli_old_open(old, &r))
    return NULL;
  if (r.root == NULL) {
    cli_fail("files of a remote server's storages cannot be reached from this "
             "machine");
    cli_help(stderr, "submit a job that mounts the storage, or use what its "
                     "own service has: hdfs dfs, azcopy, scp");
  } else {
    name = choose(old, &r);
  }
  if (name != NULL)
    folder = find_folder(&r, name);
  free(name);
  cli_remote_close(&r);
  return folder;
}

/* --- the commands ----------------------------------------------------------------------- */

int cli_opai_storage_list_storage(cli_old *old)
{
  int code = CLI_NO;
  cli_remote r;

  if (cli_old_open(old, &r)) {
    code = cli_old_answer(&r, "/api/v2/storages");
    cli_remote_close(&r);
  }
  return code;
}

int cli_opai_storage_list(cli_old *old)
{
  char *folder = open_storage(old);
  int code =
    folder != NULL ? cli_old_files_list(folder, old->words[0]) : CLI_NO;

  free(folder);
  return code;
}

int cli_opai_storage_status(cli_old *old)
{
  char *folder = open_storage(old);
  int code =
    folder != NULL ? cli_old_files_status(folder, old->words[0]) : CLI_NO;

  free(folder);
  return code;
}

int cli_opai_storage_upload(cli_old *old)
{
  char *folder = open_storage(old);
  int code = folder != NULL
               ? cli_old_files_upload(folder, old->words[0], old->words[1],
                                      old->value[OLD_OVERWRITE] != NULL)
               : CLI_NO;

  free(folder);
  return code;
}

int cli_opai_storage_download(cli_old *old)
{
  char *folder = open_storage(old);
  int code = folder != NULL
               ? cli_old_files_download(folder, old->words[0], old->words[1])
               : CLI_NO;

  free(folder);
  return code;
}

int cli_opai_storage_delete(cli_old *old)
{
  char *folder = open_storage(old);
  int code = folder != NULL
               ? cli_old_files_delete(folder, old->words[0],
                                      old->value[OLD_RECURSIVE] != NULL)
               : CLI_NO;

  free(folder);
  return code;
}
