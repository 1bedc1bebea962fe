"""Runs functions as another user: root gives its rights away in a child process."""

import json
import os
import sys
import traceback

import pytest

NOBODY, STRANGER = 65534, 65533
"""The numbers of the user that functions run as, and of one more."""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="root alone gives files and folders away")


def as_a_user(work):
    """What a function returns, run in a process of a user who is not root: root may write anywhere."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            os.write(writer, json.dumps(work()).encode())
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        answer = file.read()
    os.waitpid(child, 0)
    return json.loads(answer)
