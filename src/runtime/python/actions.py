"""What is different for an action of a YAML agent: its value, the variable 'state', files that cannot be written."""
import os
import resource

NOTHING = object()
_FOLDERS = "/box", "/tmp"


class _State:
    is_read_only = False


def make_read_only():
    """Makes files unwritable, for the rest of the process. The limit of the size of files is a hard one: it holds also
    if the code makes the folders writable again."""
    if _State.is_read_only:
        return
    _State.is_read_only = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    for folder in _FOLDERS:
        try:
            os.chmod(folder, 0o555)
        except OSError:
            pass  # it belongs to another user: then it is not writable either, or the limit holds


# --- the variable 'state'

def _refuse(*_args, **_named):
    raise TypeError("'state' cannot be changed by code: return a value instead")


class StateDict(dict):
    """A part of the state of the workflow."""
    __slots__ = ()
    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __reduce__(self):
        return dict, (dict(self),)


class StateList(list):
    """A part of the state of the workflow."""
    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self):
        return list, (list(self),)


def _freeze(value):
    if type(value) is dict:
        return StateDict({key: _freeze(item) for key, item in value.items()})
    if type(value) is list:
        return StateList([_freeze(item) for item in value])
    return value


def freeze_state(names):
    return {name: _freeze(value) if name == "state" else value for name, value in names.items()}


# --- the value

def _stores_result(code):
    """Whether code, or a function in it, binds the global name 'result'."""
    if "result" in code.co_names:
        import dis
        for step in dis.get_instructions(code):
            if step.opname in ("STORE_NAME", "STORE_GLOBAL") and step.argval == "result":
                return True
    return any(_stores_result(constant) for constant in code.co_consts if hasattr(constant, "co_names"))


def select(value, before, namespace, code, expression):
    """The variable 'result' if this code has set it, else the last expression."""
    result = namespace.get("result", NOTHING)
    if result is NOTHING:
        return value
    was_set = before is NOTHING or result is not before or any(
        _stores_result(part) for part in (code, expression) if part is not None)
    return result if was_set else value
