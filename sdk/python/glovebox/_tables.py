"""Written by scripts/tables from the tables of the C sources: 'make tables' writes it again."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence, Tuple, TypedDict, Union

LANGUAGES: Sequence[str] = ["typescript", "ts", "javascript", "js", "python", "py", "python3", "shell", "sh", "bash", "node", "nodejs", "deno"]
ERROR_CODES: Sequence[str] = ["timeout", "cpu_limit", "memory", "output_limit", "result_size", "bridge", "interrupted", "terminated", "awaiting_input", "crashed", "no_answer", "protocol", "sandbox_lost", "wall", "refused", "exit", "exit_code", "signal", "files", "restricted", "no_export", "not_a_function", "never_settles", "module_denied", "module_not_found", "require_esm", "denied", "disabled", "runtime_disabled", "sessions_disabled", "code_size", "guard", "too_many", "calls_per_turn", "energy", "not_approved", "withdrawn", "not_awaiting_input", "audit", "masking", "unknown_session", "malformed", "too_long", "unknown_type", "invalid", "unknown_run", "unknown_call", "not_found", "spawn_failed", "connection_lost", "closed", "run_ended"]
LIMITS: Sequence[str] = ["timeoutMs", "outputBytes", "resultBytes", "reportBytes", "callBytes", "maxCalls", "maxCallsInFlight", "maxConnections", "sentBytes", "receivedBytes", "connectMs", "idleMs"]
AGENT_LIMITS: Sequence[str] = ["timeoutMs", "memoryBytes", "outputBytes", "resultBytes"]

CODE_FIELDS: Sequence[Tuple[str, str]] = (
    ("language", "language"),
    ("filename", "text"),
    ("fn", "text"),
    ("args", "args"),
    ("globals", "variables"),
    ("imports", "imports"),
    ("modules", "sources"),
    ("report", "flag"),
)

RUN_FIELDS: Sequence[Tuple[str, str]] = (
    ("language", "language"),
    ("filename", "text"),
    ("fn", "text"),
    ("args", "args"),
    ("globals", "variables"),
    ("imports", "imports"),
    ("modules", "sources"),
    ("report", "flag"),
    ("stdin", "input"),
    ("files", "files"),
    ("take", "names"),
    ("profile", "text"),
    ("restricted", "flag"),
    ("allowedModules", "names"),
    ("net", "names"),
    ("workdir", "text"),
)

SESSION_EXECUTE_FIELDS: Sequence[Tuple[str, str]] = (
    ("filename", "text"),
    ("fn", "text"),
    ("args", "args"),
    ("globals", "variables"),
    ("imports", "imports"),
    ("modules", "sources"),
    ("report", "flag"),
    ("stdin", "input"),
    ("files", "files"),
    ("take", "names"),
    ("restricted", "flag"),
    ("allowedModules", "names"),
    ("net", "names"),
    ("reset", "flag"),
)

SESSION_OPEN_FIELDS: Sequence[Tuple[str, str]] = (
    ("language", "language"),
    ("profile", "text"),
    ("workdir", "text"),
)

AGENT_FIELDS: Sequence[Tuple[str, str]] = (
    ("language", "language"),
    ("args", "args"),
    ("files", "files"),
    ("take", "names"),
    ("restricted", "flag"),
    ("conversation", "id"),
    ("session", "session"),
    ("turn", "id"),
    ("purpose", "text"),
    ("expectedOutput", "text"),
    ("trace", "json"),
    ("tier", "choice"),
    ("onInput", "choice"),
)

INPUT_FIELDS: Sequence[Tuple[str, str]] = (
    ("conversation", "id"),
    ("session", "session"),
    ("turn", "id"),
    ("purpose", "text"),
)

RESULT_FIELDS: Sequence[Tuple[str, str, bool]] = (
    ("runId", "id", False),
    ("status", "status", False),
    ("result", "value", True),
    ("reports", "values", False),
    ("logs", "logs", False),
    ("displays", "displays", True),
    ("files", "files", True),
    ("stdout", "output", False),
    ("stderr", "output", False),
    ("exitCode", "integer", False),
    ("timedOut", "flag", False),
    ("truncated", "flag", False),
    ("error", "error", True),
    ("denials", "value", True),
    ("connections", "value", True),
    ("durationMs", "ms", False),
    ("memoryUsedBytes", "count", True),
)


class Limits(TypedDict, total=False):
    """The limits of a run; the settings have maxima for some."""

    timeout_ms: int
    """Maximum duration; a run that exceeds it is interrupted in a session, and terminated otherwise."""
    output_bytes: int
    """Output and console calls; the rest is cut and `truncated` is set."""
    result_bytes: int
    """The result."""
    report_bytes: int
    """All reports together."""
    call_bytes: int
    """The arguments of one call of a host function, or its answer."""
    max_calls: int
    """Calls of host functions in total."""
    max_calls_in_flight: int
    """Pending calls of host functions; together they may hold at most four times `callBytes`."""
    max_connections: int
    """Network: connections in total."""
    sent_bytes: int
    """Network: bytes that all connections together send."""
    received_bytes: int
    """Network: bytes that all connections together receive."""
    connect_ms: int
    """Network: time to look a name up and to connect."""
    idle_ms: int
    """Network: time in which a connection transfers nothing; it is closed then."""


class CodeOptions(TypedDict, total=False):
    """The options of run_code."""

    language: str
    """A language or alias of the table of docs/PROTOCOL.md; default: `typescript`."""
    filename: str
    """The name of the source in stack traces and `import.meta.url`, and the base of its relative imports; default: `<runCode>`."""
    fn: str
    """The export that is the result, called if it is a function; in a session: a function to call afterwards."""
    args: Sequence[Any]
    """The arguments of the function, or a script's parameters; those of an agent must not contain functions or promises."""
    globals: Mapping[str, Any]
    """Identifier to value: variables that are visible in all modules."""
    imports: Mapping[str, Any]
    """Specifier to name to value: modules for `import { name } from 'specifier'`; bare specifiers only."""
    modules: Mapping[str, str]
    """Relative specifier to source text: `{"./math.js":"export const one = 1"}`."""
    report: Callable[[Any], Any]
    """The code has a function `report(value)`."""
    memory_limit_bytes: int


