/**
 * @file openpai/client.h
 * Client of OpenPAI's REST API.  It connects to a platform on this machine
 * through its socket, or to any server at a URL, including OpenPAI's own
 * server of v1.8.
 *
 * A started operation calls back exactly once, from the loop, never from
 * inside the call that starts it.  After pai_op_cancel() it calls back with
 * PAI_ECANCELED.  A callback may call every function except those that run the
 * loop.
 *
 * If the options allow retries, requests are repeated when that is safe:
 * requests that were not sent at all or were refused for the moment (429,
 * 503), and, after a broken connection or a time limit, GET, HEAD, PUT and
 * DELETE.  When the answer to a submitted job was lost and the job's name is
 * then taken, the client checks whether this submission created that job.
 *
 * Credentials are sent only to the server of the URL, not to servers to which
 * it redirects.  Credentials never appear in errors.  Certificates are always
 * verified.
 *
 * Threads: LOOP.
 */
#ifndef OPENPAI_CLIENT_H
#define OPENPAI_CLIENT_H

#include <openpai/loop.h>
#include <openpai/spec.h>

PAI_BEGIN_DECLS

typedef struct pai_client pai_client; /**< opaque; pai_client_close() */

/** A request that will be repeated; valid during the callback. */
typedef struct pai_client_retry {
  size_t struct_size;
  const char *method;
  const char *path;     /**< without its query */
  uint32_t tries;       /**< failed tries so far */
  pai_time wait;        /**< time until the next try */
  int http_status;      /**< 0: there was no answer */
  const pai_error *err; /**< error of the last try */
} pai_client_retry;

/** Options of pai_client_new(). */
typedef struct pai_client_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  const char *socket;     /**< path of the platform's UNIX socket; the socket
                               and the process that listens there must belong
                               to this user */
  pai_time connect_time;  /**< time limit of connecting; 0: 10 seconds */
  const char *url;   /**< instead of a socket: an http or https URL such as
                          "https://pai.example.org", with the path before
                          "/api", such as "/rest-server", if there is one */
  const char *token; /**< token of a login or of an application; NULL: none */
  const char *user;  /**< with password: the client logs in before the first
                          request that needs a token, and again when the token
                          has become invalid */
  const char *password;
  const char *proxy;     /**< proxy; NULL: as set in the environment
                              (https_proxy, no_proxy, ...); "": none */
  const char *ca_file;   /**< file of certificate authorities to trust, in PEM;
                              NULL: the system's */
  const char *cert_file; /**< files of a client certificate and its key */
  const char *key_file;
  pai_time idle_time;  /**< time without a byte after which a request fails, in
                            whole seconds; 0: 60 seconds with a URL, else none;
                            negative: none */
  pai_time total_time; /**< time limit of a request with all its tries; 0 or
                            less: none */
  uint32_t most_tries; /**< most tries of a request; 0: 5 with a URL, else 1 */
  pai_time first_wait; /**< approximate wait before the second try; it doubles
                            with each further try.  0: 0.25 seconds */
  pai_time most_wait;  /**< longest wait; 0: 15 seconds.  A server may ask for
                            up to 10 minutes */
  uint64_t seed;       /**< seed of the random part of waits; 0: any */
  uint64_t most_answer; /**< most bytes of an answer that is stored; 0: 256
                             MiB */
  void *user_data;
  /** Called before the wait for a retry.  NULL is allowed. */
  void (*on_retry)(void *user_data, const pai_client_retry *retry);
  pai_time stream_time; /**< interval at which streams of events and logs are
                             requested anew, from their current position, in
                             case the connection has gone silent.  0: 50
                             seconds with a URL, else 5 minutes.  @since 0.1 */
} pai_client_options;

