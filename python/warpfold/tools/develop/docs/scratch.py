# SPDX-License-Identifier: Apache-2.0
"""A scratch folder that looks like the top of the repository, and a shell in it."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from ...base import processes

# Copied, since programs in them look for the rest of the repository beside themselves.
COPIED = ("python", "scripts")
# What a command of a page sees of the environment that the tests run in; the sanitizers' options are for debug builds.
TAKEN = ("HOME", "TMPDIR", "PYTHONPATH", "LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")
NOT_TAKEN = ("build", "out", "results", ".git")


def tracked_files(root: Path) -> list[str]:
    listed = processes.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"])
    if listed.returncode == 0:
        return [name for name in listed.stdout.split("\0") if name]
    return [
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and path.relative_to(root).parts[0] not in NOT_TAKEN
    ]


def copy_programs(build: Path, target: Path, sources: Path) -> None:
    """The programs for users and the Python package, copied: a command of a page that builds must not reach the tree's build."""
    programs = [path for folder in ("model/*", "traces/*", "examples/*/*") for path in build.glob(folder)]
    for path in [*programs, *(build.parent / "capture").glob("*")]:
        if path.is_file() and os.access(path, os.X_OK):
            folder = target / os.path.relpath(path.parent, build)
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, folder)
    for path in (build / "python").rglob("*"):
        if path.suffix in (".py", ".so"):  # modules are links to the sources: here to those of the scratch
            copy = target / path.relative_to(build)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink():
                copy.symlink_to(sources / path.relative_to(build))
            else:
                shutil.copy2(path, copy)


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """Ends a command with all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Scratch:
    """Folders are the scratch's, files are links into the tree: nothing that a command writes lands there.

    build/release and build/capture have copies of the programs and of the Python package, so that a page may use them, or build for itself.
    """

    def __init__(self, root: Path, build: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="warpfold-docs-"))
        for name in tracked_files(root):
            source, target = root / name, self.folder / name
            if not source.is_file():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if name.split("/")[0] in COPIED:
                shutil.copy2(source, target)
            else:
                target.symlink_to(source.resolve())
        copy_programs(build.resolve(), self.folder / "build/release", self.folder)
        self.tools = tools = self.folder / ".bin"
        tools.mkdir()
        # The Python that Debian's packages are for.
        if Path("/usr/bin/python3").exists():
            (tools / "python3").symlink_to("/usr/bin/python3")
        # Nothing of the caller's but where programs and his home are: a page holds on every machine or on none. What
        # Python prints to both streams comes in the order in which a terminal shows it.
        self.environment = {
            **{name: os.environ[name] for name in TAKEN if name in os.environ},
            "PATH": f"{tools}:{os.environ.get('PATH', '/usr/bin:/bin')}",
            "WARPFOLD_POINTS": str(self.folder / "results/points"),
            "COLUMNS": "100",
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
        }

    def __enter__(self) -> "Scratch":
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name: str, text: str) -> None:
        target = self.folder / name
        if self.folder.resolve() not in target.resolve().parents and not target.is_symlink():
            raise ValueError(f"{name} lies outside the repository")
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_symlink():
            target.unlink()
        target.write_text(text, encoding="utf-8")

    def run(self, command: str, timeout: float, warpfold: Path) -> tuple[int, str]:
        """Exit code and output, as they come; a command that takes too long ends with 124."""
        (self.tools / "warpfold").unlink(missing_ok=True)
        (self.tools / "warpfold").symlink_to(warpfold)
        environment = {**self.environment, "WARPFOLD": str(warpfold)}
        with subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.folder,
            env=environment,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as process:
            try:
                output, _ = process.communicate(timeout=timeout)
                code, note = process.returncode, ""
            except subprocess.TimeoutExpired:
                end_group(process)
                output, _ = process.communicate()
                code, note = 124, f"\n(stopped after {timeout} s)\n"
            except BaseException:
                end_group(process)
                raise
        return code, output.decode(errors="replace") + note
