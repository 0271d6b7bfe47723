'use strict';
/* Chapter 5: the sinusoid as a clock with d/2 hands, looked at every k tokens. */

explore.define('clock', 'Clock: the hands of the sinusoidal formula', figure => {
  const LAST = 1023; // position
  const PACE = 350; // ms between two steps when it plays
  const LABEL = 36; // pixels for the two lines under a dial
  const angle = d3.format('.2f');
  const turnText = d3.format('+.2f');
  const length = v => (v < 1000 ? d3.format('.4~r')(v) : explore.integer(Math.round(v)));

  const d = figure.choice('d', 'dimensions d', [4, 8, 16, 32], 16);
  const t = figure.range('t', 'position t', {max: LAST, value: 20});
  const k = figure.range('k', 'step k (tokens)', {min: 1, max: 60, value: 6});
  const base = figure.range('base', 'base', {
    values: [1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6], value: 1e4,
  });
  const pair = figure.range('pair', 'pair i', {max: 7});
  const {back, on, play} = figure.buttons([
    ['back', 'k back', () => step(-1)],
    ['on', 'k on', () => step(1)],
    ['play', 'Play', () => (timer ? pause() : start())],
  ]);
  const dials = figure.plot({
    name: 'dials', label: 'One dial for each pair of dimensions', height: 'var(--ex-dials)',
    margin: {top: 0, right: 0, bottom: 0, left: 0},
  });
  const waves = figure.plot({
    name: 'waves', label: 'Wavelength of each pair, true and as seen in steps of k', height: 190,
    margin: {top: 22, left: 62, right: 14},
  });

  // --- stepping -------------------------------------------------------------------------------

  let timer = 0;
  const step = direction => { t.value = explore.clamp(t.value + direction * k.value, 0, LAST); };
  function start() {
    if (t.value + k.value > LAST) t.value = 0; // at the end of the table it starts over
    timer = setInterval(() => (t.value + k.value > LAST ? pause() : step(1)), PACE);
    figure.changed();
  }
  function pause() {
    clearInterval(timer);
    timer = 0;
    figure.changed();
  }

  // --- what one step does to a hand -----------------------------------------------------------

  // Who looks every k tokens only takes each hand for having turned the shorter way.
  function hand(i) {
    const omega = explore.frequency(i, d.value, base.value);
    const turn = omega * k.value;
    const seen = turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI));
    return {
      i, omega, turn, seen, misread: turn > Math.PI,
      period: 2 * Math.PI / omega, seenPeriod: 2 * Math.PI * k.value / Math.abs(seen),
    };
  }

  // --- dials ----------------------------------------------------------------------------------

  // Columns, cell size and radius that make the dials as large as the room allows.
  function layout(n, width, height) {
    const tries = d3.range(1, n + 1).map(columns => {
      const [w, h] = [width / columns, height / Math.ceil(n / columns)];
      return {columns, w, h, r: Math.min(w / 2 - 5, (h - LABEL) / 2 - 5, 64)};
    });
    return tries[d3.maxIndex(tries, ({r}) => r)];
  }

  const tip = (a, r) => [r * Math.sin(a), -r * Math.cos(a)]; // clockwise from the top

  function drawDials(hands) {
    dials.clear();
    dials.g.select('.ex-frame').remove();
    const {columns, w, h, r} = dials.layout = layout(hands.length, dials.width, dials.height);
    const dial = dials.g.selectAll('g').data(hands).join('g')
      .attr('class', ({i, misread}) =>
        `ex-dial${i === pair.value ? ' chosen' : ''}${misread ? ' misread' : ''}`)
      .attr('transform', ({i}) => {
        const [row, column] = [Math.floor(i / columns), i % columns];
        return `translate(${(column + 0.5) * w},${(row + 0.5) * h - LABEL / 2})`;
      });
    dial.append('circle').attr('r', r);
    dial.append('path').attr('class', 'wedge').attr('d', ({omega, seen}) => d3.arc()({
      innerRadius: 0, outerRadius: r,
      startAngle: omega * t.value, endAngle: omega * t.value + seen,
    }));
    dial.append('path').attr('class', 'hand').attr('d', ({omega}) =>
      `M0,0L${tip(omega * t.value, r)}`);
    const label = dial.append('text').attr('class', 'ex-note').attr('text-anchor', 'middle');
    label.append('tspan').attr('x', 0).attr('y', r + 15).text(({i}) => `pair ${i}`);
    label.append('tspan').attr('x', 0).attr('y', r + 30)
      .text(({seen, misread}) => `${misread ? 'seen ' : ''}${turnText(seen)}`);
  }

  dials.onPick((x, y, event) => {
    const {columns, w, h} = dials.layout;
    const i = Math.floor(y / h) * columns + Math.floor(x / w);
    if (event.type === 'pointerdown' && i < d.value / 2) pair.value = i;
  }).onArrows((dx, dy) => {
    const {columns} = dials.layout;
    pair.value = explore.clamp(pair.value + dx - dy * columns, 0, d.value / 2 - 1);
  });

  // --- wavelengths ----------------------------------------------------------------------------

  function drawWaves(hands) {
    const TRUE = 1, AS_SEEN = 0;
    waves.axes({
      x: [2, 4e6], xScale: d3.scaleLog, xTicks: [10, 100, 1e3, 1e4, 1e5, 1e6],
      y: [-0.6, 1.6], yTicks: null, xLabel: 'wavelength (tokens), logarithmic',
    });
    const limit = 2 * k.value;
    waves.g.append('rect').attr('class', 'ex-shade')
      .attr('width', Math.max(waves.x(limit), 0)).attr('height', waves.height);
    waves.rule(LAST + 1, null, 'ex-plain');
    waves.note(waves.x(LAST + 1) + 4, -6, `table: ${explore.integer(LAST + 1)}`);
    waves.note(Math.max(waves.x(limit), 30), -6, `2k = ${limit}`, 'middle');
    waves.note(-6, waves.y(TRUE) + 4, 'true', 'end');
    waves.note(-6, waves.y(AS_SEEN) + 4, 'as seen', 'end');
    for (const {i, period, seenPeriod, misread} of hands) {
      const kind = `${i === pair.value ? 'chosen ' : ''}${misread ? 'misread' : ''}`;
      const end = Math.min(seenPeriod, waves.x.domain()[1]);
      waves.line([[period, TRUE], [end, AS_SEEN]], `ex-link ${kind}`)
        .dot(period, TRUE, `ex-wave ${kind}`).dot(end, AS_SEEN, `ex-wave ${kind}`);
    }
  }

  // --- all of it ------------------------------------------------------------------------------

  function sentence({i, period, turn, seen, misread}, cosine, count) {
    const look = `, seen as ${angle(Math.abs(seen))} rad ${seen < 0 ? 'backwards' : 'forwards'}`;
    return `Pair ${i}: wavelength ${length(period)} tokens; `
      + `${k.value} token${k.value === 1 ? ' turns' : 's turn'} it by `
      + `${angle(turn)} rad${misread ? look : ''}. Misread hands: ${count} of ${d.value / 2}. `
      + `Cosine of rows t and t + k: ${explore.number(cosine)}.`;
  }

  return () => {
    const n = d.value / 2;
    pair.input.attr('max', n - 1); // the browser moves the slider back if it has to
    const hands = d3.range(n).map(hand);
    drawDials(hands);
    drawWaves(hands);
    const chosen = hands[pair.value];
    const misread = hands.filter(h => h.misread).length;
    const cosine = d3.mean(hands, ({turn}) => Math.cos(turn)); // sin sin + cos cos, each pair
    back.property('disabled', t.value < k.value);
    on.property('disabled', t.value + k.value > LAST);
    play.text(timer ? 'Pause' : 'Play').attr('aria-pressed', Boolean(timer));
    figure.report({
      turn: chosen.turn, seen: chosen.seen, wavelength: chosen.period, misread, cosine,
      sine: Math.sin(chosen.omega * t.value), cosineValue: Math.cos(chosen.omega * t.value),
    });
    figure.say(sentence(chosen, cosine, misread));
  };
});
