/* report_html.c - reports as a page for a browser: its frame, head, numbers */
#include "sim/report_html.h"

#include "resource/svg.h"

#include <stdio.h>

/* Hues are those of Okabe and Ito, a little darker on white and lighter on
 * black; prints are on white. */
static const char style[] =
  ":root{color-scheme:light dark;--bg:#fff;--fg:#1f2328;--dim:#57606a;"
  "--line:#d8dee4;--card:#f6f8fa;--hatch:#ffffffd0;--cross:#00000080;"
  "--c0:#0072b2;--c1:#e69f00;--c2:#009e73;--c3:#cc79a7;--c4:#56b4e9;"
  "--c5:#d55e00;--c6:#b8a900;--c7:#8c959f}\n"
  "@media screen and (prefers-color-scheme:dark){:root{--bg:#0d1117;"
  "--fg:#e6edf3;--dim:#9198a1;--line:#30363d;--card:#161b22;"
  "--hatch:#0d1117c0;--cross:#00000090;--c0:#4493d8;--c1:#f0b429;"
  "--c2:#2dbd92;--c3:#d98bb8;--c4:#8fd3ff;--c5:#f0763b;--c6:#f0e442;"
  "--c7:#768390}}\n"
  "*{box-sizing:border-box}\n"
  "body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.45 "
  "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,'DejaVu Sans',"
  "sans-serif}\n"
  "main{max-width:1040px;margin:0 auto;padding:24px 40px 48px}\n"
  "h1{font-size:26px;margin:0 0 4px}h2{font-size:18px;margin:0 0 2px}"
  "h3{font-size:15px;margin:12px 0 4px}\n"
  ".hint{color:var(--dim);margin:0 0 8px;font-size:13px}\n"
  "section{margin:36px 0 0;break-inside:avoid}\n"
  "svg{display:block;width:100%;height:auto}\n"
  "text{font-size:11px;fill:var(--dim);font-variant-numeric:tabular-nums}"
  ".x{text-anchor:middle}.y{text-anchor:end}\n"
  ".g{stroke:var(--line);fill:none}.row{fill:var(--card)}"
  ".l{fill:none;stroke-width:1.8;stroke-linejoin:round}"
  ".box{fill:none;stroke:var(--dim)}.mark{stroke:var(--fg)}"
  ".b path{stroke:var(--bg);stroke-width:.5}.s{fill:transparent}"
  ".s:hover{fill:var(--dim);opacity:.25}\n"
  ".d0{stroke-dasharray:none}.d1{stroke-dasharray:8 3}.d2{stroke-dasharray:3 "
  "2}"
  ".d3{stroke-dasharray:10 3 2 3}\n"
  ".soft{opacity:.25}.o1{opacity:.35}.o2{opacity:.6}.o3{opacity:1}"
  ".down{fill:url(#down)}\n"
  ".cards{display:grid;grid-template-columns:repeat(auto-fill,"
  "minmax(150px,1fr));gap:10px;margin:20px 0 0}\n"
  ".cards div{background:var(--card);border:1px solid var(--line);"
  "border-radius:8px;padding:10px 12px}\n"
  "dl{margin:0}dt{color:var(--dim);font-size:13px}"
  "dd{margin:0;font-size:20px;font-weight:600;white-space:nowrap;overflow:"
  "hidden;"
  "text-overflow:ellipsis}\n"
  ".keys{list-style:none;margin:0 0 6px;padding:0;display:flex;"
  "flex-wrap:wrap;gap:2px 18px;font-size:13px}"
  ".keys li{display:flex;align-items:center;gap:6px}"
  ".keys svg{width:26px;height:12px}\n"
  ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:13px;"
  "width:100%;font-variant-numeric:tabular-nums}"
  "td,th{padding:3px 8px;text-align:right;white-space:nowrap;"
  "border-bottom:1px solid var(--line);font-weight:400}"
  "tbody th,thead td{text-align:left}thead th{font-weight:600}"
  "td.ch{color:var(--dim);font-size:12px;padding-left:0}.got{width:120px}"
  ".best{font-weight:700}.none{opacity:.6}\n"
  "@media print{main{max-width:none;padding:0}section{margin-top:20px}"
  ".wide{overflow:visible}}\n";

/* --- pieces --------------------------------------------------------------------- */

void pai__html_text(pai__html_page *p, const char *text)
{
  pai__svg_escape(&p->out, text, SIZE_MAX);
}

void pai__html_begin(pai__html_page *p, const char *title, const char *hint)
{
  pai__buf_printf(&p->out, "<section>\n<h2>%s</h2>\n", title);
  if (*hint != '\0')
    pai__buf_printf(&p->out, "<p class=\"hint\">%s</p>\n", hint);
}

void pai__html_end(pai__html_page *p)
{
  pai__buf_str(&p->out, "</section>\n");
}

