"""A folder that another user can replace by one of their own: no kernel is read from it, or written to it."""

import os
import stat

import pytest
from another_user import NOBODY, as_root

from pijit.__main__ import main
from pijit.core.kernel import disk_cache, file_ownership

KEY = "ab" * 32


@pytest.fixture
def noted(monkeypatch, caplog):
    """The lines of the log, from here on."""
    monkeypatch.setattr(disk_cache, "_noted", set())
    return lambda: [record.getMessage() for record in caplog.records if record.name == "pijit.cache"]


def kept_in(folder):
    kept = disk_cache.DiskCache(str(folder))
    kept.save(KEY, b"code")
    return kept


def refuses(kept, reason):
    """Nothing is read or written, and all say why."""
    assert kept.load(KEY) is None and reason in kept.contents().problem
    kept.save("cd" * 32, b"other")
    with pytest.raises(disk_cache.Distrust):
        kept.clear()
    return len(os.listdir(kept.path)) == 1


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o707])
@pytest.mark.parametrize("depth", [1, 2])
def test_others_may_rename(tmp_path, noted, mode, depth):
    kept = kept_in(tmp_path / "a" / "b" / "kernels")
    above = kept.path
    for _ in range(depth):
        above = os.path.dirname(above)
    os.chmod(above, mode)
    assert refuses(kept, "others may write to the folder %s on the way to it" % above)
    assert len(noted()) == 1 and above in noted()[0]
    for safe in (0o755, mode | stat.S_ISVTX):
        os.chmod(above, safe)
        assert kept.load(KEY) == b"code" and not kept.contents().problem


@as_root
def test_another_user_owns_a_folder_above(tmp_path, noted):
    kept = kept_in(tmp_path / "a" / "kernels")
    above = os.path.dirname(kept.path)
    for mode in (0o755, 0o1777):
        os.chmod(above, mode)
        os.chown(above, NOBODY, NOBODY)
        assert refuses(kept, "the folder %s on the way to it belongs to another user" % above)
        os.chown(above, 0, 0)
        assert kept.load(KEY) == b"code"


def test_links_are_followed(tmp_path, noted):
    """The folder with a link counts, and so does each folder that it leads through."""
    for name in ("here", "open", "there"):
        (tmp_path / name).mkdir()
    kept = kept_in(tmp_path / "there" / "kernels")
    (tmp_path / "open" / "link").symlink_to(os.path.join(os.pardir, "there"))
    (tmp_path / "here" / "link").symlink_to(tmp_path / "open" / "link" / "kernels")
    found = disk_cache.DiskCache(str(tmp_path / "here" / "link"))
    assert found.load(KEY) == b"code"
    for name in ("here", "open", "there"):
        os.chmod(str(tmp_path / name), 0o777)
        assert found.load(KEY) is None and str(tmp_path / name) in found.contents().problem
        os.chmod(str(tmp_path / name), 0o755)
    assert found.load(KEY) == kept.load(KEY) == b"code"


@as_root
def test_links_of_others_are_not_followed(tmp_path, noted):
    kept_in(tmp_path / "there")
    os.chmod(str(tmp_path), 0o1777)
    os.symlink(str(tmp_path / "there"), str(tmp_path / "link"))
    found = disk_cache.DiskCache(str(tmp_path / "link"))
    assert found.load(KEY) == b"code"
    os.lchown(str(tmp_path / "link"), NOBODY, NOBODY)
    assert found.load(KEY) is None and "the link %s on the way" % (tmp_path / "link") in noted()[0]


def test_steps_up_are_those_of_the_system(tmp_path, noted):
    """`link/..` is the folder above the one that the link leads to."""
    (tmp_path / "open").mkdir()
    (tmp_path / "safe" / "deep").mkdir(parents=True)
    os.chmod(str(tmp_path / "open"), 0o777)
    (tmp_path / "link").symlink_to(tmp_path / "safe" / "deep")
    found = kept_in(os.path.join(str(tmp_path / "link"), os.pardir, "kernels"))
    assert found.load(KEY) == b"code" and (tmp_path / "safe" / "kernels").is_dir()
    (tmp_path / "second").symlink_to(tmp_path / "open")
    assert disk_cache.DiskCache(os.path.join(str(tmp_path / "second"), os.pardir, "safe", "kernels")).load(KEY) is None


def test_links_without_end(tmp_path, noted):
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    lost = kept_in(tmp_path / "one" / "kernels")
    assert lost.load(KEY) is None and len(noted()) == 1 and "symbolic links" in noted()[0]
    with pytest.raises(OSError):
        file_ownership.check_folders_above(lost.path)


def test_no_folder_is_made_where_others_may_write(tmp_path, noted):
    os.chmod(str(tmp_path), 0o777)
    kept = kept_in(tmp_path / "a" / "kernels")
    assert os.listdir(str(tmp_path)) == [] and len(noted()) == 1 and "others may write" in kept.contents().problem


def test_folders_that_are_made_are_private(tmp_path, noted):
    before = os.umask(0o002)
    try:
        kept = kept_in(tmp_path / "a" / "b" / "kernels")
    finally:
        os.umask(before)
    assert kept.load(KEY) == b"code" and not noted()
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "a/b", "a/b/kernels")] == [0o700] * 3


def test_the_doctor_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PIJIT_CACHE_DIR", str(tmp_path / "open" / "kernels"))
    (tmp_path / "open").mkdir()
    os.chmod(str(tmp_path / "open"), 0o777)
    assert main(["doctor"]) == 1
    line, = [line for line in capsys.readouterr().out.splitlines() if line.startswith("BAD")]
    assert "is not used: others may write to the folder {}".format(tmp_path / "open") in line
    assert main(["cache"]) == 0 and "not used: others may write to the folder" in capsys.readouterr().out
