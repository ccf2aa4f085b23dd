// The explorers of a page of the book: a button below each one's picture, and anywidget's model for the view, with a worker behind it.

import {NEEDS} from "./compute.js";
import {Model} from "./model.js";

const here = new URL("./", import.meta.url);
const PATIENCE = 30_000; // ms in which the worker's programs, 0.2 MB, should have come
let worker = null,
  count = 0;
const waiting = new Map();

/** Start the worker. If that fails, or it stays silent, whoever waits for an answer gets the reason. */
function start() {
  const started = new Worker(new URL("worker.js", here), {type: "module"});
  const fail = reason => {
    clearTimeout(silence);
    started.terminate();
    if (worker === started) worker = null;
    waiting.forEach(question => question.done(reason));
    waiting.clear();
  };
  // some browsers report no error for a program that they may not run
  const silence = setTimeout(() => fail({failed: "it is silent", lacks: "worker"}), PATIENCE);
  started.onmessage = ({data}) => {
    clearTimeout(silence);
    if ("progress" in data) waiting.forEach(question => question.progress?.(data));
    if (!("id" in data)) return;
    waiting.get(data.id)?.done(data);
    waiting.delete(data.id);
  };
  started.onerror = event => {
    event.preventDefault();
    fail(event.message ? {failed: event.message} : {failed: "it was refused", lacks: "worker"});
  };
  return started;
}

function asked(name, state, progress) {
  try {
    worker ??= start();
  } catch (error) {
    return Promise.resolve({failed: error.message, lacks: "worker"}); // no `Worker`, or a policy forbids it
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

const LACKS = {
  wasm: "This browser cannot run the encoder: it has no WebAssembly, which a strict mode may switch off.",
  permission:
    "The server forbids WebAssembly, which the encoder needs: its Content-Security-Policy has no 'wasm-unsafe-eval' in script-src.",
  simd: "This browser cannot run the encoder: it lacks WebAssembly SIMD, which newer ones have.",
  "shared memory":
    "This browser cannot run the encoder: it has no shared memory for WebAssembly, which a strict mode may switch off.",
  worker:
    "Its program did not start. If the connection is slow, try again. Otherwise this browser is too old, or the server sends a program with a wrong type (right is text/javascript) or a Content-Security-Policy that forbids workers (worker-src).",
};

function why({failed, lacks}) {
  if (lacks) return `${LACKS[lacks]} The picture shows the first state.`;
  if (/memory|allocat/i.test(failed))
    return "This device has too little free memory for it. Close other pages and try again; the picture shows the first state.";
  return `It could not be loaded: ${failed.slice(0, 200)}.`;
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

// without them, the buttons do not say how much is loaded; if nothing can be fetched, the worker says why
const sizes = await fetch(new URL("files.json", here))
  .then(response => response.json())
  .catch(() => ({}));
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
        // at the end of a file it is read, which may take seconds
        note.textContent = progress < 1 ? `Loading ${part}: ${Math.floor(100 * progress)}%` : "Preparing …";
      }),
    ]);
    const failure = [view, ready].find(part => part.failed);
    if (failure) {
      button.disabled = false;
      button.textContent = "Try again";
      note.textContent = why(failure);
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
