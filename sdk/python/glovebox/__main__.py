"""``python -m glovebox ...`` is the program ``glovebox``."""

import os
import sys

from ._errors import GloveboxError
from ._transport import find_program


def main() -> None:
    try:
        program = find_program(None)
    except GloveboxError as error:
        sys.exit(f"glovebox: {error}")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
