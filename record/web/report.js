"use strict";
// Draws the plots of a report. Time plots and histograms are uPlot's; paths, which need equal scales, are drawn here. All in one
// file: a report is one page that loads nothing.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dashes = [[], [9, 4], [3, 3], [12, 3, 3, 3], [6, 2], [14, 5, 5, 5], [2, 2, 6, 2], [1, 3]];
  const kColours = 11;  // --c0 … of the style sheet, as many as there are methods
  const methods = [...new Set(data.plots.flatMap(p => p.series.filter(s => s.style === "method").map(s => s.name)))];
  const hidden = new Set();
  let drawn = [];  // {setShown(), destroy(), resize()} of every plot that is shown
  let view = data.views[0];

  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const pixelRatio = () => window.devicePixelRatio || 1;
  const plotHeight = (figure, width) => (width < 500 ? 200 : figure.classList.contains("half") ? 220 : 280);

  function look(series) {
    if (series.style === "reference") return { color: css("--fg"), dash: [], width: 2.5 };
    if (series.style === "device") return { color: css("--soft"), dash: [2, 3], width: 1.5 };
    if (series.style === "surface") return { color: css("--surface"), dash: [], width: 4 };
    if (series.style === "limit") return { color: css("--soft"), dash: [6, 4], width: 1.2 };
    const i = methods.indexOf(series.name);
    return { color: css(`--c${i % kColours}`), dash: dashes[(i + Math.floor(i / dashes.length)) % dashes.length], width: 1.6 };
  }

  // ---- numbers ----

  // The SI prefix for values up to `largest`: multiply by `factor`, write `unit`.
  function prefixed(largest, unit) {
    if (!unit || unit === "%" || !(largest > 0)) return { factor: 1, unit };
    const group = Math.max(-4, Math.min(2, Math.floor(Math.log10(largest * 1.0000001) / 3)));
    return { factor: 10 ** (-3 * group), unit: ["p", "n", "µ", "m", "", "k", "M"][group + 4] + unit };
  }
  function largestOf(lists) {
    let largest = 0;
    for (const list of lists) for (const v of list) if (v !== null && Math.abs(v) > largest) largest = Math.abs(v);
    return largest;
  }
  const scaled = (list, factor) => (factor === 1 ? list : list.map(v => (v === null ? null : v * factor)));
  const digits = v => (v == null ? "–" : String(Number(v.toPrecision(4))).replace("-", "−"));
  const label = (text, unit) => (unit ? `${text} [${unit}]` : text);

  function niceStep(span, count) {
    const raw = span / count, power = 10 ** Math.floor(Math.log10(raw));
    return power * [1, 2, 5, 10].find(m => m * power >= raw * 0.999);
  }

  // ---- time plots and histograms ----

  function axis(text) {
    return {
      label: text, labelSize: 22, labelFont: "12px system-ui, sans-serif", font: "12px system-ui, sans-serif",
      stroke: css("--soft"), grid: { stroke: css("--grid"), width: 1 }, ticks: { stroke: css("--grid"), width: 1, size: 5 },
    };
  }

  // Log axes label the decades, and 2 and 5 where there is room.
  function logLabels(u, splits) {
    const few = Math.log10(splits[splits.length - 1] / splits[0]) < 3;
    return splits.map(v => {
      const lead = Math.round(v / 10 ** Math.floor(Math.log10(v) + 1e-9));
      return lead === 1 || (few && (lead === 2 || lead === 5)) ? digits(v) : "";
    });
  }

  // Dashes tell smooth curves apart but tear dense ones to shreds: a curve whose visible part is many times as long as
  // the plot is wide is drawn thin and solid until the reader zooms in.
  function chooseDashes(u, plot) {
    const [first, last] = u.series[0].idxs;
    plot.series.forEach((s, k) => {
      const series = u.series[k + 1], scale = u.scales.y, values = u.data[k + 1];
      let length = 0, before = null;
      for (let i = first; i <= last; ++i) {
        if (values[i] == null) continue;
        if (before !== null) length += Math.abs(values[i] - before);
        before = values[i];
      }
      const dense = (length / (scale.max - scale.min)) * u.bbox.height > 4 * u.bbox.width;
      const { dash, width } = look(s);
      series.dash = dense ? [] : dash;
      series.width = dense ? Math.min(width, 1) : width;
    });
  }

  // Moments that one should see, as lines across a time plot.
  function drawMarks(u, plot, factor) {
    const c = u.ctx;
    c.save();
    for (const mark of plot.marks) {
      const x = u.valToPos(mark.x * factor, "x", true);
      if (!(x >= u.bbox.left && x <= u.bbox.left + u.bbox.width)) continue;
      c.strokeStyle = c.fillStyle = css("--bad");
      c.lineWidth = pixelRatio();
      c.setLineDash([4 * pixelRatio(), 3 * pixelRatio()]);
      c.beginPath();
      c.moveTo(x, u.bbox.top);
      c.lineTo(x, u.bbox.top + u.bbox.height);
      c.stroke();
      c.font = `${12 * pixelRatio()}px system-ui, sans-serif`;
      c.textBaseline = "top";
      const right = x + c.measureText(mark.label).width + 8 * pixelRatio() < u.bbox.left + u.bbox.width;
      c.textAlign = right ? "left" : "right";
      c.fillText(mark.label, x + (right ? 5 : -5) * pixelRatio(), u.bbox.top + 3 * pixelRatio());
    }
    c.restore();
  }

  function scalesOf(kind) {
    if (kind === "histogram")
      return { x: { time: false, distr: 3 }, y: { distr: 3, range: (u, low, high) => [0.5, Math.max(high * 1.5, 2)] } };
    if (kind === "spectrum" || kind === "lines") return { x: { time: false, distr: 3 }, y: { distr: 3 } };
    return { x: { time: false } };
  }

  function drawLines(figure, plot) {
    const box = figure.querySelector(".canvas");
    const histogram = plot.kind === "histogram", spectrum = plot.kind === "spectrum", lines = plot.kind === "lines";
    const logarithmic = histogram || spectrum || lines, time = plot.kind === "time";
    const x = spectrum ? { factor: 1, unit: plot.x_unit }
                       : prefixed(largestOf(plot.series.map(s => data.xs[s.x])) / (histogram ? 30 : 1), plot.x_unit);
    const y = spectrum ? { factor: 1, unit: plot.y_unit } : prefixed(largestOf(plot.series.map(s => s.y)), plot.y_unit);
    // A logarithm has no zero: an empty bin goes to a half, below the axis' first count.
    const ys = plot.series.map(s => (histogram ? s.y.map(v => Math.max(v, 0.5)) : scaled(s.y, y.factor)));
    const tables = plot.series.map((s, i) => [scaled(data.xs[s.x], x.factor), ys[i]]);
    const shared = plot.series.every(s => s.x === plot.series[0].x);
    const table = shared ? [tables[0][0], ...ys] : uPlot.join(tables);
    const width = Math.max(box.clientWidth, 200);
    const options = {
      width, height: plotHeight(figure, width), pxAlign: 0,
      scales: scalesOf(plot.kind),
      axes: [{ ...axis(label(plot.x_label, x.unit)), size: 32 }, { ...axis(label(plot.y_label, y.unit)), size: 58 }],
      cursor: {
        y: false, drag: { x: true, y: false }, points: { size: 6 },
        ...(time ? { sync: { key: "time", setSeries: false, scales: ["x", null] } } : {}),
      },
      hooks: time ? { drawClear: [u => chooseDashes(u, plot)], draw: [u => drawMarks(u, plot, x.factor)] } : {},
      legend: { markers: { width: 2, dash: (u, i) => (options.series[i].dash.length ? "dashed" : "solid") } },
      series: [{ label: plot.x_label, value: (u, v) => (v == null ? "–" : `${digits(v)} ${x.unit}`), dash: [] }],
    };
    if (logarithmic) for (const a of options.axes) a.values = logLabels;
    if (lines) for (const a of options.axes) a.filter = (u, splits) => splits;
    plot.series.forEach(s => {
      const { color, dash, width: lineWidth } = look(s);
      options.series.push({
        label: s.name, stroke: color, dash, width: lineWidth, spanGaps: lines || !shared, show: !hidden.has(s.name),
        points: { show: lines, size: 6 },
        paths: histogram ? uPlot.paths.stepped({ align: 1 }) : undefined,
        value: (u, v) => (histogram && v === 0.5 ? "0" : digits(v)),
      });
    });
    const u = new uPlot(options, table, box);
    return {
      setShown() { plot.series.forEach((s, i) => u.setSeries(i + 1, { show: !hidden.has(s.name) })); },
      resize() {
        const w = Math.max(box.clientWidth, 200);
        if (w !== u.width) u.setSize({ width: w, height: plotHeight(figure, w) });
      },
      destroy() { u.destroy(); },
    };
  }

  // ---- paths ----

  class PathPlot {
    constructor(figure, plot) {
      this.box = figure.querySelector(".canvas");
      const largest = Math.max(largestOf(plot.series.map(s => data.xs[s.x])), largestOf(plot.series.map(s => s.y)));
      this.unit = prefixed(largest, plot.x_unit);
      this.plot = plot;
      this.series = plot.series.map(s => ({
        name: s.name, look: look(s), x: scaled(data.xs[s.x], this.unit.factor), y: scaled(s.y, this.unit.factor),
      }));
      this.canvas = this.box.appendChild(document.createElement("canvas"));
      this.canvas.className = "path";
      this.canvas.tabIndex = 0;
      this.readout = this.box.appendChild(document.createElement("div"));
      this.readout.className = "readout";
      this.listen();
      this.resize();
    }

    bounds() {
      const b = { x0: Infinity, x1: -Infinity, y0: Infinity, y1: -Infinity };
      for (const s of this.series) {
        for (let i = 0; i < s.x.length; ++i) {
          if (s.x[i] === null || s.y[i] === null) continue;
          b.x0 = Math.min(b.x0, s.x[i]); b.x1 = Math.max(b.x1, s.x[i]);
          b.y0 = Math.min(b.y0, s.y[i]); b.y1 = Math.max(b.y1, s.y[i]);
        }
      }
      if (!(b.x1 >= b.x0)) return { x0: 0, x1: 1, y0: 0, y1: 1 };
      const least = Math.max(b.x1 - b.x0, b.y1 - b.y0, 1e-12) * 0.02;
      const padX = Math.max((b.x1 - b.x0) * 0.04, least), padY = Math.max((b.y1 - b.y0) * 0.08, least);
      return { x0: b.x0 - padX, x1: b.x1 + padX, y0: b.y0 - padY, y1: b.y1 + padY };
    }

    // Puts the box in the middle of the canvas at the largest equal scale that shows it all.
    fit(b) {
      this.scale = Math.min(this.inner.w / (b.x1 - b.x0), this.inner.h / (b.y1 - b.y0));
      this.cx = (b.x0 + b.x1) / 2;
      this.cy = (b.y0 + b.y1) / 2;
      this.draw();
    }

    resize() {
      const w = Math.max(this.box.clientWidth, 200);
      if (w === this.width) return;
      const b = this.bounds();
      this.width = w;
      const wanted = (w - 80) * (b.y1 - b.y0) / (b.x1 - b.x0) + 50;
      this.height = Math.round(Math.max(240, Math.min(wanted, w, 560)));
      this.inner = { x: 62, y: 8, w: w - 62 - 14, h: this.height - 8 - 42 };
      this.canvas.width = Math.round(w * pixelRatio());
      this.canvas.height = Math.round(this.height * pixelRatio());
      this.canvas.style.width = `${w}px`;
      this.canvas.style.height = `${this.height}px`;
      this.fit(b);
    }

    px(x) { return this.inner.x + this.inner.w / 2 + (x - this.cx) * this.scale; }
    py(y) { return this.inner.y + this.inner.h / 2 - (y - this.cy) * this.scale; }
    dataX(px) { return this.cx + (px - this.inner.x - this.inner.w / 2) / this.scale; }
    dataY(py) { return this.cy - (py - this.inner.y - this.inner.h / 2) / this.scale; }

    drawAxes(c) {
      const { x, y, w, h } = this.inner;
      const stepX = niceStep(w / this.scale, w / 90), stepY = niceStep(h / this.scale, h / 45);
      c.font = "12px system-ui, sans-serif";
      c.strokeStyle = css("--grid");
      c.fillStyle = css("--soft");
      c.lineWidth = 1;
      c.beginPath();
      c.textAlign = "center";
      c.textBaseline = "top";
      for (let i = Math.ceil(this.dataX(x) / stepX); i * stepX <= this.dataX(x + w); ++i) {
        c.moveTo(this.px(i * stepX), y); c.lineTo(this.px(i * stepX), y + h + 5);
        c.fillText(digits(i * stepX), this.px(i * stepX), y + h + 8);
      }
      c.textAlign = "right";
      c.textBaseline = "middle";
      for (let i = Math.ceil(this.dataY(y + h) / stepY); i * stepY <= this.dataY(y); ++i) {
        c.moveTo(x - 5, this.py(i * stepY)); c.lineTo(x + w, this.py(i * stepY));
        c.fillText(digits(i * stepY), x - 8, this.py(i * stepY));
      }
      c.stroke();
      c.textAlign = "center";
      c.fillText(label(this.plot.x_label, this.unit.unit), x + w / 2, y + h + 33);
      c.save();
      c.translate(11, y + h / 2);
      c.rotate(-Math.PI / 2);
      c.fillText(label(this.plot.y_label, this.unit.unit), 0, 0);
      c.restore();
    }

    drawSeries(c, s) {
      c.strokeStyle = s.look.color;
      c.lineWidth = s.look.width;
      c.setLineDash(s.look.dash);
      c.beginPath();
      let pen = false;
      for (let i = 0; i < s.x.length; ++i) {
        const gap = s.x[i] === null || s.y[i] === null;
        if (!gap) pen ? c.lineTo(this.px(s.x[i]), this.py(s.y[i])) : c.moveTo(this.px(s.x[i]), this.py(s.y[i]));
        pen = !gap;
      }
      c.stroke();
      c.setLineDash([]);
    }

    draw() {
      const c = this.canvas.getContext("2d");
      c.setTransform(pixelRatio(), 0, 0, pixelRatio(), 0, 0);
      c.clearRect(0, 0, this.width, this.height);
      this.drawAxes(c);
      c.save();
      c.beginPath();
      c.rect(this.inner.x, this.inner.y, this.inner.w, this.inner.h);
      c.clip();
      c.lineJoin = "round";
      for (const s of this.series) if (!hidden.has(s.name)) this.drawSeries(c, s);
      c.restore();
      if (this.nearest) {
        c.fillStyle = this.nearest.series.look.color;
        c.beginPath();
        c.arc(this.px(this.nearest.x), this.py(this.nearest.y), 4, 0, 2 * Math.PI);
        c.fill();
      }
      if (this.box0 && this.box1) {
        c.globalAlpha = 0.12;
        c.fillStyle = css("--fg");
        c.fillRect(this.box0.x, this.box0.y, this.box1.x - this.box0.x, this.box1.y - this.box0.y);
        c.globalAlpha = 1;
      }
    }

    hover(p) {
      let best = 24 * 24;
      this.nearest = null;
      for (const s of this.series) {
        if (hidden.has(s.name)) continue;
        for (let i = 0; i < s.x.length; ++i) {
          if (s.x[i] === null || s.y[i] === null) continue;
          const d = (this.px(s.x[i]) - p.x) ** 2 + (this.py(s.y[i]) - p.y) ** 2;
          if (d < best) { best = d; this.nearest = { series: s, x: s.x[i], y: s.y[i] }; }
        }
      }
      const n = this.nearest, unit = this.unit.unit;
      this.readout.textContent = n
        ? `${n.series.name}: ${this.plot.x_label} = ${digits(n.x)} ${unit}, ${this.plot.y_label} = ${digits(n.y)} ${unit}` : "";
      this.draw();
    }

    zoomAt(p, factor) {
      const x = this.dataX(p.x), y = this.dataY(p.y);
      this.scale *= factor;
      this.cx += x - this.dataX(p.x);
      this.cy += y - this.dataY(p.y);
      this.draw();
    }

    listen() {
      const at = e => ({ x: e.offsetX, y: e.offsetY });
      const canvas = this.canvas;
      canvas.addEventListener("pointerdown", e => {
        if (e.pointerType === "touch") return this.hover(at(e));
        canvas.setPointerCapture(e.pointerId);
        this.box0 = at(e);
        this.box1 = null;
        this.panFrom = e.shiftKey ? { cx: this.cx, cy: this.cy } : null;
      });
      canvas.addEventListener("pointermove", e => {
        if (!this.box0) return this.hover(at(e));
        if (this.panFrom) {
          this.cx = this.panFrom.cx - (e.offsetX - this.box0.x) / this.scale;
          this.cy = this.panFrom.cy + (e.offsetY - this.box0.y) / this.scale;
        } else {
          this.box1 = at(e);
        }
        this.draw();
      });
      canvas.addEventListener("pointerup", () => {
        const a = this.box0, b = this.box1;
        this.box0 = this.box1 = null;
        if (a && b && Math.abs(a.x - b.x) > 5 && Math.abs(a.y - b.y) > 5) {
          this.fit({
            x0: this.dataX(Math.min(a.x, b.x)), x1: this.dataX(Math.max(a.x, b.x)),
            y0: this.dataY(Math.max(a.y, b.y)), y1: this.dataY(Math.min(a.y, b.y)),
          });
        } else {
          this.draw();
        }
      });
      canvas.addEventListener("pointerleave", () => { this.nearest = null; this.readout.textContent = ""; this.draw(); });
      canvas.addEventListener("dblclick", () => this.fit(this.bounds()));
      // Only once clicked: a wheel that zooms whatever it passes over would trap the reader's scrolling.
      canvas.addEventListener("wheel", e => {
        if (document.activeElement !== canvas) return;
        e.preventDefault();
        this.zoomAt(at(e), Math.exp(-e.deltaY * 0.0015));
      }, { passive: false });
    }

    setShown() { this.draw(); }
    destroy() { this.box.replaceChildren(); }
  }

  // ---- the page ----

  function swatch(series) {
    const { color, dash, width } = look(series);
    const canvas = document.createElement("canvas");
    canvas.width = 30 * pixelRatio();
    canvas.height = 8 * pixelRatio();
    canvas.style.cssText = "width:30px;height:8px";
    const c = canvas.getContext("2d");
    c.scale(pixelRatio(), pixelRatio());
    c.strokeStyle = color;
    c.lineWidth = Math.max(width, 2);
    c.setLineDash(dash);
    c.beginPath();
    c.moveTo(0, 4); c.lineTo(30, 4);
    c.stroke();
    return canvas;
  }

  const isShown = plot => !plot.view || plot.view === view;

  // One switch for tables and plots alike, wherever it stands.
  function drawSwitch(place) {
    if (data.views.length < 2) return;
    const group = place.appendChild(document.createElement("div"));
    group.className = "switch";
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Which hand");
    for (const name of data.views) {
      const button = group.appendChild(document.createElement("button"));
      button.type = "button";
      button.textContent = name;
      button.setAttribute("aria-pressed", String(name === view));
      button.addEventListener("click", () => { view = name; drawAll(); });
    }
  }

  function showView() {
    for (const e of document.querySelectorAll("[data-view]")) e.hidden = e.dataset.view !== view;
    for (const e of document.querySelectorAll(".views")) { e.replaceChildren(); drawSwitch(e); }
  }

  // Buttons that show or hide a method in all plots at once.
  function drawMethodBar() {
    const bar = document.getElementById("methods");
    bar.replaceChildren();
    const unique = new Map();
    for (const s of data.plots.filter(isShown).flatMap(p => p.series)) if (!unique.has(s.name)) unique.set(s.name, s);
    drawSwitch(bar);
    for (const [name, s] of unique) {
      const button = bar.appendChild(document.createElement("button"));
      button.type = "button";
      button.append(swatch(s), name);
      button.setAttribute("aria-pressed", String(!hidden.has(name)));
      button.addEventListener("click", () => {
        hidden.has(name) ? hidden.delete(name) : hidden.add(name);
        button.setAttribute("aria-pressed", String(!hidden.has(name)));
        drawn.forEach(d => d.setShown());
      });
    }
    const hint = bar.appendChild(document.createElement("span"));
    hint.textContent = "Drag to zoom, double-click to reset. Paths: shift-drag to move, wheel after a click.";
  }

  function drawAll() {
    drawn.forEach(d => d.destroy());
    showView();
    drawMethodBar();
    const grid = document.querySelector(".plots");
    grid.classList.toggle("three", grid.querySelectorAll("figure.half:not([hidden])").length % 3 === 0);
    drawn = [...document.querySelectorAll("figure[data-plot]:not([hidden])")].map(figure => {
      const plot = data.plots[Number(figure.dataset.plot)];
      return plot.kind === "path" ? new PathPlot(figure, plot) : drawLines(figure, plot);
    });
  }

  drawAll();
  new ResizeObserver(() => drawn.forEach(d => d.resize())).observe(document.querySelector(".plots"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  // Paper is white whatever the screen was.
  addEventListener("beforeprint", () => { document.documentElement.dataset.print = ""; drawAll(); });
  addEventListener("afterprint", () => { delete document.documentElement.dataset.print; drawAll(); });
})();
