// Lesson 12: one query against the documentation, by words, by vectors and by both; the weight, k1 and b move the lists.
import {frame, h, s, fixed, many, slider, choice, table, bar} from "./view.js";

function render({model, el}) {
  const names = ["Words (BM25)", "Both", "Vectors"],
    rows = 8;
  const look = grade => ({2: "sentence", 1: "head"})[grade] ?? "quiet",
    written = grade => (grade == null ? "–" : grade);
  const breakable = name => name.split(/(?<=[._])/).flatMap(part => [part, h("wbr")]);
  /** How far a page is moved from place `rank` to place `now`. */
  const moved = (rank, now) =>
    rank == null ? "–" : `${rank} ${rank > now ? `↑${rank - now}` : rank < now ? `↓${now - rank}` : "="}`;
  const stands = rank => (rank == null ? "not listed" : `place ${rank.toLocaleString("en")}`);
  const queries = choice("Query", "", {}, query => ask({query, off: [], page: null}, true)),
    select = queries.querySelector("select");
  let ask, weight;
  return frame(
    {model, el},
    {
      name: "Hybrid",
      tries:
        "other queries: is the same list ahead for each kind of query? Set b to 0: which pages rise, and what does their length have to do with it? Leave out the small words of a query. Press a page to see where its score comes from. (One query shows how a fusion works. Whether it helps, only many can show.)",
      controls: (state, change) => {
        ask = change;
        return [
          queries,
          choice("Fused by", state.fusion, {sum: "weighted sum of scaled scores", ranks: "reciprocal ranks"}, fusion =>
            change({fusion}, true),
          ),
          (weight = slider(
            "Weight of the words",
            state.weight,
            [0, 1, 0.05],
            weight => change({weight}, true),
            value => fixed(value),
          )),
          slider(
            "k1 (repeats)",
            state.k1,
            [0, 5, 0.1],
            k1 => change({k1}, true),
            value => fixed(value, 1),
          ),
          slider(
            "b (length)",
            state.b,
            [0, 1, 0.05],
            b => change({b}, true),
            value => fixed(value),
          ),
        ];
      },
      show: (place, result, state, change) => {
        const {lists, ndcg, size, explained} = result,
          pages = new Map(result.pages.map(page => [page.page, page]));
        if (!select.length)
          select.append(...result.queries.map(([id, kind, query]) => h("option", {value: id}, `${kind}: ${query}`)));
        select.value = state.query;
        weight.querySelector("input").disabled = state.fusion === "ranks";
        const toggle = word =>
          change(({off}) => ({off: off.includes(word) ? off.filter(one => one !== word) : [...off, word]}), true);
        const small = (at, score, {ranks: [one, both, other], length}) =>
          at === 1
            ? `words ${moved(one, both)} · vectors ${moved(other, both)}`
            : `${fixed(score, at ? 3 : 2)}${at ? "" : ` · ${many(length, "word")}`} · both ${both ?? "–"}`;
        const column = at =>
          h(
            "div.cu-column",
            h("div.cu-over", h("p.cu-head", names[at]), h("p.cu-small", "nDCG@10 ", bar(ndcg[at], 1, "sentence"))),
            lists[at].length
              ? h(
                  "ol",
                  {"aria-label": `${names[at]}: the first pages`},
                  lists[at].map(([number, score], rank) => {
                    const page = pages.get(number);
                    return h(
                      "li",
                      {"data-move": `${at}-${number}`},
                      h(
                        "button",
                        {
                          class: "cu-page",
                          "data-key": `${at}-${number}`,
                          "aria-pressed": String(state.page === number),
                          onclick: () => change(now => ({page: now.page === number ? null : number}), true),
                        },
                        h("span.cu-rank", `${rank + 1}`),
                        h("span", {class: `cu-grade cu-${look(page.grade)}`, title: "grade"}, written(page.grade)),
                        h("span.cu-name", breakable(page.name)),
                        h("span.cu-under", small(at, score, page)),
                      ),
                    );
                  }),
                )
              : h("p", "No page: no word is left."),
          );
        const links = at =>
          h(
            "div",
            {class: "cu-links", "aria-hidden": "true"},
            s(
              "svg",
              {viewBox: `0 0 10 ${rows}`, preserveAspectRatio: "none"},
              lists[at]
                .map(([number], from) => [number, from, lists[at + 1].findIndex(([one]) => one === number)])
                .filter(([, , to]) => to >= 0)
                .sort(([one], [other]) => (one === state.page) - (other === state.page))
                .map(([number, from, to]) =>
                  s("path", {
                    d: `M0 ${from + 0.5} L10 ${to + 0.5}`,
                    "data-move": `link ${at} ${number}`,
                    "vector-effect": "non-scaling-stroke",
                    style: `stroke:var(--${number === state.page ? "masked-l" : ({2: "sentence-l", 1: "head-l"}[pages.get(number).grade] ?? "quiet")});stroke-width:${number === state.page ? 5 : pages.get(number).grade ? 3 : 1.5}`,
                  }),
                ),
            ),
          );
        const told =
          explained &&
          [
            h("p.cu-head", "Why ", breakable(explained.name), " stands there"),
            h(
              "p.cu-small",
              `${many(explained.length, "word")}, ${fixed(explained.times)} times the mean. By words ${stands(explained.ranks[0])} (score ${fixed(explained.score)}), by vectors ${stands(explained.ranks[2])} (cosine ${fixed(explained.cosine, 3)}), by both ${stands(explained.ranks[1])}. Grade: ${explained.grade ?? "not judged"}.`,
            ),
            explained.parts.length
              ? table(
                  ["word", "rarity", "times in the page", "worth", "rarity × worth"],
                  explained.parts.map(([word, rarity, count, worth]) => [
                    h("span", word),
                    fixed(rarity),
                    count,
                    fixed(worth),
                    fixed(rarity * worth),
                  ]),
                  "What each word of the query adds to the score of this page",
                )
              : null,
          ].filter(Boolean);
        place.replaceChildren(
          h(
            "p.cu-small",
            `The words, and how many of the ${size.toLocaleString("en")} pages have each. Press one to leave it out of BM25; the vector reads the whole query.`,
          ),
          h(
            "div.cu-row",
            result.words.map(([word, number]) =>
              h(
                "span.cu-id",
                h(
                  "button",
                  {
                    class: `cu-token cu-${state.off.includes(word) ? "quiet cu-out" : "token"}`,
                    "aria-pressed": String(state.off.includes(word)),
                    "aria-label": `leave out ${word}`,
                    "data-key": `w${word}`,
                    onclick: () => toggle(word),
                  },
                  word,
                ),
                number.toLocaleString("en"),
              ),
            ),
          ),
          h("div.cu-lists", column(0), links(0), column(1), links(1), column(2)),
          h(
            "p.cu-small",
            "Before each name its grade: 2 answers the query, 1 helps, 0 does neither, – not judged (counts 0). Below, its place in the other lists, and how many places it moves to “both”. Pages with equal scores keep the order of the alphabet.",
          ),
          ...(told ?? []),
        );
        const [one, both, other] = ndcg.map(value => +fixed(value)),
          low = Math.min(one, other),
          high = Math.max(one, other);
        const where =
          both > high
            ? "above both lists"
            : both < low
              ? "below both lists"
              : low === high
                ? "level with both lists"
                : both === high
                  ? "level with the higher list"
                  : both === low
                    ? "level with the lower list"
                    : "between the two lists";
        const among = at =>
          lists[1].filter(([number]) => {
            const rank = pages.get(number).ranks[at];
            return rank && rank <= rows;
          }).length;
        return `nDCG@10 for this query: words ${fixed(one)}, vectors ${fixed(other)}, both ${fixed(both)}, ${where}. Of the first ${lists[1].length} pages by both, ${among(0)} are among the first ${rows} by words and ${among(2)} by vectors.${state.fusion === "ranks" ? " Ranks have no weight: both lists have the same say." : ""}`;
      },
    },
  );
}

export default {render};
