"""Users, groups, tokens, storages and virtual clusters of a platform."""
import datetime
import json
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Union)

from ._values import fields, listed

if TYPE_CHECKING:
    from . import facade as _facade

#: An object of OpenPAI's REST API.
Table = Dict[str, Any]
_CREATE, _PATCH = 1, 2
_FORMS = ("summary", "detail", "config", "server")
_WHOLE = 10000


def _flags(create: bool, patch: bool = False) -> int:
    return (_CREATE if create else 0) | (_PATCH if patch else 0)


def _moment(when: Optional[datetime.datetime]) -> Optional[int]:
    return None if when is None else int(when.timestamp() * 1e6)


def _time(microseconds: Optional[int]) -> Optional[datetime.datetime]:
    if not microseconds:
        return None
    return datetime.datetime.fromtimestamp(microseconds / 1e6,
                                           datetime.timezone.utc)


@dataclass(frozen=True)
class Identity:
    """Whose token it is; false if nobody's."""
    user: Optional[str]
    admin: bool
    #: Whether the token is an application's.
    application: bool
    issued: Optional[datetime.datetime]
    #: None: never.
    expires: Optional[datetime.datetime]
    #: "good", or why it is not: "none", "forged", "expired", "revoked",
    #: "no_group", "not_basic".
    why: str

    def __bool__(self) -> bool:
        return self.user is not None


class _Part:
    __slots__ = ("_core",)

    def __init__(self, core: "_facade.Platform") -> None:
        self._core = core

    def _do(self, kind: str, value: Any = None, **given: Any) -> Any:
        text = b"" if value is None else json.dumps(value).encode()
        return json.loads(self._core.administer(kind, fields(given), text))


