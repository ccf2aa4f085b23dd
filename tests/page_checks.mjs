// What the tests of JupyterLab, of the book, of the explorers and of the decks ask in a page. `in_page` of browser.py
// runs a function of this file there.

const outer = thing => thing.outerHTML.slice(0, 200);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// ---------------------------------------------------------------- the book

export function openBoxes() {
  for (const box of all("details")) box.open = true;
}

// Colours of code and parts of drawings are not structure, and a page without them is checked in half the time.
export function makePlain() {
  for (const line of all("pre .line")) line.replaceChildren(line.textContent);
  for (const part of all("svg g")) part.replaceChildren();
}

export async function axeFinds({root = document, ...rules}) {
  const result = await window.axe.run(root, {iframes: false, resultTypes: ["violations"], ...rules});
  return result.violations.map(found => [found.id, found.nodes.length, found.nodes[0].html.slice(0, 200)]);
}

// The theme lets the keyboard reach what scrolls, a moment after the width has changed.
export function keyboardReachesWhatScrolls() {
  const scrolling = "pre, .output, .formula, .cu-diagram, .pst-scrollable-table-container";
  return all(`article :is(${scrolling})`).every(
    text => text.scrollWidth <= text.clientWidth + 1 || text.tabIndex === 0,
  );
}

export function howListingsFit() {
  const isWide = text => text.scrollWidth > text.clientWidth + 1;
  const listings = all("article pre").filter(text => text.clientWidth);
  return {
    listings: listings.length,
    scrolling: listings.filter(text => isWide(text) || isWide(text.parentElement)).length,
    page_scrolls: document.documentElement.scrollWidth > innerWidth,
  };
}

export function focused() {
  const thing = document.activeElement;
  const isOutlined = getComputedStyle(thing).outlineStyle !== "none";
  return [thing.tagName, thing.className, thing.innerText.trim(), isOutlined];
}

export const opacities = lines => lines.map(line => Number(line.getAttribute("stroke-opacity")));
export const filterOf = frame => getComputedStyle(frame).filter;

export function cutOff() {
  const isCut = thing => thing.scrollWidth > thing.clientWidth + 1 || thing.getBoundingClientRect().right > innerWidth;
  return all("pre, img, table").filter(isCut).map(outer);
}

// Texts of drawings that are cut off at the side of what is shown, with the number of pixels.
export function wordsCutOff(drawings) {
  const faults = [];
  for (const drawing of all(drawings ?? "svg.cu-svg").filter(part => part.checkVisibility())) {
    let window = drawing;
    while (window.parentElement && getComputedStyle(window).overflowX === "visible") window = window.parentElement;
    const edge = window.getBoundingClientRect();
    const scrolls = getComputedStyle(window).overflowX === "auto";
    for (const text of all("text", drawing)) {
      const {left, right} = text.getBoundingClientRect();
      const beyond = Math.max(edge.left - left, scrolls ? 0 : right - edge.right);
      if (beyond > 0.5) faults.push(`${text.textContent}: ${beyond.toFixed(1)} px`);
    }
  }
  return faults;
}

// ---------------------------------------------------------------- JupyterLab

export const namesCutOff = names =>
  names.filter(name => name.scrollWidth > name.clientWidth).map(name => name.innerText);

// Whether a cell has a number, or the star of one that waits.
export const hasStarted = () => all(".jp-InputPrompt").some(prompt => /[*\d]/.test(prompt.innerText));

export function hasRunTheLastCell() {
  const prompts = all(".jp-CodeCell .jp-InputPrompt");
  return prompts.length > 0 && /\d/.test(prompts.at(-1).innerText);
}

// ---------------------------------------------------------------- attention views

export const hasDrawn = least => all("svg line").length >= least;

export function viewFits(narrowerThan) {
  const boxes = all("svg, svg text, svg rect, select").map(element => element.getBoundingClientRect());
  return (
    innerWidth < narrowerThan &&
    Math.min(...boxes.map(box => box.left)) >= 0 &&
    Math.max(...boxes.map(box => box.right)) <= innerWidth + 1 &&
    Math.max(...boxes.map(box => box.bottom)) <= innerHeight &&
    document.documentElement.scrollHeight <= innerHeight
  );
}

