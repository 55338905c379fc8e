/**
 * @file openpai/hived.h
 * HiveD's decisions: what was recorded of it is done again, and compared.
 *
 * A record has one JSON object a line: a configuration to begin with, events of
 * nodes and pods, and what HiveD decided.  docs/guide/hived-replay.md tells its
 * form.
 *
 * Threads: SERIAL.
 */
#ifndef OPENPAI_HIVED_H
#define OPENPAI_HIVED_H

#include <openpai/base.h>

PAI_BEGIN_DECLS

typedef struct pai_hived_replay
  pai_hived_replay; /**< opaque; pai_hived_replay_free() */

/**
 * Hands over the text of a configuration by its name: calls @p write with @p to,
 * in as many pieces as it likes.
 * @return PAI_OK; or a negative code, which pai_hived_replay_step() then
 *         answers
 */
typedef int (*pai_hived_config_cb)(void *user_data, const char *name,
                                   pai_write_cb write, void *to);

/** Options of a replay; or use PAI_HIVED_REPLAY_OPTIONS_INIT. */
typedef struct pai_hived_replay_options {
  size_t struct_size;
  const pai_alloc *alloc;     /**< NULL: malloc; copied */
  pai_hived_config_cb config; /**< must be given */
  void *user_data;            /**< handed to it */
} pai_hived_replay_options;

#define PAI_HIVED_REPLAY_OPTIONS_INIT               \
  {                                                 \
    sizeof(pai_hived_replay_options), 0, NULL, NULL \
  }

/** How a step came out. */
enum {
  PAI_HIVED_DONE = 1,    /**< there was nothing to compare */
  PAI_HIVED_AGREES,      /**< as recorded */
  PAI_HIVED_ALTERNATIVE, /**< as HiveD itself does in another run */
  PAI_HIVED_FIXED,       /**< otherwise, by a defect of HiveD that we mend */
  PAI_HIVED_DIFFERS
};

/** What came of a step; its strings are valid until the next one. */
typedef struct pai_hived_verdict {
  size_t struct_size;
  int kind;            /**< PAI_HIVED_* */
  int64_t step;        /**< as it is numbered, or -1 */
  const char *name;    /**< of the case it is in, or "" */
  const char *op;      /**< what was done, as "schedule" */
  const char *subject; /**< the pod or node of it, or "" */
  const char *fix;     /**< the defect that we mend, as "Q4"; or NULL */
  const char *place;   /**< the first place that differs, or NULL */
  const char *want;    /**< what was recorded there, or NULL */
  const char *got;     /**< what came of it, or NULL */
} pai_hived_verdict;

/**
 * Makes a replay.
 *
 * @param[out] out  the replay, owned by the caller; NULL on failure
 * @param opts      where configurations come from; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL for bad options; PAI_ENOTSUP for newer ones;
 *         PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_replay_new(
  pai_hived_replay **out, const pai_hived_replay_options *opts,
  pai_error **err);

/**
 * Does the next step.
 *
 * @param replay    after a failure, the step was not done
 * @param line      one JSON object
 * @param len       its length in bytes
 * @param verdict   receives how it came out
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: the line is no step, or bad options;
 *         PAI_ENOMEM; or what the configuration's callback answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_replay_step(pai_hived_replay *replay,
                                                const char *line, size_t len,
                                                pai_hived_verdict *verdict,
                                                pai_error **err);

/** Frees a replay.  NULL is allowed.  @since 0.1 */
PAI_API void pai_hived_replay_free(pai_hived_replay *replay);

PAI_END_DECLS

#endif /* OPENPAI_HIVED_H */