class Accounts(_Part):
    """Users, groups, tokens and storages of a durable platform.

        accounts = platform.accounts
        accounts.setup("admin", "a long password")
        accounts.put_user({"username": "ann", "password": "secret word"},
                          create=True)
        token = accounts.new_token("ann", application=True)

    Objects are as OpenPAI's REST API has them.  What is changed is in the
    database when this returns.  Errors have http_status and api_code.
    """
    __slots__ = ()

    def configure(self, *, token_time: Optional[float] = None,
                  hash_kib: Optional[int] = None,
                  hash_passes: Optional[int] = None,
                  hash_workers: Optional[int] = None,
                  least_password: Optional[int] = None,
                  reveal_tokens: bool = False) -> None:
        """How long (in seconds) a browser's token is good, what hashes of
        passwords take, the fewest characters of a new password, and whether
        tokens() shows tokens whole."""
        self._do("configure", hash_kib=hash_kib, hash_passes=hash_passes,
                 hash_workers=hash_workers, least_password=least_password,
                 reveal_tokens=int(reveal_tokens), token_time=None
                 if token_time is None else int(token_time * 1e6))

    def setup(self, user: Optional[str] = None, password: Optional[str] = None
              ) -> Table:
        """Makes the first groups and, if there is no user, an administrator:
        {"username", "password"}, the latter if it was made here."""
        result: Table = self._do("setup", user=user, password=password)
        return result

    # --- who somebody is

    def login(self, user: str, password: str) -> Table:
        """A browser's token for a password: {"user", "token", "admin"}."""
        result: Table = self._do("login", user=user, password=password)
        return result

    @staticmethod
    def _identity(told: Table) -> Identity:
        return Identity(told.get("user"), told["admin"], told["application"],
                        _time(told.get("issued")), _time(told.get("expires")),
                        told["why"])

    def verify(self, token: str) -> Identity:
        """Returns who a token belongs to, and whether it is good."""
        return self._identity(self._do("verify", token=token))

    def authorize(self, header: Optional[str]) -> Identity:
        """The same, of a header `Authorization`."""
        return self._identity(self._do("authorize", header=header))

    def new_token(self, user: str, *, application: bool = False) -> str:
        """For a program, good until it is revoked; or as a login does."""
        return str(self._do("new_token", user=user,
                            application=int(application)))

    def make_token(self, user: str, *, name: Optional[str] = None,
                   scopes: Union[None, str, Iterable[str]] = None,
                   expires: Optional[float] = None) -> Table:
        """One for a program: {"token", "id", "name", "scopes", "expires"}.
        `scopes` are of "read", "submit" and "admin" (None: all); it `expires`
        after so many seconds (None: never)."""
        result: Table = self._do(
            "make_token", user=user, name=name, scopes=listed(scopes),
            lifetime=None if expires is None else int(expires * 1e6))
        return result

    def tokens(self, user: str) -> List[Table]:
        """A user's good ones, the oldest first: {"id", "name", "application",
        "scopes", "created", "expires", "lastUsed"}, and "token", which is
        without its signature unless configure(reveal_tokens=True)."""
        told = self._do("write_tokens", user=user)
        return [{**detail, "token": token} for detail, token
                in zip(told["details"], told["tokens"])]

    def token(self, token: str) -> Table:
        """What a good token says."""
        result: Table = self._do("write_token", token=token)
        return result

    def revoke(self, token: str, *, user: Optional[str] = None) -> None:
        """Revokes a token, or the one of an id; of this user if one is
        named."""
        self._do("revoke", token=token, user=user)

    # --- users

    def users(self, *, viewer: Optional[str] = None) -> List[Table]:
        """All; what is for a user alone is there for that `viewer`."""
        result: List[Table] = self._do("write_users", viewer=viewer)
        return result

    def user(self, user: str, *, viewer: Optional[str] = None) -> Table:
        """Returns one user.  NotFoundError if there is none of that name."""
        result: Table = self._do("write_user", user=user, viewer=viewer)
        return result

    def put_user(self, user: Mapping[str, Any], *, create: bool = False
                 ) -> None:
        """Makes a user, or changes what is named of one: "username" and
        "password", "email", "virtualCluster", "grouplist", "admin",
        "extension"."""
        self._do("put_user", dict(user), flags=_flags(create))

    def remove_user(self, user: str, *, heir: Optional[str] = None) -> None:
        """Removes a user.  Jobs that are not over are stopped; or all of them
        are the heir's from then on."""
        self._do("remove_user", user=user, heir=heir)

    def owner(self, user: str, job: int) -> Optional[str]:
        """Whose a job of that name and id is: None if the user was removed
        since, and nobody has the jobs."""
        result: Optional[str] = self._do("owner", user=user, before=job)
        return result

    def act_as(self, user: Optional[str] = None, *,
               address: Optional[str] = None) -> None:
        """Says for the audit log who makes the changes that follow."""
        self._do("act_as", user=user, **{"from": address})

    # --- limits

    def quota(self, user: Optional[str] = None) -> Dict[str, int]:
        """The limits of a user, or of all: "jobs", "tasks", "streams",
        "uploads" (bytes) and "processes"; -1 is no limit."""
        result: Dict[str, int] = self._do("write_quota", user=user)
        return result

    def set_quota(self, name: str, most: Optional[int], *,
                  user: Optional[str] = None) -> None:
        """Sets a limit of a user, or of all; -1 is no limit, None the usual
        one."""
        self._do("set_quota", quota=name, most=-2 if most is None else most,
                 user=user)

    def usage(self, user: str) -> Dict[str, int]:
        """What a user has of it: "jobs" and "tasks"."""
        result: Dict[str, int] = self._do("usage", user=user)
        return result

    def logins(self) -> Dict[str, int]:
        """Passwords since the platform began: "good", "wrong", "refused",
        "lockouts", and who is "waiting" now."""
        result: Dict[str, int] = self._do("logins")
        return result

    def add_member(self, group: str, user: str) -> None:
        """Adds a user to a group."""
        self._do("set_member", group=group, user=user, **{"in": 1})

    def remove_member(self, group: str, user: str) -> None:
        """Removes a user from a group."""
        self._do("set_member", group=group, user=user, **{"in": 0})

    def need_ssh(self, user: str) -> None:
        """Sees to it that a user has a pair of SSH keys."""
        self._do("need_ssh", user=user)

    def has_user(self, user: str) -> bool:
        """Whether there is a user of that name."""
        return bool(self._do("has_user", user=user))

    def is_admin(self, user: str) -> bool:
        """Whether the user is an administrator."""
        return bool(self._do("is_admin", user=user))

    # --- groups

    def groups(self) -> List[Table]:
        """Returns all groups."""
        result: List[Table] = self._do("write_groups")
        return result

    def group(self, group: str) -> Table:
        """Returns one group.  NotFoundError if there is none of that name."""
        result: Table = self._do("write_group", group=group)
        return result

    def members(self, group: str) -> List[Table]:
        """[{"username", "clusterAdmin"}]."""
        result: List[Table] = self._do("write_members", group=group)
        return result

    def put_group(self, group: Mapping[str, Any], *, create: bool = False,
                  patch: bool = False) -> None:
        """Makes or changes one: "groupname" and "description",
        "externalName", "extension".  With `patch` what is not named stays."""
        self._do("put_group", dict(group), flags=_flags(create, patch))

    def set_group_value(self, group: str, path: str, value: Any) -> None:
        """One value in a group's extension, at "a/b/c"."""
        self._core.administer("set_group_value", fields({
            "group": group, "path": path}), json.dumps(value).encode())

    def remove_group(self, group: str) -> None:
        """Removes a group."""
        self._do("remove_group", group=group)

    def may_use_vc(self, user: str, vc: str) -> bool:
        """Whether the user may submit jobs to a virtual cluster."""
        return bool(self._do("may_use_vc", user=user, vc=vc))

    def add_vc(self, vc: str, *, description: Optional[str] = None,
               external_name: Optional[str] = None) -> None:
        """A virtual cluster was made: it has a group of its name."""
        self._do("add_vc", vc=vc, description=description,
                 external_name=external_name)

    def remove_vc(self, vc: str) -> None:
        """A virtual cluster is gone, and its group with it."""
        self._do("remove_vc", vc=vc)

    # --- storages

    def storages(self, *, form: str = "summary", user: Optional[str] = None,
                 name: Optional[str] = None,
                 names: Union[None, str, Iterable[str]] = None,
                 usual: bool = False) -> Any:
        """As "summary", "detail" (of one `name`), "config" or "server"; those
        that `user` may use."""
        if form not in _FORMS:
            raise ValueError("a form is one of " + ", ".join(_FORMS))
        told = self._do("write_storages", form=_FORMS.index(form), user=user,
                        name=name, names=listed(names), usual=int(usual))
        return told["storages"] if form == "summary" and name is None else told

    def put_storage(self, storage: Mapping[str, Any]) -> None:
        """Makes or replaces one: "name", "type" and what belongs to it."""
        self._do("put_storage", dict(storage))

    def remove_storage(self, name: str) -> None:
        """Removes a storage."""
        self._do("remove_storage", name=name)

    def may_use_storage(self, user: str, name: str) -> bool:
        """Whether the user may use a storage."""
        return bool(self._do("may_use_storage", user=user, name=name))

    # --- audit

    def note(self, what: str, *, user: Optional[str] = None,
             address: Optional[str] = None, status: int = 0) -> None:
        """Notes that somebody changed something."""
        self._do("note", what=what, user=user, status=status,
                 **{"from": address})

    def audit(self, *, user: Optional[str] = None,
              since: Optional[datetime.datetime] = None,
              until: Optional[datetime.datetime] = None,
              before: Optional[int] = None, limit: Optional[int] = None
              ) -> List[Table]:
        """What was noted, the newest first; `before` is the last "id" of the
        page before."""
        result: List[Table] = self._do(
            "write_audit", user=user, since=_moment(since),
            until=_moment(until), before=before, limit=limit)
        return result


