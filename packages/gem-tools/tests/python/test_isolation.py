"""Attacks on the isolation: one test for each promise of ``docs/isolation.md``."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import time
from pathlib import Path

import pytest
from tests_support import host_processes, unique_nap

from gem_tools.python import Executor


@pytest.fixture(scope="module")
def one() -> Executor:
    """A single slot, so that each program runs where the last one did."""
    with Executor(slots=1, timeout=20.0) as pool:
        yield pool


def run(pool: Executor, code: str, **options):
    return pool.run(textwrap.dedent(code), **options)


def alive_everywhere(pool: Executor) -> str:
    """What is in a slot's process table: the warm interpreter and the asking program only."""
    return run(
        pool, "import os; print(sorted(n for n in os.listdir('/proc') if n.isdigit() and int(n) != os.getpid()))"
    ).stdout


# -- no network ----------------------------------------------------------------------------------------------


def test_no_network(one):
    result = run(
        one,
        """
        import socket
        for address in [("1.1.1.1", 53), ("127.0.0.1", 22), ("10.0.0.1", 80)]:
            try:
                socket.create_connection(address, 1)
                print("reached", address)
            except OSError as error:
                print("no")
        try:
            socket.getaddrinfo("example.com", 80); print("resolved")
        except OSError:
            print("no")
        print(socket.if_nameindex())
        """,
    )
    assert result.stdout.splitlines()[:4] == ["no"] * 4
    assert "eth" not in result.stdout


def test_abstract_sockets_of_the_host_are_out_of_reach(one):
    import socket

    name = f"\0gem-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        result = run(one, f"import socket; s = socket.socket(socket.AF_UNIX); s.connect({name!r}); print('reached')")
    assert "ConnectionRefusedError" in result.stderr


def test_sockets_that_no_namespace_holds_back_are_refused(one):
    """Above all vsock, at whose other end is the hypervisor."""
    result = run(
        one,
        """
        import socket
        made = set()
        for family in range(64):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
                try:
                    socket.socket(family, kind).close()
                    made.add(family)
                except OSError:
                    pass
        print(made - {socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK})
        """,
    )
    assert result.stdout == "set()\n"


# -- no secrets ----------------------------------------------------------------------------------------------


def test_no_environment(monkeypatch):
    monkeypatch.setenv("CANARY_KEY", "abc123secret")
    with Executor(slots=1, environment={"GIVEN": "yes"}) as pool:
        result = run(
            pool,
            """
            import os
            print(os.environ.get("CANARY_KEY"), os.environ["GIVEN"])
            for pid in [n for n in os.listdir("/proc") if n.isdigit()] + [str(os.getppid()), "self"]:
                try:
                    print(b"CANARY" in open(f"/proc/{pid}/environ", "rb").read())
                except OSError:
                    print("unreadable")
            """,
        )
    lines = result.stdout.splitlines()
    assert lines[0] == "None yes"
    assert "True" not in lines
    assert "unreadable" in lines  # the warm interpreter's


def test_no_files_of_the_host(one, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o644)
    for path in [secret, Path.cwd() / "pyproject.toml", "/etc/shadow", "/root/.ssh", "/var", "/sys", "/boot",
                 "/etc/hostname", Path(__file__)]:  # fmt: skip
        result = run(one, f"import os; print(os.path.exists({str(path)!r}))")
        assert result.stdout == "False\n", path


def test_links_and_dots_lead_nowhere(one, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("x")
    result = run(
        one,
        f"""
        import os
        os.symlink({str(secret)!r}, "a")
        os.symlink("/proc/1/root{secret}", "b")
        for path in ("a", "b", "../../../../../..{secret}", "/proc/self/root{secret}", "/proc/self/cwd/../..{secret}"):
            try:
                print(open(path).read())
            except OSError:
                print("no")
        """,
    )
    assert result.stdout == "no\n" * 5


def test_readable_files_are_those_asked_for(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.txt").write_text("text")
    (tmp_path / "b.txt").write_text("other")
    for path in [*tmp_path.parents, tmp_path, folder]:
        if os.access(path, os.W_OK) and str(path).startswith(str(tmp_path.parents[1])):
            path.chmod(0o755)
    with Executor(slots=1, readable=[folder]) as pool:
        assert run(pool, f"print(open({str(folder / 'a.txt')!r}).read())").stdout == "text\n"
        assert "Read-only" in run(pool, f"open({str(folder / 'new')!r}, 'w')").stderr or os.getuid() != 0
        assert "No such file" in run(pool, f"open({str(tmp_path / 'b.txt')!r})").stderr
    assert [p.name for p in folder.iterdir()] == ["a.txt"]


def test_file_descriptors_are_three(one):
    read, write = os.pipe()
    os.set_inheritable(read, True)
    try:
        with Executor(slots=1) as pool:
            code = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:-1])"
            assert run(pool, code).stdout == "[0, 1, 2]\n"
            assert run(pool, code, stdin="x").stdout == "[0, 1, 2]\n"
    finally:
        os.close(read)
        os.close(write)


