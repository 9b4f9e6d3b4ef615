# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of compiled kernels is for this user alone, and its files are read only as they were written."""

import os
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.kernels import kernel_folder
from core.kernels.kernel_folder import make, read, tidy, why_not_private, write
from tests.cases import cases

ROOT = Path(__file__).resolve().parents[3]
CONTENTS = bytes(range(256)) * 40
HOLD = """
import os, sys, time
from pathlib import Path
from core.kernels import kernel_folder

def wait(*_):
    print("writing", flush=True)
    time.sleep(60)

os.replace = wait
kernel_folder.write(Path(sys.argv[1]), b"unfinished")
"""

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners and modes here")


def mode_of(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


# ---------------------------------------------------------------------- who may write


@posix
@cases("mask", [0o000, 0o022, 0o277, 0o777])
def test_what_is_made_is_for_this_user_alone_whatever_the_mask(tmp_path, mask):
    place = tmp_path / f"mask{mask:o}" / "kernels" / "numba-1"
    before = os.umask(mask)
    try:
        assert make(place) == place
        write(place / "a.kernel", CONTENTS)
    finally:
        os.umask(before)
    assert all(mode_of(folder) == 0o700 for folder in (place, place.parent, place.parent.parent))
    assert mode_of(place / "a.kernel") & 0o077 == 0


@posix
@cases("mode", [0o777, 0o707, 0o703, 0o1777, 0o770, 0o720])
def test_a_folder_that_others_may_write_to_is_not_used(tmp_path, mode):
    place = tmp_path / f"{mode:o}"
    place.mkdir()
    place.chmod(mode)
    os.chown(place, -1, 0 if os.geteuid() == 0 else os.getegid())
    if mode & 0o002 or os.getegid() == 0:
        assert why_not_private(place) == f"others may write to {place}"
        assert make(place) is None and list(place.iterdir()) == []


@posix
@cases("depth", [1, 2, 3])
def test_a_folder_above_that_others_may_write_to_counts_too(tmp_path, depth):
    place = tmp_path / f"depth{depth}" / "b" / "c" / "numba-1"
    assert make(place) == place
    above = place.parents[depth - 1]
    above.chmod(0o777)
    assert str(above) in why_not_private(place) and make(place) is None
    above.chmod(0o1777)                                 # as /tmp: others can add there, but rename nothing of ours
    assert (why_not_private(place) is None) == (above != place)
    above.chmod(0o755)
    assert make(place) == place


@posix
def test_what_belongs_to_others_is_not_used(tmp_path, monkeypatch):
    place = tmp_path / "kernels"
    assert make(place) == place
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 4242)
    assert "belongs to another user" in why_not_private(place) and make(place) is None


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give folders away")
def test_a_folder_of_another_user_on_the_way_is_found(tmp_path):
    place = tmp_path / "a" / "b" / "c"
    assert make(place) == place
    for other in (place, place.parent, place.parent.parent):
        os.chown(other, 12345, -1)
        assert why_not_private(place) == f"{other} belongs to another user"
        os.chown(other, 0, -1)


@posix
def test_a_folder_that_cannot_be_written_to_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda place, _: place != tmp_path)
    for place in (tmp_path, tmp_path / "missing" / "below"):
        assert why_not_private(place) == f"{tmp_path} cannot be written to" and make(place) is None


@posix
def test_the_private_group_of_a_user_is_no_other_user(tmp_path, monkeypatch):
    """Some Linuxes create files with mode 664 and give each user a group of his own."""
    place = tmp_path / "kernels"
    place.mkdir()
    place.chmod(0o775)
    monkeypatch.setattr(kernel_folder, "_has_no_other_member", lambda group: group == 4242)
    if os.geteuid() == 0:
        os.chown(place, -1, 4242)
        assert why_not_private(place) is None
        os.chown(place, -1, 0)
        assert why_not_private(place)
    place.chmod(0o777)
    assert why_not_private(place)


