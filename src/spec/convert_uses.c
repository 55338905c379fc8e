/* convert_uses.c - prerequisites of v2: v1 has one of each kind for the job */
#include "spec/convert_v2.h"

#include "base/utf8.h"

static text resource_id(v2_job *j, const char *type, text name)
{
  pai__buf b;

  pai__buf_init(&b, j->c.alloc);
  pai__buf_str(&b, type);
  pai__buf_char(&b, '/');
  pai__buf_add(&b, name.s, name.len);
  return pai__conv_take(&j->c, &b);
}

static void index_resources(v2_job *j)
{
  pai__tree_walk w = pai__conv_walk(&j->c, pai__v2_get(j, "prerequisites"));
  pai__node n;

  while ((n = pai__tree_next(&w)) != PAI__NO_NODE && j->c.rc == PAI_OK) {
    text type = pai__conv_text(&j->c, pai__conv_get(&j->c, n, "type"));
    text name = pai__conv_text(&j->c, pai__conv_get(&j->c, n, "name"));
    text id = resource_id(j, type.s, name);
    v2_resource *resource = pai__conv_alloc(&j->c, 1, sizeof(*resource));

    if (resource == NULL)
      return;
    resource->node = n;
    if (pai__map_set(&j->resources, id.s, id.len, resource) < 0)
      j->c.rc = PAI_ENOMEM;
  }
}

/* What a role's field refers to, or NULL. */
static v2_resource *find_resource(v2_job *j, pai__node role, const char *field,
                                  const char *type)
{
  pai__node n = pai__conv_get(&j->c, role, field);
  text id;

  if (n == PAI__NO_NODE)
    return NULL;
  id = resource_id(j, type, pai__conv_text(&j->c, n));
  return pai__map_get(&j->resources, id.s, id.len);
}

text pai__v2_folder(v2_job *j, pai__node role, size_t i)
{
  const conv_dir *dir = &pai__conv_dirs[i];
  v2_resource *resource = find_resource(j, role, dir->type, dir->type);
  pai__tree_walk w;
  pai__node uri;

  if (resource == NULL)
    return (text){ "", 0 };
  uri = pai__conv_get(&j->c, resource->node, "uri");
  if (pai__conv_is(&j->c, uri, PAI__SEQUENCE)) {
    w = pai__conv_walk(&j->c, uri);
    uri = pai__tree_next(&w);
  }
  return pai__conv_text(&j->c, uri);
}

static void find_image(v2_job *j)
{
  pai__tree_walk w = pai__conv_walk(&j->c, j->roles);
  pai__node key;

  while ((key = pai__tree_next(&w)) != PAI__NO_NODE && j->c.rc == PAI_OK) {
    pai__node role = pai__tree_value(j->c.tree, key);
    v2_resource *image = find_resource(j, role, "dockerImage", "dockerimage");
    text uri = { "", 0 };

    if (image != NULL) {
      image->used = true;
      uri = pai__conv_text(&j->c, pai__conv_get(&j->c, image->node, "uri"));
    }
    if (j->image.s == NULL)
      j->image = uri;
    else if (!pai__conv_same(uri, j->image))
      pai__conv_note(&j->c, pai__conv_get(&j->c, role, "dockerImage"),
                     PAI__CONVERT_ERROR, "role-image", NULL,
                     "v1 has one image for all task roles, and the first "
                     "role's is another");
  }
  if (j->image.s == NULL)
    j->image = (text){ "", 0 };
  if (j->image.len == 0)
    pai__conv_note(&j->c, pai__v2_get(j, "prerequisites"), PAI__CONVERT_ERROR,
                   "no-image", NULL, "v1 must have an image");
}

/* The folder of the first role that has one. */
static void find_folder(v2_job *j, size_t i)
{
  const conv_dir *dir = &pai__conv_dirs[i];
  pai__tree_walk w = pai__conv_walk(&j->c, j->roles);
  pai__node key;

  j->dirs[i] = (text){ "", 0 };
  while ((key = pai__tree_next(&w)) != PAI__NO_NODE && j->dirs[i].len == 0)
    j->dirs[i] = pai__v2_folder(j, pai__tree_value(j->c.tree, key), i);
  w = pai__conv_walk(&j->c, j->roles);
  while ((key = pai__tree_next(&w)) != PAI__NO_NODE && j->c.rc == PAI_OK) {
    pai__node role = pai__tree_value(j->c.tree, key);
    pai__node field = pai__conv_get(&j->c, role, dir->type);
    v2_resource *used = find_resource(j, role, dir->type, dir->type);
    text uri = pai__v2_folder(j, role, i);

    if (used != NULL)
      used->used = true;
    if (!pai__conv_same(uri, j->dirs[i]))
      pai__conv_note(&j->c, field != PAI__NO_NODE ? field : key,
                     uri.len != 0 ? PAI__CONVERT_ERROR : PAI__CONVERT_WARNING,
                     "role-folder", NULL,
                     "v1 has one %s for all task roles, and this role's %s is "
                     "not it",
                     dir->field, dir->type);
  }
}

/* What v1 cannot say about a prerequisite. */
static void note_resource(v2_job *j, const v2_resource *resource)
{
  static const char *const known[] = { "name", "type",
                                       "uri",  "protocolVersion",
                                       "auth", NULL };
  pai__node uri = pai__conv_get(&j->c, resource->node, "uri");
  pai__node auth = pai__conv_get(&j->c, resource->node, "auth");
  text name =
    pai__conv_text(&j->c, pai__conv_get(&j->c, resource->node, "name"));
  char part[PAI__EXCERPT];

  if (!resource->used) {
    pai__conv_note(&j->c, resource->node, PAI__CONVERT_ERROR,
                   "prerequisite-unused", NULL,
                   "no task role has '%s' for its image, data, output or "
                   "script, and v1 has no other prerequisites",
                   pai__excerpt(part, name.s, name.len));
    return;
  }
  if (pai__conv_is(&j->c, uri, PAI__SEQUENCE) &&
      pai__conv_count(&j->c, uri) != 1)
    pai__conv_note(&j->c, uri, PAI__CONVERT_ERROR, "data-uris", NULL,
                   "v1 has one folder of data, not %zu",
                   pai__conv_count(&j->c, uri));
  if (auth != PAI__NO_NODE)
    pai__conv_note(&j->c, auth, PAI__CONVERT_ERROR, "image-auth",
                   "put server, user and password into a file on HDFS, a line "
                   "each, and name it as authFile",
                   "v1 has no credentials of a registry in the job");
  pai__v2_note_others(j, resource->node, "prerequisite-field",
                      "a prerequisite's", known);
}

void pai__v2_uses(v2_job *j)
{
  const pai__map_entry *e;

  index_resources(j);
  find_image(j);
  for (size_t i = 0; i < PAI__CONV_DIRS; i++)
    find_folder(j, i);
  for (size_t i = 0;
       j->c.rc == PAI_OK && (e = pai__map_next(&j->resources, &i)) != NULL;)
    note_resource(j, e->value);
}
