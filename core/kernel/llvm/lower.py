"""Lowering of kernel source to LLVM IR.

Kernel source is a small language in Python's syntax: assignments to names, ``if``, ``while``, ``break``, ``continue``,
``return``, and calls of the functions that intrinsics.py builds. Each expression has one of seven kinds
(``intrinsics.INT`` ...). Only conversions that cannot change a value are implicit. A variable has the kind of the first
value assigned to it. So LLVM gets exactly the operations that the source names, in their order. Called by codegen.py.
"""

from __future__ import annotations

import ast
import sys
from typing import Any, Callable, Dict, List, Optional, Tuple, cast

from llvmlite import ir

from pijit.core.kernel.errors import CompileError
from pijit.core.kernel.llvm.half_precision import is_exact
from pijit.core.kernel.llvm.intrinsics import BOOL, F4_TYPE, F8, F8_TYPE, I64, INT, LLVM_TYPES, PAIRS, UINT, Intrinsic
from pijit.core.kernel.llvm.ssa_names import assigned_once
from pijit.core.kernel.llvm.stack_slots import slots_of, write_room_check
from pijit.core.named_tuples import NamedTuple

_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_RELAXED = ["reassoc", "nsz", "arcp", "contract"]
"""Fast-math flags of relaxed kernels: reordering, fused multiply-add, reciprocals. NaN and infinity are kept."""

_FLOATING = frozenset(("fadd", "fsub", "fmul", "fdiv", "frem", "fneg"))
_FOLDED: Dict[type, Callable[[Any, Any], Any]] = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b}


class LlvmValue(NamedTuple):
    """An LLVM value and its kind."""

    kind: str
    value: Any


class _LoopTargets(NamedTuple):
    """The blocks that ``continue`` and ``break`` jump to."""

    start: Any
    end: Any


def lower(source: str, names: Dict[str, Any], symbol: str, module: Any, fast: bool) -> Any:
    """Add the function ``kernel(frame)`` of a source to a module, under a symbol; its frame is one int64 word.

    ``names`` has the `Intrinsic` of each function that the source calls. ``fast``: floating-point arithmetic may be
    rearranged. Raises CompileError.
    """
    kind = ir.FunctionType(I64, [I64])
    function = body = ir.Function(module, kind, symbol)
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.FunctionDef)
    slots = slots_of(definition)
    if slots:
        body = ir.Function(module, kind, symbol + ".body")
        write_room_check(function, body, slots)
    _Lowering(body, names, definition).write(definition.body)
    if fast:
        _relax(module)
    _omit_unwind_tables(module)
    return function


def define_symbol(module: Any, name: str) -> None:
    """Add a constant to a module whose name tells something about its object file."""
    constant = ir.GlobalVariable(module, ir.IntType(8), name)
    constant.global_constant = True
    constant.initializer = ir.Constant(ir.IntType(8), 1)


def _omit_unwind_tables(module: Any) -> None:
    """Mark the defined functions ``nounwind``, so that object files have no unwind tables.

    Kernels raise no C++ exceptions. LLVM registers tables under a lock of the C library, which each thread takes while
    it unwinds its stack. A child that was forked meanwhile would wait for that lock for ever.
    """
    for function in module.functions:
        if not function.is_declaration:
            function.attributes.add("nounwind")


def _relax(module: Any) -> None:
    for function in module.functions:
        for block in function.blocks:
            for instruction in block.instructions:
                if instruction.opname in _FLOATING and not is_exact(instruction):
                    instruction.flags = _RELAXED


