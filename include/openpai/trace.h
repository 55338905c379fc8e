/**
 * @file openpai/trace.h
 * Traces: which jobs came to a cluster, when, and how they ended; read from the
 * formats of published traces, or generated from published statistics.
 *
 *   pai_trace_load(&t, "cluster_job_log", NULL, &err);
 *   while ((rc = pai_trace_next(t, &record, &err)) > 0)
 *     ...
 *   pai_trace_free(t);
 *
 * Records are read in the order of their times and not kept, so a trace may be
 * larger than memory.  Unusable lines are counted and reported.
 *
 * Threads: SERIAL.
 */
#ifndef OPENPAI_TRACE_H
#define OPENPAI_TRACE_H

#include <openpai/sched.h>

PAI_BEGIN_DECLS

typedef struct pai_trace pai_trace; /**< opaque; pai_trace_free() */

/** Formats of traces; docs/guide/traces.md describes each. */
enum {
  PAI_TRACE_AUTO = 0,         /**< detected from the first lines */
  PAI_TRACE_JSONL = 1,        /**< the format of this library */
  PAI_TRACE_SACCT = 2,        /**< Slurm, sacct --parsable2 */
  PAI_TRACE_SACCT_JSON = 3,   /**< Slurm, sacct --json */
  PAI_TRACE_SWF = 4,          /**< Standard Workload Format */
  PAI_TRACE_PHILLY = 5,       /**< cluster_job_log, JSON */
  PAI_TRACE_HELIOS = 6,       /**< cluster_log.csv */
  PAI_TRACE_ALIBABA_2020 = 7, /**< pai_task_table or pai_job_table, CSV */
  PAI_TRACE_ALIBABA_2023 = 8, /**< openb_pod_list, CSV */
  PAI_TRACE_OPENPAI = 9,      /**< a list of jobs of its REST API, JSON */
  PAI_TRACE_KUBERNETES = 10,  /**< jobs, workloads of Kueue or pods, JSON */
  PAI_TRACE_GAVEL = 11,       /**< Gavel's, tab-separated */
  PAI_TRACE_MURI = 12,        /**< Muri's, CSV */
  PAI_TRACE_GENERATED = 13    /**< of pai_trace_generate() */
};

/** The name of a format, such as "philly"; "" for an unknown value.
 *  @since 0.1 */
PAI_API const char *pai_trace_form_name(int form);

/** Kinds of records. */
enum {
  PAI_RECORD_JOB = 1,  /**< a job arrives */
  PAI_RECORD_NODE = 2, /**< a node's state changes */
  PAI_RECORD_KILL = 3  /**< an earlier job is killed */
};

/** An attempt of a job.  The last one listed also stands for all further
 *  attempts. */
typedef struct pai_trace_attempt {
  pai_time duration; /**< run time without interruptions */
  int code; /**< completion code: 0: success; see openpai/platform.h */
} pai_trace_attempt;

/** A record; strings and arrays are valid until the next call.  All times are
 *  microseconds, on the trace's own clock. */
typedef struct pai_trace_record {
  size_t struct_size;
  int kind;         /**< PAI_RECORD_JOB, ... */
  uint64_t line;    /**< line of the trace, from 1; for generated records, the
                         number of the record */
  pai_time time;    /**< time of the event */
  const char *id;   /**< id of the job in the trace, or NULL */
  const char *name; /**< of the job, or NULL */
  const char *user; /**< or NULL */
  const char *vc;   /**< NULL: the default virtual cluster */
  const char *pin, *within; /**< as in pai_request */
  int priority;
  pai_time estimate; /**< run time estimated by its owner; 0: not known */
  pai_time limit;    /**< time limit; 0: none */
  pai_time patience; /**< wait after which the job is killed if it has not
                          started; 0: never */
  pai_time started;  /**< start time in the original cluster, or -1 */
  uint32_t retries;  /**< number of retries after failures */
  const pai_want *wants;
  size_t nwants;
  const pai_trace_attempt *attempts; /**< at least one */
  size_t nattempts;
  const char *const *after; /**< ids of jobs that must succeed before this job
                                 starts */
  size_t nafter;
  /* PAI_RECORD_NODE */
  const char *node;
  int state;       /**< PAI_NODE_UP, ... */
  const char *why; /**< or NULL */
} pai_trace_record;

/** Fills the buffer with up to @p size bytes.  @return the number of bytes; 0:
 *  end of the trace; a PAI_E* code, which the reading call returns */
typedef ptrdiff_t (*pai_read_cb)(void *user_data, char *buffer, size_t size);

/** Called for each line, or part of the trace, that is unusable or corrected.
 *  @param line from 1  @param used 1: it was corrected and used */
typedef void (*pai_trace_cb)(void *user_data, uint64_t line, int used,
                             const char *why);

