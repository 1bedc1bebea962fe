"""Files of other users: a user who is not root never loads machine code that another one could have written."""

import os
import shutil
import tempfile

import pytest
from another_user import NOBODY, STRANGER, as_a_user, as_root

from pijit.core.kernel import disk_cache, kernel_archive
from pijit.core.kernel.disk_cache import SUFFIX, DiskCache
from pijit.core.kernel.file_ownership import ROOT, Distrust

pytestmark = as_root
KEY = "ab" * 32

ANOTHERS, WRITABLE = "belongs to another user", "others may write to "


@pytest.fixture
def place(monkeypatch):
    """A folder that each user can reach. The user's cache folder and a shared one are below it."""
    above = tempfile.mkdtemp()
    os.chmod(above, 0o755)
    monkeypatch.setattr(disk_cache, "_noted", set())
    monkeypatch.setenv("PIJIT_CACHE_DIR", os.path.join(above, "own"))
    monkeypatch.setenv("PIJIT_SHARED_CACHE_DIRS", os.path.join(above, "shared"))
    yield above
    shutil.rmtree(above)


def filled(path, folder_owner, folder_mode, owner, mode):
    """A cache folder with one kernel; owner and mode of both are given."""
    cache = DiskCache(path)
    cache.save(KEY, b"code")
    file = os.path.join(path, KEY + SUFFIX)
    os.chmod(file, mode)
    os.chown(file, owner, owner)
    os.chmod(path, folder_mode)
    os.chown(path, folder_owner, folder_owner)
    return cache


def found(caplog):
    """What a user finds under the key, and the log of it."""

    def look():
        code = disk_cache.find(KEY)
        return [code and code.decode(), [record.getMessage() for record in caplog.records]]

    caplog.set_level("INFO", "pijit.cache")
    return as_a_user(look)


@pytest.mark.parametrize("folder_owner, folder_mode, owner, mode, why", [
    (NOBODY, 0o700, NOBODY, 0o600, ""), (NOBODY, 0o755, NOBODY, 0o644, ""),
    (NOBODY, 0o700, STRANGER, 0o644, ANOTHERS), (NOBODY, 0o700, ROOT, 0o644, ANOTHERS),
    (NOBODY, 0o700, NOBODY, 0o660, WRITABLE), (NOBODY, 0o700, NOBODY, 0o602, WRITABLE),
    (STRANGER, 0o755, NOBODY, 0o600, ANOTHERS), (ROOT, 0o755, NOBODY, 0o600, ANOTHERS),
    (NOBODY, 0o770, NOBODY, 0o600, WRITABLE), (NOBODY, 0o1777, NOBODY, 0o600, WRITABLE)])
def test_the_users_own_folder(place, caplog, folder_owner, folder_mode, owner, mode, why):
    filled(os.path.join(place, "own"), folder_owner, folder_mode, owner, mode)
    code, noted = found(caplog)
    assert code == (None if why else "code")
    assert len(noted) == bool(why) and all(why in line for line in noted)


@pytest.mark.parametrize("folder_owner, folder_mode, owner, mode, why", [
    (ROOT, 0o755, ROOT, 0o644, ""), (NOBODY, 0o755, NOBODY, 0o644, ""), (ROOT, 0o755, NOBODY, 0o644, ""),
    (ROOT, 0o755, STRANGER, 0o644, ANOTHERS), (STRANGER, 0o755, ROOT, 0o644, ANOTHERS),
    (ROOT, 0o755, ROOT, 0o664, WRITABLE), (ROOT, 0o775, ROOT, 0o644, WRITABLE), (ROOT, 0o1777, ROOT, 0o644, WRITABLE)])
def test_a_shared_folder(place, caplog, folder_owner, folder_mode, owner, mode, why):
    cache = filled(os.path.join(place, "shared"), folder_owner, folder_mode, owner, mode)
    code, noted = found(caplog)
    assert code == (None if why else "code")
    assert len(noted) == bool(why) and all(why in line for line in noted)
    assert os.listdir(cache.path) == [KEY + SUFFIX] and os.listdir(place) == ["shared"]


def test_a_folder_on_the_way_to_a_shared_one(place, caplog):
    filled(os.path.join(place, "shared"), ROOT, 0o755, ROOT, 0o644)
    os.chown(place, STRANGER, STRANGER)
    code, noted = found(caplog)
    assert code is None and any("the folder %s on the way to it" % place in line for line in noted)


@pytest.mark.parametrize("owner, mode, why", [
    (NOBODY, 0o600, ""), (ROOT, 0o644, ""), (STRANGER, 0o644, ANOTHERS), (NOBODY, 0o620, WRITABLE),
    (ROOT, 0o646, WRITABLE)])
def test_an_archive(place, owner, mode, why):
    path = os.path.join(place, "kernels.tar")
    os.environ["PIJIT_CACHE_DIR"] = os.path.join(place, "theirs")
    DiskCache().save(KEY, b"code")
    assert kernel_archive.pack(path, [KEY]) == 1
    os.chmod(path, mode)
    os.chown(path, owner, owner)
    home = os.path.join(place, "home")
    os.mkdir(home)
    os.chown(home, NOBODY, NOBODY)
    os.environ["PIJIT_CACHE_DIR"] = os.path.join(home, "kernels")

    def unpack():
        try:
            added = kernel_archive.unpack(path).added
        except Distrust as error:
            return [str(error), DiskCache().keys()]
        return [added, DiskCache().keys()]

    answer, keys = as_a_user(unpack)
    assert keys == ([] if why else [KEY])
    assert why in answer if why else answer == 1
