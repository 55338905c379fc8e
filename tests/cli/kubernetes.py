"""Kubernetes' API server, played: nodes, pods, watches and bindings.

It speaks what a scheduler needs of it, and can be made to fail: watches that
are cut, that have expired, or that say what nobody understands.
"""
import http.server
import json
import ssl
import threading
import urllib.parse

import played

ENABLE = "hivedscheduler.microsoft.com/pod-scheduling-enable"
SPEC = "hivedscheduler.microsoft.com/pod-scheduling-spec"
ISOLATION = "hivedscheduler.microsoft.com/pod-leaf-cell-isolation"
KINDS = {"nodes": "Node", "pods": "Pod"}


def node(name, ready=True):
    return {"kind": "Node", "apiVersion": "v1", "metadata": {"name": name},
            "spec": {},
            "status": {"conditions": [{"type": "Ready",
                                       "status": str(ready)}]}}


def pod(name, spec, namespace="default", uid=None):
    """One that waits for HiveD; its spec is HiveD's."""
    text = spec if isinstance(spec, str) else json.dumps(spec)
    return {"kind": "Pod", "apiVersion": "v1",
            "metadata": {"name": name, "namespace": namespace,
                         "uid": uid or "uid-" + name,
                         "annotations": {SPEC: text}},
            "spec": {"schedulerName": "hivedscheduler",
                     "containers": [{"name": "c", "image": "x", "resources":
                                     {"limits": {ENABLE: "1"}}}]},
            "status": {"phase": "Pending"}}


class Handler(played.Handler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def refuse(self, status, message):
        self.answer({"kind": "Status", "status": "Failure",
                     "message": message, "code": status}, status)

    def is_allowed(self):
        token = self.server.kube.token
        if token is None or (self.headers["Authorization"] ==
                             "Bearer " + token):
            return True
        self.refuse(401, "Unauthorized")
        return False

    def do_GET(self):
        kube = self.server.kube
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        kind = url.path.rpartition("/")[2]
        kube.note(self.path)
        if not self.is_allowed():
            return
        if kube.broken:
            self.refuse(500, "etcd is away")
        elif url.path not in ("/api/v1/nodes", "/api/v1/pods"):
            self.refuse(404, "not found")
        elif query.get("watch") == "1":
            self.watch(kind, int(query["resourceVersion"]))
        elif "continue" in query and kube.forgetful:
            self.refuse(410, "the continue parameter is too old")
        else:
            self.answer(kube.list(kind, query))

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def watch(self, kind, version):
        kube = self.server.kube
        if version < kube.oldest and kube.expire_by_status:
            self.refuse(410, "too old resource version")
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            self.tell(kube, kind, version)
            self.chunk(b"")
        except OSError:
            pass
        self.close_connection = True

    def tell(self, kube, kind, version):
        if version < kube.oldest:
            self.chunk(json.dumps({"type": "ERROR", "object": {
                "kind": "Status", "code": 410,
                "message": "too old resource version"}}).encode() + b"\n")
            return
        life = kube.begin_watch(kind)
        while True:
            lines, version, over = kube.wait(kind, version, life)
            for line in lines:
                half = (len(line) + 1) // 2  # no line comes in one piece
                self.chunk(line[:half])
                if line[half:]:
                    self.chunk(line[half:])
            if over:
                if over == "cut":
                    self.connection.close()
                    raise OSError
                return

    def do_POST(self):
        kube = self.server.kube
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length).decode()
        kube.note(self.path)
        if not self.is_allowed():
            return
        status, message = kube.bind(self.path, body)
        if status == 201:
            self.answer({"kind": "Status", "status": "Success"}, 201)
        else:
            self.refuse(status, message)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # whoever asked is gone


