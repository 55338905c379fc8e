/* none.c - in place of the portal's files where node, npm or the WebAssembly
 * tools are missing */
#include "portal/portal.h"

const pai__portal_file pai__portal_files[1] = { { NULL, NULL, NULL, 0, 0 } };
const size_t pai__portal_count = 0;
