// What the theme leaves open for the keyboard and for screen readers: boxes that scroll can be focused, and landmarks have names of their own.
function name_landmarks() {
    for (const box of document.querySelectorAll("pre > code, .md-typeset__scrollwrap, .formula")) {
        if (box.scrollWidth > box.clientWidth) {
            box.tabIndex = 0;
        }
    }
    document.querySelectorAll(".md-code__nav").forEach((nav, i) => nav.setAttribute("aria-label", `Code ${i + 1}`));
    for (const nav of document.querySelectorAll("nav[aria-labelledby]")) {
        const label = document.getElementById(nav.getAttribute("aria-labelledby"));
        const title = nav.querySelector(".md-nav__title");
        if (title && !label?.textContent.trim()) {
            nav.removeAttribute("aria-labelledby");
            nav.setAttribute("aria-label", title.textContent.trim());
        }
    }
}
// The theme makes some of these elements when the page has been read.
let is_waiting = false;
new MutationObserver(() => {
    if (!is_waiting) {
        is_waiting = true;
        requestAnimationFrame(() => {
            is_waiting = false;
            name_landmarks();
        });
    }
}).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", name_landmarks);
name_landmarks();
