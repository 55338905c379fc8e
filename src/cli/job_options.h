/* job_options.h - what the command line says of a job, over what its file says */
#ifndef PAI_SRC_CLI_JOB_OPTIONS_H
#define PAI_SRC_CLI_JOB_OPTIONS_H

#include "remote.h"

/* As they were given, or NULL.  --gpus, --cpus, --memory, --image, --after and
 * --tag are lists of cli.h. */
typedef struct cli_job_options {
  const char *time, *vc, *priority, *runtime;
} cli_job_options;

/* Those of this process' job. */
extern cli_job_options cli_job;

#define JOB_OPTIONS                                                         \
  { "gpus", 0, NULL, cli_gpus.words }, { "cpus", 0, NULL, cli_cpus.words }, \
    { "memory", 0, NULL, cli_memory.words },                                \
    { "image", 0, NULL, cli_image.words },                                  \
    { "time", 0, NULL, &cli_job.time }, { "vc", 0, NULL, &cli_job.vc },     \
    { "priority", 0, NULL, &cli_job.priority },                             \
    { "after", 0, NULL, cli_after.words },                                  \
    { "tag", 0, NULL, cli_tags.words },                                     \
    { "folder", 0, NULL, cli_folders.words },                               \
  {                                                                         \
    "runtime", 0, NULL, &cli_job.runtime                                    \
  }

#define JOB_OPTIONS_HELP                                                      \
  "Options over what the file says; of a file with several task roles the\n"  \
  "first four are ROLE=VALUE, repeatable:\n"                                  \
  "\n"                                                                        \
  "  --gpus N         GPUs of each task (command: 0)\n"                       \
  "  --cpus N         CPUs of each task (command: 1)\n"                       \
  "  --memory SIZE    memory of each task, as 512M or 16G (command: its\n"    \
  "                   CPUs' share of the node's; 4G for each CPU on a\n"      \
  "                   server of the original OpenPAI)\n"                      \
  "  --image NAME     container image\n"                                      \
  "  --time TIME      time limit of an attempt, as 90s, 30m, 2h or 1d; a "    \
  "job\n"                                                                     \
  "                   that reaches it is stopped, with code 124\n"            \
  "  --vc NAME        virtual cluster\n"                                      \
  "  --priority CLASS prod, test or oppo (opportunistic)\n"                   \
  "  --after JOB[:ok|:failed|:ended]\n"                                       \
  "                   start when that job has succeeded, failed or ended\n"   \
  "                   (default: ok); repeatable\n"                            \
  "  --tag TAG        tag of the job; repeatable\n"                           \
  "  --folder PATH    folder below /tmp of this machine that the tasks "      \
  "see,\n"                                                                    \
  "                   who have a /tmp of their own (command: those that "     \
  "its\n"                                                                     \
  "                   words, its virtual environment and PATH name);\n"       \
  "                   repeatable\n"                                           \
  "  --runtime NAME   how the tasks run: podman or docker: in containers "    \
  "of\n"                                                                      \
  "                   the job's images; bwrap: in a sandbox; process: as\n"   \
  "                   plain processes; auto: in containers if the image is\n" \
  "                   present, else in a sandbox if bwrap works, else as\n"   \
  "                   plain processes (default: the platform's setting)\n"

/* False, and told: one of them is no such value. */
bool cli_job_options_good(const cli_verb *verb);
/* CPUs of a job of one task role without --cpus: 1. */
long long cli_job_cpus(void);
/* Does any of them change the job's file? */
bool cli_job_options_given(void);
/* Likewise, and a job config v1 has no place for it. */
bool cli_job_options_need_v2(void);
/* Puts them into the job's file.  PAI_OK; PAI_EUSER: told; PAI_ENOTSUP: a place
 * that others share; or a code, with its error. */
int cli_job_options_set(pai_draft *draft, pai_error **err);
/* The job, which was taken, gets the tags (cmd_tag.c).  False, and told. */
bool cli_job_tag(cli_remote *r, const char *job);

#endif
