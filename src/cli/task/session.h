/* session.h - this terminal and a session in a task, for `exec` and
 * `attach` */
#ifndef PAI_SRC_CLI_SESSION_H
#define PAI_SRC_CLI_SESSION_H

#include "remote.h"

#include <stdint.h>

/* --- this terminal (posix_terminal.c) --- */

/* What happened during a wait. */
typedef struct cli_happened {
  bool input;   /* standard input has bytes or ended */
  bool resized; /* the terminal's size changed */
  int signal;   /* a SIGINT, SIGQUIT, SIGTERM or SIGHUP that came, or 0 */
  bool asked;   /* it was SIGINT or SIGQUIT, from the user */
} cli_happened;

/* Begins to catch signals and changes of size.  Returns false after printing
 * an error. */
bool cli_terminal_open(void);
/* Restores everything except that SIGPIPE stays ignored.  Returns a signal
 * that was not yet reported, or 0. */
int cli_terminal_close(void);
/* Turns raw mode on: keys come at once and without echo. */
void cli_terminal_raw(void);
void cli_terminal_cooked(void); /* turns raw mode off */
/* Returns whether standard input is a terminal. */
bool cli_terminal_is_input(void);
/* Returns the terminal's size; 80 by 24 if it is not known. */
void cli_terminal_size(uint32_t *columns, uint32_t *rows);
/* Waits at most `most_ms`, or without limit for -1, for the loop, signals and
 * input.  Calls the loop's callbacks. */
void cli_terminal_wait(pai_loop *loop, int most_ms, bool want_input,
                       cli_happened *out);
/* Waits at most `most_ms` for the loop alone and calls its callbacks. */
void cli_loop_step(pai_loop *loop, int most_ms);
/* Reads standard input; 0: it has ended. */
size_t cli_terminal_read(char *bytes, size_t size);

/* --- a task of a job (which_task.c) --- */

typedef struct cli_task {
  char *job;  /* user~name */
  char *role; /* for free() */
  uint32_t index;
  char state[32];
  char ip[64], ssh_port[16];
  /* of the job; of the task, or INT64_MIN: none yet */
  int64_t attempt, exit_code;
} cli_task;

/* Finds the task that `word` means: "ROLE/INDEX", or "ROLE" or NULL for the
 * only such task, else the only one that runs, else the one that the user
 * chooses at the terminal.  Returns false after printing an error. */
bool cli_task_find(cli_task *out, cli_remote *r, const char *job,
                   const char *word);
/* Returns whether such a word, or NULL, means a task.  The role is as in the
 * API, or as in the job file: the API has its letters and digits in lower
 * case. */
bool cli_task_is_meant(const char *word, const char *role, int64_t index);
/* Returns whether a word can mean a task; if not, prints an error. */
bool cli_task_word(const char *word);
void cli_task_free(cli_task *t);
/* Opens a connection and finds the task; with `running` it must run.  Returns
 * false after printing an error. */
bool cli_task_open(cli_task *out, cli_remote *r, const char *job,
                   const char *word, bool running);
/* Frees the task and closes the connection. */
void cli_task_close(cli_task *t, cli_remote *r);

/* --- a task's sshd (posix_ssh.c) --- */

typedef struct cli_ssh_files {
  char user[256], key[4096], known_hosts[4200]; /* key "": there is none */
  char folder[2048]; /* temporary folder of the files, or "" */
} cli_ssh_files;

/* Finds the files that the task's sshd left in the root.  False: there are
 * none. */
bool cli_ssh_find(cli_ssh_files *out, const char *root, const cli_task *t);
/* Replaces this process with ssh(1); returns only after printing an error. */
int cli_ssh_become(char **words);

/* --- a task's sshd on another server (cmd_ssh.c, posix_ssh.c) --- */

typedef struct cli_ssh_way {
  char host[256], port[16], user[256], host_key[4096];
  char *key; /* of the job, for cli_ssh_forget(); NULL: it has none */
} cli_ssh_way;

/* Runs ssh(1) with these keys, in temporary files.  Returns its exit code, or
 * one after printing an error. */
int cli_ssh_go(const cli_ssh_way *way,
               char **(*words)(void *data, const cli_ssh_files *files),
               void *data);

/* --- a session --- */

typedef struct cli_session {
  cli_remote *remote;
  const cli_task *task;
  const char *const *command; /* NULL: a shell */
  bool tty;                   /* the session has a terminal */
  bool attach;                /* no command: the task's own input */
  pai_session *session;       /* NULL: not begun, or over */
  int tries;                  /* to begin the session */
  int64_t again;              /* time of the next try */
  bool json;                  /* print output as lines of JSON */
  bool detachable;            /* by keys */
  bool started, terminal;
  bool typed; /* bytes were typed since the start */
  bool input_over;
  bool over, detached;
  int status; /* PAI_OK, with `how` and `code`, or an error */
  int how, code;
  char text[512], help[256];
  bool held;  /* the first of the two detach keys was pressed */
  int killed; /* by this signal, or 0 */
} cli_session;

/* Begins a session and waits until it has started or is over.  A task that has
 * just begun may not be ready, on a busy machine for longer, so this tries
 * again. */
void cli_session_begin(cli_session *s);
/* One step: sends typed bytes, prints output, and begins the session again if
 * it was refused as too early. */
void cli_session_step(cli_session *s, cli_happened *happened);
/* Prints why the session did not begin, or broke. */
void cli_session_tell(const cli_session *s);

/* --- a task's own input and output (attach.c) --- */

typedef struct cli_attached {
  int requests;  /* requests to stop handled before */
  bool detached; /* by keys; the task goes on */
  int killed;    /* by this signal, or 0; the task goes on */
} cli_attached;

/* How output and messages are printed. */
enum { CLI_ATTACH_TOLD, CLI_ATTACH_QUIET, CLI_ATTACH_JSON };

/* Follows a task from that offset of its logs until it ends, as `openpai
 * attach`.  Returns an exit code; prints errors. */
int cli_attach_to(cli_attached *a, cli_remote *r, const cli_task *t,
                  const char *offset, int how);
/* Print lines of JSON: output of the task, and its end. */
void cli_json_output(int stream, const char *bytes, size_t len);
void cli_json_end(const char *how, int code, const char *text);

#endif
