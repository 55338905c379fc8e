/*
 * fake_nvml.c - a library that plays NVML, for machines that are not here
 *
 * fake_nvml_machine() chooses the machine; the state is the library's, so a
 * test keeps it open.  The structs are written anew from NVIDIA's reference,
 * not taken from src: a slip in one of the two is seen.  With FAKE_OLD it is a
 * library of 2016: no MIG, no versioned structs, no _v2 of processes.
 */
#include <stddef.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum {
  OK = 0,
  UNINIT = 1,
  INVALID = 2,
  UNSUPPORTED = 3,
  NONE = 6,
  SIZE = 7,
  LOST = 15,
  MISMATCH = 18,
  WRONG_VERSION = 25
};

typedef struct pci_info {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
#ifdef FAKE_OLD
  unsigned reserved[4];
#else
  char text[32];
#endif
} pci_info;

typedef struct device {
  unsigned number;
  int instance; /* of MIG, or -1 */
} device;

static char machine[32];
static unsigned gpus;
static unsigned lost = ~0u, reset = ~0u, broken = ~0u, worn = ~0u;
static int ready; /* init without shutdown */
static unsigned crowd;
static bool idle, swapped;
static device devices[16];

/* "0" to "16" GPUs; "mig": an A100 cut in two, and a whole one; "mesh": 8,
 * each linked with each; "switch": 8 on switches; "mismatch", "nodriver";
 * "2 unreachable", "2 broken": the second of two; "2 idle", and other
 * numbers: nobody uses them; "2 swapped": nor these, whose device files are
 * numbered the other way round. */
EXPORT void fake_nvml_machine(const char *name)
{
  (void)snprintf(machine, sizeof(machine), "%s", name);
  gpus = 0;
  for (const char *c = name; *c >= '0' && *c <= '9'; c++)
    gpus = gpus * 10 + (unsigned)(*c - '0');
  if (strcmp(name, "mig") == 0)
    gpus = 2;
  if (strcmp(name, "mesh") == 0 || strcmp(name, "switch") == 0)
    gpus = 8;
  lost = reset = broken = worn = ~0u;
  if (strcmp(name, "2 broken") == 0)
    broken = 1;
  crowd = 0;
  swapped = strcmp(name, "2 swapped") == 0;
  idle = strstr(name, " idle") != NULL || swapped;
  for (unsigned i = 0; i < 16; i++)
    devices[i] = (device){ i, -1 };
}

/* For a program that knows of no fake: the machine FAKE_NVML. */
__attribute__((constructor)) static void choose(void)
{
  const char *name = getenv("FAKE_NVML");

  fake_nvml_machine(name != NULL ? name : "0");
}

/* Falls off the bus; must be reset; has two double-bit errors; waits for rows
 * to be remapped. */
#define SETTER(name, what)                 \
  EXPORT void fake_nvml_##name(unsigned n) \
  {                                        \
    what = n;                              \
  }
SETTER(lose, lost)
SETTER(want_reset, reset)
SETTER(break, broken)
SETTER(wear, worn)
/* So many processes more on GPU 0. */
SETTER(crowd, crowd)

/* How many inits had no shutdown yet. */
EXPORT int fake_nvml_ready(void)
{
  return ready;
}

static int check(const device *d)
{
  if (ready <= 0)
    return UNINIT;
  if (d == NULL)
    return INVALID;
  return d->number == lost ? LOST : d->number == reset ? 16 : OK;
}

#define CHECK(d)       \
  do {                 \
    int rc = check(d); \
    if (rc != OK)      \
      return rc;       \
  } while (0)

/* As they are called now, and were in 2016. */
#ifdef FAKE_OLD
#define OF_TWO_NAMES(now, old) old
#else
#define OF_TWO_NAMES(now, old) now
#endif

EXPORT int OF_TWO_NAMES(nvmlInit_v2, nvmlInit)(void)
{
  if (strcmp(machine, "mismatch") == 0)
    return MISMATCH;
  if (strcmp(machine, "nodriver") == 0)
    return 9;
  ready++;
  return OK;
}

