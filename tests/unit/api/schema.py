"""What the generator of src/api makes of declarations, right and wrong.

Usage: schema.py SOURCE_DIR
"""
import pathlib
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop())
sys.path.insert(0, str(SOURCE / "src/api"))
import generate  # noqa: E402
import schema  # noqa: E402

GOOD = """\
table start task_attempt
  number  number
  lost    flag    since=9

table task
  job     id
  short   text    since=8 -- a word
  now     start

record Task of task
  job     whole   <job -- id of the job
  uid     text -- unique id
  number  whole?  <now.number -- index of the start

view task pai_task uid of Task py=Task
  id      job     py=number
  number  number  column

call tasks.show GET /task/:job
  summary Show a task
  right   users
  answer  Task

call tasks.old GET /old/:job
  like    tasks.show
  mode    oidc
"""


def read(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.txt")
        path.write_text(text)
        return schema.Schema([path])


class SchemaTest(unittest.TestCase):
    def test_columns_that_came_later(self):
        text = generate.Writer(read(GOOD)).migrations()
        self.assertIn('version_8[] = {\n  "ALTER TABLE task ADD COLUMN short '
                      'TEXT;"', text)
        for table in ("task_attempt ADD COLUMN lost",
                      "task ADD COLUMN now_lost"):
            self.assertIn("ALTER TABLE %s INTEGER NOT NULL DEFAULT 0;" % table,
                          text)
        self.assertIn("ADDED_COLUMNS { 8, version_8 }, { 9, version_9 },",
                      text)

    def test_members_know_their_columns(self):
        text = generate.Writer(read(GOOD)).records()
        self.assertIn('"number", .kind = PAI__IS_WHOLE, .flags = PAI__NEEDED '
                      '| PAI__MAY_BE_NULL, .from = PAI__COLUMN_NUMBER, '
                      '.at = offsetof(pai__task_row, now.number)', text)
        self.assertIn(".id = PAI__Task_uid", text)

    def test_views(self):
        writer = generate.Writer(read(GOOD))
        self.assertIn('ROW_WHOLE(OF, id, "job")', writer.views())
        self.assertIn('ROW_MAYBE(OF, number, "number")', writer.views())

    def test_a_call_like_another(self):
        first, second = read(GOOD).calls
        self.assertEqual((second.summary, second.handler, second.mode,
                          first.mode),
                         ("Show a task", "tasks.show", "oidc", None))

    def test_mistakes_have_their_place(self):
        for line, wrong, what in (
                (2, "  number  number", "is no property"),
                (10, "record Task of tusk", "there is no table 'tusk'"),
                (11, "  job     whale   <job -- id", "'whale' is no type"),
                (12, "  uid", "has no kind"),
                (16, "  id      jab", "there is no field 'jab'"),
                (19, "calls tasks.show GET /", "begins so"),
                (20, "  sumary  Show a task", "'sumary' is no property"),
                (25, "  like    tasks.none", "no call 'tasks.none'")):
            lines = GOOD.splitlines()
            if line == 2:
                wrong += " nonsense"
            lines[line - 1] = wrong
            with self.subTest(wrong), self.assertRaises(
                    schema.SchemaError) as caught:
                read("\n".join(lines))
            self.assertRegex(str(caught.exception), ":%d: error: " % line)
            self.assertIn(what, str(caught.exception))
        for text, what in ((GOOD + "\nrecord Task\n  a text\n", "twice"),
                           (GOOD.replace(" -- unique id", ""),
                            "Task: uid has no description"),
                           (GOOD + "\ncall tasks.old GET /\n", "twice"),
                           (GOOD.replace("answer  Task", "answer  Tusk"),
                            "there is no record 'Tusk'"),
                           (GOOD.replace("  right   users\n", ""),
                            "needs a right")):
            with self.assertRaises(schema.SchemaError) as caught:
                read(text)
            self.assertIn(what, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
