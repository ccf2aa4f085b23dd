// Lesson 08: one slider moves the histogram, the table, precision and recall, and the point on the ROC curve.
import {frame, h, s, fixed, slider, table} from "./view.js";

function render({model, el}) {
  const bins = 25,
    wide = 420,
    high = 170;
  const histogram = ({cosines, labels}, at) => {
    const low = -0.1,
      counts = [new Array(bins).fill(0), new Array(bins).fill(0)],
      step = (1 - low) / bins;
    cosines.forEach(
      (value, row) => counts[labels[row] ? 1 : 0][Math.max(0, Math.min(bins - 1, Math.floor((value - low) / step)))]++,
    );
    const most = Math.max(...counts.flat()),
      x = value => 10 + ((value - low) / (1 - low)) * (wide - 20),
      y = count => (count / most) * 62;
    const half = (row, up) =>
      counts[row].map((count, bin) =>
        s("rect", {
          x: x(low + bin * step) + 1,
          width: (wide - 20) / bins - 2,
          y: up ? 78 - y(count) : 82,
          height: y(count),
          style: `fill:var(--${row ? "sentence" : "masked"}-f);stroke:var(--${row ? "sentence" : "masked"}-l);opacity:${low + (bin + 0.5) * step >= at ? 1 : 0.35}`,
        }),
      );
    return s(
      "svg",
      {
        viewBox: `0 0 ${wide + 12} ${high}`,
        role: "img",
        "aria-label": `Histogram of cosines: similar pairs upwards, other pairs downwards; the threshold at ${fixed(at)}`,
      },
      half(1, true),
      half(0, false),
      s("line", {x1: x(at), x2: x(at), y1: 4, y2: 150, style: "stroke:var(--ink);stroke-width:2"}),
      s("text", {class: "cu-halo", x: 12, y: 14}, "similar"),
      s("text", {class: "cu-halo", x: 12, y: 146}, "not similar"),
      [0, 0.25, 0.5, 0.75, 1].map(value => s("text", {x: x(value), y: 166, "text-anchor": "middle"}, fixed(value))),
    );
  };
  const roc = ({curve, false_alarms, recall}) =>
    s(
      "svg",
      {
        viewBox: "0 0 200 200",
        style: "max-width:15rem",
        role: "img",
        "aria-label": `ROC curve; at this threshold ${fixed(recall)} of the similar pairs pass, and ${fixed(false_alarms)} of the others`,
      },
      s("path", {d: "M30 170 L190 10", style: "stroke:var(--quiet);stroke-dasharray:4 4"}),
      s("path", {
        d: "M" + curve.map(([x, y]) => `${30 + 160 * x} ${170 - 160 * y}`).join(" L"),
        style: "fill:none;stroke:var(--token-l);stroke-width:2",
      }),
      s("path", {d: "M30 10 V170 H190", style: "fill:none;stroke:var(--quiet)"}),
      s("circle", {cx: 30 + 160 * false_alarms, cy: 170 - 160 * recall, r: 6, style: "fill:var(--masked-l)"}),
      s("text", {x: 110, y: 190, "text-anchor": "middle"}, "false alarms"),
      s("text", {x: 18, y: 90, "text-anchor": "middle", transform: "rotate(-90 18 90)"}, "found"),
    );
  return frame(
    {model, el},
    {
      name: "Threshold",
      tries:
        "find the highest accuracy for “similar from score 3 on”. Then raise that score: where must the threshold go, and what happens to precision? For which scores can precision and recall both reach 0.9? Read the pairs that pass most narrowly.",
      controls: (state, change) => [
        slider(
          "Threshold on the cosine",
          state.at,
          [-0.1, 1, 0.01],
          at => change({at}, true),
          value => fixed(value),
        ),
        slider("Similar from score (0 to 5)", state.cut, [0.5, 5, 0.5], cut => change({cut}, true)),
      ],
      show: (place, result, {at}) => {
        const [hit, miss, alarm, right] = result.counts;
        place.replaceChildren(
          histogram(result, at),
          h(
            "div.cu-two",
            h(
              "div",
              table(
                ["", "passes", "does not"],
                [
                  ["similar", hit, miss],
                  ["not similar", alarm, right],
                ],
                "The four kinds of pairs",
              ),
              table(
                ["", ""],
                [
                  ["precision", fixed(result.precision)],
                  ["recall", fixed(result.recall)],
                  ["accuracy", fixed(result.accuracy)],
                ],
                "Measures",
              ),
            ),
            roc(result),
          ),
          table(
            ["score", "cosine", "the pairs that pass most narrowly"],
            result.above.map(([one, other, score, cosine]) => [fixed(score, 1), fixed(cosine), `${one} / ${other}`]),
            "Pairs just above the threshold",
          ),
        );
        return `${hit + alarm} of ${hit + miss + alarm + right} pairs pass. Precision ${fixed(result.precision)}, recall ${fixed(result.recall)}, accuracy ${fixed(result.accuracy)}.`;
      },
    },
  );
}

export default {render};
