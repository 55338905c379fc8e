/**
 * @file openpai/base.h
 * Basics that every other header uses: status codes, errors, the allocator,
 * time, logging.
 *
 * Threads: functions here are ANY.  A pai_error is SERIAL.
 *
 * Conventions, for all headers.  A function that can fail returns an int: zero
 * or a count on success, a negative PAI_E* code on failure.  The result is the
 * first parameter (`out`), then the object that the function works on; the
 * error is the last (`err`, may be NULL).  After a failure `*out` is NULL,
 * after a success `*err` is NULL.  An object is freed with the matching _free
 * or _unref function, which accepts NULL.  A pointer that a getter returns
 * belongs to the object that was passed to it.
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
  PAI_ENOMEM = -2,     /**< out of memory */
  PAI_ENOTFOUND = -3,  /**< the named object does not exist */
  PAI_EEXISTS = -4,    /**< the object already exists */
  PAI_ENOTSUP = -5,    /**< not supported by this library or machine */
  PAI_ECANCELED = -6,  /**< canceled by the caller before it was complete */
  PAI_EUSER = -7,      /**< for callbacks to return; the library never creates
                            it */
  PAI_EIO = -8,        /**< the operating system refused; see the message */
  PAI_EPERM = -9,      /**< this user has no permission */
  PAI_ELIMIT = -10,    /**< an input is larger than a configured limit */
  PAI_EBUSY = -11,     /**< in use, or called from inside its own callback */
  PAI_EINTERNAL = -12, /**< a bug in the library: please report it */
  PAI_ENOROOM = -13    /**< the request exceeds the total capacity, so waiting
                            does not help */
};

/** Microseconds since the epoch, or since any origin the caller chooses. */
typedef int64_t pai_time;

/**
 * Allocator: one function, as lua_Alloc.  new_size 0 frees and returns NULL;
 * ptr NULL allocates; old_size is the size that the block was allocated with.
 * FROZEN: this struct never grows.
 */
typedef struct pai_alloc {
  void *ctx; /**< passed to realloc_fn */
  void *(*realloc_fn)(void *ctx, void *ptr, size_t old_size, size_t new_size);
} pai_alloc;

/** Log levels, in rising severity. */
enum {
  PAI_LOG_DEBUG = 1,
  PAI_LOG_INFO = 2,
  PAI_LOG_WARNING = 3,
  PAI_LOG_ERROR = 4
};

/** Receives one line without its newline.  Must not call the library. */
typedef void (*pai_log_cb)(void *user_data, int level, const char *line);

/** Receives the next bytes of a text.  A negative return value aborts the call
 *  that writes, which returns that value. */
typedef int (*pai_write_cb)(void *user_data, const char *bytes, size_t len);

/** Fills @p buffer with bytes from @p offset on.
 *  @return the number of bytes, at least one; or a PAI_E* code, which aborts
 *          the call that reads and becomes its return value */
typedef ptrdiff_t (*pai_read_at_cb)(void *user_data, uint64_t offset,
                                    char *buffer, size_t size);

/** Output formats. */
enum {
  PAI_FORMAT_YAML = 1,
  PAI_FORMAT_JSON = 2,
  PAI_FORMAT_TEXT = 3, /**< plain text for people */
  PAI_FORMAT_SVG = 4,  /**< an image: one file, no scripts */
  PAI_FORMAT_CSV = 5,
  PAI_FORMAT_HTML = 6 /**< a self-contained page in one file */
};

/** A failure: a code for programs and a message for people. */
typedef struct pai_error pai_error;

/** The PAI_E* code; PAI_OK for NULL.  @since 0.1 */
PAI_API int pai_error_code(const pai_error *err);

/** One line that says what failed; "" for NULL.  @since 0.1 */
PAI_API const char *pai_error_message(const pai_error *err);

/** One line that says how to correct the problem, or NULL.  @since 0.1 */
PAI_API const char *pai_error_help(const pai_error *err);

