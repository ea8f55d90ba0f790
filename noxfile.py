"""Every check of the repository, for one package or for all of them.

nox                         everything that continuous integration runs
nox -s tests -- gem-core    the tests of one package, alone with what it declares
nox -s tests-gem-core -- -k vector    the same with arguments for pytest
nox -t gem-core             every check of one package
nox -s quickstart           an agent learns a game
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))

from packages import Package, all_packages, closure, select  # noqa: E402

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["lint", "types", "layering", "tests", "together", "quickstart", "wheels"]

CONSTRAINTS = ["--constraint", str(ROOT / "tools" / "constraints.txt")]
TEST_TOOLS = ["pytest>=8", "hypothesis>=6.100", "pytest-timeout>=2.3"]


def install(session: nox.Session, packages: list[Package], *requirements: str, editable: bool = False) -> None:
    """Install packages of this repository by path, with what they declare from the index."""
    paths = [part for p in packages for part in (["--editable"] if editable else []) + [str(p.folder)]]
    # Only pip: other resolvers replace a CPU build of torch by a CUDA build of several gigabytes.
    session.install("--quiet", *CONSTRAINTS, *paths, *requirements)


def pytest(session: nox.Session, *arguments: str) -> None:
    # One thread for numerical libraries: small products are slower on several, and CI machines are shared.
    session.run("python", "-m", "pytest", "-q", "--timeout=300", *arguments, env={"OMP_NUM_THREADS": "1"})


def split_posargs(session: nox.Session) -> tuple[list[Package], list[str]]:
    """``-- gem-core gem-rl -k vector``: the packages named first, and what is left for the tool."""
    names = []
    rest = list(session.posargs)
    while rest and not rest[0].startswith("-"):
        names.append(rest.pop(0))
    return select(names), rest


def fan_out(name: str) -> Callable[[nox.Session], None]:
    def dispatch(session: nox.Session) -> None:
        packages, rest = split_posargs(session)
        for package in packages:
            session.notify(f"{name}-{package.name}", posargs=rest)

    return dispatch


# -- one package at a time ------------------------------------------------------------------------------


@nox.session(venv_backend="none")
def tests(session: nox.Session) -> None:
    """Test each package alone, with only what it declares: nox -s tests -- gem-core."""
    fan_out("tests")(session)


@nox.session(venv_backend="none")
def wheels(session: nox.Session) -> None:
    """Build each wheel, install it in a clean environment outside the checkout, use it: nox -s wheels -- gem-core."""
    fan_out("wheel")(session)


def test_package(package: Package) -> Callable[[nox.Session], None]:
    def run(session: nox.Session) -> None:
        install(session, closure(package, tests=True), *TEST_TOOLS, *package.test_requirements_elsewhere)
        pytest(session, str(package.folder / "tests"), *session.posargs)

    run.__doc__ = f"Test {package.name} alone."
    return run


def wheel_of(package: Package) -> Callable[[nox.Session], None]:
    def run(session: nox.Session) -> None:
        session.install("--quiet", "build")
        # Siblings come from wheels built here, never from an index: there, somebody else may own the name.
        wheels = [str(built_wheel(session, needed)) for needed in closure(package)]
        with tempfile.TemporaryDirectory(prefix="gem-wheel-") as outside, session.chdir(outside):
            session.run("python", "-m", "venv", "clean", silent=True)
            python = str(Path(outside) / "clean" / ("Scripts" if sys.platform == "win32" else "bin") / "python")
            session.run(python, "-m", "pip", "install", "--quiet", *CONSTRAINTS, *wheels, external=True)
            session.run(python, "-I", "-c", package.smoke, external=True)

    run.__doc__ = f"Build and use the wheel of {package.name}."
    return run


def built_wheel(session: nox.Session, package: Package) -> Path:
    """The wheel of a package, built unless it is newer than all that it is made of."""
    dist = ROOT / "dist" / package.name
    made_of = max(f.stat().st_mtime for f in package.folder.rglob("*") if f.is_file() and "__pycache__" not in f.parts)
    wheels = sorted(dist.glob("*.whl"), key=lambda wheel: wheel.stat().st_mtime)
    if not wheels or wheels[-1].stat().st_mtime < made_of:
        session.run("python", "-m", "build", "--wheel", "--outdir", str(dist), str(package.folder), silent=True)
        wheels = sorted(dist.glob("*.whl"), key=lambda wheel: wheel.stat().st_mtime)
    return wheels[-1]


for _package in all_packages():
    nox.session(test_package(_package), name=f"tests-{_package.name}", tags=[_package.name], default=False)
    nox.session(wheel_of(_package), name=f"wheel-{_package.name}", tags=[_package.name], default=False)


# -- all of them together -------------------------------------------------------------------------------


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting with ruff: nox -s lint -- gem-core."""
    session.install("--quiet", "ruff==0.15.*")
    packages, rest = split_posargs(session)
    paths = [str(p.folder) for p in packages] if session.posargs else ["."]
    session.run("ruff", "check", *rest, *paths)
    session.run("ruff", "format", "--check", *paths)


@nox.session
def types(session: nox.Session) -> None:
    """Check the types of gem-core, strictly."""
    core = select(["gem-core"])
    install(session, core, "mypy==1.*", "pytest", editable=True)
    session.run("mypy", "--strict", str(core[0].source))


@nox.session(venv_backend="none")
def layering(session: nox.Session) -> None:
    """Check who imports whom, and that all packages state one version: nox -s layering -- gem-core."""
    packages, _ = split_posargs(session)
    session.run("python", "tools/layering.py", *(p.name for p in packages), external=True)
    session.run("python", "tools/bump_version.py", "--check", external=True)


@nox.session
def together(session: nox.Session) -> None:
    """Test what crosses packages, build the documentation, run every snippet and example: all in one environment."""
    elsewhere = {r: None for p in all_packages() for r in p.test_requirements_elsewhere}
    install(session, all_packages(), *TEST_TOOLS, "sphinx>=8", "myst-parser>=4", "furo", *elsewhere)
    if session.posargs:
        pytest(session, *session.posargs)
        return
    pytest(session, "tests")
    session.run("python", "-m", "sphinx", "-q", "-W", "-b", "html", "docs", "docs/_build/html")
    pytest(session, "docs", "examples")


@nox.session
def quickstart(session: nox.Session) -> None:
    """Train a tiny language model to play GuessTheNumber, and show what it learned (about two minutes)."""
    install(session, select(["gem-core", "gem-games", "gem-rl"]))
    session.run("gem", "train", "--preset", "quickstart", *session.posargs)


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Measure against the published package gem-llm and against bare loops: nox -s benchmarks -- vector_inline."""
    install(session, all_packages())
    published = Path(session.create_tmp()) / "published"
    if not published.exists():
        session.run("python", "-m", "venv", str(published))
        python = str(published / "bin" / "python")
        session.run(
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "gem-llm==0.1.0",
            "datasets",
            "pylatexenc",
            "fastmcp",
            external=True,
        )
    python = str(published / "bin" / "python")
    chosen = session.posargs or [p.stem for p in sorted((ROOT / "benchmarks").glob("[!_]*.py"))]
    for name in chosen:
        session.run("python", f"benchmarks/{name}.py", "--published", python)
