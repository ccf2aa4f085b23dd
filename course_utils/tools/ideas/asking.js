// One question at a time: a sheet from Python, and what the learner chose back to it. Nothing is judged here.

const LETTERS = "ABCD";
let unique = 0;

function made(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** An element with HTML that Python rendered from the course's own Markdown, in which HTML is not allowed. */
function rendered(tag, html, attributes = {}) {
  const element = made(tag, attributes);
  element.innerHTML = html;
  return element;
}

/** Radio buttons under a legend, with letters or without; `texts` are HTML. */
function choice(legend, name, texts, letters, row = false) {
  const rows = texts.map((text, at) =>
    made(
      "label",
      {class: "cu-option"},
      made("input", {type: "radio", name, value: at}),
      rendered("span", letters ? `<b>${LETTERS[at]}</b> ${text}` : text),
    ),
  );
  return made("fieldset", {class: row ? "cu-options cu-sures" : "cu-options"}, legend, ...rows);
}

function render({model, el}) {
  const name = `cu-ask-${++unique}`;
  const chosen = group => el.querySelector(`input[name="${group}"]:checked`)?.value;

  function show() {
    const sheet = model.get("shown");
    const frame = made("div", {class: "cu-explorer cu-ask", "data-lm-suppress-shortcuts": "true"});
    frame.addEventListener("keydown", event => event.stopPropagation()); // arrows would select other cells
    const line = made("div", {class: "cu-line", role: "status"});
    if (sheet.problem) line.append(sheet.problem);
    else if (sheet.last) line.append(rendered("div", sheet.last));
    if (sheet.last || sheet.problem) frame.append(line);
    frame.append(
      sheet.end === undefined ? asked(sheet) : rendered("div", sheet.end, {tabindex: "-1", class: "cu-end"}),
    );
    const held = el.contains(document.activeElement);
    el.replaceChildren(frame);
    if (held) el.querySelector(".cu-end, legend, button")?.focus();
  }

  function asked(sheet) {
    const form = made("form", {"aria-label": `Question ${sheet.done + 1} of ${sheet.of}`});
    form.append(
      made("p", {class: "cu-small"}, `${sheet.done + 1} of ${sheet.of} · ${sheet.about}`),
      made("progress", {max: sheet.of, value: sheet.done, "aria-label": "answered"}),
    );
    const legend = rendered("legend", sheet.ask, {tabindex: "-1"});
    const rest = () => {
      const own = sheet.kind === "recall" ? made("legend", {}, "How much of it did you have?") : legend;
      form.append(choice(own, `${name}-option`, sheet.options, sheet.kind !== "recall"));
      if (sheet.sures.length)
        form.append(choice(made("legend", {}, "How sure are you?"), `${name}-sure`, sheet.sures, false, true));
      form.append(made("button", {type: "submit"}, "Answer"), made("span", {class: "cu-missing", role: "status"}));
    };
    if (sheet.kind === "recall") {
      const reveal = made("button", {type: "button"}, "Show the answer");
      form.append(rendered("div", sheet.ask, {tabindex: "-1", class: "cu-front"}), reveal);
      reveal.addEventListener("click", () => {
        reveal.replaceWith(rendered("div", sheet.back, {class: "cu-back"}));
        rest();
        form.querySelector("input").focus();
      });
    } else rest();
    form.addEventListener("submit", event => {
      event.preventDefault();
      const option = chosen(`${name}-option`),
        sure = chosen(`${name}-sure`);
      if (option === undefined || (sheet.sures.length && sure === undefined)) {
        form.querySelector(".cu-missing").textContent =
          option === undefined ? " Choose an answer first." : " Say how sure you are.";
        return;
      }
      model.set("given", {
        item: sheet.item,
        option: Number(option),
        ...(sure === undefined ? {} : {sure: Number(sure)}),
      });
      model.save_changes();
    });
    return form;
  }

  model.on("change:shown", show);
  show();
  return () => model.off("change:shown", show);
}

export default {render};
