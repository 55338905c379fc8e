"""A server for the tests of files: a job's folder, in memory, that plays."""
import json
import re
import sys
import urllib.parse

from python_serve import Played


class PlayedFiles:
    """Answers of a Played server for the files of a job ann~j.

    `files` has (bytes, modified, more fields) by path; `cuts`, so many bytes at
    a time, end one answer each; `ranges` and `pieces` tell what was asked.
    """

    def __init__(self, server: Played):
        self.files, self.uploads = {}, {}
        self.cuts, self.ranges, self.pieces = [], [], []
        self.page = 1000
        job = "/api/v2/jobs/ann~j"
        server.answers["GET /api/v2/info"] = (200, {"server": "libopenpai"})
        server.answers["GET %s/files" % job] = self.list
        server.answers["GET %s/file" % job] = self.get
        server.answers["PUT %s/file" % job] = self.put
        server.answers["DELETE " + job] = self.remove

    @staticmethod
    def query(handler):
        return dict(urllib.parse.parse_qsl(
            handler.path.partition("?")[2]))

    def entry(self, path):
        data, modified, more = self.files[path]
        return {"path": path, "type": "file", "size": len(data),
                "modified": modified, "executable": False, "target": None,
                **more}

    def list(self, handler):
        query = self.query(handler)
        path, after = query.get("path"), query.get("after")
        found = [one for one in sorted(self.files) if path in (None, one) or
                 one.startswith(path + "/")]
        if not found:
            handler.reply(404, {"code": "NoFileError",
                                "message": "There is no file %s." % path})
            return
        if after is not None:
            found = [one for one in found if one > after]
        page = found[:self.page]
        handler.reply(200, {
            "folder": None, "own": True, "files": None, "bytes": None,
            "entries": [self.entry(one) for one in page],
            "next": page[-1] if len(found) > len(page) else None})

    def get(self, handler):
        query = self.query(handler)
        data, modified, _ = self.files[query["path"]]
        asked = handler.headers.get("Range")
        self.ranges.append(asked)
        if query.get("modified") not in (None, str(modified)):
            handler.reply(409, {"code": "ConflictFileError",
                                "message": "The file has changed."})
            return
        begin = int(re.match(r"bytes=(\d+)-$", asked)[1]) if asked else 0
        if begin and begin >= len(data):
            handler.reply(416, {"code": "InvalidParametersError",
                                "message": "There is no such range."})
            return
        handler.send_response(206 if asked else 200)
        handler.send_header("Content-Type", "application/octet-stream")
        handler.send_header("Content-Length", str(len(data) - begin))
        if asked:
            handler.send_header("Content-Range", "bytes %d-%d/%d" % (
                begin, len(data) - 1, len(data)))
        handler.end_headers()
        end = len(data)
        if self.cuts:
            end = begin + self.cuts.pop(0)
            handler.close_connection = True
        handler.wfile.write(data[begin:end])
        handler.wfile.flush()

    def put(self, handler):
        query, body = self.query(handler), handler.server.asked[-1][3]
        size, name = int(query["size"]), query.get("upload")
        have = self.uploads.setdefault(name, bytearray())
        offset = int(query.get("offset", len(have)))
        self.pieces.append((offset, len(body)))
        if body and self.cuts:
            body = body[:self.cuts.pop(0)]
            have[offset:] = body
            handler.reply(403, {"code": "ForbiddenUserError",
                                "message": "Not now."})
            return
        have[offset:] = body
        whole = len(have) == size
        if whole:
            del self.uploads[name]
            self.files[query["path"]] = (bytes(have), 1, {
                "executable": query.get("executable") == "true"})
        handler.reply(200, {"path": query["path"], "received": len(have),
                            "size": size, "complete": whole})

    def remove(self, handler):
        keep = self.query(handler).get("keepFiles") == "true"
        handler.reply(200, {"message": "Remove job ann~j successfully.",
                            **({"kept": "kept/ann~j"} if keep else {})})


def main():
    """One for the tests of Lua, until standard input ends: each line of that is
    JSON of what it has from then on.  Then it prints what was asked for."""
    with Played() as server:
        played = PlayedFiles(server)
        print(server.url, flush=True)
        for line in sys.stdin:
            told = json.loads(line)
            played.files = {
                path: (text.encode(), modified, more)
                for path, (text, modified, more) in told["files"].items()}
            played.cuts = told["cuts"]
            print(flush=True)
        print(*played.ranges, flush=True)


if __name__ == "__main__":
    main()
