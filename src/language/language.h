/*
 * language.h - internal: a language server as a function of messages
 *
 * A message becomes a request (message.c), which names a row of the one table
 * of methods (methods.c).  Notifications are carried out at once, after the
 * requests before them; requests wait in a queue until pai_language_work().
 * What an editor shows about a text comes from facts/facts.h.
 */
#ifndef PAI_SRC_LANGUAGE_LANGUAGE_H
#define PAI_SRC_LANGUAGE_LANGUAGE_H

#include "base/arena.h"
#include "base/tree.h"
#include "json/writer.h"
#include "language/document.h"

#include <openpai/language.h>
#include <openpai/report.h>

/* Error codes of JSON-RPC and of the protocol. */
enum {
  PAI__RPC_PARSE = -32700,
  PAI__RPC_INVALID_REQUEST = -32600,
  PAI__RPC_NO_METHOD = -32601,
  PAI__RPC_INVALID_PARAMS = -32602,
  PAI__RPC_INTERNAL = -32603,
  PAI__RPC_NOT_INITIALIZED = -32002,
  PAI__RPC_CANCELLED = -32800,
  PAI__RPC_FAILED = -32803
};

/* What a handler needs, and when it may be called; bits. */
enum {
  PAI__METHOD_NOTIFICATION = 1,
  PAI__METHOD_EARLY = 2,    /* before `initialize`, too */
  PAI__METHOD_DOCUMENT = 4, /* params.textDocument.uri is open: r->doc */
  PAI__METHOD_AT = 8,       /* and params.position: r->at */
  PAI__METHOD_RANGE = 16,   /* and params.range: r->range */
  PAI__METHOD_NOW = 32      /* does not wait for the requests before it */
};

typedef struct pai__language_request pai__language_request;

/* Carries out a method.  Of a request it writes one value with r->w.  Returns
 * PAI_OK; PAI__LANGUAGE_MORE: call it again for the next step; or a code: the
 * request is refused with r->code and r->err. */
typedef int (*pai__language_handler)(pai_language *l,
                                     pai__language_request *r);
enum { PAI__LANGUAGE_MORE = 1 };

typedef struct pai__language_method {
  const char *name;
  pai__language_handler handle;
  unsigned flags;
  const char *capability; /* member of the server's capabilities, or NULL */
  const char *options;    /* its value, as JSON */
} pai__language_method;

extern const pai__language_method pai__language_methods[];
extern const size_t pai__language_method_count;

struct pai__language_request {
  pai__language_request *next;
  pai__tree *tree; /* the message; owned */
  pai__node id, params;
  const pai__language_method *method; /* NULL: for the host */
  bool cancelled;
  bool sent;     /* the answer was handed to the host */
  size_t step;   /* number of calls of the handler before this one */
  size_t cursor; /* the handler's own, 0 at first */
  /* For one call of the handler: */
  pai__json_writer w;
  pai__language_doc *doc;
  size_t at;
  pai__span range;
  int code; /* of the error; 0: PAI__RPC_FAILED */
  pai_error **err;
};

/* A request that the host answers. */
typedef struct pai__language_hosted {
  struct pai__language_hosted *next;
  uint64_t number;
  char *id; /* as JSON */
} pai__language_hosted;

/* The report of the document that was checked last, for the code actions and
 * diagnostics that are asked for next. */
typedef struct pai__language_checked {
  pai_report *report; /* NULL: none */
  uint64_t stamp;     /* of the document */
} pai__language_checked;

/* What the cluster has, as it was answered. */
typedef struct pai__language_names {
  uint64_t question; /* which is not answered yet; 0: none */
  bool known;
  pai__arena arena; /* holds the lists */
  pai__cluster_names lists;
} pai__language_names;

/* What the client can do, of `initialize`. */
typedef struct pai__language_client {
  int64_t pid;
  bool pulls; /* it asks for diagnostics */
  bool refreshes_hints, refreshes_lenses;
  bool snippets; /* completions with places to fill in */
  bool related;  /* diagnostics with related places */
  bool action_literals;
  bool nested_outline;
  bool line_folding;
} pai__language_client;

