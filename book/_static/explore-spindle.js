'use strict';
/* Chapter 6: GPT-2's rows along three principal components, linked to their cosine matrix. */

explore.define('spindle', 'Three components of the table of GPT-2, and its cosine matrix',
  (figure, data) => {
    const {number, clamp} = explore;
    const {positions, cosines, path} = data; // every `data.every`-th point of the path is a position
    const points = positions.map((_, at) => path[at * data.every]);
    const count = positions.length;
    const norm = point => Math.hypot(...point);
    const SIZE = 1.12 * d3.max(path, norm); // what half the plot's shorter side stands for
    const SPHERE = d3.mean(path, norm);
    const DRAG = 4; // pixels; who moves less than this has clicked
    const one = d3.format('.1f');
    const degrees = v => `${v}°`.replace('-', '−');

    const i = figure.range('i', 'position i', {values: positions, value: positions[Math.floor(count / 4)]});
    const j = figure.range('j', 'position j', {values: positions, value: positions[Math.floor(count / 2)]});
    const tilt = figure.range('tilt', 'tilt', {
      min: -180, max: 180, step: 5, value: 20, text: degrees,
    });
    const turn = figure.range('turn', 'turn', {
      min: -180, max: 180, step: 5, value: 0, text: degrees,
    });
    const mover = figure.radios('mover', 'a click on a point moves', [['i', 'i'], ['j', 'j']], 'j');
    const sphere = figure.toggle('sphere', 'outline of a sphere');
    const row = figure.row();
    const space = figure.plot({
      parent: row, name: 'space', height: 330, label: 'Rows along three principal components',
      margin: {top: 0, right: 0, bottom: 0, left: 0},
    });
    const matrix = figure.plot({
      parent: row, name: 'matrix', height: 330, label: 'Cosine matrix',
      margin: {top: 12, bottom: 26, left: 20, right: 4},
    });
    explore.scale(figure.root);

    // --- turning ------------------------------------------------------------------------------

    // Right, up and towards the reader. Without tilt the third component points right; with a
    // tilt of 90 degrees the reader looks along it.
    function view([x, y, z]) {
      const [a, b] = [turn.value, tilt.value].map(v => v * Math.PI / 180);
      const [up, away] = [x * Math.cos(a) - y * Math.sin(a), x * Math.sin(a) + y * Math.cos(a)];
      return [z * Math.cos(b) + away * Math.sin(b), up, away * Math.cos(b) - z * Math.sin(b)];
    }
    const wrap = v => (v > 180 ? v - 360 : v < -180 ? v + 360 : v);
    function rotate(right, up) {
      tilt.value = wrap(5 * Math.round((tilt.value + right) / 5));
      turn.value = wrap(5 * Math.round((turn.value + up) / 5));
    }

    // --- picking ------------------------------------------------------------------------------

    const at = control => positions.indexOf(control.value);
    const set = (control, place) => { control.value = positions[clamp(place, 0, count - 1)]; };

    let last = null; // where the pointer turned the curve last
    let dragged = false;
    space.onPick((x, y, event) => {
      if (event.type === 'pointerdown') [last, dragged] = [[x, y], false];
      const [right, down] = [x - last[0], y - last[1]];
      if (event.type === 'pointermove' && (dragged || Math.hypot(right, down) > DRAG)) {
        dragged = true;
        if (Math.hypot(right, down) < 5) return; // 5 pixels or more make a step of 5 degrees
        rotate(right, -down);
        last = [x, y];
      }
      if (event.type === 'pointerup' && !dragged) {
        const gap = point => {
          const [px, py] = space.place(view(point));
          return Math.hypot(px - x, py - y);
        };
        set(mover.value === 'i' ? i : j, d3.leastIndex(points, (p, q) => gap(p) - gap(q)));
      }
    }).onArrows((dx, dy) => rotate(5 * dx, 5 * dy));
    matrix.onPick((x, y) => {
      set(i, Math.floor(matrix.x.invert(x)));
      set(j, Math.floor(matrix.y.invert(y)));
    }).onArrows((dx, dy) => {
      set(i, at(i) + dx);
      set(j, at(j) - dy);
    });

    // --- drawing ------------------------------------------------------------------------------

    function drawSpace() {
      space.clear();
      const unit = Math.min(space.width, space.height) / 2 / SIZE;
      space.place = ([right, up]) => [space.width / 2 + unit * right, space.height / 2 - unit * up];
      const draw = (tag, kind) => space.g.append(tag).attr('class', kind);
      const taken = []; // where labels stand: one that would cover another is left out
      const free = (x, y) => taken.every(([a, b]) => Math.abs(a - x) > 32 || Math.abs(b - y) > 14)
        && taken.push([x, y]);
      const origin = space.place([0, 0]);
      if (sphere.value) {
        draw('circle', 'ex-rule ex-plain').attr('cx', origin[0]).attr('cy', origin[1])
          .attr('r', unit * SPHERE);
      }
      for (const [axis, name] of [[[1, 0, 0], 'PC1'], [[0, 1, 0], 'PC2'], [[0, 0, 1], 'PC3']]) {
        const end = space.place(view(axis.map(v => 0.45 * SIZE * v)));
        draw('path', 'ex-axis-line').attr('d', `M${origin}L${end}`);
        space.note(...end, name, 'middle', 'ex-quiet');
        taken.push(end);
      }
      const seen = path.map(view);
      for (const front of [false, true]) {
        const line = d3.line().defined(p => (p[2] >= 0) === front);
        draw('path', `ex-path ${front ? 'front' : ''}`)
          .attr('d', line(seen.map(p => [...space.place(p), p[2]])));
      }
      points.forEach((point, n) => {
        const [right, up, near] = view(point);
        const [x, y] = space.place([right, up]);
        draw('circle', 'ex-dot gpt2').attr('cx', x).attr('cy', y).attr('r', near >= 0 ? 3.6 : 2.4);
        if (n % 8 === 4 && free(x + 6, y - 5)) {
          space.note(x + 6, y - 5, positions[n], 'start', 'ex-quiet');
        }
      });
      const ends = [i, j].map(control => space.place(view(points[at(control)])));
      draw('path', 'ex-rule ex-halo').attr('d', `M${ends[0]}L${ends[1]}`);
      draw('path', 'ex-rule ex-marker').attr('d', `M${ends[0]}L${ends[1]}`);
      ends.forEach(([x, y], n) => {
        draw('circle', 'ex-dot ex-marker').attr('cx', x).attr('cy', y).attr('r', 7);
        space.note(x + 10, y + 5, 'ij'[n], 'start', 'ex-strong');
      });
    }

    function drawMatrix() {
      matrix.axes({x: [0, count], y: [count, 0], xTicks: [], yTicks: []})
        .heatmap(count, count, (row, column) => cosines[row][column])
        .rule(at(i) + 0.5, at(j) + 0.5);
      matrix.note(matrix.width / 2, matrix.height + 18, `i = ${i.value}`, 'middle');
      matrix.note(0, 0, `j = ${j.value}`, 'middle')
        .attr('transform', `translate(-7,${matrix.height / 2}) rotate(-90)`);
    }

    return () => {
      drawSpace();
      drawMatrix();
      const [a, b] = [points[at(i)], points[at(j)]];
      const cosine = cosines[at(j)][at(i)];
      const distance = Math.hypot(...a.map((v, axis) => v - b[axis]));
      const [right, up] = view(a).map((v, axis) => v - view(b)[axis]);
      const apparent = Math.hypot(right, up);
      figure.report({cosine, distance, apparent, centreI: norm(a), centreJ: norm(b)});
      figure.say(`Rows ${i.value} and ${j.value}, ${Math.abs(i.value - j.value)} tokens apart: `
        + `cosine ${number(cosine)}. In the three components they are ${one(distance)} apart `
        + `(${one(apparent)} as seen from here), and ${one(norm(a))} and ${one(norm(b))} from the `
        + 'centre.');
    };
  });
