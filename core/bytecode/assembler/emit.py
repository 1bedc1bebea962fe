"""The instructions of linked code, in the instruction set of the running version.

Attributes:
    Emit: writes instructions at one position.
    SiteStack: the operands that a site takes, and those that its exits leave.
    ANSWERS_BARE: whether a launcher's result may be the only value of the usual exit.
    LANDINGS: whether a caller may supply an exit's values to the code after the exit.
    USUAL_EXIT: the launcher's result at the usual exit, instead of its number.
    REQUESTS_APART: whether code that handles requests is placed before the function's own code.
    announcement: code before a call of a function that is compiled on its own.
    after_call: code after a call that was not finished.
    arrived: code that receives the values of a frame that starts in the middle of a function.
    finished: the assembled code, with checked loads where variables may have no value.
    frame_slots: the positions of the values of such a frame.
    has_site: whether the function that an instruction calls can be one that is compiled on its own.
    handled_at: the instruction whose handler covers exceptions that requests raise before another one.
    moved_away: code that asks whether the call must move to other code, and moves it.
    moved_in: code that receives the values of a call that moves to other code.
    stack_of: code that restores an operand stack from local variables.
    to_go_on: the answer for an OSR check.
"""

import sys

if sys.version_info >= (3, 11):
    from pijit.core.bytecode.assembler.emit_311 import ANSWERS_BARE, USUAL_EXIT, Emit
    from pijit.core.bytecode.assembler.frames_311 import (
        LANDINGS,
        REQUESTS_APART,
        SiteStack,
        after_call,
        announcement,
        arrived,
        finished,
        frame_slots,
        handled_at,
        has_site,
        moved_away,
        moved_in,
        stack_of,
        to_go_on,
    )
else:
    from pijit.core.bytecode.assembler.emit_37 import ANSWERS_BARE, USUAL_EXIT, Emit
    from pijit.core.bytecode.assembler.frames_37 import (
        LANDINGS,
        REQUESTS_APART,
        SiteStack,
        after_call,
        announcement,
        arrived,
        finished,
        frame_slots,
        handled_at,
        has_site,
        moved_away,
        moved_in,
        stack_of,
        to_go_on,
    )

__all__ = [
    "ANSWERS_BARE", "LANDINGS", "REQUESTS_APART", "USUAL_EXIT", "Emit", "SiteStack", "after_call", "announcement",
    "arrived", "finished", "frame_slots", "handled_at", "has_site", "moved_away", "moved_in", "stack_of", "to_go_on"]
