/*
 * convert_commands.c - what a role of v2 runs, as the one command of v1
 *
 * The deployment's commands that v1 needs no words for are left out: the ones
 * that the conversion from v1 writes, at the beginning.
 */
#include "spec/convert_v2.h"

/* The deployment's commands for a role: "preCommands" or "postCommands". */
static pai__node around(const v2_job *j, pai__node key, const char *which)
{
  pai__node roles = pai__conv_get(&j->c, j->selected, "taskRoles"), role;
  text name = pai__conv_text(&j->c, key);

  if (roles == PAI__NO_NODE)
    return PAI__NO_NODE;
  role = pai__tree_find(j->c.tree, roles, name.s, name.len);
  return role != PAI__NO_NODE
           ? pai__conv_get(&j->c, pai__tree_value(j->c.tree, role), which)
           : PAI__NO_NODE;
}

static bool same_lists(const v2_job *j, pai__node a, pai__node b)
{
  pai__tree_walk v = pai__conv_walk(&j->c, a), w = pai__conv_walk(&j->c, b);
  pai__node item;

  if (a == b) /* an alias */
    return true;
  if (pai__conv_count(&j->c, a) != pai__conv_count(&j->c, b))
    return false;
  while ((item = pai__tree_next(&v)) != PAI__NO_NODE)
    if (!pai__conv_same(pai__conv_text(&j->c, item),
                        pai__conv_text(&j->c, pai__tree_next(&w))))
      return false;
  return true;
}

/* Whether a command only exports a folder that v1 exports by itself. */
static bool exports_folder(v2_job *j, pai__node role, text command)
{
  bool tags = false, literal;

  command = pai__conv_show_tags(&j->c, command, j->parameters, &tags);
  for (size_t i = 0; i < PAI__CONV_DIRS; i++) {
    text uri = pai__v2_folder(j, role, i);

    if (uri.len != 0 && pai__conv_same(uri, j->dirs[i]) &&
        pai__conv_same(command, pai__conv_export_dir(&j->c, &pai__conv_dirs[i],
                                                     uri, &literal)))
      return true;
  }
  return false;
}

static bool exports_variable(v2_job *j, text command, text *name, text *value)
{
  bool tags = false;

  command = pai__conv_show_tags(&j->c, command, j->parameters, &tags);
  return !tags && pai__conv_exported(&j->c, command, name, value);
}

/* How many commands at the beginning v1 needs no words for. */
static size_t count_unneeded(v2_job *j, pai__node key, pai__node list)
{
  pai__tree_walk w = pai__conv_walk(&j->c, list);
  pai__node item, role = pai__tree_value(j->c.tree, key);
  text name, value;
  size_t n = 0;

  while ((item = pai__tree_next(&w)) != PAI__NO_NODE && j->c.rc == PAI_OK) {
    text command = pai__conv_text(&j->c, item);

    if (!(n == 0 && pai__conv_equals(command, PAI__CONV_OPTIONS_OFF)) &&
        !exports_folder(j, role, command) &&
        !(j->same_exports && exports_variable(j, command, &name, &value)))
      break;
    n++;
  }
  return n;
}

static void collect_variables(v2_job *j, pai__node key, pai__node list)
{
  size_t n = count_unneeded(j, key, list);
  pai__tree_walk w = pai__conv_walk(&j->c, list);

  for (size_t i = 0; i < n && j->c.rc == PAI_OK; i++) {
    text command = pai__conv_text(&j->c, pai__tree_next(&w)), name;
    text *value = pai__conv_alloc(&j->c, 1, sizeof(*value));

    if (value != NULL && exports_variable(j, command, &name, value) &&
        pai__map_set(&j->envs, name.s, name.len, value) < 0)
      j->c.rc = PAI_ENOMEM;
  }
}

void pai__v2_exports(v2_job *j)
{
  pai__tree_walk w = pai__conv_walk(&j->c, j->roles);
  pai__node first = pai__tree_next(&w), key, list;

  if (first == PAI__NO_NODE)
    return;
  list = around(j, first, "preCommands");
  j->same_exports = true;
  while ((key = pai__tree_next(&w)) != PAI__NO_NODE && j->same_exports)
    j->same_exports = same_lists(j, list, around(j, key, "preCommands"));
  if (j->same_exports)
    collect_variables(j, first, list);
}

/* --- one command -------------------------------------------------------- */

static text trim(text s)
{
  static const char space[] = " \t\n\r\v\f";

  while (s.len != 0 && memchr(space, *s.s, sizeof(space) - 1) != NULL)
    s.s++, s.len--;
  while (s.len != 0 &&
         memchr(space, s.s[s.len - 1], sizeof(space) - 1) != NULL)
    s.len--;
  return s;
}

/* Adds commands, from one on; *last is the last as it was written. */
static size_t add_commands(v2_job *j, pai__buf *b, pai__node list, size_t from,
                           text *last)
{
  pai__tree_walk w = pai__conv_walk(&j->c, list);
  size_t n = 0;
  pai__node item;

  while ((item = pai__tree_next(&w)) != PAI__NO_NODE && j->c.rc == PAI_OK) {
    bool tags = false;
    text command;

    if (n++ < from)
      continue;
    *last = pai__conv_show_tags(&j->c, pai__conv_text(&j->c, item),
                                j->parameters, &tags);
    command = trim(*last);
    if (tags)
      pai__conv_note(&j->c, item, PAI__CONVERT_ERROR, "template",
                     "write the value itself",
                     "v1 has no templates, so this one stays as it is");
    pai__buf_add(b, command.s, command.len);
    pai__buf_char(b, '\n');
  }
  return n > from ? n - from : 0;
}

static void note_around(v2_job *j, pai__node list)
{
  if (list != PAI__NO_NODE)
    pai__conv_note(&j->c, list, PAI__CONVERT_INFO, "deployment-commands", NULL,
                   "v1 has no deployments: these commands become part of the "
                   "role's command");
}

text pai__v2_command(v2_job *j, pai__node key)
{
  pai__node role = pai__tree_value(j->c.tree, key);
  pai__node before = around(j, key, "preCommands");
  pai__node after = around(j, key, "postCommands");
  size_t from = count_unneeded(j, key, before), n;
  pai__tree_walk w = pai__conv_walk(&j->c, before);
  pai__node first = pai__tree_next(&w);
  bool off = from != 0 && pai__conv_equals(pai__conv_text(&j->c, first),
                                           PAI__CONV_OPTIONS_OFF);
  text last = { "", 0 }, all;
  pai__buf b;

  if (from < pai__conv_count(&j->c, before))
    note_around(j, before);
  note_around(j, after);
  pai__buf_init(&b, j->c.alloc);
  n = add_commands(j, &b, before, from, &last);
  n += add_commands(j, &b, pai__conv_get(&j->c, role, "commands"), 0, &last);
  n += add_commands(j, &b, after, 0, &last);
  all = trim(pai__conv_take(&j->c, &b));
  if (off && n == 1)
    all = last; /* with the space around it */
  else if (!off) {
    pai__buf_init(&b, j->c.alloc);
    pai__buf_str(&b, PAI__CONV_OPTIONS_ON "\n");
    pai__buf_add(&b, all.s, all.len);
    all = pai__conv_take(&j->c, &b);
  }
  return all.len != 0 ? all : (text){ ":", 1 };
}
