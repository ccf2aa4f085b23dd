// Lesson 05: all heads as small maps; a click silences one. What becomes of the sentence vector?
import {frame, h, fixed, textField, table} from "./view.js";

function render({model, el}) {
  const map = rows => {
    const canvas = h("canvas", {width: rows.length, height: rows.length}),
      pen = canvas.getContext("2d");
    const dark = document.querySelector('html[data-theme="dark"], body[data-jp-theme-light="false"]');
    rows.forEach((row, y) =>
      row.forEach((value, x) => {
        pen.fillStyle = dark ? `rgba(243, 192, 77, ${value})` : `rgba(125, 86, 0, ${value})`;
        pen.fillRect(x, y, 1, 1);
      }),
    );
    return canvas;
  };
  return frame(
    {model, el},
    {
      name: "Silence heads",
      tries:
        "silence one head: how much does the vector move? Silence a whole layer by its number: which layer moves it most? Which similarity changes most?",
      controls: (state, change) => [
        textField("Text", state.text, text => change({text})),
        textField("Compare with (up to three texts, one a line)", state.others, others => change({others}), 3),
      ],
      show: (place, {maps, others, cosine, before, after}, {off}, change) => {
        const silent = (layer, head) => off.some(pair => pair[0] === layer && pair[1] === head);
        const turn = pairs => {
          const same = (one, other) => one[0] === other[0] && one[1] === other[1];
          change(({off}) => {
            const all = pairs.every(pair => off.some(one => same(one, pair))),
              rest = off.filter(one => !pairs.some(pair => same(one, pair)));
            return {off: all ? rest : [...rest, ...pairs]};
          }, true);
        };
        const layers = maps.map((heads, index) => [
          h(
            "button",
            {
              "data-key": `l${index + 1}`,
              style: "aspect-ratio:auto;line-height:1.4",
              "aria-label": `layer ${index + 1}, all heads`,
              onclick: () => turn(heads.map((_, head) => [index + 1, head])),
            },
            String(index + 1),
          ),
          heads.map((rows, head) =>
            h(
              "button",
              {
                "data-key": `h${index + 1}.${head}`,
                "aria-label": `layer ${index + 1}, head ${head}`,
                "aria-pressed": String(silent(index + 1, head)),
                onclick: () => turn([[index + 1, head]]),
              },
              map(rows),
            ),
          ),
        ]);
        place.replaceChildren(
          h(
            "p.cu-small",
            "Each square is a head: its rows ask, its columns are looked at, darker is more. Click a head, or the number of a layer, to silence it.",
          ),
          h(
            "div",
            {class: "cu-maps", style: `grid-template-columns:auto repeat(${maps[0].length}, minmax(0, 1fr))`},
            h("span", "head"),
            maps[0].map((_, head) => h("span", String(head))),
            layers,
          ),
          h(
            "div.cu-row",
            h(
              "button",
              {"data-key": "none", disabled: !off.length, onclick: () => change({off: []}, true)},
              "All heads speak",
            ),
          ),
          others.length
            ? table(
                ["cosine with", "before", "now"],
                others.map((text, at) => [text, fixed(before[at]), fixed(after[at])]),
                "Similarities before and now",
              )
            : "",
        );
        return `${off.length} of ${maps.length * maps[0].length} heads are silent. The vector has moved by ${fixed(1 - cosine, 3)}: 1 minus its cosine with what it was.`;
      },
    },
  );
}

export default {render};
