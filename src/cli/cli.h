/*
 * cli.h - the openpai program: verbs (declared in src/cli/verbs), their
 * options, and output for people
 *
 * The program is a client of the library like any other: it includes only
 * <openpai/...>.
 */
#ifndef PAI_SRC_CLI_CLI_H
#define PAI_SRC_CLI_CLI_H

#include <openpai/openpai.h>

#include <stdbool.h>
#include <stdio.h>

/* Exit codes.  `run` passes on the exit code 1..255 of the task that decided
 * the job's end.  125 can also be an error of openpai itself, and 128+n can
 * also mean that signal n ended openpai. */
enum {
  CLI_OK = 0,
  CLI_NO = 1, /* a negative answer, or output could not be written */
  CLI_USAGE = 2,
  CLI_BROKEN = 125 /* `run`: openpai itself failed, or a usage error */
};

/* The values of an option that may be given several times. */
enum { CLI_VALUES = 256, CLI_ANY = 1 << 20 };
/* Most options of a verb, plus one. */
enum { CLI_OPTIONS = 64 };
typedef struct cli_words {
  size_t count;
  const char *words[CLI_VALUES];
} cli_words;

/* Options whose order matters, each with its value. */
typedef struct cli_changes {
  size_t count;
  struct cli_change {
    const char *option, *value;
  } list[CLI_VALUES];
} cli_changes;

/* The positional words of a verb, and the command after "--" of a verb that
 * takes one.  The arguments of each verb begin with these fields. */
#define CLI_GIVEN \
  int count;      \
  char **words;   \
  int ncommand;   \
  char **command;
typedef struct cli_given {
  CLI_GIVEN
} cli_given;

enum { CLI_FLAG, CLI_TEXT, CLI_NUMBER, CLI_CHOICE, CLI_LIST, CLI_CHANGE };

typedef struct cli_option {
  const char *name; /* long name, without dashes */
  char letter;      /* or 0 */
  int kind;
  void *to; /* a bool, a const char *, cli_words or cli_changes */
  /* of each word of a list, or the choices "a|b"; or NULL */
  const char *form;
  const char *usual; /* default value, or NULL */
  /* names of conflicting options, separated by commas, or NULL */
  const char *excludes;
  const char *needs; /* name of the option that this one requires */
  unsigned long long least, most; /* of a number; `most` 0: any */
  bool needed, secret;            /* secret: never printed in errors */
} cli_option;

/* One column or field of a record: its heading and the form of its value
 * (table.h). */
typedef struct cli_column {
  const char *head, *form;
  int width; /* minimum */
  bool right;
} cli_column;

/* Where a member of a call's arguments comes from. */
enum {
  CLI_FROM_JSON,     /* constant JSON */
  CLI_FROM_WORD,     /* a positional word, by its number */
  CLI_FROM_WORDS,    /* each word from that number on: one call per word */
  CLI_FROM_JOBS,     /* each selected job: one call per job */
  CLI_FROM_TEXT,     /* an option's value */
  CLI_FROM_LIST,     /* an option's value: a list separated by commas */
  CLI_FROM_SPAN,     /* an option's value: a time such as "30d", in seconds */
  CLI_FROM_PASSWORD, /* a password from a file, or asked for */
  CLI_FROM_FLAG,     /* true if the option was given, else false */
  CLI_FROM_GIVEN,    /* true if the option was given, else left out */
  CLI_FROM_EITHER,   /* true or false, by which of two options was given */
};

typedef struct cli_argument {
  const char *member; /* "data/email" is a member of an object */
  int from;
  int word;
  const void *value; /* of the option */
  const void *no;    /* EITHER: value of the option that means false */
  /* JSON: the constant; LIST: a value that counts as not given */
  const char *text;
  bool always; /* LIST: send an empty list if not given */
} cli_argument;

/* How an answer is shown. */
enum {
  CLI_SHOW_NOTHING,
  CLI_SHOW_JSON,
  CLI_SHOW_ROWS,
  CLI_SHOW_ROW,
  CLI_SHOW_FIELDS,
  CLI_SHOW_FORM,
  CLI_SHOW_WARNING
};

typedef struct cli_api_call {
  const char *name; /* "users.list"; NULL ends a list of calls */
  const cli_argument *arguments;
  size_t count;
  int show;
  const char *rows; /* place of the rows in the answer */
  const cli_column *columns;
  const char *form;
} cli_api_call;

