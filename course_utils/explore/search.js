// Lesson 14: a query against some thousand sentences, by the vectors of any hidden state and pooling.
import {frame, h, s, fixed, textField, slider, choice, table} from "./view.js";

function render({model, el}) {
  const bins = 26,
    low = -0.3,
    wide = 420;
  const x = value => 10 + ((value - low) / (1 - low)) * (wide - 20);
  const histogram = ({counts, results, mean, lowest, size}) => {
    const most = Math.max(...counts);
    return s(
      "svg",
      {
        viewBox: `0 0 ${wide + 12} 96`,
        role: "img",
        "aria-label": `Histogram of ${size} cosines, from ${fixed(lowest)} to ${fixed(results[0].cosine)}, with a mean of ${fixed(mean)}`,
      },
      counts.map((count, bin) =>
        s("rect", {
          x: x(low + bin * 0.05) + 1,
          width: (wide - 20) / bins - 2,
          y: 70 - (60 * count) / most,
          height: (60 * count) / most,
          style: "fill:var(--vector-f);stroke:var(--vector-l)",
        }),
      ),
      results.map(({cosine}) =>
        s("circle", {cx: x(cosine), cy: 70, r: 5, style: "fill:var(--masked-l);stroke:var(--card)"}),
      ),
      s("path", {d: `M10 70 H${wide - 10}`, style: "stroke:var(--quiet)"}),
      [0, 0.25, 0.5, 0.75, 1].map(value => s("text", {x: x(value), y: 90, "text-anchor": "middle"}, fixed(value))),
    );
  };
  const marked = (text, shared) =>
    h(
      "span",
      text.split(/([\p{L}\p{N}_]+)/u).map(part => (shared.includes(part) ? h("mark", part) : part)),
    );
  return frame(
    {model, el},
    {
      name: "Search",
      tries:
        "something that you remember of a film, in your own words. Then go down to hidden state 0: which results stay, and what do they share with your query? Take [CLS] there: what are the cosines now, and why?",
      controls: (state, change) => [
        textField("Your query", state.query, query => change({query})),
        slider("Hidden state", state.layer, [0, 6, 1], layer => change({layer}, true)),
        choice("Pooling", state.pooling, {cls: "[CLS]", mean: "mean", max: "maximum"}, pooling =>
          change({pooling}, true),
        ),
      ],
      show: (place, result, {layer, pooling}) => {
        const {results, size, mean, lowest, first} = result,
          usual = layer === 6 && pooling === "mean";
        place.replaceChildren(
          table(
            ["", "cosine", "sentence (marked: words of the query)", ...(usual ? [] : ["place by state 6 and mean"])],
            results.map(({text, cosine, shared, usual: rank}, at) => [
              at + 1,
              fixed(cosine),
              marked(text, shared),
              ...(usual ? [] : [rank]),
            ]),
            "The first results",
          ),
          h("p.cu-head", `The cosines of all ${size.toLocaleString("en")} sentences; the dots are the results above`),
          histogram(result),
        );
        return lowest === results[0].cosine
          ? `All ${size.toLocaleString("en")} cosines are ${fixed(mean)}: this vector is the same for every text, and the order is that of the collection.`
          : `The first result has a cosine of ${fixed(results[0].cosine)}, a sentence taken at random ${fixed(mean)} on average.${usual ? "" : ` The first by state 6 and mean is number ${first} here.`}`;
      },
    },
  );
}

export default {render};
