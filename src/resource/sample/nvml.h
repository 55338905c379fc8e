/*
 * nvml.h - internal: the part of NVML's binary interface that is used
 *
 * Written from NVIDIA's reference, https://docs.nvidia.com/deploy/nvml-api/,
 * and the nvml.h that NVIDIA publishes with go-nvml; the comment of each
 * struct has its name there.  NVML never changes a function but adds one with
 * a higher suffix, so functions are looked up by full name, with the name in
 * old libraries beside it.
 */
#ifndef PAI_SRC_RESOURCE_NVML_H
#define PAI_SRC_RESOURCE_NVML_H

#include <stdint.h>

typedef struct pai__nvml_device pai__nvml_device; /* target of nvmlDevice_t */

enum { /* nvmlReturn_t */
       NVML_SUCCESS = 0,
       NVML_INSUFFICIENT_SIZE = 7,
       NVML_DRIVER_NOT_LOADED = 9,
       NVML_GPU_IS_LOST = 15,
       NVML_RESET_REQUIRED = 16,
       NVML_LIB_RM_VERSION_MISMATCH = 18,
       NVML_NOT_FOUND = 6,
       NVML_UNKNOWN = 999
};

enum {
  NVML_CLOCK_SM = 1, /* nvmlClockType_t */
  NVML_CLOCK_MEM = 2,
  NVML_CORRECTED = 0, /* nvmlMemoryErrorType_t */
  NVML_UNCORRECTED = 1,
  NVML_VOLATILE_ECC = 0,        /* nvmlEccCounterType_t */
  NVML_LINKS = 18,              /* NVML_NVLINK_MAX_LINKS */
  NVML_REMOTE_SWITCH = 2,       /* nvmlIntNvLinkDeviceType_t */
  NVML_UNSIGNED_INT = 1,        /* nvmlValueType_t */
  NVML_FIELD_NVLINK_SPEED = 164 /* NVML_FI_DEV_NVLINK_GET_SPEED, MB/s */
};

/* nvmlMemory_t: nvmlDeviceGetMemoryInfo(); `used` includes what the driver
 * reserves. */
typedef struct nvml_memory {
  unsigned long long total, free, used;
} nvml_memory;

/* nvmlMemory_v2_t: nvmlDeviceGetMemoryInfo_v2(). */
typedef struct nvml_memory_v2 {
  unsigned int version; /* NVML_MEMORY_V2 */
  unsigned long long total, reserved, free, used;
} nvml_memory_v2;

/* NVML_STRUCT_VERSION(Memory, 2) */
#define NVML_MEMORY_V2 ((unsigned int)sizeof(nvml_memory_v2) | 2u << 24)

/* nvmlPciInfo_t: nvmlDeviceGetPciInfo_v3() and
 * nvmlDeviceGetNvLinkRemotePciInfo_v2(). _v2 of the former, and the latter
 * without a suffix, fill in a shorter struct with the same beginning. */
typedef struct nvml_pci {
  char bus_id_legacy[16];
  unsigned int domain, bus, device;
  unsigned int pci_device_id, pci_subsystem_id;
  char bus_id[32];
} nvml_pci;

/* nvmlUtilization_t */
typedef struct nvml_utilization {
  unsigned int gpu, memory; /* percent */
} nvml_utilization;

/* nvmlProcessInfo_v1_t: nvmlDeviceGetComputeRunningProcesses() */
typedef struct nvml_process_v1 {
  unsigned int pid;
  unsigned long long memory;
} nvml_process_v1;

/* nvmlProcessInfo_v2_t: nvmlDeviceGetComputeRunningProcesses_v2(). _v3 has the
 * same layout, but some drivers of the 535 series fill in 8 bytes more: _v3 is
 * used only if there is no _v2, whose layout never changed. */
typedef struct nvml_process_v2 {
  unsigned int pid;
  unsigned long long memory;
  unsigned int gpu_instance, compute_instance;
} nvml_process_v2;
enum { NVML_LONGEST_PROCESS = 32 };

/* nvmlFieldValue_t: nvmlDeviceGetFieldValues() */
typedef struct nvml_field {
  unsigned int id;
  unsigned int scope; /* number of the link */
  long long timestamp, latency;
  unsigned int value_type; /* nvmlValueType_t */
  int result;
  union {
    double d;
    unsigned int ui;
    unsigned long long ull;
  } value;
} nvml_field;

/* X(member's declaration, member, the function's name, the name in older
 * libraries or NULL).  The functions above the line are required. */
