"""The isolation: which bubblewrap command encloses a warm interpreter, and what to do where it cannot."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field

from gem.errors import MissingDependency
from gem_tools.python.interpreter import Interpreter

#: What the system's libraries and programs consist of. ``/etc`` is left out but for these.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime")
#: Not /dev/zero: mapped and shared, it is memory that no count of a process's pages sees.
_DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
_CAP_SYS_ADMIN = 1 << 21
#: Identities for programs when we are root: one a slot, far from every real account.
_FIRST_UID, _UIDS = 1_000_000_000, 1_000_000_000
ZYGOTE = "/run/zygote.py"


@dataclass
class Enclosure:
    """How one slot is started."""

    command: list[str]
    #: The identity the zygote takes inside before anything runs; ``None`` where bubblewrap set it.
    inner_uid: int | None
    #: Keywords for ``subprocess.Popen``.
    popen: dict[str, object] = field(default_factory=dict)


def enclose(interpreter: Interpreter, readable: tuple[str, ...], fds: dict[str, int], number: int) -> Enclosure:
    """The command that starts a zygote in namespaces of its own.

    Args:
        readable: further files and folders that programs may read.
        fds: inheritable descriptors: ``control``, ``source`` (the zygote's text), ``passwd``, ``info``.
        number: tells slots of one process apart, as root each has its own user id.

    As root, bubblewrap keeps the user namespace and the zygote turns into a user nobody is. As an ordinary user,
    or root without the right to make namespaces, bubblewrap makes a user namespace in which there is one user.

    Raises:
        gem.MissingDependency: bubblewrap is not installed.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise MissingDependency(
            "the isolated Python backend needs bubblewrap: apt-get install bubblewrap "
            "(or choose backend='subprocess' if you trust the programs)"
        )
    command = [bwrap, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    command += [
        "--as-pid-1",
        "--new-session",
        "--hostname",
        "python",
        "--cap-drop",
        "ALL",
        "--cap-add",
        "CAP_SYS_ADMIN",
    ]
    uid, popen = None, {}
    if os.geteuid() == 0:
        uid = spare_uid(number)
    if uid is not None and capable(_CAP_SYS_ADMIN):
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", "--uid", "1000", "--gid", "1000"]
        if uid is not None:
            popen, uid = {"user": uid, "group": uid, "extra_groups": []}, None
    command += ["--info-fd", str(fds["info"]), *file_system(interpreter, readable, fds)]
    command += ["--", interpreter.executable, "-B", ZYGOTE, str(fds["control"])]
    return Enclosure(command, uid, popen)


def file_system(interpreter: Interpreter, readable: tuple[str, ...], fds: dict[str, int]) -> list[str]:
    """Arguments for a file system of the system's libraries, the interpreter, and nothing else, all read-only."""
    arguments = ["--tmpfs", "/tmp", "--tmpfs", "/dev"]  # first: what is readable may lie below
    for device in _DEVICES:
        arguments += ["--dev-bind", device, device]
    # Not bubblewrap's --dev: its terminals would put a second user namespace around us, and take away the mounts.
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        arguments += ["--symlink", f"/proc/self/{target}", f"/dev/{name}"]
    made: set[str] = {"/tmp", "/dev"}
    for path in _SYSTEM:
        if os.path.islink(path):
            arguments += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            arguments += ["--ro-bind", path, path]
    for path in [*(p for p in _ETC if os.path.exists(p)), *interpreter.paths(), *map(os.path.abspath, readable)]:
        if path.startswith("/usr/"):
            continue
        for parent in parents(path):
            if parent not in made and parent not in _SYSTEM:
                made.add(parent)
                arguments += ["--dir", parent]  # made by us, so that everybody may pass through
        arguments += ["--ro-bind", path, path]
    arguments += ["--ro-bind-data", str(fds["source"]), ZYGOTE, "--ro-bind-data", str(fds["passwd"]), "/etc/passwd"]
    arguments += ["--proc", "/proc", "--dir", "/dev/shm", "--remount-ro", "/dev", "--remount-ro", "/"]
    return arguments


def parents(path: str) -> list[str]:
    """The folders above a path, outermost first, without the root."""
    parts = path.strip("/").split("/")[:-1]
    return ["/" + "/".join(parts[: i + 1]) for i in range(len(parts))]


def capable(capability: int) -> bool:
    """Whether this process holds a capability."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("CapEff:"):
                return bool(int(line.split()[1], 16) & capability)
    return False


def spare_uid(number: int) -> int | None:
    """A user id that exists for nobody, different for every slot of every process; ``None`` where there is only one."""
    with open("/proc/self/uid_map") as mapping:
        ranges = [tuple(map(int, line.split())) for line in mapping]
    top = max(start + count for start, _, count in ranges)
    if top < 1000:
        return None
    if top > _FIRST_UID + _UIDS:
        return _FIRST_UID + (os.getpid() * 256 + number % 256) % _UIDS
    return top // 2 + (os.getpid() * 256 + number % 256) % (top // 2 - 1)


def explain(stderr: str) -> str:
    """One line for a start that failed: what is wrong and what to do."""
    lines = [line for line in stderr.strip().splitlines() if line.strip()]
    cause = lines[-1] if lines else "it ended without a word"
    if cause.startswith("bwrap: "):
        return (
            f"bubblewrap cannot isolate programs here ({cause}): allow user namespaces (sysctl "
            "kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0; in Docker "
            "--security-opt seccomp=unconfined --security-opt apparmor=unconfined), or choose backend='subprocess' "
            "if you trust the programs"
        )
    return (
        f"the isolated interpreter did not start ({cause}): check that every user can read it, "
        "or pass python=PATH of one"
    )