const char *pai__html_label(pai__html_page *p, size_t i)
{
  pai__buf_clear(&p->label);
  pai__put_label(&p->label, p->reports, i);
  p->out.failed |= !pai__buf_ok(&p->label);
  return pai__buf_text(&p->label);
}

void pai__html_begin_keys(pai__html_page *p)
{
  pai__buf_str(&p->out, "<ul class=\"keys\">\n");
}

static void put_key(pai__html_page *p, const char *shape, const char *name)
{
  pai__buf_printf(&p->out,
                  "<li><svg xmlns=\"http://www.w3.org/2000/svg\" "
                  "viewBox=\"0 0 26 12\" aria-hidden=\"true\">%s</svg>",
                  shape);
  pai__html_text(p, name);
  pai__buf_str(&p->out, "</li>\n");
}

void pai__html_key_area(pai__html_page *p, const char *class, const char *name)
{
  char shape[128];

  (void)snprintf(shape, sizeof(shape),
                 "<rect class=\"%s\" x=\"1\" y=\"1\" width=\"24\" "
                 "height=\"10\"/>",
                 class);
  put_key(p, shape, name);
}

void pai__html_key_line(pai__html_page *p, size_t series, const char *name)
{
  char shape[128];

  (void)snprintf(shape, sizeof(shape),
                 "<path class=\"l l%u d%u\" d=\"M0 6h26\"/>",
                 (unsigned)(series % (PAI__HUES - 1)), (unsigned)(series % 4));
  put_key(p, shape, name);
}

void pai__html_end_keys(pai__html_page *p)
{
  pai__buf_str(&p->out, "</ul>\n");
}

/* --- head ------------------------------------------------------------------------ */

/* Of each hue: filled, a line, and hatched for who was preempted, failed or
 * killed. */
static void put_hues(pai__html_page *p)
{
  pai__buf_str(&p->out, "<style>\n");
  pai__buf_str(&p->out, style);
  for (unsigned i = 0; i < PAI__HUES; i++)
    pai__buf_printf(&p->out,
                    ".f%u{fill:var(--c%u)}.l%u{stroke:var(--c%u)}"
                    ".p%u{fill:url(#p%u)}.x%u{fill:url(#x%u)}"
                    ".k%u{fill:url(#k%u)}\n",
                    i, i, i, i, i, i, i, i, i, i);
  pai__buf_str(&p->out, "</style>\n");
}

static void put_pattern(pai__html_page *p, const char *id, unsigned hue,
                        const char *path, const char *colour)
{
  pai__buf_printf(&p->out,
                  "<pattern id=\"%s%u\" width=\"6\" height=\"6\" "
                  "patternUnits=\"userSpaceOnUse\"><rect class=\"f%u\" "
                  "width=\"6\" height=\"6\"/><path d=\"%s\" "
                  "style=\"stroke:var(--%s);stroke-width:1.6;fill:none\"/>"
                  "</pattern>\n",
                  id, hue, hue, path, colour);
}

static void put_patterns(pai__html_page *p)
{
  pai__buf_str(&p->out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" "
               "style=\"position:absolute;width:0;height:0\" "
               "aria-hidden=\"true\"><defs>\n"
               "<pattern id=\"down\" width=\"5\" height=\"5\" "
               "patternUnits=\"userSpaceOnUse\"><path d=\"M-1 1L1 -1M0 5L5 "
               "0M4 6L6 4\" style=\"stroke:var(--dim);fill:none\"/>"
               "</pattern>\n");
  for (unsigned i = 0; i < PAI__HUES; i++) {
    put_pattern(p, "p", i, "M-1 1L1 -1M0 6L6 0M5 7L7 5", "hatch");
    put_pattern(p, "x", i, "M-1 5L1 7M0 0L6 6M5 -1L7 1", "cross");
    put_pattern(p, "k", i, "M3 0V6", "hatch");
  }
  pai__buf_str(&p->out, "</defs></svg>\n");
}

static void put_note(pai__html_page *p, uint64_t n, const char *what)
{
  char cell[PAI__CELL];

  if (n > 0)
    pai__buf_printf(
      &p->out, "<p class=\"hint\">%s %s.</p>\n",
      pai__show_count(cell, n < INT64_MAX ? (int64_t)n : INT64_MAX), what);
}

static void put_title(pai__html_page *p)
{
  if (p->n > 1)
    pai__buf_printf(&p->out, "%zu simulations side by side", p->n);
  else
    pai__html_text(p, p->reports[0]->view.policy);
}

/* What was said to a policy. */
static void put_options(pai__html_page *p, size_t i)
{
  if (*p->reports[i]->options == '\0')
    return;
  pai__buf_str(&p->out, "<p class=\"hint\">");
  pai__html_text(p, pai__html_label(p, i));
  pai__buf_str(&p->out, " with ");
  pai__html_text(p, p->reports[i]->options);
  pai__buf_str(&p->out, "</p>\n");
}

