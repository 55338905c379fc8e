/* backend.h - internal: the back ends of this library (openpai/backend.h) */
#ifndef PAI_SRC_BACKEND_BACKEND_H
#define PAI_SRC_BACKEND_BACKEND_H

#include "base/base.h"

#include <openpai/backend.h>

extern const pai_backend_ops pai__backend_local;

#endif