#define PAI__NVML_FUNCTIONS(X)                                                \
  X(int (*init)(void), init, "nvmlInit_v2", "nvmlInit")                       \
  X(int (*shutdown)(void), shutdown, "nvmlShutdown", NULL)                    \
  X(int (*get_count)(unsigned int *), get_count, "nvmlDeviceGetCount_v2",     \
    "nvmlDeviceGetCount")                                                     \
  X(int (*get_handle)(unsigned int, pai__nvml_device **), get_handle,         \
    "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex")            \
  /* ---- */                                                                  \
  X(int (*get_driver)(char *, unsigned int), get_driver,                      \
    "nvmlSystemGetDriverVersion", NULL)                                       \
  X(int (*get_name)(pai__nvml_device *, char *, unsigned int), get_name,      \
    "nvmlDeviceGetName", NULL)                                                \
  X(int (*get_uuid)(pai__nvml_device *, char *, unsigned int), get_uuid,      \
    "nvmlDeviceGetUUID", NULL)                                                \
  X(int (*get_minor)(pai__nvml_device *, unsigned int *), get_minor,          \
    "nvmlDeviceGetMinorNumber", NULL)                                         \
  X(int (*get_pci)(pai__nvml_device *, nvml_pci *), get_pci,                  \
    "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2")                     \
  X(int (*get_memory)(pai__nvml_device *, nvml_memory *), get_memory,         \
    "nvmlDeviceGetMemoryInfo", NULL)                                          \
  X(int (*get_memory_v2)(pai__nvml_device *, nvml_memory_v2 *),               \
    get_memory_v2, "nvmlDeviceGetMemoryInfo_v2", NULL)                        \
  X(int (*get_compute_mode)(pai__nvml_device *, unsigned int *),              \
    get_compute_mode, "nvmlDeviceGetComputeMode", NULL)                       \
  X(int (*get_mig_mode)(pai__nvml_device *, unsigned int *, unsigned int *),  \
    get_mig_mode, "nvmlDeviceGetMigMode", NULL)                               \
  X(int (*get_mig_count)(pai__nvml_device *, unsigned int *), get_mig_count,  \
    "nvmlDeviceGetMaxMigDeviceCount", NULL)                                   \
  X(int (*get_mig_handle)(pai__nvml_device *, unsigned int,                   \
                          pai__nvml_device **),                               \
    get_mig_handle, "nvmlDeviceGetMigDeviceHandleByIndex", NULL)              \
  X(int (*get_gpu_instance)(pai__nvml_device *, unsigned int *),              \
    get_gpu_instance, "nvmlDeviceGetGpuInstanceId", NULL)                     \
  X(int (*get_compute_instance)(pai__nvml_device *, unsigned int *),          \
    get_compute_instance, "nvmlDeviceGetComputeInstanceId", NULL)             \
  X(int (*get_ecc_mode)(pai__nvml_device *, unsigned int *, unsigned int *),  \
    get_ecc_mode, "nvmlDeviceGetEccMode", NULL)                               \
  X(int (*get_ecc_errors)(pai__nvml_device *, unsigned int, unsigned int,     \
                          unsigned long long *),                              \
    get_ecc_errors, "nvmlDeviceGetTotalEccErrors", NULL)                      \
  X(int (*get_remapped_rows)(pai__nvml_device *, unsigned int *,              \
                             unsigned int *, unsigned int *, unsigned int *), \
    get_remapped_rows, "nvmlDeviceGetRemappedRows", NULL)                     \
  X(int (*get_retired_pending)(pai__nvml_device *, unsigned int *),           \
    get_retired_pending, "nvmlDeviceGetRetiredPagesPendingStatus", NULL)      \
  X(int (*get_clock)(pai__nvml_device *, unsigned int, unsigned int *),       \
    get_clock, "nvmlDeviceGetClockInfo", NULL)                                \
  X(int (*get_max_clock)(pai__nvml_device *, unsigned int, unsigned int *),   \
    get_max_clock, "nvmlDeviceGetMaxClockInfo", NULL)                         \
  X(int (*get_temperature)(pai__nvml_device *, unsigned int, unsigned int *), \
    get_temperature, "nvmlDeviceGetTemperature", NULL)                        \
  X(int (*get_power)(pai__nvml_device *, unsigned int *), get_power,          \
    "nvmlDeviceGetPowerUsage", NULL)                                          \
  X(int (*get_power_limit)(pai__nvml_device *, unsigned int *),               \
    get_power_limit, "nvmlDeviceGetEnforcedPowerLimit",                       \
    "nvmlDeviceGetPowerManagementLimit")                                      \
  X(int (*get_utilization)(pai__nvml_device *, nvml_utilization *),           \
    get_utilization, "nvmlDeviceGetUtilizationRates", NULL)                   \
  X(int (*get_compute)(pai__nvml_device *, unsigned int *, void *),           \
    get_compute, "nvmlDeviceGetComputeRunningProcesses_v2",                   \
    "nvmlDeviceGetComputeRunningProcesses_v3")                                \
  X(int (*get_compute_v1)(pai__nvml_device *, unsigned int *, void *),        \
    get_compute_v1, "nvmlDeviceGetComputeRunningProcesses", NULL)             \
  X(int (*get_graphics)(pai__nvml_device *, unsigned int *, void *),          \
    get_graphics, "nvmlDeviceGetGraphicsRunningProcesses_v2",                 \
    "nvmlDeviceGetGraphicsRunningProcesses_v3")                               \
  X(int (*get_graphics_v1)(pai__nvml_device *, unsigned int *, void *),       \
    get_graphics_v1, "nvmlDeviceGetGraphicsRunningProcesses", NULL)           \
  X(int (*get_link_state)(pai__nvml_device *, unsigned int, unsigned int *),  \
    get_link_state, "nvmlDeviceGetNvLinkState", NULL)                         \
  X(int (*get_link_version)(pai__nvml_device *, unsigned int,                 \
                            unsigned int *),                                  \
    get_link_version, "nvmlDeviceGetNvLinkVersion", NULL)                     \
  X(int (*get_link_pci)(pai__nvml_device *, unsigned int, nvml_pci *),        \
    get_link_pci, "nvmlDeviceGetNvLinkRemotePciInfo_v2",                      \
    "nvmlDeviceGetNvLinkRemotePciInfo")                                       \
  X(int (*get_link_type)(pai__nvml_device *, unsigned int, unsigned int *),   \
    get_link_type, "nvmlDeviceGetNvLinkRemoteDeviceType", NULL)               \
  X(int (*get_fields)(pai__nvml_device *, int, nvml_field *), get_fields,     \
    "nvmlDeviceGetFieldValues", NULL)

#endif
