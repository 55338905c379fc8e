/* posix_errno.h - error numbers of the system in words */
#ifndef PAI_SRC_BASE_POSIX_ERRNO_H
#define PAI_SRC_BASE_POSIX_ERRNO_H

#include <stdbool.h>
#include <stddef.h>

/* What the system says of an error number, written to `text`, which is given
 * back: "No such file or directory". */
const char *pai__errno_text(int number, char *text, size_t size);

/* The same in words that last as long as the block they stand in. */
#define PAI__ERRNO_TEXT(number) pai__errno_text(number, (char[128]){ 0 }, 128)

/* Does the machine lack disk space, inodes, memory, processes or descriptors?
 * Then the same call may succeed later, and nobody but the operator can help. */
bool pai__errno_is_shortage(int number);

#endif