def test_nothing_of_earlier_programs_in_memory(one):
    """A later program searches its memory, inherited from the warm interpreter, for what an earlier one was."""
    marker = secrets.token_hex(16)
    run(
        one,
        f"import sys\nx = '{marker}'\nprint(x * 3000)\nprint(x, file=sys.stderr)",
        stdin=marker,
        files={"f": marker},
    )
    one.call(f"def f(): return '{marker}'", "f")
    half, other = marker[:16], marker[16:]
    result = run(
        one,
        f"""
        found = 0
        with open("/proc/self/mem", "rb", 0) as memory:
            for line in open("/proc/self/maps"):
                fields = line.split()
                if fields[1].startswith("r") and "[v" not in line:
                    low, high = (int(x, 16) for x in fields[0].split("-"))
                    memory.seek(low)
                    try:
                        text = memory.read(high - low)
                    except OSError:
                        continue
                    at = text.find(b"{half}")
                    while at >= 0:
                        found += text[at + 16 : at + 32] == b"{other}"
                        at = text.find(b"{half}", at + 1)
        print(found)
        """,
    )
    assert result.stdout == "0\n", result.stderr


# -- its own file system -------------------------------------------------------------------------------------


def test_only_its_folders_can_be_written(one):
    result = run(
        one,
        """
        import os, sys
        for folder in ("/", "/usr", "/etc", "/dev", "/run", "/proc", os.path.dirname(os.__file__), sys.prefix):
            try:
                open(folder + "/new", "w")
                print("wrote", folder)
            except OSError:
                pass
        """,
    )
    assert result.stdout == ""
    assert result.ok


@pytest.mark.parametrize("folder", [".", "/tmp", "/dev/shm"])
def test_what_is_written_is_gone(one, folder):
    code = f"""
        import os
        os.chdir({folder!r})
        print(os.path.lexists("a"), os.path.lexists("link"), os.path.lexists("fifo"))
        os.makedirs("a/b/c")
        open("a/b/c/d", "w").write("x")
        os.symlink("/", "link")
        os.mkfifo("fifo")
        os.chmod("a/b", 0)
        """
    assert [run(one, code).stdout for _ in range(3)] == ["False False False\n"] * 3


def test_its_folder_cannot_be_replaced(one):
    before = run(one, "import os; print(os.listdir('/tmp'))").stdout
    for attack in (
        "os.rename('/tmp/program', '/tmp/other')",
        "os.rename('/tmp/program', '/tmp/other'); os.mkdir('/tmp/program')",
        "os.rmdir('/tmp/program')",
        "os.rename('/tmp/program', '/tmp/other'); os.symlink('/usr', '/tmp/program')",
        "os.chmod('/tmp/program', 0)",
        "[(os.mkdir('d'), os.chdir('d')) for _ in range(3000)]",
    ):
        run(one, f"import os\n{attack}")
        check = run(one, "import os; print(os.getcwd(), os.listdir('.')); print(os.listdir('/tmp')); open('x', 'w')")
        assert (check.stdout, check.stderr) == (f"/tmp/program []\n{before}", ""), attack


def test_disk_bomb():
    with Executor(slots=1, disk_mb=32, timeout=20.0) as pool:
        result = run(
            pool,
            """
            import os
            total = 0
            for folder in (".", "/tmp", "/dev/shm"):
                try:
                    for i in range(1000):
                        with open(f"{folder}/f{i}", "wb", 0) as f:
                            total += f.write(bytes(1 << 20))
                except OSError as error:
                    print(error.strerror)
            print(total >> 20)
            """,
        )
        assert result.stdout.count("No space left on device") == 3
        assert int(result.stdout.split()[-1]) <= 64
        assert run(pool, "import os; print(os.listdir('.')); open('y', 'w').write('x' * 1000000)").stdout == "[]\n"


