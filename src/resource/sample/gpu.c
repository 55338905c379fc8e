/* gpu.c - the list of GPUs: add, sort, and public views */
#include "resource/sample/gpu.h"

#include <stdio.h>
#include <stdlib.h>

int pai__gpus_make(pai_gpus **out, const pai_alloc *alloc)
{
  pai_gpus *gpus = pai__zalloc(alloc, sizeof(*gpus));

  *out = gpus;
  if (gpus == NULL)
    return PAI_ENOMEM;
  gpus->alloc = *alloc;
  gpus->driver = "";
  pai__arena_init(&gpus->arena, &gpus->alloc);
  return PAI_OK;
}

void pai_gpus_free(pai_gpus *gpus)
{
  pai_alloc alloc;

  if (gpus == NULL)
    return;
  alloc = gpus->alloc;
  pai__arena_dispose(&gpus->arena);
  pai__free(&alloc, gpus->gpus, gpus->cap * sizeof(*gpus->gpus));
  pai__free(&alloc, gpus->processes,
            gpus->process_cap * sizeof(*gpus->processes));
  pai__free(&alloc, gpus->links, gpus->link_cap * sizeof(*gpus->links));
  pai__free(&alloc, (void *)gpus->notes,
            gpus->note_cap * sizeof(*gpus->notes));
  pai__free(&alloc, gpus, sizeof(*gpus));
}

/* --- making ------------------------------------------------------------- */

pai_gpu_view *pai__gpus_add(pai_gpus *gpus, int vendor)
{
  pai_gpu_view *g;

  if (PAI__VEC_ROOM(&gpus->alloc, gpus->gpus, gpus->count, gpus->cap) < 0)
    return NULL;
  g = &gpus->gpus[gpus->count++];
  *g = (pai_gpu_view){ .struct_size = sizeof(*g),
                       .vendor = vendor,
                       .model = "",
                       .uuid = "",
                       .pci = "",
                       .parent = PAI_NO_GPU,
                       .device = -1,
                       .health = PAI_GPU_HEALTHY,
                       .reason = "",
                       .memory_total = -1,
                       .memory_used = -1,
                       .compute_mode = -1,
                       .mig = -1,
                       .gpu_instance = -1,
                       .compute_instance = -1,
                       .ecc = -1,
                       .ecc_corrected = -1,
                       .ecc_uncorrected = -1,
                       .clock_mhz = -1,
                       .clock_max_mhz = -1,
                       .memory_clock_mhz = -1,
                       .memory_clock_max_mhz = -1,
                       .temperature = -1,
                       .power_mw = -1,
                       .power_limit_mw = -1,
                       .busy_percent = -1,
                       .memory_busy_percent = -1 };
  return g;
}

const char *pai__gpus_text(pai_gpus *gpus, const char *text)
{
  return pai__arena_strndup(&gpus->arena, text, strlen(text));
}

static const char *format(pai_gpus *gpus, const char *fmt, va_list ap)
{
  char text[512];

  (void)vsnprintf(text, sizeof(text), fmt, ap);
  for (char *c = text; *c != '\0'; c++) /* one line */
    if ((unsigned char)*c < ' ')
      *c = ' ';
  return pai__gpus_text(gpus, text);
}

int pai__gpus_note(pai_gpus *gpus, const char *fmt, ...)
{
  const char *note;
  va_list ap;

  if (PAI__VEC_ROOM(&gpus->alloc, gpus->notes, gpus->note_count,
                    gpus->note_cap) < 0)
    return PAI_ENOMEM;
  va_start(ap, fmt);
  note = format(gpus, fmt, ap);
  va_end(ap);
  if (note == NULL)
    return PAI_ENOMEM;
  gpus->notes[gpus->note_count++] = note;
  return PAI_OK;
}

int pai__gpus_blame(pai_gpus *gpus, size_t i, int health, const char *fmt, ...)
{
  const char *reason;
  va_list ap;

  if (health <= gpus->gpus[i].health)
    return PAI_OK;
  va_start(ap, fmt);
  reason = format(gpus, fmt, ap);
  va_end(ap);
  if (reason == NULL)
    return PAI_ENOMEM;
  gpus->gpus[i].health = health;
  gpus->gpus[i].reason = reason;
  return PAI_OK;
}

int pai__gpus_process_add(pai_gpus *gpus, size_t gpu, int32_t pid,
                          int64_t memory)
{
  pai__gpu_process *p;

  if (PAI__VEC_ROOM(&gpus->alloc, gpus->processes, gpus->process_count,
                    gpus->process_cap) < 0)
    return PAI_ENOMEM;
  p = &gpus->processes[gpus->process_count++];
  *p =
    (pai__gpu_process){ .gpu = (uint32_t)gpu, .pid = pid, .memory = memory };
  gpus->gpus[gpu].processes++;
  return PAI_OK;
}

int pai__gpus_link_add(pai_gpus *gpus, uint32_t from, uint32_t to,
                       int32_t version, int64_t mbytes_per_second)
{
  if (PAI__VEC_ROOM(&gpus->alloc, gpus->links, gpus->link_count,
                    gpus->link_cap) < 0)
    return PAI_ENOMEM;
  gpus->links[gpus->link_count++] =
    (pai_gpu_link_view){ .struct_size = sizeof(pai_gpu_link_view),
                         .a = from,
                         .b = to,
                         .links = 1,
                         .version = version,
                         .mbytes_per_second = mbytes_per_second };
  return PAI_OK;
}

