// What all explorers share: elements, controls, and questions to whoever computes, Python or the page.

const SVG = "http://www.w3.org/2000/svg";
const PATIENCE = 6000; // ms until the view says that nobody answers
const PAUSE = 120; // ms of no typing before a question is asked

/** An element: h("button.x", {onclick: f}, "text", child), or h("button.x", "text"). Markup in a text is shown as text. */
export function h(tag, ...rest) {
  const [name, ...classes] = tag.split("."),
    bare = Object.getPrototypeOf(rest[0] ?? "") !== Object.prototype;
  const element = filled(document.createElement(name), bare ? {} : rest[0], bare ? rest : rest.slice(1));
  element.classList.add(...classes);
  if (name === "button") element.type = "button"; // submits no form
  return element;
}

/** The same for SVG. */
export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(
    ...children
      .flat(Infinity)
      .filter(child => child != null)
      .map(child => (child instanceof Node ? child : String(child))),
  );
  return element;
}

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const MOTION = {duration: 300, easing: "ease-out"};

/** Redraw a place. What is there before and after moves from its old state to its new one: bars in their order, and
 * what has a `data-move`, by this name: an element of a drawing by its style, any other from place to place. */
function redrawn(place, draw) {
  const parts = () => {
    const bars = [...place.querySelectorAll(".cu-fill")];
    return new Map([
      ...bars.map((bar, at) => [`bar ${at} of ${bars.length}`, bar]),
      ...[...place.querySelectorAll("[data-move]")].map(part => [part.dataset.move, part]),
    ]);
  };
  const look = part => {
    if (part instanceof SVGElement) {
      const {transform, d, r, strokeWidth, opacity} = getComputedStyle(part);
      return {transform, d, r, strokeWidth, opacity};
    }
    const {left, top, width} = part.getBoundingClientRect(),
      origin = place.getBoundingClientRect();
    return {left: left - origin.left, top: top - origin.top, width};
  };
  if (calm.matches) return draw();
  const before = new Map([...parts()].map(([name, part]) => [name, look(part)]));
  const answer = draw();
  for (const [name, part] of parts()) {
    const old = before.get(name);
    if (!old) continue;
    const now = look(part);
    if ("d" in now) part.animate([old, now], MOTION);
    else if (part.matches(".cu-fill")) part.animate([{width: `${old.width}px`}, {width: `${now.width}px`}], MOTION);
    else if (old.left !== now.left || old.top !== now.top)
      part.animate([{translate: `${old.left - now.left}px ${old.top - now.top}px`}, {translate: "0 0"}], MOTION);
  }
  return answer;
}

export const fixed = (value, digits = 2) =>
  value == null ? "–" : (value.toFixed(digits) * 1 === 0 ? 0 : value).toFixed(digits);

