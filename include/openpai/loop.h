/**
 * @file openpai/loop.h
 * The event loop for platforms, servers, clients and all other asynchronous
 * objects.  There are three ways to run it:
 *
 *   own       pai_loop_new(), then pai_loop_run() or pai_loop_run_once()
 *   libuv     pai_loop_attach_uv() of <openpai/uv.h>: the host runs its loop
 *   foreign   pai_loop_new(); poll pai_loop_fd() for reading, for at most
 *             pai_loop_timeout_ms(); then pai_loop_dispatch()
 *
 * Threads: LOOP.  A loop and all objects on it belong to the thread that runs
 * it; only pai_loop_wake() is ANY.  The library starts no thread.
 *
 * fork(): a loop and the objects on it (platforms, accounts, servers, clients,
 * sessions, hosts of HiveD) belong to the process that created them.  In a
 * child process, calls on these objects, and calls that would create an object
 * on the loop, fail with PAI_EBUSY; close and free functions do nothing and
 * call no callbacks.  The parent is not affected.  The child may create its
 * own loops and platforms.  Objects without a loop (specs, clusters,
 * schedulers, simulations) are copied by fork() and remain usable.
 *
 * Descriptors 0 to 2 must be open, at least on /dev/null: libuv aborts if it
 * receives one of these numbers for a descriptor of its own.
 */
#ifndef OPENPAI_LOOP_H
#define OPENPAI_LOOP_H

#include <openpai/base.h>

PAI_BEGIN_DECLS

typedef struct pai_loop pai_loop; /**< opaque; pai_loop_free() */

/** Options of pai_loop_new(); zero-fill, or use PAI_LOOP_OPTIONS_INIT. */
typedef struct pai_loop_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
} pai_loop_options;

#define PAI_LOOP_OPTIONS_INIT   \
  {                             \
    sizeof(pai_loop_options), 0 \
  }

/**
 * Creates a loop that the library runs.
 *
 * @param[out] out  the loop, owned by the caller; NULL on failure
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL or PAI_ENOTSUP for a bad or newer struct_size;
 *         PAI_ENOMEM; PAI_EIO: the system has no descriptors left
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_loop_new(pai_loop **out,
                                       const pai_loop_options *opts,
                                       pai_error **err);

/**
 * Frees a loop.  Close every object on it first and wait for the close
 * callbacks; the last close callback may call this function.  If it is called
 * from a callback, the memory is freed when the loop's run function returns;
 * for a loop made by pai_loop_attach_uv(), when the host's loop runs next.
 * NULL is allowed.
 * @since 0.1
 */
PAI_API void pai_loop_free(pai_loop *loop);

/**
 * Runs callbacks until no object on the loop waits for anything, or until
 * pai_loop_stop().
 * @return PAI_OK; PAI_EBUSY: called from a callback; PAI_EINVAL: the host runs
 *         this loop
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_loop_run(pai_loop *loop);

/**
 * Waits for the next event, or for pai_loop_wake(), and runs its callbacks.
 * Does not wait when no object on the loop waits for anything: a thread that
 * then waits for pai_loop_wake() polls pai_loop_fd().
 * @return 1: there is more to wait for; 0: nothing is left; PAI_EBUSY or
 *         PAI_EINVAL as pai_loop_run()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_loop_run_once(pai_loop *loop);

/** Makes pai_loop_run() return after the current callbacks.  @since 0.1 */
PAI_API void pai_loop_stop(pai_loop *loop);

/** Makes a waiting pai_loop_run_once() return.  May be called from any thread
 *  and from a signal handler, but not after pai_loop_free() has begun.
 *  @since 0.1 */
PAI_API void pai_loop_wake(pai_loop *loop);

/** For a foreign loop: the descriptor to poll for reading.  @since 0.1 */
PAI_API int pai_loop_fd(const pai_loop *loop);

/** For a foreign loop: the longest time to poll, in milliseconds; -1: without
 *  limit, also when no object waits for anything.  Call it again before every
 *  poll.  @since 0.1 */
PAI_API int pai_loop_timeout_ms(const pai_loop *loop);

/** For a foreign loop: runs the callbacks that are due, without waiting.
 *  @return as pai_loop_run_once()  @since 0.1 */
PAI_API PAI_NODISCARD int pai_loop_dispatch(pai_loop *loop);

/* --- operations ------------------------------------------------------------ */

/** A request, a copy or another thing that takes a while, on a loop; valid
 *  until it has called back. */
typedef struct pai_op pai_op;

/** Cancels an operation, also a paused one: it calls back with PAI_ECANCELED,
 *  later, from the loop.  NULL is allowed.  Must not be called after the
 *  operation has called back.  @since 0.1 */
PAI_API void pai_op_cancel(pai_op *op);

/**
 * Pauses an operation of a client; others do not pause. No more of the answer
 * is read or delivered, so that the server has to wait. May be called from
 * on_body, on_data or on_change; the bytes passed to that callback count as
 * delivered, and further changes that arrived together with the current one
 * are still delivered. While paused, idle_time stops but total_time continues,
 * and a broken connection is noticed only after pai_op_resume(). The operation
 * may still call back if the answer was complete or a time limit is reached. A
 * server may disconnect a client that reads nothing for long: logs and changes
 * then continue from their position, a body of pai_client_ask() fails with
 * PAI_EIO. Pausing twice has no further effect. NULL is allowed. Must not be
 * called after the operation has called back.
 * @since 0.1
 */
PAI_API void pai_op_pause(pai_op *op);

/** Resumes a paused operation, later, from the loop.  NULL is allowed.  Must
 *  not be called after the operation has called back.  @since 0.1 */
PAI_API void pai_op_resume(pai_op *op);

PAI_END_DECLS

#endif /* OPENPAI_LOOP_H */
