// Figures open in full size: a click on one, or its button. Escape closes it, and the focus returns to the button.
const full = document.createElement("dialog");
full.className = "full-size";
document.body.append(full);
for (const figure of document.querySelectorAll("figure.diagram")) {
  const picture = figure.querySelector("svg"),
    name = figure.querySelector("figcaption strong").textContent.replace(/\.$/, "");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Enlarge";
  button.setAttribute("aria-label", `Enlarge ${name}`);
  figure.querySelector("figcaption > p").append(" ", button);
  const open = () => {
    const close = Object.assign(document.createElement("button"), {
      type: "button",
      textContent: "Close",
      onclick: () => full.close(),
    });
    const scroller = document.createElement("div");
    scroller.tabIndex = 0;
    scroller.setAttribute("role", "region");
    scroller.setAttribute("aria-label", name);
    scroller.append(picture.cloneNode(true));
    full.setAttribute("aria-label", name);
    full.replaceChildren(close, scroller);
    button.focus({preventScroll: true});
    full.showModal();
  };
  button.onclick = picture.onclick = open;
}
full.addEventListener("click", event => {
  if (event.target === full) full.close();
});

// The navigation shows the page and the section that is being read, also when it opens as a box on a narrow screen.
const sections = document.getElementById("pst-page-toc-nav");
const show = () => {
  const link = sections?.querySelector(".nav-link.active") ?? document.querySelector('.bd-links [aria-current="page"]'),
    bar = link?.closest("dialog, #pst-primary-sidebar");
  if (!bar?.checkVisibility()) return;
  const [inner, outer] = [link.getBoundingClientRect(), bar.getBoundingClientRect()];
  if (inner.top < outer.top + 40 || inner.bottom > outer.bottom - 40)
    bar.scrollTop += inner.top - outer.top - outer.height / 3;
};
addEventListener("load", show); // after the theme has scrolled it
if (sections) new MutationObserver(show).observe(sections, {subtree: true, attributeFilter: ["aria-current"]});
document.querySelector("button.primary-toggle")?.addEventListener("click", () => requestAnimationFrame(show));

// The keyboard reaches a formula, a drawing or a view that is too wide and scrolls; the theme sees to listings and tables.
const formulas = new ResizeObserver(entries =>
  entries.forEach(({target}) => {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }),
);
const tooWide = ".formula, .bd-article .cu-diagram, figure.view .output";
document.querySelectorAll(tooWide).forEach(box => formulas.observe(box));

// What is scrolled to its end fades no more.
const atEnd = ({target: box}) =>
  box.classList?.toggle("at-end", box.scrollLeft + box.clientWidth > box.scrollWidth - 2);
document.addEventListener("scroll", atEnd, {capture: true, passive: true});

// On paper, quizzes and solutions stand open, and the page is light.
let theme;
addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach(box => {
    box.open = true;
  });
  theme = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = theme;
});

// The explorers compute in the page, which browsers allow only to pages from a server; elsewhere their pictures stay.
if (document.querySelector("[data-explorer]") && location.protocol.startsWith("http")) {
  const base = document.documentElement.dataset.content_root ?? "./",
    style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = `${base}_static/explore/view.css`;
  document.head.append(style);
  import(new URL(`${base}_static/explore/host.js`, document.baseURI));
}
