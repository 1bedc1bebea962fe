"""The conda recipe: it has the version, the Pythons and the requirements of the package."""

import configparser
import os
import re

import pytest

import pijit
from pijit.core.pythons import SUPPORTED

yaml = pytest.importorskip("yaml")
requirements = pytest.importorskip("packaging.requirements")
specifiers = pytest.importorskip("packaging.specifiers")
pytestmark = pytest.mark.unshared  # YAML comes with the packages of few versions

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read(name):
    with open(os.path.join(ROOT, "conda", name), encoding="utf-8") as file:
        return yaml.safe_load(file)


def pythons():
    """The versions of Python that packages are built for, such as "3.12"."""
    return [version.rstrip(".*") for version in read("variants.yaml")["python"]]


def of_recipe(rows, python):
    """The requirements of a recipe on a version of Python; ``rows`` may have conditions on it."""
    for row in rows:
        if isinstance(row, str):
            yield row
        else:
            asked = re.fullmatch(r'match\(python, "(.*)"\)', row["if"]).group(1)
            yield from row["then" if specifiers.SpecifierSet(asked).contains(python) else "else"]


def of_package(option, python):
    """The requirements in setup.cfg on a version of Python."""
    config = configparser.ConfigParser()
    config.read(os.path.join(ROOT, "setup.cfg"))
    found = [requirements.Requirement(line) for line in config["options"][option].strip().splitlines()]
    return [one for one in found if one.marker is None or one.marker.evaluate({"python_version": python})]


def test_version_and_licence():
    recipe = read("recipe.yaml")
    assert recipe["context"]["version"] == pijit.__version__ and recipe["package"]["version"] == "${{ version }}"
    assert os.path.exists(os.path.join(ROOT, recipe["about"]["license_file"]))


def test_pythons():
    assert pythons() == ["{}.{}".format(*version) for version in sorted(SUPPORTED) if version >= (3, 10)]


def test_requirements():
    rows = read("recipe.yaml")["requirements"]["run"]
    for python in pythons():
        found = [requirements.Requirement(row) for row in of_recipe(rows, python) if row != "python"]
        expected = [(one.name, one.specifier) for one in of_package("install_requires", python)]
        assert [(one.name, one.specifier) for one in found] == expected, python


def test_files_of_its_tests_exist():
    files = [name for test in read("recipe.yaml")["tests"] for name in test.get("files", {}).get("source", ())]
    assert files and all(os.path.exists(os.path.join(ROOT, name)) for name in files)