/** Line in the input, from 1; 0 when there is none.  @since 0.1 */
PAI_API uint32_t pai_error_line(const pai_error *err);

/** Column in characters, from 1; 0 when there is none.  @since 0.1 */
PAI_API uint32_t pai_error_column(const pai_error *err);

/** JSON pointer into the input, such as "/taskRoles/worker"; NULL when there
 *  is none, "" for the whole document.  @since 0.1 */
PAI_API const char *pai_error_pointer(const pai_error *err);

/** Error code of OpenPAI's REST API, such as "NoUserError"; NULL when the code
 *  depends on the call.  @since 0.1 */
PAI_API const char *pai_error_api_code(const pai_error *err);

/** The HTTP status for pai_error_api_code(); 0 when that is NULL.
 *  @since 0.1 */
PAI_API int pai_error_http_status(const pai_error *err);

/** 1 when the same call may succeed later, else 0.  @since 0.1 */
PAI_API int pai_error_retriable(const pai_error *err);

/** Why a client received no answer; values of pai_error_no_answer(). */
enum {
  PAI_NO_ANSWER_NOT_REACHED = 1, /**< unknown host, or nothing listens there */
  PAI_NO_ANSWER_LOST = 2,        /**< the connection broke */
  PAI_NO_ANSWER_LATE = 3,        /**< timed out */
  PAI_NO_ANSWER_UNTRUSTED = 4    /**< the server's certificate is signed by an
                                      authority that is not trusted */
};

/** PAI_NO_ANSWER_* of an error of a client that got no answer; 0 for all
 *  others.  @since 0.1 */
PAI_API int pai_error_no_answer(const pai_error *err);

/** Time to wait before the call is repeated, in microseconds; 0 when it is not
 *  known.  @since 0.1 */
PAI_API int64_t pai_error_retry_after(const pai_error *err);

/** Path of the local file that could not be read or written; NULL for other
 *  errors.  @since 0.1 */
PAI_API const char *pai_error_file(const pai_error *err);

/** The system's error number (errno) for pai_error_file(); else 0.
 *  @since 0.1 */
PAI_API int pai_error_number(const pai_error *err);

/** The error that caused this one, or NULL; owned by @p err.  @since 0.1 */
PAI_API const pai_error *pai_error_cause(const pai_error *err);

/** Frees @p err and its causes.  NULL is allowed.  @since 0.1 */
PAI_API void pai_error_free(pai_error *err);

/** The name of a code, such as "PAI_EINVAL"; "PAI_E?"  if it is unknown.
 *  @since 0.1 */
PAI_API const char *pai_code_name(int code);

/* --- amounts of CPUs ------------------------------------------------------- */

/** Size in bytes of a buffer for pai_cpus_text(). */
enum { PAI_CPUS_TEXT = 24 };

/**
 * Parses an amount of CPUs exactly: digits, optionally followed by a point and
 * up to three digits, such as "2", "0.5" or "1.25".
 *
 * @param[out] milli  thousandths of a CPU: 2000, 500, 1250
 * @param text        at most 4294967.295
 * @param[out] err    NULL, or receives the error
 * @return PAI_OK; PAI_EINVAL: not such a number, or more than three digits
 *         after the point; PAI_ELIMIT: the amount is too large
 * @since 0.1
 */
PAI_API int pai_cpus_parse(uint64_t *milli, const char *text, pai_error **err);

/** Writes an amount of CPUs in its shortest form and returns @p out.
 *  @since 0.1 */
PAI_API const char *pai_cpus_text(char out[PAI_CPUS_TEXT], uint64_t milli);

/** The library's version, such as "0.1.0".  @since 0.1 */
PAI_API const char *pai_version(void);

/** The library's PAI_VERSION_NUMBER, to compare with that of the headers.
 *  @since 0.1 */
PAI_API uint32_t pai_version_number(void);

PAI_END_DECLS

#endif /* OPENPAI_BASE_H */
