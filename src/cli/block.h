/* block.h - lines at the end of what a terminal shows, which stay there while
 * output scrolls above them (posix_block.c)
 *
 * The cursor rests where the block begins.  So it is taken away without any
 * counting of lines, whatever a terminal makes of them when its size changes.
 */
#ifndef PAI_SRC_CLI_BLOCK_H
#define PAI_SRC_CLI_BLOCK_H

#include "cli.h"

/* Whether stdout and stderr are a terminal that can do that, and whether we are
 * in the foreground there. */
bool cli_block_possible(void);
/* From now on Ctrl-Z, and signals that end the program and that nobody else
 * hears, take the block away first; what happens to the terminal wakes the
 * loop. */
void cli_block_open(pai_loop *loop);
/* Takes it away, for good: keys are shown again. */
void cli_block_close(void);

/* Writes `above` to stdout, and puts lines of a text below it in the place of
 * the last ones; without a text only takes those away. */
void cli_block_draw(const char *above, size_t len, const char *text);
/* How many lines it may have: a third of the terminal; and cells in each. */
void cli_block_size(unsigned *width, unsigned *height);
/* Whether it has to be drawn anew: the size has changed, or the program went on
 * after a stop. */
bool cli_block_is_stale(void);
/* Takes it away until it is drawn again. */
void cli_block_erase(void);

#endif
