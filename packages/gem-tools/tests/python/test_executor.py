"""What a run returns, and what is left of it."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from tests_support import host_processes, unique_nap

from gem.errors import MissingDependency
from gem_tools.python import Case, Executor, zygote
from gem_tools.python.executor import big_int, heavy_packages, told
from gem_tools.python.slot import Slot

# -- ordinary programs -------------------------------------------------------------------------------------


def test_output_and_status(either):
    result = either.run("print(1 + 1)")
    assert (result.stdout, result.stderr, result.exit_code, result.reason, result.ok) == ("2\n", "", 0, "exit", True)
    assert result.wall_s > 0
    assert result.cpu_s > 0
    assert result.peak_mb > 1


@pytest.mark.parametrize(
    ("code", "stdin", "expected"),
    [
        ("import sys\nn=int(input())\nprint(n*2)\nsys.exit()", "4\n", "8\n"),
        ("print('never call os.kill')", "", "never call os.kill\n"),
        (
            "import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(2**27)\n"
            "def f(n): return 0 if n == 0 else 1 + f(n - 1)\n"
            "t = threading.Thread(target=lambda: print(f(20000)))\nt.start()\nt.join()",
            "",
            "20000\n",
        ),
        ("import sys\nfor line in sys.stdin: print(int(line) + 1)", "1\n2\n3", "2\n3\n4\n"),
        ("import sys; sys.stdout.buffer.write(b'5\\n')", "", "5\n"),
        ("import sys; print(len(sys.stdin.buffer.read()))", "x" * 300_000, "300000\n"),
        ("print(open(0).read().upper())", "abc", "ABC\n"),
        ("if __name__ == '__main__': print(__file__.endswith('main.py'))", "", "True\n"),
        ("import sys; print(sys.argv)", "", "['main.py']\n"),
        ("def f():\n  return g()\ndef g():\n  return 3\nprint([f() for _ in range(2)])", "", "[3, 3]\n"),
        ("import multiprocessing as m\nwith m.Pool(2) as p: print(p.map(abs, [-1, -2]))", "", "[1, 2]\n"),
        (
            "import multiprocessing as m\nfrom multiprocessing.shared_memory import SharedMemory\n"
            "v, a, s = m.Value('i', 1), m.Array('d', 3), SharedMemory(create=True, size=9)\n"
            "def f(): v.value += 1; a[1] = 2.5; s.buf[0] = 7\n"
            "p = m.Process(target=f)\np.start()\np.join()\nprint(v.value, a[:], s.buf[0])\ns.close()\ns.unlink()",
            "",
            "2 [0.0, 2.5, 0.0] 7\n",
        ),
        ("import subprocess, sys\nprint(subprocess.check_output([sys.executable, '-c', 'print(7)']))", "", "b'7\\n'\n"),
        ("from concurrent.futures import ThreadPoolExecutor as T\nprint(sum(T().map(abs, [-1, 2])))", "", "3\n"),
        ("import asyncio\nasync def f(): return 4\nprint(asyncio.run(f()))", "", "4\n"),
        (
            "from threading import Thread\nimport time\nThread(target=lambda: time.sleep(.1) or print('late')).start()",
            "",
            "late\n",
        ),
        ("import atexit; atexit.register(print, 'bye'); print('hi')", "", "hi\nbye\n"),
        ("out = open(1, 'w'); out.write('unflushed')", "", "unflushed"),
        ("import io, sys\nsys.stdout = io.StringIO()\nprint(1)\nsys.stdout = sys.__stdout__\nprint(2)", "", "2\n"),
        ("for i in range(1000): print(i)", "", "".join(f"{i}\n" for i in range(1000))),
        ("print('é', flush=True); print('日本')", "", "é\n日本\n"),
        ("import dataclasses\n@dataclasses.dataclass\nclass A:\n  x: int\nprint(A(1))", "", "A(x=1)\n"),
        ("import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))).__name__)", "", "A\n"),
        ("print(sorted({'b', 'a'}))", "", "['a', 'b']\n"),
    ],
)  # fmt: skip
def test_correct_programs_run(either, code, stdin, expected):
    result = either.run(code, stdin)
    assert (result.stdout, result.stderr) == (expected, "")


def test_large_integers_print(either):
    assert either.run("print(2**20000)").stdout.strip().isdigit()
    assert len(either.run("print(2**20000)").stdout) == 6022


def test_bytes_that_are_not_utf8_are_replaced(either):
    assert either.run(r"import sys; sys.stdout.buffer.write(b'caf\xe9\xff')").stdout == "caf��"


def test_standard_error_is_kept_apart(either):
    result = either.run("import sys; print('e', file=sys.stderr); print('o')")
    assert (result.stdout, result.stderr) == ("o\n", "e\n")


@pytest.mark.parametrize(
    ("code", "status", "stderr"),
    [
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit(-1)", 255, ""),
        ("import sys; sys.exit('no')", 1, "no\n"),
        ("import sys; sys.exit(None)", 0, ""),
        ("import os; os._exit(4)", 4, ""),
        ("exit(5)", 5, ""),
        ("raise SystemExit", 0, ""),
    ],
)
def test_exit_statuses(either, code, status, stderr):
    result = either.run(code)
    assert (result.exit_code, result.stderr, result.ok) == (status, stderr, status == 0)


def test_death_by_signal(either):
    result = either.run("import os, signal; print('x', flush=True); os.kill(os.getpid(), signal.SIGSEGV)")
    assert (result.reason, result.signal, result.exit_code, result.stdout) == ("signal", signal.SIGSEGV, None, "x\n")
    assert "SIGSEGV" in result.message


def test_traceback_begins_at_the_program(either):
    result = either.run("def f():\n    return 1 / 0\n\nf()\n")
    assert result.exit_code == 1
    assert result.stderr.startswith(
        'Traceback (most recent call last):\n  File "main.py", line 4, in <module>\n    f()'
    )
    assert "return 1 / 0" in result.stderr
    assert result.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert "zygote" not in result.stderr


@pytest.mark.parametrize(
    ("code", "error"),
    [("def f(:", "SyntaxError"), ("print('\x00')", "null byte"), ("print('\ud800')", "surrogates not allowed"),
     ("(" * 5000, "parenthes"), ("print(foo)", "NameError: name 'foo' is not defined")],
)  # fmt: skip
def test_bad_source_is_an_outcome(either, code, error):
    result = either.run(code)
    assert result.exit_code == 1
    assert error in result.stderr
    assert "zygote" not in result.stderr


@settings(max_examples=60)
@given(code=st.one_of(st.text(max_size=200), st.binary(max_size=200)), stdin=st.one_of(st.text(), st.binary()))
def test_anything_is_a_program(executor, code, stdin):
    result = executor.run(code, stdin)
    assert result.reason in ("exit", "signal", "timeout")


@settings(max_examples=40)
@given(data=st.binary(max_size=3000))
def test_stdin_arrives_as_it_is(executor, data):
    result = executor.run("import sys; print(sys.stdin.buffer.read().hex())", data)
    assert result.stdout.strip() == data.hex()


def test_a_program_is_run_once(either, monkeypatch):
    """An error that the published tool retried: the program must not see a second life."""
    asked = []
    ask = Slot.ask
    monkeypatch.setattr(Slot, "ask", lambda self, what, *rest: asked.append(what) or ask(self, what, *rest))
    result = either.run("print(foo)")
    assert result.stderr.endswith("NameError: name 'foo' is not defined\n")
    assert asked == [zygote.PLAIN]


def test_usual_imports_are_supplied(either):
    assert either.run("print(math.sqrt(4), Counter('aa'), gcd(4, 6))").stdout == "2.0 Counter({'a': 2}) 2\n"
    assert either.run("def f():\n  return sqrt(9)\nprint(f())").stdout == "3.0\n"
    assert either.run("count = 3\nprint(count)").stdout == "3\n"


def test_usual_imports_can_be_left_out():
    with Executor(slots=1, supply_imports=False) as pool:
        assert "NameError" in pool.run("print(math.pi)").stderr


def test_a_usual_name_of_a_package_that_is_not_there():
    with Executor(slots=1, preload=[]) as pool:
        result = pool.run("print(pd)", files={"pandas.py": "raise ImportError('broken')"})
        assert "NameError: name 'pd' is not defined" in result.stderr


def test_last_expression_is_shown_on_demand(executor):
    assert executor.run("x = 2\nx * 3").stdout == ""
    with Executor(slots=1, show_last=True) as pool:
        assert pool.run("x = 2\nx * 3").stdout == "6\n"
        assert pool.run("x = 2").stdout == ""
        assert pool.run("").stdout == ""
        assert "SyntaxError" in pool.run("1 +").stderr


def test_files_and_arguments(either):
    files = {"helper.py": "VALUE = 5", "data/in.txt": b"\xff"}
    code = "import helper, sys\nprint(helper.VALUE, open('data/in.txt', 'rb').read(), sys.argv[1:])"
    assert either.run(code, files=files, argv=["a", "b"]).stdout == "5 b'\\xff' ['a', 'b']\n"


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", ".", "a\0b"])
def test_files_stay_in_the_folder(executor, name):
    with pytest.raises(ValueError, match="not a path inside"):
        executor.run("", files={name: ""})


def test_each_run_is_fresh(either):
    code = "import os, sys\nprint(os.listdir('.'), hasattr(os, 'mark'))\nos.mark = 1\nopen('junk.txt', 'w').write('x')"
    assert [either.run(code).stdout for _ in range(4)] == ["[] False\n"] * 4


def test_random_numbers_differ_between_runs(either):
    code = "import random; print(random.random())"
    assert len({either.run(code).stdout for _ in range(6)}) == 6
    numpy = "import numpy as np; print(np.random.rand())"
    assert len({either.run(numpy).stdout for _ in range(6)}) == 6


@pytest.mark.parametrize(
    "code",
    [
        "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, ()))",
        "print(__import__('signal').pthread_sigmask(0, ()))",
        "exec('imp' + 'ort signal; print(signal.pthread_sigmask(0, ()))')",
        "print(set() if b'PATH=' in open('/proc/self/environ', 'rb').read() else 'not its own')",
        "print(set() if os.access('/proc/self/environ', os.R_OK) else 'not its own')",  # os is supplied
        f"import os; print(os.sched_getaffinity(0) - {os.sched_getaffinity(0)})",
        f"import os; print({os.sched_getaffinity(0)} - os.sched_getaffinity(0))",
    ],
)
def test_whoever_can_look_at_the_process_finds_it_its_own(either, code):
    assert either.run(code).stdout == "set()\n"


def test_the_callers_folder_is_untouched(either, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = either.run("x = 1\n" * 2000 + "open('junk.txt', 'w').write('x'); print('done')")
    assert result.stdout == "done\n"
    assert list(tmp_path.iterdir()) == []


def test_the_running_interpreter_is_used(either):
    assert either.run("import sys; print(sys.executable, sys.prefix)").stdout == f"{sys.executable} {sys.prefix}\n"
    assert either.run("import numpy; print(numpy.__version__)").ok


# -- limits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tail", ["while True: pass", "import time; time.sleep(60)", "sum(range(10**13))",
                                  "import signal; signal.pause()",
                                  "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
                                  "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
                                  "import sys\ntry:\n  while True: pass\nexcept BaseException: pass"])  # fmt: skip
def test_time_limit_keeps_partial_output(either, tail):
    began = time.monotonic()
    result = either.run(f"print('first')\n{tail}", timeout=0.5)
    assert (result.stdout, result.reason, result.timed_out, result.exit_code) == ("first\n", "timeout", True, None)
    assert result.message == "Execution timed out after 0.5 seconds."
    assert 0.5 <= result.wall_s < 10
    assert time.monotonic() - began < 20


def test_buffered_output_is_flushed_at_the_limit(either):
    """Beyond the lines written at once, what is in the buffer is still said."""
    result = either.run("for i in range(1000): print(i)\nprint('end of it', end='')\nwhile True: pass", timeout=0.5)
    assert result.stdout.endswith("999\nend of it")


def test_waiting_does_not_count():
    with Executor(slots=1, timeout=5.0) as pool:
        results = []
        threads = [
            threading.Thread(target=lambda: results.append(pool.run("import time; time.sleep(0.4)", timeout=1.5)))
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [r.reason for r in results] == ["exit"] * 6


def test_cpu_limit():
    with Executor(slots=1, timeout=30.0, cpu_s=1) as pool:
        result = pool.run("print('busy')\nwhile True: pass")
        assert (result.reason, result.stdout) == ("cpu", "busy\n")
        assert "CPU" in result.message


def test_output_keeps_head_and_tail(either):
    result = either.run("print('HEAD' + 'x' * 200_000_000 + 'TAIL')")
    assert result.truncated
    assert result.stdout_bytes == 200_000_009
    assert result.stdout.startswith("HEADxxx")
    assert result.stdout.endswith("xxxTAIL\n")
    assert f"[{200_000_009 - 16384} bytes left out]" in result.stdout
    assert len(result.stdout) < 17_000


@pytest.mark.parametrize("extra", [-1, 0, 1, 5000, 8192, 8193, 70_000])
def test_output_around_the_cap_is_exact(executor, extra):
    size = 16384 + extra
    code = f"import sys; sys.stdout.write(''.join(chr(97 + i % 26) for i in range({size})))"
    text = "".join(chr(97 + i % 26) for i in range(size))
    result = executor.run(code)
    if extra <= 0:
        assert result.stdout == text
        return
    head, _, tail = result.stdout.partition(f"\n... [{extra} bytes left out] ...\n")
    assert (head, tail) == (text[:8192], text[-8192:])


def test_endless_output_costs_no_memory(executor):
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    executor.run("1")
    before = resident()
    result = executor.run("while True: print('y' * 1000)", timeout=1.0)
    assert result.timed_out
    assert result.stdout_bytes > 1_000_000
    assert len(result.stdout) < 17_000
    assert resident() - before < 50_000_000


def test_limits_are_checked():
    for options in ({"timeout": 0}, {"memory_mb": 0}, {"slots": 0}, {"output_kb": 0}, {"backend": "none"}):
        with pytest.raises(ValueError, match="must be"):
            Executor(**options)


# -- many runs of one program --------------------------------------------------------------------------------


def test_run_many(either):
    results = either.run_many("print(int(input()) ** 2)", ["1", "2", "3"])
    assert [r.stdout for r in results] == ["1\n", "4\n", "9\n"]


@pytest.mark.parametrize("workers", [1, 2])
def test_run_many_stops_on_demand(executor, workers):
    results = executor.run_many("print(input())", map(str, range(30)), until=lambda i, r: i == 3, workers=workers)
    assert [r.stdout for r in results] == ["0\n", "1\n", "2\n", "3\n"]


def test_run_many_compiles_once_and_keeps_tracebacks(executor):
    results = executor.run_many("n = int(input())\nprint(1 // n)", ["1", "0", "2"])
    assert [r.stdout for r in results] == ["1\n", "", "0\n"]
    assert "print(1 // n)" in results[1].stderr


def test_run_many_with_bad_source(executor):
    assert ["SyntaxError" in r.stderr for r in executor.run_many("def", ["1", "2"])] == [True, True]


def test_run_many_of_nothing(executor):
    assert executor.run_many("print(1)", []) == []


def test_call_returns_values(either):
    assert either.call("def f(a, b): return a + b", "f", [1, 2]).value == 3
    nested = either.call("class Solution:\n  def g(self, x): return {'a': [x, None, 1.5], 'b': (1, {2})}", "g", ["é"])
    assert nested.value == {"a": ["é", None, 1.5], "b": [1, [2]]}
    assert either.call("def f(): return 2 ** 20000", "f").value == 2**20000
    assert either.call("import numpy as np\ndef f(): return np.arange(2), np.float64(1.5)", "f").value == [[0, 1], 1.5]
    none = either.call("def f(): print('said')", "f")
    assert (none.value, none.has_value, none.stdout) == (None, True, "said\n")


def test_call_faults_are_outcomes(either):
    missing = either.call("x = 1", "f")
    assert (missing.has_value, missing.ok) == (False, False)
    assert "defines no function 'f'" in missing.stderr
    assert "ZeroDivisionError" in either.call("def f(): 1 / 0", "f").stderr
    assert not either.call("def f(): return object()", "f").has_value
    assert not either.call("import os\ndef f(): os._exit(0)", "f").has_value
    assert not either.call("import os\nos.write(3, b'[1')\nos._exit(0)", "f").has_value


def test_call_many(executor):
    cases = [Case(function="f", args=[i]) for i in range(4)]
    assert [r.value for r in executor.run_many("def f(x): return x * x", cases)] == [0, 1, 4, 9]


def test_huge_values_are_refused(executor):
    result = executor.call("def f(): return 'x' * (17 << 20)", "f")
    assert not result.has_value


# -- threads, processes, ends --------------------------------------------------------------------------------


def test_many_threads(executor):
    results: dict[int, str] = {}

    def work(i: int) -> None:
        results[i] = executor.run(f"print({i})").stdout

    threads = [threading.Thread(target=work, args=(i,)) for i in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {i: f"{i}\n" for i in range(40)}


def test_a_thread_that_started_an_interpreter_may_end():
    with Executor(slots=1) as pool:
        thread = threading.Thread(target=pool.run, args=("print(1)",))
        thread.start()
        thread.join()
        slot = pool._idle[0]
        assert pool.run("print(2)").stdout == "2\n"
        assert pool._idle == [slot]


def test_prepared_once_for_all():
    with Executor(slots=2) as pool:
        threads = [threading.Thread(target=pool.prepare) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (slot,) = pool._idle
        assert pool.run("print(1)").stdout == "1\n"
        assert pool._idle == [slot]
    with pytest.raises(ValueError, match="closed"):
        pool.prepare()


def test_closed_executor(executor):
    pool = Executor(slots=1)
    assert pool.run("print(1)").ok
    pool.close()
    pool.close()
    with pytest.raises(ValueError, match="closed"):
        pool.run("print(1)")


def test_a_forgotten_executor_ends_its_interpreters():
    pool = Executor(slots=1)
    pool.run("1")
    pid = pool._idle[0]._finalizer.peek()[2][2].pid
    del pool
    gc.collect()
    assert gone(pid)


@pytest.mark.parametrize("backend", ["isolated", "subprocess"])
def test_close_ends_what_runs(backend):
    pool = Executor(backend, slots=1, timeout=60.0)
    results, nap = [], unique_nap()
    code = f"import subprocess; subprocess.run(['sleep', '{nap}'])"
    thread = threading.Thread(target=lambda: results.append(pool.run(code)))
    thread.start()
    while not host_processes(nap):
        time.sleep(0.02)
    pool.close()
    thread.join(20)
    assert [r.reason for r in results] == ["lost"]
    assert host_processes(nap) == 0


def test_lost_interpreter_is_replaced():
    """Whatever takes an interpreter away between two runs, the next run has another."""
    with Executor(slots=1) as pool:
        pool.run("1")
        pool._idle[0].close()
        assert pool.run("print(1)").stdout == "1\n"


def test_interrupted_caller_leaves_a_working_pool():
    code = (
        "import signal, threading, os\n"
        "from gem_tools.python import Executor\n"
        "pool = Executor(slots=1)\n"
        "pool.run('1')\n"
        "try:\n    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    pool.run('while True: pass', timeout=60.0)\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
        "print(pool.run('print(3)').stdout)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["interrupted", "3"], done.stderr


def test_fork_of_the_caller():
    """A forked child has interpreters of its own, and leaves its parent's alone."""
    with Executor(slots=1) as pool:
        assert pool.run("print(1)").ok
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.write(write, pool.run("print('child')").stdout.encode())
                pool.close()
            finally:
                os._exit(0)
        os.close(write)
        os.waitpid(pid, 0)
        assert os.read(read, 100) == b"child\n"
        os.close(read)
        slot = pool._idle[0]
        assert pool.run("print('parent')").stdout == "parent\n"
        assert pool._idle == [slot]