export const showsLines = count => all("line[visibility=visible]").length === count;

// What changes when the mouse points at a token.
export const stateOfLines = () =>
  all("svg *")
    .map(part => [part.getAttribute("visibility"), part.getAttribute("stroke-opacity"), part.style.opacity].join())
    .join(";");

// ---------------------------------------------------------------- explorers

const inExplorer = (view, selector) => document.querySelector(`[data-explorer-view='${view}'] ${selector}`);

export function hasAnswered(view) {
  const line = inExplorer(view, ".cu-line");
  return line && line.textContent !== "…";
}

// Buttons of explorers that a finger misses: WCAG 2.2 asks for 24 pixels.
export function smallButtons() {
  const sizes = all(".cu-explorer button").map(button => [button, button.getBoundingClientRect()]);
  return sizes.filter(([, {width, height}]) => Math.min(width, height) < 23.9).map(([button]) => outer(button));
}

// Whether the explorer in this place shows an answer, or says why it cannot start.
export function hasAnsweredOrFailed(place) {
  const box = document.querySelector(place);
  const line = box.querySelector(".cu-line");
  return line ? line.textContent !== "…" : box.querySelector("button").textContent === "Try again";
}

export const nameOfView = place => document.querySelector(`${place} [data-explorer-view]`)?.dataset.explorerView;

export const hasNoProblem = view => !inExplorer(view, ".cu-bad");

export const pictureOf = view => inExplorer(view, ".cu-place").innerHTML;

// The stylesheet's words below the picture of an explorer that has no button, after they have appeared.
export function saysThatItIsTheFirstState(name) {
  const words = getComputedStyle(document.querySelector(`[data-explorer='${name}']`), "::after");
  return words.content.includes("This is the first state.") && words.visibility === "visible";
}

// Keeps what the notes beside the buttons say, in `window.notes`.
export function keepNotes() {
  window.notes = [];
  const keep = changes => window.notes.push(...changes.map(({target}) => target.textContent));
  for (const note of all(".explore-note")) new MutationObserver(keep).observe(note, {childList: true});
}

// The kind of the control in this explorer that has the focus; empty when the focus is elsewhere.
export function kindOfFocus(view) {
  const active = document.activeElement;
  return active.closest(`[data-explorer-view='${view}']`) ? active.type || active.tagName : "";
}

export function movingParts() {
  const explorers = document.getAnimations().map(motion => motion.effect.target.closest("[data-explorer-view]"));
  return explorers.filter(explorer => explorer?.dataset.explorerView).length;
}

// How many parts move as soon as a new answer stands in place of the line `before`.
export async function movingPartsOfNewAnswer(before) {
  const line = inExplorer("Losses", ".cu-line");
  const field = inExplorer("Losses", "input[type=range]");
  field.value = 3;
  field.dispatchEvent(new Event("input", {bubbles: true}));
  while (line.textContent === before) await new Promise(requestAnimationFrame);
  return movingParts();
}

// ---------------------------------------------------------------- decks

const begins = part => part.textContent.trim().slice(0, 50);
const hasWords = part => [...part.childNodes].some(node => node.nodeType === 3 && node.data.trim());

// Faults of the slide that is shown, as sentences, after all of it has appeared.
export function faultsOfSlide() {
  const slide = Reveal.getCurrentSlide();
  for (const part of all(".fragment", slide)) part.classList.add("visible");
  const parts = all('*:not(aside):not(aside *):not([style*="overflow:auto"] *)', slide);
  const shown = parts.filter(part => part.getBoundingClientRect().width && part.checkVisibility());
  return [
    ...new Set([
      ...shown.flatMap(beyondTheSlide),
      ...shown.flatMap(smallType),
      ...mostlyEmpty(shown),
      ...all("pre", slide).flatMap(cutListing),
      ...all(".output pre:not(.error), .input pre", slide).flatMap(wrappedListing),
      ...all("img, svg.cu-svg", slide).flatMap(poorPicture),
    ]),
  ];
}