def test_file_size_limit():
    with Executor(slots=1, file_mb=1) as pool:
        assert (
            "File too large"
            in run(pool, "open('big', 'wb', 0).write(bytes(1 << 20)); open('big', 'ab', 0).write(b'x')").stderr
        )


def test_inode_bomb(one):
    result = run(one, "for i in range(10**6): open(str(i), 'w').close()")
    assert "No space left on device" in result.stderr
    assert run(one, "import os; print(os.listdir('.'))").stdout == "[]\n"


def test_open_file_limit():
    with Executor(slots=1, open_files=20) as pool:
        code = """
            import os
            held = []
            try:
                while True:
                    held.append(os.open("/dev/null", os.O_RDONLY))
            except OSError as error:
                print(error.strerror, max(held))
            """
        assert [run(pool, code).stdout for _ in range(2)] == ["Too many open files 19\n"] * 2


def test_full_disk_does_not_stop_the_next_program(one):
    run(one, "import os\ntry:\n  f = open('x', 'wb', 0)\n  while f.write(bytes(1 << 20)): pass\nexcept OSError: 1 / 0")
    assert run(one, "print(input())", stdin="x").stdout == "x\n"


# -- its own processes ---------------------------------------------------------------------------------------


def test_processes_of_the_host_are_out_of_sight(one):
    result = run(one, "import os; print(os.getppid(), sorted(int(n) for n in os.listdir('/proc') if n.isdigit())[0])")
    assert result.stdout == "1 1\n"
    assert alive_everywhere(one) == "['1']\n"


def test_children_are_dead_when_it_returns(one):
    began, nap = time.monotonic(), unique_nap()
    result = run(one, f"__import__('subprocess').Popen(['sleep', '{nap}']); print('hi')")
    assert (result.stdout, result.ok) == ("hi\n", True)
    assert time.monotonic() - began < 10
    assert host_processes(nap) == 0
    assert alive_everywhere(one) == "['1']\n"


@pytest.mark.parametrize("limit", [None, 2.0])
def test_daemons_are_dead_when_it_returns(one, limit):
    nap = unique_nap()
    result = run(
        one,
        f"""
        import os, signal, sys, time
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        for _ in range(5):
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    os.execvp("sleep", ["sleep", "{nap}"])
                os._exit(0)
        print("hi", flush=True)
        if {limit}: time.sleep(60)
        """,
        timeout=limit or 20.0,
    )
    assert result.stdout == "hi\n"
    assert result.timed_out == (limit is not None)
    assert host_processes(nap) == 0
    assert alive_everywhere(one) == "['1']\n"


def test_fork_bomb(one):
    began = time.monotonic()
    result = run(
        one,
        """
        import os
        print("boom", flush=True)
        while True:
            try:
                os.fork()
            except OSError:
                pass
        """,
        timeout=1.0,
    )
    assert result.timed_out
    assert result.stdout == "boom\n"
    assert time.monotonic() - began < 30
    assert alive_everywhere(one) == "['1']\n"


def test_fork_bomb_whose_root_leaves(one):
    run(one, "import os\nfor _ in range(200):\n  try:\n    os.fork()\n  except OSError: pass\nos._exit(0)", timeout=5.0)
    assert alive_everywhere(one) == "['1']\n"


def test_process_limit():
    with Executor(slots=1, processes=8) as pool:
        code = """
            import os, time
            made = 0
            for _ in range(50):
                try:
                    if os.fork() == 0:
                        time.sleep(30)
                    made += 1
                except BlockingIOError:
                    pass
            print(made)
            """
        assert run(pool, code).stdout == "7\n"
        threads = "import threading as t, time\nfor i in range(50): t.Thread(target=time.sleep, args=(1,)).start()"
        assert "can't start new thread" in run(pool, threads).stderr


