/* gpus.h - internal to the room: GPUs that others use are not given out */
#ifndef PAI_SRC_PLATFORM_GPUS_H
#define PAI_SRC_PLATFORM_GPUS_H

#include "platform/platform.h"

#include <openpai/gpu.h>

int pai__gpus_open(pai_platform *p, pai_error **err);
/* Jobs of the platform before have theirs: what else is used, others use. */
void pai__gpus_begin(pai_platform *p);
void pai__gpus_close(pai_platform *p);
/* Nothing is done for it beside the loop: it may be closed. */
bool pai__gpus_is_idle(const pai_platform *p);
/* Why a GPU is not given out, or NULL: it is. */
const char *pai__gpus_why(const pai_platform *p, uint32_t gpu);
/* Jobs wait: others may have stopped using some. */
void pai__gpus_watch(pai_platform *p);
/* By the last look; NULL: none, or one is under way. */
const pai_gpus *pai__gpus_found(const pai_platform *p);

/* Were they looked at of late?  No: they are now, and whoever is to have them
 * is asked for when that is done (pai__placing_go_on()). */
bool pai__gpus_are_known(pai_platform *p, uint64_t gpus);
bool pai__gpus_of_are_known(const pai__pjob *j);
/* The number of a GPU here, that of its device file; -1: it is none of those
 * that are given out. */
int pai__gpus_number(const pai_platform *p, const pai_gpu_view *v);
/* Takes all GPUs that a job was placed on for this platform alone: how many
 * others have, which the scheduler is told, and then none is taken. */
int pai__gpus_take(pai__pjob *j);
void pai__gpus_give(pai__pjob *j);
int pai__gpus_take_mask(pai_platform *p, uint64_t gpus);
/* Those that it uses since the platform before, whoever thinks so, too. */
void pai__gpus_keep(pai__pjob *j);
void pai__gpus_keep_mask(pai_platform *p, uint64_t gpus);
void pai__gpus_give_mask(pai_platform *p, uint64_t gpus);
/* Bytes; 0: not known. */
uint64_t pai__gpus_memory(const pai_platform *p, uint32_t gpu);

/* --- posix_lease.c --------------------------------------------------------------- */

/* A lease of GPU number `gpu` of this machine: a descriptor; -1: another
 * process has it, -2: there can be none. */
int pai__lease_take(uint32_t gpu);
void pai__lease_give(int fd);

#endif
