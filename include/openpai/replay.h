/**
 * @file openpai/replay.h
 * Replay of a scheduler's log: the scheduler's state at any time, its
 * decisions step by step, and the timeline of a request.
 *
 *   pai_replay_open(&r, "sched.log", NULL, &err);
 *   pai_replay_time(r, "2026-05-01 14:05", &time, &err);
 *   pai_replay_to(r, time, &err);
 *   pai_sched_explain(pai_replay_sched(r), id, ...);
 *
 * A log that has snapshots in its middle (pai_sched_set_log_options()) is not
 * read from its beginning, but from the last snapshot before that time.
 *
 * Threads: SERIAL.
 */
#ifndef OPENPAI_REPLAY_H
#define OPENPAI_REPLAY_H

#include <openpai/policy.h>

PAI_BEGIN_DECLS

typedef struct pai_replay pai_replay; /**< opaque; pai_replay_free() */

/** Options; zero-fill, or use PAI_REPLAY_OPTIONS_INIT. */
typedef struct pai_replay_options {
  size_t struct_size;
  const pai_alloc *alloc;  /**< NULL: malloc; copied */
  const pai_policy *table; /**< the log's policy, if it is not built in; must
                                outlive the replay */
  const char *policy; /**< a built-in policy that decides instead, from the
                           beginning; events that do not fit its decisions are
                           skipped; NULL: the log's own */
  const char *policy_options; /**< its options, a JSON object, or NULL */
  int check; /**< 1: a later snapshot that differs from the replayed state is
                  an error; 0: later snapshots are skipped */
  /** NULL, or called every few lines; non-zero aborts the call with
   *  PAI_ECANCELED, and the replay stays at the line that it has reached. */
  int (*stop)(void *user_data);
  void *stop_data; /**< for stop() */
} pai_replay_options;

#define PAI_REPLAY_OPTIONS_INIT                                       \
  {                                                                   \
    sizeof(pai_replay_options), NULL, NULL, NULL, NULL, 0, NULL, NULL \
  }

/**
 * Opens a log file.  Lines that are appended later are not read.
 *
 * @param[out] out  the replay, before the first line; owned by the caller;
 *                  NULL on failure
 * @param path      "-": standard input, which is read completely
 * @param opts      options, or NULL for defaults; not kept
 * @return PAI_OK; PAI_EIO: the file cannot be read; PAI_EINVAL; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_replay_open(pai_replay **out, const char *path,
                                          const pai_replay_options *opts,
                                          pai_error **err);

/** Opens a log of @p size bytes that @p read provides.  @param read must be
 *  valid as long as the replay  @since 0.1 */
PAI_API PAI_NODISCARD int pai_replay_new(pai_replay **out, pai_read_at_cb read,
                                         void *user_data, uint64_t size,
                                         const pai_replay_options *opts,
                                         pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_replay_free(pai_replay *replay);

/** Returns the times of the first and the last line; an incomplete last line
 *  is ignored.
 *  @return PAI_OK; PAI_EINVAL: not a log; PAI_EIO; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_replay_range(pai_replay *replay, pai_time *begin,
                                           pai_time *end, pai_error **err);

/**
 * Moves to a time, forward or backward: to the state after all lines up to
 * that time.
 *
 * @return PAI_OK; PAI_ENOTFOUND: the log begins later, or ends before;
 *         PAI_EINVAL: an invalid line, with its number in the error; PAI_EIO;
 *         PAI_ENOMEM.  After a failure the replay is where it was, or before
 *         the invalid line.
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_replay_to(pai_replay *replay, pai_time time,
                                        pai_error **err);

/** Executes the next line.  @return 1; 0: no more lines; as pai_replay_to()
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_replay_step(pai_replay *replay, pai_error **err);

/** Executes the next line unless it is later than @p time.  An incomplete last
 *  line is ignored.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_replay_step_until(pai_replay *replay,
                                                pai_time time,
                                                pai_error **err);

/** The scheduler after the last executed line, for reading only; NULL before
 *  the first line.  Valid until the replay moves.  @since 0.1 */
PAI_API const pai_sched *pai_replay_sched(const pai_replay *replay);

/** Number of decisions of the line that was executed last; read them from the
 *  scheduler.  @since 0.1 */
PAI_API size_t pai_replay_decisions(const pai_replay *replay);

/** The number of the last executed line, from 1; 0: none, or the log cannot be
 *  read.  @since 0.1 */
PAI_API uint64_t pai_replay_line(pai_replay *replay);

/** Number of lines skipped so far because they do not fit the decisions of the
 *  replacement policy.  @since 0.1 */
PAI_API uint64_t pai_replay_skipped(const pai_replay *replay);

/* --- times ------------------------------------------------------------------ */

enum { PAI_REPLAY_TIME = 40 }; /**< size in bytes of a buffer for a time */

/**
 * Parses a time in one of these forms:
 *
 *   2026-05-01 14:05, 2026-05-01T14:05:06.5+02:00   without a zone: UTC
 *   2026-05-01                                      its first second
 *   @1777644306.5     microseconds of the log's clock, written as seconds
 *   +2h, +1d12h, +90  this time after the beginning of the log
 *   -30m              this time before its end
 *   begin, end
 *
 * @return PAI_OK; PAI_EINVAL: not a time; as pai_replay_range()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_replay_time(pai_replay *replay, const char *text,
                                          pai_time *time, pai_error **err);

/** Writes a time in a form that pai_replay_time() can read: "2026-05-01
 *  14:05:06" in UTC, or "@12.500000" if the log's clock does not count from
 *  1970.
 *  @param out of PAI_REPLAY_TIME bytes  @return out  @since 0.1 */
PAI_API const char *pai_replay_show_time(pai_replay *replay, pai_time time,
                                         char *out);

/* --- timelines ----------------------------------------------------------- */

/** Options; zero-fill. */
typedef struct pai_story_options {
  size_t struct_size;
  const char *policy; /**< a built-in policy under which to simulate the
                           request, too; NULL: none */
  const char *policy_options; /**< its options, a JSON object, or NULL */
  pai_time grain; /**< reasons that change more often than this are merged; 0:
                       an hour */
} pai_story_options;

/**
 * Writes the timeline of a request from its submission to its start and end,
 * as far as the log goes: the resources that the request lacked, since when,
 * and which requests had these resources.  The position of the replay
 * afterwards is unspecified.
 *
 * With another policy, everything after the submission is replayed under it:
 * requests that ran in the log run as long as in the log, other requests run
 * as long as estimated, and requests without an estimate do not end.
 *
 * @param format  PAI_FORMAT_TEXT or 0; PAI_FORMAT_JSON: one object
 * @param opts    or NULL
 * @return PAI_OK; PAI_ENOTFOUND: no such request in the log, or no such
 *         policy; as pai_replay_to(); or the return value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_replay_story(pai_replay *replay, uint64_t id,
                                           const pai_story_options *opts,
                                           int format, pai_write_cb write,
                                           void *user_data, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_REPLAY_H */
