// Lesson 02: batches padded to one length; wasted cells counted; what happens without the mask.
import {frame, s, fixed, textField, slider, tick, table} from "./view.js";

function render({model, el}) {
  return frame(
    {model, el},
    {
      name: "Padding",
      tries:
        "one sentence in a batch: what is left of the padding? Put a very long sentence, of up to 60 tokens, in the place of “Why not?”: what does it do to its batch?",
      controls: (state, change) => [
        textField("Sentences, one a line", state.texts, texts => change({texts}), 5),
        slider("Batch size", state.batch, [1, 12, 1], batch => change({batch}, true)),
        tick("Sorted by length", state.ordered, ordered => change({ordered}, true)),
        slider("Fixed length (0: the longest of each batch)", state.length, [0, 60, 1], length =>
          change({length}, true),
        ),
      ],
      show: (place, {rows, batches, widths, cells, real, place: short, cosines}) => {
        const most = Math.max(...widths),
          cell = 400 / most,
          height = 12;
        let y = 4;
        const drawn = batches
          .map((batch, at) => {
            const lines = batch.map(row => {
              const line = [
                s("rect", {
                  x: 4,
                  y,
                  width: rows[row].length * cell,
                  height: height - 2,
                  style: "fill:var(--token-f);stroke:var(--token-l)",
                }),
              ];
              if (widths[at] > rows[row].length)
                line.push(
                  s("rect", {
                    x: 4 + rows[row].length * cell,
                    y,
                    width: (widths[at] - rows[row].length) * cell,
                    height: height - 2,
                    style: "fill:var(--padding-f);stroke:var(--padding-l);stroke-dasharray:3 3",
                  }),
                );
              y += height;
              return line;
            });
            y += 8;
            return lines;
          })
          .flat(2);
        place.replaceChildren(
          s(
            "svg",
            {
              viewBox: `0 0 410 ${y}`,
              role: "img",
              "aria-label": `${batches.length} batches; ${cells - real} of ${cells} cells are padding`,
            },
            drawn,
          ),
          table(
            ["the shortest sentence, in its batch", "cosine with its vector alone"],
            [
              ["with the mask", fixed(cosines[0], 3)],
              ["pooled over padding too", fixed(cosines[1], 3)],
              ["no mask at all: attended to and pooled", fixed(cosines[2], 3)],
            ],
            "With the mask and without",
          ),
        );
        return `${cells} cells, ${real} of them tokens: ${fixed((1 - real / cells) * 100, 0)}% is padding. The shortest sentence: ${rows[short].slice(1, -1).join(" ")}`;
      },
    },
  );
}

export default {render};