#define PAI_CLIENT_OPTIONS_INIT                                              \
  {                                                                          \
    sizeof(pai_client_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      0, 0, 0, 0, 0, 0                                                       \
  }

/** A request.  Texts are copied. */
typedef struct pai_client_request {
  size_t struct_size;
  const char *method; /**< NULL: "GET" */
  const char *path;   /**< "/api/v2/jobs?limit=20" */
  const char *type;   /**< content type of the body; NULL:
                           "application/json" */
  const void *body;   /**< NULL: none */
  size_t body_len;
  const char *accept; /**< NULL: "application/json" */
  /** Receives the body of a successful answer (2xx) in pieces, instead of the
   *  callback.  A negative return value ends the request with that status.
   *  Once a piece has arrived, the request is not repeated. */
  pai_write_cb on_body;
  pai_time idle_time;  /**< 0: as of the client, or none with on_body */
  pai_time total_time; /**< 0: as of the client */
  uint32_t most_tries; /**< 0: as of the client */
  /** Reports how much of the body has been sent; restarts from 0 when the
   *  request is repeated.  Called with the user_data of the callback.  NULL is
   *  allowed. */
  void (*on_sent)(void *user_data, uint64_t sent, uint64_t total);
} pai_client_request;

#define PAI_CLIENT_REQUEST_INIT                                 \
  {                                                             \
    sizeof(pai_client_request), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/** An answer; valid during the callback. */
typedef struct pai_client_answer {
  size_t struct_size;
  int http_status;  /**< 0: there was no answer */
  const char *body; /**< followed by a NUL at body_len */
  size_t body_len;
  const char *type;     /**< of the body, or "" */
  const char *code;     /**< error code of the API, such as "NoJobError", or
                             "" */
  const pai_error *err; /**< error of a failure: the server's message, or why
                             there is no answer */
  uint32_t tries;       /**< number of tries */
  const char *state; /**< of pai_client_wait(): state of the job as in the API,
                          such as "FAILED"; else "" */
  int exit_code;     /**< completion code of that job */
} pai_client_answer;

/**
 * @param status  PAI_OK: an answer of 2xx.  For other answers: PAI_ENOTFOUND
 *                (404), PAI_EEXISTS (409), PAI_EPERM (401, 403), PAI_EINVAL
 *                (other 4xx), PAI_EBUSY (429, 503), PAI_EIO; PAI_ECANCELED.
 *                Without an answer: PAI_ENOTFOUND: no such host, or no server
 *                listens there; PAI_EPERM: the server cannot be trusted;
 *                PAI_EIO.  pai_error_retriable() says whether a later try may
 *                succeed
 */
typedef void (*pai_client_cb)(void *user_data, int status,
                              const pai_client_answer *answer);

/** Creates a client, without connecting yet.
 *  @return PAI_OK; PAI_EINVAL: an invalid URL, both a socket and a URL, or
 *          neither; PAI_ENOMEM; as pai_loop_new()  @since 0.1 */
PAI_API PAI_NODISCARD int pai_client_new(pai_client **out, pai_loop *loop,
                                         const pai_client_options *opts,
                                         pai_error **err);

/**
 * Closes a client: its operations call back with PAI_ECANCELED, then @p closed
 * is called.  NULL is allowed.
 * @since 0.1
 */
PAI_API void pai_client_close(pai_client *client, void (*closed)(void *),
                              void *user_data);

/**
 * Sends a request.
 * @param[out] op   NULL, or receives the operation, for pai_op_cancel()
 * @return PAI_OK: @p cb will be called; PAI_EINVAL; PAI_EBUSY: the client is
 *         being closed; PAI_ENOMEM.  All functions below with a pai_client_cb
 *         return the same
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_ask(pai_op **op, pai_client *client,
                                         const pai_client_request *request,
                                         pai_client_cb cb, void *user_data,
                                         pai_error **err);

/**
 * Makes a call of the REST API by its name, such as "users.show".  The table
 * of calls defines its method, path and parameters.
 *
 * @param call       a name that pai_client_write_calls() lists
 * @param arguments  a JSON object, or NULL for none.  Each member is a
 *                   parameter of the path or of the query, or a member of the
 *                   body, or both; null in a path or a query counts as
 *                   missing.  In a query, a list becomes a text with commas.
 *                   If the body is not an object with known members, the
 *                   member `body` is the whole body: a string is sent as text,
 *                   any other value as JSON
 * @return as pai_client_ask(); PAI_EINVAL: no such call, an argument is
 *         missing or unknown, or the answer is a stream
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_call(pai_op **op, pai_client *client,
                                          const char *call,
                                          const char *arguments,
                                          pai_client_cb cb, void *user_data,
                                          pai_error **err);

/**
 * Writes the table of calls as a JSON list, in one piece: {"name", "summary",
 * "right", "method", "path", "arguments", "answers", "errors"}; an argument is
 * {"name", "in": "path", "query" or "body", "type", "required", "default",
 * "choices", "text"}.
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_write_calls(pai_write_cb write,
                                                 void *user_data,
                                                 pai_error **err);

/* --- logins -------------------------------------------------------------- */

/**
 * Logs in.  The client then uses the token, and logs in again with this user
 * and password when the token has become invalid.  The answer is {"user",
 * "token", "admin"}.
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_login(pai_op **op, pai_client *client,
                                           const char *user,
                                           const char *password,
                                           pai_client_cb cb, void *user_data,
                                           pai_error **err);

/** Logs out: the server revokes the token, then the client forgets the token
 *  and the password.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_client_logout(pai_op **op, pai_client *client,
                                            pai_client_cb cb, void *user_data,
                                            pai_error **err);

/** The current token, or NULL.  It is a secret.  Valid until the next call on
 *  the client.  @since 0.1 */
PAI_API const char *pai_client_token(const pai_client *client);

/** The user of the current token, or NULL.  @since 0.1 */
PAI_API const char *pai_client_user(const pai_client *client);

/* --- jobs: named "user~name" --------------------------------------------------- */

/** Asks for information about the server.  A server of this library answers
 *  {"server": "libopenpai"}; the client then uses the extensions of this
 *  library.
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_client_info(pai_op **op, pai_client *client,
                                          pai_client_cb cb, void *user_data,
                                          pai_error **err);

/** A job to submit.  Used only during the call. */
typedef struct pai_client_job_file {
  size_t struct_size;
  const char *text; /**< the job's file; NULL: use spec */
  size_t len;       /**< 0: the text ends with a NUL */
  const pai_spec *spec;
  const char *name; /**< name of the job; NULL: as in the file */
  const void *code; /**< tar archive of the working folder of the commands;
                         NULL: none.  Only for servers of this library */
  size_t code_len;
  /** Reports how much of the code has been sent; restarts from 0 when the
   *  request is repeated.  Called with the user_data of the callback.  NULL is
   *  allowed. */
  void (*on_progress)(void *user_data, uint64_t sent, uint64_t total);
  const char *query; /**< further query parameters, encoded, such as
                          "workDir=%2Ftmp"; NULL: none.  Only for servers of
                          this library */
  int name_in_query; /**< 1: send the name as a query parameter and leave the
                          file unchanged.  Only for servers of this library */
} pai_client_job_file;

#define PAI_CLIENT_JOB_FILE_INIT                           \
  {                                                        \
    sizeof(pai_client_job_file), 0, 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Submits a job.  PAI_EEXISTS: another job of that name exists.
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_submit(pai_op **op, pai_client *client,
                                            const pai_client_job_file *job,
                                            pai_client_cb cb, void *user_data,
                                            pai_error **err);

/* --- watching and logs --------------------------------------------------- */

/** A change of a job's state; valid during the callback. */
typedef struct pai_client_change {
  size_t struct_size;
  const char *job;   /**< "user~name" */
  const char *state; /**< state as in the API, such as "RUNNING" */
  int final;         /**< 1: the job is over */
  int exit_code;     /**< of a final state; 0 if the server does not report
                          it */
} pai_client_change;

/**
 * Watches the states of jobs: reports the current states, then each change,
 * until the operation is cancelled or the single watched job is over.  The
 * operation survives broken connections and restarts of the server.  Servers
 * of this library send a stream of events; other servers are polled, so a
 * state that lasts only a few seconds may be missed.
 *
 * @param job        the job; NULL: all live jobs that the user may see
 * @param on_change  a negative return value ends the operation with that
 *                   status
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_watch(
  pai_op **op, pai_client *client, const char *job,
  int (*on_change)(void *user_data, const pai_client_change *change),
  pai_client_cb cb, void *user_data, pai_error **err);

/** Waits until a job is over.  The answer is the job's details.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_client_wait(pai_op **op, pai_client *client,
                                          const char *job, pai_client_cb cb,
                                          void *user_data, pai_error **err);

/** Options of pai_client_logs(): the log to read.  Texts are copied. */
typedef struct pai_client_log_options {
  size_t struct_size;
  const char *job;
  const char *role;
  uint32_t index;
  const char *name; /**< "stdout", "stderr", "all", "runtime"; NULL: "all" */
  uint64_t offset;  /**< first byte to read */
  int follow;       /**< 1: continue with new output until the task is over */
  /** Receives the bytes, each once and in order.  A negative return value ends
   *  the operation with that status. */
  pai_write_cb on_data;
  int64_t tail;   /**< number of last lines; 0: all; -1: only new output.  Of
                       tail, offset and since, the latest position applies */
  pai_time since; /**< only output written at this time or later; negative:
                       relative to now by the server's clock; 0: all */
  const char *attempt; /**< number of the job's attempt; NULL: the latest */
  const char *retry; /**< number of the task's start in that attempt; NULL: the
                            latest */
  int timestamps;    /**< 1: put the time of writing before each line; a lost
                          connection then ends the operation */
} pai_client_log_options;

#define PAI_CLIENT_LOG_OPTIONS_INIT                                    \
  {                                                                    \
    sizeof(pai_client_log_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Reads the log of a task; after a broken connection it continues with the
 * next byte.  PAI_ENOTFOUND: the task has no log yet.  PAI_EBUSY: the server
 * allows no more streams of this user.  PAI_ENOTSUP: OpenPAI's own server has
 * no times in logs, and supports `tail` only without `follow`.
 * @param user_data  passed to @p cb and on_data
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_logs(pai_op **op, pai_client *client,
                                          const pai_client_log_options *opts,
                                          pai_client_cb cb, void *user_data,
                                          pai_error **err);

/* --- sessions ------------------------------------------------------------ */

/** A command in a task, or an attachment to the task's standard input;
 *  opaque. */
typedef struct pai_session pai_session;

/** How a session ended. */
enum {
  PAI_SESSION_EXIT = 1, /**< the command exited with code; an attached session:
                             its input has ended */
  PAI_SESSION_SIGNAL = 2, /**< a signal ended the command; code is 128 +
                               signal */
  PAI_SESSION_FAILED = 3, /**< the command was not started: code is 126 or 127,
                               as in a shell; text says why */
  PAI_SESSION_LOST =
    4 /**< the stream ended without a result: the task and the command have
           ended; text has details */
};

/** How a session ended; borrowed during the callback. */
typedef struct pai_session_end {
  size_t struct_size;
  int how; /**< PAI_SESSION_*; 0: the session did not begin, see err */
  int code;
  int signal;
  const char *text;     /**< why, or "" */
  const pai_error *err; /**< why the task could not be reached, or NULL */
  int http_status;      /**< status of the server's refusal, or 0 */
  const char *api_code; /**< error code of the refusal, such as "NoTaskError",
                             or "" */
} pai_session_end;

/** Options of a session.  Texts are copied. */
typedef struct pai_session_options {
  size_t struct_size;
  const char *const *command; /**< words of the command, then NULL; NULL: the
                                   user's shell */
  const char *terminal;       /**< type of the terminal, as in $TERM; NULL: not
                                   known */
  uint32_t columns, rows;     /**< size of the terminal, up to 65535 */
  int tty;    /**< 1: run the command in a terminal; all its output is then of
                   stream 1 */
  int attach; /**< 1: no command; input goes to the standard input or terminal
                   of a task that was started with one.  The task's output goes
                   to its logs */
  void *user_data;
  /** Called when the command runs, or the session is attached.  NULL is
   *  allowed.
   *  @param terminal  1: input and output of the session are a terminal */
  void (*on_started)(void *user_data, int terminal);
  /** Receives output: stream 1 or 2. */
  void (*on_output)(void *user_data, int stream, const char *bytes,
                    size_t len);
  /** Called when all written input has been sent.  NULL is allowed. */
  void (*on_room)(void *user_data);
  /** Called once, after all other callbacks; the session is then freed.
   *  @param status  PAI_OK: @p end says how the session ended.  Else as for a
   *                 request; PAI_EINVAL: the task does not run; PAI_ENOTFOUND:
   *                 no such job or task, or no server listens; PAI_EPERM: not
   *                 allowed, or the server cannot be trusted; PAI_EBUSY: the
   *                 task has only just started, try again; PAI_EIO: the
   *                 connection broke, and the result of the command is not
   *                 known */
  void (*on_end)(void *user_data, int status, const pai_session_end *end);
} pai_session_options;

#define PAI_SESSION_OPTIONS_INIT                                 \
  {                                                              \
    sizeof(pai_session_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Begins a session in a running task.  The session has its own connection and
 * outlives the client; but if a client with a URL is closed before the server
 * has answered, the session ends with PAI_ECANCELED.  The client's options
 * apply to the connection: proxy, certificate authorities, connect_time, and
 * idle_time or total_time until there is an answer.  A client with a user and
 * a password logs in first if necessary.  There are no retries.
 *
 * Over TLS the stream passes through the server process: when the server
 * process ends, the command ends, too (PAI_SESSION_LOST).
 *
 * @param job  the job's name, "user~name"
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
 * Begins a session on a stream opened by pai_platform_enter().
 *
 * @param alloc  NULL: malloc; copied
 * @param fd     the stream; the session takes ownership, also on failure
 * @return as pai_client_enter()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_session_new(pai_session **out, pai_loop *loop,
                                          const pai_alloc *alloc, int fd,
                                          const pai_session_options *opts,
                                          pai_error **err);

/** Writes to the standard input of the session.  Bytes that cannot be sent yet
 *  are buffered.
 *  @return PAI_OK; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_session_write(pai_session *session,
                                            const void *bytes, size_t len);

/** Number of buffered bytes that have not been sent yet.  @since 0.1 */
PAI_API size_t pai_session_pending(const pai_session *session);

/** Ends the standard input; a terminal gets the end-of-file character.
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_session_end_input(pai_session *session);

/** Changes the size of the terminal.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_session_resize(pai_session *session,
                                             uint32_t columns, uint32_t rows);

/** Pauses or resumes the output of a session; allowed in callbacks.  While a
 *  session is paused, neither on_output nor on_end is called, unless the
 *  session could not begin.  Input is still sent; the command blocks when the
 *  socket buffers are full.  NULL is allowed.  @since 0.1 */
PAI_API void pai_session_pause(pai_session *session, int paused);

/** Sends a signal to the processes of the session.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_session_signal(pai_session *session, int number);

/** Closes a session: a command gets SIGHUP and is killed soon after; an
 *  attached task continues.  No callback is called after this.  NULL is
 *  allowed.  @since 0.1 */
PAI_API void pai_session_close(pai_session *session);

PAI_END_DECLS

#endif /* OPENPAI_CLIENT_H */