static void put_head(pai__html_page *p)
{
  const pai_sim_report *r = p->reports[0];

  pai__buf_str(&p->out,
               "<!DOCTYPE html>\n"
               "<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n"
               "<head>\n<meta charset=\"utf-8\"/>\n"
               "<meta name=\"viewport\" content=\"width=device-width, "
               "initial-scale=1\"/>\n<title>");
  put_title(p);
  pai__buf_str(&p->out, " - simulation</title>\n");
  put_hues(p);
  pai__buf_str(&p->out, "</head>\n<body>\n");
  put_patterns(p);
  pai__buf_str(&p->out, "<main>\n<h1>");
  put_title(p);
  pai__buf_str(&p->out, "</h1>\n<p class=\"hint\">");
  pai__html_text(p, r->trace);
  pai__buf_str(&p->out, " trace on ");
  pai__html_text(p, r->cluster);
  pai__buf_printf(&p->out, ", seed %llu</p>\n",
                  (unsigned long long)r->view.seed);
  for (size_t i = 0; i < p->n; i++)
    put_options(p, i);
  put_note(p, r->view.lines_skipped, "lines of the trace were skipped");
  put_note(p, r->view.mapped_vcs, "jobs came from no known virtual cluster");
  put_note(p, r->view.mapped_types, "jobs asked for no known type");
}

/* --- numbers ------------------------------------------------------------------------ */

static void put_cards(pai__html_page *p)
{
  char cell[PAI__CELL];

  pai__buf_str(&p->out, "<dl class=\"cards\">\n");
  for (size_t i = 0; pai__figure_at(i) != NULL; i++) {
    const pai__figure *f = pai__figure_at(i);
    int64_t value = pai__figure_value(f, p->reports[0]);

    pai__buf_printf(&p->out, "<div title=\"%s\"><dt>%s</dt><dd%s>", f->hint,
                    f->label, value == 0 ? " class=\"none\"" : "");
    pai__html_text(p, pai__show_figure(cell, f, value));
    pai__buf_printf(&p->out, "%s</dd></div>\n",
                    f->kind == PAI__WORK ? " h" : "");
  }
  pai__buf_str(&p->out, "</dl>\n");
}

static void put_compared(pai__html_page *p, const pai__figure *f, size_t i)
{
  int64_t value = pai__figure_value(f, p->reports[i]);
  bool best = pai__is_best(f, p->reports, p->n, i);
  char cell[PAI__CELL];

  pai__buf_printf(&p->out, "<td%s>%s", best ? " class=\"best\"" : "",
                  best ? "★ " : "");
  pai__html_text(p, pai__show_figure(cell, f, value));
  pai__buf_str(&p->out, f->kind == PAI__WORK ? " h" : "");
  pai__buf_str(&p->out, "</td>");
  if (i > 0)
    pai__buf_printf(
      &p->out, "<td class=\"ch\">%s</td>",
      pai__show_change(cell, value, pai__figure_value(f, p->reports[0])));
}

static void put_comparison(pai__html_page *p)
{
  pai__html_begin(p, "Numbers",
                  "★ the best of all; changes are from the first column.");
  pai__buf_str(&p->out, "<div class=\"wide\"><table><thead><tr><td></td>");
  for (size_t i = 0; i < p->n; i++) {
    pai__buf_str(&p->out, "<th scope=\"col\">");
    pai__html_text(p, pai__html_label(p, i));
    pai__buf_str(&p->out, i > 0 ? "</th><td></td>" : "</th>");
  }
  pai__buf_str(&p->out, "</tr></thead><tbody>\n");
  for (size_t k = 0; pai__figure_at(k) != NULL; k++) {
    const pai__figure *f = pai__figure_at(k);

    pai__buf_printf(&p->out, "<tr><th scope=\"row\" title=\"%s\">%s</th>",
                    f->hint, f->label);
    for (size_t i = 0; i < p->n; i++)
      put_compared(p, f, i);
    pai__buf_str(&p->out, "</tr>\n");
  }
  pai__buf_str(&p->out, "</tbody></table></div>\n");
  pai__html_end(p);
}

/* --- the call ------------------------------------------------------------------------ */

int pai__report_html(const pai_sim_report *const *reports, size_t n,
                     pai_write_cb write, void *user_data, pai_error **err)
{
  pai__html_page p = { .reports = reports, .n = n };
  int rc;

  pai__buf_init(&p.out, &reports[0]->alloc);
  pai__buf_init(&p.label, &reports[0]->alloc);
  put_head(&p);
  if (n == 1)
    put_cards(&p);
  else
    put_comparison(&p);
  pai__html_time(&p);
  pai__html_waits(&p);
  rc = pai__html_groups(&p);
  if (rc == PAI_OK)
    rc = pai__html_gantt(&p);
  pai__buf_str(&p.out, "</main>\n</body>\n</html>\n");
  pai__buf_dispose(&p.label);
  return pai__page_write(&p.out, rc, write, user_data, err);
}
