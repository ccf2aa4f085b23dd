// Lesson 07: a click masks a word; the adapter's ten first guesses, with probabilities and bits.
import {frame, h, fixed, textField, token, table, bar} from "./view.js";

const about = ({tokens, at, typed, own, bits, rank}) =>
  typed
    ? "No word stood here."
    : `“${tokens[at]}”: rank ${rank.toLocaleString("en")}, probability ${own < 0.005 ? "below 0.01" : fixed(own)}, ${fixed(bits, 1)} bits of surprise.`;

function render({model, el}) {
  return frame(
    {model, el},
    {
      name: "Masks",
      tries:
        "mask a word that the rest gives away, then one that it does not. Mask two: do the guesses fit each other? Put “did not make” in the place of “made”, and mask the same word again: does the guess change?",
      controls: (state, change) => [textField("Text", state.text, text => change({text, masked: []}))],
      show: (place, {tokens, guesses}, _, change) => {
        const hidden = guesses.map(guess => guess.place);
        place.replaceChildren(
          h("p.cu-head", "Click a token to mask it"),
          h(
            "div.cu-row",
            tokens.map((text, at) =>
              at === 0 || at === tokens.length - 1
                ? token(text)
                : token(hidden.includes(at) ? "[MASK]" : text, {
                    pressed: hidden.includes(at),
                    key: `t${at}`,
                    onclick: () =>
                      change(
                        ({masked}) => ({
                          masked: masked.includes(at)
                            ? masked.filter(one => one !== at)
                            : [...masked, at].sort((a, b) => a - b),
                        }),
                        true,
                      ),
                  }),
            ),
          ),
          h(
            "div.cu-two",
            guesses.map(({place: at, words, shares, typed, own, bits, rank}) =>
              h(
                "div",
                h("p.cu-head", typed ? "At the [MASK] that was typed" : `Where “${tokens[at]}” stood`),
                h("p.cu-small", about({tokens, at, typed, own, bits, rank})),
                table(
                  ["guess", "probability"],
                  words.map((word, row) => [token(word), bar(shares[row], Math.max(0.001, shares[0]), "masked")]),
                  `Guesses at place ${at}`,
                ),
              ),
            ),
          ),
        );
        const worst = guesses.filter(one => !one.typed).sort((a, b) => b.bits - a.bits)[0];
        return guesses.length
          ? guesses.length < 3 || !worst
            ? guesses.map(one => about({tokens, at: one.place, ...one})).join(" ")
            : `${guesses.length} tokens are masked. The most surprising is ${about({tokens, at: worst.place, ...worst})}`
          : "Nothing is masked: click a token.";
      },
    },
  );
}

export default {render};