@pytest.mark.parametrize(
    "signal", ["SIGKILL", "SIGSTOP", "SIGTERM", "SIGINT", "SIGXCPU", "SIGSEGV", "SIGCHLD", "SIGPIPE"]
)
def test_the_warm_interpreter_cannot_be_signalled(one, signal):
    one.run("1")
    slot = one._idle[0]
    result = run(one, f"import os, signal\nfor _ in range(20): os.kill(1, signal.{signal})\nprint('alive')")
    assert result.stdout == "alive\n"
    assert run(one, "print(2)").stdout == "2\n"
    assert one._idle == [slot]


def test_killing_everything_kills_itself_only(one):
    one.run("1")
    slot = one._idle[0]
    run(one, "import os, signal; os.kill(-1, signal.SIGKILL)")
    run(one, "import os, signal; os.killpg(0, signal.SIGKILL)")
    assert run(one, "print(2)").stdout == "2\n"
    assert one._idle == [slot]


def test_the_warm_interpreter_cannot_be_read_or_traced(one):
    result = run(
        one,
        """
        import ctypes, os
        for name in ("mem", "environ", "maps", "fd/3", "cwd", "root", "exe"):
            try:
                open(f"/proc/1/{name}", "rb").read(1)
                print("read", name)
            except OSError:
                pass
        libc = ctypes.CDLL(None, use_errno=True)
        print(libc.ptrace(16, 1, 0, 0), ctypes.get_errno())
        buffer = ctypes.create_string_buffer(8)
        vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
        print(libc.process_vm_readv(1, vector, 1, vector, 1, 0), ctypes.get_errno())
        try:
            fd = os.pidfd_open(1)
            print(libc.syscall(438, fd, 3, 0), ctypes.get_errno())
        except OSError:
            print("-1 1")
        """,
    )
    assert result.stdout == "-1 1\n" * 3


def test_the_warm_interpreters_limits_and_priority_are_its_own(one):
    one.run("1")
    slot = one._idle[0]
    result = run(
        one,
        """
        import os, resource
        for attack in (
            lambda: resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0)),
            lambda: os.sched_setaffinity(1, {0}),
            lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
            lambda: os.setpriority(os.PRIO_USER, os.getuid(), 19),
            lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)),
        ):
            try:
                attack()
                print("done")
            except OSError as error:
                print(error.errno)
        resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))
        os.sched_setaffinity(0, os.sched_getaffinity(0))
        print("own")
        """,
    )
    assert result.stdout == "1\n" * 5 + "own\n"
    assert run(one, "print(2)").stdout == "2\n"
    assert one._idle == [slot]


def test_proc_has_no_levers(one):
    """Of all that ``/proc`` shows, a program can write to its own files only, and not its way out of being killed."""
    result = run(
        one,
        """
        import os
        # its own; and readings of the machine's load, which anybody may ask to be told of
        left_out = {"/proc/self", "/proc/thread-self", f"/proc/{os.getpid()}", "/proc/pressure"}
        # files that the kernel opens to everybody, and then refuses the writing
        refused = {"timerslack_ns", "ns_last_pid", "current", "exec", "fscreate", "keycreate", "sockcreate"}
        seen = 0
        for folder, folders, files in os.walk("/proc"):
            folders[:] = [name for name in folders if f"{folder}/{name}" not in left_out]
            for name in files:
                seen += 1
                try:
                    file = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_NONBLOCK)
                    if name in refused:
                        os.write(file, b"1000")
                    print("opened", folder, name)
                except OSError:
                    pass
        print(seen > 100)
        for name, value in (("oom_score_adj", "-1000"), ("uid_map", "0 0 1"), ("setgroups", "allow")):
            try:
                with open(f"/proc/self/{name}", "w") as file:
                    file.write(value)
                print("wrote", name)
            except OSError:
                pass
        """,
    )
    assert (result.stdout, result.stderr) == ("True\n", "")


def test_answers_cannot_be_forged(one):
    """There is no descriptor to write an answer to, and none can be taken back."""
    code = """
        import os
        for fd in range(3, 256):
            try:
                os.write(fd, b"E" * 200)
                print("wrote to", fd)
            except OSError:
                pass
        os.closerange(0, 256)
        """
    result = run(one, code)
    assert (result.stdout, result.exit_code) == ("", 0)
    assert run(one, "print(1)").stdout == "1\n"


