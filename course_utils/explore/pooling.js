// Lesson 04: two sentences under three poolings, with the mask or without; which tokens carry the mean.
import {frame, h, s, fixed, many, textField, slider, tick, token, table, bar, arrow} from "./view.js";

const POOLINGS = ["[CLS]", "mean", "maximum"];

/** The vectors of the two sentences under each pooling, at the angle whose cosine it is. */
function dials(cosines) {
  return h(
    "div.cu-dials",
    POOLINGS.map((name, at) => {
      const angle = Math.acos(Math.max(-1, Math.min(1, cosines[at]))),
        turned = (by, vector) =>
          arrow(70, 0, "sentence-l", `${vector} ${at}`, `transform:translate(80px,78px) rotate(${-by}rad)`);
      return h(
        "div",
        s(
          "svg",
          {
            viewBox: "0 0 160 84",
            role: "img",
            "aria-label": `Two vectors at ${fixed((angle * 180) / Math.PI, 0)} degrees`,
          },
          turned(0, "one"),
          turned(angle, "other"),
        ),
        h("strong", name),
        ` ${fixed(cosines[at], 3)}, ${fixed((angle * 180) / Math.PI, 0)}°`,
      );
    }),
  );
}

function render({model, el}) {
  return frame(
    {model, el},
    {
      name: "Pooling",
      tries:
        "two sentences about different things: which pooling gives the lowest cosine? Add padding and take the mask away: which of the three changes, and which cannot?",
      controls: (state, change) => [
        textField("One sentence", state.one, one => change({one})),
        textField("Another", state.other, other => change({other})),
        slider("[PAD] added to the first", state.pads, [0, 30, 1], pads => change({pads}, true)),
        tick("Pool with the mask", state.mask, mask => change({mask}, true)),
      ],
      show: (place, {sentences, cosines}, {mask, pads}) => {
        const most = Math.max(...sentences.flatMap(one => one.shares), 0.01);
        place.replaceChildren(
          h("p.cu-head", "The two sentences under three poolings: cosine and angle"),
          dials(cosines),
          h("p.cu-head", "How much of the mean comes from each token; the shares add up to 1"),
          h(
            "div.cu-two",
            sentences.map(({tokens, shares}, at) =>
              table(
                ["token", "share"],
                tokens.map((text, row) => [token(text), bar(shares[row], most, "vector")]),
                `Shares of the mean, sentence ${at + 1}`,
              ),
            ),
          ),
        );
        return `Cosines: [CLS] ${fixed(cosines[0])}, mean ${fixed(cosines[1])}, maximum ${fixed(cosines[2])}.${pads && !mask ? ` ${many(pads, "[PAD] vector counts like a word", "[PAD] vectors count like words")}.` : ""}`;
      },
    },
  );
}

export default {render};
