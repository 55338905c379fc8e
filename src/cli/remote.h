/* remote.h - calls to a platform: this user's, through its socket, or a server
 * at a URL */
#ifndef PAI_SRC_CLI_REMOTE_H
#define PAI_SRC_CLI_REMOTE_H

#include "contexts.h"

typedef struct cli_remote {
  pai_loop *loop;
  pai_client *client;
  char *root;          /* absolute; NULL: a server at a URL */
  char *socket;        /* path of the platform's socket */
  cli_context context; /* of a server at a URL */
  /* of a server at a URL: 1: the original OpenPAI; 0: this library's server;
   * -1: not asked yet */
  int original;
  bool start; /* start the platform if it does not run */
} cli_remote;

/* An answer; free it with cli_answer_free(). */
typedef struct cli_answer {
  int status;    /* PAI_* */
  int http;      /* HTTP status; 0: no answer came, */
  int no_answer; /* because of this: PAI_NO_ANSWER_*, or 0 */
  char *body;
  size_t len;
  char code[64];
  char message[1024], help[256];
} cli_answer;

/* Opens a connection.  With `start` a platform that does not run is started at
 * the first call.  Returns false, after printing an error, if there is no root
 * or no memory. */
bool cli_remote_open(cli_remote *r, bool start);
void cli_remote_close(cli_remote *r);
/* The same for a given server; `token` may be NULL. */
bool cli_remote_open_context(cli_remote *r, const cli_context *context,
                             const char *token);

/* Returns whether the server is an original OpenPAI, which lacks some calls of
 * this library's server. */
bool cli_remote_is_original(cli_remote *r);
/* Calls `start`, which begins a client call with the given callback and user
 * data, and waits for the answer. */
typedef int (*cli_starter)(cli_remote *r, void *data, pai_client_cb cb,
                           void *user_data, pai_error **err);
/* Returns `data` from the user data of other callbacks of such a call. */
void *cli_remote_data(void *user_data);
void cli_remote_call(cli_remote *r, cli_answer *out, cli_starter start,
                     void *data, void (*tick)(void *data));
/* The same, with a tick at least every `every_ms`. */
void cli_remote_call_ticking(cli_remote *r, cli_answer *out, cli_starter start,
                             void *data, void (*tick)(void *data),
                             int every_ms);

/* Makes a call of the API, as declared in src/api/schema, and waits for its
 * answer.  Frees `arguments`, a JSON object; NULL means that memory was
 * short. */
void cli_call(cli_remote *r, cli_answer *out, const char *call,
              char *arguments);
/* The same, ignoring the answer's body.  Returns false after printing an
 * error. */
bool cli_call_do(cli_remote *r, const char *call, char *arguments);
/* The same, and parses the answer as JSON.  Returns false if the call failed;
 * cli_call_read() prints the error, cli_call_quietly() does not. */
bool cli_call_read(cli_remote *r, pai_json **out, const char *call,
                   char *arguments);
bool cli_call_quietly(cli_remote *r, pai_json **out, const char *call,
                      char *arguments);
/* Parses an answer as JSON.  Returns false after printing an error. */
bool cli_answer_read(const cli_answer *a, pai_json **out);
char *cli_no_arguments(void);
/* Returns {"job":"USER~NAME"} plus more members, such as ",\"limit\":1". */
char *cli_job_arguments(const char *name, const char *more);
/* Reads all about a job (jobs.show).  Returns false after printing an
 * error. */
bool cli_job_read(cli_remote *r, pai_json **out, const char *name);

/* Submits a job; a retry after a lost answer does not submit it twice. */
void cli_remote_submit(cli_remote *r, cli_answer *out,
                       const pai_client_job_file *job);
/* Sends a body, which may be large, with PUT.  Shows the progress of the
 * upload under the name `what`, unless it is NULL. */
void cli_remote_send(cli_remote *r, cli_answer *out, const char *path,
                     const char *type, const char *body, size_t len,
                     const char *what);

