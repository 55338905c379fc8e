/**
 * @file openpai/resource.h
 * Includes the headers of machines, clusters, GPUs, samples and allocations.
 * Declares nothing itself.
 */
#ifndef OPENPAI_RESOURCE_H
#define OPENPAI_RESOURCE_H

#include <openpai/allocation.h>
#include <openpai/cluster.h>
#include <openpai/gpu.h>
#include <openpai/sample.h>
#include <openpai/topology.h>

#endif /* OPENPAI_RESOURCE_H */
