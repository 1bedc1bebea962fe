"""Archives of kernels: they carry kernels to another folder, and what others could have written is refused."""

import io
import json
import os
import signal
import tarfile
import threading

import pytest

from pijit.core.kernel import disk_cache, kernel_archive
from pijit.core.kernel.disk_cache import SUFFIX, DiskCache, packed
from pijit.core.kernel.file_ownership import Distrust

KEY, OTHER = "ab" * 32, "cd" * 32


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """An archive of two kernels; the user's folder is another, empty one."""
    monkeypatch.setattr(disk_cache, "_noted", set())
    monkeypatch.setenv("PIJIT_CACHE_DIR", str(tmp_path / "theirs"))
    DiskCache().save(KEY, b"one")
    DiskCache().save(OTHER, b"two")
    path = str(tmp_path / "kernels.tar")
    assert kernel_archive.pack(path, [KEY, OTHER, "ef" * 32]) == 2
    monkeypatch.setenv("PIJIT_CACHE_DIR", str(tmp_path / "ours"))
    return path


def rewritten(path, change):
    """The archive after ``change`` was applied to its list of (name, data)."""
    with tarfile.open(path) as file:
        members = [(member.name, file.extractfile(member).read()) for member in file]
    with tarfile.open(path, "w") as file:
        for name, data in change(members):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            file.addfile(member, io.BytesIO(data))
    return path


def test_kernels_arrive(archive):
    assert kernel_archive.unpack(archive) == (2, 0, [], [])
    assert DiskCache().load(KEY) == b"one" and DiskCache().load(OTHER) == b"two"
    assert kernel_archive.unpack(archive) == (0, 2, [], [])
    assert os.stat(archive).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name, data, why", [
    (KEY + SUFFIX, packed(OTHER, b"evil"), "the kernel of another source"),
    (KEY + SUFFIX, packed(KEY, b"one")[:-1], "damaged"),
    ("../" + KEY + SUFFIX, packed(KEY, b"one"), "no kernel"),
    ("/tmp/" + KEY + SUFFIX, packed(KEY, b"one"), "no kernel"),
    ("readme", b"", "no kernel")])
def test_files_that_are_no_kernels_are_refused(archive, tmp_path, name, data, why):
    rewritten(archive, lambda members: [member for member in members if member[0] != KEY + SUFFIX] + [(name, data)])
    found = kernel_archive.unpack(archive)
    assert found.added == 1 and [one for one, _ in found.refused] == [name] and why in found.refused[0][1]
    assert os.listdir(str(tmp_path / "ours")) == [OTHER + SUFFIX]


def test_links_and_devices_are_refused(archive):
    with tarfile.open(archive, "a") as file:
        member = tarfile.TarInfo("ef" * 32 + SUFFIX)
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        file.addfile(member)
    assert kernel_archive.unpack(archive).refused == [("ef" * 32 + SUFFIX, "it is no file of pijit's")]


@pytest.mark.parametrize("change, why", [
    (lambda path: os.chmod(path, 0o622), "others may write"),
    (lambda path: os.chmod(os.path.dirname(path), 0o777), "others may write"),
    (lambda path: rewritten(path, lambda members: members[1:]), "no archive of kernels"),
    (lambda path: rewritten(path, lambda members: [(kernel_archive.CONTENTS, b"[]")]), "no archive of kernels"),
    (lambda path: open(path, "wb").close(), "no complete archive"),
    (lambda path: os.truncate(path, 700), "no complete archive|no archive of kernels")])
def test_an_archive_that_others_may_have_written_or_that_is_none_is_not_used(archive, change, why):
    change(archive)
    with pytest.raises(Distrust, match=why):
        kernel_archive.unpack(archive)


def test_an_archive_of_another_user_is_not_used(archive, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    monkeypatch.setattr(kernel_archive, "ROOT", 54322)
    with pytest.raises(Distrust, match="another user"):
        kernel_archive.unpack(archive)


def test_what_the_kernels_were_compiled_for_is_compared(archive):
    def older(members):
        contents = json.loads(members[0][1].decode())
        contents["compiled_for"]["NumPy"] = "1.0"
        return [(members[0][0], json.dumps(contents).encode())] + members[1:]

    found = kernel_archive.unpack(rewritten(archive, older))
    assert found.added == 2 and found.others == [("NumPy", "1.0", kernel_archive.compiled_for()["NumPy"])]


def test_an_archive_that_cannot_be_written_leaves_nothing(archive, tmp_path, monkeypatch):
    def fails(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kernel_archive, "_add", fails)
    with pytest.raises(OSError, match="No space"):
        kernel_archive.pack(str(tmp_path / "new.tar"), [])
    assert not [name for name in os.listdir(str(tmp_path)) if name.startswith("new")]


def test_a_process_that_is_killed_while_it_writes_an_archive_stops_no_later_one(archive, tmp_path, monkeypatch):
    target, child = str(tmp_path / "new.tar"), os.fork()
    monkeypatch.setattr(os, "getpid", lambda: 7)  # in containers programs often have the same number
    if child == 0:
        monkeypatch.setattr(os, "replace", lambda *args: signal.pthread_kill(threading.get_ident(), signal.SIGKILL))
        kernel_archive.pack(target, [])
        os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL and not os.path.exists(target)
    assert kernel_archive.pack(target, []) == 0 and kernel_archive.unpack(target).refused == []


def test_shared_folders_are_read_and_never_written(tmp_path, monkeypatch):
    shared = DiskCache(str(tmp_path / "shared"))
    shared.save(KEY, b"shared")
    before = os.listdir(shared.path)
    os.chmod(shared.path, 0o755)
    monkeypatch.setenv("PIJIT_CACHE_DIR", str(tmp_path / "ours"))
    assert disk_cache.find(KEY) is None
    monkeypatch.setenv("PIJIT_SHARED_CACHE_DIRS", os.pathsep.join(["", str(tmp_path / "none"), shared.path]))
    assert disk_cache.find(KEY) == b"shared" and disk_cache.find(OTHER) is None
    DiskCache().save(KEY, b"ours")
    assert disk_cache.find(KEY) == b"ours" and os.listdir(shared.path) == before
    os.unlink(os.path.join(DiskCache().path, KEY + SUFFIX))
    os.chmod(shared.path, 0o775)
    monkeypatch.setattr(disk_cache, "_noted", set())
    assert disk_cache.find(KEY) is None, "others may write to it"
