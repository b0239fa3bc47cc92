"""Compiles generator functions to the statements of an entity, by their syntax trees. They are never called."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable
from typing import Any, NoReturn

from . import distributions
from ._description import Part
from ._errors import ModelError

#: Functions that make values of descriptions: called with compiled arguments.
_MAKERS: set[Callable[..., Any]] = {
    getattr(distributions, name) for name in distributions.__all__ if name != "Distribution"
}

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "/",
    ast.Mod: "%",
}
_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
#: Readings of the entity itself.
_OWN = {"now", "age", "waited", "number"}
#: Readings of things, by attribute.
_READ = {"count": "in_use", "free": "free", "capacity": "units", "level": "level"}
#: Functions of expressions, by those of Python.
_CALLED = {"min": "min", "max": "max", "int": "integer", "float": "real"}
#: Keys of what waits.
_WAITING = {"priority", "patience", "tally", "label"}


def maker(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let functions call this one: its arguments are compiled first."""
    _MAKERS.add(function)
    return function


class Compiled:
    """The statements and attributes of a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._file = inspect.getsourcefile(function) or "?"
        try:
            lines, first = inspect.getsourcelines(function)
        except OSError as error:
            raise ModelError(f"the source of `{function.__name__}` is not there: write it to a file") from error
        tree = ast.parse(textwrap.dedent("".join(lines)))
        ast.increment_lineno(tree, first - 1)
        found = tree.body[0]
        if not isinstance(found, ast.FunctionDef):
            self._refuse(found, "this is not a function", "decorate a `def`")
        self._tree = found
        plain: Any = function
        self._outside: dict[str, Any] = {**vars(builtins), **plain.__globals__}
        for name, cell in zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True):
            try:
                self._outside[name] = cell.cell_contents
            except ValueError:
                continue  # defined later: another entity
        parameters = [argument.arg for argument in found.args.args]
        if len(parameters) != 1:
            self._refuse(found, f"it has {len(parameters)} parameters", "write one, for the environment")
        self._env = parameters[0]
        self.attributes: dict[str, Any] = {}
        self.name = found.name
        self.statements = self._block(self._initial(found.body), last=True)

    def _refuse(self, node: ast.AST, what: str, remedy: str) -> NoReturn:
        line = getattr(node, "lineno", 0)
        written = ast.unparse(node).splitlines()[0]
        raise ModelError(f"{self._file}:{line}: {what}: `{written}`; {remedy}")

    def _part(self, node: ast.AST, **keys: Any) -> Part:
        return Part(keys, (self._file, getattr(node, "lineno", 0)))

    # Attributes.

    def _initial(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Assignments at the begin are the first values of attributes. Returns what comes behind them."""
        rest = list(body)
        if rest and isinstance(rest[0], ast.Expr) and isinstance(rest[0].value, ast.Constant):
            rest.pop(0)  # the docstring
        while rest and (given := self._assigned(rest[0])) is not None:
            name, value, kind = given
            if name in self.attributes or value is None:
                break
            written = self._value(value)
            kind = kind or ("time" if self._is_time(value) else None)
            plain = isinstance(written, (int, float, dict)) and kind is None
            keys = {"value": written} if kind is None else {"kind": kind, "value": written}
            self.attributes[name] = written if plain else self._part(rest[0], **keys)
            rest.pop(0)
        for node in ast.walk(self._tree):
            given = self._assigned(node)
            if given is not None and given[0] not in self.attributes:
                name, value, kind = given
                kind = kind or self._kind(node, value)
                self.attributes[name] = self._part(node, kind=kind)
        return rest

    def _assigned(self, node: ast.AST) -> tuple[str, ast.expr | None, str | None] | None:
        """Name, value and annotated kind of an assignment to a local name."""
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            return node.targets[0].id, node.value, None
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            written = ast.unparse(node.annotation).strip("'\"")
            kinds = {"int": "integer", "float": "real", "time": "time"}
            if written not in kinds:
                self._refuse(node, "the kind is not known", 'write `int`, `float` or `"time"`')
            return node.target.id, node.value, kinds[written]
        return None

    def _kind(self, node: ast.AST, value: ast.expr | None) -> str:
        if isinstance(value, ast.Constant) and isinstance(value.value, (int, float)):
            return "real" if isinstance(value.value, float) else "integer"
        if value is not None and self._is_time(value):
            return "time"
        self._refuse(node, "the kind of this attribute is not known", 'annotate it: `x: int = ...`, `float` or `"time"`')

    def _is_time(self, value: ast.expr) -> bool:
        if self._maker(value) is not None:
            return self._maker(value) in {getattr(distributions, name) for name in distributions.__all__}
        return self._of_env(value) in {"now", "age", "waited"}

    # Values and expressions.

    def _of_env(self, node: ast.AST) -> str | None:
        """The name in ``env.name``."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == self._env:
            return node.attr
        return None

    def _named(self, node: ast.expr) -> Any:
        """What a name outside of the function is, or ``None``."""
        if isinstance(node, ast.Name):
            return self._outside.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._named(node.value)
            return None if owner is None else getattr(owner, node.attr, None)
        return None

    def _maker(self, node: ast.expr) -> Callable[..., Any] | None:
        """The function that makes a value of a description, if it is called."""
        if not isinstance(node, ast.Call):
            return None
        found = self._named(node.func)
        try:
            return found if found in _MAKERS else None
        except TypeError:  # not hashable
            return None

    def _value(self, node: ast.expr) -> Any:
        """A number, an expression, or a distribution."""
        made = self._maker(node)
        if made is not None and isinstance(node, ast.Call):
            arguments = [self._argument(argument) for argument in node.args]
            keywords = {keyword.arg: self._argument(keyword.value) for keyword in node.keywords if keyword.arg}
            try:
                return made(*arguments, **keywords)
            except (TypeError, ValueError) as error:
                self._refuse(node, str(error), "distributions have means, not rates: see `help(eventhorizon.distributions)`")
        if isinstance(node, ast.Dict):
            return {
                self._constant(key): self._value(value)
                for key, value in zip(node.keys, node.values, strict=True)
                if key is not None
            }
        try:
            constant = ast.literal_eval(node)
        except ValueError:
            constant = None
        if isinstance(constant, (int, float)):
            return constant
        return self._expression(node)

    def _argument(self, node: ast.expr) -> Any:
        """An argument of a distribution: a value, or a list of values."""
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self._argument(item) for item in node.elts]
        return self._value(node)

    def _constant(self, node: ast.expr) -> Any:
        try:
            return ast.literal_eval(node)
        except ValueError:
            self._refuse(node, "expected a constant", "write a number or a text")

    def _text(self, node: ast.expr) -> str:
        found = self._constant(node)
        if not isinstance(found, str):
            self._refuse(node, "expected a name in quotes", 'write it as `"name"`')
        return found

    def _expression(self, node: ast.expr) -> str:
        """The text of an expression."""
        of = self._expression
        match node:
            case ast.Constant(value=bool(value)):
                return "true" if value else "false"
            case ast.Constant(value=int(value)) | ast.Constant(value=float(value)):
                return repr(value)
            case ast.Name(id=name) if name in self.attributes:
                return name
            case ast.Name() | ast.Attribute() if isinstance(self._named(node), (int, float)):
                return repr(self._named(node))
            case ast.Attribute(attr=name) if self._of_env(node):
                return name
            case ast.Attribute(value=thing, attr=reading) if self._of_env(thing) and reading in _READ:
                return f"{_READ[reading]}({self._of_env(thing)})"
            case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(value=thing, attr="queue")]) if self._of_env(thing):
                return f"queue({self._of_env(thing)})"
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in _CALLED:
                return f"{_CALLED[name]}({', '.join(map(of, arguments))})"
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                if not any(self._is_real(side) for side in (left, right)):
                    remedy = "write `//` to round down, or `float(x) / y`"
                    self._refuse(node, "`/` of whole numbers would round down", remedy)
                return f"({of(left)} / {of(right)})"
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return f"({of(left)} {_BINARY[type(op)]} {of(right)})"
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return f"(-{of(operand)})"
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return f"(not {of(operand)})"
            case ast.BoolOp(op=op, values=values):
                return "(" + (" and " if isinstance(op, ast.And) else " or ").join(map(of, values)) + ")"
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARED for op in ops):
                sides = [left, *others]
                steps = zip(sides, ops, others, strict=False)
                pairs = [f"{of(one)} {_COMPARED[type(op)]} {of(other)}" for one, op, other in steps]
                return pairs[0] if len(pairs) == 1 else "(" + " and ".join(f"({pair})" for pair in pairs) + ")"
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return f"if({of(test)}, {of(body)}, {of(orelse)})"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="random" | "rng" | "np" | "numpy"))):
                remedy = "write `exponential(mean)` or another distribution of the package"
                self._refuse(node, "this would be drawn once, if at all", remedy)
            case _:
                remedy = "write numbers, names of attributes, and what the environment has"
                self._refuse(node, "this cannot be an expression of a model", remedy)

    def _is_real(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=float()):
                return True
            case ast.Call(func=ast.Name(id="float")):
                return True
            case _:
                return self._is_time(node)

    # Statements.

    def _block(self, body: list[ast.stmt], last: bool = False) -> list[Part]:
        """Statements; ``last`` if the entity ends behind them anyway."""
        found: list[Part] = []
        for number, node in enumerate(body):
            at_end = last and number == len(body) - 1
            found += self._statement(node, at_end)
        return found

    def _statement(self, node: ast.stmt, at_end: bool) -> list[Part]:
        match node:
            case ast.Pass():
                return []
            case ast.Return(value=None):
                return [] if at_end else [self._part(node, end=True)]
            case ast.Expr(value=ast.Yield(value=ast.Call() as call)):
                return [self._yielded(call, None)]
            case ast.Expr(value=ast.Yield(value=ast.Attribute() as signal)) if self._of_env(signal):
                return [self._part(node, wait=self._of_env(signal))]
            case ast.Expr(value=ast.Call() as call):
                return [self._called(call)]
            case ast.With():
                return [self._with(node, node.items)]
            case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=ast.Yield(value=ast.Call() as call)), orelse=[]):
                return [self._yielded(call, node.body)]
            case ast.If():
                return [self._if(node)]
            case ast.While(test=ast.Constant(value=True), orelse=[]):
                return [self._part(node, forever=self._block(node.body))]
            case ast.While(orelse=[]):
                return [self._part(node, **{"while": self._expression(node.test), "do": self._block(node.body)})]
            case ast.For(target=ast.Name(), iter=ast.Call(func=ast.Name(id="range"), args=[times]), orelse=[]):
                return [self._part(node, repeat=self._value(times), do=self._block(node.body))]
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                return self._set(node)
            case ast.Break() | ast.Continue():
                self._refuse(node, "a loop cannot be left in its middle", "put the condition into `while`")
            case _:
                remedy = "docs/guide-python.md lists what can be compiled"
                self._refuse(node, "this statement cannot be compiled", remedy)

    def _set(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> list[Part]:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        name = target.id if isinstance(target, ast.Name) else self._of_env(target)
        if name is None or (isinstance(node, ast.Assign) and len(node.targets) > 1):
            self._refuse(node, "this cannot be assigned", "assign to a local name, or to a variable of the environment")
        if node.value is None:
            return []
        if isinstance(node, ast.AugAssign):
            if type(node.op) not in _BINARY:
                self._refuse(node, "this operator cannot be compiled", "write `x = ...`")
            return [self._part(node, set=name, to=f"{name} {_BINARY[type(node.op)]} {self._expression(node.value)}")]
        return [self._part(node, set=name, to=self._value(node.value))]

    def _keywords(self, call: ast.Call, known: set[str]) -> dict[str, Any]:
        keys: dict[str, Any] = {}
        for keyword in call.keywords:
            if keyword.arg not in known:
                remedy = f"there are: {', '.join(sorted(known))}" if known else "leave it out"
                self._refuse(keyword.value, f"`{keyword.arg}` is not known here", remedy)
            text = keyword.arg in ("tally", "label", "preempted")
            keys[keyword.arg] = self._text(keyword.value) if text else self._value(keyword.value)
        return keys

    def _patient(self, call: ast.Call, keys: dict[str, Any], otherwise: list[ast.stmt] | None) -> dict[str, Any]:
        """The keys of what waits, with what is done when the patience ends."""
        if otherwise is None:
            return keys
        if "patience" not in keys:
            self._refuse(call, "this never gives up", "give it a `patience`, or leave the `if not` out")
        patience = keys["patience"]
        full = isinstance(patience, dict) and "time" in patience
        keys["patience"] = dict(patience) if full else {"time": patience}
        ends = isinstance(otherwise[-1], ast.Return)
        block = self._block(otherwise, last=True)
        if block:
            keys["patience"]["else"] = block
        if not ends:
            keys["patience"]["continue"] = True
        return keys

    def _thing(self, call: ast.Call) -> tuple[str | None, str]:
        """The thing and the method of ``env.thing.method()``; of ``env.method()`` no thing."""
        if isinstance(call.func, ast.Attribute):
            if self._of_env(call.func) is not None:
                return None, call.func.attr
            thing = self._of_env(call.func.value)
            if thing is not None:
                return thing, call.func.attr
        remedy = f"call what `{self._env}` has: `{self._env}.tally(name, value)` observes a value"
        self._refuse(call, "this call cannot be compiled", remedy)

    def _first(self, call: ast.Call, otherwise: Any) -> Any:
        if len(call.args) > 1:
            self._refuse(call, "this has too many arguments", "name them")
        return self._value(call.args[0]) if call.args else otherwise

    def _yielded(self, call: ast.Call, otherwise: list[ast.stmt] | None) -> Part:
        """A statement that waits."""
        thing, method = self._thing(call)
        if thing is None and method == "timeout" and otherwise is None:
            return self._part(call, delay=self._first(call, None), **self._keywords(call, {"label"}))
        if thing is None and method == "join" and otherwise is None:
            return self._part(call, join=True)
        known = _WAITING | ({"units"} if method == "request" else set()) | ({"into"} if method == "take" else set())
        keys = self._patient(call, self._keywords(call, known), otherwise)
        match thing, method:
            case None, "until":
                return self._part(call, wait_until=self._expression(call.args[0]), **keys)
            case None, "batch":
                return self._part(call, batch=self._first(call, None), **keys)
            case str(), "request":
                return self._part(call, seize=thing, **keys)
            case str(), "get" | "put":
                return self._part(call, **{method: thing, "amount": self._first(call, 1), **keys})
            case str(), "give" | "take" | "wait":
                return self._part(call, **{method: thing, **keys})
            case _:
                remedy = "there are: timeout, until, join, batch, and request, get, put, give, take, wait of a thing"
                self._refuse(call, "this cannot be waited for", remedy)

    def _called(self, call: ast.Call) -> Part:
        """A statement that does not wait."""
        thing, method = self._thing(call)
        match thing, method:
            case None, "tally" | "count" if call.args:
                more = {"value" if method == "tally" else "by": self._value(value) for value in call.args[1:2]}
                return self._part(call, **{method: self._text(call.args[0])}, **more)
            case None, "spawn" if call.args:
                keys = self._keywords(call, {"count", "set", "join"})
                entity = call.args[0].id if isinstance(call.args[0], ast.Name) else self._text(call.args[0])
                return self._part(call, spawn=entity, **keys)
            case None, "interrupt" if len(call.args) == 2:
                return self._part(call, interrupt=self._text(call.args[0]), number=self._value(call.args[1]))
            case str(), "release":
                return self._part(call, release=thing, units=self._first(call, None))
            case str(), "resize":
                return self._part(call, resize=thing, units=self._first(call, None))
            case str(), "send" | "succeed":
                return self._part(call, send=thing)
            case _, "timeout" | "request" | "get" | "put" | "give" | "take" | "wait" | "until" | "join" | "batch":
                self._refuse(call, "this waits", "write `yield` before it")
            case _:
                remedy = "there are: tally, count, spawn, interrupt, and release, resize, send of a thing"
                self._refuse(call, "this call cannot be compiled", remedy)

    def _with(self, node: ast.With, items: list[ast.withitem]) -> Part:
        """``with env.bed.request() as got: yield got``: the statement ``use``."""
        call, name = items[0].context_expr, items[0].optional_vars
        if not isinstance(call, ast.Call) or self._thing(call)[1] != "request":
            self._refuse(call, "only requests can be held", f"write `with {self._env}.bed.request() as got:`")
        thing, _ = self._thing(call)
        if not isinstance(name, ast.Name):
            self._refuse(call, "the request has no name", "write `as got`, and `yield got` first in the block")
        got, body = name.id, list(node.body)
        otherwise: list[ast.stmt] | None = None
        # The yields of several requests stand one after the other.
        match body[0] if body else None:
            case ast.Expr(value=ast.Yield(value=ast.Name(id=waited))) if waited == got:
                pass
            case ast.If(
                test=ast.UnaryOp(op=ast.Not(), operand=ast.Yield(value=ast.Name(id=waited))), body=given, orelse=[]
            ) if waited == got:
                otherwise = given
                if not isinstance(given[-1], ast.Return):
                    self._refuse(given[-1], "an entity that gave up would use what it has not got", "`return` here")
            case ast.Expr(value=ast.Yield(value=ast.BinOp(op=ast.BitOr()) as either)) | ast.Assign(
                value=ast.Yield(value=ast.BinOp(op=ast.BitOr()) as either)
            ):
                remedy = f"give the request a `patience`, and write `if not (yield {got}):`"
                self._refuse(either, "the first of several events cannot be waited for", remedy)
            case _:
                self._refuse(node, f"`{got}` is not waited for", f"write `yield {got}` first in the block")
        inner = ast.With(items=items[1:], body=body[1:], lineno=node.lineno)
        keys = self._patient(call, self._keywords(call, _WAITING | {"units", "preempted"}), otherwise)
        if items[1:]:
            return self._part(node, use=thing, do=[self._with(inner, items[1:])], **keys)
        done, time = body[1:], None
        match done[-1] if done else None:
            case ast.Expr(value=ast.Yield(value=ast.Call() as last)) if self._thing(last) == (None, "timeout"):
                if not last.keywords:
                    time = self._first(last, None)
                    done = done[:-1]
            case _:
                pass
        do = self._block(done) or None
        return self._part(node, **{"use": thing, "do": do, "for": time, **keys})

    def _if(self, node: ast.If) -> Part:
        otherwise = self._block(node.orelse) or None
        match node.test:
            case ast.Call(args=[share]) as call if self._thing_or_none(call) == (None, "chance"):
                keys = {"with": self._value(share), "do": self._block(node.body), "else": otherwise}
                return self._part(node, **keys, **self._keywords(call, {"label"}))
            case _:
                condition = self._expression(node.test)
                return self._part(node, **{"if": condition, "do": self._block(node.body), "else": otherwise})

    def _thing_or_none(self, call: ast.Call) -> tuple[str | None, str] | None:
        return (None, call.func.attr) if isinstance(call.func, ast.Attribute) and self._of_env(call.func) else None
