/* block.h - a block of lines at the bottom of the terminal, redrawn in place
 * while output scrolls above it (posix_block.c)
 *
 * The cursor rests at the first line of the block, so erasing the block needs
 * no count of its lines, however the terminal wraps them after a resize. */
#ifndef PAI_SRC_CLI_BLOCK_H
#define PAI_SRC_CLI_BLOCK_H

#include "cli.h"

/* Returns whether stdout and stderr are a terminal that can show a block, and
 * this process is in the foreground of that terminal. */
bool cli_block_possible(void);
/* Opens the block.  From now on Ctrl-Z, and signals that end the program and
 * have no other handler, erase the block first.  A change of the terminal
 * wakes the loop. */
void cli_block_open(pai_loop *loop);
/* Erases the block for good and turns the echo of keys on again. */
void cli_block_close(void);

/* Writes `above` to stdout and replaces the block below it with the lines of
 * `text`.  With text == NULL only erases the block. */
void cli_block_draw(const char *above, size_t len, const char *text);
/* Returns the most lines that the block may have, a third of the terminal, and
 * the cells of a line. */
void cli_block_size(unsigned *width, unsigned *height);
/* Returns whether the block must be redrawn: the terminal was resized, or the
 * program was continued after a stop. */
bool cli_block_is_stale(void);
/* Erases the block until it is drawn again. */
void cli_block_erase(void);

#endif
