/* report_text.h - internal to the room: a page for a terminal of 80 columns */
#ifndef PAI_SRC_SIM_REPORT_TEXT_H
#define PAI_SRC_SIM_REPORT_TEXT_H

#include "sim/pages.h"

typedef struct pai__text_page {
  const pai_sim_report *const *reports;
  size_t n;
  pai__buf out, label; /* label: scratch */
} pai__text_page;

/* A title, after an empty line. */
void pai__text_title(pai__text_page *p, const char *title);
/* In so many columns, on the left; a space stands behind it. */
void pai__text_name(pai__text_page *p, const char *name, size_t columns);
/* On the right of so many columns. */
void pai__text_cell(pai__text_page *p, const char *text, size_t columns);
/* Ends a line, without the spaces at its end. */
void pai__text_end(pai__text_page *p);
/* The name of a report among others. */
const char *pai__text_label(pai__text_page *p, size_t i);
/* Part of a whole as a bar of so many columns. */
void pai__text_bar(pai__text_page *p, int64_t part, int64_t whole,
                   size_t columns);

/* What happened over time, as lines of eight heights (report_text_time.c). */
void pai__text_time(pai__text_page *p);
/* By virtual cluster, size and user (report_text_tables.c). */
int pai__text_tables(pai__text_page *p);

#endif
