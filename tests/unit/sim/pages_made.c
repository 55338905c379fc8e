/*
 * pages_made.c - prints the page of a report made by hand
 *
 * Usage: pages_made SET text|csv|html|json, the sets being those of reports.c.
 */
#include "reports.h"

#include <stdio.h>

static int print(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  return fwrite(bytes, 1, len, stdout) == len ? PAI_OK : PAI_EIO;
}

int main(int argc, char **argv)
{
  pai_sim_report *made[8];
  const pai_sim_report *reports[8];
  size_t n = argc == 3 ? test_reports_of(argv[1], made) : 0;
  int rc;

  for (size_t i = 0; i < n; i++)
    reports[i] = made[i];
  if (n == 0)
    return 2;
  rc = (strcmp(argv[2], "html") == 0   ? pai__report_html
        : strcmp(argv[2], "json") == 0 ? pai__report_json
        : strcmp(argv[2], "csv") == 0
          ? pai__report_csv
          : pai__report_text)(reports, n, print, NULL, NULL);
  for (size_t i = 0; i < n; i++)
    test_report_free(made[i]);
  return rc < 0 ? 1 : 0;
}
