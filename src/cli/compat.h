/* compat.h - the words of the two old programs, pai and opai */
#ifndef PAI_SRC_CLI_COMPAT_H
#define PAI_SRC_CLI_COMPAT_H

#include "accounts.h"

/* Their options, of whatever command. */
enum {
  OLD_ALIAS,
  OLD_ALL,
  OLD_CLUSTER,
  OLD_CPU,
  OLD_EDITOR,
  OLD_GLOBAL,
  OLD_GPU,
  OLD_IDENTITY,
  OLD_IMAGE,
  OLD_INTERACTIVE,
  OLD_JOB_NAME,
  OLD_LOGIN_NAME,
  OLD_MEM,
  OLD_MEMORY_MB,
  OLD_NO_BROWSER,
  OLD_NOTEBOOK_TOKEN,
  OLD_OVERWRITE,
  OLD_PAI_URI,
  OLD_PASSWORD,
  OLD_PIP,
  OLD_PREVIEW,
  OLD_PYTHON,
  OLD_RECURSIVE,
  OLD_SKIP_CACHE,
  OLD_SOURCES,
  OLD_STORAGE,
  OLD_TOKEN,
  OLD_UPDATE,
  OLD_USER,
  OLD_USER_U, /* that has a letter */
  OLD_VC,
  OLD_WORKSPACE,
  OLD_OPTIONS
};

/* How many words a command takes. */
enum {
  OLD_ANY = -1, /* any number */
  OLD_REST = -2 /* the first, and all behind it, options or not */
};

enum { OLD_MOST_LISTED = 256 };

typedef struct cli_old cli_old;

typedef struct cli_old_command {
  const char *tool, *name; /* "job list" */
  const char *words;       /* of it, for people */
  int least, most;         /* of them */
  uint64_t options;        /* 1 << OLD_... */
  int (*run)(cli_old *old);
} cli_old_command;

/* What was given. */
struct cli_old {
  const cli_old_command *command;
  const char *value[OLD_OPTIONS]; /* "" of a flag; NULL: it was not given */
  struct {                        /* each of those that add up */
    int option;
    const char *value;
  } listed[OLD_MOST_LISTED];
  size_t nlisted;
  char **words;
  int count;
};

/* Tells that it was called wrongly: CLI_USAGE. */
int cli_old_refuse(const cli_old *old, const char *what, const char *word);
/* Asks the cluster that opai's words or its settings name, or pai's first
 * word.  False, and told. */
bool cli_old_open(const cli_old *old, cli_remote *r);
/* What was given or, of opai, is set; or NULL. */
const char *cli_old_value(const cli_old *old, int option);
/* "USER~JOB", for free(): the user that was given, else oneself.  NULL, and
 * told. */
char *cli_old_job(const cli_old *old, const char *job);
/* The path of the list of a user's jobs, or of all, for free(). */
char *cli_old_jobs_path(const char *user);
/* A verb of ours instead. */
int cli_old_become(const char *const *words, size_t count);

/* --- how they print (compat_table.c) --- */

/* As pai's tables, or opai's; the first row are headings.  It is freed. */
void cli_old_boxes(cli_table *t);
void cli_old_columns(cli_table *t);
/* JSON, whose length is known, with four spaces a level. */
void cli_old_json(FILE *out, const char *text, size_t len);
/* What an answer has, so. An exit code. */
int cli_old_answer(cli_remote *r, const char *path);
/* Ends the texts of its numbers, which go on in what is behind them. */
void cli_old_numbers(cli_json *j);
/* A text as YAML has it on one line. */
void cli_old_scalar(FILE *out, const char *text);

/* --- opai's settings (compat_settings.c) --- */

/* What is set for an option, or NULL.  The n-th of one that adds up. */
const char *cli_old_setting(int option, size_t n);
/* False, and told: they cannot be read. */
bool cli_old_settings_load(void);
/* Sets one of those of this folder, or of everywhere; told either way. */
bool cli_old_set(bool everywhere, const char *name, const char *value);
/* Takes one out that has that value. */
bool cli_old_forget_cluster(const char *alias);

/* --- jobs (compat_job.c, compat_notebook.c) --- */

/* A job's file that is whole.  Parts are freed by cli_old_file_free(). */
typedef struct cli_old_file {
  char *text;
  size_t len;
  char *code; /* a folder of ours with its code, or NULL */
} cli_old_file;

