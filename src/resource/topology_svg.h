/* topology_svg.h - boxes of a machine's picture, and where they are */
#ifndef PAI_SRC_RESOURCE_TOPOLOGY_SVG_H
#define PAI_SRC_RESOURCE_TOPOLOGY_SVG_H

#include "resource/topology_picture.h"

/* Of pixels. */
enum {
  PAI__SVG_WIDTH = 1240, /* of all that can be laid side by side */
  PAI__SVG_PAD = 12,
  PAI__SVG_GAP = 10,
  PAI__SVG_TITLE = 24, /* a frame's first line */
  PAI__SVG_NOTE = 22,
  PAI__SVG_TILE = 184
};

typedef enum pai__svg_look {
  PAI__SVG_FRAME, /* holds boxes */
  PAI__SVG_GPU,
  PAI__SVG_DEVICE,
  PAI__SVG_MEMORY, /* a line about a NUMA node */
  PAI__SVG_CPUS    /* a line about cores that have no frame of their own */
} pai__svg_look;

typedef struct pai__svg_box {
  pai__svg_look look;
  uint32_t object;
  size_t alike;   /* how many it stands for */
  size_t skip;    /* the first box behind what it holds */
  int x, y, w, h; /* from the corner of what it is in */
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

/* A frame's first line. */
void pai__svg_add_title(pai__buf *out, const pai_topology *t, uint32_t object);
/* Whether a part of the CPU is drawn as a frame. */
bool pai__svg_is_frame(const pai_topology *t, uint32_t object);

#endif
