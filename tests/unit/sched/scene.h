/* scene.h - a scheduler to play with, in few words */
#ifndef PAI_TESTS_SCENE_H
#define PAI_TESTS_SCENE_H

#include "cases.h"

#include <openpai/policy.h>

/* For a description as "nodes:2 gpu:4 cpus:8 mem:1G"; NULL without memory. */
pai_sched *scene_new(const char *description, const char *policy,
                     const char *options, const pai_alloc *alloc);

/* For such a description, or for a text of several lines; NULL without memory.
 */
pai_cluster *scene_cluster(const char *description, const pai_alloc *alloc);

/* Events, at the scheduler's own time; they answer what pai_sched_send() does.
 * A request of `tasks` tasks with `gpus` GPUs and one CPU each. */
int scene_submit(pai_sched *s, uint64_t id, uint32_t tasks, uint32_t gpus);
int scene_submit_to(pai_sched *s, uint64_t id, const char *vc, uint32_t tasks,
                    uint32_t gpus, int priority);
int scene_request(pai_sched *s, const pai_request *request, pai_error **err);
int scene_finish(pai_sched *s, uint64_t id);
int scene_returned(pai_sched *s, uint64_t id);
int scene_cancel(pai_sched *s, uint64_t id); /* all instances */
int scene_event(pai_sched *s, pai_sched_event event, pai_error **err);
int scene_change(pai_sched *s, uint64_t id, const char *key, int64_t number);
int scene_set_cluster(pai_sched *s, const char *description, pai_error **err);
pai_time scene_now(const pai_sched *s);

/* Lets it decide; the decisions as "start 1, stop 2 preempted", in its own
 * buffer. */
const char *scene_decide(pai_sched *s);
/* The same; answers what pai_sched_decide() does. */
int scene_try_decide(pai_sched *s, const char **decisions);

/* Where the tasks of an instance are: "0:3 1:c", node and mask of GPUs. */
const char *scene_places(const pai_sched *s, uint64_t id, uint32_t instance);

/* What a request lacks, by name; "" if it does not wait. */
const char *scene_lack(const pai_sched *s, uint64_t id);

/* A want of tasks with GPUs, a CPU each. */
pai_want scene_want(uint32_t tasks, uint32_t gpus);

/* Nodes kept for some, or for nobody; and no longer. */
int scene_reserve(pai_sched *s, pai_reservation r, pai_error **err);
int scene_unreserve(pai_sched *s, const char *name);

#endif