/** Options; zero-fill, or use PAI_TRACE_OPTIONS_INIT. */
typedef struct pai_trace_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  int form;               /**< PAI_TRACE_*; 0: detected */
  int strict;             /**< 1: the first unusable line is an error */
  int sort;          /**< 1: read and sort the whole trace first; else a record
                          that is more than `window` records late is
                          unusable */
  uint32_t window;   /**< 0: 16384 */
  const char *model; /**< GPU model or SKU of jobs for which the trace has
                          none; NULL: any */
  pai_trace_cb on_line; /**< or NULL */
  void *user_data;      /**< passed to on_line() and stop() */
  /** Called before each piece of about 100 KiB is read; a value other than 0
   *  aborts with PAI_ECANCELED.  NULL: not called. */
  int (*stop)(void *user_data);
} pai_trace_options;

#define PAI_TRACE_OPTIONS_INIT                           \
  {                                                      \
    sizeof(pai_trace_options), 0, 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Begins to read a trace.
 *
 * @param[out] out   the trace, owned by the caller; NULL on failure
 * @param read       provides the next bytes of the trace
 * @param user_data  passed to @p read, until the trace is freed
 * @param opts       options, or NULL for defaults; not kept
 * @return PAI_OK; PAI_EINVAL: bad options, or an unknown format; PAI_ENOMEM;
 *         or the return value of @p read
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_trace_new(pai_trace **out, pai_read_cb read,
                                        void *user_data,
                                        const pai_trace_options *opts,
                                        pai_error **err);

/** As pai_trace_new(), for a file; "-" is standard input.
 *  @return also PAI_ENOTFOUND, PAI_EPERM, PAI_EIO  @since 0.1 */
PAI_API PAI_NODISCARD int pai_trace_load(pai_trace **out, const char *path,
                                         const pai_trace_options *opts,
                                         pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_trace_free(pai_trace *trace);

/**
 * Reads the next record.
 *
 * @return 1; 0: no more records; PAI_EINVAL: an unusable line with the option
 *         `strict`, or not a trace of this format; PAI_ELIMIT: a line has more
 *         than 16 MiB; PAI_ENOMEM; PAI_ECANCELED: by stop(); or the return
 *         value of the reader.  After a failure no more records can be read.
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_trace_next(pai_trace *trace,
                                         pai_trace_record *record,
                                         pai_error **err);

/** Counters of the records that were read so far. */
typedef struct pai_trace_view {
  size_t struct_size;
  int form;
  uint64_t lines, jobs, skipped;
  uint64_t altered;     /**< lines that were corrected and used, e.g. half of a
                             GPU becomes one GPU, and a negative wait becomes
                             0 */
  pai_time first, last; /**< times of the first and the last job */
} pai_trace_view;

/** @return PAI_OK; PAI_EINVAL: bad struct_size  @since 0.1 */
PAI_API int pai_trace_look(const pai_trace *trace, pai_trace_view *view);

/** Writes a record as one line of PAI_TRACE_JSONL.
 *  @return PAI_OK; PAI_EINVAL; PAI_ENOMEM; or the return value of @p write
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_trace_write(const pai_trace_record *record,
                                          pai_write_cb write, void *user_data,
                                          pai_error **err);

/* --- generated traces ------------------------------------------------------ */

/** Published statistics that a generated trace follows; docs/guide/traces.md
 *  lists them with their sources. */
enum {
  PAI_LIKE_PHILLY = 1, /**< Microsoft, 2017: jobs of 1 to 128 GPUs */
  PAI_LIKE_HELIOS = 2  /**< SenseTime, 2020 */
};

/** Options; zero-fill, or use PAI_GENERATE_OPTIONS_INIT. */
typedef struct pai_generate_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  int like;               /**< 0: PAI_LIKE_PHILLY */
  uint64_t jobs;          /**< number of jobs, at most 10^9 */
  uint64_t seed;
  uint32_t gpus;      /**< number of GPUs of the cluster; 0: 8000 */
  uint32_t load;      /**< mean share of GPUs in use, in thousandths; 0: 800 */
  uint32_t most_gpus; /**< most GPUs of one job; 0: as published, at most an
                           eighth of all */
  uint32_t gpus_per_node;      /**< most GPUs of a task; 0: 8 */
  uint32_t users;              /**< 0: as published */
  uint32_t virtual_clusters;   /**< number of them; 0: as published */
  const char *const *vc_names; /**< names, copied; NULL: "vc1", "vc2", ... */
  const char *model; /**< GPU model or SKU that jobs request, copied; NULL:
                          any */
  int faults; /**< 1: attempts fail as often as published, and are retried;
                   users kill jobs */
} pai_generate_options;

#define PAI_GENERATE_OPTIONS_INIT                                       \
  {                                                                     \
    sizeof(pai_generate_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/** Generates a trace, record by record as it is read.  The same options give
 *  the same trace on any machine.
 *  @return PAI_OK; PAI_EINVAL: bad options; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_trace_generate(pai_trace **out,
                                             const pai_generate_options *opts,
                                             pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_TRACE_H */
