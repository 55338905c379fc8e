/**
 * @file openpai/openpai.h
 * Includes all headers of the library and declares nothing itself.  A program
 * with its own libuv loop also includes <openpai/uv.h>.
 */
#ifndef OPENPAI_OPENPAI_H
#define OPENPAI_OPENPAI_H

#include <openpai/account.h>
#include <openpai/backend.h>
#include <openpai/base.h>
#include <openpai/client.h>
#include <openpai/client_files.h>
#include <openpai/draft.h>
#include <openpai/files.h>
#include <openpai/forecast.h>
#include <openpai/hived.h>
#include <openpai/hived_host.h>
#include <openpai/job.h>
#include <openpai/json.h>
#include <openpai/language.h>
#include <openpai/loop.h>
#include <openpai/market.h>
#include <openpai/platform.h>
#include <openpai/policy.h>
#include <openpai/reason.h>
#include <openpai/records.h>
#include <openpai/replay.h>
#include <openpai/report.h>
#include <openpai/resource.h>
#include <openpai/sched.h>
#include <openpai/sim.h>
#include <openpai/spec.h>
#include <openpai/storage.h>
#include <openpai/trace.h>
#include <openpai/vc.h>

#endif /* OPENPAI_OPENPAI_H */
