/**
 * @file openpai/language.h
 * A language server for job files and cluster files: the Language Server
 * Protocol 3.17, as a function of messages.
 *
 * The host passes each JSON-RPC message to pai_language_receive(), without the
 * framing of its transport, and sends what the server hands to its `send`
 * callback.  A server opens no file, reads no clock, starts no thread and
 * knows no loop, so it also runs in a web page.  Requests are queued, so that
 * the client can cancel them: the host calls pai_language_work() when it has
 * passed all messages that have arrived.
 *
 *   pai_language_receive(server, message, len, NULL);
 *   while (pai_language_work(server, NULL) > 0)
 *     ;
 *
 * Only a cluster knows its virtual clusters and how long a job would wait.
 * The server asks its host for them, shows what it knows meanwhile, and shows
 * the answer when it comes.
 *
 * A host can add methods of its own: `other` receives what is not part of the
 * protocol.
 *
 * `openpai helper` is such a host; docs/guide/editors.md says how editors use
 * it.
 *
 * Threads: SERIAL.
 */
#ifndef OPENPAI_LANGUAGE_H
#define OPENPAI_LANGUAGE_H

#include <openpai/base.h>

PAI_BEGIN_DECLS

typedef struct pai_language pai_language; /**< opaque; pai_language_free() */

/** What a server asks its host. */
enum {
  PAI_LANGUAGE_NAMES = 1,   /**< what the chosen cluster has.  The answer is
                                 {"virtualClusters", "skus", "storages",
                                 "images"}: lists of names, each optional */
  PAI_LANGUAGE_ESTIMATE = 2 /**< how long a job would wait there.  The text is
                                 the job's file.  The answer is {"wait":
                                 seconds} or {"text": any line}; with
                                 "better": [{"change": "gpu: 4", "wait":
                                 seconds}] for changes that shorten the
                                 wait */
};

/** Options of pai_language_new(); zero-fill, or use
 *  PAI_LANGUAGE_OPTIONS_INIT. */
typedef struct pai_language_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  void *user_data;        /**< passed to all callbacks */
  /** Sends a message to the client; required.  The text is valid during the
   *  call.  A negative return value ends the call that sends, which returns
   *  it.  It must not call functions of its server; the other callbacks may
   *  answer, respond, refuse and notify. */
  int (*send)(void *user_data, const char *json, size_t len);
  /** Receives a question, to be answered with pai_language_answer().  The text
   *  is valid during the call.  NULL: nothing is known of a cluster. */
  void (*ask)(void *user_data, uint64_t question, int kind, const char *text,
              size_t len);
  /** Receives a request or a notification with a method that the server does
   *  not have.  @p params is JSON, "null" when there are none.
   *  @param request  for pai_language_respond() or pai_language_refuse(); 0
   *                  for a notification
   *  @return 1: the host will answer the request; 0: there is no such method
   *  NULL: there are none. */
  int (*other)(void *user_data, uint64_t request, const char *method,
               const char *params, size_t len);
  /** The client has cancelled a request that `other` has received, which must
   *  still be answered; or a question of `ask` is not needed any more, and need
   *  not be answered.  NULL is allowed. */
  void (*cancel)(void *user_data, uint64_t number);
  const char *docs;  /**< URL of a page with an anchor for each code of a
                          diagnostic, as docs/guide/problems.md; NULL: none;
                          copied.  The client's setting `docs` replaces it */
  int hived;         /**< 1: the cluster has HiveD: check its fields */
  size_t max_bytes;  /**< longest message; 0: 64 MiB */
  uint32_t max_open; /**< most open documents; 0: 100,000 */
} pai_language_options;

#define PAI_LANGUAGE_OPTIONS_INIT                              \
  {                                                            \
    sizeof(pai_language_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Makes a language server.
 *
 * @param[out] out  the server, owned by the caller; NULL on failure
 * @param opts      options; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: invalid options; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_language_new(pai_language **out,
                                           const pai_language_options *opts,
                                           pai_error **err);

/** Frees a server; requests are no longer answered.  NULL is allowed.
 *  @since 0.1 */
PAI_API void pai_language_free(pai_language *language);

/**
 * Passes a message of the client.  An invalid message is answered as JSON-RPC
 * says and changes nothing.
 *
 * @param message  one JSON object; not kept
 * @param len      its length in bytes
 * @param[out] err NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: invalid arguments; PAI_ENOMEM: the message is
 *         lost, and a document that it would have changed is no longer
 *         checked until it is opened again; or the result of `send`
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_language_receive(pai_language *language,
                                               const char *message, size_t len,
                                               pai_error **err);

/**
 * Does the next piece of work: answers a request, or checks a document that
 * has changed.
 *
 * @return 1: there may be more work; 0: there is none; PAI_ENOMEM; or the
 *         result of `send`.  After a failure the next call goes on with the
 *         next piece
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_language_work(pai_language *language,
                                            pai_error **err);

/**
 * Returns whether the client has sent `exit`.
 * @param[out] code  the exit code for the host's process: 0 after `shutdown`,
 *                   else 1; NULL is allowed
 * @since 0.1
 */
PAI_API int pai_language_ended(const pai_language *language, int *code);

/** The process id of the client, of `initialize`; 0 if it is not known.
 *  @since 0.1 */
PAI_API int64_t pai_language_client_pid(const pai_language *language);

/**
 * Answers a question of `ask`.
 *
 * @param question  its number; unknown ones are ignored
 * @param json      the answer; NULL: not known
 * @param len       its length in bytes
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: not an answer of this kind, which counts as not
 *         known; PAI_ENOMEM; or the result of `send`
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_language_answer(pai_language *language,
                                              uint64_t question,
                                              const char *json, size_t len,
                                              pai_error **err);

/**
 * Forgets all answers of `ask`, because another cluster was chosen or the
 * cluster has changed.
 * @return PAI_OK; PAI_ENOMEM; or the result of `send`
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_language_forget(pai_language *language,
                                              pai_error **err);

/* --- methods of the host ---------------------------------------------------- */

/**
 * Answers a request that `other` has received.
 *
 * @param request   its number
 * @param json      the result, valid JSON
 * @param len       its length in bytes
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_ENOTFOUND: there is no such request; PAI_ENOMEM; or the
 *         result of `send`
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_language_respond(pai_language *language,
                                               uint64_t request,
                                               const char *json, size_t len,
                                               pai_error **err);

/**
 * The same with an error.
 * @param code     of JSON-RPC, such as -32602: invalid parameters
 * @param message  one line
 * @param data     JSON with details, or NULL
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_language_refuse(pai_language *language,
                                              uint64_t request, int code,
                                              const char *message,
                                              const char *data,
                                              pai_error **err);

/**
 * Sends a notification to the client.
 * @param params  valid JSON
 * @return PAI_OK; PAI_ENOMEM; or the result of `send`
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_language_notify(pai_language *language,
                                              const char *method,
                                              const char *params, size_t len,
                                              pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_LANGUAGE_H */
