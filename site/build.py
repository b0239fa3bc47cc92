"""Builds the site. `scripts/site` installs what this needs and calls it.

    build.py PROGRAM    # the program `eventhorizon`

Pages are assembled in target/site/pages, so that no page is kept twice: those of site/pages, those of docs/ as `guides/`, and the gallery.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

import latex2mathml.converter

import checks
import examples
import gallery

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERE = ROOT / "target" / "site"
PAGES = HERE / "pages"
HTML = HERE / "html"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def outside_of_code(text, change):
    """A page with `change` applied to everything but code: fenced blocks and words in backticks."""
    pieces = re.split(r"(^```.*?^```[^\n]*$|`[^`\n]+`)", text, flags=re.M | re.S)
    return "".join(piece if piece.startswith("`") else change(piece) for piece in pieces)


def formulas(text):
    """`$$…$$` and `$…$` as MathML."""

    def display(match):
        return f'<div class="formula">{latex2mathml.converter.convert(match[1].strip(), display="block")}</div>'

    def inline(match):
        # In an element of its own: Markdown takes a line that begins with `<math` for a block.
        return f"<span>{latex2mathml.converter.convert(match[1])}</span>"

    text = re.sub(r"\$\$(.+?)\$\$", display, text, flags=re.S)
    return re.sub(r"\$([^$\n]+)\$", inline, text)


def guide(text, repository):
    """A page of docs/: links that leave the folder lead into the repository."""

    def link(match):
        picture, words, target = match.groups()
        if "://" in target or target.startswith("#") or "/" not in target or target.startswith("pictures/"):
            return match[0]
        path = (ROOT / "docs" / target).resolve().relative_to(ROOT)
        return f"{picture}[{words}]({repository}/blob/main/{path})"

    text = LINK.sub(link, text)
    return re.sub(r"^```rust,\w+$", "```rust", text, flags=re.M)


def assemble(program, owner):
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "site" / "pages", PAGES)
    for page in PAGES.rglob("*.md"):
        text = outside_of_code(page.read_text(), formulas)
        page.write_text(text.replace("{{repository}}", owner["repository"]).replace("{{documentation}}", owner["documentation"]))
    guides = PAGES / "guides"
    guides.mkdir(exist_ok=True)
    for page in (ROOT / "docs").glob("*.md"):
        (guides / page.name).write_text(guide(page.read_text(), owner["repository"]))
    shutil.copytree(ROOT / "docs" / "pictures", guides / "pictures")
    gallery.write(program, PAGES / "gallery")


def configuration(owner):
    text = (ROOT / "site" / "zensical.toml").read_text()
    networks, processes = ([f'"gallery/{kind}/{name}.md"' for name in gallery.names(kind)] for kind in ("networks", "processes"))
    text = text.replace('"{{networks}}"', ", ".join(networks)).replace('"{{processes}}"', ", ".join(processes))
    for key in ("repository", "homepage"):
        text = text.replace("{{" + key + "}}", owner[key])
    (HERE / "zensical.toml").write_text(text)


def main(program):
    owner = tomllib.loads((ROOT / "owner.toml").read_text())
    examples.run(program, ROOT / "site" / "pages", HERE / "examples")
    assemble(program, owner)
    configuration(owner)
    shutil.rmtree(HTML, ignore_errors=True)
    subprocess.run([pathlib.Path(sys.executable).parent / "zensical", "build", "--clean", "-f", "zensical.toml"], cwd=HERE, check=True)
    if (ROOT / "web" / "dist" / "play.html").exists():
        shutil.copytree(ROOT / "web" / "dist", HTML / "playground")
    else:
        (HTML / "playground").mkdir()
        shutil.copy(ROOT / "site" / "no-playground.html", HTML / "playground" / "play.html")
    print(checks.links(HTML, owner))


main(pathlib.Path(sys.argv[1]).resolve(strict=True))