class _Lowering:
    """Writes the instructions of one function."""

    def __init__(self, function: Any, names: Dict[str, Any], definition: ast.FunctionDef) -> None:
        self.names = names
        self.returns: Dict[Any, Any] = {}
        self.variables: Dict[str, LlvmValue] = {}
        self.loops: List[_LoopTargets] = []
        self.entry = function.append_basic_block("entry")
        self.builder = ir.IRBuilder(function.append_basic_block("body"))
        self.once = assigned_once(definition)
        self.values = {definition.args.args[0].arg: LlvmValue(INT, function.args[0])}

    def write(self, statements: List[Any]) -> None:
        self._statements(statements)
        if not self.builder.block.is_terminated:
            self.builder.unreachable()
        ir.IRBuilder(self.entry).branch(self.entry.function.blocks[1])

    # ---- statements ----

    def _statements(self, statements: List[Any]) -> None:
        for statement in statements:
            if self.builder.block.is_terminated:
                return
            writer = self._STATEMENTS.get(type(statement))
            if writer is None:
                raise CompileError("no machine code for %s" % type(statement).__name__)
            writer(self, statement)

    def _assign(self, statement: ast.Assign) -> None:
        value = self.value(statement.value)
        for target in statement.targets:
            assert isinstance(target, ast.Name)
            if target.id in self.once:
                self.values[target.id] = value
                continue
            self.builder.store(self._as(value, self._variable(target.id, value.kind).kind),
                               self.variables[target.id].value)

    def _variable(self, name: str, kind: str) -> LlvmValue:
        """The stack slot of a variable. It starts as 0, so that no result depends on uninitialised memory."""
        if name not in self.variables:
            with self.builder.goto_block(self.entry):
                place = self.builder.alloca(LLVM_TYPES[kind], name=name)
                self.builder.store(ir.Constant(LLVM_TYPES[kind], None), place)
            self.variables[name] = LlvmValue(kind, place)
        return self.variables[name]

    def _expression(self, statement: ast.Expr) -> None:
        self.value(statement.value)

    def _return(self, statement: ast.Return) -> None:
        """Statements with equal expressions share a block: most exits appear many times in the source."""
        key, builder = _structure(statement.value), self.builder
        if key not in self.returns:
            self.returns[key] = builder.append_basic_block("return")
            with builder.goto_block(self.returns[key]):
                builder.ret(self._as(self.value(statement.value), INT))
        builder.branch(self.returns[key])

    def _if(self, statement: ast.If) -> None:
        builder = self.builder
        then, end = builder.append_basic_block("then"), builder.append_basic_block("next")
        other = builder.append_basic_block("else") if statement.orelse else end
        builder.cbranch(self._as(self.value(statement.test), BOOL), then, other)
        for block, statements in ((then, statement.body), (other, statement.orelse)):
            if block is not end:
                builder.position_at_end(block)
                self._statements(statements)
                self._go(end)
        builder.position_at_end(end)

    def _while(self, statement: ast.While) -> None:
        builder = self.builder
        loop = _LoopTargets(builder.append_basic_block("loop"), builder.append_basic_block("behind"))
        self._go(loop.start)
        builder.position_at_end(loop.start)
        if _literal(statement.test) is not True:
            body = builder.append_basic_block("round")
            builder.cbranch(self._as(self.value(statement.test), BOOL), body, loop.end)
            builder.position_at_end(body)
        self.loops.append(loop)
        self._statements(statement.body)
        self.loops.pop()
        self._go(loop.start)
        builder.position_at_end(loop.end)

    def _go(self, block: Any) -> None:
        if not self.builder.block.is_terminated:
            self.builder.branch(block)

    _STATEMENTS: Dict[type, Callable[..., None]] = {
        ast.Assign: _assign, ast.Expr: _expression, ast.Return: _return, ast.If: _if, ast.While: _while,
        ast.Break: lambda self, statement: self._go(self.loops[-1].end),
        ast.Continue: lambda self, statement: self._go(self.loops[-1].start),
        ast.Pass: lambda self, statement: None,
    }

    # ---- expressions ----

    def value(self, node: Any) -> LlvmValue:
        """The value of an expression."""
        literal = _literal(node)
        if literal is not None:
            return _constant(literal)
        writer = self._EXPRESSIONS.get(type(node))
        if writer is None:
            raise CompileError("no machine code for %s" % type(node).__name__)
        return writer(self, node)

    def _as(self, typed: LlvmValue, kind: str) -> Any:
        """The LLVM value of an expression as a kind: int64 and uint64 share their bits, a bool becomes 0 or 1."""
        if typed.kind == kind or {typed.kind, kind} == {INT, UINT}:
            return typed.value
        if typed.kind == BOOL and kind == INT:
            return self.builder.zext(typed.value, I64)
        raise CompileError("a value of kind %s where %s is wanted" % (typed.kind, kind))

    def _name(self, node: ast.Name) -> LlvmValue:
        if node.id in self.values:
            return self.values[node.id]
        if node.id not in self.variables:
            raise CompileError("%s is read before anything is assigned to it" % node.id)
        kind, place = self.variables[node.id]
        return LlvmValue(kind, self.builder.load(place))

    def _call(self, node: ast.Call) -> LlvmValue:
        assert isinstance(node.func, ast.Name)
        function: Intrinsic = self.names[node.func.id]
        args = [self.value(arg) for arg in node.args]
        if function.operands is None:
            return LlvmValue(cast(str, function.result), function.build(self.builder, args))
        kinds, result = function.operands, function.result
        if function.generic:
            kinds = (args[0].kind,) * len(kinds)
            result = result.get(args[0].kind, "") if isinstance(result, dict) else result or args[0].kind
        if len(kinds) != len(args):
            raise CompileError("%s takes %d operands" % (node.func.id, len(kinds)))
        return LlvmValue(cast(str, result), function.build(self.builder, *map(self._as, args, kinds)))

    def _compare(self, node: ast.Compare) -> LlvmValue:
        left, right = self.value(node.left), self.value(node.comparators[0])
        symbol, builder = _COMPARISONS[type(node.ops[0])], self.builder
        if (left.kind, right.kind) == (F4_TYPE, F8_TYPE):
            left = LlvmValue(F8_TYPE, builder.fpext(left.value, F8))
        a, b = left.value, self._as(right, left.kind)
        if left.kind in PAIRS.values():
            pairs = [(builder.extract_value(a, part), builder.extract_value(b, part)) for part in (0, 1)]
            if symbol == "==":
                return LlvmValue(BOOL, builder.and_(*[builder.fcmp_ordered("==", *pair) for pair in pairs]))
            return LlvmValue(BOOL, builder.or_(*[builder.fcmp_unordered("!=", *pair) for pair in pairs]))
        if left.kind in (F4_TYPE, F8_TYPE):
            compare = builder.fcmp_unordered if symbol == "!=" else builder.fcmp_ordered
        else:
            compare = builder.icmp_signed if left.kind == INT else builder.icmp_unsigned
        return LlvmValue(BOOL, compare(symbol, a, b))

    def _bool_op(self, node: ast.BoolOp) -> LlvmValue:
        """``and`` and ``or`` of truth values. The operands have no effects, so all of them are computed."""
        combine = self.builder.and_ if isinstance(node.op, ast.And) else self.builder.or_
        values = [self._as(self.value(operand), BOOL) for operand in node.values]
        result = values[0]
        for value in values[1:]:
            result = combine(result, value)
        return LlvmValue(BOOL, result)

    def _not(self, node: ast.UnaryOp) -> LlvmValue:
        if not isinstance(node.op, ast.Not):
            raise CompileError("no machine code for %s" % type(node.op).__name__)
        return LlvmValue(BOOL, self.builder.not_(self._as(self.value(node.operand), BOOL)))

    def _choice(self, node: ast.IfExp) -> LlvmValue:
        """A conditional expression. Neither side has effects, so both are computed."""
        then, other = self.value(node.body), self.value(node.orelse)
        return LlvmValue(then.kind, self.builder.select(self._as(self.value(node.test), BOOL), then.value,
                                                        self._as(other, then.kind)))

    _EXPRESSIONS: Dict[type, Callable[..., LlvmValue]] = {
        ast.Name: _name, ast.Call: _call, ast.Compare: _compare, ast.BoolOp: _bool_op, ast.UnaryOp: _not,
        ast.IfExp: _choice,
    }


def _structure(node: Any) -> Any:
    """A key of an expression: expressions with equal keys have the same value in the same place."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call):
        return (_structure(node.func), *map(_structure, node.args), *map(ast.dump, node.keywords))
    return type(node), ast.dump(node)


def _literal(node: Any) -> Any:
    """The number or truth value of an expression of literals, or None."""
    if isinstance(node, ast.Constant):
        return node.value
    if sys.version_info < (3, 8) and isinstance(node, (ast.Num, ast.NameConstant)):
        return node.n if isinstance(node, ast.Num) else node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _literal(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp) and type(node.op) in _FOLDED:
        parts: Tuple[Optional[Any], ...] = (_literal(node.left), _literal(node.right))
        return None if None in parts else _FOLDED[type(node.op)](*parts)
    return None


def _constant(value: Any) -> LlvmValue:
    if isinstance(value, bool):
        return LlvmValue(BOOL, ir.Constant(LLVM_TYPES[BOOL], int(value)))
    if isinstance(value, int):
        return LlvmValue(INT, ir.Constant(I64, value))
    return LlvmValue(F8_TYPE, ir.Constant(F8, value))
