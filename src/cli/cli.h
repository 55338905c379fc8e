/*
 * cli.h - the openpai program: one file per verb, one table entry each
 *
 * A user of the library like any other: only <openpai/...> from here.
 */
#ifndef PAI_SRC_CLI_CLI_H
#define PAI_SRC_CLI_CLI_H

#include <openpai/openpai.h>

#include <stdbool.h>
#include <stdio.h>

/* Exit codes.  `run` passes on 1..255 of the task that decided; 125 is also
 * openpai's own, and 128+n says also that signal n ended openpai. */
enum {
  CLI_OK = 0,
  CLI_NO = 1, /* the answer is negative, or could not be written */
  CLI_USAGE = 2,
  CLI_BROKEN = 125 /* `run`: openpai itself failed, or was called wrongly */
};

typedef struct cli_verb {
  const char *name;                  /* "run"; "spec check": one of a group */
  const char *brief;                 /* one line */
  const char *usage;                 /* after "openpai NAME" */
  const char *help;                  /* options and exit codes */
  const char *more;                  /* rest of a longer help, or NULL */
  int (*run)(int argc, char **argv); /* argv[0] is the last word of it */
} cli_verb;

extern const cli_verb cli_run, cli_doctor;
extern const cli_verb cli_spec_check, cli_spec_convert, cli_spec_render,
  cli_spec_schema, cli_spec_show, cli_spec_fmt, cli_spec_diff;
extern const cli_verb cli_cluster_show, cli_cluster_check, cli_cluster_hived,
  cli_cluster_top;
extern const cli_verb cli_sim_generate, cli_trace_show, cli_trace_convert;
extern const cli_verb cli_sched_hived_replay;
extern const cli_verb cli_sched_replay, cli_sched_show, cli_sched_explain;
extern const cli_verb cli_sim_run;
extern const cli_verb cli_when, cli_what_if, cli_fit;
extern const cli_verb cli_sched_replay, cli_sched_show, cli_sched_explain,
  cli_sched_story;
extern const cli_verb cli_at;
extern const cli_verb cli_up, cli_down, cli_status;
extern const cli_verb cli_serve_verb;
extern const cli_verb cli_submit_verb, cli_list, cli_show, cli_logs, cli_stop;
extern const cli_verb cli_wait, cli_why, cli_top, cli_retry, cli_clone,
  cli_prune, cli_rm, cli_files, cli_cp, cli_events;
extern const cli_verb cli_tag_add, cli_tag_remove;
extern const cli_verb cli_exec, cli_attach, cli_ssh;
extern const cli_verb cli_backup, cli_export;
extern const cli_verb cli_login, cli_logout, cli_compat;
extern const cli_verb cli_remote_list, cli_remote_show, cli_remote_add,
  cli_remote_remove, cli_remote_use, cli_remote_import;
extern const cli_verb cli_vc_list, cli_vc_show, cli_vc_add, cli_vc_set,
  cli_vc_stop, cli_vc_start, cli_vc_remove;
extern const cli_verb cli_node_list, cli_node_show, cli_node_drain,
  cli_node_resume;
extern const cli_verb cli_user_list, cli_user_show, cli_user_add, cli_user_set,
  cli_user_passwd, cli_user_remove, cli_user_quota;
extern const cli_verb cli_group_list, cli_group_show, cli_group_add,
  cli_group_set, cli_group_remove;
extern const cli_verb cli_storage_list, cli_storage_show, cli_storage_add,
  cli_storage_remove;
extern const cli_verb cli_token_list, cli_token_create, cli_token_revoke;

/* What an option got that may be given several times. */
enum { CLI_VALUES = 256 };
typedef struct cli_words {
  const char *form; /* "NAME=VALUE": what each must be; NULL: any word */
  size_t count;
  const char *words[CLI_VALUES];
} cli_words;

typedef struct cli_option {
  const char *name;   /* long, without dashes */
  char letter;        /* or 0 */
  bool *flag;         /* set when given; NULL if it takes a value */
  const char **value; /* the last one given, or `words` of a list below */
} cli_option;

extern cli_words cli_values;       /* of the verb's own option */
extern cli_words cli_parameters;   /* --param */
extern cli_words cli_secret_files; /* --secret-file */
extern cli_words cli_env_words;    /* --env */
extern cli_words cli_gpus, cli_cpus, cli_memory, cli_image;
extern cli_words cli_after, cli_tags, cli_folders;

/* Runs a verb that words name (main.c); a NULL stands behind them. */
int cli_dispatch(int count, char **words);

/* Reads options and moves the other words to the front of argv.  Returns how
 * many words there are, or -1: wrong, and said so; -2: help was asked for and
 * printed. */
int cli_options(const cli_verb *verb, const cli_option *options, size_t count,
                int argc, char **argv);
/* Complains of how a verb was called, and says where that is explained. */
void cli_misused(const cli_verb *verb, const char *what, const char *word);
void cli_print_help(const cli_verb *verb, FILE *out);

/* Whether a word is a name but for one slip, or two in a longer one (slip.c). */
bool cli_is_slip(const char *word, size_t len, const char *name);

/* --- terminal (term.c) --- */

bool cli_is_terminal(FILE *out);
/* An ANSI sequence, or "" when `out`, stdout or stderr, is no terminal or
 * NO_COLOR is set. */
const char *cli_style(FILE *out, const char *sgr);
/* Writes what stdout still holds.  False, and said so once, when anything that
 * was printed has not arrived: then there is no answer. */
bool cli_written(void);

/* A pai_write_cb that writes to the FILE it is given.  Never fails: whether
 * all was written is seen in the end. */
int cli_write(void *file, const char *bytes, size_t len);

/* "file:line:col: error: what" and a help line, on stderr. */
void cli_error(const char *file, const pai_error *err);
/* "openpai: error: ..." or "openpai: warning: ..." or, below
 * PAI_LOG_WARNING, "note: ...", on stderr. */
void cli_say(int level, const char *what);
/* "error: what" or "warning: what" or "note: what" on either stream, after
 * what stands on the line, and without its end. */
void cli_level(FILE *out, int level, const char *what);
/* "  help: what". */
void cli_help(FILE *out, const char *what);
/* An error with no file. */
void cli_fail(const char *fmt, ...)
#ifdef __GNUC__
  __attribute__((format(printf, 1, 2)))
#endif
  ;
/* Length of the UTF-8 sequence at the beginning, or 0 when none is there. */
size_t cli_utf8_len(const char *text, size_t left);
/* How many bytes at the end begin a UTF-8 sequence that goes on after it. */
size_t cli_utf8_cut(const char *text, size_t len);
/* A JSON string with its quotes. */
void cli_json_string(FILE *out, const char *text, size_t len);

#endif
