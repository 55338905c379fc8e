/**
 * @file openpai/replay.h
 * A scheduler's log, read again: the scheduler's state at any time, its
 * decisions step by step, and the history of one request.
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
  const pai_policy *table; /**< where the log's policy is no built-in one; must
                                outlive the replay */
  const char *policy; /**< a built-in policy that decides instead, from the
                           beginning; events that do not fit its decisions are
                           skipped; NULL: the log's own */
  const char *policy_options; /**< of it, a JSON object, or NULL */
  int check; /**< 1: a later snapshot that differs from the state that the
                  lines before it make is an error; 0: such snapshots are
                  skipped */
  /** NULL, or asked every few lines: non-zero gives the call up, with
   *  PAI_ECANCELED; the replay stands where it came to. */
  int (*stop)(void *user_data);
  void *stop_data; /**< for stop() */
} pai_replay_options;

#define PAI_REPLAY_OPTIONS_INIT                                       \
  {                                                                   \
    sizeof(pai_replay_options), NULL, NULL, NULL, NULL, 0, NULL, NULL \
  }

/**
 * Opens a log file, which may grow meanwhile: lines that are written later are
 * not read.
 *
 * @param[out] out  stands before the first line; owned by the caller; NULL on
 *                  failure
 * @param path      "-": standard input, of which all is read at once
 * @param opts      options, or NULL for defaults; not kept
 * @return PAI_OK; PAI_EIO: it cannot be read; PAI_EINVAL; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_replay_open(pai_replay **out, const char *path,
                                          const pai_replay_options *opts,
                                          pai_error **err);

/** Likewise, from wherever its @p size bytes are.  @param read must be good as
 *  long as the replay  @since 0.1 */
PAI_API PAI_NODISCARD int pai_replay_new(pai_replay **out, pai_read_at_cb read,
                                         void *user_data, uint64_t size,
                                         const pai_replay_options *opts,
                                         pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_replay_free(pai_replay *replay);

/** The times of its first and of its last line; a last line that is cut off
 *  does not count.
 *  @return PAI_OK; PAI_EINVAL: it is no log; PAI_EIO; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_replay_range(pai_replay *replay, pai_time *begin,
                                           pai_time *end, pai_error **err);

/**
 * Goes to a time, later or earlier: all lines up to then have been taken.
 *
 * @return PAI_OK; PAI_ENOTFOUND: the log begins later, or ends before;
 *         PAI_EINVAL: a line is wrong, with its number in the error; PAI_EIO;
 *         PAI_ENOMEM.  After a failure it stands where it was, or before the
 *         line that is wrong.
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_replay_to(pai_replay *replay, pai_time time,
                                        pai_error **err);

/** Takes the next line.  @return 1; 0: there is none; as pai_replay_to()
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_replay_step(pai_replay *replay, pai_error **err);

/** Likewise, unless it is later than @p time.  A last line that is cut off is
 *  none.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_replay_step_until(pai_replay *replay,
                                                pai_time time,
                                                pai_error **err);

/** The scheduler as it was after the last line that was taken, to look at; NULL
 *  before the first.  Until the replay goes on.  @since 0.1 */
PAI_API const pai_sched *pai_replay_sched(const pai_replay *replay);

/** How many decisions the line of the last step has made: they are the
 *  scheduler's.  @since 0.1 */
PAI_API size_t pai_replay_decisions(const pai_replay *replay);

/** The number of the last line that was taken, from 1; 0: none, or it cannot be
 *  read.  @since 0.1 */
PAI_API uint64_t pai_replay_line(pai_replay *replay);

/** How many lines were left out since it began, because another policy has not
 *  done what they tell of.  @since 0.1 */
PAI_API uint64_t pai_replay_skipped(const pai_replay *replay);

/* --- times ------------------------------------------------------------------ */

enum { PAI_REPLAY_TIME = 40 }; /**< bytes that any time needs as a text */

/**
 * Reads a time as people write it:
 *
 *   2026-05-01 14:05, 2026-05-01T14:05:06.5+02:00   without a zone: UTC
 *   2026-05-01                                      its first second
 *   @1777644306.5     microseconds of the log's clock, written as seconds
 *   +2h, +1d12h, +90  so long behind the log's beginning
 *   -30m              so long before its end
 *   begin, end
 *
 * @return PAI_OK; PAI_EINVAL: it is no time; as pai_replay_range()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_replay_time(pai_replay *replay, const char *text,
                                          pai_time *time, pai_error **err);

/** Writes a time so that it can be read again: as "2026-05-01 14:05:06" in
 *  UTC, or as "@12.500000" where the log's clock does not count from 1970.
 *  @param out of PAI_REPLAY_TIME bytes  @return out  @since 0.1 */
PAI_API const char *pai_replay_show_time(pai_replay *replay, pai_time time,
                                         char *out);

/* --- stories ---------------------------------------------------------------- */

/** Options; zero-fill. */
typedef struct pai_story_options {
  size_t struct_size;
  const char *policy; /**< a built-in policy under which to find the start of
                           the request, too; NULL: none */
  const char *policy_options; /**< of it, a JSON object, or NULL */
  pai_time
    grain; /**< how long the reasons of a time are told as one where they
                       change more often than that; 0: an hour */
} pai_story_options;

/**
 * Writes the history of a request from its submission to its start and end, as
 * far as the log goes: what it lacked, since when, and which requests had the
 * missing resources.  The position of the replay afterwards is unspecified.
 *
 * With another policy, everything after the submission is replayed under it:
 * requests that ran in the log run as long as they did there, others as long as
 * estimated, and requests without an estimate do not end.
 *
 * @param format  PAI_FORMAT_TEXT or 0; PAI_FORMAT_JSON: one object
 * @param opts    or NULL
 * @return PAI_OK; PAI_ENOTFOUND: there is no such request in the log, or no
 *         such policy; as pai_replay_to(); or what @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_replay_story(pai_replay *replay, uint64_t id,
                                           const pai_story_options *opts,
                                           int format, pai_write_cb write,
                                           void *user_data, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_REPLAY_H */
