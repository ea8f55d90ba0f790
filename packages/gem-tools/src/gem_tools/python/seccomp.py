"""The system calls a program may not make, as a seccomp filter.

Namespaces hide the machine; this filter keeps programs off the kernel's rarely used doors, out of new
namespaces, off sockets that no namespace holds back (vsock reaches the hypervisor), and away from what would outlive
a run (System V objects, keyrings) or escape the memory accounts.
Everything else is allowed: ordinary Python, subprocesses, threads and sockets never notice it.
"""

from __future__ import annotations

import errno
import platform
import struct

from gem.errors import MissingDependency

#: name -> number on x86_64, number on aarch64 (-1: does not exist there).
DENIED: dict[str, tuple[int, int]] = {
    # other processes' memory and descriptors
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "migrate_pages": (256, 238), "move_pages": (279, 239),
    # other processes' priorities
    "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274),
    # namespaces and mounts
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    # the machine
    "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "sethostname": (170, 161),
    "setdomainname": (171, 162), "init_module": (175, 105), "delete_module": (176, 106),
    "finit_module": (313, 273), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "acct": (163, 89),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "quotactl": (179, 60),
    "syslog": (103, 116), "iopl": (172, -1), "ioperm": (173, -1),
    # large and seldom used parts of the kernel
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "fanotify_init": (300, 262),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    # what outlives a run, or holds memory that no process is charged for
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180), "keyctl": (250, 219),
    "add_key": (248, 217), "request_key": (249, 218), "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "vmsplice": (278, 75),
}  # fmt: skip

#: Allowed on the caller itself (first argument 0) only.
OWN_PROCESS: dict[str, tuple[int, int]] = {"prlimit64": (302, 261), "sched_setaffinity": (203, 122)}
SOCKET = (41, 198)
#: AF_UNIX, AF_INET, AF_INET6, AF_NETLINK.
FAMILIES = (1, 2, 10, 16)
#: How much a local socket may hold cannot be seen from outside: what it is at first it stays (the call does nothing).
SETSOCKOPT = (54, 208)
SOL_SOCKET, SO_SNDBUF = 1, 7
MMAP = (9, 222)
#: What is mapped without a file and shared stays in memory when most of it is unmapped, where no count of a process's
#: pages sees it; huge pages are in no count at all.
MAP_SHARED, MAP_ANONYMOUS, MAP_HUGETLB = 0x01, 0x20, 0x40000
CLONE = (56, 220)
CLONE3 = (435, 435)
#: CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
NEW_NAMESPACES = 0x7E020000

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE = 0, 4
_FIRST_ARGUMENT, _SECOND_ARGUMENT, _THIRD_ARGUMENT, _FOURTH_ARGUMENT = 16, 24, 32, 40


def build_filter(machine: str | None = None) -> bytes:
    """The filter as an array of ``struct sock_filter`` (8 bytes each).

    Raises:
        gem.MissingDependency: this processor's system calls are not known here.
    """
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        raise MissingDependency(
            f"the isolated Python backend knows {' and '.join(_ARCHITECTURES)}, not {machine}; "
            "choose backend='subprocess' if you trust the programs"
        )
    column, architecture = _ARCHITECTURES[machine]
    deny = _statement(_RETURN, _FAIL | errno.EPERM)
    program = [
        _statement(_LOAD, _ARCHITECTURE),
        _jump(_JUMP_EQUAL, architecture, 1, 0),
        _statement(_RETURN, _KILL),
        _statement(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":  # the x32 numbers alias the others
        program += [_jump(_JUMP_GREATER_EQUAL, 0x40000000, 0, 1), deny]
    # glibc falls back to clone, whose flags can be seen from here
    program += [_jump(_JUMP_EQUAL, CLONE3[column], 0, 1), _statement(_RETURN, _FAIL | errno.ENOSYS)]
    for numbers in DENIED.values():
        if numbers[column] >= 0:
            program += [_jump(_JUMP_EQUAL, numbers[column], 0, 1), deny]
    for numbers in OWN_PROCESS.values():
        program += [
            _jump(_JUMP_EQUAL, numbers[column], 0, 4),
            _statement(_LOAD, _FIRST_ARGUMENT),
            _jump(_JUMP_EQUAL, 0, 1, 0),
            deny,
            _statement(_RETURN, _ALLOW),
        ]
    allow = _statement(_RETURN, _ALLOW)
    program += [
        _jump(_JUMP_EQUAL, SOCKET[column], 0, len(FAMILIES) + 3),
        _statement(_LOAD, _FIRST_ARGUMENT),
        *(_jump(_JUMP_EQUAL, family, len(FAMILIES) - i, 0) for i, family in enumerate(FAMILIES)),
        _statement(_RETURN, _FAIL | errno.EAFNOSUPPORT),
        allow,
        _jump(_JUMP_EQUAL, SETSOCKOPT[column], 0, 6),
        _statement(_LOAD, _SECOND_ARGUMENT),
        _jump(_JUMP_EQUAL, SOL_SOCKET, 0, 3),
        _statement(_LOAD, _THIRD_ARGUMENT),
        _jump(_JUMP_EQUAL, SO_SNDBUF, 0, 1),
        _statement(_RETURN, _FAIL),
        allow,
        _jump(_JUMP_EQUAL, MMAP[column], 0, 6),
        _statement(_LOAD, _FOURTH_ARGUMENT),
        _jump(_JUMP_SET, MAP_HUGETLB, 2, 0),
        _jump(_JUMP_SET, MAP_ANONYMOUS, 0, 2),
        _jump(_JUMP_SET, MAP_SHARED, 0, 1),
        deny,
        allow,
        _jump(_JUMP_EQUAL, CLONE[column], 0, 3),
        _statement(_LOAD, _FIRST_ARGUMENT),
        _jump(_JUMP_SET, NEW_NAMESPACES, 0, 1),
        deny,
        allow,
    ]
    return b"".join(program)


def _statement(code: int, value: int) -> bytes:
    return struct.pack("HBBI", code, 0, 0, value)


def _jump(code: int, value: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
