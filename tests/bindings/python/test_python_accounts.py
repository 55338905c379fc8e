"""What the Python module promises of accounts and virtual clusters.

Usage: test_python_accounts.py ROOT [unittest's arguments]
"""
import datetime
import unittest

import openpai
from python_jobs import ROOT

NUMBERS = iter(range(1000))


class Accounts(unittest.TestCase):
    def setUp(self):
        self.platform = openpai.Platform(root=ROOT / str(next(NUMBERS)))
        self.addCleanup(self.platform.close)
        self.accounts = self.platform.accounts
        self.accounts.configure(hash_kib=64, hash_passes=1, token_time=3600)
        self.made = self.accounts.setup("root1", "secret word")

    def fails(self, kind, status, name, function, *args, **more):
        with self.assertRaises(kind) as caught:
            function(*args, **more)
        self.assertEqual((caught.exception.http_status,
                          caught.exception.api_code), (status, name))

    def test_users(self):
        a = self.accounts
        self.assertEqual(self.made, {"username": "root1"})
        self.assertEqual(a.setup(), {})
        a.put_user({"username": "ann", "password": "a secret",
                    "email": "ann@x.org", "virtualCluster": ["default"]},
                   create=True)
        self.assertEqual([user["username"] for user in a.users()],
                         ["ann", "root1"])
        self.assertEqual(a.user("ann")["email"], "ann@x.org")
        self.assertNotIn("password", str(a.users(viewer="ann")).lower())
        self.assertTrue(a.has_user("ann") and a.is_admin("root1"))
        self.assertFalse(a.has_user("bob") or a.is_admin("ann"))
        a.put_user({"username": "ann", "email": "new@x.org"})
        self.assertEqual(a.user("ann")["email"], "new@x.org")
        a.need_ssh("ann")
        self.assertIn("jobSSH", a.user("ann", viewer="ann")["extension"])
        self.fails(openpai.ExistsError, 409, "ConflictUserError", a.put_user,
                   {"username": "ann", "password": "a secret"}, create=True)
        self.fails(openpai.InvalidError, 400, "InvalidParametersError",
                   a.put_user, {"username": "a b"}, create=True)
        self.fails(openpai.NotFoundError, 400, "NoUserError", a.user, "bob")
        self.assertEqual(a.owner("ann", 1), "ann")
        a.set_quota("jobs", 2, user="ann")
        a.set_quota("streams", -1)
        self.assertEqual((a.quota("ann")["jobs"], a.quota()["streams"]),
                         (2, -1))
        self.assertEqual(a.usage("ann"), {"jobs": 0, "tasks": 0})
        a.act_as("root1", address="10.0.0.1")
        a.remove_user("ann")
        self.assertIsNone(a.owner("ann", 0))
        self.assertEqual([(row["user"], row["from"]) for row in a.audit()
                          if row["what"] == "user ann removed"],
                         [("root1", "10.0.0.1")])
        self.fails(openpai.NotFoundError, 404, "NoUserError", a.remove_user,
                   "ann")
        self.fails(PermissionError, 403, "RemoveAdminError", a.remove_user,
                   "root1")

    def test_tokens(self):
        a = self.accounts
        token = a.login("root1", "secret word")["token"]
        found = a.verify(token)
        self.assertTrue(found and found.admin and not found.application)
        self.assertEqual(found.user, "root1")
        self.assertEqual((found.expires - found.issued).total_seconds(), 3600)
        program = a.new_token("root1", application=True)
        self.assertIsNone(a.verify(program).expires)
        self.assertEqual(a.authorize("Bearer " + program).why, "good")
        self.assertEqual(a.authorize(None).why, "none")
        self.assertEqual(
            [one["token"] for one in a.tokens("root1")],
            [one.rsplit(".", 1)[0] + "." for one in (token, program)])
        made = a.make_token("root1", name="nightly", scopes=["read", "submit"],
                            expires=3600)
        self.assertEqual(a.verify(made["token"]).user, "root1")
        shown = a.tokens("root1")[-1]
        self.assertEqual((shown["id"], shown["name"], shown["scopes"]),
                         (made["id"], "nightly", ["read", "submit"]))
        self.assertNotEqual(shown["token"], made["token"])
        a.revoke(made["id"], user="root1")
        self.assertEqual(a.verify(made["token"]).why, "revoked")
        with self.assertRaises(openpai.InvalidError):
            a.make_token("root1", scopes="write")
        self.assertTrue(a.token(program)["application"])
        a.revoke(program, user="root1")
        self.assertEqual((bool(a.verify(program)), a.verify(program).why),
                         (False, "revoked"))
        self.assertEqual(a.verify("forged").why, "forged")
        with self.assertRaises(openpai.InvalidError):
            a.revoke("forged")
        for _ in range(3):
            self.fails(PermissionError, 400, "IncorrectPasswordError",
                       a.login, "root1", "another")
        with self.assertRaises(openpai.Error) as caught:
            a.login("root1", "another")
        self.assertEqual(caught.exception.http_status, 429)
        self.assertGreater(caught.exception.retry_after, 0)
        self.assertEqual(a.logins()["wrong"], 3)
        self.fails(openpai.NotFoundError, 404, "NoUserError", a.new_token,
                   "bob")

    def test_groups(self):
        a = self.accounts
        a.put_group({"groupname": "lab", "description": "d"}, create=True)
        a.add_member("lab", "root1")
        self.assertEqual([one["username"] for one in a.members("lab")],
                         ["root1"])
        a.set_group_value("lab", "acls/virtualClusters", ["default"])
        self.assertEqual(a.group("lab")["extension"]["acls"][
            "virtualClusters"], ["default"])
        a.set_group_value("lab", "nothing", None)
        self.assertIsNone(a.group("lab")["extension"]["nothing"])
        a.put_group({"groupname": "lab", "externalName": "e"}, patch=True)
        self.assertEqual((a.group("lab")["description"],
                          a.group("lab")["externalName"]), ("d", "e"))
        self.assertTrue(a.may_use_vc("root1", "default"))
        a.remove_member("lab", "root1")
        self.assertEqual(a.members("lab"), [])
        a.remove_group("lab")
        self.assertEqual([one["groupname"] for one in a.groups()],
                         ["admingroup", "default"])
        a.add_vc("research", description="r")
        self.assertEqual(a.group("research")["description"], "r")
        a.remove_vc("research")

    def test_storages(self):
        a = self.accounts
        a.put_storage({"name": "disk", "type": "local",
                       "data": {"path": "/srv"}})
        a.set_group_value("admingroup", "acls/storageConfigs", ["disk"])
        self.assertEqual([one["name"] for one in a.storages()], ["disk"])
        disk = a.storages(form="detail", name="disk")
        self.assertEqual((disk["type"], disk["local"]), ("unknown", True))
        self.assertEqual(len(a.storages(form="config", names=["disk", "x"])),
                         1)
        self.assertTrue(a.may_use_storage("root1", "disk"))
        with self.assertRaises(ValueError):
            a.storages(form="all")
        a.remove_storage("disk")
        self.fails(openpai.NotFoundError, 404, "NoStorageError",
                   a.remove_storage, "disk")

    def test_audit(self):
        before = (datetime.datetime.now(datetime.timezone.utc) -
                  datetime.timedelta(hours=1))
        self.accounts.note("PUT /x", user="ann", address="10.0.0.1",
                           status=201)
        self.accounts.note("PUT /y", user="bob", status=403)
        told = self.accounts.audit(since=before)
        self.assertEqual([one["what"] for one in told][:2],
                         ["PUT /y", "PUT /x"])
        self.assertEqual([one["from"] for one in
                          self.accounts.audit(user="ann")], ["10.0.0.1"])
        self.assertEqual(self.accounts.audit(before=told[-1]["id"]), [])
        self.assertEqual(self.accounts.audit(until=before), [])

    def test_kept(self):
        root = self.platform.status["root"]
        self.accounts.put_user({"username": "ann", "password": "a secret"},
                               create=True)
        token = self.accounts.new_token("ann", application=True)
        self.platform.close()
        with self.assertRaises(openpai.InvalidError):
            self.accounts.users()
        with openpai.Platform(root=root) as again:
            again.accounts.configure(hash_kib=64, hash_passes=1)
            self.assertEqual(again.accounts.verify(token).user, "ann")
            self.assertIn("token", again.accounts.login("ann", "a secret"))


