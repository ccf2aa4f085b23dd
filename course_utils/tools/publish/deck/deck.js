const printed = /print-pdf/i.test(location.search);
const LEAST = 18,
  STEPS = 8; // no type below this; largest and smallest type, and the sizes between
const between = (large, small, step) => Math.round((large + ((small - large) * step) / STEPS) * 2) / 2;

function widest(pre) {
  // of its lines, in pixels, with type of 20 pixels
  const range = document.createRange(),
    slide = pre.closest("section");
  pre.style.whiteSpace = "pre";
  pre.style.fontSize = "20px";
  range.selectNodeContents(pre);
  return (range.getBoundingClientRect().width * slide.offsetWidth) / slide.getBoundingClientRect().width;
}

function drawing(part) {
  // a figure, a diagram or an attention view: its aspect, and how it is given a height
  const room = () => part.closest(".output").clientWidth;
  if (part.matches("div")) {
    // its page is made for this width and height: it is drawn larger, and not wider
    const [width, height] = part.style.aspectRatio.split("/").map(parseFloat),
      frame = part.querySelector("iframe");
    const size = high => {
      const scale = Math.min(high / height, room() / width);
      part.style.cssText = `position: relative; width: ${scale * width}px; height: ${scale * height}px`;
      frame.style.width = `${width}px`;
      frame.style.height = `${height}px`;
      frame.style.transform = `scale(${scale})`;
    };
    return {aspect: width / height, room, size};
  }
  const aspect = part.matches("img")
    ? part.naturalWidth / part.naturalHeight
    : part.viewBox.baseVal.width / part.viewBox.baseVal.height;
  const size = high => {
    part.style.height = `${Math.min(high, room() / aspect)}px`;
    part.style.width = `${Math.min(high * aspect, room())}px`;
  };
  return {aspect, room, size};
}

function fit(slide) {
  // type and pictures as large as the slide allows; pictures first, then lines of code and output
  const inside = selector => [...slide.querySelectorAll(selector)].filter(part => !part.closest("aside"));
  const lines = inside("pre").map(pre => ({pre, wide: widest(pre)}));
  const drawings = inside(".output img, svg.cu-svg, .output div:has(> iframe)").map(drawing);
  const options = inside("details"),
    open = options.filter(option => option.open);
  const set = (name, size) => slide.style.setProperty(name, `${size}px`);
  const fits = () => slide.offsetHeight <= 720 && slide.scrollWidth <= 1280;
  const longest = options.sort((a, b) => b.textContent.length - a.textContent.length)[0];
  if (longest && !printed) options.forEach(option => (option.open = option === longest)); // the size stays when one opens
  slide.style.height = "auto"; // its own, also in the overview, where all are equally high
  set("--gap", 16);
  set("--below", 20);
  for (const heading of inside("h1, h2, h3")) {
    // on one line, if it can be large there
    heading.style.fontSize = "";
    const largest = parseFloat(getComputedStyle(heading).fontSize),
      tall = () => heading.clientHeight > 1.9 * parseFloat(getComputedStyle(heading).fontSize);
    for (let size = largest - 2; size >= 0.82 * largest && tall(); size -= 2) heading.style.fontSize = `${size}px`;
    if (tall()) heading.style.fontSize = "";
  }
  for (const cell of inside(".columns")) {
    const [input, output] = [".input pre", ".output pre"].map(
      part => lines.find(line => line.pre === cell.querySelector(part))?.wide,
    );
    const share = Math.min(Math.max(input / (input + (output || 600)), 0.3), 0.7);
    if (input) cell.style.gridTemplateColumns = `minmax(0, ${share}fr) minmax(0, ${1 - share}fr)`;
  }
  const [text, code] = drawings.length ? [28, 22] : lines.length ? [32, 28] : [36, 28];
  for (let step = 0; step <= STEPS; step++) {
    const most = between(code, LEAST, step);
    set("--text", between(text, printed && options.length ? 20 : 24, step)); // on paper all explanations are open
    set("--lines", most);
    if (step === STEPS) set("--gap", 10);
    for (const {pre, wide} of lines) {
      const style = getComputedStyle(pre),
        room = pre.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 1;
      const source = pre.closest(".output")?.parentElement.querySelector(":scope > .input pre"); // its output is not larger
      let size = Math.min(most, Math.floor((40 * room) / wide) / 2, parseFloat(source?.style.fontSize) || most);
      const wrapped = size < LEAST || pre.matches(".error");
      pre.style.fontSize = `${pre.matches(".error") ? most : Math.max(size, LEAST)}px`;
      pre.style.whiteSpace = wrapped ? "pre-wrap" : "pre";
      // some browsers round the width of each sign to whole pixels, so that lines do not shrink in proportion
      while (!wrapped && size > LEAST && pre.scrollWidth > pre.clientWidth) pre.style.fontSize = `${(size -= 0.5)}px`;
    }
    let [small, large] = [120, 650];
    while (drawings.length && large - small > 4) {
      const high = (small + large) / 2;
      drawings.forEach(drawing => drawing.size(high));
      if (fits()) small = high;
      else large = high;
    }
    drawings.forEach(drawing => drawing.size(small));
    const wanted = Math.min(drawings.length > 1 ? 260 : 460, ...drawings.map(({aspect, room}) => room() / aspect));
    if (fits() && (!drawings.length || small >= wanted)) break;
  }
  for (let gap = 18; gap <= 36 && slide.offsetHeight < 600; gap += 2) set("--gap", gap);
  if (!slide.matches(".title")) set("--below", 20 + Math.min(Math.max(640 - slide.offsetHeight, 0) * 0.4, 100));
  slide.style.height = "";
  if (!printed) options.forEach(option => (option.open = open.includes(option)));
}

