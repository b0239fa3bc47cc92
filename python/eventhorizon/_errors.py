"""Exceptions: one class for each kind of error, with the sentences of the library."""


import re


class Error(Exception):
    """Any error of the library."""

    def __init__(self, message: str = "", *others: object) -> None:
        # What the program calls `--allow-unstable` is `allow_unstable` here.
        def option(found: re.Match[str]) -> str:
            return f"`{found[1].replace('-', '_')}`"

        super().__init__(re.sub(r"`--([a-z-]+)`(?:, `[\w:]+`)?", option, message), *others)


class UsageError(Error, ValueError):
    """The call is wrong: a parameter, an option, a combination."""


class ModelError(Error, ValueError):
    """The model or its description is wrong. The message says where, and what to do."""


class DeviceError(Error, RuntimeError):
    """The device, its driver or its memory failed, or there is no adapter."""


class FaultError(Error, RuntimeError):
    """The run failed while it executed events: a fault, a deadlock, a line without room."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


class EventhorizonWarning(UserWarning):
    """A reason to doubt results, or a run that was ended early."""
