"""kill -9 of a server that many submit to: what was promised is kept."""

import http.client
import json
import threading

import program
import served

CLIENTS = 50
ENOUGH = 300  # answers, and then it is killed

JOB = json.dumps({
    "protocolVersion": 2, "name": "%s", "type": "job",
    "prerequisites": [{"name": "x", "type": "dockerimage", "uri": "host"}],
    "taskRoles": {"w": {
        "dockerImage": "x", "commands": ["sleep 1000"],
        "resourcePerInstance": {"cpu": 1, "memoryMB": 100, "gpu": 0}}}})


class LoadTest(served.ServedTest):
    def submit_always(self, number, token):
        """One client: until nobody answers any more."""
        host = self.url.removeprefix("http://")
        line = http.client.HTTPConnection(host, timeout=60)
        try:
            for i in range(100000):
                name = f"j{number}-{i}"
                line.request("POST", "/api/v2/jobs", JOB % name, {
                    "Authorization": "Bearer " + token,
                    "Content-Type": "text/yaml"})
                status = line.getresponse()
                body = status.read()
                if status.status != 202:
                    self.wrong.append((status.status, body))
                    return
                with self.lock:
                    self.promised.add((f"user{number % 5}", name))
                    if len(self.promised) == ENOUGH:
                        self.enough.set()
        except (OSError, http.client.HTTPException):
            pass  # it was killed
        finally:
            line.close()

    def users(self):
        """A program's token of each of five users, and a browser's."""
        admin = self.login()
        tokens = []
        for i in range(5):
            status, _, text = self.ask(
                "POST", "/api/v2/users", {
                    "username": f"user{i}", "password": "secret-1",
                    "virtualCluster": ["default"]}, admin)
            self.assertEqual(status, 201, text)
            browser = self.login(f"user{i}", "secret-1")
            status, _, text = self.ask("POST", "/api/v2/tokens/application",
                                       {}, browser)
            self.assertEqual(status, 200, text)
            tokens.append((browser, json.loads(text)["token"]))
        return tokens

    def jobs(self, token):
        status, _, text = self.ask("GET", "/api/v2/jobs?limit=50000",
                                   token=token)
        self.assertEqual(status, 200, text)
        return {(row["username"], row["name"]) for row in json.loads(text)}

    def test_every_202_is_there(self):
        process = self.serve("--rate-limit", "0")
        self.lock, self.enough = threading.Lock(), threading.Event()
        self.promised, self.wrong = set(), []
        tokens = self.users()
        clients = [threading.Thread(target=self.submit_always, args=(
            i, tokens[i % 5][i // 5 % 2])) for i in range(CLIENTS)]
        for client in clients:
            client.start()
        self.assertTrue(self.enough.wait(120), self.wrong)
        process.kill()  # in the middle of it
        process.wait()
        for client in clients:
            client.join()
        self.assertEqual(self.wrong, [])
        self.serve("--rate-limit", "0")
        # Tokens are what they were, a browser's and a program's.
        for pair in tokens:
            for token in pair:
                self.assertEqual(self.promised - self.jobs(token), set())
        # Nothing twice, nothing of nobody.
        self.assertLessEqual(len(self.jobs(tokens[0][0]) - self.promised),
                             CLIENTS)
        user, name = max(self.promised)
        status, _, text = self.ask(
            "GET", f"/api/v2/jobs/{user}~{name}/config", token=tokens[0][0])
        self.assertEqual((status, json.loads(text)["name"]), (200, name))
