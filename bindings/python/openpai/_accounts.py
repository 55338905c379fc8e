"""Users, groups, tokens, storages and virtual clusters of a platform."""
from typing import Any, Iterable, Iterator, List, Optional, Union

from ._account_base import Table
from ._account_calls import AccountsCalls, VirtualClustersCalls
from ._values import listed

_FORMS = ("summary", "detail", "config", "server")


class Accounts(AccountsCalls):
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

    def tokens(self, user: str) -> List[Table]:
        """Returns a user's good tokens, oldest first: {"id", "name",
        "application", "scopes", "created", "expires", "lastUsed"}, and
        "token", which is without its signature unless
        configure(reveal_tokens=True)."""
        told = self._do("Accounts.tokens", {"user": user})
        return [{**detail, "token": token} for detail, token
                in zip(told["details"], told["tokens"])]

    def storages(self, *, form: str = "summary", user: Optional[str] = None,
                 name: Optional[str] = None,
                 names: Union[None, str, Iterable[str]] = None,
                 usual: bool = False) -> Any:
        """Returns storages as "summary", "detail" (of one `name`), "config" or
        "server"; those that `user` may use."""
        if form not in _FORMS:
            raise ValueError("a form is one of " + ", ".join(_FORMS))
        told = self._do("Accounts.storages", {
            "form": _FORMS.index(form), "user": user, "name": name,
            "names": listed(names), "usual": int(usual)})
        return told["storages"] if form == "summary" and name is None else told


class VirtualClusters(VirtualClustersCalls):
    """Virtual clusters of a durable platform, and its node.

        clusters = platform.virtual_clusters
        clusters.put("research", 0.5, most=0.75)
        clusters["research"]["capacity"]

    Parts are of the whole machine, from 0 to 1.  "default" has what the others
    leave.  Objects are as OpenPAI's REST API has them.
    """
    __slots__ = ()

    def __iter__(self) -> Iterator[str]:
        return iter(self.all())

    def __len__(self) -> int:
        return len(self.all())
