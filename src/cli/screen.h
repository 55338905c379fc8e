/* screen.h - lines of a terminal that are redrawn: on a screen of their own,
 * or as a block below scrolling output (block.h) */
#ifndef PAI_SRC_CLI_SCREEN_H
#define PAI_SRC_CLI_SCREEN_H

#include "cli.h"

/* Draws at most `height` lines from the cursor on, cut at the right edge, and
 * erases everything below.  Returns the number of lines drawn. */
unsigned cli_draw_lines(FILE *out, const char *text, unsigned width,
                        unsigned height);

/* --- a screen of its own (posix_screen.c) -------------------------------- */

/* From now on signals are delivered only while a wait function below runs, so
 * that no screen is left half drawn.  Without a screen they end the wait
 * too. */
void cli_screen_catch(void);
/* Switches to the screen, without echo and with each key delivered at once.
 * The terminal is restored however the program ends or stops. */
void cli_screen_enter(void);
void cli_screen_leave(void);
void cli_screen_size(unsigned *width, unsigned *height);
/* Draws the screen anew with what `print` writes. */
void cli_screen_draw(void (*print)(void *data, FILE *to), void *data);
/* Waits for `ms` and calls on_size when the screen is resized.  Returns false
 * when q is pressed or a signal came. */
bool cli_screen_wait(int ms, void (*on_size)(void *user_data),
                     void *user_data);
/* Keys that are not characters. */
enum {
  CLI_KEY_SIGNAL = -1, /* a signal asked the program to end */
  CLI_KEY_NONE,        /* no key came in time */
  CLI_KEY_ESCAPE = 0x1b,
  CLI_KEY_BACKSPACE = 0x7f,
  CLI_KEY_UP = 0x100,
  CLI_KEY_DOWN,
  CLI_KEY_HOME,
  CLI_KEY_END,
  CLI_KEY_PAGE_UP,
  CLI_KEY_PAGE_DOWN,
};
/* Waits as cli_screen_wait(), and for a key: returns a typed byte or a
 * CLI_KEY_ value. */
int cli_screen_key(int ms, void (*on_size)(void *user_data), void *user_data);
/* Called at the end: raises the signal that ended the screen again, unless it
 * was Ctrl-C. */
void cli_screen_over(void);

#endif
