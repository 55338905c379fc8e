/*
 * cmd_compat.c - words of the two old programs, `pai` and `opai`, as ours
 *
 * Each of their commands is a row of a table: what it takes, and what does it
 * here.  What has no like is refused, never passed over.
 */
#include "compat.h"

#include <stdlib.h>
#include <string.h>

/* --- what they take --------------------------------------------------------------- */

/* How an option is written; one that adds up is given any number of times. */
static const struct old_option {
  const char *name, *other; /* long ones; the second or NULL */
  char letter;              /* or 0 */
  bool flag, adds;
} options[OLD_OPTIONS] = {
  [OLD_ALIAS] = { "alias", NULL, 'a', false, false },
  [OLD_ALL] = { "all", NULL, 'a', true, false },
  [OLD_CLUSTER] = { "cluster-alias", NULL, 'a', false, false },
  [OLD_CPU] = { "cpu", NULL, 0, false, false },
  [OLD_EDITOR] = { "editor", NULL, 0, false, false },
  [OLD_GLOBAL] = { "is-global", "global", 'g', true, false },
  [OLD_GPU] = { "gpu", NULL, 0, false, false },
  [OLD_IDENTITY] = { "identity-file", NULL, 'i', false, false },
  [OLD_IMAGE] = { "image", NULL, 'i', false, false },
  [OLD_INTERACTIVE] = { "interactive", NULL, 0, true, false },
  [OLD_JOB_NAME] = { "job-name", NULL, 'j', false, false },
  [OLD_LOGIN_NAME] = { "login-name", NULL, 'l', false, false },
  [OLD_MEM] = { "mem", NULL, 0, false, false },
  [OLD_MEMORY_MB] = { "memoryMB", NULL, 0, false, false },
  [OLD_NO_BROWSER] = { "no-browser", NULL, 0, true, false },
  [OLD_NOTEBOOK_TOKEN] = { "notebook-token", "token", 0, false, false },
  [OLD_OVERWRITE] = { "overwrite", NULL, 0, true, false },
  [OLD_PAI_URI] = { "pai-uri", NULL, 0, false, false },
  [OLD_PASSWORD] = { "password", NULL, 0, false, false },
  [OLD_PIP] = { "pip-installs", "pip", 0, false, true },
  [OLD_PREVIEW] = { "preview", NULL, 0, true, false },
  [OLD_PYTHON] = { "python", NULL, 0, false, false },
  [OLD_RECURSIVE] = { "recursive", NULL, 0, true, false },
  [OLD_SKIP_CACHE] = { "skip-cache", NULL, 'k', true, false },
  [OLD_SOURCES] = { "sources", "src", 0, false, true },
  [OLD_STORAGE] = { "storage-alias", NULL, 's', false, false },
  [OLD_TOKEN] = { "authen-token", "token", 0, false, false },
  [OLD_UPDATE] = { "update", NULL, 'u', false, true },
  [OLD_USER] = { "user", NULL, 0, false, false },
  [OLD_USER_U] = { "user", NULL, 'u', false, false },
  [OLD_VC] = { "virtual-cluster", "vc", 0, false, false },
  [OLD_WORKSPACE] = { "workspace", NULL, 'w', false, false },
};

#define OF(option) (UINT64_C(1) << OLD_##option)
#define OF_JOB                                                         \
  (OF(JOB_NAME) | OF(CLUSTER) | OF(VC) | OF(WORKSPACE) | OF(SOURCES) | \
   OF(PIP) | OF(IMAGE) | OF(CPU) | OF(GPU) | OF(MEM) | OF(MEMORY_MB) | \
   OF(PREVIEW) | OF(NO_BROWSER) | OF(PYTHON))
#define OF_LISTJ (OF(USER_U) | OF(ALL))
#define OF_STORAGE (OF(CLUSTER) | OF(STORAGE))