EXPORT int nvmlShutdown(void)
{
  ready--;
  return OK;
}

EXPORT const char *nvmlErrorString(int result)
{
  return result == LOST       ? "GPU is lost"
         : result == MISMATCH ? "Driver/library version mismatch"
         : result == 9        ? "Driver Not Loaded"
         : result == 16       ? "GPU requires reset"
                              : "Unknown Error";
}

EXPORT int OF_TWO_NAMES(nvmlDeviceGetCount_v2,
                        nvmlDeviceGetCount)(unsigned *count)
{
  if (ready <= 0)
    return UNINIT;
  *count = gpus;
  return OK;
}

EXPORT int OF_TWO_NAMES(nvmlDeviceGetHandleByIndex_v2,
                        nvmlDeviceGetHandleByIndex)(unsigned i, device **out)
{
  if (i >= gpus)
    return INVALID;
  if (strcmp(machine, "2 unreachable") == 0 && i == 1)
    return 999;
  CHECK(&devices[i]);
  *out = &devices[i];
  return OK;
}

static void fill_pci(unsigned number, pci_info *out)
{
  memset(out, 0, sizeof(*out));
  out->domain = number / 8;
  out->bus = 0x10 + number;
  (void)snprintf(out->legacy, sizeof(out->legacy), "%04x:%02x:00.0",
                 out->domain & 0xffff, out->bus & 0xff);
}

EXPORT int OF_TWO_NAMES(nvmlDeviceGetPciInfo_v3,
                        nvmlDeviceGetPciInfo_v2)(device *d, pci_info *out)
{
  CHECK(d);
  fill_pci(d->number, out);
  return OK;
}

/* --- what a GPU is --------------------------------------------------------- */

static int put(char *out, unsigned size, const char *text)
{
  size_t len = strlen(text) + 1;

  if (len > size)
    return SIZE;
  memcpy(out, text, len);
  return OK;
}

EXPORT int nvmlSystemGetDriverVersion(char *out, unsigned size)
{
  return put(out, size, "535.104.05");
}

EXPORT int nvmlDeviceGetName(device *d, char *out, unsigned size)
{
  CHECK(d);
  return put(out, size,
             d->instance < 0 ? "NVIDIA A100-SXM4-40GB"
                             : "NVIDIA A100-SXM4-40GB MIG 3g.20gb");
}

EXPORT int nvmlDeviceGetUUID(device *d, char *out, unsigned size)
{
  char text[80];

  CHECK(d);
  (void)snprintf(text, sizeof(text), "%s-%08u-0000-0000-0000-00000000000%d",
                 d->instance < 0 ? "GPU" : "MIG", d->number, d->instance + 1);
  return put(out, size, text);
}

/* A number that a device tells; and one that instances of MIG do not. */
#define NUMBER(name, value)                 \
  EXPORT int name(device *d, unsigned *out) \
  {                                         \
    CHECK(d);                               \
    *out = (unsigned)(value);               \
    return OK;                              \
  }
#define OF_WHOLE(name, value)                  \
  EXPORT int name(device *d, unsigned *out)    \
  {                                            \
    CHECK(d);                                  \
    *out = (unsigned)(value);                  \
    return d->instance < 0 ? OK : UNSUPPORTED; \
  }
/* The same of one of several things. */
#define OF_KIND(name, value)                               \
  EXPORT int name(device *d, unsigned kind, unsigned *out) \
  {                                                        \
    CHECK(d);                                              \
    *out = (unsigned)(value);                              \
    return d->instance < 0 ? OK : UNSUPPORTED;             \
  }

NUMBER(nvmlDeviceGetMinorNumber, swapped ? gpus - 1 - d->number : d->number)
NUMBER(nvmlDeviceGetComputeMode, d->number == 1 ? 3 : 0)
OF_WHOLE(nvmlDeviceGetPowerUsage, 123456)
NUMBER(nvmlDeviceGetPowerManagementLimit, 400000)
OF_KIND(nvmlDeviceGetClockInfo, kind == 1 ? 1410 : 1215)
OF_KIND(nvmlDeviceGetMaxClockInfo, kind == 1 ? 1500 : 1600)
OF_KIND(nvmlDeviceGetTemperature, kind == 0 ? 40 + d->number : 0)

