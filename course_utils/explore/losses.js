// Lesson 11: drag anchor, positive and negatives in the plane; the arrows show where gradient descent would move each.
import {frame, s, fixed, slider, choice, table, arrow} from "./view.js";

function render({model, el}) {
  const wide = 420,
    high = 300,
    unit = 70,
    at = ([x, y]) => [wide / 2 + x * unit, high / 2 - y * unit];
  const back = (x, y) => [
    Math.round(((x - wide / 2) / unit) * 100) / 100,
    Math.round(((high / 2 - y) / unit) * 100) / 100,
  ];
  // the anchor's name stands below it, the others' away from the middle, where the anchor is at the start
  const beside = (point, below) => {
    const [x, y] = at(point);
    if (below) return {x, y: y + 26, "text-anchor": "middle"};
    if (Math.abs(point[0]) > 1.3) {
      // near the edge, where half a name in the type for telephones, 50, must have room
      const inside = Math.max(50, Math.min(wide - 50, x));
      return {x: inside, y: y - 16, "text-anchor": "middle"};
    }
    return point[0] < 0 ? {x: x - 14, y: y - 8, "text-anchor": "end"} : {x: x + 14, y: y - 8};
  };
  const clamp = ([x, y]) => [Math.max(-2.8, Math.min(2.8, x)), Math.max(-2, Math.min(2, y))];
  let held = null;
  return frame(
    {model, el},
    {
      name: "Losses",
      tries:
        "pull the positive away: what becomes of the dashed ring? Change to the ranking loss: does a far negative ever stop counting? Put a negative on the anchor. (The longest arrow is always drawn equally long: arrows show directions and proportions.)",
      controls: (state, change) => [
        choice("Loss", state.kind, {triplet: "triplet (distances)", ranking: "ranking (cosines)"}, kind =>
          change({kind}, true),
        ),
        slider(
          "Margin (triplet)",
          state.margin,
          [0, 3, 0.1],
          margin => change({margin}, true),
          value => fixed(value, 1),
        ),
        slider("Scale (ranking)", state.scale, [1, 40, 1], scale => change({scale}, true)),
      ],
      show: (place, {loss, gradients, cosines, distances, costs}, state, change) => {
        const written = value =>
          state.kind === "ranking" && value < 0.0001 ? "below 0.0001" : fixed(value, state.kind === "ranking" ? 4 : 2);
        const points = [
          ["anchor", state.anchor, "token"],
          ["positive", state.positive, "sentence"],
          ...state.negatives.map((point, row) => [`negative ${row + 1}`, point, "masked"]),
        ];
        const longest = Math.max(...gradients.map(([x, y]) => Math.hypot(x, y)), 1e-9);
        const moved = (row, to) =>
          change(({anchor, positive, negatives}) => {
            // to: where it goes from where it is
            const all = [anchor, positive, ...negatives];
            all[row] = clamp(to(all[row])).map(value => Math.round(value * 100) / 100);
            return {anchor: all[0], positive: all[1], negatives: all.slice(2)};
          }, true);
        const svg = s("svg", {
          viewBox: `0 0 ${wide} ${high}`,
          role: "group",
          "aria-label": "Points in the plane; move one with the arrow keys",
        });
        svg.append(s("path", {d: `M0 ${high / 2} H${wide} M${wide / 2} 0 V${high}`, style: "stroke:var(--edge)"}));
        if (state.kind === "ranking")
          svg.append(
            // cosines are angles seen from the middle
            ...points.map(([, point, kind]) => {
              const [x, y] = at(point);
              return s("path", {
                d: `M${wide / 2} ${high / 2} L${x} ${y}`,
                style: `stroke:var(--${kind}-l);stroke-width:1.4;stroke-dasharray:2 3`,
              });
            }),
          );
        else
          svg.append(
            s("circle", {
              cx: at(state.anchor)[0],
              cy: at(state.anchor)[1],
              r: (distances[0] + state.margin) * unit,
              "data-move": held === null && "ring",
              style: "fill:none;stroke:var(--quiet);stroke-dasharray:5 4",
            }),
          );
        points.forEach(([name, point, kind], row) => {
          const [x, y] = at(point),
            [dx, dy] = gradients[row].map(value => (-value / longest) * 55);
          if (Math.hypot(dx, dy) > 1)
            svg.append(arrow(dx, -dy, "ink", held === null && `step ${row}`, `transform:translate(${x}px,${y}px)`));
          svg.append(
            s("circle", {
              cx: x,
              cy: y,
              r: 10,
              tabindex: 0,
              role: "img",
              "data-key": `d${row}`,
              "aria-label": `${name} at ${point.join(", ")}`,
              style: `fill:var(--${kind}-f);stroke:var(--${kind}-l);stroke-width:2.5;cursor:grab`,
              onpointerdown: event => {
                if (!event.button) {
                  held = row;
                  event.preventDefault();
                }
              },
              onkeydown: event => {
                const way = {ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1]}[
                  event.key
                ];
                if (way) {
                  event.preventDefault();
                  event.stopPropagation();
                  moved(row, ([x, y]) => [x + way[0], y + way[1]]);
                }
              },
            }),
            s("text", beside(point, row === 0), name),
          );
        });
        const follow = event => {
          if (event.type === "pointermove" && !event.buttons) held = null; // let go elsewhere
          if (held === null) return;
          const box = svg.getBoundingClientRect();
          moved(held, () =>
            back(((event.clientX - box.left) / box.width) * wide, ((event.clientY - box.top) / box.height) * high),
          );
        };
        svg.addEventListener("pointermove", follow);
        svg.addEventListener("pointerup", event => {
          follow(event);
          held = null;
        });
        svg.addEventListener("pointerleave", () => {
          held = null;
        });
        svg.style.touchAction = "none";
        place.replaceChildren(
          svg,
          table(
            ["", "distance to the anchor", "cosine", state.kind === "triplet" ? "costs" : "share of the softmax"],
            points
              .slice(1)
              .map(([name], row) => [
                name,
                fixed(distances[row]),
                fixed(cosines[row]),
                row ? written(costs[row - 1]) : "",
              ]),
            "Distances, cosines and costs",
          ),
        );
        if (state.kind === "triplet")
          return `Loss ${fixed(loss, 3)}: the mean of what the negatives cost. ${costs.filter(cost => !cost).length} of ${costs.length} lie outside the dashed ring and cost nothing.${distances.slice(1).includes(0) ? " One lies on the anchor: there is no direction to push it, so it has no gradient, though it costs most." : ""}`;
        const most = costs.indexOf(Math.max(...costs)),
          least = costs.indexOf(Math.min(...costs));
        return `Loss ${fixed(loss, 3)}. Every negative has a share of the softmax: negative ${most + 1} has the largest (${written(costs[most])}), negative ${least + 1} the smallest (${written(costs[least])}).`;
      },
    },
  );
}

export default {render};