enum pai__language_state {
  PAI__LANGUAGE_NEW,
  PAI__LANGUAGE_RUNNING,
  PAI__LANGUAGE_SHUT_DOWN,
  PAI__LANGUAGE_ENDED
};

struct pai_language {
  pai_alloc alloc;
  pai_language_options o;
  char *docs_url; /* or NULL */
  enum pai__language_state state;
  int exit_code;
  bool hived; /* as the options or the client's settings say */
  enum pai__language_unit unit;
  pai__language_client client;
  pai__language_docs docs;
  pai__language_request *queue, **queue_end;
  pai__language_hosted *hosted;
  uint64_t numbers; /* of hosted requests, questions, requests to the client */
  pai__buf out;     /* the notification or error that is being written */
  pai__buf reply;   /* the answer that is being written */
  pai__language_checked checked;
  pai__language_names names;
};

/* --- messages (message.c) -------------------------------------------------- */

/* Reads a message: carries out a notification, queues a request. */
int pai__language_take(pai_language *l, const char *message, size_t len,
                       pai_error **err);

/* --- requests (request.c) --------------------------------------------------- */

/* Carries out one step of the first request that waits, or all requests. */
int pai__language_step(pai_language *l, pai_error **err);
int pai__language_drain(pai_language *l, pai_error **err);
/* Answers a cancelled request, or forwards it to the host. */
int pai__language_cancel(pai_language *l, const pai__tree *t, pai__node id,
                         pai_error **err);
void pai__language_drop_requests(pai_language *l);

/* --- answers (send.c) --------------------------------------------------------- */

/* Sends an error.  `id` is JSON; `data` is JSON or NULL. */
int pai__language_send_error(pai_language *l, const char *id, int code,
                             const char *message, const char *data,
                             pai_error **err);
/* The same for a request; without memory an error that says so, if that is
 * possible. */
int pai__language_send_refusal(pai_language *l, const pai__language_request *r,
                               int code, const char *message, pai_error **err);
/* Sends the finished message of a writer to a buffer. */
int pai__language_send(pai_language *l, pai__json_writer *w, pai_error **err);
/* Sends a line for the editor's log. */
int pai__language_log(pai_language *l, const char *method, const char *message,
                      pai_error **err);

/* Begin a message in l->out; the params or the result follow, then end it.
 * `method` is a literal or valid UTF-8. */
void pai__language_begin(pai_language *l, pai__json_writer *w,
                         const char *method);
int pai__language_end(pai_language *l, pai__json_writer *w, pai_error **err);
/* Sends a request to the client whose answer does not matter. */
int pai__language_request_refresh(pai_language *l, const char *method,
                                  pai_error **err);

/* Sets r->code and an error.  Returns PAI_EINVAL. */
int pai__language_refuse(pai__language_request *r, int code, const char *fmt,
                         ...) PAI__PRINTF(3, 4);

/* --- params (params.c) ------------------------------------------------------ */

/* Finds the document, position and range that a method needs, as its flags
 * say.  Returns PAI_OK, or refuses. */
int pai__language_read_params(pai_language *l, pai__language_request *r);
/* Reads {"line", "character"}; false if it is none. */
bool pai__language_read_position(const pai__tree *t, pai__node n,
                                 pai__language_position *out);
/* Reads a range of the document; false if it is none. */
bool pai__language_read_range(pai_language *l, pai__language_doc *doc,
                              const pai__tree *t, pai__node n, pai__span *out);
/* Returns a string, empty if the node is none. */
pai__bytes pai__language_bytes(const pai__tree *t, pai__node n);

/* --- writing (put.c) -------------------------------------------------------- */

/* Write a member with a range, or a value. */
void pai__put_range(pai_language *l, pai__language_doc *doc,
                    pai__json_writer *w, const char *key, pai__span span);
void pai__put_span(pai_language *l, pai__language_doc *doc,
                   pai__json_writer *w, pai__span span);
void pai__put_position(pai_language *l, pai__language_doc *doc,
                       pai__json_writer *w, size_t at);
