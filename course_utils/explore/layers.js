// Lesson 03: one word in several sentences; a slider over hidden states moves the points.
import {frame, h, s, fixed, textField, slider} from "./view.js";

function render({model, el}) {
  let layer = null,
    pointed = null,
    shown = null;
  return frame(
    {model, el},
    {
      name: "Layers",
      tries:
        "move from hidden state 0 to 6: when do the two kinds of bank part? Point at a dot, or move to it by Tab: the line names the nearest sentence. Which nearest is of the other kind? Then take a word of your own with two meanings.",
      controls: (state, change) => [
        textField("Word", state.word, word => change({word})),
        textField("Sentences with it, one a line", state.texts, texts => change({texts}), 5),
      ],
      show: (place, {sentences, points, apart, cosines}) => {
        if (shown !== sentences.join("\n")) pointed = null;
        shown = sentences.join("\n");
        layer = Math.min(layer ?? 0, points.length - 1);
        const line = text => {
          const box = el.querySelector(".cu-line");
          if (box) box.textContent = text;
          return text;
        };
        const sentence = () => {
          const rows = cosines[layer],
            pairs = rows.flatMap((row, i) => row.filter((_, j) => j > i));
          const near =
            pointed === null
              ? ""
              : ` Nearest to “${sentences[pointed]}”: “${sentences[rows[pointed].map((value, j) => [j === pointed ? -2 : value, j]).sort((a, b) => b[0] - a[0])[0][1]]}”.`;
          return `Hidden state ${layer}: two occurrences have a cosine of ${fixed(pairs.reduce((a, b) => a + b) / pairs.length)} and a distance of ${fixed(apart[layer])} on average.${near}`;
        };
        const draw = () =>
          s(
            "svg",
            {
              viewBox: "0 0 420 300",
              role: "group",
              "aria-label": `The occurrences in hidden state ${layer}, in a plane`,
            },
            points[layer].map(([x, y], row) => {
              const point = [210 + x * 150, 150 - y * 120];
              const mark = () => {
                pointed = row;
                place.firstChild.replaceWith(draw());
                line(sentence());
              };
              return [
                s("circle", {
                  cx: point[0],
                  cy: point[1],
                  r: row === pointed ? 11 : 8,
                  style: "fill:var(--token-f);stroke:var(--token-l);stroke-width:2",
                  tabindex: 0,
                  role: "img",
                  "aria-label": sentences[row],
                  "data-key": `s${row}`,
                  onpointerenter: () => pointed !== row && mark(),
                  onfocus: () => {
                    if (pointed !== row) {
                      mark();
                      place.querySelector(`[data-key=s${row}]`).focus();
                    }
                  },
                }),
                s("text", {x: point[0] + 12, y: point[1] + 4 + (row === pointed ? -14 : 0)}, String(row + 1)),
              ];
            }),
          );
        const control = slider("Hidden state", layer, [0, points.length - 1, 1], value => {
          layer = value;
          place.firstChild.replaceWith(draw());
          line(sentence());
        });
        control.querySelector("input").dataset.key = "layer";
        place.replaceChildren(
          draw(),
          h("div.cu-controls", control),
          h(
            "p.cu-small",
            "The axes are the two directions in which the vectors differ most; each hidden state is drawn at a scale of its own.",
          ),
          h(
            "ol",
            {style: "margin:0;font-size:0.93em"},
            sentences.map(text => h("li", text)),
          ),
        );
        return sentence();
      },
    },
  );
}

export default {render};
