"""A terminal of the tests' own, as far as openpai needs one: what stands on it
is what a user sees."""

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
import unicodedata

import program

SEQUENCE = re.compile(r"\033\[(\??)([\d;]*)([A-Za-z])")


class Screen:
    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.gone = []  # lines that have scrolled away
        self.lines = [[] for _ in range(rows)]
        self.row = self.column = 0
        self.modes = {7: True, 25: True, 1049: False}
        self.rest = ""

    def resize(self, rows, columns):
        """As terminals do that cut lines: rows go at the top."""
        while len(self.lines) > rows:
            if self.row == 0:
                self.lines.pop()
            else:
                self.gone.append(self.lines.pop(0))
                self.row -= 1
        self.lines += [[] for _ in range(rows - len(self.lines))]
        self.lines = [line[:columns] for line in self.lines]
        self.rows, self.columns = rows, columns
        self.column = min(self.column, columns - 1)

    def down(self):
        if self.row + 1 < self.rows:
            self.row += 1
        else:
            self.gone.append(self.lines.pop(0))
            self.lines.append([])

    def put(self, c):
        """A character of two cells has an empty one behind it."""
        width = 2 if unicodedata.east_asian_width(c) in "WF" else 1
        if self.column + width > self.columns:
            if self.modes[7]:
                self.down()
                self.column = 0
            else:
                self.column = self.columns - width
        line = self.lines[self.row]
        line += [" "] * (self.column + width - len(line))
        line[self.column:self.column + width] = [c, ""][:width]
        self.column += width

    def command(self, private, numbers, what):
        first = int(numbers.split(";")[0] or 0) if numbers else 0
        if private:
            self.modes[first] = what == "h"
        elif what == "A":
            self.row = max(self.row - max(first, 1), 0)
        elif what == "H":
            self.row = self.column = 0
        elif what == "K":
            del self.lines[self.row][self.column:]
        elif what == "J" and first == 2:
            self.lines = [[] for _ in range(self.rows)]
        elif what == "J":
            del self.lines[self.row][self.column:]
            self.lines[self.row + 1:] = [
                [] for _ in range(self.rows - self.row - 1)]
        elif what != "m":
            raise AssertionError(f"no terminal's: {private}{numbers}{what}")

    def feed(self, text):
        text, self.rest = self.rest + text, ""
        while text:
            found = SEQUENCE.match(text)
            if found:
                self.command(*found.groups())
                text = text[found.end():]
                continue
            c, text = text[0], text[1:]
            if c == "\033":
                if len(text) > 20:
                    raise AssertionError(f"no terminal's: {text[:20]!r}")
                self.rest = c + text
                return
            if c == "\n":
                self.down()
            elif c == "\r":
                self.column = 0
            elif c == "\b":
                self.column = max(self.column - 1, 0)
            elif c != "\a":
                self.put(c)

    @property
    def shown(self):
        """Its lines, without empty ones at its end."""
        text = ["".join(line).rstrip() for line in self.lines]
        while text and not text[-1]:
            text.pop()
        return text

    @property
    def all(self):
        """With those that have scrolled away."""
        return ["".join(line).rstrip() for line in self.gone] + self.shown


class Terminal:
    """An openpai on a terminal of such a size."""

    def __init__(self, env, *args, rows=24, columns=80, leader=None):
        self.screen = Screen(rows, columns)
        self.text = ""
        self.pending = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # Not before its terminal has a size.
            fcntl.ioctl(0, termios.TIOCSWINSZ,
                        struct.pack("HHHH", rows, columns, 0, 0))
            words = [program.OPENPAI, *args]
            if leader is not None:
                leader(words, env)
            os.execve(words[0], words, env)

    def read(self):
        """False: it has ended."""
        some = program.read_terminal(self.fd)
        whole = self.pending + some
        text = whole.decode(errors="ignore")
        self.pending = whole[len(text.encode()):][:3] if some else b""
        self.text += text
        self.screen.feed(text)
        return bool(some)

    def until(self, what):
        """Until what is shown is right: a condition of the screen.  Half a
        picture is not asked: lines are cut while one is drawn."""
        def is_right():
            return self.screen.modes[7] and what(self.screen)

        end = time.monotonic() + 100
        while not is_right():
            if time.monotonic() > end or (
                    select.select([self.fd], [], [], 1)[0]
                    and not self.read() and not is_right()):
                raise AssertionError("\n".join(
                    [*self.screen.all, repr(self.text[-3000:])]))

    def until_shown(self, pattern):
        self.until(lambda screen: re.search(pattern, "\n".join(screen.shown)))

    def type(self, keys):
        os.write(self.fd, keys)

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def shows_keys(self):
        return bool(termios.tcgetattr(self.fd)[3] & termios.ECHO)

    def end(self):
        """Its exit code."""
        while self.read():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
