"""Who the server runs as."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from trifuse.deploy.errors import FolderUnreachable, LocalServiceError
from trifuse.deploy.local.users import ServiceUser, own, require_reachable, service_user

NOBODY = ServiceUser("nobody", 65534, 65534)


def entry(name: str, uid: int) -> pwd.struct_passwd:
    return pwd.struct_passwd((name, "x", uid, uid, "", "/", "/bin/false"))


def test_who_isnt_root_runs_it_as_himself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    assert service_user() is None


def test_root_never_runs_it_as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    known = {"opensearch": entry("opensearch", 0), "nobody": entry("nobody", 65534)}
    monkeypatch.setattr(pwd, "getpwnam", known.__getitem__)

    assert service_user() == NOBODY


def test_root_without_any_such_user_is_told_to_make_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwnam", {}.__getitem__)

    with pytest.raises(LocalServiceError, match="useradd --system opensearch"):
        service_user()


def test_a_closed_folder_above_is_named_with_its_mode(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "data").mkdir(parents=True)
    closed.chmod(0o700)
    other = ServiceUser("nobody", os.getuid() + 1, os.getgid() + 1)

    with pytest.raises(FolderUnreachable) as caught:
        require_reachable(closed / "data", other, remedy="choose another")

    assert "nobody" in str(caught.value)
    assert "mode 700" in str(caught.value)
    assert "choose another" in str(caught.value)


def test_nothing_is_asked_where_nobody_else_runs_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)

    require_reachable(tmp_path / "data", None, remedy="")
    own(tmp_path, None)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_folder_becomes_the_users(tmp_path: Path) -> None:
    (tmp_path / "data" / "nodes").mkdir(parents=True)

    own(tmp_path / "data", NOBODY)

    assert (tmp_path / "data" / "nodes").stat().st_uid == 65534
    assert tmp_path.stat().st_uid == 0