// The sizes of type and of pictures on each slide that is laid out.
export function sizesOfSlides() {
  const sizes = slide => all(".output img, svg.cu-svg", slide).map(part => part.style.height);
  const laidOut = all(".slides > section").filter(slide => slide.style.getPropertyValue("--text"));
  return laidOut.map(slide => [slide.style.getPropertyValue("--text"), ...sizes(slide)].join(" "));
}

export const slideIsRight = () => faultsOfSlide().length === 0;

function beyondTheSlide(part) {
  const {right, bottom} = part.getBoundingClientRect();
  if (part.matches("svg *, .fragment:not(svg *)") || (right <= 1281 && bottom <= 685)) return [];
  return [`${part.tagName} reaches ${Math.round(right)}, ${Math.round(bottom)}`];
}

function smallType(part) {
  if (!hasWords(part) || part.closest("style, script, desc, title")) return [];
  const drawing = part.closest("svg");
  const grid = (part.getScreenCTM ? part : drawing)?.getScreenCTM();
  const scale = drawing ? Math.hypot(grid.a, grid.b) : part.currentCSSZoom;
  const size = parseFloat(getComputedStyle(part).fontSize) * (scale || 1);
  // signs above and below the line are smaller in every book
  const least = part.closest("sub, sup, math") ? 13.9 : 17.9;
  return size < least ? [`text of ${size.toFixed(1)} px: ${begins(part)}`] : [];
}

function mostlyEmpty(shown) {
  const filled = shown.filter(part => hasWords(part) || part.matches("img, svg, iframe"));
  const lowest = Math.max(0, ...filled.map(part => part.getBoundingClientRect().bottom));
  return lowest < 396 ? [`ends at ${Math.round(lowest)} of 720 px: fill at least 396`] : [];
}

const cutListing = part => (part.scrollWidth > part.clientWidth + 1 ? [`cut: ${begins(part)}`] : []);

function wrappedListing(part) {
  const style = getComputedStyle(part);
  const height = part.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
  const lines = part.textContent.replace(/\n$/, "").split("\n").length;
  return height > (lines + 0.5) * parseFloat(style.lineHeight) ? [`wrapped: ${begins(part)}`] : [];
}

function poorPicture(part) {
  const {width, height} = part.getBoundingClientRect();
  const faults = [];
  if (!(part.alt || part.getAttribute("aria-label")) || part.naturalWidth === 0)
    faults.push("a picture without text, or not drawn");
  if (height < 250 && width < 1000) faults.push(`a picture of ${Math.round(width)} x ${Math.round(height)} px`);
  return faults;
}

// Whether these are the texts of a diagram and of what appears step by step, sorted, that can be seen on the slide.
export function showsParts(wanted) {
  const parts = all("section.present svg text, section.present div.fragment");
  const visible = parts.filter(part => part.checkVisibility({visibilityProperty: true}));
  const texts = visible.map(part => part.textContent.trim()).toSorted();
  return JSON.stringify(texts) === JSON.stringify(wanted);
}

export function showWholeSlide(number) {
  Reveal.slide(number);
  while (Reveal.availableFragments().next) Reveal.nextFragment();
}

export function onlyTheFocusedOptionIsOpen() {
  const open = all("section.present details[open]");
  return open.length === 1 && open[0].contains(document.activeElement);
}

// Faults of all slides as they are printed, as sentences.
export function faultsOnPaper() {
  const slides = all(".print-pdf .slides > section");
  return slides.flatMap((slide, place) => faultsOfPrinted(slide).map(fault => `slide ${place + 1} ${fault}`));
}

function faultsOfPrinted(slide) {
  const {paddingLeft, paddingTop} = getComputedStyle(slide);
  const isHidden = part => !part.checkVisibility({visibilityProperty: true});
  const faults = [];
  if (slide.scrollHeight > 720) faults.push(`is ${slide.scrollHeight} px high`);
  if (slide.scrollWidth > 1280) faults.push("is too wide");
  if (parseFloat(paddingLeft) < 60 || parseFloat(paddingTop) < 30) faults.push("has no margin");
  if (all("details > p, .fragment", slide).some(isHidden)) faults.push("hides something");
  return faults;
}