class Kube:
    def __init__(self, token=None, certificate=None, clients=None):
        self.token = token
        self.objects = {"nodes": {}, "pods": {}}
        self.events = []  # (version, kind, line)
        self.version = 100
        self.oldest = 0       # watches from before have expired,
        self.expire_by_status = False  # which is told so, or by an event
        self.broken = False
        self.page = None      # objects of one at most,
        self.forgetful = False  # and where one was is not known any more
        self.refusal = None   # (status, message) of the next bindings
        self.writes = []      # (path, body)
        self.asked = []
        self.life = {"nodes": 0, "pods": 0}
        self.over = {}
        self.watching = {"nodes": 0, "pods": 0}
        self.changed = threading.Condition()
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.kube = self
        scheme = "http"
        if certificate is not None:
            scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            if clients is not None:  # whose certificates are asked for
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(clients)
            self.server.socket = context.wrap_socket(self.server.socket,
                                                     server_side=True)
        self.port = self.server.server_port
        self.url = "%s://localhost:%d" % (scheme, self.port)
        self.thread = threading.Thread(target=self.server.serve_forever,
                                       kwargs={"poll_interval": 0.05})
        self.thread.start()

    def close(self):
        for kind in KINDS:
            self.end_watches(kind)
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    # --- what the handler asks

    def note(self, path):
        with self.changed:
            self.asked.append(path)
            self.changed.notify_all()

    def list(self, kind, query):
        """All, or the page that is asked for, of `page` objects at most."""
        first = int(query.get("continue", "&0/").strip("&/"))
        with self.changed:
            items = [{key: value for key, value in one.items()
                      if key not in ("kind", "apiVersion")}
                     for _, one in sorted(self.objects[kind].items())]
            meta = {"resourceVersion": str(self.version)}
        if "limit" in query and self.page:
            end = first + min(int(query["limit"]), self.page)
            if end < len(items):
                meta["continue"] = "&%d/" % end
            items = items[first:end]
        return {"kind": KINDS[kind] + "List", "apiVersion": "v1",
                "metadata": meta, "items": items}

    def begin_watch(self, kind):
        with self.changed:
            self.watching[kind] += 1
            self.changed.notify_all()
            return self.life[kind]

    def wait(self, kind, version, life):
        with self.changed:
            while True:
                lines = [line for at, of, line in self.events
                         if of == kind and at > version]
                over = self.life[kind] != life and self.over[kind]
                if lines or over:
                    return lines, self.version, over
                self.changed.wait()

    def bind(self, path, body):
        value = json.loads(body)
        with self.changed:
            self.writes.append((path, value))
            if self.refusal is not None:
                return self.refusal
            names = path.split("/")
            key = (names[4], names[6])
            one = self.objects["pods"].get(key)
            if one is None or names[7:] != ["binding"]:
                return 404, 'pods "%s" not found' % names[6]
            if one["spec"].get("nodeName"):
                return 409, 'pod %s is already assigned to node "%s"' % (
                    names[6], one["spec"]["nodeName"])
            one = json.loads(json.dumps(one))
            one["metadata"]["annotations"].update(
                value["metadata"]["annotations"])
            one["spec"]["nodeName"] = value["target"]["name"]
            one["status"]["phase"] = "Running"
        self.put(one, "MODIFIED")
        return 201, None

    # --- what tests do

    def key(self, one):
        meta = one["metadata"]
        return (meta["name"] if one["kind"] == "Node"
                else (meta["namespace"], meta["name"]))

    def put(self, one, event=None):
        kind = one["kind"].lower() + "s"
        with self.changed:
            there = self.key(one) in self.objects[kind]
            self.version += 1
            one = json.loads(json.dumps(one))
            one["metadata"]["resourceVersion"] = str(self.version)
            self.objects[kind][self.key(one)] = one
            self.log(kind, event or ("MODIFIED" if there else "ADDED"), one)

    def delete(self, one):
        kind = one["kind"].lower() + "s"
        with self.changed:
            self.version += 1
            one = self.objects[kind].pop(self.key(one))
            one["metadata"]["resourceVersion"] = str(self.version)
            self.log(kind, "DELETED", one)

    def log(self, kind, event, one):
        line = json.dumps({"type": event, "object": one}).encode() + b"\n"
        self.events.append((self.version, kind, line))
        self.changed.notify_all()

    def say(self, kind, line):
        """A line of a watch, whatever it is."""
        with self.changed:
            self.version += 1
            self.events.append((self.version, kind, line))
            self.changed.notify_all()

    def end_watches(self, kind, how="end"):
        with self.changed:
            self.life[kind] += 1
            self.over[kind] = how
            self.changed.notify_all()

    def expire(self):
        """What was is no more known: whoever watched has to list."""
        with self.changed:
            self.oldest = self.version + 1
            self.version += 1
            self.events.clear()

    def until(self, what, timeout=30):
        with self.changed:
            if not self.changed.wait_for(lambda: what(self), timeout):
                raise AssertionError("it did not happen: %s" % self.asked)

    def pod(self, name, namespace="default"):
        with self.changed:
            return self.objects["pods"].get((namespace, name))

    def devices(self):
        """{(node, device): pod} of all pods that are bound; none twice."""
        used = {}
        with self.changed:
            for one in self.objects["pods"].values():
                at = one["spec"].get("nodeName")
                mine = one["metadata"]["annotations"].get(ISOLATION, "")
                for device in mine.split(",") if at else []:
                    if (at, device) in used:
                        raise AssertionError("%s of %s is two pods'" %
                                             (device, at))
                    used[at, device] = one["metadata"]["name"]
        return used