@posix
def test_a_group_is_private_if_nobody_else_is_in_it(monkeypatch):
    grp, pwd = pytest.importorskip("grp"), pytest.importorskip("pwd")
    me = SimpleNamespace(pw_name="me", pw_uid=os.geteuid(), pw_gid=4242)
    other = SimpleNamespace(pw_name="other", pw_uid=os.geteuid() + 1, pw_gid=4242)
    monkeypatch.setattr(pwd, "getpwuid", lambda _: me)
    groups = (("me", [], [me], True), ("me", ["me"], [me], True), ("staff", [], [me], False),
              ("me", ["other"], [me], False), ("me", [], [me, other], False))
    for name, members, users, private in groups:
        group = SimpleNamespace(gr_name=name, gr_mem=members)
        monkeypatch.setattr(grp, "getgrgid", lambda _, group=group: group)
        monkeypatch.setattr(pwd, "getpwall", lambda users=users: users)
        assert kernel_folder._has_no_other_member.__wrapped__(4242) == private, (name, members)


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give folders away")
def test_a_container_that_does_not_map_root_shows_another_owner_above_the_user_s_folders(tmp_path, monkeypatch):
    """As in Flatpak. Below a folder of the user, the same number stands for any other user."""
    monkeypatch.setattr(kernel_folder, "_stand_in_for_root", lambda: 65534)
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    place = tmp_path / "home" / "user" / "cache"
    place.mkdir(parents=True)
    os.chown(place.parents[1], 65534, -1)
    os.chown(place.parent, 4321, -1)
    os.chown(place, 4321, -1)
    assert why_not_private(place) is None
    os.chown(place, 65534, -1)
    assert why_not_private(place / "below") == f"{place} belongs to another user"


@posix
def test_symbolic_links_are_followed_and_their_target_is_checked(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "closed").mkdir(mode=0o700)
    (tmp_path / "to open").symlink_to(tmp_path / "open")
    (tmp_path / "to closed").symlink_to(tmp_path / "closed")
    (tmp_path / "to itself").symlink_to(tmp_path / "to itself")
    assert make(tmp_path / "to closed" / "a") == tmp_path / "closed" / "a"
    assert make(tmp_path / "to open" / "a") is None and make(tmp_path / "to itself") is None


@posix
def test_a_link_that_changes_between_check_and_use_does_not_matter(tmp_path):
    """In /tmp it may be another user's: what was checked is what is used."""
    (tmp_path / "closed").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "closed")
    for place in (kernel_folder.find(tmp_path / "link" / "a"), make(tmp_path / "link" / "a")):
        assert place == tmp_path / "closed" / "a"
    (tmp_path / "link" / "a").rmdir()
    (tmp_path / "closed" / "a").symlink_to(tmp_path)
    assert kernel_folder._why_not_own(tmp_path / "closed" / "a") == f"{tmp_path / 'closed' / 'a'} is no folder"


@cases("name", ["a file", "a file/below", "relative", "zero\0byte", "x" * 5000])
def test_what_can_be_no_folder_is_no_error(tmp_path, name):
    (tmp_path / "a file").write_text("")
    place = Path(name) if name == "relative" else tmp_path / name
    assert make(place) is None and (why_not_private(place) or name.startswith("x"))


def test_on_windows_the_folder_is_below_the_user_s_profile(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "geteuid", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "profile"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "profile"))
    inside = tmp_path / "profile" / "AppData" / "kernels"
    assert make(inside) == inside
    assert make(tmp_path / "elsewhere") is None and "is not below" in why_not_private(tmp_path / "elsewhere")


# ---------------------------------------------------------------------- files


def damages(path, other):
    """Return what can stand in the place of a file, each as its name and a function that makes it."""
    whole = path.read_bytes()
    half = len(whole) // 2

    def huge():
        with open(path, "wb") as file:
            file.write(whole[:64])
            file.truncate(1 << 42)

    def listen():
        with socket.socket(socket.AF_UNIX) as made:
            os.chdir(path.parent)                               # the name of a socket is short
            made.bind(path.name)
            os.chdir(ROOT)

    changes = {
        "empty": lambda: path.write_bytes(b""),
        "the seal alone": lambda: path.write_bytes(whole[:56]),
        "cut in the seal": lambda: path.write_bytes(whole[:20]),
        "cut in half": lambda: path.write_bytes(whole[:half]),
        "last byte missing": lambda: path.write_bytes(whole[:-1]),
        "one byte more": lambda: path.write_bytes(whole + b"\0"),
        "random bytes": lambda: path.write_bytes(os.urandom(len(whole))),
        "zeros": lambda: path.write_bytes(bytes(len(whole))),
        "text": lambda: path.write_text("this is no kernel"),
        "one bit of the contents": lambda: path.write_bytes(whole[:half] + bytes([whole[half] ^ 1]) + whole[half + 1:]),
        "one bit of the seal": lambda: path.write_bytes(whole[:30] + bytes([whole[30] ^ 128]) + whole[31:]),
        "another kernel": lambda: path.write_bytes(other.read_bytes()),
        "a folder": lambda: path.mkdir(),
        "a folder with files": lambda: (path.mkdir(), (path / "a").write_text("b")),
    }
    if hasattr(os, "geteuid"):
        changes |= {
            "a link to another kernel": lambda: path.symlink_to(other),
            "a link to nothing": lambda: path.symlink_to(path.with_name("nothing")),
            "a link to itself": lambda: path.symlink_to(path),
            "a link to a device without an end": lambda: path.symlink_to("/dev/zero"),
            "a second name of a file": lambda: (path.with_name("first").write_bytes(whole),
                                                os.link(path.with_name("first"), path)),
            "a file that others may write to": lambda: (path.write_bytes(whole), path.chmod(0o666)),
            "a pipe": lambda: os.mkfifo(path),
            "a socket": listen,
            "a huge file": huge,
        }
        if os.geteuid() == 0:
            changes |= {"a file of another user": lambda: (path.write_bytes(whole), os.chown(path, 12345, -1)),
                        "a device": lambda: os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))}
        else:
            changes |= {"unreadable": lambda: (path.write_bytes(whole[:half]), path.chmod(0))}
    return changes.items()