class RunOptions(TypedDict, total=False):
    """The options of run."""

    language: str
    """A language or alias of the table of docs/PROTOCOL.md; default: `typescript`."""
    filename: str
    """The name of the source in stack traces and `import.meta.url`, and the base of its relative imports; default: `<runCode>`."""
    fn: str
    """The export that is the result, called if it is a function; in a session: a function to call afterwards."""
    args: Sequence[Any]
    """The arguments of the function, or a script's parameters; those of an agent must not contain functions or promises."""
    globals: Mapping[str, Any]
    """Identifier to value: variables that are visible in all modules."""
    imports: Mapping[str, Any]
    """Specifier to name to value: modules for `import { name } from 'specifier'`; bare specifiers only."""
    modules: Mapping[str, str]
    """Relative specifier to source text: `{"./math.js":"export const one = 1"}`."""
    report: Callable[[Any], Any]
    """The code has a function `report(value)`."""
    stdin: str
    """Python, shell, Node.js, Deno: the standard input of the program."""
    files: Mapping[str, Union[str, bytes]]
    """Python, shell, Node.js, Deno: path to text or bytes; created in the program's working directory."""
    take: Sequence[str]
    """Python, shell, Node.js, Deno: paths in the working directory of files that `files` of the result contains even if the code did not change them; `.` is a list of all files, one line "size path" each."""
    profile: str
    """Python: `stdlib`, `data` with numpy, pandas and matplotlib loaded, or a profile of the settings."""
    restricted: bool
    """Python, shell: reject risky constructs; a convenience, not a security boundary."""
    allowed_modules: Sequence[str]
    """Python with `restricted`, Node.js: the modules that the code may import; an empty array allows none; default: none in Python, `node:safe` in Node.js."""
    net: Sequence[str]
    """The hosts that the code can reach, each `name`, `name:port` or `*.domain`, within the setting `network.allowlist`: see [NETWORK.md](NETWORK.md); default: none."""
    workdir: str
    """A directory of this machine, `DIR` to read or `DIR:rw` to read and write: the code has it as `/box`, and no other directory; see [WORKDIR.md](WORKDIR.md); default: none."""
    timeout_ms: int
    """Maximum duration; a run that exceeds it is interrupted in a session, and terminated otherwise."""
    output_bytes: int
    """Output and console calls; the rest is cut and `truncated` is set."""
    result_bytes: int
    """The result."""
    report_bytes: int
    """All reports together."""
    call_bytes: int
    """The arguments of one call of a host function, or its answer."""
    max_calls: int
    """Calls of host functions in total."""
    max_calls_in_flight: int
    """Pending calls of host functions; together they may hold at most four times `callBytes`."""
    max_connections: int
    """Network: connections in total."""
    sent_bytes: int
    """Network: bytes that all connections together send."""
    received_bytes: int
    """Network: bytes that all connections together receive."""
    connect_ms: int
    """Network: time to look a name up and to connect."""
    idle_ms: int
    """Network: time in which a connection transfers nothing; it is closed then."""
    memory_limit_bytes: int
    on_output: Callable[[str, str], Any]


