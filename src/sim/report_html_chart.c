/* report_html_chart.c - axes, and pieces of charts */
#include "sim/report_html.h"

#include "resource/svg.h"

enum { WIDTH = 9600, RIGHT = 200, TOP = 120, BOTTOM = 260, LETTER = 68 };

/* --- pieces ------------------------------------------------------------------- */

void pai__chart_length(pai__chart *c, const char *before, int length)
{
  unsigned n = length < 0 ? 0 - (unsigned)length : (unsigned)length;

  pai__buf_printf(c->out, "%s%s%u", before, length < 0 ? "-" : "", n / 10);
  if (n % 10 > 0)
    pai__buf_printf(c->out, ".%u", n % 10);
}

void pai__chart_rect(pai__chart *c, const char *class, int x, int y, int w,
                     int h)
{
  pai__buf_printf(c->out, "<rect class=\"%s\"", class);
  pai__chart_length(c, " x=\"", x);
  pai__chart_length(c, "\" y=\"", y);
  pai__chart_length(c, "\" width=\"", w > 0 ? w : 0);
  pai__chart_length(c, "\" height=\"", h > 0 ? h : 0);
  pai__buf_char(c->out, '"');
}

void pai__chart_text(pai__chart *c, const char *class, int x, int y,
                     const char *text, size_t columns)
{
  pai__buf_printf(c->out, "<text class=\"%s\"", class);
  pai__chart_length(c, " x=\"", x);
  pai__chart_length(c, "\" y=\"", y);
  pai__buf_str(c->out, "\">");
  pai__svg_escape(c->out, text, columns);
  pai__buf_str(c->out, "</text>\n");
}

void pai__chart_hint(pai__chart *c)
{
  pai__buf_str(c->out, "><title>");
}

void pai__chart_hint_end(pai__chart *c, const char *shape)
{
  pai__buf_printf(c->out, "</title></%s>\n", shape);
}

void pai__chart_begin(pai__chart *c, pai__buf *out, const char *name, int left,
                      int height)
{
  *c = (pai__chart){ .out = out,
                     .width = WIDTH,
                     .height = TOP + height + BOTTOM,
                     .left = left,
                     .right = WIDTH - RIGHT,
                     .top = TOP,
                     .bottom = TOP + height,
                     .x_end = 1,
                     .y_end = 1 };
  pai__buf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                  "viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
                  c->width / 10, (c->height + 9) / 10);
  pai__svg_escape(out, name, SIZE_MAX);
  pai__buf_str(out, "\">\n");
}

void pai__chart_end(pai__chart *c)
{
  pai__buf_str(c->out, "</svg>\n");
}

/* --- where values are ------------------------------------------------------------ */

static int on_log(pai_time value)
{
  int log = pai__log2(value) - pai__log2(PAI__SECOND);

  return log > 0 ? log : 0;
}

int pai__chart_x(const pai__chart *c, int64_t value)
{
  int64_t end = c->logarithmic ? on_log(c->x_end) : c->x_end;
  int64_t at = c->logarithmic ? on_log(value) : value;

  at = at < 0 ? 0 : at > end ? end : at;
  return c->left + (int)pai__portion(at, c->right - c->left, end);
}

int pai__chart_y(const pai__chart *c, int64_t value)
{
  int64_t at = value < 0 ? 0 : value > c->y_end ? c->y_end : value;

  return c->bottom - (int)pai__portion(at, c->bottom - c->top, c->y_end);
}

/* --- axes -------------------------------------------------------------------------- */

static void put_grid(pai__chart *c, int x, int y, int dx, int dy)
{
  pai__chart_length(c, "<path class=\"g\" d=\"M", x);
  pai__chart_length(c, " ", y);
  pai__chart_length(c, "l", dx);
  pai__chart_length(c, " ", dy);
  pai__buf_str(c->out, "\"/>\n");
}

/* A line across at a value of x, its name below, unless that would stand in
 * the one before, which ends at *used. */
static void put_x_tick(pai__chart *c, int64_t value, const char *text,
                       int *used)
{
  int x = pai__chart_x(c, value);
  int half = (int)pai__svg_columns(text) * LETTER / 2;

  put_grid(c, x, c->top, 0, c->bottom - c->top);
  if (x - half <= *used || x + half > c->width)
    return;
  pai__chart_text(c, "x", x, c->bottom + 160, text, SIZE_MAX);
  *used = x + half + LETTER;
}

static void put_x_ticks(pai__chart *c, int64_t step, pai__show_fn show)
{
  char cell[PAI__CELL];
  int used = -1000;

  for (int64_t at = 0; at <= c->x_end; at += step) {
    put_x_tick(c, at, show(cell, at), &used);
    if (at > INT64_MAX - step)
      break;
  }
}

void pai__chart_x_time(pai__chart *c, pai_time end)
{
  c->x_end = end > 0 ? end : 1;
  put_x_ticks(c, pai__tick_time(c->x_end, 9), pai__show_time);
}

void pai__chart_x_value(pai__chart *c, int64_t end, pai__show_fn show)
{
  c->x_end = end > 0 ? end : 1;
  put_x_ticks(c, pai__tick_step(c->x_end, 8), show);
}

void pai__chart_x_log_time(pai__chart *c, pai_time end)
{
  static const pai_time ticks[] = {
    PAI__SECOND,      10 * PAI__SECOND, PAI__MINUTE,    10 * PAI__MINUTE,
    PAI__HOUR,        6 * PAI__HOUR,    PAI__DAY,       7 * PAI__DAY,
    30 * PAI__DAY,    100 * PAI__DAY,   365 * PAI__DAY, 3650 * PAI__DAY,
    36500 * PAI__DAY,
  };
  char cell[PAI__CELL], text[PAI__CELL + 8];
  int used = -1000;

  c->logarithmic = true;
  c->x_end = end > PAI__MINUTE ? end : PAI__MINUTE;
  for (size_t i = 0; i < PAI__LEN(ticks) && ticks[i] <= c->x_end; i++) {
    memcpy(text, i == 0 ? "≤ " : "", i == 0 ? sizeof("≤ ") : 1);
    (void)pai__show_time(cell, ticks[i]);
    memcpy(text + strlen(text), cell, strlen(cell) + 1);
    put_x_tick(c, ticks[i], text, &used);
  }
}

void pai__chart_y_value(pai__chart *c, int64_t end, int64_t least,
                        pai__show_fn show)
{
  int lines = (c->bottom - c->top) / 300;
  int64_t step = pai__tick_step(end, lines < 2 ? 2 : lines > 6 ? 6 : lines);
  char cell[PAI__CELL];

  step = step > least ? step : least;
  c->y_end = end < INT64_MAX - step ? (end + step - 1) / step * step : end;
  if (c->y_end <= 0)
    c->y_end = step;
  for (int64_t at = 0; at <= c->y_end; at += step) {
    int y = pai__chart_y(c, at);

    put_grid(c, c->left, y, c->right - c->left, 0);
    pai__chart_text(c, "y", c->left - 60, y + 40, show(cell, at), SIZE_MAX);
    if (at > INT64_MAX - step)
      break;
  }
}
