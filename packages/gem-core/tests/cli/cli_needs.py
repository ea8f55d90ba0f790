"""An environment whose package needs a module that nobody has."""

import no_such_module_of_gem  # noqa: F401
from cli_toys import Count as Count
