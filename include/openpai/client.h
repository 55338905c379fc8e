/**
 * @file openpai/client.h
 * Speaks OpenPAI's REST API: with the platform of this user on this machine,
 * through its socket, or with any server at a URL, OpenPAI's own of v1.8 too.
 *
 * An operation that was started calls back exactly once, from the loop, never
 * from inside the call that starts it; pai_op_cancel() makes that
 * PAI_ECANCELED.  In a callback everything may be called but what runs the
 * loop.
 *
 * What can be sent again without harm is, if the options say so: what was not
 * sent at all, or was refused for the moment (429, 503), and after a cut or a
 * time limit GET, HEAD, PUT and DELETE.  A job that is submitted has its name:
 * where the answer was lost and the name is then found to be taken, it is
 * looked at whether this job has taken it.
 *
 * Credentials go to the server of the URL, and to no other to which that
 * leads; they are in no error.  Certificates are always looked at.
 *
 * Threads: LOOP.
 */
#ifndef OPENPAI_CLIENT_H
#define OPENPAI_CLIENT_H

#include <openpai/files.h>
#include <openpai/loop.h>

PAI_BEGIN_DECLS

typedef struct pai_client pai_client; /**< opaque; pai_client_close() */
typedef struct pai_op pai_op;         /**< borrowed until it has called back */

/** A request that is made again; borrowed during the callback. */
typedef struct pai_client_retry {
  size_t struct_size;
  const char *method;
  const char *path;     /**< without its query */
  uint32_t tries;       /**< that failed so far */
  pai_time wait;        /**< until the next one */
  int http_status;      /**< 0: there was no answer */
  const pai_error *err; /**< why the last one failed */
} pai_client_retry;

/** Options of pai_client_new(). */
typedef struct pai_client_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  const char *socket;     /**< path of the platform's UNIX socket; it must be
                               this user's, and so must who listens there */
  pai_time connect_time;  /**< after so long without a connection a request
                               fails; 0: 10 seconds */
  const char *url; /**< in the place of a socket: "https://pai.example.org" and
                        a path before "/api", as "/rest-server", if there is
                        one; http or https */
  const char
    *token;         /**< that proves who asks: of a login, or an application's;
                          NULL: none */
  const char *user; /**< with a password: logs in at first need, and again when
                          the token is no longer good */
  const char *password;
  const char *proxy;   /**< NULL: what the environment says (https_proxy,
                              no_proxy, ...); "": none */
  const char *ca_file; /**< authorities that sign certificates, in PEM, instead
                              of the system's; NULL: those */
  const char *cert_file; /**< a certificate of this client's, and its key */
  const char *key_file;
  pai_time idle_time;  /**< after so long without a byte a request fails, in
                            whole seconds; 0: 60 seconds with a URL, else
                            never; negative: never */
  pai_time total_time; /**< the same for a request with all its tries; 0 or
                            less: never */
  uint32_t most_tries; /**< of one request; 0: 5 with a URL, else 1 */
  pai_time first_wait; /**< before the second try, about; then twice as long
                            each time.  0: 0.25 seconds */
  pai_time most_wait;  /**< 0: 15 seconds.  A server may ask for more, up to 10
                            minutes */
  uint64_t seed;       /**< of how long is waited exactly; 0: any */
  uint64_t most_answer; /**< bytes of an answer that is kept; 0: 256 MiB */
  void *user_data;
  /** A request will be made again.  NULL is allowed. */
  void (*on_retry)(void *user_data, const pai_client_retry *retry);
  pai_time stream_time; /**< a stream of events or of a log is asked for again
                             after so long, from where it was: its connection
                             may have gone silent.  0: 50 seconds with a URL,
                             else 5 minutes.  @since 0.1 */
} pai_client_options;

