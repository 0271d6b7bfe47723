'use strict';
/* Chapter 3: columns of GPT-2's table, each beside a column of the sinusoidal one. */

explore.define('waves', 'Waves: columns of the table of GPT-2', (figure, data) => {
  const {number, sinusoid} = explore;
  const {positions, dimensions, active, values, match, d_model: size} = data;
  const LAST = positions.at(-1);
  const order = d3.range(dimensions.length); // most active first, then the random ones
  const option = at => [at, `dimension ${dimensions[at]}`];
  const spread = d3.format('.4f');

  const column = figure.choice('column', 'column of GPT-2', [
    {group: 'most active first', options: order.slice(0, active).map(option)},
    {group: 'drawn at random', options: order.slice(active).map(option)},
  ], 0);
  const beside = figure.choice('beside', 'sinusoid beside it', [
    ['match', 'closest match'], ['same', 'same number'],
  ], 'match');
  const t = figure.range('t', 'position t', {values: positions, value: 400});
  figure.buttons([['random', 'One at random', () => {
    const others = order.slice(active).filter(at => at !== column.value);
    column.value = others[Math.floor(Math.random() * others.length)];
  }]]);
  const scale = figure.radios('scale', 'vertical scale', [
    ['own', 'its own'], ['shared', 'shared by all columns'],
  ], 'own');
  const margin = {left: 58, right: 16};
  const curve = figure.plot({
    name: 'curve', height: 190, margin, label: 'The column of GPT-2 over all positions',
  });
  const wave = figure.plot({
    name: 'wave', height: 150, margin, label: 'A column of the sinusoidal table',
  });
  const picture = figure.plot({
    name: 'picture', height: 250, margin, label: 'All columns on offer as a heatmap',
  });
  const shared = d3.max(values.flat(), Math.abs);
  explore.scale(figure.root, d3.format('.2f')(shared));

  // --- what is compared -----------------------------------------------------------------------

  const period = j => 2 * Math.PI / explore.frequency((j - j % 2) / 2, size, 10000);
  const tokens = v => (v < 100 ? d3.format('.1f')(v) : explore.integer(Math.round(v)));

  // Pearson's r without the first and the last position, which are odd in this table.
  function pearson(a, b) {
    [a, b] = [a.slice(1, -1), b.slice(1, -1)];
    const [ma, mb] = [d3.mean(a), d3.mean(b)];
    const product = (x, mx, y, my) => d3.sum(x, (v, at) => (v - mx) * (y[at] - my));
    return product(a, ma, b, mb) / Math.sqrt(product(a, ma, a, ma) * product(b, mb, b, mb));
  }

  // --- picking --------------------------------------------------------------------------------

  const nearest = x => positions[d3.leastIndex(positions, p => Math.abs(p - x))];
  const move = (list, value, by) =>
    list[explore.clamp(list.indexOf(value) + by, 0, list.length - 1)];
  for (const plot of [curve, wave]) {
    plot.onPick(x => { t.value = nearest(plot.x.invert(x)); })
      .onArrows(dx => { t.value = move(positions, t.value, dx); });
  }
  picture.onPick((x, y) => {
    t.value = nearest(picture.x.invert(x));
    column.value = Math.min(Math.floor(picture.y.invert(y)), dimensions.length - 1);
  }).onArrows((dx, dy) => {
    t.value = move(positions, t.value, dx);
    column.value = move(order, column.value, -dy);
  });

  // --- drawing --------------------------------------------------------------------------------

  function drawCurve(plot, points, limit, kind, yLabel, xLabel) {
    const at = positions.indexOf(t.value);
    plot.axes({x: [0, LAST], y: [-limit, limit], yLabel, xLabel});
    plot.rule(null, 0, 'ex-plain').line(points.map((v, p) => [positions[p], v]), kind)
      .rule(t.value).dot(t.value, points[at], kind);
  }

  function drawPicture() {
    picture.axes({
      x: [0, LAST], y: [dimensions.length, 0], yTicks: [], xLabel: 'position t (tokens)',
    }).heatmap(dimensions.length, positions.length, (row, p) => values[row][p], shared);
    const middle = rows => picture.y(d3.mean(rows)) + 4;
    picture.note(-6, middle([0, active]), 'active', 'end');
    picture.note(-6, middle([active, dimensions.length]), 'random', 'end');
    picture.rule(t.value).pointer(column.value + 0.5);
  }

  return () => {
    const at = positions.indexOf(t.value), own = values[column.value];
    const j = dimensions[column.value];
    const other = beside.value === 'match' ? match[column.value] : j;
    const waves = positions.map(p => sinusoid(p, other, size));
    const limit = scale.value === 'own' ? d3.max(own, Math.abs) : shared;
    const r = pearson(own, waves);
    drawCurve(curve, own, 1.05 * limit, 'gpt2', `GPT-2, dim. ${j}`);
    drawCurve(wave, waves, 1.1, 'sinusoid', `sinus., dim. ${other}`);
    drawPicture();
    const std = d3.deviation(own);
    figure.report({
      dimension: j, value: own[at], other, wave: waves[at], period: period(other), r, limit,
    });
    figure.say(`Position ${t.value}, dimension ${j} of GPT-2: ${number(own[at])} `
      + `(spread of the column ${spread(std)}). Dimension ${other} of the sinusoid: `
      + `${number(waves[at])}, period ${tokens(period(other))} tokens. `
      + `Correlation of the two curves: ${number(r)}.`);
  };
});
