from __future__ import annotations

import platform
import struct

import pytest
from hypothesis import given, strategies as st

from gem.errors import MissingDependency
from gem_tools.python.seccomp import (
    CLONE,
    CLONE3,
    DENIED,
    FAMILIES,
    MMAP,
    OWN_PROCESS,
    SETSOCKOPT,
    SOCKET,
    build_filter,
)

_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 0x00050001, 0x00050026, 0x00050061
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


def judge(program: bytes, number: int, argument: int, architecture: int, *others: int) -> int:
    """What the kernel would answer: the filter interpreted, instruction by instruction."""
    arguments = [argument, *others, 0, 0, 0, 0, 0][:6]
    data = struct.pack("<IIQQQQQQQ", number, architecture, 0, *arguments)
    position, value = 0, 0
    while True:
        code, if_true, if_false, k = struct.unpack_from("HBBI", program, 8 * position)
        position += 1
        if code == 0x20:
            value = struct.unpack_from("<I", data, k)[0]
        elif code == 0x06:
            return k
        else:
            holds = {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k)}[code]
            position += if_true if holds else if_false


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@given(number=st.integers(min_value=0, max_value=500), argument=st.integers(min_value=0, max_value=2**32 - 1))
def test_every_call_is_judged_by_the_tables(machine, number, argument):
    column, architecture = _ARCHITECTURES[machine]
    got = judge(build_filter(machine), number, argument, architecture)
    if number in {numbers[column] for numbers in DENIED.values()}:
        assert got == _EPERM
    elif number == CLONE3[column]:
        assert got == _ENOSYS
    elif number in {numbers[column] for numbers in OWN_PROCESS.values()}:
        assert got == (_EPERM if argument else _ALLOW)
    elif number == SOCKET[column]:
        assert got == (_ALLOW if argument in FAMILIES else _EAFNOSUPPORT)
    elif number == CLONE[column]:
        assert got == (_EPERM if argument & 0x7E020000 else _ALLOW)
    else:
        assert got == _ALLOW


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@given(argument=st.integers(min_value=0, max_value=50) | st.integers(min_value=0, max_value=2**32 - 1))
def test_families_of_sockets(machine, argument):
    column, architecture = _ARCHITECTURES[machine]
    got = judge(build_filter(machine), SOCKET[column], argument, architecture)
    assert got == (_ALLOW if argument in FAMILIES else _EAFNOSUPPORT)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize(("level", "option", "answer"), [(1, 7, 0x00050000), (1, 8, _ALLOW), (6, 7, _ALLOW)])
def test_how_much_a_socket_holds_is_left_alone(machine, level, option, answer):
    column, architecture = _ARCHITECTURES[machine]
    assert judge(build_filter(machine), SETSOCKOPT[column], 3, architecture, level, option) == answer


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@given(flags=st.integers(min_value=0, max_value=2**32 - 1))
def test_mappings(machine, flags):
    column, architecture = _ARCHITECTURES[machine]
    got = judge(build_filter(machine), MMAP[column], 0, architecture, 0, 0, flags)
    assert got == (_EPERM if flags & 0x21 == 0x21 or flags & 0x40000 else _ALLOW)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_denied_and_special_calls(machine):
    column, architecture = _ARCHITECTURES[machine]
    program = build_filter(machine)
    for numbers in DENIED.values():
        if numbers[column] >= 0:
            assert judge(program, numbers[column], 0, architecture) == _EPERM
    assert judge(program, 0, 0, 0x40000003) == _KILL


def test_the_other_numbering_is_denied():
    assert judge(build_filter("x86_64"), 0x40000000, 0, 0xC000003E) == _EPERM


def test_tables_name_each_number_once():
    for column in (0, 1):
        special = (SOCKET, SETSOCKOPT, MMAP, CLONE, CLONE3)
        numbers = [n[column] for n in [*DENIED.values(), *OWN_PROCESS.values(), *special] if n[column] >= 0]
        assert len(numbers) == len(set(numbers))


def test_unknown_processors_are_refused():
    with pytest.raises(MissingDependency, match="riscv64"):
        build_filter("riscv64")


def test_this_machine_is_known():
    assert build_filter() == build_filter(platform.machine())