function build(slide) {
  // what appears at a key press, in its order; the steps of a diagram with the same number together
  let index = 0;
  for (const part of slide.querySelectorAll(".fragment, .cu-svg")) {
    if (part.matches(".fragment")) part.dataset.fragmentIndex = index++;
    else {
      const steps = [...part.querySelectorAll(".cu-step")],
        numbers = [...new Set(steps.map(step => +step.dataset.step))].sort((a, b) => a - b);
      for (const step of steps) {
        step.classList.add("fragment");
        step.dataset.fragmentIndex = index + numbers.indexOf(+step.dataset.step);
      }
      index += numbers.length;
    }
  }
}

function sign(node) {
  // a sign that many fonts lack is drawn
  const parts = node.data.split(SIGN);
  if (parts.length > 1)
    node.replaceWith(
      ...parts.map(part => (SIGNS[part] ? document.createRange().createContextualFragment(SIGNS[part]) : part)),
    );
}

const slides = [...document.querySelectorAll(".slides > section")];
const SIGN = new RegExp(`(${Object.keys(SIGNS).join("|")})`, "u");
const walker = document.createTreeWalker(document.querySelector(".slides"), NodeFilter.SHOW_TEXT, node =>
  SIGN.test(node.data) && !node.parentElement.closest("svg, script, style") ? 1 : 3,
);
const texts = [];
while (walker.nextNode()) texts.push(walker.currentNode);
texts.forEach(sign);
slides.forEach(build);
document.querySelectorAll("details").forEach(option => (option.open = printed));

function print() {
  // each slide is a page: laid out at once, for Chromium prints as soon as the page is loaded
  document.documentElement.classList.add("print-pdf"); // spares the slides the style of reveal.js for paper
  for (const slide of slides) {
    fit(slide);
    slide.style.height = "720px";
  }
}

function present() {
  Reveal.on("ready", event => fit(event.currentSlide));
  // the overview also shows slides that were not visited yet, those near the current one
  const fitShown = () => slides.filter(slide => slide.offsetHeight).forEach(fit);
  Reveal.on("slidechanged", event => (Reveal.isOverview() ? fitShown() : fit(event.currentSlide)));
  Reveal.on("overviewshown", fitShown);
  // one option of a question at a time: all of them opened are higher than a slide
  slides.forEach((slide, place) =>
    slide.querySelectorAll("details").forEach(option => (option.name = `question-${place}`)),
  );
  Promise.allSettled([...document.images].map(image => image.decode())).then(() =>
    Reveal.initialize({
      width: 1280,
      height: 720,
      margin: 0,
      minScale: 0.1,
      maxScale: 4,
      center: false,
      hash: true,
      slideNumber: "c/t",
      transition: "none",
      controlsBackArrows: "visible",
      totalTime: SECONDS,
      plugins: [RevealNotes],
    }),
  );
}

// Space opens an option or presses a button that has the focus, and turns no slide then.
document.body.addEventListener("keydown", event => {
  if (event.key === " " && event.target.closest("summary, button")) event.stopPropagation();
});

if (printed) addEventListener("load", print);
else present();
