# SPDX-License-Identifier: Apache-2.0
"""Builds the documents as a site: the pages of the repository through Sphinx, to be read and searched without a server.

The pages keep their paths, so their links to each other hold. Links to files that are no pages lead to --repository, or
become plain text without one."""

import argparse
import html.parser
import re
import shlex
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ...base.errors import BadInput, ToolFailed
from ...base.parser import Parser
from .page import ROOT, page_paths

SETTINGS = ROOT / "docs/site"
FENCE = re.compile(r"^ *(```|~~~)")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^()\s]+)\)")
PICTURES = (".svg", ".png")
FRONT = "README.md"
# The reports that a section of this page makes.
GALLERY = "docs/tutorial.md"
GALLERY_HEADING = "\n## Gallery\n"
PARTS = "docs/site/parts.toml"


def parts(root: Path = ROOT) -> list[tuple[str, list[str]]]:
    """Title and pages of each part. BadInput: a page that is missing, or that stands in no part."""
    listed = [
        (str(p["title"]), [str(n) for n in p["pages"]])
        for p in tomllib.loads((root / PARTS).read_text(encoding="utf-8"))["part"]
    ]
    names = [name for _, pages in listed for name in pages] + [FRONT]
    present = {
        n for n in (path.relative_to(root).as_posix() for path in page_paths(root)) if not n.startswith(".github/")
    }
    for name in names:
        if name not in present or names.count(name) > 1:
            raise BadInput(f"{PARTS}: {name}: {'listed twice' if name in present else 'no such page'}")
    missing = sorted(present - set(names))
    if missing:
        raise BadInput(f"{PARTS}: {missing[0]} stands in no part")
    return listed


def prose(text: str) -> Iterator[tuple[bool, str]]:
    """Runs of lines: whether they are prose or code, and their text."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        match = FENCE.match(line)
        if match and (not fence or match[1] == fence):
            if not fence:
                yield True, "".join(lines)
                lines = []
            lines.append(line)
            if fence:
                yield False, "".join(lines)
                lines = []
            fence = "" if fence else match[1]
        else:
            lines.append(line)
    yield not fence, "".join(lines)


class Site:
    """The sources of a site in a folder, of which Sphinx makes pages."""

    def __init__(self, folder: Path, repository: str) -> None:
        self.folder, self.repository = folder, repository.rstrip("/")
        self.parts = parts()
        self.pages = {name for _, pages in self.parts for name in pages} | {FRONT}

    def write(self) -> None:
        for name in sorted(self.pages):
            text = "".join(
                self.link_all(name, t) if is_prose else t
                for is_prose, t in prose((ROOT / name).read_text(encoding="utf-8"))
            )
            self.put(name).write_text(text + (self.contents() if name == FRONT else ""), encoding="utf-8")

    def put(self, name: str) -> Path:
        path = self.folder / ("index.md" if name == FRONT else name)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def contents(self) -> str:
        return "".join(
            f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n"
            + "\n".join(name.removesuffix(".md") for name in pages)
            + "\n```\n"
            for title, pages in self.parts
        )

    def link_all(self, name: str, text: str) -> str:
        return LINK.sub(lambda match: self.link(name, match), COMMENT.sub("", text))

    def link(self, name: str, match: re.Match[str]) -> str:
        image, words, target = match.groups()
        words = LINK.sub(lambda inner: self.link(name, inner), words)
        path, _, anchor = target.partition("#")
        if urlsplit(target).scheme or not path:
            return f"{image}[{words}]({target})"
        there = ((ROOT / name).parent / path).resolve()
        inside = there.relative_to(ROOT).as_posix()
        if there.is_dir() and f"{inside}/README.md" in self.pages:
            path, inside = path.rstrip("/") + "/README.md", f"{inside}/README.md"
        if inside == FRONT:
            up = "../" * name.count("/")
            return f"{image}[{words}]({up}index.md{'#' + anchor if anchor else ''})"
        if inside in self.pages:
            return f"{image}[{words}]({path}{'#' + anchor if anchor else ''})"
        if there.suffix in PICTURES:
            shutil.copy(there, self.put(inside))
            return f"{image}[{words}]({path})"
        return f"[{words}]({self.repository}/{inside})" if self.repository else words


class Anchors(html.parser.HTMLParser):
    """What a page of the site can be linked at, and what it links to."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if values.get("id"):
            self.anchors.add(str(values["id"]))
        if tag == "a" and values.get("href"):
            self.links.append(str(values["href"]))


