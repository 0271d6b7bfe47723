'use strict';
/*
 * Figures that answer back, in the static page: no kernel, no server, no request.
 *
 * posembed/explore.py writes a container with data into a notebook's output. This file gives it
 * controls, plots and words; explore-<kind>.js says what is drawn:
 *
 *   explore.define('kind', 'Name of the figure', (figure, data) => {
 *     const t = figure.range('t', 'position t', {max: 100});
 *     const plot = figure.plot({name: 'curve', label: 'what it shows', height: 200});
 *     return () => {            // called whenever something has changed
 *       plot.axes({x: [0, 100], y: [-1, 1]}).line(data.curve, 'gpt2').rule(t.value);
 *       figure.report({value: data.curve[t.value]});
 *       figure.say(`The value at t = ${t.value} is ${explore.number(data.curve[t.value])}.`);
 *     };
 *   });
 *
 * The value of every control, and all that report() is given, stand in data- attributes of the
 * container: that is where tests read them.
 */
const explore = (() => {
  const QUIET = 700; // ms without a change before a screen reader is told
  // ColorBrewer's RdBu, reversed: what the still figures use (matplotlib's RdBu_r).
  const DIVERGING = [
    '#053061', '#2166ac', '#4393c3', '#92c5de', '#d1e5f0', '#f7f7f7',
    '#fddbc7', '#f4a582', '#d6604d', '#b2182b', '#67001f',
  ];
  const ramp = d3.piecewise(d3.interpolateRgb, DIVERGING);
  const COLOURS = d3.range(256).map(i => d3.rgb(ramp(i / 255)));
  const MISSING = d3.rgb('#999');
  const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};

  const SYMBOLS = {
    gpt2: d3.symbolCircle, sinusoid: d3.symbolSquare, shuffled: d3.symbolTriangle,
  };

  const symbol = kind => d3.symbol(SYMBOLS[kind.split(' ')[0]] ?? d3.symbolCircle, 70)();
  const number = d3.format('.3f');
  const integer = d3.format(',d');
  const short = d3.format('~s'); // 10k, 1M
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  // --- one explorable: its controls, its words, its data- attributes --------------------------

  class Figure {
    #controls = [];
    #frame = 0;
    #timer = 0;
    #spoken = null;

    constructor(root, title) {
      this.root = d3.select(root).attr('role', 'group').attr('aria-label', title);
      this.root.select('p').remove(); // it was for readers without scripts
      this.fields = this.root.append('div').attr('class', 'ex-fields');
      this.words = this.root.append('p').attr('class', 'ex-words');
      this.voice = this.root.append('p').attr('class', 'ex-voice').attr('role', 'status');
    }

    // A slider over min, min + step, … max, or over the entries of `values`.
    range(name, label, {min = 0, max, step = 1, values, value = values ? values[0] : min,
                        text = integer}) {
      const field = this.#field(name, label);
      const at = v => (values ? values.indexOf(v) : v);
      const input = field.append('input').attr('type', 'range').attr('id', this.#id(name))
        .attr('min', values ? 0 : min).attr('max', values ? values.length - 1 : max)
        .attr('step', step).property('value', at(value));
      const output = field.append('output').attr('for', this.#id(name)).attr('aria-live', 'off');
      return this.#control(name, input, {
        read: () => (values ? values[input.property('value')] : Number(input.property('value'))),
        write: v => input.property('value', at(v)),
        show: v => {
          output.text(text(v));
          input.attr('aria-valuetext', text(v));
        },
      });
    }

    // A drop-down list of values, [value, text] pairs, or {group, options} of these.
    choice(name, label, options, value) {
      const select = this.#field(name, label).append('select').attr('id', this.#id(name));
      const add = (parent, option) => {
        if (option.options) {
          const group = parent.append('optgroup').attr('label', option.group);
          option.options.forEach(o => add(group, o));
        } else {
          const [v, text] = Array.isArray(option) ? option : [option, option];
          parent.append('option').attr('value', v).text(text);
        }
      };
      options.forEach(option => add(select, option));
      select.property('value', value);
      return this.#control(name, select, {
        read: () => {
          const text = select.property('value');
          return text === '' || isNaN(text) ? text : Number(text);
        },
        write: v => select.property('value', v),
      });
    }

    // Radio buttons for a few [value, text] pairs.
    radios(name, legend, options, value) {
      const set = this.fields.append('fieldset').attr('class', 'ex-radios')
        .classed('ex-wide', options.length > 3);
      set.append('legend').text(legend);
      for (const [v, text] of options) {
        const label = set.append('label');
        label.append('input').attr('type', 'radio').attr('name', this.#id(name)).attr('value', v);
        label.append('span').text(text);
      }
      const inputs = set.selectAll('input').property('checked', function () {
        return this.value === value;
      });
      return this.#control(name, inputs, {
        read: () => inputs.filter(':checked').property('value'),
        write: v => inputs.property('checked', function () { return this.value === v; }),
      });
    }

    toggle(name, text) {
      const label = this.fields.append('label').attr('class', 'ex-toggle');
      const input = label.append('input').attr('type', 'checkbox');
      label.append('span').text(text);
      return this.#control(name, input, {
        read: () => input.property('checked'),
        write: v => input.property('checked', v),
      });
    }

    // A row for buttons; each entry is [name, text, action]. Returns the buttons by name.
    buttons(entries) {
      const row = this.fields.append('div').attr('class', 'ex-buttons');
      return Object.fromEntries(entries.map(([name, text, action]) => [
        name,
        row.append('button').attr('type', 'button').attr('data-name', name).text(text)
          .on('click', action),
      ]));
    }

    // A place for plots that stand side by side where there is room.
    row() {
      return this.root.append('div').attr('class', 'ex-row');
    }

    plot(options) {
      return new Plot(this, options);
    }

    // A table with a caption; the function that is returned fills in its rows.
    table(caption, heads) {
      const table = this.root.append('table').attr('class', 'ex-table');
      table.append('caption').text(caption);
      table.append('thead').append('tr').selectAll('th').data(heads).join('th')
        .attr('scope', 'col').text(String);
      const body = table.append('tbody');
      return rows => {
        const row = body.selectAll('tr').data(rows).join('tr');
        row.selectAll('th').data(([head]) => [head]).join('th').attr('scope', 'row').text(String);
        row.selectAll('td').data(([, ...cells]) => cells).join('td').text(String);
      };
    }

    report(values) {
      Object.assign(this.root.node().dataset, values);
    }

    // Show a sentence; a screen reader hears it once nothing has changed for a moment.
    say(sentence) {
      this.words.text(sentence);
      clearTimeout(this.#timer);
      if (this.#spoken === null) this.#spoken = sentence; // nobody asked for the first one
      this.#timer = setTimeout(() => {
        if (sentence !== this.#spoken) this.voice.text(sentence);
        this.#spoken = sentence;
      }, QUIET);
    }

    start(draw) {
      this.draw = draw;
      let width = 0;
      new ResizeObserver(([entry]) => {
        const now = entry.contentRect.width; // 0 on paper, which shows the still figure alone
        if (now && now !== width) this.changed();
        width = now;
      }).observe(this.root.node());
      this.#redraw();
      this.report({ready: true});
    }

    // The numbers behind the figure, to take away; made of the page itself, so from disk too.
    offer(text) {
      if (text.length < 1000) return; // settings, no data
      const file = new Blob([text], {type: 'application/json'});
      this.root.append('a').attr('class', 'ex-data').attr('href', URL.createObjectURL(file))
        .attr('download', `${this.root.attr('data-kind')}.json`)
        .text('Download the data of this figure (JSON)');
    }

    changed() {
      this.#frame ||= requestAnimationFrame(() => {
        this.#frame = 0;
        this.#redraw();
      });
    }

    #redraw() {
      this.draw();
      for (const {name, show, control} of this.#controls) {
        show?.(control.value);
        this.report({[name]: control.value});
      }
    }

    #id(name) {
      return `explorable-${this.root.attr('data-kind')}-${name}`;
    }

    #field(name, label) {
      const field = this.fields.append('div').attr('class', 'ex-field');
      field.append('label').attr('for', this.#id(name)).text(label);
      return field;
    }

    #control(name, input, {read, write, show}) {
      const figure = this;
      const control = {
        input,
        get value() { return read(); },
        set value(v) {
          write(v);
          figure.changed();
        },
      };
      input.on('input', () => this.changed());
      this.#controls.push({name, show, control});
      return control;
    }
  }

  // --- one plot: an SVG in the page's own pixels, so that its letters keep their size ---------

  class Plot {
    constructor(figure, {name, label, height, parent = figure.root, margin = {}}) {
      this.figure = figure;
      this.margin = {top: 8, right: 10, bottom: 42, left: 48, ...margin};
      this.box = parent.append('div').attr('class', 'ex-plot').attr('data-name', name)
        .style('height', typeof height === 'number' ? `${height}px` : height);
      this.svg = this.box.append('svg').attr('role', 'img').attr('aria-label', label);
    }

    // Empty the plot and measure its room; all drawing starts with this (axes() calls it).
    clear() {
      const {top, right, bottom, left} = this.margin;
      const {clientWidth, clientHeight} = this.box.node();
      this.width = clientWidth - left - right;
      this.height = clientHeight - top - bottom;
      this.svg.attr('width', clientWidth).attr('height', clientHeight)
        .selectChildren().remove();
      this.g = this.svg.append('g').attr('transform', `translate(${left},${top})`);
      this.g.append('rect').attr('class', 'ex-frame')
        .attr('width', this.width).attr('height', this.height);
      return this;
    }

    axes({x, y, xLabel, yLabel, xScale = d3.scaleLinear, xTicks, yTicks}) {
      this.clear();
      this.x = xScale(x, [0, this.width]);
      this.y = d3.scaleLinear(y, [this.height, 0]);
      const ticks = (axis, values, room) =>
        (Array.isArray(values) ? axis.tickValues(values) : axis.ticks(values ?? room));
      const bottom = ticks(d3.axisBottom(this.x), xTicks, this.width / 70).tickSizeOuter(0);
      const left = ticks(d3.axisLeft(this.y), yTicks, this.height / 40).tickSizeOuter(0);
      if (xTicks) bottom.tickFormat(x => (this.width < 400 && x > 1e3 ? short(x) : integer(x)));
      this.g.append('g').attr('class', 'ex-axis')
        .attr('transform', `translate(0,${this.height})`).call(bottom);
      if (yTicks !== null) this.g.append('g').attr('class', 'ex-axis').call(left);
      const below = xTicks && !xTicks.length ? 18 : 36;
      if (xLabel) this.note(this.width / 2, this.height + below, xLabel, 'middle');
      if (yLabel) {
        this.note(0, 0, yLabel, 'middle')
          .attr('transform', `translate(${12 - this.margin.left},${this.height / 2}) rotate(-90)`);
      }
      // What is drawn in here is cut off at the frame.
      this.area = this.g.append('svg').attr('width', this.width).attr('height', this.height);
      return this;
    }

    // A line through [x, y] points; a gap where y is not finite.
    line(points, kind) {
      const path = d3.line(([x]) => this.x(x), ([, y]) => this.y(y))
        .defined(([, y]) => Number.isFinite(y));
      this.area.append('path').attr('class', `ex-line ${kind}`).attr('d', path(points));
      return this;
    }

    // The area between two curves, of [x, low, high].
    band(points, kind) {
      const path = d3.area(([x]) => this.x(x), ([, low]) => this.y(low), ([,, high]) => this.y(high));
      this.area.append('path').attr('class', kind).attr('d', path(points));
      return this;
    }

    // Vertical line at x, horizontal line at y; drawn with a halo, so that it shows on any colour.
    rule(x, y, kind = 'ex-marker') {
      const paths = [];
      if (x !== null && x !== undefined) paths.push(`M${this.x(x)},0V${this.height}`);
      if (y !== null && y !== undefined) paths.push(`M0,${this.y(y)}H${this.width}`);
      for (const layer of ['ex-halo', kind]) {
        this.area.append('path').attr('class', `ex-rule ${layer}`).attr('d', paths.join(''));
      }
      return this;
    }

    // A triangle outside the right edge that points at y.
    pointer(y) {
      this.g.append('path').attr('class', 'ex-dot ex-marker')
        .attr('d', `M${this.width + 3},${this.y(y)}l9,-6v12Z`);
      return this;
    }

    // A dot in the shape that belongs to the first word of its kind.
    dot(x, y, kind = 'ex-marker') {
      if (Number.isFinite(y)) {
        this.g.append('path').attr('class', `ex-dot ${kind}`).attr('d', symbol(kind))
          .attr('transform', `translate(${this.x(x)},${this.y(y)})`);
      }
      return this;
    }

    // Text at pixels of the plot's area.
    note(x, y, text, anchor = 'start', kind = '') {
      return this.g.append('text').attr('class', `ex-note ${kind}`).attr('text-anchor', anchor)
        .attr('x', x).attr('y', y).text(text);
    }

    // Fill the area with nRows x nColumns cells, row 0 on top: blue below 0, white, red above.
    heatmap(nRows, nColumns, value, limit = 1) {
      this.canvas ??= this.box.insert('canvas', 'svg').attr('aria-hidden', true);
      const {top, left} = this.margin;
      this.canvas.attr('width', nColumns).attr('height', nRows)
        .style('left', `${left}px`).style('top', `${top}px`)
        .style('width', `${this.width}px`).style('height', `${this.height}px`);
      const context = this.canvas.node().getContext('2d');
      const image = context.createImageData(nColumns, nRows);
      for (let row = 0, at = 0; row < nRows; row++) {
        for (let column = 0; column < nColumns; column++, at += 4) {
          const v = value(row, column);
          const share = clamp((v / limit + 1) / 2, 0, 1);
          const {r, g, b} = Number.isFinite(v) ? COLOURS[Math.round(255 * share)] : MISSING;
          image.data.set([r, g, b, 255], at);
        }
      }
      context.putImageData(image, 0, 0);
      return this;
    }

    // Call pick(x, y, event) with pixels of the plot's area from pointerdown to pointerup.
    onPick(pick) {
      const {top, left} = this.margin;
      let pressed = null, waiting = null;
      const pass = event => {
        const [x, y] = d3.pointer(event, this.svg.node());
        pick(clamp(x - left, 0, this.width), clamp(y - top, 0, this.height), event);
      };
      // A finger may be about to scroll the page: it counts once it moves aside or is lifted.
      const begin = () => {
        if (waiting) pass(waiting);
        waiting = null;
      };
      this.svg.classed('ex-pick', true)
        .on('pointerdown', event => {
          pressed = event.pointerId;
          event.currentTarget.setPointerCapture(pressed);
          waiting = event;
          if (event.pointerType !== 'touch') begin();
        })
        .on('pointermove', event => {
          if (event.pointerId !== pressed) return;
          const aside = waiting && Math.abs(event.clientX - waiting.clientX);
          if (waiting && aside <= Math.abs(event.clientY - waiting.clientY)) return;
          begin();
          pass(event);
        })
        .on('pointerup', event => {
          if (event.pointerId !== pressed) return;
          begin();
          pass(event);
          pressed = null;
        })
        .on('pointercancel', () => { pressed = waiting = null; }); // the page scrolls
      return this;
    }

    // Call move(dx, dy, event) when an arrow key is pressed; with Shift, ten steps at once.
    onArrows(move) {
      this.svg.attr('tabindex', 0).attr('role', 'application').on('keydown', event => {
        const arrow = ARROWS[event.key];
        if (!arrow || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        move(...arrow.map(step => step * (event.shiftKey ? 10 : 1)), event);
      });
      return this;
    }
  }

  // The scale of a heatmap, to be read without its colours: numbers at both ends.
  function scale(parent, limit = 1, more = '') {
    const bar = parent.append('p').attr('class', 'ex-scale');
    bar.append('span').text(`−${limit}`);
    bar.append('span').attr('class', 'ex-bar')
      .style('background', `linear-gradient(to right, ${DIVERGING.join(', ')})`);
    bar.append('span').text(`+${limit}`);
    bar.append('span').text(more);
  }

  // What the lines of a plot are, each [kind, text], with a sample of the line.
  function legend(parent, entries) {
    const list = parent.append('ul').attr('class', 'ex-legend');
    for (const [kind, text] of entries) {
      const item = list.append('li');
      const sample = item.append('svg').attr('width', 34).attr('height', 14).attr('aria-hidden', true);
      if (kind === 'ex-band') sample.append('rect').attr('class', kind).attr('width', 34).attr('height', 14);
      else sample.append('path').attr('class', `ex-line ${kind}`).attr('d', 'M0,7H34');
      if (SYMBOLS[kind]) {
        sample.append('path').attr('class', `ex-dot ${kind}`).attr('d', symbol(kind))
          .attr('transform', 'translate(17,7)');
      }
      item.append('span').text(text);
    }
  }

  function define(kind, title, build) {
    for (const root of document.querySelectorAll(`.explorable[data-kind="${kind}"]`)) {
      const text = root.querySelector('script').textContent;
      const figure = new Figure(root, title);
      figure.start(build(figure, JSON.parse(text)));
      figure.offer(text);
    }
  }

  // --- the sinusoidal formula, as in posembed/encodings.py ------------------------------------

  const frequency = (i, d, base) => base ** (-2 * i / d); // of pair i, radians per token

  function sinusoid(t, j, d, base = 10000) {
    const angle = t * frequency((j - j % 2) / 2, d, base);
    return j % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
  }

  return {clamp, define, frequency, integer, legend, number, scale, sinusoid};
})();
