/* disk.h - what a platform's root takes of the disk (posix_disk.c) */
#ifndef PAI_SRC_CLI_DISK_H
#define PAI_SRC_CLI_DISK_H

/* A line: its parts of a MiB or more, and what is free there. */
void cli_print_disk(const char *root);

#endif
