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
from ._executor import AsyncExecutor, ExecutionResult, Executor, create_executor
from ._registry import ToolRegistry
from ._results import Display, Log, Pending, RunError, RunResult, SessionInfo
from ._run import Lost, Output, Prompt, Report
from ._values import RegExp

__version__ = "0.1.0"
__all__ = [
    "AsyncExecution", "AsyncExecutor", "AsyncGlovebox", "AsyncSession", "Display", "Execution", "ExecutionResult",
    "Executor", "Glovebox", "GloveboxError", "Log", "Lost", "Output", "Pending", "Prompt", "RegExp", "Report", "RunError",
    "RunFailed", "RunResult", "SandboxError", "SandboxFunction", "SerializationError", "Session", "SessionInfo",
    "ToolRegistry", "__version__", "create_executor",
]
