/* report_html_waits.c - how long jobs waited: in classes, and cumulated */
#include "sim/report_html.h"

#include "resource/svg.h"

#include <stdio.h>

enum { LEFT = 640, HEIGHT = 1800, SPACE = 160 };

static void put_keys(pai__html_page *p, bool lines)
{
  char class[8];

  if (p->n == 1)
    return;
  pai__html_begin_keys(p);
  for (size_t i = 0; i < p->n; i++) {
    (void)snprintf(class, sizeof(class), "f%u",
                   (unsigned)(i % (PAI__HUES - 1)));
    if (lines)
      pai__html_key_line(p, i, pai__html_label(p, i));
    else
      pai__html_key_area(p, class, pai__html_label(p, i));
  }
  pai__html_end_keys(p);
}

/* --- classes ------------------------------------------------------------------ */

static void put_class(pai__html_page *p, pai__chart *c, size_t class)
{
  int wide = (c->right - c->left) / PAI__CLASSES;
  int bar = (wide - SPACE) / (int)p->n;
  int x = c->left + (int)class * wide + SPACE / 2;
  char cell[PAI__CELL], hue[8];

  for (size_t i = 0; i < p->n; i++) {
    int share = pai__class_share(&p->reports[i]->waits, class);
    int y = pai__chart_y(c, share * 1000);

    (void)snprintf(hue, sizeof(hue), "f%u", (unsigned)(i % (PAI__HUES - 1)));
    pai__chart_rect(c, hue, x + (int)i * bar, y, bar - 10, c->bottom - y);
    pai__chart_hint(c);
    if (p->n > 1) {
      pai__html_text(p, pai__html_label(p, i));
      pai__buf_str(c->out, ", ");
    }
    pai__svg_escape(c->out, pai__class_name(class), SIZE_MAX);
    pai__buf_printf(c->out, ": %s", pai__show_percent(cell, share * 1000));
    pai__chart_hint_end(c, "rect");
    if (p->n == 1)
      pai__chart_text(c, "x", x + bar / 2, y - 40, cell, SIZE_MAX);
  }
  pai__chart_text(c, "x", c->left + (int)class * wide + wide / 2,
                  c->bottom + 160, pai__class_name(class), SIZE_MAX);
}

static void put_classes(pai__html_page *p)
{
  pai__chart c;
  int most = 1;

  for (size_t k = 0; k < PAI__CLASSES; k++)
    for (size_t i = 0; i < p->n; i++)
      if (pai__class_share(&p->reports[i]->waits, k) > most)
        most = pai__class_share(&p->reports[i]->waits, k);
  pai__html_begin(p, "Waiting",
                  "From submission to the first start, of the jobs that "
                  "started.");
  put_keys(p, false);
  pai__chart_begin(&c, &p->out, "Waiting, in classes", LEFT, HEIGHT);
  pai__chart_y_value(&c, most * 1000, 1000, pai__show_round_percent);
  for (size_t k = 0; k < PAI__CLASSES; k++)
    put_class(p, &c, k);
  pai__chart_end(&c);
  pai__html_end(p);
}

/* --- cumulated ------------------------------------------------------------------- */

/* Up and to the right, thousandth by thousandth; what lies within half a pixel
 * is one step. */
static void put_curve(pai__chart *c, const pai__spread *s, size_t series)
{
  int last = c->left;

  if (s->count == 0)
    return;
  pai__buf_printf(c->out, "<path class=\"l l%u d%u\" d=\"",
                  (unsigned)(series % (PAI__HUES - 1)),
                  (unsigned)(series % 4));
  pai__chart_length(c, "M", c->left);
  pai__chart_length(c, " ", c->bottom);
  for (int i = 0; i <= 1000; i++) {
    int x = pai__chart_x(c, s->at[i]);

    if (i < 1000 && pai__chart_x(c, s->at[i + 1]) - last < 5)
      continue;
    if (x > last)
      pai__chart_length(c, "H", x);
    pai__chart_length(c, "V", pai__chart_y(c, i));
    last = x;
  }
  pai__chart_length(c, "H", c->right);
  pai__buf_str(c->out, "\"/>\n");
}

static const char *show_part(char out[PAI__CELL], int64_t thousandths)
{
  return pai__show_round_percent(out, thousandths * 1000);
}

static void put_cumulated(pai__html_page *p)
{
  pai_time longest = 0;
  pai__chart c;

  for (size_t i = 0; i < p->n; i++)
    if (p->reports[i]->waits.at[1000] > longest)
      longest = p->reports[i]->waits.at[1000];
  pai__html_begin(p, "Waiting, cumulated",
                  "How many of the jobs waited no longer than that; the time "
                  "is drawn by its logarithm.");
  put_keys(p, true);
  pai__chart_begin(&c, &p->out, "Waiting, cumulated", LEFT, HEIGHT);
  pai__chart_y_value(&c, 1000, 200, show_part);
  pai__chart_x_log_time(&c, longest);
  for (size_t i = 0; i < p->n; i++)
    put_curve(&c, &p->reports[i]->waits, i);
  pai__chart_end(&c);
  pai__html_end(p);
}

void pai__html_waits(pai__html_page *p)
{
  uint64_t count = 0;

  for (size_t i = 0; i < p->n; i++)
    count = p->reports[i]->waits.count > 0 ? 1 : count;
  if (count == 0)
    return;
  put_classes(p);
  put_cumulated(p);
}