def test_its_streams_may_be_broken(one):
    for code in ("import os; os.close(0); os.close(1); os.close(2); print(1)",
                 "import fcntl, os; fcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK)",
                 "import sys; sys.stdout = sys.stderr = None", "import sys; sys.stdout.close()",
                 "import sys; del sys.stdout", "import builtins; builtins.print = builtins.open = None",
                 "import fcntl; fcntl.fcntl(1, 1031, 4096)"):  # fmt: skip
        assert run(one, code).reason == "exit"
        assert run(one, "print('x' * 100000)").stdout_bytes == 100001


def test_programs_at_the_same_time_do_not_meet():
    import threading

    with Executor(slots=2, timeout=20.0) as pool:
        code = """
            import os, signal, time
            end = time.time() + 1.5
            here = set(os.listdir("/tmp"))  # the way to an interpreter that lies below /tmp, perhaps
            seen = set()
            while time.time() < end:
                seen |= {n for n in os.listdir("/proc") if n.isdigit()} | set(os.listdir("/tmp")) - here
                for pid in range(2, 400):
                    if pid != os.getpid():
                        try:
                            os.kill(pid, signal.SIGKILL)
                            print("killed", pid)
                        except OSError:
                            pass
            print(len(seen))
            """
        results = []
        threads = [threading.Thread(target=lambda: results.append(run(pool, code))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [r.stdout for r in results] == ["2\n", "2\n"]  # the warm interpreter and the program itself


@pytest.mark.parametrize("backend", ["isolated", "subprocess"])
def test_a_trainer_with_many_open_files_hands_none_on(backend):
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(200)]
    code = """
        import os
        names = []
        for name in sorted(os.listdir("/proc/self/fd"), key=int):
            try:
                names.append((int(name), os.readlink(f"/proc/self/fd/{name}").split(":")[0]))
            except OSError:
                pass  # the listing's own
        print([(number, kind) for number, kind in names if number > 2])
        """
    try:
        with Executor(backend, slots=1, timeout=20.0) as pool:
            for stdin in ("", "x"):
                assert run(pool, code, stdin=stdin).stdout == "[]\n"
            with pool.session() as session:
                kinds = session.run("import os\nprint(len(os.listdir('/proc/self/fd')))").stdout
            assert int(kinds) <= 6  # streams, the session's own wire, the listing
    finally:
        for descriptor in held:
            os.close(descriptor)


# -- its own rights ------------------------------------------------------------------------------------------


def test_no_capabilities_and_no_way_to_them(one):
    result = run(
        one,
        """
        import os
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        print({k: int(status[k], 16) for k in ("CapInh", "CapPrm", "CapEff", "CapAmb")}, status["NoNewPrivs"].strip())
        print(status["Seccomp"].strip(), os.getuid() != 0, os.getgroups() in ([], [os.getgid()], [65534], [65534] * 2))
        try:
            os.setuid(0)
        except OSError:
            print("no")
        """,
    )
    assert result.stdout == "{'CapInh': 0, 'CapPrm': 0, 'CapEff': 0, 'CapAmb': 0} 1\n2 True True\nno\n"


def test_no_new_namespaces_mounts_or_kernel_objects(one):
    result = run(
        one,
        """
        import ctypes, os, platform
        libc = ctypes.CDLL(None, use_errno=True)
        x86 = platform.machine() == "x86_64"
        calls = {
            "unshare": lambda: libc.unshare(0x10000000),
            "clone": lambda: libc.syscall(56 if x86 else 220, 0x10000000 | 17, 0, 0, 0, 0),
            "mount": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None),
            "bpf": lambda: libc.syscall(321 if x86 else 280, 0, 0, 0),
            "memfd": lambda: libc.memfd_create(b"x", 0),
            "shm": lambda: libc.shmget(0, 4096, 0o1600),
            "keyring": lambda: libc.syscall(248 if x86 else 217, b"user", b"k", b"v", 1, -4),
            "io_uring": lambda: libc.syscall(425, 8, ctypes.create_string_buffer(256)),
            "perf": lambda: libc.syscall(298 if x86 else 241, ctypes.create_string_buffer(128), 0, -1, -1, 0),
        }
        for name, call in calls.items():
            got = call()
            if got == 0 and name == "clone":
                os._exit(0)
            if got != -1 or ctypes.get_errno() != 1:
                print(name, got, ctypes.get_errno())
        """,
    )
    assert (result.stdout, result.stderr) == ("", "")


def test_the_other_system_call_numbers_are_denied_too(one):
    """They alias the usual ones on x86_64, and exist nowhere else."""
    result = run(
        one,
        "import ctypes; l = ctypes.CDLL(None, use_errno=True); print(l.syscall(0x40000000 + 39), ctypes.get_errno())",
    )
    assert result.stdout == ("-1 1\n" if os.uname().machine == "x86_64" else "-1 38\n")


# -- memory --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("one object", "x = bytearray(10**10)"),
        ("list", "x = [0] * 10**10"),
        ("growing", "x = []\nwhile True: x.append(bytearray(b'x' * 10**6))"),
        ("mapped", "import mmap; m = mmap.mmap(-1, 10**10, flags=mmap.MAP_PRIVATE)"),
        ("string", "x = 'ab'\nwhile True: x += x"),
    ],
)
def test_memory_bomb(name, code):
    with Executor(slots=1, memory_mb=200, timeout=20.0) as pool:
        result = run(pool, code)
        assert result.reason == "memory" or "MemoryError" in result.stderr or "Cannot allocate" in result.stderr
        assert result.peak_mb < 800
        assert run(pool, "print(1)").stdout == "1\n"


