/*
 * linux_libraries.c - libraries that are not to be closed
 *
 * hwloc's plug-ins bring them, and go when no topology is left.  libpciaccess
 * keeps names of devices for as long as it is there: closed and opened again,
 * as with each topology, it would lose them each time.
 */
#include "resource/machine.h"

#include <dlfcn.h>

void pai__keep_libraries(void)
{
  void *library =
    dlopen("libpciaccess.so.0", RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);

  if (library != NULL)
    (void)dlclose(library); /* it stays */
}
