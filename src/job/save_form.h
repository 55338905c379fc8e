/* save_form.h - internal: binary format of saved jobs, shared by saving and
 * loading */
#ifndef PAI_SRC_JOB_SAVE_FORM_H
#define PAI_SRC_JOB_SAVE_FORM_H

enum {
  PAI__SAVED_VERSION = 1,
  PAI__SAVED_HEAD = 5 + 8 * 4 + 3 * 8, /* bytes, without roles */
  PAI__SAVED_ROLE = 3 * 4,
  PAI__SAVED_TASK = 5 + 5 * 4 + 8
};

/* Flags of a head. */
enum {
  PAI__SAVED_ASKED = 1,
  PAI__SAVED_DECIDED = 2,
  PAI__SAVED_STOP = 4,
  PAI__SAVED_PREEMPTING = 8
};

#endif
