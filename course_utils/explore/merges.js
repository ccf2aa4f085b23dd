// Lesson 01: a slider over the merges of BPE on a small corpus that can be edited.
import { frame, h, textField, slider, token, table } from "./view.js";

function render({model, el}) {
  return frame({model, el}, {
    name: "Merges",
    tries: "move the slider slowly and guess each next merge. Add a word of your own ten times: when does it become one piece? Which word never does?",
    controls: (state, change) => [
      textField("Corpus: a word and its count in each line", state.corpus, corpus => change({corpus}), 5),
      slider("Merges", state.steps, [0, 40, 1], steps => change({steps}, true)),
    ],
    show: (place, {merges, steps, words, entries, symbols}) => {
      place.replaceChildren(h("div", {class: "cu-two"},
        h("div", {}, words.map(([word, count, cut]) => h("div", {class: "cu-row"}, cut.map(piece => token(piece)), h("span", {class: "cu-id"}, `× ${count}`)))),
        table(["", "merge", "how often"], merges.slice(0, Math.max(steps + 2, 5)).map(([left, right, count], row) =>
          [String(row + 1), h("span", {}, token(left, {kind: row < steps ? "token" : "quiet"}), " + ", token(right, {kind: row < steps ? "token" : "quiet"})), row <= steps ? String(count) : "…"]), "The merges in their order")));
      const next = merges[steps];
      return `After ${steps} merges: ${entries} entries, ${symbols} pieces in the corpus. ${next ? `Next: ${next[0]} + ${next[1]}, which stand together ${next[2]} times.` : "Nothing is left to merge."}`;
    },
  });
}

export default { render };