def test_memory_is_counted_for_all_processes_together():
    with Executor(slots=1, memory_mb=200, timeout=20.0) as pool:
        result = run(
            pool,
            """
            import os, time
            print("before", flush=True)
            for _ in range(10):
                if os.fork() == 0:
                    x = bytearray(b"x" * (60 << 20))
                    time.sleep(30)
            time.sleep(30)
            """,
        )
        assert result.reason == "memory"
        assert result.stdout == "before\n"
        assert "memory" in result.message


def test_memory_that_no_count_sees_is_refused(one):
    """What is mapped without a file and shared stays, and is in nobody's pages, when all but one is unmapped."""
    result = run(
        one,
        """
        import ctypes, mmap, os
        for flags in (mmap.MAP_SHARED, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, 0x40000 | mmap.MAP_PRIVATE, 0x03):
            try:
                mmap.mmap(-1, 1 << 21, flags=flags)
                print("mapped", flags)
            except OSError as error:
                print(error.strerror)
        print(os.path.exists("/dev/zero"))
        libc = ctypes.CDLL(None, use_errno=True)
        print(libc.vmsplice(1, None, 0, 0), ctypes.get_errno())
        with open("file", "w+b") as file:
            file.truncate(1 << 21)
            mmap.mmap(file.fileno(), 1 << 21)  # counted as a file
        mmap.mmap(-1, 1 << 21, flags=mmap.MAP_PRIVATE)
        """,
    )
    assert (result.stdout, result.stderr) == ("Operation not permitted\n" * 4 + "False\n-1 1\n", "")


@pytest.mark.parametrize("kind", ["local", "tcp", "udp"])
def test_what_waits_in_sockets_is_memory(kind):
    """No process's pages, and without a limit of its own far more than all of them."""
    with Executor(slots=1, memory_mb=40, timeout=30.0) as pool:
        result = run(
            pool,
            f"""
            import os, socket, time
            held, big, kind = [], 1 << 30, {kind!r}
            server = socket.create_server(("127.0.0.1", 0))
            print("before", flush=True)
            for _ in range(16):
                if os.fork() == 0:
                    break
            while True:
                if kind == "local":
                    pair = socket.socketpair()
                elif kind == "tcp":
                    pair = socket.create_connection(server.getsockname()), server.accept()[0]
                else:
                    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                    one.bind(("127.0.0.1", 0))
                    one.connect(one.getsockname())
                    pair = one, one
                held += pair
                for end in pair:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, big)
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, big)
                    end.setblocking(False)
                    try:
                        for _ in range(1000):
                            end.send(b"x" * 60000)
                    except OSError:
                        pass
            """,
        )
        assert (result.reason, result.stdout) == ("memory", "before\n")
        assert run(pool, "import socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(9))").stdout == "b'x'\n"


