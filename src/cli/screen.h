/* screen.h - lines of a terminal that are drawn again and again: on a screen of
 * their own, or as a block below what scrolls (progress.h) */
#ifndef PAI_SRC_CLI_SCREEN_H
#define PAI_SRC_CLI_SCREEN_H

#include "cli.h"

/* Puts lines from the cursor on in the place of what stands there, cut at the
 * right edge, and nothing behind the last of `height`.  Returns how many. */
unsigned cli_draw_lines(FILE *out, const char *text, unsigned width,
                        unsigned height);

/* --- a screen of its own (posix_screen.c) ---------------------------------- */

/* Signals come only while one waits, from now on: so a screen is never half
 * drawn.  Without a screen they end the waiting likewise. */
void cli_screen_catch(void);
/* Keys come as they are pressed, and are not shown.  It is given back however
 * this ends, or stops. */
void cli_screen_enter(void);
void cli_screen_leave(void);
void cli_screen_size(unsigned *width, unsigned *height);
/* Waits for so long, and tells when the size of the screen has changed; q or a
 * signal ends it: false. */
bool cli_screen_wait(int ms, void (*on_size)(void *user_data),
                     void *user_data);
/* Keys that are no characters. */
enum {
  CLI_KEY_SIGNAL = -1, /* a signal ends the program */
  CLI_KEY_NONE,        /* the time is over */
  CLI_KEY_ESCAPE = 0x1b,
  CLI_KEY_BACKSPACE = 0x7f,
  CLI_KEY_UP = 0x100,
  CLI_KEY_DOWN,
  CLI_KEY_HOME,
  CLI_KEY_END,
  CLI_KEY_PAGE_UP,
  CLI_KEY_PAGE_DOWN,
};
/* Waits likewise, and for a key: a byte of what is typed, or a CLI_KEY_. */
int cli_screen_key(int ms, void (*on_size)(void *user_data), void *user_data);
/* In the end: dies by the signal that ended it, if that was not Ctrl-C. */
void cli_screen_over(void);

#endif
