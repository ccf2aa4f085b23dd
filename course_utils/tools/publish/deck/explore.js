// Explorers that need no encoder run in the deck itself, also from a file: a button below the picture opens one.
// The model, compute.js and what it computes from (EXPLORERS: modules and data by name) stand before this script.

const over = document.createElement("dialog");
over.className = "explore";
document.body.append(over);
over.addEventListener("keydown", event => event.stopPropagation()); // the deck's own keys
over.addEventListener("click", event => {
  if (event.target === over) over.close();
});

for (const picture of document.querySelectorAll("[data-explorer]")) {
  const file = picture.dataset.explorer,
    {module, data} = EXPLORERS[file] ?? {};
  if (!module) continue;
  const button = Object.assign(document.createElement("button"), {type: "button", textContent: "Try it here"});
  let line = picture.parentElement.querySelector(".explore-link"); // with the link to the book, if there is one
  if (!line) {
    line = Object.assign(document.createElement("p"), {className: "explore-link"});
    picture.after(line);
  }
  line.prepend(button, " ");
  button.onclick = async () => {
    const place = document.createElement("div"),
      close = Object.assign(document.createElement("button"), {
        type: "button",
        textContent: "Close",
        onclick: () => over.close(),
      });
    over.replaceChildren(close, place);
    over.setAttribute("aria-label", `Explorer: ${file.replaceAll("_", " ")}`);
    over.showModal();
    const view = await import(`data:text/javascript;base64,${module}`),
      ask = async state => ({answer: await answer(file.replaceAll("_", " "), state, data)});
    view.default.render({model: new Model(JSON.parse(picture.dataset.state), ask), el: place});
    place.querySelector("input, textarea, select, button")?.focus();
  };
}