/* A verb that only makes calls of the API. */
typedef struct cli_api {
  const cli_api_call *calls;
  const bool *json; /* --json: print the first answer as it is; or NULL */
  const char *some; /* error if no option was given; NULL: none is required */
  const char *fit, *does; /* arguments of cli_jobs_select() */
  const struct cli_selection_options *selection;
} cli_api;

typedef struct cli_verb {
  const char *name, *brief; /* "run"; "spec check" is a verb of a group */
  const char *help[4];      /* the help text in pieces; NULL after the last */
  int (*run)(void);
  const cli_option *options;
  size_t count;
  int least, most;        /* number of words */
  const char *few, *many; /* errors for too few and too many words, or NULL */
  const char *needs;      /* the words, as the help shows them */
  int misuse;             /* exit code of a usage error */
  bool asks;              /* it calls a platform, maybe on another machine */
  bool command;           /* it takes a command after "--" */
} cli_verb;

typedef struct cli_group {
  const char *name, *what;
} cli_group;

/* Generated from src/cli/verbs by verbs.py. */
extern const cli_verb cli_verbs[];
extern const size_t cli_verb_count;
extern const cli_group cli_groups[];
extern const size_t cli_group_count;
extern const char cli_overview[];
extern cli_given *const cli_words_given; /* of the running verb */

extern cli_words cli_parameters;   /* --param */
extern cli_words cli_secret_files; /* --secret-file */

#include "verbs.h"

extern const cli_verb *cli_verb_now; /* the running verb */

/* Parses the words after a verb into its arguments and runs the verb, or
 * prints its help or a usage error.  Returns an exit code. */
int cli_run_verb(const cli_verb *verb, int count, char **words);
/* Prints a usage error and where to find the help.  Returns the exit code for
 * it. */
int cli_misused(const char *what, const char *word);
/* The same, but returns false. */
bool cli_wrong(const char *what, const char *word);
/* Returns the value of a numeric option, or `usual` if it was not given. */
unsigned long long cli_number(const char *text, unsigned long long usual);
void cli_print_help(const cli_verb *verb, FILE *out);

/* Returns whether a word differs from a name by one slip, or by two in a
 * longer name (args.c). */
bool cli_is_misspelling(const char *word, size_t len, const char *name);

/* --- terminal (cells.c) --- */

bool cli_is_terminal(FILE *out);
/* Returns an ANSI sequence, or "" if `out` (stdout or stderr) is not a
 * terminal or NO_COLOR is set. */
const char *cli_style(FILE *out, const char *sgr);
/* Flushes stdout.  If output could not be written, prints an error once and
 * returns false: the answer is then incomplete.  A closed pipe that SIGPIPE
 * reports does not count. */
bool cli_written(void);

/* A pai_write_cb that writes to a FILE.  Never fails: cli_written() reports
 * write errors at the end. */
int cli_write(void *file, const char *bytes, size_t len);

/* Prints "file:line:col: error: what" and a help line to stderr. */
void cli_error(const char *file, const pai_error *err);
/* The same, and frees the error.  Returns CLI_NO. */
int cli_fail_with(const char *file, pai_error *err);
/* Prints "openpai: error: ..." or "openpai: warning: ..." or, below
 * PAI_LOG_WARNING, "note: ..." to stderr. */
void cli_say(int level, const char *what);
/* Prints "error: what" or "warning: what" or "note: what" at the current
 * position of the line, without a newline. */
void cli_level(FILE *out, int level, const char *what);
/* Prints "  help: what". */
void cli_help(FILE *out, const char *what);
/* Prints an error that concerns no file. */
void cli_fail(const char *fmt, ...)
#ifdef __GNUC__
  __attribute__((format(printf, 1, 2)))
#endif
  ;
/* Returns the length of the UTF-8 sequence at the beginning, or 0 if there is
 * none. */
size_t cli_utf8_len(const char *text, size_t left);
/* Returns how many bytes at the end are an incomplete UTF-8 sequence. */
size_t cli_utf8_cut(const char *text, size_t len);
/* Prints a JSON string with its quotes. */
void cli_json_string(FILE *out, const char *text, size_t len);

#endif
