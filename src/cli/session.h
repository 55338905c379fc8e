/* session.h - what exec and attach share: this terminal, and a session */
#ifndef PAI_SRC_CLI_SESSION_H
#define PAI_SRC_CLI_SESSION_H

#include "remote.h"

#include <stdint.h>

/* --- this terminal (posix_terminal.c) --- */

/* What has happened while one waited. */
typedef struct cli_happened {
  bool input;   /* standard input has something, or its end */
  bool resized; /* the terminal */
  int signal;   /* SIGINT, SIGQUIT, SIGTERM or SIGHUP came; or 0 */
  bool asked;   /* SIGINT or SIGQUIT: the user wants it to end */
} cli_happened;

/* Signals and changes of size are heard from now on.  False, and told. */
bool cli_terminal_open(void);
/* All is as it was before, but for SIGPIPE, which stays ignored.  A signal that
 * nobody was told of, or 0. */
int cli_terminal_close(void);
/* Keys come as they are pressed, and are not shown. */
void cli_terminal_raw(void);
void cli_terminal_cooked(void);   /* not any more */
bool cli_terminal_is_input(void); /* standard input is a terminal */
/* Its columns and rows; 80 and 24 if nobody knows. */
void cli_terminal_size(uint32_t *columns, uint32_t *rows);
/* Waits for the loop, whose callbacks it calls, and for the rest; for so long
 * at most, or -1. */
void cli_terminal_wait(pai_loop *loop, int most_ms, bool want_input,
                       cli_happened *out);
/* Waits for the loop alone, for so long at most, and calls its callbacks. */
void cli_loop_turn(pai_loop *loop, int most_ms);
/* Bytes of standard input; 0: no more come. */
size_t cli_terminal_read(char *bytes, size_t size);

/* --- a task of a job (which_task.c) --- */

typedef struct cli_task {
  char *job;  /* user~name */
  char *role; /* for free() */
  uint32_t index;
  char state[32];
  char ip[64], ssh_port[16];
  int64_t attempt, exit_code; /* of the job; of the task, or
                                 INT64_MIN: it has none yet */
} cli_task;

/* Finds the one that `word` means: "ROLE/INDEX", or "ROLE" or NULL: the only task
 * of those, else the only one that runs, else the one that the user chooses, if
 * this is a terminal.  False, and told. */
bool cli_task_find(cli_task *out, cli_remote *r, const char *job,
                   const char *word);
/* Whether a word can mean a task; if not, that is told. */
bool cli_task_word(const cli_verb *verb, const char *word);
void cli_task_free(cli_task *t);

/* --- a task's sshd (posix_ssh.c) --- */

typedef struct cli_ssh_files {
  char user[256], key[4096], known_hosts[4200]; /* key "": there is none */
  char folder[2048]; /* that goes with them, or "" */
} cli_ssh_files;

/* What it has left in the root.  False: there is none. */
bool cli_ssh_find(cli_ssh_files *out, const char *root, const cli_task *t);
/* Becomes ssh(1); if not, that is told. */
int cli_ssh_become(char **words);

/* --- the same on a server elsewhere (ssh_far.c) --- */

/* Tells that a task has none.  CLI_BROKEN. */
int cli_no_sshd(const cli_task *t);

typedef struct cli_ssh_way {
  char host[256], port[16], user[256], host_key[4096];
  char *key; /* the job's own, for cli_ssh_forget(); NULL: it has none */
} cli_ssh_way;

/* Asks the server.  An exit code; if it is not CLI_OK, that was told. */
int cli_ssh_ask(cli_ssh_way *out, cli_remote *r, const cli_task *t);
void cli_ssh_forget(cli_ssh_way *way);
/* Where a task with that address is: "127.0.0.1" is the server's own machine. */
bool cli_ssh_host(char *out, size_t size, const cli_remote *r, const char *ip);
/* Whether what a server says is an address and a port. */
bool cli_is_address(const char *ip, const char *port);
/* posix_ssh_far.c: runs ssh(1) with these keys, which lie in files while it
 * does.  Its exit code; or what went wrong was told. */
int cli_ssh_go(const cli_ssh_way *way,
               char **(*words)(void *data, const cli_ssh_files *files),
               void *data);

/* --- a session --- */

typedef struct cli_session {
  cli_remote *remote;
  const cli_task *task;
  const char *const *command; /* NULL: a shell */
  bool tty;                   /* it has a terminal */
  bool attach;                /* no command: the task's own input */
  pai_session *session;       /* NULL: it has not begun, or is over */
  int tries;                  /* to begin it; */
  int64_t again;              /* when the next one is due */
  bool json;                  /* what comes is told as lines of JSON */
  bool detachable;            /* by keys */
  bool started, terminal;
  bool typed; /* something, since then */
  bool input_over;
  bool over, detached;
  int status; /* of its end: PAI_OK, and: */
  int how, code;
  char text[512], help[256];
  bool held;  /* the first of two keys was pressed */
  int killed; /* by this signal, or 0 */
} cli_session;

/* Until it has begun, or is over: a task that has just begun is not ready for it
 * for a moment, on a busy machine for longer. */
void cli_session_begin(cli_session *s);
/* One turn: what was typed goes to it, what it says comes out; one that came
 * too early is begun anew. */
void cli_session_turn(cli_session *s, cli_happened *happened);
/* It has not begun, or broke: told. */
void cli_session_tell(const cli_session *s);

/* --- a task's own input and output (attach.c) --- */

typedef struct cli_attached {
  int requests;  /* to stop, that were dealt with before */
  bool detached; /* by keys: the task goes on */
  int killed;    /* by this signal, or 0: likewise */
} cli_attached;

/* How one wants to see it. */
enum { CLI_ATTACH_TOLD, CLI_ATTACH_QUIET, CLI_ATTACH_JSON };

/* From that offset in its logs until it ends; as openpai attach.  The exit
 * code; what went wrong is told. */
int cli_attach_to(cli_attached *a, cli_remote *r, const cli_task *t,
                  const char *offset, int how);
/* Lines of JSON: what it says, and its end. */
void cli_json_output(int stream, const char *bytes, size_t len);
void cli_json_end(const char *how, int code, const char *text);

/* How many words stand behind "--"; they are taken away. */
int cli_cut_command(int *argc, char **argv);

#endif
