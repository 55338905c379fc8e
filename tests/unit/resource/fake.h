/* fake.h - the fake NVML of fake_nvml.c, and made trees of kernel files */
#ifndef PAI_TESTS_RESOURCE_FAKE_H
#define PAI_TESTS_RESOURCE_FAKE_H

#include "cases.h"

#include <stdio.h>

/* The libraries' files, put in by the build. */
#define FAKE_NEW FAKE_NVML
#define FAKE_OLD_NVML FAKE_NVML_OLD

typedef struct fake_nvml {
  void *library;
  void (*machine)(const char *name);
  void (*lose)(unsigned gpu);
  void (*want_reset)(unsigned gpu);
  void (*break_)(unsigned gpu);
  void (*wear)(unsigned gpu);
  void (*crowd)(unsigned processes);
  int (*ready)(void);
} fake_nvml;

void fake_open(fake_nvml *f, const char *path);
void fake_close(fake_nvml *f);

/* A folder for made trees; its name. */
const char *made_root(void);
/* Writes ROOT/path, with the folders it needs, in place. */
void made_file(const char *path, const char *text);
void made_bytes(const char *path, const char *bytes, size_t len);
void made_remove(const char *path);
/* Takes the tree away. */
void made_end(void);

#endif