static unsigned long long total(const device *d)
{
  return d->instance < 0 ? 40ull << 30 : 20ull << 30;
}

EXPORT int nvmlDeviceGetMemoryInfo(device *d, unsigned long long out[3])
{
  CHECK(d);
  out[0] = total(d);
  out[2] = (3ull << 30) + (600ull << 20); /* with what is reserved */
  out[1] = out[0] - out[2];
  return OK;
}

EXPORT int nvmlDeviceGetEccMode(device *d, unsigned *now, unsigned *pending)
{
  CHECK(d);
  *now = *pending = 1;
  return OK;
}

EXPORT int nvmlDeviceGetTotalEccErrors(device *d, unsigned kind,
                                       unsigned counter,
                                       unsigned long long *out)
{
  CHECK(d);
  if (counter != 0)
    return INVALID;
  *out = kind == 0 ? 7 : d->number == broken ? 2 : 0;
  return OK;
}

EXPORT int nvmlDeviceGetUtilizationRates(device *d, unsigned out[2])
{
  CHECK(d);
  if (d->instance >= 0)
    return UNSUPPORTED;
  out[0] = 90 + d->number;
  out[1] = 30;
  return OK;
}

/* --- processes ------------------------------------------------------------- */

typedef struct process {
  unsigned pid;
  unsigned long long memory;
#ifndef FAKE_OLD
  unsigned gpu_instance, compute_instance;
#endif
} process;

/* Each device has one of pid 1000 and up; GPU 0 the crowd, too. */
static int list_compute(const device *d, unsigned *count, process *out)
{
  unsigned have = *count, want = idle ? 0 : 1 + (d->number == 0 ? crowd : 0);

  *count = want;
  if (have < want)
    return SIZE;
  memset(out, 0, want * sizeof(*out));
  for (unsigned i = 0; i < want; i++) {
    unsigned base =
      d->instance < 0 ? 1000 + d->number : 1100 + (unsigned)d->instance;

    out[i].pid = i == 0 ? base : 100000 - i;
    out[i].memory = 1ull << 30;
  }
  return OK;
}

/* The same process on GPU 0 draws, too, with less memory; and another one of
 * which nobody knows how much it has. */
static int list_graphics(const device *d, unsigned *count, process *out)
{
  unsigned have = *count;

  *count = d->number == 0 && d->instance < 0 && !idle ? 2 : 0;
  if (have < *count)
    return SIZE;
  if (*count != 0) {
    memset(out, 0, 2 * sizeof(*out));
    out[0].pid = 1000;
    out[0].memory = 1ull << 20;
    out[1].pid = 900;
    out[1].memory = ~0ull;
  }
  return OK;
}

