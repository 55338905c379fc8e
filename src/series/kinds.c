/* kinds.c - the table of kinds: their metrics, and how many rows are kept */
#include "series/series.h"

#define BYTES "bytes", 1024, 1
#define RATE "bytes/s", 1024, 1
#define CORES "cores", 1, 1000
#define PERCENT "percent", 1, 10
#define GPUS "gpus", 1, 1000
#define JOBS "jobs", 1, 10

static const pai__series_metric machine[] = {
  { "cpu", CORES },     { "memory", BYTES },    { "disk", BYTES },
  { "diskRead", RATE }, { "diskWrite", RATE },  { "netIn", RATE },
  { "netOut", RATE },   { "load", "", 1, 100 },
};
static const pai__series_metric gpu[] = {
  { "gpu", PERCENT },
  { "gpuMemory", BYTES },
  { "temperature", "celsius", 1, 10 },
};
static const pai__series_metric task[] = {
  { "cpu", CORES },       { "memory", BYTES },  { "gpu", PERCENT },
  { "gpuMemory", BYTES }, { "diskRead", RATE }, { "diskWrite", RATE },
};
static const pai__series_metric vc[] = {
  { "gpusUsed", GPUS },    { "gpusGuaranteed", GPUS },
  { "cpusUsed", CORES },   { "cpusGuaranteed", CORES },
  { "jobsWaiting", JOBS }, { "jobsRunning", JOBS },
};
static const pai__series_metric queue[] = {
  { "jobsWaiting", JOBS },
  { "jobsRunning", JOBS },
};

#define FORM(file, of, slots, ...) \
  {                                \
    file, of, PAI__LEN(of), slots, \
    {                              \
      __VA_ARGS__                  \
    }                              \
  }

/* Ten minutes, a day, 31 days; of tasks, which are many, three minutes and
 * eight hours.  tests/unit/series adds up the sizes. */
const pai__series_form pai__series_forms[PAI__SERIES_KINDS] = {
  [PAI__SERIES_MACHINE] = FORM("machines", machine, 512, 600, 1440, 744),
  [PAI__SERIES_GPU] = FORM("gpus", gpu, 4096, 600, 1440, 744),
  [PAI__SERIES_TASK] = FORM("tasks", task, 700, 180, 480, 744),
  [PAI__SERIES_VC] = FORM("virtual-clusters", vc, 256, 600, 1440, 744),
  [PAI__SERIES_QUEUE] = FORM("queue", queue, 1, 600, 1440, 744),
};

const uint32_t pai__series_steps[PAI__SERIES_LEVELS] = { 1, 60, 3600 };

int pai__series_metric_of(enum pai__series_kind kind, const char *name)
{
  const pai__series_form *form = &pai__series_forms[kind];

  for (uint32_t i = 0; i < form->count; i++)
    if (strcmp(form->metrics[i].name, name) == 0)
      return (int)i;
  return -1;
}
