'use strict';
/* Chapter 5: the sinusoidal formula, three mistakes, another layout, and what gives them away. */

explore.define('mistakes', 'Get it wrong: five versions of the formula', figure => {
  const FLAT = 0.01; // standard deviation below which a column counts as flat
  const EXACT = 1e-9; // what rounding may leave between equal numbers
  const {number, integer} = explore;

  const version = figure.radios('version', 'version', [
    ['right', 'right'], ['product', 'product, no power'], ['doubled', '2 counted twice'],
    ['swapped', 'axes swapped'], ['halves', 'halves'],
  ], 'right');
  const base = figure.range('base', 'base', {values: [10, 100, 1e3, 1e4, 1e5, 1e6], value: 1e4});
  const n = figure.choice('n', 'positions n', [64, 128], 128);
  const d = figure.choice('d', 'dimensions d', [32, 64, 128], 64);
  const zeros = figure.toggle('zeros', 'replace NaN by 0');
  const row = figure.row();
  const picture = figure.plot({
    parent: row, name: 'picture', height: 'var(--ex-pair)', label: 'The table, transposed',
  });
  const curve = figure.plot({
    parent: row, name: 'curve', height: 'var(--ex-pair)', label: 'Cosine of two rows by lag',
  });
  explore.legend(figure.root, [
    ['ex-right', 'right, mean'], ['', 'this version, mean'],
    ['ex-band', 'this version, lowest to highest'],
  ]);
  explore.scale(figure.root, 1, 'grey: NaN, not a number');
  const rows = figure.table('How this version differs', ['measure', 'this version', 'right']);

  // --- the tables, as chapter 5 writes them in Python -----------------------------------------

  const wave = (angle, j) => (j % 2 === 0 ? Math.sin(angle) : Math.cos(angle));
  const twoI = j => j - j % 2; // the paper's 2i
  const ENTRY = {
    right: (t, j, n, d, base) => explore.sinusoid(t, j, d, base),
    product: (t, j, n, d, base) => wave(t / (base * twoI(j) / d), j),
    doubled: (t, j, n, d, base) => wave(t / base ** (2 * twoI(j) / d), j),
    swapped: (t, j, n, d, base) => explore.sinusoid(j, t, n, base),
    halves: (t, j, n, d, base) => explore.sinusoid(t, j < d / 2 ? 2 * j : 2 * j - d + 1, d, base),
  };

  function table(name, b = base.value) {
    const entry = (t, j) => ENTRY[name](t, j, n.value, d.value, b);
    const patched = v => (zeros.value && Number.isNaN(v) ? 0 : v);
    return d3.range(n.value).map(t => d3.range(d.value).map(j => patched(entry(t, j))));
  }

  // --- measures; a NaN spoils whatever it touches, as in NumPy --------------------------------

  function dot(a, b) {
    let sum = 0;
    for (let j = 0; j < a.length; j++) sum += a[j] * b[j];
    return sum;
  }
  const extent = values => (values.some(Number.isNaN) ? [NaN, NaN] : d3.extent(values));
  const mean = values => values.reduce((a, b) => a + b, 0) / values.length;

  function std(values) {
    const centre = mean(values);
    return Math.sqrt(mean(values.map(v => (v - centre) ** 2)));
  }

  // What is told of a table; entry k of byLag holds the cosines of all rows k apart.
  function measure(rows) {
    const lengths = rows.map(row => Math.sqrt(dot(row, row)));
    const cosine = (s, t) => dot(rows[s], rows[t]) / lengths[s] / lengths[t];
    const byLag = rows.map((_, k) => d3.range(rows.length - k).map(t => cosine(t, t + k)));
    const columns = d3.transpose(rows);
    return {
      byLag, columns,
      nan: columns.filter(column => column.some(Number.isNaN)).length,
      flat: columns.filter(column => std(column) < FLAT).length,
      lengths: extent(lengths),
      lowest: extent(byLag.flat())[0],
      spread: Math.max(...byLag.map(std)),
    };
  }

  const same = (a, b) => a.every((v, at) => Math.abs(v - b[at]) < EXACT);
  const equal = (a, b) => a.every((row, at) => same(row, b[at]));

  const all = ([low, high]) =>
    (high - low > EXACT ? `${number(low)} to ${number(high)}` : number(low));

  // --- the verdict: from the numbers alone, not from the name ---------------------------------

  function verdict(rows, found, right, rightFound) {
    if (found.nan) {
      return ['missing', `Wrong: ${found.nan} columns hold NaN, and so does every cosine.`];
    }
    if (equal(rows, right)) return ['right', 'Right.'];
    const square = base.value ** 2;
    if (equal(rows, table('right', square))) {
      return ['square', `A right table, but for base ${integer(square)} in place of `
        + `${integer(base.value)}: it has ${found.flat} flat columns, not ${rightFound.flat}.`];
    }
    const known = column => rightFound.columns.some(other => same(column, other));
    if (found.columns.every(known)) {
      return ['layout', 'Another layout: the columns of the right table in another order. '
        + 'It goes wrong where it meets weights made for the other one.'];
    }
    const [length] = rightFound.lengths;
    if (found.lengths.some(v => Math.abs(v - length) > EXACT)) {
      return ['lengths', `Wrong: the rows have length ${all(found.lengths)}, `
        + `and all should have ${number(length)}.`];
    }
    return ['other', 'Wrong: the rows have the right length and are not those of the formula.'];
  }

  // --- drawing --------------------------------------------------------------------------------

  function drawPicture(rows) {
    picture.axes({
      x: [0, n.value], y: [d.value, 0],
      xLabel: 'position t (tokens)', yLabel: 'dimension j',
    }).heatmap(d.value, n.value, (j, t) => rows[t][j]);
  }

  function drawCurve(found, rightFound) {
    const means = byLag => byLag.map((cosines, k) => [k, mean(cosines)]);
    curve.axes({
      x: [0, n.value - 1], y: [-1, 1], xLabel: 'lag k (tokens)', yLabel: 'cosine',
    });
    if (found.nan) {
      curve.note(curve.width / 2, curve.height * 0.8, 'no curve: each cosine is NaN', 'middle');
    } else {
      curve.band(found.byLag.map((cosines, k) => [k, ...extent(cosines)]), 'ex-band');
    }
    curve.line(means(found.byLag), '').line(means(rightFound.byLag), 'ex-right');
  }

  function tell(found, rightFound, difference) {
    const size = v => (v < EXACT ? '0' : number(v));
    rows([
      ['columns with NaN', found.nan, rightFound.nan],
      ['length of the rows', all(found.lengths), all(rightFound.lengths)],
      [`flat columns (std below ${FLAT})`, found.flat, rightFound.flat],
      ['lowest cosine of two rows', number(found.lowest), number(rightFound.lowest)],
      ['largest std along a diagonal', size(found.spread), size(rightFound.spread)],
      ['largest difference of an entry', size(difference), '0'],
    ]);
  }

  return () => {
    const right = table('right'), rows = table(version.value);
    const rightFound = measure(right), found = measure(rows);
    const difference = extent(rows.flatMap((row, t) => row.map((v, j) => Math.abs(v - right[t][j]))))[1];
    const [word, sentence] = verdict(rows, found, right, rightFound);
    drawPicture(rows);
    drawCurve(found, rightFound);
    tell(found, rightFound, difference);
    figure.report({
      verdict: word, nan: found.nan, flat: found.flat, lowest: found.lowest,
      spread: found.spread, shortest: found.lengths[0], longest: found.lengths[1],
      difference, rightFlat: rightFound.flat, curve: found.byLag.map(mean).join(' '),
    });
    figure.say(sentence);
  };
});
