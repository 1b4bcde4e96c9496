"""Start Streamlit's server with the app.

Streamlit reads `.streamlit/config.toml` beside the script it runs, so the settings (loopback
address, upload limits, no telemetry, theme) hold in whatever folder the command is called.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from explorer.core import folders


def entry_script() -> Path:
    """`app.py` with `.streamlit/` beside it: inside the installed package (the build puts both
    there), else at the top of the checkout."""
    installed = folders.PACKAGE / "app" / "entry" / "app.py"
    return installed if installed.exists() else folders.IMPORT_ROOT / "app.py"


def serve(options: Mapping[str, str | int]) -> int:
    """Serve the app until it is stopped.

    options: Streamlit's options by name, such as "server.port"; they override its config files
        and its environment variables.
    """
    from streamlit.web import cli

    flags = [f"--{name}={value}" for name, value in options.items()]
    sys.argv = ["streamlit", "run", str(entry_script()), *flags]
    return int(cli.main(standalone_mode=False) or 0)