/* Writes a text edit. */
void pai__put_edit(pai_language *l, pai__language_doc *doc,
                   pai__json_writer *w, pai__span span, const char *text,
                   size_t len);
/* Begins a WorkspaceEdit of one document; pai__put_edit()s follow, and two
 * ends: of the list and of its object. */
void pai__put_workspace_edit(const pai__language_doc *doc,
                             pai__json_writer *w);
void pai__end_workspace_edit(pai__json_writer *w);

/* --- checking (diagnostics.c) ----------------------------------------------- */

/* Checks a document.  *out is NULL for a text of another kind; it belongs to l
 * until the next call.  Returns PAI_OK or PAI_ENOMEM. */
int pai__language_check(pai_language *l, pai__language_doc *doc,
                        const pai_report **out, pai_error **err);
/* Sends the diagnostics of a document. */
int pai__language_publish(pai_language *l, pai__language_doc *doc,
                          pai_error **err);
/* Sends that a closed document has none. */
int pai__language_publish_none(pai_language *l, const char *uri,
                               pai_error **err);
/* The bytes of a range of a report. */
pai__span pai__language_span(pai__language_doc *doc, uint32_t line,
                             uint32_t column, uint32_t end_line,
                             uint32_t end_column);
void pai__put_diagnostic(pai_language *l, pai__language_doc *doc,
                         pai__json_writer *w, const pai_diagnostic *d);

/* --- what only the cluster knows (question.c) -------------------------------- */

/* Asks for names, if that was not done yet. */
void pai__language_ask_names(pai_language *l);
const pai__cluster_names *pai__language_cluster(const pai_language *l);
/* Returns a line about the wait of a document's job; asks if it is not known.
 * NULL: not known (yet). */
const char *pai__language_estimate(pai_language *l, pai__language_doc *doc);
/* Forgets the estimate, and tells the host that a question of it is not needed
 * any more. */
void pai__language_drop_question(pai_language *l, pai__language_doc *doc);
int pai__language_answered(pai_language *l, uint64_t question,
                           const char *json, size_t len, pai_error **err);
int pai__language_forgotten(pai_language *l, pai_error **err);

/* --- handlers, by the table of methods.c -------------------------------------- */

#define PAI__LANGUAGE_HANDLER(name) \
  int pai__language_do_##name(pai_language *l, pai__language_request *r)

PAI__LANGUAGE_HANDLER(initialize);
PAI__LANGUAGE_HANDLER(initialized);
PAI__LANGUAGE_HANDLER(shutdown);
PAI__LANGUAGE_HANDLER(exit);
PAI__LANGUAGE_HANDLER(cancel);
PAI__LANGUAGE_HANDLER(ignore);
PAI__LANGUAGE_HANDLER(configuration);
PAI__LANGUAGE_HANDLER(open);
PAI__LANGUAGE_HANDLER(change);
PAI__LANGUAGE_HANDLER(close);
PAI__LANGUAGE_HANDLER(diagnostic);
PAI__LANGUAGE_HANDLER(workspace_diagnostic);
PAI__LANGUAGE_HANDLER(format);
PAI__LANGUAGE_HANDLER(format_range);
PAI__LANGUAGE_HANDLER(format_typed);
PAI__LANGUAGE_HANDLER(code_action);
PAI__LANGUAGE_HANDLER(completion);
PAI__LANGUAGE_HANDLER(hover);
PAI__LANGUAGE_HANDLER(outline);
PAI__LANGUAGE_HANDLER(definition);
PAI__LANGUAGE_HANDLER(references);
PAI__LANGUAGE_HANDLER(highlight);
PAI__LANGUAGE_HANDLER(prepare_rename);
PAI__LANGUAGE_HANDLER(rename);
PAI__LANGUAGE_HANDLER(folding);
PAI__LANGUAGE_HANDLER(selection);
PAI__LANGUAGE_HANDLER(tokens);
PAI__LANGUAGE_HANDLER(links);
PAI__LANGUAGE_HANDLER(lenses);
PAI__LANGUAGE_HANDLER(hints);

#endif
