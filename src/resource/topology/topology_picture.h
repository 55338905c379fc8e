/*
 * topology_picture.h - what the text, JSON and SVG pictures of a machine share
 *
 * Not all objects are shown: host bridges, and ports of switches that lead to
 * one device only, are left out.
 */
#ifndef PAI_SRC_RESOURCE_TOPOLOGY_PICTURE_H
#define PAI_SRC_RESOURCE_TOPOLOGY_PICTURE_H

#include "resource/topology/topology.h"

typedef struct pai__topo_picture {
  const pai_topology *t;
  const pai_gpu_mark *marks;
  size_t mark_count;
} pai__topo_picture;

/* Returns the mark of a GPU; its text is never NULL. */
pai_gpu_mark pai__topo_mark(const pai__topo_picture *p, uint32_t gpu);
/* Returns "free", "used", "sick" or "". */
const char *pai__topo_state(int state);

/* A list of objects, in order. */
typedef struct pai__topo_list {
  const pai_alloc *alloc;
  uint32_t *at;
  size_t len, cap;
} pai__topo_list;

/* Lists the objects that are shown within an object. */
int pai__topo_shown(pai__topo_list *out, const pai_topology *t,
                    uint32_t object);
void pai__topo_list_dispose(pai__topo_list *l);
/* Returns how many list entries from i on look the same, contents included. */
size_t pai__topo_run(const pai_topology *t, const pai__topo_list *l, size_t i);

/* Appends "755 GB", in units of 1024, as for memory. */
void pai__topo_add_bytes(pai__buf *out, uint64_t bytes);
/* Appends "4 TB", in units of 1000, as for disks. */
void pai__topo_add_disk(pai__buf *out, uint64_t bytes);
/* Appends "3 cores" or "1 core". */
void pai__topo_add_count(pai__buf *out, uint64_t n, const char *noun);
/* Appends "2 packages, 48 cores, 96 threads, 251 GB, 8 GPUs". */
void pai__topo_add_summary(pai__buf *out, const pai_topology *t);
/* Returns the short name of a kind of link: "NV", "SW", "XG", "XE", or "". */
const char *pai__topo_link_sign(int kind);

int pai__topo_write_text(pai__buf *out, const pai__topo_picture *p);
int pai__topo_write_svg(pai__buf *out, const pai__topo_picture *p);

#endif