def test_a_forked_child_does_not_keep_interpreters_alive():
    code = (
        "import os, time, sys\n"
        "from gem_tools.python import Executor\n"
        "pool = Executor(slots=1, environment={'MARK': 'x'}); pool.run('1')\n"
        "print(pool._idle[0]._finalizer.peek()[2][2].pid, flush=True)\n"
        "if os.fork() == 0: time.sleep(20); os._exit(0)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True)
    pid = int(child.stdout.readline())
    child.wait(20)
    assert gone(pid)
    os.killpg(child.pid, signal.SIGKILL)
    child.stdout.close()


@pytest.mark.parametrize("backend", ["isolated", "subprocess"])
@pytest.mark.parametrize("running", [False, True])
def test_killed_caller_leaves_nothing(backend, running, tmp_path):
    nap = unique_nap()
    program = "import subprocess; subprocess.run(['sleep', '%s'])"
    code = (
        "import os, time\n"
        "from gem_tools.python import Executor\n"
        f"pool = Executor({backend!r}, slots=1, timeout=300); pool.run('1')\n"
        "print(pool._idle[0]._finalizer.peek()[2][2].pid, flush=True)\n"
        f"if {running}: pool.run({program!r} % os.environ['NAP'])\n"
        "time.sleep(300)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path), "NAP": nap}
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
    pid = int(child.stdout.readline())
    while running and not host_processes(nap):
        time.sleep(0.02)
    child.kill()
    child.wait()
    child.stdout.close()
    assert gone(pid)
    assert host_processes(nap) == 0
    assert list(tmp_path.iterdir()) == []


def test_exit_leaves_nothing():
    code = (
        "from gem_tools.python import Executor\n"
        "pool = Executor(slots=1); pool.run('1')\n"
        "print(pool._idle[0]._finalizer.peek()[2][2].pid, flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert gone(int(done.stdout))


def gone(pid: int) -> bool:
    for _ in range(1000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True  # dead, and waiting for whoever adopted it
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_what_the_subprocess_backend_leaves(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Executor("subprocess", slots=1) as pool:
        pool.run("import os\nos.makedirs('a/b')\nos.chmod('a', 0)")
        pool.run("import os\nos.chmod('.', 0)")
        assert pool.run("import os; print(os.listdir('.'))").stdout == "[]\n"
    assert list(tmp_path.iterdir()) == []


def test_pickle_and_copy_keep_settings():
    pool = Executor(slots=3, timeout=7.0, memory_mb=300)
    for twin in (pickle.loads(pickle.dumps(pool)), copy.deepcopy(pool)):
        assert (twin.slots, twin.timeout, twin.backend) == (3, 7.0, "isolated")
        assert twin is not pool


def test_packages_are_loaded_once_programs_ask_for_them():
    with Executor(slots=1) as pool:
        code = "import sys; was = 'numpy' in sys.modules\nimport numpy\nprint(was)"
        assert [pool.run(code).stdout for _ in range(3)] == ["False\n", "True\n", "True\n"]
    with Executor(slots=1, preload=["fractions", "no_such_module"]) as pool:
        assert pool.run("import sys; print('fractions' in sys.modules)").stdout == "True\n"
        assert [pool.run(code).stdout for _ in range(3)] == ["False\n"] * 3


@pytest.mark.parametrize(
    "code",
    [
        "import asyncio\nasync def f(): await asyncio.sleep(0); return 1\nprint(asyncio.run(f()))",
        "import multiprocessing as m\nwith m.Pool(2) as p: print(sum(p.map(abs, [-1, 0])))",
        "import multiprocessing as m\nq = m.Queue()\np = m.Process(target=q.put, args=(1,))\np.start()\n"
        "print(q.get())\np.join()",
        "from concurrent.futures import ProcessPoolExecutor as P\nwith P(2) as p: print(p.submit(abs, -1).result())",
        "from concurrent.futures import ThreadPoolExecutor as T\nprint(T(2).submit(abs, -1).result())",
        "import tempfile\nwith tempfile.NamedTemporaryFile('w+') as f: print(1)",
        "import subprocess\nprint(subprocess.run(['echo', '1'], capture_output=True, text=True).stdout.strip())",
        "import threading, os\nt = threading.Thread(target=print, args=(1,))\nt.start()\nt.join()\n"
        "pid = os.fork()\nif pid == 0: os._exit(0)\nos.waitpid(pid, 0)",
        "import logging, sys\nlogging.basicConfig(format='%(message)s', stream=sys.stdout)\nlogging.warning('1')",
        "import unittest, sys\nclass A(unittest.TestCase):\n  def test(self): print(1)\n"
        "unittest.main(argv=['x'], exit=False, verbosity=0)",
    ],
)
def test_packages_work_after_they_are_loaded_for_all(code):
    """What a package sets up at import, it must find right in every fork of where it was imported."""
    with Executor(slots=1, timeout=20.0) as pool:
        results = [pool.run(code) for _ in range(4)]
        assert [(r.stdout.strip(), r.reason, r.exit_code) for r in results] == [("1", "exit", 0)] * 4, results[
            -1
        ].stderr
        assert len(pool._idle) == 1


@pytest.fixture
def deadly(tmp_path):
    """Options with which ``import networkx`` kills a warm interpreter, and only that."""
    (tmp_path / "networkx.py").write_text("import os\nif os.getpid() == 1: os._exit(1)\n")
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    return {"slots": 1, "environment": {"PYTHONPATH": str(tmp_path)}, "readable": [tmp_path]}


def test_an_import_that_kills_the_interpreter(deadly):
    with Executor(**deadly) as pool:
        assert [pool.run("import networkx\nprint(1)").stdout for _ in range(4)] == ["1\n"] * 4
    with Executor(preload=["networkx"], **deadly) as pool, pytest.raises(MissingDependency, match="networkx"):
        pool.run("1")


def test_what_a_program_imports_is_recognised():
    assert heavy_packages(b"import numpy as np\nfrom sympy import *\n", True) == ["numpy", "sympy"]
    assert heavy_packages(b"x = 'import numpy'\n", True) == []
    assert heavy_packages(b"print(np.pi)", True) == ["numpy"]
    assert heavy_packages(b"print(np.pi)", False) == []


def test_what_a_fork_is_told():
    with Executor() as pool:
        assert told(b"print(1 + 1)", pool) == {"source": b"print(1 + 1)"}
        assert told(b"x = sqrt(math.pi)", pool)["imports"] == {"sqrt": "math:sqrt", "math": "math"}
        assert "imports" not in told(b"import numpy as np\nimport math\nnp.pi", pool)
        assert told(b"import numpy\nnp.pi", pool)["imports"] == {"np": "numpy"}
        assert "imports" not in told(b"x = {}\ny = x.copy()", pool)
        assert told(b"import random", pool)["random"]
        assert told(b"f = open(1, 'w')", pool)["thorough"]
        assert told(b"print(__file__)", pool)["file"]
        assert told(b"\xff\x00", pool) == {"source": b"\xff\x00"}


def test_a_request_that_is_not_read_to_its_end_ends_the_interpreter():
    """Else the rest of one program would be taken for the next request."""
    with Executor(slots=1) as pool:
        pool.run("1")
        slot = pool._idle[0]
        slot.control.settimeout(20)
        slot.control.sendall(zygote.REQUEST.pack(zygote.RUN, 5.0, 4) + b"????" + b"R" * 40)
        assert not slot._receive_reply().alive
        slot.close()
        assert pool.run("print(1)").stdout == "1\n"
        assert pool._idle != [slot]


@given(st.integers(min_value=-(10**9), max_value=10**9), st.integers(min_value=0, max_value=9000))
def test_integers_of_any_length(mantissa, exponent):
    assert big_int(str(mantissa) + "0" * min(exponent, 100)) == mantissa * 10 ** min(exponent, 100)


def test_integers_beyond_the_reading_limit():
    assert big_int("-" + "7" * 9000) == -(7 * (10**9000 - 1) // 9)
