// Lesson 01: what becomes of a text, and the greedy search for one word's pieces, try by try.
import {frame, h, many, textField, token} from "./view.js";

function render({model, el}) {
  let step = 0,
    shown = null;
  const show = (place, result, state, change) => {
    if (shown !== JSON.stringify([result.words, result.word])) step = 0;
    shown = JSON.stringify([result.words, result.word]);
    const {pieces, ids, owners, words, word, steps, total} = result,
      last = Math.max(0, steps.length - 1);
    const move = to => {
      step = Math.max(0, Math.min(last, to));
      place.replaceChildren(...draw());
      line();
    };
    const button = (text, key, to) =>
      h(
        "button",
        {
          "data-key": key,
          onclick: () => {
            move(to());
            place.querySelector(`[data-key=${key}]`).focus();
          },
        },
        text,
      );
    const draw = () => {
      const now = steps[step],
        found = steps.slice(0, step + 1).filter(one => one[3]);
      return [
        h(
          "div.cu-row",
          pieces.map((piece, at) =>
            h(
              "span.cu-id",
              token(piece, {
                pressed: owners[at] === word,
                key: `p${at}`,
                title: owners[at] >= 0 ? "search this word" : null,
                onclick: owners[at] >= 0 ? () => change({word: owners[at]}, true) : null,
              }),
              String(ids[at]),
            ),
          ),
        ),
        h("p.cu-head", words.length ? `The search in “${words[word]}”` : ""),
        now
          ? h(
              "div.cu-row",
              button("◀ Back", "back", () => step - 1),
              button("Forward ▶", "next", () => step + 1),
              h("span", `try ${step + 1} of ${steps.length}: `),
              token(now[2], {kind: now[3] ? "token" : "quiet"}),
              now[3] ? "is an entry" : "is no entry",
            )
          : null,
        now ? h("div.cu-row", "found so far: ", found.length ? found.map(one => token(one[2])) : "nothing") : null,
      ].filter(Boolean);
    };
    const line = () => {
      const now = steps[step];
      const sentence =
        many(total, "token") +
        (total > pieces.length ? `, of which ${pieces.length} are shown` : "") +
        `. ${
          !words.length
            ? ""
            : !steps.length
              ? "This word has more than 100 characters: the tokenizer makes [UNK] of it."
              : step === last && !now[3]
                ? `No entry begins the rest, ${[...words[word]].slice(now[0]).join("")}: the whole word becomes [UNK].`
                : step === last
                  ? `“${words[word]}” took ${many(steps.length, "try", "tries")}.`
                  : `Try ${step + 1}: ${now[2]} ${now[3] ? "is an entry." : "is no entry; one letter less."}`
        }`;
      const box = el.querySelector(".cu-line");
      if (box) box.textContent = sentence;
      return sentence;
    };
    place.replaceChildren(...draw());
    return line();
  };
  return frame(
    {model, el},
    {
      name: "Tokens",
      show,
      tries:
        "your own name; a word that you just made up; an accent; an emoji, alone and at the end of a word. Click a piece to follow the search for its word.",
      controls: (state, change) => [textField("Text", state.text, text => change({text, word: 0}))],
    },
  );
}

export default {render};