def test_shared_pages_are_counted_once():
    with Executor(slots=1, memory_mb=300, timeout=20.0) as pool:
        result = run(
            pool,
            """
            import os, time
            x = bytearray(b"x" * (150 << 20))
            for _ in range(4):
                if os.fork() == 0:
                    time.sleep(0.5)
                    os._exit(0)
            for _ in range(4):
                os.wait()
            print("fine")
            """,
        )
        assert result.stdout == "fine\n", result


# -- where it can and cannot work ----------------------------------------------------------------------------


def test_missing_bubblewrap(monkeypatch):
    from gem import errors

    monkeypatch.setenv("PATH", "/nowhere")
    with (
        Executor(slots=1) as pool,
        pytest.raises(errors.MissingDependency, match="apt-get install bubblewrap") as caught,
    ):
        pool.run("print(1)")
    assert "\n" not in str(caught.value)


def test_kernel_without_namespaces(monkeypatch, tmp_path):
    """Bubblewrap is there and cannot work: one line that says so, and never a run without isolation."""
    from gem import errors

    fake = tmp_path / "bwrap"
    fake.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace, likely because the kernel' >&2\nexit 1\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    folders = len(os.listdir("/proc/self/fd"))
    with Executor(slots=1) as pool:
        for _ in range(3):
            with pytest.raises(errors.MissingDependency, match=r"user namespaces.*backend='subprocess'") as caught:
                pool.run("print(1)")
            assert "\n" not in str(caught.value)
            assert "No permissions to create new namespace" in str(caught.value)
    assert len(os.listdir("/proc/self/fd")) == folders


def test_kernel_that_refuses_namespaces():
    """The same with the real bubblewrap, below a filter that does what such kernels and containers do."""
    code = """
        import ctypes, os, struct
        from gem.errors import MissingDependency
        from gem_tools.python import Executor, seccomp
        seccomp.DENIED = {"unshare": seccomp.DENIED["unshare"]}
        seccomp.OWN_PROCESS = {}
        program = seccomp.build_filter()  # new namespaces, and nothing else
        buffer = ctypes.create_string_buffer(program, len(program))
        libc = ctypes.CDLL(None)
        assert libc.prctl(38, 1, 0, 0, 0) == 0
        fprog = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
        assert libc.prctl(22, 2, fprog, 0, 0) == 0
        with Executor(slots=1) as pool:
            try:
                print(pool.run("print('it ran')"))
            except MissingDependency as error:
                print(error)
        with Executor("subprocess", slots=1) as pool:
            print(pool.run("print('by choice')").stdout, end="")
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120, check=True
    )
    refusal, chosen = done.stdout.splitlines()
    assert refusal.startswith("bubblewrap cannot isolate programs here (bwrap: ")
    assert "allow user namespaces" in refusal
    assert chosen == "by choice"


@pytest.mark.parametrize("parent", ["/tmp", None])
def test_interpreter_in_an_environment(tmp_path, parent):
    """An environment may lie anywhere, below the folders that programs write to as well."""
    import venv

    with tempfile.TemporaryDirectory(dir=parent or tmp_path) as folder:
        venv.create(f"{folder}/environment")
        Path(folder, "secret").write_text("x")
        with Executor(slots=1, python=f"{folder}/environment/bin/python") as pool:
            code = f"""
                import os, sys
                print(sys.prefix, os.path.exists({folder + "/secret"!r}), os.listdir("."))
                open("x", "w")
                try:
                    open({folder + "/new"!r}, "w")
                except OSError:
                    pass
                """
            expected = f"{folder}/environment False []\n"
            assert [run(pool, code).stdout for _ in range(3)] == [expected] * 3
        assert sorted(os.listdir(folder)) == ["environment", "secret"]


def test_interpreter_that_does_not_run():
    from gem import errors

    with (
        Executor(slots=1, python="/nowhere/python") as pool,
        pytest.raises(errors.MissingDependency, match="pass python="),
    ):
        pool.run("1")


@pytest.fixture
def public_folder():
    """A folder that every user can read; pytest's own are closed to others, whenever it starts anew."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def public_python(folder: Path) -> Path:
    """A copy of the running interpreter that every user can read, wherever that one is installed."""
    base = Path(sys.base_prefix).resolve()
    program = Path(sys.executable).resolve()
    copy = folder / program.relative_to(base)
    copy.parent.mkdir(parents=True)
    shutil.copy2(program, copy)
    extensions = [Path(path).resolve().parent for path in sys.path if path.endswith("lib-dynload")]
    for library in {Path(os.__file__).resolve().parent, *extensions}:
        leave_out = shutil.ignore_patterns("__pycache__", "site-packages", "dist-packages", "test", "config-*")
        shutil.copytree(library, folder / library.relative_to(base), ignore=leave_out, dirs_exist_ok=True)
    for library in Path(sysconfig.get_config_var("LIBDIR")).glob("libpython3*.so*"):
        shutil.copy2(library, folder / "lib")  # of a Python that is linked with it
    return copy