/** "1 token", "2 tokens"; or with the plural given. */
export const many = (count, one, more = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : more}`;

let unique = 0;

/** An explorer's frame: controls, a place for the view, a line that says what is seen.
 *
 * controls(state, change): an array of elements; change({name: value}) asks anew, change({...}, true) without a pause.
 * What a change depends on must be of the newest state, not of the one that is shown: change(now => ({name: ...})).
 * show(place, result, state, change): draws the result into `place` and returns the sentence for the line.
 * tries: what to try, in a sentence or two.
 */
export function frame({model, el}, {name, tries, controls, show}) {
  const view = `${name} ${Math.random().toString(36).slice(2)}`;
  const place = h("div.cu-place"),
    line = h("p", {class: "cu-line", role: "status"});
  let state = {...model.get("start")},
    asked = 0,
    open = null,
    asking = null,
    waiting = false,
    late = false,
    timer,
    patience,
    last = null;
  const say = (text, bad = false) => {
    line.textContent = text;
    line.classList.toggle("cu-bad", bad);
  };
  const draw = () => {
    const held = place.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    say(redrawn(place, () => show(place, last, asking, change)));
    if (held) place.querySelector(`[data-key="${CSS.escape(held)}"]`)?.focus();
  };
  const ask = () => {
    waiting = true;
    if (open !== null && !late) return; // one question at a time; the newest follows the answer
    waiting = late = false;
    open = `${view} ${++asked}`;
    asking = state;
    model.set("state", {...state, asked: open});
    model.save_changes();
    clearTimeout(patience);
    patience = setTimeout(() => {
      late = true; // the answer may still come, as when the kernel is busy; or another question is asked
      el.firstChild?.classList.add("cu-silent");
      say(
        model.get("engine") === "Python"
          ? "Python does not answer. If it is busy, the answer will come; if the kernel was restarted, run this cell again."
          : "The page does not answer. If it is not busy, reload it.",
        true,
      );
    }, PATIENCE);
  };
  const change = (part, now = false) => {
    state = {...state, ...(typeof part === "function" ? part(state) : part)};
    model.remember?.(state);
    el.firstChild?.setAttribute("data-open", "");
    clearTimeout(timer);
    timer = setTimeout(ask, now ? 0 : PAUSE);
  };
  const answered = () => {
    const answer = model.get("answer");
    if (!answer || answer.asked !== open) return;
    open = null;
    late = false;
    clearTimeout(patience);
    el.firstChild?.classList.remove("cu-silent");
    if (answer.problem) {
      el.firstChild?.classList.add("cu-silent"); // what is seen belongs to another state
      say(answer.problem, true);
    } else {
      last = answer.result;
      draw();
    }
    if (waiting) ask();
    else el.firstChild?.removeAttribute("data-open");
  };
  model.on("change:answer", answered);
  // JupyterLab's own keys do not act inside
  el.replaceChildren(
    h(
      "div",
      {class: "cu-explorer", "data-explorer-view": name, "data-lm-suppress-shortcuts": true},
      h("div.cu-controls", controls(state, change)),
      line, // beside the sliders, in sight while one is dragged
      place,
      h("p.cu-tries", h("strong", "To try: "), tries),
    ),
  );
  say("…");
  el.firstChild.setAttribute("data-open", ""); // until the newest question is answered
  ask();
  return () => {
    model.off("change:answer", answered);
    clearTimeout(timer);
    clearTimeout(patience);
  };
}

function labelled(label, control, field = control) {
  field.addEventListener("keydown", event => event.stopPropagation()); // JupyterLab's and the deck's own keys
  field.id = `cu-${++unique}`;
  return h("div.cu-control", h("label", {for: field.id}, label), control);
}

/** A field for text; `lines` makes it higher. */
export function textField(label, value, given, lines = 1) {
  const field =
    lines > 1
      ? h("textarea", {rows: lines, spellcheck: "false"})
      : h("input", {type: "text", spellcheck: "false", autocomplete: "off"});
  field.value = value;
  field.addEventListener("input", () => given(field.value));
  return labelled(label, field);
}

export function slider(label, value, [low, high, step], given, written = String) {
  const field = h("input", {type: "range", min: low, max: high, step}),
    shown = h("output", written(value));
  field.value = value;
  field.addEventListener("input", () => {
    shown.textContent = written(field.valueAsNumber);
    given(field.valueAsNumber);
  });
  return labelled(label, h("span.cu-slider", field, shown), field);
}

export function tick(label, value, given) {
  const field = h("input", {type: "checkbox"});
  field.checked = value;
  field.addEventListener("change", () => given(field.checked));
  return labelled(label, field);
}

export function choice(label, value, options, given) {
  const field = h(
    "select",
    Object.entries(options).map(([key, text]) => h("option", {value: key}, text)),
  );
  field.value = value;
  field.addEventListener("change", () => given(field.value));
  return labelled(label, field);
}

/** A token as a small box, or as a button if something happens on a click. */
export function token(text, {kind, pressed, key, onclick, title} = {}) {
  const special = {"[CLS]": "special", "[SEP]": "special", "[PAD]": "padding", "[MASK]": "masked", "[UNK]": "masked"}[
    text
  ];
  const options = {class: `cu-token cu-${kind || special || "token"}`, title};
  return onclick
    ? h("button", {...options, "aria-pressed": String(Boolean(pressed)), "data-key": key, onclick}, text)
    : h("span", options, text);
}

/** An arrow in a drawing from the origin to (x, y), named for `data-move`; style: of the group, such as its place. */
export function arrow(x, y, kind, name, style = "") {
  const long = Math.hypot(x, y) || 1,
    [ahead, across] = [
      [x / long, y / long],
      [-y / long, x / long],
    ],
    point = (back, side) => [0, 1].map(at => ([x, y][at] - back * ahead[at] + side * across[at]).toFixed(1)).join(" ");
  return s(
    "g",
    {style, "data-move": name},
    s("path", {
      d: `M0 0 L${point(Math.min(8, long), 0)}`,
      style: `stroke:var(--${kind});stroke-width:3`,
      "data-move": `${name} line`,
    }),
    s("path", {
      d: `M${point(0, 0)} L${point(11, 5.5)} L${point(11, -5.5)} Z`,
      style: `fill:var(--${kind})`,
      "data-move": `${name} tip`,
    }),
  );
}

/** A table: head, then rows; a number is set right. */
export function table(head, rows, label) {
  const names = head.map(text => (text ? h("th", {scope: "col"}, text) : h("td")));
  const isNumber = cell => typeof cell === "number" || /^[-–]?[\d.]*$/.test(cell);
  const cells = row => row.map(cell => h("td", {class: isNumber(cell) ? "cu-number" : null}, cell));
  const body = h("tbody", ...rows.map(row => h("tr", cells(row))));
  const drawn = h("table", {"aria-label": label}, h("thead", h("tr", names)), body);
  return h("div", {class: "cu-scroll", tabindex: 0, role: "group", "aria-label": label}, drawn);
}

/** A bar from 0 to `most`, in the colour of the kind of thing, with its number. */
export function bar(value, most, kind, digits = 2) {
  const width = `calc((100% - 4em) * ${Math.max(0, Math.min(1, value / most))})`;
  return h(
    "span.cu-bar",
    h("span", {class: "cu-fill", style: `width:${width};background:var(--${kind}-f);border-color:var(--${kind}-l)`}),
    h("span.cu-value", fixed(value, digits)),
  );
}
