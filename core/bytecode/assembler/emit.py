"""What linked code is made of, in the instructions of the running version.

Attributes:
    Emit: writes instructions for one place.
    SiteStack: the operands that a site takes, and those that its exits leave.
    LANDINGS: whether others may bring an exit's values to the code behind it.
    USUAL_EXIT: what a launcher answers at the usual exit, in place of its number.
    REQUESTS_APART: whether code that handles requests stands in front of the function's own.
    announcement: code in front of a call of a function which is compiled on its own.
    after_call: code behind a call that was not finished.
    arrived: code that takes the values of a frame that begins in its middle.
    finished: the assembled code, with loads of variables made safe.
    frame_slots: where the values of such a frame go.
    has_site: whether the function that an instruction calls can be one that is compiled on its own.
    handled_at: the instruction whose handler is for what requests raise in front of another one.
    moved_away: code that asks whether a call is to move to other code, and does it.
    moved_in: code that takes the values of a call that moves to other code.
    stack_of: code that puts an operand stack back from local variables.
    to_go_on: what a mover is answered.
"""

import sys

if sys.version_info >= (3, 11):
    from pijit.core.bytecode.assembler.emit_311 import USUAL_EXIT, Emit
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
    from pijit.core.bytecode.assembler.emit_37 import USUAL_EXIT, Emit
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

__all__ = ["LANDINGS", "REQUESTS_APART", "USUAL_EXIT", "Emit", "SiteStack", "after_call", "announcement", "arrived", "finished",
           "frame_slots", "handled_at", "has_site", "moved_away", "moved_in", "stack_of", "to_go_on"]