def broken_links(site: Path) -> list[str]:
    """Links inside the site that lead nowhere, as 'page: link'."""
    pages: dict[Path, Anchors] = {}
    for path in sorted(site.rglob("*.html")):
        pages[path.resolve()] = Anchors()
        pages[path.resolve()].feed(path.read_text(encoding="utf-8"))
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts_of_link = urlsplit(link)
            if parts_of_link.scheme:
                continue
            there = (path.parent / unquote(parts_of_link.path)).resolve() if parts_of_link.path else path
            anchor = unquote(parts_of_link.fragment)
            if not there.exists() or (anchor and there in pages and anchor not in pages[there].anchors):
                broken.append(f"{path.relative_to(site.resolve())}: {link}")
    return broken


class Gallery:
    """The reports of the gallery in docs/tutorial.md, made by the commands that the page shows."""

    def __init__(self, sources: Path, warpfold: Path) -> None:
        self.page, self.folder, self.warpfold = (
            sources / GALLERY,
            sources / GALLERY.removesuffix(".md"),
            warpfold.resolve(),
        )

    def write(self) -> None:
        """Runs the commands and links each report below its own. ToolFailed: a command that fails."""
        self.folder.mkdir()
        (self.folder / "traces").symlink_to(ROOT / "traces")
        text = []
        in_gallery = False
        for is_prose, part in prose(self.page.read_text(encoding="utf-8")):
            text.append(part)
            in_gallery |= is_prose and GALLERY_HEADING in part
            if in_gallery and not is_prose:
                text += [f'\n<a href="{self.folder.name}/{name}">The report</a>\n' for name in self.run(part)]
        self.page.write_text("".join(text), encoding="utf-8")
        (self.folder / "traces").unlink()

    def run(self, block: str) -> list[str]:
        """Runs the block's commands; returns the names of the reports that they made."""
        before = set(self.folder.glob("*.html"))
        for line in block.splitlines():
            if line.startswith("$ warpfold "):
                command = [str(self.warpfold), *shlex.split(line)[2:]]
                done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
                if done.returncode:
                    raise ToolFailed(f"{GALLERY}: {line[2:]}: {done.stderr.strip()}")
        return sorted(path.name for path in set(self.folder.glob("*.html")) - before)

    def copy(self, site: Path) -> None:
        """Puts the reports beside the page: to Sphinx they are downloads."""
        folder = site / GALLERY.removesuffix(".md")
        folder.mkdir()
        for report in self.folder.glob("*.html"):
            shutil.copy(report, folder)


def build(out: Path, repository: str, warpfold: Path | None) -> None:
    """Makes the site in the folder `out`, which it replaces if it is a site; BadInput with the first fault."""
    parts()
    if shutil.which("sphinx-build") is None:
        raise BadInput("no sphinx-build: Debian has it as python3-sphinx, python3-myst-parser and furo")
    if out.exists() and not (out / "searchindex.js").exists():
        raise BadInput(f"{out}: there is something else")
    with tempfile.TemporaryDirectory(prefix="warpfold-site-") as folder:
        sources, made = Path(folder) / "sources", Path(folder) / "site"
        sources.mkdir()
        Site(sources, repository).write()
        gallery = Gallery(sources, warpfold) if warpfold else None
        if gallery:
            gallery.write()
        command = [
            "sphinx-build",
            "-q",
            "-W",
            "--keep-going",
            "-c",
            str(SETTINGS),
            "-d",
            f"{folder}/trees",
            str(sources),
            str(made),
        ]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            lines = done.stdout.replace(f"{sources}/", "").strip().splitlines()
            raise BadInput(f"Sphinx: {len(lines)} faults, the first {lines[0] if lines else 'without a word'}")
        if gallery:
            gallery.copy(made)
        broken = broken_links(made)
        if broken:
            raise BadInput(f"a link of the site leads nowhere: {broken[0]}")
        shutil.rmtree(out, ignore_errors=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(str(made), out)
        print(f"{out}/index.html: {len(list(out.rglob('*.html')))} pages")


def options(parser: Parser) -> None:
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("out/site"), help="Folder of the site [out/site]"
    )
    parser.add_argument(
        "--gallery", metavar="FILE", type=Path, help="Make the reports of docs/tutorial.md with this command"
    )
    parser.add_argument(
        "--repository", metavar="URL", default="", help="Where files of the repository can be seen, for links to them"
    )


def run(arguments: argparse.Namespace) -> int:
    build(arguments.out, arguments.repository, arguments.gallery)
    return 0