class SessionOptions(TypedDict, total=False):
    """The options of open_session."""

    language: str
    """A language or alias of the table of docs/PROTOCOL.md; default: `typescript`."""
    profile: str
    """Python: `stdlib`, `data` with numpy, pandas and matplotlib loaded, or a profile of the settings."""
    workdir: str
    """A directory of this machine, `DIR` to read or `DIR:rw` to read and write: the code has it as `/box`, and no other directory; see [WORKDIR.md](WORKDIR.md); default: none."""
    name: str
    conversation: str
    net: Sequence[str]
    reuse: bool


class SessionExecuteOptions(TypedDict, total=False):
    """The options of a run in a session."""

    filename: str
    """The name of the source in stack traces and `import.meta.url`, and the base of its relative imports; default: `<runCode>`."""
    fn: str
    """The export that is the result, called if it is a function; in a session: a function to call afterwards."""
    args: Sequence[Any]
    """The arguments of the function, or a script's parameters; those of an agent must not contain functions or promises."""
    globals: Mapping[str, Any]
    """Identifier to value: variables that are visible in all modules."""
    imports: Mapping[str, Any]
    """Specifier to name to value: modules for `import { name } from 'specifier'`; bare specifiers only."""
    modules: Mapping[str, str]
    """Relative specifier to source text: `{"./math.js":"export const one = 1"}`."""
    report: Callable[[Any], Any]
    """The code has a function `report(value)`."""
    stdin: str
    """Python, shell, Node.js, Deno: the standard input of the program."""
    files: Mapping[str, Union[str, bytes]]
    """Python, shell, Node.js, Deno: path to text or bytes; created in the program's working directory."""
    take: Sequence[str]
    """Python, shell, Node.js, Deno: paths in the working directory of files that `files` of the result contains even if the code did not change them; `.` is a list of all files, one line "size path" each."""
    restricted: bool
    """Python, shell: reject risky constructs; a convenience, not a security boundary."""
    allowed_modules: Sequence[str]
    """Python with `restricted`, Node.js: the modules that the code may import; an empty array allows none; default: none in Python, `node:safe` in Node.js."""
    net: Sequence[str]
    """The hosts that the code can reach, each `name`, `name:port` or `*.domain`, within the setting `network.allowlist`: see [NETWORK.md](NETWORK.md); default: none."""
    reset: bool
    """In a session: delete all definitions of earlier runs first."""
    timeout_ms: int
    """Maximum duration; a run that exceeds it is interrupted in a session, and terminated otherwise."""
    output_bytes: int
    """Output and console calls; the rest is cut and `truncated` is set."""
    result_bytes: int
    """The result."""
    report_bytes: int
    """All reports together."""
    call_bytes: int
    """The arguments of one call of a host function, or its answer."""
    max_calls: int
    """Calls of host functions in total."""
    max_calls_in_flight: int
    """Pending calls of host functions; together they may hold at most four times `callBytes`."""
    max_connections: int
    """Network: connections in total."""
    sent_bytes: int
    """Network: bytes that all connections together send."""
    received_bytes: int
    """Network: bytes that all connections together receive."""
    connect_ms: int
    """Network: time to look a name up and to connect."""
    idle_ms: int
    """Network: time in which a connection transfers nothing; it is closed then."""
    memory_limit_bytes: int
    on_output: Callable[[str, str], Any]
    on_prompt: Callable[[str, str], Any]


