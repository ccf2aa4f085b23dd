// Lesson 03: one word in several sentences; a slider over hidden states moves the points.
import {frame, h, s, fixed, textField, slider} from "./view.js";

const GROUPS = ["token", "sentence", "head", "masked"]; // the kinds of sentences, by colour

/** Points moved apart until none covers another; points at one place part in the order of their numbers. */
function sideBySide(given, least = 24) {
  const places = given.map(([x, y], row) => [x + 0.01 * row, y]);
  for (let turn = 0; turn < 60; turn++)
    for (let one = 0; one < places.length; one++)
      for (let other = 0; other < one; other++) {
        const [a, b] = places[one],
          [x, y] = places[other],
          far = Math.hypot(a - x, b - y);
        if (far >= least) continue;
        const right = (((a - x) / far) * (least - far)) / 2,
          up = (((b - y) / far) * (least - far)) / 2;
        places[one] = [a + right, b + up];
        places[other] = [x - right, y - up];
      }
  return places;
}

function render({model, el}) {
  let layer = null,
    pointed = null,
    shown = null;
  return frame(
    {model, el},
    {
      name: "Layers",
      tries:
        "move from hidden state 0 to 6: when do the two kinds of bank part? Point at a dot, or move to it by Tab: the line names the nearest sentence. Which nearest is of the other kind? Then take a word of your own with two meanings; an empty line begins the second colour.",
      controls: (state, change) => [
        textField("Word", state.word, word => change({word})),
        textField(
          "Sentences with it, one a line; an empty line between two kinds",
          state.texts,
          texts => change({texts}),
          6,
        ),
      ],
      show: (place, {sentences, kinds, points, apart, cosines}) => {
        if (shown !== sentences.join("\n")) pointed = null;
        shown = sentences.join("\n");
        layer = Math.min(layer ?? 0, points.length - 1);
        const sentence = () => {
          const rows = cosines[layer],
            pairs = rows.flatMap((row, i) => row.filter((_, j) => j > i));
          const near =
            pointed === null
              ? ""
              : ` Nearest to “${sentences[pointed]}”: “${sentences[rows[pointed].map((value, j) => [j === pointed ? -2 : value, j]).sort((a, b) => b[0] - a[0])[0][1]]}”.`;
          return `Hidden state ${layer}: two occurrences have a cosine of ${fixed(pairs.reduce((a, b) => a + b) / pairs.length)} and a distance of ${fixed(apart[layer])} on average.${near}`;
        };
        const mark = row => {
          if (pointed === row) return;
          pointed = row;
          move();
        };
        const dots = sentences.map((text, row) =>
          s(
            "g",
            {
              class: "cu-moving",
              tabindex: 0,
              role: "img",
              "aria-label": text,
              "data-key": `s${row}`,
              onpointerenter: () => mark(row),
              onfocus: () => mark(row),
            },
            s("circle", {r: 11, style: `fill:var(--${GROUPS[kinds[row]]}-f);stroke:var(--${GROUPS[kinds[row]]}-l)`}),
            s("text", {y: 4.5, "text-anchor": "middle"}, String(row + 1)),
          ),
        );
        const drawing = s("svg", {viewBox: "0 0 340 280", style: "max-width:26rem", role: "group"}, dots);
        const move = () => {
          const places = sideBySide(points[layer].map(([x, y]) => [170 + x * 135, 140 - y * 115]));
          places.forEach(([x, y], row) => {
            dots[row].style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
            dots[row].firstChild.style.strokeWidth = row === pointed ? 4 : 2;
          });
          drawing.setAttribute("aria-label", `The occurrences in hidden state ${layer}, in a plane`);
          const line = el.querySelector(".cu-line");
          if (line) line.textContent = sentence();
        };
        const control = slider("Hidden state", layer, [0, points.length - 1, 1], value => {
          layer = value;
          move();
        });
        control.querySelector("input").dataset.key = "layer";
        place.replaceChildren(
          h("div.cu-controls", control),
          drawing,
          h(
            "p.cu-small",
            "The axes are the two directions in which the vectors differ most; each hidden state is drawn at a scale of its own. Points that would cover each other stand side by side.",
          ),
          h(
            "ol",
            {style: "margin:0;font-size:0.93em"},
            sentences.map(text => h("li", text)),
          ),
        );
        move();
        return sentence();
      },
    },
  );
}

export default {render};
