/* layout.h - internal to the room: a layout.yaml on its way into a cluster */
#ifndef PAI_SRC_RESOURCE_LAYOUT_H
#define PAI_SRC_RESOURCE_LAYOUT_H

#include "resource/import.h"

/* One of `machine-sku`; in the cluster once a worker has it. */
typedef struct pai__layout_sku {
  pai__sku sku;
  uint32_t index;
  bool is_used;
} pai__layout_sku;

typedef struct pai__layout_machine {
  pai__node at;
  pai__node name_at, address_at;
  pai__piece name, address;
  uint32_t def; /* or PAI__NOTHING */
  bool is_worker, is_master, is_storage;
  bool is_twice; /* has a name or an address of one before */
} pai__layout_machine;

typedef struct pai__layout {
  pai__reader *r;
  pai__layout_sku *defs;
  pai__layout_machine *machines;
  size_t ndefs, nmachines, def_room, machine_room;
  pai__map by_name; /* 1 + index in defs */
  bool is_old;      /* of OpenPAI before 1.0 */
} pai__layout;

/* `machine-list`: each machine by itself, then all of them together. */
void pai__layout_machines(pai__layout *l, pai__node n);

#endif
