"""Answers of a server, held against its own document.

What is not in a schema is in no answer: so what is new has to be described
before a test sees it.
"""

import http.client
import json
import re
import socket

TYPES = {"string": str, "boolean": bool, "number": (int, float),
         "integer": int, "object": dict, "array": list}
# Of what a schema may have; what else comes has to be looked at here first.
KNOWN = {"$ref", "allOf", "anyOf", "type", "nullable", "items", "properties",
         "required", "additionalProperties", "format", "description"}


class Connection(http.client.HTTPConnection):
    """To a UNIX socket."""

    def __init__(self, path):
        super().__init__("x", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


def is_type(value, name):
    if isinstance(value, bool) and name != "boolean":
        return False
    return isinstance(value, TYPES[name])


class Document:
    def __init__(self, document):
        self.document = document
        self.routes = [
            (re.compile(re.sub(r"\\\{[^/]*\\\}", "[^/]+", re.escape(path)) +
                        "/?", re.IGNORECASE), path, operations)
            for path, operations in document["paths"].items()]
        # What is fixed goes before what is free.
        self.routes.sort(key=lambda route: route[1].count("{"))

    @classmethod
    def at(cls, path):
        """That of the server at a socket."""
        connection = Connection(path)
        connection.request("GET", "/api/v2/openapi.json")
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        assert answer.status == 200, text
        return cls(json.loads(text))

    def schema(self, name):
        return self.document["components"]["schemas"][name.rpartition("/")[2]]

    def wrong(self, value, schema, where="answer"):
        """What is not as the schema says, or None."""
        unknown = set(schema) - KNOWN
        assert not unknown, (where, unknown)
        if value is None and (schema.get("nullable") or not schema):
            return None
        if "$ref" in schema:
            return self.wrong(value, self.schema(schema["$ref"]), where)
        if "anyOf" in schema:
            said = [self.wrong(value, one, where) for one in schema["anyOf"]]
            return None if None in said else said
        for one in schema.get("allOf", []):
            if said := self.wrong(value, one, where):
                return said
        if "type" in schema and not is_type(value, schema["type"]):
            return f"{where} is no {schema['type']}: {value!r}"
        if isinstance(value, list):
            parts = [(schema.get("items", {}), f"{where}[{i}]", item)
                     for i, item in enumerate(value)]
        elif isinstance(value, dict):
            if said := self.wrong_names(value, schema, where):
                return said
            named = schema.get("properties", {})
            others = schema.get("additionalProperties", {})
            parts = [(named.get(key, others), f"{where}.{key}", item)
                     for key, item in value.items()]
        else:
            parts = []
        for part, name, item in parts:
            if said := self.wrong(item, part, name):
                return said
        return None

    @staticmethod
    def wrong_names(value, schema, where):
        missing = set(schema.get("required", [])) - set(value)
        unknown = set(value) - set(schema.get("properties", value))
        if missing or unknown:
            return f"{where} lacks {missing or '-'}, and has {unknown or '-'}"
        return None

    def operation(self, method, path):
        path = path.partition("?")[0]
        path = path[max(path.find("/api/"), 0):]
        for pattern, _, operations in self.routes:
            if pattern.fullmatch(path) and method.lower() in operations:
                return operations[method.lower()]
        return None

    def check(self, method, path, status, kind, text):
        """Fails if an answer is not as the document says.  Older paths and
        what is not JSON are passed over."""
        operation = self.operation(method, path)
        if operation is None or status in (304, 429):
            return
        where = (method, path, status, text[:2000])
        assert status >= 400 or str(status) in operation["responses"], where
        if kind.partition(";")[0] != "application/json":
            return
        if status >= 400:
            schema = {"$ref": "Error", "nullable": True}
        else:
            content = operation["responses"][str(status)]["content"]
            schema = content["application/json"]["schema"]
        said = self.wrong(json.loads(text), schema)
        assert said is None, (said, where)
