'use strict';
/* Chapter 4: one pair of positions in three cosine matrices, its rows, and its place by lag. */

explore.define('similarity', 'Similarity of two positions in three tables', (figure, data) => {
  const {number, sinusoid, clamp} = explore;
  const {positions, lags, d_model: size} = data;
  const LAST = positions.at(-1);
  const count = positions.length;
  const SHOWN = data.dimensions.length; // dimensions of a row that are drawn

  // --- three tables: two stored, one from the formula -----------------------------------------

  const byFormula = lag => d3.mean(d3.range(size / 2), i =>
    Math.cos(explore.frequency(i, size, 10000) * lag));
  const known = new Map(); // cosines of the sinusoid by lag
  const sinusoidCosine = lag => {
    if (!known.has(lag)) known.set(lag, byFormula(lag));
    return known.get(lag);
  };
  // Every 24th dimension, sines and cosines in turn.
  const spaced = d3.range(SHOWN).map(m => Math.floor(m * size / SHOWN) + m % 2);
  const TABLES = {
    gpt2: {name: 'GPT-2', cosines: data.gpt2, rows: data.gpt2_rows, curve: data.gpt2_by_lag},
    sinusoid: {
      name: 'sinusoid',
      cosines: positions.map(p => positions.map(q => sinusoidCosine(Math.abs(p - q)))),
      rows: positions.map(p => spaced.map(j => sinusoid(p, j, size))),
      curve: lags.map(sinusoidCosine),
    },
    shuffled: {
      name: 'rows permuted', cosines: data.shuffled, rows: data.shuffled_rows,
      curve: data.shuffled_by_lag,
    },
  };
  const kinds = Object.keys(TABLES);

  // --- controls and plots ---------------------------------------------------------------------

  const i = figure.range('i', 'position i', {values: positions, value: positions[1]});
  const j = figure.range('j', 'position j', {values: positions, value: positions[19]});
  const rowsOf = figure.choice('rows', 'rows of', kinds.map(k => [k, TABLES[k].name]), 'gpt2');
  const keep = figure.toggle('keep', 'keep the distance');
  const three = figure.row().classed('ex-three', true);
  const matrices = kinds.map(kind => figure.plot({
    parent: three, name: kind, height: 'var(--ex-matrix)',
    margin: {top: 38, right: 2, bottom: 20, left: 16},
    label: `Cosine matrix, ${TABLES[kind].name}`,
  }));
  explore.scale(figure.root);
  const rowPlot = figure.plot({
    name: 'rows', height: 170, margin: {bottom: 26}, label: 'The two rows',
  });
  explore.legend(figure.root, [['', 'row i'], ['ex-second', 'row j']]);
  const curve = figure.plot({name: 'curve', height: 230, label: 'Mean cosine by lag'});
  explore.legend(figure.root, kinds.map(kind => [kind, `${TABLES[kind].name}, and this pair`]));

  // --- moving ---------------------------------------------------------------------------------

  const at = control => positions.indexOf(control.value);
  let held = 0; // places from i to j, while they are kept

  // Go to the places a and b in `positions`; with the distance kept, a alone decides.
  function go(a, b) {
    if (keep.value) {
      a = clamp(a, Math.max(0, -held), count - 1 - Math.max(0, held));
      b = a + held;
    }
    i.value = positions[clamp(a, 0, count - 1)];
    j.value = positions[clamp(b, 0, count - 1)];
  }
  i.input.on('input.keep', () => go(at(i), at(j)));
  j.input.on('input.keep', () => go(keep.value ? at(j) - held : at(i), at(j)));
  for (const plot of matrices) {
    plot.onPick((x, y) => go(Math.floor(plot.x.invert(x)), Math.floor(plot.y.invert(y))))
      .onArrows((dx, dy) => go(at(i) + dx - (keep.value ? dy : 0), at(j) - dy));
  }

  // --- drawing --------------------------------------------------------------------------------

  function drawMatrix(plot, {name, cosines}) {
    const [a, b] = [at(i), at(j)];
    plot.axes({x: [0, count], y: [count, 0], xTicks: [], yTicks: []})
      .heatmap(count, count, (row, column) => cosines[row][column])
      .rule(a + 0.5, b + 0.5);
    plot.note(plot.width / 2, -22, name, 'middle');
    plot.note(plot.width / 2, -6, number(cosines[b][a]), 'middle', 'ex-strong');
    plot.note(plot.width / 2, plot.height + 15, 'i', 'middle');
    plot.note(-6, plot.height / 2, 'j', 'end');
  }

  function drawRows({rows}) {
    const limit = d3.max(rows.slice(1).flat(), Math.abs); // row 0 is far longer than the others
    const points = row => row.map((v, m) => [m, v]);
    rowPlot.axes({
      x: [0, SHOWN - 1], y: [-limit, limit], xTicks: [], yLabel: 'value',
      xLabel: rowsOf.value === 'sinusoid' ? `every ${size / SHOWN}th of ${size} dimensions`
        : `the ${SHOWN} most active of ${size} dimensions`,
    });
    rowPlot.rule(null, 0, 'ex-plain')
      .line(points(rows[at(i)]), '').line(points(rows[at(j)]), 'ex-second');
  }

  function drawCurve(lag) {
    curve.axes({x: [0, LAST], y: [-1, 1], xLabel: 'lag (tokens)', yLabel: 'cosine'});
    curve.rule(lag, 0, 'ex-plain');
    for (const kind of kinds) {
      curve.line(TABLES[kind].curve.map((v, m) => [lags[m], v]), kind);
    }
    for (const kind of kinds) curve.dot(lag, TABLES[kind].cosines[at(j)][at(i)], kind);
  }

  return () => {
    if (!keep.value) held = at(j) - at(i);
    const lag = Math.abs(i.value - j.value);
    kinds.forEach((kind, n) => drawMatrix(matrices[n], TABLES[kind]));
    drawRows(TABLES[rowsOf.value]);
    drawCurve(lag);
    const [gpt2, formula, shuffled] = kinds.map(kind => TABLES[kind].cosines[at(j)][at(i)]);
    const mean = data.gpt2_by_lag[lags.indexOf(lag)];
    figure.report({lag, gpt2, sinusoid: formula, shuffled, mean});
    figure.say(`Rows ${i.value} and ${j.value}, ${lag} tokens apart. GPT-2: ${number(gpt2)}, `
      + `where the mean at this lag is ${number(mean)}. Sinusoid: ${number(formula)}. `
      + `Rows permuted: ${number(shuffled)}.`);
  };
});
