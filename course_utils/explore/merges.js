// Lesson 01: a slider over the merges of BPE on a small corpus that can be edited.
import {frame, h, many, textField, slider, token, table} from "./view.js";

function render({model, el}) {
  return frame(
    {model, el},
    {
      name: "Merges",
      tries:
        "before each step of the slider, say which pair is next. Add a line with a word of your own and the count 10: how many merges until it is one piece? Which of the first eight words is the last to become one?",
      controls: (state, change) => [
        textField("Corpus: a word and its count in each line", state.corpus, corpus => change({corpus}), 5),
        slider("Merges", state.steps, [0, 40, 1], steps => change({steps}, true)),
      ],
      show: (place, {merges, steps, words, entries, symbols}) => {
        place.replaceChildren(
          h(
            "div.cu-two",
            h(
              "div",
              words.map(([, count, cut]) =>
                h(
                  "div.cu-row",
                  cut.map(piece => token(piece)),
                  h("span.cu-id", `× ${count}`),
                ),
              ),
            ),
            table(
              ["", "merge", "how often"],
              merges
                .slice(0, steps)
                .map(([left, right, count], row) => [
                  String(row + 1),
                  h("span", token(left), " + ", token(right)),
                  String(count),
                ]),
              "The merges in their order",
            ),
          ),
        );
        const last = merges[steps - 1];
        return `After ${many(steps, "merge")}: ${entries} entries, ${symbols} pieces in the corpus.${last ? ` The last was ${last[0]} + ${last[1]}, which stood together ${last[2]} times.` : ""}${steps === merges.length ? " Nothing is left to merge." : ""}`;
      },
    },
  );
}

export default {render};