/* Requests a stream and waits for its end.  on_bytes ends it early by
 * returning a negative number.  tick, if not NULL, is called after each step
 * of the loop. */
typedef struct cli_stream {
  pai_write_cb on_bytes;
  void (*tick)(void *user_data);
  void *user_data;
  int every_ms; /* longest time between ticks; 0: no limit */
} cli_stream;
void cli_remote_stream(cli_remote *r, cli_answer *out, const char *path,
                       const cli_stream *stream);

/* Reports the states of a job until it is over, from any server
 * (original.c). */
typedef struct cli_watch {
  const char *job;
  int (*on_change)(void *user_data, const pai_client_change *change);
  void (*tick)(void *user_data); /* NULL is allowed */
  void *user_data;
  int every_ms; /* as in cli_stream */
} cli_watch;
void cli_remote_watch(cli_remote *r, cli_answer *out, const cli_watch *watch);

/* Ends the platform, with `kill` its tasks too, and waits for that.  Returns
 * an exit code; success if no platform runs (cmd_down.c). */
int cli_end_platform(cli_remote *r, bool kill, bool quiet);

void cli_answer_free(cli_answer *a);
/* Prints what went wrong to stderr. */
void cli_answer_tell(const cli_answer *a);

/* Returns "USER~NAME", for free().  A name without a user means this user. */
char *cli_whole_name(const char *name);
/* Returns "/api/v2/jobs/USER~NAME" plus `rest`, for free(); NULL without
 * memory.  A name without a user means this user. */
char *cli_job_path(const char *name, const char *rest);
/* Escapes a string for use in a path or query, for free(). */
char *cli_escape(const char *text);
/* Returns whether a string can be a job's name; if not, prints an error. */
bool cli_job_name(const char *name);

/* --- roots (posix_root.c) --- */

/* The value of --root, given before or after the verb; NULL: not given. */
extern const char *cli_root;
/* Set by verbs that may create the root given with --root.  Other verbs fail
 * if it does not exist: the path is probably mistyped. */
extern bool cli_makes_root;
/* Returns whether a platform may be started in this root. */
bool cli_may_start(const char *root);
/* Returns the absolute path of the root, for free(): the given one, or this
 * user's default.  NULL after printing an error. */
char *cli_root_path(void);
/* Clears the owner's bits of the umask, so that this user can read and write
 * what is created. */
void cli_keep_owner(void);
/* As cli_root_path(), but returns the root of the system platform if that runs
 * and this user's own does not. */
char *cli_find_root(void);
const char *cli_system_root(void);
/* Returns whether a process listens at a socket and this user may connect. */
bool cli_listens(const char *path);
/* Returns the path of the socket of this root's platform, for free(). */
char *cli_socket_path(const char *root);
/* Returns whether a root belongs to another user. */
bool cli_is_foreign(const char *root);
/* Returns this user's name, as the platform knows it. */
const char *cli_user(void);
/* Sets the user name on a server, instead of cli_user()'s.  The name is
 * copied.  NULL: back to the default. */
void cli_be_user(const char *name);
/* Returns the current folder, for free(), or NULL. */
char *cli_here(void);
/* Returns an absolute path, for free(), or NULL; the file need not exist. */
char *cli_absolute(const char *path);
/* Returns PATH/NAME, for free(). */
char *cli_join(const char *path, const char *name);

/* --- posix_start.c --- */

/* Starts a platform in the root, in the background, and waits until it serves.
 * Returns false after printing an error. */
bool cli_start_platform(const char *root);
/* --runtime and --policy of a platform that is started, or NULL. */
extern const char *cli_start_runtime, *cli_start_policy;
/* More words for `up`; NULL ends them. */
extern const char *cli_start_more[20];
extern bool cli_start_system;
/* Creates a folder and its parents with access for this user only.  Returns
 * false after printing an error. */
bool cli_make_folder(const char *path);
/* Returns the descriptor on which a platform that cli_start_platform() started
 * reports that it serves, or -1. */
int cli_ready_fd(void);

#endif