class VirtualClusters(unittest.TestCase):
    def setUp(self):
        self.platform = openpai.Platform(root=ROOT / str(next(NUMBERS)))
        self.addCleanup(self.platform.close)
        self.clusters = self.platform.virtual_clusters

    def test_life(self):
        v = self.clusters
        self.assertEqual((list(v), len(v)), (["default"], 1))
        v.put("research", 0.25, most=0.5, description="r")
        self.assertEqual((v["research"]["capacity"],
                          v["research"]["maxCapacity"]), (25, 50))
        self.assertEqual(v.all()["default"]["capacity"], 75)
        v.stop("research")
        self.assertEqual(v["research"]["state"], "stopped")
        v.start("research")
        self.assertEqual(v["research"]["state"], "running")
        v.remove("research")
        with self.assertRaises(openpai.NotFoundError):
            v["research"]
        with self.assertRaises(openpai.NoRoomError):
            v.put("more", 1.5)
        with self.assertRaises(ValueError):
            v.put("a b", 0.5)
        with self.assertRaises(PermissionError):
            v.put("default", 0.5)

    def test_nodes(self):
        v = self.clusters
        node, = v.nodes()
        self.assertEqual(v.node(node["name"])["state"], "up")
        v.drain(node["name"], "new disks")
        self.assertEqual(v.node(node["name"])["why"], "new disks")
        v.undrain(node["name"])
        self.assertEqual(v.node(node["name"])["state"], "up")
        self.assertIn(node["name"], v.gpus())
        self.assertEqual(v.skus(), v.skus("default"))
        with self.assertRaises(openpai.NotFoundError):
            v.drain("nowhere")


class Other(unittest.TestCase):
    def test_not_durable(self):
        with openpai.Platform(root=ROOT / "plain", durable=False) as platform:
            with self.assertRaises(openpai.UnsupportedError):
                platform.accounts.users()
            with self.assertRaises(openpai.UnsupportedError):
                platform.virtual_clusters.all()

    def test_callback(self):
        """Reading is for callbacks, too; what waits is not."""
        seen = []

        def on_event(event):
            if not seen:
                seen.append(list(platform.virtual_clusters))
                try:
                    platform.virtual_clusters.put("late", 0.5)
                except openpai.BusyError as error:
                    seen.append(error)
        from python_jobs import job
        with openpai.Platform(root=ROOT / "callback",
                              on_event=on_event) as platform:
            platform.submit(job("true")).wait()
        self.assertEqual(seen[0], ["default"])
        self.assertIsInstance(seen[1], openpai.BusyError)
