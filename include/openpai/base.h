/**
 * @file openpai/base.h
 * What every other header stands on: status codes, errors, the allocator,
 * time, logging.
 *
 * Threads: functions here are ANY.  A pai_error is SERIAL.
 *
 * Conventions, for all headers.  A function that can fail returns an int:
 * zero or a count on success, a negative PAI_E* code on failure.  The result
 * comes out first (`out`), the object it works on next, the error last
 * (`err`, may be NULL).  After a failure `*out` is NULL, after a success
 * `*err` is NULL.  Objects end with the matching _free or _unref, which take
 * NULL.  Pointers that a getter returns belong to the object asked.
 */
#ifndef OPENPAI_BASE_H
#define OPENPAI_BASE_H

#include <stddef.h>
#include <stdint.h>

#include <openpai/version.h>

#ifdef __cplusplus
#define PAI_BEGIN_DECLS extern "C" {
#define PAI_END_DECLS }
#else
#define PAI_BEGIN_DECLS
#define PAI_END_DECLS
#endif

#if defined(__GNUC__)
#define PAI_API __attribute__((visibility("default")))
#define PAI_NODISCARD __attribute__((warn_unused_result))
#else
#define PAI_API
#define PAI_NODISCARD
#endif

PAI_BEGIN_DECLS

/** Status codes.  Numbers are never reused. */
enum {
  PAI_OK = 0,
  PAI_EINVAL = -1,     /**< an argument or an input breaks its contract */
  PAI_ENOMEM = -2,     /**< memory ran out */
  PAI_ENOTFOUND = -3,  /**< no such thing */
  PAI_EEXISTS = -4,    /**< there is one already */
  PAI_ENOTSUP = -5,    /**< known elsewhere, not to this library or machine */
  PAI_ECANCELED = -6,  /**< stopped before it was done, on request */
  PAI_EUSER = -7,      /**< a callback failed; never made by the library */
  PAI_EIO = -8,        /**< the operating system refused; see the message */
  PAI_EPERM = -9,      /**< not allowed to this user */
  PAI_ELIMIT = -10,    /**< an input is larger than a configured limit */
  PAI_EBUSY = -11,     /**< in use, or called from inside its own callback */
  PAI_EINTERNAL = -12, /**< a bug in the library: please report it */
  PAI_ENOROOM = -13    /**< more than there is, however long it may wait */
};

/** Microseconds since the epoch, or since any start the caller chooses. */
typedef int64_t pai_time;

/**
 * Allocator: one function in the manner of Lua.  new_size 0 frees and returns
 * NULL; ptr NULL allocates; old_size is what the block was asked with.
 * FROZEN: this struct never grows.
 */
typedef struct pai_alloc {
  void *ctx; /**< handed to realloc_fn */
  void *(*realloc_fn)(void *ctx, void *ptr, size_t old_size, size_t new_size);
} pai_alloc;

/** How much a log line matters; higher matters more. */
enum {
  PAI_LOG_DEBUG = 1,
  PAI_LOG_INFO = 2,
  PAI_LOG_WARNING = 3,
  PAI_LOG_ERROR = 4
};

/** Receives one line without its newline.  Must not call the library. */
typedef void (*pai_log_cb)(void *user_data, int level, const char *line);

/** Takes the bytes of a text, in order.  A negative answer ends the call that
 *  writes, which returns it. */
typedef int (*pai_write_cb)(void *user_data, const char *bytes, size_t len);

/** Fills @p buffer with bytes from @p offset on.
 *  @return how many, at least one; or a PAI_E* code, which the call that reads
 *          returns */
typedef ptrdiff_t (*pai_read_at_cb)(void *user_data, uint64_t offset,
                                    char *buffer, size_t size);

/** In what a thing, or what is said of it, is written. */
enum {
  PAI_FORMAT_YAML = 1,
  PAI_FORMAT_JSON = 2,
  PAI_FORMAT_TEXT = 3, /**< for people */
  PAI_FORMAT_SVG = 4,  /**< a picture: one file, no scripts */
  PAI_FORMAT_CSV = 5,
  PAI_FORMAT_HTML = 6 /**< a page: one file that needs no other */
};

/** What went wrong, for a program and for a person. */
typedef struct pai_error pai_error;

/** The PAI_E* code; PAI_OK for NULL.  @since 0.1 */
PAI_API int pai_error_code(const pai_error *err);

/** One line that names what was wrong; "" for NULL.  @since 0.1 */
PAI_API const char *pai_error_message(const pai_error *err);

/** One line that says how to mend it, or NULL.  @since 0.1 */
PAI_API const char *pai_error_help(const pai_error *err);

/** Line in the input, from 1; 0 when there is none.  @since 0.1 */
PAI_API uint32_t pai_error_line(const pai_error *err);

/** Column in characters, from 1; 0 when there is none.  @since 0.1 */
PAI_API uint32_t pai_error_column(const pai_error *err);

/** JSON pointer into the input, as "/taskRoles/worker"; NULL when there is
 *  none, "" for the whole document.  @since 0.1 */
PAI_API const char *pai_error_pointer(const pai_error *err);

/** What OpenPAI's REST API calls it, as "NoUserError"; NULL when that depends on
 *  what was asked for.  @since 0.1 */
PAI_API const char *pai_error_api_code(const pai_error *err);

/** The HTTP status that goes with pai_error_api_code(); 0 when that is NULL.
 *  @since 0.1 */
PAI_API int pai_error_http_status(const pai_error *err);

/** 1 when the same call may succeed later, else 0.  @since 0.1 */
PAI_API int pai_error_retriable(const pai_error *err);

/** Why a client has no answer; values of pai_error_no_answer(). */
enum {
  PAI_NO_ANSWER_NOT_REACHED = 1, /**< no such host, or nothing listens there */
  PAI_NO_ANSWER_LOST = 2,        /**< the connection broke */
  PAI_NO_ANSWER_LATE = 3         /**< none came in time */
};

/** PAI_NO_ANSWER_* of an error of a client that got no answer; 0 for all
 *  others.  @since 0.1 */
PAI_API int pai_error_no_answer(const pai_error *err);

/** How long to wait before the same call, where that is known, in
 *  microseconds; else 0.  @since 0.1 */
PAI_API int64_t pai_error_retry_after(const pai_error *err);

/** The error below this one, owned by it, or NULL.  @since 0.1 */
PAI_API const pai_error *pai_error_cause(const pai_error *err);

/** Frees @p err and its causes.  NULL is allowed.  @since 0.1 */
PAI_API void pai_error_free(pai_error *err);

/** The name of a code, as "PAI_EINVAL"; "PAI_E?" if unknown.  @since 0.1 */
PAI_API const char *pai_code_name(int code);

/** The library's version, as "0.1.0".  @since 0.1 */
PAI_API const char *pai_version(void);

/** The library's PAI_VERSION_NUMBER, to compare with the headers'.
 *  @since 0.1 */
PAI_API uint32_t pai_version_number(void);

PAI_END_DECLS

#endif /* OPENPAI_BASE_H */
