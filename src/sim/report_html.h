/*
 * report_html.h - internal to the room: a page for a browser
 *
 * The page is well-formed XML, has no script and asks for nothing from
 * elsewhere.  Series differ by hue and by dashes or hatching, so that nobody
 * has to tell them by colour alone.
 */
#ifndef PAI_SRC_SIM_REPORT_HTML_H
#define PAI_SRC_SIM_REPORT_HTML_H

#include "sim/pages.h"

/* Colours that are told apart with any eyes; the last is of all others. */
enum { PAI__HUES = 8 };

typedef struct pai__html_page {
  const pai_sim_report *const *reports;
  size_t n;
  pai__buf out, label; /* label: scratch */
} pai__html_page;

/* --- the page (report_html.c) ------------------------------------------------- */

/* A section's head; its end is pai__html_end(). */
void pai__html_begin(pai__html_page *p, const char *title, const char *hint);
void pai__html_end(pai__html_page *p);
void pai__html_text(pai__html_page *p, const char *text);
/* The name of a report among others, not escaped. */
const char *pai__html_label(pai__html_page *p, size_t i);

/* A list of what series mean: begin, keys, end.  Class as of a shape. */
void pai__html_begin_keys(pai__html_page *p);
void pai__html_key_area(pai__html_page *p, const char *class,
                        const char *name);
void pai__html_key_line(pai__html_page *p, size_t series, const char *name);
void pai__html_end_keys(pai__html_page *p);

/* --- charts (report_html_chart.c) ---------------------------------------------- */

/* A drawing; lengths are tenths of pixels, values what the chart is of. */
typedef struct pai__chart {
  pai__buf *out;
  int width, height;            /* of all */
  int left, right, top, bottom; /* the edges of what is drawn between axes */
  int64_t x_end, y_end; /* the values at the right and the upper edge */
  bool logarithmic;     /* x: from one second on */
} pai__chart;

typedef const char *(*pai__show_fn)(char out[PAI__CELL], int64_t value);

/* So wide as the page, and so high between the axes; `name` for who does not
 * see it. */
void pai__chart_begin(pai__chart *c, pai__buf *out, const char *name, int left,
                      int height);
void pai__chart_end(pai__chart *c);

/* Axes, with lines across at round values. */
void pai__chart_x_time(pai__chart *c, pai_time end);
void pai__chart_x_log_time(pai__chart *c, pai_time end);
void pai__chart_x_value(pai__chart *c, int64_t end, pai__show_fn show);
/* At least `least` from line to line. */
void pai__chart_y_value(pai__chart *c, int64_t end, int64_t least,
                        pai__show_fn show);

int pai__chart_x(const pai__chart *c, int64_t value);
int pai__chart_y(const pai__chart *c, int64_t value);

/* Adds a length; adds a rectangle without its end; adds a text. */
void pai__chart_length(pai__chart *c, const char *before, int length);
void pai__chart_rect(pai__chart *c, const char *class, int x, int y, int w,
                     int h);
void pai__chart_text(pai__chart *c, const char *class, int x, int y,
                     const char *text, size_t columns);
/* Begins a hint that a pointer shows, and ends it together with its shape. */
void pai__chart_hint(pai__chart *c);
void pai__chart_hint_end(pai__chart *c, const char *shape);

/* --- parts -------------------------------------------------------------------- */

void pai__html_time(pai__html_page *p);
void pai__html_waits(pai__html_page *p);
int pai__html_groups(pai__html_page *p);
int pai__html_gantt(pai__html_page *p);

#endif
