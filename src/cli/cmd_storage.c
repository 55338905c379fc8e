/* cmd_storage.c - storages that jobs may use, as an administrator sees to them */
#include "accounts.h"

#include "file.h"

#include <stdlib.h>
#include <string.h>

#define STORAGES "/api/v2/storages"
#define OPTIONS(of) (sizeof(of) / sizeof((of)[0]))

enum { MOST_DATA = 64 << 10 };

/* --- list, show ------------------------------------------------------------------ */

static int list(cli_remote *r)
{
  static const char *const heads[] = { "NAME", "SHARED" };
  cli_table t;
  size_t storages;
  cli_json j;

  if (!cli_remote_get(r, &j, STORAGES))
    return CLI_NO;
  cli_table_begin(&t, OPTIONS(heads), heads);
  storages = cli_json_get(&j, 0, "storages");
  for (size_t i = storages != 0 ? cli_json_first(&j, storages) : 0; i != 0;
       i = cli_json_next(&j, storages, i)) {
    cli_table_add(&t, cli_json_text(&j, i, "name"));
    cli_table_add(&t, cli_json_true(&j, i, "share") ? "yes" : "no");
  }
  cli_table_end(&t, stdout);
  cli_json_free(&j);
  return CLI_OK;
}

static int run_list(int argc, char **argv)
{
  return cli_run_list(&cli_storage_list, argc, argv, STORAGES, list);
}

static int run_show(int argc, char **argv)
{
  const cli_option options[] = { { "root", 0, NULL, &cli_root } };
  int words =
        cli_options(&cli_storage_show, options, OPTIONS(options), argc, argv),
      code;
  cli_remote r;
  char *path;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_storage_show, words, argv, 1, 1,
                      "this takes one storage's name"))
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  path = cli_path(STORAGES, argv[0], "");
  code = cli_print_answer(&r, path);
  free(path);
  cli_remote_close(&r);
  return code;
}

const cli_verb cli_storage_list = {
  .name = "storage list",
  .brief = "List storages that jobs may use",
  .usage = "[--json] [--root DIR]",
  .help = "  --json         the answer of GET /api/v2/storages\n" CLI_ROOT_HELP
    CLI_DONE_HELP,
  .run = run_list,
};

const cli_verb cli_storage_show = {
  .name = "storage show",
  .brief = "Show a storage, as JSON",
  .usage = "[--root DIR] NAME",
  .help = "Credentials of the storage (keys, passwords) are shown, too.\n"
          "\n" CLI_ROOT_HELP CLI_DONE_HELP,
  .run = run_show,
};

/* --- add, remove ------------------------------------------------------------------ */

typedef struct storage_options {
  const char *type, *path, *server, *mounted, *data;
  bool own, read_only;
} storage_options;

/* What a file says of it, for free(); NULL, and told. */
static char *read_data(const char *file)
{
  char why[512], *text = NULL;
  size_t len = 0;
  int error = cli_read_file(&text, &len, file, MOST_DATA);
  cli_json j;

  if (error != 0) {
    cli_read_why(why, sizeof(why), file, error);
    cli_fail("%s", why);
    return NULL;
  }
  if (cli_json_read(&j, text, len)) {
    char *whole = realloc(text, len + 1);
    cli_json_free(&j);
    if (whole != NULL) {
      whole[len] = '\0'; /* there is none in JSON */
      return whole;
    }
    cli_fail("out of memory");
    free(text);
    return NULL;
  }
  free(text);
  cli_fail("%s is no JSON", cli_shown_name(file));
  return NULL;
}

static char *write_storage(const storage_options *o, const char *data)
{
  bool local = o->type == NULL || strcmp(o->type, "local") == 0;
  const char *mounted = o->mounted != NULL ? o->mounted : o->path;
  cli_text t;

  if (!cli_text_begin(&t))
    return NULL;
  cli_put_object(&t);
  cli_put_text(&t, "type", o->type != NULL ? o->type : "local");
  cli_put_flag(&t, "share", !o->own);
  cli_put_flag(&t, "readOnly", o->read_only);
  cli_put_text(&t, "mountedAt", local ? mounted : o->mounted);
  cli_put_key(&t, "data");
  if (data != NULL) {
    (void)fputs(data, t.out);
  } else {
    cli_put_object(&t);
    cli_put_text(&t, "server", o->server);
    cli_put_text(&t, "path", o->path);
    cli_put_end(&t);
  }
  cli_put_end(&t);
  return cli_text_end(&t);
}

static int add(const char *name, const storage_options *o)
{
  char *data = o->data != NULL ? read_data(o->data) : NULL;
  int code = CLI_NO;
  cli_remote r;

  if ((o->data == NULL || data != NULL) && cli_remote_open(&r, true)) {
    if (cli_change(&r, "PUT", STORAGES, name, "", write_storage(o, data),
                   true))
      code = CLI_OK;
    cli_remote_close(&r);
  }
  free(data);
  return code;
}

static int run_add(int argc, char **argv)
{
  storage_options o = { 0 };
  const cli_option options[] = { { "type", 0, NULL, &o.type },
                                 { "path", 0, NULL, &o.path },
                                 { "server", 0, NULL, &o.server },
                                 { "mounted-at", 0, NULL, &o.mounted },
                                 { "data-file", 0, NULL, &o.data },
                                 { "own", 0, &o.own, NULL },
                                 { "read-only", 0, &o.read_only, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words =
    cli_options(&cli_storage_add, options, OPTIONS(options), argc, argv);

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_storage_add, words, argv, 1, 1,
                      "this takes one storage's name"))
    return CLI_USAGE;
  if (o.data != NULL && (o.path != NULL || o.server != NULL)) {
    cli_misused(&cli_storage_add, "already set in the file",
                "--path, --server");
    return CLI_USAGE;
  }
  return add(argv[0], &o);
}

static int run_remove(int argc, char **argv)
{
  static const cli_change_of gone = {
    .what = "this takes storages' names",
    .method = "DELETE",
    .start = STORAGES,
    .rest = "",
  };

  return cli_run_change(&cli_storage_remove, argc, argv, &gone);
}

const cli_verb cli_storage_add = {
  .name = "storage add",
  .brief = "Add or replace a storage that jobs may use",
  .usage =
    "[--type TYPE] [--path DIR] [--server NAME] [--data-file FILE]\n"
    "             [--mounted-at DIR] [--own] [--read-only] [--root DIR]\n"
    "             NAME",
  .help =
    "Groups decide which users may use a storage: openpai group set "
    "--storage.\n"
    "\n"
    "  --type TYPE    local, nfs, azureFile, azureBlob, samba, dshuttle or\n"
    "                 other (default: local)\n"
    "  --path DIR     path of the storage, on its server\n"
    "  --server NAME  host name of its server\n"
    "  --data-file FILE\n"
    "                 file of its credentials, in JSON; - is standard input\n"
    "  --mounted-at DIR\n"
    "                 folder in which this machine has it mounted\n"
    "  --own          give each user a folder of its own in it\n"
    "  --read-only    let jobs only read it\n" CLI_ROOT_HELP CLI_DONE_HELP,
  .run = run_add,
};

const cli_verb cli_storage_remove = {
  .name = "storage remove",
  .brief = "Remove storages, but not the files in them",
  .usage = "[--root DIR] NAME...",
  .help = CLI_ROOT_HELP CLI_DONE_HELP,
  .run = run_remove,
};