class VirtualClusters(_Part):
    """Virtual clusters of a durable platform, and its node.

        clusters = platform.virtual_clusters
        clusters.put("research", 0.5, most=0.75)
        clusters["research"]["capacity"]

    Parts are of the whole machine, from 0 to 1.  "default" has what the others
    leave.  Objects are as OpenPAI's REST API has them.
    """
    __slots__ = ()

    def put(self, name: str, part: float, *, most: Optional[float] = None,
            description: Optional[str] = None,
            external_name: Optional[str] = None) -> None:
        """Makes or changes one; `most` is what it may have of what others
        leave idle."""
        self._do("platform_put_vc", name=name, capacity=round(part * _WHOLE),
                 max_capacity=None if most is None else round(most * _WHOLE),
                 description=description, external_name=external_name)

    def stop(self, name: str) -> None:
        """Nothing of it starts from now on."""
        self._do("platform_stop_vc", name=name, on=1)

    def start(self, name: str) -> None:
        """Lets jobs of a virtual cluster start again after stop()."""
        self._do("platform_stop_vc", name=name, on=0)

    def remove(self, name: str) -> None:
        """One that no live job belongs to."""
        self._do("platform_remove_vc", name=name)

    def all(self) -> Dict[str, Table]:
        """By their names."""
        result: Dict[str, Table] = self._do("platform_write_vcs")
        return result

    def __getitem__(self, name: str) -> Table:
        result: Table = self._do("platform_write_vcs", name=name)
        return result

    def __iter__(self) -> Any:
        return iter(self.all())

    def __len__(self) -> int:
        return len(self.all())

    def gpus(self) -> Table:
        """GPUs in use, free and in all, by the names of nodes."""
        result: Table = self._do("platform_write_vc_nodes")
        return result

    def skus(self, name: Optional[str] = None) -> Table:
        """What comes with a GPU of each kind, or without any with a CPU."""
        result: Table = self._do("platform_write_skus", name=name)
        return result

    def nodes(self) -> List[Table]:
        """Returns the nodes of the platform."""
        result: List[Table] = self._do("platform_write_nodes")
        return result

    def node(self, name: str) -> Table:
        """Returns one node.  NotFoundError if there is none of that name."""
        result: Table = self._do("platform_write_nodes", name=name)
        return result

    def drain(self, node: str, why: Optional[str] = None) -> None:
        """Nothing starts on a node from now on; what runs goes on."""
        self._do("platform_drain", name=node, on=1, why=why)

    def undrain(self, node: str) -> None:
        """Lets jobs start on a node again after drain()."""
        self._do("platform_drain", name=node, on=0)
