// Lesson 05: one token asks all others, in one head, step by step with the model's numbers.
import {frame, h, s, fixed, textField, slider, token, table, bar} from "./view.js";

/** Arcs over the tokens from the one that asks to all, as thick as their shares. They follow when lines break anew. */
function withArcs(row, asks, shares) {
  const arcs = shares.map((share, at) =>
    s("path", {
      "data-move": `arc ${at}`,
      style: `stroke:var(--head-l);stroke-width:${(9 * share).toFixed(2)}px;opacity:${(0.25 + 0.75 * share).toFixed(2)}`,
    }),
  );
  const over = s("svg", {class: "cu-over-tokens", "aria-hidden": "true"}, arcs),
    whole = h("div.cu-arcs", over, row);
  const lay = () => {
    const tops = [...row.children].map(token => [token.offsetLeft + token.offsetWidth / 2, token.offsetTop]);
    const [x, y] = tops[asks];
    arcs.forEach((arc, at) => {
      const [to, end] = tops[at],
        high = at === asks ? 30 : Math.min(62, 16 + Math.abs(to - x) / 4),
        [left, right] = at === asks ? [-12, 12] : [0, 0];
      arc.setAttribute(
        "d",
        `M${x + left / 2} ${y} C${x + left} ${y - high} ${to + right} ${end - high} ${to + right / 2} ${end}`,
      );
    });
  };
  new ResizeObserver(lay).observe(whole);
  return [whole, lay];
}

function render({model, el}) {
  let ofLayers, ofHeads;
  return frame(
    {model, el},
    {
      name: "One head",
      tries:
        "layer 2, head 8 looks one token ahead, from more than half of the tokens: from which not, and where do these look? Find a head that looks one back. Ask from [CLS]: in which layers does it look at itself?",
      controls: (state, change) => [
        textField("Text", state.text, text => change({text})),
        (ofLayers = slider("Layer", state.layer, [1, Math.max(6, state.layer), 1], layer => change({layer}, true))),
        (ofHeads = slider("Head", state.head, [0, Math.max(11, state.head), 1], head => change({head}, true))),
      ],
      show: (place, {tokens, token: asks, products, scores, shares, result, layers, heads}, state, change) => {
        for (const [control, most] of [
          [ofLayers, layers],
          [ofHeads, heads - 1],
        ])
          control.querySelector("input").max = most;
        const most = Math.max(...shares),
          at = shares.indexOf(most);
        const row = h(
          "div.cu-row",
          tokens.map((text, place) =>
            token(text, {pressed: place === asks, key: `t${place}`, onclick: () => change({token: place}, true)}),
          ),
        );
        const [drawing, lay] = withArcs(row, asks, shares);
        place.replaceChildren(
          h("p.cu-head", "Click the token that asks; the thicker the arc, the larger the share"),
          drawing,
          table(
            ["token", "q · k", `÷ √${result.length}`, "softmax: its share"],
            tokens.map((text, place) => [
              token(text),
              fixed(products[place]),
              fixed(scores[place]),
              bar(shares[place], 1, "head"),
            ]),
            "The steps from query and keys to shares",
          ),
          h(
            "p.cu-small",
            `Shares times values: “${tokens[asks]}” receives ${result.length} numbers, ${result
              .slice(0, 5)
              .map(value => fixed(value))
              .join(", ")} and so on.`,
          ),
        );
        lay();
        return `Layer ${state.layer}, head ${state.head}: “${tokens[asks]}” gets ${fixed(100 * most, 0)}% of its mix from “${tokens[at]}”${at === asks ? ", itself" : ""}. The shares add up to ${fixed(shares.reduce((a, b) => a + b))}.`;
      },
    },
  );
}

export default {render};