class AgentOptions(TypedDict, total=False):
    """The options of execute_for_agent."""

    language: str
    """A language or alias of the table of docs/PROTOCOL.md; default: `typescript`."""
    args: Sequence[Any]
    """The arguments of the function, or a script's parameters; those of an agent must not contain functions or promises."""
    files: Mapping[str, Union[str, bytes]]
    """Python, shell, Node.js, Deno: path to text or bytes; created in the program's working directory."""
    take: Sequence[str]
    """Python, shell, Node.js, Deno: paths in the working directory of files that `files` of the result contains even if the code did not change them; `.` is a list of all files, one line "size path" each."""
    restricted: bool
    """Python, shell: reject risky constructs; a convenience, not a security boundary."""
    conversation: str
    """The conversation of the request: sessions, trust and limits belong to a conversation."""
    session: Union[bool, str]
    """`true`: run in the conversation's session of this language, which is opened when the code runs if there is none; or the id of one of its sessions; default: run without a session."""
    turn: str
    """The turn of the model: the settings limit the executions per turn (`agent.callsPerTurn`)."""
    purpose: str
    """The agent's reason: shown with the request for approval, and recorded."""
    expected_output: str
    """The output that the agent expects: recorded."""
    trace: Any
    """The origin of the request, any value: recorded."""
    tier: str
    """`isolated` is the default; with `network`, the code can reach the hosts in the setting `network.allowlist`, see [NETWORK.md](NETWORK.md)."""
    on_input: str
    """The behaviour when code in a session waits for input; `end`, the default: the run ends at once, as `terminated` with the code `awaiting_input` and the prompt in the message; `wait`: it continues to wait, for an `input`."""
    timeout_ms: int
    """Maximum duration; a run that exceeds it is interrupted in a session, and terminated otherwise."""
    memory_bytes: int
    """Maximum memory: of the heap; in shell, Node.js and Deno, of all processes together."""
    output_bytes: int
    """Output and console calls; the rest is cut and `truncated` is set."""
    result_bytes: int
    """The result."""
    on_output: Callable[[str, str], Any]
    on_prompt: Callable[[str, str], Any]
    on_pending: Callable[[Any], Any]


class InputOptions(TypedDict, total=False):
    """The options of input_for_agent."""

    conversation: str
    """The conversation of the request: sessions, trust and limits belong to a conversation."""
    session: Union[bool, str]
    """`true`: run in the conversation's session of this language, which is opened when the code runs if there is none; or the id of one of its sessions; default: run without a session."""
    turn: str
    """The turn of the model: the settings limit the executions per turn (`agent.callsPerTurn`)."""
    purpose: str
    """The agent's reason: shown with the request for approval, and recorded."""
    on_pending: Callable[[Any], Any]