uint32_t pai__gpus_at_pci(const pai_gpus *gpus, const char *pci)
{
  for (size_t i = 0; i < gpus->count; i++)
    if (gpus->gpus[i].parent == PAI_NO_GPU &&
        strcmp(gpus->gpus[i].pci, pci) == 0)
      return (uint32_t)i;
  return PAI_NO_GPU;
}

void pai__pci_text(char *out, uint32_t domain, uint32_t bus, uint32_t device)
{
  (void)snprintf(out, PAI__PCI_TEXT, "%04x:%02x:%02x.0", (unsigned)domain,
                 (unsigned)bus, (unsigned)device);
}

/* --- putting in order ---------------------------------------------------- */

static int by_gpu(const void *a, const void *b)
{
  const pai__gpu_process *x = a, *y = b;

  if (x->gpu != y->gpu)
    return x->gpu < y->gpu ? -1 : 1;
  return (x->pid > y->pid) - (x->pid < y->pid);
}

static uint32_t lower(const pai_gpu_link_view *l)
{
  return l->a < l->b ? l->a : l->b;
}

static uint32_t upper(const pai_gpu_link_view *l)
{
  return l->a < l->b ? l->b : l->a;
}

/* Orders by pair; within a pair, the report of the lower end comes first. */
static int by_pair(const void *a, const void *b)
{
  const pai_gpu_link_view *x = a, *y = b;

  if (lower(x) != lower(y))
    return lower(x) < lower(y) ? -1 : 1;
  if (upper(x) != upper(y))
    return upper(x) < upper(y) ? -1 : 1;
  if (x->a != y->a)
    return x->a < y->a ? -1 : 1;
  return (x->version > y->version) - (x->version < y->version);
}

/* Merges sorted links to one entry for each pair. */
static void sum_links(pai_gpus *gpus)
{
  size_t used = 0, i = 0;

  while (i < gpus->link_count) {
    pai_gpu_link_view sum = gpus->links[i];
    uint32_t teller = sum.a, low = lower(&sum), high = upper(&sum);

    for (i++; i < gpus->link_count && lower(&gpus->links[i]) == low &&
              upper(&gpus->links[i]) == high;
         i++) {
      const pai_gpu_link_view *l = &gpus->links[i];

      if (l->a != teller)
        continue;
      sum.links++;
      if (sum.mbytes_per_second < 0 || l->mbytes_per_second < 0)
        sum.mbytes_per_second = -1;
      else
        sum.mbytes_per_second += l->mbytes_per_second;
    }
    sum.a = low;
    sum.b = high;
    gpus->links[used++] = sum;
  }
  gpus->link_count = used;
}

void pai__gpus_finish(pai_gpus *gpus)
{
  if (gpus->process_count != 0)
    qsort(gpus->processes, gpus->process_count, sizeof(*gpus->processes),
          by_gpu);
  if (gpus->link_count != 0)
    qsort(gpus->links, gpus->link_count, sizeof(*gpus->links), by_pair);
  sum_links(gpus);
}

/* --- reading ------------------------------------------------------------- */

size_t pai_gpus_count(const pai_gpus *gpus)
{
  return gpus != NULL ? gpus->count : 0;
}

int pai_gpus_get(const pai_gpus *gpus, size_t i, pai_gpu_view *view)
{
  PAI__CHECK_ARG(gpus != NULL && view != NULL);
  if (i >= gpus->count)
    return PAI_ENOTFOUND;
  return PAI__FILL_VIEW(view, gpus->gpus[i], pai_gpu_view, foreign);
}

int pai_gpus_process(const pai_gpus *gpus, size_t i, size_t j,
                     pai_gpu_process_view *view)
{
  pai_gpu_process_view full = { .struct_size = sizeof(full) };
  size_t at = 0;

  PAI__CHECK_ARG(gpus != NULL && view != NULL);
  if (i >= gpus->count || j >= gpus->gpus[i].processes)
    return PAI_ENOTFOUND;
  while (gpus->processes[at].gpu != i)
    at++;
  full.pid = gpus->processes[at + j].pid;
  full.memory = gpus->processes[at + j].memory;
  full.foreign = gpus->processes[at + j].foreign;
  return PAI__FILL_VIEW(view, full, pai_gpu_process_view, foreign);
}

int pai_gpus_link(const pai_gpus *gpus, size_t i, pai_gpu_link_view *view)
{
  PAI__CHECK_ARG(gpus != NULL && view != NULL);
  if (i >= gpus->link_count)
    return PAI_ENOTFOUND;
  return PAI__FILL_VIEW(view, gpus->links[i], pai_gpu_link_view,
                        mbytes_per_second);
}

const char *pai_gpus_driver(const pai_gpus *gpus)
{
  return gpus != NULL ? gpus->driver : "";
}

const char *pai_gpus_note(const pai_gpus *gpus, size_t i)
{
  return gpus != NULL && i < gpus->note_count ? gpus->notes[i] : NULL;
}
