"""What tests of `openpai helper` share: an editor that speaks to it."""

import json
import os
import socket


class Editor:
    """Messages to and from a helper, over two files of bytes."""

    def __init__(self, said, heard):
        self.said, self.heard = said, heard
        self.number, self.news, self.answers = 0, [], {}

    @classmethod
    def of(cls, process):
        return cls(process.stdin, process.stdout)

    @classmethod
    def at(cls, path):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            file = connection.makefile("rwb")  # keeps it open
        return cls(file, file)

    def write(self, data):
        self.said.write(data)
        self.said.flush()

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))

    def note(self, method, **params):
        self.send({"method": method, "params": params})

    def request(self, method, **params):
        """Sends a request; its number is for answer()."""
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        return self.number

    def hear(self):
        """Reads a message, or None at the end."""
        length = 0
        while (line := self.heard.readline()) != b"\r\n":
            if not line:
                return None
            name, _, value = line.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)
        return json.loads(self.heard.read(length))

    def answer(self, number):
        """Waits for an answer; what comes meanwhile is in `news`."""
        while number not in self.answers:
            message = self.hear()
            if message is None:
                raise EOFError(f"no answer to request {number}")
            if "method" in message:
                self.news.append(message)
            else:
                self.answers[message["id"]] = message
        return self.answers.pop(number)

    def ask(self, method, **params):
        """The result of a request, which must succeed."""
        answer = self.answer(self.request(method, **params))
        if "result" not in answer:
            raise AssertionError(answer)
        return answer["result"]

    def refused(self, method, **params):
        return self.answer(self.request(method, **params))["error"]

    def next_news(self, method):
        """Waits for a notification or request of this method."""
        while True:
            for i, message in enumerate(self.news):
                if message["method"] == method:
                    return self.news.pop(i).get("params")
            message = self.hear()
            if message is None:
                raise EOFError(f"no {method}")
            if "method" in message:
                self.news.append(message)
            else:
                self.answers[message["id"]] = message

    def begin(self, pid=None, **capabilities):
        result = self.ask("initialize",
                          processId=os.getpid() if pid is None else pid,
                          rootUri=None,
                          capabilities=capabilities)
        self.note("initialized")
        return result

    def open(self, uri, text):
        """Opens a document; its diagnostics."""
        self.note("textDocument/didOpen", textDocument={
            "uri": uri, "languageId": "yaml", "version": 1, "text": text})
        return self.next_news("textDocument/publishDiagnostics")["diagnostics"]