#define LISTER(kind)                                     \
  OF_TWO_NAMES(nvmlDeviceGet##kind##RunningProcesses_v2, \
               nvmlDeviceGet##kind##RunningProcesses)
EXPORT int LISTER(Compute)(device *d, unsigned *count, process *out)
{
  CHECK(d);
  return list_compute(d, count, out);
}
EXPORT int LISTER(Graphics)(device *d, unsigned *count, process *out)
{
  CHECK(d);
  return list_graphics(d, count, out);
}

/* --- links ----------------------------------------------------------------- */

/* The other end of a link: a GPU, 100 for a switch, -1 for none.  In the mesh
 * each pair has two links; of two GPUs link 0 is down, 1 to 4 join them. */
static int other_end(const device *d, unsigned link)
{
  if (strcmp(machine, "switch") == 0)
    return link < 12 ? 100 : -1;
  if (strcmp(machine, "mesh") == 0) {
    unsigned other = link / 2;

    return link >= 14 ? -1 : (int)(other < d->number ? other : other + 1);
  }
  if (machine[0] == '2')
    return link >= 1 && link <= 4 ? (int)(1 - d->number) : -1;
  return -1;
}

EXPORT int nvmlDeviceGetNvLinkState(device *d, unsigned link, unsigned *out)
{
  CHECK(d);
  if (link >= 14)
    return INVALID;
  *out = other_end(d, link) >= 0;
  return OK;
}

OF_KIND(nvmlDeviceGetNvLinkVersion, kind < 14 ? 4 : 0) /* 3.0 */

EXPORT int OF_TWO_NAMES(nvmlDeviceGetNvLinkRemotePciInfo_v2,
                        nvmlDeviceGetNvLinkRemotePciInfo)(device *d,
                                                          unsigned link,
                                                          pci_info *out)
{
  int other = other_end(d, link);

  CHECK(d);
  if (other < 0)
    return INVALID;
  if ((unsigned)other == reset)
    return 16;
  if (other < 100) {
    fill_pci((unsigned)other, out); /* also of one that is lost */
    return OK;
  }
  memset(out, 0, sizeof(*out));
  out->bus = 0xc1;
  return OK;
}

#ifndef FAKE_OLD

/* --- what came later ------------------------------------------------------- */

typedef struct memory_v2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
} memory_v2;

EXPORT int nvmlDeviceGetMemoryInfo_v2(device *d, memory_v2 *out)
{
  CHECK(d);
  if (out->version != 0x02000028)
    return WRONG_VERSION;
  out->total = total(d);
  out->reserved = 600ull << 20;
  out->used = idle ? 0 : 3ull << 30;
  out->free = out->total - out->used - out->reserved;
  return OK;
}

OF_WHOLE(nvmlDeviceGetEnforcedPowerLimit, 350000)
NUMBER(nvmlDeviceGetMaxMigDeviceCount, strcmp(machine, "mig") == 0 ? 7 : 0)
OF_KIND(nvmlDeviceGetNvLinkRemoteDeviceType, other_end(d, kind) == 100 ? 2 : 0)

EXPORT int nvmlDeviceGetMigMode(device *d, unsigned *now, unsigned *pending)
{
  CHECK(d);
  *now = *pending = strcmp(machine, "mig") == 0 && d->number == 0;
  return OK;
}

static device instances[2] = { { 0, 0 }, { 0, 1 } };

/* Places 0 and 2 are taken. */
EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(device *d, unsigned i,
                                               device **out)
{
  CHECK(d);
  if (strcmp(machine, "mig") != 0 || d->number != 0 || (i != 0 && i != 2))
    return NONE;
  *out = &instances[i / 2];
  return OK;
}

#define OF_INSTANCE(name, value)                \
  EXPORT int name(device *d, unsigned *out)     \
  {                                             \
    CHECK(d);                                   \
    *out = (unsigned)(value);                   \
    return d->instance >= 0 ? OK : UNSUPPORTED; \
  }
OF_INSTANCE(nvmlDeviceGetGpuInstanceId, d->instance + 1)
OF_INSTANCE(nvmlDeviceGetComputeInstanceId, 0)

EXPORT int nvmlDeviceGetRemappedRows(device *d, unsigned *corrected,
                                     unsigned *uncorrected, unsigned *pending,
                                     unsigned *failed)
{
  CHECK(d);
  *corrected = *uncorrected = *failed = 0;
  *pending = d->number == worn;
  return OK;
}

typedef struct field {
  unsigned id, scope;
  long long timestamp, latency;
  unsigned type;
  int result;
  union {
    double d;
    unsigned ui;
    unsigned long long ull;
  } value;
} field;

EXPORT int nvmlDeviceGetFieldValues(device *d, int count, field *out)
{
  CHECK(d);
  for (int i = 0; i < count; i++) {
    out[i].result = out[i].id == 164 && out[i].scope < 14 ? OK : INVALID;
    out[i].type = 1;
    out[i].value.ui = 26562;
  }
  return OK;
}

#endif
