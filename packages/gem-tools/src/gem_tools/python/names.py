"""The usual names that programs use and forget to import, and the packages worth importing once for all programs."""

from __future__ import annotations

_MODULES = [
    "bisect",
    "calendar",
    "cmath",
    "collections",
    "copy",
    "csv",
    "datetime",
    "decimal",
    "fractions",
    "functools",
    "hashlib",
    "heapq",
    "io",
    "itertools",
    "json",
    "math",
    "operator",
    "os",
    "random",
    "re",
    "statistics",
    "string",
    "sys",
    "time",
    "typing",
]

_MEMBERS = {
    "bisect": "bisect_left bisect_right insort",
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "copy": "deepcopy",
    "decimal": "Decimal getcontext",
    "fractions": "Fraction",
    "functools": "cache cmp_to_key lru_cache partial reduce",
    "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    "itertools": "accumulate chain combinations combinations_with_replacement count cycle groupby islice pairwise "
    "permutations product repeat zip_longest",
    "math": "atan2 ceil comb factorial floor gcd inf isqrt lcm log log10 log2 perm pi prod sqrt",
    "operator": "iand itemgetter or_ sub xor",
    "os.path": "commonprefix",
    "random": "randint randrange shuffle",
    "string": "ascii_letters ascii_lowercase ascii_uppercase digits",
    "typing": "Any Callable Deque Dict Generator Iterable Iterator List Optional Set Tuple Union",
}

#: name -> ``"module"`` or ``"module:member"``
USUAL_NAMES: dict[str, str] = {
    **{name: name for name in _MODULES},
    **{member: f"{module}:{member}" for module, members in _MEMBERS.items() for member in members.split()},
    "np": "numpy",
    "numpy": "numpy",
    "pd": "pandas",
    "sp": "sympy",
    "sympy": "sympy",
    "re_search": "re:search",
}

#: What takes long to import: loaded into the warm interpreters once programs have asked for it.
HEAVY_PACKAGES = (
    "numpy",
    "sympy",
    "scipy",
    "pandas",
    "networkx",
    "asyncio",
    "calendar",
    "cmath",
    "concurrent",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "fractions",
    "hashlib",
    "inspect",
    "json",
    "logging",
    "multiprocessing",
    "pathlib",
    "random",
    "statistics",
    "subprocess",
    "tempfile",
    "typing",
    "unittest",
)

#: What every warm interpreter holds from the start: little enough to cost a fork nothing.
USUAL_MODULES = ("bisect", "collections", "functools", "heapq", "itertools", "math", "operator", "re", "string")
