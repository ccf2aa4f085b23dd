// The explorers of a page of the book: a button below each one's picture, and anywidget's model for the view, with a worker behind it.

import {NEEDS} from "./compute.js";
import {Model} from "./model.js";

const here = new URL("./", import.meta.url);
let worker = null,
  count = 0;
const waiting = new Map();

function asked(name, state, progress) {
  if (!worker) {
    worker = new Worker(new URL("worker.js", here), {type: "module"});
    worker.onmessage = ({data}) => {
      if ("progress" in data) {
        waiting.forEach(one => one.progress?.(data));
        return;
      }
      waiting.get(data.id)?.done(data);
      waiting.delete(data.id);
    };
    worker.onerror = event => {
      event.preventDefault();
      waiting.forEach(one => one.done({failed: event.message || "the browser refused to start it"}));
      waiting.clear();
      worker = null;
    };
  }
  return new Promise(done => {
    const id = ++count;
    waiting.set(id, {done, progress});
    worker.postMessage({id, name, state});
  });
}

/** A state in the address, so that it can be linked to. */
function remembering(name) {
  let later;
  return state => {
    const {asked: _, ...rest} = state;
    clearTimeout(later); // browsers refuse more than some calls in a second
    later = setTimeout(
      () => history.replaceState(history.state, "", `#${mark(name)}=${encodeURIComponent(JSON.stringify(rest))}`),
      300,
    );
  };
}

function why(failed) {
  if (/memory|allocat/i.test(failed))
    return "This device has too little free memory for it. Close other pages and try again; the picture shows the first state.";
  if (/simd/i.test(failed))
    return "This browser cannot run the encoder: it lacks WebAssembly SIMD, which newer ones have. The picture shows the first state.";
  if (typeof WebAssembly === "undefined" || /wasm|webassembly/i.test(failed))
    return `This browser cannot run the encoder (${failed.slice(0, 100)}). The picture shows the first state.`;
  return `It could not be loaded: ${failed}.`;
}

const mark = name => `explore-${name.replaceAll(" ", "-")}`;

function linked(name) {
  const [key, text] = location.hash.slice(1).split("=");
  if (key !== mark(name) || !text) return null;
  try {
    return JSON.parse(decodeURIComponent(text));
  } catch {
    return null;
  }
}

const sizes = await (await fetch(new URL("files.json", here))).json();
const FILES = {
  tokenizer: ["tokenizer.json"],
  encoder: ["encoder.onnx", "ort-wasm-simd-threaded.wasm"],
  masked: ["masked_lm.onnx", "ort-wasm-simd-threaded.wasm"],
  pairs: ["pairs.json"],
  collection: ["collection.json", "vectors-6-mean.bin"],
  docs: ["docs.json"],
};

document.querySelectorAll("[data-explorer]").forEach(picture => {
  const file = picture.dataset.explorer,
    name = file.replaceAll("_", " "),
    start = {...JSON.parse(picture.dataset.state), ...linked(name)};
  const megabytes =
    [...new Set(NEEDS[name].flatMap(part => FILES[part]))].reduce((total, one) => total + (sizes[one]?.bytes ?? 0), 0) /
    1e6;
  const button = Object.assign(document.createElement("button"), {
    type: "button",
    className: "explore",
    textContent: "Try it yourself",
  });
  const note = Object.assign(document.createElement("span"), {className: "explore-note"});
  note.textContent =
    megabytes < 1
      ? ""
      : `${Math.ceil(megabytes)} MB, once; what you type stays on this device. The model is a compressed copy: last digits may differ.`;
  const box = document.createElement("div");
  box.className = "explore-start";
  picture.removeAttribute("id"); // the link leads to the button
  box.id = mark(name);
  note.setAttribute("role", "status");
  box.append(button, note);
  picture.after(box);
  button.onclick = async () => {
    button.disabled = true;
    note.textContent = "Starting …";
    const [view, ready] = await Promise.all([
      import(`./${file}.js`).catch(error => ({failed: error.message})),
      asked(name, null, ({progress, name: part}) => {
        note.textContent = `Loading ${part}: ${Math.floor(100 * progress)}%`;
      }),
    ]);
    const failed = view.failed ?? ready.failed;
    if (failed) {
      button.disabled = false;
      button.textContent = "Try again";
      note.textContent = why(failed);
      return;
    }
    const place = document.createElement("div");
    picture.hidden = true;
    box.replaceChildren(place);
    view.default.render({model: new Model(start, state => asked(name, state), remembering(name)), el: place});
    const first = place.querySelector("input, textarea, select, button");
    if (first?.matches("[type=text], textarea")) first.setSelectionRange(0, 0);
    first?.focus();
  };
  if (location.hash.slice(1).split("=")[0] === box.id) box.scrollIntoView();
});
