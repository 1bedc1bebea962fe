"""Type propagation: the interpreter's first client, which finds types and emits no operations."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, overload

from pijit.core.capture.context import CaptureContext
from pijit.core.capture.interpreter import exceptions
from pijit.core.capture.interpreter.interpreter import AbstractInterpreter
from pijit.core.capture.models.containers.constructions import shared
from pijit.core.capture.models.objects.materialize import made_object
from pijit.core.capture.models.protocol import AnalysedCallee
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.state.return_kinds import CallOutcomes
from pijit.core.capture.values.base import raised_in
from pijit.core.capture.values.lattice import Abstract, Sequence, number_type, object_type
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import CELL, Type


class TypePropagator(AbstractInterpreter):
    """The interpreter that only propagates types: operations become typed placeholders."""

    @overload
    def emit(self, name: str, args: List[Value], type: Type, attrs: Optional[Dict[str, Any]] = None,
             exits: bool = False) -> Value: ...

    @overload
    def emit(self, name: str, args: List[Value], type: None, attrs: Optional[Dict[str, Any]] = None,
             exits: bool = False) -> None: ...

    def emit(self, name: str, args: List[Value], type: Optional[Type], attrs: Optional[Dict[str, Any]] = None,
             exits: bool = False) -> Optional[Value]:
        exceptions.note_effect(self, name, exits)
        return None if type is None else Value(-1, type)

    def rehearse(self, later: Callable[[], Any]) -> None:
        if raised_in(self.state.stack) is not None:  # an effect must not precede an exit while a handler runs
            before = self.state.copy()
            later()
            self.state = before

    def number_value(self, value: Abstract) -> Value:
        kind = number_type(value)
        if kind is None:
            raise Break("PJ203", operand=repr(value))
        return Value(-1, kind)

    def object_value(self, value: Abstract) -> Value:
        if isinstance(value, VirtualObject):
            return made_object(self, value)
        if isinstance(value, Sequence):
            shared(self, list(value.items))
        return Value(-1, object_type(value))

    def cell_value(self, root: Any) -> Value:
        return Value(-1, CELL)

    def segment_input(self, root: Any, type: Type) -> Value:
        return Value(-1, type)

    def enter(self, analysis: AnalysedCallee, context: CaptureContext, entry: FrameState,
              borrowed: List[int]) -> Abstract:
        outcomes = analysis.outcomes
        if len(outcomes) > 1:
            return CallOutcomes(dict(enumerate(outcomes)), analysis.name)
        self.state.locals.update(outcomes[0].written)
        return outcomes[0].result