static const cli_old_command commands[] = {
  { "pai", "listc", "", 0, 0, 0, cli_pai_listc },
  { "pai", "addc", "URL USER TOKEN", 3, 3, OF(ALIAS), cli_pai_addc },
  { "pai", "delc", "ALIAS", 1, 1, 0, cli_pai_delc },
  { "pai", "listj", "ALIAS", 1, 1, OF_LISTJ, cli_pai_listj },
  { "pai", "list-jobs", "ALIAS", 1, 1, OF_LISTJ, cli_pai_listj },
  { "pai", "subj", "ALIAS FILE", 2, 2, 0, cli_pai_subj },
  { "pai", "getj", "ALIAS JOB", 2, 2, OF(USER), cli_pai_getj },
  { "pai", "job-info", "ALIAS JOB", 2, 2, OF(USER), cli_pai_getj },
  { "pai", "ssh", "ALIAS JOB [ROLE [INDEX]]", 2, 4,
    OF(USER) | OF(LOGIN_NAME) | OF(IDENTITY), cli_pai_ssh },
  { "pai", "lists", "ALIAS", 1, 1, OF(SKIP_CACHE), cli_pai_lists },
  { "pai", "list-storages", "ALIAS", 1, 1, OF(SKIP_CACHE), cli_pai_lists },
  { "pai", "getinfo", "ALIAS STORAGE", 2, 2, OF(SKIP_CACHE), cli_pai_getinfo },
  { "opai", "set", "[NAME=VALUE]...", 0, OLD_ANY, OF(GLOBAL), cli_opai_set },
  { "opai", "unset", "NAME...", 1, OLD_ANY, OF(GLOBAL), cli_opai_unset },
  { "opai", "cluster list", "", 0, 0, 0, cli_opai_cluster_list },
  { "opai", "cluster resources", "", 0, 0, OF(CLUSTER),
    cli_opai_cluster_resources },
  { "opai", "cluster update", "", 0, 0, 0, cli_opai_cluster_update },
  { "opai", "cluster edit", "", 0, 0, OF(EDITOR), cli_opai_cluster_edit },
  { "opai", "cluster add", "", 0, 0,
    OF(CLUSTER) | OF(PAI_URI) | OF(USER) | OF(PASSWORD) | OF(TOKEN),
    cli_opai_cluster_add },
  { "opai", "cluster delete", "ALIAS", 1, 1, 0, cli_opai_cluster_delete },
  { "opai", "cluster select", "ALIAS", 1, 1, OF(GLOBAL),
    cli_opai_cluster_select },
  { "opai", "job list", "", 0, 0, OF(CLUSTER) | OF(USER), cli_opai_job_list },
  { "opai", "job status", "JOB [config|ssh]", 1, 2, OF(CLUSTER) | OF(USER),
    cli_opai_job_status },
  { "opai", "job stop", "JOB...", 1, OLD_ANY, OF(CLUSTER), cli_opai_job_stop },
  { "opai", "job submit", "FILE", 1, 1,
    OF(CLUSTER) | OF(VC) | OF(PREVIEW) | OF(UPDATE), cli_opai_job_submit },
  { "opai", "job sub", "COMMAND...", 1, OLD_REST, OF_JOB, cli_opai_job_sub },
  { "opai", "job notebook", "[NOTEBOOK]", 0, 1,
    OF_JOB | OF(INTERACTIVE) | OF(NOTEBOOK_TOKEN), cli_opai_job_notebook },
  { "opai", "job connect", "JOB", 1, 1, OF(CLUSTER), cli_opai_job_connect },
  { "opai", "storage list-storage", "", 0, 0, OF(CLUSTER),
    cli_opai_storage_list_storage },
  { "opai", "storage list", "PATH", 1, 1, OF_STORAGE, cli_opai_storage_list },
  { "opai", "storage status", "PATH", 1, 1, OF_STORAGE,
    cli_opai_storage_status },
  { "opai", "storage upload", "LOCAL PATH", 2, 2, OF_STORAGE | OF(OVERWRITE),
    cli_opai_storage_upload },
  { "opai", "storage download", "PATH LOCAL", 2, 2, OF_STORAGE,
    cli_opai_storage_download },
  { "opai", "storage delete", "PATH", 1, 1, OF_STORAGE | OF(RECURSIVE),
    cli_opai_storage_delete },
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

/* --- reading them ------------------------------------------------------------------ */

int cli_old_refuse(const cli_old *old, const char *what, const char *word)
{
  const cli_old_command *c = old->command;

  cli_fail("%s %s: %s: %s", c->tool, c->name, what, word);
  (void)fprintf(stderr, "  help: %s %s takes %s; openpai help compat\n",
                c->tool, c->name, c->words[0] != '\0' ? c->words : "no words");
  return CLI_USAGE;
}

/* One that is written so, or begins so and no other does; -1: none. */
static int find_long(const cli_old_command *c, const char *name, size_t len)
{
  int found = -1, count = 0;

  for (int i = 0; i < OLD_OPTIONS; i++) {
    const char *const names[] = { options[i].name, options[i].other };
    bool begins = false;

    for (size_t k = 0; k < 2 && (c->options >> i & 1) != 0; k++) {
      if (names[k] == NULL || strncmp(names[k], name, len) != 0)
        continue;
      if (names[k][len] == '\0')
        return i;
      begins = true;
    }
    count += begins;
    found = begins ? i : found;
  }
  return count == 1 ? found : -1;
}

static int find_letter(const cli_old_command *c, char letter)
{
  for (int i = 0; i < OLD_OPTIONS; i++)
    if ((c->options >> i & 1) != 0 && options[i].letter == letter)
      return i;
  return -1;
}

static int keep(cli_old *old, int option, const char *value)
{
  old->value[option] = value;
  if (!options[option].adds)
    return CLI_OK;
  if (old->nlisted == OLD_MOST_LISTED)
    return cli_old_refuse(old, "this is given too often", value);
  old->listed[old->nlisted].option = option;
  old->listed[old->nlisted++].value = value;
  return CLI_OK;
}

/* An option at words[*i]; its value may be in it or behind it. */
static int take_option(cli_old *old, int count, char **words, int *i)
{
  char *word = words[*i];
  bool is_long = word[1] == '-';
  size_t len = is_long ? strcspn(word + 2, "=") : 1;
  const char *value = is_long && word[2 + len] == '=' ? word + 3 + len : NULL;
  int o = is_long ? find_long(old->command, word + 2, len)
                  : find_letter(old->command, word[1]);

  if (!is_long && word[2] != '\0')
    value = word + 2 + (word[2] == '=');
  if (o < 0 || len == 0)
    return cli_old_refuse(old, "there is no such option here", word);
  if (options[o].flag)
    return value == NULL
             ? keep(old, o, "")
             : cli_old_refuse(old, "this option has no value", word);
  if (value == NULL && *i + 1 == count)
    return cli_old_refuse(old, "this option needs a value", word);
  return keep(old, o, value != NULL ? value : words[++*i]);
}

/* CLI_OK; -1: help was asked for; CLI_USAGE, and told. */
static int read_words(cli_old *old, int count, char **words)
{
  const cli_old_command *c = old->command;
  bool plain = false; /* all that follows are words */
  int code = CLI_OK;

  old->words = words;
  for (int i = 0; i < count && code == CLI_OK; i++) {
    if (!plain && strcmp(words[i], "--") == 0) {
      plain = true;
    } else if (plain || words[i][0] != '-' || words[i][1] == '\0') {
      words[old->count++] = words[i];
      plain = plain || c->most == OLD_REST;
    } else if (strcmp(words[i], "-h") == 0 ||
               strcmp(words[i], "--help") == 0) {
      return -1;
    } else {
      code = take_option(old, count, words, &i);
    }
  }
  if (code == CLI_OK && c->most >= 0 && old->count > c->most)
    code = cli_old_refuse(old, "this is one word too many", words[c->most]);
  if (code == CLI_OK && old->count < c->least)
    code = cli_old_refuse(old, "a word is missing", c->words);
  return code;
}

/* --- the verb ---------------------------------------------------------------------------- */

/* The row that words name, and how many of them do. */
static const cli_old_command *find(int count, char **words, int *used)
{
  for (size_t i = 0; i < COMMANDS && count > 1; i++) {
    const char *name = commands[i].name, *second = strchr(name, ' ');
    size_t len = strcspn(name, " ");

    *used = second != NULL ? 3 : 2;
    if (strcmp(commands[i].tool, words[0]) == 0 && strlen(words[1]) == len &&
        strncmp(name, words[1], len) == 0 &&
        (second == NULL || (count > 2 && strcmp(second + 1, words[2]) == 0)))
      return &commands[i];
  }
  return NULL;
}

static int unknown(int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      cli_print_help(&cli_compat, stdout);
      return CLI_OK;
    }
  cli_fail("unknown command of pai or opai: %s%s%s",
           argc > 1 ? argv[1] : "nothing", argc > 2 ? " " : "",
           argc > 2 ? argv[2] : "");
  cli_help(stderr, "openpai help compat lists them");
  return CLI_USAGE;
}

