"""Run untrusted code safely: sandboxes, sessions, tools and streaming.

    from glovebox import Glovebox

    with Glovebox() as box:
        print(box.run("print(6*7)", language="python").stdout)

See docs/PYTHON_SDK.md.
"""

from ._async import AsyncExecution, AsyncGlovebox, AsyncSession
from ._bridge import SandboxFunction
from ._client import Execution, Glovebox, Session
from ._errors import GloveboxError, RunFailed, SandboxError, SerializationError
from ._results import Display, Log, Pending, RunError, RunResult, SessionInfo
from ._run import Lost, Output, Prompt, Report
from ._values import RegExp

__version__ = "0.1.0"
__all__ = [
    "AsyncExecution", "AsyncGlovebox", "AsyncSession", "Display", "Execution", "Glovebox", "GloveboxError", "Log", "Lost",
    "Output", "Pending", "Prompt", "RegExp", "Report", "RunError", "RunFailed", "RunResult", "SandboxError",
    "SandboxFunction", "SerializationError", "Session", "SessionInfo", "__version__",
]
