/* remote.h - the platform of this user, asked through its socket, or another
 * server by its URL */
#ifndef PAI_SRC_CLI_REMOTE_H
#define PAI_SRC_CLI_REMOTE_H

#include "sites.h"

typedef struct cli_remote {
  pai_loop *loop;
  pai_client *client;
  char *root;    /* absolute; NULL: it is a server at a URL */
  char *socket;  /* where it is asked */
  cli_site site; /* of a server at a URL */
  int original;  /* of that: 1: OpenPAI's own; 0: of this library; -1: nobody
                    has asked */
  bool start;    /* a platform that does not run is started */
} cli_remote;

/* An answer; cli_answer_free(). */
typedef struct cli_answer {
  int status; /* PAI_* */
  int http;   /* 0: none came */
  char *body;
  size_t len;
  char code[64];
  char message[1024], help[256];
} cli_answer;

/* `start`: a platform that does not run is started when it is asked for the
 * first time.  False, and told: there is no root, or no memory. */
bool cli_remote_open(cli_remote *r, bool start);
void cli_remote_close(cli_remote *r);
/* The same for a server whose site the caller knows; `token` may be NULL. */
bool cli_remote_open_site(cli_remote *r, const cli_site *site,
                          const char *token);

/* Whether it is a server of the original OpenPAI, which cannot all that ours
 * can. */
bool cli_remote_is_original(cli_remote *r);
/* Starts a call of the client, which the function does with a callback and its
 * user data, and waits for its answer. */
typedef int (*cli_starter)(cli_remote *r, void *data, pai_client_cb cb,
                           void *user_data, pai_error **err);
/* In other callbacks of such a call: the data, of their user data. */
void *cli_remote_data(void *user_data);
void cli_remote_call(cli_remote *r, cli_answer *out, cli_starter start,
                     void *data, void (*tick)(void *data));
/* The same, with a tick at least so often. */
void cli_remote_call_ticking(cli_remote *r, cli_answer *out, cli_starter start,
                             void *data, void (*tick)(void *data),
                             int every_ms);

/* Asks and waits.  `type` NULL: JSON; `body` NULL: none. */
void cli_remote_ask(cli_remote *r, cli_answer *out, const char *method,
                    const char *path, const char *type, const char *body,
                    size_t len);
/* Submits a job; an answer that was lost does not submit it twice. */
void cli_remote_submit(cli_remote *r, cli_answer *out,
                       const pai_client_job_file *job);
/* The same with PUT, of what may be large: `what` it is, and how much of it has
 * left, is shown, or, NULL, not. */
void cli_remote_send(cli_remote *r, cli_answer *out, const char *path,
                     const char *type, const char *body, size_t len,
                     const char *what);
/* The same with JSON as its answer.  False: it was no good one, and that is
 * told. */
bool cli_remote_get(cli_remote *r, cli_json *out, const char *path);
/* Asks for a stream, and waits for its end; on_bytes may end it with a negative
 * answer, and tick, if not NULL, is called after each turn of the loop. */
typedef struct cli_stream {
  pai_write_cb on_bytes;
  void (*tick)(void *user_data);
  void *user_data;
  int every_ms; /* and at least so often; 0: not without a turn */
} cli_stream;
void cli_remote_stream(cli_remote *r, cli_answer *out, const char *path,
                       const cli_stream *stream);

/* Tells of a job's states until it is over, of any server (original.c). */
typedef struct cli_watch {
  const char *job;
  int (*on_change)(void *user_data, const pai_client_change *change);
  void (*tick)(void *user_data); /* NULL is allowed */
  void *user_data;
  int every_ms; /* as of a stream */
} cli_watch;
void cli_remote_watch(cli_remote *r, cli_answer *out, const cli_watch *watch);
/* A log of a task, of a server of the original (original.c). */
typedef struct cli_log {
  const char *job, *role, *name; /* NULL: "all" */
  uint32_t index;
  bool follow;
  pai_write_cb on_bytes;
} cli_log;
void cli_remote_log(cli_remote *r, cli_answer *out, const cli_log *log);

/* cmd_down.c: ends the platform, or with `kill` its tasks, too, and waits for
 * that.  An exit code; none to be ended is a good one. */
int cli_end_platform(cli_remote *r, bool kill, bool quiet);

void cli_answer_free(cli_answer *a);
/* What went wrong, on stderr. */
void cli_answer_tell(const cli_answer *a);

/* "USER~NAME" of a name that may lack the user, who is then this one, for
 * free(). */
char *cli_whole_name(const char *name);
/* "/api/v2/jobs/USER~NAME" and what follows, for free(): `name` may lack the
 * user, who is then this one.  NULL without memory. */
char *cli_job_path(const char *name, const char *rest);
/* A text as a part of a path or query, for free(). */
char *cli_escape(const char *text);
/* Whether a name can be one; if not, that is told. */
bool cli_job_name(const char *name);

/* --- where (posix_root.c) --- */

/* --root as it was given, before or after the verb; NULL: it was not. */
extern const char *cli_root;
/* Set by verbs that may make a root that was named and is not there: others
 * would only look into an empty one, behind a typing error. */
extern bool cli_makes_root;
/* Whether a platform may be started there. */
bool cli_may_start(const char *root);
/* The root, absolute, for free(): as it was given, or this user's own; NULL and
 * told. */
char *cli_root_path(void);
/* Whatever the shell's mask, this user may read and write what is made. */
void cli_keep_owner(void);
/* The same, but for the root of all users' platform where that runs and this
 * user's own does not. */
char *cli_find_root(void);
const char *cli_system_root(void);
/* Whether anybody listens at the path of a socket, and this user may ask. */
bool cli_listens(const char *path);
/* Where a platform of this root listens, for free(). */
char *cli_socket_path(const char *root);
/* Whether a root is another user's. */
bool cli_is_foreign(const char *root);
/* This user's name, as the platform has it. */
const char *cli_user(void);
/* Who one is at a server, instead of that; not kept.  NULL: as before. */
void cli_be_user(const char *name);
/* The present folder, for free(), or NULL. */
char *cli_here(void);
/* A path as from the root, for free(), or NULL; nothing need be there. */
char *cli_absolute(const char *path);
/* PATH/NAME, for free(). */
char *cli_join(const char *path, const char *name);

/* --- posix_start.c --- */

/* Starts a platform in the root, in the background, and waits until it serves.
 * False, and told. */
bool cli_start_platform(const char *root);
/* The --runtime and --policy of one that is started, or NULL; and whether it is
 * of all users. */
extern const char *cli_start_runtime, *cli_start_policy;
/* More words of `up`; NULL ends them. */
extern const char *cli_start_more[20];
extern bool cli_start_system;
/* Makes a folder and those above it, for this user only.  False, and told. */
bool cli_make_folder(const char *path);
/* The descriptor on which a platform that was started so says that it serves,
 * or -1. */
int cli_ready_fd(void);

#endif