static int run(int argc, char **argv)
{
  int used, code;
  cli_old old = { .command = find(argc - 1, argv + 1, &used) };

  if (old.command == NULL)
    return unknown(argc, argv);
  cli_makes_root = true; /* submitting is one of them */
  code = read_words(&old, argc - 1 - used, argv + 1 + used);
  if (code < 0)
    cli_print_help(&cli_compat, stdout);
  if (code != CLI_OK)
    return code < 0 ? CLI_OK : code;
  if (strcmp(old.command->tool, "opai") == 0 && !cli_old_settings_load())
    return CLI_NO;
  return old.command->run(&old);
}

const cli_verb cli_compat = {
  .name = "compat",
  .brief = "Run a command of the old programs pai and opai",
  .usage = "pai|opai COMMAND...",
  .help =
    "pai:  listc; addc URL USER TOKEN [-a ALIAS]; delc ALIAS;\n"
    "      listj ALIAS [-u USER|-a]; subj ALIAS FILE;\n"
    "      getj ALIAS JOB [--user USER];\n"
    "      ssh ALIAS JOB [ROLE [INDEX]] [--user USER] [-l NAME] [-i FILE];\n"
    "      lists ALIAS [-k]; getinfo ALIAS STORAGE [-k]\n"
    "opai: set [-g] [NAME=VALUE]...; unset [-g] NAME...;\n"
    "      cluster list, resources, update, edit [--editor WORDS],\n"
    "      add -a ALIAS --pai-uri URL --user USER\n"
    "      [--token TOKEN|--password PASSWORD], delete ALIAS,\n"
    "      select [-g] ALIAS;\n"
    "      job list [--user USER|__all__], status JOB [config|ssh],\n"
    "      stop JOB..., submit [--vc VC] [--preview] [-u A:B=VALUE]... FILE,\n"
    "      sub -j NAME -i IMAGE [--src FILE]... [--pip PACKAGE]... [--cpu N]\n"
    "      [--gpu N] [--mem 8g|--memoryMB N] [--preview] COMMAND...,\n"
    "      notebook (as sub) [--interactive] [--token TOKEN] [NOTEBOOK],\n"
    "      connect JOB;\n"
    "      storage list-storage, list PATH, status PATH,\n"
    "      upload [--overwrite] LOCAL PATH, download PATH LOCAL,\n"
    "      delete [--recursive] PATH, of the storage -s NAME;\n"
    "      -a ALIAS selects the cluster (default: that of opai set or "
    "select)\n"
    "\nOther options are refused.  A link to openpai that is named pai or "
    "opai\n"
    "runs these commands directly.\n\n"
    "  -h, --help\n\n"
    "Exit status: 0 success, 1 failure, 2 usage error\n",
  .run = run,
};
