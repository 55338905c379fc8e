/*
 * usage_page.c - the use of what jobs hold as a page of HTML
 *
 * One file without scripts, so that it can be mailed.  Names are text.
 */
#include "usage_page.h"

#include "chart.h"

#include <string.h>

static const char style[] =
  "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;"
  "padding:0 1rem;color:#1b1b1b;background:#fff}"
  "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}"
  "table{border-collapse:collapse;width:100%}"
  "th,td{text-align:right;padding:.3rem .6rem;border-bottom:1px solid #ddd}"
  "th:first-child,td:first-child{text-align:left;word-break:break-all}"
  "td.text,th.text{text-align:left}svg{vertical-align:middle}"
  ".held{fill:#d5dbe1}.used{fill:#0072b2}"
  "@media(prefers-color-scheme:dark){body{color:#eee;background:#181a1b}"
  "th,td{border-color:#444}.held{fill:#444c55}.used{fill:#56b4e9}}";

static void put_text(FILE *out, const char *text)
{
  for (; *text != '\0'; text++)
    switch (*text) {
    case '<': (void)fputs("&lt;", out); break;
    case '>': (void)fputs("&gt;", out); break;
    case '&': (void)fputs("&amp;", out); break;
    case '"': (void)fputs("&quot;", out); break;
    default: (void)fputc(*text, out); break;
    }
}

static double number(const pai_json *j, size_t of, const char *path)
{
  return pai_json_number(j, cli_json_get(j, of, path), 0);
}

static void put_percent(FILE *out, const pai_json *j, size_t of,
                        const char *path)
{
  if (cli_json_has(j, of, path))
    (void)fprintf(out, "<td>%.1f %%</td>", number(j, of, path));
  else
    (void)fputs("<td>-</td>", out);
}

/* A bar: GPU hours (without GPUs CPU hours) held, and the part in use. */
static void put_bar(FILE *out, const pai_json *j, size_t of)
{
  bool gpus = number(j, 0, "total/gpuHours") > 0;
  double all = number(j, 0, gpus ? "total/gpuHours" : "total/cpuHours");
  double held = number(j, of, gpus ? "gpuHours" : "cpuHours");
  double used = number(j, of, gpus ? "gpuHoursUsed" : "cpuHoursUsed");
  double scale = all > 0 ? 120 / all : 0;

  used = used < held ? used : held;
  (void)fprintf(
    out,
    "<td><svg width=\"120\" height=\"12\" aria-hidden=\"true\"><rect "
    "class=\"held\" width=\"%.1f\" height=\"12\"/><rect class=\"used\" "
    "width=\"%.1f\" height=\"12\"/></svg></td>",
    held * scale, used * scale);
}

static void put_use(FILE *out, const pai_json *j, size_t of)
{
  (void)fprintf(out, "<td>%.1f</td>", number(j, of, "gpuHours"));
  put_percent(out, j, of, "gpuUse");
  (void)fprintf(out, "<td>%.1f</td>", number(j, of, "cpuHours"));
  put_percent(out, j, of, "cpuUse");
  put_percent(out, j, of, "memoryUse");
  put_bar(out, j, of);
  (void)fputs("</tr>\n", out);
}

static const char heads[] =
  "<th scope=\"col\">GPU hours</th><th scope=\"col\">used</th><th "
  "scope=\"col\">CPU hours</th><th scope=\"col\">used</th><th "
  "scope=\"col\">memory used</th><th scope=\"col\">share</th></tr>\n";

static void put_groups(FILE *out, const pai_json *j, const char *title,
                       const char *list)
{
  (void)fprintf(out,
                "<h2>%s</h2>\n<table><tr><th scope=\"col\">Name</th><th "
                "scope=\"col\">jobs</th>%s",
                title, heads);
  for (cli_each e = cli_each_of(j, cli_json_get(j, 0, list)); cli_next(&e);) {
    (void)fputs("<tr><td>", out);
    put_text(out, cli_json_text(j, e.at, "name"));
    (void)fprintf(out, "</td><td>%.0f</td>", number(j, e.at, "jobs"));
    put_use(out, j, e.at);
  }
  (void)fputs("</table>\n", out);
}

static void put_names(FILE *out, const pai_json *j, size_t job)
{
  const char *name = cli_json_text(j, job, "name");

  (void)fputs("<tr><td>", out);
  put_text(out, name[0] != '\0' ? name : "(others)");
  (void)fputs("</td><td class=\"text\">", out);
  put_text(out, cli_json_text(j, job, "username"));
  (void)fputs("</td><td class=\"text\">", out);
  put_text(out, cli_json_text(j, job, "virtualCluster"));
  (void)fputs("</td>", out);
}

static const char job_heads[] =
  "<tr><th scope=\"col\">Job</th><th class=\"text\" scope=\"col\">user</th>"
  "<th class=\"text\" scope=\"col\">virtual cluster</th>";

static void put_jobs(FILE *out, const pai_json *j)
{
  (void)fprintf(out, "<h2>Jobs that held most</h2>\n<table>%s%s", job_heads,
                heads);
  for (cli_each e = cli_each_of(j, cli_json_get(j, 0, "jobs"));
       cli_next(&e);) {
    put_names(out, j, e.at);
    put_use(out, j, e.at);
  }
  (void)fputs("</table>\n", out);
}

static void put_idle(FILE *out, const pai_json *j)
{
  char date[32];

  if (pai_json_count(j, cli_json_get(j, 0, "idle")) == 0)
    return;
  (void)fprintf(out,
                "<h2>GPUs that do nothing now</h2>\n<table>%s<th "
                "scope=\"col\">GPUs</th><th scope=\"col\">since</th></tr>\n",
                job_heads);
  for (cli_each e = cli_each_of(j, cli_json_get(j, 0, "idle"));
       cli_next(&e);) {
    put_names(out, j, e.at);
    (void)fprintf(
      out, "<td>%.0f</td><td>%s</td></tr>\n", number(j, e.at, "gpus"),
      cli_chart_date(date, cli_json_number(j, e.at, "idleSince", 0)));
  }
  (void)fputs("</table>\n", out);
}

void cli_usage_page(FILE *out, const pai_json *j)
{
  char from[32], to[32];

  (void)cli_chart_date(from, cli_json_number(j, 0, "from", 0));
  (void)cli_chart_date(to, cli_json_number(j, 0, "to", 0));
  (void)fprintf(
    out,
    "<!doctype html>\n<html lang=\"en\"><head><meta "
    "charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width\"><title>Use of the "
    "platform</title>\n<style>%s</style></head>\n<body>\n"
    "<h1>Use of the platform</h1>\n<p>From %s to %s: %.0f jobs "
    "held %.1f GPU hours, of which %.1f were used, and %.1f CPU "
    "hours, of which %.1f were used.</p>\n",
    style, from, to, number(j, 0, "total/jobs"),
    number(j, 0, "total/gpuHours"), number(j, 0, "total/gpuHoursUsed"),
    number(j, 0, "total/cpuHours"), number(j, 0, "total/cpuHoursUsed"));
  put_groups(out, j, "Users", "users");
  put_groups(out, j, "Virtual clusters", "virtualClusters");
  put_jobs(out, j);
  put_idle(out, j);
  (void)fputs("</body></html>\n", out);
}