def test_whatever_stands_in_the_place_of_a_file_is_not_read_and_goes(tmp_path):
    path, other = tmp_path / "a.kernel", tmp_path / "b.kernel"
    write(path, CONTENTS)
    write(other, CONTENTS[::-1])
    assert (read(path), read(other), read(tmp_path / "c.kernel")) == (CONTENTS, CONTENTS[::-1], None)
    tried = 0
    for name, damage in damages(path, other):
        os.unlink(path)
        try:
            damage()
        except PermissionError:                                 # a device in a container
            write(path, CONTENTS)
            continue
        assert read(path) is None, name
        assert not os.path.lexists(path), name
        assert read(other) == CONTENTS[::-1], name              # a link's target is left alone
        write(path, CONTENTS)
        assert read(path) == CONTENTS, name
        tried += 1
    assert tried > 12


def test_a_write_replaces_what_stands_there_at_once(tmp_path):
    path = tmp_path / "a.kernel"
    for contents in (b"", b"first", CONTENTS):
        write(path, contents)
        assert read(path) == contents and [place.name for place in tmp_path.iterdir()] == ["a.kernel"]


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    write(tmp_path / "missing" / "a.kernel", CONTENTS)                                  # deleted while running
    (tmp_path / "folder.kernel").mkdir()
    write(tmp_path / "folder.kernel", CONTENTS)
    assert [place.name for place in tmp_path.iterdir()] == ["folder.kernel"]
    real = os.replace

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    write(tmp_path / "a.kernel", CONTENTS)
    assert [place.name for place in tmp_path.iterdir()] == ["folder.kernel"]
    monkeypatch.setattr(os, "replace", real)


@posix
def test_a_disk_that_fills_up_while_a_file_is_written_leaves_no_part_of_it(tmp_path):
    code = """
import resource, signal, sys
from pathlib import Path
from core.kernels import kernel_folder
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
kernel_folder.write(Path(sys.argv[1]), bytes(100_000))
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.kernel")], check=True, cwd=ROOT)
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------- what is left behind


@posix
def test_what_a_killed_process_left_goes_and_what_a_live_one_writes_stays(tmp_path):
    path = tmp_path / "numba-1" / "a.kernel"
    make(path.parent)
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "writing\n"
        [unfinished] = path.parent.iterdir()
        tidy(path.parent)
        assert list(path.parent.iterdir()) == [unfinished], "it is being written"
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    assert list(path.parent.iterdir()) == [unfinished]
    tidy(path.parent)
    assert list(path.parent.iterdir()) == []


def test_the_folders_that_were_used_last_are_kept_and_only_those_of_kernels_are_counted(tmp_path):
    names = [f"numba-{k:016x}" for k in range(7)]
    others = ["numba", "numba-examples", "numba-0", "numba-0000000000000000.py", "other"]
    for age, name in enumerate(names + others):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.kernel").write_text("")
        os.utime(tmp_path / name, (time.time() - 60.0 * age,) * 2)
    tidy(tmp_path / names[5])                                   # was unused for long, and is in use now
    assert {place.name for place in tmp_path.iterdir()} == {*names[:3], names[5], *others}


@posix
def test_a_link_among_old_folders_is_deleted_and_not_what_it_leads_to(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("")
    for k in range(7):
        (tmp_path / f"numba-{k:016x}").symlink_to(tmp_path / "precious")
    make(tmp_path / "numba-00000000000000ff")
    tidy(tmp_path / "numba-00000000000000ff")
    assert len(list(tmp_path.glob("numba-*"))) == kernel_folder.MOST_FOLDERS
    assert (tmp_path / "precious" / "file").exists()
