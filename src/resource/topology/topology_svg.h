/* topology_svg.h - layout of the SVG picture of a machine: boxes and their
 * positions */
#ifndef PAI_SRC_RESOURCE_TOPOLOGY_SVG_H
#define PAI_SRC_RESOURCE_TOPOLOGY_SVG_H

#include "resource/topology/topology_picture.h"

/* In pixels. */
enum {
  PAI__SVG_WIDTH = 1240, /* limit for boxes side by side */
  PAI__SVG_PAD = 12,
  PAI__SVG_GAP = 10,
  PAI__SVG_TITLE = 24, /* height of a frame's title line */
  PAI__SVG_NOTE = 22,
  PAI__SVG_TILE = 184
};

typedef enum pai__svg_look {
  PAI__SVG_FRAME, /* contains other boxes */
  PAI__SVG_GPU,
  PAI__SVG_DEVICE,
  PAI__SVG_MEMORY, /* a line for a NUMA node */
  PAI__SVG_CPUS    /* a line for cores without a frame of their own */
} pai__svg_look;

typedef struct pai__svg_box {
  pai__svg_look look;
  uint32_t object;
  size_t alike;   /* number of equal objects it stands for */
  size_t skip;    /* first box after those within it */
  int x, y, w, h; /* relative to the corner of its parent */
} pai__svg_box;

/* Boxes in preorder; the first is the machine. */
typedef struct pai__svg {
  const pai__topo_picture *p;
  const pai_topology *t;
  pai__svg_box *box;
  size_t len, cap;
} pai__svg;

int pai__svg_lay_out(pai__svg *s, const pai__topo_picture *p);
void pai__svg_dispose(pai__svg *s);

/* Appends the title of a frame. */
void pai__svg_add_title(pai__buf *out, const pai_topology *t, uint32_t object);
/* Whether a part of the CPU is drawn as a frame. */
bool pai__svg_is_frame(const pai_topology *t, uint32_t object);

#endif