void cli_old_file_free(cli_old_file *f);
/* Prints it if that is wanted, else submits it: *job, for free(), is its name,
 * or NULL.  An exit code. */
int cli_old_submit(const cli_old *old, cli_remote *r, cli_old_file *f,
                   char **job);
/* The job that is made of a command.  An exit code. */
typedef struct cli_old_wish {
  const char *name;
  const char *const *commands;
  size_t ncommands;
  const char *tag;      /* beside "py-sdk" */
  const char *notebook; /* its name without its end, or NULL */
  const char *token;    /* or NULL */
  const char *file;     /* one more source, or NULL */
  bool jupyter;         /* it is needed, and has a port if there is a token */
} cli_old_wish;
int cli_old_make_job(const cli_old *old, const cli_old_wish *wish,
                     cli_old_file *out);
/* A name with "$" made random, for free(). */
char *cli_old_job_name(const char *name);
/* "job_link" and "job_name". */
void cli_old_print_job(const cli_remote *r, const char *job);

/* --- what a notebook's job is waited for (compat_log.c) --- */

typedef struct cli_old_waiting {
  bool running_is_enough, over;
  char state[32];
} cli_old_waiting;

/* Until it is over, or runs.  False, and told. */
bool cli_old_wait(cli_remote *r, const char *job, cli_old_waiting *w);
/* Until the log of its task says that Jupyter listens.  False: it does not. */
bool cli_old_jupyter(cli_remote *r, const char *job);
/* The page that the log has between these lines, for free(); NULL: none. */
#define OLD_PAGE_BEGINS "-----BEGIN OPENPAI NOTEBOOK-----"
#define OLD_PAGE_ENDS "-----END OPENPAI NOTEBOOK-----"
char *cli_old_page(cli_remote *r, const char *job, size_t *len);

/* --- posix_compat.c --- */

/* So many letters by chance. */
bool cli_old_random(char *out, size_t letters);
/* Copies what is left of one file to another; false, with errno. */
bool cli_old_pump(int from, int to);
/* A folder with copies of files of the present folder, for free(); NULL, and
 * told. */
char *cli_old_stage(const char *const *files, size_t count);
/* Becomes an editor of a file. */
int cli_old_edit(const char *editor, const char *path);

/* --- posix_compat_storage.c: a storage's files, below its folder --- */

int cli_old_files_list(const char *folder, const char *path);
int cli_old_files_status(const char *folder, const char *path);
int cli_old_files_upload(const char *folder, const char *from,
                         const char *path, bool overwrite);
int cli_old_files_download(const char *folder, const char *path,
                           const char *to);
int cli_old_files_delete(const char *folder, const char *path, bool recursive);

/* --- the commands --- */

int cli_pai_listc(cli_old *old);
int cli_pai_addc(cli_old *old);
int cli_pai_delc(cli_old *old);
int cli_pai_listj(cli_old *old);
int cli_pai_subj(cli_old *old);
int cli_pai_getj(cli_old *old);
int cli_pai_ssh(cli_old *old);
int cli_pai_lists(cli_old *old);
int cli_pai_getinfo(cli_old *old);

int cli_opai_set(cli_old *old);
int cli_opai_unset(cli_old *old);
int cli_opai_cluster_list(cli_old *old);
int cli_opai_cluster_resources(cli_old *old);
int cli_opai_cluster_update(cli_old *old);
int cli_opai_cluster_edit(cli_old *old);
int cli_opai_cluster_add(cli_old *old);
int cli_opai_cluster_delete(cli_old *old);
int cli_opai_cluster_select(cli_old *old);
int cli_opai_job_list(cli_old *old);
int cli_opai_job_status(cli_old *old);
int cli_opai_job_stop(cli_old *old);
int cli_opai_job_submit(cli_old *old);
int cli_opai_job_sub(cli_old *old);
int cli_opai_job_notebook(cli_old *old);
int cli_opai_job_connect(cli_old *old);
int cli_opai_storage_list_storage(cli_old *old);
int cli_opai_storage_list(cli_old *old);
int cli_opai_storage_status(cli_old *old);
int cli_opai_storage_upload(cli_old *old);
int cli_opai_storage_download(cli_old *old);
int cli_opai_storage_delete(cli_old *old);

#endif
