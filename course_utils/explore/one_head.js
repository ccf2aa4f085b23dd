// Lesson 05: one token asks all others, in one head, step by step with the model's numbers.
import {frame, h, fixed, textField, slider, token, table, bar} from "./view.js";

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
        place.replaceChildren(
          h("p.cu-head", "Click the token that asks"),
          h(
            "div.cu-row",
            tokens.map((text, place) =>
              token(text, {pressed: place === asks, key: `t${place}`, onclick: () => change({token: place}, true)}),
            ),
          ),
          table(
            ["token", "q · k", `÷ √${result.length}`, "softmax: its share"],
            tokens.map((text, place) => [
              token(text),
              fixed(products[place]),
              fixed(scores[place]),
              bar(shares[place], 1),
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
        return `Layer ${state.layer}, head ${state.head}: “${tokens[asks]}” gets ${fixed(100 * most, 0)}% of its mix from “${tokens[at]}”${at === asks ? ", itself" : ""}. The shares add up to ${fixed(shares.reduce((a, b) => a + b))}.`;
      },
    },
  );
}

export default {render};