@pytest.mark.parametrize("who", ["nobody", "root without rights"] if os.geteuid() == 0 else ["whoever runs the tests"])
def test_as_an_ordinary_user(public_folder, who):
    """The same attacks by a caller who is nobody, or powerless: namespaces come from a user namespace then."""
    python = public_python(public_folder / "python")
    packages = public_folder / "packages"
    for name in ("gem", "gem_tools", "pluggy"):
        source = Path(__import__(name).__file__).parent
        shutil.copytree(source, packages / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in [public_folder, *public_folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() or path == python else 0o644)
    code = """
        import os
        from gem_tools.python import Executor
        os.environ["CANARY_KEY"] = "abc"
        libraries = {"LD_LIBRARY_PATH": os.environ["LD_LIBRARY_PATH"]}
        with Executor(slots=1, timeout=20.0, environment=libraries) as pool:
            code = "import os; print(os.getuid(), os.environ.get('CANARY_KEY'), os.getppid())"
            print(os.getuid(), pool.run(code).stdout)
            print(pool.run("import socket; socket.create_connection(('127.0.0.1', 22), 1)").stderr.splitlines()[-1])
            code = "import os\\nos.kill(1, 9); os.mkdir('x'); print(open('/proc/self/status').read())"
            print(pool.run(code).stdout.count("CapEff:\\t0000000000000000"))
            slot = pool._idle[0]
            print(pool.run("open('/new', 'w')").stderr.splitlines()[-1])
            print(pool.run("import os\\nwhile True:\\n  try: os.fork()\\n  except OSError: pass", timeout=1.0).reason)
            code = "import os; print(sorted(n for n in os.listdir('/proc') if n.isdigit())[0], os.listdir('.'))"
            print(pool.run(code).stdout)
            print(pool._idle == [slot])
    """
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(packages),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LD_LIBRARY_PATH": str(public_folder / "python" / "lib"),
    }
    command, options = [str(python), "-c", textwrap.dedent(code)], {}
    if who == "nobody":
        options = {"user": 65534, "group": 65534, "extra_groups": []}
    elif who == "root without rights":
        command = ["setpriv", "--bounding-set", "-sys_admin", *command]
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, timeout=120, **options)
    assert done.stderr == ""
    lines = [line for line in done.stdout.splitlines() if line]
    caller = {"nobody": 65534}.get(who, os.getuid())
    assert lines[0] == f"{caller} 1000 None 1"
    assert "Connection refused" in lines[1]
    assert lines[2] == "1"
    assert "Read-only file system" in lines[3]
    assert lines[4:] == ["timeout", "1 []", "True"]


# -- nothing leaks -------------------------------------------------------------------------------------------


def test_ten_thousand_runs_leak_nothing(one):
    one.run("1")
    slot = one._idle[0]

    def state() -> tuple[int, str, str]:
        inside = "import os; print(len(os.listdir('/proc/self/fd')), os.listdir('/tmp'), os.listdir('/dev/shm'))"
        return len(os.listdir("/proc/self/fd")), one.run(inside).stdout, alive_everywhere(one)

    before = state()
    for i in range(2000):
        assert one.run("print(input())", str(i)).stdout == f"{i}\n"
    assert [r.stdout for r in one.run_many("print(input())", map(str, range(8000)))] == [f"{i}\n" for i in range(8000)]
    assert state() == before
    assert one._idle == [slot]
    zygote = int(Path(f"/proc/self/fdinfo/{slot._finalizer.peek()[2][3][0]}").read_text().split("Pid:")[1].split()[0])
    assert len(os.listdir(f"/proc/{zygote}/fd")) < 10
