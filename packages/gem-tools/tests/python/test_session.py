"""Programs that go on between calls."""

from __future__ import annotations

import textwrap
import time

from tests_support import host_processes, unique_nap

from gem_tools.python import Executor


def test_variables_stay(either):
    with either.session() as session:
        assert session.run("x = 41").ok
        assert session.run("x += 1\nprint(x)").stdout == "42\n"
        assert session.run("def f(): return x").ok
        assert session.run("import sys\nprint(f())").stdout == "42\n"


def test_sessions_do_not_share(executor):
    with executor.session() as one, executor.session() as two:
        one.run("x = 1")
        assert "NameError" in two.run("print(x)").stderr
        assert one.run("print(x)").stdout == "1\n"


def test_errors_keep_the_state(either):
    with either.session() as session:
        session.run("x = 1")
        failed = session.run("y = 2\n1 / 0")
        assert failed.exit_code == 1
        assert 'File "cell 2", line 2' in failed.stderr
        assert "zygote" not in failed.stderr
        assert "SyntaxError" in session.run("def f(:").stderr
        assert session.run("print(x, y)").stdout == "1 2\n"


def test_time_limit_interrupts_and_keeps_the_state(either):
    with either.session() as session:
        session.run("x = 1")
        late = session.run("print('begun')\nwhile True: pass", timeout=0.7)
        assert (late.reason, late.stdout, late.state_lost) == ("timeout", "begun\n", False)
        assert session.run("print(x)").stdout == "1\n"


def test_what_cannot_be_interrupted_is_ended(executor):
    with executor.session() as session:
        session.run("x = 1\nimport signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)")
        late = session.run("while True: pass", timeout=0.3)
        assert (late.reason, late.state_lost) == ("timeout", True)
        assert "NameError" in session.run("print(x)").stderr
        assert session.run("y = 1\nprint(y)").stdout == "1\n"


def test_death_loses_the_state(either):
    with either.session() as session:
        session.run("x = 1")
        assert session.run("import os; print('last', flush=True); os._exit(3)").stdout == "last\n"
        assert "NameError" in session.run("print(x)").stderr


def test_death_says_so(executor):
    with executor.session() as session:
        gone = session.run("import os; os._exit(3)")
        assert (gone.exit_code, gone.state_lost) == (3, True)
        killed = session.run("import os; os.kill(os.getpid(), 9)")
        assert (killed.reason, killed.signal, killed.state_lost) == ("signal", 9, True)


def test_system_exit_ends_the_piece_only(either):
    with either.session() as session:
        assert session.run("x = 1\nimport sys\nsys.exit(4)").exit_code == 4
        assert session.run("print(x)").stdout == "1\n"


def test_memory_bomb_ends_the_session():
    with Executor(slots=1, memory_mb=150) as pool, pool.session() as session:
        bomb = session.run(
            "x = []\ntry:\n  while True: x.append(bytearray(b'x' * 10**6))\nexcept MemoryError: pass\nwhile True: pass",
            timeout=20.0,
        )
        assert (bomb.reason, bomb.state_lost) == ("memory", True)


def test_output_of_each_piece_is_its_own(either):
    with either.session() as session:
        assert len(session.run("print('x' * 100_000)").stdout) < 17_000
        assert session.run("print('y')").stdout == "y\n"
        assert session.run("").stdout == ""


def test_files_stay_within_a_session(executor):
    with executor.session() as session:
        session.run("open('notes.txt', 'w').write('kept')")
        assert session.run("print(open('notes.txt').read())").stdout == "kept\n"
    with executor.session() as session:
        assert session.run("import os; print(os.listdir('.'))").stdout == "[]\n"


def test_sessions_do_not_use_up_the_slots():
    with Executor(slots=1) as pool, pool.session() as a, pool.session() as b:
        assert (a.run("print(1)").stdout, b.run("print(2)").stdout, pool.run("print(3)").stdout) == (
            "1\n",
            "2\n",
            "3\n",
        )


def test_background_threads_speak_in_a_later_piece(executor):
    with executor.session() as session:
        code = "import threading\nlate = threading.Timer(0.2, lambda: print('late', flush=True))\nlate.start()"
        assert session.run(code).stdout + session.run("late.join()").stdout == "late\n"


def test_nothing_goes_on_between_two_pieces(either):
    """Else a program could compute, and take memory, while nobody looks."""
    code = """
        import os, threading, time
        def tick(ticks):
            while True:
                ticks.append(time.monotonic())
                with open(str(os.getpid()), "w") as file:
                    print(max(b - a for a, b in zip(ticks, ticks[1:] or ticks)), file=file)
                time.sleep(0.01)
        threading.Thread(target=tick, args=([],), daemon=True).start()
        child = os.fork()
        if child == 0:
            tick([])
        def longest_pause(pid):
            while True:
                text = open(str(pid)).read()
                if text.endswith("\\n") and float(text) > 0.9:
                    return True
                time.sleep(0.01)
        """
    with either.session() as session:
        assert session.run(textwrap.dedent(code)).stderr == ""
        assert session.run("while not os.path.exists(str(child)): time.sleep(0.01)").ok
        time.sleep(1.0)
        assert session.run("print(longest_pause(os.getpid()), longest_pause(child))").stdout == "True True\n"


def test_closing_ends_everything(executor):
    nap = unique_nap()
    session = executor.session()
    session.run(f"import subprocess; subprocess.Popen(['sleep', '{nap}'])")
    while not host_processes(nap):
        time.sleep(0.02)
    session.close()
    session.close()
    assert host_processes(nap) == 0
    assert session.run("print(1)").stdout == "1\n"
    session.close()


def test_last_expression():
    with Executor(slots=1, show_last=True) as pool, pool.session() as session:
        assert session.run("x = 3\nx").stdout == "3\n"
        assert session.run("_ + 1").stdout == "4\n"