#define PAI_CLIENT_OPTIONS_INIT                                              \
  {                                                                          \
    sizeof(pai_client_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      0, 0, 0, 0, 0, 0                                                       \
  }

/** What to ask.  Texts are copied. */
typedef struct pai_client_request {
  size_t struct_size;
  const char *method; /**< NULL: "GET" */
  const char *path;   /**< "/api/v2/jobs?limit=20" */
  const char *type;   /**< of the body; NULL: "application/json" */
  const void *body;   /**< NULL: none */
  size_t body_len;
  const char *accept; /**< NULL: "application/json" */
  /** Receives the body of a good answer (2xx) as it comes, instead of the
   *  callback.  A negative answer ends the request with it.  Once something has
   *  come, the request is not made again. */
  pai_write_cb on_body;
  pai_time idle_time;  /**< 0: the client's, or never with on_body */
  pai_time total_time; /**< 0: the client's */
  uint32_t most_tries; /**< 0: the client's */
  /** So much of the body has been sent; from 0 again where it is sent again.
   *  With the callback's user_data.  NULL is allowed. */
  void (*on_sent)(void *user_data, uint64_t sent, uint64_t total);
} pai_client_request;

#define PAI_CLIENT_REQUEST_INIT                                 \
  {                                                             \
    sizeof(pai_client_request), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/** What was answered; borrowed during the callback. */
typedef struct pai_client_answer {
  size_t struct_size;
  int http_status;  /**< 0: there was no answer */
  const char *body; /**< ends with a NUL beyond body_len */
  size_t body_len;
  const char *type;     /**< of the body, or "" */
  const char *code;     /**< of an error answer, as "NoJobError", or "" */
  const pai_error *err; /**< of a failure: what the server said, or why there
                             is no answer */
  uint32_t tries;       /**< it took so many */
  int64_t total;     /**< of pai_client_jobs(): how many there are; else -1 */
  const char *state; /**< of pai_client_job(), pai_client_wait(): "RUNNING", as
                          the API names it; else "" */
  int exit_code;     /**< of a job that is over */
} pai_client_answer;

/**
 * @param status  PAI_OK: an answer of 2xx.  Of others PAI_ENOTFOUND (404),
 *                PAI_EEXISTS (409), PAI_EPERM (401, 403), PAI_EINVAL (other
 *                4xx), PAI_EBUSY (429, 503), PAI_EIO; PAI_ECANCELED.  Without
 *                one PAI_ENOTFOUND: nobody listens there, or there is no such
 *                host; PAI_EPERM: it cannot be trusted; PAI_EIO;
 *                pai_error_retriable() tells whether it may be tried later
 */
typedef void (*pai_client_cb)(void *user_data, int status,
                              const pai_client_answer *answer);

/** Makes a client.  Nothing is connected yet.
 *  @return PAI_OK; PAI_EINVAL: no good URL, or both a socket and a URL, or
 *          neither; PAI_ENOMEM; as pai_loop_new()  @since 0.1 */
PAI_API PAI_NODISCARD int pai_client_new(pai_client **out, pai_loop *loop,
                                         const pai_client_options *opts,
                                         pai_error **err);

/**
 * Ends a client: its operations call back with PAI_ECANCELED, then @p closed
 * is called.  NULL is allowed.
 * @since 0.1
 */
PAI_API void pai_client_close(pai_client *client, void (*closed)(void *),
                              void *user_data);

/**
 * Asks anything.
 * @param[out] op   NULL is allowed; else, the operation, to cancel it
 * @return PAI_OK: it will call back; PAI_EINVAL; PAI_EBUSY: the client is
 *         being closed; PAI_ENOMEM.  So do all functions below that take a
 *         pai_client_cb
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_ask(pai_op **op, pai_client *client,
                                         const pai_client_request *request,
                                         pai_client_cb cb, void *user_data,
                                         pai_error **err);

/** Ends it early, also while it is paused.  Not after it has called back.
 *  @since 0.1 */
PAI_API void pai_op_cancel(pai_op *op);

/**
 * Whoever takes what comes has enough for now: of the answer nothing more is
 * handed on, and nothing more is read, so that in the end the server waits.
 * Also from inside on_body, on_data or on_change; what such a call was given
 * is taken, and of changes that came in the same piece the rest is still told.
 * Meanwhile idle_time stands still, total_time goes on; and as nothing is read,
 * a cut is not noticed before it goes on.  The end may come meanwhile, where
 * nothing else was to come, or if the time is over.  A server may hang up on
 * whoever reads nothing for long: logs and changes go on where they were, a
 * body that was asked for by pai_client_ask() fails with PAI_EIO.
 * Pausing twice is pausing once.  NULL is allowed.  Not after it has called
 * back.
 * @since 0.1
 */
PAI_API void pai_op_pause(pai_op *op);

/** Goes on with what was paused: later, from the loop.  NULL is allowed.  Not
 *  after it has called back.  @since 0.1 */
PAI_API void pai_op_resume(pai_op *op);

/* --- who asks ------------------------------------------------------------------ */

/**
 * Logs in, and uses the token, and these when it is no longer good, from now
 * on.  The answer is {"user", "token", "admin"}.
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_login(pai_op **op, pai_client *client,
                                           const char *user,
                                           const char *password,
                                           pai_client_cb cb, void *user_data,
                                           pai_error **err);

/** Makes the server forget the token, and then the client, with the password
 *  if it has one.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_client_logout(pai_op **op, pai_client *client,
                                            pai_client_cb cb, void *user_data,
                                            pai_error **err);

/** The token that is used now, or NULL: to be kept where secrets are.  Until
 *  the client is asked for something.  @since 0.1 */
PAI_API const char *pai_client_token(const pai_client *client);

/** Who that says one is, or NULL.  @since 0.1 */
PAI_API const char *pai_client_user(const pai_client *client);

/* --- jobs: named "user~name" --------------------------------------------------- */

/** What the server is.  One of this library says {"server": "libopenpai"}.
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_client_info(pai_op **op, pai_client *client,
                                          pai_client_cb cb, void *user_data,
                                          pai_error **err);

/** What is submitted.  Borrowed during the call. */
typedef struct pai_client_job_file {
  size_t struct_size;
  const char *text; /**< the job's file; NULL: spec */
  size_t len;       /**< 0: up to a NUL */
  const pai_spec *spec;
  const char *name; /**< of the job; NULL: as the file says */
  const void *code; /**< a tar archive of the folder that its commands begin
                          in; NULL: none.  Only for servers of this library */
  size_t code_len;
  /** So much of the code has been sent; from 0 again where it is sent again.
   *  With the callback's user_data.  NULL is allowed. */
  void (*on_progress)(void *user_data, uint64_t sent, uint64_t total);
  const char *query; /**< more parameters of the address, encoded, as
                          "workDir=%2Ftmp"; NULL: none.  Only for servers of
                          this library */
  int name_in_query; /**< 1: the name is a parameter of the address, and the
                          file stays as it is.  Likewise */
} pai_client_job_file;

#define PAI_CLIENT_JOB_FILE_INIT                           \
  {                                                        \
    sizeof(pai_client_job_file), 0, 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Submits a job.  PAI_EEXISTS: there is a job of that name already, and it is
 * another one.
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_submit(pai_op **op, pai_client *client,
                                            const pai_client_job_file *job,
                                            pai_client_cb cb, void *user_data,
                                            pai_error **err);

/** A page of jobs: a JSON array of items of `GET /jobs`, or with with_total
 *  {"totalCount", "data"}.  @param query  NULL: all  @since 0.1 */
PAI_API PAI_NODISCARD int pai_client_jobs(pai_op **op, pai_client *client,
                                          const pai_job_query *query,
                                          pai_client_cb cb, void *user_data,
                                          pai_error **err);

/** All about a job.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_client_job(pai_op **op, pai_client *client,
                                         const char *job, pai_client_cb cb,
                                         void *user_data, pai_error **err);

/** The file of a job as JSON, secrets masked.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_client_config(pai_op **op, pai_client *client,
                                            const char *job, pai_client_cb cb,
                                            void *user_data, pai_error **err);

/** Stops a job; it is over a little later.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_client_stop(pai_op **op, pai_client *client,
                                          const char *job, pai_client_cb cb,
                                          void *user_data, pai_error **err);

/** Gives a job a tag, or takes it away.  @param on  1: gives  @since 0.1 */
PAI_API PAI_NODISCARD int pai_client_tag(pai_op **op, pai_client *client,
                                         const char *job, const char *tag,
                                         int on, pai_client_cb cb,
                                         void *user_data, pai_error **err);

/* --- what happens ---------------------------------------------------------------- */

/** A job has come to another state; borrowed during the callback. */
typedef struct pai_client_change {
  size_t struct_size;
  const char *job;   /**< "user~name" */
  const char *state; /**< "RUNNING", as the API names it */
  int final;         /**< 1: it is over */
  int exit_code;     /**< then; 0 if the server does not say */
} pai_client_change;

/**
 * Tells of jobs' states: first as they are, then what changes, through cuts and
 * restarts of the server, until it is cancelled or its one job is over.  Of a
 * server of this library by its stream of events, of others by asking again and
 * again: a state that lasts for less than some seconds may go unnoticed there.
 *
 * @param job        of this one; NULL: of all that are not over, and that who
 *                   asks may see
 * @param on_change  a negative answer ends it with that
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_watch(
  pai_op **op, pai_client *client, const char *job,
  int (*on_change)(void *user_data, const pai_client_change *change),
  pai_client_cb cb, void *user_data, pai_error **err);

/** Waits until a job is over; the answer is all about it.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_client_wait(pai_op **op, pai_client *client,
                                          const char *job, pai_client_cb cb,
                                          void *user_data, pai_error **err);

/** Which log to read.  Texts are copied. */
typedef struct pai_client_log_options {
  size_t struct_size;
  const char *job;
  const char *role;
  uint32_t index;
  const char *name; /**< "stdout", "stderr", "all", "runtime"; NULL: "all" */
  uint64_t offset;  /**< from which byte on */
  int follow; /**< 1: what is still to come, too, until the task is over */
  /** Takes the bytes, each once and in order.  A negative answer ends it with
   *  that. */
  pai_write_cb on_data;
} pai_client_log_options;

#define PAI_CLIENT_LOG_OPTIONS_INIT                     \
  {                                                     \
    sizeof(pai_client_log_options), 0, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Reads the log of a task's latest start; after a cut it goes on with the next
 * byte.  PAI_ENOTFOUND: there is none yet.
 * @param user_data  of @p cb and of on_data
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_logs(pai_op **op, pai_client *client,
                                          const pai_client_log_options *opts,
                                          pai_client_cb cb, void *user_data,
                                          pai_error **err);

/* --- files of a job ---------------------------------------------------------- */

/** A list of files of a job, as pai_platform_list_files() writes it; `own` is
 *  of no effect.  `folder` is null for callers elsewhere.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_client_files(pai_op **op, pai_client *client,
                                           const char *job,
                                           const pai_files_options *opts,
                                           pai_client_cb cb, void *user_data,
                                           pai_error **err);

/** Which file to fetch.  Texts are copied. */
typedef struct pai_client_get_file_options {
  size_t struct_size;
  const char *job;
  const char *path; /**< as pai_client_files() lists it */
  uint64_t offset;  /**< of the first byte to fetch */
  int64_t modified; /**< as the list says, with an offset that is not 0: if the
                         file was changed since, PAI_EEXISTS.  0: any */
  /** Takes the bytes, each once and in order.  A negative answer ends the
   *  operation with it. */
  pai_write_cb on_data;
} pai_client_get_file_options;

#define PAI_CLIENT_GET_FILE_OPTIONS_INIT               \
  {                                                    \
    sizeof(pai_client_get_file_options), 0, 0, 0, 0, 0 \
  }

/**
 * Fetches a file of a job; after a cut it goes on with the next byte.
 * PAI_EEXISTS: the file has changed meanwhile.
 * @param user_data  of @p cb and of on_data
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_get_file(
  pai_op **op, pai_client *client, const pai_client_get_file_options *opts,
  pai_client_cb cb, void *user_data, pai_error **err);

/** What to send.  Texts are copied. */
typedef struct pai_client_put_file_options {
  size_t struct_size;
  const char *job;
  const char *path;    /**< where it goes, from the job's folder; one that ends
                            with "/" is a folder of size 0, which is made */
  const char *upload;  /**< a name, as in pai_file_write_options, under which
                            another operation may go on; NULL: none does */
  uint64_t size;       /**< of the file */
  pai_read_at_cb read; /**< reads the file; called from the loop */
  int executable;
  /** So much of the file is there.  NULL is allowed. */
  void (*on_progress)(void *user_data, uint64_t sent, uint64_t total);
} pai_client_put_file_options;

#define PAI_CLIENT_PUT_FILE_OPTIONS_INIT                     \
  {                                                          \
    sizeof(pai_client_put_file_options), 0, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Sends a file into a job's folder, in pieces of some MiB.  A piece that was
 * cut is sent again; an upload with a name goes on behind what has arrived.
 * The answer is {"path", "received", "size", "complete"}.
 * @param user_data  of @p cb, read and on_progress
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_put_file(
  pai_op **op, pai_client *client, const pai_client_put_file_options *opts,
  pai_client_cb cb, void *user_data, pai_error **err);

/* --- users ------------------------------------------------------------------------ */

/** All users.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_client_users(pai_op **op, pai_client *client,
                                           pai_client_cb cb, void *user_data,
                                           pai_error **err);

/* --- into a task ------------------------------------------------------------- */

/** A command that runs in a task, or a task's own standard input; opaque. */
typedef struct pai_session pai_session;

/** In which way a session is over. */
enum {
  PAI_SESSION_EXIT = 1, /**< the command exited: code; of an attached session:
                               its input has come to its end */
  PAI_SESSION_SIGNAL = 2, /**< a signal ended it: signal, and code is 128 + its
                               number */
  PAI_SESSION_FAILED = 3, /**< it was not started: code is 126 or 127, as of a
                               shell; text says why */
  PAI_SESSION_LOST =
    4 /**< the stream ended without a word: the task has ended,
                               and the command with it; text says more */
};

/** How a session ended; borrowed during the callback. */
typedef struct pai_session_end {
  size_t struct_size;
  int how; /**< PAI_SESSION_*; 0: there was none, see err */
  int code;
  int signal;
  const char *text;     /**< why, or "" */
  const pai_error *err; /**< of a failure to reach the task, or NULL */
  int http_status;      /**< of the server's refusal, or 0 */
  const char *api_code; /**< of that, as "NoTaskError", or "" */
} pai_session_end;

/** What is to run.  Texts are copied. */
typedef struct pai_session_options {
  size_t struct_size;
  const char *const *command; /**< its words, up to a NULL; NULL: the user's
                                   shell */
  const char *terminal;       /**< its kind, as of $TERM; NULL: not known */
  uint32_t columns, rows;     /**< of the terminal, up to 65535 */
  int tty;    /**< 1: it has a terminal, and then all its output is
                               of stream 1 */
  int attach; /**< 1: no command; what is written goes to the standard input,
                   or the terminal, of a task that was started with one.  Its
                   output is in its logs */
  void *user_data;
  /** From now on it runs, or is attached.  NULL is allowed.
   *  @param terminal  1: what it reads and writes is a terminal */
  void (*on_started)(void *user_data, int terminal);
  /** What it says: stream 1 or 2. */
  void (*on_output)(void *user_data, int stream, const char *bytes,
                    size_t len);
  /** All that was written has left; more is welcome.  NULL is allowed. */
  void (*on_room)(void *user_data);
  /** Once, last of all; the session is gone then.
   *  @param status  PAI_OK, and how it ended; or as of a request, PAI_EINVAL:
   *                 the task does not run, PAI_ENOTFOUND: no such job or task,
   *                 or nobody listens, PAI_EPERM: one may not, or the server
   *                 cannot be trusted, PAI_EBUSY: the task has just begun, once
   *                 more; PAI_EIO: the connection broke off, and how the
   *                 command ended is not known */
  void (*on_end)(void *user_data, int status, const pai_session_end *end);
} pai_session_options;

#define PAI_SESSION_OPTIONS_INIT                                 \
  {                                                              \
    sizeof(pai_session_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Begins a session in a running task.  It needs no client after that; but where
 * that has a URL, and is closed before the server has answered, the session ends
 * with PAI_ECANCELED.  It has a connection of its own, for which the options of
 * the client hold: its proxy, whom it trusts, connect_time, and idle_time or
 * total_time until there is an answer.  A client with a user and a password logs
 * in first where it needs to.  Nothing is tried again.
 *
 * Over TLS what is said goes through the server: when that ends, so does the
 * command (PAI_SESSION_LOST).
 *
 * @param job  the job's name, as "user~name"
 * @return PAI_OK: on_end will be called; PAI_EINVAL; PAI_ELIMIT: the command
 *         is longer than 64 kB; PAI_EBUSY: the client is being closed;
 *         PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_enter(pai_session **out,
                                           pai_client *client, const char *job,
                                           const char *role, uint32_t index,
                                           const pai_session_options *opts,
                                           pai_error **err);

/**
 * Begins a session on a stream that pai_platform_enter() has opened.
 *
 * @param alloc  NULL: malloc; copied
 * @param fd     the session's from now on, also if this fails
 * @return as pai_client_enter()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_session_new(pai_session **out, pai_loop *loop,
                                          const pai_alloc *alloc, int fd,
                                          const pai_session_options *opts,
                                          pai_error **err);

/** Writes to its standard input.  What cannot leave yet is kept.
 *  @return PAI_OK; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_session_write(pai_session *session,
                                            const void *bytes, size_t len);

/** How many bytes have not left yet.  @since 0.1 */
PAI_API size_t pai_session_pending(const pai_session *session);

/** Nothing more will be written: its standard input ends; a terminal gets the
 *  character that says so.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_session_end_input(pai_session *session);

/** Its terminal has another size.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_session_resize(pai_session *session,
                                             uint32_t columns, uint32_t rows);

/** Stops reading what it says for a while, or goes on; allowed in callbacks.
 *  While it is paused neither on_output nor on_end comes, unless it could not
 *  begin; what is written leaves as ever, and a command that says more than
 *  sockets hold waits.  NULL is allowed.  @since 0.1 */
PAI_API void pai_session_pause(pai_session *session, int paused);

/** Sends a signal to its processes.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_session_signal(pai_session *session, int number);

/** Hangs up: a command gets SIGHUP and is killed soon after, an attached task
 *  goes on.  No callback comes after this.  NULL is allowed.  @since 0.1 */
PAI_API void pai_session_close(pai_session *session);

PAI_END_DECLS

#endif /* OPENPAI_CLIENT_H */
