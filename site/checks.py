"""Checks of the built site: every link leads to a page, and every fragment to an element; nothing is loaded from elsewhere."""

import html.parser
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """What a page links to, what it loads, and the names of its elements."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.names = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.names.update(value for key in ("id", "name") if (value := values.get(key)))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        is_loaded = tag != "link" or values.get("rel") in ("stylesheet", "icon", "preload")
        for key in ("src", "href"):
            if tag in ("script", "img", "link", "iframe") and is_loaded and values.get(key):
                self.loads.append(values[key])


def links(folder, owner):
    """Ends the program with a list of what is wrong; returns a sentence with what was checked."""
    pages = {path: Page(path.read_text()) for path in folder.rglob("*.html")}
    wrong, count, outside = [], 0, set()
    for path, page in pages.items():
        here = path.relative_to(folder)
        wrong += [f"{here}: loads {it} from elsewhere" for it in page.loads if "://" in it and owner["homepage"] not in it]
        for target in page.links + [it for it in page.loads if "://" not in it]:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme in ("data", "mailto", "javascript"):
                continue
            if parts.scheme or parts.netloc:
                if target.startswith(owner["homepage"]) or here.name == "404.html":
                    continue
                outside.add(target)
                continue
            count += 1
            # Pages below the root of the site begin with a slash on the page of errors alone.
            base = folder if parts.path.startswith("/") else path.parent
            file = (base / urllib.parse.unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            file = file / "index.html" if file.is_dir() else file
            if not file.exists():
                if here.name != "404.html":
                    wrong.append(f"{here}: {target} does not exist")
            elif parts.fragment and file in pages and file.parent.name != "playground" and urllib.parse.unquote(parts.fragment) not in pages[file].names:
                wrong.append(f"{here}: {target} names no element")
    for line in wrong[:40]:
        print(line, file=sys.stderr)
    if wrong:
        sys.exit(f"{len(wrong)} links of the site are wrong")
    return f"{len(pages)} pages, {count} links within the site are right; {len(outside)} lead outside and were not followed"
